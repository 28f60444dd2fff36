/** Batches drawn and checked by worker threads, each with a reference engine of its own. */
import { Worker } from 'node:worker_threads';
import { type CheckThread, checkCalls, RemoteChecker } from '../verify/remoteChecker.ts';
import type { CheckSetting } from './checkWorker.ts';

export class WorkerChecker extends RemoteChecker<CheckSetting> {
  constructor(setting: CheckSetting) {
    super(checkCalls(threadOf(new Worker(new URL('./checkWorker.js', import.meta.url)))), setting);
  }
}

const threadOf = (worker: Worker): CheckThread<CheckSetting> => ({
  send: (message, transfer) => worker.postMessage(message, transfer),
  receive: (take) => worker.on('message', take),
  failed: (tell) => {
    worker.on('error', ({ message }) => tell(message));
    worker.on('exit', (code) => tell(`it ended with code ${code}`));
  },
  end: async () => {
    await worker.terminate();
  },
});
