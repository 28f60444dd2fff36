/** Measures subjects: warm-up, interleaved rounds, medians; ends in bounded time. */
import { type AdapterRates, boundNs, type Cost, type Figure, median, type OperandKind } from './figure.ts';
import { summed } from './kinds.ts';

/** What one run took. */
export interface Run {
  readonly wallMs: number;
  readonly deviceMs?: number;
}

/** A subject at one size, compiled, its results compared with the reference's. */
export interface Prepared {
  readonly lanes: number;
  /** Operations of the id's kind that a run does. */
  readonly work: number;
  readonly compileMs: number | null;
  readonly mismatches: number;
  /** Of a whole run; undefined for the CPU's own code. */
  readonly cost: Cost | undefined;
  readonly run: () => Promise<Run>;
}

export interface Subject {
  readonly id: string;
  readonly engine: Figure['engine'];
  readonly adapter: string;
  /** Sizes to measure it at, the most telling one first. */
  readonly lanes: readonly number[];
  readonly prepare: (lanes: number) => Promise<Prepared>;
}

export interface MeasureOptions {
  /** About how long all of it may take: sizes that are not begun by then are left out, but each subject's first. */
  readonly seconds: number;
  readonly operands: OperandKind;
  readonly signal?: AbortSignal;
  /** Milliseconds from any moment on; default `performance.now`. */
  readonly clock?: () => number;
  /** Told of each case before it is prepared. */
  readonly progress?: (done: number, of: number, id: string, lanes: number) => void;
}

const ROUNDS = 3;
/** Part of the time that rounds take; the rest goes to compiling and checking. */
const ROUND_SHARE = 0.5;
const MAX_SLICE_MS = 400;

interface Case extends Omit<Prepared, 'run'> {
  readonly subject: Subject;
  readonly runs: Run[];
}

/** What was measured, and what ended it before its time, if anything did. */
export interface Measured {
  readonly figures: Figure[];
  readonly failure?: unknown;
}

/**
 * Every subject at its first size, in rounds that take turns, so that what else the machine does hits all alike; then the other
 * sizes one after the other, as long as there is time. `rates` gives the adapter's rates from what was measured first.
 */
export async function measure(
  subjects: readonly Subject[],
  rates: (figures: readonly Figure[]) => AdapterRates | undefined,
  options: MeasureOptions,
): Promise<Measured> {
  const cases: Case[] = [];
  let failure: unknown;
  try {
    await measureCases(subjects, options, cases);
  } catch (error) {
    failure = error;
  }
  const timed = cases.filter(({ runs }) => runs.length >= ROUNDS);
  const figures = timed.map((one) => figureOf(one, options.operands));
  const found = rates(figures);
  return {
    figures: figures
      .map((figure, i) => ({ ...figure, boundShare: shareOf(figure, timed[i]!.cost, found) }))
      .toSorted((a, b) => order(subjects, a) - order(subjects, b) || a.lanes - b.lanes),
    ...(failure !== undefined && { failure }),
  };
}

async function measureCases(subjects: readonly Subject[], options: MeasureOptions, cases: Case[]): Promise<void> {
  const clock = options.clock ?? (() => performance.now());
  const began = clock();
  const sizes = subjects.reduce((sum, { lanes }) => sum + lanes.length, 0);
  const slice = Math.min(MAX_SLICE_MS, (options.seconds * 1000 * ROUND_SHARE) / (sizes * ROUNDS));
  const stopped = () => options.signal?.aborted === true;
  const prepare = async (subject: Subject, lanes: number) => {
    options.progress?.(cases.length, sizes, subject.id, lanes);
    const { run, ...prepared } = await subject.prepare(lanes);
    const one: Case = { ...prepared, subject, runs: [] };
    cases.push(one);
    const forATime = async (done: (run: Run) => void) => {
      const start = clock();
      do done(await run());
      while (clock() - start < slice);
    };
    await forATime(() => {});
    return () => forATime((ran) => one.runs.push(ran));
  };

  const turns: (() => Promise<void>)[] = [];
  for (const subject of subjects) if (!stopped()) turns.push(await prepare(subject, subject.lanes[0]!));
  for (let round = 0; round < ROUNDS; round++) for (const turn of turns) if (!stopped()) await turn();
  // Their inputs may go.
  turns.length = 0;

  const most = Math.max(...subjects.map(({ lanes }) => lanes.length));
  for (let size = 1; size < most; size++)
    for (const subject of subjects) {
      const lanes = subject.lanes[size];
      if (lanes === undefined || stopped() || clock() - began > options.seconds * 1000) continue;
      const turn = await prepare(subject, lanes);
      for (let round = 0; round < ROUNDS; round++) await turn();
    }
  options.progress?.(sizes, sizes, '', 0);
}

const order = (subjects: readonly Subject[], { id }: Figure) => subjects.findIndex((subject) => subject.id === id);

function figureOf({ subject, runs, work, cost, lanes, compileMs, mismatches }: Case, operands: OperandKind): Figure {
  // Browsers round timestamps: a run that took none by them was not timed.
  const onDevice = runs.flatMap(({ deviceMs = 0 }) => (deviceMs > 0 ? [deviceMs] : []));
  const wallMs = median(runs.map((run) => run.wallMs));
  const times = onDevice.length === runs.length ? onDevice : runs.map((run) => run.wallMs);
  const perSecond = (ms: number) => (work / ms) * 1000;
  return {
    id: subject.id,
    engine: subject.engine,
    adapter: subject.adapter,
    lanes,
    perSecond: perSecond(median(times)),
    deviceNs: onDevice.length === runs.length ? median(onDevice) * 1e6 : null,
    compileMs,
    bytes: cost ? Math.round(cost.readBytes + cost.writtenBytes + cost.ldsBytes) : 0,
    boundShare: null,
    operands,
    wallNs: wallMs * 1e6,
    wallPerSecond: perSecond(wallMs),
    spread: [perSecond(Math.max(...times)), perSecond(Math.min(...times))],
    repeats: runs.length,
    mismatches,
    ...perOperation(cost, work),
  };
}

function perOperation(cost: Cost | undefined, work: number): Pick<Figure, 'operations' | 'multiplies' | 'others'> {
  if (!cost) return { operations: null, multiplies: null, others: null };
  const operations = Object.fromEntries(Object.entries(cost.operations).map(([kind, count]) => [kind, count / work]));
  return { operations, ...summed(operations) };
}

function shareOf(figure: Figure, cost: Prepared['cost'], rates: AdapterRates | undefined): number | null {
  if (!cost || !rates) return null;
  return boundNs(rates, cost) / (figure.deviceNs ?? figure.wallNs);
}
