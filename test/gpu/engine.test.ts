/** The WebGPU engine on the adapter there is: lanes, masks, MODE, faults. Expected values follow from the rule each test names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { Scalar, type WaveSize } from '../../src/wavefront/registers.ts';
import { FaultCode, type WaveState } from '../../src/wavefront/state.ts';
import { batchFor, lanesOf, openEngine, programOf } from './engineRig.ts';

let engine: WebGpuEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const SIZES: readonly (readonly [WaveSize, string])[] = [
  [64, 'gfx90a'],
  [32, 'gfx1100'],
];

const setExec = (state: WaveState, wave: number, low: number, high = 0) => {
  state.setSpecial(wave, Special.execLo, low);
  state.setSpecial(wave, Special.execHi, high);
};

const bit = (low: number, high: number, lane: number) => ((lane < 32 ? low : high) >>> (lane & 31)) & 1;

/** Every word of the state but the faults' and those `changed` says. */
const differences = (a: WaveState, b: WaveState): number[] =>
  [...a.words.keys()].filter((i) => a.words[i] !== b.words[i]);

describe.each(SIZES)('wave%i on %s', (size, target) => {
  it('leaves VGPRs of lanes alone whose EXEC bit is 0, and every register that is not written', async () => {
    const program = programOf('v_mov_b32 v1, v0\nv_mov_b32 v3, 0x12345678', target, size);
    const state = batchFor(program, { waves: 3, vgprs: 5, sgprs: 8 });
    const [low, high] = [0x80000005, size === 64 ? 0x0ff00001 : 0];
    state.words.fill(0xdeadbeef, state.layout.vgprs, state.layout.lds);
    for (let wave = 0; wave < 3; wave++) {
      setExec(state, wave, low, high);
      for (const lane of lanesOf(size)) state.vgpr(wave, 0)[lane] = wave * 1000 + lane;
    }
    const expected = state.clone();
    for (let wave = 0; wave < 3; wave++)
      for (const lane of lanesOf(size))
        if (bit(low, high, lane)) {
          expected.vgpr(wave, 1)[lane] = wave * 1000 + lane;
          expected.vgpr(wave, 3)[lane] = 0x12345678;
        }
    const before = state.words.slice();
    const result = (await engine.run(program, state)).state;
    expect(differences(result, expected)).toEqual([]);
    expect(state.words).toEqual(before);
  });

  it('writes 0 into a compare mask for inactive lanes, also where it had ones', async () => {
    const vcc = size === 64 ? 'vcc' : 'vcc_lo';
    const program = programOf(`v_cmp_lt_f64 ${vcc}, v[0:1], v[2:3]`, target, size);
    const state = batchFor(program);
    const one = 0x3ff00000;
    for (const lane of lanesOf(size)) {
      state.vgpr(0, 1)[lane] = lane % 3 === 0 ? one : 0;
      state.vgpr(0, 3)[lane] = 0x3fe00000;
    }
    setExec(state, 0, 0x0000ffff, size === 64 ? 0xffff0000 : 0);
    state.setSpecial(0, Special.vccLo, 0xffffffff);
    if (size === 64) state.setSpecial(0, Special.vccHi, 0xffffffff);
    const result = (await engine.run(program, state)).state;
    const [low, high] = [result.special(0, Special.vccLo), result.special(0, Special.vccHi)];
    for (const lane of lanesOf(size)) {
      const active = size === 64 ? lane < 16 || lane >= 48 : lane < 16;
      expect([lane, bit(low, high, lane)]).toEqual([lane, active && lane % 3 !== 0 ? 1 : 0]);
    }
    if (size === 32) expect(high).toBe(0);
  });

  it('gives a mask to v_cndmask lane by lane, and to scalar operations and SCC as words', async () => {
    const [vcc, mask, other, width, exec] =
      size === 64 ? ['vcc', 's[4:5]', 's[6:7]', 'b64', 'exec'] : ['vcc_lo', 's4', 's6', 'b32', 'exec_lo'];
    const program = programOf(
      `v_cmp_lt_f64 ${mask}, v[0:1], v[2:3]
       v_cndmask_b32 v4, v5, v6, ${mask}
       s_and_${width} ${other}, ${mask}, ${vcc}
       s_xor_${width} ${vcc}, ${other}, ${exec}
       v_mov_b32 v7, s4
       v_mov_b32 v8, ${size === 64 ? 's7' : 's6'}`,
      target,
      size,
    );
    const state = batchFor(program, { waves: 2, sgprs: 9 });
    const expected = state.clone();
    for (const wave of [0, 1]) {
      const [vccLow, vccHigh] = wave === 0 ? [0x55555555, 0x33333333] : [0, 0];
      const [less, both] = [[0, 0] as [number, number], [0, 0] as [number, number]];
      for (const lane of lanesOf(size)) {
        const isLess = (lane * 7 + wave) % 5 < 2;
        for (const s of [state, expected]) {
          s.vgpr(wave, 1)[lane] = isLess ? 0x3ff00000 : 0x40100000;
          s.vgpr(wave, 3)[lane] = 0x40000000;
          s.vgpr(wave, 5)[lane] = lane;
          s.vgpr(wave, 6)[lane] = 0x1000 + lane;
        }
        if (isLess) less[lane >> 5]! |= 1 << (lane & 31);
        expected.vgpr(wave, 4)[lane] = isLess ? 0x1000 + lane : lane;
      }
      both[0] = less[0] & vccLow;
      both[1] = size === 64 ? less[1] & vccHigh : 0;
      for (const s of [state, expected]) {
        s.setSpecial(wave, Special.vccLo, vccLow);
        s.setSpecial(wave, Special.vccHi, vccHigh);
      }
      expected.setScalar(wave, 4, less[0]);
      expected.setScalar(wave, 6, both[0]);
      expected.setSpecial(wave, Special.vccLo, ~both[0]);
      if (size === 64) {
        expected.setScalar(wave, 5, less[1]);
        expected.setScalar(wave, 7, both[1]);
        expected.setSpecial(wave, Special.vccHi, ~both[1]);
      }
      // s_xor is the last to set SCC: its result is not zero in either wave.
      expected.setSpecial(wave, Special.scc, 1);
      expected.vgpr(wave, 7).fill(less[0]);
      expected.vgpr(wave, 8).fill(size === 64 ? both[1] : both[0]);
    }
    const result = (await engine.run(program, state)).state;
    expect(differences(result, expected)).toEqual([]);
  });

  it('takes a constant beside a mask as one of its width, a float too', async () => {
    const [vcc, width] = size === 64 ? ['vcc', 'b64'] : ['vcc_lo', 'b32'];
    const program = programOf(
      `v_cmp_eq_f64 ${vcc}, v[0:1], v[0:1]
       s_and_${width} ${size === 64 ? 's[0:1]' : 's0'}, ${vcc}, 1.0
       s_xor_${width} ${vcc}, -16, ${vcc}`,
      target,
      size,
    );
    const result = (await engine.run(program, batchFor(program, { sgprs: 2 }))).state;
    expect([result.scalar(0, 0), result.scalar(0, 1)]).toEqual(size === 64 ? [0, 0x3ff00000] : [0x3f800000, 0]);
    expect([result.special(0, Special.vccLo), result.special(0, Special.vccHi)]).toEqual([15, 0]);
  });

  it('takes SCC = 0 from a mask that no lane has, SCC = 1 from one that one lane has', async () => {
    const [vcc, width] = size === 64 ? ['vcc', 'b64'] : ['vcc_lo', 'b32'];
    const program = programOf(`v_cmp_eq_f64 ${vcc}, v[0:1], v[2:3]\ns_and_${width} ${vcc}, ${vcc}, -1`, target, size);
    const state = batchFor(program, { waves: 2 });
    for (const wave of [0, 1]) state.vgpr(wave, 0).fill(1);
    state.vgpr(1, 0)[size - 1] = 0;
    state.setSpecial(0, Special.scc, 1);
    const result = (await engine.run(program, state)).state;
    expect([0, 1].map((wave) => result.special(wave, Special.scc))).toEqual([0, 1]);
    expect(result.special(1, size === 64 ? Special.vccHi : Special.vccLo)).toBe(0x80000000);
  });

  it('joins the lanes where EXEC changes between instructions, by words or by a mask', async () => {
    const [exec, vcc, width, save] =
      size === 64 ? ['exec', 'vcc', 'b64', 's[2:3]'] : ['exec_lo', 'vcc_lo', 'b32', 's2'];
    const program = programOf(
      `v_mov_b32 v0, 1
       s_mov_${width} ${save}, ${exec}
       s_mov_b32 exec_lo, 0x0000000f
       v_mov_b32 v0, 2
       s_mov_${width} ${exec}, ${save}
       v_cmp_gt_f64 ${vcc}, v[2:3], 0
       s_and_${width} ${exec}, ${exec}, ${vcc}
       v_mov_b32 v0, 3
       v_mov_b32 v1, v0
       s_mov_${width} ${exec}, -1
       v_mov_b32 v4, v0`,
      target,
      size,
    );
    const state = batchFor(program);
    state.words.fill(77, state.layout.vgprs, state.layout.lds);
    const start = [0x00ff00ff, size === 64 ? 0xff : 0] as const;
    setExec(state, 0, ...start);
    for (const lane of lanesOf(size)) state.vgpr(0, 3)[lane] = lane % 2 === 0 ? 0x3ff00000 : 0xbff00000;
    const result = (await engine.run(program, state)).state;
    for (const lane of lanesOf(size)) {
      const began = bit(...start, lane) === 1;
      // With exec_lo replaced, exec_hi is as it was.
      const second = lane < 4 || (lane >= 32 && began);
      const third = began && lane % 2 === 0;
      const v0 = third ? 3 : second ? 2 : began ? 1 : 77;
      expect([lane, result.vgpr(0, 0)[lane], result.vgpr(0, 1)[lane], result.vgpr(0, 4)[lane]]).toEqual([
        lane,
        v0,
        third ? 3 : 77,
        v0,
      ]);
    }
    expect(result.special(0, Special.execLo)).toBe(0xffffffff);
  });

  it('does nothing to vectors under EXEC = 0, and still the scalar instructions', async () => {
    const program = programOf('v_mov_b32 v0, 5\ns_mov_b32 s0, 7\nv_mov_b32 v0, s0', target, size);
    const state = batchFor(program);
    setExec(state, 0, 0);
    const expected = state.clone();
    expected.setScalar(0, 0, 7);
    const result = (await engine.run(program, state)).state;
    expect(differences(result, expected)).toEqual([]);
  });
});

describe('MODE', () => {
  const third = 'v_mul_f64 v[0:1], v[2:3], v[4:5]';
  /** (1 + 2^-52) * (1 + 2^-52) = 1 + 2^-51 + 2^-104: up rounds away. */
  const operands = (state: WaveState) => {
    for (let wave = 0; wave < state.layout.shape.waves; wave++)
      for (const register of [2, 4]) {
        state.vgpr(wave, register).fill(1);
        state.vgpr(wave, register + 1).fill(0x3ff00000);
      }
  };

  it('may differ from wave to wave', async () => {
    const program = programOf(third);
    const state = batchFor(program, { waves: 4 });
    operands(state);
    for (let wave = 0; wave < 4; wave++) state.setSpecial(wave, Special.mode, 0x3f0 | (wave << 2));
    const result = (await engine.run(program, state)).state;
    expect([0, 1, 2, 3].map((wave) => result.vgpr(wave, 0)[9])).toEqual([2, 3, 2, 2]);
  });

  it('changes in the middle of a program, by a constant and by a register, and stays changed', async () => {
    const program = programOf(
      `s_round_mode 0x4
       ${third}
       s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s0
       v_mul_f64 v[6:7], v[2:3], v[4:5]
       s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1
       v_mul_f64 v[8:9], v[2:3], v[4:5]
       s_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 8)`,
      'gfx1030',
      64,
    );
    for (const specialize of [true, false]) {
      const other = specialize ? engine : await openEngine({ specialize, maxKernelCost: 1 });
      const state = batchFor(program);
      operands(state);
      state.setScalar(0, 0, 3);
      const result = (await other.run(program, state)).state;
      expect([0, 6, 8].map((v) => result.vgpr(0, v)[63])).toEqual([3, 2, 3]);
      expect(result.scalar(0, 1)).toBe(0xf4);
      expect(result.special(0, Special.mode)).toBe(0x3f4);
      if (other !== engine) await other.close();
    }
  });
});

describe('output modifiers', () => {
  it('OMOD acts with IEEE = 0 and flushed results, is ignored else, and acts always on gfx12; CLAMP comes after it', async () => {
    const text = 'v_add_f64 v[0:1], v[2:3], v[4:5] mul:2\nv_add_f64 v[6:7], v[2:3], v[4:5] mul:4 clamp';
    const sum = async (target: string, mode: number) => {
      const program = programOf(text, target, 64);
      const state = batchFor(program);
      state.vgpr(0, 3).fill(0x3fc00000);
      state.setSpecial(0, Special.mode, mode);
      const result = (await engine.run(program, state)).state;
      return [result.vgpr(0, 1)[1], result.vgpr(0, 7)[1]];
    };
    // 0.125, doubled and quadrupled.
    expect(await sum('gfx90a', 0x170)).toEqual([0x3fd00000, 0x3fe00000]);
    expect(await sum('gfx90a', 0x1f0)).toEqual([0x3fc00000, 0x3fc00000]);
    expect(await sum('gfx90a', 0x370)).toEqual([0x3fc00000, 0x3fc00000]);
    expect(await sum('gfx1200', 0x0f0)).toEqual([0x3fd00000, 0x3fe00000]);
  });
});

describe('batches', () => {
  it('are cut to fit the device, and joined again', async () => {
    const program = programOf('v_mov_b32 v1, v0\nds_write_b32 v2, v0');
    const state = batchFor(program, { waves: 22, wavesPerGroup: 2, ldsWords: 5 });
    const small = await openEngine({ maxBatchBytes: 8 << 10 });
    for (let wave = 0; wave < 22; wave++) for (const lane of lanesOf(64)) state.vgpr(wave, 0)[lane] = wave * 64 + lane;
    const [whole, parts] = [await engine.run(program, state), await small.run(program, state)];
    expect(differences(whole.state, parts.state)).toEqual([]);
    expect(whole.state.vgpr(21, 1)[63]).toBe(21 * 64 + 63);
    // Of all lanes that write word 0 the last one of the second wave is the last.
    expect(Array.from({ length: 11 }, (_, group) => whole.state.lds(group)[0])).toEqual(
      Array.from({ length: 11 }, (_, group) => group * 128 + 127),
    );
    await small.close();
  });

  it('may be empty, and programs too', async () => {
    const program = programOf('v_mov_b32 v1, v0');
    const none = batchFor(program, { waves: 0 });
    expect((await engine.run(program, none)).state.words.length).toBe(0);
    const state = batchFor(program);
    expect(differences((await engine.run(programOf(''), state)).state, state)).toEqual([]);
  });

  it('refuses a wave that lacks a register of the program, and one of another size', async () => {
    const program = programOf('v_mov_b32 v7, s9');
    await expect(engine.run(program, batchFor(program, { vgprs: 4 }))).rejects.toThrow('names 8 VGPRs and 10 SGPRs');
    await expect(engine.run(program, batchFor(program, { waveSize: 32 }))).rejects.toThrow('the waves are wave32');
  });

  it('refuses hardware registers other than MODE, and GDS', async () => {
    for (const [text, target, what] of [
      ['s_getreg_b32 s0, hwreg(HW_REG_HW_ID)', 'gfx90a', 'only MODE'],
      ['ds_read_b32 v0, v1 gds', 'gfx1030', 'no GDS'],
    ] as const) {
      const program = programOf(text, target, 64);
      await expect(engine.run(program, batchFor(program))).rejects.toThrow(what);
    }
  });
});

describe('the step budget', () => {
  it('stops a wave before the instruction that is one too many, with what came before done', async () => {
    const program = programOf('v_mov_b32 v0, 1\nv_mov_b32 v0, 2\nv_mov_b32 v0, 3');
    const run = async (maxSteps: number) => (await engine.run(program, batchFor(program), { maxSteps })).state;
    expect((await run(4)).faults()).toEqual([]);
    const stopped = await run(2);
    const pc = program.instructions[2]!.pc;
    expect(stopped.faults()).toEqual([{ wave: 0, code: FaultCode.stepBudget, pc, lane: 0, address: 0 }]);
    expect(stopped.vgpr(0, 0)[5]).toBe(2);
    expect((await run(0)).vgpr(0, 0)[5]).toBe(0);
    expect((await run(0)).faults()[0]!.pc).toBe(0);
  });
});

describe('scalars', () => {
  it('keep the other half of a mask when one half is overwritten, and the SCC of the last instruction', async () => {
    const program = programOf(
      `v_cmp_eq_f64 vcc, v[0:1], v[0:1]
       s_and_b64 s[0:1], vcc, -1
       s_mov_b32 vcc_lo, 5
       s_and_b32 s2, s3, s3
       v_cmp_lt_f64 s[4:5], v[0:1], v[0:1]
       s_mov_b32 s5, 7`,
    );
    const result = (await engine.run(program, batchFor(program))).state;
    const words = [Special.vccLo, Special.vccHi, Special.scc].map((word) => result.special(0, word));
    expect(words).toEqual([5, 0xffffffff, 0]);
    expect([0, 1, 4, 5].map((code) => result.scalar(0, code))).toEqual([0xffffffff, 0xffffffff, 0, 7]);
  });

  it('null and constants as sources, a write to null dropped, exec and m0 read and written', async () => {
    const program = programOf(
      's_mov_b64 s[2:3], exec\ns_mov_b32 m0, 0x1234\ns_or_b32 null, m0, 1\ns_mov_b32 s4, null\ns_and_b32 s5, m0, 0xff',
      'gfx1030',
      64,
    );
    const state = batchFor(program);
    setExec(state, 0, 0x12345678, 0x9abcdef0);
    state.setScalar(0, 4, 9);
    const result = (await engine.run(program, state)).state;
    const read = [2, 3, 4, 5, Scalar.m0].map((code) => result.scalar(0, code));
    expect(read).toEqual([0x12345678, 0x9abcdef0, 0, 0x34, 0x1234]);
    expect(result.special(0, Special.scc)).toBe(1);
  });
});

describe('more workgroups than one dimension holds', () => {
  it('all run, and none twice', async () => {
    const waves = 65537;
    const program = programOf('v_add_f64 v[0:1], v[0:1], 1.0', 'gfx1100', 32);
    const state = batchFor(program, { waves });
    const result = (await engine.run(program, state)).state;
    const wrong = Array.from({ length: waves }, (_, wave) => wave).filter(
      (wave) => result.vgpr(wave, 1)[31] !== 0x3ff00000,
    );
    expect(wrong).toEqual([]);
  });
});
