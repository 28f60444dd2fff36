import fc from 'fast-check';
import { IEEE_DEFAULT } from '../../src/float/control.ts';
import * as exact from '../../src/float/exact.ts';
import type { Format } from '../../src/float/format.ts';

/**
 * Operands where arithmetic goes wrong: the ends of the exponent range, fractions made of runs, special values, and
 * operands related to each other so that sums cancel, quotients and roots come out near a representable number, and
 * products fall on the borders of overflow and underflow.
 */
const fraction = (format: Format): fc.Arbitrary<bigint> => {
  const ones = format.fractionMask;
  const place = fc.integer({ min: 0, max: format.fractionBits - 1 }).map((n) => 1n << BigInt(n));
  return fc.oneof(
    fc.bigInt({ min: 0n, max: ones }),
    fc.bigInt({ min: 0n, max: 3n }),
    fc.bigInt({ min: 0n, max: 3n }).map((n) => ones - n),
    place,
    place.map((bit) => ones ^ bit),
    fc.tuple(place, place).map(([a, b]) => (a > b ? a - b : b - a)),
    fc.tuple(place, fc.bigInt({ min: 0n, max: 2n })).map(([bit, n]) => (bit + n) & ones),
  );
};

const field = (format: Format): fc.Arbitrary<number> => {
  const last = 2 ** format.exponentBits - 1;
  const reach = format.fractionBits + 4;
  return fc.oneof(
    fc.integer({ min: 0, max: last }),
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: last - 3, max: last }),
    fc.integer({ min: format.bias - reach, max: format.bias + reach }),
    fc.integer({ min: 1, max: reach }),
  );
};

const encode = (format: Format, negative: boolean, exponent: number, bits: bigint): bigint =>
  (negative ? format.signMask : 0n) | (BigInt(exponent) << BigInt(format.fractionBits)) | bits;

/** One operand of the format. */
export const operand = (format: Format): fc.Arbitrary<bigint> =>
  fc.oneof(
    { arbitrary: fc.bigInt({ min: 0n, max: (1n << BigInt(format.width)) - 1n }), weight: 1 },
    {
      arbitrary: fc
        .tuple(fc.boolean(), field(format), fraction(format))
        .map(([negative, exponent, bits]) => encode(format, negative, exponent, bits)),
      weight: 8,
    },
  );

const nudge = (format: Format, bits: bigint, steps: number): bigint =>
  BigInt.asUintN(format.width, bits + BigInt(steps));

/** What ties one more operand to those before it; `draw` is an independent operand to fall back on. */
const relate = (format: Format, before: readonly bigint[], draw: bigint, how: number, steps: number): bigint => {
  const [a, b] = before;
  const mask = format.signMask;
  if (b === undefined) {
    if (how === 0) return nudge(format, a!, steps) ^ mask;
    if (how === 1) return nudge(format, a!, steps);
    if (how === 2) return nudge(format, exact.mul(format, a!, draw, IEEE_DEFAULT), steps);
    // A product or quotient next to the smallest or the largest normal number.
    const edge = how === 3 ? format.fractionMask + 1n : format.infinity - 1n;
    if (how === 3 || how === 4) return nudge(format, exact.div(format, edge, a!, IEEE_DEFAULT), steps);
    return how === 5 ? nudge(format, exact.div(format, a!, edge, IEEE_DEFAULT), steps) : draw;
  }
  const product = exact.mul(format, a!, b, IEEE_DEFAULT);
  if (how === 0) return nudge(format, product, steps) ^ mask;
  // An addend that the product only leans on, about a precision below or above it.
  if (how === 1) return exact.ldexp(format, product, -format.fractionBits - 1 + steps, IEEE_DEFAULT);
  if (how === 2) return exact.ldexp(format, product, format.fractionBits + 1 + steps, IEEE_DEFAULT);
  return draw;
};

/** A list of operands, one a format, often related. */
export const operandsOf = (formats: readonly Format[]): fc.Arbitrary<bigint[]> =>
  fc
    .tuple(
      fc.tuple(...formats.map(operand)),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: -3, max: 3 }),
    )
    .map(([draws, how2, how3, steps]) => {
      const operands: bigint[] = [];
      for (const [index, draw] of draws.entries()) {
        const how = index === 1 ? how2 : how3;
        operands.push(index === 0 ? draw : relate(formats[index]!, operands, draw, how, steps));
      }
      // Squares and their neighbours for the roots.
      if (formats.length === 1 && how2 < 4) {
        return [nudge(formats[0]!, exact.mul(formats[0]!, operands[0]!, operands[0]!, IEEE_DEFAULT), steps)];
      }
      return operands;
    });
