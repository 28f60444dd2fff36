/**
 * Every form of f64 code leaves the same words as the CPU reference: division macros with all their registers alive and with the
 * result alone, in each order of factors; single instructions; operands of which half are special; lanes that EXEC leaves out; both
 * ways of doing the lanes that bail. What is translated into what: that the forms are really taken.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import type { Bail, Form } from '../../src/gpu/forms.ts';
import type { Program } from '../../src/program/program.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { newPair, subnormalTies } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';
import { Special } from '../../src/wavefront/layout.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, openEngine, programOf, wordsFrom } from './engineRig.ts';

const WAVES = 8;

const reference = new ReferenceEngine();
const engines = new Map<string, WebGpuEngine>();
const combinations: readonly (readonly [Form, Bail])[] = [
  ['generic', 'list'],
  ['fast', 'list'],
  ['fast', 'branch'],
  ['fused', 'list'],
  ['direct', 'list'],
  ['shared', 'list'],
  ['auto', 'list'],
  ['auto', 'branch'],
];
const nameOf = (form: Form, bail: Bail) => `${form}, bail by ${bail}`;

beforeAll(async () => {
  for (const [form, bail] of combinations) engines.set(nameOf(form, bail), await openEngine({ form, bail }));
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
});

const pair = (first: number) => `v[${first}:${first + 1}]`;

interface Registers {
  readonly n: string;
  readonly d: string;
  /** First of 12 VGPRs that the macro may use, the result in the last two of them. */
  readonly free: number;
  /** Bits: factors of each product exchanged, minus before the other factor. */
  readonly shape?: number;
}

/** The macro as LLVM emits it, or with its factors in another order. */
function macro({ n, d, free, shape = 0 }: Registers): string {
  const [ds, r, e, ns, q, to] = [0, 2, 4, 6, 8, 10].map((i) => pair(free + i)) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const product = (step: number, a: string, b: string) => ((shape >> step) & 1 ? `${b}, ${a}` : `${a}, ${b}`);
  const minus = (step: number, a: string, b: string) =>
    (shape >> (8 + step)) & 1 ? product(step, a, `-${b}`) : product(step, `-${a}`, b);
  return [
    `v_div_scale_f64 ${ds}, s[4:5], ${d}, ${d}, ${n}`,
    `v_rcp_f64_e32 ${r}, ${ds}`,
    `v_fma_f64 ${e}, ${minus(0, ds, r)}, 1.0`,
    `v_fma_f64 ${r}, ${product(1, r, e)}, ${r}`,
    `v_fma_f64 ${e}, ${minus(2, ds, r)}, 1.0`,
    `v_fma_f64 ${r}, ${product(3, r, e)}, ${r}`,
    `v_div_scale_f64 ${ns}, vcc, ${n}, ${d}, ${n}`,
    `v_mul_f64 ${q}, ${product(4, ns, r)}`,
    `v_fma_f64 ${e}, ${minus(5, ds, q)}, ${ns}`,
    `v_div_fmas_f64 ${to}, ${product(6, e, r)}, ${q}`,
    `v_div_fixup_f64 ${to}, ${to}, ${d}, ${n}`,
  ].join('\n');
}

/** Doubles of which half are what most operations treat apart: zeros, subnormals, infinities, NaN, the ends of the range. */
function double(next: () => number): [number, number] {
  const sign = next() & 0x80000000;
  const field = [0, 0, 1, 2, 53, 54, 1023, 2044, 2045, 2046, 2047, 2047][next() % 12]!;
  if (next() % 2 === 0) return [next(), (sign | ((923 + (next() % 200)) << 20) | (next() & 0xfffff)) >>> 0];
  const empty = next() % 2 === 0;
  return [empty ? 0 : next(), (sign | (field << 20) | (empty ? next() & 0x80000 : next() & 0xfffff)) >>> 0];
}

/** The first `doubles` register pairs of all lanes are such doubles, the other registers any bits; some lanes are inactive. */
function batch(program: Program, seed: number, doubles: number, waves = WAVES): WaveState {
  const next = wordsFrom(seed);
  const state = batchFor(program, { waves });
  for (let wave = 0; wave < waves; wave++) {
    for (let register = 0; register < program.vgprs; register += 2)
      for (let lane = 0; lane < 64; lane++) {
        const [lo, hi] = register < 2 * doubles ? double(next) : [next(), next()];
        state.vgpr(wave, register)[lane] = lo;
        if (register + 1 < program.vgprs) state.vgpr(wave, register + 1)[lane] = hi;
      }
    for (let code = 0; code < program.sgprs; code++) state.setScalar(wave, code, next());
    state.setSpecial(wave, Special.vccLo, next());
    state.setSpecial(wave, Special.vccHi, next());
    if (wave % 3 === 1) state.setSpecial(wave, Special.execLo, next());
    if (wave % 4 === 2) state.setSpecial(wave, Special.execHi, 0);
  }
  return state;
}

function difference(a: WaveState, b: WaveState): string | undefined {
  const at = a.words.findIndex((word, i) => word !== b.words[i]);
  if (at < 0) return undefined;
  const { vgprs, vgprWords } = a.layout;
  const [wave, rest] = [Math.floor((at - vgprs) / vgprWords), (at - vgprs) % vgprWords];
  const place = at < vgprs ? `scalar word ${at}` : `wave ${wave}, v${rest >> 6}, lane ${rest & 63}`;
  return `${place}: ${a.words[at]!.toString(16)} against ${b.words[at]!.toString(16)}`;
}

/** Runs a program in the forms that are asked for, twice: the second time kernels for bailed lanes are there from the start. */
async function expectEqual(program: Program, state: WaveState, forms = combinations): Promise<void> {
  const expected = (await reference.run(program, state)).state;
  for (const [form, bail] of forms) {
    const engine = engines.get(nameOf(form, bail))!;
    for (const time of ['first', 'second']) {
      const got = (await engine.run(program, state)).state;
      const found = difference(got, expected);
      expect(found && `${nameOf(form, bail)}, ${time} run: ${found}`).toBeUndefined();
    }
  }
}

const without = (...left: Form[]) => combinations.filter(([form]) => !left.includes(form));
const textOf = async (form: Form, bail: Bail, program: Program, state: WaveState) =>
  engines.get(nameOf(form, bail))!.wgsl(program, state);

describe('a division macro', () => {
  it('with all registers that it leaves (seed 1)', async () => {
    const program = programOf(macro({ n: pair(0), d: pair(2), free: 4 }));
    const state = batch(program, 1, 2);
    await expectEqual(program, state, without('generic', 'direct', 'fused'));
    const [fast, slow] = await textOf('auto', 'list', program, state);
    expect(fast).toContain('= fused_division(');
    expect(fast).not.toContain('mulAdd');
    expect(slow).toContain('= division_macro(');
    const branched = await textOf('auto', 'branch', program, state);
    expect(branched.length).toBe(1);
    expect(branched[0]).toContain('= fused_division(');
    expect(branched[0]).toContain('= division_macro(');
    expect((await textOf('fast', 'list', program, state))[0]).toContain('= v_fma_f64_fast(');
  });

  it.each([0x7f, 0x2500, 0x2525, 0x5a])('with its factors in another order, %i (seed 2)', async (shape) => {
    const program = programOf(macro({ n: pair(0), d: pair(2), free: 4, shape }));
    const state = batch(program, 2, 2);
    await expectEqual(program, state, [['fused', 'list']]);
    expect((await textOf('fused', 'list', program, state))[1]).toContain('= division_macro(');
  });

  it('whose registers but the result are overwritten may be one division; ties of subnormals are not IEEE (seed 3)', async () => {
    const clear = Array.from({ length: 10 }, (_, i) => `v_mov_b32 v${4 + i}, 0`).join('\n');
    const program = programOf(
      `${macro({ n: pair(0), d: pair(2), free: 4 })}\n${clear}\ns_mov_b64 vcc, 0\ns_mov_b64 s[4:5], 0`,
    );
    const state = batch(program, 3, 2, 64);
    await expectEqual(program, state, [
      ['direct', 'list'],
      ['fused', 'list'],
      ['auto', 'branch'],
    ]);
    const [direct, slow] = await textOf('direct', 'list', program, state);
    expect(direct).toContain('= direct_division(');
    expect(slow).toContain('= division_macro(');
    expect((await textOf('auto', 'list', program, state)).join()).not.toContain('= direct_division(');
    // v_div_fmas misses the middle between two subnormals: 3 units, though the quotient is exactly 3.5.
    const random = new Random(3);
    const operands = newPair();
    for (let wave = 0; wave < 64; wave++)
      for (let lane = 0; lane < 64; lane++) {
        if (lane === 0) operands.words.set([0, 0x1470d800, 0, 0x57734000]);
        else subnormalTies(random, operands);
        for (const [register, word] of operands.words.entries()) state.vgpr(wave, register)[lane] = word;
      }
    state.setSpecial(0, Special.execLo, 0xffffffff);
    expect((await reference.run(program, state)).state.vgpr(0, 14)[0]).toBe(3);
    await expectEqual(program, state);
  });

  it('with constants and modifiers, and with scalar operands (seed 4)', async () => {
    const program = programOf(
      [
        macro({ n: '1.0', d: pair(2), free: 4 }),
        macro({ n: `-${pair(0)}`, d: pair(2), free: 16 }),
        macro({ n: pair(0), d: 's[0:1]', free: 28 }),
      ].join('\n'),
    );
    await expectEqual(program, batch(program, 4, 2), [
      ['auto', 'list'],
      ['shared', 'list'],
    ]);
  });

  it('in a MODE that the short forms are not for is done by its instructions; IEEE does not matter (seed 5)', async () => {
    const program = programOf(macro({ n: pair(0), d: pair(2), free: 4 }));
    for (const mode of [0x330, 0x0f4]) {
      const state = batch(program, 5, 2, 2);
      for (let wave = 0; wave < 2; wave++) state.setSpecial(wave, Special.mode, mode);
      await expectEqual(program, state, without('generic', 'fast', 'fused', 'direct'));
      if (mode !== 0x0f4)
        expect((await textOf('auto', 'list', program, state)).join()).not.toContain('fused_division(');
    }
  });

  it('sixteen times in a row, each on what the one before left (seed 6)', async () => {
    const text = Array.from({ length: 16 }, (_, i) =>
      macro({ n: pair(i % 2 ? 14 : 0), d: pair(2), free: i % 2 ? 16 : 4 }),
    );
    const program = programOf(`${text.join('\n')}\nv_mov_b32 v0, v26`);
    await expectEqual(program, batch(program, 6, 14), [
      ['auto', 'list'],
      ['auto', 'branch'],
      ['shared', 'list'],
    ]);
  });
});

describe('single instructions', () => {
  const instructions = [
    'v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]',
    'v_fma_f64 v[10:11], -v[0:1], |v[2:3]|, -v[6:7]',
    'v_mul_f64 v[12:13], v[2:3], v[4:5]',
    'v_add_f64 v[14:15], v[0:1], v[6:7]',
    'v_add_f64 v[16:17], v[14:15], -v[6:7]',
    'v_rcp_f64_e32 v[18:19], v[4:5]',
    'v_fma_f64 v[20:21], v[18:19], -v[4:5], 1.0',
    'v_cmp_lt_f64 s[0:1], v[8:9], v[10:11]',
    'v_cndmask_b32_e64 v22, v0, v2, s[0:1]',
    'v_mul_f64 v[24:25], s[2:3], v[14:15]',
  ];

  it('in any company (seed 7)', async () => {
    const program = programOf(instructions.join('\n'));
    const state = batch(program, 7, 4, 32);
    await expectEqual(program, state, [
      ['fast', 'list'],
      ['fast', 'branch'],
      ['shared', 'list'],
    ]);
    expect((await textOf('fast', 'list', program, state)).length).toBe(2);
  });

  it('are cut where a lane could not be run again: scalars that were read change, EXEC, counted masks, LDS (seed 8)', async () => {
    const program = programOf(
      [
        ...instructions,
        's_mov_b64 s[2:3], 0',
        'v_add_f64 v[0:1], v[24:25], s[2:3]',
        's_mov_b64 exec, s[0:1]',
        'v_mul_f64 v[2:3], v[8:9], v[20:21]',
        's_and_b64 vcc, exec, s[0:1]',
        'v_mov_b32 v6, vcc_lo',
        'v_cmp_gt_f64 vcc, v[2:3], v[4:5]',
        'v_mul_f64 v[4:5], v[2:3], vcc',
        's_mov_b64 exec, -1',
        'v_mov_b32 v26, 0',
        'ds_min_rtn_f64 v[6:7], v26, v[12:13]',
        'v_fma_f64 v[8:9], v[6:7], v[6:7], v[12:13]',
      ].join('\n'),
    );
    await expectEqual(program, batch(program, 8, 4), [
      ['fast', 'list'],
      ['shared', 'list'],
    ]);
  });

  it('look at an operand again where EXEC has let in lanes that did not look (seed 10)', async () => {
    const program = programOf(
      [
        's_mov_b64 exec, s[0:1]',
        'v_add_f64 v[8:9], v[0:1], v[2:3]',
        's_mov_b64 exec, s[2:3]',
        'v_fma_f64 v[10:11], v[0:1], v[2:3], 1.0',
        'v_fma_f64 v[12:13], v[0:1], v[2:3], v[10:11]',
      ].join('\n'),
    );
    await expectEqual(program, batch(program, 10, 2), [
      ['fast', 'list'],
      ['fast', 'branch'],
    ]);
  });

  it('cancel, carry and round as the complete ones: exponents that are close, short fractions (seed 9)', async () => {
    const program = programOf(
      'v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]\nv_add_f64 v[10:11], v[0:1], v[2:3]\nv_mul_f64 v[12:13], v[0:1], v[2:3]',
    );
    const next = wordsFrom(9);
    const state = batchFor(program, { waves: 512 });
    const fraction = () => {
      const bits = BigInt(next() % 53);
      const word = (BigInt(next()) << 32n) | BigInt(next());
      const shifted = [word << bits, ~(word << bits), 1n << bits, word][next() % 4]!;
      return shifted & ((1n << 52n) - 1n);
    };
    for (let wave = 0; wave < 512; wave++)
      for (let lane = 0; lane < 64; lane++) {
        const spread = [3, 60, 120][next() % 3]!;
        for (const register of [0, 2, 4]) {
          const bits = fraction() | (BigInt(1023 + (next() % spread)) << 52n) | (BigInt(next() & 1) << 63n);
          state.vgpr(wave, register)[lane] = Number(bits & 0xffffffffn);
          state.vgpr(wave, register + 1)[lane] = Number(bits >> 32n);
        }
      }
    await expectEqual(program, state, [['fast', 'list']]);
  });
});
