/** Batches to measure with: drawn once, and repeated where a batch is larger than what was drawn. */
import { drawLanes } from '../verify/drawLanes.ts';
import { classes, everyClass, type OperandClass } from '../verify/operands.ts';
import { Random } from '../verify/random.ts';
import { Layout, type Shape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import type { OperandKind } from './figure.ts';

const SEED = 0x64;

/** Waves that are drawn: 65,536 lanes. */
const DRAWN_WAVES = 1024;

/** Classes of even lanes and of odd ones: ordinary numbers; or every second lane any that verify draws, most of them special. */
const draws: Readonly<Record<OperandKind, readonly (readonly OperandClass[])[]>> = {
  normal: [[classes.ordinary!], [classes.ordinary!]],
  special: [[classes.ordinary!], everyClass],
};
const lanes = [0, 1].map((odd) => Int32Array.from({ length: 32 }, (_, i) => 2 * i + odd));

/** Registers with operands: pairs of doubles from v0 on, so that v[0:1] and v[2:3] are numerator and denominator, and so on. */
export interface Filling {
  readonly shape: Shape;
  readonly pairs: number;
  readonly operands: OperandKind;
  /** Tells inputs of the same filling apart. */
  readonly number: number;
  /** After the pairs; LDS and more registers. */
  readonly more?: (state: WaveState, wave: number, random: Random) => void;
}

/** All waves of a shape filled. */
export function fill({ shape, pairs, operands, number, more }: Filling): WaveState {
  const drawn = Math.min(shape.waves, DRAWN_WAVES);
  const small = WaveState.start({ ...shape, waves: drawn });
  const random = new Random(SEED, number);
  for (let wave = 0; wave < drawn; wave++) {
    for (let at = 0; at < 4 * pairs; at += 4) {
      const words = small.words.subarray(small.layout.vgpr(wave, at), small.layout.vgpr(wave, at + 4));
      random.fill(words, 0, words.length);
      for (const [odd, from] of draws[operands].entries())
        drawLanes(random, from, words, shape.waveSize, lanes[odd]!, shape.waveSize / 2);
    }
    more?.(small, wave, random);
  }
  return repeatWaves(small, shape.waves);
}

/** The batch over and over, as so many waves of one workgroup each. */
export function repeatWaves(small: WaveState, waves: number): WaveState {
  const { shape } = small.layout;
  if (waves === shape.waves) return small;
  const large = new WaveState({ ...shape, waves });
  for (let wave = 0; wave < waves; wave += shape.waves)
    copyWaves(large, wave, small, Math.min(shape.waves, waves - wave));
  return large;
}

/** Copies the first waves of a batch, each a workgroup of its own, over those of another from `at` on. */
export function copyWaves(to: WaveState, at: number, from: WaveState, waves: number): void {
  const [source, target] = [from.layout, to.layout];
  const sections = [
    [source.scalars, target.scalars, target.scalarWords],
    [source.vgprs, target.vgprs, target.vgprWords],
    [source.lds, target.lds, target.shape.ldsWords],
  ] as const;
  for (const [start, into, words] of sections)
    to.words.set(from.words.subarray(start, start + waves * words), into + at * words);
}

/** Lanes of the largest batch of that shape, a power of 4 times 64, that a binding and a buffer of so many bytes hold. */
export function largestLanes(shape: Omit<Shape, 'waves'>, bufferBytes: number, bindingBytes: number): number {
  let waves = 1;
  for (;;) {
    const layout = new Layout({ ...shape, waves: 4 * waves });
    if (layout.words * 4 > bufferBytes || (layout.lds - layout.vgprs) * 4 > bindingBytes) return 64 * waves;
    waves *= 4;
  }
}
