/** Batches of wavefronts through two engines, side by side, compared as they come; memory stays that of three batches. */
import { type Engine, EngineError, type RunOptions } from '../engine.ts';
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
}

const figuresOf = (engine: Engine, stages: readonly Stage[]): EngineFigures => ({
  name: engine.name,
  device: engine.device,
  stages: stages.map(({ name }) => ({ name, lanes: 0, ms: 0, compileMs: 0, firstLanes: 0, firstMs: 0 })),
});

async function runStages(
  engine: Engine,
  figures: EngineFigures,
  job: Job,
  input: WaveState,
  options: RunOptions,
): Promise<WaveState> {
  let state = input;
  for (const [index, { program }] of job.stages.entries()) {
    const { state: next, cost } = await engine.run(program, state, options);
    const { shape } = next.layout;
    const stage = figures.stages[index]!;
    stage.lanes += shape.waves * shape.waveSize;
    stage.ms += cost.totalMs - (cost.compileMs ?? 0);
    stage.compileMs += cost.compileMs ?? 0;
    if (stage.firstLanes === 0) {
      stage.firstLanes = stage.lanes;
      stage.firstMs = stage.ms;
    }
    state = next;
  }
  return state;
}

/**
 * Runs a job on the engines, one or two; the first computes batch k+1 while the second computes batch k.
 * A failing engine ends the run, not the process: what was done stands in the report, with the failure.
 * @throws what is no EngineError
 */
export async function runBulk(
  job: Job,
  engines: readonly [Engine, Engine?],
  options: BulkOptions = {},
): Promise<BulkReport> {
  const [first, second] = engines;
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
  const start = (batch: number) => {
    const input = job.draw(batch);
    const output = runStages(first, report.engines[0]!, job, input, options);
    output.catch(() => {}); // reported where it is awaited
    return { input, output };
  };
  try {
    let running = start(0);
    for (let batch = 0; batch < job.batches; batch++) {
      const { input } = running;
      const output = await running.output;
      if (batch + 1 < job.batches && !options.signal?.aborted) running = start(batch + 1);
      // The first engine's work must be on its way to the device before the second takes this thread.
      await new Promise((resolve) => setTimeout(resolve));
      const expected = second && (await runStages(second, report.engines[1]!, job, input, options));
      addBatch(report, job, output, expected, options.limit ?? 20);
      report.wallMs = performance.now() - began;
      options.onBatch?.(report);
      report.interrupted = options.signal?.aborted === true && batch + 1 < job.batches;
      if (report.interrupted) break;
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    report.failure = error;
  }
  report.wallMs = performance.now() - began;
  return report;
}

function addBatch(
  report: BulkReport,
  job: Job,
  output: WaveState,
  expected: WaveState | undefined,
  limit: number,
): void {
  const { waves, waveSize } = output.layout.shape;
  if (expected)
    report.comparison = addComparison(
      report.comparison,
      compareStates(output, expected, limit, report.wavesDone),
      limit,
    );
  if (job.countWrong) report.wrong = report.wrong! + job.countWrong(output);
  const room = limit - report.faults.length;
  for (const fault of output.faults().slice(0, room))
    report.faults.push({ ...fault, wave: fault.wave + report.wavesDone });
  report.batchesDone++;
  report.wavesDone += waves;
  report.lanesDone += waves * waveSize;
}
