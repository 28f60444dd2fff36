/** From q on. */
import { isUnsafe, marginOf, mulAdd, productError, residual, restToOdd, sumToOdd, sumWithin } from './doubles';
import { Frame, note, replace, replacePair } from './frame';
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

/** That many groups again, whatever q, t and p are. */
export function settle(frame: Frame, count: i32): void {
  for (let k = 0; k < count; k++) settleGroup(frame, load<u32>(frame.otherGroups + (k << 2)));
}

@inline
function settleGroup(frame: Frame, at: usize): void {
  const rFirst = v128.load(frame.reciprocal + 2 * at);
  const rLast = v128.load(frame.reciprocal + 2 * at, 16);
  const nFirst = v128.load(frame.significandN + 2 * at);
  const nLast = v128.load(frame.significandN + 2 * at, 16);
  const qFirst = f64x2.mul(nFirst, rFirst);
  const qLast = f64x2.mul(nLast, rLast);
  const qTop = highWords(qFirst, qLast);
  const qExponent = i32x4.sub(v128.load(frame.a + at), v128.load(frame.b + at));
  const isSmall = i32x4.lt_s(i32x4.add(fieldOf(qTop), qExponent), i32x4.splat(1));
  if (v128.any_true(isSmall)) settleSmallQuotients(frame, at, nFirst, nLast, qFirst, qLast, qExponent, isSmall);
  else settleResiduals(frame, at);

  const tFirst = v128.load(frame.residual + 2 * at);
  const tLast = v128.load(frame.residual + 2 * at, 16);
  const first = f64x2.add(qFirst, f64x2.mul(tFirst, rFirst));
  const last = f64x2.add(qLast, f64x2.mul(tLast, rLast));
  const x = quotientExponent(qExponent, v128.load(frame.flag + at));
  const restFirst = restToOdd(tFirst, rFirst, qFirst, first);
  const restLast = restToOdd(tLast, rLast, qLast, last);
  putRounded(frame.pLo + at, frame.pHi + at, first, last, restFirst, restLast, x);
  v128.store(frame.resultLo + at, v128.load(frame.pLo + at));
  v128.store(frame.resultHi + at, v128.load(frame.pHi + at));
  const pTop = highWords(f64x2.add(first, restFirst), f64x2.add(last, restLast));
  settleZeroAndInfinity(frame, at, qTop, qExponent, x, i32x4.add(fieldOf(pTop), x));
}

/**
 * Quotients of which some are subnormal, and residuals of these. Where q is subnormal, p and the result are zeros, whatever t is.
 */
function settleSmallQuotients(
  frame: Frame,
  at: usize,
  nFirst: v128,
  nLast: v128,
  first: v128,
  last: v128,
  qExponent: v128,
  isSmall: v128,
): void {
  const rFirst = v128.load(frame.reciprocal + 2 * at);
  const rLast = v128.load(frame.reciprocal + 2 * at, 16);
  const errorFirst = productError(nFirst, rFirst, first);
  const errorLast = productError(nLast, rLast, last);
  putRounded(frame.qLo + at, frame.qHi + at, first, last, errorFirst, errorLast, qExponent);

  const base = baseOf(highWords(first, last), qExponent);
  const baseFirst = firstTwo(i32x4.splat(0), base);
  const baseLast = lastTwo(i32x4.splat(0), base);
  const qFirst = f64x2.sub(besides(first, errorFirst, baseFirst), baseFirst);
  const qLast = f64x2.sub(besides(last, errorLast, baseLast), baseLast);
  const dFirst = v128.load(frame.significandD + 2 * at);
  const dLast = v128.load(frame.significandD + 2 * at, 16);
  const tFirst = mulAdd(f64x2.neg(dFirst), qFirst, nFirst);
  const tLast = mulAdd(f64x2.neg(dLast), qLast, nLast);
  const to = frame.residual + 2 * at;
  replace(to, tFirst, firstTwo(isSmall, isSmall));
  replace(to + 16, tLast, lastTwo(isSmall, isSmall));
  settleResiduals(frame, at);
}

/** t, of which some are subnormal: exactly. */
@inline
function settleResiduals(frame: Frame, at: usize): void {
  const first = v128.load(frame.residual + 2 * at);
  const last = v128.load(frame.residual + 2 * at, 16);
  const none = f64x2.splat(0);
  // 0 stays 0 whatever n is.
  const exponent = v128.and(v128.load(frame.a + at), isNonZero(highWords(first, last)));
  putRounded(frame.tLo + at, frame.tHi + at, first, last, none, none, exponent);
}

/** 2^52 units of a subnormal that is 2^e times a number with this high word, and with its sign, as a high word. */
@inline
function baseOf(top: v128, e: v128): v128 {
  return v128.or(v128.and(top, i32x4.splat(SIGN)), i32x4.shl(i32x4.sub(i32x4.splat(1), e), 20));
}

/** base + value + rest, rounded once: next to the base that is to whole units, as `pack` of ../divisionMacroWords.ts does it. */
@inline
function besides(value: v128, rest: v128, base: v128): v128 {
  const sum = f64x2.add(base, value);
  return f64x2.add(sum, sumToOdd(f64x2.sub(value, f64x2.sub(sum, base)), rest));
}

/** Stores the words of (value + rest) 2^e, rounded once, normal or subnormal. */
function putRounded(
  lo: usize,
  hi: usize,
  first: v128,
  last: v128,
  restFirst: v128,
  restLast: v128,
  e: v128,
): void {
  const normalFirst = f64x2.add(first, restFirst);
  const normalLast = f64x2.add(last, restLast);
  const top = highWords(normalFirst, normalLast);
  const isSmall = i32x4.lt_s(i32x4.add(fieldOf(top), e), i32x4.splat(1));
  const base = baseOf(top, e);
  const smallFirst = besides(first, restFirst, firstTwo(i32x4.splat(0), base));
  const smallLast = besides(last, restLast, lastTwo(i32x4.splat(0), base));
  const smallTop = i32x4.sub(highWords(smallFirst, smallLast), i32x4.shl(i32x4.sub(i32x4.splat(1), e), 20));
  v128.store(lo, either(isSmall, lowWords(smallFirst, smallLast), lowWords(normalFirst, normalLast)));
  v128.store(hi, either(isSmall, smallTop, moved(top, e)));
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
 * Lanes whose quotient is infinite or zero before or after v_div_fmas, as its exponent tells.
 *
 * | q         | p       | q     | t         | p           | result   |
 * | --------- | ------- | ----- | --------- | ----------- | -------- |
 * | >= 2^1024 |         | inf   | -inf of n | default NaN | inf      |
 * | 0         | 0       | 0     | ns        | 0           | 0        |
 * |           | inf, 0  |       |           | inf, 0      | inf, 0   |
 */
@inline
function settleZeroAndInfinity(
  frame: Frame,
  at: usize,
  qTop: v128,
  qExponent: v128,
  x: v128,
  pField: v128,
): void {
  const zero = i32x4.splat(0);
  const sign = v128.and(qTop, i32x4.splat(SIGN));
  const infinity = v128.or(sign, i32x4.splat(INFINITY_HIGH));
  const isOverflow = i32x4.gt_s(i32x4.add(fieldOf(qTop), qExponent), i32x4.splat(2046));
  const isZero = i32x4.lt_s(qExponent, i32x4.splat(-1075));
  const ofQ = v128.or(isOverflow, isZero);
  const minusInfinity = v128.or(v128.andnot(i32x4.splat(SIGN), v128.load(frame.nHiCopy + at)), i32x4.splat(INFINITY_HIGH));
  const tLow = v128.andnot(v128.load(frame.nsLo + at), isOverflow);
  replacePair(frame.qLo, frame.qHi, at, zero, either(isOverflow, infinity, sign), ofQ);
  replacePair(frame.tLo, frame.tHi, at, tLow, either(isOverflow, minusInfinity, v128.load(frame.nsHi + at)), ofQ);

  const isLarge = v128.or(isOverflow, i32x4.gt_s(pField, i32x4.splat(2046)));
  const ofP = v128.or(isLarge, i32x4.lt_s(x, i32x4.splat(-1076)));
  const result = either(isLarge, infinity, sign);
  const p = either(isOverflow, i32x4.splat(DEFAULT_NAN_HIGH), result);
  replacePair(frame.pLo, frame.pHi, at, zero, p, ofP);
  replacePair(frame.resultLo, frame.resultHi, at, zero, result, ofP);
}
