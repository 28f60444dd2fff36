/** Words and doubles of four lanes: one vector of words, or the doubles of the first two lanes and of the last. */

@inline export const MAGNITUDE: i32 = 0x7fffffff;
@inline export const FRACTION: i32 = 0xfffff;
@inline export const FRACTION_AND_SIGN: i32 = 0x800fffff;
@inline export const SIGN: i32 = 0x80000000;
@inline export const INFINITY_HIGH: i32 = 0x7ff00000;
@inline export const DEFAULT_NAN_HIGH: i32 = 0xfff80000;
@inline export const QUIET_BIT: i32 = 0x00080000;
@inline export const ONE: i32 = 0x3ff00000;
/** What takes subnormals to normal numbers: a power of two. */
@inline export const UP: i32 = 54;

/** 2^n. */
@inline
export function power(n: i64): f64 {
  return reinterpret<f64>((1023 + n) << 52);
}

@inline
export function lowWords(first: v128, last: v128): v128 {
  return v128.shuffle<u32>(first, last, 0, 2, 4, 6);
}

@inline
export function highWords(first: v128, last: v128): v128 {
  return v128.shuffle<u32>(first, last, 1, 3, 5, 7);
}

@inline
export function firstTwo(lo: v128, hi: v128): v128 {
  return v128.shuffle<u32>(lo, hi, 0, 4, 1, 5);
}

@inline
export function lastTwo(lo: v128, hi: v128): v128 {
  return v128.shuffle<u32>(lo, hi, 2, 6, 3, 7);
}

@inline
export function putDoubles(to: usize, first: v128, last: v128): void {
  v128.store(to, first);
  v128.store(to, last, 16);
}

@inline
export function fieldOf(hi: v128): v128 {
  return v128.and(i32x4.shr_u(hi, 20), i32x4.splat(0x7ff));
}

/** High words of doubles to those of 2^e times these. */
@inline
export function moved(hi: v128, e: v128): v128 {
  return i32x4.add(hi, i32x4.shl(e, 20));
}

/** High words to those of significands. */
@inline
export function significand(hi: v128): v128 {
  return v128.or(v128.and(hi, i32x4.splat(FRACTION_AND_SIGN)), i32x4.splat(ONE));
}

/** Negative for a biased exponent that no normal number has. */
@inline
export function outside(field: v128): v128 {
  return v128.or(i32x4.sub(field, i32x4.splat(1)), i32x4.sub(i32x4.splat(2046), field));
}

/** An infinity or a NaN. */
@inline
export function isBeyond(hi: v128): v128 {
  return i32x4.eq(fieldOf(hi), i32x4.splat(2047));
}

@inline
export function isZero(hi: v128, lo: v128): v128 {
  return i32x4.eq(v128.or(v128.and(hi, i32x4.splat(MAGNITUDE)), lo), i32x4.splat(0));
}

@inline
export function isNaN(hi: v128, lo: v128): v128 {
  const isInfinity = i32x4.eq(v128.or(v128.and(hi, i32x4.splat(FRACTION)), lo), i32x4.splat(0));
  return v128.andnot(isBeyond(hi), isInfinity);
}

@inline
export function quiet(hi: v128): v128 {
  return v128.or(hi, i32x4.splat(QUIET_BIT));
}

/** `yes` where the mask is set, else `no`: in the order of a conditional. */
@inline
export function either(mask: v128, yes: v128, no: v128): v128 {
  return v128.bitselect(yes, no, mask);
}
