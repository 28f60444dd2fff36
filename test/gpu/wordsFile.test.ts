/** The file that batches lie in: none lies over another, room is used again, and what is in use is not closed. */
import { fstatSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StoredBatch } from '../../src/engine.ts';
import { FileBatch, WordsFile } from '../../src/gpu/wordsFile.node.ts';
import { Layout, type Shape } from '../../src/wavefront/layout.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const shapeOf = (waves: number): Shape => ({ waveSize: 64, waves, wavesPerGroup: 1, vgprs: 2, sgprs: 0, ldsWords: 0 });

function fill(batch: StoredBatch, word: number): void {
  const state = new WaveState(batch.shape);
  state.words.fill(word);
  new FileBatch(batch).writePart(state, 0);
}

function firstOf(batch: StoredBatch): number {
  const state = new WaveState(batch.shape);
  new FileBatch(batch).readPart(state, 0);
  const { layout } = state;
  const registers = state.words.subarray(layout.vgprs, layout.vgprs + batch.shape.waves * layout.vgprWords);
  expect(new Set(registers).size).toBe(1);
  return registers[0]!;
}

const end = ({ shape, at }: StoredBatch) => at + new Layout(shape).words * 4;
const bytesOf = ({ file }: WordsFile) => fstatSync(file).size;

describe('the file of batches', () => {
  it('keeps each batch apart from the others', () => {
    const words = new WordsFile();
    const batches = [3, 1, 5].map((waves) => words.take(shapeOf(waves)));
    for (const [i, batch] of batches.entries()) fill(batch, i + 1);
    words.give(batches[1]!);
    batches[1] = words.take(shapeOf(1));
    fill(batches[1], 9);
    expect(batches.map(firstOf)).toEqual([1, 9, 3]);
    for (const batch of batches) words.give(batch);
    words.close();
  });

  it('does not grow with the batches that come one after the other, whatever their sizes', () => {
    const words = new WordsFile();
    for (let waves = 1; waves < 50; waves++) {
      const pair = [words.take(shapeOf(waves)), words.take(shapeOf(60 - waves))];
      for (const batch of pair) fill(batch, waves);
      for (const batch of pair) words.give(batch);
    }
    expect(bytesOf(words)).toBeLessThanOrEqual(4 * new Layout(shapeOf(60)).words * 4);
    words.close();
  });

  it('uses the room of a larger batch for a smaller one, and not the other way round', () => {
    const words = new WordsFile();
    const [small, large] = [words.take(shapeOf(1)), words.take(shapeOf(4))];
    words.give(small);
    expect(words.take(shapeOf(2)).at).toBeGreaterThanOrEqual(end(large));
    words.give(large);
    const [a, b] = [words.take(shapeOf(1)), words.take(shapeOf(3))];
    expect([a.at, b.at]).toEqual([small.at, large.at]);
    words.close();
  });

  it('is closed when the last batch has come back: a thread may still write to it', () => {
    const words = new WordsFile();
    const batch = words.take(shapeOf(1));
    words.close();
    fill(batch, 5);
    expect(firstOf(batch)).toBe(5);
    words.give(batch);
    expect(() => bytesOf(words)).toThrow('EBADF');
  });
});
