/** X1K programs on both engines: rows of operands as lanes, results that both agree on. */
import { expect } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { x1kTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { compareStates } from '../../src/verify/compare.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const reference = new ReferenceEngine();

/** One component replicated, or four. */
export type RegisterWords = number | readonly [number, number, number, number];

const numbers = new Float32Array(1);
const numberBits = new Uint32Array(numbers.buffer);

/** The word of a number. */
export function f32(value: number): number {
  numbers[0] = value;
  return numberBits[0]!;
}

export const hex = (word: number): string => word.toString(16).padStart(8, '0');

/** The registers that results are read from. */
const REGISTERS = 8;

/**
 * Runs a program on rows of r0, r1, ... and gives r7 of each row, as hex words x, y, z, w, and the row's bit of VCC. Both engines must
 * leave the same state.
 */
export async function rows(
  engine: WebGpuEngine,
  text: string,
  operands: readonly (readonly RegisterWords[])[],
  mode = 0,
): Promise<{ words: string[]; flag: number }[]> {
  const program = assemble(text, { target: x1kTarget });
  const waves = Math.ceil(operands.length / 64);
  const state = WaveState.start({
    waveSize: 64,
    waves,
    wavesPerGroup: 1,
    vgprs: Math.max(program.vgprs, 4 * REGISTERS),
    sgprs: 0,
    ldsWords: 0,
  });
  for (let wave = 0; wave < waves; wave++) state.setSpecial(wave, Special.mode, mode);
  for (const [row, registers] of operands.entries())
    for (const [r, words] of registers.entries())
      for (let i = 0; i < 4; i++)
        state.vgpr(Math.floor(row / 64), 4 * r + i)[row % 64] = typeof words === 'number' ? words : words[i]!;
  const expected = (await reference.run(program, state)).state;
  const { state: result } = await engine.run(program, state);
  expect(compareStates(result, expected).first, text).toEqual([]);
  return operands.map((_, row) => {
    const [wave, lane] = [Math.floor(row / 64), row % 64];
    const half = result.special(wave, lane < 32 ? Special.vccLo : Special.vccHi);
    return {
      words: [0, 1, 2, 3].map((i) => hex(result.vgpr(wave, 28 + i)[lane]!)),
      flag: (half >>> (lane & 31)) & 1,
    };
  });
}

/** The first component of r7 of each row. */
export async function results(
  engine: WebGpuEngine,
  text: string,
  operands: readonly (readonly RegisterWords[])[],
  mode = 0,
): Promise<string[]> {
  return (await rows(engine, text, operands, mode)).map(({ words }) => words[0]!);
}
