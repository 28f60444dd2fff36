/** Batches drawn and checked by Web Workers, each with a reference engine of its own. */
import type { RunOptions } from '../engine.ts';
import type { DemonstrationSpec } from '../verify/demonstrationJob.ts';
import { RemoteChecker } from '../verify/remoteChecker.ts';
import { threadOf } from './webWorker.ts';

export interface CheckSetting {
  readonly spec: DemonstrationSpec;
  readonly options: RunOptions;
}

/** Each holds a few batches; with more of them, the device would be what all wait for. */
const MAX_WORKERS = 8;

/** As many as there are cores, and no more than batches. */
export function openCheckers(setting: CheckSetting, batches: number): RemoteChecker<CheckSetting>[] {
  const length = Math.min(navigator.hardwareConcurrency, MAX_WORKERS, batches);
  return Array.from({ length }, () => {
    const worker = new Worker(new URL('./checkWorker.ts', import.meta.url), { type: 'module' });
    return new RemoteChecker<CheckSetting>(threadOf(worker), setting);
  });
}
