/** What v_div_scale decides, in both formats and both profiles: numbers in, a power of two and a flag out. */

/** The thresholds, in encoded exponents (0 for zero and subnormals); `scale` is the power of two that an operand is moved by. */
export interface ScaleLimits {
  readonly difference: number;
  readonly largeDenominator: number;
  readonly tinyNumerator: number;
  readonly scale: number;
}

export const f64Limits: ScaleLimits = { difference: 768, largeDenominator: 2045, tinyNumerator: 53, scale: 128 };
export const f32Limits: ScaleLimits = { difference: 96, largeDenominator: 253, tinyNumerator: 24, scale: 64 };
export const f32PublishedLimits: ScaleLimits = { ...f32Limits, tinyNumerator: 23 };

/** The decision for a lane: the exponent `k` that is added to S0, and VCC. One shared cell, read before the next decision. */
export const decision = { k: 0, flag: 0 };

const decide = (flag: number, k: number): void => {
  decision.flag = flag;
  decision.k = k;
};

/**
 * The measured rule, on encoded exponents alone. With eN, eD of numerator and denominator and D = eN - eD:
 *
 * | first that holds            | VCC | denominator | numerator |
 * | --------------------------- | --- | ----------- | --------- |
 * | D >= 768                    | 1   | * 2^128     |           |
 * | eD = 0 (zero, subnormal)    | 0   | * 2^128     | * 2^128   |
 * | eD >= 2045 and D <= -768    | 1   | * 2^-128    |           |
 * | eD >= 2045                  | 0   | * 2^-128    | * 2^-128  |
 * | D <= -768                   | 1   |             | * 2^128   |
 * | eN <= 53                    | 0   | * 2^128     | * 2^128   |
 *
 * (f32: 96, 253, 24, 64.) Infinity and NaN take part with the field all ones. An S0 that is neither operand counts as numerator.
 * Source: ROCm rocjitsu shared/division.h, measured on gfx1100 and gfx1201.
 */
export function decideHardware(eN: number, eD: number, isDenominator: boolean, limits: ScaleLimits): void {
  const difference = eN - eD;
  const { scale } = limits;
  if (difference >= limits.difference) decide(1, isDenominator ? scale : 0);
  else if (eD === 0) decide(0, scale);
  else if (eD >= limits.largeDenominator) {
    if (difference <= -limits.difference) decide(1, isDenominator ? -scale : 0);
    else decide(0, -scale);
  } else if (difference <= -limits.difference) decide(1, isDenominator ? 0 : scale);
  else if (eN <= limits.tinyNumerator) decide(0, scale);
  else decide(0, 0);
}

/**
 * The branches of AMD's text in its order; zero operands are settled before. Where none assigns D0, k is 0 and D0 = S0.
 * `s`, `d`, `n` are S0, S1, S2 as numbers; "x == DENORM" says that x, rounded to nearest, is subnormal.
 * Source: AMD RDNA3 ISA, V_DIV_SCALE_F64, V_DIV_SCALE_F32 (identical in the CDNA3 and RDNA4 texts).
 */
export function decidePublished(
  eN: number,
  eD: number,
  s: number,
  d: number,
  n: number,
  reciprocalIsSubnormal: boolean,
  quotientIsSubnormal: boolean,
  limits: ScaleLimits,
): void {
  const { scale } = limits;
  if (eN - eD >= limits.difference) decide(1, s === d ? scale : 0);
  else if (eD === 0) decide(0, scale);
  else if (reciprocalIsSubnormal && quotientIsSubnormal) decide(1, s === d ? scale : 0);
  else if (reciprocalIsSubnormal) decide(0, -scale);
  else if (quotientIsSubnormal) decide(1, s === n ? scale : 0);
  else if (eN <= limits.tinyNumerator) decide(0, scale);
  else decide(0, 0);
}
