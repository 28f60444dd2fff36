/**
 * Program to kernels. A kernel runs a stretch of instructions for one wave a workgroup; between kernels everything lies in the
 * state buffer, so a program may be cut anywhere. It is cut where a kernel would cost a driver too much to compile, and at
 * barriers of workgroups of several waves: the dispatches that follow each other then are what puts waves in order.
 */
import { checkRunnable } from '../engine.ts';
import type { Variant } from '../isa/target.ts';
import type { Instruction, Program } from '../program/program.ts';
import type { Layout } from '../wavefront/layout.ts';
import { isNearestF64 } from '../wavefront/mode.ts';
import { type Bail, type Form, fastFunctionOf, formFor } from './forms.ts';
import { hex, type LdsForm, MAX_WAVES } from './kernel.ts';
import { Loop } from './loop.ts';
import { functionsOf } from './translate.instruction.ts';
import { findLoops } from './translate.loops.ts';
import { functionsOfMacro, planMacros } from './translate.macro.ts';
import { loopPieces, type Piece, type PieceOptions, writePieces } from './translate.pieces.ts';
import type { StepContext } from './translate.step.ts';
import type { KnownMode } from './waveText.ts';

/** Kernels that follow each other. */
export interface Stage {
  /** Indices into `Plan.kernels`. */
  readonly kernels: readonly number[];
  /** The waves of a workgroup go through these kernels one after the other, since they share LDS. */
  readonly waveByWave: boolean;
}

export interface Plan {
  /** Modules that import from `package::isa`; each has an entry point `main`. */
  readonly kernels: readonly string[];
  readonly stages: readonly Stage[];
  /** Kernels that run the lanes which another kernel has put on the bail list, by that kernel, in no stage; the steps of a lane. */
  readonly slow: ReadonlyMap<number, { readonly kernel: number; readonly steps: number }>;
  /** Kernels of which an invocation runs a wave. */
  readonly perWave: ReadonlySet<number>;
  /** The tables of loops, one behind the other, and by kernel where its own begins. */
  readonly table: readonly number[];
  readonly tableAt: ReadonlyMap<number, number>;
}

export interface TranslateOptions {
  /** MODE that all waves start with, if they do. */
  readonly mode: number | undefined;
  /** All waves start with all lanes active; default false. */
  readonly execIsFull?: boolean | undefined;
  readonly maxSteps: number;
  /** Operations that a function of `shaders/isa` brings into a kernel. */
  readonly costs: ReadonlyMap<string, number>;
  /** Operations that a kernel may have, unless a single instruction has more. */
  readonly maxKernelCost: number;
  /** Default `owners`. */
  readonly ldsForm?: LdsForm | undefined;
  /** Default `generic`. */
  readonly form?: Form | undefined;
  /** Default `list`. */
  readonly bail?: Bail | undefined;
}

/** One dispatch: `waves` waves from `first` on, `stride` apart. */
export interface Dispatch {
  readonly kernel: number;
  readonly first: number;
  readonly stride: number;
  readonly waves: number;
  /** An invocation runs a wave. */
  readonly perWave?: true;
  /** The kernel that then runs the lanes on the bail list, and the steps that it has for each. */
  readonly bail?: { readonly kernel: number; readonly steps: number };
  /** Where the table begins that both have. */
  readonly table?: number;
}

/** The instructions that a wave executes, from the first to the one that ends it. */
export function executed(program: Program, variant: Variant): readonly Instruction[] {
  const end = program.instructions.findIndex(({ def }) => {
    const semantics = def.semantics(variant);
    return semantics.unit === 'control' && semantics.effect === 'end';
  });
  return end < 0 ? program.instructions : program.instructions.slice(0, end + 1);
}

/** @throws EngineError if a wave of the batch lacks registers that the program names, or the program needs what no engine has. */
export function translate(program: Program, layout: Layout, variant: Variant, options: TranslateOptions): Plan {
  const { shape } = layout;
  checkRunnable(program, shape);
  const all = executed(program, variant);
  const form = formFor(options.form ?? 'generic', variant);
  const stopsEarly = all.length > options.maxSteps;
  const macros = planMacros(program, variant, stopsEarly ? 'generic' : form, options.mode);
  const run = all.slice(0, options.maxSteps).filter((instruction) => !macros.dropped.has(instruction));
  const ordered = shape.wavesPerGroup > 1 && run.some((instruction) => unitOf(instruction, variant) === 'lds');
  const context = { variant, shape, costs: options.costs, macros: macros.uses, bail: options.bail ?? 'list' };
  const stretches = cutAtBarriers(run, ordered, variant).map((stretch) => cutUp(stretch, context, form, options));
  // A step budget that runs out is a fault of the instruction it stops at; the last kernel that isn't a loop reports it.
  const stoppedAt = all[options.maxSteps];
  if (stoppedAt && stretches.length === 0) stretches.push([]);
  const last = stretches.at(-1)?.at(-1);
  if (stoppedAt && (last === undefined || last instanceof Loop)) stretches.at(-1)!.push([]);
  const writer = new PartWriter(layout, context, form, options);
  const lastPart = stretches.at(-1)?.at(-1);
  const pieces = stretches.map((parts) =>
    parts.flatMap((part) => writer.write(part, part === lastPart ? stoppedAt?.pc : undefined)),
  );
  return planOf(pieces, ordered);
}

/** Writes parts of a program, each knowing what those before it have left. */
class PartWriter {
  readonly #layout: Layout;
  readonly #context: StepContext;
  readonly #form: Form;
  readonly #options: TranslateOptions;
  #knownMode: KnownMode | undefined;
  #execIsFull: boolean;
  #afterFaults = false;

  constructor(layout: Layout, context: StepContext, form: Form, options: TranslateOptions) {
    const { mode, execIsFull = false } = options;
    this.#layout = layout;
    this.#context = context;
    this.#form = form;
    this.#options = options;
    this.#knownMode = mode === undefined ? undefined : { value: mode, text: hex(mode), calls: [] };
    this.#execIsFull = execIsFull;
  }

  write(part: Part, stopAt: number | undefined): Piece[] {
    const { ldsForm, maxKernelCost } = this.#options;
    const options: PieceOptions = {
      start: { layout: this.#layout, afterFaults: this.#afterFaults, execIsFull: this.#execIsFull, ldsForm },
      context: this.#context,
      form: this.#form,
      maxKernelCost,
      stopAt,
    };
    const pieces =
      part instanceof Loop ? loopPieces(part, this.#knownMode, options) : writePieces(part, this.#knownMode, options);
    const last = pieces.at(-1)!;
    this.#knownMode = last.knownMode;
    this.#execIsFull = last.execIsFull;
    this.#afterFaults ||= pieces.some(({ touchesLds }) => touchesLds);
    return pieces;
  }
}

/** Puts the pieces of stretches between barriers together. `ordered`: waves of a workgroup take turns where LDS is touched. */
function planOf(stretches: readonly (readonly Piece[])[], ordered: boolean): Plan {
  const kernels: string[] = [];
  const slow = new Map<number, NonNullable<Dispatch['bail']>>();
  const perWave = new Set<number>();
  const table: number[] = [];
  const tableAt = new Map<number, number>();
  const add = (piece: Piece): number => {
    const index = kernels.push(piece.kernel) - 1;
    if (piece.perWave) perWave.add(index);
    if (piece.slow) slow.set(index, { ...piece.slow, kernel: kernels.push(piece.slow.kernel) - 1 });
    if (piece.table) {
      tableAt.set(index, table.length);
      for (const word of piece.table) table.push(word);
    }
    return index;
  };
  const stages = stretches.flatMap((pieces): Stage[] => {
    const indices = pieces.map(add);
    const touches = pieces.map(({ touchesLds }) => touchesLds);
    const [from, to] = ordered ? [touches.indexOf(true), touches.lastIndexOf(true) + 1] : [-1, 0];
    if (from < 0) return [{ kernels: indices, waveByWave: false }];
    return [
      { kernels: indices.slice(0, from), waveByWave: false },
      { kernels: indices.slice(from, to), waveByWave: true },
      { kernels: indices.slice(to), waveByWave: false },
    ];
  });
  return { kernels, stages, slow, perWave, table, tableAt };
}

/** The dispatches of a plan over a batch, in their order. */
export function dispatchesOf(plan: Plan, { shape, groups }: Layout): Dispatch[] {
  const { waves, wavesPerGroup } = shape;
  const dispatch = (kernel: number, first: number, stride: number, count: number): Dispatch[] => {
    const bail = plan.slow.get(kernel);
    const table = plan.tableAt.get(kernel);
    return cutDispatch({
      kernel,
      first,
      stride,
      waves: count,
      ...(plan.perWave.has(kernel) && { perWave: true }),
      ...(bail !== undefined && { bail }),
      ...(table !== undefined && { table }),
    });
  };
  return plan.stages.flatMap(({ kernels, waveByWave }) =>
    waveByWave
      ? Array.from({ length: wavesPerGroup }, (_, first) =>
          kernels.flatMap((kernel) => dispatch(kernel, first, wavesPerGroup, groups)),
        ).flat()
      : kernels.flatMap((kernel) => dispatch(kernel, 0, 1, waves)),
  );
}

/** As several of as many waves as one may have. */
export const cutDispatch = (whole: Dispatch): Dispatch[] =>
  Array.from({ length: Math.ceil(whole.waves / MAX_WAVES) }, (_, i) => ({
    ...whole,
    first: whole.first + i * MAX_WAVES * whole.stride,
    waves: Math.min(MAX_WAVES, whole.waves - i * MAX_WAVES),
  }));

/** What becomes a kernel, or several where only parts of it can be fast. */
type Part = Loop | readonly Instruction[];

const unitOf = ({ def }: Instruction, variant: Variant) => def.semantics(variant).unit;

function cutAtBarriers(instructions: readonly Instruction[], ordered: boolean, variant: Variant): Instruction[][] {
  const stretches: Instruction[][] = [];
  let open = false;
  for (const instruction of instructions) {
    const semantics = instruction.def.semantics(variant);
    if (semantics.unit === 'control') {
      if (ordered && semantics.effect === 'barrier') open = false;
      continue;
    }
    if (!open) stretches.push([]);
    open = true;
    stretches.at(-1)!.push(instruction);
  }
  return stretches;
}

/** Cuts a stretch where loops begin and end, and the rest at what a kernel may cost. */
function cutUp(stretch: readonly Instruction[], context: StepContext, form: Form, options: TranslateOptions): Part[] {
  return findLoops(stretch, context, form, options.maxKernelCost).flatMap(({ instructions, loop }): Part[] =>
    loop ? [loop] : cutAtCost(instructions, context, form, options),
  );
}

function cutAtCost(
  instructions: readonly Instruction[],
  { variant, costs, macros, bail }: StepContext,
  form: Form,
  { maxKernelCost, mode }: TranslateOptions,
): Instruction[][] {
  const isFast = form === 'fast' && mode !== undefined && isNearestF64(mode);
  const costOf = (instruction: Instruction) => {
    const macro = macros.get(instruction);
    const fast = isFast ? fastFunctionOf(instruction, variant) : undefined;
    const functions = macro ? functionsOfMacro(macro, bail) : fast ? [fast] : functionsOf(instruction, variant);
    return functions.reduce((sum, { name }) => sum + (costs.get(name) ?? 0), 0);
  };
  const pieces: Instruction[][] = [];
  let total = Number.POSITIVE_INFINITY;
  for (const instruction of instructions) {
    const cost = costOf(instruction);
    if (total + cost > maxKernelCost) {
      pieces.push([]);
      total = 0;
    }
    pieces.at(-1)!.push(instruction);
    total += cost;
  }
  return pieces;
}
