/**
 * The bail list: a batch in which no lane, some or all are left to the second kernel, in its first run, when that kernel is compiled, and in later ones, in jobs
 * that follow and overlap each other; several lists in a job; loops that are cut for it; all lanes of as many waves as a dispatch has.
 * Everything against the CPU reference, all words of the state.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workOf } from '../../src/bench/programs.ts';
import { LIST_STEPS, listWorkgroups } from '../../src/gpu/bailList.ts';
import { TranslatingEngine, type WebGpuEngine } from '../../src/gpu/engine.ts';
import type { Program } from '../../src/program/program.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { Special } from '../../src/wavefront/layout.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, openEngine, programOf, wordsFrom } from './engineRig.ts';

const reference = new ReferenceEngine();
let fast: WebGpuEngine;
let rolled: WebGpuEngine;
beforeAll(async () => {
  fast = await openEngine({ form: 'fast', bail: 'list' });
  rolled = await openEngine({ form: 'auto', bail: 'list', maxKernelCost: 2000 });
});
afterAll(async () => {
  await fast.close();
  await rolled.close();
});

/** Products that overwrite a factor, so that a lane done twice would show. */
const product = (register: number) =>
  `v_mul_f64 v[${register}:${register + 1}], v[${register}:${register + 1}], v[4:5]`;
const PRODUCTS = `${product(0)}\n${product(2)}`;

type Who = (wave: number, lane: number) => boolean;
const nobody: Who = () => false;
const everybody: Who = () => true;
const patterns: Readonly<Record<string, Who>> = {
  nobody,
  everybody,
  'one lane': (wave, lane) => wave === 3 && lane === 31,
  'the last lane': (wave, lane) => wave === 4 && lane === 31,
  'every second lane': (_, lane) => lane % 2 === 1,
  'a wave': (wave) => wave === 2,
};

/** Doubles from 1 to 2 in all pairs of registers, or in the lanes that `bails` names infinity in the pairs from `from` on. */
function batch(
  program: Program,
  bails: Who,
  from = 0,
  shape: Parameters<typeof batchFor>[1] = { waves: 5 },
): WaveState {
  const next = wordsFrom(5);
  const state = batchFor(program, shape);
  for (let wave = 0; wave < state.layout.shape.waves; wave++)
    for (let register = 0; register + 1 < program.vgprs; register += 2)
      for (let lane = 0; lane < program.waveSize; lane++) {
        const bad = register >= from && bails(wave, lane);
        state.vgpr(wave, register)[lane] = bad ? 0 : next();
        state.vgpr(wave, register + 1)[lane] = bad ? 0x7ff00000 : 0x3ff00000 | (next() & 0xfffff);
      }
  return state;
}

async function expectEqual(engine: TranslatingEngine, program: Program, state: WaveState): Promise<void> {
  const [got, expected] = await Promise.all([engine.run(program, state), reference.run(program, state)]);
  expect(got.state.words.findIndex((word, i) => word !== expected.state.words[i])).toBe(-1);
}

describe.each([32, 64] as const)('waves of %i lanes', (waveSize: WaveSize) => {
  const program = programOf(PRODUCTS, waveSize === 32 ? 'gfx1030' : 'gfx90a', waveSize);

  it.each(Object.keys(patterns))('%s, in the first and second run of an engine', async (name) => {
    const engine = await openEngine({ form: 'fast', bail: 'list' });
    try {
      const state = batch(program, patterns[name]!);
      for (let run = 0; run < 2; run++) await expectEqual(engine, program, state);
      expect((await engine.wgsl(program, state)).join()).toContain('atomicOr(&bails');
    } finally {
      await engine.close();
    }
  });

  it('jobs of all kinds one after the other, and at once', async () => {
    const states = ['everybody', 'nobody', 'one lane', 'every second lane', 'a wave', 'nobody', 'everybody'].map(
      (name, i) => batch(program, patterns[name]!, 0, { waves: 5 + ((3 * i) % 7) }),
    );
    for (const state of states) await expectEqual(fast, program, state);
    await Promise.all([...states, ...states].map((state) => expectEqual(fast, program, state)));
  });
});

describe('several lists in a job', () => {
  // Each read of LDS begins a kernel.
  const between = (register: number) => `ds_write_b32 v6, v${register}\nds_read_b32 v7, v6`;
  const text = ['v_mov_b32 v6, 8', product(0), between(0), product(2), between(2), product(0), between(1), product(2)];

  it.each(Object.keys(patterns))('%s in all of them, and from the second on', async (name) => {
    for (const wavesPerGroup of [1, 5]) {
      const program = programOf(text.join(wavesPerGroup > 1 ? '\ns_barrier\n' : '\n'));
      const shape = { waves: 10, wavesPerGroup };
      const all = batch(program, patterns[name]!, 0, shape);
      // The first list has lanes by v[0:1] and v[4:5], the second by v[2:3] too.
      const late = batch(program, nobody, 0, shape);
      for (let wave = 0; wave < shape.waves; wave++)
        for (const register of [2, 3]) late.vgpr(wave, register).set(all.vgpr(wave, register));
      const engine = await openEngine({ form: 'fast', bail: 'list' });
      try {
        for (const state of [late, all, late]) await expectEqual(engine, program, state);
        const kernels = await engine.wgsl(program, all);
        expect(kernels.filter((kernel) => kernel.includes('atomicOr(&bails')).length).toBeGreaterThan(2);
      } finally {
        await engine.close();
      }
    }
  });
});

describe('a loop', () => {
  const pair = (first: number) => `v[${first}:${first + 1}]`;
  const macro = [
    'v_div_scale_f64 v[4:5], s[4:5], v[2:3], v[2:3], v[0:1]',
    'v_rcp_f64_e32 v[6:7], v[4:5]',
    'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
    'v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]',
    'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
    'v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]',
    'v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]',
    'v_mul_f64 v[10:11], v[8:9], v[6:7]',
    'v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]',
    'v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]',
    `v_div_fixup_f64 ${pair(0)}, v[4:5], v[2:3], v[0:1]`,
  ].join('\n');

  it('of more steps than an invocation may do is cut in parts that share their kernels', async () => {
    const count = 2 * LIST_STEPS + 3;
    const program = programOf(Array.from({ length: count }, () => macro).join('\n'));
    const state = batch(program, (_, lane) => lane % 3 === 0);
    for (let run = 0; run < 2; run++) await expectEqual(rolled, program, state);
    const { kernels, dispatches, table } = await workOf(
      rolled.runner,
      { form: 'auto', bail: 'list', maxKernelCost: 2000 },
      program,
      state,
    );
    expect(new Set(kernels).size).toBe(2);
    expect(dispatches.map(({ table: at }) => table![at!])).toEqual([LIST_STEPS, LIST_STEPS, 3]);
    expect(dispatches.map(({ bail }) => bail!.steps)).toEqual([LIST_STEPS, LIST_STEPS, 3]);
  });

  it('leaves no steps for the list of a kernel without one', async () => {
    const program = programOf(Array.from({ length: 12 }, () => macro).join('\n'));
    // Quotients grow by 2^200 until they are infinite, which the sixth macro or the one behind it can't divide.
    const state = batch(program, nobody);
    for (let wave = 0; wave < 5; wave++)
      for (let lane = 0; lane < 64; lane += 3) state.vgpr(wave, 3)[lane] = (1023 - 200) << 20;
    const straight = new TranslatingEngine(rolled.runner, { form: 'fast', bail: 'list' });
    const one = programOf(macro);
    const other = batch(one, everybody);
    for (let run = 0; run < 3; run++) {
      await expectEqual(rolled, program, state);
      await expectEqual(straight, one, other);
    }
    const [, slow] = await straight.wgsl(one, other);
    expect(slow).toContain('table[dispatch.w]');
    expect((await rolled.wgsl(program, state))[1]).toContain('let first_step');
  });
});

it('all lanes of more waves than a dispatch has', async () => {
  const program = programOf(product(0));
  const waves = 65_540;
  const one = batch(program, everybody, 4, { waves: 1 });
  const expected = (await reference.run(program, one)).state;
  const state = batchFor(program, { waves });
  for (let register = 0; register < program.vgprs; register++)
    for (let wave = 0; wave < waves; wave++) state.vgpr(wave, register).set(one.vgpr(0, register));
  const got = (await fast.run(program, state)).state;
  let wrong = 0;
  for (let wave = 0; wave < waves; wave++)
    for (let register = 0; register < program.vgprs; register++) {
      const right = expected.vgpr(0, register);
      if (got.vgpr(wave, register).some((word, lane) => word !== right[lane])) wrong++;
    }
  expect(wrong).toBe(0);
  expect(got.special(waves - 1, Special.execLo)).toBe(0xffffffff);
});

it('a job that fails leaves nobody on the list of the next', async () => {
  const program = programOf(PRODUCTS);
  const engine = await openEngine({ form: 'fast', bail: 'list' });
  try {
    const { runner } = engine;
    const [bad, good] = [batch(program, everybody), batch(program, nobody)];
    const work = await workOf(runner, { form: 'fast', bail: 'list' }, program, bad);
    const broken = work.kernels.map((kernel, i) => (i === work.dispatches[0]!.bail!.kernel ? 'nonsense' : kernel));
    const { shape } = bad.layout;
    await expect(runner.run({ ...work, kernels: broken, shape }, bad.words)).rejects.toThrow('does not compile');
    const expected = (await reference.run(program, good)).state;
    // The second kernel is compiled, then run over what it finds.
    await expectEqual(engine, program, batch(program, patterns['one lane']!));
    for (let run = 0; run < 3; run++)
      expect((await runner.run({ ...work, shape }, good.words)).words).toEqual(expected.words);
  } finally {
    await engine.close();
  }
});

describe('workgroups over the list', () => {
  it('leave an invocation no more steps than llvmpipe has turns of loops for, and are few', () => {
    for (const waves of [1, 2, 7, 16, 1024, 4097, 65_535])
      for (const lanes of [32, 64])
        for (const steps of [1, 2, 11, LIST_STEPS]) {
          const words = (waves * lanes) / 32;
          const software = listWorkgroups(waves, lanes, steps, true);
          const hardware = listWorkgroups(waves, lanes, steps, false);
          for (const groups of [software, hardware]) {
            expect(groups).toBeGreaterThan(0);
            expect(groups).toBeLessThanOrEqual(65_535);
            expect(Math.ceil(words / (groups * 8)) * 32 * steps * 56).toBeLessThan(65_535);
          }
          expect(hardware * 8).toBeGreaterThanOrEqual(words);
          expect(software).toBeLessThanOrEqual(hardware);
        }
    expect(listWorkgroups(1024, 64, 1, true)).toBe(8);
  });
});
