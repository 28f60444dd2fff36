/** Operands, and ds and ns. */
import { Frame, note } from './frame';
import { fieldOf, firstTwo, highWords, lastTwo, lowWords, moved, ONE, putDoubles, significand, UP } from './vectors';

/** High words of what takes subnormals up to normal numbers. */
@inline
function upward(field: v128): v128 {
  return i32x4.add(i32x4.splat(ONE), v128.and(i32x4.eq(field, i32x4.splat(0)), i32x4.splat(UP << 20)));
}

/** Exponents of what was taken up so. */
@inline
function exponentOf(field: v128, fieldUp: v128): v128 {
  const up = v128.and(i32x4.eq(field, i32x4.splat(0)), i32x4.splat(UP));
  return i32x4.sub(i32x4.sub(fieldUp, up), i32x4.splat(1023));
}

/** Zero, infinity or NaN. */
@inline
function isSpecial(field: v128, fieldUp: v128): v128 {
  return v128.or(i32x4.eq(fieldUp, i32x4.splat(0)), i32x4.eq(field, i32x4.splat(2047)));
}

/** The conditions of v_div_scale's table as in ../divisionMacroScale.ts. */
@inline
function conditions(eN: v128, eD: v128): v128 {
  const difference = i32x4.sub(eN, eD);
  const above = v128.and(i32x4.gt_s(difference, i32x4.splat(767)), i32x4.splat(1));
  const below = v128.and(i32x4.lt_s(difference, i32x4.splat(-767)), i32x4.splat(2));
  const smallest = v128.and(i32x4.eq(eD, i32x4.splat(0)), i32x4.splat(4));
  const largest = v128.and(i32x4.gt_s(eD, i32x4.splat(2044)), i32x4.splat(8));
  const tiny = v128.and(i32x4.lt_s(eN, i32x4.splat(54)), i32x4.splat(16));
  return v128.or(v128.or(v128.or(above, below), v128.or(smallest, largest)), tiny);
}

/** The bytes of a table of 32 for the rows of four lanes. Row 0 must have 0: the upper bytes of a row ask for it. */
@inline
function lookUp(table: usize, row: v128): v128 {
  const low = v128.swizzle(v128.load(table), row);
  const high = v128.swizzle(v128.load(table, 16), i8x16.sub(row, i8x16.splat(16)));
  return v128.or(low, high);
}

/** Exponents from bytes that count 128s. */
@inline
function exponents(bytes: v128): v128 {
  return i32x4.shl(i32x4.shr_s(i32x4.shl(bytes, 24), 24), 7);
}

/** Significands, exponents and what v_div_scale makes of the operands; returns in how many groups there are special ones. */
export function unpack(frame: Frame, lanes: i32): i32 {
  let count = 0;
  for (let at: usize = 0; at < (<usize>lanes) << 2; at += 16) {
    const nLo = v128.load(frame.nLo + at);
    const nHi = v128.load(frame.nHi + at);
    const dLo = v128.load(frame.dLo + at);
    const dHi = v128.load(frame.dHi + at);
    v128.store(frame.nLoCopy + at, nLo);
    v128.store(frame.nHiCopy + at, nHi);
    v128.store(frame.dLoCopy + at, dLo);
    v128.store(frame.dHiCopy + at, dHi);
    const eN = fieldOf(nHi);
    const eD = fieldOf(dHi);
    const row = conditions(eN, eD);
    v128.store(frame.flag + at, lookUp(frame.scaleFlag, row));

    const zero = i32x4.splat(0);
    const nUp = upward(eN);
    const nFirst = f64x2.mul(firstTwo(nLo, nHi), firstTwo(zero, nUp));
    const nLast = f64x2.mul(lastTwo(nLo, nHi), lastTwo(zero, nUp));
    const nLow = lowWords(nFirst, nLast);
    const nTop = highWords(nFirst, nLast);
    const kN = exponents(lookUp(frame.scaleN, row));
    const a = i32x4.add(exponentOf(eN, fieldOf(nTop)), kN);
    const nHigh = significand(nTop);
    // Without scaling a numerator may stay subnormal.
    const stays = i32x4.eq(kN, zero);
    v128.store(frame.nsLo + at, v128.bitselect(nLo, nLow, stays));
    v128.store(frame.nsHi + at, v128.bitselect(nHi, moved(nHigh, a), stays));

    const dUp = upward(eD);
    const dFirst = f64x2.mul(firstTwo(dLo, dHi), firstTwo(zero, dUp));
    const dLast = f64x2.mul(lastTwo(dLo, dHi), lastTwo(zero, dUp));
    const dLow = lowWords(dFirst, dLast);
    const dTop = highWords(dFirst, dLast);
    const b = i32x4.add(exponentOf(eD, fieldOf(dTop)), exponents(lookUp(frame.scaleD, row)));
    const dHigh = significand(dTop);
    v128.store(frame.dsLo + at, dLow);
    v128.store(frame.dsHi + at, moved(dHigh, b));

    putDoubles(frame.significandN + 2 * at, firstTwo(nLow, nHigh), lastTwo(nLow, nHigh));
    putDoubles(frame.significandD + 2 * at, firstTwo(dLow, dHigh), lastTwo(dLow, dHigh));
    v128.store(frame.a + at, a);
    v128.store(frame.b + at, b);
    const special = v128.or(isSpecial(eN, fieldOf(nTop)), isSpecial(eD, fieldOf(dTop)));
    v128.store(frame.isSpecial + at, special);
    count = note(frame.specialGroups, count, at, special);
  }
  return count;
}
