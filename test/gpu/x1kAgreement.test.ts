/**
 * X1K on the WebGPU engine against the CPU reference, all words of the state: every operation on random registers in each rounding, with
 * lanes off in every second wave; random programs of all the text form has. X1K_WAVES=156250 runs ten million operand sets an operation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuEngine } from '../../src/gpu/engine.ts';
import { x1kTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { mnemonicsOf } from '../../src/program/mnemonics.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { compareStates } from '../../src/verify/compare.ts';
import { Random } from '../../src/verify/random.ts';
import { randomBatch, randomShape } from '../../src/verify/randomState.ts';
import { x1kText } from '../../src/verify/x1k.ts';
import { openEngine } from './engineRig.ts';
import { f32, results } from './x1kRig.ts';

const WAVES = Number(process.env['X1K_WAVES'] ?? 200);
const PROGRAMS = Number(process.env['X1K_PROGRAMS'] ?? 6);
const SEED = Number(process.env['X1K_SEED'] ?? 20261130);
const BATCH = 512;

let engine: WebGpuEngine;
/** MODE read where the program runs: one compilation for all roundings. */
let general: WebGpuEngine;
/** A kernel for each instruction, MODE read where it runs. */
let cut: WebGpuEngine;
const reference = new ReferenceEngine();
beforeAll(async () => {
  engine = await openEngine();
  general = await openEngine({ specialize: false });
  cut = await openEngine({ maxKernelCost: 0, specialize: false });
});
afterAll(async () => {
  await engine.close();
  await general.close();
  await cut.close();
});

describe(`every operation on ${WAVES} waves (seed ${SEED})`, () => {
  const program = assemble(x1kText(), { target: x1kTarget });

  it.each(['rne', 'rup', 'rdn', 'rtz'] as const)(
    '%s',
    async (round) => {
      for (let batch = 0, done = 0; done < WAVES; batch++, done += BATCH) {
        const shape = randomShape(program, Math.min(BATCH, WAVES - done));
        const input = randomBatch(program, shape, SEED, batch, round);
        const expected = (await reference.run(program, input)).state;
        expect(compareStates((await general.run(program, input)).state, expected).first).toEqual([]);
      }
    },
    3_600_000,
  );

  it('the program has every operation, and its operands reach sums that cancel, specials and denormals', async () => {
    const names = new Set(program.instructions.map(({ def }) => def.name));
    const all = [...mnemonicsOf(x1kTarget).keys()].filter((name) => !name.startsWith('pred_'));
    expect(all.filter((name) => !names.has(name))).toEqual([]);
    const { state } = await reference.run(program, randomBatch(program, randomShape(program, 32), SEED, 0));
    const kinds = (register: number) => {
      const words = Array.from({ length: 32 }, (_, wave) => [...state.vgpr(wave, 4 * register)]).flat();
      const count = (test: (word: number) => boolean) => words.filter(test).length;
      return {
        nan: count((w) => w === 0x7fffffff),
        infinite: count((w) => (w & 0x7fffffff) === 0x7f800000),
        zero: count((w) => w << 1 === 0),
        other: count((w) => ((w >>> 23) & 0xff) % 255 !== 0),
      };
    };
    // MAD, DP3 and DP4, plain.
    for (const register of [3, 15, 17])
      for (const [kind, count] of Object.entries(kinds(register)))
        expect(count, `r${register} ${kind}`).toBeGreaterThan(20);
  });
});

describe('transcendental operations beside the borders of their ranges', () => {
  // Powers of two, roots of 2, the ends of EX2's range, eighths of a turn; each with its neighbours, and both signs.
  const centres = [
    ...Array.from({ length: 256 }, (_, biased) => biased << 23),
    ...Array.from({ length: 254 }, (_, i) => ((i + 1) << 23) | 0x3504f3),
    ...[126, 127, 128, 129, 149, 150].map(f32),
    ...Array.from({ length: 40 }, (_, i) => f32(i / 8)),
  ];
  const words = centres.flatMap((centre) =>
    [-2, -1, 0, 1, 2].flatMap((step) => [centre + step, (centre + step) ^ 0x80000000].map((word) => word >>> 0)),
  );

  it.each([0, 1, 2, 3])(`${words.length} words, rounding %i`, async (mode) => {
    for (const name of ['ex2', 'ln2', 'rcp', 'rsq', 'sin', 'cos'])
      expect(
        await results(
          engine,
          `${name} r7, r0`,
          words.map((word) => [word]),
          mode,
        ),
      ).toHaveLength(words.length);
  });
});

/** A program of all that the text form has. */
function randomProgram(random: Random, length: number): string {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!;
  const register = () => `r${random.below(6)}`;
  const plain = () =>
    pick([
      register,
      register,
      register,
      () => `(1-2*${register()})`,
      () => `(${register()}-${register()})`,
      () => `(${register()}+${register()})`,
      () => `(1-${register()})`,
    ])();
  const source = () => {
    const swizzle = pick(['', '', `.${pick([...'xyzw'])}`, `.${[0, 1, 2, 3].map(() => pick([...'xyzw'])).join('')}`]);
    const text = plain();
    return `${pick(['', '-'])}${pick([text, `|${text}|`])}${swizzle}`;
  };
  const names = [...mnemonicsOf(x1kTarget)].filter(([name]) => name !== 'end');
  const lines = Array.from({ length }, () => {
    const [name, { def }] = pick(names);
    if (name.startsWith('pred_')) return `${name} ${pick(['', '-'])}${pick(['|r1|', register()])}.${pick([...'xyzw'])}`;
    const mask = pick(['', '', '.x', '.yz', '.xzw', '.w']);
    const sources = def.operands.slice(1).map(source);
    const copies = ['min', 'max', 'cnd', 'cmp', 'mov'].includes(name);
    const output = pick(['', '', ' *2', ' *4', ' *8', ' /2', ' /4', ' /8', copies ? ' omod_disabled' : '']);
    const sat = output !== ' omod_disabled' && random.below(6) === 0 ? ' sat' : '';
    return `${name} ${register()}${mask}, ${sources.join(', ')}${output}${sat}`;
  });
  return [...lines, 'end', ''].join('\n');
}

describe('random programs', () => {
  it.each(Array.from({ length: PROGRAMS }, (_, i) => SEED + i))('seed %i', async (seed) => {
    const random = new Random(seed);
    const text = randomProgram(random, 8);
    const program = assemble(text, { target: x1kTarget });
    const input = randomBatch(
      program,
      { ...randomShape(program, 16), vgprs: 24 },
      seed,
      0,
      (['rne', 'rup', 'rdn', 'rtz'] as const)[seed % 4]!,
    );
    const expected = (await reference.run(program, input)).state;
    for (const how of [engine, cut])
      expect(compareStates((await how.run(program, input)).state, expected).first, text).toEqual([]);
  });
});
