/**
 * Operand pairs for division, aimed at what can go wrong: each class draws one pair. The borders are those of AMD's division
 * macro (exponent difference 768, denominators from 2^1022 on, numerators below 2^-969) and of binary64 itself.
 */
import { productError } from '../float/errorFree.ts';
import type { Random } from './random.ts';

/** Numerator and denominator as words; reused, so that a long run allocates nothing. */
export interface Pair {
  nHi: number;
  nLo: number;
  dHi: number;
  dLo: number;
}

export type Draw = (random: Random, pair: Pair) => void;

const EXPONENT_MAX = 2046;
const FRACTION_HIGH = 0x000fffff;

const sign = (random: Random) => (random.word() & 0x80000000) >>> 0;
const clamped = (exponent: number) => Math.min(Math.max(exponent, 0), EXPONENT_MAX);

function setNumerator(pair: Pair, hi: number, lo: number): void {
  pair.nHi = hi >>> 0;
  pair.nLo = lo >>> 0;
}

function setDenominator(pair: Pair, hi: number, lo: number): void {
  pair.dHi = hi >>> 0;
  pair.dLo = lo >>> 0;
}

/** High word with this exponent field, a random sign and a random fraction. */
const highWord = (random: Random, exponent: number) =>
  (sign(random) | (exponent << 20) | (random.word() & FRACTION_HIGH)) >>> 0;

/** Random fractions at two exponent fields; fields out of range become the nearest in range. */
function atExponents(random: Random, pair: Pair, numerator: number, denominator: number): void {
  setNumerator(pair, highWord(random, clamped(numerator)), random.word());
  setDenominator(pair, highWord(random, clamped(denominator)), random.word());
}

/** Two exponent fields that far apart. */
function atDifference(random: Random, pair: Pair, difference: number): void {
  const low = Math.max(0, -difference);
  const denominator = random.between(low, Math.min(EXPONENT_MAX, EXPONENT_MAX - difference));
  atExponents(random, pair, denominator + difference, denominator);
}

const CORNERS = [
  0, 1, 2, 51, 52, 53, 54, 127, 128, 129, 255, 767, 768, 769, 895, 1022, 1023, 1024, 1075, 1076, 1150, 1151,
];
const HIGH_CORNERS = [1277, 1278, 1279, 1790, 1791, 1918, 2043, 2044, 2045, 2046, 2047];
const corners = [...CORNERS, ...HIGH_CORNERS];
const corner = (random: Random) => corners[random.below(corners.length)]!;

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

function special(random: Random, set: (pair: Pair, hi: number, lo: number) => void, pair: Pair): void {
  const [hi, lo] = SPECIALS[random.below(SPECIALS.length)]!;
  set(pair, hi | sign(random), lo);
}

/** A subnormal with few bits in either word. */
function narrow(random: Random, set: (pair: Pair, hi: number, lo: number) => void, pair: Pair): void {
  const hi = random.word() & FRACTION_HIGH;
  const lo = random.word();
  set(pair, hi >>> random.below(32), lo >>> random.below(32));
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

/** 1/a modulo 2^32, a odd: Newton's iteration doubles the valid bits, 3 of them at first. */
function inverse32(a: number): number {
  let x = a;
  for (let bits = 3; bits < 32; bits *= 2) x = Math.imul(x, 2 - Math.imul(a, x));
  return x >>> 0;
}

/**
 * A quotient as near as can be to the middle of two doubles. N and D are significands, Q = 2h+1 has 54 bits:
 * N * 2^54 = Q * D + r with a small odd r, so N/D lies r/D of half a unit beside Q/2^54. Given D and r, Q = -r/D modulo 2^54.
 */
const nearHalfway: Draw = (random, pair) => {
  const dHi = 0x100000 | (random.word() & FRACTION_HIGH);
  const dLo = (random.word() | 1) >>> 0;
  const distance = 2 * random.below(8) + 1;
  // D x = 1 + 2^32 k modulo 2^54, so 1/D = x - 2^32 x k; times the distance.
  const x = inverse32(dLo);
  const k = productHigh(dLo, x) + Math.imul(dHi, x);
  const low = x * distance;
  const high = (Math.imul(-Math.imul(x, k), distance) + Math.floor(low / 2 ** 32)) & HIGH_22;
  // That is Q for -distance, and its negative for the distance itself: one of the two has 54 bits.
  const negated = high < 0x200000;
  const [qHi, qLo] = negated ? [~high & HIGH_22, -low >>> 0] : [high, low >>> 0];
  // N = D h / 2^53 + D / 2^54, and r / 2^54 besides, which is small. N is a whole number, the product one or one and a half.
  const d = dHi * 2 ** 32 + dLo;
  const h = (qHi * 2 ** 31 + (qLo >>> 1)) * 2 ** -53;
  const product = h * d;
  let n = product + Math.round(2 * (productError(h, d, product) + d * 2 ** -54)) / 2;
  const exponent = random.between(64, 1983);
  let shift = 0;
  for (; n < 2 ** 52; n *= 2) shift++;
  setNumerator(pair, sign(random) | ((exponent - shift) << 20) | ((n / 2 ** 32) & FRACTION_HIGH), n);
  setDenominator(pair, sign(random) | (random.between(64, 1983) << 20) | (dHi & FRACTION_HIGH), dLo);
};

/** A fraction with its few bits at the top, so that quotients and products are exact or nearly so. */
const shortHigh = (random: Random, exponent: number) => {
  const fraction = random.word() & FRACTION_HIGH & -(1 << random.between(10, 20));
  return (sign(random) | (exponent << 20) | fraction) >>> 0;
};

/** Classes by name, all equally likely. */
export const classes: Readonly<Record<string, Draw>> = {
  randomBits: (random, pair) => {
    setNumerator(pair, random.word(), random.word());
    setDenominator(pair, random.word(), random.word());
  },
  exponentCorners: (random, pair) => {
    setNumerator(pair, highWord(random, corner(random)), random.word());
    setDenominator(pair, highWord(random, corner(random)), random.word());
  },
  subnormalNumerator: (random, pair) => atExponents(random, pair, 0, random.below(EXPONENT_MAX + 1)),
  subnormalDenominator: (random, pair) => atExponents(random, pair, random.below(EXPONENT_MAX + 1), 0),
  subnormalBoth: (random, pair) => {
    narrow(random, setNumerator, pair);
    narrow(random, setDenominator, pair);
    pair.nHi = (pair.nHi | sign(random)) >>> 0;
    pair.dHi = (pair.dHi | sign(random)) >>> 0;
  },
  nearHalfway,
  quotientsNearOne: (random, pair) => {
    setDenominator(pair, highWord(random, random.between(1, EXPONENT_MAX)), random.word());
    setNumerator(pair, pair.dHi ^ sign(random), pair.dLo + random.between(-4, 4));
  },
  tinyQuotients: (random, pair) => atDifference(random, pair, random.between(-1080, -1018)),
  overflowEdge: (random, pair) => atDifference(random, pair, random.between(1020, 1026)),
  scaleDifference: (random, pair) =>
    atDifference(random, pair, (random.word() & 1 ? 768 : -768) + random.between(-2, 2)),
  largeDenominator: (random, pair) => atExponents(random, pair, random.below(2047), random.between(2040, EXPONENT_MAX)),
  tinyNumerator: (random, pair) => atExponents(random, pair, random.between(50, 56), random.below(900)),
  specialValues: (random, pair) => {
    setNumerator(pair, random.word(), random.word());
    setDenominator(pair, random.word(), random.word());
    const which = random.below(3);
    if (which !== 0) special(random, setNumerator, pair);
    if (which !== 1) special(random, setDenominator, pair);
  },
  shortFractions: (random, pair) => {
    setNumerator(pair, shortHigh(random, random.between(1, EXPONENT_MAX)), 0);
    setDenominator(pair, shortHigh(random, random.between(1, EXPONENT_MAX)), 0);
  },
  /** Significands 2^53 - k: reciprocals just above a power of two. */
  justBelowPower: (random, pair) => {
    atExponents(random, pair, random.between(1, EXPONENT_MAX), 0);
    setDenominator(
      pair,
      sign(random) | (random.between(1, EXPONENT_MAX) << 20) | FRACTION_HIGH,
      -random.between(1, 1 << random.between(1, 24)),
    );
  },
  /** A power of two over a fraction of all ones, where the reciprocal table has a rule of its own. */
  allOnesFraction: (random, pair) => {
    setNumerator(pair, sign(random) | (random.between(1, EXPONENT_MAX) << 20), 0);
    setDenominator(pair, sign(random) | (random.between(1, EXPONENT_MAX) << 20) | FRACTION_HIGH, 0xffffffff);
  },
  /** Fractions of 1 to 2^23 - 1 units, the reciprocal table's other special range. */
  justAbovePower: (random, pair) => {
    atExponents(random, pair, random.between(1, EXPONENT_MAX), 0);
    setDenominator(
      pair,
      sign(random) | (random.between(1, EXPONENT_MAX) << 20),
      random.between(1, 1 << random.between(1, 23)),
    );
  },
  /** Nothing special: what most programs divide. */
  ordinary: (random, pair) => atExponents(random, pair, random.between(923, 1122), random.between(923, 1122)),
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
  setNumerator(pair, tieWords[1]! ^ sign(random), tieWords[0]!);
  setDenominator(pair, tieWords[3]! ^ sign(random), tieWords[2]!);
};
const tie = new Float64Array(2);
const tieWords = new Uint32Array(tie.buffer);

export const newPair = (): Pair => ({ nHi: 0, nLo: 0, dHi: 0, dLo: 0 });

/** Draws pairs from these classes, all equally likely. */
export const drawFrom =
  (from: readonly Draw[]): Draw =>
  (random, pair) =>
    from[random.below(from.length)]!(random, pair);

/** Draws a pair from any of the classes. */
export const drawPair: Draw = drawFrom(Object.values(classes));

/** One binary64 word from the same classes, as the numerator of a pair. */
export function drawWord(random: Random, pair: Pair): void {
  drawPair(random, pair);
  if (random.word() & 1) setNumerator(pair, pair.dHi, pair.dLo);
}
