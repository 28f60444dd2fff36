/**
 * The division macro: v_div_scale, v_div_fmas, v_div_fixup, in f64 and f32.
 *
 *     ds      = div_scale(d, d, n)        denominator, moved away from the edges of the exponent range
 *     ns, vcc = div_scale(n, d, n)        numerator, and whether the quotient must be scaled back
 *     r       = rcp(ds), refined twice by fma
 *     q       = ns * r;  t = fma(-ds, q, ns)
 *     p       = div_fmas(t, r, q)         fma, scaled back inside the one rounding
 *     result  = div_fixup(p, d, n)        zeros, infinities, NaN, overflow, underflow
 *
 * Sources: AMD's RDNA3 ISA text ("published"); ROCm rocjitsu, shared/division.h and its division_test.cpp, measured on gfx1100 and
 * gfx1201 ("hardware"). Chips before RDNA3 have not been read out; a conforming one must agree on every quotient.
 * What the three instructions compute on one lane is in divisionF64.ts and divisionF32.ts.
 */
import { result } from '../../float/f64.ts';
import { controlF32, controlF64 } from '../../wavefront/mode.ts';
import { forms } from '../encodings.ts';
import type { Erratum, InstructionDef, LaneBody, LaneSemantics } from '../instruction.ts';
import { f32Ternary, f64Ternary, high, low } from '../lanes.ts';
import { dst, src, uniform } from '../operands.ts';
import type { Variant } from '../target.ts';
import * as f32 from './divisionF32.ts';
import * as f64 from './divisionF64.ts';

const scaleF64 =
  (op: f64.DivScale): LaneBody =>
  ({ lanes, active, src: [s, d, n], dst: to, flag, mode }) => {
    const control = controlF64(mode);
    const [sLo, sHi, dLo, dHi] = [low(s!), high(s!), low(d!), high(d!)];
    const [nLo, nHi, toLo, toHi] = [low(n!), high(n!), low(to), high(to)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      flag[i] = op(sHi[i]! | 0, sLo[i]! | 0, dHi[i]! | 0, dLo[i]! | 0, nHi[i]! | 0, nLo[i]! | 0, control);
      toLo[i] = result[0]!;
      toHi[i] = result[1]!;
    }
  };

const scaleF32 =
  (op: f32.DivScale): LaneBody =>
  ({ lanes, active, src: [s, d, n], dst: to, flag, mode }) => {
    const control = controlF32(mode);
    const [sLo, dLo, nLo, toLo] = [low(s!), low(d!), low(n!), low(to)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      flag[i] = op(sLo[i]! | 0, dLo[i]! | 0, nLo[i]! | 0, control);
      toLo[i] = result[0]!;
    }
  };

const fmasF64 =
  (op: f64.DivFmas): LaneBody =>
  ({ lanes, active, src: [a, b, c, vcc], dst: to, mode }) => {
    const control = controlF64(mode);
    const [aLo, aHi, bLo, bHi] = [low(a!), high(a!), low(b!), high(b!)];
    const [cLo, cHi, toLo, toHi, scaled] = [low(c!), high(c!), low(to), high(to), low(vcc!)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      op(aHi[i]! | 0, aLo[i]! | 0, bHi[i]! | 0, bLo[i]! | 0, cHi[i]! | 0, cLo[i]! | 0, scaled[i]!, control);
      toLo[i] = result[0]!;
      toHi[i] = result[1]!;
    }
  };

const fmasF32 =
  (op: f32.DivFmas): LaneBody =>
  ({ lanes, active, src: [a, b, c, vcc], dst: to, mode }) => {
    const control = controlF32(mode);
    const [aLo, bLo, cLo, toLo, scaled] = [low(a!), low(b!), low(c!), low(to), low(vcc!)];
    for (let i = 0; i < lanes; i++)
      if (active[i] !== 0) toLo[i] = op(aLo[i]! | 0, bLo[i]! | 0, cLo[i]! | 0, scaled[i]!, control);
  };

/** Read out on gfx1100 and gfx1201; the same model elsewhere. The published profile is AMD's text, the same on every target. */
const fidelity = ({ target, profile }: Variant) =>
  profile === 'published'
    ? 'documented'
    : target.generation === 'gfx11' || target.generation === 'gfx12'
      ? 'measured'
      : 'modelled';

const semantics = (name: string, hardware: LaneBody, published: LaneBody) => {
  const of = (cpu: LaneBody, wgsl: string): LaneSemantics => ({ unit: 'valu', cpu, wgsl, usesMode: true });
  const byProfile = { hardware: of(hardware, name), published: of(published, `${name}_published`) };
  return ({ profile }: Variant) => byProfile[profile];
};

const rocjitsu = 'ROCm rocjitsu shared/division.h and division_test.cpp, measured on gfx1100 and gfx1201';

const scaleErrata: readonly Erratum[] = [
  {
    text: 'VCC = 0x0 or 0x1, as if the whole register were written.',
    hardware: 'One bit a lane into any SGPR pair or VCC; bits of inactive lanes are 0 (seen of compares on gfx1100).',
    source: 'tinygrad test/amd/hw/test_vop3.py on gfx1100; LLVM AMDGPU encodings (SDST)',
  },
  {
    text: 'Several branches assign nothing to D0.',
    hardware: 'D0 = S0, quieted if it is a NaN.',
    source: rocjitsu,
  },
  {
    text: 'With a zero operand VCC stays 0, and D0 is "NAN".',
    hardware: 'VCC follows the exponent rules (1/0 and 0/1 give 1, 0/0 gives 0); D0 is the negative default NaN.',
    source: `${rocjitsu}; tinygrad test/amd/hw/test_vop3.py on gfx1100`,
  },
  {
    text: 'S2 / S1 == DENORM, 1.0 / S1 == DENORM: a quotient and a reciprocal are tested (in f32 the reciprocal as f64, never true).',
    hardware: 'Only encoded exponents: e(S2) - e(S1) <= -768 (f32 -96); e(S1) >= 2045 (f32 253), 2^1022 included.',
    source: rocjitsu,
  },
  {
    text: 'Both of these conditions: the denominator is scaled by 2^128, which overflows.',
    hardware: 'The denominator is scaled by 2^-128 (f32 2^-64).',
    source: rocjitsu,
  },
  {
    text: 'f32: a numerator is tiny up to exponent 23.',
    hardware: 'Up to exponent 24 (f64: 53 in both).',
    source: rocjitsu,
  },
];

const fmasErrata: readonly Erratum[] = [
  {
    text: 'D0 = 2^64 * fma(S0, S1, S2) (f32 2^32), after rounding.',
    hardware:
      'The fma is scaled inside its one rounding, by 2^128 if e(S2) > 1023, else by 2^-128 (f32 2^64, 2^-64, 127).',
    source: `${rocjitsu}; tinygrad test/amd/hw/test_vop3.py on gfx1100`,
  },
];

const fixupErrata: readonly Erratum[] = [
  {
    text: "The last branch copies S0's magnitude, NaN and infinity too; a branch on exponent(S1) == 2047 cannot be reached.",
    hardware: 'An S0 that is NaN or infinite gives the overflow result of the rounding mode.',
    source: `${rocjitsu}; tinygrad test/amd/hw/test_vop3.py on gfx1100`,
  },
  {
    text: 'exponent(S2) - exponent(S1) < -1075 (f32 -150) gives "UNDERFLOW".',
    hardware: 'A tiny value rounded by the mode: the smallest subnormal where the mode points away from zero.',
    source: rocjitsu,
  },
];

const everything = { neg: true, abs: true, omod: true, clamp: true };

const family = 'division';

export const division: readonly InstructionDef[] = [
  {
    name: 'v_div_scale_f64',
    family,
    summary: 'Scale numerator or denominator of an f64 division away from the edges of the exponent range',
    forms: forms('VOP3B', { gfx9: 0x1e1, gfx10: 0x16e, gfx11: 0x2fd, gfx12: 0x2fd }),
    operands: [dst('f64'), dst('mask', 'sdst'), src('src0', 'f64'), src('src1', 'f64'), src('src2', 'f64')],
    modifiers: { neg: true, omod: true, clamp: true },
    semantics: semantics('v_div_scale_f64', scaleF64(f64.divScale), scaleF64(f64.divScalePublished)),
    fidelity,
    errata: scaleErrata,
  },
  {
    name: 'v_div_scale_f32',
    family,
    summary: 'Scale numerator or denominator of an f32 division away from the edges of the exponent range',
    forms: forms('VOP3B', { gfx9: 0x1e0, gfx10: 0x16d, gfx11: 0x2fc, gfx12: 0x2fc }),
    operands: [dst('f32'), dst('mask', 'sdst'), src('src0', 'f32'), src('src1', 'f32'), src('src2', 'f32')],
    modifiers: { neg: true, omod: true, clamp: true },
    semantics: semantics('v_div_scale_f32', scaleF32(f32.divScale), scaleF32(f32.divScalePublished)),
    fidelity,
    errata: scaleErrata,
  },
  {
    name: 'v_div_fmas_f64',
    family,
    summary: 'Fused multiply-add, scaled back in lanes whose VCC bit is set: the last step of an f64 division',
    forms: forms('VOP3', { gfx9: 0x1e3, gfx10: 0x170, gfx11: 0x238, gfx12: 0x238 }),
    operands: [...uniform('f64', 3), src('vcc', 'mask')],
    modifiers: everything,
    semantics: semantics('v_div_fmas_f64', fmasF64(f64.divFmas), fmasF64(f64.divFmasPublished)),
    fidelity,
    errata: fmasErrata,
  },
  {
    name: 'v_div_fmas_f32',
    family,
    summary: 'Fused multiply-add, scaled back in lanes whose VCC bit is set: the last step of an f32 division',
    forms: forms('VOP3', { gfx9: 0x1e2, gfx10: 0x16f, gfx11: 0x237, gfx12: 0x237 }),
    operands: [...uniform('f32', 3), src('vcc', 'mask')],
    modifiers: everything,
    semantics: semantics('v_div_fmas_f32', fmasF32(f32.divFmas), fmasF32(f32.divFmasPublished)),
    fidelity,
    errata: fmasErrata,
  },
  {
    name: 'v_div_fixup_f64',
    family,
    summary: 'Repair sign and special cases of an f64 quotient: S0 the quotient, S1 the denominator, S2 the numerator',
    forms: forms('VOP3', { gfx9: 0x1df, gfx10: 0x160, gfx11: 0x228, gfx12: 0x228 }),
    operands: uniform('f64', 3),
    modifiers: everything,
    semantics: semantics('v_div_fixup_f64', f64Ternary(f64.divFixup), f64Ternary(f64.divFixupPublished)),
    fidelity,
    errata: fixupErrata,
  },
  {
    name: 'v_div_fixup_f32',
    family,
    summary: 'Repair sign and special cases of an f32 quotient: S0 the quotient, S1 the denominator, S2 the numerator',
    forms: forms('VOP3', { gfx9: 0x1de, gfx10: 0x15f, gfx11: 0x227, gfx12: 0x227 }),
    operands: uniform('f32', 3),
    modifiers: everything,
    semantics: semantics('v_div_fixup_f32', f32Ternary(f32.divFixup), f32Ternary(f32.divFixupPublished)),
    fidelity,
    errata: fixupErrata,
  },
];
