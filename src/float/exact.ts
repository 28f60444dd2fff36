import {
  type Control,
  KEEP_INPUT,
  KEEP_OUTPUT,
  NAN_CANONICAL,
  NAN_POSITIVE,
  QUIET,
  Round,
  roundOf,
} from './control.ts';
import type { Format } from './format.ts';

/**
 * The oracle: every operation on exact integers, one rounding at the end, any format. Slow and plain on purpose; the
 * fast library and the shaders are checked against it. Bits in and bits out are BigInts of the format's width.
 */
export interface Finite {
  readonly kind: 'finite';
  /** 1 for minus. */
  readonly sign: number;
  /** value = (-1)^sign significand 2^exponent; the significand of a zero is 0n. */
  readonly significand: bigint;
  readonly exponent: number;
}

type Unpacked = Finite | { readonly kind: 'infinity'; readonly sign: number } | { readonly kind: 'nan' };

const bitLength = (n: bigint): number => (n === 0n ? 0 : n.toString(2).length);

const signed = (format: Format, sign: number, magnitude: bigint): bigint =>
  sign === 0 ? magnitude : magnitude | format.signMask;

/** Takes an encoding apart, a subnormal counting as zero where the control flushes inputs. */
const unpack = (format: Format, bits: bigint, control: Control): Unpacked => {
  const sign = (bits & format.signMask) === 0n ? 0 : 1;
  const fraction = bits & format.fractionMask;
  const field = Number((bits & format.infinity) >> BigInt(format.fractionBits));
  if (field === 2 ** format.exponentBits - 1) return fraction === 0n ? { kind: 'infinity', sign } : { kind: 'nan' };
  if (field === 0) {
    const significand = control & KEEP_INPUT ? fraction : 0n;
    return { kind: 'finite', sign, significand, exponent: format.minQuantum };
  }
  const significand = fraction | (format.fractionMask + 1n);
  return { kind: 'finite', sign, significand, exponent: format.minQuantum + field - 1 };
};

/** significand / 2^dropped rounded to an integer; a negative count shifts left. */
const roundShift = (sign: number, significand: bigint, dropped: number, rounding: Round): bigint => {
  if (dropped <= 0) return significand << BigInt(-dropped);
  const floor = significand >> BigInt(dropped);
  const rest = significand - (floor << BigInt(dropped));
  if (rest === 0n) return floor;
  if (rounding === Round.towardZero) return floor;
  if (rounding === Round.up) return sign === 0 ? floor + 1n : floor;
  if (rounding === Round.down) return sign === 0 ? floor : floor + 1n;
  const half = 1n << BigInt(dropped - 1);
  return rest > half || (rest === half && (floor & 1n) === 1n) ? floor + 1n : floor;
};

const overflow = (format: Format, sign: number, rounding: Round): bigint => {
  const toInfinity = rounding === Round.nearestEven || rounding === (sign === 0 ? Round.up : Round.down);
  return signed(format, sign, toInfinity ? format.infinity : format.infinity - 1n);
};

/**
 * The one rounding exit: the encoding of (-1)^sign (significand + (sticky ? something below 1 : 0)) 2^exponent.
 * With `sticky` the significand must have at least two bits more than the format's precision.
 * Tininess is judged after rounding with unbounded exponent; a tiny result is flushed unless KEEP_OUTPUT.
 */
export const roundPack = (
  format: Format,
  sign: number,
  significand: bigint,
  exponent: number,
  sticky: boolean,
  control: Control,
): bigint => {
  if (sticky) return roundPack(format, sign, (significand << 1n) | 1n, exponent - 1, false, control);
  if (significand === 0n) return signed(format, sign, 0n);
  const rounding = roundOf(control);
  const precision = format.fractionBits + 1;
  const quantum = exponent + bitLength(significand) - precision;
  if (quantum > format.bias) return overflow(format, sign, rounding);
  const smallestNormal = 1n << BigInt(precision - 1);
  if (quantum < format.minQuantum) {
    const unbounded = roundShift(sign, significand, quantum - exponent, rounding);
    const tiny = quantum < format.minQuantum - 1 || unbounded < 2n * smallestNormal;
    if (tiny && (control & KEEP_OUTPUT) === 0) return signed(format, sign, 0n);
  }
  const place = Math.max(quantum, format.minQuantum);
  // Everything below 2^-3 of the last place is one sticky bit: huge negative exponents must not make huge shifts.
  const far = place - exponent - bitLength(significand) > 2;
  const rounded = far ? roundShift(sign, 1n, 3, rounding) : roundShift(sign, significand, place - exponent, rounding);
  const magnitude = (BigInt(place - format.minQuantum) << BigInt(format.fractionBits)) + rounded;
  return magnitude >= format.infinity ? overflow(format, sign, rounding) : signed(format, sign, magnitude);
};

/** The default NaN by the control. */
export const defaultNaN = (format: Format, control: Control): bigint =>
  signed(format, control & NAN_POSITIVE ? 0 : 1, format.infinity | format.quietBit);

const passNaN = (format: Format, bits: bigint, control: Control): bigint => {
  if (control & NAN_CANONICAL) return defaultNaN(format, control);
  return control & QUIET ? bits | format.quietBit : bits;
};

/** Is the encoding a NaN? */
export const isNaNBits = (format: Format, bits: bigint): boolean => (bits & ~format.signMask) > format.infinity;

const signedValue = (x: Finite): bigint => (x.sign === 0 ? x.significand : -x.significand);

/** The exact sum; an exact zero takes the common sign, else + (- in round toward -infinity). */
const exactSum = (a: Finite, b: Finite, control: Control): Finite => {
  const exponent = Math.min(a.exponent, b.exponent);
  const align = (x: Finite): bigint => signedValue(x) << BigInt(x.exponent - exponent);
  const sum = align(a) + align(b);
  const zeroSign = a.sign === b.sign ? a.sign : roundOf(control) === Round.down ? 1 : 0;
  const sign = sum === 0n ? zeroSign : sum < 0n ? 1 : 0;
  return { kind: 'finite', sign, significand: sum < 0n ? -sum : sum, exponent };
};

/** (a * b + c) * 2^k, exact before the one rounding. */
export const mulAddScaled = (format: Format, a: bigint, b: bigint, c: bigint, k: number, control: Control): bigint => {
  const [x, y, z] = [unpack(format, a, control), unpack(format, b, control), unpack(format, c, control)];
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (y.kind === 'nan') return passNaN(format, b, control);
  const sign = x.sign ^ y.sign;
  const zeroTimes = (u: Unpacked, v: Unpacked) => u.kind === 'finite' && u.significand === 0n && v.kind === 'infinity';
  if (zeroTimes(x, y) || zeroTimes(y, x)) return defaultNaN(format, control);
  if (z.kind === 'nan') return passNaN(format, c, control);
  if (x.kind === 'infinity' || y.kind === 'infinity') {
    if (z.kind === 'infinity' && z.sign !== sign) return defaultNaN(format, control);
    return signed(format, sign, format.infinity);
  }
  if (z.kind === 'infinity') return c;
  const product: Finite = {
    kind: 'finite',
    sign,
    significand: x.significand * y.significand,
    exponent: x.exponent + y.exponent,
  };
  const sum = exactSum(product, z, control);
  return roundPack(format, sum.sign, sum.significand, sum.exponent + k, false, control);
};

/** a * b + c. */
export const mulAdd = (format: Format, a: bigint, b: bigint, c: bigint, control: Control): bigint =>
  mulAddScaled(format, a, b, c, 0, control);

/** a + b. */
export const add = (format: Format, a: bigint, b: bigint, control: Control): bigint => {
  const [x, y] = [unpack(format, a, control), unpack(format, b, control)];
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (y.kind === 'nan') return passNaN(format, b, control);
  if (x.kind === 'infinity') {
    return y.kind === 'infinity' && y.sign !== x.sign ? defaultNaN(format, control) : a;
  }
  if (y.kind === 'infinity') return b;
  const sum = exactSum(x, y, control);
  return roundPack(format, sum.sign, sum.significand, sum.exponent, false, control);
};

/** a - b; a NaN b passes with its own sign. */
export const sub = (format: Format, a: bigint, b: bigint, control: Control): bigint =>
  add(format, a, isNaNBits(format, b) ? b : b ^ format.signMask, control);

/** a * b. */
export const mul = (format: Format, a: bigint, b: bigint, control: Control): bigint => {
  const [x, y] = [unpack(format, a, control), unpack(format, b, control)];
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (y.kind === 'nan') return passNaN(format, b, control);
  const sign = x.sign ^ y.sign;
  if (x.kind === 'finite' && y.kind === 'finite') {
    return roundPack(format, sign, x.significand * y.significand, x.exponent + y.exponent, false, control);
  }
  const zero = (x.kind === 'finite' && x.significand === 0n) || (y.kind === 'finite' && y.significand === 0n);
  return zero ? defaultNaN(format, control) : signed(format, sign, format.infinity);
};

/** a / b. */
export const div = (format: Format, a: bigint, b: bigint, control: Control): bigint => {
  const [x, y] = [unpack(format, a, control), unpack(format, b, control)];
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (y.kind === 'nan') return passNaN(format, b, control);
  const sign = x.sign ^ y.sign;
  if (x.kind === 'infinity') {
    return y.kind === 'infinity' ? defaultNaN(format, control) : signed(format, sign, format.infinity);
  }
  if (y.kind === 'infinity') return signed(format, sign, 0n);
  if (y.significand === 0n) {
    return x.significand === 0n ? defaultNaN(format, control) : signed(format, sign, format.infinity);
  }
  // Two precisions and more of extra bits: the quotient has what roundPack asks for, whatever the operands.
  const shift = 2 * format.fractionBits + 4;
  const numerator = x.significand << BigInt(shift);
  const quotient = numerator / y.significand;
  const sticky = quotient * y.significand !== numerator;
  return roundPack(format, sign, quotient, x.exponent - y.exponent - shift, sticky, control);
};

/** The integer square root: the largest r with r * r <= n. */
export const squareRoot = (n: bigint): bigint => {
  if (n < 2n) return n;
  let root = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
};

/** The square root. */
export const sqrt = (format: Format, a: bigint, control: Control): bigint => {
  const x = unpack(format, a, control);
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (x.kind === 'finite' && x.significand === 0n) return signed(format, x.sign, 0n);
  if (x.sign === 1) return defaultNaN(format, control);
  if (x.kind === 'infinity') return a;
  const odd = x.exponent & 1;
  const shift = 2 * format.fractionBits + 6;
  const radicand = x.significand << BigInt(shift + odd);
  const root = squareRoot(radicand);
  return roundPack(format, 0, root, (x.exponent - odd - shift) / 2, root * root !== radicand, control);
};

/** 1 / sqrt(a), correctly rounded; the infinity of its sign for a zero (IEEE 754-2019 9.2.1 rSqrt). */
export const rsqrt = (format: Format, a: bigint, control: Control): bigint => {
  const x = unpack(format, a, control);
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (x.kind === 'finite' && x.significand === 0n) return signed(format, x.sign, format.infinity);
  if (x.sign === 1) return defaultNaN(format, control);
  if (x.kind === 'infinity') return 0n;
  const odd = x.exponent & 1;
  const significand = x.significand << BigInt(odd);
  // floor(sqrt(floor(2^(2s) / m))) is floor(2^s / sqrt(m)).
  const scale = 2 * format.fractionBits + 6;
  const root = squareRoot((1n << BigInt(2 * scale)) / significand);
  const exact = root * root * significand === 1n << BigInt(2 * scale);
  return roundPack(format, 0, root, (odd - x.exponent) / 2 - scale, !exact, control);
};

/** The relation of a to b: 1 less, 2 equal, 4 greater, 8 unordered. */
export const relation = (format: Format, a: bigint, b: bigint, control: Control): number => {
  const [x, y] = [unpack(format, a, control), unpack(format, b, control)];
  if (x.kind === 'nan' || y.kind === 'nan') return 8;
  if (x.kind === 'infinity' || y.kind === 'infinity') {
    const rank = (u: typeof x): number => (u.kind === 'finite' ? 0 : u.sign === 0 ? 1 : -1);
    return rank(x) < rank(y) ? 1 : rank(x) === rank(y) ? 2 : 4;
  }
  const exponent = Math.min(x.exponent, y.exponent);
  const difference =
    (signedValue(x) << BigInt(x.exponent - exponent)) - (signedValue(y) << BigInt(y.exponent - exponent));
  return difference < 0n ? 1 : difference === 0n ? 2 : 4;
};

/** a * 2^n for any i32 n. */
export const ldexp = (format: Format, a: bigint, n: number, control: Control): bigint => {
  const x = unpack(format, a, control);
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (x.kind === 'infinity') return a;
  return roundPack(format, x.sign, x.significand, x.exponent + n, false, control);
};

/** A finite value rounded to an integer: its magnitude. */
const integerMagnitude = (x: Finite, rounding: Round): bigint =>
  roundShift(x.sign, x.significand, -x.exponent, rounding);

/** The integral value next to a in the control's rounding mode; a zero result keeps a's sign. */
export const roundToInt = (format: Format, a: bigint, control: Control): bigint => {
  const x = unpack(format, a, control);
  if (x.kind === 'nan') return passNaN(format, a, control);
  if (x.kind === 'infinity' || x.exponent >= 0) return a;
  return roundPack(format, x.sign, integerMagnitude(x, roundOf(control)), 0, false, control);
};

/** The integer next to a by `rounding`, held within [low, high]; 0 for NaN (AMD's V_CVT rule). */
export const toInteger = (
  format: Format,
  a: bigint,
  low: bigint,
  high: bigint,
  rounding: Round,
  control: Control,
): bigint => {
  const x = unpack(format, a, control);
  if (x.kind === 'nan') return 0n;
  if (x.kind === 'infinity') return x.sign === 0 ? high : low;
  const magnitude = integerMagnitude(x, rounding);
  const value = x.sign === 0 ? magnitude : -magnitude;
  return value < low ? low : value > high ? high : value;
};

/** The encoding nearest to an integer in the control's rounding mode. */
export const fromInteger = (format: Format, value: bigint, control: Control): bigint =>
  roundPack(format, value < 0n ? 1 : 0, value < 0n ? -value : value, 0, false, control);

/**
 * From one format to another: input flush by the source's control, all else by the destination's. A NaN keeps its sign
 * and the top of its payload; narrowing always quiets it.
 */
export const convert = (from: Format, to: Format, a: bigint, controlFrom: Control, controlTo: Control): bigint => {
  const x = unpack(from, a, controlFrom);
  const sign = (a & from.signMask) === 0n ? 0 : 1;
  if (x.kind === 'infinity') return signed(to, sign, to.infinity);
  if (x.kind === 'finite') return roundPack(to, sign, x.significand, x.exponent, false, controlTo);
  const shift = BigInt(to.fractionBits - from.fractionBits);
  const fraction = a & from.fractionMask;
  const payload = shift >= 0n ? fraction << shift : (fraction >> -shift) | to.quietBit;
  return passNaN(to, signed(to, sign, to.infinity | payload), controlTo);
};

/** AMD's V_CMP_CLASS number of the encoding, 0 (signalling NaN) to 9 (+infinity), without any flush. */
export const classOf = (format: Format, a: bigint): number => {
  const magnitude = a & ~format.signMask;
  if (magnitude > format.infinity) return (a & format.quietBit) === 0n ? 0 : 1;
  const positive = magnitude === format.infinity ? 9 : magnitude > format.fractionMask ? 8 : magnitude > 0n ? 7 : 6;
  return magnitude === a ? positive : 11 - positive;
};
