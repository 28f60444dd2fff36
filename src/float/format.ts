/**
 * The IEEE 754 binary interchange formats as data (IEEE 754-2019 3.6), and the ways between the three shapes a value
 * takes on the host: a pair of u32 words (hi, lo), one BigInt of bits, a JavaScript number.
 *
 * A finite value is significand * 2^exponent with an integer significand. With p bits of precision the encoding of a
 * finite magnitude is monotonic in that value: bits = ((q - qMin) << (p - 1)) + significand, q the exponent of the last
 * place. That one sum covers subnormals, normals and the carry from one binade to the next.
 */
export interface Format {
  readonly name: string;
  /** Bits of the whole encoding. */
  readonly width: number;
  /** Bits of the trailing fraction field; the precision p is one more. */
  readonly fractionBits: number;
  readonly exponentBits: number;
  readonly bias: number;
  /** Exponent of the last place of the subnormals and of the smallest normal binade: the smallest there is. */
  readonly minQuantum: number;
  readonly signMask: bigint;
  readonly fractionMask: bigint;
  /** The bit that tells a quiet NaN from a signalling one (IEEE 754-2019 6.2.1). */
  readonly quietBit: bigint;
  /** Bits of +infinity, which is also the mask of the exponent field. */
  readonly infinity: bigint;
}

const format = (name: string, width: number, exponentBits: number): Format => {
  const fractionBits = width - 1 - exponentBits;
  const bias = 2 ** (exponentBits - 1) - 1;
  return {
    name,
    width,
    fractionBits,
    exponentBits,
    bias,
    minQuantum: 1 - bias - fractionBits,
    signMask: 1n << BigInt(width - 1),
    fractionMask: (1n << BigInt(fractionBits)) - 1n,
    quietBit: 1n << BigInt(fractionBits - 1),
    infinity: ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits),
  };
};

export const binary16 = format('f16', 16, 5);
export const binary32 = format('f32', 32, 8);
export const binary64 = format('f64', 64, 11);

/** A binary64 word as one BigInt, from its two u32 halves. */
export const bitsOfWords = (hi: number, lo: number): bigint => (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);

/** The high u32 half of a 64-bit BigInt. */
export const hiWord = (bits: bigint): number => Number((bits >> 32n) & 0xffffffffn);

/** The low u32 half of a 64-bit BigInt. */
export const loWord = (bits: bigint): number => Number(bits & 0xffffffffn);

// One cell seen as a double, as two words and as two floats. Every host of WebGPU is little-endian: word 1 is the high one.
const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const float = new Float32Array(double.buffer);

/** The double with these words. Not for NaN: an engine may change the payload of a NaN that becomes a number. */
export const numberOfWords = (hi: number, lo: number): number => {
  words[0] = lo;
  words[1] = hi;
  return double[0]!;
};

/** The high word of a double that is not NaN. */
export const hiOfNumber = (value: number): number => {
  double[0] = value;
  return words[1]!;
};

/** The low word of a double that is not NaN. */
export const loOfNumber = (value: number): number => {
  double[0] = value;
  return words[0]!;
};

/** The value of a binary32 word as a double (exact). Not for NaN. */
export const numberOfFloat = (bits: number): number => {
  words[0] = bits;
  return float[0]!;
};

/** The binary32 word nearest to a double that is not NaN (ties to even). */
export const floatOfNumber = (value: number): number => {
  float[0] = value;
  return words[0]!;
};
