// Vector files: columns and orders as TestFloat and the known answers have them, and comparison as the file's kind asks for.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { findInstruction } from '../../src/isa/instructions/index.ts';
import { caseDifference, columnsOf } from '../../src/verify/oneInstruction.ts';
import { parseColumns, parseKnownAnswers, parseTestFloat } from '../../src/verify/vectors.ts';

const ONE = [0, 0x3ff00000];

describe('TestFloat', () => {
  const line =
    '3ff0000000000000 4008000000000000 3fd5555555555555 01 3fd5555555555554 01 3fd5555555555553 01 3fd5555555555556 01';

  test.each([
    ['rne', 0x55555555],
    ['rtz', 0x55555554],
    ['rdn', 0x55555553],
    ['rup', 0x55555556],
  ] as const)('the columns of %s, the operands low word first', (round, low) => {
    const [group] = parseTestFloat(`${line}\n\n`, 'f64_div', round).groups;
    expect(group!.cases).toEqual([{ place: '1', sources: [ONE, [0, 0x40080000]], result: [low, 0x3fd55555] }]);
  });

  test('rounding modes as MODE has them, for f32 too', () => {
    const modes = (['rne', 'rup', 'rdn', 'rtz'] as const).map(
      (round) => parseTestFloat(line, 'f64_div', round).groups[0]!.mode,
    );
    expect(modes).toEqual([0x3f0, 0x3f5, 0x3fa, 0x3ff]);
  });

  test('a compare gives a flag; files of one mode have one result', () => {
    expect(parseTestFloat('3ff0000000000000 4008000000000000 1 00', 'f64_lt', 'rne').groups[0]!.cases).toEqual([
      { place: '1', sources: [ONE, [0, 0x40080000]], flag: 1 },
    ]);
  });

  test('invalid conversions are left out: x86 and AMD differ there', () => {
    const cases = 'c1e0000000000001 80000000 10\n3ff0000000000000 00000001 00\n7ff8000000000000 80000000 10';
    expect(parseTestFloat(cases, 'f64_to_i32', 'rne').groups[0]!.cases.map((c) => c.place)).toEqual(['2']);
  });

  test.runIf(existsSync('../shared/vectors/testfloat'))('every case of the files is read', () => {
    const text = gunzipSync(readFileSync('../shared/vectors/testfloat/f64_mulAdd.txt.gz')).toString();
    expect(parseTestFloat(text, 'f64_mulAdd', 'rup').groups[0]!.cases.length).toBe(29068);
  });
});

describe('known answers', () => {
  const answers = JSON.stringify([
    {
      instr: 'v_div_scale_f64',
      gen: 'gfx1100,gfx1201',
      in: ['0x3ff0000000000000', '0x3ff0000000000000', '0x3ff0000000000000'],
      out: '0x3ff0000000000000',
      vcc: 1,
      mode: { round: 2, denorm32: 1, denorm16_64: 3 },
    },
    { instr: 'v_div_fmas_f32', gen: 'gfx1100', in: ['0x00000001', '0x00000002', '0x00000003'], out: 'NaN', vcc: 1 },
    {
      instr: 'v_rsq_f32',
      gen: 'gfx1201',
      in: ['inputs 0x3f800000+i for i = 0..2^24-1'],
      out: '0x010bc79eb6e48caf',
      kind: 'digest',
    },
  ]);

  test('groups by instruction, targets and MODE; VCC is read by v_div_fmas and written by others', () => {
    const { groups, digests } = parseKnownAnswers(answers);
    expect(groups).toEqual([
      {
        operation: 'v_div_scale_f64',
        targets: ['gfx1100', 'gfx1201'],
        mode: 0x3da,
        anyNan: false,
        cases: [{ place: '[0]', sources: [ONE, ONE, ONE], result: ONE, flag: 1 }],
      },
      {
        operation: 'v_div_fmas_f32',
        targets: ['gfx1100'],
        mode: 0x3f0,
        anyNan: false,
        cases: [{ place: '[1]', sources: [[1], [2], [3]], result: 'nan', vcc: 1 }],
      },
    ]);
    expect(digests).toEqual([
      {
        place: '[2]',
        operation: 'v_rsq_f32',
        targets: ['gfx1201'],
        first: 0x3f800000,
        count: 2 ** 24,
        hash: '010bc79eb6e48caf',
      },
    ]);
  });
});

describe('captured columns', () => {
  test('sources, result and the bit that the instruction writes', () => {
    const digits = columnsOf(findInstruction('v_div_scale_f32')!);
    expect(digits).toEqual([8, 8, 8, 8, 1]);
    const { groups } = parseColumns('3f800000 00000001 3f800000 7fc00000 1\n', 'v_div_scale_f32', digits, []);
    expect(groups[0]!.cases).toEqual([
      { place: '1', sources: [[0x3f800000], [1], [0x3f800000]], result: [0x7fc00000], flag: 1 },
    ]);
    expect(columnsOf(findInstruction('v_rcp_f64')!)).toEqual([16, 16]);
  });
});

describe('comparison', () => {
  const group = (anyNan: boolean) => ({ operation: 'x', targets: [], mode: 0, anyNan, cases: [] });
  const wanted = (result: readonly number[] | 'nan', flag?: number) => ({
    place: '1',
    sources: [],
    result,
    ...(flag !== undefined && { flag }),
  });

  test('bits: signed zeros and NaN payloads differ', () => {
    expect(caseDifference(wanted([0, 0]), group(false), [0, 0x80000000], 0)).toEqual({
      expected: '0000000000000000',
      got: '8000000000000000',
    });
    expect(caseDifference(wanted([0, 0x7ff80000]), group(false), [1, 0x7ff80000], 0)).toBeDefined();
    expect(caseDifference(wanted([0, 0x7ff80000]), group(false), [0, 0x7ff80000], 0)).toBeUndefined();
  });

  test('any NaN where the file has no payloads of its own; a number is none', () => {
    expect(caseDifference(wanted([0, 0x7ff80000]), group(true), [1, 0xfff00000], 0)).toBeUndefined();
    expect(caseDifference(wanted('nan'), group(false), [0x7fc00001], 0)).toBeUndefined();
    expect(caseDifference(wanted('nan'), group(true), [0, 0x7ff00000], 0)).toEqual({
      expected: 'NaN',
      got: '7ff0000000000000',
    });
    expect(caseDifference(wanted(ONE), group(true), [0, 0x7ff80000], 0)).toBeDefined();
  });

  test('the flag counts beside the result', () => {
    expect(caseDifference(wanted(ONE, 1), group(false), ONE, 0)).toEqual({ expected: 'vcc 1', got: 'vcc 0' });
  });
});
