/**
 * ATI CTM Guide v1.01, p. 42 ("Note on Floating Point" and 3.6.3), sentence by sentence and cell by cell, on both engines. Titles quote
 * the page.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { x1kTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { openEngine, wordsFrom } from './engineRig.ts';
import { f32, hex, type RegisterWords, results, rows } from './x1kRig.ts';

let engine: WebGpuEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const run = (text: string, operands: readonly (readonly RegisterWords[])[]) => results(engine, text, operands);

const zero = 0;
const minusZero = 0x80000000;
const one = f32(1);
const two = f32(2);
const infinity = 0x7f800000;
const minusInfinity = 0xff800000;
const nan = 0x7fc00000;
const standardNan = '7fffffff';
const SEED = 20261130;

describe('Dot products may lose precision (p. 42)', () => {
  const next = wordsFrom(SEED);
  /** A number of a middling exponent. */
  const drawn = () => ((next() & 0x807fffff) | ((100 + (next() % 55)) << 23)) >>> 0;
  const scaledDown = (word: number, places: number) => (word - (places << 23)) >>> 0;
  const cases = Array.from({ length: 256 }, () => {
    const [a, other] = [drawn(), drawn()];
    // At most the largest by 2^-25: the largest's fraction and 25 places less, or a smaller fraction, or further down.
    const places = 25 + (next() % 8);
    const fraction = places === 25 ? a & 0x7fffff & next() : next() & 0x7fffff;
    const small = (scaledDown((a & 0xff800000) >>> 0, places) | fraction) >>> 0;
    return { a, small: (small ^ (other & 0x80000000)) >>> 0 };
  });

  it('"if the two largest values to be added cancel exactly, and the next-largest value has a magnitude smaller by a factor of 2^25 or more, X1K FP will emit +0.0 rather than the sum of the two remaining components"', async () => {
    const ones: RegisterWords = [one, one, one, one];
    const fours = cases.map(({ a, small }) => [
      [a, (a ^ minusZero) >>> 0, small, (small & 0xff800000) >>> 0] as const,
      ones,
    ]);
    expect(new Set(await run('dp4 r7, r0, r1', fours))).toEqual(new Set(['00000000']));
    const threes = cases.map(({ a, small }) => [[(a ^ minusZero) >>> 0, small, a, nan] as const, ones]);
    expect(new Set(await run('dp3 r7, r0, r1', threes))).toEqual(new Set(['00000000']));
    const sums = cases.map(({ a, small }) => [
      [a, a, 0, 0] as const,
      [one, f32(-1), 0, 0] as const,
      [0, 0, small, 0] as const,
    ]);
    expect(new Set(await run('d2a r7, r0, r1, r2', sums))).toEqual(new Set(['00000000']));
  });

  it('a next-largest value of 2^-24 is kept (our reading: 25 bits of the largest value)', async () => {
    const tiny = f32(2 ** -24);
    expect(
      await run('dp4 r7, r0, r1', [
        [[one, f32(-1), tiny, 0], one],
        [[one, f32(-1), (tiny ^ minusZero) >>> 0, 0], one],
      ]),
    ).toEqual([hex(tiny), hex((tiny ^ minusZero) >>> 0)]);
  });

  it('the result is broadcast; the mask leaves components alone', async () => {
    const registers = [one, two, 0, 0, 0, 0, 0, f32(5)];
    const found = await rows(engine, 'dp4 r7.xzw, r0, r1', [registers]);
    expect(found.map(({ words }) => words)).toEqual([[f32(8), f32(5), f32(8), f32(8)].map(hex)]);
  });
});

describe('MIN and MAX (p. 42)', () => {
  const both = async (operands: [number, number][]) => [
    await run('min r7, r0, r1', operands),
    await run('max r7, r0, r1', operands),
  ];

  it('"return the second argument if either input is NaN"', async () => {
    const operands: [number, number][] = [
      [nan, one],
      [one, nan],
      [nan, 0xffc00001],
      [0x7f800001, minusInfinity],
      [infinity, nan],
      [nan, zero],
    ];
    const second = operands.map(([, b]) => (b === nan || b === 0xffc00001 ? standardNan : hex(b)));
    expect(await both(operands)).toEqual([second, second]);
  });

  it('"infinite values compare as usual"', async () => {
    const operands: [number, number][] = [
      [infinity, one],
      [one, infinity],
      [minusInfinity, one],
      [one, minusInfinity],
      [infinity, minusInfinity],
      [minusInfinity, infinity],
      [infinity, infinity],
    ];
    expect(await both(operands)).toEqual([
      [one, one, minusInfinity, minusInfinity, minusInfinity, minusInfinity, infinity].map(hex),
      [infinity, infinity, one, one, infinity, infinity, infinity].map(hex),
    ]);
  });

  it('"If both inputs are +-0.0, MIN and MAX will return the second input ... MIN(+0, -0) == -0, and MIN(-0, +0) == +0"', async () => {
    const operands: [number, number][] = [
      [zero, minusZero],
      [minusZero, zero],
      [zero, zero],
      [minusZero, minusZero],
    ];
    const second = operands.map(([, b]) => hex(b));
    expect(await both(operands)).toEqual([second, second]);
  });

  it('compares numbers (p. 28: MIN is A < B ? A : B)', async () => {
    const operands: [number, number][] = [
      [one, two],
      [two, one],
      [f32(-1), one],
      [f32(-1), f32(-2)],
      [one, zero],
      [minusZero, f32(-1)],
    ];
    expect(await both(operands)).toEqual([
      [one, one, f32(-1), f32(-2), zero, f32(-1)].map(hex),
      [two, two, one, f32(-1), one, minusZero].map(hex),
    ]);
  });
});

describe('CND and CMP (p. 42)', () => {
  const [a, b] = [f32(3), f32(5)];
  const chosen = (text: string, c: readonly number[]) =>
    run(
      text,
      c.map((word) => [a, b, word]),
    );
  const pick = (firsts: readonly boolean[]) => firsts.map((first) => hex(first ? a : b));

  it('"return the second argument if either input is NaN" (the tested input; a NaN that is selected is copied)', async () => {
    for (const text of ['cnd r7, r0, r1, r2', 'cmp r7, r0, r1, r2']) {
      expect(await chosen(text, [nan, 0xffc00000, 0x7f800001])).toEqual(pick([false, false, false]));
      expect(
        await run(`${text} omod_disabled`, [
          [0x7f812345, b, one],
          [a, 0xffc00099, f32(-1)],
        ]),
      ).toEqual(['7f812345', 'ffc00099']);
    }
  });

  it('"infinite values compare as usual"', async () => {
    expect(await chosen('cnd r7, r0, r1, r2', [infinity, minusInfinity])).toEqual(pick([true, false]));
    expect(await chosen('cmp r7, r0, r1, r2', [infinity, minusInfinity])).toEqual(pick([true, false]));
  });

  it('CND is C > 0.5 (p. 28)', async () => {
    const c = [f32(0.5), 0x3f000001, one, zero, minusZero, f32(-1), 0x3effffff, 1];
    expect(await chosen('cnd r7, r0, r1, r2', c)).toEqual(pick([false, true, true, false, false, false, false, false]));
  });

  it('"As with the predicate compare operators, +0.0 and -0.0 are both \'equal\' to 0": CMP is C >= 0', async () => {
    const c = [zero, minusZero, 0x807fffff, 0x80800000, one, f32(-1)];
    expect(await chosen('cmp r7, r0, r1, r2', c)).toEqual(pick([true, true, true, false, true, false]));
  });

  it('predicate compares: zeros are equal to 0, infinities ordered, NaN false but for "not equal"', async () => {
    const words = [zero, minusZero, 0x80000001, one, f32(-1), infinity, minusInfinity, nan];
    const table = { eq: '11100000', ne: '00011111', lt: '00001010', le: '11101010', gt: '00010100', ge: '11110100' };
    for (const [relation, bits] of Object.entries(table)) {
      const found = await rows(
        engine,
        `pred_${relation} r0.x`,
        words.map((word) => [word]),
      );
      expect(found.map(({ flag }) => flag).join(''), relation).toBe(bits);
    }
  });
});

describe('OMOD_DISABLED and the output modifier (p. 42)', () => {
  const next = wordsFrom(SEED + 1);
  const special = [1, 0x807fffff, 0x7f800001, 0xffc12345, nan, minusZero, infinity, 0x7fffffff];
  const operands = Array.from({ length: 512 }, (_, i) =>
    [0, 1, 2].map(() => (next() % 3 === 0 ? special[next() % special.length]! : next())).concat(i),
  );

  it.each(['min r7, r0, r1', 'max r7, r0, r1', 'cnd r7, r0, r1, r2', 'cmp r7, r0, r1, r2'])(
    '"guaranteed to return one of their first two arguments ... bit-exact": %s',
    async (text) => {
      const found = await run(`${text} omod_disabled`, operands);
      for (const [i, word] of found.entries()) expect([hex(operands[i]![0]!), hex(operands[i]![1]!)]).toContain(word);
      expect(new Set(found.map((word, i) => word === hex(operands[i]![0]!)))).toEqual(new Set([true, false]));
    },
  );

  it('"the output modifier, which in turn standardizes NaN values and flushes denormal results to zero"', async () => {
    const words = [
      nan,
      0xffc12345,
      0x7f800001,
      1,
      0x80000001,
      0x007fffff,
      0x807fffff,
      minusZero,
      infinity,
      one,
      0x00800000,
    ];
    const out = [
      standardNan,
      standardNan,
      standardNan,
      '00000000',
      '80000000',
      '00000000',
      '80000000',
      '80000000',
      '7f800000',
      hex(one),
      '00800000',
    ];
    for (const text of ['max r7, r0, r0', 'min r7, r0, r0', 'mov r7, r0'])
      expect(
        await run(
          text,
          words.map((word) => [word]),
        ),
        text,
      ).toEqual(out);
  });

  it('"A MOV instruction which preserves the source bits may be implemented by setting OMOD_DISABLED ... and using the MAX(src, src) instruction"', async () => {
    const words = operands.map(([a]) => [a!]);
    const same = words.map(([a]) => hex(a!));
    expect(await run('max r7, r0, r0 omod_disabled', words)).toEqual(same);
    expect(await run('mov r7, r0 omod_disabled', words)).toEqual(same);
  });

  it('"The output modifier cannot be disabled for a saturated MOV"', () => {
    for (const text of ['mov r7, r0 omod_disabled sat', 'max r7, r0, r0 omod_disabled sat'])
      expect(() => assemble(text, { target: x1kTarget })).toThrow(/omod_disabled cannot be combined with sat/);
  });

  it('scales by powers of two, and clamps behind that (NaN and -0 to +0, our reading)', async () => {
    const words = [[f32(3)], [f32(-3)], [f32(0.1)], [nan], [minusZero], [infinity], [0x00800000], [0x7f000000]];
    const scaled: Record<string, string[]> = {
      '*1': [f32(3), f32(-3), f32(0.1), 0x7fffffff, minusZero, infinity, 0x00800000, 0x7f000000].map(hex),
      '*2': [f32(6), f32(-6), f32(0.2), 0x7fffffff, minusZero, infinity, 0x01000000, infinity].map(hex),
      '*8': [f32(24), f32(-24), f32(0.8), 0x7fffffff, minusZero, infinity, 0x02000000, infinity].map(hex),
      '/2': [f32(1.5), f32(-1.5), f32(0.05), 0x7fffffff, minusZero, infinity, 0, 0x7e800000].map(hex),
      '/8 sat': [f32(0.375), zero, f32(0.0125), zero, zero, one, zero, one].map(hex),
      sat: [one, zero, f32(0.1), zero, zero, one, 0x00800000, one].map(hex),
    };
    for (const [modifier, out] of Object.entries(scaled))
      expect(await run(`mov r7, r0 ${modifier}`, words), modifier).toEqual(out);
  });
});

describe('Transcendentals do not maintain extra internal precision (3.6.3)', () => {
  it('"if the result ... exceeds the IEEE finite range, the ALU will generate infinity even if the output modifier would bring the result back into range"', async () => {
    const words = [[f32(128)], [f32(129)], [0x42ffffff]];
    for (const modifier of ['', '/2', '/8'])
      expect((await run(`ex2 r7, r0 ${modifier}`, words)).slice(0, 2), modifier).toEqual(['7f800000', '7f800000']);
    expect((await run('ex2 r7, r0', words))[2]).not.toBe('7f800000');
  });

  it('"if the result is denormal, the ALU will generate a pure zero (preserving sign) even if the output modifier would bring the result back into the normal range"', async () => {
    expect(await run('ex2 r7, r0 *8', [[f32(-127)], [f32(-126.5)], [f32(-126)]])).toEqual([
      '00000000',
      '00000000',
      '02000000',
    ]);
    const huge = f32(2 ** 127);
    const reciprocals = [[huge], [(huge | minusZero) >>> 0], [f32(2 ** 126)], [f32(-(2 ** 126))]];
    expect(await run('rcp r7, r0 *8', reciprocals)).toEqual(['00000000', '80000000', '02000000', '82000000']);
  });

  it('the other operations keep their range until the output modifier has acted (what the sentence says by contrast)', async () => {
    const huge = f32(2 ** 127);
    expect(
      await run('mad r7, r0, r1, r2 /2', [
        [huge, two, zero],
        [huge, f32(4), zero],
      ]),
    ).toEqual([hex(huge), '7f800000']);
    expect(
      await run('mad r7, r0, r1, r2 *2', [
        [0x00800000, f32(0.5), zero],
        [0x80800000, f32(0.25), minusZero],
      ]),
    ).toEqual(['00800000', '80000000']);
    expect(await run('dp3 r7, r0, r1 /8', [[[huge, huge, 0, 0], two]])).toEqual([hex(f32(2 ** 126))]);
  });
});

describe('Special values are computed as shown in the following table (3.6.3)', () => {
  const table: [string, number, string, string, string, string, string, string][] = [
    ['+0.0', zero, '3f800000', 'ff800000', '7f800000', '7f800000', '00000000', '3f800000'],
    ['-0.0', minusZero, '3f800000', 'ff800000', 'ff800000', '7f800000', '80000000', '3f800000'],
    ['+Inf', infinity, '7f800000', '7f800000', '00000000', '00000000', standardNan, standardNan],
    ['-Inf', minusInfinity, '00000000', standardNan, '80000000', standardNan, standardNan, standardNan],
    ['NaN', nan, standardNan, standardNan, standardNan, standardNan, standardNan, standardNan],
  ];
  const operations = ['ex2', 'ln2', 'rcp', 'rsq', 'sin', 'cos'];

  it.each(operations.map((name, column) => [name, column] as const))('%s, five inputs', async (name, column) => {
    const found = await run(
      `${name} r7, r0`,
      table.map(([, word]) => [word]),
    );
    expect(found.map((word, i) => `${table[i]![0]}: ${word}`)).toEqual(
      table.map((row) => `${row[0]}: ${row[2 + column]}`),
    );
  });

  it('"For RSQ, recall that the square root occurs first. IEEE specifies sqrt(-0.0) -> -0.0; the X1K FP deviates from this": negative denormals too', async () => {
    expect(await run('rsq r7, r0', [[minusZero], [0x80000001], [1], [f32(-1)]])).toEqual([
      '7f800000',
      '7f800000',
      '7f800000',
      standardNan,
    ]);
  });

  it('denormals are zeros; logarithms and roots of negative numbers are NaN (by mathematics, not in the table)', async () => {
    expect(await run('rcp r7, r0', [[1], [0x807fffff]])).toEqual(['7f800000', 'ff800000']);
    expect(await run('ln2 r7, r0', [[0x80000001], [f32(-1)], [0xff7fffff]])).toEqual([
      'ff800000',
      standardNan,
      standardNan,
    ]);
    expect(await run('sin r7, r0', [[1], [0x807fffff]])).toEqual(['00000000', '80000000']);
  });

  it('exact where the result is a number of few bits', async () => {
    expect(
      await run(
        'ex2 r7, r0',
        [-126, -1, 3, 127].map((x) => [f32(x)]),
      ),
    ).toEqual([2 ** -126, 0.5, 8, 2 ** 127].map((x) => hex(f32(x))));
    expect(
      await run(
        'ln2 r7, r0',
        [2 ** -126, 0.5, 1, 8].map((x) => [f32(x)]),
      ),
    ).toEqual([-126, -1, 0, 3].map((x) => hex(f32(x))));
    expect(
      await run(
        'rsq r7, r0',
        [4, 0.25, 2 ** -126].map((x) => [f32(x)]),
      ),
    ).toEqual([0.5, 2, 2 ** 63].map((x) => hex(f32(x))));
    expect(
      await run(
        'sin r7, r0',
        [0.25, -0.25, 0.5, -0.5, 0.75, 3, -3].map((x) => [f32(x)]),
      ),
    ).toEqual([1, -1, 0, -0, -1, 0, -0].map((x) => hex(f32(x))));
    expect(
      await run(
        'cos r7, r0',
        [0.25, -0.25, 0.5, 0.75, 1, 2 ** -40, -(2 ** 30)].map((x) => [f32(x)]),
      ),
    ).toEqual([0, 0, -1, 0, 1, 1, 1].map((x) => hex(f32(x))));
  });
});

describe('Addition of special values (p. 42)', () => {
  const table: [string, number, number, string][] = [
    ['1 + NaN = NaN', one, nan, standardNan],
    ['Inf + NaN = NaN', infinity, 0xffc00001, standardNan],
    ['NaN + 0 = NaN', 0x7f800001, zero, standardNan],
    ['Inf + -Inf = NaN', infinity, minusInfinity, standardNan],
    ['-Inf + Inf = NaN', minusInfinity, infinity, standardNan],
    ['Inf + Inf = Inf', infinity, infinity, '7f800000'],
    ['Inf + -1.0 = Inf', infinity, f32(-1), '7f800000'],
    ['0.0 + -0.0 = 0.0', zero, minusZero, '00000000'],
    ['-0.0 + 0.0 = 0.0', minusZero, zero, '00000000'],
    ['-0.0 + -0.0 = -0.0', minusZero, minusZero, '80000000'],
    ['1.0 + -1.0 = 0.0', one, f32(-1), '00000000'],
  ];
  const operands = table.map(([, a, b]) => [a, b, one]);
  const wanted = table.map(([name, , , result]) => `${name}: ${result}`);

  it.each([
    ['the adder of MAD', 'mad r7, r0, r2, r1'],
    ['presubtract', 'mov r7, (r1+r0)'],
    ['the adder of D2A', 'd2a r7, r0.x, r2.x, r1'],
  ])('%s', async (_, text) => {
    // D2A adds two products: the second is the first operand's too, but a zero.
    const d2a = table.map(([, a, b]) => [[a, minusZero, 0, 0] as const, b, one]);
    const found = text.startsWith('d2a') ? await run('d2a r7, r0, r2, r1', d2a) : await run(text, operands);
    expect(found.map((word, i) => `${table[i]![0]}: ${word}`)).toEqual(wanted);
  });

  it('multiply-only and add-only are MADs: 0 * 0 + -0 is +0, and -0 * 0 + x copies -0', async () => {
    const operands = [
      [zero, zero, minusZero],
      [minusZero, zero, minusZero],
      [minusZero, zero, zero],
      [infinity, zero, zero],
    ];
    expect(await run('mad r7, r0, r1, r2', operands)).toEqual(['00000000', '80000000', '00000000', standardNan]);
  });

  it('presubtract 1 - 2 * s0, s1 - s0, s1 + s0, 1 - s0 by the same adder', async () => {
    const rowsOf = [
      [f32(0.25), f32(3)],
      [f32(0.5), f32(0.5)],
      [infinity, infinity],
      [one, minusZero],
      [1, 0x80000001],
    ];
    const expected: Record<string, number[]> = {
      '(1-2*r0)': [f32(0.5), 0, minusInfinity, f32(-1), one],
      '(r1-r0)': [f32(2.75), 0, 0x7fffffff, f32(-1), minusZero],
      '(r1+r0)': [f32(3.25), one, infinity, one, 0],
      '(1-r0)': [f32(0.75), f32(0.5), minusInfinity, 0, one],
      '-(1-r0)': [f32(-0.75), f32(-0.5), infinity, minusZero, f32(-1)],
      '|(1-2*r0)|': [f32(0.5), 0, infinity, one, one],
    };
    for (const [source, words] of Object.entries(expected))
      expect(await run(`mov r7, ${source}`, rowsOf), source).toEqual(words.map(hex));
  });
});
