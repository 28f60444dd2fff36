/**
 * Numbers of X1K on the CPU: sources become doubles, which hold every f32, every product of two and every exponent of them exactly;
 * results are rounded to 24 bits with an exponent of any size, go through the output modifier, and only then meet f32's range.
 * Sums that no double holds are rounded to odd, which leaves the rounding to 24 bits as if from the exact sum
 * (Boldo, Melquiond 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
 */
import { CONTROL_CLAMP, CONTROL_ROUND, omodExponent, type X1kControl } from './control.ts';

/** "ALU operations usually enable the output modifier, which in turn standardizes NaN values" (ATI CTM Guide v1.01 p. 42). */
export const STANDARD_NAN = 0x7fffffff;

const singles = new Float32Array(1);
const singleBits = new Uint32Array(singles.buffer);
const doubles = new Float64Array(1);
const doubleWords = new Uint32Array(doubles.buffer);
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** The number of an f32 word; denormals are zeros of their sign. */
export function numberOf(bits: number): number {
  singleBits[0] = (bits & 0x7f800000) === 0 ? bits & 0x80000000 : bits;
  return singles[0]!;
}

/** floor(log2 |value|) of a normal double. */
export function exponentOf(value: number): number {
  doubles[0] = value;
  return ((doubleWords[HIGH]! >>> 20) & 0x7ff) - 1023;
}

/** 2^n, n from -1022 to 1023. */
export function powerOfTwo(n: number): number {
  doubleWords[LOW] = 0;
  doubleWords[HIGH] = (n + 1023) << 20;
  return doubles[0]!;
}

/** a + b rounded to odd: where the sum is inexact, the neighbour whose last bit is set. */
export function addOdd(a: number, b: number): number {
  const sum = a + b;
  const part = sum - a;
  const error = a - (sum - part) + (b - part);
  if (error === 0 || !Number.isFinite(sum)) return sum;
  doubles[0] = sum;
  if ((doubleWords[LOW]! & 1) !== 0) return sum;
  // The error's side says which neighbour: away from zero by adding 1 to the bits, toward zero by taking 1 off.
  const away = error > 0 === sum > 0;
  if (away) doubleWords[LOW]! |= 1;
  else {
    if (doubleWords[LOW] === 0) doubleWords[HIGH]!--;
    doubleWords[LOW]!--;
  }
  return doubles[0]!;
}

/** n, |n| below 2^24, to a whole number by the rounding of a control word. */
function roundWhole(n: number, control: X1kControl): number {
  switch (control & CONTROL_ROUND) {
    case 0: {
      const below = Math.floor(n);
      const rest = n - below;
      return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
    }
    case 1:
      return Math.ceil(n);
    case 2:
      return Math.floor(n);
    default:
      return Math.trunc(n);
  }
}

const signOf = (value: number): number => (value < 0 || Object.is(value, -0) ? 0x80000000 : 0);

/**
 * A value, rounded to 24 bits and multiplied by 2^shift, as an f32: too large is infinite in every rounding, too small the zero of its
 * sign, NaN 7fffffff.
 */
export function settle(value: number, shift: number, control: X1kControl): number {
  if (Number.isNaN(value)) return STANDARD_NAN;
  if (value === 0) return signOf(value);
  if (!Number.isFinite(value)) return (signOf(value) | 0x7f800000) >>> 0;
  const unit = exponentOf(value) - 23;
  const rounded = roundWhole(value * powerOfTwo(-unit), control) * powerOfTwo(unit + shift);
  const magnitude = Math.abs(rounded);
  if (magnitude < 2 ** -126) return signOf(value);
  if (magnitude >= 2 ** 128) return (signOf(value) | 0x7f800000) >>> 0;
  singles[0] = rounded;
  return singleBits[0]!;
}

/**
 * Clamping of an f32, where the control word asks for it: MIN(MAX(x, 0.0), 1.0) by the guide's own rules for MIN and MAX, so NaN and -0
 * give +0. (The guide does not say what NaN gives.)
 */
export function clamped(bits: number, control: X1kControl): number {
  if ((control & CONTROL_CLAMP) === 0) return bits;
  if (bits >= 0x80000000 || bits > 0x7f800000) return 0;
  return Math.min(bits, 0x3f800000);
}

/** The result of an operation that keeps its range until the output modifier has acted: all but the transcendental ones. */
export const finish = (value: number, control: X1kControl): number =>
  clamped(settle(value, omodExponent(control), control), control);

/**
 * The result of a transcendental operation. "If the result of the transcendental operation exceeds the IEEE finite range, the ALU will
 * generate infinity even if the output modifier would bring the result back into range"; a denormal result likewise is a zero
 * (ATI CTM Guide v1.01 p. 42, 3.6.3).
 */
export const finishSettled = (value: number, control: X1kControl): number =>
  finish(numberOf(settle(value, 0, control)), control);
