/**
 * The MODE register: how float instructions round, flush, clamp and quiet.
 *
 * | bits | field            | values                                                            |
 * | ---- | ---------------- | ----------------------------------------------------------------- |
 * | 1:0  | FP_ROUND f32     | 0 nearest even, 1 +inf, 2 -inf, 3 zero                            |
 * | 3:2  | FP_ROUND f16/f64 | same                                                              |
 * | 5:4  | FP_DENORM f32    | bit 0 keeps input subnormals, bit 1 output subnormals             |
 * | 7:6  | FP_DENORM f16/f64 | same                                                             |
 * | 8    | DX10_CLAMP       | clamp turns NaN into +0                                           |
 * | 9    | IEEE             | signalling NaNs are quieted, output modifiers are off             |
 *
 * Source: AMD ISA documents (hardware register MODE, id 1); LLVM AMDGPUUsage, COMPUTE_PGM_RSRC1.
 */
import { type Control, KEEP_INPUT, KEEP_OUTPUT, QUIET } from '../float/control.ts';

export const MODE_DX10_CLAMP = 1 << 8;
export const MODE_IEEE = 1 << 9;

/** What compiled kernels start with: nearest even, subnormals kept, DX10_CLAMP, IEEE. */
export const KERNEL_MODE = 0x3f0;

/** gfx12 has neither DX10_CLAMP nor IEEE and acts as if both were set. */
export const effectiveMode = (mode: number, hasIeeeBit: boolean): number =>
  hasIeeeBit ? mode : mode | MODE_DX10_CLAMP | MODE_IEEE;

const quiet = (mode: number): Control => (mode & MODE_IEEE ? QUIET : 0);

/** The control word of f64 (and f16) operations under MODE. */
export const controlF64 = (mode: number): Control => ((mode >>> 2) & 3) | (((mode >>> 6) & 3) << 2) | quiet(mode);

/** The control word of f32 operations under MODE. */
export const controlF32 = (mode: number): Control => (mode & 3) | (((mode >>> 4) & 3) << 2) | quiet(mode);

/** f64 rounds to nearest even and keeps subnormals on both sides: what short forms of f64 code are proved for. */
export const isNearestF64 = (mode: number): boolean => (controlF64(mode) & ~QUIET) === (KEEP_INPUT | KEEP_OUTPUT);
