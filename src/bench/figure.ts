/** The figures of the report, and the bound that an adapter's own rates set to them. */
import { type ByKind, KINDS, type Kind } from './kinds.ts';

export type OperandKind = 'normal' | 'special';

/** One line of the report. Times are medians over the repeats. */
export interface Figure {
  readonly id: string;
  readonly engine: 'webgpu' | 'reference';
  readonly adapter: string;
  readonly lanes: number;
  /** Operations of the id's kind a second (macros, instructions, bytes of `probe/memory/...`): on the device by its own clock, else by the wall's. */
  readonly perSecond: number;
  /** Nanoseconds of one run on the device by its own clock; null where it can't tell. */
  readonly deviceNs: number | null;
  /** Milliseconds of compiling the kernels and running a wave with them, nothing being cached; null if nothing was compiled. */
  readonly compileMs: number | null;
  /** Bytes that one run's kernels read and write in the adapter's memory, by their text. */
  readonly bytes: number;
  /** Part of the rate that the adapter's probed rates allow for the operations and bytes of the kernels; null for the CPU's own code. */
  readonly boundShare: number | null;
  readonly operands: OperandKind;
  /** Nanoseconds of one run by the wall clock, upload and readback included, compiling not; and operations a second by it. */
  readonly wallNs: number;
  readonly wallPerSecond: number;
  /** `perSecond` of the slowest and the fastest repeat. */
  readonly spread: readonly [number, number];
  readonly repeats: number;
  /** Words of one run that differ from the reference's. */
  readonly mismatches: number;
  /** Operations of the kernels for each operation of the id's kind: by kind, and as two sums. Null for the CPU's own code. */
  readonly operations: ByKind | null;
  readonly multiplies: number | null;
  readonly others: number | null;
}

/** What the kernels of a run do, by their text. */
export interface Cost {
  readonly operations: ByKind;
  /** Registers and scalars. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Of LDS, read or written. A wave's stays in the nearest cache, so that the bound has no time for it. */
  readonly ldsBytes: number;
}

/** What the probes measured, per second. */
export interface AdapterRates {
  readonly operations: Readonly<Record<Kind, number>>;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Computing, reading and writing go on at once; else, on a CPU, all are instructions of the same cores. */
  readonly overlaps: boolean;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Nanoseconds that a run takes at least, its operations one after the other, each at the rate of its kind. */
export function boundNs(rates: AdapterRates, cost: Cost): number {
  const computing = KINDS.reduce((sum, kind) => sum + (cost.operations[kind] ?? 0) / rates.operations[kind], 0);
  const reading = cost.readBytes / rates.readBytes;
  const writing = cost.writtenBytes / rates.writtenBytes;
  return 1e9 * (rates.overlaps ? Math.max(computing, reading, writing) : computing + reading + writing);
}
