import type { Control } from './control.ts';
import { productError } from './errorFree.ts';
import { rsqrt as exactRsqrt } from './exact.ts';
import { f64_exponent, f64_isFinite, f64_significand } from './f64-arithmetic.ts';
import { binary64, bitsOfWords, hiWord, loWord } from './format.ts';
import { f64_defaultNaN, f64_isNaN, f64_passNaN } from './nan.ts';
import { f64_leave } from './result.ts';
import { f64_roundPack } from './roundPack.ts';

const SIGN = 0x80000000;
const FIELD = 0x7ff00000;

/**
 * The square root. `Math.sqrt` is taken to be the nearest double, as every engine's hardware instruction gives it
 * (ECMAScript asks for an approximation only; the tests check it against integers).
 */
export const f64_sqrt = (aHi: number, aLo: number, control: Control): void => {
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (a === 0) f64_leave(aHi & SIGN, 0);
  else if ((aHi & SIGN) !== 0) f64_defaultNaN(control);
  else if (!f64_isFinite(aHi)) f64_leave(FIELD, 0);
  else sqrtPositive(a, f64_exponent(aHi), control);
};

/** The square root of a * 2^exponent, a > 0. */
const sqrtPositive = (a: number, exponent: number, control: Control): void => {
  const odd = exponent & 1;
  const radicand = odd === 0 ? a : 2 * a;
  const root = Math.sqrt(radicand);
  const square = root * root;
  const remainder = radicand - square - productError(root, root, square);
  f64_roundPack(0, root, remainder, (exponent - odd) / 2, control);
};

/**
 * The correctly rounded 1 / sqrt(a); of a zero the infinity of its sign (IEEE 754-2019 9.2.1 rSqrt).
 *
 * One Newton step from y = 1 / Math.sqrt(x), its residual 1 - x y^2 taken from exact products, leaves an error below
 * 2^-100 y. Where an error of 2^-97 y could change the rounding (about one operand in 2^40), integers decide.
 */
export const f64_rsqrt = (aHi: number, aLo: number, control: Control): void => {
  const a = f64_significand(aHi, aLo, control);
  if (f64_isNaN(aHi, aLo)) f64_passNaN(aHi, aLo, control);
  else if (a === 0) f64_leave((aHi & SIGN) | FIELD, 0);
  else if ((aHi & SIGN) !== 0) f64_defaultNaN(control);
  else if (!f64_isFinite(aHi)) f64_leave(0, 0);
  else if (!rsqrtPositive(a, f64_exponent(aHi), control)) {
    const bits = exactRsqrt(binary64, bitsOfWords(aHi, aLo), control);
    f64_leave(hiWord(bits), loWord(bits));
  }
};

/** 1 / sqrt(a * 2^exponent), a > 0, if doubles can decide the rounding: returns whether they did. */
const rsqrtPositive = (a: number, exponent: number, control: Control): boolean => {
  const odd = exponent & 1;
  const x = odd === 0 ? a : 2 * a;
  const y = 1 / Math.sqrt(x);
  const square = y * y;
  const squareError = productError(y, y, square);
  const product = x * square;
  const residual = 1 - product - productError(x, square, product) - x * squareError;
  const step = 0.5 * y * residual;
  const root = y + step;
  const rest = step - (root - y);
  const doubt = y * 2 ** -97;
  const decided = Math.abs(rest) > doubt && root + (rest + doubt) === root && root + (rest - doubt) === root;
  if (decided) f64_roundPack(0, root, rest, (odd - exponent) / 2, control);
  return decided;
};
