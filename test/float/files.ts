import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

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
