/** Who draws the batches of a job and checks what an engine made of them. */
import type { Engine, RunOptions, StoredBatch } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { Batch, Fault, WaveState } from '../wavefront/state.ts';
import { addComparison, type Comparison, compareStates, nothingCompared } from './compare.ts';
import { addCost, type Job, partsOf, runStages, type StageCost } from './job.ts';
import { StatePool } from './pool.ts';

/** What became of a batch. Waves are numbered within it. */
export interface Checked {
  readonly waves: number;
  readonly lanes: number;
  /** Of the checker's own engine, if it has one. */
  readonly costs: readonly StageCost[];
  readonly comparison?: Comparison;
  readonly wrong?: number;
  readonly faults: readonly Fault[];
  /** Milliseconds that drawing, comparing and asking `countWrong` took. */
  readonly drawMs: number;
  readonly compareMs: number;
  readonly countMs: number;
}

/** Draws batches and checks what an engine made of them: in this thread or in another. */
export interface Checker {
  /** For what the engine makes of a batch. */
  readonly pool: StatePool;
  /** The batch; its storage is the caller's until it comes back with `check`. */
  draw(batch: number): Promise<WaveState>;
  /**
   * Computes the batch by itself and compares it with `output`, whose storage is the checker's from then on; without `output`, its own
   * result is the one that is judged.
   */
  check(batch: number, output?: WaveState): Promise<Checked>;
  /** The same with batches that lie in an engine's store, for a checker that reaches it. */
  readonly stored?: StoredChecker;
}

export interface StoredChecker {
  /** Draws a batch into its place in a store. */
  draw(batch: number, into: StoredBatch): Promise<void>;
  /** Its place is the caller's again afterwards. */
  check(batch: number, output: StoredBatch): Promise<Checked>;
}

/** Differences and faults that are listed unless the caller says otherwise. */
export const LIMIT = 20;

export interface CheckOptions extends RunOptions {
  /** Differences and faults to list. */
  readonly limit?: number;
}

/** A part of a batch as it was drawn, its first wave, and the milliseconds it took. */
interface Drawn {
  readonly input: WaveState;
  readonly first: number;
  readonly drawMs: number;
}

/** Parts of the batches that wait to be checked while others are drawn. */
const MAX_FREE_PARTS = 256;

/** Checks in this thread, batches part by part. */
export class LocalChecker implements Checker {
  readonly pool = new StatePool();
  readonly #parts = new StatePool(MAX_FREE_PARTS);
  readonly #job: Job;
  readonly #engine: Engine | undefined;
  readonly #options: CheckOptions;
  /** What is not checked yet. */
  readonly #drawn = new Map<number, readonly Drawn[]>();

  constructor(job: Job, engine: Engine | undefined, options: CheckOptions) {
    this.#job = job;
    this.#engine = engine;
    this.#options = options;
  }

  async draw(batch: number): Promise<WaveState> {
    const { parts } = this.#job;
    if (parts) {
      const whole = this.pool.take(parts.shapeOf(batch));
      this.drawInto(batch, whole);
      return whole;
    }
    const [whole, drawMs] = timed(() => this.#job.draw(batch, this.pool));
    this.#drawn.set(batch, [...this.#cut(whole, drawMs)]);
    return whole;
  }

  /** Draws a batch of a job that has parts, and puts each where the whole is to be. */
  drawInto(batch: number, whole: Batch): void {
    const drawn = Array.from(this.#drawParts(batch), ({ input, first, drawMs }) => {
      const [, putMs] = timed(() => whole.writePart(input, first));
      return { input, first, drawMs: drawMs + putMs };
    });
    this.#drawn.set(batch, drawn);
  }

  async check(batch: number, output?: WaveState): Promise<Checked> {
    // The engine under test must have its next work before this one takes the thread.
    await new Promise((resolve) => setTimeout(resolve));
    const checked = await this.checkFrom(batch, output);
    if (output) this.pool.give(output);
    return checked;
  }

  /** As `check` does, at once. @param output wherever it lies; it stays the caller's */
  async checkFrom(batch: number, output: Batch | undefined): Promise<Checked> {
    if (!this.#drawn.has(batch) && !this.#job.parts) this.pool.give(await this.draw(batch));
    const parts = this.#drawn.get(batch) ?? this.#drawParts(batch);
    this.#drawn.delete(batch);
    let checked = nothingChecked;
    for (const { input, first, drawMs } of parts) {
      const [taken, takeMs] = timed(() => output && this.#take(output, input.layout.shape, first));
      const part = await this.#checkPart(input, taken);
      checked = addPart(checked, { ...part, drawMs, compareMs: part.compareMs + takeMs }, this.#options.limit);
    }
    return checked;
  }

  /** Draws the parts of a batch as they are asked for. */
  *#drawParts(batch: number): Generator<Drawn> {
    const { shapeOf, draw } = this.#job.parts!;
    for (const { shape, first } of partsOf(shapeOf(batch))) {
      const input = this.#parts.take(shape);
      const [, drawMs] = timed(() => draw(input, batch, first));
      yield { input, first, drawMs };
    }
  }

  *#cut(whole: WaveState, wholeMs: number): Generator<Drawn> {
    for (const { shape, first } of partsOf(whole.layout.shape)) {
      const [input, drawMs] = timed(() => this.#take(whole, shape, first));
      yield { input, first, drawMs: first === 0 ? wholeMs + drawMs : drawMs };
    }
  }

  #take(whole: Batch, shape: Shape, first: number): WaveState {
    const part = this.#parts.take(shape);
    whole.readPart(part, first);
    return part;
  }

  /** A part of a batch, as if it were all of it; its storage is given back. */
  async #checkPart(input: WaveState, output: WaveState | undefined): Promise<Omit<Checked, 'drawMs'>> {
    const own = this.#engine && (await runStages(this.#engine, this.#job, input, this.#options, this.#parts));
    const judged = output ?? own?.state;
    if (!judged) throw new Error('there is nothing to check: no output and no engine');
    const { waves, waveSize } = judged.layout.shape;
    const { limit = LIMIT } = this.#options;
    const [comparison, compareMs] = timed(() => output && own && compareStates(output, own.state, limit));
    const [wrong, countMs] = timed(() => this.#job.countWrong?.(judged, input));
    const faults = judged.faults().slice(0, limit);
    for (const state of new Set([input, output, own?.state])) if (state) this.#parts.give(state);
    return {
      waves,
      lanes: waves * waveSize,
      costs: own?.costs ?? [],
      ...(comparison && { comparison }),
      ...(wrong !== undefined && { wrong }),
      faults,
      compareMs,
      countMs,
    };
  }
}

const nothingChecked: Checked = { waves: 0, lanes: 0, costs: [], faults: [], drawMs: 0, compareMs: 0, countMs: 0 };

function addPart(sum: Checked, part: Checked, limit = LIMIT): Checked {
  const { waves } = sum;
  const ofBatch = <T extends { readonly wave: number }>(at: T): T => ({ ...at, wave: at.wave + waves });
  const { comparison, wrong } = part;
  return {
    waves: waves + part.waves,
    lanes: sum.lanes + part.lanes,
    costs: part.costs.map(({ lanes, cost }, stage) => {
      const before = sum.costs[stage];
      return before ? { lanes: lanes + before.lanes, cost: addCost(before.cost, cost) } : { lanes, cost };
    }),
    ...(comparison && {
      comparison: addComparison(
        sum.comparison ?? nothingCompared,
        { ...comparison, first: comparison.first.map(ofBatch) },
        limit,
      ),
    }),
    ...(wrong !== undefined && { wrong: wrong + (sum.wrong ?? 0) }),
    faults: [...sum.faults, ...part.faults.map(ofBatch)].slice(0, limit),
    drawMs: sum.drawMs + part.drawMs,
    compareMs: sum.compareMs + part.compareMs,
    countMs: sum.countMs + part.countMs,
  };
}

/** What `work` gives, and the milliseconds it took. */
function timed<T>(work: () => T): [T, number] {
  const began = performance.now();
  return [work(), performance.now() - began];
}
