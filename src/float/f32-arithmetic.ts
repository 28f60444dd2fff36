import { type Control, KEEP_INPUT } from './control.ts';
import { powerOfTwo, productError, sumError } from './errorFree.ts';
import { numberOfFloat } from './format.ts';
import { f32_defaultNaN, f32_isNaN, f32_passNaN } from './nan.ts';
import { f32_roundPack } from './roundPack.ts';

/**
 * Binary32 arithmetic: words in (u32 or i32, only the 32 bits count), a u32 word out. A double holds every binary32 and every product of two, so an
 * operation is one native double operation, the sign of its error, and the one exit.
 */
const SIGN = 0x80000000;
const FIELD = 0x7f800000;

const isFinite32 = (a: number): boolean => (a & FIELD) !== FIELD;

/** The value of a word that is not NaN; a zero of its sign for a subnormal that the control flushes. */
const numberOf = (a: number, control: Control): number =>
  numberOfFloat((a & FIELD) === 0 && (control & KEEP_INPUT) === 0 ? a & SIGN : a);

/** The exit for a signed, non-zero sum + rest. */
const roundSigned = (sum: number, rest: number, control: Control): number =>
  sum < 0 ? f32_roundPack(SIGN, -sum, -rest, control) : f32_roundPack(0, sum, rest, control);

/** The exact zero of a sum: the sign that both terms share, else +0, in round toward -infinity -0 (IEEE 754-2019 6.3). */
const zeroSum = (signA: number, signB: number, control: Control): number => {
  const negative = signA === signB ? signA !== 0 : (control & 3) === 2;
  return negative ? SIGN : 0;
};

/** a + b. */
export const f32_add = (a: number, b: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if (f32_isNaN(b)) return f32_passNaN(b, control);
  if (!isFinite32(a)) return isFinite32(b) || ((a ^ b) & SIGN) === 0 ? a >>> 0 : f32_defaultNaN(control);
  if (!isFinite32(b)) return b >>> 0;
  const x = numberOf(a, control);
  const y = numberOf(b, control);
  const sum = x + y;
  if (sum === 0) return zeroSum(a & SIGN, b & SIGN, control);
  return roundSigned(sum, sumError(x, y, sum), control);
};

/** a - b. A NaN b passes with its own sign. */
export const f32_sub = (a: number, b: number, control: Control): number =>
  f32_add(a, f32_isNaN(b) ? b : (b ^ SIGN) >>> 0, control);

/** a * b. */
export const f32_mul = (a: number, b: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if (f32_isNaN(b)) return f32_passNaN(b, control);
  const product = numberOf(a, control) * numberOf(b, control);
  const sign = (a ^ b) & SIGN;
  if (product === 0) return sign >>> 0;
  if (isFinite32(a) && isFinite32(b)) return f32_roundPack(sign, Math.abs(product), 0, control);
  // Only zero times infinity is neither zero nor infinite.
  return Math.abs(product) === Infinity ? (sign | FIELD) >>> 0 : f32_defaultNaN(control);
};

/** (a * b + c) * 2^k with one rounding, |k| <= 300: V_DIV_FMAS_F32 has k = 64 or -64 (ROCm rocjitsu division.h). */
export const f32_mulAddScaled = (a: number, b: number, c: number, k: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if (f32_isNaN(b)) return f32_passNaN(b, control);
  const product = numberOf(a, control) * numberOf(b, control);
  const sign = (a ^ b) & SIGN;
  if (!isFinite32(a) || !isFinite32(b)) {
    if (Math.abs(product) !== Infinity) return f32_defaultNaN(control);
    return f32_add((sign | FIELD) >>> 0, c, control);
  }
  if (f32_isNaN(c)) return f32_passNaN(c, control);
  if (!isFinite32(c)) return c >>> 0;
  const addend = numberOf(c, control);
  const sum = product + addend;
  if (sum === 0) return zeroSum(sign, c & SIGN, control);
  const scale = powerOfTwo(k);
  return roundSigned(sum * scale, sumError(product, addend, sum), control);
};

/** a * b + c with one rounding (IEEE 754-2019 5.4.1 fusedMultiplyAdd). */
export const f32_mulAdd = (a: number, b: number, c: number, control: Control): number =>
  f32_mulAddScaled(a, b, c, 0, control);

/** a / b. */
export const f32_div = (a: number, b: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if (f32_isNaN(b)) return f32_passNaN(b, control);
  const sign = (a ^ b) & SIGN;
  const x = Math.abs(numberOf(a, control));
  const y = Math.abs(numberOf(b, control));
  const quotient = x / y;
  if (quotient === 0) return sign >>> 0;
  if (quotient === Infinity) return (sign | FIELD) >>> 0;
  if (quotient > 0) {
    const product = quotient * y;
    return f32_roundPack(sign, quotient, x - product - productError(quotient, y, product), control);
  }
  return f32_defaultNaN(control);
};

/** The square root (see f64_sqrt on Math.sqrt). */
export const f32_sqrt = (a: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  const x = numberOf(a, control);
  if (x === 0) return (a & SIGN) >>> 0;
  if (x < 0) return f32_defaultNaN(control);
  if (x === Infinity) return a >>> 0;
  const root = Math.sqrt(x);
  const square = root * root;
  return f32_roundPack(0, root, x - square - productError(root, root, square), control);
};

/** a * 2^n for any i32 n, rounded once. */
export const f32_ldexp = (a: number, n: number, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  const magnitude = Math.abs(numberOf(a, control));
  if (magnitude === 0) return (a & SIGN) >>> 0;
  if (magnitude === Infinity) return a >>> 0;
  // Beyond +-300 every finite non-zero binary32 is far over or far under the range, and stays so.
  return f32_roundPack(a & SIGN, magnitude * powerOfTwo(Math.min(Math.max(n, -300), 300)), 0, control);
};
