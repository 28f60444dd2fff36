/**
 * LDS on the WebGPU engine: lanes act in ascending order, waves of a workgroup one after the other between barriers, faults stop
 * the wave before the instruction. Expected values come from loops over the lanes in this file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import type { Program } from '../../src/program/program.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { FaultCode, type WaveState } from '../../src/wavefront/state.ts';
import { batchFor, lanesOf, openEngine, programOf, wordsFrom } from './engineRig.ts';

let engine: WebGpuEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);
const wordsOf = (value: number): [number, number] => {
  double[0] = value;
  return [doubleWords[0]!, doubleWords[1]!];
};
const numberOf = (low: number, high: number): number => {
  doubleWords.set([low, high]);
  return double[0]!;
};

const run = async (program: Program, state: WaveState) => (await engine.run(program, state)).state;

/** Word indices where two batches differ. */
const differences = (a: WaveState, b: WaveState): number[] =>
  [...a.words.keys()].filter((i) => a.words[i] !== b.words[i]);

/** A mask with about two thirds of the lanes. */
const someLanes = (next: () => number) => (next() | next()) >>> 0;
const isActive = (state: WaveState, wave: number, lane: number) =>
  ((state.special(wave, lane < 32 ? Special.execLo : Special.execHi) >>> (lane & 31)) & 1) === 1;

describe('reads and writes', () => {
  it.each([
    [1, 'ds_write_b32 v0, v1 offset:8', 'ds_read_b32 v5, v0 offset:8'],
    [2, 'ds_write_b64 v0, v[2:3] offset:8', 'ds_read_b64 v[6:7], v0 offset:8'],
    [4, 'ds_write_b128 v0, v[2:5] offset:16', 'ds_read_b128 v[6:9], v0 offset:16'],
  ])(
    '%i words: the highest lane of those that write one place wins, inactive lanes do nothing',
    async (words, write, read) => {
      const program = programOf(`${write}\ns_mov_b64 exec, -1\n${read}`);
      const state = batchFor(program, { waves: 3, ldsWords: 64 });
      const next = wordsFrom(7 + words);
      const offset = words === 4 ? 16 : 8;
      const [from, to] = [words === 1 ? 1 : 2, words === 1 ? 5 : 6];
      for (let wave = 0; wave < 3; wave++) {
        state.setSpecial(wave, Special.execLo, someLanes(next));
        state.setSpecial(wave, Special.execHi, someLanes(next));
        state.lds(wave).forEach((_, i, lds) => {
          lds[i] = next();
        });
        for (const lane of lanesOf(64)) {
          state.vgpr(wave, 0)[lane] = (next() % 6) * words * 4;
          for (let i = 0; i < words; i++) state.vgpr(wave, from + i)[lane] = next();
        }
      }
      const expected = state.clone();
      for (let wave = 0; wave < 3; wave++) {
        const lds = expected.lds(wave);
        const at = (lane: number) => (expected.vgpr(wave, 0)[lane]! + offset) / 4;
        for (const lane of lanesOf(64))
          for (let i = 0; i < words; i++)
            if (isActive(state, wave, lane)) lds[at(lane) + i] = expected.vgpr(wave, from + i)[lane]!;
        for (const lane of lanesOf(64))
          for (let i = 0; i < words; i++) expected.vgpr(wave, to + i)[lane] = lds[at(lane) + i]!;
        expected.setSpecial(wave, Special.execLo, 0xffffffff);
        expected.setSpecial(wave, Special.execHi, 0xffffffff);
      }
      expect(differences(await run(program, state), expected)).toEqual([]);
    },
  );
});

describe.each([1, 2, 4])('ds_min_rtn_f64 with %i waves a workgroup', (wavesPerGroup) => {
  it('returns to each lane what the lanes and waves before it left', async () => {
    const program = programOf('ds_min_rtn_f64 v[4:5], v0, v[2:3] offset:16\nds_max_f64 v0, v[2:3] offset:64');
    const state = batchFor(program, { waves: 4 * wavesPerGroup, wavesPerGroup, ldsWords: 40 });
    const next = wordsFrom(99);
    for (let group = 0; group < 4; group++)
      for (let i = 0; i < 40; i += 2) state.lds(group).set(wordsOf((next() % 2000) - 1000), i);
    for (let wave = 0; wave < 4 * wavesPerGroup; wave++) {
      if (wave % 3 === 1) state.setSpecial(wave, Special.execLo, someLanes(next));
      for (const lane of lanesOf(64)) {
        state.vgpr(wave, 0)[lane] = (next() % (wave % 2 === 0 ? 6 : 1)) * 8;
        const [low, high] = wordsOf((next() % 2000) - 1000);
        state.vgpr(wave, 2)[lane] = low;
        state.vgpr(wave, 3)[lane] = high;
      }
    }
    const expected = state.clone();
    for (let wave = 0; wave < 4 * wavesPerGroup; wave++) {
      const lds = expected.lds(Math.floor(wave / wavesPerGroup));
      for (const pass of ['min', 'max'] as const)
        for (const lane of lanesOf(64)) {
          if (!isActive(state, wave, lane)) continue;
          const at = (expected.vgpr(wave, 0)[lane]! + (pass === 'min' ? 16 : 64)) / 4;
          const memory = numberOf(lds[at]!, lds[at + 1]!);
          const source = numberOf(expected.vgpr(wave, 2)[lane]!, expected.vgpr(wave, 3)[lane]!);
          if (pass === 'min') {
            expected.vgpr(wave, 4)[lane] = lds[at]!;
            expected.vgpr(wave, 5)[lane] = lds[at + 1]!;
          }
          lds.set(wordsOf(Math[pass](source, memory)), at);
        }
    }
    expect(differences(await run(program, state), expected)).toEqual([]);
  });
});

describe('barriers', () => {
  it('let every wave see what the others wrote before, and keep the waves in order between them', async () => {
    // Each wave writes its place, then reads its neighbour's; then all write one place and read it.
    const program = programOf(
      `ds_write_b32 v0, v1
       s_barrier
       ds_read_b32 v2, v3
       v_mov_b32 v5, v2
       ds_write_b32 v4, v1
       ds_read_b32 v6, v4
       s_barrier
       ds_read_b32 v7, v4`,
    );
    const state = batchFor(program, { waves: 8, wavesPerGroup: 4, ldsWords: 5 });
    for (let wave = 0; wave < 8; wave++) {
      state.vgpr(wave, 0).fill((wave % 4) * 4);
      state.vgpr(wave, 1).fill(100 + wave);
      state.vgpr(wave, 3).fill(((wave + 1) % 4) * 4);
      state.vgpr(wave, 4).fill(16);
    }
    const result = await run(program, state);
    const read = (register: number) => Array.from({ length: 8 }, (_, wave) => result.vgpr(wave, register)[63]);
    expect(read(5)).toEqual([101, 102, 103, 100, 105, 106, 107, 104]);
    expect(read(6)).toEqual([100, 101, 102, 103, 104, 105, 106, 107]);
    expect(read(7)).toEqual([103, 103, 103, 103, 107, 107, 107, 107]);
  });
});

describe('faults', () => {
  const program = programOf(
    `v_mov_b32 v2, 1
     v_cmp_eq_f64 vcc, v[4:5], v[4:5]
     s_and_b64 s[2:3], vcc, exec
     ds_write_b32 v0, v1
     v_mov_b32 v2, 2
     ds_read_b64 v[4:5], v3 offset:8
     v_mov_b32 v2, 3
     ds_write_b32 v0, v2 offset:4`,
  );
  const pcOf = (index: number) => program.instructions[index]!.pc;

  it.each(['one kernel', 'a kernel an instruction'])(
    'name the lowest faulting lane, range before alignment; the wave stops before the instruction, others go on (%s)',
    async (kernels) => {
      const other = kernels === 'one kernel' ? engine : await openEngine({ maxKernelCost: 0 });
      const state = batchFor(program, { waves: 6, ldsWords: 16 });
      const set = (wave: number, register: number, lane: number, value: number) => {
        state.vgpr(wave, register)[lane] = value;
      };
      for (let wave = 0; wave < 6; wave++) state.vgpr(wave, 1).fill(50 + wave);
      // The last place for four bytes is 60, for eight bytes with offset 8 it is 48.
      set(1, 0, 40, 64);
      set(1, 0, 7, 58);
      set(2, 3, 63, 49);
      set(3, 3, 33, 57);
      set(3, 3, 34, 4);
      set(4, 3, 5, 0xfffffff8);
      // Faults of inactive lanes are none.
      set(5, 3, 5, 0xffffffff);
      state.setSpecial(5, Special.execLo, 0xffffffdf);
      // Faults that a batch comes with are of another run.
      state.setSpecial(0, Special.fault, FaultCode.stepBudget);
      const result = (await other.run(program, state)).state;
      const [write, read] = [pcOf(3), pcOf(5)];
      const { ldsOutOfRange: range, ldsMisaligned: misaligned } = FaultCode;
      expect(result.faults()).toEqual([
        { wave: 1, code: misaligned, pc: write, lane: 7, address: 58 },
        { wave: 2, code: range, pc: read, lane: 63, address: 57 },
        { wave: 3, code: range, pc: read, lane: 33, address: 65 },
        { wave: 4, code: range, pc: read, lane: 5, address: 0 },
      ]);
      const column = (register: number, lane: number) =>
        Array.from({ length: 6 }, (_, wave) => result.vgpr(wave, register)[lane]);
      expect(column(2, 0)).toEqual([3, 1, 2, 2, 2, 3]);
      expect(column(2, 5)).toEqual([3, 1, 2, 2, 2, 0]);
      expect(Array.from({ length: 6 }, (_, wave) => [...result.lds(wave).slice(0, 2)])).toEqual([
        [50, 3],
        [0, 0],
        [52, 0],
        [53, 0],
        [54, 0],
        [55, 3],
      ]);
      // Masks and SCC of a stopped wave are as they were at the fault.
      expect(Array.from({ length: 6 }, (_, wave) => result.scalar(wave, 2))).toEqual([
        0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffdf,
      ]);
      expect(Array.from({ length: 6 }, (_, wave) => result.special(wave, Special.scc))).toEqual([1, 1, 1, 1, 1, 1]);
      if (other !== engine) await other.close();
    },
  );

  it('count an address and offset beyond 2^32 as out of range, and everything where there is no LDS', async () => {
    const read = programOf('ds_read_b32 v0, v1 offset:65535');
    const state = batchFor(read, { ldsWords: 16384 });
    state.vgpr(0, 1).fill(0xfffffffd);
    expect((await run(read, state)).faults()[0]).toMatchObject({
      code: FaultCode.ldsOutOfRange,
      lane: 0,
      address: 65532,
    });
    const none = batchFor(read, { ldsWords: 0 });
    expect((await run(read, none)).faults()[0]).toMatchObject({
      code: FaultCode.ldsOutOfRange,
      lane: 0,
      address: 65535,
    });
  });

  it('do not hold up the other waves of the workgroup at a barrier', async () => {
    const meet = programOf('ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v3');
    const state = batchFor(meet, { waves: 2, wavesPerGroup: 2, ldsWords: 4 });
    state.vgpr(0, 0).fill(400);
    state.vgpr(1, 0).fill(4);
    state.vgpr(1, 1).fill(77);
    state.vgpr(1, 3).fill(4);
    const result = await run(meet, state);
    expect(result.faults().map(({ wave }) => wave)).toEqual([0]);
    expect(result.vgpr(1, 2)[0]).toBe(77);
  });
});
