/** What surrounds instructions: comments, labels, directives, wave size, warnings, what a program uses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instructions } from '../../src/isa/instructions/index.ts';
import { findTarget, targets } from '../../src/isa/target.ts';
import { AsmError } from '../../src/program/asmError.ts';
import { type AssembleOptions, assemble } from '../../src/program/assembler.ts';
import { disassemble } from '../../src/program/disassemble.ts';
import { encode } from '../../src/program/encode.ts';
import { mnemonicsOf } from '../../src/program/mnemonics.ts';

const on = (name: string, more: Partial<AssembleOptions> = {}): AssembleOptions => ({
  target: findTarget(name),
  ...more,
});
const hex = (text: string, options: AssembleOptions) => Buffer.from(encode(assemble(text, options))).toString('hex');

/** As clang -S prints a kernel around its instructions (abridged). */
const kernel = `
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_code_object_version 6
	.text
	.protected	divide                  ; -- Begin function divide
	.globl	divide
	.p2align	8
	.type	divide,@function
divide:                                 ; @divide
; %bb.0:
	v_rcp_f64_e32 v[0:1], v[2:3]            // encoding: [0x02,0x5f,0x00,0x7e]
	/* one
	   s_nop 1
	*/ s_nop 2 /* two */
.LBB0_1: .LBB0_2: s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel divide
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
		.amdhsa_wavefront_size32 0
	.end_amdhsa_kernel
	.long 5
	.asciz "x; y"
	.text
.Lfunc_end0:
	.size	divide, .Lfunc_end0-divide
	.set .amdgcn.next_free_vgpr, max(totalnumvgprs(divide.num_agpr, divide.num_vgpr), 1, 0)
	divide.num_vgpr = 4
	.ident	"clang"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.amdgpu_metadata
---
amdhsa.kernels: [ "unclosed
...
	.end_amdgpu_metadata
`;

describe('text around instructions', () => {
  it('a compiled kernel with its directives, comments and labels', () => {
    const program = assemble(kernel, on('gfx1100'));
    expect(disassemble(program)).toEqual(['v_rcp_f64_e32 v[0:1], v[2:3]', 's_nop 2', 's_endpgm']);
    expect([...program.labels]).toEqual([
      ['divide', 0],
      ['.LBB0_1', 8],
      ['.LBB0_2', 8],
      ['.Lfunc_end0', 12],
    ]);
    expect(program.instructions.map(({ pc, size, at }) => [pc, size, at!.line, at!.column])).toEqual([
      [0, 4, 11, 2],
      [4, 4, 14, 5],
      [8, 4, 15, 19],
    ]);
  });

  it("the wave size: the descriptor's, what is asked for, else the target's default", () => {
    expect(assemble(kernel, on('gfx1100')).waveSize).toBe(64);
    expect(assemble('s_nop 0', on('gfx1100')).waveSize).toBe(32);
    expect(assemble('s_nop 0', on('gfx1100', { waveSize: 64 })).waveSize).toBe(64);
    expect(assemble('s_nop 0', on('gfx90a')).waveSize).toBe(64);
  });

  it('carriage returns, tabs and empty lines', () => {
    expect(hex('\r\n\ts_nop\t1\r\n\r\n', on('gfx90a'))).toBe('010080bf');
    expect(hex('', on('gfx90a'))).toBe('');
  });

  it('mnemonics in capitals, as LLVM takes them', () => {
    expect(hex('S_NOP 1', on('gfx90a'))).toBe('010080bf');
  });
});

describe('what a program uses', () => {
  it('registers, counted to one more than the highest, and LDS', () => {
    const program = assemble('ds_min_f64 v9, v[20:21]\ns_mov_b64 s[6:7], vcc', on('gfx90a'));
    expect([program.vgprs, program.sgprs, program.usesLds]).toEqual([22, 8, true]);
    expect(assemble('s_mov_b64 vcc, exec', on('gfx90a'))).toMatchObject({ vgprs: 0, sgprs: 0, usesLds: false });
  });

  it('VCC stands in the operands where the text leaves it out, as wide as the wave', () => {
    const vcc = (text: string, options: AssembleOptions) => assemble(text, options).instructions[0]!.operands.at(-1);
    const macro = 'v_div_fmas_f64 v[0:1], v[2:3], v[4:5], v[6:7]';
    expect(vcc(macro, on('gfx90a'))).toEqual({ kind: 'scalar', code: 106, count: 2 });
    expect(vcc(macro, on('gfx1100'))).toEqual({ kind: 'scalar', code: 106, count: 1 });
    expect(vcc('v_cndmask_b32 v0, v1, v2', on('gfx90a'))).toEqual({ kind: 'scalar', code: 106, count: 2 });
  });

  it('a literal that loses the low word of an f64 is a warning, as in LLVM', () => {
    const warnings: AsmError[] = [];
    const options = on('gfx90a', { file: 'p.s', warn: (warning) => warnings.push(warning) });
    expect(hex('v_rcp_f64 v[0:1], 0.1', options)).toBe('ff4a007e9999b93f');
    expect(warnings.map(({ message }) => message)).toEqual([
      "p.s:1:19: '0.1' is not exact: a literal is the high word of an f64, so the low word is 0",
    ]);
  });
});

describe('mnemonics', () => {
  it('every instruction exists on some target, and every target has more than 60', () => {
    const names = targets.map((target) => new Set([...mnemonicsOf(target).values()].map(({ def }) => def)));
    for (const def of instructions.filter(({ family }) => family !== 'x1k'))
      expect(names.some((defs) => defs.has(def))).toBe(true);
    for (const defs of names) expect(defs.size).toBeGreaterThan(60);
  });
});

describe('hostile text', () => {
  const word = fc.oneof(
    fc.constantFrom(...mnemonicsOf(findTarget('gfx1100')).keys()),
    fc.constantFrom(
      ...'v s [ ] ( ) | - , : ; // /* */ 0x 1e v[0:1] s[0:1] vcc neg abs lit hwreg clamp mul:2 offset: .text " \n'.split(
        ' ',
      ),
    ),
    fc.string({ maxLength: 6 }),
  );
  it('random tokens give a program or an AsmError, never anything else (seed 64)', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.constantFrom(...targets), (words, target) => {
        try {
          encode(assemble(words.join(' '), { target }));
        } catch (error) {
          expect(error).toBeInstanceOf(AsmError);
          expect((error as AsmError).message).toMatch(/^input:\d+:\d+: [\x20-\x7e]+$/);
        }
      }),
      { seed: 64, numRuns: 3000 },
    );
  });
});
