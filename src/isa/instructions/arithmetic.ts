/**
 * Sums and products: v_fma, v_fmac, v_mul, v_add, v_ldexp.
 *
 * One rounding by MODE's round field of the type; subnormal sources and results by its two denormal bits; NaN: the first NaN source
 * in order passes, 0 * inf beats a NaN addend, the default NaN is negative (captured for f32 FMA on gfx1100 and gfx1201 by ROCm
 * rocjitsu, shared/fp_mode.h; the f64 forms are taken to do the same).
 */
import { type Control, QUIET } from '../../float/control.ts';
import { f32_add, f32_mul, f32_mulAdd } from '../../float/f32.ts';
import { f64_add, f64_ldexp, f64_mul, f64_mulAdd, result } from '../../float/f64.ts';
import { controlF64 } from '../../wavefront/mode.ts';
import { forms, withVop3 } from '../encodings.ts';
import type { Fidelity, InstructionDef, LaneBody } from '../instruction.ts';
import { f32Binary, f32Ternary, f64Binary, f64Ternary, high, low } from '../lanes.ts';
import { dst, src, uniform } from '../operands.ts';
import type { Target, Variant } from '../target.ts';

const everything = { neg: true, abs: true, omod: true, clamp: true };

const family = 'arithmetic';

const semantics = (cpu: LaneBody, wgsl: string) => {
  const lane = { unit: 'valu', cpu, wgsl, usesMode: true } as const;
  return () => lane;
};

const documented = (): Fidelity => 'documented';

const measuredOnRdna34 = ({ target }: Variant): Fidelity =>
  target.generation === 'gfx11' || target.generation === 'gfx12' ? 'measured' : 'documented';

const cdna2 = (target: Target) => target.cdna >= 2;

/**
 * v_ldexp_f64: S0 * 2^S1 with one rounding, S1 all 32 bits signed. A NaN is quieted whatever MODE says (captured on gfx1201 for f16,
 * ROCm rocjitsu shared/ldexp.h).
 */
const ldexpF64: LaneBody = ({ lanes, active, src: [a, n], dst: to, mode }) => {
  const control: Control = controlF64(mode) | QUIET;
  const [aLo, aHi, exponent, toLo, toHi] = [low(a!), high(a!), low(n!), low(to), high(to)];
  for (let i = 0; i < lanes; i++) {
    if (active[i] === 0) continue;
    f64_ldexp(aHi[i]! | 0, aLo[i]! | 0, exponent[i]! | 0, control);
    toLo[i] = result[0]!;
    toHi[i] = result[1]!;
  }
};

/** Opcodes that are VOP3 alone up to gfx11 and have a short form on gfx12. */
const shortOnGfx12 = (gfx9: number, gfx10: number, gfx11: number, gfx12Vop2: number) => [
  ...forms('VOP3', { gfx9, gfx10, gfx11 }),
  ...withVop3('VOP2', { gfx12: gfx12Vop2 }),
];

export const arithmetic: readonly InstructionDef[] = [
  {
    name: 'v_fma_f64',
    family,
    summary: 'S0 * S1 + S2 with one rounding',
    forms: forms('VOP3', { gfx9: 0x1cc, gfx10: 0x14c, gfx11: 0x214, gfx12: 0x214 }),
    operands: uniform('f64', 3),
    modifiers: everything,
    semantics: semantics(f64Ternary(f64_mulAdd), 'v_fma_f64'),
    fidelity: documented,
  },
  {
    name: 'v_fmac_f64',
    family,
    summary: 'S0 * S1 + D with one rounding',
    forms: withVop3('VOP2', { gfx9: 0x4 }, { has: cdna2 }),
    operands: [{ field: 'vdst', type: 'f64', role: 'update' }, src('src0', 'f64'), src('src1', 'f64')],
    modifiers: everything,
    semantics: semantics(f64Ternary(f64_mulAdd), 'v_fma_f64'),
    fidelity: documented,
  },
  {
    name: 'v_mul_f64',
    family,
    summary: 'S0 * S1',
    forms: shortOnGfx12(0x281, 0x165, 0x328, 0x6),
    operands: uniform('f64', 2),
    modifiers: everything,
    semantics: semantics(f64Binary(f64_mul), 'v_mul_f64'),
    fidelity: documented,
  },
  {
    name: 'v_add_f64',
    family,
    summary: 'S0 + S1',
    forms: shortOnGfx12(0x280, 0x164, 0x327, 0x2),
    operands: uniform('f64', 2),
    modifiers: everything,
    semantics: semantics(f64Binary(f64_add), 'v_add_f64'),
    fidelity: documented,
  },
  {
    name: 'v_ldexp_f64',
    family,
    summary: 'S0 * 2^S1, S1 a signed integer',
    forms: forms('VOP3', { gfx9: 0x284, gfx10: 0x168, gfx11: 0x32b, gfx12: 0x32b }),
    operands: [dst('f64'), src('src0', 'f64'), src('src1', 'i32')],
    modifiers: everything,
    semantics: semantics(ldexpF64, 'v_ldexp_f64'),
    fidelity: documented,
  },
  {
    name: 'v_fma_f32',
    family,
    summary: 'S0 * S1 + S2 with one rounding',
    forms: forms('VOP3', { gfx9: 0x1cb, gfx10: 0x14b, gfx11: 0x213, gfx12: 0x213 }),
    operands: uniform('f32', 3),
    modifiers: everything,
    semantics: semantics(f32Ternary(f32_mulAdd), 'v_fma_f32'),
    fidelity: measuredOnRdna34,
  },
  {
    name: 'v_mul_f32',
    family,
    summary: 'S0 * S1',
    forms: withVop3('VOP2', { gfx9: 0x5, gfx10: 0x8, gfx11: 0x8, gfx12: 0x8 }),
    operands: uniform('f32', 2),
    modifiers: everything,
    semantics: semantics(f32Binary(f32_mul), 'v_mul_f32'),
    fidelity: documented,
  },
  {
    name: 'v_add_f32',
    family,
    summary: 'S0 + S1',
    forms: withVop3('VOP2', { gfx9: 0x1, gfx10: 0x3, gfx11: 0x3, gfx12: 0x3 }),
    operands: uniform('f32', 2),
    modifiers: everything,
    semantics: semantics(f32Binary(f32_add), 'v_add_f32'),
    fidelity: documented,
  },
];
