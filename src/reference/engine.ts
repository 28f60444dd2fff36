/**
 * The CPU reference: an interpreter. The program is prepared once as closures over one set of registers; waves are loaded into them
 * one after the other, the waves of a workgroup in ascending order between barriers.
 */
import { checkRunnable, type Engine, type RunOptions, type RunResult } from '../engine.ts';
import type { Profile } from '../isa/target.ts';
import { findDivisionMacros } from '../program/divisionMacro.ts';
import type { Instruction, Program } from '../program/program.ts';
import { type Layout, type Shape, sameShape } from '../wavefront/layout.ts';
import { FaultCode, WaveState } from '../wavefront/state.ts';
import { fuseDivisions, memoryOf } from './fused.ts';
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

const SAMPLE = 256;

export class ReferenceEngine implements Engine {
  readonly name = 'reference';
  readonly device = 'CPU (JavaScript)';
  readonly #forms: ReferenceForms;
  /** The last of each program: finding its macros and binding its operands takes as long as running a few waves. */
  readonly #prepared = new WeakMap<Program, Prepared>();

  constructor({ forms = 'steps' }: { readonly forms?: ReferenceForms } = {}) {
    this.#forms = forms;
  }

  async run(program: Program, state: WaveState, options: RunOptions = {}): Promise<RunResult> {
    const start = performance.now();
    const { layout } = state;
    checkRunnable(program, layout.shape);
    const batch = withoutVectors(state, options.into);
    const prepared = this.#prepare(program, layout, options);
    let turn = start;
    for (let group = 0; group < layout.groups; group++) {
      prepared.group(state, batch, group);
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    return { state: batch, cost: { totalMs: performance.now() - start } };
  }

  async close(): Promise<void> {}

  #prepare(program: Program, layout: Layout, { profile = 'hardware', maxSteps = MAX_STEPS }: RunOptions): Prepared {
    const setting = { profile, maxSteps, forms: this.#forms };
    const last = this.#prepared.get(program);
    if (last?.serves(layout.shape, setting)) return last;
    const prepared = new Prepared(program, layout, setting);
    this.#prepared.set(program, prepared);
    return prepared;
  }
}

/** What a batch starts with, in new or given storage, but for vector registers: each wave takes these itself. */
function withoutVectors({ layout, words }: WaveState, into: WaveState | undefined): WaveState {
  const batch = into ?? new WaveState(layout.shape);
  const end = layout.vgpr(layout.shape.waves, 0);
  batch.words.set(words.subarray(0, layout.vgprs));
  batch.words.set(words.subarray(end), end);
  return batch;
}

interface Setting {
  readonly profile: Profile;
  readonly maxSteps: number;
  readonly forms: ReferenceForms;
}

/** Where a wave of a workgroup stands while others run. */
interface Place {
  program: readonly Step[];
  next: number;
  steps: number;
  ended: boolean;
}

/** A program, ready to run over batches whose waves are alike, workgroup by workgroup. */
class Prepared {
  readonly #shape: Shape;
  readonly #setting: Setting;
  readonly #wave: Wave;
  readonly #instructions: readonly Instruction[];
  readonly #steps: readonly Step[];
  readonly #fused: readonly Step[];
  readonly #maxSteps: number;
  readonly #places: readonly Place[];
  /** Waves run so far. */
  #waves = 0;

  constructor(program: Program, layout: Layout, setting: Setting) {
    const { target, instructions } = program;
    const { profile, maxSteps, forms } = setting;
    this.#shape = layout.shape;
    this.#setting = setting;
    const fuses = forms === 'fused' && profile === 'hardware' && instructions.length <= maxSteps;
    const macros = fuses ? findDivisionMacros(program, 'hardware') : [];
    const memory = memoryOf(layout, macros.length);
    this.#wave = new Wave(layout, target.hasIeeeBit, memory);
    this.#instructions = instructions;
    this.#steps = instructions.map((instruction) => stepOf(instruction, this.#wave, { target, profile }));
    this.#maxSteps = maxSteps;
    this.#fused = fuseDivisions(macros, this.#steps, this.#wave, memory);
    this.#places = Array.from({ length: layout.shape.wavesPerGroup }, () => ({
      program: this.#steps,
      next: 0,
      steps: 0,
      ended: false,
    }));
  }

  serves(shape: Shape, { profile, maxSteps }: Setting): boolean {
    const setting = this.#setting;
    return (
      sameShape({ ...shape, waves: this.#shape.waves }, this.#shape) &&
      profile === setting.profile &&
      maxSteps === setting.maxSteps
    );
  }

  /** Runs the waves of a workgroup in ascending order up to the next barrier, again and again until all have ended. */
  group(input: WaveState, batch: WaveState, group: number): void {
    const places = this.#places;
    if (this.#shape.ldsWords > 0) this.#wave.lds = batch.lds(group);
    for (const place of places) {
      place.program = this.#waves++ % SAMPLE === 0 ? this.#steps : this.#fused;
      place.next = 0;
      place.steps = 0;
      place.ended = false;
    }
    for (let running = places.length; running > 0; ) {
      for (let i = 0; i < places.length; i++) {
        const place = places[i]!;
        if (place.ended) continue;
        this.#toBarrier(place.steps === 0 ? input : batch, batch, group * places.length + i, place);
        if (place.ended) running--;
      }
    }
  }

  /** Runs one wave from its place to a barrier or its end. @param vectors where its vector registers are */
  #toBarrier(vectors: WaveState, batch: WaveState, index: number, place: Place): void {
    const wave = this.#wave;
    wave.load(vectors, batch, index);
    if (place.steps === 0) wave.stop(0, 0, 0, 0);
    place.ended = this.#execute(place) !== Next.barrier;
    wave.store(batch, index);
  }

  #execute(place: Place): Next {
    for (;;) {
      const step = place.program[place.next];
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
