/** What a bulk run does: stages one after another over batches of wavefronts. */
import type { BatchStore, Engine, RunCost, RunOptions, StoredBatch } from '../engine.ts';
import type { Program } from '../program/program.ts';
import type { Shape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
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
  /** The same batches, where they can be drawn in parts. */
  readonly parts?: DrawnParts;
  /** Counts results that a third opinion finds wrong; runs on the first engine's final state, and what was drawn. */
  readonly countWrong?: (state: WaveState, input: WaveState) => number;
}

/** Batches drawn a part of `partsOf` at a time, so that a part is still in the cache when the next step comes to it. */
export interface DrawnParts {
  readonly shapeOf: (batch: number) => Shape;
  /** @param part its storage, with anything in it @param first its first wave */
  readonly draw: (part: WaveState, batch: number, first: number) => void;
}

/** A part of a batch, and its first wave. */
export interface Part {
  readonly shape: Shape;
  readonly first: number;
}

/** Few enough that a part's words and what is made of them fit the cache of a core. */
export const PART_WAVES = 64;

/** A batch in parts of whole workgroups. */
export function partsOf(shape: Shape): Part[] {
  const { waves, wavesPerGroup } = shape;
  const each = Math.max(1, Math.floor(PART_WAVES / wavesPerGroup)) * wavesPerGroup;
  return Array.from({ length: Math.ceil(waves / each) }, (_, i) => ({
    shape: { ...shape, waves: Math.min(each, waves - i * each) },
    first: i * each,
  }));
}

/** A batch drawn part by part, in storage from the pool. */
export function drawInParts({ shapeOf, draw }: DrawnParts, batch: number, pool?: StatePool): WaveState {
  const shape = shapeOf(batch);
  const whole = pool?.take(shape) ?? new WaveState(shape);
  for (const { shape: ofPart, first } of partsOf(shape)) {
    const part = new WaveState(ofPart);
    draw(part, batch, first);
    whole.writePart(part, first);
  }
  return whole;
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
    costs.push({ lanes: lanesOf(next.layout.shape), cost });
    if (into !== undefined && next.words !== into.words) pool?.give(into);
    if (state !== input) pool?.give(state);
    state = next;
  }
  return { state, costs };
}

/** The same in place, where the batch lies. */
export async function runStoredStages(
  store: BatchStore,
  { stages }: Pick<Job, 'stages'>,
  batch: StoredBatch,
  options: RunOptions,
): Promise<readonly StageCost[]> {
  const costs: StageCost[] = [];
  for (const { program } of stages)
    costs.push({ lanes: lanesOf(batch.shape), cost: await store.run(program, batch, options) });
  return costs;
}

const lanesOf = ({ waves, waveSize }: Shape) => waves * waveSize;

/** What two runs cost together. */
export function addCost(a: RunCost, b: RunCost): RunCost {
  const sums = Object.entries(b).map(([key, ms]) => [key, ms + (a[key as keyof RunCost] ?? 0)]);
  return { ...a, ...Object.fromEntries(sums) };
}
