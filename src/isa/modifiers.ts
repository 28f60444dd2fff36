/**
 * The output modifiers of VOP3: OMOD, then CLAMP, on the rounded and flushed result.
 *
 * | result before OMOD      | after *2, *4, /2                               |
 * | ----------------------- | ---------------------------------------------- |
 * | NaN, infinity           | unchanged                                      |
 * | zero, subnormal         | +0                                             |
 * | smallest exponent, /2   | zero of its sign                               |
 * | overflow                | infinity or the largest finite number, by MODE |
 * | else                    | exponent moved, exact                          |
 *
 * CLAMP: what is below 0, and -0, gives +0; what is above 1 gives 1; NaN gives +0 under DX10_CLAMP, else it stays.
 *
 * Source: ROCm rocjitsu shared/output_modifier.h (both tables captured on gfx1201; OMOD on f16 also on gfx1100, gfx1030, gfx1010).
 */
import { type Control, KEEP_OUTPUT } from '../float/control.ts';
import { f32_isNaN, f32_overflow } from '../float/f32.ts';
import { f64_isNaN, f64_leave, f64_overflow } from '../float/f64.ts';
import { controlF32, controlF64, MODE_DX10_CLAMP, MODE_IEEE } from '../wavefront/mode.ts';
import type { InstructionDef } from './instruction.ts';

/** Encoding of OMOD: 0 none, 1 *2, 2 *4, 3 /2. */
export type Omod = 0 | 1 | 2 | 3;

/**
 * Which rule says when OMOD acts on an instruction's result. v_rcp_f32, v_rsq_f32 and v_sqrt_f32 never give subnormals, so MODE's
 * denormal bits don't hold OMOD back there, and an overflow gives infinity in every rounding mode (captured on gfx1100: 1.0 with
 * MODE f0 and *2 gives 2.0).
 */
export type OmodRule = 'f64' | 'f32' | 'transcendental_f32';

/** The rule for `def`; undefined if it has no vector result that OMOD could act on. */
export function omodRule(def: InstructionDef): OmodRule | undefined {
  const type = def.operands.find((o) => o.field === 'vdst' && o.role !== 'src')?.type;
  if (type === 'f64') return 'f64';
  if (type !== 'f32') return undefined;
  return def.family === 'transcendental' ? 'transcendental_f32' : 'f32';
}

/**
 * Does OMOD act under this MODE? Up to gfx11 only with IEEE = 0 and output subnormals flushed; `always` on gfx12.
 */
export function omodActs(rule: OmodRule, mode: number, always: boolean): boolean {
  if (always) return true;
  if ((mode & MODE_IEEE) !== 0) return false;
  if (rule === 'transcendental_f32') return true;
  const control: Control = rule === 'f64' ? controlF64(mode) : controlF32(mode);
  return (control & KEEP_OUTPUT) === 0;
}

/** The power of two that OMOD multiplies by. */
const exponentOf = (omod: Omod): number => (omod === 3 ? -1 : omod);

/** OMOD on an f64, by the table above; left in `result`. */
export function f64_omod(hi: number, lo: number, omod: Omod, mode: number): void {
  const field = (hi >>> 20) & 0x7ff;
  const sign = hi & 0x80000000;
  const moved = field + exponentOf(omod);
  if (omod === 0 || field === 0x7ff) f64_leave(hi, lo);
  else if (field === 0) f64_leave(0, 0);
  else if (moved < 1) f64_leave(sign, 0);
  else if (moved > 2046) f64_overflow(sign, controlF64(mode));
  else f64_leave(hi + (exponentOf(omod) << 20), lo);
}

/** OMOD on an f32, by the table above. */
export function f32_omod(a: number, omod: Omod, rule: OmodRule, mode: number): number {
  const field = (a >>> 23) & 0xff;
  if (omod === 0 || field === 0xff) return a;
  const sign = (a & 0x80000000) >>> 0;
  const moved = field + exponentOf(omod);
  if (field === 0) return 0;
  if (moved < 1) return sign;
  if (moved > 254) return f32_overflow(sign, rule === 'transcendental_f32' ? 0 : controlF32(mode)) >>> 0;
  return (a + (exponentOf(omod) << 23)) >>> 0;
}

/** CLAMP on an f64; left in `result`. */
export function f64_clamp(hi: number, lo: number, mode: number): void {
  const nan = f64_isNaN(hi, lo);
  if (nan ? (mode & MODE_DX10_CLAMP) !== 0 : hi >>> 31 !== 0) f64_leave(0, 0);
  else if (!nan && hi >= 0x3ff00000) f64_leave(0x3ff00000, 0);
  else f64_leave(hi, lo);
}

/** CLAMP on an f32. */
export function f32_clamp(a: number, mode: number): number {
  if (f32_isNaN(a)) return (mode & MODE_DX10_CLAMP) !== 0 ? 0 : a;
  return a >>> 31 !== 0 ? 0 : Math.min(a, 0x3f800000);
}
