// The target x1k in the commands: text instead of bytes, state files by component, the built-in program, and what it has not.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { EngineSource } from '../../src/cli/io.ts';
import { EngineError } from '../../src/engine.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { inFolder, wave64 } from './cli.ts';

const engines: EngineSource = {
  reference: async () => new ReferenceEngine(),
  webgpu: () => Promise.reject(new EngineError('unavailable', 'no WebGPU adapter')),
  adapter: () => Promise.reject(new Error('an adapter was asked for')),
};

let folder: { close: () => void } | undefined;
afterEach(() => {
  folder?.close();
  folder = undefined;
});

const PROGRAM = 'MIN r2.xy, r0, -|r1|.yxzw *2 sat ; comment\nmad r1,r0.x,r0.x,(1-r0) \nend\n';
const TEXT = 'min r2.xy, r0, -|r1|.yxzw *2 sat\nmad r1, r0.x, r0.x, (1-r0)\nend\n';

const write = (state: object = {}) => {
  folder = inFolder({ 'p.x1k': PROGRAM, 's.json': JSON.stringify(state) });
};

describe('asm and disasm', () => {
  test('asm checks a program and prints it in its one spelling', async () => {
    write();
    expect(await wave64(['asm', 'p.x1k', '--target', 'x1k'])).toEqual({ exit: 0, out: TEXT, err: '' });
    const { exit, out } = await wave64(['asm', 'p.x1k', '--target', 'x1k', '--out', 'q.x1k']);
    expect([exit, out, readFileSync('q.x1k', 'utf8')]).toEqual([0, '', TEXT]);
    const json = JSON.parse((await wave64(['asm', 'p.x1k', '--target', 'x1k', '--json'])).out);
    expect(json).toMatchObject({ command: 'asm', target: 'x1k', wave: 64, vgprs: 12 });
    expect(json.instructions[1]).toEqual({ pc: 1, text: 'mad r1, r0.x, r0.x, (1-r0)', line: 2, column: 1 });
  });

  test('an error has its line and column, exit 2', async () => {
    folder = inFolder({ 'p.x1k': 'mov r0, r1\nrcp r0, r1 omod_disabled\n' });
    const { exit, err } = await wave64(['asm', 'p.x1k', '--target', 'x1k']);
    expect([exit, err]).toEqual([2, 'wave64: p.x1k:2:12: omod_disabled is for min, max, cnd, cmp and mov, not rcp\n']);
  });

  test.each([
    ['disasm', ['disasm', 'p.x1k'], 'its programs are text and have no bytes'],
    ['bench', ['bench'], 'bench measures AMDGPU instructions'],
    ['wave32', ['asm', 'p.x1k', '--wave', '32'], 'x1k has no wave32'],
    ['pairs', ['verify', '--pairs', '10'], 'x1k lacks'],
  ])('%s has nothing for it: one line, exit 2', async (_, argv, reason) => {
    write();
    const { exit, err } = await wave64([...argv, '--target', 'x1k']);
    expect(exit).toBe(2);
    expect(err).toContain(reason);
    expect(err).toContain('allowed: ');
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('nor have vectors without a target of their own', async () => {
    folder = inFolder({ 'v.txt': '3FF0000000000000 3FF0000000000000 4000000000000000 00\n' });
    const argv = ['vectors', 'v.txt', '--format', 'testfloat', '--op', 'f64_add', '--target', 'x1k'];
    const { exit, err } = await wave64(argv, engines);
    expect([exit, err]).toEqual([2, expect.stringContaining('vectors are for AMDGPU instructions')]);
  });
});

describe('run', () => {
  test('a state file names components by VGPR, and MODE is the switch of rounding', async () => {
    // r0 = (3, 0.5, 0, 0); mad: 9 + (1 - r0)
    const wave = { v: { 0: '40400000', 1: '3f000000', 4: '3f800000', 5: '3f000000' } };
    write({ target: 'x1k', wave: 64, waves: [wave] });
    const { exit, out } = await wave64(['run', 'p.x1k', '--state', 's.json', '--engine', 'reference'], engines);
    expect(exit).toBe(0);
    const { v } = JSON.parse(out).waves[0];
    expect([v[4], v[5], v[6], v[7]]).toEqual(['40e00000', '41180000', '41200000', '41200000']);
    expect([v[8], v[9], v[10], v[11]]).toEqual(['00000000', '00000000', '00000000', '00000000']);
  });

  test.each([
    ['00000000', '3eaaaaab'],
    ['00000003', '3eaaaaaa'],
  ])('mode %s: 1/3 is %s', async (mode, third) => {
    folder = inFolder({
      'p.x1k': 'rcp r1, r0.x\n',
      's.json': JSON.stringify({ target: 'x1k', mode, waves: [{ v: { 0: '40400000' } }] }),
    });
    const { out } = await wave64(['run', 'p.x1k', '--state', 's.json', '--engine', 'reference'], engines);
    expect(JSON.parse(out).waves[0].v[7]).toBe(third);
  });

  test('LDS and scalar registers do not exist', async () => {
    write({ target: 'x1k', waves: [{ lds: ['00000000'] }] });
    const { exit, err } = await wave64(['run', 'p.x1k', '--state', 's.json', '--engine', 'reference'], engines);
    expect([exit, err]).toEqual([2, expect.stringContaining('allowed: 0 on x1k')]);
  });

  test('--max-steps counts operations; the fault has its line', async () => {
    write({ target: 'x1k', waves: [{}] });
    const argv = ['run', 'p.x1k', '--state', 's.json', '--engine', 'reference', '--max-steps', '1'];
    const { exit, err } = await wave64(argv, engines);
    expect([exit, err]).toEqual([4, expect.stringContaining('p.x1k:2:1: wave 0, pc 0x1, mad: more instructions')]);
  });
});

describe('verify', () => {
  test('without a program every operation runs on random registers', async () => {
    const argv = [
      'verify',
      '--target',
      'x1k',
      '--waves',
      '3',
      '--seed',
      '5',
      '--round',
      'rtz',
      '--engine',
      'reference',
      '--json',
    ];
    const { exit, out } = await wave64(argv, engines);
    const report = JSON.parse(out);
    expect(exit).toBe(0);
    expect(report).toMatchObject({ target: 'x1k', waves: 3, lanes: 192, round: 'rtz' });
    const fidelity = Object.fromEntries(
      report.fidelity.map((row: { instruction: string; fidelity: string }) => [row.instruction, row.fidelity]),
    );
    expect(fidelity).toMatchObject({ mad: 'modelled', min: 'documented', mov: 'documented', sin: 'modelled' });
  });

  test('a program runs on random registers too', async () => {
    write();
    const { exit } = await wave64(['verify', 'p.x1k', '--target', 'x1k', '--engine', 'reference'], engines);
    expect(exit).toBe(0);
  });
});
