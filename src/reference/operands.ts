/** Operands of a program, bound to the wave being run: prepared once, refreshed before each execution where they must be. */
import type { LaneWords } from '../isa/instruction.ts';
import { constantWords, type Operand, type OperandSpec, wordsOf } from '../isa/operand.ts';
import type { Wave } from './wave.ts';

/** A source as lanes; `refresh` brings copies up to date, absent where nothing is copied. */
export interface LaneSource {
  readonly words: LaneWords;
  readonly refresh?: () => void;
}

/** A source as scalar words. */
export interface ScalarSource {
  readonly words: number[];
  readonly refresh?: () => void;
}

/** ABS, then NEG, of the word that holds the sign. */
const modified = (word: number, { abs, neg }: Operand): number => {
  const magnitude = abs ? word & 0x7fffffff : word;
  return (neg ? magnitude ^ 0x80000000 : magnitude) >>> 0;
};

/** A source operand as scalar words, low first, modifiers applied. Null reads 0. */
export function scalarSource(wave: Wave, operand: Operand, { type }: OperandSpec): ScalarSource {
  const count = wordsOf(type, wave.lanes === 64 ? 64 : 32);
  const top = count - 1;
  switch (operand.kind) {
    case 'immediate':
      return { words: [operand.value] };
    case 'inline':
    case 'literal': {
      const words = constantWords(operand, type).slice(0, count);
      return { words: words.map((word, i) => (i === top ? modified(word, operand) : word)) };
    }
    case 'scalar': {
      const slots = Array.from({ length: count }, (_, i) => wave.slot(operand.code, i));
      const words = slots.map(() => 0);
      const refresh = () => {
        for (let i = 0; i < count; i++) {
          const slot = slots[i];
          const word = slot === undefined ? 0 : wave.scalars[slot]!;
          words[i] = i === top ? modified(word, operand) : word;
        }
      };
      return { words, refresh };
    }
    case 'vgpr':
      throw new Error('a scalar instruction reads no VGPR');
  }
}

/** A mask source: 0 or 1 a lane. */
function maskSource(wave: Wave, operand: Operand, spec: OperandSpec): LaneSource {
  const mask = scalarSource(wave, operand, spec);
  const bits = new Uint32Array(wave.lanes);
  const refresh = () => {
    mask.refresh?.();
    for (let lane = 0; lane < bits.length; lane++) bits[lane] = (mask.words[lane >>> 5]! >>> (lane & 31)) & 1;
  };
  return { words: [bits], refresh };
}

/** A source operand of a vector instruction: the registers themselves where no modifier stands in the way. */
export function laneSource(wave: Wave, operand: Operand, spec: OperandSpec): LaneSource {
  if (spec.type === 'mask') return maskSource(wave, operand, spec);
  if (operand.kind === 'vgpr') {
    const words = wave.vgprs.slice(operand.index, operand.index + operand.count);
    if (!operand.abs && !operand.neg) return { words };
    const from = words.at(-1)!;
    const copy = new Uint32Array(wave.lanes);
    const keep = operand.abs ? 0x7fffffff : 0xffffffff;
    const flip = operand.neg ? 0x80000000 : 0;
    const refresh = () => {
      for (let lane = 0; lane < copy.length; lane++) copy[lane] = (from[lane]! & keep) ^ flip;
    };
    return { words: [...words.slice(0, -1), copy], refresh };
  }
  const scalar = scalarSource(wave, operand, spec);
  const words = scalar.words.map((word) => new Uint32Array(wave.lanes).fill(word));
  if (scalar.refresh === undefined) return { words };
  const refresh = () => {
    scalar.refresh?.();
    for (const [i, lanes] of words.entries()) lanes.fill(scalar.words[i]!);
  };
  return { words, refresh };
}
