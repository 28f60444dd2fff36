import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operandsOf } from './operands.ts';
import { fastBits, OPERATIONS, type Operation } from './operations.ts';

/**
 * The fast library (native doubles, error-free transformations) against the oracle (exact integers): the same bits in
 * every rounding mode and under both denormal controls, with the NaN rules drawn. IEEE 754-2019 5.4, 6.2, 7.4, 7.5.
 */
const RUNS = Number(process.env['FLOAT_RUNS'] ?? 600);

const hex = (bits: bigint): string => bits.toString(16);

const agree = (operation: Operation, operands: readonly bigint[], nanRules: number): void => {
  for (let modes = 0; modes < 16; modes++) {
    const control = (nanRules << 4) | modes;
    const fast = fastBits(operation, operands, control);
    const oracle = operation.oracle(operands, control);
    if (fast !== oracle) {
      const at = `${operation.name}(${operands.map(hex).join(', ')}) control ${control.toString(2)}`;
      expect.fail(`${at}: fast ${hex(fast)}, oracle ${hex(oracle)}`);
    }
  }
};

describe('fast library and oracle give the same bits', () => {
  test.each(OPERATIONS)('$name', (operation) => {
    const property = fc.property(operandsOf(operation.operands), fc.integer({ min: 0, max: 7 }), (operands, nanRules) =>
      agree(operation, operands, nanRules),
    );
    fc.assert(property, { numRuns: RUNS });
  });
});

describe('where doubles cannot decide a reciprocal root, integers do', () => {
  // 1/sqrt(1 + u) = 1 - u/2 + 3u^2/8 - ...: next to a double for small u, so that directed modes hang on the third term.
  const one = 0x3ff0000000000000n;
  const rsqrt = OPERATIONS.find((operation) => operation.name === 'f64_rsqrt')!;
  test.each([one - 3n, one - 2n, one - 1n, one, one + 1n, one + 2n, one + 4n, one + (1n << 52n), 1n, 4n])('%s', (a) =>
    agree(rsqrt, [a], 1),
  );
});
