// Random register files for a program: what it names is filled, LDS addresses stay aligned and in range, the seed fixes all.
import { describe, expect, test } from 'vitest';
import { findTarget, targets } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { demonstrationShape, divisionText, minimumText } from '../../src/verify/demonstration.ts';
import { randomBatch, randomShape } from '../../src/verify/randomState.ts';
import { namedRegisters } from '../../src/verify/registers.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { Scalar } from '../../src/wavefront/registers.ts';

const text = `
  v_cmp_lt_f64 s[4:5], v[0:1], v[2:3]
  s_and_b64 vcc, s[4:5], exec
  ds_read_b128 v[8:11], v5 offset:16
  ds_write_b32 v7, v8
  s_mov_b32 m0, s9
`;
const program = assemble(text, { target: findTarget('gfx90a') });

describe('registers that a program names', () => {
  test('every word of a multi-word operand; VCC, EXEC and M0 are no SGPRs; addresses with their alignment', () => {
    const { vgprs, sgprs, addresses } = namedRegisters(program);
    expect([...vgprs].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 5, 7, 8, 9, 10, 11]);
    expect([...sgprs].sort((a, b) => a - b)).toEqual([4, 5, 9]);
    expect([...addresses]).toEqual([
      [5, 16],
      [7, 4],
    ]);
  });
});

describe('random batches, seed 6', () => {
  const shape = randomShape(program, 4);
  const state = randomBatch(program, shape, 6, 0);

  test('the shape holds the program, with all the LDS of the target', () => {
    expect(shape).toEqual({ waveSize: 64, waves: 4, wavesPerGroup: 1, vgprs: 12, sgprs: 10, ldsWords: 16384 });
  });

  test('the seed and the batch fix it', () => {
    const same = (seed: number, batch: number) =>
      Buffer.from(randomBatch(program, shape, seed, batch).words.buffer).equals(Buffer.from(state.words.buffer));
    expect([same(6, 0), same(6, 1), same(7, 0)]).toEqual([true, false, false]);
  });

  test('addresses are aligned and small, lanes meet', () => {
    for (const [register, align] of [
      [5, 16],
      [7, 4],
    ] as const)
      for (let wave = 0; wave < 4; wave++) {
        const lanes = state.vgpr(wave, register);
        expect(lanes.every((address) => address % align === 0 && address < 1024)).toBe(true);
      }
    expect(new Set(state.vgpr(0, 5)).size).toBeLessThan(64);
  });

  test('EXEC is full in even waves, partial in odd ones; VCC and SGPRs are random; MODE as kernels start', () => {
    const exec = [0, 1, 2, 3].map((wave) => state.special(wave, Special.execLo));
    expect([exec[0], exec[2]]).toEqual([0xffffffff, 0xffffffff]);
    expect(exec[1]).not.toBe(exec[3]);
    expect(
      new Set([0, 1, 2, 3].flatMap((wave) => [state.scalar(wave, 9), state.scalar(wave, Scalar.vccHi)])).size,
    ).toBe(8);
    expect(state.special(3, Special.mode)).toBe(0x3f0);
  });
});

describe('the built-in programs assemble for every target and wave size, within their batch', () => {
  test.each(targets.flatMap((target) => target.waveSizes.map((waveSize) => [target.name, waveSize] as const)))(
    '%s, wave%i',
    (name, waveSize) => {
      const target = findTarget(name);
      const shape = demonstrationShape(target, waveSize, 1);
      for (const source of [divisionText(target, waveSize), minimumText(target)]) {
        const built = assemble(source, { target, waveSize });
        expect(built.vgprs).toBeLessThanOrEqual(shape.vgprs);
        expect(built.sgprs).toBeLessThanOrEqual(shape.sgprs);
      }
    },
  );
});
