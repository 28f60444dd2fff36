/** Inputs take turns on the device: dispatches go over all regions of one batch, and times are those of one. */
import { describe, expect, it } from 'vitest';
import { copyWaves, repeatWaves } from '../../src/bench/inputs.ts';
import { overRegions, REGIONS, regionsFor } from '../../src/bench/regions.ts';
import type { Job, JobCost, KernelRunner } from '../../src/gpu/runner.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const shape = { waveSize: 64, waves: 3, wavesPerGroup: 1, vgprs: 2, sgprs: 4, ldsWords: 8 } as const;

/** A batch of which each word tells the batch and its place. */
function numbered(batch: number, waves: number = shape.waves): WaveState {
  const state = new WaveState({ ...shape, waves });
  state.words.forEach((_, i, words) => {
    words[i] = batch * 10_000 + i;
  });
  return state;
}

/** Counts in v1 how often a wave was dispatched; a dispatch takes 6 ms. */
function counting(jobs: Job[], cost: Partial<JobCost> = {}): KernelRunner {
  return {
    device: 'counting',
    software: true,
    maxBufferBytes: 1 << 30,
    maxBindingBytes: 1 << 30,
    run: async (job, words) => {
      jobs.push(job);
      const state = new WaveState(job.shape, words.slice());
      for (const { first, stride, waves } of job.dispatches)
        for (let i = 0; i < waves; i++) {
          const counts = state.vgpr(first + i * stride, 1);
          counts[0] = counts[0]! + 1;
        }
      const deviceMs = 6 * job.dispatches.length;
      return { words: state.words, cost: { uploadMs: 0, readbackMs: 0, deviceMs, ...cost } };
    },
    close: async () => {},
  };
}

const work = { kernels: ['kernel'], dispatches: [{ kernel: 0, first: 0, stride: 1, waves: shape.waves }] };

describe('regions', () => {
  it('each input is dispatched once at first, and the first comes back', async () => {
    const jobs: Job[] = [];
    const inputs = [numbered(1), numbered(2), numbered(3)];
    const { first, compileMs } = await overRegions(counting(jobs), work, inputs);
    const expected = inputs[0]!.clone();
    for (let wave = 0; wave < shape.waves; wave++) expected.vgpr(wave, 1)[0]! += 1;
    expect(first.layout.shape).toEqual(shape);
    for (let wave = 0; wave < shape.waves; wave++)
      for (const register of [0, 1]) expect(first.vgpr(wave, register)).toEqual(expected.vgpr(wave, register));
    expect(first.lds(2)).toEqual(expected.lds(2));
    expect(first.special(1, 6)).toBe(expected.special(1, 6));
    expect(compileMs).toBeUndefined();
    expect(jobs.at(-1)!.dispatches.map((dispatch) => dispatch.first)).toEqual([0, 3, 6]);
    expect(jobs.at(-1)!.shape.waves).toBe(9);
  });

  it('a run is long enough for the clock, takes whole turns, and gives the time of one dispatch', async () => {
    const jobs: Job[] = [];
    const { run } = await overRegions(counting(jobs), work, [numbered(1), numbered(2)]);
    expect((await run()).deviceMs).toBe(6);
    expect(jobs.at(-1)!.dispatches.map((dispatch) => dispatch.first)).toEqual([0, 3]);
    const short = await overRegions(counting(jobs, { deviceMs: 1 }), work, [numbered(1), numbered(2)]);
    await short.run();
    expect(jobs.at(-1)!.dispatches).toHaveLength(20);
  });

  it('compiling is timed over the first wave alone', async () => {
    const jobs: Job[] = [];
    const { compileMs } = await overRegions(counting(jobs, { compileMs: 7 }), work, [numbered(1)]);
    expect(compileMs).toBeGreaterThan(0);
    expect(jobs[0]).toMatchObject({ shape: { ...shape, waves: 1 }, dispatches: [{ waves: 1 }] });
  });

  it('waves of a region that take more than one dispatch are all run, each once', async () => {
    const jobs: Job[] = [];
    const dispatch = { kernel: 0, stride: 1 };
    const cut = {
      ...work,
      dispatches: [
        { ...dispatch, first: 0, waves: 2 },
        { ...dispatch, first: 2, waves: 1 },
      ],
    };
    const input = numbered(1);
    const { first } = await overRegions(counting(jobs), cut, [input, numbered(2)]);
    for (let wave = 0; wave < shape.waves; wave++) expect(first.vgpr(wave, 1)[0]).toBe(input.vgpr(wave, 1)[0]! + 1);
    expect(jobs.at(-1)!.dispatches.map((one) => one.first)).toEqual([0, 2, 3, 5]);
    expect(jobs[0]!.dispatches.map((one) => one.first)).toEqual([0, 0]);
  });

  it('four of them, one where a batch is beyond every cache', () => {
    expect([regionsFor(1 << 20), regionsFor(1 << 27)]).toEqual([REGIONS, 1]);
  });
});

it('waves are copied with scalars, registers and LDS, and repeated', () => {
  const [from, to] = [numbered(1, 2), numbered(2, 5)];
  const [before, after] = [to.clone(), to];
  copyWaves(after, 3, from, 1);
  const ofWave = (state: WaveState, wave: number) => [
    state.special(wave, 0),
    ...state.vgpr(wave, 0),
    ...state.vgpr(wave, 1),
    ...state.lds(wave),
  ];
  for (const wave of [0, 1, 2, 4]) expect(ofWave(after, wave)).toEqual(ofWave(before, wave));
  expect(ofWave(after, 3)).toEqual(ofWave(from, 0));
  const many = repeatWaves(from, 5);
  for (let wave = 0; wave < 5; wave++) expect(ofWave(many, wave)).toEqual(ofWave(from, wave % 2));
});
