/** A worker's side of `checkers.ts`: draws batches and computes them again with the reference engine. */
import { parentPort } from 'node:worker_threads';
import type { RunOptions } from '../engine.ts';
import { FileBatch } from '../gpu/wordsFile.node.ts';
import { ReferenceEngine, type ReferenceForms } from '../reference/engine.ts';
import { LocalChecker } from '../verify/checker.ts';
import { type DemonstrationSpec, demonstrationJob } from '../verify/demonstrationJob.ts';
import { serveChecks } from '../verify/remoteChecker.ts';

export interface CheckSetting {
  readonly spec: DemonstrationSpec;
  readonly forms: ReferenceForms;
  readonly options: RunOptions;
}

const port = parentPort!;
serveChecks<CheckSetting>(
  {
    send: (message, transfer) => port.postMessage(message, transfer),
    receive: (take) => port.on('message', take),
  },
  ({ spec, forms, options }) => new LocalChecker(demonstrationJob(spec), new ReferenceEngine({ forms }), options),
  (batch) => new FileBatch(batch),
);
