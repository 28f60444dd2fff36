/** The counter of operations against counts made by hand. */
import { describe, expect, it } from 'vitest';
import type { ByKind } from '../../src/bench/kinds.ts';
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
fn back(a: i32) -> u32 { return u32(f32(a) + 0.5) ^ u32(i32(2.5 * 1.0)) ^ u32(i32(bitcast<f32>(a))); }
fn order(a: u32, b: i32) -> u32 { if (a < 3u | b < 3 | a >= 2u) { return countLeadingZeros(a); } return 1u << 3u; }
fn rounded(a: u32, mode: u32) -> u32 { let nearest = (mode & 3u) == 0u; return select(a, a + 1u, nearest) | (mode & 4u); }
fn folded(a: u32) -> u32 { let four = TURNS + 1u; return a + (four << ONES.x) * u32(four == 4u); }
fn folds(a: u32) -> u32 { return rounded(a, TURNS & 1u); }
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
fn few(lane: u32) { if (lane < 16u) { words[lane] = lane * 3u; } }
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) { memory(lane); one(lane); }
`;

const countOf = operationCounter(module);

describe('operations of functions', () => {
  const rows: readonly [name: string, operations: ByKind, why: string][] = [
    ['free', {}, 'swizzles, constructors, bitcasts and conversions between integers'],
    ['scalar', { 'u32-mul': 1, 'u32-shift': 1, 'u32-add': 3 }, '* | << | + - ~'],
    [
      'vectors',
      { 'u32-mul': 4, 'u32-add': 8, 'u32-equal': 1, 'u32-select': 4 },
      '4 * | 4 + and 4 unary - | == | select of 4',
    ],
    ['called', { 'u32-mul': 2, 'u32-shift': 2, 'u32-add': 6 }, 'two calls, of which one knows ~1, and ^'],
    ['floats', { 'u32-to-f32': 2, 'f32-mul': 1, 'f32-div': 2 }, 'two conversions, a product, a quotient and sqrt'],
    ['back', { 'i32-to-f32': 1, 'f32-mul': 1, 'f32-to-u32': 1, 'f32-to-i32': 1, 'u32-add': 2 }, 'conversions'],
    ['loops', { 'u32-mul': 3, 'u32-less': 3 + 4, 'u32-add': 3 * 2 + 4 * 2 }, '3 turns of < ++ + *; 4 turns of < += ^='],
    ['members', { 'u32-add': 1, 'u32-equal': 1, 'u32-min': 2, 'u32-select': 1 }, '&& | != | clamp | u32(bool)'],
    [
      'order',
      { 'u32-less': 2, 'u32-equal': 1, 'u32-add': 2, 'u32-clz': 1 },
      'two of u32, one of i32; | | countLeadingZeros',
    ],
    ['memory', { 'u32-add': 4 }, '+ ^ += atomicMax'],
    [
      'one',
      { 'u32-equal': 1, 'u32-less': 1, 'u32-add': 2 },
      '== once, and a lane of 64 adds, compares and counts 64 times',
    ],
    ['few', { 'u32-less': 1, 'u32-mul': 1 / 4 }, '< in all lanes, and 16 of 64 multiply'],
  ];
  it.each(rows)('%s: %o', (name, operations) => {
    expect(countOf(name)).toMatchObject({ operations, openLoops: 0 });
    expect(countOf(name).operations).toEqual(operations);
  });

  it('what a driver knows when it compiles is free: numbers, constants, parameters that are given such', () => {
    expect(countOf('folded').operations).toEqual({ 'u32-add': 1 });
    expect(countOf('folds').operations).toEqual({ 'u32-add': 1 + 1 });
    expect(countOf('rounded').operations).toEqual({ 'u32-add': 4, 'u32-equal': 1, 'u32-select': 1 });
  });

  it('loops without a number in the text are told of, and have the turns that are said', () => {
    const once = { 'u32-less': 1, 'u32-shift': 1, 'u32-equal': 1, 'u32-add': 1 };
    expect(countOf('open')).toMatchObject({ operations: once, openLoops: 2 });
    const five = { 'u32-less': 5, 'u32-shift': 5, 'u32-equal': 5, 'u32-add': 5 };
    expect(countOperations(module, 'open', 5)).toMatchObject({ operations: five, openLoops: 2 });
  });

  it('reads and writes of storage buffers, a word 4 bytes, a vector as many as it has', () => {
    expect(countOf('memory')).toMatchObject({
      reads: { rows: 16, words: 8, counts: 8 },
      writes: { words: 8, counts: 8 },
    });
    expect(countOf('one').writes).toEqual({ words: 4 });
    expect(countOperations(module)).toMatchObject({
      operations: { 'u32-equal': 1, 'u32-less': 1, 'u32-add': 6 },
      writes: { words: 12, counts: 8 },
    });
  });

  it('refuses functions that are not there', () => {
    expect(() => countOf('nothing')).toThrow("no function 'nothing'");
  });
});

it('reads every function of the library, of which the fma has the 16 products of 14-bit limbs at least', async () => {
  const count = operationCounter(await float64Wgsl(FLOAT64_FUNCTIONS, { comments: false }));
  for (const name of FLOAT64_FUNCTIONS) expect(count(name)).toMatchObject({ openLoops: 0, reads: {}, writes: {} });
  expect(count('f64_mulAdd').operations['u32-mul']).toBeGreaterThanOrEqual(16);
});
