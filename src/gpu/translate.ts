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
import { functionsOfMacro, type MacroPlan, planMacros } from './translate.macro.ts';
import { loopPiece, type Piece, type PieceOptions, writePieces } from './translate.pieces.ts';
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
  /** Kernels that run the lanes which another kernel has put on the bail list; by that kernel. In no stage. */
  readonly slow: ReadonlyMap<number, number>;
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
  /** The kernel that then runs the lanes on the bail list. */
  readonly bail?: number;
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
  const kernels: string[] = [];
  const slow = new Map<number, number>();
  const perWave = new Set<number>();
  const table: number[] = [];
  const tableAt = new Map<number, number>();
  const stages: Stage[] = [];
  let knownMode: KnownMode | undefined =
    options.mode === undefined ? undefined : { value: options.mode, text: hex(options.mode), calls: [] };
  let afterFaults = false;
  let { execIsFull = false } = options;

  const context: StepContext = { variant, shape, costs: options.costs, macros: macros.uses };
  const stretches = cutAtBarriers(run, ordered, variant).map((stretch) =>
    findLoops(stretch, context, form, options.maxKernelCost).flatMap(({ instructions, loop }): Part[] =>
      loop ? [loop] : cutAtCost(instructions, variant, macros.uses, { ...options, form }),
    ),
  );
  // A step budget that runs out is a fault of the instruction it stops at; the last kernel reports it.
  const stoppedAt = all[options.maxSteps];
  if (stoppedAt && stretches.length === 0) stretches.push([[]]);
  if (stoppedAt && stretches.at(-1)!.at(-1) instanceof Loop) stretches.at(-1)!.push([]);
  for (const [i, cut] of stretches.entries()) {
    const indices: number[] = [];
    const touches: boolean[] = [];
    for (const [j, part] of cut.entries()) {
      const isLast = i === stretches.length - 1 && j === cut.length - 1;
      const pieceOptions: PieceOptions = {
        start: { layout, afterFaults, execIsFull, ldsForm: options.ldsForm },
        context,
        form,
        bail: options.bail ?? 'list',
        maxKernelCost: options.maxKernelCost,
        stopAt: isLast ? stoppedAt?.pc : undefined,
      };
      const pieces: Piece[] =
        part instanceof Loop ? [loopPiece(part, knownMode, pieceOptions)] : writePieces(part, knownMode, pieceOptions);
      for (const piece of pieces) {
        indices.push(kernels.push(piece.kernel) - 1);
        touches.push(piece.touchesLds);
        if (piece.perWave) perWave.add(indices.at(-1)!);
        if (piece.table) {
          tableAt.set(indices.at(-1)!, table.length);
          for (const word of piece.table) table.push(word);
        }
        if (piece.slow !== undefined) slow.set(indices.at(-1)!, kernels.push(piece.slow) - 1);
        afterFaults ||= piece.touchesLds;
      }
      ({ knownMode, execIsFull } = pieces.at(-1)!);
    }
    const [from, to] = ordered ? [touches.indexOf(true), touches.lastIndexOf(true) + 1] : [-1, 0];
    if (from < 0) stages.push({ kernels: indices, waveByWave: false });
    else
      stages.push(
        { kernels: indices.slice(0, from), waveByWave: false },
        { kernels: indices.slice(from, to), waveByWave: true },
        { kernels: indices.slice(to), waveByWave: false },
      );
  }
  return { kernels, stages, slow, perWave, table, tableAt };
}

/** The dispatches of a plan over a batch, in their order. */
export function dispatchesOf(plan: Plan, { shape, groups }: Layout): Dispatch[] {
  const { waves, wavesPerGroup } = shape;
  const dispatch = (kernel: number, first: number, stride: number, count: number): Dispatch[] => {
    const bail = plan.slow.get(kernel);
    const table = plan.tableAt.get(kernel);
    return Array.from({ length: Math.ceil(count / MAX_WAVES) }, (_, i) => ({
      kernel,
      first: first + i * MAX_WAVES * stride,
      stride,
      waves: Math.min(MAX_WAVES, count - i * MAX_WAVES),
      ...(plan.perWave.has(kernel) && { perWave: true }),
      ...(bail !== undefined && { bail }),
      ...(table !== undefined && { table }),
    }));
  };
  return plan.stages.flatMap(({ kernels, waveByWave }) =>
    waveByWave
      ? Array.from({ length: wavesPerGroup }, (_, first) =>
          kernels.flatMap((kernel) => dispatch(kernel, first, wavesPerGroup, groups)),
        ).flat()
      : kernels.flatMap((kernel) => dispatch(kernel, 0, 1, waves)),
  );
}

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

function cutAtCost(
  instructions: readonly Instruction[],
  variant: Variant,
  macros: MacroPlan['uses'],
  { costs, maxKernelCost, form, mode }: TranslateOptions,
): Instruction[][] {
  const isFast = form === 'fast' && mode !== undefined && isNearestF64(mode);
  const costOf = (instruction: Instruction) => {
    const macro = macros.get(instruction);
    const fast = isFast ? fastFunctionOf(instruction, variant) : undefined;
    const functions = macro ? functionsOfMacro(macro) : fast ? [fast] : functionsOf(instruction, variant);
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
