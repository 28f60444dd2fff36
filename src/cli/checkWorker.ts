/** A worker's side of `checkers.ts`: draws batches and computes them again with the reference engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { EngineError, type RunOptions } from '../engine.ts';
import { ReferenceEngine, type ReferenceForms } from '../reference/engine.ts';
import { type Checked, LocalChecker } from '../verify/bulk.ts';
import type { Shape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { type DemonstrationSpec, demonstrationJob } from './demonstrationJob.ts';

export interface CheckSetting {
  readonly spec: DemonstrationSpec;
  readonly forms: ReferenceForms;
  readonly options: RunOptions;
}

/** The words of a batch, whose buffer changes hands. */
export interface Sent {
  readonly shape: Shape;
  readonly words: Uint32Array<ArrayBuffer>;
}

export type CheckRequest =
  | { readonly kind: 'draw'; readonly id: number; readonly batch: number }
  | { readonly kind: 'check'; readonly id: number; readonly batch: number; readonly output: Sent | undefined };

export type CheckReply =
  | { readonly id: number; readonly drawn: Sent }
  | { readonly id: number; readonly checked: Checked }
  | { readonly id: number; readonly kind: EngineError['kind'] | undefined; readonly message: string };

const port = parentPort!;
const { spec, forms, options }: CheckSetting = workerData;
const checker = new LocalChecker(demonstrationJob(spec), new ReferenceEngine({ forms }), options);

async function answer(request: CheckRequest): Promise<CheckReply> {
  const { id, batch } = request;
  try {
    if (request.kind === 'draw') {
      const { layout, words } = await checker.draw(batch);
      return { id, drawn: { shape: layout.shape, words: words.slice() } };
    }
    const { output } = request;
    return { id, checked: await checker.check(batch, output && new WaveState(output.shape, output.words)) };
  } catch (error) {
    const kind = error instanceof EngineError ? error.kind : undefined;
    return { id, kind, message: error instanceof Error ? error.message : String(error) };
  }
}

port.on('message', async (request: CheckRequest) => {
  const reply = await answer(request);
  port.postMessage(reply, 'drawn' in reply ? [reply.drawn.words.buffer] : []);
});
