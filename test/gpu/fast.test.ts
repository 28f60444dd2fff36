/**
 * shaders/isa/fast.wesl: where a fast instruction calls its result right, it is the CPU's, bit for bit, and so is what further instructions
 * make of it before it is put together. Aimed at cancellation, ties, carries out of rounding, factors and addends any distance
 * apart, zeros of both signs, and the ends of the range; and it does call nearly all right that are zero or normal.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { amd_rcp_f64 } from '../../src/float/approximate.ts';
import { IEEE_DEFAULT } from '../../src/float/control.ts';
import { f64_add, f64_mul, f64_mulAdd, result } from '../../src/float/f64.ts';
import { linkShader } from '../../src/gpu/link.ts';
import { wordsFrom } from './engineRig.ts';
import { dispatch, openTestGpu, type TestGpu } from './harness.ts';

const LANES = 1 << 15;

/** What a kernel computes, by numbers of values: operands a, b, c are 0 to 2, results follow. */
const STEPS = [
  ['fma', 0, 1, 2],
  ['mul', 0, 1],
  ['add', 0, 2],
  ['rcp', 1],
  ['fma', 4, 3, 5],
  ['fma', 5, 4, 3],
  ['add', 3, 4],
  ['mul', 3, 5],
  ['mul', 5, 5],
  ['rcp', 3],
  ['rcp', 5],
] as const;
const OPERANDS = 3;
const WORDS = 3 * STEPS.length;

const kernel = `
import package::isa::fast::{fast_close, fast_open, v_add_f64_fast, v_fma_f64_fast, v_mul_f64_fast, v_rcp_f64_fast};
@group(0) @binding(0) var<storage, read> operands: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
${[0, 1, 2].map((k) => `let v${k} = fast_open(operands[${OPERANDS}u * i + ${k}u]); let ok${k} = v${k}.ok;`).join('\n')}
${STEPS.map(([name, ...from], step) => {
  const to = OPERANDS + step;
  const store = (word: number, value: string) => `results[${(3 * step + word) * LANES}u + i] = ${value};`;
  return `let v${to} = v_${name}_f64_fast(${from.map((k) => `v${k}`)}); let d${to} = fast_close(v${to});
  let ok${to} = v${to}.ok & ${from.map((k) => `ok${k}`).join(' & ')};
  ${store(0, `d${to}.x`)} ${store(1, `d${to}.y`)} ${store(2, `u32(ok${to})`)}`;
}).join('\n')}
}`;

let gpu: TestGpu;
let pipeline: GPUComputePipeline;

beforeAll(async () => {
  gpu = await openTestGpu();
  const code = await linkShader('fast_test', { sources: { 'fast_test.wesl': kernel } });
  const module = gpu.device.createShaderModule({ code });
  pipeline = await gpu.device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
});
afterAll(() => gpu?.close());

type Double = [hi: number, lo: number];
const words = (bits: bigint): Double => [Number(bits >> 32n), Number(bits & 0xffffffffn)];
const bitsOf = ([hi, lo]: Double) => (BigInt(hi) << 32n) | BigInt(lo);

const cpu = {
  fma: (a: Double, b: Double, c: Double) => f64_mulAdd(...a, ...b, ...c, IEEE_DEFAULT),
  mul: (a: Double, b: Double) => f64_mul(...a, ...b, IEEE_DEFAULT),
  add: (a: Double, b: Double) => f64_add(...a, ...b, IEEE_DEFAULT),
  rcp: (a: Double) => amd_rcp_f64(...a, IEEE_DEFAULT),
};

function apply(name: keyof typeof cpu, args: readonly Double[]): Double {
  (cpu[name] as (...args: readonly Double[]) => unknown)(...args);
  return [result[1]!, result[0]!];
}

const FRACTION = (1n << 52n) - 1n;
const SIGN = 1n << 63n;
const fieldOf = (bits: bigint) => Number((bits >> 52n) & 0x7ffn);

function drawing(next: () => number) {
  /** Short, with few zeros or ones, or any. */
  const fraction = () => {
    const count = BigInt(next() % 53);
    const word = (BigInt(next()) << 32n) | BigInt(next());
    const all = [word, word << count, ~(word << count), word >> count, ~(word >> count), 1n << count, 0n, FRACTION];
    return all[next() % all.length]! & FRACTION;
  };
  const double = (field: number) => fraction() | (BigInt(field) << 52n) | (BigInt(next() & 1) << 63n);
  const near = (field: number, spread: number) =>
    double(Math.min(Math.max(field + (next() % (2 * spread + 1)) - spread, 1), 2046));
  return { next, double, near, off: (most: number) => BigInt(next() % (most + 1)) };
}

type Draw = (random: ReturnType<typeof drawing>) => [bigint, bigint, bigint];
const productField = (a: bigint, b: bigint) => fieldOf(a) + fieldOf(b) - 1023;

/** How many of the lanes `v_fma` must be able to do, and how their operands are drawn. */
const classes: Readonly<Record<string, readonly [share: number, draw: Draw]>> = {
  'ordinary numbers': [1, ({ near }) => [near(1023, 100), near(1023, 100), near(1023, 200)]],
  'an addend next to the product': [
    1,
    ({ near }) => {
      const [a, b] = [near(1023, 20), near(1023, 20)];
      return [a, b, near(productField(a, b), 2)];
    },
  ],
  'an addend at every distance': [
    1,
    ({ near, next }) => {
      const [a, b] = [near(1023, 20), near(1023, 20)];
      const c = near(productField(a, b), 130);
      return [a, b, next() % 4 === 0 ? c & ~FRACTION : c];
    },
  ],
  'an addend that takes the rounded product away': [
    1,
    ({ near, off }) => {
      const [a, b] = [near(1023, 20), near(1023, 20)];
      return [a, b, bitsOf(apply('mul', [words(a), words(b)])) ^ SIGN ^ off(3)];
    },
  ],
  'a reciprocal, as in a Newton step': [
    1,
    ({ near, off }) => {
      const a = near(1023, 20);
      return [a, bitsOf(apply('rcp', [words(a)])) ^ off(3), (a & SIGN) ^ 0xbff0000000000000n];
    },
  ],
  'sums and products that round up to a power of two': [
    1,
    ({ near, next, off }) => {
      const one = 0x3ff0000000000000n;
      const a = (one - 1n - off(2)) | (next() & 1 ? SIGN : 0n);
      const b = next() & 1 ? one | off(2) : one - 1n - off(2);
      return [a, b, (near(1023 - 53 - (next() % 60), 2) & ~SIGN) | (a & SIGN)];
    },
  ],
  'zeros among the operands': [
    1,
    ({ near, next }) => {
      const kept = () => (next() & 1 ? ~0n : SIGN);
      return [near(1023, 20) & kept(), near(1023, 20) & kept(), near(1023, 60) & kept()];
    },
  ],
  'the ends of the range': [
    0.3,
    ({ near, next }) => {
      const a = near(1023, 1022);
      const end = [1, 54, 1990, 2046][next() % 4]!;
      return [a, near(end + 1023 - fieldOf(a), 2), near([end, 1, 2046][next() % 3]!, 60)];
    },
  ],
  'any bits': [
    0.5,
    ({ double, next }) => {
      const any = () => double([next() % 2048, 0, 1, 2045, 2046, 2047][Math.max(next() % 16, 10) - 10]!);
      return [any(), any(), any()];
    },
  ],
};

for (const [index, [name, [share, draw]]] of Object.entries(classes).entries()) {
  const seed = 0xfa57 + 7919 * index;
  it(`${name} (seed ${seed})`, async () => {
    const random = drawing(wordsFrom(seed));
    const drawn = Array.from({ length: LANES }, () => draw(random).map((bits) => words(BigInt.asUintN(64, bits))));
    const operands = new Uint32Array(drawn.flat().flatMap(([hi, lo]) => [lo, hi]));
    const got = await dispatch(gpu.device, pipeline, operands, LANES, WORDS);
    const word = (step: number, part: number, lane: number) => got[(3 * step + part) * LANES + lane]!;
    const wrong: string[] = [];
    let ok = 0;
    for (const [lane, values] of drawn.entries())
      for (const [step, [operation, ...from]] of STEPS.entries()) {
        const args = from.map((k) => values[k]!);
        const right = apply(operation, args);
        values.push(right);
        if (word(step, 2, lane) === 0) continue;
        if (step === 0) ok++;
        const found: Double = [word(step, 1, lane), word(step, 0, lane)];
        const hex = (bits: Double) => bitsOf(bits).toString(16).padStart(16, '0');
        if (bitsOf(found) !== bitsOf(right))
          wrong.push(`${step}: ${operation} ${args.map(hex).join(' ')} is ${hex(right)}, not ${hex(found)}`);
      }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(ok).toBeGreaterThanOrEqual(share * LANES);
  });
}
