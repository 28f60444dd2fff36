import { describe, expect, test } from 'vitest';
import {
  type Control,
  IEEE_DEFAULT,
  KEEP_INPUT,
  KEEP_OUTPUT,
  NAN_CANONICAL,
  NAN_POSITIVE,
  QUIET,
  Round,
} from '../../src/float/control.ts';
import { f32_isBelow, f32_overflow, f32_underflow } from '../../src/float/f32.ts';
import { f64_isBelow, f64_overflow, f64_underflow } from '../../src/float/f64.ts';
import { fastBits, OPERATIONS, type Operation, resultBits } from './operations.ts';

/**
 * Rules that no vector file shows, with literal words, for oracle and fast library alike: which NaN comes out, what the
 * denormal controls flush and when a result counts as tiny, and the sign of an exact zero.
 */
const named = (name: string): Operation => OPERATIONS.find((operation) => operation.name === name)!;

const expectBits = (name: string, operands: readonly bigint[], control: Control, want: bigint): void => {
  const operation = named(name);
  expect(operation.oracle(operands, control).toString(16), 'oracle').toBe(want.toString(16));
  expect(fastBits(operation, operands, control).toString(16), 'fast').toBe(want.toString(16));
};

const ONE = 0x3ff0000000000000n;
const INF = 0x7ff0000000000000n;
const SIGNALING = 0xfff0000000000123n;
const SIGNALING_QUIETED = 0xfff8000000000123n;
const QUIET_1 = 0x7ff8000000000111n;
const QUIET_2 = 0xfff8000000000222n;
const DEFAULT_NAN = 0xfff8000000000000n;

describe('which NaN comes out of mulAdd (captured for f32 FMA on gfx1100 and gfx1201)', () => {
  test.each([
    ['a before b and c', [SIGNALING, QUIET_1, QUIET_2], SIGNALING_QUIETED],
    ['b before c', [ONE, QUIET_1, SIGNALING], QUIET_1],
    ['0 * inf before a NaN c', [0n, INF, QUIET_1], DEFAULT_NAN],
    ['a NaN c before inf - inf', [INF, ONE, QUIET_2], QUIET_2],
    ['inf - inf', [INF, ONE, INF | (1n << 63n)], DEFAULT_NAN],
    ['an infinite product of minus sign and inf', [INF | (1n << 63n), ONE, INF], DEFAULT_NAN],
    ['infinities of one sign are no NaN', [INF, ONE, INF], INF],
    ['a finite product and inf', [ONE, ONE, INF | (1n << 63n)], INF | (1n << 63n)],
  ] as const)('%s', (_, operands, want) => expectBits('f64_mulAdd', operands, IEEE_DEFAULT, want));

  test('a subnormal that is flushed times infinity is 0 * inf', () => {
    expectBits('f64_mulAdd', [1n, INF, ONE], IEEE_DEFAULT & ~KEEP_INPUT, DEFAULT_NAN);
    expectBits('f64_mulAdd', [1n, INF, ONE], IEEE_DEFAULT, INF);
    expectBits('f32_mul', [1n, 0xff800000n], IEEE_DEFAULT & ~KEEP_INPUT, 0xffc00000n);
    expectBits('f32_mul', [1n, 0xff800000n], IEEE_DEFAULT, 0xff800000n);
  });
});

describe('what becomes of a NaN (QUIET, NAN_CANONICAL, NAN_POSITIVE)', () => {
  const base = KEEP_INPUT | KEEP_OUTPUT;
  test.each([
    ['quieted', base | QUIET, SIGNALING_QUIETED],
    ['as it came', base, SIGNALING],
    ['the default', base | QUIET | NAN_CANONICAL, DEFAULT_NAN],
    ['the positive default', base | NAN_CANONICAL | NAN_POSITIVE, 0x7ff8000000000000n],
  ])('a passed signalling NaN: %s', (_, control, want) => {
    expectBits('f64_add', [ONE, SIGNALING], control, want);
    expectBits('f64_sub', [ONE, SIGNALING], control, want);
    expectBits('f64_mul', [SIGNALING, ONE], control, want);
    expectBits('f64_sqrt', [SIGNALING], control, want);
    expectBits('f64_roundToInt', [SIGNALING], control, want);
    expectBits('f64_ldexp 1', [SIGNALING], control, want);
  });

  test('a generated NaN', () => {
    expectBits('f64_sqrt', [0xbff0000000000000n], base, DEFAULT_NAN);
    expectBits('f64_div', [0n, 0n], base | NAN_POSITIVE, 0x7ff8000000000000n);
    expectBits('f32_div', [0n, 0n], base, 0xffc00000n);
    expectBits('f32_sqrt', [0xbf800000n], base | NAN_POSITIVE, 0x7fc00000n);
  });

  test('through conversions: sign and the top of the payload, narrowing always quiets', () => {
    expectBits('f64_to_f32', [0xfff0000020000001n], base, 0xffc00001n);
    expectBits('f64_to_f32', [0x7ff0000000000001n], base, 0x7fc00000n);
    expectBits('f32_to_f64', [0xff800001n], base, 0xfff0000020000000n);
    expectBits('f32_to_f64', [0xff800001n], base | QUIET, 0xfff8000020000000n);
    expectBits('f32_to_f64', [0x7f800001n], base | NAN_CANONICAL, DEFAULT_NAN);
  });
});

describe('flushing subnormals', () => {
  const flushOut = IEEE_DEFAULT & ~KEEP_OUTPUT;
  const flushIn = IEEE_DEFAULT & ~KEEP_INPUT;

  test('ldexp(2^-1022, -1) is 2^-1023, or zero', () => {
    expectBits('f64_ldexp -1', [0x8010000000000000n], IEEE_DEFAULT, 0x8008000000000000n);
    expectBits('f64_ldexp -1', [0x8010000000000000n], flushOut, 0x8000000000000000n);
  });

  test('a source counts as the zero of its sign', () => {
    expectBits('f64_add', [0x800fffffffffffffn, 0x8000000000000000n], flushIn, 0x8000000000000000n);
    expectBits('f64_div', [ONE, 0x8000000000000001n], flushIn, 0xfff0000000000000n);
    expectBits('f64_relation', [0x8000000000000001n, 0n], flushIn, 2n);
    expectBits('f64_relation', [0x8000000000000001n, 0n], IEEE_DEFAULT, 1n);
    expectBits('f32_to_f64', [0x80000001n], flushIn, 0x8000000000000000n);
  });

  // x = (2^-511 + 2^-563) (2^-511 - 2^-563) = 2^-1022 - 2^-1126: rounds to 2^-1022 at 53 bits, so it is not tiny;
  // toward zero it is 2^-1022 - 2^-1075 at 53 bits, hence tiny.
  test('tiny is judged after rounding with unbounded exponent', () => {
    const factors = [0x2000000000000001n, 0x1ffffffffffffffen] as const;
    expectBits('f64_mul', factors, flushOut, 0x0010000000000000n);
    expectBits('f64_mul', factors, flushOut | Round.up, 0x0010000000000000n);
    expectBits('f64_mul', factors, flushOut | Round.towardZero, 0n);
  });

  // x = 2^-1022 (1 - 3/4 2^-53 - ...) rounds to 2^-1022 on the subnormal grid of 2^-1074 but below it at 53 bits.
  test('a tiny result flushes even where the subnormal grid reaches the smallest normal number', () => {
    const factors = [0x3fefffffffffffffn, 0x0010000000000000n] as const;
    expectBits('f64_mul', factors, IEEE_DEFAULT, 0x0010000000000000n);
    expectBits('f64_mul', factors, flushOut, 0n);
    const singles = [0x3f7fffffn, 0x80800000n] as const;
    expectBits('f32_mul', singles, IEEE_DEFAULT, 0x80800000n);
    expectBits('f32_mul', singles, flushOut, 0x80000000n);
  });
});

describe('at the edges of the fast paths', () => {
  test('cancellation of normal operands down to a subnormal sum is flushed too', () => {
    // a^2 - 2^-944 (1 + 2^-51) = 2^-1048 for a = 2^-472 (1 + 2^-52).
    const operands = [0x2270000000000001n, 0x2270000000000001n, 0x84f0000000000002n] as const;
    expectBits('f64_mulAdd', operands, IEEE_DEFAULT, 0x0000000004000000n);
    expectBits('f64_mulAdd', operands, IEEE_DEFAULT & ~KEEP_OUTPUT, 0n);
  });

  test('just below the tie between the largest binary32 and infinity', () => {
    // 2^52 (1 + 2^-23) * 2^51 (1 - 2^-23) = 2^103 - 2^57, half a last place of the addend but for 2^57.
    expectBits('f32_mulAdd', [0x59800001n, 0x58fffffen, 0x7f7fffffn], IEEE_DEFAULT, 0x7f7fffffn);
    expectBits('f32_mulAdd', [0x59000000n, 0x59800000n, 0x7f7fffffn], IEEE_DEFAULT, 0x7f800000n);
  });
});

describe('the sign of an exact zero (IEEE 754-2019 6.3)', () => {
  const down = IEEE_DEFAULT | Round.down;
  test.each([
    ['1 - 1', [ONE, ONE], IEEE_DEFAULT, 0n],
    ['1 - 1, round down', [ONE, ONE], down, 1n << 63n],
    ['-0 - +0', [1n << 63n, 0n], IEEE_DEFAULT, 1n << 63n],
    ['+0 - -0, round down', [0n, 1n << 63n], down, 0n],
    ['+0 - +0, round down', [0n, 0n], down, 1n << 63n],
  ] as const)('%s', (_, operands, control, want) => expectBits('f64_sub', operands, control, want));

  test('1 * 1 - 1 in round down (captured for FMA_MIX on gfx1100 and gfx1201)', () => {
    expectBits('f32_mulAdd', [0x3f800000n, 0x3f800000n, 0xbf800000n], down, 0x80000000n);
    expectBits('f64_mulAdd', [ONE, ONE, 0xbff0000000000000n], down, 1n << 63n);
  });
});

describe('one rounding where two would differ', () => {
  test('mulAddScaled does not overflow before the scale: 2^800 * 2^300 * 2^-128 is 2^972', () => {
    const powers = [0x71f0000000000000n, 0x52b0000000000000n, 0n] as const;
    expectBits('f64_mulAddScaled -128', powers, IEEE_DEFAULT, 0x7cb0000000000000n);
  });

  test('mulAddScaled rounds after the scale only', () => {
    // 2^-895 (1 + 2^-52) + 2^-949 is just above a tie of the subnormal grid once scaled; at 53 bits it is a tie.
    const operands = [0x0800000000000001n, ONE, 0x04a0000000000000n] as const;
    expectBits('f64_mulAddScaled -128', operands, IEEE_DEFAULT, 0x0008000000000001n);
  });

  test('a tie of the nearest double is decided by what lies below it', () => {
    // 1 + 2^-53 + 2^-106: the sum's nearest double would tie.
    expectBits('f64_mulAdd', [ONE | 1n, 0x3ca0000000000000n, ONE], IEEE_DEFAULT, ONE | 1n);
    // In binary32 1 + 2^-24 is a tie, and (1 + 2^-23) 2^-24 more than one.
    expectBits('f32_mulAdd', [0x3f800000n, 0x3f800000n, 0x33800000n], IEEE_DEFAULT, 0x3f800000n);
    expectBits('f32_mulAdd', [0x3f800001n, 0x33800000n, 0x3f800000n], IEEE_DEFAULT, 0x3f800001n);
  });
});

describe('overflow and underflow results by the mode (IEEE 754-2019 7.4, 7.5)', () => {
  const SIGN = 0x80000000;
  // Rows: nearest, up, down, toward zero.
  test.each([
    [Round.nearestEven, 'inf', '-inf', 0, 0],
    [Round.up, 'inf', '-max', 1, 0],
    [Round.down, 'max', '-inf', 0, 1],
    [Round.towardZero, 'max', '-max', 0, 0],
  ] as const)('mode %i', (round, plus, minus, tinyPlus, tinyMinus) => {
    const control = (IEEE_DEFAULT & ~3) | round;
    const words: Record<string, [bigint, number]> = {
      inf: [0x7ff0000000000000n, 0x7f800000],
      max: [0x7fefffffffffffffn, 0x7f7fffff],
      '-inf': [0xfff0000000000000n, 0xff800000],
      '-max': [0xffefffffffffffffn, 0xff7fffff],
    };
    for (const [sign, name, tiny] of [
      [0, plus, tinyPlus],
      [SIGN, minus, tinyMinus],
    ] as const) {
      f64_overflow(sign, control);
      expect(resultBits()).toBe(words[name]![0]);
      expect(f32_overflow(sign, control)).toBe(words[name]![1]);
      f64_underflow(sign, control);
      expect(resultBits()).toBe((BigInt(sign) << 32n) | BigInt(tiny));
      expect(f32_underflow(sign, control)).toBe(sign + tiny);
      expect(f32_underflow(sign, control & ~KEEP_OUTPUT)).toBe(sign);
    }
  });
});

describe('the order of minimum and maximum: -0 below +0', () => {
  const ascending = [0xfff00000, 0xbff00000, 0x80100000, 0x80000000, 0, 0x00100000, 0x3ff00000, 0x7ff00000];
  test('f64_isBelow and f32_isBelow', () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        expect(f64_isBelow(a, 0, b, 0)).toBe(i < j);
        expect(f32_isBelow(a, b)).toBe(i < j);
      }
    }
    expect(f64_isBelow(0x3ff00000, 1, 0x3ff00000, 2)).toBe(true);
    expect(f64_isBelow(0xbff00000, 1, 0xbff00000, 2)).toBe(false);
  });
});
