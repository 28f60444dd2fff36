/**
 * v_ldexp_f64, the published reciprocals and roots, and the NaN rules of the arithmetic instructions. That sums and products are right
 * is the float library's matter (test/float); here it is which control word MODE makes of them.
 */
import { describe, expect, it } from 'vitest';
import { gfx1100, KERNEL, rounding, values, variant } from './run.ts';

const IEEE = 0x200;
const [keepInput64, keepOutput64, keepInput32, keepOutput32] = [0x40, 0x80, 0x10, 0x20];
const of = (name: string, sources: string[], mode = KERNEL, where = gfx1100) => values(name, [sources], mode, where)[0];

const [one, smallest, subnormal] = ['3ff0000000000000', '0010000000000000', '0008000000000000'];

describe('v_ldexp_f64', () => {
  const hex = (n: number) => (n >>> 0).toString(16).padStart(8, '0');
  const ldexp = (a: string, n: number, mode = KERNEL) => of('v_ldexp_f64', [a, hex(n)], mode);
  it.each([
    [smallest, -1, subnormal],
    ['0000000000000001', 2000, '79d0000000000000'],
    ['bff8000000000000', 4, 'c038000000000000'],
    [one, 0x7fffffff, '7ff0000000000000'],
    [one, -0x80000000, '0000000000000000'],
    ['8000000000000000', 5, '8000000000000000'],
    ['fff0000000000000', -5, 'fff0000000000000'],
    ['fff0000000000001', 1, 'fff8000000000001'],
  ])('%s * 2^%i = %s', (a, n, expected) => expect(ldexp(a, n)).toBe(expected));

  it('flushes source and result by MODE', () => {
    expect(ldexp(smallest, -1, KERNEL & ~keepOutput64)).toBe('0000000000000000');
    expect(ldexp(subnormal, 1, KERNEL & ~keepInput64)).toBe('0000000000000000');
  });

  it('rounds tiny results once, by MODE', () => {
    const results = [0, 1, 2, 3].map((round) => ldexp('bff8000000000000', -1075, rounding(round)));
    expect(results).toEqual(['8000000000000001', '8000000000000000', '8000000000000001', '8000000000000000']);
    expect(ldexp(one, -0x80000000, rounding(1))).toBe('0000000000000001');
    expect(ldexp(one, 0x7fffffff, rounding(2))).toBe('7fefffffffffffff');
  });

  it('quiets a NaN with IEEE off too', () =>
    expect(ldexp('7ff0000000000001', 1, KERNEL & ~IEEE)).toBe('7ff8000000000001'));
});

describe('published reciprocals and roots are correctly rounded to nearest in every mode', () => {
  const published = variant('gfx90a', 'published');
  it.each([0, 1, 2, 3])('round field %i', (round) => {
    const mode = rounding(round);
    expect(of('v_rcp_f64', ['4008000000000000'], mode, published)).toBe('3fd5555555555555');
    expect(of('v_rcp_f64', ['4018000000000000'], mode, published)).toBe('3fc5555555555555');
    expect(of('v_rcp_f64', ['4024000000000000'], mode, published)).toBe('3fb999999999999a');
    expect(of('v_sqrt_f64', ['4000000000000000'], mode, published)).toBe('3ff6a09e667f3bcd');
    expect(of('v_rsq_f64', ['4000000000000000'], mode, published)).toBe('3fe6a09e667f3bcd');
  });
  it('chips give their table', () => {
    expect(of('v_rcp_f64', ['4008000000000000'])).toBe('3fd5555554000000');
  });
});

describe('NaN', () => {
  const [sA, sB, sC] = ['7ff0000000000aaa', 'fff0000000000bbb', '7ff0000000000ccc'];
  const [qA, qB, qC] = ['7ff8000000000aaa', 'fff8000000000bbb', '7ff8000000000ccc'];
  const [zero, inf, negative] = ['0000000000000000', '7ff0000000000000', 'fff8000000000000'];
  it.each([
    ['the first source in order passes, quieted', [sA, sB, sC], qA],
    ['the second before the addend', [one, sB, sC], qB],
    ['the addend', [one, one, sC], qC],
    ['0 * inf before a NaN addend', [zero, inf, qC], negative],
    ['inf - inf', [inf, one, 'fff0000000000000'], negative],
  ])('v_fma_f64: %s', (_, sources, expected) => expect(of('v_fma_f64', sources)).toBe(expected));

  it('keeps signalling with IEEE = 0, but not on gfx12', () => {
    for (const name of ['v_add_f64', 'v_mul_f64']) {
      expect(of(name, [sA, one], KERNEL & ~IEEE)).toBe(sA);
      expect(of(name, [one, sB])).toBe(qB);
    }
  });
});

describe('f32 and f64 have their own round and denormal fields', () => {
  const [third32, third64] = ['3eaaaaab', '3fd5555555555555'];
  it('round', () => {
    const up32 = KERNEL | 1;
    const up64 = KERNEL | 4;
    expect(of('v_mul_f32', [third32, third32], KERNEL)).toBe('3de38e3a');
    expect(of('v_mul_f32', [third32, third32], KERNEL | 2)).toBe('3de38e39');
    expect(of('v_mul_f32', [third32, third32], KERNEL | 8)).toBe('3de38e3a');
    expect(of('v_add_f64', [third64, one], up32)).toBe('3ff5555555555555');
    expect(of('v_add_f64', [third64, one], up64)).toBe('3ff5555555555556');
  });
  it('denormals', () => {
    const [one32, tiny32] = ['3f800000', '00000001'];
    expect(of('v_mul_f32', [tiny32, one32], KERNEL & ~keepInput32)).toBe('00000000');
    expect(of('v_mul_f32', [tiny32, one32], KERNEL & ~keepOutput32)).toBe('00000000');
    expect(of('v_mul_f32', [tiny32, one32], KERNEL & ~keepInput64 & ~keepOutput64)).toBe(tiny32);
    expect(of('v_mul_f64', [subnormal, one], KERNEL & ~keepInput64)).toBe('0000000000000000');
    expect(of('v_mul_f64', [subnormal, one], KERNEL & ~keepOutput64)).toBe('0000000000000000');
    expect(of('v_mul_f64', [subnormal, one], KERNEL & ~keepInput32 & ~keepOutput32)).toBe(subnormal);
  });
  it('v_rcp_f32 and its kin flush whatever MODE says', () => {
    expect(of('v_rcp_f32', ['00000001'])).toBe('7f800000');
    expect(of('v_rcp_f32', ['7f000000'])).toBe('00000000');
    expect(of('v_sqrt_f32', ['80000001'])).toBe('80000000');
    expect(of('v_rsq_f32', ['80000001'])).toBe('ff800000');
  });
});
