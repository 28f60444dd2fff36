/** The narrow waist: what an engine is. The reference and the WebGPU engine implement it; verify, command line and page know nothing else. */

import { HWREG_MODE, hwregId } from './isa/instructions/mode.ts';
import type { Profile } from './isa/target.ts';
import type { Program } from './program/program.ts';
import type { Shape } from './wavefront/layout.ts';
import type { WaveState } from './wavefront/state.ts';

export interface RunOptions {
  /** Default `hardware`. */
  readonly profile?: Profile;
  /** Instructions a wave may execute before it is stopped with a fault; default 1,000,000. */
  readonly maxSteps?: number;
  /** A batch of the same shape whose storage the result may take; its contents are lost. Default new storage. */
  readonly into?: WaveState;
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
  /** A batch of the same shape, new or `into`; faults are in it (`state.faults()`). */
  readonly state: WaveState;
  readonly cost: RunCost;
}

/** A batch that lies where all threads of this process and an engine reach it; plain data. */
export interface StoredBatch {
  readonly shape: Shape;
  /** A file's descriptor, and the byte in it where the packed words begin. */
  readonly file: number;
  readonly at: number;
}

/** Batches that an engine takes from where they lie, so that the thread that calls it doesn't move their words. */
export interface BatchStore {
  /** Room for a batch, with anything in it. */
  take(shape: Shape): StoredBatch;
  give(batch: StoredBatch): void;
  /**
   * As `Engine.run` does, in place.
   * @throws EngineError; what the batch then holds is not known
   */
  run(program: Program, batch: StoredBatch, options?: RunOptions): Promise<RunCost>;
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
  /** Absent where the engine takes batches from the memory of this thread only. */
  readonly store?: BatchStore;
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

/**
 * What no engine runs, or not on waves of this shape.
 * @throws EngineError if the waves are of another size than the program's or lack registers that it names, and for GDS and
 *   hardware registers other than MODE, which exist in no engine.
 */
export function checkRunnable(program: Program, shape: Shape): void {
  const refuse = (why: string) => {
    throw new EngineError('unsupported', why);
  };
  if (program.waveSize !== shape.waveSize)
    refuse(`the program is for wave${program.waveSize}, the waves are wave${shape.waveSize}`);
  if (program.vgprs > shape.vgprs || program.sgprs > shape.sgprs)
    refuse(
      `the program names ${program.vgprs} VGPRs and ${program.sgprs} SGPRs, a wave has ${shape.vgprs} and ${shape.sgprs}`,
    );
  for (const { def, operands, pc, gds } of program.instructions) {
    if (gds) refuse(`${def.name} at ${pc}: there is no GDS here, only LDS`);
    const operand = operands[def.operands.findIndex(({ type }) => type === 'hwreg')];
    if (operand?.kind === 'immediate' && hwregId(operand.value) !== HWREG_MODE)
      refuse(
        `${def.name} at ${pc}: of the hardware registers only MODE (1) exists here, not ${hwregId(operand.value)}`,
      );
  }
}
