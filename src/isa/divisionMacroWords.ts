/** Words of doubles to significands with exponents and back, for the division macro at once. */
import { powerOfTwo } from '../float/errorFree.ts';

/** Low and high words over the lanes. */
export type Words = readonly [lo: Uint32Array, hi: Uint32Array];

export const SIGN = 0x80000000;
export const FRACTION = 0xfffff;
export const FRACTION_AND_SIGN = SIGN | FRACTION;
export const ONE = 0x3ff00000;

/** A double and its words, for one lane after the other; and the rest that goes with it in `pack`. */
export const cell = new Float64Array(1);
export const cellWords = new Int32Array(cell.buffer);
export const rest = new Float64Array(1);

/** 1, or -1 for a negative word: a branch would be guessed wrong every second time. */
export const signOf = (hi: number): number => 1 - 2 * (hi >>> 31);

/** Takes the word of a finite double `i` that is not zero to its significand, from 1 to 2 and signed; returns the exponent. */
export const normalize = (words: Int32Array, i: number): number => {
  const hi = words[2 * i + 1]!;
  const field = (hi >> 20) & 0x7ff;
  const isSubnormal = (field - 1) >>> 31;
  cell[0] = ((hi & FRACTION) + ((1 - isSubnormal) << 20)) * 2 ** 32 + (words[2 * i]! >>> 0);
  words[2 * i] = cellWords[0]!;
  words[2 * i + 1] = (cellWords[1]! & FRACTION) | ONE | (hi & SIGN);
  return (cellWords[1]! >> 20) - 1023 + field + isSubnormal - 1075;
};

export const put = (out: Words, i: number, loWord: number, hiWord: number): void => {
  out[0][i] = loWord;
  out[1][i] = hiWord;
};

/** What `pack` made of `cell`. */
export const packed = new Float64Array(1);

/** Places that a double is moved down by to lose all bits but one, and more. */
const FAR = 200;

/**
 * Stores (cell + rest) 2^exponent as lane `i` of `out`, rounded once: cell is the double nearest to the sum, +0 if that is zero, and
 * rest has the sign of what is missing. `packed` becomes cell as it was rounded. Adding 2^52 units of the same sign rounds a subnormal
 * to whole units; a tie of cell is none of the sum where there is a rest.
 */
export const pack = (out: Words, i: number, exponent: number): void => {
  const value = cell[0]!;
  const top = cellWords[1]!;
  const field = ((top >> 20) & 0x7ff) + exponent;
  packed[0] = value;
  if (value === 0) put(out, i, 0, 0);
  else if (field > 2046) put(out, i, 0, (top & SIGN) | 0x7ff00000);
  else if (field > 0) put(out, i, cellWords[0]!, top + (exponent << 20));
  else {
    const place = Math.min(-1074 - exponent, FAR);
    const unit = powerOfTwo(place);
    const base = unit * 2 ** 52 * signOf(top);
    let sum = value + base;
    const lost = value - (sum - base);
    if (Math.abs(lost) === unit / 2 && lost * rest[0]! > 0) sum += 2 * lost;
    packed[0] = sum - base;
    cell[0] = sum;
    put(out, i, cellWords[0]!, cellWords[1]! - ((place + 52 + 1023) << 20));
  }
};
