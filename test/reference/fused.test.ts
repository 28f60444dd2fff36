/**
 * The reference with division macros done at once leaves what it leaves instruction by instruction: every register of every wave, on
 * operands of every class, under every MODE and EXEC, whatever else stands among the macro's instructions.
 */
import { describe, expect, it } from 'vitest';
import { findTarget, targets } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { findDivisionMacros } from '../../src/program/divisionMacro.ts';
import type { Program } from '../../src/program/program.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { compareStates } from '../../src/verify/compare.ts';
import { demonstrationShape, divisionText, drawBatch } from '../../src/verify/demonstration.ts';
import { drawWord, newPair } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { KERNEL_MODE } from '../../src/wavefront/mode.ts';
import { WaveState } from '../../src/wavefront/state.ts';

const steps = new ReferenceEngine();
const fused = new ReferenceEngine({ forms: 'fused' });

/** Waves of random doubles in every register pair; EXEC and MODE differ from wave to wave. */
function randomDoubles(program: Program, waves: number, seed: number): WaveState {
  const random = new Random(seed);
  const pair = newPair();
  const sgprs = Math.max(program.sgprs, 8);
  const shape = { waveSize: program.waveSize, waves, wavesPerGroup: 1, vgprs: program.vgprs, sgprs, ldsWords: 64 };
  const state = WaveState.start(shape);
  for (let wave = 0; wave < waves; wave++) {
    for (let register = 0; register + 1 < shape.vgprs; register += 2)
      for (let lane = 0; lane < shape.waveSize; lane++) {
        drawWord(random, pair);
        state.vgpr(wave, register)[lane] = pair.nLo;
        state.vgpr(wave, register + 1)[lane] = pair.nHi;
      }
    for (let code = 0; code + 1 < sgprs; code += 2) {
      drawWord(random, pair);
      state.setScalar(wave, code, pair.nLo);
      state.setScalar(wave, code + 1, pair.nHi);
    }
    if (random.below(3) === 0) state.setSpecial(wave, Special.execLo, random.word());
    if (random.below(3) === 0 && program.waveSize === 64) state.setSpecial(wave, Special.execHi, random.word());
    if (random.below(4) === 0) state.setSpecial(wave, Special.mode, random.word() & 0x3ff);
    else state.setSpecial(wave, Special.mode, random.below(2) === 0 ? KERNEL_MODE : KERNEL_MODE & ~0x200);
  }
  return state;
}

async function differences(program: Program, state: WaveState) {
  const [a, b] = [await steps.run(program, state), await fused.run(program, state)];
  return compareStates(a.state, b.state, 5).first;
}

describe('the macro as LLVM has it', () => {
  for (const { name, waveSizes } of targets)
    for (const waveSize of waveSizes)
      it(`${name}, wave${waveSize} (seed 1)`, async () => {
        const target = findTarget(name);
        const program = assemble(divisionText(target, waveSize), { target, waveSize });
        const batch = drawBatch({ ...demonstrationShape(target, waveSize, 100), ldsWords: 0 }, 1, 0);
        expect(await differences(program, batch)).toEqual([]);
      });
});

/** v[0:1] / v[2:3] as LLVM allocates registers on gfx90a, and after it what the text says. */
const compiled = (n = 'v[0:1]', d = 'v[2:3]') => [
  `v_div_scale_f64 v[4:5], s[0:1], ${d}, ${d}, ${n}`,
  'v_rcp_f64_e32 v[6:7], v[4:5]',
  'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
  'v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]',
  'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
  'v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]',
  `v_div_scale_f64 v[8:9], vcc, ${n}, ${d}, ${n}`,
  'v_mul_f64 v[10:11], v[8:9], v[6:7]',
  'v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]',
  'v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]',
  `v_div_fixup_f64 v[12:13], v[4:5], ${d}, ${n}`,
];

const replaced = (lines: readonly string[], ...pairs: (readonly [string, string])[]) =>
  pairs.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${from} is not there`);
    return text.replaceAll(from, to);
  }, lines.join('\n'));

/** Lines put in after line `index`. */
const after = (index: number, ...more: string[]) => {
  const lines = compiled();
  lines.splice(index + 1, 0, ...more);
  return lines.join('\n');
};

const other = (text: string, flags: string) =>
  text
    .replaceAll(/v\[(\d+):(\d+)\]/g, (_, a, b) => `v[${+a + 20}:${+b + 20}]`)
    .replaceAll('s[0:1]', 's[4:5]')
    .replaceAll('vcc', flags);

/** Two macros line by line, the flags of the second on their way to VCC by a copy. */
function interleaved(): string {
  const first = compiled();
  const second = other(compiled().join('\n'), 's[6:7]').split('\n');
  const pairs = first.slice(0, 9).flatMap((line, k) => [line, second[k]!]);
  return [...pairs, first[9], 's_mov_b64 vcc, s[6:7]', second[9], second[10], first[10]].join('\n');
}

const texts: Readonly<Record<string, string>> = {
  compiled: compiled().join('\n'),
  'the result over the numerator': replaced(compiled(), ['v_div_fixup_f64 v[12:13]', 'v_div_fixup_f64 v[0:1]']),
  'a constant numerator': compiled('1.0').join('\n'),
  'a scalar numerator': compiled('s[2:3]').join('\n'),
  'both negated': compiled('-v[0:1]', '-v[2:3]').join('\n'),
  'factors in the other order, where a NaN comes from elsewhere': replaced(
    compiled(),
    ['-v[4:5], v[6:7], 1.0', 'v[6:7], -v[4:5], 1.0'],
    ['v[10:11], v[8:9], v[6:7]', 'v[10:11], v[6:7], v[8:9]'],
    ['-v[4:5], v[10:11], v[8:9]', '-v[10:11], v[4:5], v[8:9]'],
  ),
  'the minus at the reciprocal': replaced(compiled(), ['-v[4:5], v[6:7], 1.0', 'v[4:5], -v[6:7], 1.0']),
  'registers of dead steps used by others': after(9, 'v_mov_b32_e32 v6, v0', 'v_mov_b32_e32 v9, 0', 's_mov_b64 vcc, 0'),
  'overwritten afterwards': after(10, 'v_mov_b32_e32 v6, 0', 'v_mov_b32_e32 v7, v12', 's_mov_b64 s[0:1], vcc'),
  'EXEC changes afterwards': after(10, 's_mov_b64 exec, s[2:3]', 'v_mov_b32_e32 v6, 0', 'v_mov_b32_e32 v12, 0'),
  'a copied numerator, overwritten on the way': [
    'v_mov_b32_e32 v14, v0',
    'v_mov_b32_e32 v15, v1',
    ...after(0, 'v_mov_b32_e32 v14, 7')
      .split('\n')
      .map((line, k) => (k === 0 ? line.replace('v[0:1]', 'v[14:15]') : line)),
  ].join('\n'),
  '1.0 in a scalar pair, overwritten on the way': `s_mov_b64 s[2:3], 1.0\n${after(4, 's_mov_b64 s[2:3], 0').replaceAll('v[6:7], 1.0', 'v[6:7], s[2:3]')}`,
  'two in one another, one flag copied': interleaved(),
  'two in a row': `${compiled().join('\n')}\n${compiled('v[12:13]', 'v[0:1]').join('\n')}`,
  'a fault afterwards': after(10, 'ds_write_b32 v0, v1', 'v_mov_b32_e32 v6, 0'),
};

/** A register pair for every value, and for each product a choice of which factor stands first and which has the minus. */
function ordered(choose: () => boolean): string {
  const product = (a: string, b: string) => (choose() ? `${b}, ${a}` : `${a}, ${b}`);
  const negated = (a: string, b: string) => (choose() ? product(a, `-${b}`) : product(`-${a}`, b));
  return `
    v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]
    v_rcp_f64_e32 v[6:7], v[4:5]
    v_fma_f64 v[8:9], ${negated('v[4:5]', 'v[6:7]')}, 1.0
    v_fma_f64 v[10:11], ${product('v[6:7]', 'v[8:9]')}, v[6:7]
    v_fma_f64 v[12:13], ${negated('v[4:5]', 'v[10:11]')}, 1.0
    v_fma_f64 v[14:15], ${product('v[10:11]', 'v[12:13]')}, v[10:11]
    v_div_scale_f64 v[16:17], vcc, v[0:1], v[2:3], v[0:1]
    v_mul_f64 v[18:19], ${product('v[16:17]', 'v[14:15]')}
    v_fma_f64 v[20:21], ${negated('v[4:5]', 'v[18:19]')}, v[16:17]
    v_div_fmas_f64 v[22:23], ${product('v[20:21]', 'v[14:15]')}, v[18:19]
    v_div_fixup_f64 v[24:25], v[22:23], v[2:3], v[0:1]
    s_endpgm`;
}

const highWords = [0, 0x000fffff, 0x00100000, 0x3ff00000, 0x7fd00000, 0x7ff00000, 0x7ff00001, 0x7ff80000, 0x7fffffff];
const specialWords = highWords.flatMap((hi, k) =>
  [0, 0x80000000].flatMap((sign) => [0, k].map((lo) => [hi + sign, lo])),
);

/** Every pair of these; wave 0, which the reference does by its instructions in any case, holds zeros. */
function specialPairs(mode: number): WaveState {
  const count = specialWords.length;
  const shape = {
    waveSize: 64 as const,
    waves: 1 + Math.ceil(count ** 2 / 64),
    wavesPerGroup: 1,
    vgprs: 26,
    sgprs: 8,
    ldsWords: 0,
  };
  const state = WaveState.start(shape);
  for (let wave = 0; wave < shape.waves; wave++) state.setSpecial(wave, Special.mode, mode);
  for (let pair = 0; pair < count ** 2; pair++) {
    const wave = 1 + Math.floor(pair / 64);
    const words = [specialWords[pair % count]!, specialWords[Math.floor(pair / count)]!];
    for (const [k, [hi, lo]] of words.entries()) {
      state.vgpr(wave, 2 * k)[pair % 64] = lo!;
      state.vgpr(wave, 2 * k + 1)[pair % 64] = hi!;
    }
  }
  return state;
}

describe('compiled programs', () => {
  it.each(Object.entries(texts))('%s (seed 2)', async (name, text) => {
    const target = findTarget('gfx90a');
    const program = assemble(`${text}\ns_endpgm`, { target });
    expect(findDivisionMacros(program)).toHaveLength(name.startsWith('two') ? 2 : 1);
    expect(await differences(program, randomDoubles(program, 130, 2))).toEqual([]);
  });

  it('every pair of special values, the factors in any order, the minus at either (seed 5)', async () => {
    const target = findTarget('gfx90a');
    const random = new Random(5);
    for (let run = 0; run < 48; run++) {
      const program = assemble(run === 0 ? ordered(() => false) : ordered(() => random.below(2) === 0), { target });
      expect(findDivisionMacros(program)).toHaveLength(1);
      expect(await differences(program, specialPairs(run % 2 === 0 ? KERNEL_MODE : KERNEL_MODE & ~0x200))).toEqual([]);
    }
  });

  it('a step budget that ends within the macro (seed 3)', async () => {
    const program = assemble(`${compiled().join('\n')}\ns_endpgm`, { target: findTarget('gfx90a') });
    const state = randomDoubles(program, 70, 3);
    const results = [steps, fused].map((engine) => engine.run(program, state, { maxSteps: 6 }));
    const [a, b] = await Promise.all(results);
    expect(a!.state.faults()).toHaveLength(70);
    expect(compareStates(a!.state, b!.state).first).toEqual([]);
  });

  it("AMD's text has other steps, which are not done at once (seed 4)", async () => {
    const program = assemble(`${compiled().join('\n')}\ns_endpgm`, { target: findTarget('gfx90a') });
    const state = randomDoubles(program, 70, 4);
    const results = [steps, fused].map((engine) => engine.run(program, state, { profile: 'published' }));
    const [a, b] = await Promise.all(results);
    expect(compareStates(a!.state, b!.state).first).toEqual([]);
  });
});
