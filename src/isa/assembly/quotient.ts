/** From q on. */
import { isUnsafe, marginOf, mulAdd, residual, sumWithin, times } from './doubles';
import { Frame, list, note, replacePair } from './frame';
import {
  DEFAULT_NAN_HIGH,
  either,
  fieldOf,
  firstTwo,
  highWords,
  INFINITY_HIGH,
  lastTwo,
  lowWords,
  MAGNITUDE,
  moved,
  outside,
  power,
  putDoubles,
  SIGN,
} from './vectors';

/** The exponent of p from that of q: v_div_fmas moves it by 128 where the flag is set. */
@inline
function quotientExponent(ofQ: v128, flag: v128): v128 {
  const moves = i32x4.shl(v128.or(i32x4.shr_s(ofQ, 31), i32x4.splat(1)), 7);
  return i32x4.add(ofQ, v128.and(moves, i32x4.neg(flag)));
}

/** As if q, t and p were normal and the sum for p certain; returns how many groups it noted for `settle`. */
export function quotients(frame: Frame, lanes: i32): i32 {
  let count = 0;
  for (let at: usize = 0; at < (<usize>lanes) << 2; at += 16) {
    const rFirst = v128.load(frame.reciprocal + 2 * at);
    const rLast = v128.load(frame.reciprocal + 2 * at, 16);
    const nFirst = v128.load(frame.significandN + 2 * at);
    const nLast = v128.load(frame.significandN + 2 * at, 16);
    const qFirst = f64x2.mul(nFirst, rFirst);
    const qLast = f64x2.mul(nLast, rLast);
    const a = v128.load(frame.a + at);
    const qExponent = i32x4.sub(a, v128.load(frame.b + at));
    const qTop = highWords(qFirst, qLast);
    v128.store(frame.qLo + at, lowWords(qFirst, qLast));
    v128.store(frame.qHi + at, moved(qTop, qExponent));

    const tFirst = residual(nFirst, v128.load(frame.significandD + 2 * at), qFirst);
    const tLast = residual(nLast, v128.load(frame.significandD + 2 * at, 16), qLast);
    const tTop = highWords(tFirst, tLast);
    v128.store(frame.tLo + at, lowWords(tFirst, tLast));
    v128.store(frame.tHi + at, moved(tTop, v128.and(a, isNonZero(tTop))));
    putDoubles(frame.residual + 2 * at, tFirst, tLast);

    const hFirst = f64x2.mul(tFirst, rFirst);
    const hLast = f64x2.mul(tLast, rLast);
    const first = sumWithin(qFirst, hFirst, marginOf(hFirst));
    const last = sumWithin(qLast, hLast, marginOf(hLast));
    const x = quotientExponent(qExponent, v128.load(frame.flag + at));
    putResult(frame, at, first, last, x);

    const isAbnormal = abnormal(i32x4.add(fieldOf(qTop), qExponent), tTop, a, i32x4.add(fieldOf(highWords(first, last)), x));
    const isSumUnsafe = v128.or(isUnsafe(qFirst, hFirst, first), isUnsafe(qLast, hLast, last));
    count = note(frame.otherGroups, count, at, v128.or(v128.or(isAbnormal, isSumUnsafe), v128.load(frame.isSmall + at)));
  }
  return count;
}

@inline
function putResult(frame: Frame, at: usize, first: v128, last: v128, x: v128): void {
  const lo = lowWords(first, last);
  const hi = moved(highWords(first, last), x);
  v128.store(frame.pLo + at, lo);
  v128.store(frame.pHi + at, hi);
  v128.store(frame.resultLo + at, lo);
  v128.store(frame.resultHi + at, hi);
}

/** That many groups again; returns how many lanes it lists to be done again from q on. */
export function settle(frame: Frame, count: i32): i32 {
  let lanes = 0;
  for (let k = 0; k < count; k++) {
    const at: usize = load<u32>(frame.otherGroups + (k << 2));
    lanes = list(frame.outside, lanes, at, settleGroup(frame, at));
  }
  return lanes;
}

/** Returns in which lanes something is left to do. */
@inline
function settleGroup(frame: Frame, at: usize): v128 {
  const rFirst = v128.load(frame.reciprocal + 2 * at);
  const rLast = v128.load(frame.reciprocal + 2 * at, 16);
  const tFirst = v128.load(frame.residual + 2 * at);
  const tLast = v128.load(frame.residual + 2 * at, 16);
  const qFirst = f64x2.mul(v128.load(frame.significandN + 2 * at), rFirst);
  const qLast = f64x2.mul(v128.load(frame.significandN + 2 * at, 16), rLast);
  const first = mulAdd(tFirst, rFirst, qFirst);
  const last = mulAdd(tLast, rLast, qLast);
  const a = v128.load(frame.a + at);
  const qExponent = i32x4.sub(a, v128.load(frame.b + at));
  const x = quotientExponent(qExponent, v128.load(frame.flag + at));
  putResult(frame, at, first, last, x);

  const qTop = highWords(qFirst, qLast);
  const pField = i32x4.add(fieldOf(highWords(first, last)), x);
  const isAbnormal = abnormal(i32x4.add(fieldOf(qTop), qExponent), highWords(tFirst, tLast), a, pField);
  const isElsewhere = v128.or(v128.load(frame.isSpecial + at), v128.load(frame.isSmall + at));
  let left = v128.andnot(isAbnormal, isElsewhere);
  left = v128.andnot(left, settleZeroAndInfinity(frame, at, left, qTop, qExponent, x));
  return v128.andnot(left, settleSubnormal(frame, at, left, x, qFirst, qLast, f64x2.mul(tFirst, rFirst), f64x2.mul(tLast, rLast)));
}

/** Where q, p or t isn't normal; but t may be 0. */
@inline
function abnormal(qField: v128, tTop: v128, a: v128, pField: v128): v128 {
  const ofT = v128.and(i32x4.sub(i32x4.add(fieldOf(tTop), a), i32x4.splat(1)), isNonZero(tTop));
  return i32x4.shr_s(v128.or(v128.or(outside(qField), outside(pField)), ofT), 31);
}

/** Of a significand by its high word. */
@inline
function isNonZero(hi: v128): v128 {
  return i32x4.ne(v128.and(hi, i32x4.splat(MAGNITUDE)), i32x4.splat(0));
}

/**
 * Lanes whose quotient is infinite or zero before or after v_div_fmas, for certain by its exponent; returns which.
 *
 * | q         | p       | q     | t         | p           | result   |
 * | --------- | ------- | ----- | --------- | ----------- | -------- |
 * | >= 2^1024 |         | inf   | -inf of n | default NaN | inf      |
 * | 0         | 0       | 0     | ns        | 0           | 0        |
 * | normal    | inf, 0  |       |           | inf, 0      | inf, 0   |
 */
function settleZeroAndInfinity(frame: Frame, at: usize, left: v128, qTop: v128, qExponent: v128, x: v128): v128 {
  const zero = i32x4.splat(0);
  const sign = v128.and(qTop, i32x4.splat(SIGN));
  const infinity = v128.or(sign, i32x4.splat(INFINITY_HIGH));
  const isOverflow = i32x4.gt_s(i32x4.add(fieldOf(qTop), qExponent), i32x4.splat(2046));
  const isZero = i32x4.lt_s(qExponent, i32x4.splat(-1075));
  const isLarge = i32x4.gt_s(x, i32x4.splat(1024));
  const isPKnown = v128.or(isLarge, i32x4.lt_s(x, i32x4.splat(-1076)));
  const isKnown = v128.or(isOverflow, v128.and(isPKnown, v128.or(isZero, isPlain(frame, at))));
  const isSettled = v128.and(left, isKnown);

  const ofQ = v128.and(isSettled, v128.or(isOverflow, isZero));
  const minusInfinity = v128.or(v128.andnot(i32x4.splat(SIGN), v128.load(frame.nHiCopy + at)), i32x4.splat(INFINITY_HIGH));
  replacePair(frame.qLo, frame.qHi, at, zero, either(isOverflow, infinity, sign), ofQ);
  const tLow = v128.andnot(v128.load(frame.nsLo + at), isOverflow);
  replacePair(frame.tLo, frame.tHi, at, tLow, either(isOverflow, minusInfinity, v128.load(frame.nsHi + at)), ofQ);
  const result = either(v128.or(isOverflow, isLarge), infinity, sign);
  const p = either(isOverflow, i32x4.splat(DEFAULT_NAN_HIGH), result);
  replacePair(frame.pLo, frame.pHi, at, zero, p, isSettled);
  replacePair(frame.resultLo, frame.resultHi, at, zero, result, isSettled);
  return isSettled;
}

/**
 * Lanes with a normal quotient of which v_div_fmas makes a subnormal; returns which of `left` are done. As `pack` of
 * ../divisionMacroWords.ts: adding 2^52 units of the subnormal rounds to whole ones. What that and the first sum lose must be less than
 * half a unit together, so much that neither the product's rounding nor this sum's matters.
 */
function settleSubnormal(
  frame: Frame,
  at: usize,
  left: v128,
  x: v128,
  qFirst: v128,
  qLast: v128,
  hFirst: v128,
  hLast: v128,
): v128 {
  const sums = highWords(f64x2.add(qFirst, hFirst), f64x2.add(qLast, hLast));
  const sign = v128.and(sums, i32x4.splat(SIGN));
  const field = i32x4.sub(i32x4.splat(1), x);
  const base = v128.or(i32x4.shl(field, 20), sign);
  const zero = i32x4.splat(0);
  const baseFirst = firstTwo(zero, base);
  const baseLast = lastTwo(zero, base);
  const first = f64x2.add(f64x2.add(qFirst, hFirst), baseFirst);
  const last = f64x2.add(f64x2.add(qLast, hLast), baseLast);
  const isSafe = lowWords(isWithin(qFirst, hFirst, baseFirst, first), isWithin(qLast, hLast, baseLast, last));
  const isSubnormal = v128.and(i32x4.lt_s(i32x4.add(fieldOf(sums), x), i32x4.splat(1)), i32x4.gt_s(x, i32x4.splat(-1077)));
  const isSettled = v128.and(v128.and(left, isPlain(frame, at)), v128.and(isSubnormal, isSafe));
  const lo = lowWords(first, last);
  const hi = i32x4.sub(highWords(first, last), i32x4.shl(field, 20));
  replacePair(frame.pLo, frame.pHi, at, lo, hi, isSettled);
  replacePair(frame.resultLo, frame.resultHi, at, lo, hi, isSettled);
  return isSettled;
}

/** Whether q + h and what rounds it beside `base` to `rounded` are less than half a unit, 2^-52 of the base, apart for certain. */
@inline
function isWithin(q: v128, h: v128, base: v128, rounded: v128): v128 {
  const sum = f64x2.add(q, h);
  const rest = f64x2.sub(h, f64x2.sub(sum, q));
  const lost = f64x2.sub(sum, f64x2.sub(rounded, base));
  const distance = f64x2.add(f64x2.abs(f64x2.add(lost, rest)), f64x2.abs(marginOf(h)));
  return f64x2.lt(distance, times(f64x2.abs(base), power(-53) - power(-100)));
}

/** Neither q nor t subnormal, zero or infinite. */
@inline
function isPlain(frame: Frame, at: usize): v128 {
  const a = v128.load(frame.a + at);
  const qExponent = i32x4.sub(a, v128.load(frame.b + at));
  return v128.and(i32x4.gt_s(qExponent, i32x4.splat(-1022)), i32x4.gt_s(a, i32x4.splat(-901)));
}
