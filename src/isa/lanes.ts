/** CPU bodies of vector instructions, made from an operation on one lane. */
import { result } from '../float/result.ts';
import type { LaneBody, LaneIo } from './instruction.ts';

/** Calls `body` for each active lane. */
export const eachLane =
  (body: (io: LaneIo, lane: number) => void): LaneBody =>
  (io) => {
    for (let lane = 0; lane < io.lanes; lane++) if (io.active[lane] === 1) body(io, lane);
  };

/** Stores the result of an f64 operation, which `src/float` leaves in `result`. */
export function storeF64(io: LaneIo, lane: number): void {
  io.dst[0]![lane] = result[0]!;
  io.dst[1]![lane] = result[1]!;
}

/** f64 <- f64 */
export const f64Unary = (op: (aHi: number, aLo: number, mode: number) => void): LaneBody =>
  eachLane((io, i) => {
    const [[aLo, aHi]] = io.src as [[Uint32Array, Uint32Array]];
    op(aHi[i]!, aLo[i]!, io.mode);
    storeF64(io, i);
  });

/** f64 <- f64, f64 */
export const f64Binary = (op: (aHi: number, aLo: number, bHi: number, bLo: number, mode: number) => void): LaneBody =>
  eachLane((io, i) => {
    const [[aLo, aHi], [bLo, bHi]] = io.src as [[Uint32Array, Uint32Array], [Uint32Array, Uint32Array]];
    op(aHi[i]!, aLo[i]!, bHi[i]!, bLo[i]!, io.mode);
    storeF64(io, i);
  });

type F64Op3 = (aHi: number, aLo: number, bHi: number, bLo: number, cHi: number, cLo: number, mode: number) => void;

/** f64 <- f64, f64, f64 */
export const f64Ternary = (op: F64Op3): LaneBody =>
  eachLane((io, i) => {
    const [a, b, c] = io.src as [Pair, Pair, Pair];
    op(a[1][i]!, a[0][i]!, b[1][i]!, b[0][i]!, c[1][i]!, c[0][i]!, io.mode);
    storeF64(io, i);
  });

type Pair = readonly [Uint32Array, Uint32Array];

/** f32 (or any one-word value) <- one-word values */
export const wordUnary = (op: (a: number, mode: number) => number): LaneBody =>
  eachLane((io, i) => {
    io.dst[0]![i] = op(io.src[0]![0]![i]!, io.mode);
  });

export const wordBinary = (op: (a: number, b: number, mode: number) => number): LaneBody =>
  eachLane((io, i) => {
    io.dst[0]![i] = op(io.src[0]![0]![i]!, io.src[1]![0]![i]!, io.mode);
  });

export const wordTernary = (op: (a: number, b: number, c: number, mode: number) => number): LaneBody =>
  eachLane((io, i) => {
    io.dst[0]![i] = op(io.src[0]![0]![i]!, io.src[1]![0]![i]!, io.src[2]![0]![i]!, io.mode);
  });
