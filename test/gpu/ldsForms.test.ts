/**
 * The forms that LDS instructions take on the WebGPU engine (`LdsForm`) against the CPU reference, all words of the state:
 * minimum and maximum on every pair of special values for each rule that a target has, on places that all lanes, some lanes or no two
 * lanes share, with offsets, lanes that are off, waves that stop, and 1, 2 or 4 waves a workgroup.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import type { LdsForm } from '../../src/gpu/kernel.ts';
import type { Profile } from '../../src/isa/target.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { Special } from '../../src/wavefront/layout.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, lanesOf, openEngine, programOf, wordsFrom } from './engineRig.ts';

const FORMS: readonly LdsForm[] = ['serial', 'owners', 'waves'];
const engines = new Map<LdsForm, WebGpuEngine>();
const reference = new ReferenceEngine();
beforeAll(async () => {
  for (const ldsForm of FORMS) engines.set(ldsForm, await openEngine({ ldsForm }));
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
});

/** High and low words: zeros, subnormals, numbers, infinities, quiet and signalling NaN with payloads, each of both signs. */
const POOL: readonly (readonly [number, number])[] = [
  [0x00000000, 0x00000000],
  [0x00000000, 0x00000001],
  [0x000fffff, 0xffffffff],
  [0x00100000, 0x00000000],
  [0x3ff00000, 0x00000001],
  [0x7ff00000, 0x00000000],
  [0x7ff80000, 0x12345678],
  [0x7ff00000, 0x9abcdef0],
].flatMap(([hi, lo]) => [[hi!, lo!] as const, [(hi! | 0x80000000) >>> 0, lo!] as const]);

const LDS_WORDS = 2048;
const OFFSET = 64;

/** Byte addresses of lanes, before the offset: what contends in which way. */
const PLACES: readonly ((lane: number, next: () => number) => number)[] = [
  (lane) => 8 * lane,
  () => 40,
  (_, next) => 8 * (next() % 8),
  (lane) => 512 * (lane % 15),
  (_, next) => 8 * (next() % 64),
  (lane) => 16 * (lane >> 1),
];

/** Every pair of the pool in the first waves, lane by lane on a place of its own; then each way to contend, on random values. */
function fill(state: WaveState, mode: (wave: number) => number, seed: number): void {
  const next = wordsFrom(seed);
  const { waves, waveSize, wavesPerGroup } = state.layout.shape;
  for (let group = 0; group < state.layout.groups; group++) {
    const lds = state.lds(group);
    for (let i = 0; i < lds.length; i += 2) [lds[i + 1], lds[i]] = POOL[next() % POOL.length]!;
  }
  const covering = (POOL.length * POOL.length) / waveSize;
  for (let wave = 0; wave < waves; wave++) {
    state.setSpecial(wave, Special.mode, mode(wave));
    const place = wave < covering ? PLACES[0]! : PLACES[wave % PLACES.length]!;
    const faults = wave % 13 === 12;
    if (wave >= covering && wave % 2 === 1 && !faults) {
      state.setSpecial(wave, Special.execLo, (next() | next()) >>> 0);
      if (waveSize === 64) state.setSpecial(wave, Special.execHi, next());
    }
    for (const lane of lanesOf(waveSize)) {
      const cell = wave * waveSize + lane;
      const byte = place(lane, next);
      const random = POOL[next() % POOL.length]!;
      const source = wave < covering ? POOL[cell % POOL.length]! : random;
      state.vgpr(wave, 0)[lane] = byte;
      [state.vgpr(wave, 3)[lane], state.vgpr(wave, 2)[lane]] = source;
      if (wave < covering && wavesPerGroup === 1) {
        const at = (byte + OFFSET) / 4;
        [state.lds(wave)[at + 1], state.lds(wave)[at]] = POOL[Math.floor(cell / POOL.length)]!;
      }
    }
    if (faults) state.vgpr(wave, 0)[next() % waveSize] = wave % 2 === 0 ? 4 * LDS_WORDS - OFFSET : 12;
  }
}

const differences = (a: WaveState, b: WaveState) => [...a.words.keys()].filter((i) => a.words[i] !== b.words[i]);

async function expectSame(text: string, target: string, waveSize: WaveSize, profile: Profile, wavesPerGroup: number) {
  const program = programOf(text, target, waveSize);
  const state = batchFor(program, { waves: 32, wavesPerGroup, ldsWords: LDS_WORDS });
  // Subnormal sources kept, or counted as zero.
  const mixed = (wave: number) => (wave % 3 === 0 ? 0x3f0 : wave % 3 === 1 ? 0x330 : 0x370);
  const modes = wavesPerGroup === 1 ? [() => 0x3f0, mixed] : [mixed];
  for (const [i, mode] of modes.entries()) {
    fill(state, mode, 20261130 + i + wavesPerGroup);
    const expected = (await reference.run(program, state, { profile })).state;
    for (const [form, engine] of engines) {
      const result = (await engine.run(program, state, { profile })).state;
      expect({ form, differences: differences(result, expected).slice(0, 4) }).toEqual({ form, differences: [] });
    }
    expect(expected.faults().length).toBe(2);
  }
}

const legacy = `ds_min_rtn_f64 v[4:5], v0, v[2:3] offset:${OFFSET}\nds_max_rtn_f64 v[6:7], v0, v[2:3] offset:${OFFSET}`;
const num = legacy.replaceAll('min_rtn', 'min_num_rtn').replaceAll('max_rtn', 'max_num_rtn');

describe('each form of LDS atomics does what the reference does, with these waves a workgroup', () => {
  it.each([
    ['gfx906', 64, 'hardware', 1, legacy],
    ['gfx90a', 64, 'hardware', 2, `${legacy}\nds_add_rtn_f64 v[2:3], v0, v[2:3]\nds_min_f64 v0, v[2:3]`],
    ['gfx90a', 64, 'published', 1, legacy],
    ['gfx1030', 32, 'hardware', 4, legacy],
    ['gfx1100', 64, 'hardware', 1, legacy],
    ['gfx1200', 64, 'hardware', 1, num],
    ['gfx1200', 32, 'published', 2, num],
    ...(['gfx900', 'gfx908', 'gfx90a', 'gfx942', 'gfx950', 'gfx1010', 'gfx1030'] as const).map(
      (target) => [target, 64, 'hardware', 1, legacy] as const,
    ),
    ['gfx1201', 64, 'hardware', 1, num],
  ] as const)('%s, wave%i, %s, %i', (target, waveSize, profile, wavesPerGroup, text) =>
    expectSame(text, target, waveSize, profile, wavesPerGroup),
  );

  it('atomics beside reads and writes of the same places, addresses overwritten by what was read', () =>
    expectSame(
      `ds_write_b64 v0, v[2:3] offset:${OFFSET}
       ds_min_rtn_f64 v[2:3], v0, v[2:3] offset:${OFFSET + 8}
       ds_write_b32 v0, v2 offset:${OFFSET + 4}
       ds_read_b64 v[4:5], v0 offset:${OFFSET}
       v_mov_b32 v6, v0
       ds_max_f64 v6, v[4:5] offset:${OFFSET}
       ds_read_b64 v[6:7], v6 offset:${OFFSET}`,
      'gfx1030',
      64,
      'hardware',
      2,
    ));
});
