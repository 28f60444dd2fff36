// Batches of the demonstration: what is drawn, and how quotients are judged.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findTarget } from '../../src/isa/target.ts';
import {
  ADDRESS,
  countWrongQuotients,
  DENOMINATOR,
  demonstrationShape,
  drawBatch,
  NUMERATOR,
  operandKinds,
  QUOTIENT,
} from '../../src/verify/demonstration.ts';
import { newPair, subnormalTies } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const digest = (words: Uint32Array) => createHash('sha256').update(words).digest('hex').slice(0, 16);
const field = (hi: number) => (hi >>> 20) & 0x7ff;

describe('what was drawn once is drawn again', () => {
  test.each([
    ['special', 1, 0, 128, '6ad988410b397817'],
    ['special', 20261130, 999, 0, '54ecaebf922371bd'],
    ['normal', 1099511627781, 1, 0, 'd147bd9a321ef1d4'],
    ['normal', 3, 7, 128, '7b8dd352f227f312'],
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

  test('a batch is the same whatever was drawn before it and whatever its storage held', () => {
    const expected = drawBatch(shape, 3, 7);
    const words = drawBatch(shape, 9, 1, 'rup').words.fill(0xdeadbeef);
    for (const operands of [operandKinds.normal, operandKinds.special])
      drawBatch(shape, 3, 6, 'rne', { operands, words });
    expect(drawBatch(shape, 3, 7, 'rne', { words }).words).toEqual(expected.words);
  });

  test.each([
    [32, 131],
    [64, 37],
    [64, 1],
  ] as const)(
    'operands are drawn for every lane, and nothing else is written (waves of %d, %d of them)',
    (waveSize, waves) => {
      const of = { ...demonstrationShape(findTarget('gfx1100'), waveSize, waves), ldsWords: 0 };
      const drawn = drawBatch(of, 1, 0, 'rne', { operands: operandKinds.normal });
      const empty = WaveState.start(of);
      for (let wave = 0; wave < waves; wave++) {
        for (const register of [NUMERATOR, DENOMINATOR]) {
          const fields = Array.from(drawn.vgpr(wave, register + 1), field);
          expect(fields.filter((exponent) => !(exponent >= 923 && exponent <= 1122))).toEqual([]);
          expect(new Set(drawn.vgpr(wave, register)).size).toBe(waveSize);
        }
        for (const register of [0, 1, 2, 3]) drawn.vgpr(wave, register).fill(0);
      }
      expect(drawn.words.findIndex((word, i) => word !== empty.words[i])).toBe(-1);
    },
  );

  test('each wave has lanes of many kinds', () => {
    const of = { ...shape, waves: 64 };
    const state = drawBatch(of, 1, 0);
    for (let wave = 0; wave < of.waves; wave++) {
      const subnormal = state.vgpr(wave, DENOMINATOR + 1).filter((hi) => field(hi) === 0).length;
      const large = state.vgpr(wave, DENOMINATOR + 1).filter((hi) => field(hi) >= 2040).length;
      // About 8 and 5 of 64.
      expect(subnormal).toBeGreaterThan(0);
      expect(subnormal).toBeLessThan(32);
      expect(large).toBeLessThan(32);
    }
  });

  test('LDS has doubles of every kind, and each lane an address in it', () => {
    const of = { ...shape, waves: 100 };
    const state = drawBatch(of, 1, 0);
    const addresses = new Set<number>();
    const kinds = { zero: 0, subnormal: 0, normal: 0, special: 0 };
    for (let wave = 0; wave < of.waves; wave++) {
      for (const address of state.vgpr(wave, ADDRESS)) addresses.add(address);
      const lds = state.lds(wave);
      for (let at = 0; at < lds.length; at += 2) {
        const [lo, hi] = [lds[at]!, lds[at + 1]! & 0x7fffffff];
        kinds[hi >= 0x7ff00000 ? 'special' : hi >= 0x100000 ? 'normal' : (hi | lo) === 0 ? 'zero' : 'subnormal']++;
      }
    }
    expect([...addresses].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, i) => 8 * i));
    for (const count of Object.values(kinds)) expect(count).toBeGreaterThan(10);
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
