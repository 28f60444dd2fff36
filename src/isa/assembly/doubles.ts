/** Two doubles at a time: error-free products and sums (../../float/errorFree.ts). */
import { power } from './vectors';

/** The upper 26 bits (Veltkamp). */
@inline
export function upperHalf(a: v128): v128 {
  const wide = f64x2.mul(a, f64x2.splat(1 + power(27)));
  return f64x2.sub(wide, f64x2.sub(wide, a));
}

/** a b - product, exactly, for the rounded product (Dekker). */
@inline
export function productError(a: v128, b: v128, product: v128): v128 {
  const aHigh = upperHalf(a);
  const aLow = f64x2.sub(a, aHigh);
  const bHigh = upperHalf(b);
  const bLow = f64x2.sub(b, bHigh);
  const high = f64x2.sub(f64x2.mul(aHigh, bHigh), product);
  const middle = f64x2.add(f64x2.add(high, f64x2.mul(aHigh, bLow)), f64x2.mul(aLow, bHigh));
  return f64x2.add(middle, f64x2.mul(aLow, bLow));
}

/** c - a b, rounded once where c - RN(a b) is exact. */
@inline
export function residual(c: v128, a: v128, b: v128): v128 {
  const product = f64x2.mul(a, b);
  return f64x2.sub(f64x2.sub(c, product), productError(a, b, product));
}

/** a + b rounded to odd: where it isn't exact, to the one of its neighbours whose last bit is 1. */
@inline
export function sumToOdd(a: v128, b: v128): v128 {
  const sum = f64x2.add(a, b);
  const part = f64x2.sub(sum, a);
  const lost = f64x2.add(f64x2.sub(a, f64x2.sub(sum, part)), f64x2.sub(b, part));
  const isEven = i64x2.eq(v128.and(sum, i64x2.splat(1)), i64x2.splat(0));
  const isMoved = v128.and(f64x2.ne(lost, f64x2.splat(0)), isEven);
  const towardsLost = v128.or(i64x2.shr_s(v128.xor(sum, lost), 63), i64x2.splat(1));
  return i64x2.add(sum, v128.and(towardsLost, isMoved));
}

/**
 * What a b + c has beside `sum`, the rounded sum of c and the rounded product, for |c| above |a b|; to odd, so that it lies on the same
 * side of every middle between two doubles as the exact rest, and adding it to the sum rounds once (Boldo, Melquiond 2008).
 */
@inline
export function restToOdd(a: v128, b: v128, c: v128, sum: v128): v128 {
  const product = f64x2.mul(a, b);
  const rest = f64x2.sub(product, f64x2.sub(sum, c));
  return sumToOdd(rest, productError(a, b, product));
}

/** a b + c, rounded once, for |c| above |a b|. */
export function mulAdd(a: v128, b: v128, c: v128): v128 {
  const sum = f64x2.add(c, f64x2.mul(a, b));
  return f64x2.add(sum, restToOdd(a, b, c, sum));
}

/** More than a rounded product is off by. */
@inline
export function marginOf(product: v128): v128 {
  return f64x2.mul(product, f64x2.splat(power(-51)));
}

/** Whether a + product, which is `sum` with the margin taken from it, is another with the margin added. */
@inline
export function isUnsafe(a: v128, product: v128, sum: v128): v128 {
  return f64x2.ne(sum, sumWithin(a, product, f64x2.neg(marginOf(product))));
}

/** a + product - margin, rounded once. */
@inline
export function sumWithin(a: v128, product: v128, margin: v128): v128 {
  const sum = f64x2.add(a, product);
  const rest = f64x2.sub(product, f64x2.sub(sum, a));
  return f64x2.add(sum, f64x2.sub(rest, margin));
}

@inline
export function times(x: v128, factor: f64): v128 {
  return f64x2.mul(x, f64x2.splat(factor));
}
