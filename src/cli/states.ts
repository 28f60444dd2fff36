/** States that a command reads from files, with the program that they are for. */
import { allTargets, defaultTarget, findTarget, type Target } from '../isa/target.ts';
import type { Program } from '../program/program.ts';
import { batchSizes } from '../verify/job.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import type { WaveState } from '../wavefront/state.ts';
import {
  MAX_FILE_BYTES,
  packState,
  parseStateFile,
  type StateFile,
  StateFileError,
  type StateHead,
  shapeOf,
} from '../wavefront/statefile.ts';
import { usage } from './errors.ts';
import { readText } from './files.ts';
import type { Io } from './io.ts';
import type { CommonOptions } from './options.ts';
import { loadProgram, wavesABatch } from './programs.ts';

/**
 * Reads a program and the state file that it runs on. Target and wave size are what the state file or an option says; else the wave size
 * is what the program's text or its target says.
 * @throws CommandError with exit code 2
 */
export function loadProgramAndState(
  io: Io,
  path: string,
  statePath: string,
  options: Pick<CommonOptions, 'target' | 'wave'>,
): { program: Program; file: StateFile } {
  let program: Program | undefined;
  const settle = (head: StateHead): WaveSize => {
    const wave = agreed(statePath, 'wave', head.wave, options.wave);
    const target = agreed(statePath, 'target', head.target, options.target?.name) ?? defaultTarget;
    program = loadProgram(io, path, namedTarget(statePath, target), wave);
    return program.waveSize;
  };
  try {
    const file = parseStateFile(readText(statePath, MAX_FILE_BYTES), settle);
    checkLds(file, program!.target);
    return { program: program!, file };
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    const at = 'path' in error.at ? ` ${error.at.path}` : `${error.at.line}:${error.at.column}:`;
    throw usage(`${statePath}:${at} ${error.message}`);
  }
}

/** @throws StateFileError for more LDS than the target has */
function checkLds(file: StateFile, target: Target): void {
  const most = target.ldsBytes / 4;
  const wave = file.waves.findIndex(({ lds }) => (lds?.length ?? 0) > most);
  if (wave >= 0)
    throw new StateFileError(
      { path: `waves[${wave}].lds` },
      `has ${file.waves[wave]!.lds!.length} words; allowed: ${most} on ${target.name}`,
    );
}

/** What file and option say, if they say the same. */
function agreed<T>(path: string, key: 'target' | 'wave', said: T | undefined, asked: T | undefined): T | undefined {
  if (said !== undefined && asked !== undefined && said !== asked)
    throw usage(`${path}: ${key} is ${said}, but --${key} is ${asked}; allowed: one of the two`);
  return said ?? asked;
}

function namedTarget(path: string, name: string): Target {
  try {
    return findTarget(name);
  } catch {
    throw usage(
      `${path}: target is ${JSON.stringify(name.slice(0, 40))}; allowed: ${allTargets.map((t) => t.name).join(', ')}`,
    );
  }
}

/** The waves of a state file in batches of whole workgroups. */
export interface Batches {
  readonly batches: number;
  readonly draw: (batch: number) => WaveState;
  /** The file's number of a batch's wave 0. */
  readonly first: (batch: number) => number;
}

/** @param most waves a batch */
export function batchesOf(file: StateFile, program: Program, most: number): Batches {
  const ldsWords = program.usesLds ? program.target.ldsBytes / 4 : 0;
  const whole = shapeOf(file, program.waveSize, { vgprs: program.vgprs, sgprs: program.sgprs, ldsWords });
  const each = wavesABatch(whole, most);
  const { batches, size } = batchSizes(whole.waves, each);
  const first = (batch: number) => batch * each;
  return {
    batches,
    first,
    draw: (batch) => packState(file, { ...whole, waves: size(batch) }, first(batch)),
  };
}
