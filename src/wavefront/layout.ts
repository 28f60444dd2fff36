/**
 * Where everything of a batch of wavefronts lies in one packed buffer of 32-bit words, on the host and on the GPU alike.
 *
 *     | section | order                        | words                                      |
 *     | ------- | ---------------------------- | ------------------------------------------ |
 *     | scalars | [wave][word]                 | sgprs, then the 16 special words            |
 *     | vgprs   | [wave][register][lane]       | lanes adjacent                              |
 *     | lds     | [workgroup][word]            | shared by the waves of a workgroup          |
 *
 * Sections start at multiples of 64 words (256 bytes, WebGPU's default storage-buffer offset alignment), so that each can be bound by itself.
 */
import { Scalar, type WaveSize } from './registers.ts';

/** The special words of a wave, after its SGPRs. */
export const Special = {
  vccLo: 0,
  vccHi: 1,
  execLo: 2,
  execHi: 3,
  m0: 4,
  scc: 5,
  mode: 6,
  /** 0, or a `FaultCode`, and where: byte offset of the instruction, lane, address. */
  fault: 8,
  faultPc: 9,
  faultLane: 10,
  faultAddress: 11,
} as const;

export const SPECIAL_WORDS = 16;

const SECTION_WORDS = 64;

export interface Shape {
  readonly waveSize: WaveSize;
  readonly waves: number;
  /** Waves that share one LDS and meet at barriers; divides `waves`. */
  readonly wavesPerGroup: number;
  /** Registers that each wave has. */
  readonly vgprs: number;
  readonly sgprs: number;
  /** Words of LDS that each workgroup has. */
  readonly ldsWords: number;
}

const SHAPE_KEYS = ['waveSize', 'waves', 'wavesPerGroup', 'vgprs', 'sgprs', 'ldsWords'] as const;

export const sameShape = (a: Shape, b: Shape): boolean => SHAPE_KEYS.every((key) => a[key] === b[key]);

const alignUp = (words: number) => Math.ceil(words / SECTION_WORDS) * SECTION_WORDS;

/** Offsets, in words, of a batch of that shape. */
export class Layout {
  readonly shape: Shape;
  readonly groups: number;
  /** Words a wave. */
  readonly scalarWords: number;
  readonly vgprWords: number;
  /** First word of each section, and of what would follow the last. */
  readonly scalars: number;
  readonly vgprs: number;
  readonly lds: number;
  readonly words: number;

  /** @throws RangeError if the waves don't fill whole workgroups or a count is not a natural number. */
  constructor(shape: Shape) {
    const { waves, wavesPerGroup, vgprs, sgprs, ldsWords, waveSize } = shape;
    if (
      ![waves, wavesPerGroup, vgprs, sgprs, ldsWords].every((n) => Number.isInteger(n) && n >= 0) ||
      wavesPerGroup < 1
    )
      throw new RangeError(`bad shape of a batch: ${JSON.stringify(shape)}`);
    if (waves % wavesPerGroup !== 0)
      throw new RangeError(`${waves} waves do not fill workgroups of ${wavesPerGroup} waves`);
    this.shape = shape;
    this.groups = waves / wavesPerGroup;
    this.scalarWords = sgprs + SPECIAL_WORDS;
    this.vgprWords = vgprs * waveSize;
    this.scalars = 0;
    this.vgprs = alignUp(waves * this.scalarWords);
    this.lds = this.vgprs + alignUp(waves * this.vgprWords);
    this.words = this.lds + alignUp(this.groups * ldsWords);
  }

  /** Word of lane 0 of a VGPR; the other lanes follow. */
  vgpr(wave: number, register: number): number {
    return this.vgprs + wave * this.vgprWords + register * this.shape.waveSize;
  }

  /** Word of a special register of `Special`. */
  special(wave: number, word: number): number {
    return this.scalars + wave * this.scalarWords + this.shape.sgprs + word;
  }

  /** Word of a scalar register by its operand code; undefined for null and for what a wave does not hold. */
  scalar(wave: number, code: number): number | undefined {
    const word = scalarSlot(this.shape.sgprs, code);
    return word === undefined ? undefined : this.scalars + wave * this.scalarWords + word;
  }

  /** First LDS word of the workgroup. */
  ldsOf(group: number): number {
    return this.lds + group * this.shape.ldsWords;
  }
}

/** Words that follow each other: in a part of a batch and in the whole. */
export interface Run {
  readonly part: number;
  readonly whole: number;
  readonly words: number;
}

/** Where the waves of a part are that is cut out of a batch from its wave `first` on: whole workgroups of waves alike. */
export function runsOf(part: Layout, whole: Layout, first: number): readonly Run[] {
  const { waves, wavesPerGroup, ldsWords } = part.shape;
  const group = first / wavesPerGroup;
  return [
    { part: part.scalars, whole: whole.scalars + first * whole.scalarWords, words: waves * part.scalarWords },
    { part: part.vgprs, whole: whole.vgprs + first * whole.vgprWords, words: waves * part.vgprWords },
    { part: part.lds, whole: whole.lds + group * whole.shape.ldsWords, words: part.groups * ldsWords },
  ].filter(({ words }) => words > 0);
}

/** Index of a scalar register among the words of its wave. */
export function scalarSlot(sgprs: number, code: number): number | undefined {
  if (code < sgprs) return code;
  switch (code) {
    case Scalar.vccLo:
      return sgprs + Special.vccLo;
    case Scalar.vccHi:
      return sgprs + Special.vccHi;
    case Scalar.execLo:
      return sgprs + Special.execLo;
    case Scalar.execHi:
      return sgprs + Special.execHi;
    case Scalar.m0:
      return sgprs + Special.m0;
    default:
      return undefined;
  }
}
