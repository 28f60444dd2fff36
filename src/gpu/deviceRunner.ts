/** Runs kernels on a WebGPU device of this process. */
import { EngineError } from '../engine.ts';
import { describeAdapter } from './adapter.ts';
import { listWorkgroups, STEPS_BINDING } from './bailList.ts';
import { type Clock, JobMemory, type Prepared, TIMESTAMP_BYTES } from './jobMemory.ts';
import { WAVES_A_WORKGROUP } from './ldsKernel.ts';
import { ROM_BINDING, romWords } from './rom.ts';
import type { Job, JobCost, KernelRunner } from './runner.ts';

/** Pipelines that are kept; a run of ever new programs must not grow without end. */
const MAX_PIPELINES = 1024;

/** How the words of a batch come to the device's memory, and what is made of those that it left; neither may keep the array. */
export interface Transfer<T> {
  readonly put: (into: Uint32Array<ArrayBuffer>) => void;
  readonly take: (from: Uint32Array<ArrayBuffer>) => T;
}

/** Where a job goes on: before a dispatch, or between its kernel and the run over its bail list. */
interface Start {
  readonly dispatch: number;
  readonly skipsKernel: boolean;
}

const BEGINNING: Start = { dispatch: 0, skipsKernel: false };

/** A job that the device has been told of. */
interface Running {
  readonly memory: JobMemory;
  readonly prepared: Prepared;
  /** Milliseconds of what has been read back so far. */
  readonly deviceMs: number;
  readonly costs: { readonly compileMs?: number; readonly uploadMs: number };
}

/** One is uploaded or read back while the other computes; each takes its own memory on the device. */
const JOBS_AT_ONCE = 2;

export class DeviceRunner implements KernelRunner {
  readonly device: string;
  readonly software: boolean;
  readonly maxBufferBytes: number;
  readonly maxBindingBytes: number;
  readonly #gpu: GPUDevice;
  readonly #bindings: GPUBindGroupLayout;
  readonly #pipelineLayout: GPUPipelineLayout;
  readonly #pipelines = new Map<string, GPUComputePipeline>();
  #lost: string | undefined;
  /** Memory that no job has, and who waits for some. */
  readonly #idle: JobMemory[];
  #waiting: ((memory: JobMemory) => void) | undefined;
  /** The last job is submitted; all jobs are done. */
  #turn: Promise<unknown> = Promise.resolve();
  #done: Promise<unknown> = Promise.resolve();

  /** @param gpu a device that nothing else uses in ways that its limits or features would show */
  constructor(gpu: GPUDevice) {
    this.#gpu = gpu;
    this.device = describeAdapter({ info: gpu.adapterInfo });
    this.software = gpu.adapterInfo.isFallbackAdapter;
    this.maxBufferBytes = gpu.limits.maxBufferSize;
    this.maxBindingBytes = gpu.limits.maxStorageBufferBindingSize;
    const storage = (binding: number, type: GPUBufferBindingType = 'storage'): GPUBindGroupLayoutEntry => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type },
    });
    this.#bindings = gpu.createBindGroupLayout({
      entries: [
        storage(0),
        storage(1),
        storage(2),
        { binding: 3, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true } },
        storage(4),
        storage(5, 'read-only-storage'),
        storage(ROM_BINDING, 'read-only-storage'),
        storage(STEPS_BINDING),
      ],
    });
    const rom = romWords();
    const romBuffer = gpu.createBuffer({
      size: rom.byteLength,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
    });
    gpu.queue.writeBuffer(romBuffer, 0, rom);
    this.#pipelineLayout = gpu.createPipelineLayout({ bindGroupLayouts: [this.#bindings] });
    this.#idle = Array.from({ length: JOBS_AT_ONCE }, () => new JobMemory(gpu, this.#bindings, romBuffer));
    gpu.lost.then(({ reason, message }) => {
      this.#lost = `the WebGPU device was lost (${reason})${message ? `: ${firstLine(message)}` : ''}`;
    });
  }

  run(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    into?: Uint32Array<ArrayBuffer>,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    return this.transfer(job, {
      put: (memory) => memory.set(words),
      take: (memory) => {
        const result = into ?? new Uint32Array(words.length);
        result.set(memory);
        return result;
      },
    });
  }

  /**
   * Jobs compute one after the other, but the next is uploaded while one computes, and one is read back while the next computes.
   * `compiled` is called when the kernels are ready and the work begins.
   */
  transfer<T>(job: Job, { put, take }: Transfer<T>, compiled?: () => void): Promise<{ words: T; cost: JobCost }> {
    const submitted = this.#turn.then(() => this.#guarded(() => this.#submit(job, put, compiled)));
    const result = submitted.then((running) => this.#guarded(() => this.#collect(running, take)));
    this.#turn = submitted.catch(() => {});
    this.#done = Promise.all([this.#done, result.catch(() => {})]);
    return result;
  }

  async close(): Promise<void> {
    await this.#done;
    this.#gpu.destroy();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#lost !== undefined) throw new EngineError('lost', this.#lost);
    try {
      return await work();
    } catch (error) {
      if (this.#lost !== undefined) throw new EngineError('lost', this.#lost);
      throw error instanceof EngineError ? error : new EngineError('lost', `WebGPU failed: ${messageOf(error)}`);
    }
  }

  /** Memory for a job, once there is some. One job at a time asks. */
  async #takeMemory(): Promise<JobMemory> {
    const idle = this.#idle.pop();
    return idle ?? new Promise((resolve) => (this.#waiting = resolve));
  }

  #giveMemory(memory: JobMemory): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(memory);
    else this.#idle.push(memory);
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

  /** Uploads a job and has the device do it, up to the copy for reading it back. */
  async #submit(job: Job, put: Transfer<unknown>['put'], compiled: (() => void) | undefined): Promise<Running> {
    let compileMs = await this.#compile(job.dispatches.map(({ kernel }) => job.kernels[kernel]!));
    const memory = await this.#takeMemory();
    try {
      compiled?.();
      if (!memory.fits(job.shape)) await this.#scoped(async () => memory.makeRoom(job.shape));
      await memory.writable();
      // In one scope: each costs turns of the event loop, in which the device has nothing to do.
      const first = await this.#scoped(async () => {
        const uploaded = upload(memory, job, put);
        return { ...uploaded, stop: this.#segment(job, BEGINNING, uploaded.prepared, memory.clock) };
      });
      const { prepared, uploadMs } = first;
      let { stop } = first;
      let deviceMs = 0;
      while (stop !== undefined && prepared.bails !== undefined) {
        const { probe, listBytes } = prepared.bails;
        await probe.mapAsync(GPUMapMode.READ, 0, listBytes + TIMESTAMP_BYTES);
        const found = new Uint32Array(probe.getMappedRange(0, listBytes + TIMESTAMP_BYTES).slice(0));
        probe.unmap();
        deviceMs += millisecondsOf(found.subarray(listBytes / 4));
        let start = { dispatch: stop + 1, skipsKernel: false };
        if (found.subarray(0, listBytes / 4).some((word) => word !== 0)) {
          const slow = job.kernels[job.dispatches[stop]!.bail!.kernel]!;
          compileMs = (compileMs ?? 0) + ((await this.#compile([slow])) ?? 0);
          start = { dispatch: stop, skipsKernel: true };
        }
        stop = await this.#scoped(async () => this.#segment(job, start, prepared, memory.clock));
      }
      return { memory, prepared, deviceMs, costs: { ...(compileMs !== undefined && { compileMs }), uploadMs } };
    } catch (error) {
      this.#giveMemory(memory);
      throw error;
    }
  }

  /** What a job has left. */
  async #collect<T>({ memory, prepared: { readback, bytes }, deviceMs, costs }: Running, take: Transfer<T>['take']) {
    try {
      await Promise.all([readback.mapAsync(GPUMapMode.READ, 0, bytes + TIMESTAMP_BYTES), memory.writable()]);
      const computed = performance.now();
      const words = take(new Uint32Array(readback.getMappedRange(0, bytes)));
      const last = millisecondsOf(new Uint32Array(readback.getMappedRange(bytes, TIMESTAMP_BYTES).slice(0)));
      readback.unmap();
      const readbackMs = performance.now() - computed;
      return { words, cost: { ...costs, ...(memory.clock && { deviceMs: deviceMs + last }), readbackMs } };
    } finally {
      this.#giveMemory(memory);
    }
  }

  /**
   * Submits dispatches from `start` on, each with the run over its bail list. A kernel for bailed lanes is compiled only when there
   * are such lanes: up to then the job stops behind each list to look.
   * @returns the dispatch behind whose list the job stops, or undefined when all is submitted
   */
  #segment(
    { kernels, dispatches, shape }: Job,
    start: Start,
    { group, offsets, bails, upload, state, readback, bytes }: Prepared,
    clock: Clock | undefined,
  ): number | undefined {
    const encoder = this.#gpu.createCommandEncoder();
    if (start === BEGINNING) {
      encoder.copyBufferToBuffer(upload, 0, state, 0, bytes);
      // A job that failed may have left lanes on it.
      if (bails) encoder.clearBuffer(bails.buffer, 0, bails.listBytes);
    }
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
        pass.dispatchWorkgroups(groups);
      }
      if (bail === undefined) continue;
      const slow = this.#pipelines.get(kernels[bail.kernel]!);
      if (slow) {
        pass.setPipeline(slow);
        pass.setBindGroup(0, group, [offsets[i]!]);
        pass.dispatchWorkgroups(listWorkgroups(waves, shape.waveSize, bail.steps, this.software));
      } else stop = i;
    }
    pass.end();
    const [from, to, at] =
      stop !== undefined && bails ? [bails.buffer, bails.probe, bails.listBytes] : [state, readback, bytes];
    encoder.copyBufferToBuffer(from, 0, to, 0, at);
    if (clock) {
      encoder.resolveQuerySet(clock.queries, 0, 2, clock.resolved, 0);
      encoder.copyBufferToBuffer(clock.resolved, 0, to, at, TIMESTAMP_BYTES);
    }
    this.#gpu.queue.submit([encoder.finish()]);
    return stop;
  }
}

/** Timed by itself: that nothing went wrong is heard only when the event loop comes by, which is no work. */
function upload(memory: JobMemory, job: Job, put: Transfer<unknown>['put']): { prepared: Prepared; uploadMs: number } {
  const started = performance.now();
  const prepared = memory.upload(job, put);
  return { prepared, uploadMs: performance.now() - started };
}

/** Two timestamps in nanoseconds, each two words. */
function millisecondsOf(words: Uint32Array<ArrayBuffer>): number {
  const [from, to] = new BigUint64Array(words.slice(0, 4).buffer);
  return Number(to! - from!) / 1e6;
}

const firstLine = (text: string) => text.split('\n')[0]!;

/** The first line of what was thrown. */
export const messageOf = (error: unknown) => firstLine(error instanceof Error ? error.message : String(error));
