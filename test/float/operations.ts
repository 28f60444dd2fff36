import type { Control, Round } from '../../src/float/control.ts';
import { KEEP_INPUT } from '../../src/float/control.ts';
import * as exact from '../../src/float/exact.ts';
import * as f32 from '../../src/float/f32.ts';
import * as f64 from '../../src/float/f64.ts';
import { binary16, binary32, binary64, type Format, hiWord, loWord } from '../../src/float/format.ts';
import { result } from '../../src/float/result.ts';

/** One operation twice: by the oracle on bits as BigInts, and by the fast library on words. */
export interface Operation {
  readonly name: string;
  readonly operands: readonly Format[];
  /** Format of the result; none where it is an integer or a relation. */
  readonly format?: Format;
  readonly oracle: (operands: readonly bigint[], control: Control) => bigint;
  readonly fast: (words: Words, control: Control) => bigint;
}

type Words = number[];

/** The result cell as one BigInt. */
export const resultBits = (): bigint => (BigInt(result[1]!) << 32n) | BigInt(result[0]!);

/** The words of the operands: high and low for a binary64, one for the others. */
const wordsOf = (operation: Operation, operands: readonly bigint[]): Words =>
  operands.flatMap((bits, i) => (operation.operands[i] === binary64 ? [hiWord(bits), loWord(bits)] : [loWord(bits)]));

/** The fast library's result; with the words given as i32 instead of u32 it must be the same. */
export const fastBits = (operation: Operation, operands: readonly bigint[], control: Control): bigint => {
  const words = wordsOf(operation, operands);
  const bits = operation.fast(words, control);
  const bitsFromI32 = operation.fast(
    words.map((one) => one | 0),
    control,
  );
  return bits === bitsFromI32 ? bits : -1n;
};

const round = (control: Control): Round => (control & 3) as Round;
const word = (value: number | bigint): bigint => BigInt.asUintN(32, BigInt(value));

const left = (run: () => void): bigint => {
  run();
  return resultBits();
};

type OracleOperation = (format: Format, ...rest: (bigint | number)[]) => bigint;

/** An operation of the same shape in both formats: oracle(format, ...operands, control) and fast(...words, control). */
const both = (
  name: string,
  count: number,
  oracle: unknown,
  fast64: unknown,
  fast32: unknown,
  extra: readonly number[] = [],
): Operation[] => {
  const generic = oracle as OracleOperation;
  const on64 = fast64 as (...words: Words) => void;
  const on32 = fast32 as (...words: Words) => number;
  return [
    {
      name: `f64_${name}`,
      operands: Array.from({ length: count }, () => binary64),
      format: binary64,
      oracle: (operands, control) => generic(binary64, ...operands, ...extra, control),
      fast: (words, control) => left(() => on64(...words, ...extra, control)),
    },
    {
      name: `f32_${name}`,
      operands: Array.from({ length: count }, () => binary32),
      format: binary32,
      oracle: (operands, control) => generic(binary32, ...operands, ...extra, control),
      fast: (words, control) => BigInt(on32(...words, ...extra, control)),
    },
  ];
};

const I32 = [-(2n ** 31n), 2n ** 31n - 1n] as const;
const U32 = [0n, 2n ** 32n - 1n] as const;

const toInteger = (
  name: string,
  from: Format,
  [low, high]: readonly [bigint, bigint],
  fast: (words: Words, control: Control) => number,
): Operation => ({
  name,
  operands: [from],
  oracle: ([a], control) => word(exact.toInteger(from, a!, low, high, round(control), control)),
  fast: (words, control) => word(fast(words, control)),
});

const relation = (name: string, mask: number): Operation => ({
  name,
  operands: [binary64, binary64],
  oracle: ([a, b], control) => BigInt((exact.relation(binary64, a!, b!, control) & mask) !== 0),
  fast: ([aHi, aLo, bHi, bLo], control) => {
    return BigInt((f64.f64_relation(aHi!, aLo!, bHi!, bLo!, control) & mask) !== 0);
  },
});

/** Sources of integers, for conversions from them: bits of an i32 or u32. */
const fromInteger = (
  name: string,
  to: Format,
  signed: boolean,
  fast: (a: number, control: Control) => bigint,
): Operation => ({
  name,
  operands: [binary32],
  format: to,
  oracle: ([a], control) => exact.fromInteger(to, signed ? BigInt.asIntN(32, a!) : a!, control),
  fast: ([a], control) => fast(a!, control),
});

const SHIFTS = [-2147483648, -2200, -1100, -1074, -150, -64, -1, 0, 1, 53, 128, 1023, 2200, 2147483647];

export const OPERATIONS: readonly Operation[] = [
  ...both('add', 2, exact.add, f64.f64_add, f32.f32_add),
  ...both('sub', 2, exact.sub, f64.f64_sub, f32.f32_sub),
  ...both('mul', 2, exact.mul, f64.f64_mul, f32.f32_mul),
  ...both('div', 2, exact.div, f64.f64_div, f32.f32_div),
  ...both('mulAdd', 3, exact.mulAdd, f64.f64_mulAdd, f32.f32_mulAdd),
  ...[-128, -64, 64, 128].flatMap((k) =>
    both(`mulAddScaled ${k}`, 3, exact.mulAddScaled, f64.f64_mulAddScaled, f32.f32_mulAddScaled, [k]),
  ),
  ...both('sqrt', 1, exact.sqrt, f64.f64_sqrt, f32.f32_sqrt),
  ...SHIFTS.flatMap((n) => both(`ldexp ${n}`, 1, exact.ldexp, f64.f64_ldexp, f32.f32_ldexp, [n])),
  {
    name: 'f64_rsqrt',
    operands: [binary64],
    format: binary64,
    oracle: ([a], control) => exact.rsqrt(binary64, a!, control),
    fast: ([hi, lo], control) => left(() => f64.f64_rsqrt(hi!, lo!, control)),
  },
  {
    name: 'f64_roundToInt',
    operands: [binary64],
    format: binary64,
    oracle: ([a], control) => exact.roundToInt(binary64, a!, control),
    fast: ([hi, lo], control) => left(() => f64.f64_roundToInt(hi!, lo!, round(control), control)),
  },
  {
    name: 'f32_roundToInt',
    operands: [binary32],
    format: binary32,
    oracle: ([a], control) => exact.roundToInt(binary32, a!, control),
    fast: ([a], control) => BigInt(f32.f32_roundToInt(a!, round(control), control)),
  },
  {
    name: 'f64_to_f32',
    operands: [binary64],
    format: binary32,
    oracle: ([a], control) => exact.convert(binary64, binary32, a!, control, control),
    fast: ([hi, lo], control) => BigInt(f64.f64_to_f32(hi!, lo!, control, control)),
  },
  {
    name: 'f64_to_f32 with the controls apart',
    operands: [binary64],
    format: binary32,
    oracle: ([a], control) => exact.convert(binary64, binary32, a!, control ^ KEEP_INPUT, control),
    fast: ([hi, lo], control) => BigInt(f64.f64_to_f32(hi!, lo!, control ^ KEEP_INPUT, control)),
  },
  {
    name: 'f32_to_f64',
    operands: [binary32],
    format: binary64,
    oracle: ([a], control) => exact.convert(binary32, binary64, a!, control, control),
    fast: ([a], control) => left(() => f64.f32_to_f64(a!, control)),
  },
  toInteger('f64_to_i32', binary64, I32, ([hi, lo], control) => f64.f64_to_i32(hi!, lo!, round(control), control)),
  toInteger('f64_to_ui32', binary64, U32, ([hi, lo], control) => f64.f64_to_u32(hi!, lo!, round(control), control)),
  toInteger('f32_to_i32', binary32, I32, ([a], control) => f32.f32_to_i32(a!, round(control), control)),
  toInteger('f32_to_ui32', binary32, U32, ([a], control) => f32.f32_to_u32(a!, round(control), control)),
  fromInteger('i32_to_f64', binary64, true, (a) => left(() => f64.i32_to_f64(a))),
  fromInteger('ui32_to_f64', binary64, false, (a) => left(() => f64.u32_to_f64(a))),
  fromInteger('i32_to_f32', binary32, true, (a, control) => BigInt(f32.i32_to_f32(a, control))),
  fromInteger('ui32_to_f32', binary32, false, (a, control) => BigInt(f32.u32_to_f32(a, control))),
  relation('f64_lt', 1),
  relation('f64_eq', 2),
  relation('f64_le', 3),
  {
    name: 'f64_relation',
    operands: [binary64, binary64],
    oracle: ([a, b], control) => BigInt(exact.relation(binary64, a!, b!, control)),
    fast: ([aHi, aLo, bHi, bLo], control) => BigInt(f64.f64_relation(aHi!, aLo!, bHi!, bLo!, control)),
  },
  {
    name: 'f32_relation',
    operands: [binary32, binary32],
    oracle: ([a, b], control) => BigInt(exact.relation(binary32, a!, b!, control)),
    fast: ([a, b], control) => BigInt(f32.f32_relation(a!, b!, control)),
  },
  {
    name: 'f64_class',
    operands: [binary64],
    oracle: ([a]) => BigInt(exact.classOf(binary64, a!)),
    fast: ([hi, lo]) => BigInt(f64.f64_class(hi!, lo!)),
  },
  {
    name: 'f32_class',
    operands: [binary32],
    oracle: ([a]) => BigInt(exact.classOf(binary32, a!)),
    fast: ([a]) => BigInt(f32.f32_class(a!)),
  },
];

const half = (word: number): bigint => BigInt.asUintN(16, BigInt(word));

/** binary16 has the oracle only. */
export const F16_MULADD: Operation = {
  name: 'f16_mulAdd',
  operands: [binary16, binary16, binary16],
  format: binary16,
  oracle: ([a, b, c], control) => exact.mulAdd(binary16, a!, b!, c!, control),
  fast: ([a, b, c], control) => exact.mulAdd(binary16, half(a!), half(b!), half(c!), control),
};
