/** The reference engine in a Web Worker, so that the page stays responsive; a program crosses over as its machine code or text. */
import type { Engine, RunCost, RunOptions, RunResult } from '../engine.ts';
import { disassemble } from '../program/disassemble.ts';
import { encode } from '../program/encode.ts';
import type { Program } from '../program/program.ts';
import { Calls } from '../verify/calls.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { WaveState } from '../wavefront/state.ts';
import { threadOf } from './webWorker.ts';

export interface Run {
  readonly target: string;
  readonly waveSize: WaveSize;
  /** Machine code, or the text of a program that has none (X1K). */
  readonly code: Uint8Array<ArrayBuffer> | string;
  readonly shape: Shape;
  readonly words: Uint32Array<ArrayBuffer>;
  readonly options: RunOptions;
}

export interface Ran {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly cost: RunCost;
}

const codeOf = (program: Program) =>
  program.target.generation === 'x1k' ? disassemble(program).join('\n') : encode(program);

export class WorkerReference implements Engine {
  readonly name = 'reference';
  readonly device = 'CPU, one Web Worker';
  readonly #calls = new Calls<Run, Ran>(
    threadOf(new Worker(new URL('./referenceWorker.ts', import.meta.url), { type: 'module' })),
    'the reference worker',
  );

  async run(program: Program, state: WaveState, { profile, maxSteps }: RunOptions = {}): Promise<RunResult> {
    const { shape } = state.layout;
    const { target, waveSize } = program;
    const words = state.words.slice();
    // Callers may hold more in their options than a worker can be sent.
    const options = { ...(profile && { profile }), ...(maxSteps !== undefined && { maxSteps }) };
    const ran = await this.#calls.ask(
      { target: target.name, waveSize, code: codeOf(program), shape, words, options },
      words,
    );
    return { state: new WaveState(shape, ran.words), cost: ran.cost };
  }

  close(): Promise<void> {
    return this.#calls.close();
  }
}
