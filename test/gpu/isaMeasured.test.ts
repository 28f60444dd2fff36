import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGpu, type TestGpu } from './harness.ts';
import { type LaneDevice, openLanes, signatureOf } from './lanes.ts';

/** The WGSL bodies against what was read off chips, and the division macro step by step (sources: test/isa/data/README.md). */
let gpu: TestGpu;
let lanes: LaneDevice;
beforeAll(async () => {
  gpu = await openTestGpu();
  lanes = openLanes(gpu);
});
afterAll(() => gpu.close());

const data = new URL('../isa/data/', import.meta.url);
const lines = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));

/** The words of a hex number, low first: two for 16 digits, one for 8. */
const words = (hex: string): number[] =>
  hex.length === 16 ? [Number(`0x${hex.slice(8)}`), Number(`0x${hex.slice(0, 8)}`)] : [Number(`0x${hex}`)];

const digits = (word: number): string => word.toString(16).padStart(8, '0');

/** A result row as the tables write it: the value, and v_div_scale's flag. */
const written = (row: Uint32Array, wide: boolean): { value: string; flag: number | undefined } =>
  wide ? { value: digits(row[1]!) + digits(row[0]!), flag: row[2] } : { value: digits(row[0]!), flag: row[1] };

const familyOf = (name: string): string => (name.startsWith('v_div') ? 'division' : 'transcendental');

interface Case {
  readonly sources: readonly string[];
  readonly vcc?: number | undefined;
  readonly mode: number;
}

/** Applies an instruction to all cases. */
async function apply(name: string, cases: readonly Case[]): Promise<{ value: string; flag: number | undefined }[]> {
  const { parameters, result } = signatureOf(familyOf(name), name);
  const kernel = await lanes.function(familyOf(name), name);
  const takesVcc = parameters.includes('bool');
  const input = cases.flatMap(({ sources, vcc, mode }) => [
    ...sources.flatMap(words),
    ...(takesVcc ? [vcc!] : []),
    mode,
  ]);
  const out = await kernel.run(Uint32Array.from(input));
  const size = out.length / cases.length;
  const wide = result === 'vec2u' || result === 'DivScaleF64';
  return cases.map((_, i) => written(out.subarray(i * size, (i + 1) * size), wide));
}

interface Answer {
  readonly instr: string;
  readonly in: readonly string[];
  readonly out: string;
  readonly vcc?: number;
  readonly kind?: 'digest';
  readonly mode?: readonly [round: number, denorm32: number, denorm64: number];
}
const answers: readonly Answer[] = JSON.parse(readFileSync(new URL('known-answers.json', data), 'utf8'));

const isNaN64 = (bits: string): boolean => (BigInt(`0x${bits}`) & ~(1n << 63n)) > 0x7ff0000000000000n;
const isNaN32 = (bits: string): boolean => (Number(`0x${bits}`) & 0x7fffffff) > 0x7f800000;
const isNaNBits = (bits: string): boolean => (bits.length === 16 ? isNaN64(bits) : isNaN32(bits));

describe('single answers of gfx1100 and gfx1201, and of their model', () => {
  const rows = answers.filter(({ kind }) => kind === undefined);
  test.each([...new Set(rows.map(({ instr }) => instr))])('%s', async (name) => {
    const cases = rows.filter(({ instr }) => instr === name);
    const results = await apply(
      name,
      cases.map(({ in: sources, vcc, mode }) => {
        const [round, denorm32, denorm64] = mode!;
        return { sources, vcc, mode: 0x300 | round | (round << 2) | (denorm32 << 4) | (denorm64 << 6) };
      }),
    );
    for (const [i, { in: sources, out, vcc }] of cases.entries()) {
      const { value, flag } = results[i]!;
      if (out === 'NaN') expect(value, `${name} ${sources}`).toSatisfy(isNaNBits);
      else expect(value, `${name} ${sources}`).toBe(out);
      if (flag !== undefined && vcc !== undefined) expect(flag, `VCC of ${name} ${sources}`).toBe(vcc);
    }
  });
});

describe('captured on a Radeon RX 9060 XT', () => {
  const names = ['v_rcp_f64', 'v_rsq_f64', 'v_sqrt_f64', 'v_div_scale_f32', 'v_div_scale_f64', 'v_div_fixup_f64'];
  test.each(names)('%s', async (name) => {
    const rows = lines(readFileSync(new URL(`${name}.txt`, data), 'utf8'));
    const arity = name.startsWith('v_div') ? 3 : 1;
    const results = await apply(
      name,
      rows.map((row) => ({ sources: row.slice(0, arity), mode: 0x3f0 })),
    );
    expect(results.map(({ value, flag }) => (flag === undefined ? [value] : [value, String(flag)]))).toEqual(
      rows.map((row) => row.slice(arity)),
    );
  });
});

describe('v_rcp_f32, v_rsq_f32, v_sqrt_f32 over all mantissas have the digests of gfx1100 and gfx1201', () => {
  /** Inputs of one invocation, and invocations of one run. */
  const [RUN, ROWS] = [64, 1 << 15];
  test.each(answers.filter(({ kind }) => kind === 'digest'))('$instr: $out', async ({ instr, out }) => {
    const kernel = await lanes.kernel(
      `import package::isa::transcendental::${instr};`,
      `for (var k = 0u; k < ${RUN}u; k++) { result[o + k] = ${instr}(source[i] + k, 0x3f0u); }`,
      { input: 1, output: RUN },
    );
    const count = instr === 'v_rcp_f32' ? 1 << 23 : 1 << 24;
    // FNV-1a over words: h = (h xor word) * (2^40 + 435) mod 2^64, in two halves.
    let [high, low] = [0xcbf29ce4, 0x84222325];
    for (let base = 0; base < count; base += RUN * ROWS) {
      const results = await kernel.run(Uint32Array.from({ length: ROWS }, (_, row) => 0x3f800000 + base + RUN * row));
      for (const word of results) {
        low = (low ^ word) >>> 0;
        const product = low * 435;
        high = (high * 435 + Math.floor(product / 2 ** 32) + ((low << 8) >>> 0)) % 2 ** 32;
        low = product % 2 ** 32;
      }
    }
    expect(digits(high) + digits(low)).toBe(out);
  });
});

/** The f64 division macro as LLVM emits it; every register in the order of the steps files. */
const macro = (suffix: string) =>
  [
    `import package::isa::arithmetic::{v_fma_f64, v_mul_f64};
import package::isa::division::{v_div_fixup_f64${suffix}, v_div_fmas_f64${suffix}, v_div_scale_f64${suffix}};
import package::isa::transcendental::v_rcp_f64${suffix};`,
    `let a = vec2u(source[i], source[i + 1u]);
  let b = vec2u(source[i + 2u], source[i + 3u]);
  let mode = source[i + 4u];
  let den = v_div_scale_f64${suffix}(b, b, a, mode);
  let num = v_div_scale_f64${suffix}(a, b, a, mode);
  let minus = vec2u(den.d.x, den.d.y ^ 0x80000000u);
  let one = vec2u(0u, 0x3ff00000u);
  let rcp = v_rcp_f64${suffix}(den.d, mode);
  let e0 = v_fma_f64(minus, rcp, one, mode);
  let r1 = v_fma_f64(rcp, e0, rcp, mode);
  let e1 = v_fma_f64(minus, r1, one, mode);
  let r2 = v_fma_f64(r1, e1, r1, mode);
  let q0 = v_mul_f64(num.d, r2, mode);
  let e2 = v_fma_f64(minus, q0, num.d, mode);
  let fmas = v_div_fmas_f64${suffix}(e2, r2, q0, num.flag, mode);
  let fixup = v_div_fixup_f64${suffix}(fmas, b, a, mode);
  var steps = array<vec2u, 11>(den.d, num.d, rcp, e0, r1, e1, r2, q0, e2, fmas, fixup);
  for (var step = 0u; step < 11u; step++) {
    result[o + 2u * step] = steps[step].x;
    result[o + 2u * step + 1u] = steps[step].y;
  }
  result[o + 22u] = u32(den.flag);
  result[o + 23u] = u32(num.flag);`,
    { input: 5, output: 24 },
  ] as const;

/** Runs the macro; a line for each pair as the steps files have it. */
async function divide(suffix: string, pairs: readonly (readonly string[])[], round: number): Promise<string[]> {
  const kernel = await lanes.kernel(...macro(suffix));
  const mode = 0x3f0 | round | (round << 2);
  const out = await kernel.run(Uint32Array.from(pairs.flatMap(([a, b]) => [...words(a!), ...words(b!), mode])));
  return pairs.map(([a, b], i) => {
    const row = out.subarray(24 * i, 24 * (i + 1));
    const step = (n: number): string => digits(row[2 * n + 1]!) + digits(row[2 * n]!);
    const [den, num, ...rest] = Array.from({ length: 11 }, (_, n) => step(n));
    return [a, b, den, row[22], num, row[23], ...rest].join(' ');
  });
}

describe('the f64 division macro, every intermediate register', () => {
  test.each([...['rne', 'rup', 'rdn', 'rtz'].entries()])('mode %i: steps-hw-%s', async (round, name) => {
    const larger = new URL(`../../../shared/vectors/divmacro/steps-hw-${name}.txt.gz`, import.meta.url);
    const file = existsSync(larger) ? larger : new URL(`steps-hw-${name}.txt.gz`, data);
    const rows = lines(gunzipSync(readFileSync(file)).toString('latin1'));
    const results = await divide('', rows, round);
    const different = rows.map((row, i) => [row.join(' '), results[i]]).filter(([want, got]) => want !== got);
    expect(different.slice(0, 3), `${different.length} of ${rows.length} differ`).toEqual([]);
  });

  // AMD's text scales the denominator up where 1/den and num/den are subnormal, and multiplies by 2^64 after rounding.
  test('the published text goes wrong at both ends of the exponent range', async () => {
    const quotient = async (a: string, b: string): Promise<string> =>
      (await divide('_published', [[a, b]], 0))[0]!.split(' ').at(-1)!;
    // 1.0 / (2 - 2^-52) 2^1023
    expect(await quotient('3ff0000000000000', '7fefffffffffffff')).toSatisfy(isNaNBits);
    // 1.0 / 2^1023
    expect(await quotient('3ff0000000000000', '7fe0000000000000')).toSatisfy(isNaNBits);
    // 2^800 / 1.0 = 2^736
    expect(await quotient('71f0000000000000', '3ff0000000000000')).toBe('6df0000000000000');
    // 6.0 / 3.0 = 2.0 needs no scaling.
    expect(await quotient('4018000000000000', '4008000000000000')).toBe('4000000000000000');
  });
});
