/**
 * The coefficients of X1K's series, written down once for both engines: as formulas, evaluated on whole numbers of 160 bits below the
 * point and cut to 32-bit words.
 *
 * EX2: 2^f - 1 = f (c0 + f (c1 + ...)), c_k = ln(2)^(k+1) / (k+1)!, in units of 2^-32.
 * LN2: log2((1+s)/(1-s)) = s (c0 + s^2 (c1 + ...)), c_k = 2 / ((2k+1) ln 2), in units of 2^-30.
 * SIN: sin(pi/2 u) = u (c0 - u^2 (c1 - ...)), c_k = (pi/2)^(2k+1) / (2k+1)!, in units of 2^-31.
 *
 * Each series ends where the next term is below its unit.
 */
const BITS = 160n;
const ONE = 1n << BITS;

/** atanh(1/n), or atan(1/n) with alternating signs. */
function inverseSeries(n: bigint, alternating: boolean): bigint {
  let sum = 0n;
  let power = ONE / n;
  for (let k = 1n, sign = 1n; power > 0n; k += 2n, power /= n * n) {
    sum += (sign * power) / k;
    if (alternating) sign = -sign;
  }
  return sum;
}

const times = (a: bigint, b: bigint) => (a * b) >> BITS;

/** ln 2 = 2 atanh(1/3); pi/2 = 8 atan(1/5) - 2 atan(1/239) (Machin). */
const ln2 = 2n * inverseSeries(3n, false);
const halfPi = 8n * inverseSeries(5n, true) - 2n * inverseSeries(239n, true);

const inUnits = (value: bigint, bits: bigint): number => Number(value >> (BITS - bits));

/** x, x^step / step-fold factorial ...: `count` terms of a power series over factorials. */
function powers(x: bigint, step: 1 | 2, count: number): bigint[] {
  const terms = [x];
  for (let k = 2n; terms.length < count; k += BigInt(step)) {
    const last = terms.at(-1)!;
    terms.push(step === 1 ? times(last, x) / k : times(times(last, x), x) / (k * (k + 1n)));
  }
  return terms;
}

export const EX2_SERIES: readonly number[] = powers(ln2, 1, 11).map((term) => inUnits(term, 32n));

export const LN2_SERIES: readonly number[] = Array.from({ length: 7 }, (_, k) =>
  inUnits((2n * ONE * ONE) / (ln2 * BigInt(2 * k + 1)), 30n),
);

export const SIN_SERIES: readonly number[] = powers(halfPi, 2, 8).map((term) => inUnits(term, 31n));
