/**
 * Operand pairs for division, aimed at what can go wrong: each class draws one pair. The borders are those of AMD's division
 * macro (exponent difference 768, denominators from 2^1022 on, numerators below 2^-969) and of binary64 itself.
 */
import { productError } from '../float/errorFree.ts';
import { below, between, type Random } from './random.ts';

/** Numerator and denominator as words. */
export interface Pair {
  readonly nHi: number;
  readonly nLo: number;
  readonly dHi: number;
  readonly dLo: number;
}

/** A pair that draws write to, one after the other, so that a long run allocates nothing. */
export class DrawnPair implements Pair {
  /** Those of numerator and denominator, low word first. */
  readonly words = new Uint32Array(4);

  get nHi(): number {
    return this.words[N + 1]!;
  }
  get nLo(): number {
    return this.words[N]!;
  }
  get dHi(): number {
    return this.words[D + 1]!;
  }
  get dLo(): number {
    return this.words[D]!;
  }
}

/** Where a drawn pair has its numerator and its denominator. */
const N = 0;
const D = 2;

/** Draws a pair from words that it takes together: each by itself would cost more than what is made of it. */
export type Draw = (random: Random, pair: DrawnPair) => void;

const EXPONENT_MAX = 2046;
const SIGN = 0x80000000;
const FRACTION_HIGH = 0x000fffff;

const exponentOf = (word: number) => between(word, 1, EXPONENT_MAX);
const clamped = (exponent: number) => Math.min(Math.max(exponent, 0), EXPONENT_MAX);

function set({ words }: DrawnPair, which: number, hi: number, lo: number): void {
  words[which] = lo;
  words[which + 1] = hi;
}

/** A number with this exponent field; sign, fraction and low word of 3 random words. */
function setRandom(pair: DrawnPair, which: number, words: Int32Array, at: number, exponent: number): void {
  const hi = (words[at]! & SIGN) | (exponent << 20) | (words[at + 1]! & FRACTION_HIGH);
  set(pair, which, hi, words[at + 2]!);
}

/** Numbers with two exponent fields, of 6 random words; fields out of range become the nearest in range. */
function atExponents(pair: DrawnPair, words: Int32Array, at: number, numerator: number, denominator: number): void {
  setRandom(pair, N, words, at, clamped(numerator));
  setRandom(pair, D, words, at + 3, clamped(denominator));
}

/** Two exponent fields that far apart, of 7 random words. */
function atDifference(pair: DrawnPair, words: Int32Array, at: number, difference: number): void {
  const low = Math.max(0, -difference);
  const denominator = between(words[at]!, low, Math.min(EXPONENT_MAX, EXPONENT_MAX - difference));
  atExponents(pair, words, at + 1, denominator + difference, denominator);
}

const CORNERS = [
  0, 1, 2, 51, 52, 53, 54, 127, 128, 129, 255, 767, 768, 769, 895, 1022, 1023, 1024, 1075, 1076, 1150, 1151,
];
const HIGH_CORNERS = [1277, 1278, 1279, 1790, 1791, 1918, 2043, 2044, 2045, 2046, 2047];
const corners = Int32Array.of(...CORNERS, ...HIGH_CORNERS);
const cornerOf = (word: number) => corners[below(word, corners.length)]!;

const SPECIALS: readonly (readonly [number, number])[] = [
  [0x00000000, 0], // 0
  [0x00000000, 1], // smallest subnormal
  [0x00080000, 0], // a subnormal power of two
  [0x000fffff, 0xffffffff], // largest subnormal
  [0x00100000, 0], // smallest normal
  [0x00100000, 1],
  [0x3fefffff, 0xffffffff], // below 1
  [0x3ff00000, 0], // 1
  [0x3ff00000, 1], // above 1
  [0x3fffffff, 0xffffffff],
  [0x40080000, 0], // 3
  [0x7fe00000, 0], // 2^1023
  [0x7fefffff, 0xffffffff], // largest finite
  [0x7ff00000, 0], // infinity
  [0x7ff00000, 1], // signalling NaN
  [0x7ff7ffff, 0xffffffff],
  [0x7ff80000, 0], // quiet NaN
  [0x7ff80dea, 0xdbeef123], // with a payload
];
const specials = Int32Array.from(SPECIALS.flat());

/** One of these, of 2 random words. */
function setSpecial(random: Random, pair: DrawnPair, which: number): void {
  const at = random.take(2);
  const special = 2 * below(random.words[at]!, SPECIALS.length);
  set(pair, which, specials[special]! | (random.words[at + 1]! & SIGN), specials[special + 1]!);
}

/** A subnormal with few bits in either word, of 4 random words. */
function setNarrow(pair: DrawnPair, which: number, words: Int32Array, at: number, sign: number): void {
  const hi = (words[at]! & FRACTION_HIGH) >>> below(words[at + 2]!, 32);
  set(pair, which, hi | (sign & SIGN), words[at + 1]! >>> below(words[at + 3]!, 32));
}

/** Bits 53:32 of a number of 54. */
const HIGH_22 = 0x3fffff;

/** Bits 63:32 of the product of two words, the lower 22 of them: all that numbers of 54 bits need. */
function productHigh(a: number, b: number): number {
  const [aHigh, aLow] = [a >>> 16, a & 0xffff];
  const low = aLow * (b & 0xffff);
  const middle = aHigh * (b & 0xffff) + aLow * (b >>> 16) + Math.floor(low / 2 ** 16);
  return (Math.imul(aHigh, b >>> 16) + Math.floor(middle / 2 ** 16)) & HIGH_22;
}

/** 1/a modulo 2^32 as i32, a odd: Newton's iteration doubles the valid bits, 3 of them at first. */
function inverse32(a: number): number {
  let x = a;
  for (let bits = 3; bits < 32; bits *= 2) x = Math.imul(x, 2 - Math.imul(a, x));
  return x;
}

/**
 * A quotient as near as can be to the middle of two doubles. N and D are significands, Q = 2h+1 has 54 bits:
 * N * 2^54 = Q * D + r with a small odd r, so N/D lies r/D of half a unit beside Q/2^54. Given D and r, Q = -r/D modulo 2^54.
 */
const nearHalfway: Draw = (random, pair) => {
  const [words, at] = [random.words, random.take(7)];
  const dHi = 0x100000 | (words[at]! & FRACTION_HIGH);
  const dLo = words[at + 1]! | 1;
  const distance = 2 * below(words[at + 2]!, 8) + 1;
  // D x = 1 + 2^32 k modulo 2^54, so 1/D = x - 2^32 x k; times the distance.
  const x = inverse32(dLo);
  const k = productHigh(dLo, x) + Math.imul(dHi, x);
  const low = (x >>> 0) * distance;
  const high = (Math.imul(-Math.imul(x, k), distance) + Math.floor(low / 2 ** 32)) & HIGH_22;
  // That is Q for -distance, and its negative for the distance itself: one of the two has 54 bits.
  const negated = high < 0x200000;
  const qHi = negated ? ~high & HIGH_22 : high;
  const qLo = (negated ? -low : low) >>> 0;
  // N = D h / 2^53 + D / 2^54, and r / 2^54 besides, which is small. N is a whole number, the product one or one and a half.
  const d = dHi * 2 ** 32 + (dLo >>> 0);
  const h = (qHi * 2 ** 31 + (qLo >>> 1)) * 2 ** -53;
  const product = h * d;
  let n = product + Math.round(2 * (productError(h, d, product) + d * 2 ** -54)) / 2;
  const exponent = between(words[at + 3]!, 64, 1983);
  let shift = 0;
  for (; n < 2 ** 52; n *= 2) shift++;
  set(pair, N, (words[at + 4]! & SIGN) | ((exponent - shift) << 20) | ((n / 2 ** 32) & FRACTION_HIGH), n | 0);
  set(pair, D, (words[at + 5]! & SIGN) | (between(words[at + 6]!, 64, 1983) << 20) | (dHi & FRACTION_HIGH), dLo);
};

/** A fraction with its few bits at the top, so that quotients and products are exact or nearly so; of 4 random words. */
function setShort(pair: DrawnPair, which: number, words: Int32Array, at: number): void {
  const fraction = words[at + 1]! & FRACTION_HIGH & -(1 << between(words[at + 2]!, 10, 20));
  set(pair, which, (words[at + 3]! & SIGN) | (exponentOf(words[at]!) << 20) | fraction, 0);
}

/** A power of two, of 2 random words. */
const powerOf = (words: Int32Array, at: number) => (words[at]! & SIGN) | (exponentOf(words[at + 1]!) << 20);

/** From 1 to 2^bits with any number of bits, of 2 random words. */
const anyLength = (words: Int32Array, at: number, bits: number) =>
  between(words[at + 1]!, 1, 1 << between(words[at]!, 1, bits));

/** Classes by name, all equally likely. */
export const classes: Readonly<Record<string, Draw>> = {
  randomBits: (random, pair) => {
    const [words, at] = [random.words, random.take(4)];
    set(pair, N, words[at]!, words[at + 1]!);
    set(pair, D, words[at + 2]!, words[at + 3]!);
  },
  exponentCorners: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    setRandom(pair, N, words, at + 1, cornerOf(words[at]!));
    setRandom(pair, D, words, at + 5, cornerOf(words[at + 4]!));
  },
  subnormalNumerator: (random, pair) => {
    const [words, at] = [random.words, random.take(7)];
    atExponents(pair, words, at + 1, 0, below(words[at]!, EXPONENT_MAX + 1));
  },
  subnormalDenominator: (random, pair) => {
    const [words, at] = [random.words, random.take(7)];
    atExponents(pair, words, at + 1, below(words[at]!, EXPONENT_MAX + 1), 0);
  },
  subnormalBoth: (random, pair) => {
    const [words, at] = [random.words, random.take(10)];
    setNarrow(pair, N, words, at, words[at + 8]!);
    setNarrow(pair, D, words, at + 4, words[at + 9]!);
  },
  nearHalfway,
  quotientsNearOne: (random, pair) => {
    const [words, at] = [random.words, random.take(6)];
    setRandom(pair, D, words, at + 1, exponentOf(words[at]!));
    set(pair, N, pair.dHi ^ (words[at + 4]! & SIGN), (pair.dLo + between(words[at + 5]!, -4, 4)) | 0);
  },
  tinyQuotients: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    atDifference(pair, words, at + 1, between(words[at]!, -1080, -1018));
  },
  overflowEdge: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    atDifference(pair, words, at + 1, between(words[at]!, 1020, 1026));
  },
  scaleDifference: (random, pair) => {
    const [words, at] = [random.words, random.take(9)];
    atDifference(pair, words, at + 2, (words[at]! & 1 ? 768 : -768) + between(words[at + 1]!, -2, 2));
  },
  largeDenominator: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    atExponents(pair, words, at + 2, below(words[at]!, 2047), between(words[at + 1]!, 2040, EXPONENT_MAX));
  },
  tinyNumerator: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    atExponents(pair, words, at + 2, between(words[at]!, 50, 56), below(words[at + 1]!, 900));
  },
  specialValues: (random, pair) => {
    const [words, at] = [random.words, random.take(5)];
    set(pair, N, words[at]!, words[at + 1]!);
    set(pair, D, words[at + 2]!, words[at + 3]!);
    const which = below(words[at + 4]!, 3);
    if (which !== 0) setSpecial(random, pair, N);
    if (which !== 1) setSpecial(random, pair, D);
  },
  shortFractions: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    setShort(pair, N, words, at);
    setShort(pair, D, words, at + 4);
  },
  /** Significands 2^53 - k: reciprocals just above a power of two. */
  justBelowPower: (random, pair) => {
    const [words, at] = [random.words, random.take(11)];
    atExponents(pair, words, at + 1, exponentOf(words[at]!), 0);
    set(pair, D, powerOf(words, at + 7) | FRACTION_HIGH, -anyLength(words, at + 9, 24));
  },
  /** A power of two over a fraction of all ones, where the reciprocal table has a rule of its own. */
  allOnesFraction: (random, pair) => {
    const [words, at] = [random.words, random.take(4)];
    set(pair, N, powerOf(words, at), 0);
    set(pair, D, powerOf(words, at + 2) | FRACTION_HIGH, 0xffffffff);
  },
  /** Fractions of 1 to 2^23 - 1 units, the reciprocal table's other special range. */
  justAbovePower: (random, pair) => {
    const [words, at] = [random.words, random.take(11)];
    atExponents(pair, words, at + 1, exponentOf(words[at]!), 0);
    set(pair, D, powerOf(words, at + 7), anyLength(words, at + 9, 23));
  },
  /** Nothing special: what most programs divide. */
  ordinary: (random, pair) => {
    const [words, at] = [random.words, random.take(8)];
    atExponents(pair, words, at + 2, between(words[at]!, 923, 1122), between(words[at + 1]!, 923, 1122));
  },
};

/**
 * Quotients exactly in the middle between two subnormals: M / 2^1075 for an odd M, as (M D 2^(b - 1075)) / (D 2^b). No class of its own:
 * the macro and IEEE division differ in some of them.
 */
export const subnormalTies: Draw = (random, pair) => {
  const bits = random.between(1, 52);
  const odd = (size: number) =>
    2 * Math.floor((random.word() / 2 ** 32 + random.word() / 2 ** 64) * 2 ** (size - 1)) + 1;
  const divisor = odd(53 - bits);
  const scale = random.between(1, 970);
  tie[0] = odd(bits) * divisor * 2 ** (scale - 1075);
  tie[1] = divisor * 2 ** scale;
  set(pair, N, tieWords[1]! ^ (random.word() & SIGN), tieWords[0]!);
  set(pair, D, tieWords[3]! ^ (random.word() & SIGN), tieWords[2]!);
};
const tie = new Float64Array(2);
const tieWords = new Uint32Array(tie.buffer);

export const newPair = (): DrawnPair => new DrawnPair();

/** Draws pairs from these classes, all equally likely. */
export const drawFrom =
  (from: readonly Draw[]): Draw =>
  (random, pair) =>
    from[random.below(from.length)]!(random, pair);

/** Draws a pair from any of the classes. */
export const drawPair: Draw = drawFrom(Object.values(classes));

/** One binary64 word from the same classes, as the numerator of a pair. */
export function drawWord(random: Random, pair: DrawnPair): void {
  drawPair(random, pair);
  if (random.word() & 1) set(pair, N, pair.dHi, pair.dLo);
}
