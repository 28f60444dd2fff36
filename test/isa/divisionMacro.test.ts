/**
 * The macro at once on doubles against its eleven instructions one after the other: every value and the flag, bit for bit, over the
 * classes of verify (reciprocals and quotients next to midpoints, all-ones fractions, 2^53 - k, the borders of v_div_scale, subnormal
 * and infinite quotients). WAVE64_WAVES says how many waves of each class, WAVE64_SEED from which seed.
 */
import { describe, expect, it } from 'vitest';
import { amd_rcp_f64 } from '../../src/float/approximate.ts';
import { IEEE_DEFAULT } from '../../src/float/control.ts';
import { f64_mul, f64_mulAdd, result } from '../../src/float/f64.ts';
import { type MacroValue, plainOrders } from '../../src/isa/divisionMacro.ts';
import { DivisionMacroLanes } from '../../src/isa/divisionMacroLanes.ts';
import { vectorBytes } from '../../src/isa/divisionMacroVectors.ts';
import { divFixup, divFmas, divScale } from '../../src/isa/instructions/divisionF64.ts';
import { LaneMemory } from '../../src/isa/laneMemory.ts';
import { classes, type Draw, drawOf, newPair, subnormalTies } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';

const LANES = 64;
const waves = Number(process.env.WAVE64_WAVES ?? 868); // 18 classes: a million pairs
const seed = Number(process.env.WAVE64_SEED ?? 1);

type Columns = [lo: Uint32Array, hi: Uint32Array];
const columns = (): Columns => [new Uint32Array(LANES), new Uint32Array(LANES)];

const names: readonly MacroValue[] = ['ds', 'r0', 'e0', 'r1', 'e1', 'r2', 'ns', 'q', 't', 'p', 'result'];
const outputs = (wanted: readonly MacroValue[], memory?: LaneMemory) => {
  const column = () => memory?.words(LANES) ?? new Uint32Array(LANES);
  const pairs = wanted.map((name): [MacroValue, Columns] => [name, [column(), column()]]);
  return Object.fromEntries(pairs) as Partial<Record<MacroValue, Columns>>;
};

/** The instructions on one lane: high and low word of each value, in the order of `names`; returns the flag. */
const want = new Uint32Array(2 * names.length);
const [DS, R0, E0, R1, E1, R2, NS, Q, T, P, RESULT] = names.map((_, k) => 2 * k) as [
  ...[number, number, number, number, number, number, number, number, number, number, number],
];
const keep = (at: number): void => {
  want[at] = result[1]!;
  want[at + 1] = result[0]!;
};
const SIGN = 0x80000000;
const control = IEEE_DEFAULT;
const fma = (to: number, a: number, minus: number, b: number, cHi: number, cLo: number): void => {
  f64_mulAdd(want[a]! ^ minus, want[a + 1]!, want[b]!, want[b + 1]!, cHi, cLo, control);
  keep(to);
};
function instructions(nHi: number, nLo: number, dHi: number, dLo: number): number {
  divScale(dHi, dLo, dHi, dLo, nHi, nLo, control);
  keep(DS);
  amd_rcp_f64(want[DS]!, want[DS + 1]!, control);
  keep(R0);
  fma(E0, DS, SIGN, R0, 0x3ff00000, 0);
  fma(R1, R0, 0, E0, want[R0]!, want[R0 + 1]!);
  fma(E1, DS, SIGN, R1, 0x3ff00000, 0);
  fma(R2, R1, 0, E1, want[R1]!, want[R1 + 1]!);
  const flag = divScale(nHi, nLo, dHi, dLo, nHi, nLo, control);
  keep(NS);
  f64_mul(want[NS]!, want[NS + 1]!, want[R2]!, want[R2 + 1]!, control);
  keep(Q);
  fma(T, DS, SIGN, Q, want[NS]!, want[NS + 1]!);
  divFmas(want[T]!, want[T + 1]!, want[R2]!, want[R2 + 1]!, want[Q]!, want[Q + 1]!, flag, control);
  keep(P);
  divFixup(want[P]!, want[P + 1]!, dHi, dLo, nHi, nLo, control);
  keep(RESULT);
  return flag;
}

const hex = (hi: number, lo: number) => [hi, lo].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');

const direct = names.filter((name) => !['r0', 'e0', 'r1', 'e1'].includes(name));

/** With and without the steps of the reciprocal, in JavaScript alone and with WebAssembly. */
const forms = [names, direct].flatMap((wanted) =>
  [undefined, LaneMemory.open(vectorBytes(LANES))].map((memory) => {
    const out = outputs(wanted, memory);
    return { out, macro: new DivisionMacroLanes(LANES, out, plainOrders, memory) };
  }),
);

/** The first few differences in a class. */
function check(draw: Draw, random: Random): string[] {
  const [n, d, pair] = [columns(), columns(), newPair()];
  const active = new Uint8Array(LANES).fill(1);
  const wrong: string[] = [];
  for (let wave = 0; wave < waves; wave++) {
    for (let i = 0; i < LANES; i++) {
      draw(random, pair);
      [n[0][i], n[1][i], d[0][i], d[1][i]] = [pair.nLo, pair.nHi, pair.dLo, pair.dHi];
    }
    for (const { macro } of forms) macro.run(active, n, d);
    for (let i = 0; i < LANES; i++) {
      const flag = instructions(n[1][i]!, n[0][i]!, d[1][i]!, d[0][i]!);
      for (const { macro, out } of forms) {
        const operands = () => `${hex(n[1][i]!, n[0][i]!)} / ${hex(d[1][i]!, d[0][i]!)}`;
        if (macro.flag[i] !== flag) wrong.push(`${operands()}: flag ${macro.flag[i]} not ${flag}`);
        for (let k = 0; k < names.length; k++) {
          const words = out[names[k]!];
          if (!words || (words[1][i] === want[2 * k] && words[0][i] === want[2 * k + 1])) continue;
          wrong.push(
            `${operands()}: ${names[k]} ${hex(words[1][i]!, words[0][i]!)} not ${hex(want[2 * k]!, want[2 * k + 1]!)}`,
          );
        }
      }
    }
  }
  return wrong.slice(0, 5);
}

/** Doubles and NaNs of every kind, of both signs. */
const special = [
  [0, 0],
  [0, 1],
  [0xfffff, 0xffffffff],
  [0x00100000, 0],
  [0x03500000, 1], // v_div_scale moves numerators up to here
  [0x3ff00000, 0],
  [0x7fcfffff, 0xffffffff], // the largest denominator that v_div_scale leaves
  [0x7fd00000, 0],
  [0x7fefffff, 0xffffffff],
  [0x7ff00000, 0],
  [0x7ff00000, 1], // signalling
  [0x7ff40000, 0xdeadbeef],
  [0x7ff80000, 0],
  [0x7fffffff, 0xffffffff],
].flatMap(([hi, lo]) => [
  [hi!, lo!],
  [hi! + SIGN, lo!],
]);

/** One pair of special values after the other. */
function pairwise(): Draw {
  let turn = 0;
  return (_, pair) => {
    const n = special[turn % special.length]!;
    const d = special[Math.floor(turn / special.length) % special.length]!;
    pair.words.set([n[1]!, n[0]!, d[1]!, d[0]!]);
    turn++;
  };
}

const drawBits = drawOf(classes.randomBits!);

/** The largest fractions over 2^1021, where the first refinement of the reciprocal falls below 2^-1022 and is rounded there. */
const besideSubnormal: Draw = (random, pair) => {
  drawBits(random, pair);
  const below = random.below(1 << random.below(20));
  pair.words.set([~below, (random.word() & SIGN) | 0x7fcfffff], 2);
};

describe('the division macro at once', () => {
  const ofClasses = Object.fromEntries(Object.entries(classes).map(([name, of]) => [name, drawOf(of)]));
  const draws = { ...ofClasses, pairwise: pairwise(), besideSubnormal, subnormalTies };
  for (const [stream, [name, draw]] of Object.entries(draws).entries())
    it(`${name} (seed ${seed}, stream ${stream})`, () => {
      expect(check(draw, new Random(seed, stream))).toEqual([]);
    });

  it.each([0, 1])('leaves inactive lanes alone (form %i)', (form) => {
    const { macro, out } = forms[form]!;
    const [n, d] = [columns(), columns()];
    n[1].fill(0x3ff00000);
    d[1].fill(0x40080000);
    for (const lane of [6, 7]) d[1][lane] = 0;
    for (const words of Object.values(out).flat()) words.fill(0xdeadbeef);
    const active = Uint8Array.from({ length: LANES }, (_, i) => i & 1);
    macro.run(active, n, d);
    for (const words of Object.values(out).flat())
      for (let i = 0; i < LANES; i++) expect(words[i] === 0xdeadbeef).toBe(i % 2 === 0);
  });
});
