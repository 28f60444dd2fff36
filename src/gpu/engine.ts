/** The WebGPU engine: translates a program to kernels, keeps them, and has them run over batches. */
import { type Engine, EngineError, type RunCost, type RunOptions, type RunResult } from '../engine.ts';
import type { Variant } from '../isa/target.ts';
import type { Program } from '../program/program.ts';
import { Layout, type Shape, Special } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { functionCosts, linkKernel } from './cost.ts';
import { DeviceRunner } from './deviceRunner.ts';
import { type Bail, type Form, fastFunctionOf } from './forms.ts';
import type { LdsForm } from './kernel.ts';
import type { JobCost, KernelRunner } from './runner.ts';
import { functionsOf } from './translate.instruction.ts';
import { MACRO_FUNCTIONS } from './translate.macro.ts';
import { LOOP_FUNCTIONS } from './translate.step.ts';
import { dispatchesOf, executed, type Plan, type TranslateOptions, translate } from './translate.ts';

export interface WebGpuOptions {
  /** Write into the kernels what all waves start with: the same MODE, all lanes active. Default true. */
  readonly specialize?: boolean;
  /** Operations a kernel may have before it is cut in two; default by adapter. */
  readonly maxKernelCost?: number;
  /** Who runs LDS instructions; default by adapter. Results are the same. */
  readonly ldsForm?: LdsForm;
  /** The form of f64 code; default `auto`, by the rule in `forms.ts`. Results are the same. */
  readonly form?: Form;
  /** Who does the lanes that a fast form can't do; default by adapter. Results are the same. */
  readonly bail?: Bail;
  /** Bytes of a batch that are on the device at once, if the adapter allows as many; default 256 MiB. */
  readonly maxBatchBytes?: number;
}

/** CPU drivers compile slowly, and faster than linearly so: about 0.3 ms an operation. */
const SOFTWARE_KERNEL_COST = 6000;
const HARDWARE_KERNEL_COST = 30000;

const DEFAULT_MAX_STEPS = 1_000_000;
const DEFAULT_BATCH_BYTES = 256 << 20;

/** What is true of all waves of a batch at the start. */
type KnownStart = Required<Pick<TranslateOptions, 'mode' | 'execIsFull'>>;

/** A plan with its kernels linked. */
interface Linked {
  readonly plan: Plan;
  readonly kernels: readonly string[];
}

/** The engine over any runner of kernels. */
export class TranslatingEngine implements Engine {
  readonly name = 'webgpu';
  readonly device: string;
  /** What runs its kernels; other engines may share it. */
  readonly runner: KernelRunner;
  readonly #options: WebGpuOptions;
  readonly #linked = new WeakMap<Program, Map<string, Promise<Linked>>>();

  constructor(runner: KernelRunner, options: WebGpuOptions = {}) {
    this.runner = runner;
    this.#options = options;
    this.device = runner.device;
  }

  async run(program: Program, state: WaveState, options: RunOptions = {}): Promise<RunResult> {
    const started = performance.now();
    const start = withoutFaults(state);
    const costs: JobCost[] = [];
    const parts: Uint32Array<ArrayBuffer>[] = [];
    const shapes = this.#portions(state.layout);
    const into = shapes.length === 1 ? options.into?.words : undefined;
    const known = this.#knownOf(start);
    for (const { shape, firstGroup } of shapes) {
      const layout = new Layout(shape);
      const words = shapes.length === 1 ? start.words : cut(start, layout, firstGroup);
      const { plan, kernels } = await this.#link(program, layout, known, options);
      const dispatches = dispatchesOf(plan, layout);
      if (dispatches.length === 0) parts.push(words.slice());
      else {
        const result = await this.runner.run({ kernels, dispatches, table: plan.table, shape }, words, into);
        costs.push(result.cost);
        parts.push(result.words);
      }
    }
    const result = parts.length === 1 ? new WaveState(state.layout.shape, parts[0]) : join(state.layout, shapes, parts);
    return { state: result, cost: { ...sumOf(costs), totalMs: performance.now() - started } };
  }

  /** The linked WGSL of a program's kernels, for people. */
  async wgsl(program: Program, state: WaveState, options: RunOptions = {}): Promise<readonly string[]> {
    return (await this.#link(program, state.layout, this.#knownOf(state), options)).kernels;
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  /** Kernels depend on the shape of a wave and a workgroup, not on how many there are. */
  #link(program: Program, layout: Layout, known: KnownStart, options: RunOptions): Promise<Linked> {
    const { profile = 'hardware', maxSteps = DEFAULT_MAX_STEPS } = options;
    const { waves: _, ...shape } = layout.shape;
    const key = JSON.stringify([shape, known, profile, maxSteps]);
    const plans = this.#linked.get(program) ?? new Map<string, Promise<Linked>>();
    this.#linked.set(program, plans);
    let linked = plans.get(key);
    if (linked === undefined) {
      linked = this.#translate(program, layout, known, { target: program.target, profile }, maxSteps);
      plans.set(key, linked);
      linked.catch(() => plans.delete(key));
    }
    return linked;
  }

  async #translate(
    program: Program,
    layout: Layout,
    known: KnownStart,
    variant: Variant,
    maxSteps: number,
  ): Promise<Linked> {
    const { form = 'auto', bail = this.runner.software ? 'list' : 'branch' } = this.#options;
    const functions = executed(program, variant).flatMap((instruction) => [
      ...functionsOf(instruction, variant),
      ...[fastFunctionOf(instruction, variant)].filter((f) => f !== undefined),
    ]);
    const fallback = this.runner.software ? SOFTWARE_KERNEL_COST : HARDWARE_KERNEL_COST;
    const plan = translate(program, layout, variant, {
      ...known,
      maxSteps,
      costs: await functionCosts([...functions, ...MACRO_FUNCTIONS, ...LOOP_FUNCTIONS]),
      maxKernelCost: this.#options.maxKernelCost ?? fallback,
      ldsForm: this.#options.ldsForm ?? (this.runner.software ? 'waves' : 'owners'),
      form,
      bail,
    });
    return { plan, kernels: await Promise.all(plan.kernels.map(linkKernel)) };
  }

  #knownOf(state: WaveState): KnownStart {
    const { waves, waveSize } = state.layout.shape;
    if (this.#options.specialize === false || waves === 0) return { mode: undefined, execIsFull: false };
    const first = state.special(0, Special.mode);
    let mode: number | undefined = first;
    let execIsFull = true;
    for (let wave = 0; wave < waves; wave++) {
      if (state.special(wave, Special.mode) !== first) mode = undefined;
      const half = waveSize === 64 ? state.special(wave, Special.execHi) : 0xffffffff;
      if ((state.special(wave, Special.execLo) & half) >>> 0 !== 0xffffffff) execIsFull = false;
    }
    return { mode, execIsFull };
  }

  /** The batch in portions of whole workgroups that fit the device. */
  #portions(layout: Layout): { shape: Shape; firstGroup: number }[] {
    const { shape, groups } = layout;
    const { maxBufferBytes, maxBindingBytes } = this.runner;
    const allowed = Math.min(maxBufferBytes - 1024, this.#options.maxBatchBytes ?? DEFAULT_BATCH_BYTES);
    const fits = (count: number) => {
      const part = new Layout({ ...shape, waves: count * shape.wavesPerGroup });
      const largest = Math.max(part.vgprs - part.scalars, part.lds - part.vgprs, part.words - part.lds);
      return part.words * 4 <= allowed && largest * 4 <= maxBindingBytes;
    };
    let size = groups;
    while (size > 1 && !fits(size)) size = Math.ceil(size / 2);
    if (size > 0 && !fits(size))
      throw new EngineError('unsupported', `one workgroup of this shape is larger than ${this.device} takes`);
    return Array.from({ length: Math.ceil(groups / Math.max(size, 1)) }, (_, i) => ({
      shape: { ...shape, waves: Math.min(size, groups - i * size) * shape.wavesPerGroup },
      firstGroup: i * size,
    }));
  }
}

/** The engine on a device of this process: the browser's, or one that `openDevice` made. */
export class WebGpuEngine extends TranslatingEngine {
  constructor(device: GPUDevice, options: WebGpuOptions = {}) {
    super(new DeviceRunner(device), options);
  }
}

/** A batch starts without faults. */
function withoutFaults(state: WaveState): WaveState {
  const words = [Special.fault, Special.faultPc, Special.faultLane, Special.faultAddress];
  let clean = state;
  for (let wave = 0; wave < state.layout.shape.waves; wave++)
    for (const word of words)
      if (clean.special(wave, word) !== 0) {
        if (clean === state) clean = state.clone();
        clean.setSpecial(wave, word, 0);
      }
  return clean;
}

/** For each section: where a portion's words lie in the portion and in the whole. */
function sections(whole: Layout, part: Layout, firstGroup: number) {
  const firstWave = firstGroup * whole.shape.wavesPerGroup;
  const { waves } = part.shape;
  return [
    [part.scalars, whole.scalars + firstWave * whole.scalarWords, waves * whole.scalarWords],
    [part.vgprs, whole.vgprs + firstWave * whole.vgprWords, waves * whole.vgprWords],
    [part.lds, whole.lds + firstGroup * whole.shape.ldsWords, part.groups * whole.shape.ldsWords],
  ] as const;
}

function cut(state: WaveState, part: Layout, firstGroup: number): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(part.words);
  for (const [to, from, count] of sections(state.layout, part, firstGroup))
    words.set(state.words.subarray(from, from + count), to);
  return words;
}

function join(
  layout: Layout,
  portions: readonly { shape: Shape; firstGroup: number }[],
  parts: readonly Uint32Array<ArrayBuffer>[],
): WaveState {
  const state = new WaveState(layout.shape);
  for (const [i, { shape, firstGroup }] of portions.entries())
    for (const [from, to, count] of sections(layout, new Layout(shape), firstGroup))
      state.words.set(parts[i]!.subarray(from, from + count), to);
  return state;
}

const sum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((v) => v !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b) : undefined;
};

function sumOf(costs: readonly JobCost[]): Omit<RunCost, 'totalMs'> {
  const keys = ['compileMs', 'uploadMs', 'deviceMs', 'readbackMs'] as const;
  return Object.fromEntries(
    keys.flatMap((key) => {
      const total = sum(costs.map((cost) => cost[key]));
      return total === undefined ? [] : [[key, total]];
    }),
  );
}
