/**
 * Batches of wavefronts through two engines, side by side, compared as they come. A few batches are on their way at any time: packing,
 * the engine under test and checking overlap, and memory does not grow with the run.
 */
import { type BatchStore, type Engine, EngineError, type RunCost } from '../engine.ts';
import type { Fault } from '../wavefront/state.ts';
import { type Checked, type Checker, type CheckOptions, LIMIT, LocalChecker, type StoredChecker } from './checker.ts';
import { addComparison, type Comparison, nothingCompared } from './compare.ts';
import { type Job, runStages, runStoredStages, type Stage, type StageCost } from './job.ts';

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

/** How long a kind of work took in all threads together that did it side by side. */
export interface WorkFigures {
  readonly name: 'draw' | 'upload' | 'compute' | 'read back' | 'reference' | 'compare' | 'a / b';
  /** Who did it: each checker's thread one thing after another, the engine under test side by side with all else. */
  readonly by: 'checker' | 'engine';
  readonly threads: number;
  ms: number;
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
  /** What was done, in the order in which a batch comes by; the clocks ran side by side. */
  readonly work: readonly WorkFigures[];
  wallMs: number;
  /** Why the run stopped early: a failed engine, or the signal. */
  failure?: EngineError;
  interrupted: boolean;
}

export interface BulkOptions extends CheckOptions {
  readonly signal?: AbortSignal;
  readonly onBatch?: (report: BulkReport) => void;
  /** Who draws and checks the batches, in turns; without it, the second engine in this thread. */
  readonly checkers?: readonly Checker[];
}

const workOf = (threads: number): WorkFigures[] => [
  { name: 'draw', by: 'checker', threads, ms: 0 },
  { name: 'upload', by: 'engine', threads: 1, ms: 0 },
  { name: 'compute', by: 'engine', threads: 1, ms: 0 },
  { name: 'read back', by: 'engine', threads: 1, ms: 0 },
  { name: 'reference', by: 'checker', threads, ms: 0 },
  { name: 'compare', by: 'checker', threads, ms: 0 },
  { name: 'a / b', by: 'checker', threads, ms: 0 },
];

const figuresOf = (engine: Engine, stages: readonly Stage[]): EngineFigures => ({
  name: engine.name,
  device: engine.device,
  stages: stages.map(({ name }) => ({ name, lanes: 0, ms: 0, compileMs: 0, firstLanes: 0, firstMs: 0 })),
});

/**
 * Batches under way beside those that are checked: two on the device, so that one computes while the other is moved, and some that are
 * drawn for it or wait for their checker. With one such a batch, each waits for the other whenever that one is late.
 */
const AHEAD = 5;

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
  const checkers: readonly Checker[] = options.checkers ?? [new LocalChecker(job, second, options)];
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
    work: workOf(checkers.length),
    wallMs: 0,
    interrupted: false,
  };
  const began = performance.now();
  const start = async (batch: number): Promise<{ costs: readonly StageCost[] | undefined; checked: Checked }> => {
    const checker = checkers[batch % checkers.length]!;
    if (!tested) return { costs: undefined, checked: await checker.check(batch) };
    const { store } = tested;
    if (store && checker.stored && job.parts) return throughStore(store, checker.stored, job, batch, options);
    const input = await checker.draw(batch);
    const { state, costs } = await runStages(tested, job, input, options, checker.pool);
    return { costs, checked: await checker.check(batch, state) };
  };
  const depth = tested ? checkers.length + AHEAD : 2 * checkers.length;
  const running: ReturnType<typeof start>[] = [];
  let next = 0;
  const fill = () => {
    while (next < job.batches && running.length < depth && !options.signal?.aborted) {
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

/** A batch that is drawn to where the engine under test takes it from and checked where that leaves it. */
async function throughStore(store: BatchStore, checker: StoredChecker, job: Job, batch: number, options: BulkOptions) {
  const stored = store.take(job.parts!.shapeOf(batch));
  try {
    await checker.draw(batch, stored);
    const costs = await runStoredStages(store, job, stored, options);
    return { costs, checked: await checker.check(batch, stored) };
  } finally {
    store.give(stored);
  }
}

/** `shares`: checkers that worked side by side, so that each one's time counts for that part. */
function addCosts(figures: EngineFigures | undefined, costs: readonly StageCost[], shares: number): void {
  for (const [index, { lanes, cost }] of costs.entries()) {
    const stage = figures?.stages[index];
    if (!stage) continue;
    stage.lanes += lanes;
    stage.ms += workMs(cost) / shares;
    stage.compileMs += cost.compileMs ?? 0;
    if (stage.firstLanes > 0) continue;
    stage.firstLanes = stage.lanes;
    stage.firstMs = stage.ms;
  }
}

function addWork(work: readonly WorkFigures[], costs: readonly StageCost[], checked: Checked): void {
  const sum = (value: (cost: RunCost) => number) => costs.reduce((total, { cost }) => total + value(cost), 0);
  const ms: Readonly<Record<WorkFigures['name'], number>> = {
    draw: checked.drawMs,
    upload: sum(({ uploadMs = 0 }) => uploadMs),
    compute: sum(({ deviceMs, totalMs, compileMs = 0 }) => deviceMs ?? totalMs - compileMs),
    'read back': sum(({ readbackMs = 0 }) => readbackMs),
    reference: checked.costs.reduce((total, { cost }) => total + cost.totalMs, 0),
    compare: checked.compareMs,
    'a / b': checked.countMs,
  };
  for (const one of work) one.ms += ms[one.name];
}

function addBatch(
  report: BulkReport,
  costs: readonly StageCost[] | undefined,
  checked: Checked,
  checkers: number,
  limit: number,
): void {
  const { waves, lanes, comparison, wrong = 0, faults } = checked;
  if (costs) addCosts(report.engines[0], costs, 1);
  addCosts(report.engines[costs ? 1 : 0], checked.costs, checkers);
  addWork(report.work, costs ?? [], checked);
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
