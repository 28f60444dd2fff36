/** The programs that are measured divide what they say, by JavaScript's own division. */
import { describe, expect, it } from 'vitest';
import { fill } from '../../src/bench/inputs.ts';
import { shapeOf } from '../../src/bench/programs.ts';
import {
  CHAIN,
  chainText,
  directChainText,
  macroText,
  resultText,
  SIXTEEN_REGISTERS,
  sixteenText,
} from '../../src/bench/texts.ts';
import { findTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import type { WaveState } from '../../src/wavefront/state.ts';

/** The doubles of a register pair in the lanes of a wave. */
function doubles(state: WaveState, register: number): Float64Array {
  const [lo, hi] = [state.vgpr(0, register), state.vgpr(0, register + 1)];
  const words = new Uint32Array(128);
  for (let lane = 0; lane < 64; lane++) words.set([lo[lane]!, hi[lane]!], 2 * lane);
  return new Float64Array(words.buffer);
}

/** A wave before and after the program. */
async function ran(text: string, target: string, pairs: number) {
  const program = assemble(text, { target: findTarget(target), waveSize: 64, file: 'test' });
  const shape = { ...shapeOf({ id: '', program, pairs, work: 1 }), waves: 1 };
  const before = fill({ shape, pairs, operands: 'normal', number: 0 });
  return { before, after: (await new ReferenceEngine().run(program, before)).state };
}

describe.each(['gfx906', 'gfx90a', 'gfx1100', 'gfx1201'])('%s', (name) => {
  const target = findTarget(name);
  const quotients = (n: Float64Array, d: Float64Array) => n.map((value, lane) => value / d[lane]!);

  it.each([macroText, resultText])('one macro, whose operands stay', async (text) => {
    const { before, after } = await ran(text(target, 64), name, 1);
    expect(doubles(after, 12)).toEqual(quotients(doubles(before, 0), doubles(before, 2)));
    for (const register of [0, 2]) expect(doubles(after, register)).toEqual(doubles(before, register));
  });

  it('sixteen macros, whose operands stay', async () => {
    const { before, after } = await ran(sixteenText(target, 64), name, SIXTEEN_REGISTERS / 4);
    for (let k = 0; k < 16; k++) {
      const [n, d] = [doubles(before, 14 * k), doubles(before, 14 * k + 2)];
      expect(doubles(after, 14 * k + 12)).toEqual(quotients(n, d));
      expect(doubles(after, 14 * k)).toEqual(n);
      expect(doubles(after, 14 * k + 2)).toEqual(d);
    }
  });

  it('a chain by the reciprocal of the last denominator', async () => {
    const { before, after } = await ran(chainText(target, 64), name, 1);
    let [n, d] = [doubles(before, 0), doubles(before, 2)];
    for (let k = 0; k < CHAIN; k++) [n, d] = [quotients(n, d), d.map((value) => 1 / value)];
    expect(doubles(after, 12)).toEqual(n);
  });

  it('a chain by the last numerator', async () => {
    const { before, after } = await ran(directChainText(target, 64), name, 1);
    let [n, d] = [doubles(before, 0), doubles(before, 2)];
    for (let k = 0; k < CHAIN; k++) [n, d] = [quotients(n, d), n];
    expect(doubles(after, 26)).toEqual(n);
  });
});
