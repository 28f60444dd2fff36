// Bad input ends with exit code 2 and one line: where (file, line and column, or a JSON path), what is wrong, what is allowed.
// Nothing runs: the engines of these tests can't be opened.
import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inFolder, wave64 } from './cli.ts';
import { commands, programs, states } from './malformed.ts';

const PROGRAM = 'v_rcp_f64 v[0:1], v[2:3]\ns_endpgm\n';

const row = (fields: object) => JSON.stringify([{ gen: 'gfx1100', in: ['0x00000000'], out: '0x00000000', ...fields }]);

const files = {
  'p.s': PROGRAM,
  'in.json': '{"waves":[{}],"target":"gfx90a","wave":64}',
  'bad.json': row({ instr: 'v_rcp_f64', in: ['0x12'] }),
  'digest.json': row({ instr: 'v_rcp_f32', in: ['all'], kind: 'digest' }),
  'name.json': row({ instr: 'v_nope' }),
  'gen.json': row({ instr: 'v_rcp_f32', gen: 'gfx1' }),
  'odd.bin': Uint8Array.of(1, 2, 3),
  'bad.txt.gz': Uint8Array.of(0x1f, 0x8b, 1, 2, 3),
  'row.txt': '0000000000000000 000000000000000g 0000000000000000 00\n',
};

/** One command in a folder of files. */
async function ended(argv: readonly string[], more: Readonly<Record<string, string | Uint8Array>> = {}) {
  const folder = inFolder({ ...files, ...more });
  try {
    return await wave64(argv);
  } finally {
    folder.close();
  }
}

const failed = (message: string) => ({ exit: 2, out: '', err: `wave64: ${message}\n` });

describe('malformed programs', () => {
  test.each(programs)('%j on %s', async (text, target, message) => {
    expect(await ended(['asm', 'p.s', '--target', target], { 'p.s': text })).toEqual(failed(message));
  });
});

describe('malformed state files', () => {
  test.each(states)('%s', async (text, message) => {
    expect(await ended(['run', 'p.s', '--state', 'in.json'], { 'in.json': text })).toEqual(failed(message));
  });
});

describe('malformed command lines', () => {
  test.each(commands)('wave64 %s', async (argv, message) => {
    expect(await ended(argv.split(' ').filter(Boolean))).toEqual(failed(message));
  });
});

describe('hostile sizes', () => {
  let folder: { close: () => void };
  beforeAll(() => {
    folder = inFolder({ 'p.s': PROGRAM });
  });
  afterAll(() => folder.close());

  test.each([
    ['run p.s --state huge', 'huge: has 300000000 bytes; allowed: at most 268435456'],
    ['verify p.s --state huge', 'huge: has 300000000 bytes; allowed: at most 268435456'],
    ['asm huge', 'huge: has 300000000 bytes; allowed: at most 16777216'],
    ['disasm huge', 'huge: has 300000000 bytes; allowed: at most 16777216'],
    ['vectors huge', 'huge: has 300000000 bytes; allowed: at most 268435456'],
  ])('wave64 %s', async (argv, message) => {
    const file = openSync('huge', 'w');
    ftruncateSync(file, 300_000_000); // sparse: takes no room
    closeSync(file);
    expect(await wave64(argv.split(' '))).toEqual(failed(message));
  });

  test('JSON nested a hundred thousand deep', async () => {
    const end = await ended(['run', 'p.s', '--state', 'in.json'], { 'in.json': '['.repeat(100_000) });
    expect(end).toEqual(failed("in.json:1:100001: no JSON: file ends; allowed: a value or ']'"));
  });

  test('more LDS than the target has', async () => {
    const waves = [{}, { lds: Array(16385).fill('00000000') }];
    const end = await ended(['run', 'p.s', '--state', 'in.json'], { 'in.json': JSON.stringify({ waves }) });
    expect(end).toEqual(failed('in.json: waves[1].lds has 16385 words; allowed: 16384 on gfx90a'));
  });

  test('65,537 waves', async () => {
    const end = await ended(['run', 'p.s', '--state', 'in.json'], {
      'in.json': JSON.stringify({ waves: Array(65537).fill({}) }),
    });
    expect(end).toEqual(failed('in.json: waves has too many waves; allowed: at most 65536'));
  });
});

describe('messages are one line, the stack only with --debug', () => {
  test('without', async () => expect((await ended(['asm', 'missing.s'])).err.split('\n')).toHaveLength(2));
  test('with', async () => expect((await ended(['asm', 'missing.s', '--debug'])).err).toMatch(/\n +at /));
});
