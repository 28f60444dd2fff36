/**
 * The arithmetic and the selections of X1K on the CPU (ATI CTM Guide v1.01, 3.6 and p. 42). Words in, word out; denormal sources count
 * as zeros of their sign everywhere but in a copy under OMOD_DISABLED.
 */
import { OMOD_DISABLED, omodOf, type X1kControl } from './control.ts';
import { addOdd, exponentOf, finish, numberOf, powerOfTwo, settle } from './number.ts';

/** a * b + c, rounded once. The product is exact in a double. */
export const mad = (a: number, b: number, c: number, control: X1kControl): number =>
  finish(addOdd(numberOf(a) * numberOf(b), numberOf(c)), control);

/** One of the sources: its bits where the output modifier is disabled, else its value through the output modifier. */
const copy = (bits: number, control: X1kControl): number =>
  omodOf(control) === OMOD_DISABLED ? bits : finish(numberOf(bits), control);

/** a < b ? a : b: b if either is NaN or both are zero. */
export const min = (a: number, b: number, control: X1kControl): number =>
  copy(numberOf(a) < numberOf(b) ? a : b, control);

/** a > b ? a : b: b if either is NaN or both are zero. Numbers that are equal otherwise have the same bits. */
export const max = (a: number, b: number, control: X1kControl): number =>
  copy(numberOf(a) > numberOf(b) ? a : b, control);

/** c > 0.5 ? a : b; NaN in c selects b. */
export const cnd = (a: number, b: number, c: number, control: X1kControl): number =>
  copy(numberOf(c) > 0.5 ? a : b, control);

/** c >= 0 ? a : b; both zeros select a, NaN in c selects b. */
export const cmp = (a: number, b: number, c: number, control: X1kControl): number =>
  copy(numberOf(c) >= 0 ? a : b, control);

/** MAX(a, a). */
export const mov = (a: number, control: X1kControl): number => copy(a, control);

/** a - floor(a), rounded once: +0 for whole numbers and both zeros, NaN for infinities. */
export function frc(a: number, control: X1kControl): number {
  const value = numberOf(a);
  return finish(addOdd(value, -Math.floor(value)), control);
}

/**
 * A sum of exact terms as the dot product's adder has it: every term is cut, toward zero, to multiples of the unit 2^-24 of the largest
 * term's leading bit (25 bits of that term), and what is left is added exactly. So when the two largest cancel, a third that is smaller
 * by 2^25 or more is lost, and the result is +0.0, as the guide says; a third up to just below that loses bits. All terms are -0: -0.
 */
function addAligned(terms: readonly number[]): number {
  let largest = 0;
  for (const term of terms) if (Math.abs(term) > largest) largest = Math.abs(term);
  const plain = terms.reduce((sum, term) => sum + term);
  if (largest === 0 || !Number.isFinite(plain)) return plain;
  const unit = powerOfTwo(exponentOf(largest) - 24);
  return terms.reduce((sum, term) => sum + Math.trunc(term / unit), 0) * unit;
}

type Components = readonly [number, number, number, number];

const products = (a: Components, b: Components, count: number): number[] =>
  Array.from({ length: count }, (_, i) => numberOf(a[i]!) * numberOf(b[i]!));

export const dp3 = (a: Components, b: Components, control: X1kControl): number =>
  finish(addAligned(products(a, b, 3)), control);

export const dp4 = (a: Components, b: Components, control: X1kControl): number =>
  finish(addAligned(products(a, b, 4)), control);

/** a.x * b.x + a.y * b.y + c.z */
export const d2a = (a: Components, b: Components, c: Components, control: X1kControl): number =>
  finish(addAligned([...products(a, b, 2), numberOf(c[2])]), control);

/** The presubtract operations on the words s0 and s1: sums like MAD's, without an output modifier. */
export const presubtracts = {
  '1-2*s0': (s0: number, _s1: number, round: X1kControl): number => settle(addOdd(1, -2 * numberOf(s0)), 0, round),
  's1-s0': (s0: number, s1: number, round: X1kControl): number => settle(addOdd(numberOf(s1), -numberOf(s0)), 0, round),
  's1+s0': (s0: number, s1: number, round: X1kControl): number => settle(addOdd(numberOf(s1), numberOf(s0)), 0, round),
  '1-s0': (s0: number, _s1: number, round: X1kControl): number => settle(addOdd(1, -numberOf(s0)), 0, round),
} as const;

/**
 * Predicate compares with zero: "+0.0 and -0.0 are both 'equal' to 0", infinities are ordered, and NaN makes every ordered test false, so
 * that gt is not the negation of le.
 */
export const predicates = {
  eq: (a: number): boolean => numberOf(a) === 0,
  ne: (a: number): boolean => numberOf(a) !== 0,
  lt: (a: number): boolean => numberOf(a) < 0,
  le: (a: number): boolean => numberOf(a) <= 0,
  gt: (a: number): boolean => numberOf(a) > 0,
  ge: (a: number): boolean => numberOf(a) >= 0,
} as const;
