/** The reference engine in a Web Worker, so that the page stays responsive; a program crosses over as its machine code or text. */
import { type Engine, EngineError, type RunCost, type RunOptions, type RunResult } from '../engine.ts';
import { disassemble } from '../program/disassemble.ts';
import { encode } from '../program/encode.ts';
import type { Program } from '../program/program.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { WaveState } from '../wavefront/state.ts';

export interface Request {
  readonly id: number;
  readonly target: string;
  readonly waveSize: WaveSize;
  /** Machine code, or the text of a program that has none (X1K). */
  readonly code: Uint8Array<ArrayBuffer> | string;
  readonly shape: Shape;
  readonly words: Uint32Array<ArrayBuffer>;
  readonly options: RunOptions;
}

export type Reply =
  | { readonly id: number; readonly words: Uint32Array<ArrayBuffer>; readonly cost: RunCost }
  | { readonly id: number; readonly kind: EngineError['kind'] | undefined; readonly message: string };

interface Waiting {
  readonly done: (reply: Reply) => void;
  readonly failed: (error: Error) => void;
}

const codeOf = (program: Program) =>
  program.target.generation === 'x1k' ? disassemble(program).join('\n') : encode(program);

export class WorkerReference implements Engine {
  readonly name = 'reference';
  readonly device = 'CPU, one Web Worker';
  private readonly worker = new Worker(new URL('./referenceWorker.ts', import.meta.url), { type: 'module' });
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  constructor() {
    this.worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
      this.waiting.get(data.id)?.done(data);
      this.waiting.delete(data.id);
    });
    this.worker.addEventListener('error', (event) => this.fail(event.message || 'its script does not load'));
  }

  async run(program: Program, state: WaveState, given: RunOptions = {}): Promise<RunResult> {
    const { shape } = state.layout;
    const words = state.words.slice();
    const id = ++this.lastId;
    const { target, waveSize } = program;
    // Callers may hold more in their options than a worker can be sent.
    const { profile, maxSteps } = given;
    const options = { ...(profile && { profile }), ...(maxSteps !== undefined && { maxSteps }) };
    const request: Request = { id, target: target.name, waveSize, code: codeOf(program), shape, words, options };
    const reply = await new Promise<Reply>((done, failed) => {
      this.waiting.set(id, { done, failed });
      this.worker.postMessage(request, [words.buffer]);
    });
    if ('words' in reply) return { state: new WaveState(shape, reply.words), cost: reply.cost };
    throw reply.kind ? new EngineError(reply.kind, reply.message) : new Error(reply.message);
  }

  async close(): Promise<void> {
    this.worker.terminate();
    this.fail('it was closed');
  }

  private fail(why: string): void {
    for (const { failed } of this.waiting.values())
      failed(new EngineError('lost', `the reference worker failed: ${why}`));
    this.waiting.clear();
  }
}
