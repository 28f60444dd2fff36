/** Batches drawn and checked by Web Workers, each with a reference engine of its own. */
import type { RunOptions } from '../engine.ts';
import type { DemonstrationSpec } from '../verify/demonstrationJob.ts';
import { type CheckCalls, checkCalls, RemoteChecker } from '../verify/remoteChecker.ts';
import { threadOf } from './webWorker.ts';

export interface CheckSetting {
  readonly spec: DemonstrationSpec;
  readonly options: RunOptions;
}

/** Bounds the memory, since each holds a few batches. */
const MAX_WORKERS = 8;

/** The workers, kept from job to job: the first batches of a new one are slow, until the browser has compiled its script well. */
export class CheckWorkers {
  readonly #workers: CheckCalls<CheckSetting>[] = [];

  /** Checkers for a job: as many as there are cores, and no more than batches. */
  checkers(setting: CheckSetting, batches: number): RemoteChecker<CheckSetting>[] {
    const count = Math.min(navigator.hardwareConcurrency, MAX_WORKERS, batches);
    while (this.#workers.length < count) {
      const worker = new Worker(new URL('./checkWorker.ts', import.meta.url), { type: 'module' });
      this.#workers.push(checkCalls(threadOf(worker)));
    }
    return this.#workers.slice(0, count).map((calls) => new RemoteChecker(calls, setting));
  }

  /** Ends the workers, with what they still had to do; the next job gets new ones. */
  async end(): Promise<void> {
    for (const calls of this.#workers.splice(0)) await calls.close();
  }
}
