/** LDS, workgroups, barriers, faults and the step budget on the reference engine. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engine.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { FaultCode, type WaveState } from '../../src/wavefront/state.ts';
import { batchFor, engine, f64At, ONE, programOf, run, setExec, setF64, TWO } from './rig.ts';

/** The address of each lane, `stride` bytes apart. */
const addresses = (state: WaveState, register: number, stride: number, wave = 0) => {
  for (let lane = 0; lane < state.layout.shape.waveSize; lane++) state.vgpr(wave, register)[lane] = stride * lane;
};

describe('reads and writes', () => {
  it('move 32, 64 and 128 bits, low word first, at address + offset', async () => {
    const text =
      'ds_write_b128 v0, v[4:7] offset:16\nds_read_b32 v1, v0 offset:20\nds_read_b64 v[2:3], v0 offset:24\nds_write_b64 v0, v[6:7]\nds_write_b32 v0, v4 offset:8';
    const state = await run(text, {
      prepare: (s) => {
        setExec(s, 1);
        for (const r of [4, 5, 6, 7]) s.vgpr(0, r).fill(r * 0x11111111);
      },
    });
    expect([...state.lds(0).slice(0, 8)]).toEqual([6, 7, 4, 0, 4, 5, 6, 7].map((r) => r * 0x11111111));
    expect([1, 2, 3].map((r) => state.vgpr(0, r)[0])).toEqual([5, 6, 7].map((r) => r * 0x11111111));
    expect(state.vgpr(0, 1)[1]).toBe(0);
  });

  it('lanes act in ascending order: of writes to one address the highest lane stays', async () => {
    const state = await run('ds_write_b32 v0, v1', {
      prepare: (s) => {
        addresses(s, 1, 1);
        setExec(s, 0xffffffff, 0x7fffffff);
      },
    });
    expect(state.lds(0)[0]).toBe(62);
  });

  it('a destination may hold the address', async () => {
    const state = await run('ds_read_b64 v[0:1], v0', {
      prepare: (s) => {
        s.vgpr(0, 0).fill(8);
        s.lds(0).set([1, 2, 3, 4]);
      },
    });
    expect(f64At(state, 0, 63)).toBe('0000000400000003');
  });
});

describe('atomics', () => {
  it('ds_min_rtn_f64 on one address returns the old values in lane order, raw', async () => {
    const numbers = ['4008000000000000', ONE, TWO, 'bff0000000000000'];
    const state = await run('ds_min_rtn_f64 v[4:5], v0, v[2:3] offset:8', {
      prepare: (s) => {
        s.lds(0).set([0, 0, 0x123, 0x7ff80000]);
        setExec(s, 0xf);
        for (const [lane, hex] of numbers.entries()) s.vgpr(0, 3)[lane] = Number(`0x${hex.slice(0, 8)}`);
        setF64(s, 4, '1111111111111111');
      },
    });
    expect([0, 1, 2, 3, 4].map((lane) => f64At(state, 4, lane))).toEqual([
      '7ff8000000000123',
      '4008000000000000',
      ONE,
      ONE,
      '1111111111111111',
    ]);
    expect([...state.lds(0).slice(2, 4)]).toEqual([0, 0xbff00000]);
  });

  it('follow the profile: the published minimum keeps a NaN in memory', async () => {
    const prepare = (s: WaveState) => {
      s.lds(0)[1] = 0x7ff80000;
      setF64(s, 2, ONE);
    };
    const chip = await run('ds_min_f64 v0, v[2:3]', { prepare });
    const text = await run('ds_min_f64 v0, v[2:3]', { prepare, options: { profile: 'published' } });
    expect([chip.lds(0)[1], text.lds(0)[1]]).toEqual([0x3ff00000, 0x7ff80000]);
  });

  it('ds_add_f64 sums the lanes one after the other', async () => {
    const state = await run('ds_add_f64 v0, v[2:3]', { prepare: (s) => setF64(s, 2, ONE) });
    expect(state.lds(0)[1]).toBe(0x40500000);
  });
});

describe('faults', () => {
  const ldsWords = 64;
  const faulty = (prepare: (s: WaveState) => void, instruction = 'ds_write_b64 v0, v[2:3]') =>
    run(`v_mov_b32 v4, 1\n${instruction}\nv_mov_b32 v5, 1`, { shape: { ldsWords }, prepare });

  it('the lowest faulting lane is named, no lane acts, the wave stops there', async () => {
    const state = await faulty((s) => {
      setF64(s, 2, ONE);
      s.vgpr(0, 0)[7] = 256;
      s.vgpr(0, 0)[5] = 4;
      s.vgpr(0, 0)[9] = 1;
    });
    expect(state.faults()).toEqual([{ wave: 0, code: FaultCode.ldsMisaligned, pc: 4, lane: 5, address: 4 }]);
    expect(new Set(state.lds(0))).toEqual(new Set([0]));
    expect([state.vgpr(0, 4)[0], state.vgpr(0, 5)[0]]).toEqual([1, 0]);
  });

  it.each([
    ['ds_write_b64 v0, v[2:3]', 248, 0],
    ['ds_write_b64 v0, v[2:3]', 256, FaultCode.ldsOutOfRange],
    ['ds_write_b64 v0, v[2:3]', 252, FaultCode.ldsOutOfRange],
    ['ds_write_b64 v0, v[2:3] offset:8', 248, FaultCode.ldsOutOfRange],
    ['ds_write_b64 v0, v[2:3] offset:8', 0xfffffff8, FaultCode.ldsOutOfRange],
    ['ds_read_b32 v6, v0', 252, 0],
    ['ds_read_b32 v6, v0', 254, FaultCode.ldsOutOfRange],
    ['ds_read_b32 v6, v0', 250, FaultCode.ldsMisaligned],
    ['ds_read_b128 v[4:7], v0', 240, 0],
    ['ds_read_b128 v[4:7], v0', 232, FaultCode.ldsMisaligned],
    ['ds_read_b128 v[4:7], v0', 248, FaultCode.ldsOutOfRange],
    ['ds_min_f64 v0, v[2:3]', 12, FaultCode.ldsMisaligned],
  ])('%s at %i: code %i', async (instruction, address, code) => {
    const state = await faulty((s) => {
      s.vgpr(0, 0)[3] = address;
    }, instruction);
    expect(state.faults().map((fault) => fault.code)).toEqual(code === 0 ? [] : [code]);
  });

  it('inactive lanes do not fault; faults of an earlier run are cleared', async () => {
    const state = await faulty((s) => {
      s.vgpr(0, 0)[3] = 1;
      setExec(s, 1);
      s.setSpecial(0, Special.fault, 2);
      s.setSpecial(0, Special.faultAddress, 99);
    });
    expect(state.faults()).toEqual([]);
    expect(state.special(0, Special.faultAddress)).toBe(0);
  });

  it('other waves go on, and a stopped wave does not hold up a barrier', async () => {
    const text = 'ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v3';
    const state = await run(text, {
      shape: { waves: 4, wavesPerGroup: 2, ldsWords: 4 },
      prepare: (s) => {
        s.vgpr(0, 0)[0] = 2;
        for (const wave of [1, 2, 3]) s.vgpr(wave, 1).fill(wave);
      },
    });
    expect(state.faults().map(({ wave }) => wave)).toEqual([0]);
    expect([0, 1, 2, 3].map((wave) => state.vgpr(wave, 2)[0])).toEqual([0, 1, 3, 3]);
  });

  it('GDS is refused', async () => {
    await expect(run('ds_min_f64 v0, v[2:3] gds', { target: 'gfx906' })).rejects.toThrow(EngineError);
  });
});

describe('workgroups', () => {
  it.each([1, 2, 4])('%i waves share one LDS and go in ascending order between barriers', async (wavesPerGroup) => {
    // Before the barrier each wave leaves its number; the last stays. After it each swaps its own in.
    const text = 'ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v0\nds_write_b32 v0, v1';
    const state = await run(text, {
      shape: { waves: 8, wavesPerGroup },
      prepare: (s) => {
        for (let wave = 0; wave < 8; wave++) s.vgpr(wave, 1).fill(wave + 1);
      },
    });
    const seen = Array.from({ length: 8 }, (_, wave) => state.vgpr(wave, 2)[0]);
    const expected = Array.from({ length: 8 }, (_, wave) => (wave % wavesPerGroup === 0 ? wave + wavesPerGroup : wave));
    expect(seen).toEqual(expected);
  });

  it('gfx12 joins at s_barrier_wait', async () => {
    const text = 'ds_store_b32 v0, v1\ns_barrier_signal -1\ns_barrier_wait -1\nds_load_b32 v2, v0';
    const state = await run(text, {
      target: 'gfx1200',
      shape: { waves: 2, wavesPerGroup: 2 },
      prepare: (s) => s.vgpr(1, 1).fill(5),
    });
    expect([state.vgpr(0, 2)[0], state.vgpr(1, 2)[0]]).toEqual([5, 5]);
  });
});

describe('step budget', () => {
  const text = 'v_mov_b32 v0, 1\nv_mov_b32 v1, 1';
  it.each([0, 1, 2])('%i steps: the fault names the next instruction', async (maxSteps) => {
    const state = await run(text, { options: { maxSteps } });
    expect(state.faults()).toEqual([{ wave: 0, code: FaultCode.stepBudget, pc: 4 * maxSteps, lane: 0, address: 0 }]);
    expect([state.vgpr(0, 0)[0], state.vgpr(0, 1)[0]]).toEqual([maxSteps > 0 ? 1 : 0, maxSteps > 1 ? 1 : 0]);
  });
  it('3 steps, the end included, are enough', async () => {
    expect((await run(text, { options: { maxSteps: 3 } })).faults()).toEqual([]);
  });
});

describe('what cannot run is refused', () => {
  it('waves of another size, or with too few registers', async () => {
    const program = programOf('v_mov_b32 v9, s9', 'gfx1100');
    const small = batchFor(program, { vgprs: 9 });
    const other = batchFor(program, { waveSize: 64 });
    const few = batchFor(program, { sgprs: 9 });
    for (const state of [small, other, few]) await expect(engine.run(program, state)).rejects.toThrow(EngineError);
  });
});

it('leaves the event loop its turns on a long batch', async () => {
  const program = programOf(Array.from({ length: 64 }, () => 'v_rcp_f64 v[0:1], v[2:3]').join('\n'));
  const running = engine.run(program, batchFor(program, { waves: 2048 }));
  let turns = 0;
  let done = false;
  const tick = () => {
    turns++;
    if (!done) setTimeout(tick, 0);
  };
  setTimeout(tick, 0);
  await running;
  done = true;
  expect(turns).toBeGreaterThan(1);
});
