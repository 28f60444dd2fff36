/**
 * EX2, LN2, RCP, RSQ, SIN, COS of X1K on the CPU.
 *
 * | input | EX2  | LN2  | RCP  | RSQ  | SIN  | COS  |
 * | ----- | ---- | ---- | ---- | ---- | ---- | ---- |
 * | +0.0  | +1.0 | -Inf | +Inf | +Inf | +0.0 | +1.0 |
 * | -0.0  | +1.0 | -Inf | -Inf | +Inf | -0.0 | +1.0 |
 * | +Inf  | +Inf | +Inf | +0.0 | +0.0 | NaN  | NaN  |
 * | -Inf  | +0.0 | NaN  | -0.0 | NaN  | NaN  | NaN  |
 * | NaN   | NaN  | NaN  | NaN  | NaN  | NaN  | NaN  |
 *
 * The table, and that the root of RSQ(-0.0) is taken as +0: ATI CTM Guide v1.01 p. 42, 3.6.3. LN2 and RSQ of negative numbers are NaN.
 * How the chip computes is not known. Here RCP and RSQ are exact and rounded once; EX2, LN2, SIN and COS are the fixed-point series below,
 * whole numbers throughout, so that the same bits come out wherever they are computed: `high(a, b)` is floor(a b / 2^32).
 * |x| = m * 2^(e - 23), m of 24 bits.
 */

import { EX2_SERIES, LN2_SERIES, SIN_SERIES } from './coefficients.ts';
import type { X1kControl } from './control.ts';
import { finishSettled, numberOf, powerOfTwo } from './number.ts';

const { floor } = Math;
const TWO32 = 2 ** 32;

/** floor(a b / 2^32) of words: by 16 bits of `a`, since doubles hold whole numbers to 2^53. */
const high = (a: number, b: number): number => floor((floor(a / 65536) * b + floor(((a % 65536) * b) / 65536)) / 65536);

/** a * 2^n, cut to a whole number. */
const shifted = (a: number, n: number): number => floor(a * powerOfTwo(n));

const significandOf = (bits: number): number => (bits & 0x7fffff) | 0x800000;
const exponentOf = (bits: number): number => ((bits >>> 23) & 0xff) - 127;

/** |x| modulo 1 in units of 2^-32, cut. */
function fractionOf(bits: number): number {
  const e = exponentOf(bits);
  return e >= 23 ? 0 : shifted(significandOf(bits), Math.max(e + 9, -32)) % TWO32;
}

/** 2^x: x = n + f, f cut to 2^-32; 2^n (1 + f (c0 + f (c1 + ...))). */
function ex2Finite(x: number, bits: number): number {
  if (Math.abs(x) >= 128) return x > 0 ? Number.POSITIVE_INFINITY : 0;
  const whole = floor(Math.abs(x));
  const fraction = fractionOf(bits);
  const borrow = x < 0 && fraction !== 0;
  const f = borrow ? TWO32 - fraction : fraction;
  const n = x < 0 ? -whole - Number(borrow) : whole;
  let p = EX2_SERIES.at(-1)!;
  for (let k = EX2_SERIES.length - 2; k >= 0; k--) p = EX2_SERIES[k]! + high(p, f);
  return (TWO32 + high(p, f)) * powerOfTwo(n - 32);
}

/** The least 24-bit significand above the square root of 2: from here on the exponent is rounded up. */
const ABOVE_ROOT2 = 0xb504f4;

/**
 * log2(x): x = 2^n r, r between the roots of 1/2 and 2, s = (r - 1) / (r + 1): n + s (c0 + s^2 (c1 + ...)). The quotient has 31 bits or
 * more whatever its size, so that nothing is lost beside 1.
 */
function ln2Positive(bits: number): number {
  const m = significandOf(bits);
  const above = m >= ABOVE_ROOT2;
  const n = exponentOf(bits) + Number(above);
  const one = above ? 2 ** 24 : 2 ** 23;
  const numerator = Math.abs(m - one);
  if (numerator === 0) return n;
  const zeros = Math.clz32(numerator);
  const quotient = Number((BigInt(numerator) << BigInt(zeros + 24)) / BigInt(m + one));
  const s = shifted(quotient, 8 - zeros);
  const z = high(s, s);
  let p = LN2_SERIES.at(-1)!;
  for (let k = LN2_SERIES.length - 2; k >= 0; k--) p = LN2_SERIES[k]! + high(p, z);
  const product = high(quotient, p);
  const sign = above ? -1 : 1;
  if (n === 0) return sign * product * powerOfTwo(-22 - zeros);
  return (n * TWO32 + sign * shifted(product, 10 - zeros)) / TWO32;
}

/** 1/x: 2^55 / m, below 2^32, with a bit behind it for the rest. */
function rcpFinite(x: number, bits: number): number {
  const m = significandOf(bits);
  const numerator = 2 ** 39;
  const upper = floor(numerator / m);
  const rest = (numerator - upper * m) * 65536;
  const quotient = upper * 65536 + floor(rest / m);
  const tail = rest % m === 0 ? 0 : 0.5;
  return Math.sign(x) * (quotient + tail) * powerOfTwo(-32 - exponentOf(bits));
}

/** 1/sqrt(x): the largest whole r with r^2 m <= 2^75, where m takes the exponent's odd bit, with a bit behind it for the rest. */
function rsqPositive(bits: number): number {
  const odd = exponentOf(bits) & 1;
  const m = significandOf(bits) * (1 + odd);
  const half = (exponentOf(bits) - odd) / 2;
  const exact = BigInt(m);
  const isAbove = (r: number) => BigInt(r) * BigInt(r) * exact > 1n << 75n;
  let r = floor(2 ** 26 * Math.sqrt(2 ** 23 / m));
  while (isAbove(r)) r--;
  while (!isAbove(r + 1)) r++;
  const tail = BigInt(r) * BigInt(r) * exact === 1n << 75n ? 0 : 0.5;
  return (r + tail) * powerOfTwo(-26 - half);
}

/** sin(pi/2 u) of u = 4 y 2^-32 2^-zeros, y the leading 32 bits; `quarter` is u / 4 cut to 2^-32. */
function sinQuarter(y: number, zeros: number, quarter: number): number {
  const u = quarter * 4;
  const z = high(u, u);
  let p = SIN_SERIES.at(-1)!;
  for (let k = SIN_SERIES.length - 2; k >= 0; k--) p = SIN_SERIES[k]! - high(p, z);
  return high(y, p) * powerOfTwo(-29 - zeros);
}

const HALF = 2 ** 31;
const QUARTER = 2 ** 30;

/** The same for a fraction of a turn in units of 2^-32, 0 to a quarter. */
function sinFraction(fraction: number): number {
  if (fraction === 0) return 0;
  if (fraction === QUARTER) return 1;
  const zeros = Math.clz32(fraction);
  return sinQuarter(fraction * powerOfTwo(zeros), zeros, fraction);
}

/** sin(2 pi x) in x's quarters of a turn; of half turns it is the zero of x's sign (as IEEE 754-2019's sinPi). */
function sinFinite(x: number, bits: number): number {
  const sign = Math.sign(x);
  const e = exponentOf(bits);
  if (e < -9) return sign * sinQuarter(significandOf(bits) * 256, -1 - e, fractionOf(bits));
  const turn = fractionOf(bits);
  const half = turn % HALF;
  if (half === 0) return sign * 0;
  const magnitude = sinFraction(half > QUARTER ? HALF - half : half);
  return turn > HALF ? -sign * magnitude : sign * magnitude;
}

/** cos(2 pi x); +0 at odd quarters of a turn. */
function cosFinite(bits: number): number {
  const turn = fractionOf(bits);
  const half = turn > HALF ? TWO32 - turn : turn;
  const magnitude = sinFraction(Math.abs(QUARTER - half));
  return half > QUARTER ? -magnitude : magnitude;
}

type Operation = (bits: number, control: X1kControl) => number;

/** Zeros, infinities and NaN by the table; `finite` has the rest. */
const operation =
  (special: (x: number) => number, finite: (x: number, bits: number) => number): Operation =>
  (bits, control) => {
    const x = numberOf(bits);
    const isSpecial = x === 0 || !Number.isFinite(x);
    return finishSettled(isSpecial ? special(x) : finite(x, bits), control);
  };

export const ex2: Operation = operation((x) => 2 ** x, ex2Finite);
export const ln2: Operation = operation(Math.log2, (x, bits) => (x < 0 ? Number.NaN : ln2Positive(bits)));
export const rcp: Operation = operation((x) => 1 / x, rcpFinite);
export const rsq: Operation = operation(
  (x) => 1 / Math.sqrt(Math.abs(x) === 0 ? 0 : x),
  (x, bits) => (x < 0 ? Number.NaN : rsqPositive(bits)),
);
export const sin: Operation = operation((x) => (x === 0 ? x : Number.NaN), sinFinite);
export const cos: Operation = operation(
  (x) => (x === 0 ? 1 : Number.NaN),
  (_, bits) => cosFinite(bits),
);
