import { type Control, NAN_CANONICAL, NAN_POSITIVE, QUIET } from './control.ts';
import { f64_leave } from './result.ts';

/**
 * NaN, in one place and on integers only: a payload never travels through a JavaScript number.
 *
 * Which NaN comes out of an operation on a, b and c (mulAdd; the others have fewer operands), first match wins:
 *
 * | case                                  | result               |
 * | ------------------------------------- | -------------------- |
 * | a NaN                                 | passes a             |
 * | b NaN                                 | passes b             |
 * | a, b are a zero and an infinity       | default NaN          |
 * | c NaN                                 | passes c             |
 * | a*b and c are opposite infinities     | default NaN          |
 *
 * captured on gfx1100 and gfx1201 for f32 FMA (ROCm rocjitsu fp_mode.h) and stated there for DIV_FMAS f32 and f64.
 * "Passes" means: the default NaN under NAN_CANONICAL; else the same bits, with the quiet bit set under QUIET.
 */
const F64_QUIET = 0x00080000;
const F32_QUIET = 0x00400000;

/** Is the binary64 word a NaN of either kind? */
export const f64_isNaN = (hi: number, lo: number): boolean => {
  const magnitude = hi & 0x7fffffff;
  return magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && lo !== 0);
};

/** Is the binary64 word a signalling NaN? */
export const f64_isSignalingNaN = (hi: number, lo: number): boolean => f64_isNaN(hi, lo) && (hi & F64_QUIET) === 0;

/** Leaves the default NaN: AMD's and x86's is negative, that of ARM, RISC-V and wasm positive. */
export const f64_defaultNaN = (control: Control): void =>
  f64_leave(control & NAN_POSITIVE ? 0x7ff80000 : 0xfff80000, 0);

/** Leaves what becomes of the NaN (hi, lo) when an operation passes it on. */
export const f64_passNaN = (hi: number, lo: number, control: Control): void => {
  if (control & NAN_CANONICAL) f64_defaultNaN(control);
  else f64_leave(control & QUIET ? hi | F64_QUIET : hi, lo);
};

/** Is the binary32 word a NaN of either kind? */
export const f32_isNaN = (a: number): boolean => (a & 0x7fffffff) > 0x7f800000;

/** Is the binary32 word a signalling NaN? */
export const f32_isSignalingNaN = (a: number): boolean => f32_isNaN(a) && (a & F32_QUIET) === 0;

/** The default NaN of binary32. */
export const f32_defaultNaN = (control: Control): number => (control & NAN_POSITIVE ? 0x7fc00000 : 0xffc00000);

/** What becomes of the NaN `a` when an operation passes it on. */
export const f32_passNaN = (a: number, control: Control): number => {
  if (control & NAN_CANONICAL) return f32_defaultNaN(control);
  return (control & QUIET ? a | F32_QUIET : a) >>> 0;
};
