/** The memory of a macro, and how passes pick lanes. */

/** What a wave is done with, as addresses in the memory that is shared with JavaScript. Columns have a word a lane. */
@unmanaged
export class Frame {
  /** What v_div_scale decides, a byte for each row of conditions: powers of 2^128 for numerator and denominator, and flags. */
  scaleN: usize;
  scaleD: usize;
  scaleFlag: usize;
  /** The table of v_rcp_f64, its rows as four doubles. */
  rom: usize;
  /** Signed significands, of operands, reciprocals and residuals, a double each; and exponents. */
  significandN: usize;
  significandD: usize;
  reciprocal: usize;
  residual: usize;
  a: usize;
  b: usize;
  /** All ones in lanes with a zero, an infinity or a NaN; and in those where r1 or r2 is subnormal. */
  isSpecial: usize;
  isSmall: usize;
  /** Lists of four lanes that another pass has to look at, an offset into columns each. */
  specialGroups: usize;
  otherGroups: usize;
  /** The lanes left to JavaScript, a byte each. */
  left: usize;
  flag: usize;
  nLo: usize;
  nHi: usize;
  dLo: usize;
  dHi: usize;
  /** For copies of the operands, since outputs may lie over these. */
  nLoCopy: usize;
  nHiCopy: usize;
  dLoCopy: usize;
  dHiCopy: usize;
  /** The values, as they are ordered in ../divisionMacro.ts. */
  dsLo: usize;
  dsHi: usize;
  r0Lo: usize;
  r0Hi: usize;
  e0Lo: usize;
  e0Hi: usize;
  r1Lo: usize;
  r1Hi: usize;
  e1Lo: usize;
  e1Hi: usize;
  r2Lo: usize;
  r2Hi: usize;
  nsLo: usize;
  nsHi: usize;
  qLo: usize;
  qHi: usize;
  tLo: usize;
  tHi: usize;
  pLo: usize;
  pHi: usize;
  resultLo: usize;
  resultHi: usize;
  /** How the program has the products, which decides what NaN passes: all ones where the second factor stands first, */
  e0Swapped: u32;
  r1Swapped: u32;
  e1Swapped: u32;
  r2Swapped: u32;
  qSwapped: u32;
  tSwapped: u32;
  pSwapped: u32;
  /** and the sign bit where the minus is at the first factor, at ds. */
  e0Minus: u32;
  e1Minus: u32;
  tMinus: u32;
}

/** Puts four lanes on a list of so many if the mask has any of them, without a branch that would be guessed wrong; returns how many it has then. */
@inline
export function note(groups: usize, count: i32, at: usize, mask: v128): i32 {
  store<u32>(groups + (count << 2), at as u32);
  return count + i32(v128.any_true(mask));
}

/** Puts the lanes of a mask on a list of so many; returns how many it has then. */
@inline
export function list(lanes: usize, count: i32, at: usize, mask: v128): i32 {
  for (let bits = i32x4.bitmask(mask); bits !== 0; bits &= bits - 1)
    store<u8>(lanes + count++, (<i32>at >> 2) + ctz(bits));
  return count;
}

/** Puts words over others in the lanes of a mask. */
@inline
export function replace(at: usize, words: v128, mask: v128): void {
  v128.store(at, v128.bitselect(words, v128.load(at), mask));
}

@inline
export function replacePair(lo: usize, hi: usize, at: usize, low: v128, high: v128, mask: v128): void {
  replace(lo + at, low, mask);
  replace(hi + at, high, mask);
}
