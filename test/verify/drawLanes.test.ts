// Many lanes at a time: every lane has one class, each class is as likely, and pairs are what the class makes of them alone.
import { describe, expect, test } from 'vitest';
import { drawLanes, LANES_AT_ONCE } from '../../src/verify/drawLanes.ts';
import { classes, everyClass, type OperandClass, RandomPairs } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';

const places = Int32Array.from({ length: LANES_AT_ONCE }, (_, lane) => 3 * lane + 1);
const words = new Uint32Array(1);

/** The class of each lane, by classes that only say which places they were given. */
function drawnClasses(random: Random, count: number, lanes: number): number[] {
  const byPlace = new Map<number, number>();
  let given = 0;
  const from = Array.from({ length: count }, (_, number): OperandClass => {
    return (pairs, first, last) => {
      for (let i = first; i < last; i++) byPlace.set(pairs.places[i]!, number);
      given += last - first;
    };
  });
  drawLanes(random, from, words, 1, places, lanes);
  expect([given, byPlace.size]).toEqual([lanes, lanes]);
  return Array.from({ length: lanes }, (_, lane) => byPlace.get(places[lane]!)!);
}

const countsOf = (numbers: readonly number[], n: number) => {
  const counts = new Array<number>(n).fill(0);
  for (const number of numbers) counts[number]!++;
  return counts;
};

describe('classes of lanes', () => {
  test.each([
    [1, 64],
    [2, 4],
    [18, 64],
    [18, 1500],
    [18, LANES_AT_ONCE],
    [32, LANES_AT_ONCE],
  ])('of %d, each of %d lanes has one (seed 1)', (count, lanes) => {
    const drawn = drawnClasses(new Random(1), count, lanes);
    expect(drawn.filter((number) => !(number >= 0 && number < count))).toEqual([]);
  });

  test('all of them turn up in every slice, about as often (seed 2)', () => {
    const random = new Random(2);
    const even = LANES_AT_ONCE / 18; // 114, sigma 10.4
    for (let slice = 0; slice < 20; slice++)
      for (const count of countsOf(drawnClasses(random, 18, LANES_AT_ONCE), 18))
        expect(Math.abs(count - even)).toBeLessThan(57); // 5.5 sigma
  });

  test('of neighbours, and of the same lane in the next slice, have nothing to do with each other (seed 3)', () => {
    const random = new Random(3);
    const beside = new Array<number>(18 * 18).fill(0);
    const after = new Array<number>(18 * 18).fill(0);
    let last = drawnClasses(random, 18, LANES_AT_ONCE);
    const SLICES = 64;
    for (let slice = 0; slice < SLICES; slice++) {
      const drawn = drawnClasses(random, 18, LANES_AT_ONCE);
      for (let lane = 1; lane < LANES_AT_ONCE; lane++) beside[18 * drawn[lane - 1]! + drawn[lane]!]!++;
      for (let lane = 0; lane < LANES_AT_ONCE; lane++) after[18 * last[lane]! + drawn[lane]!]!++;
      last = drawn;
    }
    const even = (SLICES * LANES_AT_ONCE) / (18 * 18); // 404, sigma 20
    for (const count of [...beside, ...after]) expect(Math.abs(count - even)).toBeLessThan(120); // 6 sigma
  });

  test('are no more than there is room for', () => {
    expect(() => drawnClasses(new Random(1), 33, 64)).toThrow(RangeError);
  });

  test('are fixed by the seed', () => {
    expect(drawnClasses(new Random(4), 18, 512)).toEqual(drawnClasses(new Random(4), 18, 512));
    expect(drawnClasses(new Random(4), 18, 512)).not.toEqual(drawnClasses(new Random(5), 18, 512));
  });
});

describe('pairs among others are those that a class makes alone', () => {
  const STEP = 32;
  const PAIRS = 64;
  /** Two waves of 32 lanes with 5 registers, their lanes in another order. */
  const scattered = Int32Array.from(
    { length: PAIRS },
    (_, i) => Math.floor(((i * 37) % 64) / 32) * 5 * STEP + ((i * 37) % 32),
  );

  test.each(Object.entries(classes))('%s (seed 6)', (_, make) => {
    const random = new Random(6);
    const [raw, choices] = [new Uint32Array(2 * 5 * STEP), new Uint32Array(PAIRS)];
    random.fill(raw, 0, raw.length);
    random.fill(choices, 0, PAIRS);
    const together = raw.slice();
    // From the middle of longer lists on, as a class has its own.
    const before = new Array<number>(7).fill(1);
    const [allPlaces, allChoices] = [Int32Array.of(...before, ...scattered), Uint32Array.of(...before, ...choices)];
    make(new RandomPairs(together, STEP, allPlaces, allChoices), 7, 7 + PAIRS);
    const expected = raw.slice();
    for (let i = 0; i < PAIRS; i++) {
      const alone = Uint32Array.from([0, 1, 2, 3], (column) => raw[scattered[i]! + column * STEP]!);
      make(new RandomPairs(alone, 1, Int32Array.of(0), choices.slice(i, i + 1)), 0, 1);
      for (const [column, word] of alone.entries()) expected[scattered[i]! + column * STEP] = word;
    }
    expect(together).toEqual(expected);
    const untouched = raw.slice();
    make(new RandomPairs(untouched, STEP, scattered, choices), 5, 5);
    expect(untouched).toEqual(raw);
  });

  test('what is no pair stays as it is (seed 7)', () => {
    const random = new Random(7);
    const drawn = new Uint32Array(2 * 5 * STEP).fill(0xdeadbeef);
    const inOrder = Int32Array.from({ length: PAIRS }, (_, i) => Math.floor(i / 32) * 5 * STEP + (i % 32));
    drawLanes(random, everyClass, drawn, STEP, inOrder, PAIRS);
    for (const wave of [0, 1])
      expect(drawn.slice((5 * wave + 4) * STEP, (5 * wave + 5) * STEP)).toEqual(new Uint32Array(STEP).fill(0xdeadbeef));
  });
});
