import { type Control, KEEP_OUTPUT } from './control.ts';
import { powerOfTwo } from './errorFree.ts';
import { floatOfNumber, numberOfFloat } from './format.ts';
import { f64_leave } from './result.ts';

/**
 * The rounding exits of the fast library: the only places that know the four rounding modes and the output denormal
 * control. An operation hands over its exact result as the nearest double and a residue, of which only the sign counts:
 * above zero where the exact result lies above that double, below where it lies below, zero where they are equal.
 */
const cell = new Float64Array(1);
const words = new Uint32Array(cell.buffer);

/** Does the rounding mode go away from zero for a result of this sign? (sign: 0, or any other value for minus) */
const roundsAway = (sign: number, control: Control): boolean => (control & 3) === (sign === 0 ? 1 : 2);

/** Leaves the overflow result (IEEE 754-2019 7.4): infinity, or the largest finite number. sign: 0 or 0x80000000. */
export const f64_overflow = (sign: number, control: Control): void => {
  if ((control & 3) === 0 || roundsAway(sign, control)) f64_leave(sign | 0x7ff00000, 0);
  else f64_leave(sign | 0x7fefffff, 0xffffffff);
};

/** Leaves a tiny non-zero value rounded: zero, or the smallest subnormal where the mode goes away from zero. */
export const f64_underflow = (sign: number, control: Control): void =>
  f64_leave(sign, (control & KEEP_OUTPUT) !== 0 && roundsAway(sign, control) ? 1 : 0);

/** The overflow result of binary32: infinity, or the largest finite number. sign: 0 or 0x80000000. */
export const f32_overflow = (sign: number, control: Control): number =>
  (sign | ((control & 3) === 0 || roundsAway(sign, control) ? 0x7f800000 : 0x7f7fffff)) >>> 0;

/** A tiny non-zero value rounded to binary32: zero, or the smallest subnormal where the mode goes away from zero. */
export const f32_underflow = (sign: number, control: Control): number =>
  (sign | ((control & KEEP_OUTPUT) !== 0 && roundsAway(sign, control) ? 1 : 0)) >>> 0;

/**
 * Rounds a tiny binary64 result at subnormal precision. `magnitude` is floored to an integer significand with a sticky
 * rest, so that the double rounding which the nearest double would bring is undone.
 */
const f64_roundSubnormal = (sign: number, magnitude: number, residue: number, exponent: number, control: Control) => {
  cell[0] = magnitude;
  const hi = words[1]!;
  const floor = ((hi & 0xfffff) | 0x100000) * 2 ** 32 + words[0]! - (residue < 0 ? 1 : 0);
  const dropped = 1 - ((hi >>> 20) + exponent);
  const scaled = floor * powerOfTwo(-Math.min(dropped, 64));
  let quotient = Math.floor(scaled);
  const rest = scaled - quotient;
  if ((control & 3) === 0) {
    if (rest > 0.5 || (rest === 0.5 && (residue !== 0 || quotient % 2 === 1))) quotient += 1;
  } else if (roundsAway(sign, control) && (rest > 0 || residue !== 0)) quotient += 1;
  f64_leave(sign | Math.floor(quotient / 2 ** 32), quotient >>> 0);
};

/**
 * Leaves the binary64 nearest, by the mode, to (-1)^sign (magnitude + residue) 2^exponent.
 * @param sign 0, or 0x80000000 (signed or unsigned) for minus
 * @param magnitude a positive normal double: the exact magnitude rounded to nearest at 53 bits
 * @param residue its sign is that of (exact magnitude - magnitude)
 * @param exponent any integer below 2^53
 *
 * Tiny is what lies below 2^-1022 after rounding at full precision with unbounded exponent (captured on gfx1100 and
 * gfx1201 for FMA f32 and f16); a tiny result is flushed even where rounding at subnormal precision would reach 2^-1022.
 */
export const f64_roundPack = (
  sign: number,
  magnitude: number,
  residue: number,
  exponent: number,
  control: Control,
): void => {
  cell[0] = magnitude;
  let lo = words[0]!;
  let hi = words[1]!;
  if (residue !== 0 && (control & 3) !== 0) {
    if (roundsAway(sign, control)) {
      if (residue > 0) {
        lo = (lo + 1) >>> 0;
        if (lo === 0) hi += 1;
      }
    } else if (residue < 0) {
      if (lo === 0) hi -= 1;
      lo = (lo - 1) >>> 0;
    }
  }
  const field = (hi >>> 20) + exponent;
  if (field >= 1 && field <= 2046) f64_leave(sign | (hi + (exponent << 20)), lo);
  else if (field > 2046) f64_overflow(sign, control);
  else if ((control & KEEP_OUTPUT) === 0) f64_leave(sign, 0);
  else f64_roundSubnormal(sign, magnitude, residue, exponent, control);
};

/** Halfway between the largest finite binary32 and 2^128; its even neighbour is infinity. */
const F32_MIDPOINT_OF_OVERFLOW = 2 ** 128 - 2 ** 103;

/** Rounds magnitude + residue (see below) to 24 bits or to the subnormal grid, without any flush. */
const f32_roundMagnitude = (sign: number, magnitude: number, residue: number, control: Control): number => {
  const bits = floatOfNumber(magnitude);
  const nearest = numberOfFloat(bits);
  const rest = magnitude - nearest;
  if ((control & 3) === 0) {
    // A tie of `magnitude` is none of the exact value: where the residue pulls away from the even neighbour, follow it.
    if (rest > 0 && residue > 0 && Math.fround(nearest + 2 * rest) === nearest + 2 * rest) return bits + 1;
    if (rest < 0 && residue < 0) {
      if (Math.fround(nearest + 2 * rest) === nearest + 2 * rest) return bits - 1;
      if (magnitude === F32_MIDPOINT_OF_OVERFLOW) return bits - 1;
    }
    return bits;
  }
  const error = rest !== 0 ? rest : residue;
  if (roundsAway(sign, control)) return error > 0 ? bits + 1 : bits;
  return error < 0 ? bits - 1 : bits;
};

/**
 * The binary32 word nearest, by the mode, to (-1)^sign (magnitude + residue).
 * @param magnitude a positive double: the exact magnitude rounded to nearest at 53 bits
 * @param residue its sign is that of (exact magnitude - magnitude)
 *
 * Neighbouring magnitudes have neighbouring words, from zero through the subnormals up to infinity, so one step on the
 * integer is the whole of directed rounding. Tiny as in f64_roundPack: only where the smallest normal number came out
 * does the subnormal grid hide the answer, and the same value scaled up by 2^32 tells.
 */
export const f32_roundPack = (sign: number, magnitude: number, residue: number, control: Control): number => {
  const bits = f32_roundMagnitude(sign, magnitude, residue, control);
  if (bits > 0x00800000 || (control & KEEP_OUTPUT) !== 0) return (sign | bits) >>> 0;
  const tiny =
    bits < 0x00800000 || f32_roundMagnitude(sign, magnitude * 2 ** 32, residue, control) < 0x00800000 + (32 << 23);
  return (sign | (tiny ? 0 : bits)) >>> 0;
};
