/** Programs on an engine as subjects; the reference engine says what is right. */
import type { Engine } from '../engine.ts';
import { TranslatingEngine, type WebGpuOptions } from '../gpu/engine.ts';
import type { Job, KernelRunner } from '../gpu/runner.ts';
import type { Program } from '../program/program.ts';
import { compareStates } from '../verify/compare.ts';
import type { Random } from '../verify/random.ts';
import { Layout, type Shape } from '../wavefront/layout.ts';
import type { WaveState } from '../wavefront/state.ts';
import type { Cost, OperandKind } from './figure.ts';
import { fill } from './inputs.ts';
import { KINDS, type Kind } from './kinds.ts';
import type { Prepared, Subject } from './measure.ts';
import { countOperations, type Operations } from './operations.ts';
import { overRegions, type RegionWork, regionsFor } from './regions.ts';

export interface Workload {
  readonly id: string;
  readonly program: Program;
  /** Registers v0 on that hold operand pairs, 4 each; LDS words and what else a wave begins with. */
  readonly pairs: number;
  readonly ldsWords?: number;
  readonly more?: (state: WaveState, wave: number, random: Random) => void;
  /** Operations a lane. */
  readonly work: number;
}

export const shapeOf = ({ program, pairs, ldsWords = 0 }: Workload): Omit<Shape, 'waves'> => ({
  waveSize: program.waveSize,
  wavesPerGroup: 1,
  vgprs: Math.max(program.vgprs, 4 * pairs),
  sgprs: program.sgprs,
  ldsWords,
});

/** Inputs and right results, which subjects of one workload share. */
export class Batches {
  readonly #reference: Engine;
  readonly #operands: OperandKind;
  #key = '';
  #inputs: readonly WaveState[] = [];
  #expected: WaveState | undefined;

  /** Milliseconds that kernels took to compile when they were new: other sizes and subjects may have the same. */
  readonly compileMs = new Map<string, number>();

  constructor(reference: Engine, operands: OperandKind) {
    this.#reference = reference;
    this.#operands = operands;
  }

  /** The batches of the last workload and size are kept. */
  async of(workload: Workload, lanes: number): Promise<{ inputs: readonly WaveState[]; expected: WaveState }> {
    const { program, pairs, more } = workload;
    const waves = lanes / program.waveSize;
    const shape = { ...shapeOf(workload), waves };
    const key = JSON.stringify([shape, pairs, program.instructions.map(({ def, operands }) => [def.name, operands])]);
    if (key !== this.#key || !this.#expected) {
      this.#inputs = Array.from({ length: regionsFor(4 * new Layout(shape).words) }, (_, number) =>
        fill({ shape, pairs, operands: this.#operands, number, ...(more && { more }) }),
      );
      this.#expected = (await this.#reference.run(program, this.#inputs[0]!)).state;
      this.#key = key;
    }
    return { inputs: this.#inputs, expected: this.#expected };
  }
}

/** What a run on the device belongs to. */
export interface OnDevice {
  readonly runner: KernelRunner;
  readonly batches: Batches;
  readonly lanes: number;
  /** Operations a lane. */
  readonly work: number;
  /** Wrong words after the first region's run. */
  readonly check: (first: WaveState) => number;
}

/** Kernels compiled, their results compared, their operations counted. */
export async function prepareOnGpu(
  { runner, batches, lanes, work, check }: OnDevice,
  todo: RegionWork,
  inputs: readonly WaveState[],
): Promise<Prepared> {
  const { first, compileMs, run } = await overRegions(runner, todo, inputs);
  const key = todo.kernels.join();
  if (compileMs !== undefined) batches.compileMs.set(key, compileMs);
  return {
    lanes,
    work: lanes * work,
    compileMs: batches.compileMs.get(key) ?? null,
    mismatches: check(first),
    cost: costOf(todo, lanes),
    run,
  };
}

/** A workload in one form of the WebGPU engine. Its registers are the kernels' inputs again and again. */
export const onGpu = (
  workload: Workload,
  { runner, options }: { readonly runner: KernelRunner; readonly options: WebGpuOptions },
  batches: Batches,
  lanes: readonly number[],
): Subject => ({
  id: workload.id,
  engine: 'webgpu',
  adapter: runner.device,
  lanes,
  prepare: async (count): Promise<Prepared> => {
    const { program, work } = workload;
    const { inputs, expected } = await batches.of(workload, count);
    const check = (first: WaveState) => compareStates(first, expected).mismatches;
    const todo = await workOf(runner, options, program, inputs[0]!);
    return prepareOnGpu({ runner, batches, lanes: count, work, check }, todo, inputs);
  },
});

/** What an engine with these options would have the runner do. */
export async function workOf(
  { device, software, maxBufferBytes, maxBindingBytes }: KernelRunner,
  options: WebGpuOptions,
  program: Program,
  state: WaveState,
): Promise<RegionWork> {
  const jobs: Job[] = [];
  const recorder: KernelRunner = {
    device,
    software,
    maxBufferBytes,
    maxBindingBytes,
    run: async (job, words) => {
      jobs.push(job);
      return { words, cost: { uploadMs: 0, readbackMs: 0 } };
    },
    close: async () => {},
  };
  await new TranslatingEngine(recorder, options).run(program, state);
  return jobs[0]!;
}

/** A workload on the CPU's engine. */
export const onCpu = (workload: Workload, engine: Engine, batches: Batches, lanes: readonly number[]): Subject => ({
  id: workload.id,
  engine: 'reference',
  adapter: engine.device,
  lanes,
  prepare: async (count): Promise<Prepared> => {
    const { inputs, expected } = await batches.of(workload, count);
    const { state } = await engine.run(workload.program, inputs[0]!);
    return {
      lanes: count,
      work: count * workload.work,
      compileMs: null,
      mismatches: compareStates(state, expected).mismatches,
      cost: undefined,
      run: turns(engine, workload.program, inputs),
    };
  },
});

/** Inputs take turns. */
function turns(engine: Engine, program: Program, inputs: readonly WaveState[]): Prepared['run'] {
  let turn = 0;
  return async () => ({ wallMs: (await engine.run(program, inputs[turn++ % inputs.length]!)).cost.totalMs });
}

/** Lanes of a wave. */
const WAVE = 64;

/**
 * What dispatches cost for so many lanes. Those over the list of bailed lanes don't count: with ordinary operands nobody is on it.
 * Scalars are a wave's, and read once for all its lanes.
 */
export function costOf({ kernels, dispatches, table = [] }: RegionWork, lanes: number): Cost {
  const operations: Partial<Record<Kind, number>> = {};
  const total = { operations, readBytes: 0, writtenBytes: 0, ldsBytes: 0 };
  for (const { kernel, perWave, table: at } of dispatches) {
    // A loop over a table has its number of turns there.
    const turns = at === undefined ? 1 : (table[at] ?? 1);
    const { operations: counted, reads, writes } = countOperations(kernels[kernel]!, 'main', turns);
    const invocations = perWave ? lanes / WAVE : lanes;
    const bytesOf = ({ vgprs = 0, scalars = 0 }: Operations['reads']) => vgprs * invocations + scalars * (lanes / WAVE);
    for (const kind of KINDS) {
      const count = (counted[kind] ?? 0) * invocations;
      if (count > 0) operations[kind] = (operations[kind] ?? 0) + count;
    }
    total.readBytes += bytesOf(reads);
    total.writtenBytes += bytesOf(writes);
    total.ldsBytes += ((reads.lds ?? 0) + (writes.lds ?? 0)) * invocations;
  }
  return total;
}
