import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Round } from '../../src/float/control.ts';

const data = new URL('./data/', import.meta.url);
/** A larger set of the same vectors, beside the checkout where there is one. */
const larger = new URL('../../../shared/vectors/testfloat/', import.meta.url);

const linesOf = (bytes: Buffer): string[][] =>
  bytes
    .toString('latin1')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

/** The lines of a text file in data/, each cut at white space. */
export const textLines = (name: string): string[][] => linesOf(readFileSync(new URL(name, data)));

/** The lines of a gzip file in data/. */
export const gzipLines = (name: string): string[][] => linesOf(gunzipSync(readFileSync(new URL(name, data))));

/** The lines of a TestFloat file: the whole file where it is at hand, else the thinned copy in data/. */
export const testFloatLines = (name: string): string[][] => {
  const whole = new URL(`${name}.txt.gz`, larger);
  return existsSync(whole) ? linesOf(gunzipSync(readFileSync(whole))) : gzipLines(`${name}.txt.gz`);
};

/** Files of Berkeley TestFloat that both libraries must pass. */
export const TESTFLOAT_FILES = [
  'f64_add',
  'f64_sub',
  'f64_mul',
  'f64_div',
  'f64_mulAdd',
  'f64_sqrt',
  'f64_lt',
  'f64_le',
  'f64_eq',
  'f64_roundToInt',
  'f64_to_f32',
  'f32_to_f64',
  'f64_to_i32',
  'f64_to_ui32',
  'i32_to_f64',
  'ui32_to_f64',
  'f32_div',
  'f32_mulAdd',
  'f32_sqrt',
];

/** The order of their result columns, and the flag of an invalid operation. */
export const TESTFLOAT_MODES = [Round.nearestEven, Round.towardZero, Round.down, Round.up];
export const TESTFLOAT_INVALID = 0x10;
