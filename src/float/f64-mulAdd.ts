import { type Control, Round, roundOf } from './control.ts';
import { POWER_LIMIT, powerOfTwo, productError, sumError } from './errorFree.ts';
import {
  f64_addSpecial,
  f64_exponent,
  f64_isFinite,
  f64_isZero,
  f64_significand,
  f64_zeroSum,
} from './f64-arithmetic.ts';
import { numberOfWords } from './format.ts';
import { f64_defaultNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leaveNumber } from './result.ts';
import { f64_roundPack } from './roundPack.ts';

const SIGN = 0x80000000;
const FIELD = 0x7ff00000;

/** What `addThree` leaves: [0] the nearest double, [1] a residue with the sign of (exact sum - nearest). */
const three = new Float64Array(2);

/**
 * high + low + addend, where high + low is an exact product: as top + tail + tailError without loss (Boldo and
 * Melquiond 2008, with the last error kept instead of rounding to odd). tail and tailError are far below top, but for
 * cancellation, where both are exact.
 */
const addThree = (high: number, low: number, addend: number): void => {
  const middle = addend + low;
  const middleError = sumError(addend, low, middle);
  const top = high + middle;
  const topError = sumError(high, middle, top);
  const tail = middleError + topError;
  const tailError = sumError(middleError, topError, tail);
  let sum = top + tail;
  let rest = sumError(top, tail, sum);
  if (rest === 0) rest = tailError;
  else if (tailError !== 0 && rest > 0 === tailError > 0) {
    // Where top + tail was a tie, tailError decides it: the neighbour is then exactly twice the rest away.
    const neighbour = sum + 2 * rest;
    if (neighbour - sum === 2 * rest) {
      sum = neighbour;
      rest = -rest;
    }
  }
  three[0] = sum;
  three[1] = rest;
};

/** (a * b + c) * 2^k with one rounding, k any integer: V_DIV_FMAS_F64 has k = 128 or -128 (ROCm rocjitsu division.h). */
export const f64_mulAddScaled = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  k: number,
  control: Control,
): void => {
  if (!f64_isFinite(aHi) || !f64_isFinite(bHi) || !f64_isFinite(cHi)) {
    mulAddSpecial(aHi, aLo, bHi, bLo, cHi, cLo, control);
    return;
  }
  const sign = (aHi ^ bHi) & SIGN;
  const a = f64_significand(aHi, aLo, control);
  const b = f64_significand(bHi, bLo, control);
  const c = f64_significand(cHi, cLo, control);
  const high = a * b;
  const low = productError(a, b, high);
  let exponent = f64_exponent(aHi) + f64_exponent(bHi);
  let distance = f64_exponent(cHi) - exponent;
  if (high === 0 || (distance > POWER_LIMIT && c !== 0)) {
    const limited = high === 0 ? 0 : POWER_LIMIT;
    exponent += distance - limited;
    distance = limited;
  } else if (distance < -POWER_LIMIT || c === 0) distance = -POWER_LIMIT;
  const scaled = c * powerOfTwo(distance);
  addThree(high, low, ((sign ^ cHi) & SIGN) === 0 ? scaled : -scaled);
  const sum = three[0]!;
  const rest = three[1]!;
  if (sum === 0) f64_zeroSum(sign, cHi & SIGN, control);
  else if (sum > 0) f64_roundPack(sign, sum, rest, exponent + k, control);
  else f64_roundPack(sign ^ SIGN, -sum, -rest, exponent + k, control);
};

const mulAddSpecial = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  control: Control,
): void => {
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (f64_isNaN(bHi, bLo)) f64_passNaN(bHi, bLo, control);
  else if (f64_isFinite(aHi) && f64_isFinite(bHi)) f64_addSpecial(0, 0, cHi, cLo, control);
  else if (f64_isZero(aHi, aLo, control) || f64_isZero(bHi, bLo, control)) f64_defaultNaN(control);
  else f64_addSpecial(((aHi ^ bHi) & SIGN) | FIELD, 0, cHi, cLo, control);
};

/**
 * May a * b + c be computed on the doubles themselves? a and b normal, c normal or zero, and the exponents such that
 * nothing overflows and every error term is a multiple of 2^-1074.
 */
const isTame = (aHi: number, bHi: number, cHi: number, cLo: number): boolean => {
  const aField = (aHi >>> 20) & 0x7ff;
  const bField = (bHi >>> 20) & 0x7ff;
  const cField = (cHi >>> 20) & 0x7ff;
  const fields = aField + bField;
  if (aField === 0 || bField === 0 || aField > 2000 || bField > 2000 || fields < 1100 || fields > 3000) return false;
  return cField !== 0 ? cField < 2000 : ((cHi & 0xfffff) | cLo) === 0;
};

/** a * b + c with one rounding (IEEE 754-2019 5.4.1 fusedMultiplyAdd). */
export const f64_mulAdd = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  control: Control,
): void => {
  if (roundOf(control) === Round.nearestEven && isTame(aHi, bHi, cHi, cLo)) {
    const a = numberOfWords(aHi, aLo);
    const b = numberOfWords(bHi, bLo);
    const high = a * b;
    addThree(high, productError(a, b, high), numberOfWords(cHi, cLo));
    // A subnormal sum is exact, but it may have to be flushed; zero has sign rules.
    if (Math.abs(three[0]!) >= 2 ** -1022) {
      f64_leaveNumber(three[0]!);
      return;
    }
  }
  f64_mulAddScaled(aHi, aLo, bHi, bLo, cHi, cLo, 0, control);
};
