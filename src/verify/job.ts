/** What a bulk run does: stages one after another over batches of wavefronts. */
import type { Engine, RunCost, RunOptions } from '../engine.ts';
import type { Program } from '../program/program.ts';
import type { WaveState } from '../wavefront/state.ts';
import type { StatePool } from './pool.ts';

export interface Stage {
  /** What is counted: `macros`, `minima`, `programs`. */
  readonly name: string;
  readonly program: Program;
}

/** What to run: the stages one after another over each batch, a stage starting from what the one before left. */
export interface Job {
  readonly stages: readonly Stage[];
  readonly batches: number;
  /** Makes a batch, in storage from the pool if it likes. */
  readonly draw: (batch: number, pool?: StatePool) => WaveState;
  /** Counts results that a third opinion finds wrong; runs on the first engine's final state, and what was drawn. */
  readonly countWrong?: (state: WaveState, input: WaveState) => number;
}

/** Waves in batches of a size, the last one smaller. */
export function batchSizes(waves: number, each: number): { batches: number; size: (batch: number) => number } {
  return { batches: Math.ceil(waves / each), size: (batch) => Math.min(each, waves - batch * each) };
}

/** What a stage took over a batch. */
export interface StageCost {
  readonly lanes: number;
  readonly cost: RunCost;
}

/** A batch through all stages on one engine, and what each took. `input` is not changed. */
export async function runStages(
  engine: Engine,
  { stages }: Pick<Job, 'stages'>,
  input: WaveState,
  options: RunOptions,
  pool?: StatePool,
): Promise<{ state: WaveState; costs: readonly StageCost[] }> {
  let state = input;
  const costs: StageCost[] = [];
  for (const { program } of stages) {
    const into = pool?.take(input.layout.shape);
    const { state: next, cost } = await engine.run(program, state, { ...options, ...(into && { into }) });
    const { shape } = next.layout;
    costs.push({ lanes: shape.waves * shape.waveSize, cost });
    if (into !== undefined && next.words !== into.words) pool?.give(into);
    if (state !== input) pool?.give(state);
    state = next;
  }
  return { state, costs };
}

/** What two runs cost together. */
export function addCost(a: RunCost, b: RunCost): RunCost {
  const sums = Object.entries(b).map(([key, ms]) => [key, ms + (a[key as keyof RunCost] ?? 0)]);
  return { ...a, ...Object.fromEntries(sums) };
}
