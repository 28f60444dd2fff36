/**
 * shaders/isa/division_fused.wesl and division_macro.wesl: every register that they give equals what the instructions leave, one after
 * the other, on the CPU; aimed at where the argument of the first is tight: reciprocals next to midpoints, quotients 3/2 ulp off,
 * all-ones fractions, the borders of v_div_scale, exact quotients, subnormal residuals.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amd_rcp_f64 } from '../../src/float/approximate.ts';
import { IEEE_DEFAULT } from '../../src/float/control.ts';
import { f64_mul, f64_mulAdd, result } from '../../src/float/f64.ts';
import { linkShader } from '../../src/gpu/link.ts';
import { divFixup, divFmas, divScale } from '../../src/isa/instructions/divisionF64.ts';
import { KERNEL_MODE } from '../../src/wavefront/mode.ts';
import { dispatch, openTestGpu, type TestGpu } from './harness.ts';

const LANES = 1 << 16;
const WORDS = 9;
const LOOP_WORDS = 15;

const bindings = `
@group(0) @binding(0) var<storage, read> operands: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;`;

const fusedKernel = `
import package::isa::division_fused::{fused_division, fused_residual};
${bindings}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let f = fused_division(operands[i].xy, operands[i].zw);
  let t = fused_residual(operands[i].xy, operands[i].zw, f.quotient);
  let words = array<u32, ${WORDS}>(f.reciprocal.x, f.reciprocal.y, f.quotient.x, f.quotient.y, t.x, t.y, f.result.x, f.result.y, u32(f.ok));
  for (var w = 0u; w < ${WORDS}u; w++) { results[w * ${LANES}u + i] = words[w]; }
}`;

const loopKernel = `
import package::isa::division_macro::division_macro;
${bindings}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let m = division_macro(operands[i].xy, operands[i].zw, 0u, ${KERNEL_MODE}u);
  let words = array<vec2u, 8>(m.ds, m.r2, m.ns, m.q, m.t, m.p, m.result, vec2u(u32(m.flag)));
  for (var w = 0u; w < ${LOOP_WORDS}u; w++) { results[w * ${LANES}u + i] = words[w / 2u][w % 2u]; }
}`;

let gpu: TestGpu;
let fused: GPUComputePipeline;
let loop: GPUComputePipeline;

beforeAll(async () => {
  gpu = await openTestGpu();
  const pipelineOf = async (kernel: string) => {
    const code = await linkShader('fused_test', { sources: { 'fused_test.wesl': kernel } });
    const module = gpu.device.createShaderModule({ code });
    return gpu.device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  };
  [fused, loop] = await Promise.all([pipelineOf(fusedKernel), pipelineOf(loopKernel)]);
});

afterAll(() => gpu?.close());

/** A small generator with a seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

const FRACTION = (1n << 52n) - 1n;
const random64 = (next: () => number) => (BigInt(next()) << 32n) | BigInt(next());
const double = (sign: number, exponent: number, fraction: bigint) =>
  (BigInt(sign & 1) << 63n) | (BigInt(exponent & 0x7ff) << 52n) | (fraction & FRACTION);

/** Fractions that are short, near all ones, near zero, or any. */
function fraction(next: () => number): bigint {
  const bits = BigInt(next() % 52);
  switch (next() % 5) {
    case 0:
      return FRACTION - (random64(next) & ((1n << bits) - 1n));
    case 1:
      return random64(next) & ((1n << bits) - 1n);
    case 2:
      return FRACTION << bits;
    case 3:
      return 1n << bits;
    default:
      return random64(next);
  }
}

/** A denominator whose reciprocal is as near to a midpoint as the division of 2^105 + 2^52 (odd steps) allows. */
function nearMidpoint(next: () => number): bigint {
  const reciprocal = (1n << 52n) | (random64(next) & FRACTION);
  return ((1n << 106n) / (2n * reciprocal + 1n) + BigInt(next() % 3) - 1n) & FRACTION;
}

type Pair = readonly [bigint, bigint];

const classes: Record<string, (next: () => number) => Pair> = {
  'normal operands': (next) => [
    double(next(), 923 + (next() % 200), random64(next)),
    double(next(), 923 + (next() % 200), random64(next)),
  ],
  'all exponents, fractions with few or many ones': (next) => [
    double(next(), next(), fraction(next)),
    double(next(), next(), fraction(next)),
  ],
  'reciprocals next to midpoints': (next) => [
    double(next(), 1000 + (next() % 50), next() & 1 ? FRACTION - BigInt(next() % 64) : random64(next)),
    double(next(), 1000 + (next() % 50), nearMidpoint(next)),
  ],
  'quotients just below one, fractions near all ones': (next) => {
    const denominator = FRACTION - (random64(next) & ((1n << BigInt(20 + (next() % 32))) - 1n));
    return [double(next(), 1023, denominator - BigInt(1 + (next() % 5))), double(next(), 1023, denominator)];
  },
  'products of doubles, so that quotients are exact or next to it': (next) => {
    const a = (1n << 26n) | BigInt(next() & 0x3ffffff);
    const b = (1n << 25n) | BigInt(next() & 0x1ffffff);
    const product = a * b;
    const shift = 53 - product.toString(2).length;
    return [
      double(next(), 1023, (product << BigInt(shift)) + BigInt(next() % 3)),
      double(next(), 1023, (a << 26n) & FRACTION),
    ];
  },
  'any bits, and special values': (next) => {
    const special = [
      0n,
      1n,
      FRACTION,
      1n << 52n,
      0x3ffn << 52n,
      0x7fen << 52n,
      0x7ffn << 52n,
      0x7ff4n << 48n,
      0x7ff8n << 48n,
    ];
    const any = () => (next() % 3 ? random64(next) : special[next() % special.length]! | (BigInt(next() & 1) << 63n));
    return [any(), any()];
  },
  'borders of v_div_scale': (next) => {
    const eD = next() % 2 ? 1 + (next() % 4) : 2040 + (next() % 8);
    const eN = [eD - 770 + (next() % 5), eD + 766 + (next() % 5), 50 + (next() % 70), next()][next() % 4]!;
    return [double(next(), Math.min(Math.max(eN, 0), 2047), fraction(next)), double(next(), eD, fraction(next))];
  },
};

/** What the instructions themselves leave: high and low words. */
function macro(n: Double, d: Double) {
  const control = IEEE_DEFAULT;
  const taken = (): Double => [result[1]!, result[0]!];
  const neg = ([hi, lo]: Double): Double => [(hi ^ 0x80000000) >>> 0, lo];
  const one: Double = [0x3ff00000, 0];
  const fma = (a: Double, b: Double, c: Double) => {
    f64_mulAdd(...a, ...b, ...c, control);
    return taken();
  };
  divScale(...d, ...d, ...n, control);
  const ds = taken();
  const vcc = divScale(...n, ...d, ...n, control);
  const ns = taken();
  amd_rcp_f64(...ds, control);
  const r0 = taken();
  const r1 = fma(r0, fma(neg(ds), r0, one), r0);
  const r2 = fma(r1, fma(neg(ds), r1, one), r1);
  f64_mul(...ns, ...r2, control);
  const q = taken();
  const t = fma(neg(ds), q, ns);
  divFmas(...t, ...r2, ...q, vcc, control);
  const p = taken();
  divFixup(...p, ...d, ...n, control);
  return { ds, r2, ns, q, t, p, result: taken(), vcc };
}

type Double = [hi: number, lo: number];

const lowFirst = (values: readonly Double[]) => values.flatMap(([hi, lo]) => [lo, hi]);

/** r2, q, t and the result; undefined where v_div_scale scales. */
function unscaled(n: Double, d: Double): number[] | undefined {
  const { ds, r2, ns, q, t, p, result, vcc } = macro(n, d);
  if (vcc || ds[0] !== d[0] || ds[1] !== d[1] || ns[0] !== n[0] || ns[1] !== n[1]) return undefined;
  if (p[0] !== result[0] || p[1] !== result[1]) throw new Error('v_div_fixup changed a quotient in range');
  return lowFirst([r2, q, t, result]);
}

/** What division_macro gives. */
function complete(n: Double, d: Double): number[] {
  const { ds, r2, ns, q, t, p, result, vcc } = macro(n, d);
  return [...lowFirst([ds, r2, ns, q, t, p, result]), Number(vcc)];
}

const highLow = (bits: bigint): Double => [Number(bits >> 32n), Number(bits & 0xffffffffn)];

/** Lanes that the kernel calls ok, and those of them that differ from `right`. */
async function compare(
  pipeline: GPUComputePipeline,
  words: number,
  draw: (next: () => number) => Pair,
  seed: number,
  right: (n: Double, d: Double) => number[] | undefined,
  isOk: (lane: number, got: Uint32Array) => boolean,
) {
  const next = generator(seed);
  const pairs = Array.from({ length: LANES }, () => draw(next).map(highLow) as [Double, Double]);
  const operands = new Uint32Array(pairs.flatMap(lowFirst));
  const got = await dispatch(gpu.device, pipeline, operands, LANES, words);
  let ok = 0;
  const wrong: string[] = [];
  for (const [i, [n, d]] of pairs.entries()) {
    if (!isOk(i, got)) continue;
    ok++;
    const want = right(n, d);
    if (!want || want.some((word, w) => word !== got[w * LANES + i]))
      wrong.push(`${hex(n)} / ${hex(d)}: ${want?.map((_, w) => got[w * LANES + i])} not ${want}`);
  }
  return { ok, wrong: wrong.slice(0, 5) };
}

const hex = (words: Double) => words.map((word) => word.toString(16).padStart(8, '0')).join('');

for (const [index, [name, draw]] of Object.entries(classes).entries()) {
  const seed = 0x5eed + index;
  describe(`${name} (seed ${seed})`, () => {
    it('all at once', async () => {
      const { ok, wrong } = await compare(fused, WORDS, draw, seed, unscaled, (i, got) => got[8 * LANES + i] !== 0);
      expect(wrong).toEqual([]);
      expect(ok).toBeGreaterThan(name === 'normal operands' ? LANES - 8 : 0);
    });

    it('step by step in a loop', async () => {
      const { ok, wrong } = await compare(loop, LOOP_WORDS, draw, seed, complete, () => true);
      expect(wrong).toEqual([]);
      expect(ok).toBe(LANES);
    });
  });
}
