/** Operands for instructions, made from a seed: the ends of the exponent range, runs of ones, special values, close relatives. */

export type Random = () => number;

/** Words from a 32-bit seed (Marsaglia's xorshift over a Weyl sequence). */
export function random(seed: number): Random {
  let weyl = seed >>> 0;
  let x = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    weyl = (weyl + 0x9e3779b9) >>> 0;
    return (x + weyl) >>> 0;
  };
}

const pick = <T>(next: Random, list: readonly T[]): T => list[next() % list.length]!;

/** What the generator must know of a format; bits are BigInts. */
export interface Shape {
  readonly fractionBits: number;
  readonly exponentBits: number;
  /** Differences of exponent fields at which v_div_scale and v_div_fixup decide. */
  readonly distances: readonly number[];
  /** Exponent fields at which something changes. */
  readonly fields: readonly number[];
}

export const F64: Shape = {
  fractionBits: 52,
  exponentBits: 11,
  distances: [0, 1, 52, 53, 54, 106, 128, 767, 768, 769, 1021, 1022, 1023, 1024, 1073, 1074, 1075, 1076],
  fields: [0, 1, 2, 3, 52, 53, 54, 76, 127, 128, 129, 130, 1021, 1022, 1023, 1024, 1025, 1917, 1918, 2044, 2045, 2046],
};

export const F32: Shape = {
  fractionBits: 23,
  exponentBits: 8,
  distances: [0, 1, 23, 24, 25, 64, 95, 96, 97, 125, 126, 127, 128, 148, 149, 150, 151],
  fields: [0, 1, 2, 3, 22, 23, 24, 25, 63, 64, 65, 126, 127, 128, 129, 189, 190, 252, 253, 254],
};

const bits = (next: Random, count: number): bigint => {
  const word = (BigInt(next()) << 32n) | BigInt(next());
  return word & ((1n << BigInt(count)) - 1n);
};

function fraction(next: Random, { fractionBits }: Shape): bigint {
  const ones = (1n << BigInt(fractionBits)) - 1n;
  const place = 1n << BigInt(next() % fractionBits);
  switch (next() % 8) {
    case 0:
      return 0n;
    case 1:
      return ones;
    case 2:
      return place;
    case 3:
      return ones ^ place;
    case 4:
      return place - 1n;
    case 5:
      return ones - (place - 1n);
    default:
      return bits(next, fractionBits);
  }
}

/** One operand, possibly related to those already drawn for its lane. */
export function operand(next: Random, shape: Shape, before: readonly bigint[]): bigint {
  const { fractionBits, exponentBits } = shape;
  const last = 2 ** exponentBits - 1;
  const sign = BigInt(next() & 1) << BigInt(fractionBits + exponentBits);
  const put = (field: number, value: bigint): bigint =>
    sign | (BigInt(Math.min(Math.max(field, 0), last)) << BigInt(fractionBits)) | value;
  const width = BigInt(fractionBits + exponentBits + 1);
  const related = before.length > 0 ? pick(next, before) : undefined;
  const fieldOf = (word: bigint): number => Number(word >> BigInt(fractionBits)) & last;
  switch (next() % 12) {
    case 0:
      return bits(next, Number(width));
    case 1:
      return pick(next, [0n, 1n, 2n, (1n << BigInt(fractionBits)) - 1n]) | sign;
    case 2:
      // Infinity, NaN of both kinds.
      return put(last, pick(next, [0n, 0n, 1n, fraction(next, shape)]));
    case 3:
    case 4:
      return put(pick(next, shape.fields), fraction(next, shape));
    case 5:
      return put(0, fraction(next, shape));
    case 6:
      if (related !== undefined) return BigInt.asUintN(Number(width), related + BigInt(next() % 5) - 2n);
      break;
    case 7:
    case 8:
      if (related !== undefined) return related ^ (next() % 4 === 0 ? sign : 0n);
      break;
    case 9:
      if (related !== undefined) {
        const distance = pick(next, shape.distances) + (next() % 3) - 1;
        return put(fieldOf(related) + (next() & 1 ? distance : -distance), fraction(next, shape));
      }
      break;
    case 10:
      // The exponent of a product of two operands, or of their quotient.
      if (before.length > 1) {
        const [a, b] = before as [bigint, bigint];
        const bias = last >> 1;
        const product = next() & 1 ? fieldOf(a) + fieldOf(b) - bias : fieldOf(a) - fieldOf(b) + bias;
        return put(product + (next() % 5) - 2, fraction(next, shape));
      }
      break;
    default:
      break;
  }
  return put(next() % last, fraction(next, shape));
}

/** MODE words: each rounding mode and denormal setting of both formats, IEEE and DX10_CLAMP on and off; the default first. */
export const MODES: readonly number[] = [
  0x3f0, 0x3f5, 0x3fa, 0x3ff, 0x300, 0x355, 0x3aa, 0x30f, 0x0f0, 0x00a, 0x155, 0x2af, 0x1fc,
];
