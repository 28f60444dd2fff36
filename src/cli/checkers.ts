/** Batches drawn and checked by worker threads, each with a reference engine of its own. */
import { Worker } from 'node:worker_threads';
import { EngineError } from '../engine.ts';
import type { Checked, Checker } from '../verify/bulk.ts';
import { WaveState } from '../wavefront/state.ts';
import type { CheckReply, CheckRequest, CheckSetting } from './checkWorker.ts';

interface Waiting {
  readonly done: (reply: CheckReply) => void;
  readonly failed: (error: Error) => void;
}

export class WorkerChecker implements Checker {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
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
    const reply = await this.#ask((id) => ({ kind: 'draw', id, batch }));
    if ('drawn' in reply) return new WaveState(reply.drawn.shape, reply.drawn.words);
    throw new Error('a checker gave no batch');
  }

  /** `output` is given away: it is empty afterwards. */
  async check(batch: number, output?: WaveState): Promise<Checked> {
    const sent = output && { shape: output.layout.shape, words: output.words };
    const reply = await this.#ask(
      (id) => ({ kind: 'check', id, batch, output: sent }),
      sent ? [sent.words.buffer] : [],
    );
    if ('checked' in reply) return reply.checked;
    throw new Error('a checker gave no verdict');
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: (id: number) => CheckRequest, transfer: readonly ArrayBuffer[] = []): Promise<CheckReply> {
    const id = ++this.#lastId;
    const reply = await new Promise<CheckReply>((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#worker.postMessage(request(id), transfer);
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
