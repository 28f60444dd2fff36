/** Parts of a batch: whole workgroups come out of it and go back to where they were, wherever its words lie. */
import { openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileBatch } from '../../src/gpu/wordsFile.node.ts';
import { Layout, type Shape } from '../../src/wavefront/layout.ts';
import { type Batch, WaveState } from '../../src/wavefront/state.ts';

const shape: Shape = { waveSize: 64, waves: 10, wavesPerGroup: 2, vgprs: 3, sgprs: 5, ldsWords: 7 };
const numbered = () => {
  const state = new WaveState(shape);
  for (let word = 0; word < state.words.length; word++) state.words[word] = word + 1;
  return state;
};

/** The same words in this thread's memory and in a file, where something else comes before them. */
const places: Record<string, () => Batch> = {
  memory: numbered,
  'a file': () => {
    const path = join(tmpdir(), `wave64-batch-${process.pid}`);
    const file = openSync(path, 'wx+');
    rmSync(path);
    writeSync(file, new Uint8Array(numbered().words.buffer), 0, new Layout(shape).words * 4, 1000);
    return new FileBatch({ shape, file, at: 1000 });
  },
};

describe.each(Object.entries(places))('a batch in %s', (_, open) => {
  it('gives the registers and the LDS of the waves that are asked for', () => {
    const part = new WaveState({ ...shape, waves: 4 });
    open().readPart(part, 6);
    const whole = numbered();
    for (let wave = 0; wave < 4; wave++) {
      expect(part.vectors(wave)).toEqual(whole.vectors(6 + wave));
      for (let sgpr = 0; sgpr < 5; sgpr++) expect(part.scalar(wave, sgpr)).toBe(whole.scalar(6 + wave, sgpr));
      expect(part.special(wave, 15)).toBe(whole.special(6 + wave, 15));
    }
    expect([part.lds(0), part.lds(1)]).toEqual([whole.lds(3), whole.lds(4)]);
  });

  it('takes them, and nothing else changes', () => {
    const batch = open();
    const part = new WaveState({ ...shape, waves: 2 });
    part.words.fill(0);
    batch.writePart(part, 4);
    const all = new WaveState(shape);
    batch.readPart(all, 0);
    const expected = numbered();
    for (const wave of [4, 5]) expected.vectors(wave).fill(0);
    expected.lds(2).fill(0);
    const { layout } = expected;
    expected.words.fill(0, layout.scalars + 4 * layout.scalarWords, layout.scalars + 6 * layout.scalarWords);
    for (let wave = 0; wave < shape.waves; wave++) expect(all.vectors(wave)).toEqual(expected.vectors(wave));
    for (let group = 0; group < layout.groups; group++) expect(all.lds(group)).toEqual(expected.lds(group));
    const scalars = (state: WaveState) => state.words.subarray(0, shape.waves * layout.scalarWords);
    expect(scalars(all)).toEqual(scalars(expected));
  });

  it('gives its scalars alone to a part without vector registers and LDS', () => {
    const part = new WaveState({ ...shape, vgprs: 0, ldsWords: 0 });
    open().readPart(part, 0);
    const words = shape.waves * part.layout.scalarWords;
    expect(part.words.subarray(0, words)).toEqual(numbered().words.subarray(0, words));
  });
});
