/** The job of `wave64 verify` without a program and of the page, from plain data, so that any thread can make it. */
import { findTarget, type Profile } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import {
  type AllocationName,
  allocations,
  countWrongQuotients,
  demonstrationShape,
  divisionText,
  drawBatch,
  isDivision,
  minimumText,
  type OperandKind,
  operandKinds,
  type RoundName,
} from './demonstration.ts';
import { batchSizes, type DrawnParts, drawInParts, type Job, PART_WAVES } from './job.ts';

export interface DemonstrationSpec {
  readonly target: string;
  readonly waveSize: WaveSize;
  readonly profile: Profile;
  readonly waves: number;
  /** Waves a batch; default by the size of the job. */
  readonly batchWaves?: number;
  /** The division alone, or the LDS minimum of each quotient too. */
  readonly withMinimum: boolean;
  /** Where the division has its values; `compiled` leaves no room for the LDS minimum. */
  readonly registers: AllocationName;
  readonly operands: OperandKind;
  readonly seed: number;
  readonly round: RoundName;
}

/** Enough waves to hide what a batch costs threads and driver by itself, few enough for a moving bar and little memory. */
export const BATCH_WAVES = 1024;

/** Of jobs with so many batches that their end doesn't matter, in which no engine computes while the last is checked. */
export const LARGE_BATCH_WAVES = 2 * BATCH_WAVES;
const LARGE_JOB_WAVES = 32 * BATCH_WAVES;

export function demonstrationJob(spec: DemonstrationSpec): Job & { readonly waves: number } {
  const { waveSize, waves, withMinimum, registers, seed, round } = spec;
  const { batchWaves = waves < LARGE_JOB_WAVES ? BATCH_WAVES : LARGE_BATCH_WAVES } = spec;
  const target = findTarget(spec.target);
  const build = (text: string) => assemble(text, { target, waveSize, file: 'built-in' });
  const division = { name: 'macros', program: build(divisionText(target, waveSize, registers)) };
  const stages = withMinimum ? [division, { name: 'LDS minima', program: build(minimumText(target)) }] : [division];
  const { vgprs, registers: places } = allocations[registers];
  const shape = { ...demonstrationShape(target, waveSize, 0), vgprs, ...(!withMinimum && { ldsWords: 0 }) };
  const sizes = batchSizes(waves, batchWaves);
  const parts: DrawnParts = {
    shapeOf: (batch) => ({ ...shape, waves: sizes.size(batch) }),
    draw: ({ layout, words }, batch, first) => {
      const stream = batch * Math.ceil(batchWaves / PART_WAVES) + first / PART_WAVES;
      drawBatch(layout.shape, seed, stream, round, { operands: operandKinds[spec.operands], words });
    },
  };
  return {
    stages,
    waves,
    batches: sizes.batches,
    parts,
    draw: (batch, pool) => drawInParts(parts, batch, pool),
    ...(isDivision(spec.profile, round) && {
      countWrong: (state, input) => countWrongQuotients(state, input, places.result),
    }),
  };
}
