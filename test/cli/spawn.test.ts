// The launcher as a process: exit codes, streams, Ctrl-C, and that nothing keeps it alive.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../../src/cli/wave64.js', import.meta.url));

function start(argv: string): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; out: string; err: string }>;
} {
  const child = spawn(process.execPath, [launcher, ...argv.split(' ')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout!.on('data', (data) => (out += data));
  child.stderr!.on('data', (data) => (err += data));
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err }))) };
}

describe('node src/cli/wave64.js', () => {
  test('usage errors are one line on stderr', async () => {
    expect(await start('asm missing.s').ended).toEqual({
      code: 2,
      out: '',
      err: 'wave64: missing.s: no such file; allowed: a file that can be read\n',
    });
  });

  test('--json prints one document; the driver process ends with the command', async () => {
    const { code, out, err } = await start('verify --waves 4 --json').ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ mismatches: 0, engines: [{ name: 'webgpu' }, { name: 'reference' }] });
  });

  test('a progress bar goes to stderr, the table to stdout', async () => {
    const { code, out, err } = await start('verify --pairs 64 --engine reference').ended;
    expect(code).toBe(0);
    expect(err).toMatch(/100% \| 1\/1 waves/);
    expect(out).toMatch(/│ reference +│/);
  });

  test('Ctrl-C ends after the batch, prints what was done, and gives 4', async () => {
    const { child, ended } = start('verify --pairs 1G --engine reference');
    child.stderr!.once('data', () => setTimeout(() => child.kill('SIGINT'), 1000));
    const { code, out, err } = await ended;
    expect(code).toBe(4);
    expect(err).toMatch(/wave64: interrupted; \d+ of 7630 batches are done and reported\n$/);
    expect(out).toMatch(/│ reference +│/);
  });

  test('a reader that closes the pipe is no error', async () => {
    const { child, ended } = start('verify --help');
    child.stdout!.destroy();
    expect((await ended).code).toBe(0);
  });
});
