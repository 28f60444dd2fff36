/** What a job needs on the device: the buffers that it is uploaded to, runs in and is read back through. */
import { Layout, type Shape } from '../wavefront/layout.ts';
import type { Job } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** Where an empty section is bound: WebGPU allows neither a binding of no bytes nor two writable ones that overlap. */
const SPARE_BYTES = 256;

/** Uniform buffer offsets are multiples of this on every adapter (WebGPU, minUniformBufferOffsetAlignment default). */
const UNIFORM_STRIDE = 256;

export const TIMESTAMP_BYTES = 16;

/** Room for empty sections, and for a bail list and steps that nobody uses. */
const SPARES = 4;

/** The bail list of a job that has one. */
export interface Bails {
  /** The list, `listBytes` of it, and from `stepsAt` on the steps (`bailList.ts`). */
  readonly buffer: GPUBuffer;
  readonly listBytes: number;
  readonly stepsAt: number;
  /** The list and two timestamps are read back through it in the middle of a job. */
  readonly probe: GPUBuffer;
}

/** Two timestamps, and where they are put. */
export interface Clock {
  readonly queries: GPUQuerySet;
  readonly resolved: GPUBuffer;
}

/** The words of a batch while the device works on them, and where they come and go through. */
interface Buffers {
  readonly state: GPUBuffer;
  readonly upload: GPUBuffer;
  readonly readback: GPUBuffer;
}

/** A job's share of the device, until the next job takes it. */
export interface Prepared extends Buffers {
  readonly bytes: number;
  readonly group: GPUBindGroup;
  /** Offset of each dispatch's parameters. */
  readonly offsets: readonly number[];
  readonly bails: Bails | undefined;
}

/** Buffers for one job at a time; they are kept for the next job that fits. */
export class JobMemory {
  readonly clock: Clock | undefined;
  readonly #gpu: GPUDevice;
  readonly #bindings: GPUBindGroupLayout;
  readonly #rom: GPUBuffer;
  #buffers: Buffers | undefined;
  #bails: Pick<Bails, 'buffer' | 'probe'> | undefined;
  #uniforms: GPUBuffer | undefined;
  #table: GPUBuffer | undefined;

  /** @param bindings scalars, VGPRs, LDS, the parameters of a dispatch, the bail list, the tables of dispatches, `rom`, steps */
  constructor(gpu: GPUDevice, bindings: GPUBindGroupLayout, rom: GPUBuffer) {
    this.#rom = rom;
    this.#gpu = gpu;
    this.#bindings = bindings;
    this.clock = gpu.features.has('timestamp-query')
      ? {
          queries: gpu.createQuerySet({ type: 'timestamp', count: 2 }),
          resolved: gpu.createBuffer({
            size: TIMESTAMP_BYTES,
            usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
          }),
        }
      : undefined;
  }

  /** There is room for the words of a batch, and `writable` has come. */
  fits(shape: Shape): boolean {
    return this.#buffers !== undefined && this.#buffers.state.size >= sizeOf(shape);
  }

  makeRoom(shape: Shape): void {
    for (const buffer of Object.values(this.#buffers ?? {})) buffer.destroy();
    const size = sizeOf(shape);
    const { STORAGE, COPY_SRC, COPY_DST, MAP_WRITE, MAP_READ } = GPUBufferUsage;
    this.#buffers = {
      state: this.#gpu.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST }),
      upload: this.#gpu.createBuffer({ size, usage: MAP_WRITE | COPY_SRC }),
      readback: this.#gpu.createBuffer({ size, usage: MAP_READ | COPY_DST }),
    };
  }

  /** Words can be put into the upload buffer: the device has copied those of the job before. */
  async writable(): Promise<void> {
    const { upload } = this.#buffers!;
    if (upload.mapState === 'unmapped') await upload.mapAsync(GPUMapMode.WRITE);
  }

  /** Makes ready what the job needs, with its words in the upload buffer. To be called when it `fits` and that is `writable`. */
  upload({ shape, dispatches, table = [] }: Job, put: (into: Uint32Array<ArrayBuffer>) => void): Prepared {
    const layout = new Layout(shape);
    const bytes = layout.words * 4;
    const buffers = this.#buffers!;
    put(new Uint32Array(buffers.upload.getMappedRange(0, bytes)));
    buffers.upload.unmap();
    const bails = dispatches.some(({ bail }) => bail !== undefined) ? this.#bailsFor(shape) : undefined;
    return { ...buffers, ...this.#bind(layout, buffers.state, bails, dispatches, this.#tableOf(table)), bytes, bails };
  }

  /** A bail list with room for every lane. */
  #bailsFor({ waves, waveSize }: Shape): Bails {
    const listBytes = (waves * waveSize) / 8;
    const stepsAt = Math.ceil(listBytes / SPARE_BYTES) * SPARE_BYTES;
    const size = stepsAt + waves * waveSize * 4;
    if (this.#bails === undefined || this.#bails.buffer.size < size) {
      this.#bails?.buffer.destroy();
      this.#bails?.probe.destroy();
      const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
      this.#bails = {
        buffer: this.#gpu.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST }),
        probe: this.#gpu.createBuffer({ size: listBytes + TIMESTAMP_BYTES, usage: MAP_READ | COPY_DST }),
      };
    }
    return { ...this.#bails, listBytes, stepsAt };
  }

  #tableOf(words: readonly number[]): GPUBuffer {
    const bytes = Math.max(words.length * 4, SPARE_BYTES);
    if (!this.#table || this.#table.size < bytes) {
      this.#table?.destroy();
      this.#table = this.#gpu.createBuffer({ size: bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
    }
    if (words.length > 0) this.#gpu.queue.writeBuffer(this.#table, 0, new Uint32Array(words));
    return this.#table;
  }

  /** The sections of the batch, and the offset of each dispatch's parameters. */
  #bind(layout: Layout, state: GPUBuffer, bails: Bails | undefined, dispatches: readonly Dispatch[], table: GPUBuffer) {
    const distinct = new Map<string, number>();
    const offsets = dispatches.map(({ first, stride, waves, table: at = 0 }) => {
      const key = `${first},${stride},${waves},${at}`;
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
      bails ? { buffer: bails.buffer, size: bails.stepsAt } : section(layout.words, layout.words, 2),
      { buffer: table },
      { buffer: this.#rom },
      bails ? { buffer: bails.buffer, offset: bails.stepsAt } : section(layout.words, layout.words, 3),
    ];
    const group = this.#gpu.createBindGroup({
      layout: this.#bindings,
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
    return { group, offsets };
  }
}

/** Bytes of a batch with what is bound for sections that it lacks, or the timestamps that are read back behind it. */
const sizeOf = (shape: Shape): number => new Layout(shape).words * 4 + SPARES * SPARE_BYTES;
