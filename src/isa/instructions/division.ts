/**
 * The division macro: v_div_scale, v_div_fmas, v_div_fixup, in f64 and f32.
 *
 *     ds      = div_scale(d, d, n)        denominator, moved away from the edges of the exponent range
 *     ns, vcc = div_scale(n, d, n)        numerator, and whether the quotient must be scaled back
 *     r       = rcp(ds), refined twice by fma
 *     q       = ns * r;  t = fma(-ds, q, ns)
 *     p       = div_fmas(t, r, q)         fma, scaled back inside the one rounding
 *     result  = div_fixup(p, d, n)        zeros, infinities, NaN, overflow, underflow
 *
 * Sources: AMD's RDNA3 ISA text ("published"); ROCm rocjitsu, shared/division.h and its division_test.cpp, measured on gfx1100 and
 * gfx1201 ("hardware"). Chips before RDNA3 have not been read out; a conforming one must agree on every quotient.
 */
import { type Control, KEEP_INPUT, roundOf } from '../../float/control.ts';
import { f32_ldexp, f32_mulAdd, f32_mulAddScaled } from '../../float/f32.ts';
import { f64_ldexp, f64_mulAdd, f64_mulAddScaled } from '../../float/f64.ts';
import { result } from '../../float/result.ts';
import { controlF32, controlF64 } from '../../wavefront/mode.ts';
import { forms } from '../encodings.ts';
import type { Erratum, InstructionDef, LaneBody } from '../instruction.ts';
import { eachLane, f64Ternary, storeF64 } from '../lanes.ts';
import { dst, src, uniform } from '../operands.ts';
import type { Variant } from '../target.ts';

/** The thresholds of div_scale, in encoded exponents; `scale` is the power of two that it moves an operand by. */
interface ScaleLimits {
  readonly difference: number;
  readonly largeDenominator: number;
  readonly tinyNumerator: number;
  readonly scale: number;
}

const f64Limits: ScaleLimits = { difference: 768, largeDenominator: 2045, tinyNumerator: 53, scale: 128 };
const f32Limits: ScaleLimits = { difference: 96, largeDenominator: 253, tinyNumerator: 24, scale: 64 };
const f32PublishedLimits: ScaleLimits = { ...f32Limits, tinyNumerator: 23 };

/** What div_scale decides for a lane: the exponent `k` it adds to S0, and VCC. */
interface Decision {
  k: number;
  flag: number;
}

const decision: Decision = { k: 0, flag: 0 };

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
 * (f32: 96, 253, 24, 64.) Infinity and NaN take part with the field all ones.
 */
function decideHardware(eN: number, eD: number, isDenominator: boolean, limits: ScaleLimits): void {
  const difference = eN - eD;
  const up = limits.scale;
  decision.k = 0;
  decision.flag = 0;
  if (difference >= limits.difference) {
    decision.flag = 1;
    if (isDenominator) decision.k = up;
  } else if (eD === 0) {
    decision.k = up;
  } else if (eD >= limits.largeDenominator) {
    if (difference > -limits.difference) decision.k = -up;
    else {
      decision.flag = 1;
      if (isDenominator) decision.k = -up;
    }
  } else if (difference <= -limits.difference) {
    decision.flag = 1;
    if (!isDenominator) decision.k = up;
  } else if (eN <= limits.tinyNumerator) {
    decision.k = up;
  }
}

/** Facts about the operands that the published text asks for; "DENORM" is a subnormal quotient or reciprocal, rounded to nearest. */
interface PublishedFacts {
  readonly eN: number;
  readonly eD: number;
  readonly denominatorIsSubnormal: boolean;
  readonly reciprocalIsSubnormal: boolean;
  readonly quotientIsSubnormal: boolean;
  readonly equalsDenominator: boolean;
  readonly equalsNumerator: boolean;
}

/** The branches of AMD's text in its order; zero operands are settled before. Where none assigns D0, D0 = S0. */
function decidePublished(facts: PublishedFacts, limits: ScaleLimits): void {
  const up = limits.scale;
  decision.k = 0;
  decision.flag = 0;
  if (facts.eN - facts.eD >= limits.difference) {
    decision.flag = 1;
    if (facts.equalsDenominator) decision.k = up;
  } else if (facts.denominatorIsSubnormal) {
    decision.k = up;
  } else if (facts.reciprocalIsSubnormal && facts.quotientIsSubnormal) {
    decision.flag = 1;
    if (facts.equalsDenominator) decision.k = up;
  } else if (facts.reciprocalIsSubnormal) {
    decision.k = -up;
  } else if (facts.quotientIsSubnormal) {
    decision.flag = 1;
    if (facts.equalsNumerator) decision.k = up;
  } else if (facts.eN <= limits.tinyNumerator) {
    decision.k = up;
  }
}

const F64_DEFAULT_NAN_HI = 0xfff80000;
const F32_DEFAULT_NAN = 0xffc00000;

const exponent64 = (hi: number) => (hi >>> 20) & 0x7ff;
const exponent32 = (a: number) => (a >>> 23) & 0xff;
const isZero64 = (hi: number, lo: number) => ((hi << 1) | lo) === 0;
const isZero32 = (a: number) => a << 1 === 0;
const isNan64 = (hi: number, lo: number) => (hi & 0x7fffffff) > 0x7ff00000 || ((hi & 0x7fffffff) === 0x7ff00000 && lo !== 0);
const isNan32 = (a: number) => (a & 0x7fffffff) > 0x7f800000;
const isInf64 = (hi: number, lo: number) => (hi & 0x7fffffff) === 0x7ff00000 && lo === 0;

const leave = (hi: number, lo: number) => {
  result[1] = hi;
  result[0] = lo;
};

/** True where MODE turns this subnormal source into a zero of its sign. */
const flushes = (control: Control, exponent: number) => (control & KEEP_INPUT) === 0 && exponent === 0;

const doubles = new Float64Array(1);
const doubleWords = new Uint32Array(doubles.buffer);

/** The double of two words; not for NaN, whose payload a JS number need not keep. */
function toDouble(hi: number, lo: number): number {
  doubleWords[0] = lo;
  doubleWords[1] = hi;
  return doubles[0]!;
}

const isSubnormalDouble = (x: number) => x !== 0 && Math.abs(x) < 2.2250738585072014e-308;

type Decide64 = (s0Hi: number, s0Lo: number, dHi: number, dLo: number, nHi: number, nLo: number) => void;

const decide64Hardware: Decide64 = (s0Hi, s0Lo, dHi, dLo, nHi) =>
  decideHardware(exponent64(nHi), exponent64(dHi), s0Hi >>> 0 === dHi >>> 0 && s0Lo === dLo, f64Limits);

const decide64Published: Decide64 = (s0Hi, s0Lo, dHi, dLo, nHi, nLo) => {
  const nan = (hi: number, lo: number) => (isNan64(hi, lo) ? Number.NaN : toDouble(hi, lo));
  const [s0, d, n] = [nan(s0Hi, s0Lo), nan(dHi, dLo), nan(nHi, nLo)];
  decidePublished(
    {
      eN: exponent64(nHi),
      eD: exponent64(dHi),
      denominatorIsSubnormal: isSubnormalDouble(d),
      reciprocalIsSubnormal: isSubnormalDouble(1 / d),
      quotientIsSubnormal: isSubnormalDouble(n / d),
      equalsDenominator: s0 === d,
      equalsNumerator: s0 === n,
    },
    f64Limits,
  );
};

/** v_div_scale_f64: S0 the value to scale, S1 the denominator, S2 the numerator. NaN results are the default NaN, or S0 quieted. */
const divScaleF64 = (decide: Decide64, quietsS0: boolean): LaneBody =>
  eachLane((io, i) => {
    const control = controlF64(io.mode);
    const flushed = (operand: number): [number, number] => {
      const hi = io.src[operand]![1]![i]!;
      return flushes(control, exponent64(hi)) ? [hi & 0x80000000, 0] : [hi, io.src[operand]![0]![i]!];
    };
    const [s0Hi, s0Lo] = flushed(0);
    const [dHi, dLo] = flushed(1);
    const [nHi, nLo] = flushed(2);
    decide(s0Hi, s0Lo, dHi, dLo, nHi, nLo);
    const { k, flag } = decision;
    const zeroOperand = isZero64(dHi, dLo) || isZero64(nHi, nLo);
    if (zeroOperand) leave(F64_DEFAULT_NAN_HI, 0);
    else if (isNan64(s0Hi, s0Lo)) leave(quietsS0 || k !== 0 ? s0Hi | 0x80000 : s0Hi, s0Lo);
    else if (k === 0 || exponent64(s0Hi) === 0x7ff) leave(s0Hi, s0Lo);
    else f64_ldexp(s0Hi, s0Lo, k, control);
    io.flag[i] = zeroOperand && !quietsS0 ? 0 : flag;
    storeF64(io, i);
  });
