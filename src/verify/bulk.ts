/**
 * Batches of wavefronts through two engines, side by side, compared as they come. A few batches are on their way at any time, one more
 * than there are checkers: packing, the engine under test and checking overlap, and memory does not grow with the run.
 */
import { type Engine, EngineError, type RunCost, type RunOptions } from '../engine.ts';
import type { Program } from '../program/program.ts';
import type { Fault, WaveState } from '../wavefront/state.ts';
import { addComparison, type Comparison, compareStates, nothingCompared } from './compare.ts';

export interface Stage {
  /** What is counted: `macros`, `minima`, `programs`. */
  readonly name: string;
  readonly program: Program;
}

/** What to run: the stages one after another over each batch, a stage starting from what the one before left. */
export interface Job {
  readonly stages: readonly Stage[];
  readonly batches: number;
  readonly draw: (batch: number) => WaveState;
  /** Counts results that a third opinion finds wrong; runs on the first engine's final state. */
  readonly countWrong?: (state: WaveState) => number;
}

export interface StageFigures {
  readonly name: string;
  lanes: number;
  /** Wall time without compiling, and the compiling. */
  ms: number;
  compileMs: number;
  /** Of these, the first batch's, which also pays for translating the program and warming up. */
  firstLanes: number;
  firstMs: number;
}

export interface EngineFigures {
  readonly name: Engine['name'];
  readonly device: string;
  readonly stages: readonly StageFigures[];
}

export interface BulkReport {
  readonly engines: readonly EngineFigures[];
  batchesDone: number;
  readonly batches: number;
  wavesDone: number;
  lanesDone: number;
  comparison: Comparison;
  /** Of `countWrong`. */
  wrong?: number;
  /** The first faults, by wave of the whole run, and what the wave was executing. */
  faults: Fault[];
  wallMs: number;
  /** Why the run stopped early: a failed engine, or the signal. */
  failure?: EngineError;
  interrupted: boolean;
}

export interface BulkOptions extends RunOptions {
  readonly signal?: AbortSignal;
  readonly onBatch?: (report: BulkReport) => void;
  /** Differences and faults to list. */
  readonly limit?: number;
  /** Who draws and checks the batches, in turns; without it, the second engine in this thread. */
  readonly checkers?: readonly Checker[];
}

const figuresOf = (engine: Engine, stages: readonly Stage[]): EngineFigures => ({
  name: engine.name,
  device: engine.device,
  stages: stages.map(({ name }) => ({ name, lanes: 0, ms: 0, compileMs: 0, firstLanes: 0, firstMs: 0 })),
});

/** What a stage took over a batch. */
export interface StageCost {
  readonly lanes: number;
  readonly ms: number;
  readonly compileMs: number;
}

/** Waves in batches of a size, the last one smaller. */
export function batchSizes(waves: number, each: number): { batches: number; size: (batch: number) => number } {
  return { batches: Math.ceil(waves / each), size: (batch) => Math.min(each, waves - batch * each) };
}

/** What became of a batch. Waves are numbered within it. */
export interface Checked {
  readonly waves: number;
  readonly lanes: number;
  /** Of the checker's own engine, if it has one. */
  readonly costs: readonly StageCost[];
  readonly comparison?: Comparison;
  readonly wrong?: number;
  readonly faults: readonly Fault[];
}

/** Draws batches and checks what an engine made of them: in this thread or in another. */
export interface Checker {
  draw(batch: number): Promise<WaveState>;
  /** Computes the batch by itself and compares it with `output`; without `output`, its own result is the one that is judged. */
  check(batch: number, output?: WaveState): Promise<Checked>;
}

/** A batch through all stages on one engine, and what each took. */
export async function runStages(
  engine: Engine,
  { stages }: Pick<Job, 'stages'>,
  input: WaveState,
  options: RunOptions,
) {
  let state = input;
  const costs: StageCost[] = [];
  for (const { program } of stages) {
    const { state: next, cost } = await engine.run(program, state, options);
    const { shape } = next.layout;
    costs.push({ lanes: shape.waves * shape.waveSize, ms: workMs(cost), compileMs: cost.compileMs ?? 0 });
    state = next;
  }
  return { state, costs };
}

/** Checks in this thread. */
export class LocalChecker implements Checker {
  readonly #job: Job;
  readonly #engine: Engine | undefined;
  readonly #options: BulkOptions;
  /** Inputs that are not checked yet. */
  readonly #inputs = new Map<number, WaveState>();

  constructor(job: Job, engine: Engine | undefined, options: BulkOptions) {
    this.#job = job;
    this.#engine = engine;
    this.#options = options;
  }

  async draw(batch: number): Promise<WaveState> {
    const input = this.#job.draw(batch);
    if (this.#engine) this.#inputs.set(batch, input);
    return input;
  }

  async check(batch: number, output?: WaveState): Promise<Checked> {
    const input = this.#inputs.get(batch) ?? (output ? undefined : this.#job.draw(batch));
    this.#inputs.delete(batch);
    // The engine under test must have its next work before this one takes the thread.
    await new Promise((resolve) => setTimeout(resolve));
    const own = this.#engine && input && (await runStages(this.#engine, this.#job, input, this.#options));
    const judged = output ?? own?.state;
    if (!judged) throw new Error('there is nothing to check: no output and no engine');
    const { waves, waveSize } = judged.layout.shape;
    const { limit = LIMIT } = this.#options;
    return {
      waves,
      lanes: waves * waveSize,
      costs: own?.costs ?? [],
      ...(output && own && { comparison: compareStates(output, own.state, limit) }),
      ...(this.#job.countWrong && { wrong: this.#job.countWrong(judged) }),
      faults: judged.faults().slice(0, limit),
    };
  }
}

/** Differences and faults that are listed unless the caller says otherwise. */
const LIMIT = 20;

/**
 * Runs a job on the engines, one or two: the first is the one under test, the second computes everything again.
 * A failing engine ends the run, not the process: what was done stands in the report, with the failure.
 * With `checkers`, these stand for the second engine, or for the only one.
 * @throws what is no EngineError
 */
export async function runBulk(
  job: Job,
  engines: readonly [Engine, Engine?],
  options: BulkOptions = {},
): Promise<BulkReport> {
  const [first, second] = engines;
  const checkers = options.checkers ?? [new LocalChecker(job, second, options)];
  const tested = options.checkers && !second ? undefined : first;
  const report: BulkReport = {
    engines: [first, second].filter((e) => e !== undefined).map((engine) => figuresOf(engine, job.stages)),
    batchesDone: 0,
    batches: job.batches,
    wavesDone: 0,
    lanesDone: 0,
    comparison: nothingCompared,
    ...(job.countWrong && { wrong: 0 }),
    faults: [],
    wallMs: 0,
    interrupted: false,
  };
  const began = performance.now();
  const start = async (batch: number) => {
    const checker = checkers[batch % checkers.length]!;
    if (!tested) return { costs: undefined, checked: await checker.check(batch) };
    const { state, costs } = await runStages(tested, job, await checker.draw(batch), options);
    return { costs, checked: await checker.check(batch, state) };
  };
  const running: ReturnType<typeof start>[] = [];
  let next = 0;
  const fill = () => {
    while (next < job.batches && running.length <= checkers.length && !options.signal?.aborted) {
      const batch = start(next++);
      batch.catch(() => {}); // reported where it is awaited
      running.push(batch);
    }
  };
  try {
    for (fill(); running.length > 0; ) {
      const { costs, checked } = await running.shift()!;
      fill();
      addBatch(report, costs, checked, checkers.length, options.limit ?? LIMIT);
      report.wallMs = performance.now() - began;
      options.onBatch?.(report);
      report.interrupted = options.signal?.aborted === true && report.batchesDone < job.batches;
      if (report.interrupted) break;
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    report.failure = error;
  }
  report.wallMs = performance.now() - began;
  return report;
}

/** `shares`: checkers that worked side by side, so that each one's time counts for that part. */
function addCosts(figures: EngineFigures | undefined, costs: readonly StageCost[], shares: number): void {
  for (const [index, { lanes, ms, compileMs }] of costs.entries()) {
    const stage = figures?.stages[index];
    if (!stage) continue;
    stage.lanes += lanes;
    stage.ms += ms / shares;
    stage.compileMs += compileMs;
    if (stage.firstLanes > 0) continue;
    stage.firstLanes = stage.lanes;
    stage.firstMs = stage.ms;
  }
}

function addBatch(
  report: BulkReport,
  costs: readonly StageCost[] | undefined,
  { waves, lanes, comparison, wrong = 0, faults, ...own }: Checked,
  checkers: number,
  limit: number,
): void {
  if (costs) addCosts(report.engines[0], costs, 1);
  addCosts(report.engines[costs ? 1 : 0], own.costs, checkers);
  const ofRun = <T extends { readonly wave: number }>(at: T): T => ({ ...at, wave: at.wave + report.wavesDone });
  if (comparison)
    report.comparison = addComparison(report.comparison, { ...comparison, first: comparison.first.map(ofRun) }, limit);
  if (report.wrong !== undefined) report.wrong += wrong;
  report.faults.push(...faults.slice(0, limit - report.faults.length).map(ofRun));
  report.batchesDone++;
  report.wavesDone += waves;
  report.lanesDone += lanes;
}

/**
 * What a batch took the engine, compiling apart. Batches overlap, so the time from call to answer counts waiting for the one before;
 * where the device has a clock, its time and the transfers are the work.
 */
function workMs({ totalMs, compileMs = 0, uploadMs = 0, deviceMs, readbackMs = 0 }: RunCost): number {
  return deviceMs === undefined ? totalMs - compileMs : uploadMs + deviceMs + readbackMs;
}
