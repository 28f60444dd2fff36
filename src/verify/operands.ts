/**
 * Operand pairs for division, aimed at what can go wrong: each class draws one pair. The borders are those of AMD's division
 * macro (exponent difference 768, denominators from 2^1022 on, numerators below 2^-969) and of binary64 itself.
 */
import { productError } from '../float/errorFree.ts';
import { below, type Random, rest } from './random.ts';

/** Numerator and denominator as words. */
export interface Pair {
  readonly nHi: number;
  readonly nLo: number;
  readonly dHi: number;
  readonly dLo: number;
}

/** Pairs of random bits that classes make their own of, in place. A class, so that V8 knows one shape. */
export class RandomPairs {
  /** Low and high words of numerators, then of denominators, each `step` words after the one before. */
  readonly words: Uint32Array;
  readonly step: number;
  /** Where each pair has the low word of its numerator. */
  readonly places: Int32Array;
  /** Another random word for each pair. */
  readonly choices: Uint32Array;

  constructor(words: Uint32Array, step: number, places: Int32Array, choices: Uint32Array) {
    this.words = words;
    this.step = step;
    this.places = places;
    this.choices = choices;
  }
}

/** A pair that draws write to, one after the other, so that a long run allocates nothing. */
export class DrawnPair implements Pair {
  /** Those of numerator and denominator, low word first. */
  readonly words = new Uint32Array(4);
  readonly pairs = new RandomPairs(this.words, 1, Int32Array.of(0), new Uint32Array(1));

  get nLo(): number {
    return this.words[0]!;
  }
  get nHi(): number {
    return this.words[1]!;
  }
  get dLo(): number {
    return this.words[2]!;
  }
  get dHi(): number {
    return this.words[3]!;
  }
}

/** Draws a pair. */
export type Draw = (random: Random, pair: DrawnPair) => void;

/**
 * A kind of pair: makes its own of the random pairs from `first` to `last - 1`. Every class has its own loop, which V8 compiles with all
 * that it calls in place: a call for each pair costs more than what most classes do. It takes arrays apart once, outside of the loop, and
 * never within: V8 looks at them again each time.
 */
export type OperandClass = (pairs: RandomPairs, first: number, last: number) => void;

const MIN_NORMAL = 1;
const MAX_NORMAL = 2046;
const SIGN = 0x80000000;
const FRACTION_HIGH = 0x000fffff;

/** Exponent fields of normal numbers. */
const NORMALS = MAX_NORMAL - MIN_NORMAL + 1;
const normal = (choice: number) => MIN_NORMAL + below(choice, NORMALS);

/** The high word with this exponent field instead of its own. */
const atExponent = (hi: number, exponent: number) => (hi & (SIGN | FRACTION_HIGH)) | (exponent << 20);

/** Gives a pair these exponent fields. */
function setExponents(words: Uint32Array, step: number, place: number, numerator: number, denominator: number): void {
  const n = place + step;
  const d = place + 3 * step;
  words[n] = atExponent(words[n]!, numerator);
  words[d] = atExponent(words[d]!, denominator);
}

/** Gives a pair exponent fields that far apart. */
function setApart(words: Uint32Array, step: number, place: number, difference: number, choice: number): void {
  const denominator = Math.max(0, -difference) + below(choice, MAX_NORMAL + 1 - Math.abs(difference));
  setExponents(words, step, place, denominator + difference, denominator);
}

const CORNERS = [
  0, 1, 2, 51, 52, 53, 54, 127, 128, 129, 255, 767, 768, 769, 895, 1022, 1023, 1024, 1075, 1076, 1150, 1151,
];
const HIGH_CORNERS = [1277, 1278, 1279, 1790, 1791, 1918, 2043, 2044, 2045, 2046, 2047];
const corners = Int32Array.of(...CORNERS, ...HIGH_CORNERS);
const corner = (choice: number) => corners[below(choice, corners.length)]!;

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

/** Makes a number one of these, with its sign, where the mask is -1. No branch: nothing foresees it. */
function setSpecial(words: Uint32Array, lo: number, hi: number, choice: number, mask: number): void {
  const special = 2 * below(choice, SPECIALS.length);
  const low = words[lo]!;
  const high = words[hi]!;
  words[lo] = low ^ ((low ^ specials[special + 1]!) & mask);
  words[hi] = high ^ ((high ^ specials[special]!) & mask & ~SIGN);
}

/** From 1 to 2^n, n from 1 to `bits`: any length is as likely. */
const upTo = (bits: number, word: number, choice: number) => 1 + (word >>> (31 - below(choice, bits)));

/** Bits 53:32 of a number of 54. */
const HIGH_22 = 0x3fffff;

/** Bits 63:32 of the product of two words. */
function productHigh(a: number, b: number): number {
  const aHigh = a >>> 16;
  const aLow = a & 0xffff;
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  const middle = Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16);
  const other = Math.imul(aLow, bHigh) + (middle & 0xffff);
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (other >>> 16)) | 0;
}

/** 1/a modulo 2^32 as i32, a odd: Newton's iteration doubles the valid bits, 5 of them at first (Montgomery's start). */
function inverse32(a: number): number {
  let x = Math.imul(a, 3) ^ 2;
  x = Math.imul(x, 2 - Math.imul(a, x));
  x = Math.imul(x, 2 - Math.imul(a, x));
  return Math.imul(x, 2 - Math.imul(a, x));
}

/** Exponent fields of which quotients are normal numbers, so that a fraction decides how they round. */
const MIDDLE = 64;
const MIDDLES = 1920;

/**
 * Quotients as near as can be to the middle of two doubles. N and D are significands, Q = 2h+1 has 54 bits:
 * N * 2^54 = Q * D + r with a small odd r, so N/D lies r/D of half a unit beside Q/2^54. Given D and r, Q = -r/D modulo 2^54.
 */
const nearHalfway: OperandClass = ({ words, step, places, choices }, first, last) => {
  for (let i = first; i < last; i++) {
    const place = places[i]!;
    const choice = choices[i]!;
    const word = words[place + 3 * step]!;
    const dHi = 0x100000 | (word & FRACTION_HIGH);
    const dLo = words[place + 2 * step]! | 1;
    const distance = ((word >>> 20) & 14) + 1;
    // D x = 1 + 2^32 k modulo 2^54, so 1/D = x - 2^32 x k; times the distance.
    const x = inverse32(dLo);
    const k = productHigh(dLo, x) + Math.imul(dHi, x);
    const low = Math.imul(x, distance);
    const high = productHigh(x, distance) - Math.imul(Math.imul(x, k), distance);
    // That is Q for -distance, and its negative for the distance itself: one of the two has 54 bits.
    const negated = ((high >> 21) & 1) - 1;
    const qHi = (high ^ negated) & HIGH_22;
    const qLo = (low ^ negated) - negated;
    // N = D h / 2^53 + D / 2^54, and r / 2^54 besides, which is small: a whole number from 2^51 to 2^53, to which the last sum rounds.
    const d = dHi * 2 ** 32 + (dLo >>> 0);
    const h = (qHi * 2 ** 31 + (qLo >>> 1)) * 2 ** -53;
    const product = h * d;
    const n = product + (productError(h, d, product) + d * 2 ** -54);
    const nHi = (n * 2 ** -32) | 0;
    const nLo = n | 0;
    const shift = (nHi >>> 20) ^ 1;
    const exponent = MIDDLE + below(choice, MIDDLES) - shift;
    words[place] = nLo << shift;
    words[place + step] = atExponent((words[place + step]! & SIGN) | (nHi << shift) | ((nLo >>> 31) & shift), exponent);
    words[place + 2 * step] = dLo;
    words[place + 3 * step] = atExponent(word, MIDDLE + below(rest(choice, MIDDLES), MIDDLES));
  }
};

/** Makes a number one with few fraction bits, at the top, so that quotients and products are exact or nearly so. */
function shorten(words: Uint32Array, step: number, low: number): void {
  const choice = words[low]!;
  const cleared = 10 + below(rest(choice, NORMALS), 11);
  words[low] = 0;
  words[low + step] = atExponent(words[low + step]!, normal(choice)) & -(1 << cleared);
}

/** Classes by name, all equally likely. */
export const classes: Readonly<Record<string, OperandClass>> = {
  randomBits: () => undefined,
  exponentCorners: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setExponents(words, step, places[i]!, corner(choice), corner(rest(choice, corners.length)));
    }
  },
  subnormalNumerator: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) setExponents(words, step, places[i]!, 0, below(choices[i]!, MAX_NORMAL + 1));
  },
  subnormalDenominator: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) setExponents(words, step, places[i]!, below(choices[i]!, MAX_NORMAL + 1), 0);
  },
  /** With few bits in each word. */
  subnormalBoth: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      const nHi = words[place + step]!;
      const dHi = words[place + 3 * step]!;
      words[place] = words[place]! >>> (choice & 31);
      words[place + step] = (nHi & SIGN) | ((nHi & FRACTION_HIGH) >>> ((choice >>> 5) & 31));
      words[place + 2 * step] = words[place + 2 * step]! >>> ((choice >>> 10) & 31);
      words[place + 3 * step] = (dHi & SIGN) | ((dHi & FRACTION_HIGH) >>> ((choice >>> 15) & 31));
    }
  },
  nearHalfway,
  quotientsNearOne: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      const dHi = atExponent(words[place + 3 * step]!, normal(choice));
      words[place] = words[place + 2 * step]! + below(rest(choice, NORMALS), 9) - 4;
      words[place + step] = dHi ^ (words[place + step]! & SIGN);
      words[place + 3 * step] = dHi;
    }
  },
  tinyQuotients: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setApart(words, step, places[i]!, below(choice, 63) - 1080, rest(choice, 63));
    }
  },
  overflowEdge: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setApart(words, step, places[i]!, 1020 + below(choice, 7), rest(choice, 7));
    }
  },
  scaleDifference: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      const which = below(choice, 10);
      setApart(words, step, places[i]!, (which & 1) * 1536 - 768 + (which >> 1) - 2, rest(choice, 10));
    }
  },
  largeDenominator: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setExponents(words, step, places[i]!, below(rest(choice, 7), MAX_NORMAL + 1), 2040 + below(choice, 7));
    }
  },
  tinyNumerator: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setExponents(words, step, places[i]!, 50 + below(choice, 7), below(rest(choice, 7), 900));
    }
  },
  /** Either or both. */
  specialValues: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      // 0: the denominator alone; 1: the numerator alone.
      const which = below(choice, 3);
      const chooseN = rest(choice, 3);
      const chooseD = rest(chooseN, SPECIALS.length);
      setSpecial(words, place, place + step, chooseN, -((which + 1) >> 1));
      setSpecial(words, place + 2 * step, place + 3 * step, chooseD, (which & 1) - 1);
    }
  },
  shortFractions: ({ words, step, places }, first, last) => {
    for (let i = first; i < last; i++) {
      shorten(words, step, places[i]!);
      shorten(words, step, places[i]! + 2 * step);
    }
  },
  /** Significands 2^53 - k, k of any length up to 24 bits: reciprocals just above a power of two. */
  justBelowPower: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      const chooseD = rest(choice, NORMALS);
      words[place + step] = atExponent(words[place + step]!, normal(choice));
      words[place + 2 * step] = -upTo(24, words[place + 2 * step]!, rest(chooseD, NORMALS));
      words[place + 3 * step] = atExponent(words[place + 3 * step]! | FRACTION_HIGH, normal(chooseD));
    }
  },
  /** A power of two over a fraction of all ones, where the reciprocal table has a rule of its own. */
  allOnesFraction: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      words[place] = 0;
      words[place + step] = atExponent(words[place + step]! & SIGN, normal(choice));
      words[place + 2 * step] = 0xffffffff;
      words[place + 3 * step] = atExponent(words[place + 3 * step]! | FRACTION_HIGH, normal(rest(choice, NORMALS)));
    }
  },
  /** Fractions of 1 to 2^23 units of any length, the reciprocal table's other special range. */
  justAbovePower: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const place = places[i]!;
      const choice = choices[i]!;
      const chooseD = rest(choice, NORMALS);
      words[place + step] = atExponent(words[place + step]!, normal(choice));
      words[place + 2 * step] = upTo(23, words[place + 2 * step]!, rest(chooseD, NORMALS));
      words[place + 3 * step] = atExponent(words[place + 3 * step]! & SIGN, normal(chooseD));
    }
  },
  /** Nothing special: what most programs divide. */
  ordinary: ({ words, step, places, choices }, first, last) => {
    for (let i = first; i < last; i++) {
      const choice = choices[i]!;
      setExponents(words, step, places[i]!, 923 + below(choice, 200), 923 + below(rest(choice, 200), 200));
    }
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
  pair.words.set(tieWords);
  pair.words[1]! ^= random.word() & SIGN;
  pair.words[3]! ^= random.word() & SIGN;
};
const tie = new Float64Array(2);
const tieWords = new Uint32Array(tie.buffer);

export const newPair = (): DrawnPair => new DrawnPair();

/** Draws pairs of a class. */
export const drawOf =
  (operandClass: OperandClass): Draw =>
  (random, pair) => {
    for (let word = 0; word < 4; word++) pair.words[word] = random.word();
    pair.pairs.choices[0] = random.word();
    operandClass(pair.pairs, 0, 1);
  };

/** Draws pairs from these classes, all equally likely. */
export function drawFrom(from: readonly OperandClass[]): Draw {
  const draws = from.map(drawOf);
  return (random, pair) => draws[random.below(draws.length)]!(random, pair);
}

/** All classes. */
export const everyClass: readonly OperandClass[] = Object.values(classes);

/** Draws a pair from any of the classes. */
export const drawPair: Draw = drawFrom(everyClass);

/** One binary64 word from the same classes, as the numerator of a pair. */
export function drawWord(random: Random, pair: DrawnPair): void {
  drawPair(random, pair);
  if (random.word() & 1) pair.words.copyWithin(0, 2);
}
