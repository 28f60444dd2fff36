/** The f64 division macro: every register of every step in the four rounding modes, and where AMD's published text goes wrong. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Variant } from '../../src/isa/target.ts';
import { gfx1100, isNan, KERNEL, negated, rounding, run, table, values, variant } from './run.ts';

const published = variant('gfx1100', 'published');
const ONE = '3ff0000000000000';

/** The macro as LLVM emits it, all pairs at once; columns in the order of the steps files. */
function macro(pairs: readonly (readonly string[])[], mode: number, where: Variant): string[][] {
  const [a, b] = [pairs.map((p) => p[0]!), pairs.map((p) => p[1]!)];
  const zip = (...columns: string[][]) => columns[0]!.map((_, i) => columns.map((column) => column[i]!));
  const fma = (x: string[], y: string[], z: string[]) => values('v_fma_f64', zip(x, y, z), mode, where);
  const ones = a.map(() => ONE);
  const den = run('v_div_scale_f64', zip(b, b, a), mode, where);
  const num = run('v_div_scale_f64', zip(a, b, a), mode, where);
  const [d, n] = [den.map((r) => r.value), num.map((r) => r.value)];
  const [dFlag, nFlag] = [den.map((r) => String(r.flag)), num.map((r) => String(r.flag))];
  const minus = d.map(negated);
  const r0 = values('v_rcp_f64', zip(d), mode, where);
  const e0 = fma(minus, r0, ones);
  const r1 = fma(r0, e0, r0);
  const e1 = fma(minus, r1, ones);
  const r2 = fma(r1, e1, r1);
  const q = values('v_mul_f64', zip(n, r2), mode, where);
  const e2 = fma(minus, q, n);
  const p = values('v_div_fmas_f64', zip(e2, r2, q, nFlag), mode, where);
  const result = values('v_div_fixup_f64', zip(p, b, a), mode, where);
  return zip(a, b, d, dFlag, n, nFlag, r0, e0, r1, e1, r2, q, e2, p, result);
}

const modes = ['rne', 'rup', 'rdn', 'rtz'] as const;

const data = new URL('data/', import.meta.url);
const shared = new URL('../../../shared/vectors/divmacro/', import.meta.url);
const folders = existsSync(shared) ? [data, shared] : [data];

describe.each(
  folders.map((folder) => [folder === data ? 'every fifth of 3,400 pairs' : 'all 3,400 pairs', folder] as const),
)('every register of the macro, %s', (_, folder) => {
  it.each(modes.map((name, round) => [name, round] as const))('%s', (name, round) => {
    const expected = table(`steps-hw-${name}.txt.gz`, folder);
    expect(expected.length).toBeGreaterThan(600);
    expect(macro(expected, rounding(round), gfx1100)).toEqual(expected);
  });
});

const quotient = (a: string, b: string, where: Variant) => macro([[a, b]], KERNEL, where)[0]!.at(-1)!;

const toNumber = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE();
const toHex = (x: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(x);
  return bytes.toString('hex');
};
const power = (exponent: number) => toHex(2 ** exponent);

describe('the published text does not divide', () => {
  it('1.0 / 2^1023 ends in NaN: the denominator is scaled up and overflows', () => {
    expect(isNan(quotient(ONE, power(1023), published))).toBe(true);
    expect(quotient(ONE, power(1023), gfx1100)).toBe(power(-1023));
  });

  it('1.0 / largest ends in NaN for the same reason', () => {
    expect(isNan(quotient(ONE, '7fefffffffffffff', published))).toBe(true);
    expect(quotient(ONE, '7fefffffffffffff', gfx1100)).toBe(toHex(1 / Number.MAX_VALUE));
  });

  it('2^800 / 1.0 ends in 2^736: v_div_fmas gives back 2^64 of the 2^128 that v_div_scale took', () => {
    expect(quotient(power(800), ONE, published)).toBe(power(736));
    expect(quotient(power(800), ONE, gfx1100)).toBe(power(800));
  });

  it('where nothing is scaled it does', () => {
    expect(quotient(toHex(1), toHex(3), published)).toBe(toHex(1 / 3));
  });
});

describe('v_div_scale_f64 by the published text', () => {
  it('agrees with an independent model, but for its denominators that overflow where 2^-128 was meant', () => {
    let amended = 0;
    for (const [a, b, den, denFlag, num, numFlag] of table('scale-published.txt.gz') as [
      string,
      string,
      string,
      string,
      string,
      string,
    ][]) {
      const results = run(
        'v_div_scale_f64',
        [
          [b, b, a],
          [a, b, a],
        ],
        KERNEL,
        published,
      );
      const [d, n] = results as [{ value: string; flag: number }, { value: string; flag: number }];
      const tiny = (x: number) => x !== 0 && Math.abs(x) < 2 ** -1022;
      const overflows = tiny(1 / toNumber(b)) && tiny(toNumber(a) / toNumber(b));
      if (overflows) amended++;
      const scaled = overflows ? toHex(toNumber(b) * 2 ** 128) : den;
      if (scaled === 'nan') expect(isNan(d.value), `${a} / ${b}`).toBe(true);
      else expect(d.value, `${a} / ${b}`).toBe(scaled);
      if (num === 'nan') expect(isNan(n.value), `${a} / ${b}`).toBe(true);
      else expect(n.value, `${a} / ${b}`).toBe(num);
      expect([d.flag, n.flag], `${a} / ${b}`).toEqual([Number(denFlag), Number(numFlag)]);
    }
    expect(amended).toBe(12);
  });

  it('leaves S0 as it came where the text assigns nothing, a signalling NaN too, and quiets what it scales', () => {
    const signalling = '7ff0000000000001';
    expect(values('v_div_scale_f64', [[signalling, toHex(1), toHex(1)]], KERNEL, published)).toEqual([signalling]);
    expect(values('v_div_scale_f64', [[signalling, toHex(1), power(-1000)]], KERNEL, published)).toEqual([
      '7ff8000000000001',
    ]);
    expect(values('v_div_scale_f64', [[signalling, toHex(1), toHex(1)]], KERNEL, gfx1100)).toEqual([
      '7ff8000000000001',
    ]);
  });

  it('a zero operand: NaN and no VCC; on chips VCC follows the exponents', () => {
    const zeros = [
      [toHex(1), toHex(0), toHex(1)],
      [toHex(0), toHex(1), toHex(0)],
      [toHex(0), toHex(0), toHex(0)],
    ];
    const flags = (where: Variant) => run('v_div_scale_f64', zeros, KERNEL, where).map(({ flag }) => flag);
    expect(flags(published)).toEqual([0, 0, 0]);
    expect(flags(gfx1100)).toEqual([1, 1, 0]);
    for (const where of [published, gfx1100])
      expect(values('v_div_scale_f64', zeros, KERNEL, where)).toEqual(zeros.map(() => 'fff8000000000000'));
  });
});

describe('v_div_scale_f32 by the published text', () => {
  const scale = (s0: string, s1: string, s2: string, where: Variant) =>
    run('v_div_scale_f32', [[s0, s1, s2]], KERNEL, where)[0];
  it('a numerator is tiny up to exponent 23, on chips up to 24', () => {
    const [den, tiny24, tiny23] = ['1e000000', '0c000000', '0b800000'];
    expect(scale(den, den, tiny24, published)).toEqual({ value: den, flag: 0 });
    expect(scale(den, den, tiny24, gfx1100)).toEqual({ value: '3e000000', flag: 0 });
    expect(scale(den, den, tiny23, published)).toEqual({ value: '3e000000', flag: 0 });
  });
  it('never scales a large denominator down: its reciprocal is taken in double precision', () => {
    expect(scale('7f000000', '7f000000', '7f000000', published)).toEqual({ value: '7f000000', flag: 0 });
    expect(scale('7f000000', '7f000000', '7f000000', gfx1100)).toEqual({ value: '5f000000', flag: 0 });
  });
});

describe('v_div_fixup_f64', () => {
  const [inf, nan, signalling] = ['7ff0000000000000', '7ff8000000000123', 'fff0000000000123'];
  const [one, minusOne, zero] = [ONE, negated(ONE), '0000000000000000'];
  const fixup = (q: string, d: string, n: string, mode = KERNEL, where = gfx1100) =>
    values('v_div_fixup_f64', [[q, d, n]], mode, where)[0];

  it.each([
    ['S2 NaN: S2 quieted', one, nan, signalling, 'fff8000000000123'],
    ['S1 NaN: S1 quieted', one, signalling, one, 'fff8000000000123'],
    ['0/0', one, zero, zero, 'fff8000000000000'],
    ['inf/inf', one, inf, negated(inf), 'fff8000000000000'],
    ['x/0', one, negated(zero), one, negated(inf)],
    ['inf/x', one, minusOne, inf, negated(inf)],
    ['x/inf', one, negated(inf), one, negated(zero)],
    ['0/x', one, minusOne, zero, negated(zero)],
    ['else the magnitude of S0', 'c008000000000000', one, one, '4008000000000000'],
  ])('%s', (_, q, d, n, expected) => {
    expect(fixup(q, d, n)).toBe(expected);
    expect(fixup(q, d, n, KERNEL, published)).toBe(expected);
  });

  it('far apart exponents: a tiny value rounded by the mode; a zero in the text', () => {
    const [huge, tiny] = ['7fe0000000000000', '0010000000000000'];
    const results = [0, 1, 2, 3].map((round) => fixup(one, huge, tiny, rounding(round)));
    expect(results).toEqual([zero, '0000000000000001', zero, zero]);
    expect(fixup(one, huge, negated(tiny), rounding(2))).toBe('8000000000000001');
    expect(fixup(one, huge, tiny, rounding(1), published)).toBe(zero);
    // Output subnormals flushed: MODE bit 7 clear.
    expect(fixup(one, huge, tiny, rounding(1) & ~0x80)).toBe(zero);
  });

  it('an infinite or NaN estimate: overflow by the mode; copied in the text', () => {
    const results = [0, 1, 2, 3].map((round) => fixup(nan, one, minusOne, rounding(round)));
    const largest = 'ffefffffffffffff';
    expect(results).toEqual([negated(inf), largest, negated(inf), largest]);
    expect(fixup(nan, one, minusOne, KERNEL, published)).toBe('fff8000000000123');
  });
});

describe('v_div_fixup_f32', () => {
  const one = '3f800000';
  const fixup = (q: string, d: string, n: string, mode = KERNEL, where = gfx1100) =>
    values('v_div_fixup_f32', [[q, d, n]], mode, where)[0];
  it('underflows from an exponent difference of -151 on, not at -150', () => {
    // Encoded exponents of 4b000000 and 4b800000 are 150 and 151, that of a subnormal numerator is 0.
    expect(fixup(one, '4b000000', '80000001')).toBe('bf800000');
    expect(fixup(one, '4b800000', '80000001')).toBe('80000000');
    expect(fixup(one, '4b800000', '80000001', rounding(2))).toBe('80000001');
    expect(fixup(one, '4b800000', '80000001', rounding(2), published)).toBe('80000000');
  });
});

describe('v_div_fmas', () => {
  it('scales inside its one rounding, up or down by the exponent of S2', () => {
    const cases = [
      [power(800), power(300), toHex(0), '1'],
      [toHex(0), toHex(0), toHex(1), '1'],
      [toHex(0), toHex(0), toHex(2), '1'],
      [toHex(0), toHex(0), toHex(2), '0'],
    ];
    expect(values('v_div_fmas_f64', cases)).toEqual([power(972), power(-128), power(129), power(1)]);
    expect(values('v_div_fmas_f64', cases.slice(1), KERNEL, published)).toEqual([power(64), power(65), power(1)]);
  });

  it('quiets a signalling NaN and keeps subnormal sources whatever MODE says', () => {
    const bare = 0x0f0 & ~0x40;
    expect(values('v_div_fmas_f64', [['7ff0000000000001', ONE, ONE, '0']], bare)).toEqual(['7ff8000000000001']);
    expect(values('v_div_fmas_f64', [[toHex(0), ONE, '0000000000000001', '0']], bare)).toEqual(['0000000000000001']);
  });
});
