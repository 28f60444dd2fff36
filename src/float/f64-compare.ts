import { type Control, KEEP_INPUT } from './control.ts';
import { f64_isNaN } from './nan.ts';

/** The four relations (IEEE 754-2019 5.11) as the truth-table bits of AMD's V_CMP opcodes: one of them always holds. */
export const LESS = 1;
export const EQUAL = 2;
export const GREATER = 4;
export const UNORDERED = 8;

const SIGN = 0x80000000;

/**
 * The relation of a to b: LESS, EQUAL, GREATER or UNORDERED. Zeros are equal, a NaN of either kind is unordered, and
 * the input control is honoured: flushed subnormals equal zero.
 */
export const f64_relation = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): number => {
  if (f64_isNaN(aHi, aLo) || f64_isNaN(bHi, bLo)) return UNORDERED;
  const flush = (control & KEEP_INPUT) === 0;
  const aFlushed = flush && (aHi & 0x7ff00000) === 0;
  const bFlushed = flush && (bHi & 0x7ff00000) === 0;
  const aHigh = aFlushed ? aHi & SIGN : aHi | 0;
  const bHigh = bFlushed ? bHi & SIGN : bHi | 0;
  const aLow = aFlushed ? 0 : aLo | 0;
  const bLow = bFlushed ? 0 : bLo | 0;
  if (((aHigh | bHigh) & ~SIGN) === 0 && (aLow | bLow) === 0) return EQUAL;
  if (aHigh === bHigh && aLow === bLow) return EQUAL;
  return f64_isBelow(aHigh, aLow, bHigh, bLow) ? LESS : GREATER;
};

/**
 * Is a below b in the order of numbers with -0 below +0? The order that minimum and maximum select by; neither may be
 * NaN, and no subnormal is flushed.
 */
export const f64_isBelow = (aHi: number, aLo: number, bHi: number, bLo: number): boolean => {
  if (((aHi ^ bHi) & SIGN) !== 0) return (aHi & SIGN) !== 0;
  // With one sign the magnitudes decide; in reverse for two negative numbers.
  const smaller = (aHi ^ bHi) === 0 ? aLo >>> 0 < bLo >>> 0 : aHi >>> 0 < bHi >>> 0;
  const equal = ((aHi ^ bHi) | (aLo ^ bLo)) === 0;
  return !equal && smaller === ((aHi & SIGN) === 0);
};

/**
 * The class of the word as AMD's V_CMP_CLASS numbers them, without any flush:
 * 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -subnormal, 5 -0, 6 +0, 7 +subnormal, 8 +normal, 9 +infinity.
 */
export const f64_class = (hi: number, lo: number): number => {
  if (f64_isNaN(hi, lo)) return hi & 0x00080000 ? 1 : 0;
  const field = hi & 0x7ff00000;
  const rank = field === 0x7ff00000 ? 3 : field !== 0 ? 2 : ((hi & 0xfffff) | lo) !== 0 ? 1 : 0;
  return (hi & 0x80000000) !== 0 ? 5 - rank : 6 + rank;
};
