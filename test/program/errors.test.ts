/** Malformed programs: each gives one line with place, what is wrong and what is allowed. */
import { describe, expect, it } from 'vitest';
import { findTarget } from '../../src/isa/target.ts';
import { AsmError } from '../../src/program/asmError.ts';
import { assemble } from '../../src/program/assembler.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';

function errorOf(text: string, target: string, waveSize?: WaveSize): AsmError {
  try {
    assemble(text, { target: findTarget(target), waveSize, file: 'p.s' });
  } catch (error) {
    if (error instanceof AsmError) return error;
    throw error;
  }
  throw new Error(`no error: ${text}`);
}

/** target, program, line:column, words of the message */
const cases: readonly (readonly [target: string, text: string, place: string, reason: RegExp])[] = [
  // Mnemonics
  [
    'gfx90a',
    'v_fma_f65 v[0:1], v[2:3], v[4:5], v[6:7]',
    '1:1',
    /unknown instruction 'v_fma_f65'; near are v_fma_f64, v_fma_f32, /,
  ],
  ['gfx90a', 'ds_min_num_f64 v0, v[2:3]', '1:1', /does not exist on gfx90a, but on gfx1200, gfx1201/],
  ['gfx1100', 'ds_add_f64 v0, v[2:3]', '1:1', /does not exist on gfx1100, but on gfx90a, gfx942, gfx950/],
  ['gfx906', 's_round_mode 0', '1:1', /does not exist on gfx906, but on gfx1010, /],
  ['gfx906', 'v_fmac_f64 v[0:1], v[2:3], v[4:5]', '1:1', /does not exist on gfx906, but on gfx90a, /],
  ['gfx1200', 'v_cmp_f_f64 vcc_lo, v[0:1], v[2:3]', '1:1', /does not exist on gfx1200, but on gfx900, /],
  ['gfx1200', 's_barrier', '1:1', /does not exist on gfx1200, but on/],
  ['gfx90a', 'v_mov_b32_dpp v0, v1', '1:1', /DPP encoding of 'v_mov_b32_dpp' is not supported/],
  ['gfx90a', 'v_min_f64_e32 v[0:1], v[2:3], v[4:5]', '1:1', /has no e32 encoding on gfx90a/],
  ['gfx90a', 'ds_min_f64_e64 v0, v[2:3]', '1:1', /has no e64 encoding/],
  ['gfx90a', '4', '1:1', /expected an instruction, a label or a directive, found '4'/],
  ['gfx90a', '%', '1:1', /expected an instruction/],
  // Register numbers, alignment and width
  ['gfx90a', 'v_mov_b32 v256, v0', '1:11', /v256 is out of range: gfx90a has v0 to v255/],
  ['gfx90a', 'v_mov_b32 v0, s102', '1:15', /s102 is out of range: gfx90a has s0 to s101/],
  ['gfx1100', 'v_mov_b32 v0, s106', '1:15', /s106 is out of range: gfx1100 has s0 to s105/],
  ['gfx90a', 's_mov_b32 s99999999999999999999, 0', '1:11', /is out of range/],
  ['gfx90a', 'v_rcp_f64 v[255:256], v[0:1]', '1:11', /v256 is out of range/],
  ['gfx90a', 'v_rcp_f64 v[1:2], v[4:5]', '1:11', /gfx90a needs an even first VGPR, v\[1:2\] is odd/],
  ['gfx942', 'ds_min_f64 v0, v[3:4]', '1:16', /gfx942 needs an even first VGPR/],
  ['gfx950', 'ds_read_b128 v[1:4], v0', '1:14', /gfx950 needs an even first VGPR, v\[1:4\] is odd/],
  ['gfx90a', 's_mov_b64 s[1:2], s[4:5]', '1:11', /SGPR pairs start at an even register/],
  ['gfx1100', 's_mov_b64 s[104:105], ttmp[1:2]', '1:23', /SGPR pairs start at an even register/],
  ['gfx90a', 'v_rcp_f64 v[3:2], v[4:5]', '1:11', /the first register of v\[3:2\] is above the last/],
  ['gfx90a', 'v_rcp_f64 v[2:4], v[4:5]', '1:11', /expected 2 VGPRs/],
  ['gfx90a', 'v_rcp_f64 v2, v[4:5]', '1:11', /expected 2 VGPRs/],
  [
    'gfx90a',
    'v_rcp_f64 v[0:1], v4',
    '1:19',
    /expected 2 VGPRs \(v\[0:1\]\), an SGPR pair \(s\[0:1\], vcc, exec\) or a constant/,
  ],
  ['gfx90a', 'v_rcp_f64 v[0:1], m0', '1:19', /expected 2 SGPRs/],
  ['gfx90a', 'v_rcp_f64 v[0:1], vcc_lo', '1:19', /expected 2 SGPRs/],
  ['gfx90a', 'v_rcp_f64 v[0:1, v[2:3]', '1:16', /expected '\]', found ','/],
  ['gfx90a', 'v_rcp_f64 v[a:1], v[2:3]', '1:13', /expected a register number, found 'a'/],
  ['gfx90a', 'v_rcp_f64 v, v[2:3]', '1:12', /expected a number or '\[' after 'v', found ','/],
  ['gfx90a', 'v_mov_b32 v0, a1', '1:15', /'a1' is not supported as an operand/],
  ['gfx90a', 'v_mov_b32 v0, src_shared_base', '1:15', /'src_shared_base' is not supported/],
  ['gfx90a', 'v_mov_b32 v0, foo', '1:15', /expected a register or a constant, found 'foo'/],
  ['gfx906', 's_mov_b32 null, s0', '1:11', /gfx906 has no null register/],
  ['gfx90a', 'v_div_scale_f64 v[4:5], null, v[2:3], v[2:3], v[0:1]', '1:25', /gfx90a has no null register/],
  ['gfx90a', 's_mov_b32 s0, v0', '1:15', /expected an SGPR or a constant/],
  ['gfx90a', 's_mov_b32 1, s0', '1:11', /expected an SGPR/],
  ['gfx90a', 'ds_read_b32 v0, s1', '1:17', /expected a VGPR/],
  ['gfx90a', 'v_mov_b32 1.0, v0', '1:11', /expected a VGPR/],
  // Masks and wave size
  ['gfx90a', 'v_cmp_lt_f64 s0, v[0:1], v[2:3]', '1:14', /expected 2 SGPRs/],
  ['gfx1100', 'v_cmp_lt_f64 vcc, v[0:1], v[2:3]', '1:14', /vcc_lo/],
  ['gfx1100', 'v_div_scale_f64 v[4:5], vcc, v[2:3], v[2:3], v[0:1]', '1:25', /expected one SGPR/],
  ['gfx90a', 'v_cndmask_b32 v0, v1, v2, 0', '1:27', /expected an SGPR pair/],
  ['gfx90a', 'v_add_f32_e32 v0, v1, s2', '1:23', /expected a VGPR/],
  // Constants
  [
    'gfx90a',
    'v_fma_f64 v[0:1], 3.0, v[2:3], v[4:5]',
    '1:19',
    /no literal constant in the VOP3 encoding; inline constants are -16 to 64, /,
  ],
  ['gfx906', 'v_ldexp_f64 v[0:1], v[2:3], 65', '1:29', /no literal constant in the VOP3 encoding/],
  ['gfx1100', 'v_fma_f64 v[0:1], 3.0, 5.0, v[4:5]', '1:24', /only one literal constant/],
  ['gfx90a', 's_and_b64 s[0:1], 0x12345, 0x12346', '1:28', /only one literal constant/],
  ['gfx90a', 'v_rcp_f64 v[0:1], 0x123456789', '1:19', /no inline constant and does not fit 32 bits/],
  ['gfx90a', 'v_rcp_f32 v0, 0x123456789', '1:15', /does not fit 32 bits/],
  ['gfx90a', 'v_rcp_f32 v0, 1e40', '1:15', /does not fit a 32-bit float/],
  ['gfx90a', 'v_rcp_f32 v0, 1e-50', '1:15', /does not fit a 32-bit float/],
  ['gfx90a', 'v_rcp_f32 v0, 99999999999999999999999', '1:15', /does not fit 64 bits/],
  ['gfx90a', 's_mov_b64 s[0:1], 2.5', '1:19', /no float literal: only 0.5, 1.0, 2.0, 4.0/],
  ['gfx90a', 'v_mov_b32 v0, 0x', '1:15', /'0x' is not a number/],
  ['gfx90a', 'v_mov_b32 v0, 12abc', '1:15', /'12abc' is not a number/],
  ['gfx90a', 'v_mov_b32 v0, 089', '1:15', /'089' is not a number/],
  ['gfx90a', 'v_mov_b32 v0, -', '1:16', /expected a register or a constant/],
  // Constant bus
  [
    'gfx90a',
    'v_fma_f64 v[0:1], s[0:1], s[2:3], v[4:5]',
    '1:27',
    /constant bus: gfx90a allows 1 scalar source \(SGPRs, VCC and a literal count\)/,
  ],
  ['gfx90a', 'v_div_fmas_f64 v[0:1], s[2:3], v[2:3], v[4:5]', '1:1', /constant bus/],
  ['gfx1030', 'v_fma_f64 v[0:1], s[0:1], s[2:3], s[4:5]', '1:35', /constant bus: gfx1030 allows 2 scalar sources/],
  ['gfx1030', 'v_fma_f64 v[0:1], s[0:1], s[2:3], 3.0', '1:35', /constant bus/],
  // Modifiers
  ['gfx90a', 'v_div_scale_f64 v[4:5], vcc, |v[2:3]|, v[2:3], v[0:1]', '1:30', /abs is not allowed here: VOP3B/],
  ['gfx90a', 'v_mov_b32 v0, -v1', '1:15', /takes no neg or abs/],
  ['gfx90a', 'v_ldexp_f64 v[0:1], v[2:3], -v4', '1:29', /takes no neg or abs/],
  ['gfx90a', 'v_rcp_f64_e32 v[0:1], -v[2:3]', '1:23', /takes no neg or abs/],
  ['gfx90a', 'v_rcp_f32 v0, |v1', '1:18', /expected '\|'/],
  ['gfx90a', 'v_rcp_f32 v0, abs(v1', '1:21', /expected '\)'/],
  ['gfx90a', 'v_cmp_lt_f64 s[0:1], v[0:1], v[2:3] mul:2', '1:37', /takes no output modifier/],
  ['gfx90a', 'v_mov_b32_e64 v0, v1 clamp', '1:22', /takes no clamp/],
  ['gfx90a', 'v_cmp_class_f64 s[0:1], v[0:1], v2 clamp', '1:36', /takes no clamp/],
  ['gfx90a', 'v_rcp_f32 v0, v1 mul:3', '1:22', /mul:2, mul:4 and div:2, not 'mul:3'/],
  ['gfx90a', 'v_rcp_f32 v0, v1 mul:2 div:2', '1:24', /given twice/],
  ['gfx90a', 'v_rcp_f32 v0, v1 wobble', '1:18', /unknown modifier 'wobble': mul:2, /],
  ['gfx90a', 'v_rcp_f32 v0, v1 offset:8', '1:18', /takes no offset/],
  ['gfx90a', 'ds_min_f64 v0, v[2:3] offset:65536', '1:30', /offset must be an integer from 0 to 65535, found '65536'/],
  ['gfx90a', 'ds_min_f64 v0, v[2:3] offset:-8', '1:30', /offset must be an integer from 0 to 65535/],
  ['gfx90a', 'ds_min_f64 v0, v[2:3] gds', '1:23', /gfx90a has no GDS/],
  ['gfx1200', 'ds_min_num_f64 v0, v[2:3] gds', '1:27', /gfx1200 has no GDS/],
  // Operand counts
  [
    'gfx90a',
    'v_fma_f32 v0, v1, v2',
    '1:21',
    /needs 4 operands: vdst \(f32\), src0 \(f32\), src1 \(f32\), src2 \(f32\)/,
  ],
  ['gfx90a', 'v_fma_f32', '1:10', /needs 4 operands/],
  ['gfx90a', 'v_fma_f32 v0, v1, v2, v3, v4', '1:25', /too many operands: v_fma_f32 takes vdst/],
  ['gfx90a', 's_barrier 0', '1:11', /unexpected '0' after the operands/],
  ['gfx90a', 's_nop', '1:6', /needs 1 operand/],
  ['gfx90a', 'v_mov_b32 v0 v1', '1:14', /needs 2 operands/],
  // Fields
  ['gfx90a', 's_nop 65536', '1:7', /from -32768 to 65535/],
  ['gfx90a', 's_waitcnt vmcnt(64)', '1:17', /vmcnt must be an integer from 0 to 63/],
  ['gfx90a', 's_waitcnt lgkmcnt(16)', '1:19', /lgkmcnt must be an integer from 0 to 15/],
  ['gfx90a', 's_waitcnt vscnt(0)', '1:11', /no counter 'vscnt': vmcnt, expcnt, lgkmcnt are allowed/],
  ['gfx1100', 's_waitcnt_vscnt s0, 0x0', '1:17', /expected null/],
  ['gfx1200', 's_wait_alu depctr_none(0)', '1:12', /no counter 'depctr_none'/],
  ['gfx1100', 's_delay_alu instid0(VALU_DEP_9)', '1:21', /instid0 is one of NO_DEP, VALU_DEP_1/],
  [
    'gfx90a',
    's_setreg_b32 hwreg(HW_REG_BAD, 0, 8), s0',
    '1:20',
    /no hardware register 'HW_REG_BAD'; MODE is HW_REG_MODE/,
  ],
  ['gfx90a', 's_setreg_b32 hwreg(HW_REG_WAVE_MODE), s0', '1:20', /no hardware register/],
  [
    'gfx90a',
    's_setreg_b32 hwreg(HW_REG_MODE, 0, 33), s0',
    '1:36',
    /the number of bits must be an integer from 1 to 32/,
  ],
  ['gfx90a', 's_setreg_b32 hwreg(HW_REG_MODE, 32, 1), s0', '1:33', /the first bit must be an integer from 0 to 31/],
  ['gfx90a', 's_setreg_b32 hwreg(HW_REG_MODE, 0, 8), 1', '1:40', /expected an SGPR/],
  ['gfx1200', 's_barrier_signal s0', '1:18', /expected m0 or an inline constant/],
  // Labels and directives
  ['gfx90a', 'a:\na:', '2:1', /label 'a' is already defined/],
  ['gfx90a', '.tekst', '1:1', /unknown directive '.tekst'; near are .text/],
  [
    'gfx90a',
    '.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"',
    '1:16',
    /the program is for gfx1100, the target is gfx90a: choose --target gfx1100/,
  ],
  ['gfx90a', '.amdgcn_target 5', '1:16', /expected a target such as "amdgcn-amd-amdhsa--gfx90a"/],
  ['gfx90a', 's_nop 0\n.amdhsa_wavefront_size32 1', '2:1', /gfx90a has no wave32: wave64 is allowed/],
  ['gfx1100', '.amdhsa_wavefront_size32 2', '1:26', /from 0 to 1/],
  ['gfx90a', '.long 0xbf800000', '1:1', /.long among instructions is not supported/],
  ['gfx90a', '.section .rodata\ns_nop 0', '2:1', /instructions belong into .text/],
  ['gfx90a', '.amdgpu_metadata\n  - x: [', '2:1', /the text ends before .end_amdgpu_metadata/],
];

describe('malformed programs', () => {
  it.each(cases)('%s: %s', (target, text, place, reason) => {
    const error = errorOf(text, target);
    expect(error.message).toMatch(reason);
    expect(error.message).toBe(`p.s:${place}: ${error.reason}`);
    expect(error.message).not.toMatch(/[\n\r]/);
  });

  it('are at least 60', () => expect(cases.length).toBeGreaterThan(60));

  it('the wave size must be one of the target', () => {
    expect(errorOf('s_nop 0', 'gfx90a', 32).message).toBe('p.s:1:1: gfx90a has no wave32: wave64 is allowed');
  });

  it("a descriptor's wave size must be the one asked for", () => {
    expect(errorOf('.amdhsa_wavefront_size32 1', 'gfx1100', 64).message).toMatch(/1:26: the kernel is for wave32/);
  });

  it('several errors are collected, in order, up to ten', () => {
    const error = errorOf(`bad1\ns_nop 0\n${'bad2\n'.repeat(20)}`, 'gfx90a');
    expect([error, ...error.others].map(({ line }) => line)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('control characters of the text do not reach the message', () => {
    expect(errorOf('v_\u001b[31m', 'gfx90a').message).not.toContain('\u001b');
    expect(errorOf('v_mov_b32 v0, \u{1f600}', 'gfx90a').message).toMatch(/found '\?'/);
  });

  it('lines, their number and their length are bounded', () => {
    expect(errorOf('\n'.repeat(1_000_001), 'gfx90a').message).toMatch(
      /p.s:1000001:1: a program has at most 1000000 lines/,
    );
    expect(errorOf(`s_nop 0\n${' '.repeat(70_000)}`, 'gfx90a').message).toMatch(
      /p.s:2:65537: a line has at most 65536 characters/,
    );
    expect(errorOf(`v_mov_b32 v0, ${'9'.repeat(60_000)}`, 'gfx90a').message.length).toBeLessThan(200);
    expect(errorOf(`${'x'.repeat(60_000)} v0`, 'gfx90a').message.length).toBeLessThan(300);
    expect(errorOf(`v_mov_b32 ${'|'.repeat(60_000)}`, 'gfx90a').message.length).toBeLessThan(200);
    expect(errorOf(`v_mov_b32 ${'neg('.repeat(15_000)}`, 'gfx90a').message.length).toBeLessThan(200);
  });
});
