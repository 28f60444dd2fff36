/** Batches drawn and checked by worker threads, each with a reference engine of its own. */
import { Worker } from 'node:worker_threads';
import { EngineError } from '../engine.ts';
import type { Checked, Checker } from '../verify/checker.ts';
import { StatePool } from '../verify/pool.ts';
import { WaveState } from '../wavefront/state.ts';
import type { CheckReply, CheckRequest, CheckSetting, Sent } from './checkWorker.ts';

interface Waiting {
  readonly done: (reply: CheckReply) => void;
  readonly failed: (error: Error) => void;
}

/** Storage of batches goes to the worker and comes back with its answer. */
export class WorkerChecker implements Checker {
  readonly pool = new StatePool();
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  /** Batches that are not checked yet. */
  readonly #drawn = new Map<number, WaveState>();
  #lastId = 0;

  constructor(setting: CheckSetting) {
    this.#worker = new Worker(new URL('./checkWorker.js', import.meta.url), { workerData: setting });
    this.#worker.on('message', (reply: CheckReply) => {
      this.#waiting.get(reply.id)?.done(reply);
      this.#waiting.delete(reply.id);
    });
    this.#worker.on('error', (error) => this.#fail(error.message));
    this.#worker.on('exit', (code) => this.#fail(`it ended with code ${code}`));
  }

  async draw(batch: number): Promise<WaveState> {
    const words = this.pool.spare()?.words;
    const reply = await this.#ask((id) => ({ kind: 'draw', id, batch, ...(words && { words }) }), words);
    if (!('drawn' in reply)) throw new Error('a checker gave no batch');
    const drawn = received(reply.drawn);
    this.#drawn.set(batch, drawn);
    return drawn;
  }

  async check(batch: number, output?: WaveState): Promise<Checked> {
    const drawn = this.#drawn.get(batch);
    if (drawn) this.pool.give(drawn);
    this.#drawn.delete(batch);
    const sent = output && { shape: output.layout.shape, words: output.words };
    const reply = await this.#ask((id) => ({ kind: 'check', id, batch, ...(sent && { output: sent }) }), sent?.words);
    if (!('checked' in reply)) throw new Error('a checker gave no verdict');
    if (reply.output) this.pool.give(received(reply.output));
    return reply.checked;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: (id: number) => CheckRequest, given?: Uint32Array<ArrayBuffer>): Promise<CheckReply> {
    const id = ++this.#lastId;
    const reply = await new Promise<CheckReply>((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#worker.postMessage(request(id), given ? [given.buffer] : []);
    });
    if (!('message' in reply)) return reply;
    throw reply.kind ? new EngineError(reply.kind, reply.message) : new Error(reply.message);
  }

  #fail(why: string): void {
    for (const { failed } of this.#waiting.values())
      failed(new EngineError('lost', `a worker that checks failed: ${why}`));
    this.#waiting.clear();
  }
}

const received = ({ shape, words }: Sent) => new WaveState(shape, words);
