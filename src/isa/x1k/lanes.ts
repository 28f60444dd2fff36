/** CPU bodies of X1K instructions: all components of a lane are read before any is written, since registers may be the same. */
import type { LaneBody, LaneWords } from '../instruction.ts';
import type { X1kControl } from './control.ts';

type Components = readonly [number, number, number, number];

const at = (words: LaneWords, lane: number): Components => [
  words[0]![lane]!,
  words[1]![lane]!,
  words[2]![lane]!,
  words[3]![lane]!,
];

/** Four words from the sources of each lane. */
const each =
  (compute: (sources: readonly Components[], control: X1kControl) => Components): LaneBody =>
  ({ lanes, active, src, dst, mode }) => {
    for (let lane = 0; lane < lanes; lane++) {
      if (active[lane] === 0) continue;
      const result = compute(
        src.map((words) => at(words, lane)),
        mode,
      );
      for (let i = 0; i < 4; i++) dst[i]![lane] = result[i]!;
    }
  };

const all = (word: number): Components => [word, word, word, word];
const four = (of: (i: number) => number): Components => [of(0), of(1), of(2), of(3)];

/** An operation on each component by itself. */
export const unary = (op: (a: number, control: X1kControl) => number): LaneBody =>
  each(([a], control) => four((i) => op(a![i]!, control)));
export const binary = (op: (a: number, b: number, control: X1kControl) => number): LaneBody =>
  each(([a, b], control) => four((i) => op(a![i]!, b![i]!, control)));
export const ternary = (op: (a: number, b: number, c: number, control: X1kControl) => number): LaneBody =>
  each(([a, b, c], control) => four((i) => op(a![i]!, b![i]!, c![i]!, control)));

/** An operation on the first component, its result in all. */
export const scalar = (op: (a: number, control: X1kControl) => number): LaneBody =>
  each(([a], control) => all(op(a![0], control)));

/** A dot product, its result in all components. */
export const dot2 = (op: (a: Components, b: Components, control: X1kControl) => number): LaneBody =>
  each(([a, b], control) => all(op(a!, b!, control)));
export const dot3 = (op: (a: Components, b: Components, c: Components, control: X1kControl) => number): LaneBody =>
  each(([a, b, c], control) => all(op(a!, b!, c!, control)));

/** A test of one word; the mask starts at 0. */
export const test =
  (predicate: (a: number) => boolean): LaneBody =>
  ({ lanes, active, src, flag }) => {
    const words = src[0]![0]!;
    for (let lane = 0; lane < lanes; lane++) if (active[lane] !== 0) flag[lane] = Number(predicate(words[lane]!));
  };
