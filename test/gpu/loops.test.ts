/**
 * Instructions rolled up into loops (form `shared`) against the CPU reference, all words of the state: random programs over every vector
 * instruction of every target, with all kinds of operands and modifiers, in MODEs of all kinds; where loops begin and end; how
 * steps are laid out in slots. LOOP_PROGRAMS says how many programs each target and wave size gets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { schedule } from '../../src/gpu/loopSchedule.ts';
import { formOn, type InstructionDef } from '../../src/isa/instruction.ts';
import { instructions } from '../../src/isa/instructions/index.ts';
import { type Operand, type OperandSpec, wordsOf } from '../../src/isa/operand.ts';
import { type Profile, type Target, targets } from '../../src/isa/target.ts';
import { makeProgram } from '../../src/program/make.ts';
import type { Instruction, Program } from '../../src/program/program.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { Scalar, type WaveSize } from '../../src/wavefront/registers.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, openEngine, programOf } from './engineRig.ts';
import { F32, F64, operand as float, MODES, type Random, random } from './operands.ts';

const PROGRAMS = Number(process.env['LOOP_PROGRAMS'] ?? 1);
const SEED = Number(process.env['LOOP_SEED'] ?? 20261130);
const VGPRS = 16;
const SGPRS = 12;

const reference = new ReferenceEngine();
/** One slot a kind of instruction; as many as the kernel may cost. */
let shared: WebGpuEngine;
let rolled: WebGpuEngine;
/** The same, and lanes that a fused macro can't do are done in a branch. */
let branched: WebGpuEngine;
beforeAll(async () => {
  shared = await openEngine({ form: 'shared' });
  rolled = await openEngine({ form: 'auto', maxKernelCost: 2000 });
  branched = await openEngine({ form: 'auto', maxKernelCost: 2000, bail: 'branch' });
});
afterAll(async () => {
  await shared.close();
  await rolled.close();
  await branched.close();
});

const pick = <T>(next: Random, list: readonly T[]): T => list[next() % list.length]!;

/** Any operand that the engines take there, whether or not an encoding has it. */
function operandFor(next: Random, { role, type, field }: OperandSpec, waveSize: WaveSize): Operand {
  const count = wordsOf(type, waveSize);
  // Most masks are not read as words, which would end a loop.
  const [words, masks] = [
    [0, 2, 4, Scalar.null, Scalar.m0, Scalar.execLo],
    [6, 8, 10, Scalar.vccLo, Scalar.null],
  ];
  const scalars = (type === 'mask') === (next() % 40 !== 0) ? masks : words.slice(0, 4);
  if (type === 'mask' && role === 'src' && next() % 8 === 0) return { kind: 'inline', code: pick(next, [128, 193]) };
  if (type === 'mask') return { kind: 'scalar', code: field === 'vcc' ? Scalar.vccLo : pick(next, scalars), count };
  if (role === 'src' && next() % 3 === 0)
    return pick<() => Operand>(next, [
      () => ({ kind: 'scalar', code: pick(next, next() % 40 === 0 ? masks : words), count }),
      () => ({ kind: 'inline', code: pick(next, [128, 129, 192, 193, 208, 240, 242, 245, 248]) }),
      () => ({ kind: 'literal', word: next() }),
    ])();
  return { kind: 'vgpr', index: next() % (VGPRS - count + 1), count };
}

const some = (next: Random, allowed: boolean | undefined) => allowed === true && next() % 3 === 0;

/** An instruction but for its operands. */
function kindFor(next: Random, def: InstructionDef, target: Target) {
  const { omod, clamp } = def.modifiers ?? {};
  const modifiers = { omod: some(next, omod) ? pick(next, [1, 2, 3] as const) : 0, clamp: some(next, clamp) } as const;
  return { def, form: formOn(def, target)!, ...modifiers, offset: 0, gds: false, pc: 0, size: 8 };
}

function instructionOf(next: Random, kind: ReturnType<typeof kindFor>, waveSize: WaveSize): Instruction {
  const { def } = kind;
  const { neg, abs } = def.modifiers ?? {};
  const operands = def.operands.map((spec): Operand => {
    const modifiable = spec.role === 'src' && spec.type !== 'mask';
    const operand = operandFor(next, spec, waveSize);
    return modifiable ? { ...operand, neg: some(next, neg), abs: some(next, abs) } : operand;
  });
  return { ...kind, operands };
}

/** A few kinds of instructions, over and over on other operands, now and then with some left out. */
function programFor(next: Random, target: Target, waveSize: WaveSize, profile: Profile, kinds: number): Program {
  const allowed = instructions.filter(
    (def) => formOn(def, target) && def.semantics({ target, profile }).unit === 'valu',
  );
  const chosen = Array.from({ length: kinds }, () => kindFor(next, pick(next, allowed), target));
  const list = Array.from({ length: 5 }, () => chosen.filter(() => next() % 5 !== 0)).flat();
  const running = list.map((kind) => instructionOf(next, kind, waveSize));
  return makeProgram(target, waveSize, running, new Map());
}

function fill(state: WaveState, next: Random, mode: (wave: number) => number): void {
  const { waves, waveSize, vgprs, sgprs } = state.layout.shape;
  const words = (): [number, number] => {
    const bits = next() % 3 === 0 ? float(next, F32, []) : float(next, F64, []);
    return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
  };
  for (let wave = 0; wave < waves; wave++) {
    for (let lane = 0; lane < waveSize; lane++)
      for (let register = 0; register < vgprs; register++) {
        const [lo, hi] = words();
        state.vgpr(wave, register)[lane] = register % 2 === 0 ? lo : hi;
      }
    for (let code = 0; code < sgprs; code++) state.setScalar(wave, code, words()[code % 2]!);
    for (const word of [Special.vccLo, Special.m0, Special.execLo]) state.setSpecial(wave, word, next());
    if (waveSize === 64) for (const word of [Special.vccHi, Special.execHi]) state.setSpecial(wave, word, next());
    if (wave % 2 === 0) state.setSpecial(wave, Special.execLo, 0xffffffff);
    state.setSpecial(wave, Special.mode, mode(wave));
  }
}

function difference(a: WaveState, b: WaveState): string | undefined {
  const at = a.words.findIndex((word, i) => word !== b.words[i]);
  const { vgprs, vgprWords, scalarWords, shape } = a.layout;
  if (at < 0) return undefined;
  const [wave, rest] = [Math.floor((at - vgprs) / vgprWords), (at - vgprs) % vgprWords];
  const place =
    at < vgprs
      ? `wave ${Math.floor(at / scalarWords)}, scalar word ${at % scalarWords}`
      : `wave ${wave}, v${Math.floor(rest / shape.waveSize)}, lane ${rest % shape.waveSize}`;
  return `${place}: ${a.words[at]!.toString(16)} against ${b.words[at]!.toString(16)}`;
}

const nameOf = ({ def, operands, omod, clamp }: Instruction) =>
  `${def.name} ${operands.map((o) => JSON.stringify(o)).join(' ')} ${omod} ${clamp}`;

const cases = targets.flatMap((target) =>
  target.waveSizes.flatMap((waveSize) =>
    Array.from({ length: PROGRAMS }, (_, i) => ({ name: target.name, waveSize, i, target })),
  ),
);

let looped = 0;

describe(`random programs (seed ${SEED})`, () => {
  it.each(cases)('$name, wave$waveSize, $i', async ({ target, waveSize, i }) => {
    const next = random(SEED + 1000 * i + 10 * targets.indexOf(target) + waveSize);
    const profile = pick(next, ['hardware', 'hardware', 'published'] as const);
    const program = programFor(next, target, waveSize, profile, 5);
    const state = batchFor(program, { waves: 6, vgprs: VGPRS, sgprs: SGPRS });
    const one = pick(next, MODES);
    fill(state, next, next() % 2 === 0 ? () => one : () => pick(next, MODES));
    const expected = (await reference.run(program, state, { profile })).state;
    for (const engine of [shared, rolled]) {
      const found = difference((await engine.run(program, state, { profile })).state, expected);
      expect(found && `${found}\n${program.instructions.map(nameOf).join('\n')}`).toBeUndefined();
    }
    if ((await shared.wgsl(program, state, { profile })).join().includes('iterations')) looped++;
  });

  it('are loops for the most part', () => {
    expect(looped).toBeGreaterThan(0.8 * cases.length);
  });
});

const pair = (first: number) => `v[${first}:${first + 1}]`;

/**
 * The division macro of LLVM with its registers from `free` on; the result is in the last two of twelve. `apart`: what refines the
 * reciprocal is kept, in eight more.
 */
function macro(n: string, d: string, free: number, apart = false): string {
  const [ds, r, e, ns, q, to] = [0, 2, 4, 6, 8, 10].map((i) => pair(free + i));
  const [r0, e0, r1, e1] = apart ? [12, 14, 16, 18].map((i) => pair(free + i)) : [r, e, r, e];
  return [
    `v_div_scale_f64 ${ds}, s[4:5], ${d}, ${d}, ${n}`,
    `v_rcp_f64_e32 ${r0}, ${ds}`,
    `v_fma_f64 ${e0}, -${ds}, ${r0}, 1.0`,
    `v_fma_f64 ${r1}, ${r0}, ${e0}, ${r0}`,
    `v_fma_f64 ${e1}, -${ds}, ${r1}, 1.0`,
    `v_fma_f64 ${r}, ${r1}, ${e1}, ${r1}`,
    `v_div_scale_f64 ${ns}, vcc, ${n}, ${d}, ${n}`,
    `v_mul_f64 ${q}, ${ns}, ${r}`,
    `v_fma_f64 ${e}, -${ds}, ${q}, ${ns}`,
    `v_div_fmas_f64 ${to}, ${e}, ${r}, ${q}`,
    `v_div_fixup_f64 ${to}, ${to}, ${d}, ${n}`,
  ].join('\n');
}

async function expectEqual(program: Program, state: WaveState, engines: readonly WebGpuEngine[], options = {}) {
  const expected = (await reference.run(program, state, options)).state;
  for (const [i, engine] of engines.entries())
    for (const time of ['first', 'second']) {
      const found = difference((await engine.run(program, state, options)).state, expected);
      expect(found && `engine ${i}, ${time} run: ${found}`).toBeUndefined();
    }
}

describe('a loop', () => {
  const next = random(SEED);
  const batchOf = (program: Program, waves = 4) => {
    const state = batchFor(program, { waves });
    fill(state, next, () => MODES[0]!);
    return state;
  };
  /** Independent macros, the first one's registers from `first` on. */
  const macros = (count: number, first = 0) => {
    const of = (at: number) => macro(pair(at), pair(at + 2), at + 4);
    return programOf(Array.from({ length: count }, (_, i) => of(first + 16 * i)).join('\n'));
  };

  it('goes on in the complete form at the step where a lane bailed, whatever was overwritten before', async () => {
    const between = 'v_add_f64 v[0:1], v[14:15], v[18:19]\nv_mul_f64 v[2:3], v[2:3], v[16:17]';
    const program = programOf(Array.from({ length: 8 }, () => `${macro(pair(0), pair(2), 4)}\n${between}`).join('\n'));
    const state = batchOf(program, 16);
    // Close to 1, so that quotients stay normal; in some lanes something that has no short form turns up on the way.
    for (let wave = 0; wave < 16; wave++)
      for (let lane = 0; lane < 64; lane++)
        for (const register of [0, 2, 16, 18])
          if (lane % 8 !== 0 || register === 0) state.vgpr(wave, register + 1)[lane] = 0x3ff00000 | (next() & 0xfffff);
    await expectEqual(program, state, [shared, rolled, branched]);
    const [fast, slow, ...others] = await rolled.wgsl(program, state);
    expect(others).toEqual([]);
    for (const kernel of [fast, slow]) expect(kernel).toContain('i >= iterations');
    expect(fast).toContain('= fused_division(');
    expect(fast).not.toContain('division_macro(');
    expect(slow).toContain('first_step / ');
    const both = (await branched.wgsl(program, state)).join();
    expect(both).toContain('= fused_division(');
    expect(both).toContain('= division_macro(');
  });

  it('does macros by their instructions where what refines the reciprocal is kept, in any MODE', async () => {
    const text = [0, 1, 2].map((i) => macro(pair(24 * i), pair(24 * i + 2), 24 * i + 4, true)).join('\n');
    const program = programOf(text);
    for (const mode of [0x3f0, 0x3fc]) {
      const state = batchFor(program, { waves: 4 });
      fill(state, next, () => mode);
      await expectEqual(program, state, [shared, rolled]);
      expect((await shared.wgsl(program, state)).join()).not.toContain('division_macro');
    }
    const kept = programOf([0, 1, 2].map((i) => macro(pair(16 * i), pair(16 * i + 2), 16 * i + 4)).join('\n'));
    const state = batchFor(kept, { waves: 4 });
    fill(state, next, () => 0x3fc);
    await expectEqual(kept, state, [shared, rolled]);
    expect((await shared.wgsl(kept, state)).join()).toContain('= division_macro(');
  });

  it('has one copy of each body, and the same text for other registers and more iterations', async () => {
    const [texts, moved, fewer] = await Promise.all(
      [macros(16), macros(15, 16), macros(4)].map((program) => rolled.wgsl(program, batchFor(program, { vgprs: 256 }))),
    );
    expect(texts!.map((text) => text.match(/= (fused_division|division_macro)\(/g)?.length)).toEqual([1, 1]);
    expect(moved).toEqual(texts);
    expect(fewer).toEqual(texts);
  });

  it('ends where masks are read as words, scalars are written or EXEC changes, and LDS comes between', async () => {
    const chain =
      'v_add_f64 v[0:1], v[0:1], v[2:3]\nv_add_f64 v[4:5], v[0:1], v[2:3]\nv_add_f64 v[2:3], v[4:5], s[0:1]\n';
    const compare = 'v_cmp_lt_f64 vcc, v[0:1], v[2:3]\nv_cmp_gt_f64 vcc, v[0:1], v[4:5]\n';
    const program = programOf(
      [
        chain,
        compare,
        'v_mul_f64 v[6:7], v[0:1], vcc\nv_mul_f64 v[6:7], v[6:7], vcc',
        compare,
        's_mov_b64 exec, vcc',
        chain,
        's_mov_b32 s0, 0x7f',
        chain,
        'v_mov_b32 v8, 8\nds_write_b64 v8, v[0:1]\nds_min_rtn_f64 v[6:7], v8, v[2:3]',
        's_mov_b64 exec, -1',
        chain,
        'v_cndmask_b32_e64 v9, v0, v2, s[2:3]\nv_cndmask_b32_e64 v10, v1, v3, vcc',
      ].join('\n'),
    );
    const state = batchOf(program);
    await expectEqual(program, state, [shared]);
    expect((await shared.wgsl(program, state)).filter((text) => text.includes('iterations')).length).toBe(5);
    // Two waves have an address out of range.
    const faulty = programOf(`v_mov_b32 v8, v9\nds_write_b64 v8, v[0:1]\n${chain}${chain}`);
    const stopped = batchOf(faulty);
    for (let wave = 0; wave < 4; wave++) stopped.vgpr(wave, 9).fill(wave % 2 === 0 ? 8 : 8000);
    await expectEqual(faulty, stopped, [shared]);
  });

  it('is cut by the step budget', async () => {
    const adds = Array.from({ length: 6 }, (_, i) => `v_add_f64 ${pair(i)}, v[0:1], v[2:3]`);
    const program = programOf(adds.join('\n'), 'gfx906');
    const state = batchOf(program, 2);
    for (let maxSteps = 0; maxSteps < 8; maxSteps++) await expectEqual(program, state, [shared], { maxSteps });
  });
});

describe('a schedule', () => {
  const slotsOf = (kinds: string, limit: number, costs: Readonly<Record<string, number>> = {}) => {
    const found = schedule(
      [...kinds].map((kind) => ({ kind, cost: costs[kind] ?? 1 })),
      limit,
    );
    const run = found.rows.flat().filter((step) => step !== undefined);
    expect(run.map(({ kind }) => kind).join('')).toBe(kinds);
    for (const row of found.rows)
      for (const [slot, step] of row.entries()) expect(step?.kind ?? found.slots[slot]).toBe(found.slots[slot]);
    return `${found.slots.join('')} x ${found.rows.length}`;
  };

  it('has a slot for each kind, where more may not be', () => {
    expect(slotsOf('aaaa', 0)).toBe('a x 4');
    expect(slotsOf('abcabab', 0)).toBe('abc x 3');
    expect(slotsOf('abba', 0)).toBe('ab x 3');
  });

  it('takes what the program repeats, whatever comes before and after', () => {
    expect(slotsOf('abcacabcacabcac', 10)).toBe('abcac x 3');
    expect(slotsOf('zabacabacabac', 10)).toBe('zabac x 3');
    expect(slotsOf('abacabacabacz', 10)).toBe('abacz x 3');
  });

  it('does not compile more where that saves less than a tenth', () => {
    expect(slotsOf('abababab', 10)).toBe('ab x 4');
    expect(slotsOf('aab', 10, { b: 100 })).toBe('ab x 2');
  });
});
