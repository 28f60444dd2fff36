/** Storage that is used again: by one at a time, of the right size, not without bound; and no result depends on it. */
import { describe, expect, it } from 'vitest';
import { runBulk } from '../../src/verify/bulk.ts';
import type { Job } from '../../src/verify/job.ts';
import { StatePool } from '../../src/verify/pool.ts';
import type { Shape } from '../../src/wavefront/layout.ts';
import { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, engine, programOf } from '../reference/rig.ts';
import { scripted } from './scripted.ts';

const shape: Shape = { waveSize: 64, waves: 2, wavesPerGroup: 1, vgprs: 8, sgprs: 8, ldsWords: 0 };

describe('a pool', () => {
  it('gives what it got, once', () => {
    const pool = new StatePool();
    const state = new WaveState(shape);
    pool.give(state);
    expect(pool.take({ ...shape })).toBe(state);
    expect(pool.take(shape)).not.toBe(state);
  });

  it.each([{ waves: 1 }, { vgprs: 4 }, { sgprs: 0 }, { ldsWords: 64 }])('gives no other shape: %o', (other) => {
    const pool = new StatePool();
    pool.give(new WaveState(shape));
    expect(pool.take({ ...shape, ...other }).layout.shape).toEqual({ ...shape, ...other });
  });

  it('finds the shape that is asked for among others', () => {
    const pool = new StatePool();
    const states = [shape, { ...shape, waves: 1 }, { ...shape, vgprs: 4 }].map((of) => new WaveState(of));
    for (const state of states) pool.give(state);
    expect(pool.take(states[1]!.layout.shape)).toBe(states[1]);
    expect(pool.take(states[0]!.layout.shape)).toBe(states[0]);
  });

  it('forgets shapes that nobody asks for any more', () => {
    const pool = new StatePool(2);
    for (const waves of [1, 2]) pool.give(new WaveState({ ...shape, waves }));
    const wanted = { ...shape, vgprs: 4 };
    for (let i = 0; i < 2; i++) pool.take(wanted);
    const state = new WaveState(wanted);
    pool.give(state);
    expect(pool.take(wanted)).toBe(state);
  });

  it('does not keep all that it is given', () => {
    const pool = new StatePool();
    for (let i = 0; i < 1000; i++) pool.give(new WaveState(shape));
    let kept = 0;
    while (pool.spare()) kept++;
    expect(kept).toBeLessThan(100);
  });
});

describe('the reference engine', () => {
  const program = programOf('v_mov_b32 v1, v0\nds_write_b32 v2, v1');

  it('leaves in given storage what it leaves in its own, whatever was there', async () => {
    const input = batchFor(program, { waves: 2, ldsWords: 64 });
    for (const wave of [0, 1]) input.vgpr(wave, 0).fill(wave + 5);
    const before = input.words.slice();
    const into = new WaveState(input.layout.shape, new Uint32Array(input.words.length).fill(0xdeadbeef));
    const { state } = await engine.run(program, input, { into });
    expect(state.words).toBe(into.words);
    expect(state.words).toEqual((await engine.run(program, input)).state.words);
    expect(input.words).toEqual(before);
  });
});

describe('a bulk run', () => {
  const program = programOf('v_mov_b32 v1, v0');
  const batches = 12;
  const job: Job = {
    stages: [
      { name: 'a', program },
      { name: 'b', program: programOf('v_mov_b32 v2, v1') },
    ],
    batches,
    draw: (batch, pool) => {
      const of = { ...shape, waves: batch === batches - 1 ? 1 : 2 };
      const state = WaveState.start(of, pool?.take(of).words);
      for (let wave = 0; wave < of.waves; wave++) state.vgpr(wave, 0).fill(3 * batch + wave);
      return state;
    },
  };

  it('on engines that use storage again finds just the one wrong bit, though batches overlap', async () => {
    const seen = new Set<Uint32Array>();
    let runs = 0;
    const spoiling = {
      ...scripted('webgpu'),
      run: async (...args: Parameters<typeof engine.run>) => {
        const result = await engine.run(...args);
        seen.add(result.state.words);
        // The second stage of the sixth batch.
        if (args[0] === job.stages[1]!.program && result.state.vgpr(0, 0)[0] === 15) result.state.vgpr(1, 2)[9]! ^= 1;
        runs++;
        return result;
      },
    };
    const report = await runBulk(job, [spoiling, engine]);
    expect(report.comparison).toMatchObject({
      mismatches: 1,
      first: [{ wave: 11, register: 'v2', lane: 9, a: 17, b: 16 }],
    });
    expect(runs).toBe(2 * batches);
    expect(seen.size).toBeLessThan(runs);
  });
});
