/** The WebGPU engine: translates a program to kernels, keeps them, and has them run over batches. */
import {
  type BatchStore,
  type Engine,
  EngineError,
  type RunCost,
  type RunOptions,
  type RunResult,
  type StoredBatch,
} from '../engine.ts';
import type { Variant } from '../isa/target.ts';
import type { Program } from '../program/program.ts';
import { Layout, type Shape, Special, sameShape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { functionCosts, linkKernel } from './cost.ts';
import { DeviceRunner } from './deviceRunner.ts';
import { type Bail, type Form, fastFunctionOf } from './forms.ts';
import type { LdsForm } from './kernel.ts';
import type { Job, JobCost, KernelRunner, KernelStore } from './runner.ts';
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
  readonly store?: BatchStore;
  #scalars: WaveState | undefined;
  readonly #linked = new WeakMap<Program, Map<string, Promise<Linked>>>();

  constructor(runner: KernelRunner, options: WebGpuOptions = {}) {
    this.runner = runner;
    this.#options = options;
    this.device = runner.device;
    const { store } = runner;
    if (store !== undefined)
      this.store = {
        take: (shape) => store.take(shape),
        give: (batch) => store.give(batch),
        run: (program, batch, runOptions = {}) => this.#runStored(store, program, batch, runOptions),
      };
  }

  async run(program: Program, state: WaveState, options: RunOptions = {}): Promise<RunResult> {
    const started = performance.now();
    const start = withoutFaults(state);
    const known = this.#knownOf(start);
    const portions = this.#portions(state.layout);
    const costs: JobCost[] = [];
    const run = async (part: WaveState, into?: WaveState): Promise<WaveState> => {
      const job = await this.#jobOf(program, part.layout, known, options);
      if (job === undefined) return part.clone();
      const { words, cost } = await this.runner.run(job, part.words, into?.words);
      costs.push(cost);
      return new WaveState(job.shape, words);
    };
    const result = portions.length === 1 ? await run(start, options.into) : new WaveState(state.layout.shape);
    if (portions.length > 1)
      for (const { shape, first } of portions) {
        const part = new WaveState(shape);
        start.readPart(part, first);
        result.writePart(await run(part), first);
      }
    return { state: result, cost: { ...sumOf(costs), totalMs: performance.now() - started } };
  }

  /** What the host must know of a batch stands in its scalars; no other words are read here, unless the batch is run in portions. */
  async #runStored(store: KernelStore, program: Program, batch: StoredBatch, options: RunOptions): Promise<RunCost> {
    const started = performance.now();
    const { shape } = batch;
    const layout = new Layout(shape);
    const words = store.open(batch);
    if (this.#portions(layout).length > 1) {
      const whole = new WaveState(shape);
      words.readPart(whole, 0);
      const { state, cost } = await this.run(program, whole, options);
      words.writePart(state, 0);
      return cost;
    }
    const scalars = this.#scalarsOf(shape);
    words.readPart(scalars, 0);
    const start = withoutFaults(scalars);
    if (start !== scalars) words.writePart(start, 0);
    const job = await this.#jobOf(program, layout, this.#knownOf(start), options);
    const cost = job && (await store.run(job, batch));
    return { ...cost, totalMs: performance.now() - started };
  }

  /** For the scalars of a batch; the same storage as long as the shape is. */
  #scalarsOf(shape: Shape): WaveState {
    const alone = { ...shape, vgprs: 0, ldsWords: 0 };
    if (this.#scalars === undefined || !sameShape(this.#scalars.layout.shape, alone))
      this.#scalars = new WaveState(alone);
    return this.#scalars;
  }

  /** What the runner is to do for a program over a batch; undefined if that is nothing. */
  async #jobOf(program: Program, layout: Layout, known: KnownStart, options: RunOptions): Promise<Job | undefined> {
    const { plan, kernels } = await this.#link(program, layout, known, options);
    const dispatches = dispatchesOf(plan, layout);
    return dispatches.length === 0 ? undefined : { kernels, dispatches, table: plan.table, shape: layout.shape };
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
  #portions(layout: Layout): { shape: Shape; first: number }[] {
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
      first: i * size * shape.wavesPerGroup,
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
