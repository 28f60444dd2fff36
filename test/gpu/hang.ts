/**
 * A driver that hangs, for tests of what happens then: a kernel with an endless loop, given to the driver process past the
 * translator. No program can make such a kernel, and nothing in src/ can ask for it.
 */
import type { StoredBatch } from '../../src/engine.ts';
import { ChildRunner, type NodeGpuOptions } from '../../src/gpu/engine.node.ts';
import { TranslatingEngine } from '../../src/gpu/engine.ts';
import type { Job, KernelRunner } from '../../src/gpu/runner.ts';

/** Compilers may assume that a loop ends if it has no effect; this one waits for a word that nobody writes. */
const ENDLESS = `
@group(0) @binding(0) var<storage, read_write> scalars: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main() {
  loop {
    if (atomicAdd(&scalars[0], 0u) == 0xfedcba98u) { break; }
  }
}`;

/** Runs the `hangAt`th job as an endless loop. */
class HangingRunner implements KernelRunner {
  readonly #runner: ChildRunner;
  #jobsBefore: number;
  constructor(runner: ChildRunner, hangAt: number) {
    this.#runner = runner;
    this.#jobsBefore = hangAt;
  }
  get device() {
    return this.#runner.device;
  }
  get software() {
    return this.#runner.software;
  }
  get maxBufferBytes() {
    return this.#runner.maxBufferBytes;
  }
  get maxBindingBytes() {
    return this.#runner.maxBindingBytes;
  }
  get store() {
    return {
      ...this.#runner.store,
      run: (job: Job, batch: StoredBatch) => this.#runner.store.run(this.#next(job), batch),
    };
  }
  run(job: Job, words: Uint32Array<ArrayBuffer>) {
    return this.#runner.run(this.#next(job), words);
  }
  #next(job: Job): Job {
    return this.#jobsBefore-- === 0 ? { ...job, kernels: job.kernels.map(() => ENDLESS) } : job;
  }
  close() {
    return this.#runner.close();
  }
}

/** The WebGPU engine on a driver that hangs in its `hangAt`th batch, counted from 0 and 0 by default. */
export async function openHangingEngine(options: NodeGpuOptions & { readonly hangAt?: number }) {
  const runner = await ChildRunner.open(options);
  return new TranslatingEngine(new HangingRunner(runner, options.hangAt ?? 0), options);
}
