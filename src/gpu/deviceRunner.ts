/** Runs kernels on a WebGPU device of this process. */
import { EngineError } from '../engine.ts';
import { Layout, type Shape } from '../wavefront/layout.ts';
import { describeAdapter } from './adapter.ts';
import { BAIL_ITEMS, BAIL_ROW } from './kernel.ts';
import { WAVES_A_WORKGROUP } from './ldsKernel.ts';
import type { Job, JobCost, KernelRunner } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** Where an empty section is bound: WebGPU allows neither a binding of no bytes nor two writable ones that overlap. */
const SPARE_BYTES = 256;

/** Uniform buffer offsets are multiples of this on every adapter (WebGPU, minUniformBufferOffsetAlignment default). */
const UNIFORM_STRIDE = 256;

const TIMESTAMP_BYTES = 16;

/** Room for empty sections and for a bail list that nobody uses. */
const SPARES = 3;

/** What is read back in the middle of a job: how many lanes bailed, then the two timestamps. */
const PROBE_BYTES = 8 + TIMESTAMP_BYTES;

/** Turns the count of a bail list into the grid of the kernel that runs it, and begins the next list. */
const countKernel = `
@group(0) @binding(0) var<storage, read_write> bails: array<u32>;
@group(0) @binding(1) var<storage, read_write> grid: array<u32>;
@compute @workgroup_size(1) fn main() {
  let count = bails[0];
  let groups = (count + 63u) / 64u;
  bails[0] = 0u;
  bails[1] = count;
  grid[0] = min(groups, ${BAIL_ROW}u);
  grid[1] = (groups + ${BAIL_ROW - 1}u) / ${BAIL_ROW}u;
  grid[2] = 1u;
}`;

/** The bail list of jobs that have one. */
interface Bails {
  readonly list: GPUBuffer;
  readonly grid: GPUBuffer;
  readonly probe: GPUBuffer;
  readonly count: GPUComputePipeline;
  readonly countGroup: GPUBindGroup;
}

/** Pipelines that are kept; a run of ever new programs must not grow without end. */
const MAX_PIPELINES = 1024;

/** What a batch of some size needs on the device; kept for the next batch that fits. */
interface Buffers {
  readonly state: GPUBuffer;
  readonly readback: GPUBuffer;
}

/** The bind group of a job, and the offset of each dispatch's parameters. */
interface Bound {
  readonly group: GPUBindGroup;
  readonly offsets: readonly number[];
}

/** Where a job goes on: before a dispatch, or between its kernel and the run over its bail list. */
interface Start {
  readonly dispatch: number;
  readonly skipsKernel: boolean;
}

export class DeviceRunner implements KernelRunner {
  readonly device: string;
  readonly software: boolean;
  readonly maxBufferBytes: number;
  readonly maxBindingBytes: number;
  readonly #gpu: GPUDevice;
  readonly #bindings: GPUBindGroupLayout;
  readonly #pipelineLayout: GPUPipelineLayout;
  readonly #pipelines = new Map<string, GPUComputePipeline>();
  readonly #clock: { readonly queries: GPUQuerySet; readonly resolved: GPUBuffer } | undefined;
  #buffers: Buffers | undefined;
  #bails: Bails | undefined;
  #uniforms: GPUBuffer | undefined;
  #lost: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param gpu a device that nothing else uses in ways that its limits or features would show */
  constructor(gpu: GPUDevice) {
    this.#gpu = gpu;
    this.device = describeAdapter({ info: gpu.adapterInfo });
    this.software = gpu.adapterInfo.isFallbackAdapter;
    this.maxBufferBytes = gpu.limits.maxBufferSize;
    this.maxBindingBytes = gpu.limits.maxStorageBufferBindingSize;
    const storage = (binding: number): GPUBindGroupLayoutEntry => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: 'storage' },
    });
    this.#bindings = gpu.createBindGroupLayout({
      entries: [
        storage(0),
        storage(1),
        storage(2),
        { binding: 3, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true } },
        storage(4),
      ],
    });
    this.#pipelineLayout = gpu.createPipelineLayout({ bindGroupLayouts: [this.#bindings] });
    this.#clock = gpu.features.has('timestamp-query')
      ? {
          queries: gpu.createQuerySet({ type: 'timestamp', count: 2 }),
          resolved: gpu.createBuffer({
            size: TIMESTAMP_BYTES,
            usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
          }),
        }
      : undefined;
    gpu.lost.then(({ reason, message }) => {
      this.#lost = `the WebGPU device was lost (${reason})${message ? `: ${firstLine(message)}` : ''}`;
    });
  }

  /** Jobs run one after the other. `compiled` is called when the kernels are ready and the work begins. */
  run(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    compiled?: () => void,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    const result = this.#turn.then(() => this.#run(job, words, compiled));
    this.#turn = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.#turn;
    this.#gpu.destroy();
  }

  async #run(job: Job, words: Uint32Array<ArrayBuffer>, compiled: (() => void) | undefined) {
    if (this.#lost !== undefined) throw new EngineError('lost', this.#lost);
    try {
      const compileMs = await this.#compile(job.dispatches.map(({ kernel }) => job.kernels[kernel]!));
      compiled?.();
      return await this.#dispatch(job, words, compileMs);
    } catch (error) {
      if (this.#lost !== undefined) throw new EngineError('lost', this.#lost);
      throw error instanceof EngineError ? error : new EngineError('lost', `WebGPU failed: ${messageOf(error)}`);
    }
  }

  /** Milliseconds, if any of them was new. */
  async #compile(kernels: readonly string[]): Promise<number | undefined> {
    const missing = [...new Set(kernels)].filter((kernel) => !this.#pipelines.has(kernel));
    const started = performance.now();
    if (this.#pipelines.size + missing.length > MAX_PIPELINES) {
      this.#pipelines.clear();
      missing.splice(0, missing.length, ...new Set(kernels));
    }
    await Promise.all(
      missing.map(async (code) => {
        this.#pipelines.set(code, await this.#pipeline(code));
      }),
    );
    return missing.length > 0 ? performance.now() - started : undefined;
  }

  async #pipeline(code: string): Promise<GPUComputePipeline> {
    try {
      const module = this.#gpu.createShaderModule({ code });
      return await this.#gpu.createComputePipelineAsync({
        layout: this.#pipelineLayout,
        compute: { module, entryPoint: 'main' },
      });
    } catch (error) {
      throw new EngineError('unsupported', `the WebGPU driver does not compile the kernel: ${messageOf(error)}`);
    }
  }

  /** Turns what WebGPU reports about the calls of `work` into an EngineError. */
  async #scoped<T>(work: () => Promise<T>): Promise<T> {
    const scopes = ['validation', 'out-of-memory', 'internal'] as const;
    for (const scope of scopes) this.#gpu.pushErrorScope(scope);
    // The scopes take in only what is called before the first await.
    const result = work();
    const errors = await Promise.all(scopes.map(() => this.#gpu.popErrorScope()));
    const error = errors.find((e) => e !== null);
    if (!error) return result;
    result.catch(() => {});
    if (error instanceof GPUOutOfMemoryError)
      throw new EngineError('unsupported', 'the device has no memory for a batch of this size; use fewer waves');
    throw new EngineError('lost', `WebGPU refused the work: ${firstLine(error.message)}`);
  }

  async #dispatch(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    compileMs: number | undefined,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    const started = performance.now();
    const layout = new Layout(job.shape);
    const bytes = layout.words * 4;
    const { state, readback, bound, bails } = await this.#scoped(async () => {
      const bails = job.dispatches.some(({ bail }) => bail !== undefined) ? this.#bailsFor(job.shape) : undefined;
      const buffers = this.#buffersFor(bytes);
      const bound = this.#bind(layout, buffers.state, bails, job.dispatches);
      this.#gpu.queue.writeBuffer(buffers.state, 0, words);
      return { ...buffers, bound, bails };
    });
    const uploaded = performance.now();

    let compiledMs = compileMs;
    let deviceMs = 0;
    let start: Start = { dispatch: 0, skipsKernel: false };
    for (;;) {
      const next = await this.#scoped(async () => this.#segment(job, start, bound, bails, { state, readback, bytes }));
      if (next === undefined || bails === undefined) break;
      await bails.probe.mapAsync(GPUMapMode.READ);
      const found = new Uint32Array(bails.probe.getMappedRange().slice(0));
      bails.probe.unmap();
      deviceMs += millisecondsOf(found.subarray(2));
      start = { dispatch: next + 1, skipsKernel: false };
      if (found[0]! === 0) continue;
      compiledMs = (compiledMs ?? 0) + ((await this.#compile([job.kernels[job.dispatches[next]!.bail!]!])) ?? 0);
      start = { dispatch: next, skipsKernel: true };
    }
    await this.#gpu.queue.onSubmittedWorkDone();
    const computed = performance.now();

    await readback.mapAsync(GPUMapMode.READ, 0, bytes + TIMESTAMP_BYTES);
    const result = new Uint32Array(layout.words);
    result.set(new Uint32Array(readback.getMappedRange(0, bytes)));
    deviceMs += millisecondsOf(new Uint32Array(readback.getMappedRange(bytes, TIMESTAMP_BYTES).slice(0)));
    readback.unmap();
    return {
      words: result,
      cost: {
        ...(compiledMs !== undefined && { compileMs: compiledMs }),
        uploadMs: uploaded - started,
        ...(this.#clock && { deviceMs }),
        readbackMs: performance.now() - computed,
      },
    };
  }

  /**
   * Submits dispatches from `start` on, each with the run over its bail list. A kernel for bailed lanes is compiled only when there
   * are such lanes: up to then the job stops behind each list to look.
   * @returns the dispatch behind whose list the job stops, or undefined when all is submitted
   */
  #segment(
    { kernels, dispatches }: Job,
    start: Start,
    { group, offsets }: Bound,
    bails: Bails | undefined,
    { state, readback, bytes }: Buffers & { readonly bytes: number },
  ): number | undefined {
    const clock = this.#clock;
    const encoder = this.#gpu.createCommandEncoder();
    const pass = encoder.beginComputePass(
      clock && { timestampWrites: { querySet: clock.queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } },
    );
    let stop: number | undefined;
    for (let i = start.dispatch; i < dispatches.length && stop === undefined; i++) {
      const { kernel, waves, perWave, bail } = dispatches[i]!;
      if (i !== start.dispatch || !start.skipsKernel) {
        pass.setPipeline(this.#pipelines.get(kernels[kernel]!)!);
        pass.setBindGroup(0, group, [offsets[i]!]);
        const groups = perWave ? Math.ceil(waves / WAVES_A_WORKGROUP) : waves;
        pass.dispatchWorkgroups(...gridOf(groups, this.#gpu.limits.maxComputeWorkgroupsPerDimension));
        if (bail === undefined || !bails) continue;
        pass.setPipeline(bails.count);
        pass.setBindGroup(0, bails.countGroup);
        pass.dispatchWorkgroups(1);
      }
      if (bail === undefined || !bails) continue;
      const slow = this.#pipelines.get(kernels[bail]!);
      if (slow) {
        pass.setPipeline(slow);
        pass.setBindGroup(0, group, [offsets[i]!]);
        pass.dispatchWorkgroupsIndirect(bails.grid, 0);
      } else stop = i;
    }
    pass.end();
    const [to, at] = stop !== undefined && bails ? [bails.probe, 8] : [readback, bytes];
    if (stop !== undefined && bails) encoder.copyBufferToBuffer(bails.list, 4, to, 0, 4);
    else encoder.copyBufferToBuffer(state, 0, to, 0, bytes);
    if (clock) {
      encoder.resolveQuerySet(clock.queries, 0, 2, clock.resolved, 0);
      encoder.copyBufferToBuffer(clock.resolved, 0, to, at, TIMESTAMP_BYTES);
    }
    this.#gpu.queue.submit([encoder.finish()]);
    return stop;
  }

  /** A bail list with room for every lane. */
  #bailsFor({ waves, waveSize }: Shape): Bails {
    const size = (waves * waveSize + BAIL_ITEMS) * 4;
    const known = this.#bails;
    if (known && known.list.size >= size) return known;
    known?.list.destroy();
    const gpu = this.#gpu;
    const module = () => gpu.createShaderModule({ code: countKernel });
    const count =
      known?.count ?? gpu.createComputePipeline({ layout: 'auto', compute: { module: module(), entryPoint: 'main' } });
    const list = gpu.createBuffer({
      size,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    const grid = known?.grid ?? gpu.createBuffer({ size: 12, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.INDIRECT });
    const probe =
      known?.probe ?? gpu.createBuffer({ size: PROBE_BYTES, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const countGroup = gpu.createBindGroup({
      layout: count.getBindGroupLayout(0),
      entries: [list, grid].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    this.#bails = { list, grid, probe, count, countGroup };
    return this.#bails;
  }

  /** A state buffer, and one to read it and the two timestamps back through. */
  #buffersFor(bytes: number): Buffers {
    const size = bytes + SPARES * SPARE_BYTES;
    if (this.#buffers && this.#buffers.state.size >= size) return this.#buffers;
    this.#buffers?.state.destroy();
    this.#buffers?.readback.destroy();
    this.#buffers = {
      state: this.#gpu.createBuffer({
        size,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
      }),
      readback: this.#gpu.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
    };
    return this.#buffers;
  }

  /** The sections of the batch, and the offset of each dispatch's parameters. */
  #bind(layout: Layout, state: GPUBuffer, bails: Bails | undefined, dispatches: readonly Dispatch[]): Bound {
    const distinct = new Map<string, number>();
    const offsets = dispatches.map(({ first, stride, waves }) => {
      const key = `${first},${stride},${waves}`;
      if (!distinct.has(key)) distinct.set(key, distinct.size * UNIFORM_STRIDE);
      return distinct.get(key)!;
    });
    const parameters = new Uint32Array((distinct.size * UNIFORM_STRIDE) / 4);
    for (const [key, offset] of distinct) parameters.set(key.split(',').map(Number), offset / 4);
    if (!this.#uniforms || this.#uniforms.size < parameters.byteLength) {
      this.#uniforms?.destroy();
      this.#uniforms = this.#gpu.createBuffer({
        size: Math.max(parameters.byteLength, 8 * UNIFORM_STRIDE),
        usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
      });
    }
    this.#gpu.queue.writeBuffer(this.#uniforms, 0, parameters);

    const section = (from: number, to: number, spare: number): GPUBufferBinding =>
      to > from
        ? { buffer: state, offset: from * 4, size: (to - from) * 4 }
        : { buffer: state, offset: layout.words * 4 + spare * SPARE_BYTES, size: SPARE_BYTES };
    const resources = [
      section(layout.scalars, layout.vgprs, 0),
      section(layout.vgprs, layout.lds, 0),
      section(layout.lds, layout.words, 1),
      { buffer: this.#uniforms, size: 16 },
      bails ? { buffer: bails.list } : section(layout.words, layout.words, 2),
    ];
    const group = this.#gpu.createBindGroup({
      layout: this.#bindings,
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
    return { group, offsets };
  }
}

/** Two timestamps in nanoseconds, each two words. */
function millisecondsOf(words: Uint32Array<ArrayBuffer>): number {
  const [from, to] = new BigUint64Array(words.slice(0, 4).buffer);
  return Number(to! - from!) / 1e6;
}

/** Workgroups in x and y: at least `count` of them, since one dimension holds 65,535. */
export function gridOf(count: number, perDimension: number): [number, number] {
  const y = Math.ceil(count / perDimension);
  return [Math.ceil(count / y), y];
}

const firstLine = (text: string) => text.split('\n')[0]!;

/** The first line of what was thrown. */
export const messageOf = (error: unknown) => firstLine(error instanceof Error ? error.message : String(error));
