/** The counter of operations against counts made by hand. */
import { describe, expect, it } from 'vitest';
import { countOperations, operationCounter } from '../../src/bench/operations.ts';
import { FLOAT64_FUNCTIONS, float64Wgsl } from '../../src/float64.ts';

const module = `
struct Pair { low: vec2u, flag: bool }
const TURNS = 3u;
const ONES = vec2<u32>(1u, 1u);
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> rows: array<vec4<u32>>;

fn free(a: vec2u) -> u32 { return bitcast<u32>(i32(vec2u(a.y, a.x).x)); }
fn scalar(a: u32, b: u32) -> u32 { return a * b + (a << 3u) - ~b; }
fn vectors(a: vec2u, b: vec4<u32>) -> vec4<u32> { let c = b * vec4u(a, a); return select(c + b, -b, c.x == b.y); }
fn called(a: u32) -> u32 { return scalar(a, a) ^ scalar(a, 1u); }
fn floats(a: u32) -> f32 { return f32(a) * 2.5 / sqrt(f32(a)); }
fn loops(a: u32) -> u32 {
  var sum = 0u;
  for (var i = 0u; i < TURNS; i++) { sum += a * i; }
  for (var i = 1u; i < 8u; i += 2u) { sum ^= a; }
  return sum;
}
fn open(a: u32) -> u32 {
  var x = a;
  while x > 1u { x >>= 1u; }
  loop { if (x == 0u) { break; } x -= 1u; }
  return x;
}
fn members(p: Pair) -> u32 { if (p.flag && p.low.x != 0u) { return clamp(p.low.y, 1u, 4u); } else { return u32(p.flag); } }
fn memory(at: u32) {
  let row = rows[at];
  words[at + 1u] = row.x ^ words[at];
  words[at] += 1u;
  atomicStore(&counts[at], atomicLoad(&counts[0]));
  atomicMax(&counts[at], row.y);
}
fn one(lane: u32) { if (lane == 0u) { for (var i = 0u; i < 64u; i++) { words[i] = i + lane; } } }
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) { memory(lane); one(lane); }
`;

const countOf = operationCounter(module);

describe('operations of functions', () => {
  const rows: readonly [name: string, multiplies: number, others: number, why: string][] = [
    ['free', 0, 0, 'swizzles, constructors, bitcasts and conversions between integers are free'],
    ['scalar', 1, 4, '* | + << - ~'],
    ['vectors', 4, 4 + 4 + 1 + 4, '4 * | 4 + , 4 unary -, ==, select of 4'],
    ['called', 2, 8 + 1, 'two calls and ^'],
    ['floats', 0, 5, 'two conversions, a product and a quotient of f32, sqrt'],
    ['loops', 3, 3 * (1 + 1 + 1) + 4 * (1 + 1 + 1), '3 turns of < ++ + *; 4 turns of < += ^='],
    ['members', 0, 1 + 1 + 2 + 1, '&& != clamp u32(bool)'],
    ['memory', 0, 1 + 1 + 1 + 1, '+ ^ += atomicMax'],
    ['one', 0, 1 + 3, '== once, and a lane of 64 adds, compares and counts 64 times'],
  ];
  it.each(rows)('%s: %i multiplications, %i others', (name, multiplies, others) => {
    expect(countOf(name)).toMatchObject({ multiplies, others, openLoops: 0 });
  });

  it('loops without a number in the text are counted once and told of', () => {
    expect(countOf('open')).toMatchObject({ multiplies: 0, others: 1 + 1 + 1 + 1, openLoops: 2 });
  });

  it('reads and writes of storage buffers, a word 4 bytes, a vector as many as it has', () => {
    expect(countOf('memory')).toMatchObject({
      reads: { rows: 16, words: 8, counts: 8 },
      writes: { words: 8, counts: 8 },
    });
    expect(countOf('one').writes).toEqual({ words: 4 });
    expect(countOperations(module)).toMatchObject({ others: 8, writes: { words: 12, counts: 8 } });
  });

  it('refuses functions that are not there', () => {
    expect(() => countOf('nothing')).toThrow("no function 'nothing'");
  });
});

it('reads every function of the library, of which the fma has the 16 products of 14-bit limbs', async () => {
  const count = operationCounter(await float64Wgsl(FLOAT64_FUNCTIONS, { comments: false }));
  for (const name of FLOAT64_FUNCTIONS) expect(count(name)).toMatchObject({ openLoops: 0, reads: {}, writes: {} });
  expect(count('f64_mulAdd').multiplies).toBe(16);
  expect(count('f64_add').multiplies).toBe(0);
});
