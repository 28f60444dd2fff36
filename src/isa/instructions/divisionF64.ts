/** v_div_scale_f64, v_div_fmas_f64 and v_div_fixup_f64 on one lane: words in, the f64 left in `result`. */
import { type Control, KEEP_INPUT, QUIET } from '../../float/control.ts';
import {
  f64_defaultNaN,
  f64_isNaN,
  f64_ldexp,
  f64_leave,
  f64_mulAdd,
  f64_mulAddScaled,
  f64_overflow,
  f64_underflow,
  result,
} from '../../float/f64.ts';
import { numberOfWords } from '../../float/format.ts';
import { flushedHi, flushedLo } from '../flush.ts';
import { decideHardware, decidePublished, decision, f64Limits } from './divisionScale.ts';

/** S0 the value to scale, S1 the denominator, S2 the numerator; returns the lane's VCC bit. */
export type DivScale = (
  sHi: number,
  sLo: number,
  dHi: number,
  dLo: number,
  nHi: number,
  nLo: number,
  control: Control,
) => number;

/** S0 * S1 + S2, scaled back where `vcc` is 1. */
export type DivFmas = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  vcc: number,
  control: Control,
) => void;

const SIGN = 0x80000000;
const INFINITY = 0x7ff00000;
const QUIET_BIT = 0x00080000;

const exponent = (hi: number): number => (hi >>> 20) & 0x7ff;
const isZero = (hi: number, lo: number): boolean => ((hi & 0x7fffffff) | lo) === 0;
const isInfinite = (hi: number, lo: number): boolean => (hi & 0x7fffffff) === INFINITY && lo === 0;

/** The measured rule: `decideHardware`, then S0 * 2^k; a zero operand gives the default NaN and leaves the flag as it is. */
export const divScale: DivScale = (s0Hi, s0Lo, s1Hi, s1Lo, s2Hi, s2Lo, control) => {
  const sHi = flushedHi(s0Hi, control);
  const sLo = flushedLo(s0Hi, s0Lo, control);
  const dHi = flushedHi(s1Hi, control);
  const dLo = flushedLo(s1Hi, s1Lo, control);
  const nHi = flushedHi(s2Hi, control);
  const nLo = flushedLo(s2Hi, s2Lo, control);
  decideHardware(exponent(nHi), exponent(dHi), sHi === dHi && sLo === dLo, f64Limits);
  if (isZero(dHi, dLo) || isZero(nHi, nLo)) f64_defaultNaN(control);
  else f64_ldexp(sHi, sLo, decision.k, control | QUIET);
  return decision.flag;
};

const isSubnormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -1022;

const numberOf = (hi: number, lo: number): number => (f64_isNaN(hi, lo) ? Number.NaN : numberOfWords(hi, lo));

/** AMD's text: a zero operand gives NAN and VCC 0; where no branch assigns D0, it is S0 as it came. */
export const divScalePublished: DivScale = (s0Hi, s0Lo, s1Hi, s1Lo, s2Hi, s2Lo, control) => {
  const sHi = flushedHi(s0Hi, control);
  const sLo = flushedLo(s0Hi, s0Lo, control);
  const dHi = flushedHi(s1Hi, control);
  const nHi = flushedHi(s2Hi, control);
  const d = numberOf(dHi, flushedLo(s1Hi, s1Lo, control));
  const n = numberOf(nHi, flushedLo(s2Hi, s2Lo, control));
  if (d === 0 || n === 0) {
    f64_defaultNaN(control);
    return 0;
  }
  const s = numberOf(sHi, sLo);
  decidePublished(exponent(nHi), exponent(dHi), s, d, n, isSubnormal(1 / d), isSubnormal(n / d), f64Limits);
  if (decision.k === 0) f64_leave(s0Hi, s0Lo);
  else f64_ldexp(sHi, sLo, decision.k, control | QUIET);
  return decision.flag;
};

/**
 * One rounding after the scaling, by 2^128 if the encoded exponent of S2 is above that of 1.0, else by 2^-128. Subnormal sources
 * are kept and signalling NaNs quieted whatever MODE says.
 */
export const divFmas: DivFmas = (aHi, aLo, bHi, bLo, cHi, cLo, vcc, control) => {
  const k = vcc === 0 ? 0 : exponent(cHi) > 1023 ? 128 : -128;
  f64_mulAddScaled(aHi, aLo, bHi, bLo, cHi, cLo, k, control | KEEP_INPUT | QUIET);
};

/** AMD's text: the rounded fma times 2^64, rounded again. */
export const divFmasPublished: DivFmas = (aHi, aLo, bHi, bLo, cHi, cLo, vcc, control) => {
  f64_mulAdd(aHi, aLo, bHi, bLo, cHi, cLo, control | QUIET);
  if (vcc !== 0) f64_ldexp(result[1]!, result[0]!, 64, control | QUIET);
};

/**
 * Settles what numerator and denominator decide alone, and says whether they did. First match wins; the sign is sign(S1) xor sign(S2):
 *
 * | S2 (numerator), S1 (denominator) | result      |
 * | -------------------------------- | ----------- |
 * | S2 NaN                           | S2 quieted  |
 * | S1 NaN                           | S1 quieted  |
 * | both zero, both infinite         | default NaN |
 * | S1 zero, S2 infinite             | infinity    |
 * | S1 infinite, S2 zero             | zero        |
 */
const fixupSpecial = (dHi: number, dLo: number, nHi: number, nLo: number, control: Control): boolean => {
  const sign = (dHi ^ nHi) & SIGN;
  const dZero = isZero(dHi, dLo);
  const nZero = isZero(nHi, nLo);
  const dInfinite = isInfinite(dHi, dLo);
  const nInfinite = isInfinite(nHi, nLo);
  if (f64_isNaN(nHi, nLo)) f64_leave(nHi | QUIET_BIT, nLo);
  else if (f64_isNaN(dHi, dLo)) f64_leave(dHi | QUIET_BIT, dLo);
  else if ((dZero && nZero) || (dInfinite && nInfinite)) f64_defaultNaN(control);
  else if (dZero || nInfinite) f64_leave(sign | INFINITY, 0);
  else if (dInfinite || nZero) f64_leave(sign, 0);
  else return false;
  return true;
};

/** Encoded exponents further apart than this leave no quotient but zero or the smallest subnormal. */
const UNDERFLOW = -1075;

/**
 * After `fixupSpecial`: exponents further apart than UNDERFLOW give a tiny value rounded by the mode, an S0 that is NaN or infinite
 * gives the overflow of the mode, else S0 with the right sign: bits copied, nothing rounded or flushed.
 */
export const divFixup = (
  qHi: number,
  qLo: number,
  s1Hi: number,
  s1Lo: number,
  s2Hi: number,
  s2Lo: number,
  control: Control,
): void => {
  const dHi = flushedHi(s1Hi, control);
  const nHi = flushedHi(s2Hi, control);
  if (fixupSpecial(dHi, flushedLo(s1Hi, s1Lo, control), nHi, flushedLo(s2Hi, s2Lo, control), control)) return;
  const sign = (dHi ^ nHi) & SIGN;
  if (exponent(nHi) - exponent(dHi) < UNDERFLOW) f64_underflow(sign, control);
  else if (exponent(qHi) === 0x7ff) f64_overflow(sign, control);
  else f64_leave(sign | (qHi & ~SIGN), qLo);
};

/** AMD's text: underflow is a zero, and an S0 that is NaN or infinite is copied. */
export const divFixupPublished = (
  qHi: number,
  qLo: number,
  s1Hi: number,
  s1Lo: number,
  s2Hi: number,
  s2Lo: number,
  control: Control,
): void => {
  const dHi = flushedHi(s1Hi, control);
  const nHi = flushedHi(s2Hi, control);
  if (fixupSpecial(dHi, flushedLo(s1Hi, s1Lo, control), nHi, flushedLo(s2Hi, s2Lo, control), control)) return;
  const sign = (dHi ^ nHi) & SIGN;
  if (exponent(nHi) - exponent(dHi) < UNDERFLOW) f64_leave(sign, 0);
  else f64_leave(sign | (qHi & ~SIGN), qLo);
};
