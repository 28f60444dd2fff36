import { describe, expect, test } from 'vitest';
import { IEEE_DEFAULT, Round } from '../../src/float/control.ts';
import { isNaNBits } from '../../src/float/exact.ts';
import { gzipLines, TESTFLOAT_FILES, TESTFLOAT_INVALID, TESTFLOAT_MODES, testFloatLines } from './files.ts';
import { F16_MULADD, fastBits, OPERATIONS, type Operation } from './operations.ts';

/**
 * Berkeley TestFloat's cases (against SoftFloat 3e) and musl's libc-test, for both the oracle and the fast library.
 * NaN is compared as NaN, since the files follow x86's choice of payload; out-of-range conversions to integers are
 * compared with AMD's saturation instead of the file's value (LLVM's V_CVT: saturate, NaN gives 0).
 */
const operationOf = (name: string): Operation =>
  name === F16_MULADD.name ? F16_MULADD : OPERATIONS.find((operation) => operation.name === name)!;

/** AMD's value where TestFloat reports an invalid conversion of a to a 32-bit integer. */
const saturated = (name: string, a: bigint): bigint => {
  if (isNaNBits(operationOf(name).operands[0]!, a)) return 0n;
  const negative = a >> 63n === 1n;
  if (name === 'f64_to_ui32') return negative ? 0n : 0xffffffffn;
  return negative ? 0x80000000n : 0x7fffffffn;
};

const same = (operation: Operation, got: bigint, want: bigint): boolean =>
  operation.format && isNaNBits(operation.format, want) ? isNaNBits(operation.format, got) : got === want;

const check = (operation: Operation, operands: readonly bigint[], round: Round, want: bigint): void => {
  const control = (IEEE_DEFAULT & ~3) | round;
  const results = { oracle: operation.oracle(operands, control), fast: fastBits(operation, operands, control) };
  for (const [by, got] of Object.entries(results)) {
    if (!same(operation, got, want)) {
      const at = `${operation.name}(${operands.map((bits) => bits.toString(16)).join(', ')}) mode ${round}`;
      expect.fail(`${at}: ${by} ${got.toString(16)}, file ${want.toString(16)}`);
    }
  }
};

describe('TestFloat', () => {
  test.each([...TESTFLOAT_FILES, 'f16_mulAdd'])('%s', (name) => {
    const operation = operationOf(name);
    const count = operation.operands.length;
    const lines = testFloatLines(name);
    expect(lines.length).toBeGreaterThan(150);
    for (const columns of lines) {
      const operands = columns.slice(0, count).map((word) => BigInt(`0x${word}`));
      const results = columns.slice(count);
      for (let mode = 0; 2 * mode < results.length; mode++) {
        const invalid = (Number.parseInt(results[2 * mode + 1]!, 16) & TESTFLOAT_INVALID) !== 0;
        const clamps = invalid && /^f64_to_u?i/.test(name);
        const want = clamps ? saturated(name, operands[0]!) : BigInt(`0x${results[2 * mode]}`);
        check(operation, operands, TESTFLOAT_MODES[mode]!, want);
      }
    }
  });
});

describe('libc-test', () => {
  const modes = new Map<string, Round>([
    ['rn', Round.nearestEven],
    ['ru', Round.up],
    ['rd', Round.down],
    ['rz', Round.towardZero],
  ]);
  const bits = (word: string): bigint => (word === 'nan' ? 0x7ff8000000000000n : BigInt(`0x${word}`));

  test.each([
    ['fma', 'f64_mulAdd', 3],
    ['sqrt', 'f64_sqrt', 1],
  ] as const)('%s', (file, name, count) => {
    const lines = gzipLines(`libctest_${file}.txt.gz`);
    expect(lines.length).toBeGreaterThan(600);
    for (const [, mode, ...words] of lines) {
      check(operationOf(name), words.slice(0, count).map(bits), modes.get(mode!)!, bits(words[count]!));
    }
  });
});
