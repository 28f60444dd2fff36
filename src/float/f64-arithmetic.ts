import { type Control, KEEP_INPUT } from './control.ts';
import { POWER_LIMIT, powerOfTwo, productError, sumError } from './errorFree.ts';
import { f64_defaultNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leave } from './result.ts';
import { f64_roundPack } from './roundPack.ts';

/**
 * Binary64 arithmetic on native doubles, in every rounding mode and with AMD's denormal controls. Operands are (hi, lo)
 * pairs of words; the result is left in `result` (result.ts). Nothing here throws, and nothing allocates an object.
 * A word may come as u32 or as i32, here and in all of src/float: only its 32 bits count. (V8 keeps an i32 out of the
 * heap also in a call that it does not inline; a u32 from 2^31 up it does not.)
 *
 * Each operation works on integer significands, so that range is never in question: the native operation gives the
 * nearest double, an error-free transformation the sign of what is missing, and the one exit rounds.
 */
const SIGN = 0x80000000;
const FIELD = 0x7ff00000;

/** The integer significand of a finite word, below 2^53; zero for a subnormal that the control flushes. */
export const f64_significand = (hi: number, lo: number, control: Control): number => {
  if ((hi & FIELD) !== 0) return ((hi & 0xfffff) | 0x100000) * 2 ** 32 + (lo >>> 0);
  return control & KEEP_INPUT ? (hi & 0xfffff) * 2 ** 32 + (lo >>> 0) : 0;
};

/** The exponent that goes with the significand: the word's magnitude is significand * 2^exponent. */
export const f64_exponent = (hi: number): number => {
  const field = (hi >>> 20) & 0x7ff;
  return (field === 0 ? 1 : field) - 1075;
};

/** Is the word neither infinite nor NaN? */
export const f64_isFinite = (hi: number): boolean => (hi & FIELD) !== FIELD;

/** Leaves the exact zero of a sum: the sign that both terms share, else +0, in round toward -infinity -0 (IEEE 754-2019 6.3). */
export const f64_zeroSum = (signA: number, signB: number, control: Control): void => {
  const negative = signA === signB ? signA !== 0 : (control & 3) === 2;
  f64_leave(negative ? SIGN : 0, 0);
};

/** a + b. */
export const f64_add = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  if (!f64_isFinite(aHi) || !f64_isFinite(bHi)) {
    f64_addSpecial(aHi, aLo, bHi, bLo, control);
    return;
  }
  const sign = aHi & SIGN;
  const a = f64_significand(aHi, aLo, control);
  const b = f64_significand(bHi, bLo, control);
  if (a === 0 && b === 0) {
    f64_zeroSum(sign, bHi & SIGN, control);
    return;
  }
  // Align b to a. Beyond the limit the smaller one only leans on the rounding, and any place that far away is as good.
  let exponent = f64_exponent(aHi);
  let distance = f64_exponent(bHi) - exponent;
  if (a === 0 || distance > POWER_LIMIT) {
    const limited = a === 0 ? 0 : POWER_LIMIT;
    exponent += distance - limited;
    distance = limited;
  } else if (distance < -POWER_LIMIT) distance = -POWER_LIMIT;
  const scaled = b * powerOfTwo(distance);
  const addend = ((aHi ^ bHi) & SIGN) === 0 ? scaled : -scaled;
  const sum = a + addend;
  if (sum === 0) {
    f64_zeroSum(sign, bHi & SIGN, control);
    return;
  }
  const rest = sumError(a, addend, sum);
  if (sum > 0) f64_roundPack(sign, sum, rest, exponent, control);
  else f64_roundPack(sign ^ SIGN, -sum, -rest, exponent, control);
};

/** The sum of two words of which at least one is infinite or NaN. */
export const f64_addSpecial = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (f64_isNaN(bHi, bLo)) f64_passNaN(bHi, bLo, control);
  else if (f64_isFinite(aHi)) f64_leave(bHi, bLo);
  else if (f64_isFinite(bHi) || ((aHi ^ bHi) & SIGN) === 0) f64_leave(aHi, aLo);
  else f64_defaultNaN(control);
};

/** a - b. A NaN b passes with its own sign. */
export const f64_sub = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void =>
  f64_add(aHi, aLo, f64_isNaN(bHi, bLo) ? bHi : bHi ^ SIGN, bLo, control);

/** a * b. */
export const f64_mul = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  const sign = (aHi ^ bHi) & SIGN;
  if (!f64_isFinite(aHi) || !f64_isFinite(bHi)) {
    mulSpecial(aHi, aLo, bHi, bLo, control);
    return;
  }
  const a = f64_significand(aHi, aLo, control);
  const b = f64_significand(bHi, bLo, control);
  const product = a * b;
  if (product === 0) f64_leave(sign, 0);
  else f64_roundPack(sign, product, productError(a, b, product), f64_exponent(aHi) + f64_exponent(bHi), control);
};

/** Is the word a zero, or a subnormal that the control flushes to one? */
export const f64_isZero = (hi: number, lo: number, control: Control): boolean =>
  (hi & FIELD) === 0 && f64_significand(hi, lo, control) === 0;

const mulSpecial = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (f64_isNaN(bHi, bLo)) f64_passNaN(bHi, bLo, control);
  else if (f64_isZero(aHi, aLo, control) || f64_isZero(bHi, bLo, control)) f64_defaultNaN(control);
  else f64_leave(((aHi ^ bHi) & SIGN) | FIELD, 0);
};

/** a / b. */
export const f64_div = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  const sign = (aHi ^ bHi) & SIGN;
  if (!f64_isFinite(aHi) || !f64_isFinite(bHi)) {
    divSpecial(aHi, aLo, bHi, bLo, control);
    return;
  }
  const a = f64_significand(aHi, aLo, control);
  const b = f64_significand(bHi, bLo, control);
  if (b !== 0 && a !== 0) {
    const quotient = a / b;
    const product = quotient * b;
    const remainder = a - product - productError(quotient, b, product);
    f64_roundPack(sign, quotient, remainder, f64_exponent(aHi) - f64_exponent(bHi), control);
  } else if (a !== 0) f64_leave(sign | FIELD, 0);
  else if (b !== 0) f64_leave(sign, 0);
  else f64_defaultNaN(control);
};

const divSpecial = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): void => {
  const sign = (aHi ^ bHi) & SIGN;
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (f64_isNaN(bHi, bLo)) f64_passNaN(bHi, bLo, control);
  else if (f64_isFinite(aHi)) f64_leave(sign, 0);
  else if (f64_isFinite(bHi)) f64_leave(sign | FIELD, 0);
  else f64_defaultNaN(control);
};

/** a * 2^n for any i32 n, rounded once. */
export const f64_ldexp = (aHi: number, aLo: number, n: number, control: Control): void => {
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (!f64_isFinite(aHi)) f64_leave(aHi, aLo);
  else if (a === 0) f64_leave(aHi & SIGN, 0);
  else f64_roundPack(aHi & SIGN, a, 0, f64_exponent(aHi) + n, control);
};
