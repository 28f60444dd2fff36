/**
 * v_cmp_*_f64 and v_cmp_class_f64: one bit a lane into VCC or an SGPR pair (one SGPR in wave32); 0 for inactive lanes.
 *
 * The low four opcode bits of a compare are its truth table: of less (1), equal (2), greater (4), unordered (8) exactly one holds,
 * and the result is that bit.
 *
 * | code | 0 | 1  | 2  | 3  | 4  | 5  | 6  | 7 | 8 | 9   | 10  | 11  | 12  | 13  | 14  | 15  |
 * | ---- | - | -- | -- | -- | -- | -- | -- | - | - | --- | --- | --- | --- | --- | --- | --- |
 * | name | f | lt | eq | le | gt | lg | ge | o | u | nge | nlg | ngt | nle | neq | nlt | tru |
 *
 * gfx11 prints t for tru; gfx12 has neither f nor tru. +0 equals -0; a NaN of either kind is unordered; subnormal sources are flushed
 * first by MODE's input bit. Sources: AMD RDNA3 ISA, VOPC; ROCm rocjitsu shared/comparison.h (flush captured on gfx1201); tinygrad
 * test/amd/hw/test_vop3.py (inactive lanes give 0, on gfx1100). In VOP3 the mask takes the VDST field; VOPC writes VCC.
 */
import { f64_class, f64_relation } from '../../float/f64.ts';
import { controlF64 } from '../../wavefront/mode.ts';
import { withVop3 } from '../encodings.ts';
import type { Fidelity, InstructionDef, LaneBody, LaneSemantics } from '../instruction.ts';
import { high, low } from '../lanes.ts';
import { dst, src } from '../operands.ts';
import type { Generation } from '../target.ts';

const names = 'f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru'.split(' ');

const compareF64 =
  (truthTable: number): LaneBody =>
  ({ lanes, active, src: [a, b], flag, mode }) => {
    const control = controlF64(mode);
    const [aLo, aHi, bLo, bHi] = [low(a!), high(a!), low(b!), high(b!)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      flag[i] = (truthTable & f64_relation(aHi[i]! | 0, aLo[i]! | 0, bHi[i]! | 0, bLo[i]! | 0, control)) === 0 ? 0 : 1;
    }
  };

/** Bit n of S1 asks for class n: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7 +subnormal, 8 +normal, 9 +inf. */
const classF64: LaneBody = ({ lanes, active, src: [a, classes], flag }) => {
  const [aLo, aHi, asked] = [low(a!), high(a!), low(classes!)];
  for (let i = 0; i < lanes; i++) if (active[i] !== 0) flag[i] = (asked[i]! >>> f64_class(aHi[i]!, aLo[i]!)) & 1;
};

const relations = ['less', 'equal', 'greater', 'unordered'];

const summaryOf = (code: number): string => {
  const holding = relations.filter((_, bit) => (code >>> bit) & 1);
  return `Is S0 to S1 ${holding.join(' or ') || 'nothing at all (always false)'}?`;
};

const family = 'compare';
const documented = (): Fidelity => 'documented';

const compare_f64 = (code: number): InstructionDef => {
  const name = `v_cmp_${names[code]}_f64`;
  const semantics: LaneSemantics = { unit: 'valu', cpu: compareF64(code), wgsl: name, usesMode: true };
  const constant = code === 0 || code === 15;
  const opcodes: Partial<Record<Generation, number>> = { gfx9: 0x60 + code, gfx10: 0x20 + code };
  const renamed = code === 15;
  return {
    name,
    family,
    summary: summaryOf(code),
    forms: [
      ...withVop3('VOPC', opcodes),
      ...withVop3('VOPC', { gfx11: 0x20 + code }, renamed ? { name: 'v_cmp_t_f64', aliases: [name] } : {}),
      ...(constant ? [] : withVop3('VOPC', { gfx12: 0x20 + code })),
    ],
    operands: [dst('mask'), src('src0', 'f64'), src('src1', 'f64')],
    modifiers: { neg: true, abs: true, clamp: true },
    semantics: () => semantics,
    fidelity: documented,
  };
};

const classSemantics: LaneSemantics = { unit: 'valu', cpu: classF64, wgsl: 'v_cmp_class_f64', usesMode: false };

export const compare: readonly InstructionDef[] = [
  ...names.map((_, code) => compare_f64(code)),
  {
    name: 'v_cmp_class_f64',
    family,
    summary: 'Is S0 of a class that the mask S1 names? Reads the bits as they are: no flush',
    forms: withVop3('VOPC', { gfx9: 0x12, gfx10: 0xa8, gfx11: 0x7f, gfx12: 0x7f }),
    operands: [dst('mask'), src('src0', 'f64'), src('src1', 'u32')],
    modifiers: { neg: true, abs: true },
    semantics: () => classSemantics,
    fidelity: documented,
  },
];
