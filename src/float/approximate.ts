import { type Control, KEEP_OUTPUT, Round } from './control.ts';
import { powerOfTwo } from './errorFree.ts';
import { f64_exponent, f64_isFinite, f64_significand } from './f64-arithmetic.ts';
import { f64_defaultNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leave, result } from './result.ts';
import { RCP_ROM, type Rom, RSQ_ROM, SQRT_ROM } from './rom.ts';
import { f64_roundPack } from './roundPack.ts';

/**
 * V_RCP_F64, V_RSQ_F64 and V_SQRT_F64 as chips compute them: a cubic of 34 or 35 fraction bits from a table, not the
 * correctly rounded value (ROCm rocjitsu transcendental_f64.h, measured on gfx1100 and gfx1201; a capture on a Radeon
 * RX 9060 XT agrees). All integers here are below 2^53, so they are exact as JavaScript numbers.
 *
 * | source               | RCP    | RSQ         | SQRT        |
 * | -------------------- | ------ | ----------- | ----------- |
 * | +-0 (or flushed)     | +-inf  | +-inf       | +-0         |
 * | +inf                 | +0     | +0          | +inf        |
 * | -inf                 | -0     | default NaN | default NaN |
 * | other negative       | finite | default NaN | default NaN |
 * | NaN                  | passes | passes      | passes      |
 *
 * The mode's rounding has no effect; the denormal controls have.
 */
const SIGN = 0x80000000;
const FIELD = 0x7ff00000;

/** x / 2^n to the nearest integer, ties to even: beside 2^52 a sum has no fraction bits. For 0 <= x < 2^53, n > 1. */
export const rne = (x: number, n: number): number => x * powerOfTwo(-n) + 2 ** 52 - 2 ** 52;

/** floor(x / 2^n). */
export const floorShift = (x: number, n: number): number => Math.floor(x * powerOfTwo(-n));

/** A product below 2^48 cut to its top 24 bits (nearest even), at the scale of 2^23. */
export const q24 = (product: number): number => (product >= 2 ** 47 ? 2 * rne(product, 24) : rne(product, 23));

/** The second and third order terms together; f is the 24-bit offset in the segment. */
const higher = (rom: Rom, row: number, f: number, u: number, v: number): number => {
  const square = floorShift((f >>> 7) * (f >>> 7), 10);
  const slope = rom[4 * row + 2]! * powerOfTwo(u) - rne(rom[4 * row + 3]! * ((f >>> 4) + 1), v);
  return q24(slope * square);
};

/** 1/x for 1 < x < 2 with the top 29 fraction bits m, as Y with 1/x = Y / 2^35. */
const rcpCubic = (m: number): number => {
  const s = m >>> 24;
  const f = m & 0xffffff;
  const linear = RCP_ROM[4 * s + 1]! * f;
  const rounded = linear >= 2 ** 44 ? rne(linear, 21) : floorShift(linear + 0x17ffff, 21);
  return RCP_ROM[4 * s]! * 512 + (s !== 0 ? 256 : 0) - 64 * rounded + higher(RCP_ROM, s, f, 8, 12);
};

/** 1/sqrt(x) for 1 < x < 4, x = 2^p (1 + m/2^29), as Y with 1/sqrt(x) = Y / 2^36. */
const rsqCubic = (p: number, m: number): number => {
  const s = m >>> 24;
  const f = m & 0xffffff;
  const row = 32 * p + s;
  const linear = RSQ_ROM[4 * row + 1]! * (s === 31 ? f & ~0x30 : f);
  const rounded = floorShift(linear + (linear >= 2 ** 43 ? 0x17ffff : 0x1bffff), 21);
  return RSQ_ROM[4 * row]! * 1024 + (s !== 0 ? 512 : 0) - 128 * rounded + higher(RSQ_ROM, row, f, 9, 11);
};

/** sqrt(x) for 1 <= x < 4, x = 2^p (1 + m/2^28), as Y with sqrt(x) = Y / 2^35. */
const sqrtCubic = (p: number, m: number): number => {
  const s = m >>> 24;
  const f = m & 0xffffff;
  const row = 16 * p + s;
  const linear = SQRT_ROM[4 * row + 1]! * f;
  const rounded = linear >= 2 ** 45 ? rne(linear, 22) : floorShift(linear + 2 ** 20, 22);
  const sum = 2 ** 35 + SQRT_ROM[4 * row]! * 1024 + (s !== 15 ? 512 : 0) + 128 * rounded;
  return sum - higher(SQRT_ROM, row, f, 8, 11);
};

/** Unpacked operand: 2^exponent (1 + fraction / 2^52), of a finite non-zero word. */
const operand = { exponent: 0, fraction: 0 };

const normalize = (significand: number, exponent: number): void => {
  let shifted = significand;
  let lowered = exponent;
  while (shifted < 2 ** 52) {
    shifted *= 2;
    lowered -= 1;
  }
  operand.exponent = lowered + 52;
  operand.fraction = shifted - 2 ** 52;
};

const nearest = (control: Control): Control => (control & ~3) | Round.nearestEven;

/** Leaves the power 2^exponent, moved by `step` encodings: the neighbouring word, across any border. */
const leaveBesidePower = (sign: number, exponent: number, step: -1 | 1, control: Control): void => {
  f64_roundPack(sign, 1, 0, exponent, control | KEEP_OUTPUT);
  const lo = result[0]!;
  const hi = result[1]!;
  if ((hi & FIELD) >>> 0 === FIELD) return;
  const carry = step === 1 && lo === 0xffffffff ? 1 : step === -1 && lo === 0 ? -1 : 0;
  const stepped = hi + carry;
  if ((stepped & FIELD) === 0 && (control & KEEP_OUTPUT) === 0) f64_leave(sign, 0);
  else f64_leave(stepped, lo + step);
};

const rcpFinite = (sign: number, control: Control): void => {
  const { exponent, fraction } = operand;
  if (fraction === 0) f64_roundPack(sign, 1, 0, -exponent, control);
  else if (fraction === 2 ** 52 - 1) leaveBesidePower(sign, -exponent - 1, 1, control);
  else if (fraction < 2 ** 23) leaveBesidePower(sign, -exponent, -1, control);
  else f64_roundPack(sign, rcpCubic(floorShift(fraction, 23)), 0, -exponent - 35, control);
};

/**
 * V_RCP_F64 of the number 1.fraction as a double, for the 20 high and the 32 low bits of the fraction: from 1/2 to 1.
 * A finite operand's reciprocal is this times a power of two wherever that is normal.
 */
export const amd_rcp_significand = (hi: number, lo: number): number => {
  if (hi === 0 && lo >>> 0 < 2 ** 23) return lo === 0 ? 1 : 1 - 2 ** -53;
  if (hi === 0xfffff && (lo | 0) === -1) return 0.5 + 2 ** -53;
  return rcpCubic((hi << 9) | (lo >>> 23)) * 2 ** -35;
};

/** V_RCP_F64. */
export const amd_rcp_f64 = (aHi: number, aLo: number, control: Control): void => {
  const sign = aHi & SIGN;
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (a === 0) f64_leave(sign | FIELD, 0);
  else if (!f64_isFinite(aHi)) f64_leave(sign, 0);
  else {
    normalize(a, f64_exponent(aHi));
    rcpFinite(sign, nearest(control));
  }
};

const rsqFinite = (control: Control): void => {
  const { exponent, fraction } = operand;
  const p = exponent & 1;
  const half = (exponent - p) / 2;
  if (p === 0 && fraction === 0) f64_roundPack(0, 1, 0, -half, control);
  else if (p === 0 && fraction < 2 ** 23) leaveBesidePower(0, -half, -1, control);
  else f64_roundPack(0, rsqCubic(p, floorShift(fraction, 23)), 0, -half - 36, control);
};

/** V_RSQ_F64. */
export const amd_rsq_f64 = (aHi: number, aLo: number, control: Control): void => {
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (a === 0) f64_leave((aHi & SIGN) | FIELD, 0);
  else if ((aHi & SIGN) !== 0) f64_defaultNaN(control);
  else if (!f64_isFinite(aHi)) f64_leave(0, 0);
  else {
    normalize(a, f64_exponent(aHi));
    rsqFinite(nearest(control));
  }
};

/** V_SQRT_F64. */
export const amd_sqrt_f64 = (aHi: number, aLo: number, control: Control): void => {
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (a === 0) f64_leave(aHi & SIGN, 0);
  else if ((aHi & SIGN) !== 0) f64_defaultNaN(control);
  else if (!f64_isFinite(aHi)) f64_leave(FIELD, 0);
  else {
    normalize(a, f64_exponent(aHi));
    const p = operand.exponent & 1;
    const half = (operand.exponent - p) / 2;
    f64_roundPack(0, sqrtCubic(p, floorShift(operand.fraction, 24)), 0, half - 35, nearest(control));
  }
};
