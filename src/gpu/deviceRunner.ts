/** Runs kernels on a WebGPU device of this process. */
import { EngineError } from '../engine.ts';
import { Layout } from '../wavefront/layout.ts';
import { describeAdapter } from './adapter.ts';
import type { Job, JobCost, KernelRunner } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** Where an empty section is bound: WebGPU allows neither a binding of no bytes nor two writable ones that overlap. */
const SPARE_BYTES = 256;

/** Uniform buffer offsets are multiples of this on every adapter (WebGPU, minUniformBufferOffsetAlignment default). */
const UNIFORM_STRIDE = 256;

const TIMESTAMP_BYTES = 16;

/** Pipelines that are kept; a run of ever new programs must not grow without end. */
const MAX_PIPELINES = 1024;

/** What a batch of some size needs on the device; kept for the next batch that fits. */
interface Buffers {
  readonly state: GPUBuffer;
  readonly readback: GPUBuffer;
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
      const { pipelines, compileMs } = await this.#compile(job.kernels);
      compiled?.();
      return await this.#scoped(() => this.#dispatch(job, pipelines, words, compileMs));
    } catch (error) {
      if (this.#lost !== undefined) throw new EngineError('lost', this.#lost);
      throw error instanceof EngineError ? error : new EngineError('lost', `WebGPU failed: ${messageOf(error)}`);
    }
  }

  async #compile(kernels: readonly string[]) {
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
    return {
      pipelines: kernels.map((kernel) => this.#pipelines.get(kernel)!),
      compileMs: missing.length > 0 ? performance.now() - started : undefined,
    };
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
    pipelines: readonly GPUComputePipeline[],
    words: Uint32Array<ArrayBuffer>,
    compileMs: number | undefined,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    const started = performance.now();
    const layout = new Layout(job.shape);
    const bytes = layout.words * 4;
    const { state, readback } = this.#buffersFor(bytes);
    const { group, offsets } = this.#bind(layout, state, job.dispatches);
    this.#gpu.queue.writeBuffer(state, 0, words);
    const uploaded = performance.now();

    const encoder = this.#gpu.createCommandEncoder();
    const clock = this.#clock;
    const pass = encoder.beginComputePass(
      clock && { timestampWrites: { querySet: clock.queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } },
    );
    for (const [i, { kernel, waves }] of job.dispatches.entries()) {
      pass.setPipeline(pipelines[kernel]!);
      pass.setBindGroup(0, group, [offsets[i]!]);
      pass.dispatchWorkgroups(...gridOf(waves, this.#gpu.limits.maxComputeWorkgroupsPerDimension));
    }
    pass.end();
    encoder.copyBufferToBuffer(state, 0, readback, 0, bytes);
    if (clock) {
      encoder.resolveQuerySet(clock.queries, 0, 2, clock.resolved, 0);
      encoder.copyBufferToBuffer(clock.resolved, 0, readback, bytes, TIMESTAMP_BYTES);
    }
    this.#gpu.queue.submit([encoder.finish()]);
    await this.#gpu.queue.onSubmittedWorkDone();
    const computed = performance.now();

    await readback.mapAsync(GPUMapMode.READ, 0, bytes + TIMESTAMP_BYTES);
    const result = new Uint32Array(layout.words);
    result.set(new Uint32Array(readback.getMappedRange(0, bytes)));
    const times = clock && new BigUint64Array(readback.getMappedRange(bytes, TIMESTAMP_BYTES).slice(0));
    readback.unmap();
    return {
      words: result,
      cost: {
        ...(compileMs !== undefined && { compileMs }),
        uploadMs: uploaded - started,
        ...(times && { deviceMs: Number(times[1]! - times[0]!) / 1e6 }),
        readbackMs: performance.now() - computed,
      },
    };
  }

  /** A state buffer, and one to read it and the two timestamps back through. */
  #buffersFor(bytes: number): Buffers {
    const size = bytes + 2 * SPARE_BYTES;
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
  #bind(layout: Layout, state: GPUBuffer, dispatches: readonly Dispatch[]) {
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
    ];
    const group = this.#gpu.createBindGroup({
      layout: this.#bindings,
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
    return { group, offsets };
  }
}

/** Workgroups in x and y: at least `count` of them, since one dimension holds 65,535. */
export function gridOf(count: number, perDimension: number): [number, number] {
  const y = Math.ceil(count / perDimension);
  return [Math.ceil(count / y), y];
}

const firstLine = (text: string) => text.split('\n')[0]!;

/** The first line of what was thrown. */
export const messageOf = (error: unknown) => firstLine(error instanceof Error ? error.message : String(error));
