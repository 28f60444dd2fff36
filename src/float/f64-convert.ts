import { type Control, IEEE_DEFAULT, KEEP_INPUT, NAN_CANONICAL, Round } from './control.ts';
import { f64_isFinite } from './f64-arithmetic.ts';
import { hiOfNumber, loOfNumber, numberOfFloat, numberOfWords } from './format.ts';
import { roundNumber, saturate } from './integers.ts';
import { f32_defaultNaN, f32_isNaN, f32_passNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leave, f64_leaveNumber } from './result.ts';
import { f32_roundPack } from './roundPack.ts';

const SIGN = 0x80000000;

const isFlushed = (hi: number, control: Control): boolean => (hi & 0x7ff00000) === 0 && (control & KEEP_INPUT) === 0;

/** The integral value next to a by `rounding`, whatever the control's own mode; zero results keep a's sign. */
export const f64_roundToInt = (aHi: number, aLo: number, rounding: Round, control: Control): void => {
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else {
    const value = isFlushed(aHi, control) ? 0 : roundNumber(numberOfWords(aHi, aLo), rounding);
    f64_leave((aHi & SIGN) | (hiOfNumber(value) & 0x7fffffff), loOfNumber(value));
  }
};

/**
 * The i32 next to a by `rounding`; out of range saturates, NaN gives 0 (V_CVT_I32_F64 truncates). Of the control
 * only KEEP_INPUT counts: a flushed subnormal converts as zero.
 */
export const f64_to_i32 = (
  aHi: number,
  aLo: number,
  rounding: Round = Round.towardZero,
  control: Control = IEEE_DEFAULT,
): number => {
  if (f64_isNaN(aHi, aLo) || isFlushed(aHi, control)) return 0;
  return saturate(numberOfWords(aHi, aLo), rounding, -(2 ** 31), 2 ** 31 - 1);
};

/** The u32 next to a by `rounding`; out of range saturates, negative and NaN give 0 (V_CVT_U32_F64 truncates). */
export const f64_to_u32 = (
  aHi: number,
  aLo: number,
  rounding: Round = Round.towardZero,
  control: Control = IEEE_DEFAULT,
): number => {
  if (f64_isNaN(aHi, aLo) || isFlushed(aHi, control)) return 0;
  return saturate(numberOfWords(aHi, aLo), rounding, 0, 2 ** 32 - 1);
};

/** The binary64 of an i32 given as a number in [-2^31, 2^31) or as its u32 bits; exact. */
export const i32_to_f64 = (a: number): void => f64_leaveNumber(a | 0);

/** The binary64 of a u32; exact. */
export const u32_to_f64 = (a: number): void => f64_leaveNumber(a >>> 0);

/**
 * The binary32 nearest to a. The source's control gives the input flush, the destination's all the rest: rounding,
 * output flush and NaN rule (AMD's mixed formats read two MODE fields). A NaN keeps its sign and the top of its payload
 * and is always quieted, since the bits that remain might be zero.
 */
export const f64_to_f32 = (aHi: number, aLo: number, control64: Control, control32: Control): number => {
  if (f64_isNaN(aHi, aLo)) {
    if (control32 & NAN_CANONICAL) return f32_defaultNaN(control32);
    return ((aHi & SIGN) | 0x7fc00000 | ((aHi & 0xfffff) << 3) | (aLo >>> 29)) >>> 0;
  }
  const sign = aHi & SIGN;
  if (!f64_isFinite(aHi)) return (sign | 0x7f800000) >>> 0;
  const magnitude = isFlushed(aHi, control64) ? 0 : numberOfWords(aHi & 0x7fffffff, aLo);
  return magnitude === 0 ? sign >>> 0 : f32_roundPack(sign, magnitude, 0, control32);
};

/** The binary64 of a binary32: exact. The control is the source's: input flush and NaN rule. */
export const f32_to_f64 = (a: number, control32: Control): void => {
  if (f32_isNaN(a)) {
    // The default NaN of binary32 widens to that of binary64.
    const passed = f32_passNaN(a, control32);
    f64_leave((passed & SIGN) | 0x7ff00000 | ((passed & 0x7fffff) >>> 3), passed << 29);
    return;
  }
  const flushed = (a & 0x7f800000) === 0 && (control32 & KEEP_INPUT) === 0;
  const value = flushed ? 0 : numberOfFloat(a & 0x7fffffff);
  f64_leave((a & SIGN) | hiOfNumber(value), loOfNumber(value));
};
