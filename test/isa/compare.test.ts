/** v_cmp_*_f64 by the truth table of their opcode (AMD RDNA3 ISA, VOPC), and v_cmp_class_f64 class by class. */
import { describe, expect, it } from 'vitest';
import { definition, KERNEL, run } from './run.ts';

const names = ['f', 'lt', 'eq', 'le', 'gt', 'lg', 'ge', 'o', 'u', 'nge', 'nlg', 'ngt', 'nle', 'neq', 'nlt', 'tru'];

const [one, two, zero, tiny] = ['3ff0000000000000', '4000000000000000', '0000000000000000', '0000000000000001'];
const [minusZero, minusOne, inf] = ['8000000000000000', 'bff0000000000000', '7ff0000000000000'];
const [quiet, signalling] = ['7ff8000000000000', 'fff0000000000001'];

/** Pairs, and the one relation that holds: 1 less, 2 equal, 4 greater, 8 unordered. */
const pairs: [string, string, number][] = [
  [one, two, 1],
  [two, one, 4],
  [minusOne, zero, 1],
  [one, one, 2],
  [zero, minusZero, 2],
  [minusZero, zero, 2],
  [inf, inf, 2],
  [one, inf, 1],
  [minusZero, tiny, 1],
  [tiny, minusZero, 4],
  [quiet, one, 8],
  [one, quiet, 8],
  [signalling, quiet, 8],
  [quiet, quiet, 8],
];

describe.each(names.map((name, code) => [`v_cmp_${name}_f64`, code] as const))('%s', (name, code) => {
  it('is its truth table', () => {
    const results = run(
      name,
      pairs.map(([a, b]) => [a, b]),
    );
    expect(results.map(({ flag }) => flag)).toEqual(pairs.map(([, , relation]) => ((code & relation) === 0 ? 0 : 1)));
  });

  it('flushes subnormal sources first by the input bit', () => {
    const flushed = run(name, [[tiny, minusZero]], KERNEL & ~0x40);
    expect(flushed[0]!.flag).toBe((code >>> 1) & 1);
  });

  it('has its code in the low four bits of every opcode', () => {
    for (const { opcode } of definition(name).forms) expect(opcode & 15).toBe(code);
  });
});

describe('v_cmp_class_f64', () => {
  const members: [string, string[]][] = [
    ['signalling NaN', ['7ff0000000000001', 'fff7ffffffffffff', '7ff0000100000000']],
    ['quiet NaN', ['7ff8000000000000', 'ffffffffffffffff']],
    ['-infinity', ['fff0000000000000']],
    ['-normal', ['bff0000000000000', '8010000000000000', 'ffefffffffffffff']],
    ['-subnormal', ['8000000000000001', '800fffffffffffff', '8000000100000000']],
    ['-0', ['8000000000000000']],
    ['+0', ['0000000000000000']],
    ['+subnormal', ['0000000000000001', '000fffffffffffff', '0008000000000000']],
    ['+normal', ['3ff0000000000000', '0010000000000000', '7fefffffffffffff']],
    ['+infinity', ['7ff0000000000000']],
  ];

  it.each(members.map(([label, bits], index) => [index, label, bits] as const))('bit %i: %s', (index, _, bits) => {
    for (const value of bits)
      for (let bit = 0; bit < 32; bit++) {
        const mask = (2 ** bit).toString(16).padStart(8, '0');
        expect(run('v_cmp_class_f64', [[value, mask]])[0]!.flag, `${value} ${mask}`).toBe(bit === index ? 1 : 0);
      }
  });

  it('reads the bits as they are where MODE flushes', () => {
    expect(run('v_cmp_class_f64', [['0000000000000001', '00000080']], 0x300)[0]!.flag).toBe(1);
  });
});
