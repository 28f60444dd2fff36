import { describe, expect, test } from 'vitest';
import { amd_rcp_f64, amd_rsq_f64, amd_sqrt_f64 } from '../../src/float/approximate.ts';
import { amd_rcp_f32, amd_rsq_f32, amd_sqrt_f32 } from '../../src/float/approximate-f32.ts';
import { type Control, IEEE_DEFAULT, KEEP_INPUT, KEEP_OUTPUT, QUIET, Round } from '../../src/float/control.ts';
import { hiWord, loWord } from '../../src/float/format.ts';
import { RCP_ROM, type Rom, RSQ_ROM, SQRT_ROM } from '../../src/float/rom.ts';
import { textLines } from './files.ts';
import { resultBits } from './operations.ts';

type OnF64 = (hi: number, lo: number, control: Control) => void;

const f64 = (instruction: OnF64, source: bigint, control: Control = IEEE_DEFAULT): string => {
  instruction(hiWord(source), loWord(source), control);
  return resultBits().toString(16).padStart(16, '0');
};

const f32 = (instruction: (a: number, control?: Control) => number, source: number): string =>
  instruction(source).toString(16).padStart(8, '0');

describe('coefficient tables of V_RCP, V_RSQ and V_SQRT by formula', () => {
  const row = (rom: Rom, index: number): number[] => [...rom.subarray(4 * index, 4 * index + 4)];

  // Rows of the tables in ROCm rocjitsu transcendental_f64.h.
  test.each([
    ['RCP', RCP_ROM, 0, [67108864, 2097138, 65462, 1925]],
    ['RCP (the one exception: a3)', RCP_ROM, 31, [34087042, 541063, 8585, 131]],
    ['RSQ', RSQ_ROM, 32, [47453132, 741452, 17363, 428]],
    ['SQRT', SQRT_ROM, 0, [0, 2097143, 32722, 474]],
    ['SQRT', SQRT_ROM, 31, [32497533, 2130707, 17176, 133]],
  ] as const)('%s row', (_, rom, index, want) => {
    expect(row(rom, index)).toEqual(want);
  });
});

const INSTRUCTIONS_F64: Record<string, OnF64> = {
  v_rcp_f64: amd_rcp_f64,
  v_rsq_f64: amd_rsq_f64,
  v_sqrt_f64: amd_sqrt_f64,
};

const INSTRUCTIONS_F32: Record<string, (a: number, control?: Control) => number> = {
  v_rcp_f32: amd_rcp_f32,
  v_rsq_f32: amd_rsq_f32,
  v_sqrt_f32: amd_sqrt_f32,
};

describe('captured on a Radeon RX 9060 XT (gfx1200)', () => {
  test.each(Object.entries(INSTRUCTIONS_F64))('%s', (name, instruction) => {
    const lines = textLines(`${name}.txt`);
    expect(lines.length).toBeGreaterThanOrEqual(17);
    for (const [source, want] of lines) expect(f64(instruction, BigInt(`0x${source}`)), source).toBe(want);
  });
});

describe('known answers (ROCm rocjitsu transcendental_test.cpp and rows derived from the rule)', () => {
  const rows = textLines('approximate.txt');

  test.each([...Object.keys(INSTRUCTIONS_F32), 'v_rcp_f64'])('%s', (name) => {
    const own = rows.filter(([instruction]) => instruction === name);
    expect(own.length).toBeGreaterThanOrEqual(16);
    for (const [, source, want, , both] of own) {
      const on64 = INSTRUCTIONS_F64[name];
      if (on64) expect(f64(on64, BigInt(`0x${source}`)), source).toBe(want);
      else {
        const on32 = INSTRUCTIONS_F32[name]!;
        const word = Number.parseInt(source!, 16);
        expect(f32(on32, word), source).toBe(want);
        if (both)
          expect(f32(on32, word + 0x80000000), `-${source}`).toBe(
            f32(() => Number.parseInt(want!, 16) + 0x80000000, 0),
          );
      }
    }
  });
});

describe('digest of every result over the whole domain (gfx1100 and gfx1201)', () => {
  /** FNV-1a over words, modulo 2^64, in three limbs of which no product or sum reaches 2^53. */
  const digest = (count: number, instruction: (a: number) => number): string => {
    let low = 0x222325;
    let middle = 0x9ce484;
    let high = 0xcbf2;
    for (let i = 0; i < count; i++) {
      const word = instruction(0x3f800000 + i);
      low ^= word & 0xffffff;
      middle ^= word >>> 24;
      // The prime is 2^40 + 0x1b3.
      const l = low * 0x1b3;
      const m = middle * 0x1b3 + Math.floor(l / 2 ** 24) + (low & 0xff) * 2 ** 16;
      const h = high * 0x1b3 + Math.floor(m / 2 ** 24) + (low >>> 8);
      low = l & 0xffffff;
      middle = m & 0xffffff;
      high = h & 0xffff;
    }
    return ((BigInt(high) << 48n) | (BigInt(middle) << 24n) | BigInt(low)).toString(16).padStart(16, '0');
  };

  test.each([
    ['v_rcp_f32', 2 ** 23, amd_rcp_f32, 'd54ec24992572df9'],
    ['v_rsq_f32', 2 ** 24, amd_rsq_f32, '010bc79eb6e48caf'],
    ['v_sqrt_f32', 2 ** 24, amd_sqrt_f32, '514d49d31f12176b'],
  ] as const)('%s', (_, count, instruction, want) => {
    expect(digest(count, instruction)).toBe(want);
  });
});

describe('denormal controls and special values of the f64 instructions', () => {
  const keep = IEEE_DEFAULT;
  const flushIn = keep & ~KEEP_INPUT;
  const flushOut = keep & ~KEEP_OUTPUT;

  test.each([
    ['1/2^1023 is subnormal: kept', amd_rcp_f64, 0x7fe0000000000000n, keep, '0008000000000000'],
    ['and flushed', amd_rcp_f64, 0xffe0000000000000n, flushOut, '8000000000000000'],
    ['next below 2^-1022 is subnormal: flushed', amd_rcp_f64, 0x7fd0000000000001n, flushOut, '0000000000000000'],
    ['and kept', amd_rcp_f64, 0x7fd0000000000001n, keep, '000fffffffffffff'],
    ['an all-ones fraction', amd_rcp_f64, 0x7fefffffffffffffn, keep, '0004000000000001'],
    ['a subnormal source', amd_rcp_f64, 0x0008000000000000n, keep, '7fe0000000000000'],
    ['flushed', amd_rcp_f64, 0x8008000000000000n, flushIn, 'fff0000000000000'],
    ['overflow', amd_rcp_f64, 0x8000000000000001n, keep, 'fff0000000000000'],
    ['rsq of the smallest subnormal, 2^-1074', amd_rsq_f64, 1n, keep, '6180000000000000'],
    ['flushed', amd_rsq_f64, 1n, flushIn, '7ff0000000000000'],
    ['rsq of -0', amd_rsq_f64, 0x8000000000000000n, keep, 'fff0000000000000'],
    ['rsq of a negative', amd_rsq_f64, 0xbff0000000000000n, keep, 'fff8000000000000'],
    [
      'sqrt of the smallest subnormal, a power of 4: not exact, as captured for 1 and 4',
      amd_sqrt_f64,
      1n,
      keep,
      '1e60000004000000',
    ],
    ['sqrt of -0', amd_sqrt_f64, 0x8000000000000000n, keep, '8000000000000000'],
    ['sqrt of -inf', amd_sqrt_f64, 0xfff0000000000000n, keep, 'fff8000000000000'],
    ['a signalling NaN is quieted', amd_sqrt_f64, 0xfff0000000000001n, keep, 'fff8000000000001'],
    ['or passes', amd_rcp_f64, 0xfff0000000000001n, keep & ~QUIET, 'fff0000000000001'],
  ] as const)('%s', (_, instruction, source, control, want) => {
    for (const round of Object.values(Round)) expect(f64(instruction, source, (control & ~3) | round)).toBe(want);
  });
});
