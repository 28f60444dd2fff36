/**
 * X1K's CPU bodies against the oracle in whole numbers: MAD, FRC, dot products and presubtract bit for bit in every rounding and under
 * output modifiers; transcendental operations within their bound. The guide leaves rounding open: what is checked is docs/x1k.md.
 */
import { describe, expect, it } from 'vitest';
import * as alu from '../../src/isa/x1k/alu.ts';
import { EX2_SERIES, LN2_SERIES, SIN_SERIES } from '../../src/isa/x1k/coefficients.ts';
import { outputControl, type X1kOmod } from '../../src/isa/x1k/control.ts';
import { clamped } from '../../src/isa/x1k/number.ts';
import { Random } from '../../src/verify/random.ts';
import { binades, everyExponent, fractionsOf, transcendentals, worstOf } from './x1kBound.ts';
import { isInfinite, isNan, NAN, productTerm, realOf, sumAligned, sumOnce, toSingle, wordTerm } from './x1kOracle.ts';

const SEED = 20261130;
const CASES = Number(process.env['X1K_CASES'] ?? 20000);
const scales = [0, 1, 2, 3, -1, -2, -3];
const hex = (word: number) => word.toString(16).padStart(8, '0');

/** Words near 1 so that sums meet, of few bits so that they cancel and tie, at the ends of the range, and any. */
function drawn(random: Random): number {
  const bits = random.word();
  const kind = random.below(10);
  const exponent =
    kind < 5
      ? 115 + random.below(24)
      : kind < 7
        ? random.below(6)
        : kind === 7
          ? 249 + random.below(7)
          : (bits >>> 23) & 0xff;
  const fraction = random.below(3) === 0 ? bits & 0x700003 : bits & 0x7fffff;
  return ((bits & 0x80000000) | (exponent << 23) | fraction) >>> 0;
}

/** Compares `compute` with `expected` over random rows of words, in a random rounding and under a random output modifier each. */
function agree(
  words: number,
  compute: (row: readonly number[], control: number) => number,
  expected: (row: readonly number[], round: number, shift: number) => number,
): void {
  const random = new Random(SEED, words);
  const wrong: string[] = [];
  for (let i = 0; i < CASES; i++) {
    const row = Array.from({ length: words }, () => drawn(random));
    // A third of the rows: the last word cancels the product of the first two, or the terms cancel in pairs.
    if (random.below(3) === 0 && words === 3) row[2] = (sumOnce([productTerm(row[0]!, row[1]!)], 0) ^ 0x80000000) >>> 0;
    if (random.below(3) === 0 && words > 3) [row[2], row[3]] = [row[1]!, (row[0]! ^ 0x80000000) >>> 0];
    const [round, omod] = [random.below(4), random.below(7) as X1kOmod];
    const clamp = random.below(8) === 0;
    const control = round | outputControl(omod, clamp);
    const got = compute(row, control);
    const unclamped = expected(row, round, scales[omod]!);
    const want = clamp ? clampedWord(unclamped) : unclamped;
    if (got !== want) wrong.push(`${row.map(hex).join(' ')} control ${control}: ${hex(got)}, not ${hex(want)}`);
  }
  expect(wrong.slice(0, 5)).toEqual([]);
}

/** 0 to 1, NaN and -0 as +0. */
function clampedWord(word: number): number {
  if (isNan(word) || word >>> 31 === 1) return 0;
  return Math.min(word, 0x3f800000);
}

describe(`against exact sums, ${CASES} rows each (seed ${SEED})`, () => {
  it('MAD: one rounding of a * b + c', () =>
    agree(
      3,
      ([a, b, c], control) => alu.mad(a!, b!, c!, control),
      ([a, b, c], round, shift) => sumOnce([productTerm(a!, b!), wordTerm(c!)], round, shift),
    ));

  it('DP4: terms cut to 25 bits of the largest, the sum rounded', () =>
    agree(
      8,
      ([a0, b0, a1, b1, a2, b2, a3, b3], control) => alu.dp4([a0!, a1!, a2!, a3!], [b0!, b1!, b2!, b3!], control),
      ([a0, b0, a1, b1, a2, b2, a3, b3], round, shift) =>
        sumAligned(
          [productTerm(a0!, b0!), productTerm(a1!, b1!), productTerm(a2!, b2!), productTerm(a3!, b3!)],
          round,
          shift,
        ),
    ));

  it('DP3: the same of three', () =>
    agree(
      6,
      ([a0, b0, a1, b1, a2, b2], control) => alu.dp3([a0!, a1!, a2!, NAN], [b0!, b1!, b2!, 0], control),
      ([a0, b0, a1, b1, a2, b2], round, shift) =>
        sumAligned([productTerm(a0!, b0!), productTerm(a1!, b1!), productTerm(a2!, b2!)], round, shift),
    ));

  it('D2A: the same of two products and a number', () =>
    agree(
      5,
      ([a0, b0, a1, b1, c], control) => alu.d2a([a0!, a1!, NAN, 0], [b0!, b1!, 0, 0], [0, 0, c!, 0], control),
      ([a0, b0, a1, b1, c], round, shift) =>
        sumAligned([productTerm(a0!, b0!), productTerm(a1!, b1!), wordTerm(c!)], round, shift),
    ));

  it('FRC: one rounding of a - floor(a)', () =>
    agree(
      1,
      ([a], control) => alu.frc(a!, control),
      ([a], round, shift) => {
        if (isNan(a!) || isInfinite(a!)) return NAN;
        const { sig, exp } = realOf(a!);
        const unit = exp < 0 ? 1n << BigInt(-exp) : 1n;
        return toSingle({ sig: ((sig % unit) + unit) % unit, exp }, round, shift);
      },
    ));

  it.each([
    ['1-2*s0', -1, 0xc0000000],
    ['1-s0', -1, 0xbf800000],
    ['s1-s0', 1, 0xbf800000],
    ['s1+s0', 1, 0x3f800000],
  ] as const)('presubtract %s', (kind, second, factor) => {
    const addend = (s1: number) => wordTerm(second < 0 ? 0x3f800000 : s1);
    agree(
      2,
      ([s0, s1], control) => clamped(alu.presubtracts[kind](s0!, s1!, control), control),
      ([s0, s1], round) => sumOnce([addend(s1!), productTerm(s0!, factor)], round),
    );
  });
});

describe('rounding where the guide is open', () => {
  const tie = [0x3f800001, 0x3f800000, 0x33800000] as const; // 1 + 2^-23, and half a unit more

  it('MODE round 0 to nearest even, 1 up, 2 down, 3 truncates', () => {
    const mad = (round: number, sign: number) =>
      hex(alu.mad((tie[0] | sign) >>> 0, tie[1], (tie[2] | sign) >>> 0, round));
    expect([0, 1, 2, 3].map((round) => mad(round, 0))).toEqual(['3f800002', '3f800002', '3f800001', '3f800001']);
    expect([0, 1, 2, 3].map((round) => mad(round, 0x80000000))).toEqual([
      'bf800002',
      'bf800001',
      'bf800002',
      'bf800001',
    ]);
  });

  it('too large is infinite even where numbers are truncated; too small is a zero of its sign', () => {
    for (const round of [0, 1, 2, 3]) {
      expect(hex(alu.mad(0x7f7fffff, 0x40000000, 0, round))).toBe('7f800000');
      expect(hex(alu.mad(0x80800000, 0x3f000000, 0x80000000, round))).toBe('80000000');
    }
  });
});

describe('transcendental operations against 96 bits', () => {
  // Nearest even is 1/2 ulp where the result is exact before rounding (RCP, RSQ); the series add less than 3/100.
  const bounds = { ex2: 0.53, ln2: 0.53, rcp: 0.5, rsq: 0.5, sin: 0.53, cos: 0.53 };
  const STRIDE = Number(process.env['X1K_STRIDE'] ?? 4099);

  it.each(transcendentals)(
    '%s: within its bound over a binade and over all exponents, truncation half a unit wider',
    (name) => {
      for (const biased of binades[name]) {
        const { error, count } = worstOf(name, 0, fractionsOf(biased, STRIDE));
        expect(count).toBe(Math.ceil(2 ** 23 / STRIDE));
        expect(error).toBeLessThanOrEqual(bounds[name]);
        expect(error).toBeGreaterThan(0.4);
      }
      expect(worstOf(name, 0, everyExponent(name, 12)).error).toBeLessThanOrEqual(bounds[name]);
      expect(worstOf(name, 3, everyExponent(name, 4)).error).toBeLessThanOrEqual(0.5 + bounds[name]);
    },
  );

  it('coefficients are the series cut to words, and end where the next is below a unit', () => {
    const { LN2: ln2, PI: pi } = Math;
    const near = (words: readonly number[], value: (k: number) => number) =>
      words.map((word, k) => Math.abs(word - value(k)) < 1).concat(value(words.length) < 1);
    const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
    expect(near(EX2_SERIES, (k) => (2 ** 32 * ln2 ** (k + 1)) / factorial(k + 1))).not.toContain(false);
    expect(near(SIN_SERIES, (k) => (2 ** 31 * (pi / 2) ** (2 * k + 1)) / factorial(2 * k + 1))).not.toContain(false);
    // The series of LN2 is in s^2, at most 0.0295.
    expect(LN2_SERIES.map((word, k) => Math.abs(word - 2 ** 31 / ((2 * k + 1) * ln2)) < 1)).not.toContain(false);
    expect((2 ** 31 / (15 * ln2)) * 0.0295 ** 7).toBeLessThan(1);
  });
});
