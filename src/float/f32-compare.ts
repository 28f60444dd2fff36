import { type Control, KEEP_INPUT } from './control.ts';
import { EQUAL, GREATER, LESS, UNORDERED } from './f64-compare.ts';
import { f32_isNaN } from './nan.ts';

const flushed = (a: number, control: Control): number =>
  (a & 0x7f800000) === 0 && (control & KEEP_INPUT) === 0 ? (a & 0x80000000) >>> 0 : a >>> 0;

/** The relation of a to b: LESS, EQUAL, GREATER or UNORDERED, with the rules of f64_relation. */
export const f32_relation = (a: number, b: number, control: Control): number => {
  if (f32_isNaN(a) || f32_isNaN(b)) return UNORDERED;
  const x = flushed(a, control);
  const y = flushed(b, control);
  if (x === y || ((x | y) & 0x7fffffff) === 0) return EQUAL;
  return f32_isBelow(x, y) ? LESS : GREATER;
};

/** Is a below b in the order of numbers with -0 below +0? Neither may be NaN; no subnormal is flushed. */
export const f32_isBelow = (a: number, b: number): boolean => {
  if (((a ^ b) & 0x80000000) !== 0) return (a & 0x80000000) !== 0;
  return (a & 0x80000000) === 0 ? a >>> 0 < b >>> 0 : a >>> 0 > b >>> 0;
};

/** The class of the word as AMD's V_CMP_CLASS numbers them, 0 to 9 as in f64_class; without any flush. */
export const f32_class = (a: number): number => {
  if (f32_isNaN(a)) return a & 0x00400000 ? 1 : 0;
  const field = a & 0x7f800000;
  const rank = field === 0x7f800000 ? 3 : field !== 0 ? 2 : (a & 0x7fffff) !== 0 ? 1 : 0;
  return (a & 0x80000000) !== 0 ? 5 - rank : 6 + rank;
};
