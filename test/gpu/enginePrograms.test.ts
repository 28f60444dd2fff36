/**
 * Random programs on the WebGPU engine: in short forms with both ways to bail, as a complete kernel for each instruction with MODE
 * read at run time, in loops, and on the CPU reference, all words of the state. A failure names the program's seed and its text.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, openEngine, programOf, wordsFrom } from './engineRig.ts';
import { fillRandomly, LDS_WORDS, randomProgram, SGPRS, VGPRS } from './programs.ts';

const PROGRAMS = Number(process.env['ENGINE_PROGRAMS'] ?? 3);
const SEED = Number(process.env['ENGINE_SEED'] ?? 20261130);
const LENGTH = 16;
const WAVES = 16;

let whole: WebGpuEngine;
let branched: WebGpuEngine;
let cut: WebGpuEngine;
let rolled: WebGpuEngine;
const reference = new ReferenceEngine();
beforeAll(async () => {
  whole = await openEngine({ form: 'fast', ldsForm: 'owners' });
  branched = await openEngine({ form: 'fast', bail: 'branch' });
  cut = await openEngine({ form: 'generic', maxKernelCost: 0, specialize: false });
  rolled = await openEngine({ form: 'shared' });
});
afterAll(async () => {
  await whole.close();
  await branched.close();
  await cut.close();
  await rolled.close();
});

/** Where two batches differ first, in words that one can look up. */
function firstDifference(a: WaveState, b: WaveState): string | undefined {
  const at = a.words.findIndex((word, i) => word !== b.words[i]);
  if (at < 0) return undefined;
  const { layout } = a;
  const values = `${a.words[at]!.toString(16)} against ${b.words[at]!.toString(16)}`;
  if (at >= layout.lds) return `LDS word ${at - layout.lds}: ${values}`;
  if (at >= layout.vgprs) {
    const [wave, rest] = [Math.floor((at - layout.vgprs) / layout.vgprWords), (at - layout.vgprs) % layout.vgprWords];
    return `wave ${wave}, v${Math.floor(rest / layout.shape.waveSize)}, lane ${rest % layout.shape.waveSize}: ${values}`;
  }
  const word = at % layout.scalarWords;
  const name = word < layout.shape.sgprs ? `s${word}` : `special word ${word - layout.shape.sgprs}`;
  return `wave ${Math.floor(at / layout.scalarWords)}, ${name}: ${values}`;
}

const cases = ([64, 32] as const).flatMap((waveSize) =>
  [1, 2, 4].map((wavesPerGroup) => ({ waveSize: waveSize as WaveSize, wavesPerGroup })),
);

describe.each(cases)('wave$waveSize, $wavesPerGroup a workgroup', ({ waveSize, wavesPerGroup }) => {
  const count = Math.ceil(PROGRAMS / 3);
  it.each(Array.from({ length: count }, (_, i) => SEED + 1000 * i + waveSize + wavesPerGroup))(
    'seed %i',
    async (seed) => {
      const next = wordsFrom(seed);
      const text = randomProgram(next, waveSize, LENGTH);
      const program = programOf(text, 'gfx1030', waveSize);
      const shape = { waves: WAVES, wavesPerGroup, vgprs: VGPRS, sgprs: SGPRS, ldsWords: LDS_WORDS };
      const state = batchFor(program, shape);
      fillRandomly(state, next);
      const expected = (await reference.run(program, state)).state;
      for (const [how, engine] of [
        ['short forms, bail by list', whole],
        ['short forms, bail by branch', branched],
        ['cut up', cut],
        ['in loops', rolled],
      ] as const) {
        const result = (await engine.run(program, state)).state;
        const difference = firstDifference(result, expected);
        expect(difference && `${how}: ${difference}\n${text}`).toBeUndefined();
      }
    },
  );
});
