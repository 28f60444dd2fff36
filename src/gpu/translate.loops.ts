/** Which instructions of a program become loops. */
import type { Instruction } from '../program/program.ts';
import type { Shape } from '../wavefront/layout.ts';
import { type Form, mayLoop, wantsLoop } from './forms.ts';
import { Loop } from './loop.ts';
import type { MacroUse } from './translate.macro.ts';
import { type Step, type StepContext, scalarsOf, stepOf } from './translate.step.ts';

/** Instructions that follow each other, and the loop that does them, if one is to. */
export interface LoopStretch {
  readonly instructions: readonly Instruction[];
  readonly loop?: Loop;
}

/** More iterations than 65,535 some drivers don't run. */
const MAX_STEPS = 4096;

/** Cuts instructions where loops begin and end. */
export function findLoops(
  instructions: readonly Instruction[],
  context: StepContext,
  form: Form,
  maxKernelCost: number,
): LoopStretch[] {
  const stretches: { instructions: Instruction[]; loop?: Loop }[] = [];
  const straight = (more: readonly Instruction[]) => {
    const last = stretches.at(-1);
    if (last && !last.loop) last.instructions.push(...more);
    else if (more.length > 0) stretches.push({ instructions: [...more] });
  };
  const flush = (run: readonly Step[]) => {
    const members = run.map(({ instruction }) => instruction);
    const loop = loopOf(run, context.shape, form, maxKernelCost);
    if (loop) stretches.push({ instructions: members, loop });
    else straight(members);
  };
  let run = new Run(context.shape);
  for (const instruction of instructions) {
    const step = standsAlone(stepOf(instruction, context), context.shape);
    if (!step || !run.takes(step)) {
      flush(run.steps);
      run = new Run(context.shape);
    }
    if (step) run.add(step);
    else straight([instruction]);
  }
  flush(run.steps);
  return stretches;
}

const meets = (words: readonly number[], others: ReadonlySet<number>) => words.some((word) => others.has(word));

/** The step, if it does not read whole what it writes itself. */
function standsAlone(step: Step | undefined, shape: Shape): Step | undefined {
  if (!step) return undefined;
  const { read, written } = scalarsOf(step, shape);
  return meets(read, new Set(written)) ? undefined : step;
}

/** Steps that a lane can do one after the other without the other lanes. */
class Run {
  readonly steps: Step[] = [];
  readonly #shape: Shape;
  readonly #read = new Set<number>();
  readonly #written = new Set<number>();

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** A scalar word that is read whole is not written: it takes all lanes to make it. */
  takes(step: Step): boolean {
    const { read, written } = scalarsOf(step, this.#shape);
    return this.steps.length < MAX_STEPS && !meets(read, this.#written) && !meets(written, this.#read);
  }

  add(step: Step): void {
    const { read, written } = scalarsOf(step, this.#shape);
    this.steps.push(step);
    for (const word of read) this.#read.add(word);
    for (const word of written) this.#written.add(word);
  }
}

function loopOf(steps: readonly Step[], { waveSize }: Shape, form: Form, maxKernelCost: number): Loop | undefined {
  const straight = steps.reduce((sum, { cost }) => sum + cost, 0);
  if (steps.length < 2 || !mayLoop(form, straight, maxKernelCost)) return undefined;
  const loop = new Loop(steps, waveSize, form === 'shared' ? 0 : maxKernelCost);
  const { cost, rows } = loop.schedule;
  const words = wordsMoved(steps);
  const slowdown = (rows.length * cost + WORD * words.loop) / (straight + WORD * words.straight);
  return wantsLoop(form, { straight, compiled: cost, slowdown }, maxKernelCost) ? loop : undefined;
}

/** What a word of a VGPR costs that is loaded or stored, in operations: more than on SwiftShader, less than on lavapipe. */
const WORD = 25;

/** Words of VGPRs that are loaded and stored: by each step, or where all between the first use and the last value is in variables. */
function wordsMoved(steps: readonly Step[]): { readonly loop: number; readonly straight: number } {
  const [loaded, stored] = [new Set<number>(), new Set<number>()];
  let loop = 0;
  for (const { sources, registers } of steps) {
    const read = sources.flatMap(({ words }) => words.flatMap(({ from, at }) => (from === 'vgpr' ? [at] : [])));
    const written = registers.filter((register) => register !== undefined);
    loop += read.length + written.length;
    for (const register of read) if (!stored.has(register)) loaded.add(register);
    for (const register of written) stored.add(register);
  }
  return { loop, straight: loaded.size + stored.size };
}

/** The same for kernels without short forms. */
export function completed(context: StepContext): StepContext {
  const complete = (use: MacroUse): MacroUse => ({ ...use, form: 'shared' });
  return { ...context, macros: new Map([...context.macros].map(([at, use]) => [at, complete(use)])) };
}
