/** Random register files for a program that nobody gave a state for. */
import type { Program } from '../program/program.ts';
import { type Shape, Special } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { modeOf, type RoundName } from './demonstration.ts';
import { drawWord, newPair } from './operands.ts';
import { Random } from './random.ts';
import { namedRegisters } from './registers.ts';
import { drawX1kRegisters } from './x1k.ts';

/** An address and offset stay below this, so that lanes meet. */
const ADDRESS_RANGE = 1024;

/** A batch shape for waves that each have a workgroup of their own and all the LDS that the target gives one. */
export const randomShape = (program: Program, waves: number): Shape => ({
  waveSize: program.waveSize,
  waves,
  wavesPerGroup: 1,
  vgprs: program.vgprs,
  sgprs: program.sgprs,
  ldsWords: program.usesLds ? program.target.ldsBytes / 4 : 0,
});

/** Doubles from the operand classes; `set` takes each one's number and words. */
function drawDoubles(random: Random, count: number, set: (index: number, lo: number, hi: number) => void): void {
  const pair = newPair();
  for (let index = 0; index < count; index++) {
    drawWord(random, pair);
    set(index, pair.nLo, pair.nHi);
  }
}

/** VGPRs: LDS addresses where the program has them, doubles in even pairs, plain bits in what is left over. */
function drawVectors(random: Random, state: WaveState, wave: number, addresses: ReadonlyMap<number, number>): void {
  const { vgprs, waveSize } = state.layout.shape;
  for (let register = 0; register < vgprs; register += 2) {
    const [low, high] = [state.vgpr(wave, register), register + 1 < vgprs ? state.vgpr(wave, register + 1) : undefined];
    drawDoubles(random, waveSize, (lane, lo, hi) => {
      low[lane] = lo;
      if (high) high[lane] = hi;
    });
  }
  for (const [register, align] of addresses) {
    const lanes = state.vgpr(wave, register);
    for (let lane = 0; lane < waveSize; lane++) lanes[lane] = align * random.below(ADDRESS_RANGE / align);
  }
}

/**
 * Random registers, fixed by seed and batch: VGPRs in pairs from the operand classes of division (X1K: as its operations need them); those that hold LDS addresses get small
 * aligned ones; SGPRs, VCC and the first words of LDS random; EXEC full in every second wave and random in the others.
 */
export function randomBatch(
  program: Program,
  shape: Shape,
  seed: number,
  batch: number,
  round: RoundName = 'rne',
): WaveState {
  const random = new Random(seed, batch);
  const state = WaveState.start(shape);
  const { addresses } = namedRegisters(program);
  const setMask = (wave: number, low: number, high: number) => {
    state.setSpecial(wave, low, random.word());
    if (shape.waveSize === 64) state.setSpecial(wave, high, random.word());
  };
  for (let wave = 0; wave < shape.waves; wave++) {
    if (program.target.generation === 'x1k') drawX1kRegisters(random, state, wave);
    else drawVectors(random, state, wave, addresses);
    for (let s = 0; s < shape.sgprs; s++) state.setScalar(wave, s, random.word());
    setMask(wave, Special.vccLo, Special.vccHi);
    if (wave % 2 === 1) setMask(wave, Special.execLo, Special.execHi);
    state.setSpecial(wave, Special.mode, modeOf(round));
    const lds = state.lds(wave);
    drawDoubles(random, Math.min(lds.length, (2 * ADDRESS_RANGE) / 4) / 2, (index, lo, hi) => {
      lds[2 * index] = lo;
      lds[2 * index + 1] = hi;
    });
  }
  return state;
}
