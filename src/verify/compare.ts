/** Two batches of wavefronts, compared register by register, bit by bit. */
import { SPECIAL_WORDS, Special, sameShape } from '../wavefront/layout.ts';
import type { WaveState } from '../wavefront/state.ts';

export interface Difference {
  readonly wave: number;
  /** v3, s4, vcc_lo, lds[12] (of the wave's workgroup), fault_pc ... */
  readonly register: string;
  /** Of vector registers. */
  readonly lane?: number;
  readonly a: number;
  readonly b: number;
}

export interface Comparison {
  /** Words compared, and how many of them differ. */
  readonly words: number;
  readonly mismatches: number;
  /** The first differences in the order of the packed buffer. */
  readonly first: readonly Difference[];
  /** Differing words by register. */
  readonly byRegister: ReadonlyMap<string, number>;
}

const specialNames: Readonly<Record<number, string>> = {
  [Special.vccLo]: 'vcc_lo',
  [Special.vccHi]: 'vcc_hi',
  [Special.execLo]: 'exec_lo',
  [Special.execHi]: 'exec_hi',
  [Special.m0]: 'm0',
  [Special.scc]: 'scc',
  [Special.mode]: 'mode',
  [Special.fault]: 'fault',
  [Special.faultPc]: 'fault_pc',
  [Special.faultLane]: 'fault_lane',
  [Special.faultAddress]: 'fault_address',
};

/** Node has the C library's memcmp, several times as fast as a loop over words. */
const { Buffer } = globalThis as { readonly Buffer?: { compare(a: Uint8Array, b: Uint8Array): number } };

const areEqual = (a: Uint32Array, b: Uint32Array, from: number, to: number): boolean =>
  Buffer?.compare(bytesOf(a, from, to), bytesOf(b, from, to)) === 0;

const bytesOf = ({ buffer, byteOffset }: Uint32Array, from: number, to: number) =>
  new Uint8Array(buffer, byteOffset + 4 * from, 4 * (to - from));

/** Where two arrays differ first between `from` and `to`; `to` if they don't. By itself, since all of a run's words pass through it. */
function firstDifference(a: Uint32Array, b: Uint32Array, from: number, to: number): number {
  let word = from;
  while (word < to && a[word] === b[word]) word++;
  return word;
}

/**
 * Compares every scalar, special, vector and LDS word of two batches of one shape.
 * @param limit differences to list; all are counted @param firstWave number of wave 0 in a larger run
 * @throws RangeError for batches of different shapes
 */
export function compareStates(a: WaveState, b: WaveState, limit = 20, firstWave = 0): Comparison {
  if (!sameShape(a.layout.shape, b.layout.shape)) throw new RangeError('two shapes of batches cannot be compared');
  const { layout } = a;
  const { shape } = layout;
  const first: Difference[] = [];
  const byRegister = new Map<string, number>();
  let mismatches = 0;
  const scan = (start: number, length: number, name: (index: number) => Omit<Difference, 'a' | 'b'>) => {
    if (areEqual(a.words, b.words, start, start + length)) return;
    const next = (from: number) => firstDifference(a.words, b.words, from, start + length);
    for (let word = next(start); word < start + length; word = next(word + 1)) {
      const difference = { ...name(word - start), a: a.words[word]!, b: b.words[word]! };
      const group = difference.register.replace(/\[.*/, '');
      mismatches++;
      byRegister.set(group, (byRegister.get(group) ?? 0) + 1);
      if (first.length < limit) first.push(difference);
    }
  };
  const scalarName = (index: number) =>
    index < shape.sgprs ? `s${index}` : (specialNames[index - shape.sgprs] ?? `special${index - shape.sgprs}`);
  const scalars = shape.sgprs + SPECIAL_WORDS;
  scan(layout.scalars, shape.waves * scalars, (i) => ({
    wave: firstWave + Math.floor(i / scalars),
    register: scalarName(i % scalars),
  }));
  scan(layout.vgprs, shape.waves * layout.vgprWords, (i) => ({
    wave: firstWave + Math.floor(i / layout.vgprWords),
    register: `v${Math.floor((i % layout.vgprWords) / shape.waveSize)}`,
    lane: i % shape.waveSize,
  }));
  scan(layout.lds, layout.groups * shape.ldsWords, (i) => ({
    wave: firstWave + Math.floor(i / shape.ldsWords) * shape.wavesPerGroup,
    register: `lds[${i % shape.ldsWords}]`,
  }));
  const words = shape.waves * (scalars + layout.vgprWords) + layout.groups * shape.ldsWords;
  return { words, mismatches, first, byRegister };
}

/** One comparison of two: the differences of `more` come after those of `sum`. */
export function addComparison(sum: Comparison, more: Comparison, limit = 20): Comparison {
  const byRegister = new Map(sum.byRegister);
  for (const [register, count] of more.byRegister) byRegister.set(register, (byRegister.get(register) ?? 0) + count);
  return {
    words: sum.words + more.words,
    mismatches: sum.mismatches + more.mismatches,
    first: [...sum.first, ...more.first].slice(0, limit),
    byRegister,
  };
}

export const nothingCompared: Comparison = { words: 0, mismatches: 0, first: [], byRegister: new Map() };
