/**
 * Error-free transformations: a sum or product of doubles as a nearest double and the exact rest (Dekker 1971, Knuth
 * TAOCP 2, 4.2.2). They hold while nothing overflows and no error falls below 2^-1074, which callers see to by working
 * on integer significands below 2^54 and on scales within POWER_LIMIT.
 */

/** a + b - sum, exactly, where sum is the double a + b (Knuth's TwoSum). */
export const sumError = (a: number, b: number, sum: number): number => {
  const bPart = sum - a;
  return a - (sum - bPart) + (b - bPart);
};

const SPLITTER = 2 ** 27 + 1;

/** The upper half of a double's bits: with 26 bits, of which `a - upperHalf(a)` is the rest of 26 (Veltkamp's split). */
export const upperHalf = (a: number): number => {
  const wide = SPLITTER * a;
  return wide - (wide - a);
};

/** a * b - product, exactly, where product is the double a * b (Dekker's TwoProduct). */
export const productError = (a: number, b: number, product: number): number => {
  const aHigh = upperHalf(a);
  const aLow = a - aHigh;
  const bHigh = upperHalf(b);
  const bLow = b - bHigh;
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow;
};

/** Largest |d| for which `powerOfTwo` is defined. */
export const POWER_LIMIT = 300;

const POWERS = Float64Array.from({ length: 2 * POWER_LIMIT + 1 }, (_, index) => 2 ** (index - POWER_LIMIT));

/** 2^d for an integer d, |d| <= POWER_LIMIT. */
export const powerOfTwo = (d: number): number => POWERS[d + POWER_LIMIT]!;
