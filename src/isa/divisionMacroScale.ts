/** The table of v_div_scale without branches, for the division macro at once. */
import { decideHardware, decision, f64Limits } from './instructions/divisionScale.ts';

/** The conditions of v_div_scale's table as bits: D >= 768, D <= -768, eD = 0, eD >= 2045, eN <= 53; D = eN - eD. */
export const conditions = (eN: number, eD: number): number =>
  ((767 + eD - eN) >>> 31) |
  (((767 + eN - eD) >>> 31) << 1) |
  (((eD - 1) >>> 31) << 2) |
  (((2044 - eD) >>> 31) << 3) |
  (((eN - 54) >>> 31) << 4);

/** What it decides by its conditions: the flag and the powers of two. */
export const scaled = { flag: new Uint8Array(32), n: new Int16Array(32), d: new Int16Array(32) };

// These exponents meet in every combination of conditions that there is.
for (const eN of [0, 54, 1300, 2045])
  for (const eD of [0, 54, 1300, 2045]) {
    const row = conditions(eN, eD);
    decideHardware(eN, eD, true, f64Limits);
    scaled.d[row] = decision.k;
    decideHardware(eN, eD, false, f64Limits);
    scaled.n[row] = decision.k;
    scaled.flag[row] = decision.flag;
  }
