/**
 * The CPU reference: an interpreter. The program is prepared once as closures over one set of registers; waves are loaded into them
 * one after the other, the waves of a workgroup in ascending order between barriers.
 */
import { checkRunnable, type Engine, type RunOptions, type RunResult } from '../engine.ts';
import type { Instruction, Program } from '../program/program.ts';
import { FaultCode, type WaveState } from '../wavefront/state.ts';
import { fuseDivisions } from './fused.ts';
import { stepOf } from './steps.ts';
import { Next, type Step, Wave } from './wave.ts';

const MAX_STEPS = 1_000_000;

/** Milliseconds of work between two turns of the event loop. */
const TURN_MS = 50;

const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/**
 * `steps`: every instruction by itself. `fused`: division macros at once, many times faster; every `SAMPLE`-th wave by its
 * instructions even so, so that whoever compares with another engine compares with both.
 */
export type ReferenceForms = 'steps' | 'fused';

const SAMPLE = 64;

export class ReferenceEngine implements Engine {
  readonly name = 'reference';
  readonly device = 'CPU (JavaScript)';
  readonly #forms: ReferenceForms;

  constructor({ forms = 'steps' }: { readonly forms?: ReferenceForms } = {}) {
    this.#forms = forms;
  }

  async run(program: Program, state: WaveState, options: RunOptions = {}): Promise<RunResult> {
    const start = performance.now();
    checkRunnable(program, state.layout.shape);
    const batch = copyOf(state, options.into);
    const run = new Run(program, batch, options, this.#forms);
    let turn = performance.now();
    for (let group = 0; group < batch.layout.groups; group++) {
      run.group(group);
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    return { state: batch, cost: { totalMs: performance.now() - start } };
  }

  async close(): Promise<void> {}
}

function copyOf(state: WaveState, into: WaveState | undefined): WaveState {
  if (into === undefined) return state.clone();
  into.words.set(state.words);
  return into;
}

/** Where a wave of a workgroup stands while others run. */
interface Place {
  next: number;
  steps: number;
  ended: boolean;
}

/** One program over one batch, workgroup by workgroup. */
class Run {
  readonly #batch: WaveState;
  readonly #wave: Wave;
  readonly #instructions: readonly Instruction[];
  readonly #steps: readonly Step[];
  readonly #fused: readonly Step[];
  readonly #maxSteps: number;
  readonly #places: readonly Place[];

  constructor(
    program: Program,
    batch: WaveState,
    { profile = 'hardware', maxSteps = MAX_STEPS }: RunOptions,
    forms: ReferenceForms,
  ) {
    const { target, instructions } = program;
    this.#batch = batch;
    this.#wave = new Wave(batch.layout, target.hasIeeeBit);
    this.#instructions = instructions;
    this.#steps = instructions.map((instruction) => stepOf(instruction, this.#wave, { target, profile }));
    this.#maxSteps = maxSteps;
    const fuses = forms === 'fused' && profile === 'hardware' && instructions.length <= maxSteps;
    this.#fused = fuses ? fuseDivisions(program, this.#steps, this.#wave) : this.#steps;
    this.#places = Array.from({ length: batch.layout.shape.wavesPerGroup }, () => ({
      next: 0,
      steps: 0,
      ended: false,
    }));
  }

  /** Runs the waves of a workgroup in ascending order up to the next barrier, again and again until all have ended. */
  group(group: number): void {
    const places = this.#places;
    this.#wave.lds = this.#batch.lds(group);
    for (const place of places) Object.assign(place, { next: 0, steps: 0, ended: false });
    for (let running = places.length; running > 0; ) {
      for (let i = 0; i < places.length; i++) {
        const place = places[i]!;
        if (place.ended) continue;
        this.#toBarrier(group * places.length + i, place);
        if (place.ended) running--;
      }
    }
  }

  /** Runs one wave from its place to a barrier or its end. */
  #toBarrier(index: number, place: Place): void {
    const wave = this.#wave;
    wave.load(this.#batch, index);
    if (place.steps === 0) wave.stop(0, 0, 0, 0);
    const steps = index % SAMPLE === 0 ? this.#steps : this.#fused;
    place.ended = this.#execute(place, steps) !== Next.barrier;
    wave.store(this.#batch, index);
  }

  #execute(place: Place, steps: readonly Step[]): Next {
    for (;;) {
      const step = steps[place.next];
      if (step === undefined) return Next.end;
      if (place.steps === this.#maxSteps) {
        this.#wave.stop(FaultCode.stepBudget, this.#instructions[place.next]!.pc, 0, 0);
        return Next.fault;
      }
      const next = step();
      place.steps++;
      place.next++;
      if (next === Next.instruction) continue;
      if (next === Next.barrier && this.#places.length === 1) continue;
      return next;
    }
  }
}
