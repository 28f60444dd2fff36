/**
 * Kernels over a batch of several regions, each an input of its own: dispatches take turns over them, so that caches don't flatter,
 * and nothing is uploaded between two dispatches. Kernels leave their inputs as they were.
 */
import type { KernelRunner } from '../gpu/runner.ts';
import type { Dispatch } from '../gpu/translate.ts';
import { WaveState } from '../wavefront/state.ts';
import { copyWaves } from './inputs.ts';
import type { Run } from './measure.ts';

/** Inputs that take turns. */
export const REGIONS = 4;

/** Batches of so many bytes no cache holds: they are their own turn. */
const UNCACHED_BYTES = 48 << 20;

/** Inputs to draw for a batch of so many bytes. */
export const regionsFor = (bytes: number): number => (bytes > UNCACHED_BYTES ? 1 : REGIONS);

/** A timed job should take this long, so that the clock's grain and the start of a pass don't count. */
const PASS_MS = 10;
const MAX_DISPATCHES = 64;

/** What runs over each region. */
export interface RegionWork {
  readonly kernels: readonly string[];
  /** As over a batch of that region alone, a wave a workgroup. */
  readonly dispatches: readonly Dispatch[];
  /** Words that dispatches refer to. */
  readonly table?: readonly number[];
}

export interface RegionRuns {
  /** The first region after a run. */
  readonly first: WaveState;
  /** As `compileMs` gives it. */
  readonly compileMs: number | undefined;
  readonly run: () => Promise<Run>;
}

/** Compiles the work, runs it over each region, and gives what runs it for a time. */
export async function overRegions(
  runner: KernelRunner,
  work: RegionWork,
  inputs: readonly WaveState[],
): Promise<RegionRuns> {
  const { waves } = inputs[0]!.layout.shape;
  const regions = inputs.length;
  const batch = joined(inputs);
  const { shape } = batch.layout;
  const job = (turns: number) => ({
    ...work,
    dispatches: Array.from({ length: turns }, (_, turn) =>
      work.dispatches.map((dispatch) => ({ ...dispatch, first: dispatch.first + (turn % regions) * waves })),
    ).flat(),
    shape,
  });
  const compiled = await compileMs(runner, work, inputs[0]!);
  const { words, cost } = await runner.run(job(regions), batch.words);
  const first = firstOf(new WaveState(shape, words), waves);
  const once = Math.max((cost.deviceMs ?? PASS_MS) / regions, 1e-3);
  const wanted = Math.min(MAX_DISPATCHES, Math.ceil(PASS_MS / once));
  const turns = regions * Math.ceil(wanted / regions);
  return {
    first,
    compileMs: compiled,
    run: async () => {
      const began = performance.now();
      const { deviceMs } = (await runner.run(job(turns), batch.words, words)).cost;
      const wallMs = (performance.now() - began) / turns;
      return { wallMs, ...(deviceMs !== undefined && { deviceMs: deviceMs / turns }) };
    },
  };
}

/**
 * Milliseconds of compiling the work and running it over a wave, since some drivers compile when a kernel is made, others when it first runs;
 * undefined if no kernel was new.
 */
export async function compileMs(runner: KernelRunner, work: RegionWork, input: WaveState): Promise<number | undefined> {
  const { words, layout } = firstOf(input, 1);
  const dispatches = work.dispatches.map((dispatch) => ({ ...dispatch, first: 0, waves: 1 }));
  const began = performance.now();
  const { cost } = await runner.run({ ...work, dispatches, shape: layout.shape }, words);
  return cost.compileMs === undefined ? undefined : performance.now() - began;
}

/** Batches of one shape as one, in their order. */
function joined(inputs: readonly WaveState[]): WaveState {
  const { shape } = inputs[0]!.layout;
  const all = new WaveState({ ...shape, waves: shape.waves * inputs.length });
  for (const [i, input] of inputs.entries()) copyWaves(all, i * shape.waves, input, shape.waves);
  return all;
}

/** The first waves of a batch as a batch. */
function firstOf(batch: WaveState, waves: number): WaveState {
  const first = new WaveState({ ...batch.layout.shape, waves });
  copyWaves(first, 0, batch, waves);
  return first;
}
