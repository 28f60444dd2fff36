/** A worker's side of `checkers.ts`: draws batches and computes them again with the reference engine. */
import { parentPort, workerData } from 'node:worker_threads';
import { EngineError, type RunOptions } from '../engine.ts';
import { ReferenceEngine, type ReferenceForms } from '../reference/engine.ts';
import { type Checked, LocalChecker } from '../verify/checker.ts';
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

/** `words` is storage to draw into, `output` what the engine under test made of a batch. */
export type CheckRequest =
  | { readonly kind: 'draw'; readonly id: number; readonly batch: number; readonly words?: Uint32Array<ArrayBuffer> }
  | { readonly kind: 'check'; readonly id: number; readonly batch: number; readonly output?: Sent };

/** `output` is storage for the next batch, whatever is in it. */
export type CheckReply =
  | { readonly id: number; readonly drawn: Sent }
  | { readonly id: number; readonly checked: Checked; readonly output?: Sent }
  | { readonly id: number; readonly kind: EngineError['kind'] | undefined; readonly message: string };

const port = parentPort!;
const { spec, forms, options }: CheckSetting = workerData;
const checker = new LocalChecker(demonstrationJob(spec), new ReferenceEngine({ forms }), options);

async function answer(request: CheckRequest): Promise<CheckReply> {
  const { id, batch } = request;
  try {
    return request.kind === 'draw'
      ? { id, drawn: await draw(batch, request.words) }
      : { id, ...(await check(batch, request.output)) };
  } catch (error) {
    const kind = error instanceof EngineError ? error.kind : undefined;
    return { id, kind, message: error instanceof Error ? error.message : String(error) };
  }
}

/** A copy of the batch: the checker computes from its own. */
async function draw(batch: number, into: Uint32Array<ArrayBuffer> | undefined): Promise<Sent> {
  const { layout, words } = await checker.draw(batch);
  const copy = into?.length === words.length ? into : new Uint32Array(words.length);
  copy.set(words);
  return { shape: layout.shape, words: copy };
}

/** As much storage goes back as came. */
async function check(batch: number, output: Sent | undefined): Promise<{ checked: Checked; output?: Sent }> {
  if (!output) return { checked: await checker.check(batch) };
  const { shape, words } = output;
  const checked = await checker.check(batch, new WaveState(shape, words));
  return { checked, output: { shape, words: checker.pool.take(shape).words } };
}

port.on('message', async (request: CheckRequest) => {
  const reply = await answer(request);
  const sent = 'drawn' in reply ? reply.drawn : 'checked' in reply ? reply.output : undefined;
  port.postMessage(reply, sent ? [sent.words.buffer] : []);
});
