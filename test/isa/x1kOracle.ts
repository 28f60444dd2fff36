/**
 * An oracle for X1K's arithmetic in whole numbers (BigInt), written from the rules alone: exact sums and products, cut and rounded as
 * docs/x1k.md says, and the transcendental functions to 96 bits by other series than the engines use.
 */

/** sig * 2^exp. */
export interface Real {
  readonly sig: bigint;
  readonly exp: number;
}

export const NAN = 0x7fffffff;
const INFINITY = 0x7f800000;

export const isNan = (bits: number): boolean => (bits & 0x7fffffff) > INFINITY;
export const isInfinite = (bits: number): boolean => (bits & 0x7fffffff) === INFINITY;
const signBit = (bits: number): number => (bits & 0x80000000) >>> 0;

/** A finite f32 word; denormals are 0. */
export function realOf(bits: number): Real {
  const field = (bits >>> 23) & 0xff;
  if (field === 0) return { sig: 0n, exp: 0 };
  const magnitude = BigInt((bits & 0x7fffff) | 0x800000);
  return { sig: bits >>> 31 === 1 ? -magnitude : magnitude, exp: field - 150 };
}

const bitLength = (n: bigint): number => n.toString(2).length;
const magnitudeOf = (n: bigint): bigint => (n < 0n ? -n : n);
const scaled = (n: bigint, places: number): bigint => (places >= 0 ? n << BigInt(places) : n >> BigInt(-places));

/** Round 0 nearest even, 1 up, 2 down, 3 toward zero: n / 2^places, a whole number, for n >= 0. */
function roundedShift(n: bigint, places: number, round: number, negative: boolean): bigint {
  if (places <= 0) return n << BigInt(-places);
  const unit = 1n << BigInt(places);
  const [kept, rest] = [n / unit, n % unit];
  if (rest === 0n || round === 3) return kept;
  if (round === 1) return negative ? kept : kept + 1n;
  if (round === 2) return negative ? kept + 1n : kept;
  const twice = 2n * rest;
  return twice > unit || (twice === unit && kept % 2n === 1n) ? kept + 1n : kept;
}

/** To 24 bits, times 2^shift, then f32's range: infinite above, a signed zero below the normal numbers. */
export function toSingle({ sig, exp }: Real, round: number, shift = 0): number {
  if (sig === 0n) return 0;
  const negative = sig < 0n;
  const sign = negative ? 0x80000000 : 0;
  const magnitude = magnitudeOf(sig);
  const places = bitLength(magnitude) - 24;
  const kept = roundedShift(magnitude, places, round, negative);
  const carry = kept >> 24n === 1n ? 1 : 0;
  const field = exp + places + 150 + carry + shift;
  if (field >= 255) return (sign | INFINITY) >>> 0;
  if (field < 1) return sign;
  return (sign | (field << 23) | Number((kept >> BigInt(carry)) & 0x7fffffn)) >>> 0;
}

export function multiply(a: Real, b: Real): Real {
  return { sig: a.sig * b.sig, exp: a.exp + b.exp };
}

export function add(a: Real, b: Real): Real {
  const exp = Math.min(a.exp, b.exp);
  return { sig: scaled(a.sig, a.exp - exp) + scaled(b.sig, b.exp - exp), exp };
}

/** The sign of the sum of zeros: - only if all are. */
const zeroSum = (signs: readonly number[]): number => (signs.every((s) => s !== 0) ? 0x80000000 : 0);

/** A product or a word as a term of a sum: NaN, infinity, or a real number with the sign of its zero. */
interface Term {
  readonly word?: number;
  readonly value: Real;
  readonly sign: number;
}

const isZero = (bits: number) => (bits & INFINITY) === 0;

export function productTerm(a: number, b: number): Term {
  const sign = signBit(a ^ b);
  const none = { sig: 0n, exp: 0 };
  if (isNan(a) || isNan(b)) return { word: NAN, value: none, sign };
  if (isInfinite(a) || isInfinite(b))
    return { word: isZero(a) || isZero(b) ? NAN : (sign | INFINITY) >>> 0, value: none, sign };
  return { value: multiply(realOf(a), realOf(b)), sign };
}

export function wordTerm(a: number): Term {
  const special = isNan(a) || isInfinite(a);
  return { ...(special && { word: a }), value: special ? { sig: 0n, exp: 0 } : realOf(a), sign: signBit(a) };
}

/** NaN, an infinity, or undefined where all terms are finite. */
function specialSum(terms: readonly Term[]): number | undefined {
  const words = terms.flatMap(({ word }) => (word === undefined ? [] : [word]));
  if (words.length === 0) return undefined;
  if (words.some(isNan)) return NAN;
  return words.every((word) => word === words[0]) ? words[0]! : NAN;
}

/** One rounding of the exact sum. */
export function sumOnce(terms: readonly Term[], round: number, shift = 0): number {
  const special = specialSum(terms);
  if (special !== undefined) return special;
  if (terms.every(({ value }) => value.sig === 0n)) return zeroSum(terms.map(({ sign }) => sign));
  return toSingle(terms.map(({ value }) => value).reduce(add), round, shift);
}

/** A dot product's sum: every term cut to the unit 2^-24 of the largest one's leading bit. */
export function sumAligned(terms: readonly Term[], round: number, shift = 0): number {
  const special = specialSum(terms);
  if (special !== undefined) return special;
  const values = terms.map(({ value }) => value).filter(({ sig }) => sig !== 0n);
  if (values.length === 0) return zeroSum(terms.map(({ sign }) => sign));
  const leading = Math.max(...values.map(({ sig, exp }) => bitLength(magnitudeOf(sig)) - 1 + exp));
  const unit = leading - 24;
  const cut = ({ sig, exp }: Real) => {
    const kept = scaled(magnitudeOf(sig), exp - unit);
    return sig < 0n ? -kept : kept;
  };
  return toSingle({ sig: values.reduce((sum, value) => sum + cut(value), 0n), exp: unit }, round, shift);
}

// The transcendental functions: significands of 96 bits and more.

const BITS = 96;
const ONE = 1n << BigInt(BITS);
const times = (a: bigint, b: bigint) => (a * b) / ONE;

/** ln 2 = sum of 1 / (k 2^k). */
const LN2 = (() => {
  let sum = 0n;
  for (let k = 1n; k < 140n; k++) sum += (ONE << 32n) / (k << k);
  return sum >> 32n;
})();

/** pi by Gauss: 48 atan(1/18) + 32 atan(1/57) - 20 atan(1/239). */
const PI = (() => {
  const atan = (n: bigint) => {
    let [sum, power] = [0n, (ONE << 32n) / n];
    for (let k = 1n, sign = 1n; power > 0n; k += 2n, sign = -sign, power /= n * n) sum += (sign * power) / k;
    return sum;
  };
  return (48n * atan(18n) + 32n * atan(57n) - 20n * atan(239n)) >> 32n;
})();

/** e^x for 0 <= x < 1, in units of 2^-96: e^(x/16) by its series, then four squares. */
function exponential(x: bigint): bigint {
  const reduced = x / 16n;
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; term > 0n; k++) {
    term = times(term, reduced) / k;
    sum += term;
  }
  for (let i = 0; i < 4; i++) sum = times(sum, sum);
  return sum;
}

export function ex2(x: number): Real {
  const { sig, exp } = realOf(x);
  const fixed = scaled(sig, exp + BITS);
  const whole = fixed >> BigInt(BITS);
  const fraction = fixed - (whole << BigInt(BITS));
  // What the fixed point cuts off changes the result by less than 2^-96.
  return { sig: exponential(times(fraction, LN2)), exp: Number(whole) - BITS };
}

/** log2(m 2^n), m in [0.75, 1.5): 2 atanh((m-1)/(m+1)) / ln 2, without loss beside 1. */
export function ln2(x: number): Real {
  const { sig, exp } = realOf(x);
  const above = sig >= 0xc00000n;
  const n = exp + 23 + Number(above);
  const one = above ? 1n << 24n : 1n << 23n;
  const [top, bottom] = [sig - one, sig + one];
  const square = (top * top * ONE) / (bottom * bottom);
  let [sum, power] = [0n, ONE];
  for (let k = 1n; power > 0n; k += 2n, power = times(power, square)) sum += power / k;
  const log = { sig: (2n * top * sum * ONE) / (bottom * LN2), exp: -BITS };
  if (n !== 0) return add(log, { sig: BigInt(n), exp: 0 });
  // All bits of a small logarithm.
  return { sig: (2n * top * sum * ONE * ONE) / (bottom * LN2), exp: -2 * BITS };
}

export function rcp(x: number): Real {
  const { sig, exp } = realOf(x);
  return { sig: (1n << 200n) / sig, exp: -200 - exp };
}

function integerRoot(n: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(bitLength(n) / 2));
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

export function rsq(x: number): Real {
  const { sig, exp } = realOf(x);
  const odd = exp % 2 === 0 ? 0 : 1;
  return { sig: integerRoot((1n << 260n) / (sig << BigInt(odd))), exp: -130 - (exp - odd) / 2 };
}

/** sin(2 pi y) for y from 0 to an eighth, cos for the rest of the quarter; y = sig * 2^exp. */
function sineOfQuarter(y: Real): Real {
  const eighth = { sig: 1n, exp: -3 };
  const rest = add(y, { sig: -1n, exp: -3 });
  if (rest.sig <= 0n) {
    const angle = times(2n * PI, scaled(y.sig, y.exp + BITS));
    return { sig: y.sig * times(2n * PI, series(times(angle, angle), 1n)), exp: y.exp - BITS };
  }
  const other = add(eighth, { sig: -rest.sig, exp: rest.exp });
  const angle = times(2n * PI, scaled(other.sig, other.exp + BITS));
  return { sig: series(times(angle, angle), 0n), exp: -BITS };
}

/** sin(a)/a (first = 1) or cos(a) (first = 0) from a^2. */
function series(square: bigint, first: bigint): bigint {
  let [sum, term] = [ONE, ONE];
  for (let k = first + 1n; term !== 0n; k += 2n) {
    term = -times(term, square) / (k * (k + 1n));
    sum += term;
  }
  return sum;
}

/** |x| modulo 1. */
function turnOf(x: number): Real {
  const { sig, exp } = realOf(x & 0x7fffffff);
  return exp >= 0 ? { sig: 0n, exp: 0 } : { sig: sig % (1n << BigInt(-exp)), exp };
}

const negated = ({ sig, exp }: Real): Real => ({ sig: -sig, exp });
const minus = (a: Real, b: Real): Real => add(a, negated(b));
const fractionOfTurn = (exp: number): Real => ({ sig: 1n, exp });

export function sin(x: number): Real {
  let turn = turnOf(x);
  let negative = x >>> 31 === 1;
  if (minus(turn, fractionOfTurn(-1)).sig >= 0n) {
    turn = minus(turn, fractionOfTurn(-1));
    negative = !negative;
  }
  if (minus(turn, fractionOfTurn(-2)).sig > 0n) turn = minus(fractionOfTurn(-1), turn);
  const value = sineOfQuarter(turn);
  return negative ? negated(value) : value;
}

export function cos(x: number): Real {
  let turn = turnOf(x);
  if (minus(turn, fractionOfTurn(-1)).sig > 0n) turn = minus(fractionOfTurn(0), turn);
  const beyond = minus(turn, fractionOfTurn(-2));
  return beyond.sig > 0n ? negated(sineOfQuarter(beyond)) : sineOfQuarter(negated(beyond));
}

/** |result - value| in units of the last place of a 24-bit number of the value's size; a zero for what is not normal counts as right. */
export function errorInUlp(result: number, value: Real): number {
  if (value.sig === 0n) return realOf(result).sig === 0n ? 0 : Number.POSITIVE_INFINITY;
  const size = bitLength(magnitudeOf(value.sig)) - 1 + value.exp;
  if (size < -126 && isZero(result)) return 0;
  if (size >= 128 && isInfinite(result)) return 0;
  if (isInfinite(result)) return size === 127 ? errorInUlp(0x7f7fffff, value) : Number.POSITIVE_INFINITY;
  const difference = minus(realOf(result), value);
  // To 2^-30 of a unit.
  return Number(scaled(magnitudeOf(difference.sig), difference.exp - (size - 23) + 30)) / 2 ** 30;
}
