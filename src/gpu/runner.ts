/** Who runs kernels over a packed batch: a device in this process, or a child process that has one. */
import type { StoredBatch } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { Batch } from '../wavefront/state.ts';
import type { Dispatch } from './translate.ts';

/** Plain data, so that it can go to another process. */
export interface Job {
  /** Linked WGSL modules with an entry point `main`. */
  readonly kernels: readonly string[];
  readonly dispatches: readonly Dispatch[];
  /** Words that dispatches refer to, if any do. */
  readonly table?: readonly number[];
  readonly shape: Shape;
}

/** Milliseconds; `compileMs` only where a kernel was new. */
export interface JobCost {
  readonly compileMs?: number;
  readonly uploadMs: number;
  readonly deviceMs?: number;
  readonly readbackMs: number;
}

export interface KernelRunner {
  /** The adapter, for people. */
  readonly device: string;
  /** It computes on the CPU. */
  readonly software: boolean;
  /** Bytes that one buffer and one binding of it may have. */
  readonly maxBufferBytes: number;
  readonly maxBindingBytes: number;
  /**
   * Runs the job over the packed words of a batch of its shape and gives the words afterwards, in `into` if that is given.
   * @throws EngineError
   */
  run(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    into?: Uint32Array<ArrayBuffer>,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }>;
  /** Batches that it takes from where they lie, if it can. */
  readonly store?: KernelStore;
  close(): Promise<void>;
}

/** Where a runner's batches lie outside of this thread's memory. */
export interface KernelStore {
  take(shape: Shape): StoredBatch;
  give(batch: StoredBatch): void;
  /** This thread's way to the words. */
  open(batch: StoredBatch): Batch;
  /**
   * As `KernelRunner.run` does, in place. Not run again where another job has brought the driver down: what it had done is not known.
   * @throws EngineError
   */
  run(job: Job, batch: StoredBatch): Promise<JobCost>;
}
