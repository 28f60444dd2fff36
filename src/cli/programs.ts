/** Programs that a command reads from files. */
import type { Target } from '../isa/target.ts';
import { AsmError } from '../program/asmError.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { usage } from './errors.ts';
import { readText } from './files.ts';
import type { Io } from './io.ts';
import { waveOf } from './options.ts';

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

/** Waves of that shape that make a batch: whole workgroups, at least one. */
export function wavesABatch(shape: Shape, most: number): number {
  const { wavesPerGroup, waveSize, vgprs, sgprs, ldsWords } = shape;
  const groupWords = wavesPerGroup * (vgprs * waveSize + sgprs + 16) + ldsWords;
  const groups = Math.max(1, Math.min(Math.floor(BATCH_WORDS / groupWords), Math.floor(most / wavesPerGroup)));
  return groups * wavesPerGroup;
}
