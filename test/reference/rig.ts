/** What the tests of the reference engine share. */
import type { RunOptions } from '../../src/engine.ts';
import { findTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import type { Program } from '../../src/program/program.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { type Shape, Special } from '../../src/wavefront/layout.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import { WaveState } from '../../src/wavefront/state.ts';

export const engine = new ReferenceEngine();

export const programOf = (text: string, target = 'gfx90a', waveSize?: WaveSize): Program =>
  assemble(`${text}\ns_endpgm\n`, { target: findTarget(target), waveSize });

/** A batch as a kernel finds it, with room for the program's registers. */
export const batchFor = (program: Program, shape: Partial<Shape> = {}): WaveState =>
  WaveState.start({
    waveSize: program.waveSize,
    waves: 1,
    wavesPerGroup: 1,
    vgprs: Math.max(program.vgprs, 8),
    sgprs: Math.max(program.sgprs, 8),
    ldsWords: program.usesLds ? 64 : 0,
    ...shape,
  });

/** Runs a text over one wave, or what `shape` says, set up by `prepare`. */
export async function run(
  text: string,
  {
    target,
    waveSize,
    shape,
    prepare,
    options,
  }: {
    target?: string;
    waveSize?: WaveSize;
    shape?: Partial<Shape>;
    prepare?: (state: WaveState) => void;
    options?: RunOptions;
  } = {},
): Promise<WaveState> {
  const program = programOf(text, target, waveSize);
  const state = batchFor(program, shape);
  prepare?.(state);
  return (await engine.run(program, state, options)).state;
}

export const setExec = (state: WaveState, lo: number, hi = 0, wave = 0): void => {
  state.setSpecial(wave, Special.execLo, lo);
  state.setSpecial(wave, Special.execHi, hi);
};

/** Writes an f64, 16 hex digits, to a register pair of every lane. */
export function setF64(state: WaveState, register: number, hex: string, wave = 0): void {
  state.vgpr(wave, register).fill(Number(`0x${hex.slice(8)}`));
  state.vgpr(wave, register + 1).fill(Number(`0x${hex.slice(0, 8)}`));
}

const digits = (word: number) => word.toString(16).padStart(8, '0');

export const f64At = (state: WaveState, register: number, lane = 0, wave = 0): string =>
  digits(state.vgpr(wave, register + 1)[lane]!) + digits(state.vgpr(wave, register)[lane]!);

export const vcc = (state: WaveState, wave = 0): string =>
  digits(state.special(wave, Special.vccHi)) + digits(state.special(wave, Special.vccLo));

export const ONE = '3ff0000000000000';
export const TWO = '4000000000000000';
