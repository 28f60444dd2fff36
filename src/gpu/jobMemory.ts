/** What a job needs on the device: the buffers that it is uploaded to, runs in and is read back through. */
import { Layout, type Shape } from '../wavefront/layout.ts';
import { BAIL_ITEM_WORDS, BAIL_ITEMS, BAIL_ROW } from './kernel.ts';
import type { Job } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** Where an empty section is bound: WebGPU allows neither a binding of no bytes nor two writable ones that overlap. */
const SPARE_BYTES = 256;

/** Uniform buffer offsets are multiples of this on every adapter (WebGPU, minUniformBufferOffsetAlignment default). */
const UNIFORM_STRIDE = 256;

export const TIMESTAMP_BYTES = 16;

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
export interface Bails {
  readonly list: GPUBuffer;
  readonly grid: GPUBuffer;
  readonly probe: GPUBuffer;
  readonly count: GPUComputePipeline;
  readonly countGroup: GPUBindGroup;
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
  #bails: Bails | undefined;
  #uniforms: GPUBuffer | undefined;
  #table: GPUBuffer | undefined;

  /** @param bindings scalars, VGPRs, LDS, the parameters of a dispatch, the bail list, the tables of dispatches, `rom` */
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
    const size = (waves * waveSize * BAIL_ITEM_WORDS + BAIL_ITEMS) * 4;
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
      bails ? { buffer: bails.list } : section(layout.words, layout.words, 2),
      { buffer: table },
      { buffer: this.#rom },
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
