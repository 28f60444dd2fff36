/** A worker's side of `checkers.ts`: draws batches and computes them again with the reference engine. */
import { ReferenceEngine } from '../reference/engine.ts';
import { LocalChecker } from '../verify/checker.ts';
import { demonstrationJob } from '../verify/demonstrationJob.ts';
import { serveChecks } from '../verify/remoteChecker.ts';
import type { CheckSetting } from './checkers.ts';
import { pagePort } from './webWorker.ts';

serveChecks<CheckSetting>(
  pagePort(),
  ({ spec, options }) => new LocalChecker(demonstrationJob(spec), new ReferenceEngine(), options),
);
