/** Programs and states that a command reads from files. */
import { defaultTarget, findTarget, type Target, targets } from '../isa/target.ts';
import { AsmError } from '../program/asmError.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import type { Job } from '../verify/bulk.ts';
import type { Shape } from '../wavefront/layout.ts';
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
import { type CommonOptions, waveOf } from './options.ts';

const MAX_PROGRAM_BYTES = 16 * 2 ** 20;

/** Words of one batch at most: 64 MiB, which any adapter binds. */
const BATCH_WORDS = 2 ** 24;

/**
 * Assembles a file.
 * @param wave lanes a wave; undefined for what the text says, or the target's own
 * @throws CommandError with exit code 2 at the first error
 */
export function loadProgram(io: Io, path: string, target: Target, wave: WaveSize | undefined): Program {
  if (wave !== undefined) waveOf(target, wave);
  const text = readText(path, MAX_PROGRAM_BYTES);
  try {
    return assemble(text, {
      target,
      waveSize: wave,
      file: path,
      warn: ({ message }) => io.err(`wave64: warning: ${message}\n`),
    });
  } catch (error) {
    if (error instanceof AsmError) throw usage(error.message);
    throw error;
  }
}

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
    return { program: program!, file };
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    const at = 'path' in error.at ? ` ${error.at.path}` : `${error.at.line}:${error.at.column}:`;
    throw usage(`${statePath}:${at} ${error.message}`);
  }
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
      `${path}: target is ${JSON.stringify(name.slice(0, 40))}; allowed: ${targets.map((t) => t.name).join(', ')}`,
    );
  }
}

/** Waves of that shape that make a batch: whole workgroups, at least one. */
export function wavesABatch(shape: Shape, most: number): number {
  const { wavesPerGroup, waveSize, vgprs, sgprs, ldsWords } = shape;
  const groupWords = wavesPerGroup * (vgprs * waveSize + sgprs + 16) + ldsWords;
  const groups = Math.max(1, Math.min(Math.floor(BATCH_WORDS / groupWords), Math.floor(most / wavesPerGroup)));
  return groups * wavesPerGroup;
}

/** The state file's waves in batches; `draw` packs one. */
export function batchesOf(
  file: StateFile,
  program: Program,
  most: number,
): Pick<Job, 'batches'> & { draw: (batch: number) => WaveState; first: (batch: number) => number } {
  const ldsWords = program.usesLds ? program.target.ldsBytes / 4 : 0;
  const whole = shapeOf(file, program.waveSize, { vgprs: program.vgprs, sgprs: program.sgprs, ldsWords });
  const each = wavesABatch(whole, most);
  const first = (batch: number) => batch * each;
  return {
    batches: Math.ceil(whole.waves / each),
    first,
    draw: (batch) => packState(file, { ...whole, waves: Math.min(each, whole.waves - first(batch)) }, first(batch)),
  };
}
