// Operand classes: fixed by the seed, and each is what its name says.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findTarget } from '../../src/isa/target.ts';
import {
  countWrongQuotients,
  demonstrationShape,
  drawBatch,
  NUMERATOR,
  operandKinds,
  QUOTIENT,
} from '../../src/verify/demonstration.ts';
import {
  classes,
  type Draw,
  drawPair,
  drawWord,
  newPair,
  type Pair,
  subnormalTies,
} from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';

const DRAWS = 2000;

const drawn = (name: string, seed = 1): Pair[] => {
  const random = new Random(seed);
  return Array.from({ length: DRAWS }, () => {
    const pair = newPair();
    classes[name]!(random, pair);
    return { nHi: pair.nHi, nLo: pair.nLo, dHi: pair.dHi, dLo: pair.dLo };
  });
};

const field = (hi: number) => (hi >>> 20) & 0x7ff;
const fraction = (hi: number, lo: number) => (BigInt(hi & 0xfffff) << 32n) | BigInt(lo);
const significand = (hi: number, lo: number) => (field(hi) === 0 ? fraction(hi, lo) : fraction(hi, lo) | (1n << 52n));

describe('random words', () => {
  test('the stream of a seed is the same for ever (xoshiro128**)', () => {
    const random = new Random(1);
    const words = Array.from({ length: 4 }, () => random.word());
    const again = new Random(1);
    expect(Array.from({ length: 4 }, () => again.word())).toEqual(words);
    expect(words).toEqual([2113752136, 1120643331, 1514019756, 851135148]);
  });

  test('seeds and streams differ, above 2^32 too', () => {
    const first = [new Random(1), new Random(2), new Random(1, 1), new Random(2 ** 32 + 1), new Random(2 ** 52)].map(
      (r) => r.word(),
    );
    expect(new Set(first).size).toBe(5);
  });

  test('each bit is set half the time, seed 5', () => {
    const random = new Random(5);
    const ones = new Array<number>(32).fill(0);
    for (let i = 0; i < 20000; i++) {
      const word = random.word();
      for (let bit = 0; bit < 32; bit++) ones[bit]! += (word >>> bit) & 1;
    }
    for (const count of ones) expect(Math.abs(count - 10000)).toBeLessThan(400); // 5.6 sigma
  });
});

describe('every class, seed 1', () => {
  test.each(Object.keys(classes))('%s: words are u32 and the seed fixes them', (name) => {
    const pairs = drawn(name);
    expect(JSON.stringify(pairs)).toBe(JSON.stringify(drawn(name)));
    expect(pairs.flatMap((p) => [p.nHi, p.nLo, p.dHi, p.dLo]).filter((word) => word >>> 0 !== word)).toEqual([]);
    expect(new Set(pairs.map((p) => `${p.nHi} ${p.nLo} ${p.dHi} ${p.dLo}`)).size).toBeGreaterThan(DRAWS / 4);
  });

  test('subnormal classes', () => {
    expect(drawn('subnormalNumerator').every((p) => field(p.nHi) === 0)).toBe(true);
    expect(drawn('subnormalDenominator').every((p) => field(p.dHi) === 0)).toBe(true);
    expect(drawn('subnormalBoth').every((p) => field(p.nHi) === 0 && field(p.dHi) === 0)).toBe(true);
  });

  test('near-halfway quotients lie within 15/D of half a unit beside the middle of two doubles', () => {
    let odd = 0;
    for (const p of drawn('nearHalfway')) {
      const [n, d] = [significand(p.nHi, p.nLo), significand(p.dHi, p.dLo)];
      // N * 2^k = Q * D + r for some k up to 2 * 54, Q of 54 bits
      let scaled = n;
      while (scaled / d < 1n << 53n) scaled <<= 1n;
      const q = scaled / d;
      const below = scaled - q * d;
      const [nearest, distance] = below * 2n > d ? [q + 1n, d - below] : [q, below];
      if (nearest % 2n === 1n && distance <= 15n) odd++;
    }
    expect(odd).toBe(DRAWS);
  });

  test('borders of the scale conditions are met from both sides', () => {
    const differences = new Set(drawn('scaleDifference').map((p) => field(p.nHi) - field(p.dHi)));
    for (const d of [767, 768, -767, -768, -769]) expect(differences).toContain(d);
    const large = new Set(drawn('largeDenominator').map((p) => field(p.dHi)));
    for (const e of [2044, 2045, 2046]) expect(large).toContain(e);
    const tiny = new Set(drawn('tinyNumerator').map((p) => field(p.nHi)));
    for (const e of [52, 53, 54]) expect(tiny).toContain(e);
  });

  test('special fractions of the reciprocal table', () => {
    const ones = (1n << 52n) - 1n;
    expect(
      drawn('allOnesFraction').every((p) => fraction(p.nHi, p.nLo) === 0n && fraction(p.dHi, p.dLo) === ones),
    ).toBe(true);
    expect(
      drawn('justAbovePower').every((p) => fraction(p.dHi, p.dLo) > 0n && fraction(p.dHi, p.dLo) <= 1n << 23n),
    ).toBe(true);
    expect(drawn('justBelowPower').every((p) => fraction(p.dHi, p.dLo) >= (1n << 52n) - (1n << 24n))).toBe(true);
  });

  test('all draws together meet every kind of quotient', () => {
    const random = new Random(1);
    const pair = newPair();
    const words = new Uint32Array(4);
    const doubles = new Float64Array(words.buffer);
    const seen = { nan: 0, infinite: 0, zero: 0, subnormal: 0, normal: 0 };
    for (let i = 0; i < 10000; i++) {
      drawPair(random, pair);
      words.set([pair.nLo, pair.nHi, pair.dLo, pair.dHi]);
      const q = Math.abs(doubles[0]! / doubles[1]!);
      seen[
        Number.isNaN(q)
          ? 'nan'
          : q === Infinity
            ? 'infinite'
            : q === 0
              ? 'zero'
              : q < 2 ** -1022
                ? 'subnormal'
                : 'normal'
      ]++;
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
  });
});

describe('what was drawn once is drawn again', () => {
  const digest = (words: Uint32Array) => createHash('sha256').update(words).digest('hex').slice(0, 16);
  const PAIRS = 20000;
  const draws: Readonly<Record<string, Draw>> = { ...classes, drawWord, subnormalTies };

  test.each(
    Object.entries({
      randomBits: '5c01ef013d7b4dde',
      exponentCorners: 'f99f8207d297df4b',
      subnormalNumerator: 'c8ba4c194f02396e',
      subnormalDenominator: '1c59b48e2c8b6dd2',
      subnormalBoth: '86e24a3ce26aee45',
      nearHalfway: 'e7eea54ef910c9b8',
      quotientsNearOne: '8228fd50fc9cf5ac',
      tinyQuotients: 'dd3809df4ac26597',
      overflowEdge: '6f5a3a58a9ec83c0',
      scaleDifference: 'bed9168b18ed76a2',
      largeDenominator: '9d795e99d064cbb6',
      tinyNumerator: '4b16b14cf41bb135',
      specialValues: 'd6ab3fb6ce7eb203',
      shortFractions: '7a0819c01581915c',
      justBelowPower: '6a7827137b3a3e31',
      allOnesFraction: '6f104d08adb0dca3',
      justAbovePower: 'b3755798c346e9b0',
      ordinary: 'cf09e2cb654a65b8',
      drawWord: 'f85252b4c567f4b7',
      subnormalTies: '477ce5d8e5f8ec44',
    }),
  )('%s, seed 11, stream 3', (name, expected) => {
    const random = new Random(11, 3);
    const pair = newPair();
    const words = new Uint32Array(4 * PAIRS);
    for (let i = 0; i < PAIRS; i++) {
      draws[name]!(random, pair);
      words.set([pair.nHi, pair.nLo, pair.dHi, pair.dLo], 4 * i);
    }
    expect(digest(words)).toBe(expected);
  });

  test.each([
    ['special', 1, 0, 128, 'ad588d41d518728b'],
    ['special', 20261130, 999, 0, 'c340c95e955adc2d'],
    ['normal', 1099511627781, 1, 0, '2e2e76b114886405'],
    ['normal', 3, 7, 128, '0ae3144d09317e60'],
  ] as const)('a batch: %s, seed %d, batch %d, %d words of LDS', (kind, seed, batch, ldsWords, expected) => {
    const of = { ...demonstrationShape(findTarget('gfx1100'), 32, 70), ldsWords };
    expect(digest(drawBatch(of, seed, batch, 'rup', { operands: operandKinds[kind] }).words)).toBe(expected);
  });
});

describe('batches', () => {
  const shape = demonstrationShape(findTarget('gfx90a'), 64, 2);

  test('seed, batch and rounding mode fix a batch', () => {
    expect(drawBatch(shape, 3, 7).words).toEqual(drawBatch(shape, 3, 7).words);
    for (const other of [drawBatch(shape, 4, 7), drawBatch(shape, 3, 8), drawBatch(shape, 3, 7, 'rtz')])
      expect(other.words).not.toEqual(drawBatch(shape, 3, 7).words);
  });

  test('quotients are counted wrong by a single bit, signed zeros and NaN as IEEE has them', () => {
    const state = drawBatch(shape, 1, 0);
    const words = new Uint32Array(2);
    const double = new Float64Array(words.buffer);
    const at = (wave: number, register: number, lane: number) => {
      words.set([state.vgpr(wave, register)[lane]!, state.vgpr(wave, register + 1)[lane]!]);
      return double[0]!;
    };
    for (let wave = 0; wave < 2; wave++)
      for (let lane = 0; lane < 64; lane++) {
        double[0] = at(wave, NUMERATOR, lane) / at(wave, 2, lane);
        state.vgpr(wave, QUOTIENT)[lane] = words[0]!;
        state.vgpr(wave, QUOTIENT + 1)[lane] = words[1]!;
      }
    expect(countWrongQuotients(state, state)).toBe(0);
    const lane = Array.from(state.vgpr(1, QUOTIENT + 1)).findIndex((hi) => field(hi) !== 0x7ff);
    state.vgpr(1, QUOTIENT)[lane]! ^= 1;
    expect(countWrongQuotients(state, state)).toBe(1);
  });

  test('in the middle between two subnormals either is right, and no other value (seed 5)', () => {
    const state = drawBatch({ ...shape, waves: 1 }, 5, 0);
    const random = new Random(5);
    const pair = newPair();
    const words = new Uint32Array(2);
    const double = new Float64Array(words.buffer);
    const of = (hi: number, lo: number) => {
      words.set([lo, hi]);
      return double[0]!;
    };
    const set = (register: number, lane: number, hi: number, lo: number) => {
      state.vgpr(0, register)[lane] = lo;
      state.vgpr(0, register + 1)[lane] = hi;
    };
    for (let lane = 0; lane < 64; lane++) {
      subnormalTies(random, pair);
      set(NUMERATOR, lane, pair.nHi, pair.nLo);
      set(2, lane, pair.dHi, pair.dLo);
    }
    // IEEE takes the even one.
    const even = Array.from({ length: 64 }, (_, lane) => {
      const at = (register: number) => of(state.vgpr(0, register + 1)[lane]!, state.vgpr(0, register)[lane]!);
      const quotient = at(NUMERATOR) / at(2);
      expect(Math.abs(quotient / 2 ** -1074) % 2).toBe(0);
      expect(Math.abs(quotient)).toBeLessThanOrEqual(2 ** -1022);
      return quotient;
    });
    const wrongWith = (units: number) => {
      for (const [lane, quotient] of even.entries()) {
        double[0] = units === 0 ? quotient : quotient + units * 2 ** -1074;
        set(QUOTIENT, lane, words[1]!, words[0]!);
      }
      return countWrongQuotients(state, state);
    };
    expect(wrongWith(0)).toBe(0);
    const up = wrongWith(1);
    const down = wrongWith(-1);
    // One odd neighbour each is the other end of the tie; beside zero the other sign is wrong.
    expect(up + down).toBe(64);
    expect(Math.min(up, down)).toBeGreaterThan(0);
    expect(wrongWith(2)).toBe(64);
  });
});
