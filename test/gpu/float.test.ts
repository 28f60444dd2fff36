import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Control, IEEE_DEFAULT, KEEP_INPUT, Round } from '../../src/float/control.ts';
import * as exact from '../../src/float/exact.ts';
import { binary32, binary64, type Format } from '../../src/float/format.ts';
import { FLOAT64_FUNCTIONS } from '../../src/float64.ts';
import { TESTFLOAT_FILES, TESTFLOAT_INVALID, TESTFLOAT_MODES, testFloatLines } from '../float/files.ts';
import { operandsOf } from '../float/operands.ts';
import { OPERATIONS } from '../float/operations.ts';
import { type GpuFunction, openTestGpu, type TestGpu } from './harness.ts';

/**
 * The WGSL library on a real adapter, bit for bit: against the oracle on exact integers in every mode and NaN rule
 * (IEEE 754-2019 4.3, 5.4, 6.2, 7.4, 7.5), and against Berkeley TestFloat.
 */
const CASES = Number(process.env['FLOAT_GPU_CASES'] ?? 4000);
const SEED = Number(process.env['FLOAT_GPU_SEED'] ?? 20261130);

let gpu: TestGpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => gpu.close());

const hex = (bits: bigint): string => bits.toString(16);

/** What one WGSL function must give. `extra` is the k of mulAddScaled and the n of ldexp. */
type Check = {
  title: string;
  wgsl: string;
  operands: readonly Format[];
  extra?: bigint;
  oracle: (operands: readonly bigint[], control: Control) => bigint;
  /** Controls that the function knows. */
  controls?: (control: Control) => Control;
};

/** Minimum and maximum of IEEE 754-2008 5.3.1, zeros ordered: the rows that f64_compare.wesl states. */
function choose(format: Format, wanted: number, [a, b]: readonly bigint[], control: Control): bigint {
  const flush = (bits: bigint): bigint => {
    const subnormal = (bits & format.infinity) === 0n && (control & KEEP_INPUT) === 0;
    return subnormal ? bits & format.signMask : bits;
  };
  const [x, y] = [flush(a!), flush(b!)];
  const kind = (bits: bigint): string => ['signalling', 'quiet'][exact.classOf(format, bits)] ?? 'number';
  const pass = (bits: bigint): bigint => exact.add(format, bits, 0n, control);
  if (kind(x) === 'signalling') return pass(x);
  if (kind(y) === 'signalling') return pass(y);
  if (kind(x) === 'quiet') return kind(y) === 'quiet' ? pass(x) : y;
  if (kind(y) === 'quiet') return x;
  const relation = exact.relation(format, x, y, control);
  // Of two zeros the negative one is the smaller.
  const order = relation !== 2 ? relation : x === y ? 2 : x > y ? 1 : 4;
  return order === wanted ? x : y;
}

const both = (
  name: string,
  oracle: (format: Format, operands: readonly bigint[], control: Control) => bigint,
): Check[] =>
  [binary64, binary32].map((format) => ({
    title: `${format.name}_${name}`,
    wgsl: `${format.name}_${name}`,
    operands: [format, format],
    oracle: (operands, control) => oracle(format, operands, control),
  }));

const CHECKS: Check[] = [
  ...OPERATIONS.filter(({ name }) => !/^f64_(lt|le|eq)$/.test(name)).map((operation): Check => {
    const [wgsl, extra] = operation.name.replace('ui32', 'u32').split(' ');
    const truncates = /^f.*_to_[iu]32$/.test(wgsl!);
    return {
      title: operation.name,
      wgsl: wgsl!,
      operands: operation.operands,
      oracle: operation.oracle,
      ...(/^-?\d+$/.test(extra ?? '') && { extra: BigInt(extra!) }),
      ...(truncates && { controls: (control: Control) => control | Round.towardZero }),
    };
  }),
  ...both('min', (format, operands, control) => choose(format, 1, operands, control)),
  ...both('max', (format, operands, control) => choose(format, 4, operands, control)),
];

/** The arguments by the names of the parameters. */
function argumentsOf(
  parameters: readonly string[],
  check: Check,
  operands: readonly bigint[],
  control: Control,
): bigint[] {
  const apart = check.title.endsWith('apart') ? KEEP_INPUT : 0;
  const named: Record<string, bigint | undefined> = {
    control: BigInt(control),
    control32: BigInt(control),
    control64: BigInt(control ^ apart),
    rounding: BigInt(control & 3),
    k: check.extra,
    n: check.extra,
  };
  let next = 0;
  return parameters.map((parameter) => named[parameter] ?? operands[next++]!);
}

/** Small numbers from the seed: one linear congruential step each (Numerical Recipes' constants). */
function* draws(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 16;
  }
}

type Case = { operands: readonly bigint[]; control: Control };

const casesOf = (check: Check, count: number): Case[] => {
  const controls = draws(SEED);
  return fc.sample(operandsOf(check.operands), { numRuns: count, seed: SEED }).map((operands) => {
    const control = controls.next().value & 0x7f;
    return { operands, control: check.controls?.(control) ?? control };
  });
};

/** Runs the cases on the device and by the oracle; fails at the first that differs. */
async function expectAgreement(fn: GpuFunction, check: Check, cases: readonly Case[]): Promise<void> {
  const got = await fn.run(cases.map(({ operands, control }) => argumentsOf(fn.parameters, check, operands, control)));
  for (const [i, { operands, control }] of cases.entries()) {
    const want = check.oracle(operands, control);
    if (got[i] !== want) {
      const at = `${check.title}(${operands.map(hex).join(', ')}) control ${control.toString(2)}`;
      expect.fail(`${at}: WGSL ${hex(got[i]!)}, oracle ${hex(want)}`);
    }
  }
}

describe(`WGSL and exact integers give the same bits, seed ${SEED}`, () => {
  test.each(CHECKS)('$title', async (check) => {
    await expectAgreement(await gpu.compile(check.wgsl), check, casesOf(check, CASES));
  });

  test('every public function is among them', () => {
    const checked = new Set(CHECKS.map((check) => check.wgsl));
    // f64_is_below and f32_is_below are the order inside relation, minimum and maximum.
    const rest = FLOAT64_FUNCTIONS.filter((name) => !checked.has(name));
    expect(rest).toEqual(['f64_is_below', 'f32_is_below']);
  });
});

/** Half a unit below the smallest normal number: a tie that leaves the subnormals only when rounded to even. */
const BORDERS: [title: string, operands: bigint[]][] = [
  ['f64_mulAdd', [0x9e50000000000000n, 0x1e50000000000000n, 0x0010000000000000n]],
  ['f32_mulAdd', [0xa0000000n, 0x13800000n, 0x00800000n]],
];

describe('the border of tiny results, in every control', () => {
  test.each(BORDERS)('%s', async (title, operands) => {
    const check = CHECKS.find((known) => known.title === title)!;
    const nearest = operands.map((bits, i) => (i === 2 ? bits + 1n : bits));
    const controls = Array.from({ length: 128 }, (_, control) => control);
    const cases = controls.flatMap((control) => [operands, nearest].map((list) => ({ operands: list, control })));
    // Nearest even with the output flush: not tiny, although below the smallest normal number.
    expect(check.oracle(operands, KEEP_INPUT)).toBe(operands[2]);
    await expectAgreement(await gpu.compile(title), check, cases);
  });
});

/**
 * Quotients and roots take digits from f32 estimates, held below the truth by a constant. WGSL lets a driver err by 2.5
 * ulp in a quotient, 4.5 in a root, 1 in a product or conversion (WGSL 15.7.4.1); this one is better than that. So the
 * constant is moved by what is left, 5 * 2^-23 to either side: the integers must make up for it.
 */
const ESTIMATES: [wgsl: string, constants: string[]][] = [
  ['f64_div', ['262143.75']],
  ['f64_sqrt', ['63.99993896484375', '32767.875', '2047.99609375']],
  ['f32_div', ['8191.96875']],
  ['f32_sqrt', ['0.99999237060546875', '255.96875']],
];

describe(`f32 estimates as bad as WGSL allows, seed ${SEED}`, () => {
  const moved = ESTIMATES.flatMap(([wgsl, constants]) => [
    { wgsl, constants, error: 5 * 2 ** -23 },
    { wgsl, constants, error: -5 * 2 ** -23 },
  ]);
  test.each(moved)('$wgsl $error', async ({ wgsl, constants, error }) => {
    const check = CHECKS.find(({ title }) => title === wgsl)!;
    const fn = await gpu.compile(wgsl, (text) =>
      constants.reduce((edited, constant) => {
        expect(edited.split(constant).length, `${constant} in ${wgsl}.wesl`).toBe(2);
        return edited.replace(constant, `${Math.fround(Number(constant) * (1 + error))}f`);
      }, text),
    );
    await expectAgreement(fn, check, casesOf(check, CASES));
  });
});

/** Three of TestFloat's files are bits of the relation, each of the others is one function. */
const RELATION_BITS: Record<string, bigint> = { f64_lt: 1n, f64_eq: 2n, f64_le: 3n };
describe('Berkeley TestFloat', () => {
  test.each(TESTFLOAT_FILES)('%s', async (name) => {
    const operation = OPERATIONS.find((known) => known.name === name)!;
    const check: Check = { title: name, wgsl: name.replace('ui32', 'u32'), operands: [], oracle: operation.oracle };
    const mask = RELATION_BITS[name];
    const fn = await gpu.compile(mask ? 'f64_relation' : check.wgsl);
    const count = operation.operands.length;
    const truncates = /^f64_to_u?i/.test(name);
    const list = testFloatLines(name).flatMap((columns) => {
      const operands = columns.slice(0, count).map((word) => BigInt(`0x${word}`));
      const results = columns.slice(count);
      return TESTFLOAT_MODES.slice(0, results.length / 2).flatMap((round, i) => {
        // Out of range AMD's conversions saturate, which the oracle checks; the file has x86's value.
        const invalid = (Number.parseInt(results[2 * i + 1]!, 16) & TESTFLOAT_INVALID) !== 0;
        if (truncates && (round !== Round.towardZero || invalid)) return [];
        return [{ operands, control: (IEEE_DEFAULT & ~3) | round, want: BigInt(`0x${results[2 * i]}`) }];
      });
    });
    const got = await fn.run(list.map(({ operands, control }) => argumentsOf(fn.parameters, check, operands, control)));
    let compared = 0;
    for (const [i, { operands, control, want }] of list.entries()) {
      const bits = mask ? BigInt((got[i]! & mask) !== 0n) : got[i]!;
      // The files follow x86's choice of payload: NaN is compared as NaN.
      const nan = operation.format && exact.isNaNBits(operation.format, want);
      const same = nan ? exact.isNaNBits(operation.format!, bits) : bits === want;
      if (!same) {
        expect.fail(`${name}(${operands.map(hex).join(', ')}) mode ${control & 3}: ${hex(bits)}, file ${hex(want)}`);
      }
      compared++;
    }
    expect(compared).toBeGreaterThan(150);
  });
});
