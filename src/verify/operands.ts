/**
 * Operand pairs for division, aimed at what can go wrong: each class draws one pair. The borders are those of AMD's division
 * macro (exponent difference 768, denominators from 2^1022 on, numerators below 2^-969) and of binary64 itself.
 */
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

const mask = (bits: bigint) => (1n << bits) - 1n;

/** 1/a modulo 2^54, a odd: Newton's iteration doubles the valid bits, 3 of them at first. */
function inverse54(a: bigint): bigint {
  let x = a;
  for (let bits = 3; bits < 54; bits *= 2) x = (x * (2n - a * x)) & mask(54n);
  return x & mask(54n);
}

/**
 * A quotient as near as can be to the middle of two doubles. N and D are significands, Q = 2q+1 has 54 bits:
 * N * 2^54 = Q * D + r with a small odd r, so N/D lies r/D of half a unit beside Q/2^54. Given D and r, Q = -r/D modulo 2^54.
 */
const nearHalfway: Draw = (random, pair) => {
  const d = (1n << 52n) | (BigInt(random.word() & FRACTION_HIGH) << 32n) | BigInt((random.word() | 1) >>> 0);
  const distance = BigInt(2 * random.below(8) + 1);
  const some = (-distance * inverse54(d)) & mask(54n);
  // The same distance on the other side gives the other half of the residues: one of the two has 54 bits.
  const [q, r] = some >> 53n === 1n ? [some, distance] : [(1n << 54n) - some, -distance];
  let n = (q * d + r) >> 54n;
  const exponent = random.between(64, 1983);
  let shift = 0;
  for (; n >> 52n === 0n && n !== 0n; n <<= 1n) shift++;
  setNumerator(
    pair,
    sign(random) | ((exponent - shift) << 20) | (Number(n >> 32n) & FRACTION_HIGH),
    Number(n & 0xffffffffn),
  );
  setDenominator(
    pair,
    sign(random) | (random.between(64, 1983) << 20) | (Number(d >> 32n) & FRACTION_HIGH),
    Number(d & 0xffffffffn),
  );
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
    const narrow = () =>
      [random.word() & FRACTION_HIGH, random.word()].map((w) => w >>> random.below(32)) as [number, number];
    setNumerator(pair, ...narrow());
    setDenominator(pair, ...narrow());
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
