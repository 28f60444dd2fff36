/** Instructions as kernels that follow each other, in the forms that `forms.ts` describes. */
import type { Instruction } from '../program/program.ts';
import { isNearestF64 } from '../wavefront/mode.ts';
import { LIST_STEPS } from './bailList.ts';
import { type Form, fastFunctionOf } from './forms.ts';
import type { Granularity, KernelStart } from './kernel.ts';
import { ldsKernel } from './ldsKernel.ts';
import type { Loop } from './loop.ts';
import { type LoopBail, loopKernel } from './loopKernel.ts';
import { translateInstruction } from './translate.instruction.ts';
import { completed, findLoops } from './translate.loops.ts';
import { macroInstruction, mayBail } from './translate.macro.ts';
import type { StepContext } from './translate.step.ts';
import { type KnownMode, type Tier, WaveText } from './waveText.ts';

export interface PieceOptions {
  readonly start: KernelStart;
  readonly context: StepContext;
  readonly form: Form;
  readonly maxKernelCost: number;
  /** The wave has used up its step budget before the instruction at this byte offset, behind all others here. */
  readonly stopAt: number | undefined;
}

export interface Piece {
  readonly instructions: readonly Instruction[];
  readonly touchesLds: boolean;
  readonly kernel: string;
  /** An invocation runs a wave. */
  readonly perWave?: boolean;
  /** The kernel that runs the lanes which the first one has put on the bail list, and the steps that it has at most for each. */
  readonly slow?: { readonly kernel: string; readonly steps: number };
  /** What these two are told about their loop. */
  readonly table?: readonly number[];
  readonly knownMode: KnownMode | undefined;
  /** All lanes are active behind it. */
  readonly execIsFull: boolean;
}

/** Writes instructions as one kernel, or as several where only parts of them can be fast. */
export function writePieces(
  instructions: readonly Instruction[],
  mode: KnownMode | undefined,
  options: PieceOptions,
): Piece[] {
  const pieces: Piece[] = [];
  let rest = instructions;
  let knownMode = mode;
  let { start } = options;
  do {
    const writer = new PieceWriter(rest, knownMode, { ...options, start });
    const piece = writer.perWave() ?? writer.fast() ?? writer.complete();
    start = { ...start, afterFaults: start.afterFaults || piece.touchesLds, execIsFull: piece.execIsFull };
    pieces.push(piece);
    rest = rest.slice(piece.instructions.length);
    knownMode = piece.knownMode;
  } while (rest.length > 0);
  return pieces;
}

/** Writes a loop, with the kernel of bailed lanes beside it: parts of it that differ in their tables, where these lanes can't have it whole. */
export function loopPieces(loop: Loop, knownMode: KnownMode | undefined, options: PieceOptions): Piece[] {
  const { start, context } = options;
  const instructions = loop.steps.map(({ instruction }) => instruction);
  const bail = loop.steps.some(({ mayBail }) => mayBail) ? context.bail : 'never';
  const write = (runs: Granularity, how: LoopBail) =>
    loopKernel(loop, { ...start, runs }, context.variant, knownMode, how);
  const kernel = write('waves', bail);
  const common = { instructions, touchesLds: false, kernel, knownMode, execIsFull: start.execIsFull === true };
  if (bail !== 'list') return [{ ...common, table: loop.table }];
  const slow = write('list', 'never');
  return loop.parts(LIST_STEPS).map(({ table, steps }) => ({ ...common, slow: { kernel: slow, steps }, table }));
}

/** Writes the first of a row of instructions. */
class PieceWriter {
  readonly #rest: readonly Instruction[];
  readonly #knownMode: KnownMode | undefined;
  readonly #options: PieceOptions;
  readonly #tier: Tier;
  /** Which instructions have a form that may bail. */
  readonly #haveFast: readonly boolean[];

  constructor(rest: readonly Instruction[], knownMode: KnownMode | undefined, options: PieceOptions) {
    this.#rest = rest;
    this.#knownMode = knownMode;
    this.#options = options;
    this.#tier = options.form === 'fast' ? 'fast' : 'fused';
    this.#haveFast = rest.map((instruction) => {
      const macro = options.context.macros.get(instruction);
      if (macro) return mayBail(macro);
      return this.#tier === 'fast' && fastFunctionOf(instruction, options.context.variant) !== undefined;
    });
  }

  /** The LDS instructions that come first, if an invocation is to run a wave of them. */
  perWave(): Piece | undefined {
    const { start, context, stopAt } = this.#options;
    const count = this.#upToLds(false);
    if (start.ldsForm !== 'waves' || count === 0) return undefined;
    const instructions = this.#rest.slice(0, count);
    const knownMode = this.#knownMode;
    const stop = count === this.#rest.length ? stopAt : undefined;
    const kernel = ldsKernel(instructions, start, context.variant, knownMode, stop);
    return { instructions, touchesLds: true, kernel, perWave: true, knownMode, execIsFull: start.execIsFull === true };
  }

  /** How many instructions come before the first that is (or is not) of LDS. */
  #upToLds(isLds: boolean): number {
    const { variant } = this.#options.context;
    const at = this.#rest.findIndex(({ def }) => (def.semantics(variant).unit === 'lds') === isLds);
    return at < 0 ? this.#rest.length : at;
  }

  /** As many instructions as can be fast, if the first fast one is among them. */
  fast(): Piece | undefined {
    const first = this.#haveFast.indexOf(true);
    const count = first < 0 ? 0 : this.#repeatable();
    if (count <= first) return undefined;
    const instructions = this.#rest.slice(0, count);
    const wave = this.#write(instructions, this.#tier, 'waves');
    if (!wave.mayBail) return undefined;
    this.#stop(wave, count);
    const { knownMode, execIsFull } = wave;
    const { bail } = this.#options.context;
    const slow = this.#write(instructions, 'complete', bail);
    slow.finishLane();
    const kernel = wave.finishFast(slow);
    const common = { instructions, touchesLds: false, kernel, knownMode, execIsFull };
    if (bail === 'branch') return common;
    const straight = () => ({ slow: { kernel: slow.kernel.finish(), steps: instructions.length } });
    return { ...common, ...(this.#loopOverList(instructions) ?? straight()) };
  }

  /** The complete form over the bail list as a loop, where that is shorter. It reads what the straight one reads. */
  #loopOverList(instructions: readonly Instruction[]): Pick<Piece, 'slow' | 'table'> | undefined {
    const { start, context, maxKernelCost } = this.#options;
    const [only, ...others] = findLoops(instructions, completed(context), 'shared', maxKernelCost);
    if (!only?.loop || others.length > 0) return undefined;
    const { loop } = only;
    const kernel = loopKernel(loop, { ...start, runs: 'list' }, context.variant, this.#knownMode, 'never', 'straight');
    return { slow: { kernel, steps: instructions.length }, table: loop.table };
  }

  /** Instructions up to where a fast piece may begin. */
  complete(): Piece {
    const next = this.#haveFast.indexOf(true, 1);
    const mayBeFast = this.#knownMode !== undefined && isNearestF64(this.#knownMode.value);
    const end = this.#options.start.ldsForm === 'waves' ? this.#upToLds(true) : this.#rest.length;
    const count = next < 0 || !mayBeFast ? end : Math.min(next, end);
    const instructions = this.#rest.slice(0, count);
    const wave = this.#write(instructions, 'complete', 'waves');
    this.#stop(wave, count);
    const { variant } = this.#options.context;
    const touchesLds = instructions.some(({ def }) => def.semantics(variant).unit === 'lds');
    const { knownMode, execIsFull } = wave;
    return { instructions, touchesLds, kernel: wave.finish(), knownMode, execIsFull };
  }

  /** The largest number of instructions, or nearly so, that lanes can run again by themselves. */
  #repeatable(): number {
    const isRepeatable = (count: number) => this.#write(this.#rest.slice(0, count), this.#tier, 'waves').isRepeatable;
    let [good, bad] = [0, this.#rest.length + 1];
    for (let count = this.#rest.length; good + 1 < bad; count = (good + bad) >> 1)
      if (isRepeatable(count)) good = count;
      else bad = count;
    return good;
  }

  #write(instructions: readonly Instruction[], tier: Tier, runs: Granularity): WaveText {
    const { start, context } = this.#options;
    const wave = new WaveText({ ...start, runs }, context.variant, this.#knownMode, tier);
    for (const instruction of instructions) {
      const macro = context.macros.get(instruction);
      if (macro) macroInstruction(wave, macro);
      else translateInstruction(wave, instruction);
    }
    return wave;
  }

  #stop(wave: WaveText, count: number): void {
    const { stopAt } = this.#options;
    if (stopAt !== undefined && count === this.#rest.length) wave.stop(stopAt);
  }
}
