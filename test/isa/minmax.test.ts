/**
 * v_min_f64 and v_max_f64: the table of NaN and zeros by generation and IEEE bit (AMD CDNA3, RDNA3 and RDNA4 ISA; gfx12 captured by
 * ROCm rocjitsu, minmax_test.cpp), cell by cell.
 */
import { describe, expect, it } from 'vitest';
import { KERNEL, negated, values, variant } from './run.ts';

const IEEE = 0x200;
const number = '3ff0000000000000';
const [sA, sB] = ['7ff0000000000aaa', 'fff0000000000bbb'];
const [qA, qB] = ['7ff8000000000aaa', 'fff8000000000bbb'];

/** a, b, then the result in the columns: gfx9 IEEE=1, IEEE=0, gfx11 IEEE=1, IEEE=0, gfx12. */
const rows: [string, string, string, string, string, string, string, string][] = [
  ['a sNaN, b number', sA, number, qA, number, qA, number, number],
  ['a number, b sNaN', number, sB, qB, number, qB, number, number],
  ['a sNaN, b sNaN', sA, sB, qA, sB, qA, sA, qA],
  ['a sNaN, b qNaN', sA, qB, qA, qB, qA, sA, qA],
  ['a qNaN, b sNaN', qA, sB, qB, sB, qB, qA, qA],
  ['a qNaN, b number', qA, number, number, number, number, number, number],
  ['a number, b qNaN', number, qB, number, number, number, number, number],
  ['both qNaN', qA, qB, qB, qB, qA, qA, qA],
];

const columns: [string[], number, number][] = [
  [['gfx906', 'gfx90a', 'gfx942', 'gfx1030'], KERNEL, 0],
  [['gfx906', 'gfx90a', 'gfx942', 'gfx1030'], KERNEL & ~IEEE, 1],
  [['gfx1100'], KERNEL, 2],
  [['gfx1100'], KERNEL & ~IEEE, 3],
  [['gfx1200', 'gfx1201'], KERNEL, 4],
];

describe.each(rows)('%s', (_, a, b, ...expected) => {
  it.each(columns)('%s, MODE %i', (targets, mode, column) => {
    for (const target of targets)
      for (const name of ['v_min_f64', 'v_max_f64'])
        expect(values(name, [[a, b]], mode, variant(target)), `${name} ${target}`).toEqual([expected[column]]);
  });
});

describe.each(['gfx90a', 'gfx1030', 'gfx1100', 'gfx1200'])('numbers on %s', (target) => {
  const of = (name: string, a: string, b: string, mode = KERNEL) => values(name, [[a, b]], mode, variant(target))[0];
  const zero = '0000000000000000';
  const ascending = [
    'fff0000000000000',
    'ffefffffffffffff',
    'bff0000000000000',
    '8000000000000001',
    '8000000000000000',
    zero,
    '0000000000000001',
    '000fffffffffffff',
    '0010000000000000',
    '3ff0000000000000',
    '3ff0000000000001',
    '3ff0000100000000',
    '7ff0000000000000',
  ];

  it('select by value, with -0 below +0', () => {
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries()) {
        expect(of('v_min_f64', a, b), `min ${a} ${b}`).toBe(ascending[Math.min(i, j)]);
        expect(of('v_max_f64', a, b), `max ${a} ${b}`).toBe(ascending[Math.max(i, j)]);
      }
  });

  it('flush subnormal sources by the input bit, never the result by the output bit', () => {
    const [keepsInput, keepsOutput] = [KERNEL & ~0x80, KERNEL & ~0x40];
    const tiny = '0000000000000001';
    expect(of('v_max_f64', tiny, zero, keepsOutput)).toBe(zero);
    expect(of('v_max_f64', tiny, zero, keepsInput)).toBe(tiny);
    expect(of('v_min_f64', negated(tiny), zero, keepsOutput)).toBe(negated(zero));
    expect(of('v_min_f64', negated(tiny), zero, keepsInput)).toBe(negated(tiny));
  });
});
