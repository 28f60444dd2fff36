import { type Control, IEEE_DEFAULT, KEEP_INPUT, Round } from './control.ts';
import { floatOfNumber, numberOfFloat } from './format.ts';
import { roundNumber, saturate } from './integers.ts';
import { f32_isNaN, f32_passNaN } from './nan.ts';
import { f32_roundPack } from './roundPack.ts';

const SIGN = 0x80000000;

const isFlushed = (a: number, control: Control): boolean => (a & 0x7f800000) === 0 && (control & KEEP_INPUT) === 0;

/** The integral value next to a by `rounding`, whatever the control's own mode; zero results keep a's sign. */
export const f32_roundToInt = (a: number, rounding: Round, control: Control): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  const value = isFlushed(a, control) ? 0 : roundNumber(numberOfFloat(a), rounding);
  return ((a & SIGN) | floatOfNumber(Math.abs(value))) >>> 0;
};

/** The i32 next to a by `rounding`; out of range saturates, NaN gives 0. Of the control only KEEP_INPUT counts. */
export const f32_to_i32 = (a: number, rounding: Round = Round.towardZero, control: Control = IEEE_DEFAULT): number =>
  f32_isNaN(a) || isFlushed(a, control) ? 0 : saturate(numberOfFloat(a), rounding, -(2 ** 31), 2 ** 31 - 1);

/** The u32 next to a by `rounding`; out of range saturates, negative and NaN give 0. */
export const f32_to_u32 = (a: number, rounding: Round = Round.towardZero, control: Control = IEEE_DEFAULT): number =>
  f32_isNaN(a) || isFlushed(a, control) ? 0 : saturate(numberOfFloat(a), rounding, 0, 2 ** 32 - 1);

const fromInteger = (value: number, control: Control): number =>
  value === 0 ? 0 : f32_roundPack(value < 0 ? SIGN : 0, Math.abs(value), 0, control);

/** The binary32 nearest, by the control's mode, to an i32 given as a number or as its u32 bits. */
export const i32_to_f32 = (a: number, control: Control): number => fromInteger(a | 0, control);

/** The binary32 nearest, by the control's mode, to a u32. */
export const u32_to_f32 = (a: number, control: Control): number => fromInteger(a >>> 0, control);
