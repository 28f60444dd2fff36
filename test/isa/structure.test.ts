/** The list of instructions as data: what the assembler, the engines and the documentation rely on. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formOn, type InstructionDef } from '../../src/isa/instruction.ts';
import { findInstruction, instructions } from '../../src/isa/instructions/index.ts';
import { allTargets as targets } from '../../src/isa/target.ts';

const root = new URL('../../', import.meta.url);
const profiles = ['hardware', 'published'] as const;
const targetsOf = (def: InstructionDef) => targets.filter((target) => formOn(def, target) !== undefined);

/** Operand fields that each encoding has; `vcc` is implied, `literal` follows. */
const fields: Record<string, readonly string[]> = {
  VOP1: ['vdst', 'src0'],
  VOP2: ['vdst', 'src0', 'src1', 'src2', 'vcc'],
  VOPC: ['vdst', 'src0', 'src1'],
  VOP3: ['vdst', 'src0', 'src1', 'src2', 'vcc'],
  VOP3B: ['vdst', 'sdst', 'src0', 'src1', 'src2'],
  SOP1: ['sdst', 'ssrc0'],
  SOP2: ['sdst', 'ssrc0', 'ssrc1'],
  SOPK: ['sdst', 'simm16', 'literal'],
  SOPP: ['simm16'],
  DS: ['vdst', 'addr', 'data0', 'data1'],
  X1K: ['vdst', 'src0', 'src1', 'src2', 'vcc'],
};

it('names are unique and findable', () => {
  expect(new Set(instructions.map(({ name }) => name)).size).toBe(instructions.length);
  for (const def of instructions) expect(findInstruction(def.name)).toBe(def);
  expect(findInstruction('v_no_such')).toBeUndefined();
});

it('no two instructions of a target share an encoding and opcode, or a mnemonic in one encoding', () => {
  for (const target of targets) {
    const forms = instructions.flatMap((def) =>
      def.forms
        .filter((form) => form.on.includes(target.generation) && (form.has?.(target) ?? true))
        .map((form) => ({ form, name: form.name ?? def.name })),
    );
    // VOP3B is VOP3 with other fields.
    const codes = forms.map(({ form }) => `${form.encoding.replace('VOP3B', 'VOP3')} ${form.opcode}`);
    expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
    const texts = forms.flatMap(({ form, name }) =>
      [name, ...(form.aliases ?? [])].map((n) => `${n} ${form.encoding}`),
    );
    expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([]);
  }
});

describe.each(instructions.map((def) => [def.name, def] as const))('%s', (_, def) => {
  it('stands in the file of its family', () => {
    const source = new URL(`src/isa/instructions/${def.family}.ts`, root);
    expect(existsSync(source)).toBe(true);
  });

  it('exists on some target, and each of its forms does', () => {
    expect(targetsOf(def)).not.toEqual([]);
    for (const form of def.forms) {
      const having = targets.filter((target) => form.on.includes(target.generation) && (form.has?.(target) ?? true));
      expect(having, `${form.encoding} ${form.opcode}`).not.toEqual([]);
    }
  });

  it('has operands that its encodings can hold, each field once, updates only as destinations', () => {
    const own = def.operands.map(({ field }) => field);
    expect(new Set(own).size).toBe(own.length);
    for (const { encoding } of def.forms) for (const field of own) expect(fields[encoding], encoding).toContain(field);
    for (const { field, role } of def.operands) if (role === 'update') expect(field).toBe('vdst');
  });

  it('has modifiers only in VOP3 and on X1K: ABS not in VOP3B, OMOD only on a float result', () => {
    if (def.modifiers === undefined) return;
    const encodings = def.forms.map(({ encoding }) => encoding);
    expect(encodings.some((encoding) => encoding.startsWith('VOP3') || encoding === 'X1K')).toBe(true);
    if (encodings.includes('VOP3B')) expect(def.modifiers.abs).toBeUndefined();
    if (def.modifiers.omod) expect(def.operands.some(({ role, type }) => role !== 'src' && type[0] === 'f')).toBe(true);
  });

  it('means something on each of its targets, in both profiles, by a WGSL function that exists', () => {
    const wesl = new URL(`shaders/isa/${def.family}.wesl`, root);
    for (const target of targetsOf(def))
      for (const profile of profiles) {
        const semantics = def.semantics({ target, profile });
        expect(def.semantics({ target, profile })).toBe(semantics);
        expect(['measured', 'documented', 'modelled', 'approximate']).toContain(def.fidelity({ target, profile }));
        const names =
          semantics.unit === 'salu'
            ? [semantics.wgsl, ...(semantics.laneWgsl ? [semantics.laneWgsl] : [])]
            : 'wgsl' in semantics && semantics.wgsl !== undefined
              ? [semantics.wgsl]
              : [];
        if (names.length === 0) continue;
        const text = readFileSync(wesl, 'utf8');
        for (const name of names) expect(text).toMatch(new RegExp(`^fn ${name}\\(`, 'm'));
      }
  });

  it('shows errata with their sources', () => {
    for (const erratum of def.errata ?? [])
      for (const part of [erratum.text, erratum.hardware, erratum.source]) expect(part).not.toBe('');
  });
});

it('only chips that were read out are called measured', () => {
  const measured = instructions.flatMap((def) =>
    targetsOf(def)
      .filter((target) => def.fidelity({ target, profile: 'hardware' }) === 'measured')
      .map((target) => target.generation),
  );
  expect([...new Set(measured)].sort()).toEqual(['gfx11', 'gfx12']);
});
