/** Who draws the batches of a job and checks what an engine made of them. */
import type { Engine, RunOptions } from '../engine.ts';
import type { Fault, WaveState } from '../wavefront/state.ts';
import { addComparison, type Comparison, compareStates, nothingCompared } from './compare.ts';
import { addCost, type Job, runStages, type StageCost } from './job.ts';
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
  /** The batch; its storage is the checker's again once the batch is checked. */
  draw(batch: number): Promise<WaveState>;
  /**
   * Computes the batch by itself and compares it with `output`, whose storage is the checker's from then on; without `output`, its own
   * result is the one that is judged.
   */
  check(batch: number, output?: WaveState): Promise<Checked>;
}

/** Differences and faults that are listed unless the caller says otherwise. */
export const LIMIT = 20;

export interface CheckOptions extends RunOptions {
  /** Differences and faults to list. */
  readonly limit?: number;
}

/** A batch as it was drawn. */
interface Drawn {
  readonly input: WaveState;
  readonly drawMs: number;
}

/** Waves that are checked at a time: few enough that what one step leaves is in the cache for the next. */
const PART_WAVES = 64;

/** Checks in this thread, batches part by part. */
export class LocalChecker implements Checker {
  readonly pool = new StatePool();
  readonly #parts = new StatePool();
  readonly #job: Job;
  readonly #engine: Engine | undefined;
  readonly #options: CheckOptions;
  /** What is not checked yet. */
  readonly #drawn = new Map<number, Drawn>();

  constructor(job: Job, engine: Engine | undefined, options: CheckOptions) {
    this.#job = job;
    this.#engine = engine;
    this.#options = options;
  }

  async draw(batch: number): Promise<WaveState> {
    const [input, drawMs] = timed(() => this.#job.draw(batch, this.pool));
    this.#drawn.set(batch, { input, drawMs });
    return input;
  }

  async check(batch: number, output?: WaveState): Promise<Checked> {
    if (!this.#drawn.has(batch)) await this.draw(batch);
    const { input, drawMs } = this.#drawn.get(batch)!;
    this.#drawn.delete(batch);
    // The engine under test must have its next work before this one takes the thread.
    await new Promise((resolve) => setTimeout(resolve));
    const { shape } = input.layout;
    const each = Math.max(1, Math.floor(PART_WAVES / shape.wavesPerGroup)) * shape.wavesPerGroup;
    let checked = nothingChecked(drawMs);
    for (let first = 0; first < shape.waves; first += each) {
      const of = { ...shape, waves: Math.min(each, shape.waves - first) };
      const part = (whole: WaveState) => this.#parts.take(of).takePart(whole, first);
      const [taken, takeMs] = timed(() => ({ input: part(input), output: output && part(output) }));
      checked = addPart(checked, await this.#checkPart(taken.input, taken.output), takeMs, this.#options.limit);
    }
    for (const state of [input, output]) if (state) this.pool.give(state);
    return checked;
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

const nothingChecked = (drawMs: number): Checked => ({
  waves: 0,
  lanes: 0,
  costs: [],
  faults: [],
  drawMs,
  compareMs: 0,
  countMs: 0,
});

/** `takeMs`: what taking the part from its batch took, which is counted with the comparison. */
function addPart(sum: Checked, part: Omit<Checked, 'drawMs'>, takeMs: number, limit = LIMIT): Checked {
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
    drawMs: sum.drawMs,
    compareMs: sum.compareMs + part.compareMs + takeMs,
    countMs: sum.countMs + part.countMs,
  };
}

/** What `work` gives, and the milliseconds it took. */
function timed<T>(work: () => T): [T, number] {
  const began = performance.now();
  return [work(), performance.now() - began];
}
