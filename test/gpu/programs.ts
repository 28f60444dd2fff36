/** Random programs over the instructions whose translation is more than a call: masks, EXEC, SCC, MODE, LDS, barriers. */

import { Special } from '../../src/wavefront/layout.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import type { WaveState } from '../../src/wavefront/state.ts';

export const VGPRS = 8;
export const SGPRS = 8;
export const LDS_WORDS = 24;

type Next = () => number;

const pick = <T>(next: Next, from: readonly T[]): T => from[next() % from.length]!;

/** The text of a program of `length` instructions for gfx1030, which has both wave sizes and the MODE instructions of gfx10. */
export function randomProgram(next: Next, waveSize: WaveSize, length: number): string {
  return Array.from({ length }, () => pick(next, makers)(next, waveSize)).join('\n');
}

const v = (next: Next) => `v${next() % VGPRS}`;
const vv = (next: Next) => {
  const first = next() % (VGPRS - 1);
  return `v[${first}:${first + 1}]`;
};
/** Destinations leave the addresses in v0 and v1 alone. */
const to = (next: Next) => `v${2 + (next() % (VGPRS - 2))}`;
const toPair = (next: Next) => {
  const first = 2 + (next() % (VGPRS - 3));
  return `v[${first}:${first + 1}]`;
};
const modified = (next: Next) =>
  pick(next, [(x: string) => x, (x: string) => `-${x}`, (x: string) => `|${x}|`])(vv(next));
const word = (next: Next) => pick(next, ['s0', 's1', 's2', 's3', 's5', 'vcc_lo', 'vcc_hi', 'm0', 'exec_lo', 'null']);
const pairs = ['s[0:1]', 's[2:3]', 's[4:5]', 's[6:7]', 'vcc', 'vcc'];
const wordMasks = ['s0', 's1', 's2', 's4', 'vcc_lo', 'vcc_lo'];
const mask = (next: Next, size: WaveSize) => pick(next, size === 64 ? pairs : wordMasks);
const maskOrExec = (next: Next, size: WaveSize) =>
  next() % 5 === 0 ? (size === 64 ? 'exec' : 'exec_lo') : mask(next, size);
const constant = (next: Next) => pick(next, ['0', '1', '-1', '0x5a5a0ff0', '17', '1.0']);
const source = (next: Next) => pick(next, [v, v, word, constant])(next);

type Maker = (next: Next, size: WaveSize) => string;

const bitwise: Maker = (next, size) => {
  const op = pick(next, ['and', 'or', 'xor', 'andn2']);
  if (next() % 3 === 0) return `s_${op}_b32 ${word(next)}, ${word(next)}, ${pick(next, [word, constant])(next)}`;
  const [width, one] = size === 64 ? ['b64', maskOrExec] : ['b32', maskOrExec];
  return `s_${op}_${width} ${one(next, size)}, ${one(next, size)}, ${next() % 4 === 0 ? '-1' : one(next, size)}`;
};

const move: Maker = (next, size) => {
  if (next() % 3 === 0) return `s_mov_b32 ${word(next)}, ${pick(next, [word, constant])(next)}`;
  const from = next() % 4 === 0 ? pick(next, ['-1', '0', '0x7fffffff']) : maskOrExec(next, size);
  return `s_mov_${size === 64 ? 'b64' : 'b32'} ${maskOrExec(next, size)}, ${from}`;
};

/** EXEC comes back to something, or most programs would soon do nothing. */
const widen: Maker = (_, size) => (size === 64 ? 's_mov_b64 exec, -1' : 's_mov_b32 exec_lo, -1');

const makers: readonly Maker[] = [
  (next) => `v_mov_b32 ${to(next)}, ${source(next)}`,
  (next) => `v_mov_b32 ${to(next)}, ${source(next)}`,
  (next, size) => `v_cndmask_b32_e64 ${to(next)}, ${v(next)}, ${pick(next, ['-', ''])}${v(next)}, ${mask(next, size)}`,
  (next, size) => `v_cmp_class_f64 ${mask(next, size)}, ${modified(next)}, ${v(next)}`,
  (next, size) =>
    `v_cmp_${pick(next, ['lt', 'eq', 'u', 'nge'])}_f64 ${mask(next, size)}, ${modified(next)}, ${vv(next)}`,
  (next, size) => `v_cmp_lt_f64 ${mask(next, size)}, ${vv(next)}, ${size === 64 ? 'vcc' : 's[2:3]'}`,
  bitwise,
  bitwise,
  move,
  move,
  widen,
  (next) => `s_round_mode 0x${(next() & 15).toString(16)}`,
  (next) => `s_setreg_b32 hwreg(HW_REG_MODE, ${pick(next, [0, 4, 6])}, 4), s${next() % 4}`,
  (next) => `s_getreg_b32 s${next() % SGPRS}, hwreg(HW_REG_MODE, ${next() % 4}, ${1 + (next() % 8)})`,
  (next) => `v_ldexp_f64 ${toPair(next)}, ${vv(next)}, ${v(next)} ${pick(next, ['', 'clamp', 'mul:2'])}`,
  // These have a fast form, which MODE, scalars that change and counted masks cut short.
  (next) => `v_add_f64 ${toPair(next)}, ${modified(next)}, ${pick(next, [vv, () => 's[0:1]', () => 'vcc'])(next)}`,
  (next) => `v_mul_f64 ${toPair(next)}, ${modified(next)}, ${modified(next)}`,
  (next) => `ds_read_b32 ${to(next)}, v0 offset:${4 * (next() % 4)}`,
  (next) => `ds_write_b32 v0, ${v(next)} offset:${4 * (next() % 4)}`,
  (next) => `ds_write_b64 v1, ${vv(next)} offset:${8 * (next() % 2)}`,
  (next) => `ds_min_rtn_f64 ${toPair(next)}, v1, ${vv(next)} offset:${8 * (next() % 3)}`,
  () => 's_barrier',
];

/** Registers of all kinds: v0 and v1 mostly good LDS addresses, the others doubles, halves of them, small numbers. */
export function fillRandomly(state: WaveState, next: Next): void {
  const { waves, waveSize } = state.layout.shape;
  const some = () =>
    pick(next, [next(), next(), 0, 1, 0x3ff00000, 0xbff00000, 0x7ff00000, 0x7ff80001, 0x80000000, 0xffffffff]);
  for (let i = state.layout.lds; i < state.layout.words; i++) state.words[i] = some();
  for (let wave = 0; wave < waves; wave++) {
    for (let lane = 0; lane < waveSize; lane++) {
      state.vgpr(wave, 0)[lane] = (next() % 16) * 4;
      state.vgpr(wave, 1)[lane] = (next() % 8) * 8;
      for (let register = 2; register < VGPRS; register++) state.vgpr(wave, register)[lane] = some();
    }
    for (let code = 0; code < SGPRS; code++) state.setScalar(wave, code, some());
    state.setSpecial(wave, Special.vccLo, next());
    state.setSpecial(wave, Special.vccHi, waveSize === 64 ? next() : 0);
    state.setSpecial(wave, Special.m0, next());
    state.setSpecial(wave, Special.scc, next() & 1);
    if (wave % 3 !== 0) state.setSpecial(wave, Special.execLo, (next() | next()) >>> 0);
    if (wave % 5 === 4) state.setSpecial(wave, Special.execHi, waveSize === 64 ? next() : 0);
    // A wave in eight has an address that faults in some lane.
    if (wave % 8 === 7) state.vgpr(wave, wave % 16 === 7 ? 0 : 1)[next() % waveSize] = pick(next, [2, 200, 61]);
  }
}
