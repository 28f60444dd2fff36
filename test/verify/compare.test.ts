// Comparison: every word of the state counts, a difference is named by wave, register and lane, and bits are compared as bits.
import { describe, expect, test } from 'vitest';
import { addComparison, compareStates, nothingCompared } from '../../src/verify/compare.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { Scalar } from '../../src/wavefront/registers.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const shape = { waveSize: 32, waves: 4, wavesPerGroup: 2, vgprs: 3, sgprs: 5, ldsWords: 8 } as const;

const changes: readonly (readonly [name: string, change: (state: WaveState) => void, expected: object])[] = [
  ['a lane of a VGPR', (s) => s.vgpr(3, 2).fill(1, 31), { wave: 3, register: 'v2', lane: 31, a: 0, b: 1 }],
  ['an SGPR', (s) => s.setScalar(1, 4, 7), { wave: 1, register: 's4', a: 0, b: 7 }],
  ['VCC', (s) => s.setScalar(2, Scalar.vccHi, 7), { wave: 2, register: 'vcc_hi', a: 0, b: 7 }],
  ['EXEC', (s) => s.setScalar(0, Scalar.execLo, 0), { wave: 0, register: 'exec_lo', a: 0xffffffff, b: 0 }],
  ['SCC', (s) => s.setSpecial(0, Special.scc, 1), { wave: 0, register: 'scc', a: 0, b: 1 }],
  ['MODE', (s) => s.setSpecial(3, Special.mode, 0), { wave: 3, register: 'mode', a: 0x3f0, b: 0 }],
  ['a fault', (s) => s.setSpecial(3, Special.faultAddress, 8), { wave: 3, register: 'fault_address', a: 0, b: 8 }],
  ['LDS of the second workgroup', (s) => s.lds(1).fill(9, 7), { wave: 2, register: 'lds[7]', a: 0, b: 9 }],
];

describe('one changed word', () => {
  test.each(changes)('%s', (_, change, expected) => {
    const [a, b] = [WaveState.start(shape), WaveState.start(shape)];
    change(b);
    const comparison = compareStates(a, b);
    expect(comparison).toMatchObject({ mismatches: 1, first: [expected] });
    expect([...comparison.byRegister.values()]).toEqual([1]);
  });
});

test('equal batches: all their words are counted', () => {
  const comparison = compareStates(WaveState.start(shape), WaveState.start(shape));
  expect(comparison).toEqual({ words: 4 * (5 + 16 + 3 * 32) + 2 * 8, mismatches: 0, first: [], byRegister: new Map() });
});

test('signed zeros and NaN payloads differ; a batch is equal to itself with NaN in it', () => {
  const [a, b] = [WaveState.start(shape), WaveState.start(shape)];
  a.vgpr(0, 1).fill(0x7ff80000);
  b.vgpr(0, 1).fill(0x7ff80001);
  b.vgpr(0, 0).fill(0x80000000);
  expect(compareStates(a, b).mismatches).toBe(64);
  expect(compareStates(a, a.clone()).mismatches).toBe(0);
});

test('all differences are counted, the first are listed, waves numbered in the whole run', () => {
  const [a, b] = [WaveState.start(shape), WaveState.start(shape)];
  for (let wave = 0; wave < 4; wave++) b.vgpr(wave, 0).fill(5);
  const one = compareStates(a, b, 3, 100);
  expect(one.first.map((d) => [d.wave, d.lane])).toEqual([
    [100, 0],
    [100, 1],
    [100, 2],
  ]);
  const sum = addComparison(addComparison(nothingCompared, one, 4), one, 4);
  expect([sum.mismatches, sum.byRegister.get('v0'), sum.first.length]).toEqual([256, 256, 4]);
});

test('batches of different shapes are refused', () => {
  expect(() => compareStates(WaveState.start(shape), WaveState.start({ ...shape, vgprs: 4 }))).toThrow(RangeError);
});
