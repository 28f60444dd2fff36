/** Lanes, masks, operands and MODE on the reference engine: the execution rules by which both engines run. */
import { describe, expect, it } from 'vitest';
import { Special } from '../../src/wavefront/layout.ts';
import { batchFor, engine, f64At, ONE, programOf, run, setExec, setF64, TWO, vcc } from './rig.ts';

const fill = 0xdeadbeef;

describe('EXEC', () => {
  it('inactive lanes keep vector destinations and give 0 in masks', async () => {
    const state = await run('v_mov_b32 v0, 7\nv_cmp_eq_f64 vcc, v[2:3], v[2:3]\nv_cmp_u_f64 s[4:5], v[2:3], v[2:3]', {
      prepare: (s) => {
        s.vgpr(0, 0).fill(fill);
        s.setSpecial(0, Special.vccLo, 0xffffffff);
        s.setSpecial(0, Special.vccHi, 0xffffffff);
        s.setScalar(0, 4, 0xffffffff);
        setExec(s, 0x5, 0x80000000);
      },
    });
    const active = [0, 2, 63];
    expect([...state.vgpr(0, 0)]).toEqual(Array.from({ length: 64 }, (_, i) => (active.includes(i) ? 7 : fill)));
    expect(vcc(state)).toBe('8000000000000005');
    expect([state.scalar(0, 4), state.scalar(0, 5)]).toEqual([0, 0]);
  });

  it('EXEC = 0: vectors untouched, masks all zero, scalar instructions act', async () => {
    const text =
      'v_mov_b32 v0, 7\nv_div_scale_f64 v[2:3], vcc, v[4:5], v[4:5], v[6:7]\nds_write_b32 v0, v1\ns_mov_b32 s0, 5\ns_and_b64 s[2:3], -1, 3';
    const state = await run(text, {
      prepare: (s) => {
        for (let r = 0; r < 8; r++) s.vgpr(0, r).fill(fill);
        s.setSpecial(0, Special.vccLo, 0xffffffff);
        setExec(s, 0);
      },
    });
    for (let r = 0; r < 8; r++) expect(new Set(state.vgpr(0, r))).toEqual(new Set([fill]));
    expect(vcc(state)).toBe('0000000000000000');
    expect([state.scalar(0, 0), state.scalar(0, 2), state.scalar(0, 3)]).toEqual([5, 3, 0]);
    expect(state.special(0, Special.scc)).toBe(1);
    expect(state.faults()).toEqual([]);
  });

  it('a write to EXEC, scalar or by a compare, holds from the next instruction on', async () => {
    const byScalar = await run('s_mov_b64 exec, 6\nv_mov_b32 v0, 1');
    expect([...byScalar.vgpr(0, 0)].flatMap((x, i) => (x ? [i] : []))).toEqual([1, 2]);
    const byWord = await run('s_mov_b32 exec_hi, 0\nv_mov_b32 v0, 1');
    expect([...byWord.vgpr(0, 0)].reduce((a, b) => a + b)).toBe(32);
    const byCompare = await run('v_cmp_gt_f64_e64 exec, v[2:3], 0\nv_mov_b32 v0, 1', {
      prepare: (s) => {
        s.vgpr(0, 3)[9] = 0x3ff00000;
      },
    });
    expect([...byCompare.vgpr(0, 0)].flatMap((x, i) => (x ? [i] : []))).toEqual([9]);
  });
});

it('a mask of one wave leaves nothing to the next', async () => {
  const state = await run('v_cmp_eq_f64 vcc, v[0:1], v[0:1]', {
    shape: { waves: 2 },
    prepare: (s) => setExec(s, 1, 0, 1),
  });
  expect([vcc(state, 0), vcc(state, 1)]).toEqual(['ffffffffffffffff', '0000000000000001']);
});

describe('wave32', () => {
  it('masks are one SGPR; VCC_HI and the register after it stay', async () => {
    const state = await run(
      'v_cmp_eq_f64 vcc_lo, v[0:1], v[0:1]\nv_cmp_eq_f64 s4, v[0:1], v[0:1]\nv_cndmask_b32 v2, 1, v3, s4\nv_div_scale_f64 v[4:5], null, v[0:1], v[0:1], v[0:1]',
      {
        target: 'gfx1100',
        prepare: (s) => {
          setExec(s, 0xffff0001);
          s.setScalar(0, 5, fill);
          s.setSpecial(0, Special.vccHi, fill);
          s.vgpr(0, 3).fill(9);
        },
      },
    );
    expect(state.layout.shape.waveSize).toBe(32);
    expect([state.special(0, Special.vccLo), state.special(0, Special.vccHi)]).toEqual([0xffff0001, fill]);
    expect([state.scalar(0, 4), state.scalar(0, 5)]).toEqual([0xffff0001, fill]);
    expect([state.vgpr(0, 2)[0], state.vgpr(0, 2)[1]]).toEqual([9, 0]);
  });
});

describe('operands', () => {
  it('constants: floats by width, integers as bits, literals as the high word of an f64', async () => {
    const state = await run(
      [
        'v_mov_b32 v0, 1.0',
        'v_mov_b32 v1, -16',
        'v_add_f64 v[2:3], 0.15915494309189532, 0',
        'v_max_f64 v[4:5], 5, 5',
        'v_mov_b32 v6, 0x12345678',
      ].join('\n'),
    );
    expect([0, 1, 6].map((r) => state.vgpr(0, r)[63])).toEqual([0x3f800000, 0xfffffff0, 0x12345678]);
    expect(f64At(state, 2)).toBe('3fc45f306dc9c882');
    expect(f64At(state, 4)).toBe('0000000000000005');
    const literal = await run('v_add_f64 v[0:1], 0x40080000, 0', { target: 'gfx1030', waveSize: 64 });
    expect(f64At(literal, 0)).toBe('4008000000000000');
  });

  it('scalar pairs feed every lane, with modifiers', async () => {
    const state = await run('v_fma_f64 v[0:1], -|s[2:3]|, 1.0, v[2:3]', {
      prepare: (s) => {
        s.setScalar(0, 3, 0xc0000000);
        setF64(s, 2, ONE);
      },
    });
    expect([f64At(state, 0, 0), f64At(state, 0, 63)]).toEqual(['bff0000000000000', 'bff0000000000000']);
  });

  it('ABS, then NEG, on the sign bit alone, on NaN too, before the flush', async () => {
    const state = await run('v_cndmask_b32_e64 v0, -|v1|, v1, s[2:3]\nv_cndmask_b32_e64 v2, v1, -v1, s[4:5]', {
      prepare: (s) => {
        s.vgpr(0, 1).fill(0xff800001);
        s.setScalar(0, 4, 1);
      },
    });
    expect([state.vgpr(0, 0)[0], state.vgpr(0, 2)[0], state.vgpr(0, 2)[1]]).toEqual([
      0xff800001, 0x7f800001, 0xff800001,
    ]);
  });

  it('all sources of a lane are read before its destination is written', async () => {
    const state = await run('v_add_f64 v[1:2], v[0:1], v[2:3]', {
      target: 'gfx906',
      prepare: (s) => {
        // v[0:1] = 1.0, v[2:3] = 2.0
        setF64(s, 0, ONE);
        setF64(s, 2, TWO);
      },
    });
    expect(f64At(state, 1)).toBe('4008000000000000');
  });

  it('an updated destination is the last source: v_fmac_f64', async () => {
    const state = await run('v_fmac_f64 v[0:1], v[2:3], v[2:3]', {
      prepare: (s) => {
        setF64(s, 0, ONE);
        setF64(s, 2, TWO);
      },
    });
    expect(f64At(state, 0)).toBe('4014000000000000');
  });

  it('null: writes are dropped, reads give 0', async () => {
    const state = await run('s_mov_b64 null, -1\ns_mov_b64 s[2:3], null\nv_mov_b32 v0, null\ns_or_b32 null, s6, 1', {
      target: 'gfx1100',
      waveSize: 64,
      prepare: (s) => {
        s.setScalar(0, 2, fill);
        s.setScalar(0, 3, fill);
        s.vgpr(0, 0).fill(fill);
      },
    });
    expect([state.scalar(0, 2), state.scalar(0, 3), state.vgpr(0, 0)[0]]).toEqual([0, 0, 0]);
    expect([state.special(0, Special.execLo), state.special(0, Special.scc)]).toEqual([0xffffffff, 1]);
  });
});

describe('MODE', () => {
  const third = 'v_fma_f64 v[0:1], v[2:3], v[4:5], 0';
  const prepare = (s: Parameters<typeof setF64>[0]) => {
    setF64(s, 2, '3ff0000000000001');
    setF64(s, 4, '3ff0000000000001');
  };

  it('s_setreg writes its field and the next instruction obeys; s_getreg reads it', async () => {
    const text = `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1\n${third}\ns_getreg_b32 s0, hwreg(HW_REG_MODE)\ns_getreg_b32 s1, hwreg(HW_REG_MODE, 2, 6)`;
    const state = await run(text, { prepare });
    expect(f64At(state, 0)).toBe('3ff0000000000003');
    expect([state.scalar(0, 0), state.scalar(0, 1), state.special(0, Special.mode)]).toEqual([0x3f4, 0x3d, 0x3f4]);
  });

  it('s_setreg_b32 takes the low bits of an SGPR', async () => {
    const state = await run('s_mov_b32 s0, 0x12345670\ns_setreg_b32 hwreg(HW_REG_MODE, 4, 8), s0');
    expect(state.special(0, Special.mode)).toBe(0x700);
  });

  it('s_round_mode and s_denorm_mode set bits 3:0 and 7:4', async () => {
    const state = await run('s_round_mode 0xff4\ns_denorm_mode 3', { target: 'gfx1030' });
    expect(state.special(0, Special.mode)).toBe(0x334);
  });

  it('gfx12 has no IEEE bit: a signalling NaN is quieted with MODE 0, and MODE itself stays', async () => {
    const quieting = async (target: string) => {
      const state = await run('v_add_f64 v[0:1], v[2:3], 0', {
        target,
        waveSize: 64,
        prepare: (s) => {
          s.setSpecial(0, Special.mode, 0);
          setF64(s, 2, '7ff0000000000001');
        },
      });
      expect(state.special(0, Special.mode)).toBe(0);
      return f64At(state, 0);
    };
    expect(await quieting('gfx1100')).toBe('7ff0000000000001');
    expect(await quieting('gfx1200')).toBe('7ff8000000000001');
  });

  it('other hardware registers are refused', async () => {
    await expect(run('s_getreg_b32 s0, hwreg(HW_REG_STATUS)')).rejects.toThrow(/only MODE/);
  });
});

describe('output modifiers', () => {
  const text = 'v_add_f64 v[0:1], v[2:3], 0 mul:2\nv_add_f64 v[4:5], v[2:3], 0 clamp';
  it.each([
    ['gfx90a', 0x3f0, TWO, ONE],
    ['gfx90a', 0x1f0, TWO, ONE],
    ['gfx90a', 0x130, '4010000000000000', ONE],
    ['gfx1200', 0x3f0, '4010000000000000', ONE],
  ])('on %s with MODE %i', async (target, mode, doubled, clamped) => {
    const state = await run(text, {
      target,
      waveSize: 64,
      prepare: (s) => {
        s.setSpecial(0, Special.mode, mode);
        setF64(s, 2, TWO);
        setExec(s, 1);
      },
    });
    expect([f64At(state, 0), f64At(state, 4), f64At(state, 4, 1)]).toEqual([doubled, clamped, '0000000000000000']);
  });

  it('OMOD comes before CLAMP', async () => {
    const state = await run('v_add_f64 v[0:1], v[2:3], 0 clamp div:2', {
      target: 'gfx1200',
      prepare: (s) => setF64(s, 2, '3ff8000000000000'),
    });
    expect(f64At(state, 0)).toBe('3fe8000000000000');
  });
});

describe('scalar instructions', () => {
  it.each([
    ['and', '0000f0f00ff00ff0', '0f0f0f0f00ff00ff', '0000000000f000f0', 1],
    ['or', '0000f0f00ff00ff0', '0f0f0f0f00ff00ff', '0f0fffff0fff0fff', 1],
    ['xor', '0000f0f00ff00ff0', '0000f0f00ff00ff0', '0000000000000000', 0],
    ['andn2', '80000000ffffffff', '00000000ffffffff', '8000000000000000', 1],
  ])('s_%s_b64 and b32, with SCC of the whole result', async (op, a, b, expected, scc) => {
    const word = (hex: string, i: number) => Number(`0x${hex.slice(8 - 8 * i, 16 - 8 * i)}`);
    const prepare = (s: Parameters<typeof setF64>[0]) => {
      for (const i of [0, 1]) {
        s.setScalar(0, i, word(a, i));
        s.setScalar(0, 2 + i, word(b, i));
      }
    };
    const wide = await run(`s_${op}_b64 s[4:5], s[0:1], s[2:3]`, { prepare });
    expect([wide.scalar(0, 4), wide.scalar(0, 5), wide.special(0, Special.scc)]).toEqual([
      word(expected, 0),
      word(expected, 1),
      scc,
    ]);
    const narrow = await run(`s_${op}_b32 s4, s0, s2`, { prepare });
    expect([narrow.scalar(0, 4), narrow.special(0, Special.scc)]).toEqual([
      word(expected, 0),
      word(expected, 0) === 0 ? 0 : 1,
    ]);
  });

  it('moves leave SCC alone', async () => {
    const state = await run('s_or_b32 s0, 1, 1\ns_mov_b32 s1, 0\ns_mov_b64 s[2:3], 0');
    expect(state.special(0, Special.scc)).toBe(1);
  });
});

it('the batch that is given stays as it was', async () => {
  const program = programOf('v_mov_b32 v0, 1\ns_mov_b32 s0, 1');
  const state = batchFor(program);
  const before = state.words.slice();
  const { state: after } = await engine.run(program, state);
  expect(state.words).toEqual(before);
  expect(after.words).not.toEqual(before);
});
