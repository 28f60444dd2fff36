import { Round } from './control.ts';

/** A double that is not NaN rounded to an integer; the sign of a zero result is not kept. */
export const roundNumber = (x: number, rounding: Round): number => {
  if (rounding === Round.up) return Math.ceil(x);
  if (rounding === Round.down) return Math.floor(x);
  if (rounding === Round.towardZero || Math.abs(x) >= 2 ** 52) return Math.trunc(x);
  // Next to 2^52 a double has no fraction bits, and the sum rounds ties to even.
  return x < 0 ? x - 2 ** 52 + 2 ** 52 : x + 2 ** 52 - 2 ** 52;
};

/** A double that is not NaN rounded to an integer and held within [low, high]: AMD's V_CVT to integers saturates. */
export const saturate = (x: number, rounding: Round, low: number, high: number): number =>
  Math.min(Math.max(roundNumber(x, rounding), low), high) + 0;
