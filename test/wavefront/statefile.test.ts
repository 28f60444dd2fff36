// The state file: defaults (registers 0, EXEC all ones, MODE as kernels start), widths by wave size, one LDS a workgroup given by its
// first wave; what is printed reads back as the same state.
import { describe, expect, test } from 'vitest';
import { findJsonProblem } from '../../src/wavefront/json.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { packState, parseStateFile, shapeOf, waveEntry } from '../../src/wavefront/statefile.ts';

const needs = { vgprs: 4, sgprs: 8, ldsWords: 0 };

const pack = (json: object) => {
  const file = parseStateFile(JSON.stringify(json));
  return packState(file, shapeOf(file, file.wave ?? 64, needs));
};

describe('defaults', () => {
  test('an empty wave: registers 0, EXEC all ones, MODE 3f0', () => {
    const state = pack({ waves: [{}] });
    expect(state.layout.shape).toEqual({ waveSize: 64, waves: 1, wavesPerGroup: 1, ...needs });
    expect([state.special(0, Special.execLo), state.special(0, Special.execHi)]).toEqual([0xffffffff, 0xffffffff]);
    expect(state.special(0, Special.mode)).toBe(0x3f0);
    expect(state.words.reduce((sum, word) => sum + word, 0)).toBe(2 * 0xffffffff + 0x3f0);
  });

  test('wave32 has no high half of EXEC', () => {
    const state = pack({ wave: 32, waves: [{}] });
    expect([state.special(0, Special.execLo), state.special(0, Special.execHi)]).toEqual([0xffffffff, 0]);
  });

  test('a wave without MODE takes that of the file', () => {
    const state = pack({ mode: '000000f4', waves: [{}, { mode: '000000c0' }] });
    expect([0, 1].map((wave) => state.special(wave, Special.mode))).toEqual([0xf4, 0xc0]);
  });
});

test('every field goes to its register; masks are written high word first', () => {
  const lanes = Array.from({ length: 64 }, (_, lane) => lane.toString(16).padStart(8, '0'));
  const state = pack({
    waves: [
      {
        exec: '0123456789abcdef',
        vcc: 'fedcba9876543210',
        scc: 1,
        m0: '00000007',
        s: { 4: 'DEADBEEF' },
        v: { 0: '3ff00000', 9: lanes },
      },
    ],
  });
  expect(state.layout.shape.vgprs).toBe(10);
  const special = (word: number) => state.special(0, word);
  expect([special(Special.execHi), special(Special.execLo)]).toEqual([0x01234567, 0x89abcdef]);
  expect([special(Special.vccHi), special(Special.vccLo)]).toEqual([0xfedcba98, 0x76543210]);
  expect([special(Special.scc), special(Special.m0), state.scalar(0, 4)]).toEqual([1, 7, 0xdeadbeef]);
  expect([...new Set(state.vgpr(0, 0))]).toEqual([0x3ff00000]);
  expect([...state.vgpr(0, 9)]).toEqual(lanes.map((_, lane) => lane));
});

test('waves of a workgroup share the LDS of the first', () => {
  const state = pack({ waves_per_workgroup: 2, waves: [{ lds: ['00000001', '00000002'] }, {}, {}, {}] });
  expect(state.layout.shape).toMatchObject({ wavesPerGroup: 2, ldsWords: 2 });
  expect([[...state.lds(0)], [...state.lds(1)]]).toEqual([
    [1, 2],
    [0, 0],
  ]);
});

test('a printed wave reads back as the same words', () => {
  const lanes = Array.from({ length: 32 }, (_, lane) => (0x80000000 + lane).toString(16));
  const file = {
    wave: 32,
    waves: [
      {
        exec: '0000ffff',
        vcc: '80000001',
        scc: 1 as const,
        m0: 'ffffffff',
        mode: '000000c3',
        s: { 1: '00000005' },
        v: { 2: lanes },
        lds: ['00000000', '7ff80000'],
      },
    ],
  };
  const state = pack(file);
  const entry = waveEntry(state, 0, { vgprs: [0, 2], sgprs: [1, 3] }, file.waves[0]);
  expect(entry).toEqual({ ...file.waves[0], s: { 1: '00000005', 3: '00000000' }, v: { 0: '00000000', 2: lanes } });
  expect(pack({ wave: 32, waves: [entry] }).words).toEqual(state.words);
});

test('LDS is printed as far as it is given or not 0', () => {
  const state = pack({ waves: [{ lds: ['00000000', '00000000', '00000000', '00000000'] }] });
  const listed = { vgprs: [], sgprs: [] };
  expect(waveEntry(state, 0, listed).lds).toBeUndefined();
  expect(waveEntry(state, 0, listed, { lds: ['00000000', '00000000'] }).lds).toEqual(['00000000', '00000000']);
  state.lds(0)[2] = 10;
  expect(waveEntry(state, 0, listed).lds).toEqual(['00000000', '00000000', '0000000a']);
});

describe('the place where a text stops being JSON (RFC 8259)', () => {
  test.each([
    ['{"a": [1, -2.5e+3, "x\\u00e9", true, null, {}]}', undefined],
    [' 7 ', undefined],
    ['', '1:1 file ends'],
    ['[01]', '1:3 unexpected'],
    ['[+1]', '1:2 unexpected'],
    ['{"a":1 "b"}', '1:8 unexpected'],
    ['{\n "a": 1,\n}', '3:1 unexpected'],
    ['["a\n"]', '1:2 a string that does not end'],
    ['[1}', '1:3 unexpected'],
    ['[NaN]', '1:2 unexpected'],
  ])('%j', (text, expected) => {
    const problem = findJsonProblem(text);
    if (expected === undefined) {
      expect(problem).toBeUndefined();
      expect(() => JSON.parse(text)).not.toThrow();
    } else {
      expect(() => JSON.parse(text)).toThrow();
      expect(`${problem?.line}:${problem?.column} ${problem?.message.replace('no JSON: ', '')}`).toContain(expected);
    }
  });
});
