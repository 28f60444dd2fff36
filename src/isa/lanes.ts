/**
 * CPU bodies of vector instructions, made from an operation on one lane: a loop over the wave that skips inactive lanes, reads a
 * lane's sources before it writes that lane, and allocates nothing a lane. Operations take f64 operands as (hi, lo) and leave an f64
 * in `result`. Words are passed as i32: V8 keeps these out of the heap also in a call that it does not inline.
 */
import type { Control } from '../float/control.ts';
import { result } from '../float/result.ts';
import { controlF32, controlF64 } from '../wavefront/mode.ts';
import type { LaneBody, LaneWords } from './instruction.ts';

/** An f64 operation on one, two or three operands; what it returns is dropped. */
export type F64Op1 = (aHi: number, aLo: number, control: Control) => void;
export type F64Op2 = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control) => void;
export type F64Op3 = (
  aHi: number,
  aLo: number,
  bHi: number,
  bLo: number,
  cHi: number,
  cLo: number,
  control: Control,
) => void;

/** An operation on f32 words. */
export type F32Op1 = (a: number, control: Control) => number;
export type F32Op2 = (a: number, b: number, control: Control) => number;
export type F32Op3 = (a: number, b: number, c: number, control: Control) => number;

/** The words of source or destination `words`, by name. */
export const low = (words: LaneWords): Uint32Array => words[0]!;
export const high = (words: LaneWords): Uint32Array => words[1]!;

/** f64 <- f64 */
export const f64Unary =
  (op: F64Op1, controlOf = controlF64): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlOf(mode);
    const a = src[0]!;
    const [aLo, aHi, dLo, dHi] = [low(a), high(a), low(dst), high(dst)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      op(aHi[i]! | 0, aLo[i]! | 0, control);
      dLo[i] = result[0]!;
      dHi[i] = result[1]!;
    }
  };

/** f64 <- f64, f64 */
export const f64Binary =
  (op: F64Op2, controlOf = controlF64): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlOf(mode);
    const [a, b] = [src[0]!, src[1]!];
    const [aLo, aHi, bLo, bHi, dLo, dHi] = [low(a), high(a), low(b), high(b), low(dst), high(dst)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      op(aHi[i]! | 0, aLo[i]! | 0, bHi[i]! | 0, bLo[i]! | 0, control);
      dLo[i] = result[0]!;
      dHi[i] = result[1]!;
    }
  };

/** f64 <- f64, f64, f64 */
export const f64Ternary =
  (op: F64Op3, controlOf = controlF64): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlOf(mode);
    const [a, b, c] = [src[0]!, src[1]!, src[2]!];
    const [aLo, aHi, bLo, bHi] = [low(a), high(a), low(b), high(b)];
    const [cLo, cHi, dLo, dHi] = [low(c), high(c), low(dst), high(dst)];
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      op(aHi[i]! | 0, aLo[i]! | 0, bHi[i]! | 0, bLo[i]! | 0, cHi[i]! | 0, cLo[i]! | 0, control);
      dLo[i] = result[0]!;
      dHi[i] = result[1]!;
    }
  };

/** f32 <- f32 */
export const f32Unary =
  (op: F32Op1): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlF32(mode);
    const [a, d] = [low(src[0]!), low(dst)];
    for (let i = 0; i < lanes; i++) if (active[i] !== 0) d[i] = op(a[i]! | 0, control);
  };

/** f32 <- f32, f32 */
export const f32Binary =
  (op: F32Op2): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlF32(mode);
    const [a, b, d] = [low(src[0]!), low(src[1]!), low(dst)];
    for (let i = 0; i < lanes; i++) if (active[i] !== 0) d[i] = op(a[i]! | 0, b[i]! | 0, control);
  };

/** f32 <- f32, f32, f32 */
export const f32Ternary =
  (op: F32Op3): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    const control = controlF32(mode);
    const [a, b, c, d] = [low(src[0]!), low(src[1]!), low(src[2]!), low(dst)];
    for (let i = 0; i < lanes; i++) if (active[i] !== 0) d[i] = op(a[i]! | 0, b[i]! | 0, c[i]! | 0, control);
  };
