/**
 * The largest error of X1K's transcendental operations, by hand: `node --import tsx test/isa/x1kBound.ts [STRIDE] [OP ...]`.
 * For one binade each all 2^23 fractions (every STRIDE-th), and over all exponents and both signs 1024 fractions each, in nearest even
 * and in truncation; the oracle has 96 bits.
 */
import { pathToFileURL } from 'node:url';
import { cos, ex2, ln2, rcp, rsq, sin } from '../../src/isa/x1k/transcendental.ts';
import * as oracle from './x1kOracle.ts';
import { errorInUlp, type Real } from './x1kOracle.ts';

export const transcendentals = ['ex2', 'ln2', 'rcp', 'rsq', 'sin', 'cos'] as const;
export type Transcendental = (typeof transcendentals)[number];

const computes: Readonly<Record<Transcendental, (bits: number, control: number) => number>> = {
  ex2,
  ln2,
  rcp,
  rsq,
  sin,
  cos,
};

const exact: Readonly<Record<Transcendental, (bits: number) => Real>> = {
  ex2: oracle.ex2,
  ln2: oracle.ln2,
  rcp: oracle.rcp,
  rsq: oracle.rsq,
  sin: oracle.sin,
  cos: oracle.cos,
};

/** The biased exponents of the binades that show every reduced argument: [1,2), [1,2) and [2,4) of RSQ, [1/2,1) of SIN and COS. */
export const binades: Readonly<Record<Transcendental, readonly number[]>> = {
  ex2: [127],
  ln2: [127],
  rcp: [127],
  rsq: [127, 128],
  sin: [126],
  cos: [126],
};

export interface Worst {
  error: number;
  at: number;
  count: number;
}

/** The largest error of an operation over words. */
export function worstOf(name: Transcendental, round: number, words: Iterable<number>): Worst {
  const worst = { error: 0, at: 0, count: 0 };
  for (const word of words) {
    const error = errorInUlp(computes[name](word, round), exact[name](word));
    worst.count++;
    if (error <= worst.error) continue;
    worst.error = error;
    worst.at = word;
  }
  return worst;
}

export function* fractionsOf(biased: number, stride: number): Generator<number> {
  for (let fraction = 0; fraction < 2 ** 23; fraction += stride) yield ((biased << 23) | fraction) >>> 0;
}

/** Numbers of every exponent; fractions are spread evenly, the last one all ones. Negative ones where they mean something. */
export function* everyExponent(name: Transcendental, fractions: number): Generator<number> {
  const signs = name === 'ln2' || name === 'rsq' ? [0] : [0, 0x80000000];
  for (const sign of signs)
    for (let biased = 1; biased < 255; biased++)
      for (let i = 0; i < fractions; i++) {
        const fraction = Math.round((i * 0x7fffff) / (fractions - 1));
        // Beyond 256, 2^x is infinite or 0 by far.
        if (name !== 'ex2' || biased < 135) yield (sign | (biased << 23) | fraction) >>> 0;
      }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [stride = '1', ...only] = process.argv.slice(2);
  for (const name of transcendentals.filter((n) => only.length === 0 || only.includes(n)))
    for (const round of [0, 3]) {
      const binade = binades[name].map((biased) => worstOf(name, round, fractionsOf(biased, Number(stride))));
      const all = worstOf(name, round, everyExponent(name, 1024));
      const show = ({ error, at, count }: Worst) => `${error.toFixed(6)} ulp at ${at.toString(16)} of ${count}`;
      console.log(`${name} round ${round}: binade ${binade.map(show).join(', ')}; all exponents ${show(all)}`);
    }
}
