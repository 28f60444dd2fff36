import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IEEE_DEFAULT, KEEP_INPUT, QUIET, Round } from '../../src/float/control.ts';
import * as exact from '../../src/float/exact.ts';
import { binary32, binary64, type Format } from '../../src/float/format.ts';
import { controlF32, controlF64 } from '../../src/wavefront/mode.ts';
import { openTestGpu, type TestGpu } from './harness.ts';
import { type LaneDevice, openLanes, signatureOf } from './lanes.ts';
import { F32, F64, MODES, operand, random } from './operands.ts';

/**
 * The WGSL bodies against rules written on exact integers: arithmetic with its one rounding, v_div_scale's two rules, and the
 * policy cells of minima and maxima spelled out.
 */
const LANES = Number(process.env['ISA_LANES'] ?? 512);
const SEED = Number(process.env['ISA_SEED'] ?? 20261201);

let gpu: TestGpu;
let lanes: LaneDevice;
beforeAll(async () => {
  gpu = await openTestGpu();
  lanes = openLanes(gpu);
});
afterAll(() => gpu.close());

const wordsOf = (format: Format, bits: bigint): number[] =>
  format.width === 64 ? [Number(bits & 0xffffffffn), Number(bits >> 32n)] : [Number(bits)];
const bitsOf = (format: Format, row: Uint32Array): bigint =>
  format.width === 64 ? (BigInt(row[1]!) << 32n) | BigInt(row[0]!) : BigInt(row[0]!);
const hex = (format: Format, bits: bigint): string => bits.toString(16).padStart(format.width / 4, '0');

interface Answer {
  readonly bits: bigint;
  /** v_div_scale's flag. */
  readonly flag?: boolean;
}

interface Rule {
  readonly family: string;
  readonly name: string;
  readonly format: Format;
  readonly arity: number;
  /** `extra`: the VCC bit, or ldexp's exponent, as a word. */
  readonly extra?: (next: () => number) => number;
  readonly answer: (sources: readonly bigint[], mode: number, extra: number) => Answer;
}

const control = (format: Format, mode: number): number => (format === binary64 ? controlF64(mode) : controlF32(mode));
const field = (format: Format, bits: bigint): number => Number((bits & format.infinity) >> BigInt(format.fractionBits));
const magnitude = (format: Format, bits: bigint): bigint => bits & ~format.signMask;
const flushed = (format: Format, bits: bigint, keep: number): bigint =>
  field(format, bits) === 0 && (keep & KEEP_INPUT) === 0 ? bits & format.signMask : bits;

/** What v_div_scale has for constants: AMD's text for f64 and f32, and rocjitsu's division.h. */
const limits = (format: Format) =>
  format === binary64 ? { far: 768, large: 2045, tiny: 53, k: 128 } : { far: 96, large: 253, tiny: 24, k: 64 };

function divScale(format: Format, sources: readonly bigint[], mode: number): Answer {
  const how = control(format, mode) | QUIET;
  const [value, d, n] = sources.map((bits) => flushed(format, bits, how)) as [bigint, bigint, bigint];
  const { far, large, tiny, k } = limits(format);
  const [difference, role] = [field(format, n) - field(format, d), value === d ? 'denominator' : 'numerator'];
  const decide = (): [number, boolean] => {
    if (difference >= far) return [role === 'denominator' ? k : 0, true];
    if (field(format, d) === 0) return [k, false];
    if (field(format, d) >= large && difference <= -far) return [role === 'denominator' ? -k : 0, true];
    if (field(format, d) >= large) return [-k, false];
    if (difference <= -far) return [role === 'numerator' ? k : 0, true];
    return [field(format, n) <= tiny ? k : 0, false];
  };
  const [scale, flag] = decide();
  const invalid = magnitude(format, d) === 0n || magnitude(format, n) === 0n;
  return { bits: invalid ? exact.defaultNaN(format, how) : exact.ldexp(format, value, scale, how), flag };
}

/** The published text, its quotients divided out and rounded to nearest even. */
function divScalePublished(format: Format, sources: readonly bigint[], mode: number): Answer {
  const how = control(format, mode) | QUIET;
  const [value, d, n] = sources.map((bits) => flushed(format, bits, how)) as [bigint, bigint, bigint];
  const isDenorm = (bits: bigint): boolean => field(format, bits) === 0 && magnitude(format, bits) !== 0n;
  const equal = (a: bigint, b: bigint): boolean => exact.relation(format, a, b, IEEE_DEFAULT) === 2;
  const one = BigInt(format.bias) << BigInt(format.fractionBits);
  // For f32 the text takes 1.0 / S1 in double precision, where it never is subnormal.
  const reciprocal = format === binary64 && isDenorm(exact.div(format, one, d, IEEE_DEFAULT));
  const quotient = isDenorm(exact.div(format, n, d, IEEE_DEFAULT));
  const { far, k } = limits(format);
  const tiny = format === binary64 ? 53 : 23;
  const decide = (): [number, boolean] => {
    if (field(format, n) - field(format, d) >= far) return [equal(value, d) ? k : 0, true];
    if (isDenorm(d)) return [k, false];
    if (reciprocal && quotient) return [equal(value, d) ? k : 0, true];
    if (reciprocal) return [-k, false];
    if (quotient) return [equal(value, n) ? k : 0, true];
    return [field(format, n) <= tiny ? k : 0, false];
  };
  if (magnitude(format, d) === 0n || magnitude(format, n) === 0n) {
    return { bits: exact.defaultNaN(format, how), flag: false };
  }
  const [scale, flag] = decide();
  return { bits: scale === 0 ? sources[0]! : exact.ldexp(format, value, scale, how), flag };
}

/** Scaled by 2^+-128 (2^+-64) inside the one rounding; the direction is S2's. Sources are never flushed. */
function divFmas(format: Format, [a, b, c]: readonly bigint[], mode: number, vcc: number): Answer {
  const { k } = limits(format);
  const scale = field(format, c!) > format.bias ? k : -k;
  const how = control(format, mode) | KEEP_INPUT | QUIET;
  return { bits: exact.mulAddScaled(format, a!, b!, c!, vcc === 0 ? 0 : scale, how) };
}

const nearest = (mode: number): number => (controlF64(mode) & ~3) | Round.nearestEven;
const bit = (next: () => number): number => next() & 1;

const both = (
  rule: Omit<Rule, 'format' | 'name' | 'answer'> & { name: string; of: (format: Format) => Rule['answer'] },
): Rule[] =>
  [binary64, binary32].map((format) => ({
    ...rule,
    format,
    name: rule.name.replace('*', format.name),
    answer: rule.of(format),
  }));

const rules: Rule[] = [
  ...both({ family: 'division', name: 'v_div_scale_*', arity: 3, of: (f) => (s, mode) => divScale(f, s, mode) }),
  ...both({
    family: 'division',
    name: 'v_div_scale_*_published',
    arity: 3,
    of: (f) => (s, mode) => divScalePublished(f, s, mode),
  }),
  ...both({
    family: 'division',
    name: 'v_div_fmas_*',
    arity: 3,
    extra: bit,
    of: (f) => (s, mode, vcc) => divFmas(f, s, mode, vcc),
  }),
  ...both({
    family: 'arithmetic',
    name: 'v_fma_*',
    arity: 3,
    of:
      (f) =>
      ([a, b, c], mode) => ({ bits: exact.mulAdd(f, a!, b!, c!, control(f, mode)) }),
  }),
  ...both({
    family: 'arithmetic',
    name: 'v_mul_*',
    arity: 2,
    of:
      (f) =>
      ([a, b], mode) => ({ bits: exact.mul(f, a!, b!, control(f, mode)) }),
  }),
  ...both({
    family: 'arithmetic',
    name: 'v_add_*',
    arity: 2,
    of:
      (f) =>
      ([a, b], mode) => ({ bits: exact.add(f, a!, b!, control(f, mode)) }),
  }),
  {
    family: 'arithmetic',
    name: 'v_ldexp_f64',
    format: binary64,
    arity: 1,
    extra: (next) => (next() & 1 ? next() : (next() % 4400) - 2200),
    answer: ([a], mode, n) => ({ bits: exact.ldexp(binary64, a!, n | 0, controlF64(mode) | QUIET) }),
  },
  {
    family: 'transcendental',
    name: 'v_rcp_f64_published',
    format: binary64,
    arity: 1,
    answer: ([a], mode) => ({ bits: exact.div(binary64, 0x3ff0000000000000n, a!, nearest(mode)) }),
  },
  {
    family: 'transcendental',
    name: 'v_rsq_f64_published',
    format: binary64,
    arity: 1,
    answer: ([a], mode) => ({ bits: exact.rsqrt(binary64, a!, nearest(mode)) }),
  },
  {
    family: 'transcendental',
    name: 'v_sqrt_f64_published',
    format: binary64,
    arity: 1,
    answer: ([a], mode) => ({ bits: exact.sqrt(binary64, a!, nearest(mode)) }),
  },
];

interface Case {
  readonly sources: readonly bigint[];
  readonly extra: number | undefined;
  readonly mode: number;
}

/** Runs the rule's function over the cases; a line for each that differs, rule first. */
async function differences({ family, name, format, answer }: Rule, cases: readonly Case[]): Promise<string[]> {
  const size = format.width / 32 + (signatureOf(family, name).result.startsWith('Div') ? 1 : 0);
  const kernel = await lanes.function(family, name);
  const rows = cases.flatMap(({ sources, extra, mode }) => [
    ...sources.flatMap((bits) => wordsOf(format, bits)),
    ...(extra === undefined ? [] : [extra]),
    mode,
  ]);
  const out = await kernel.run(Uint32Array.from(rows));
  return cases.flatMap(({ sources, extra = 0, mode }, i) => {
    const row = out.subarray(i * size, (i + 1) * size);
    const want = answer(sources, mode, extra);
    const show = (bits: bigint, flag: boolean): string => `${hex(format, bits)}${flag ? ' flag' : ''}`;
    const wanted = show(want.bits, want.flag === true);
    const got = show(bitsOf(format, row), row[format.width / 32] === 1);
    if (wanted === got) return [];
    return [`${sources.map((bits) => hex(format, bits))} ${extra} mode ${mode.toString(16)}: ${wanted} / ${got}`];
  });
}

describe(`rules on exact integers, seed ${SEED}`, () => {
  test.each(rules.map((rule) => [rule.name, rule] as const))('%s', async (_, rule) => {
    const next = random(SEED);
    const cases = Array.from({ length: MODES.length * LANES }, (_, i) => {
      const sources: bigint[] = [];
      while (sources.length < rule.arity) sources.push(operand(next, rule.format === binary64 ? F64 : F32, sources));
      return { sources, extra: rule.extra?.(next), mode: MODES[i % MODES.length]! };
    });
    const different = await differences(rule, cases);
    expect(different.slice(0, 5), `${different.length} differ (rule / device)`).toEqual([]);
  });

  // The published text asks whether a rounded quotient is subnormal; the WGSL body tells without dividing.
  test.each(rules.filter(({ name }) => /div_scale.*published/.test(name)).map((rule) => [rule.name, rule] as const))(
    '%s, quotients at both borders of the subnormals',
    async (_, rule) => {
      const { format } = rule;
      const ones = format.fractionMask;
      const fractions = [0n, 1n, 2n, ones >> 1n, (ones >> 1n) + 1n, ones - 1n, ones];
      const smallest = 1 - format.bias;
      const denominator = format.bias + (format.bias >> 1);
      const put = (exponentField: number, fraction: bigint): bigint =>
        (BigInt(exponentField) << BigInt(format.fractionBits)) | fraction;
      const cases = [0, -1].flatMap((end) =>
        [-2, -1, 0, 1].flatMap((near) =>
          fractions.flatMap((n) =>
            fractions.flatMap((d): Case[] => {
              const difference = smallest + near + end * (format.fractionBits + 1);
              const sources = [put(denominator + difference, n), put(denominator, d)];
              return [{ sources: [sources[0]!, sources[1]!, sources[0]!], extra: undefined, mode: 0x3f0 }];
            }),
          ),
        ),
      );
      expect(await differences(rule, cases)).toEqual([]);
    },
  );
});

// Values of the cells: NaNs with a payload each, zeros, subnormals, numbers.
const SNAN_A = '7ff0000000000a11';
const SNAN_B = 'fff0000000000b22';
const QNAN_A = '7ff8000000000a33';
const QNAN_B = 'fff8000000000b44';
const QUIET_A = '7ff8000000000a11';
const QUIET_B = 'fff8000000000b22';
const [ZERO, MINUS_ZERO, TINY, MINUS_TINY] = [
  '0000000000000000',
  '8000000000000000',
  '0000000000000001',
  '8000000000000001',
];
const [ONE, TWO, INFINITY, MINUS_INFINITY] = [
  '3ff0000000000000',
  '4000000000000000',
  '7ff0000000000000',
  'fff0000000000000',
];

/** Runs a function of two f64 sources in a mode over pairs. */
async function pairs(
  family: string,
  name: string,
  list: readonly (readonly string[])[],
  mode: number,
): Promise<string[]> {
  const kernel = await lanes.function(family, name);
  const row = (digits: string): number[] => wordsOf(binary64, BigInt(`0x${digits}`));
  const out = await kernel.run(Uint32Array.from(list.flatMap(([a, b]) => [...row(a!), ...row(b!), mode])));
  return list.map((_, i) => hex(binary64, bitsOf(binary64, out.subarray(2 * i, 2 * i + 2))));
}

/** The rows of the table in minmax.wesl for NaN, one column a target family and IEEE bit. */
const NAN_CELLS: readonly (readonly [
  a: string,
  b: string,
  gfx9: string,
  gfx9ieee0: string,
  gfx11: string,
  gfx11ieee0: string,
  gfx12: string,
])[] = [
  [SNAN_A, ONE, QUIET_A, ONE, QUIET_A, ONE, ONE],
  [ONE, SNAN_B, QUIET_B, ONE, QUIET_B, ONE, ONE],
  [SNAN_A, SNAN_B, QUIET_A, SNAN_B, QUIET_A, SNAN_A, QUIET_A],
  [SNAN_A, QNAN_B, QUIET_A, QNAN_B, QUIET_A, SNAN_A, QUIET_A],
  [QNAN_A, SNAN_B, QUIET_B, SNAN_B, QUIET_B, QNAN_A, QNAN_A],
  [QNAN_A, ONE, ONE, ONE, ONE, ONE, ONE],
  [ONE, QNAN_B, ONE, ONE, ONE, ONE, ONE],
  [QNAN_A, QNAN_B, QNAN_B, QNAN_B, QNAN_A, QNAN_A, QNAN_A],
];

describe('v_min_f64 and v_max_f64, cell by cell (ISA documents of CDNA3, RDNA3, RDNA4)', () => {
  const columns = [
    ['gfx9', 2, 0x3f0],
    ['gfx9', 3, 0x1f0],
    ['gfx11', 4, 0x3f0],
    ['gfx11', 5, 0x1f0],
    ['gfx12', 6, 0x3f0],
  ] as const;
  test.each(columns)('%s, column %i, MODE %i', async (target, column, mode) => {
    const want = NAN_CELLS.map((cells) => cells[column]);
    expect(await pairs('minmax', `v_min_f64_${target}`, NAN_CELLS, mode)).toEqual(want);
    expect(await pairs('minmax', `v_max_f64_${target}`, NAN_CELLS, mode)).toEqual(want);
    const numbers = [
      [ZERO, MINUS_ZERO],
      [MINUS_ZERO, ZERO],
      [ONE, TWO],
      [MINUS_INFINITY, MINUS_TINY],
      [TINY, INFINITY],
    ];
    const smaller = [MINUS_ZERO, MINUS_ZERO, ONE, MINUS_INFINITY, TINY];
    const larger = [ZERO, ZERO, TWO, MINUS_TINY, INFINITY];
    expect(await pairs('minmax', `v_min_f64_${target}`, numbers, mode)).toEqual(smaller);
    expect(await pairs('minmax', `v_max_f64_${target}`, numbers, mode)).toEqual(larger);
    // The input bit alone flushes: a subnormal result stays where it is kept as a source.
    const subnormal = [[TINY, ONE]];
    expect(await pairs('minmax', `v_min_f64_${target}`, subnormal, mode & ~0x40)).toEqual([ZERO]);
    expect(await pairs('minmax', `v_min_f64_${target}`, subnormal, mode & ~0x80)).toEqual([TINY]);
  });
});

/** The cells of lds.wesl's table: memory, source, then what each rule stores. */
const LDS_CELLS: readonly (readonly [
  memory: string,
  source: string,
  legacy: string,
  num: string,
  published: string,
])[] = [
  [SNAN_A, ONE, QUIET_A, ONE, SNAN_A],
  [ONE, SNAN_B, QUIET_B, ONE, ONE],
  [SNAN_A, SNAN_B, QUIET_A, QUIET_B, SNAN_A],
  [SNAN_A, QNAN_B, QUIET_A, QNAN_B, SNAN_A],
  [QNAN_A, SNAN_B, QUIET_B, QUIET_B, QNAN_A],
  [QNAN_A, ONE, ONE, ONE, QNAN_A],
  [ONE, QNAN_B, ONE, ONE, ONE],
  [QNAN_A, QNAN_B, QNAN_A, QNAN_B, QNAN_A],
];

describe('LDS minimum and maximum, cell by cell (ROCm rocjitsu memory_pipeline.cpp, RDNA4 ISA, published text)', () => {
  test.each([
    ['ds_*_f64', 2],
    ['ds_*_num_f64', 3],
    ['ds_*_f64_published', 4],
  ] as const)('%s', async (pattern, column) => {
    const [min, max] = [pattern.replace('*', 'min'), pattern.replace('*', 'max')];
    const want = LDS_CELLS.map((cells) => cells[column]);
    expect(await pairs('lds', min, LDS_CELLS, 0x3f0)).toEqual(want);
    expect(await pairs('lds', max, LDS_CELLS, 0x3f0)).toEqual(want);

    // Zeros are ordered, but not by the published compare.
    const zeros = [
      [ZERO, MINUS_ZERO],
      [MINUS_ZERO, ZERO],
    ];
    const published = column === 4;
    expect(await pairs('lds', min, zeros, 0x3f0)).toEqual([published ? ZERO : MINUS_ZERO, MINUS_ZERO]);
    expect(await pairs('lds', max, zeros, 0x3f0)).toEqual([ZERO, published ? MINUS_ZERO : ZERO]);

    // With sources flushed a subnormal ties with a zero and memory stays: its own bits, or flushed ones on gfx12.
    const ties = [
      [TINY, ZERO],
      [ZERO, TINY],
      [MINUS_TINY, MINUS_ZERO],
    ];
    const kept = column === 3 ? [ZERO, ZERO, MINUS_ZERO] : [TINY, ZERO, MINUS_TINY];
    expect(await pairs('lds', min, ties, 0x3b0)).toEqual(kept);
    expect(await pairs('lds', max, ties, 0x3b0)).toEqual(kept);
    // A smaller subnormal is stored unflushed, or flushed on gfx12; the output bit never matters.
    expect(await pairs('lds', min, [[ONE, TINY]], 0x3b0)).toEqual([column === 3 ? ZERO : TINY]);
    expect(await pairs('lds', min, [[ONE, TINY]], 0x370)).toEqual([TINY]);
  });

  test('ds_add_f64: nearest even and subnormals kept in every MODE, the source is the first NaN', async () => {
    const cells = [
      [ONE, '3ca0000000000001', '3ff0000000000001'],
      [TINY, TINY, '0000000000000002'],
      [INFINITY, MINUS_INFINITY, 'fff8000000000000'],
      [QNAN_A, SNAN_B, QUIET_B],
      [SNAN_A, ONE, QUIET_A],
    ];
    const want = cells.map((cell) => cell[2]!);
    for (const mode of [0x3f0, 0x000, 0x30f]) expect(await pairs('lds', 'ds_add_f64', cells, mode)).toEqual(want);
  });
});
