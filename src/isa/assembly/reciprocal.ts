/** From ds to r2. */
import { isUnsafe, marginOf, mulAdd, residual, sumWithin, times } from './doubles';
import { Frame, note } from './frame';
import { fieldOf, highWords, lowWords, power, putDoubles } from './vectors';

/** Coefficients of two rows of the table, `place` bytes in. */
@inline
function coefficients(first: usize, last: usize, place: usize): v128 {
  return v128.load64_lane(last + place, v128.load64_zero(first + place), 1);
}

/** Whole numbers below 2^52 as doubles. */
@inline
function numbers(whole: v128): v128 {
  const beside = f64x2.splat(power(52));
  return f64x2.sub(v128.or(whole, beside), beside);
}

/** To whole numbers, ties to even, from 0 to 2^52. */
@inline
function rounded(x: v128): v128 {
  const beside = f64x2.splat(power(52));
  return f64x2.sub(f64x2.add(x, beside), beside);
}

/** rcpCubic of ../../float/approximate.ts, for 29 fraction bits. */
@inline
function rcpCubic(rom: usize, m: v128): v128 {
  const segment = i64x2.shr_u(m, 24);
  const first = rom + 32 * <usize>i64x2.extract_lane(segment, 0);
  const last = rom + 32 * <usize>i64x2.extract_lane(segment, 1);
  const f = v128.and(m, i64x2.splat(0xffffff));
  const linear = f64x2.mul(coefficients(first, last, 8), numbers(f));
  const small = f64x2.floor(times(f64x2.add(linear, f64x2.splat(0x17ffff)), power(-21)));
  const large = rounded(times(linear, power(-21)));
  const linearPart = v128.bitselect(large, small, f64x2.ge(linear, f64x2.splat(power(44))));
  const upper = numbers(i64x2.shr_u(f, 7));
  const square = f64x2.floor(times(f64x2.mul(upper, upper), power(-10)));
  const third = f64x2.mul(coefficients(first, last, 24), numbers(i64x2.add(i64x2.shr_u(f, 4), i64x2.splat(1))));
  const slope = f64x2.sub(coefficients(first, last, 16), rounded(times(third, power(-12))));
  const product = f64x2.mul(slope, square);
  const isWide = f64x2.ge(product, f64x2.splat(power(47)));
  const wide = times(rounded(times(product, power(-24))), 2);
  const higher = v128.bitselect(wide, rounded(times(product, power(-23))), isWide);
  const sum = f64x2.add(f64x2.sub(coefficients(first, last, 0), times(linearPart, 64)), higher);
  return times(sum, power(-35));
}

/** amd_rcp_significand of ../../float/approximate.ts with the sign of the operand. */
@inline
function tableReciprocals(rom: usize, d: v128): v128 {
  const fraction = v128.and(d, i64x2.splat(0xfffffffffffff));
  const cubic = rcpCubic(rom, i64x2.shr_u(fraction, 23));
  const isShort = i64x2.lt_s(fraction, i64x2.splat(1 << 23));
  const short = v128.bitselect(f64x2.splat(1), f64x2.splat(1 - power(-53)), i64x2.eq(fraction, i64x2.splat(0)));
  const isFull = i64x2.eq(fraction, i64x2.splat(0xfffffffffffff));
  const magnitude = v128.bitselect(f64x2.splat(0.5 + power(-53)), v128.bitselect(short, cubic, isShort), isFull);
  return v128.or(magnitude, v128.and(d, i64x2.splat(i64.MIN_VALUE)));
}

/** Whether 1 / d is so near the middle between two doubles that only the refinement tells what r2 becomes. */
@inline
function isDoubtful(d: v128, r: v128): v128 {
  const rest = residual(f64x2.splat(1), d, r);
  return f64x2.gt(f64x2.abs(rest), f64x2.mul(f64x2.abs(d), f64x2.splat(power(-54) * (1 - power(-41)))));
}

/** Stores reciprocals of significands for the next pass, and as those of ds. */
@inline
function putReciprocals(frame: Frame, at: usize, lo: usize, hi: usize, first: v128, last: v128): void {
  putDoubles(frame.reciprocal + 2 * at, first, last);
  v128.store(lo + at, lowWords(first, last));
  v128.store(hi + at, i32x4.sub(highWords(first, last), i32x4.shl(v128.load(frame.b + at), 20)));
}

/** A step of refinement: e = 1 - D R, next = R + R e. Returns where that is subnormal for ds. */
@inline
function refine(frame: Frame, at: usize, eLo: usize, eHi: usize, lo: usize, hi: usize): v128 {
  const rFirst = v128.load(frame.reciprocal + 2 * at);
  const rLast = v128.load(frame.reciprocal + 2 * at, 16);
  const eFirst = residual(f64x2.splat(1), v128.load(frame.significandD + 2 * at), rFirst);
  const eLast = residual(f64x2.splat(1), v128.load(frame.significandD + 2 * at, 16), rLast);
  v128.store(eLo + at, lowWords(eFirst, eLast));
  v128.store(eHi + at, highWords(eFirst, eLast));
  const stepFirst = f64x2.mul(rFirst, eFirst);
  const stepLast = f64x2.mul(rLast, eLast);
  let first = sumWithin(rFirst, stepFirst, marginOf(stepFirst));
  let last = sumWithin(rLast, stepLast, marginOf(stepLast));
  if (v128.any_true(v128.or(isUnsafe(rFirst, stepFirst, first), isUnsafe(rLast, stepLast, last)))) {
    first = mulAdd(rFirst, eFirst, rFirst);
    last = mulAdd(rLast, eLast, rLast);
  }
  putReciprocals(frame, at, lo, hi, first, last);
  const isBelowHalf = i32x4.lt_s(fieldOf(highWords(first, last)), i32x4.splat(1022));
  return v128.and(isBelowHalf, i32x4.eq(v128.load(frame.b + at), i32x4.splat(1021)));
}

/** r2 as 1 / d, or where that doesn't tell for certain by the table. */
export function reciprocals(frame: Frame, lanes: i32): void {
  let count = 0;
  for (let at: usize = 0; at < (<usize>lanes) << 2; at += 16) {
    const dFirst = v128.load(frame.significandD + 2 * at);
    const dLast = v128.load(frame.significandD + 2 * at, 16);
    const first = f64x2.div(f64x2.splat(1), dFirst);
    const last = f64x2.div(f64x2.splat(1), dLast);
    putReciprocals(frame, at, frame.r2Lo, frame.r2Hi, first, last);
    v128.store(frame.isSmall + at, i32x4.splat(0));
    count = note(frame.otherGroups, count, at, v128.or(isDoubtful(dFirst, first), isDoubtful(dLast, last)));
  }
  for (let k = 0; k < count; k++) {
    const at: usize = load<u32>(frame.otherGroups + (k << 2));
    v128.store(frame.isSmall + at, refineTwice(frame, at));
  }
}

/** r0 to r2 of four lanes: the table's reciprocals and two steps of refinement. Returns where one is subnormal. */
function refineTwice(frame: Frame, at: usize): v128 {
  const first = tableReciprocals(frame.rom, v128.load(frame.significandD + 2 * at));
  const last = tableReciprocals(frame.rom, v128.load(frame.significandD + 2 * at, 16));
  putReciprocals(frame, at, frame.r0Lo, frame.r0Hi, first, last);
  const isFirst = refine(frame, at, frame.e0Lo, frame.e0Hi, frame.r1Lo, frame.r1Hi);
  const isSecond = refine(frame, at, frame.e1Lo, frame.e1Hi, frame.r2Lo, frame.r2Hi);
  return v128.or(isFirst, isSecond);
}

/** r0 to r2. */
export function refinedReciprocals(frame: Frame, lanes: i32): void {
  for (let at: usize = 0; at < (<usize>lanes) << 2; at += 16)
    v128.store(frame.isSmall + at, refineTwice(frame, at));
}
