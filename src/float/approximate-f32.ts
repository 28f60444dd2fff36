import { floorShift, q24, rne } from './approximate.ts';
import { type Control, IEEE_DEFAULT } from './control.ts';
import { f32_defaultNaN, f32_isNaN, f32_passNaN } from './nan.ts';
import { RCP_ROM, RSQ_ROM, SQRT_ROM } from './rom.ts';

/**
 * V_RCP_F32, V_RSQ_F32 and V_SQRT_F32 as chips compute them: the f64 datapath fed with the 23-bit fraction, without its
 * added constant, its sum rounded once to 24 bits. The digests over every mantissa that ROCm rocjitsu's
 * transcendental_test.cpp gives for gfx1100 and gfx1201 come out (test/float/approximate.test.ts).
 *
 * Subnormal sources count as zero and subnormal results become zero, whatever the mode; its rounding has no effect. Of
 * the control only the NaN rules count. Special values as in approximate.ts.
 */
const SIGN = 0x80000000;
const FIELD = 0x7f800000;

/** 1/x for x = 1 + fraction / 2^23: the word of a value in (1/2, 1]. */
const rcpWord = (fraction: number): number => {
  const row = 4 * (fraction >>> 18);
  const f = fraction & 0x3ffff;
  const linear = RCP_ROM[row + 1]! * f;
  const rounded = linear >= 2 ** 38 ? rne(linear, 15) : floorShift(linear + 0x5fff, 15);
  const slope = RCP_ROM[row + 2]! * 256 - rne(RCP_ROM[row + 3]! * (4 * f + 1), 12);
  const higher = q24(slope * floorShift((f >>> 1) * (f >>> 1), 10));
  return 0x3e800000 + rne(RCP_ROM[row]! * 512 - 64 * rounded + higher, 11);
};

/** 1/sqrt(x) for x = 2^p (1 + fraction / 2^23): the word of a value in (1/2, 1]. */
const rsqWord = (p: number, fraction: number): number => {
  const row = 4 * (32 * p + (fraction >>> 18));
  const f = fraction & 0x3ffff;
  const linear = RSQ_ROM[row + 1]! * f;
  const rounded = floorShift(linear + (linear >= 2 ** 37 ? 0x5fff : 0x6fff), 15);
  const slope = RSQ_ROM[row + 2]! * 512 - rne(RSQ_ROM[row + 3]! * (4 * f + 1), 11);
  const higher = q24(slope * floorShift((f >>> 1) * (f >>> 1), 10));
  return 0x3e800000 + rne(RSQ_ROM[row]! * 1024 - 128 * rounded + higher, 12);
};

/** sqrt(x) for x = 2^p (1 + fraction / 2^23): the word of a value in [1, 2). */
const sqrtWord = (p: number, fraction: number): number => {
  const row = 4 * (16 * p + (fraction >>> 19));
  const f = fraction & 0x7ffff;
  const linear = SQRT_ROM[row + 1]! * f;
  const rounded = linear >= 2 ** 40 ? rne(linear, 17) : floorShift(linear + 0x8000, 17);
  const slope = SQRT_ROM[row + 2]! * 256 - rne(SQRT_ROM[row + 3]! * (2 * f + 1), 11);
  const higher = q24(slope * floorShift((f >>> 2) * (f >>> 2), 10));
  return 0x3f000000 + rne(2 ** 35 + SQRT_ROM[row]! * 1024 + 128 * rounded - higher, 12);
};

/** The unbiased exponent of a normal word. */
const exponentOf = (a: number): number => ((a >>> 23) & 0xff) - 127;

/** V_RCP_F32. */
export const amd_rcp_f32 = (a: number, control: Control = IEEE_DEFAULT): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  const sign = a & SIGN;
  const field = a & FIELD;
  if (field === 0) return (sign | FIELD) >>> 0;
  if (field === FIELD) return sign >>> 0;
  const word = rcpWord(a & 0x7fffff) - exponentOf(a) * 2 ** 23;
  return (sign | (word < 0x00800000 ? 0 : word)) >>> 0;
};

/** V_RSQ_F32. */
export const amd_rsq_f32 = (a: number, control: Control = IEEE_DEFAULT): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if ((a & FIELD) === 0) return ((a & SIGN) | FIELD) >>> 0;
  if ((a & SIGN) !== 0) return f32_defaultNaN(control);
  if (a === FIELD) return 0;
  const exponent = exponentOf(a);
  const p = exponent & 1;
  return rsqWord(p, a & 0x7fffff) - ((exponent - p) / 2) * 2 ** 23;
};

/** V_SQRT_F32. */
export const amd_sqrt_f32 = (a: number, control: Control = IEEE_DEFAULT): number => {
  if (f32_isNaN(a)) return f32_passNaN(a, control);
  if ((a & FIELD) === 0) return (a & SIGN) >>> 0;
  if ((a & SIGN) !== 0) return f32_defaultNaN(control);
  if (a === FIELD) return a;
  const exponent = exponentOf(a);
  const p = exponent & 1;
  return sqrtWord(p, a & 0x7fffff) + ((exponent - p) / 2) * 2 ** 23;
};
