/** Lanes with a zero, an infinity or a NaN, by the rules of ../divisionMacroSpecial.ts. */
import { Frame, replace, replacePair } from './frame';
import { DEFAULT_NAN_HIGH, either, INFINITY_HIGH, isBeyond, isNaN, isZero, quiet, SIGN } from './vectors';

/** A word of the frame in each lane. */
@inline
function all(word: u32): v128 {
  return i32x4.splat(word);
}

/** Lanes with a zero, an infinity or a NaN in that many groups. */
export function specials(frame: Frame, count: i32): void {
  for (let k = 0; k < count; k++) settle(frame, load<u32>(frame.specialGroups + (k << 2)));
}

/** What depends on the denominator, and then the rest. A numerator that is no zero changes none of the former. */
@inline
function settle(frame: Frame, at: usize): void {
  const special = v128.load(frame.isSpecial + at);
  const nLo = v128.load(frame.nLoCopy + at);
  const nHi = v128.load(frame.nHiCopy + at);
  const dLo = v128.load(frame.dLoCopy + at);
  const dHi = v128.load(frame.dHiCopy + at);
  const nan = i32x4.splat(DEFAULT_NAN_HIGH);
  const hasZero = v128.or(isZero(nHi, nLo), isZero(dHi, dLo));
  const isWhole = v128.and(special, v128.or(hasZero, isBeyond(dHi)));

  const isPassedD = v128.or(hasZero, isNaN(dHi, dLo));
  const dLow = v128.andnot(dLo, hasZero);
  const ds = either(hasZero, nan, either(isPassedD, quiet(dHi), dHi));
  // 1 / infinity is 0, and infinity * 0 the default NaN.
  const r0 = either(isPassedD, ds, v128.and(dHi, i32x4.splat(SIGN)));
  const minus = i32x4.splat(SIGN);
  const e0Minus = all(frame.e0Minus);
  const e0Passed = either(all(frame.e0Swapped), v128.xor(r0, v128.xor(e0Minus, minus)), v128.xor(ds, e0Minus));
  const e0 = either(isPassedD, e0Passed, nan);
  const r1 = either(v128.andnot(isPassedD, all(frame.r1Swapped)), r0, e0);
  const e1Minus = all(frame.e1Minus);
  const isE1Ds = v128.andnot(isPassedD, all(frame.e1Swapped));
  const e1 = either(isE1Ds, v128.xor(ds, e1Minus), v128.xor(r1, v128.xor(e1Minus, minus)));
  const r2 = either(all(frame.r2Swapped), e1, r1);
  replacePair(frame.dsLo, frame.dsHi, at, dLow, ds, isWhole);
  replacePair(frame.r0Lo, frame.r0Hi, at, dLow, r0, isWhole);
  replacePair(frame.e0Lo, frame.e0Hi, at, dLow, e0, isWhole);
  replacePair(frame.r1Lo, frame.r1Hi, at, dLow, r1, isWhole);
  replacePair(frame.e1Lo, frame.e1Hi, at, dLow, e1, isWhole);
  replacePair(frame.r2Lo, frame.r2Hi, at, dLow, r2, isWhole);
  // A reciprocal that seemed to be small is settled too.
  replace(frame.isSmall + at, i32x4.splat(0), isWhole);
  settleQuotient(frame, at, special, isWhole, isPassedD, ds, r2);
}

/** Of lanes with a zero, an infinity or a NaN what follows r2; `isWhole` where all else has no value of its own. */
@inline
function settleQuotient(
  frame: Frame,
  at: usize,
  special: v128,
  isWhole: v128,
  isPassedD: v128,
  ds: v128,
  r2: v128,
): void {
  const nLo = v128.load(frame.nLoCopy + at);
  const nHi = v128.load(frame.nHiCopy + at);
  const dLo = v128.load(frame.dLoCopy + at);
  const dHi = v128.load(frame.dHiCopy + at);
  const nan = i32x4.splat(DEFAULT_NAN_HIGH);
  const nZero = isZero(nHi, nLo);
  const dZero = isZero(dHi, dLo);
  const hasZero = v128.or(nZero, dZero);
  const nNaN = isNaN(nHi, nLo);
  const dLow = v128.andnot(dLo, hasZero);
  const sign = v128.and(v128.xor(nHi, dHi), i32x4.splat(SIGN));
  const infinity = v128.or(sign, i32x4.splat(INFINITY_HIGH));

  const ns = either(hasZero, nan, either(nNaN, quiet(nHi), nHi));
  const nsLow = v128.andnot(nLo, hasZero);
  const nBeyond = isBeyond(nHi);
  replacePair(frame.nsLo, frame.nsHi, at, nsLow, ns, v128.and(special, v128.or(hasZero, nBeyond)));

  // Of an infinite numerator over a number, t is the difference of infinities.
  const isOverNumber = v128.andnot(special, isWhole);
  const isQNs = v128.or(isOverNumber, v128.andnot(v128.or(hasZero, nNaN), all(frame.qSwapped)));
  const qOverNumber = either(nNaN, ns, infinity);
  const q = either(isOverNumber, qOverNumber, either(isQNs, ns, r2));
  const qLow = either(isQNs, nsLow, dLow);
  const tMinus = all(frame.tMinus);
  const isTDs = v128.andnot(isPassedD, all(frame.tSwapped));
  const tPassed = either(isTDs, v128.xor(ds, tMinus), v128.xor(q, v128.xor(tMinus, i32x4.splat(SIGN))));
  const t = either(v128.andnot(isOverNumber, nNaN), nan, tPassed);
  const tLow = either(isTDs, dLow, qLow);
  const isPR2 = v128.and(isWhole, all(frame.pSwapped));
  replacePair(frame.qLo, frame.qHi, at, qLow, q, special);
  replacePair(frame.tLo, frame.tHi, at, tLow, t, special);
  replacePair(frame.pLo, frame.pHi, at, either(isPR2, dLow, tLow), either(isPR2, r2, t), special);

  // The table of v_div_fixup.
  const dNaN = isNaN(dHi, dLo);
  const isInvalid = v128.or(v128.and(nZero, dZero), v128.and(nBeyond, isBeyond(dHi)));
  const number = either(v128.or(dZero, nBeyond), infinity, sign);
  const result = either(nNaN, quiet(nHi), either(dNaN, quiet(dHi), either(isInvalid, nan, number)));
  const low = either(nNaN, nLo, v128.and(dNaN, dLo));
  replacePair(frame.resultLo, frame.resultHi, at, low, result, special);
}
