/** Runs the CPU body of one instruction on rows of operands, a row a lane, as hex words. */

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { InstructionDef } from '../../src/isa/instruction.ts';
import { findInstruction } from '../../src/isa/instructions/index.ts';
import { findTarget, type Profile, type Variant } from '../../src/isa/target.ts';

export interface Outcome {
  /** The vector result, high word first; empty if there is none. */
  readonly value: string;
  /** The lane's bit of the mask result, 0 if there is none. */
  readonly flag: number;
}

export const variant = (target: string, profile: Profile = 'hardware'): Variant => ({
  target: findTarget(target),
  profile,
});

export const gfx1100 = variant('gfx1100');
export const gfx1200 = variant('gfx1200');
export const gfx90a = variant('gfx90a');

/** MODE of compiled kernels: nearest even, all subnormals kept, DX10_CLAMP, IEEE. */
export const KERNEL = 0x3f0;

/** MODE with one rounding mode for all types. */
export const rounding = (round: number): number => KERNEL | (round << 2) | round;

export const digits = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** The words of a hex number, low first. */
export const words = (hex: string): number[] =>
  hex.length === 16 ? [Number(`0x${hex.slice(8)}`), Number(`0x${hex.slice(0, 8)}`)] : [Number(`0x${hex}`)];

export const definition = (name: string): InstructionDef => {
  const def = findInstruction(name);
  if (def === undefined) throw new Error(`no instruction ${name}`);
  return def;
};

/** Sources a lane: 16 or 8 hex digits for values, '0' or '1' for a mask bit. */
export function run(name: string, rows: readonly (readonly string[])[], mode = KERNEL, where = gfx1100): Outcome[] {
  const def = definition(name);
  const semantics = def.semantics(where);
  if (semantics.unit !== 'valu') throw new Error(`${name} is no vector instruction`);
  const lanes = rows.length;
  const src = rows[0]!.map((first, k) =>
    words(first).map((_, w) => Uint32Array.from(rows, (row) => words(row[k]!)[w]!)),
  );
  const to = def.operands.find(({ role, type }) => role !== 'src' && type !== 'mask');
  const count = to === undefined ? 0 : to.type === 'f64' ? 2 : 1;
  const dst = Array.from({ length: count }, () => new Uint32Array(lanes));
  const flag = new Uint32Array(lanes);
  semantics.cpu({ lanes, active: new Uint8Array(lanes).fill(1), src, dst, flag, mode });
  return rows.map((_, lane) => ({
    value: dst
      .map((word) => digits(word[lane]!))
      .reverse()
      .join(''),
    flag: flag[lane]!,
  }));
}

/** The vector results alone. */
export const values = (name: string, rows: readonly (readonly string[])[], mode = KERNEL, where = gfx1100): string[] =>
  run(name, rows, mode, where).map(({ value }) => value);

const data = new URL('data/', import.meta.url);

/** A file of test/isa/data: its lines, split at blanks. */
export function table(name: string, folder: URL = data): string[][] {
  const bytes = readFileSync(new URL(name, folder));
  const text = name.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
  return text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}

export const json = (name: string): unknown => JSON.parse(readFileSync(new URL(name, data), 'utf8'));

/** Is the word of 16 or 8 digits a NaN? */
export const isNan = (hex: string): boolean =>
  hex.length === 16
    ? (BigInt(`0x${hex}`) & ~(1n << 63n)) > 0x7ff0000000000000n
    : (Number(`0x${hex}`) & 0x7fffffff) > 0x7f800000;

/** NEG on an f64 word. */
export const negated = (hex: string): string => digits(Number(`0x${hex.slice(0, 8)}`) ^ 0x80000000) + hex.slice(8);
