// The random words: sfc32's, each stream by itself, and the small numbers that are taken from them.
import { describe, expect, test } from 'vitest';
import { below, Random, rest } from '../../src/verify/random.ts';

const SETTLING = 16;

/** sfc32 as published (PractRand, RNG/sfc32), in exact integers. */
function* sfc32(seed: readonly [bigint, bigint, bigint]): Generator<number> {
  const u32 = (x: bigint) => x & 0xffffffffn;
  let [a, b, c] = seed;
  for (let counter = 1n; ; counter++) {
    const word = u32(a + b + counter);
    a = b ^ (b >> 9n);
    b = u32(c + (c << 3n));
    c = u32(((c << 21n) | (c >> 11n)) + word);
    yield Number(word);
  }
}

const filled = (random: Random, length: number) => {
  const words = new Uint32Array(length);
  random.fill(words, 0, length);
  return words;
};

describe('a stream', () => {
  test.each([
    [1, 0, [0n, 1n, 0n]],
    [2 ** 52 + 7, 12345, [12345n, 7n, 2n ** 20n]],
    [2 ** 53 - 1, 2 ** 32 - 1, [2n ** 32n - 1n, 2n ** 32n - 1n, 2n ** 21n - 1n]],
  ] as const)('of seed %d, number %d, is sfc32', (seed, stream, state) => {
    const published = sfc32(state);
    for (let i = 0; i < SETTLING; i++) published.next();
    const expected = Array.from({ length: 1000 }, () => published.next().value);
    expect([...filled(new Random(seed, stream), 1000)]).toEqual(expected);
    const random = new Random(seed, stream);
    expect(expected.map(() => random.word())).toEqual(expected);
  });

  test('goes on the same for ever', () => {
    const random = new Random(1);
    expect(Array.from({ length: 4 }, () => random.word())).toEqual([2026416846, 1661539736, 2729060721, 4156309426]);
  });

  test('fills what it is asked to and nothing else, in pieces as at once', () => {
    const [random, other] = [new Random(3, 4), new Random(3, 4)];
    const words = new Uint32Array(100).fill(7);
    random.fill(words, 4, 8);
    random.fill(words, 12, 96);
    expect([...words.subarray(0, 4), ...words.subarray(8, 12), ...words.subarray(96)]).toEqual(new Array(12).fill(7));
    expect([...words.subarray(4, 8), ...words.subarray(12, 96)]).toEqual([...filled(other, 88)]);
  });

  test('each bit is set half the time, seed 5', () => {
    const ones = new Array<number>(32).fill(0);
    for (const word of filled(new Random(5), 20000))
      for (let bit = 0; bit < 32; bit++) ones[bit]! += (word >>> bit) & 1;
    for (const count of ones) expect(Math.abs(count - 10000)).toBeLessThan(400); // 5.6 sigma
  });
});

describe('streams', () => {
  const seeds = [0, 1, 2, 3, 2 ** 32, 2 ** 32 + 1, 2 ** 52, 2 ** 53 - 1];
  const streams = [0, 1, 2, 3, 2 ** 31, 2 ** 32 - 1];
  const all = seeds.flatMap((seed) => streams.map((stream) => filled(new Random(seed, stream), 4096)));

  test('share no two words in a row, at whatever places', () => {
    const seen = new Set<number>();
    // 53 bits of the two: by chance two of 196,560 would be equal once in 460,000 such tests.
    for (const words of all)
      for (let i = 0; i + 1 < words.length; i++) seen.add(words[i]! * 2 ** 21 + (words[i + 1]! >>> 11));
    expect(seen.size).toBe(all.length * 4095);
  });

  test('of neighbours have half of the bits alike', () => {
    for (let i = 1; i < all.length; i++) {
      let alike = 0;
      for (let word = 0; word < 4096; word++)
        for (let bits = ~(all[i]![word]! ^ all[i - 1]![word]!); bits !== 0; bits &= bits - 1) alike++;
      expect(Math.abs(alike - 4096 * 16)).toBeLessThan(1000); // 5.5 sigma
    }
  });
});

describe('small numbers of one word', () => {
  const words = filled(new Random(8), 2 ** 21);

  /** How far from even, in sigma: Pearson's chi-squared. One of a hundred more or less in every cell makes 200 of it. */
  function unevenness(counts: Uint32Array): number {
    const even = counts.reduce((all, count) => all + count, 0) / counts.length;
    const sum = counts.reduce((all, count) => all + (count - even) ** 2 / even, 0);
    return Math.abs(sum - (counts.length - 1)) / Math.sqrt(2 * counts.length);
  }

  test.each([
    [18, 18],
    [3, 18],
    [7, 900],
    [63, 1000],
    [200, 200],
    [2046, 24],
    [2047, 200],
    [24, 2046],
    [2047, 2],
  ])('one of %d and one of %d: each as often, and each with each (seed 8)', (n, m) => {
    const [first, second, both] = [new Uint32Array(n), new Uint32Array(m), new Uint32Array(n * m)];
    for (const word of words) {
      const [a, b] = [below(word, n), below(rest(word, n), m)];
      first[a]!++;
      second[b]!++;
      both[a * m + b]!++;
    }
    for (const counts of [first, second, both]) expect(unevenness(counts)).toBeLessThan(6);
  });

  test('four of 18 (seed 8)', () => {
    const counts = [0, 1, 2, 3].map(() => new Uint32Array(18));
    const lastTwo = new Uint32Array(18 * 18);
    for (let word of words.subarray(0, 2 ** 18)) {
      const drawn = counts.map((of) => {
        const one = below(word, 18);
        of[one]!++;
        word = rest(word, 18);
        return one;
      });
      lastTwo[18 * drawn[2]! + drawn[3]!]!++;
    }
    for (const of of [...counts, lastTwo]) expect(unevenness(of)).toBeLessThan(6);
  });

  test('the ends of the range', () => {
    for (const n of [1, 2, 18, 2046, 2047, 2048])
      expect([below(0, n), below(0xffffffff, n), below(-1, n)]).toEqual([0, n - 1, n - 1]);
  });
});
