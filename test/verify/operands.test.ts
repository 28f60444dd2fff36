// Operand classes: fixed by the seed, and each is what its name says.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  classes,
  type Draw,
  drawOf,
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
  const draw = drawOf(classes[name]!);
  return Array.from({ length: DRAWS }, () => {
    const pair = newPair();
    draw(random, pair);
    return { nHi: pair.nHi, nLo: pair.nLo, dHi: pair.dHi, dLo: pair.dLo };
  });
};

const hex = (hi: number, lo: number) => [hi, lo].map((word) => word.toString(16).padStart(8, '0')).join('');
const field = (hi: number) => (hi >>> 20) & 0x7ff;
const fraction = (hi: number, lo: number) => (BigInt(hi & 0xfffff) << 32n) | BigInt(lo);
const significand = (hi: number, lo: number) => (field(hi) === 0 ? fraction(hi, lo) : fraction(hi, lo) | (1n << 52n));

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

  const UNITS_24 = 1n << 24n;
  /** Exponent fields of numerator and denominator, lowest and highest, and their difference's. */
  const anything = [0, 2047] as const;
  const normals = [1, 2046] as const;
  test.each(
    Object.entries({
      randomBits: { n: anything, d: anything },
      exponentCorners: { n: anything, d: anything },
      subnormalNumerator: { n: [0, 0], d: [0, 2046] },
      subnormalDenominator: { n: [0, 2046], d: [0, 0] },
      subnormalBoth: { n: [0, 0], d: [0, 0] },
      nearHalfway: { n: [63, 1983], d: [64, 1983] },
      quotientsNearOne: { n: normals, d: normals, apart: [0, 0] },
      tinyQuotients: { n: [0, 1028], d: [1018, 2046], apart: [-1080, -1018] },
      overflowEdge: { n: [1020, 2046], d: [0, 1026], apart: [1020, 1026] },
      scaleDifference: { n: [0, 2046], d: [0, 2046], apart: [-770, 770] },
      largeDenominator: { n: [0, 2046], d: [2040, 2046] },
      tinyNumerator: { n: [50, 56], d: [0, 899] },
      specialValues: { n: anything, d: anything },
      shortFractions: { n: normals, d: normals },
      justBelowPower: { n: normals, d: normals },
      allOnesFraction: { n: normals, d: normals },
      justAbovePower: { n: normals, d: normals },
      ordinary: { n: [923, 1122], d: [923, 1122], apart: [-199, 199] },
    } satisfies Record<keyof typeof classes, Record<string, readonly [number, number]>>),
  )('%s: exponents reach from one end of their range to the other, evenly; signs are as they fall', (name, ranges) => {
    const pairs = ['a', 'b', 'c', 'd', 'e'].flatMap((_, seed) => drawn(name, seed));
    const of = {
      n: pairs.map((p) => field(p.nHi)),
      d: pairs.map((p) => field(p.dHi)),
      apart: pairs.map((p) => field(p.nHi) - field(p.dHi)),
    };
    for (const [key, [low, high]] of Object.entries(ranges)) {
      const fields = of[key as keyof typeof of];
      const near = (high - low) / 100;
      expect(Math.min(...fields)).toBeGreaterThanOrEqual(low);
      expect(Math.min(...fields)).toBeLessThanOrEqual(low + near);
      expect(Math.max(...fields)).toBeLessThanOrEqual(high);
      expect(Math.max(...fields)).toBeGreaterThanOrEqual(high - near);
    }
    const signs = new Map<number, number>();
    for (const { nHi, dHi } of pairs) {
      const both = (nHi >>> 31) * 2 + (dHi >>> 31);
      signs.set(both, (signs.get(both) ?? 0) + 1);
    }
    expect(signs.size).toBe(4);
    for (const count of signs.values()) expect(Math.abs(count - pairs.length / 4)).toBeLessThan(250); // 5.8 sigma
  });

  test('each exponent that a class may have is as likely as another', () => {
    const each = (fields: readonly number[], low: number, high: number) => {
      const counts = new Array<number>(8).fill(0);
      for (const e of fields) counts[Math.floor((8 * (e - low)) / (high - low + 1))]!++;
      for (const count of counts) expect(Math.abs(count - DRAWS / 8)).toBeLessThan(85); // 5.7 sigma
    };
    const fields = (name: string) => {
      const pairs = drawn(name, 2);
      return [pairs.map((p) => field(p.nHi)), pairs.map((p) => field(p.dHi))] as const;
    };
    each(fields('subnormalNumerator')[1], 0, 2046);
    each(fields('subnormalDenominator')[0], 0, 2046);
    each(fields('tinyNumerator')[1], 0, 899);
    each(fields('largeDenominator')[0], 0, 2046);
    for (const name of ['shortFractions', 'justBelowPower', 'allOnesFraction', 'justAbovePower', 'quotientsNearOne'])
      for (const e of fields(name)) each(e, 1, 2046);
    for (const e of fields('nearHalfway')) each(e, 63, 1983);
    for (const e of fields('ordinary')) each(e, 923, 1122);
  });

  test('corners: each meets each', () => {
    const pairs = [1, 2, 3, 4].flatMap((seed) => drawn('exponentCorners', seed));
    const corners = new Set(pairs.map((p) => field(p.nHi)));
    expect(corners.size).toBe(33);
    expect(new Set(pairs.map((p) => field(p.dHi)))).toEqual(corners);
    expect(new Set(pairs.map((p) => `${field(p.nHi)} ${field(p.dHi)}`)).size).toBe(33 * 33);
  });

  test('special values stand on either side and on both, with either sign', () => {
    const sides = (p: Pair) => [hex(p.nHi, p.nLo), hex(p.dHi, p.dLo)];
    const pairs = [1, 2, 3, 4].flatMap((seed) => drawn('specialValues', seed));
    const seen = new Map<string, number>();
    for (const word of pairs.flatMap(sides)) seen.set(word, (seen.get(word) ?? 0) + 1);
    const special = new Set([...seen].filter(([, count]) => count > 50).map(([word]) => word));
    expect(special.size).toBe(2 * 18);
    for (const word of [
      '0000000000000000',
      '8000000000000001',
      'fff0000000000000',
      '7ff0000000000001',
      '7ff80deadbeef123',
    ])
      expect(special).toContain(word);
    const kinds = { '10': 0, '01': 0, '11': 0, '00': 0 };
    for (const p of pairs)
      kinds[
        sides(p)
          .map((word) => (special.has(word) ? 1 : 0))
          .join('') as keyof typeof kinds
      ]++;
    expect(kinds['00']).toBe(0);
    for (const kind of ['10', '01', '11'] as const) expect(Math.abs(kinds[kind] - (4 * DRAWS) / 3)).toBeLessThan(250); // 5.9 sigma
  });

  test('quotients near one are up to four units beside it', () => {
    const apart = drawn('quotientsNearOne').map((p) => (p.nLo - p.dLo) | 0);
    expect([...new Set(apart)].sort((a, b) => a - b)).toEqual([-4, -3, -2, -1, 0, 1, 2, 3, 4]);
    expect(drawn('quotientsNearOne').every((p) => (p.nHi ^ p.dHi) << 1 === 0)).toBe(true);
  });

  test('narrow subnormals and short fractions have any number of bits', () => {
    const narrow = drawn('subnormalBoth');
    for (const word of ['nLo', 'dLo'] as const) {
      const lengths = new Set(narrow.map((p) => 32 - Math.clz32(p[word])));
      expect(lengths.size).toBe(33);
    }
    for (const word of ['nHi', 'dHi'] as const)
      expect(new Set(narrow.map((p) => 32 - Math.clz32(p[word] & 0xfffff))).size).toBe(21);
    const short = drawn('shortFractions');
    expect(short.every((p) => p.nLo === 0 && p.dLo === 0)).toBe(true);
    for (const word of ['nHi', 'dHi'] as const) {
      expect(short.every((p) => (p[word] & 0x3ff) === 0)).toBe(true);
      expect(short.some((p) => (p[word] & 0x400) !== 0)).toBe(true);
      expect(short.some((p) => (p[word] & 0xfffff) === 0)).toBe(true);
    }
  });

  test('units beside a power of two are of any number of bits', () => {
    const lengthsOf = (units: readonly bigint[]) => new Set(units.map((count) => (count - 1n).toString(2).length));
    const below = drawn('justBelowPower').map((p) => (1n << 52n) - fraction(p.dHi, p.dLo));
    const above = drawn('justAbovePower').map((p) => fraction(p.dHi, p.dLo));
    expect(below.every((units) => units >= 1n && units <= UNITS_24)).toBe(true);
    expect(above.every((units) => units >= 1n && 2n * units <= UNITS_24)).toBe(true);
    expect(lengthsOf(below).size).toBe(24);
    expect(lengthsOf(above).size).toBe(23);
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
  const ofClasses = Object.entries(classes).map(([name, make]) => [name, drawOf(make)]);
  const draws: Readonly<Record<string, Draw>> = { ...Object.fromEntries(ofClasses), drawWord, subnormalTies };

  test.each(
    Object.entries({
      randomBits: '8d3e3499a9dfd43f',
      exponentCorners: '692b2eff019fb88d',
      subnormalNumerator: '63e3fe311b656c29',
      subnormalDenominator: 'e3c5f92ba5f13aa3',
      subnormalBoth: '58ce32d325aa692e',
      nearHalfway: '8d96db6ed5f30e95',
      quotientsNearOne: '60a56a4ad962f455',
      tinyQuotients: 'fc2ff69bd29a4509',
      overflowEdge: '5ac1f7014a4ab13f',
      scaleDifference: '5a583f4db41f4a45',
      largeDenominator: 'ef81306af3abbe2c',
      tinyNumerator: '2a4a6b57baa73a81',
      specialValues: '54712bffd2d20fb2',
      shortFractions: '8abdf869103f4b04',
      justBelowPower: '57991615fa73e787',
      allOnesFraction: '2b59adb63e74a6ce',
      justAbovePower: 'e102ea043e29eb0a',
      ordinary: '4687c6cc5f8914d6',
      drawWord: 'de4ca1dda04ee05c',
      subnormalTies: '225e0bb6b325f24c',
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
});
