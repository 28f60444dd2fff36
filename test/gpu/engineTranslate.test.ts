/** What the translator writes: how few barriers, where it cuts, in which order waves are dispatched. */
import { describe, expect, it } from 'vitest';
import { functionCosts, inlinedOperations, linkKernel } from '../../src/gpu/cost.ts';
import { functionsOf } from '../../src/gpu/translate.instruction.ts';
import { dispatchesOf, executed, type Plan, translate } from '../../src/gpu/translate.ts';
import type { Program } from '../../src/program/program.ts';
import { Layout, type Shape } from '../../src/wavefront/layout.ts';
import { batchFor, programOf } from './engineRig.ts';

const variantOf = (program: Program) => ({ target: program.target, profile: 'hardware' }) as const;

async function costsOf(program: Program) {
  const variant = variantOf(program);
  return functionCosts(executed(program, variant).flatMap((instruction) => functionsOf(instruction, variant)));
}

async function planOf(program: Program, maxKernelCost = 1e9, shape: Partial<Shape> = {}): Promise<Plan> {
  const costs = await costsOf(program);
  const { layout } = batchFor(program, shape);
  return translate(program, layout, variantOf(program), { mode: 0x3f0, maxSteps: 1e6, costs, maxKernelCost });
}

const barriers = (kernel: string) => kernel.match(/Barrier\(\)/g)?.length ?? 0;

const macro = programOf(`
  v_div_scale_f64 v[4:5], s[4:5], v[2:3], v[2:3], v[0:1]
  v_rcp_f64_e32 v[6:7], v[4:5]
  v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
  v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
  v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
  v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
  v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]
  v_mul_f64 v[10:11], v[8:9], v[6:7]
  v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]
  v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]
  v_div_fixup_f64 v[0:1], v[4:5], v[2:3], v[0:1]`);

describe('a kernel', () => {
  it('of the division macro has no barrier, reads only its operands and stores each register once', async () => {
    const { kernels } = await planOf(macro);
    expect(kernels.length).toBe(1);
    const text = kernels[0]!;
    expect(barriers(text)).toBe(0);
    expect(text.match(/= vgprs\[/g)?.length).toBe(4);
    expect(text.match(/vgprs\[wave\]\[[^\]]*\] = /g)?.length).toBe(10);
    expect(text.match(/ store_bit\(/g)?.length).toBe(2 + 1);
  });

  it('keeps masks a bit a lane through scalar operations; SCC of a mask costs the one barrier of its ballot', async () => {
    const compare = 'v_cmp_lt_f64 vcc, v[0:1], v[2:3]\nv_cmp_eq_f64 s[0:1], v[0:1], v[2:3]\n';
    const copied = await planOf(programOf(`${compare}s_mov_b64 s[2:3], vcc\nv_cndmask_b32 v0, v1, v2, s[2:3]`));
    expect(barriers(copied.kernels[0]!)).toBe(0);
    const counted = await planOf(programOf(`${compare}s_and_b64 s[2:3], vcc, s[0:1]\ns_or_b64 s[2:3], vcc, s[0:1]`));
    // One lays out empty ballots, one takes the ballot of the last SCC; the first SCC is never asked for.
    expect(barriers(counted.kernels[0]!)).toBe(2);
  });

  it('waits before lane 0 overwrites scalars that others may still read, and only then', async () => {
    const other = await planOf(programOf('v_mov_b32 v0, s0\ns_mov_b32 s1, 5'));
    const same = await planOf(programOf('v_mov_b32 v0, s0\ns_mov_b32 s0, 5'));
    const exec = await planOf(programOf('v_mov_b32 v0, v1\ns_mov_b64 exec, 0'));
    expect([other, same, exec].map(({ kernels }) => barriers(kernels[0]!))).toEqual([0, 1, 1]);
  });

  it('has MODE as a constant as long as constants set it, also after a cut', async () => {
    const mul = 'v_mul_f64 v[0:1], v[2:3], v[4:5]\n';
    const program = (set: string) => programOf(`${mul}${set}\n${mul}${mul}`, 'gfx1030', 64);
    // The special word 6 of a wave without SGPRs.
    const readsMode = (kernel: string) => / = atomicLoad\(&scalars\[scalar_base \+ [67]u\]\)/.test(kernel);
    const known = await planOf(program('s_round_mode 0x4'), 1);
    expect(known.kernels.map(readsMode)).toEqual([false, false, false, false]);
    expect(known.kernels[3]).toContain('s_round_mode(0x4u, 0x3f0u)');
    const unknown = await planOf(program('s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0'), 1);
    expect(unknown.kernels.map(readsMode)).toEqual([false, false, true, true]);
  });
});

describe('cutting', () => {
  it('counts the operations of a function with those it calls, wherever they stand', () => {
    const module =
      'fn a(x: u32) -> u32 {\n  return x + 1u;\n}\n\nfn b(x: u32) -> u32 {\n  return a(x) * a(x) - 2u;\n}\n';
    expect(inlinedOperations(module)).toEqual(
      new Map([
        ['a', 1],
        ['b', 4],
      ]),
    );
  });

  it('keeps kernels under the cap and their order, and leaves a dearer instruction by itself', async () => {
    const costs = await costsOf(macro);
    const fma = costs.get('v_fma_f64')!;
    expect(fma).toBeGreaterThan(150);
    for (const cap of [0, fma, 3 * fma]) {
      const { kernels, stages } = await planOf(macro, cap);
      expect(stages.flatMap((stage) => stage.kernels)).toEqual(kernels.map((_, i) => i));
      for (const kernel of kernels) {
        const calls = [...kernel.matchAll(/= (v_\w+)\(/g)].map((match) => costs.get(match[1]!)!);
        expect(calls.length === 1 || calls.reduce((a, b) => a + b, 0) <= cap).toBe(true);
      }
      if (cap === 0) expect(kernels.length).toBe(11);
    }
  });

  it('gives modules that link, and no function that is not called', async () => {
    const { kernels } = await planOf(programOf('v_mul_f64 v[0:1], v[2:3], v[4:5]'));
    const wgsl = await linkKernel(kernels[0]!);
    expect(wgsl).toContain('fn f64_mul(');
    expect(wgsl).not.toContain('fn f64_add(');
  });
});

describe('dispatches', () => {
  it('have a workgroup for each wave and no more, 65,535 at a time', async () => {
    const program = programOf('v_mov_b32 v1, v0\nds_write_b32 v0, v1\ns_barrier\nds_read_b32 v1, v0');
    const rangesOf = async (shape: Partial<Shape>) => {
      const { layout } = batchFor(program, { ...shape, waves: 2 });
      const large = new Layout({ ...layout.shape, waves: 140_000 });
      const dispatches = dispatchesOf(await planOf(program, 1e9, { ...shape, waves: 2 }), large);
      return dispatches.filter(({ kernel }) => kernel === 0).map(({ first, stride, waves }) => [first, stride, waves]);
    };
    expect(await rangesOf({ wavesPerGroup: 1 })).toEqual([
      [0, 1, 65535],
      [65535, 1, 65535],
      [131070, 1, 8930],
    ]);
    expect(await rangesOf({ wavesPerGroup: 2 })).toEqual([
      [0, 2, 65535],
      [131070, 2, 4465],
      [1, 2, 65535],
      [131071, 2, 4465],
    ]);
  });

  it('run all waves at once, but those that share LDS one by one between barriers', async () => {
    const program = programOf('v_mov_b32 v1, v0\nds_write_b32 v0, v1\ns_barrier\nds_read_b32 v1, v0\nv_mov_b32 v2, v1');
    const alone = await planOf(program, 0, { waves: 6 });
    expect(dispatchesOf(alone, batchFor(program, { waves: 6 }).layout).every((d) => d.waves === 6)).toBe(true);
    const shape = { waves: 6, wavesPerGroup: 2 };
    const shared = await planOf(program, 1e9, shape);
    expect(dispatchesOf(shared, batchFor(program, shape).layout)).toEqual([
      { kernel: 0, first: 0, stride: 2, waves: 3 },
      { kernel: 0, first: 1, stride: 2, waves: 3 },
      { kernel: 1, first: 0, stride: 2, waves: 3 },
      { kernel: 1, first: 1, stride: 2, waves: 3 },
    ]);
  });
});
