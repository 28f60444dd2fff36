/** v_div_scale_f32, v_div_fmas_f32 and v_div_fixup_f32 on one lane: the rules of divisionF64.ts with the constants of binary32. */
import { type Control, KEEP_INPUT, QUIET } from '../../float/control.ts';
import {
  f32_defaultNaN,
  f32_isNaN,
  f32_ldexp,
  f32_mulAdd,
  f32_mulAddScaled,
  f32_overflow,
  f32_underflow,
} from '../../float/f32.ts';
import { numberOfFloat } from '../../float/format.ts';
import { result } from '../../float/result.ts';
import { decideHardware, decidePublished, decision, f32Limits, f32PublishedLimits } from './divisionScale.ts';

/** As in f64; the scaled value is left in result[0], the lane's VCC bit returned. */
export type DivScale = (s: number, d: number, n: number, control: Control) => number;
export type DivFmas = (a: number, b: number, c: number, vcc: number, control: Control) => number;

const SIGN = 0x80000000;
const INFINITY = 0x7f800000;
const QUIET_BIT = 0x00400000;

const exponent = (a: number): number => (a >>> 23) & 0xff;
const isZero = (a: number): boolean => (a & 0x7fffffff) === 0;
const isInfinite = (a: number): boolean => (a & 0x7fffffff) === INFINITY;

/** The word of a source, or of the zero of its sign if it is a subnormal that MODE flushes. */
const input = (a: number, control: Control): number =>
  (control & KEEP_INPUT) === 0 && exponent(a) === 0 ? (a & SIGN) >>> 0 : a;

export const divScale: DivScale = (s0, s1, s2, control) => {
  const s = input(s0, control);
  const d = input(s1, control);
  const n = input(s2, control);
  decideHardware(exponent(n), exponent(d), s === d, f32Limits);
  result[0] = isZero(d) || isZero(n) ? f32_defaultNaN(control) : f32_ldexp(s, decision.k, control | QUIET);
  return decision.flag;
};

const numberOf = (a: number): number => (f32_isNaN(a) ? Number.NaN : numberOfFloat(a));

/** The f32 text tests 1.0 / 64'F(S1) for an f64 subnormal, which no f32 has, and S2 / S1 in f32. */
export const divScalePublished: DivScale = (s0, s1, s2, control) => {
  const s = input(s0, control);
  const d = numberOf(input(s1, control));
  const n = numberOf(input(s2, control));
  if (d === 0 || n === 0) {
    result[0] = f32_defaultNaN(control);
    return 0;
  }
  // Rounding the f64 quotient again is safe: quotients of 24-bit numbers keep further than 2^-53 from an f32 tie.
  const quotient = Math.abs(Math.fround(n / d));
  const quotientIsSubnormal = quotient > 0 && quotient < 2 ** -126;
  const eN = exponent(input(s2, control));
  const eD = exponent(input(s1, control));
  decidePublished(eN, eD, numberOf(s), d, n, false, quotientIsSubnormal, f32PublishedLimits);
  result[0] = decision.k === 0 ? s0 : f32_ldexp(s, decision.k, control | QUIET);
  return decision.flag;
};

/** One rounding after the scaling, by 2^64 if the encoded exponent of S2 is above that of 1.0, else by 2^-64. */
export const divFmas: DivFmas = (a, b, c, vcc, control) => {
  const k = vcc === 0 ? 0 : exponent(c) > 127 ? 64 : -64;
  return f32_mulAddScaled(a, b, c, k, control | KEEP_INPUT | QUIET);
};

/** AMD's text: the rounded fma times 2^32, rounded again. */
export const divFmasPublished: DivFmas = (a, b, c, vcc, control) => {
  const sum = f32_mulAdd(a, b, c, control | QUIET);
  return vcc === 0 ? sum : f32_ldexp(sum, 32, control | QUIET);
};

const NONE = -1;

/** What numerator and denominator decide alone, by the table of divisionF64.ts; NONE if they don't. */
const fixupSpecial = (d: number, n: number, control: Control): number => {
  const sign = ((d ^ n) & SIGN) >>> 0;
  if (f32_isNaN(n)) return (n | QUIET_BIT) >>> 0;
  if (f32_isNaN(d)) return (d | QUIET_BIT) >>> 0;
  if ((isZero(d) && isZero(n)) || (isInfinite(d) && isInfinite(n))) return f32_defaultNaN(control);
  if (isZero(d) || isInfinite(n)) return sign + INFINITY;
  if (isInfinite(d) || isZero(n)) return sign;
  return NONE;
};

const UNDERFLOW = -150;

export const divFixup = (q: number, s1: number, s2: number, control: Control): number => {
  const d = input(s1, control);
  const n = input(s2, control);
  const special = fixupSpecial(d, n, control);
  if (special !== NONE) return special;
  const sign = (d ^ n) & SIGN;
  if (exponent(n) - exponent(d) < UNDERFLOW) return f32_underflow(sign, control);
  return exponent(q) === 0xff ? f32_overflow(sign, control) : sign | (q & ~SIGN);
};

export const divFixupPublished = (q: number, s1: number, s2: number, control: Control): number => {
  const d = input(s1, control);
  const n = input(s2, control);
  const special = fixupSpecial(d, n, control);
  if (special !== NONE) return special;
  const sign = (d ^ n) & SIGN;
  return exponent(n) - exponent(d) < UNDERFLOW ? sign : sign | (q & ~SIGN);
};
