/** The narrow waist: what an engine is. The reference and the WebGPU engine implement it; verify, command line and page know nothing else. */
import type { Profile } from './isa/target.ts';
import type { Program } from './program/program.ts';
import type { WaveState } from './wavefront/state.ts';

export interface RunOptions {
  /** Default `hardware`. */
  readonly profile?: Profile;
  /** Instructions a wave may execute before it is stopped with a fault; default 1,000,000. */
  readonly maxSteps?: number;
}

/** What a run cost; times in milliseconds, absent where the engine cannot tell. */
export interface RunCost {
  readonly compileMs?: number;
  readonly uploadMs?: number;
  /** Time of the kernels on the device by its own clock. */
  readonly deviceMs?: number;
  readonly readbackMs?: number;
  readonly totalMs: number;
}

export interface RunResult {
  /** A new batch of the same shape; faults are in it (`state.faults()`). */
  readonly state: WaveState;
  readonly cost: RunCost;
}

export interface Engine {
  readonly name: 'reference' | 'webgpu';
  /** The device that computes, for people: adapter and driver, or the CPU. */
  readonly device: string;
  /**
   * Runs every wave of `state` through `program` to its end. Lanes of a wave act on LDS in ascending order, waves of a workgroup
   * in ascending order between barriers (AMD promises no order). A wave that faults stops before the faulting instruction's effect;
   * the others go on. `state` is not changed.
   * @throws EngineError if the program cannot run here or the device is lost or hangs.
   */
  run(program: Program, state: WaveState, options?: RunOptions): Promise<RunResult>;
  close(): Promise<void>;
}

/** An engine that cannot run a program or whose device failed. `kind` decides the exit code. */
export class EngineError extends Error {
  readonly kind: 'unavailable' | 'unsupported' | 'lost' | 'timeout';
  constructor(kind: EngineError['kind'], message: string) {
    super(message);
    this.name = 'EngineError';
    this.kind = kind;
  }
}
