// Bulk runs: batches in order, differences numbered in the whole run, and what is complete survives a failing engine or an interrupt.
import { describe, expect, test } from 'vitest';
import { EngineError } from '../../src/engine.ts';
import { findTarget } from '../../src/isa/target.ts';
import { makeProgram } from '../../src/program/make.ts';
import { runBulk } from '../../src/verify/bulk.ts';
import type { Job } from '../../src/verify/job.ts';
import { engineTable, faultLine, rate, reportJson, slowestWork } from '../../src/verify/report.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { FaultCode, WaveState } from '../../src/wavefront/state.ts';
import { scripted } from './scripted.ts';

const target = findTarget('gfx90a');
const program = makeProgram(target, 64, [], new Map());
const shape = { waveSize: 64, waves: 2, wavesPerGroup: 1, vgprs: 1, sgprs: 0, ldsWords: 0 } as const;

/** Batch k holds k in every lane of v0. */
const job = (batches: number): Job => ({
  stages: [{ name: 'lanes', program }],
  batches,
  draw: (batch) => {
    const state = WaveState.start(shape);
    for (const wave of [0, 1]) state.vgpr(wave, 0).fill(batch);
    return state;
  },
  countWrong: (state) => (state.vgpr(0, 0)[0] === 1 ? 5 : 0),
});

test('equal engines: all is counted', async () => {
  const report = await runBulk(job(3), [scripted('webgpu'), scripted('reference')]);
  expect(report).toMatchObject({
    batchesDone: 3,
    batches: 3,
    wavesDone: 6,
    lanesDone: 384,
    wrong: 5,
    faults: [],
    interrupted: false,
  });
  expect(report.comparison).toMatchObject({ mismatches: 0, words: 6 * (16 + 64) });
  expect(report.engines.map((e) => e.stages)).toEqual(
    Array(2).fill([{ name: 'lanes', lanes: 384, ms: 6, compileMs: 3, firstLanes: 128, firstMs: 2 }]),
  );
  expect(engineTable(report).rows[0]).toEqual(['webgpu', 'scripted webgpu', '384', '64.0 k', '0']);
});

test('the slowest work: what a thread does one after another, or one thing of the engine under test', async () => {
  const slow = (ms: number) => ({
    ...scripted('webgpu'),
    run: async (_: unknown, input: WaveState) => ({
      state: input.clone(),
      cost: { totalMs: 1e6, uploadMs: ms, deviceMs: 2 * ms, readbackMs: 1 },
    }),
  });
  const report = await runBulk(job(3), [slow(1000), scripted('reference')]);
  expect(report.work.map(({ name, by, threads }) => [name, by, threads])).toEqual([
    ['draw', 'checker', 1],
    ['upload', 'engine', 1],
    ['compute', 'engine', 1],
    ['read back', 'engine', 1],
    ['reference', 'checker', 1],
    ['compare', 'checker', 1],
    ['a / b', 'checker', 1],
  ]);
  const ms = Object.fromEntries(report.work.map((work) => [work.name, work.ms]));
  expect(ms).toMatchObject({ upload: 3000, compute: 6000, 'read back': 3, reference: 9 });
  expect(slowestWork({ ...report, wallMs: 8000 })).toEqual({ name: 'compute', perSecond: 64, busy: 0.75 });
  const checked = await runBulk(job(3), [slow(0.1), scripted('reference')]);
  const { name, busy } = slowestWork({ ...checked, wallMs: 100 })!;
  expect(name).toMatch(/^draw, reference(, compare)?(, a . b)?$/);
  expect(busy).toBeGreaterThanOrEqual(0.09);
  expect(slowestWork(await runBulk(job(0), [scripted('webgpu')]))).toBeUndefined();
});

test('stages follow each other on the same state', async () => {
  const adding = (name: 'webgpu' | 'reference') =>
    scripted(name, (state) => {
      state.vgpr(0, 0)[0]! += 1;
    });
  const two = {
    ...job(1),
    stages: [
      { name: 'a', program },
      { name: 'b', program },
    ],
  };
  const seen: number[] = [];
  await runBulk({ ...two, countWrong: (state) => seen.push(state.vgpr(0, 0)[0]!) }, [adding('webgpu')]);
  expect(seen).toEqual([2]);
});

test('a difference in batch 2 is one of wave 4', async () => {
  const wrong = scripted('webgpu', (state, run) => {
    if (run === 2) state.vgpr(0, 0)[9]! ^= 4;
  });
  const report = await runBulk(job(3), [wrong, scripted('reference')]);
  expect(report.comparison).toMatchObject({ mismatches: 1, first: [{ wave: 4, register: 'v0', lane: 9, a: 6, b: 2 }] });
});

describe('what is complete survives', () => {
  test.each(['timeout', 'lost'] as const)('an engine that fails with %s', async (kind) => {
    const failing = scripted('webgpu', (_, run) => {
      if (run === 2) throw new EngineError(kind, 'gone');
    });
    const report = await runBulk(job(5), [failing, scripted('reference')]);
    expect(report).toMatchObject({ batchesDone: 2, wavesDone: 4, failure: { kind, message: 'gone' } });
    expect(reportJson(report, { target, wave: 64, profile: 'hardware', programs: [program] })).toMatchObject({
      waves: 4,
      batches: { done: 2, of: 5 },
      mismatches: 0,
      failure: { kind, message: 'gone' },
    });
  });

  test('the second engine that fails', async () => {
    const failing = scripted('reference', () => {
      throw new EngineError('unsupported', 'cannot');
    });
    expect(await runBulk(job(2), [scripted('webgpu'), failing])).toMatchObject({
      batchesDone: 0,
      failure: { message: 'cannot' },
    });
  });

  test('an interrupt ends after the batch', async () => {
    const interrupt = new AbortController();
    const onBatch = () => interrupt.abort();
    expect(
      await runBulk(job(5), [scripted('webgpu'), scripted('reference')], { signal: interrupt.signal, onBatch }),
    ).toMatchObject({ batchesDone: 1, interrupted: true });
  });

  test('any other error is no result', async () => {
    const broken = scripted('webgpu', () => {
      throw new TypeError('a mistake of ours');
    });
    await expect(runBulk(job(1), [broken])).rejects.toThrow('a mistake of ours');
  });
});

test('faults are listed by wave of the whole run', async () => {
  const faulting = scripted('webgpu', (state, run) => {
    if (run === 1) state.setSpecial(1, Special.fault, FaultCode.ldsMisaligned);
  });
  const report = await runBulk(job(2), [faulting]);
  expect(report.faults).toEqual([{ wave: 3, code: FaultCode.ldsMisaligned, pc: 0, lane: 0, address: 0 }]);
  expect(faultLine(report.faults[0]!, [program]).what).toBe(
    'wave 3 lane 0, pc 0x0, unknown instruction, address 0x00000000: LDS address misaligned',
  );
});

test('rates for people', () => {
  expect([0.5, 12, 1234, 45_678_901, 2.5e9].map(rate)).toEqual(['0.500', '12.0', '1.23 k', '45.7 M', '2.50 G']);
});
