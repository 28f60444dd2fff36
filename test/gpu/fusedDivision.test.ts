/**
 * shaders/isa/division_fused.wesl and division_macro.wesl: every register that they give equals what the instructions leave, one after
 * the other, on the CPU; aimed at where the argument of the first is tight: reciprocals next to midpoints, quotients 3/2 ulp off,
 * all-ones fractions, the borders of v_div_scale, of q and of quotients, exact quotients, subnormal residuals.
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
/** ds, r2, ns, q, t, p, the result, low words first, and the flag; all at once also whether that holds. */
const WORDS = 15;
const OK = 15;

const bindings = `
@group(0) @binding(0) var<storage, read> operands: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;`;

const kernelOf = (imports: string, body: string) => `
import ${imports};
${bindings}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let n = operands[i].xy;
  let d = operands[i].zw;
  ${body}
  for (var w = 0u; w < ${WORDS + 1}u; w++) { results[w * ${LANES}u + i] = words[w / 2u][w % 2u]; }
}`;

const fusedKernel = kernelOf(
  'package::isa::division_fused::{fused_division, fused_residual}',
  `let f = fused_division(n, d);
  let t = fused_residual(f.remainder, f.place, n);
  let words = array<vec2u, 8>(f.ds, f.r2, f.ns, f.q, t, f.p, f.result, vec2u(u32(f.flag), u32(f.ok)));`,
);

const loopKernel = kernelOf(
  'package::isa::division_macro::division_macro',
  `let m = division_macro(n, d, 0u, ${KERNEL_MODE}u);
  let words = array<vec2u, 8>(m.ds, m.r2, m.ns, m.q, m.t, m.p, m.result, vec2u(u32(m.flag), 1u));`,
);

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

/**
 * Denominators by search: 2^105 / d lies within 2^-22 of a midpoint, of which 32 bits of the remainder do not tell the side, and then
 * within 2^-16, of which they do.
 */
const midpoints = [
  0xaabeecb393ca4n,
  0xd42cf573fc8f6n,
  0x5566a77e28142n,
  0x5c7800977141fn,
  0x69aa9913d4c7n,
  0x21aa00b95ea8an,
  0xaa47cc8e2fd64n,
  0x4ff6dcdd63f62n,
  0xeaf1aae0588bfn,
  0x13a6181feaaefn,
  0xd6be3a0417863n,
  0xe4cdc3dfca13fn,
  0xa9930ca35da37n,
  0x1363f6d992e58n,
  0xde294b71b6ca2n,
  0xa8c49e6f6debn,
];

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
  'reciprocals within a few remainders of midpoints': (next) => [
    double(next(), 1000 + (next() % 50), fraction(next)),
    double(next(), 1000 + (next() % 50), midpoints[next() % midpoints.length]!),
  ],
  'significands 2^53 - k, over each other too': (next) => {
    const k = 1n + (random64(next) & ((1n << BigInt(2 + (next() % 22))) - 1n));
    const j = k + (random64(next) & ((1n << BigInt(1 + (next() % 22))) - 1n));
    const eD = [1, 1023, 2043, 2044, 2045, 2046][next() % 6]!;
    const eN = next() % 2 ? eD : 1 + (next() % 2046);
    return [double(next(), eN, next() % 4 ? -j : fraction(next)), double(next(), eD, -k)];
  },
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

/** Normal operands with so many exponents between them that a row of v_div_scale's table, q or the quotient begins or ends. */
classes['every border of exponents'] = (next) => {
  const borders = [
    768, 1023, 1024, 1025, 1150, 1151, 1152, -768, -1022, -1023, -1075, -1076, -1150, -1151, -1203, -1204,
  ];
  const difference = borders[next() % borders.length]! - 2 + (next() % 5);
  const low = Math.max(1, 1 - difference);
  const high = Math.min(2046, 2046 - difference);
  const eD = [low, high, low + (next() % (high - low + 1)), Math.min(high, Math.max(low, 2043 + (next() % 3)))][
    next() % 4
  ]!;
  return [double(next(), eD + difference, fraction(next)), double(next(), eD, random64(next))];
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

/** What the shaders give. */
function wordsOf(n: Double, d: Double): number[] {
  const { ds, r2, ns, q, t, p, result, vcc } = macro(n, d);
  return [...lowFirst([ds, r2, ns, q, t, p, result]), Number(vcc)];
}

const highLow = (bits: bigint): Double => [Number(bits >> 32n), Number(bits & 0xffffffffn)];

const fieldOf = ([hi]: Double) => (hi >>> 20) & 0x7ff;
const isNormal = (a: Double) => fieldOf(a) > 0 && fieldOf(a) < 2047;

/** Lanes that the macro at once is for: normal operands, q and p not subnormal, nor so near to that that they may be. */
function isUsual(n: Double, d: Double): boolean {
  const { q, result, vcc } = macro(n, d);
  const difference = fieldOf(n) - fieldOf(d);
  const isSmall = (a: Double, exponent: number) => fieldOf(a) === 0 && exponent > -1077;
  return isNormal(n) && isNormal(d) && !isSmall(result, difference) && !isSmall(q, difference + (vcc ? 128 : 0));
}

/** How many lanes the kernel calls ok, those of them that differ from the instructions, and how many that it is for it leaves out. */
async function compare(pipeline: GPUComputePipeline, draw: (next: () => number) => Pair, seed: number) {
  const next = generator(seed);
  const pairs = Array.from({ length: LANES }, () => draw(next).map(highLow) as [Double, Double]);
  const operands = new Uint32Array(pairs.flatMap(lowFirst));
  const got = await dispatch(gpu.device, pipeline, operands, LANES, WORDS + 1);
  let ok = 0;
  let left = 0;
  const wrong: string[] = [];
  for (const [i, [n, d]] of pairs.entries()) {
    if (got[OK * LANES + i] === 0) {
      if (isUsual(n, d)) left++;
      continue;
    }
    ok++;
    const want = wordsOf(n, d);
    if (want.some((word, w) => word !== got[w * LANES + i])) {
      const columns = want.map(
        (word, w) => `${names[w >> 1]}: ${got[w * LANES + i]!.toString(16)} not ${word.toString(16)}`,
      );
      wrong.push(`${hex(n)} / ${hex(d)}: ${columns.filter((_, w) => want[w] !== got[w * LANES + i])}`);
    }
  }
  return { ok, left, wrong: wrong.slice(0, 5) };
}

const names = ['ds', 'r2', 'ns', 'q', 't', 'p', 'result', 'flag'];
/** Classes in which no reciprocal but by chance is next to a midpoint. */
const ordinaryReciprocals = ['normal operands', 'every border of exponents'];

const hex = (words: Double) => words.map((word) => word.toString(16).padStart(8, '0')).join('');

for (const [index, [name, draw]] of Object.entries(classes).entries()) {
  const seed = 0x5eed + index;
  describe(`${name} (seed ${seed})`, () => {
    it('all at once', async () => {
      const { ok, left, wrong } = await compare(fused, draw, seed);
      expect(wrong).toEqual([]);
      expect(ok).toBeGreaterThan(0);
      expect(left).toBeLessThan(ordinaryReciprocals.includes(name) ? 8 : LANES);
    });

    it('step by step in a loop', async () => {
      const { ok, wrong } = await compare(loop, draw, seed);
      expect(wrong).toEqual([]);
      expect(ok).toBe(LANES);
    });
  });
}
