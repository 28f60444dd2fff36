import { squareRoot } from './exact.ts';

/**
 * The coefficient tables of V_RCP, V_RSQ and V_SQRT, f64 and f32 alike, made by formula instead of copied. A row is the
 * cubic a0 + a1 t + a2 t^2 + a3 t^3 through g at t = 0, 1/3, 2/3 and 1, its four magnitudes scaled and floored:
 *
 * | table | row            | g(t)                            | weights (log2) |
 * | ----- | -------------- | ------------------------------- | -------------- |
 * | RCP   | s = 0..31      | 1 / (1 + (s + t)/32)            | 26 26 26 26    |
 * | RSQ   | 32p + s, p 0,1 | 1 / sqrt(2^p (1 + (s + t)/32))  | 26 26 26 26    |
 * | SQRT  | 16p + s, p 0,1 | sqrt(2^p (1 + (s + t)/16)) - 1  | 25 26 26 25    |
 *
 * All but one of the 512 integers equal the tables of ROCm rocjitsu (transcendental_f64.h), read off gfx1100 and gfx1201.
 */
export type Rom = Uint32Array;

/** Coefficients of one segment: g at the four nodes, as numerators over one denominator, to 2 a0, 2 a1, 2 a2, 2 a3. */
const CUBIC: readonly (readonly bigint[])[] = [
  [2n, 0n, 0n, 0n],
  [-11n, 18n, -9n, 2n],
  [18n, -45n, 36n, -9n],
  [-9n, 27n, -27n, 9n],
];

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

const rowOf = (nodes: readonly bigint[], denominator: bigint, weights: readonly bigint[]): number[] =>
  CUBIC.map((factors, i) => {
    const doubled = factors.reduce((sum, factor, j) => sum + factor * nodes[j]!, 0n);
    return Number((magnitude(doubled) << weights[i]!) / (2n * denominator));
  });

const NODES = [0n, 1n, 2n, 3n];

const rcpRow = (s: number): number[] => {
  // 1 / (1 + (s + j/3)/32) = 96 / (96 + 3s + j): exact over the product of the four divisors.
  const divisors = NODES.map((j) => 96n + 3n * BigInt(s) + j);
  const denominator = divisors.reduce((product, divisor) => product * divisor, 1n);
  const nodes = divisors.map((divisor) => (96n * denominator) / divisor);
  return rowOf(nodes, denominator, [26n, 26n, 26n, 26n]);
};

/** Irrational nodes are floored at this many fraction bits, far below anything that a coefficient can show. */
const PLACES = 256n;

const rsqRow = (p: number, s: number): number[] => {
  const nodes = NODES.map((j) => squareRoot((96n << (2n * PLACES)) / ((96n + 3n * BigInt(s) + j) << BigInt(p))));
  return rowOf(nodes, 1n << PLACES, [26n, 26n, 26n, 26n]);
};

const sqrtRow = (p: number, s: number): number[] => {
  const nodes = NODES.map((j) => {
    const radicand = ((48n + 3n * BigInt(s) + j) << (2n * PLACES + BigInt(p))) / 48n;
    return squareRoot(radicand) - (1n << PLACES);
  });
  return rowOf(nodes, 1n << PLACES, [25n, 26n, 26n, 25n]);
};

const rows = (count: number, row: (index: number) => number[]): Rom =>
  Uint32Array.from(Array.from({ length: count }, (_, index) => row(index)).flat());

/** Four words a row, row s. The last a3 is 131 in the chips where the formula gives 132. */
export const RCP_ROM: Rom = rows(32, rcpRow);
RCP_ROM[31 * 4 + 3] = 131;

/** Four words a row, row 32p + s. */
export const RSQ_ROM: Rom = rows(64, (index) => rsqRow(index >> 5, index & 31));

/** Four words a row, row 16p + s. */
export const SQRT_ROM: Rom = rows(32, (index) => sqrtRow(index >> 4, index & 15));
