import { type Control, Round } from './control.ts';
import { POWER_LIMIT, powerOfTwo, sumError, upperHalf } from './errorFree.ts';
import {
  f64_addSpecial,
  f64_exponent,
  f64_isFinite,
  f64_isZero,
  f64_significand,
  f64_zeroSum,
} from './f64-arithmetic.ts';
import { f64_defaultNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leaveNumber } from './result.ts';
import { f64_roundPack } from './roundPack.ts';

const SIGN = 0x80000000;
const FIELD = 0x7ff00000;

// The operands of mulAddNearest as doubles and as words, and its two results. Cells instead of parameters: a call that
// the compiler does not inline would put every double on the heap.
export const cells = new Float64Array(3);
const words = new Uint32Array(cells.buffer);

/**
 * From cells [0] a, [1] b, [2] c to cells [0] the double nearest to a * b + c and [1] a residue with the sign of
 * (exact value - nearest), zero where exact.
 *
 * high + low + c becomes top + tail + tailError without loss (Boldo and Melquiond 2008, with the last error kept instead
 * of rounding to odd). tail and tailError are far below top, but for cancellation, where both sums are exact.
 */
export const mulAddNearest = (): void => {
  const a = cells[0]!;
  const b = cells[1]!;
  const c = cells[2]!;
  const high = a * b;
  // productError written out: the compiler inlines the small functions always, a larger one only as its budget allows.
  const aHigh = upperHalf(a);
  const aLow = a - aHigh;
  const bHigh = upperHalf(b);
  const bLow = b - bHigh;
  const low = aHigh * bHigh - high + aHigh * bLow + aLow * bHigh + aLow * bLow;
  const middle = c + low;
  const middleError = sumError(c, low, middle);
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
  cells[0] = sum;
  cells[1] = rest;
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
  let exponent = f64_exponent(aHi) + f64_exponent(bHi);
  let distance = f64_exponent(cHi) - exponent;
  // Align c to the product. Beyond the limit the smaller one only leans on the rounding, wherever it is put.
  if (a === 0 || b === 0 || (distance > POWER_LIMIT && c !== 0)) {
    const limited = a === 0 || b === 0 ? 0 : POWER_LIMIT;
    exponent += distance - limited;
    distance = limited;
  } else if (distance < -POWER_LIMIT || c === 0) distance = -POWER_LIMIT;
  const aligned = c * powerOfTwo(distance);
  cells[0] = a;
  cells[1] = b;
  cells[2] = ((sign ^ cHi) & SIGN) === 0 ? aligned : -aligned;
  mulAddNearest();
  const sum = cells[0]!;
  const rest = cells[1]!;
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
 * a * b + c with one rounding (IEEE 754-2019 5.4.1 fusedMultiplyAdd).
 *
 * To nearest, the doubles themselves do where a and b are normal, c is normal or zero, and the exponents are such that
 * nothing overflows and every error term is a multiple of 2^-1074. All else goes by way of the significands.
 */
export const f64_mulAdd = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  control: Control,
): void => {
  const aField = (aHi >>> 20) & 0x7ff;
  const bField = (bHi >>> 20) & 0x7ff;
  const cField = (cHi >>> 20) & 0x7ff;
  const fields = aField + bField;
  const product = aField > 0 && bField > 0 && aField < 2000 && bField < 2000 && fields > 1100 && fields < 3000;
  const addend = cField > 0 ? cField < 2000 : ((cHi & 0xfffff) | cLo) === 0;
  if (product && addend && (control & 3) === Round.nearestEven) {
    words[0] = aLo;
    words[1] = aHi;
    words[2] = bLo;
    words[3] = bHi;
    words[4] = cLo;
    words[5] = cHi;
    mulAddNearest();
    const sum = cells[0]!;
    // A subnormal sum is exact, but it may have to be flushed; zero has sign rules.
    if (Math.abs(sum) >= 2 ** -1022) {
      f64_leaveNumber(sum);
      return;
    }
  }
  f64_mulAddScaled(aHi, aLo, bHi, bLo, cHi, cLo, 0, control);
};
