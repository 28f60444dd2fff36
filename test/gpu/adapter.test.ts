import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openGpu } from '../../src/gpu/adapter.node.ts';
import { tarFiles } from '../../src/gpu/adapter.swiftshader.ts';
import { openDevice } from '../../src/gpu/adapter.ts';
import { linkShader } from '../../src/gpu/link.ts';

/** One ustar entry: header with its checksum, content, padding (POSIX.1-1988, 10.1.1). */
function tarEntry(name: string, content: string, size = content.length): Buffer {
  const block = Buffer.alloc(512 + Math.ceil(content.length / 512) * 512);
  block.write(name, 0, 'latin1');
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.fill(' ', 148, 156);
  block.write('0', 156, 'latin1');
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  block.write(content, 512, 'latin1');
  return block;
}

describe('tarFiles', () => {
  it('gives each file with its bytes and ends at the zero block', () => {
    const tar = Buffer.concat([
      tarEntry('a', 'x'.repeat(513)),
      tarEntry('b/c', ''),
      Buffer.alloc(1024),
      Buffer.from('rest'),
    ]);
    const files = [...tarFiles(tar)].map(({ name, content }) => [name, Buffer.from(content).toString('latin1')]);
    expect(files).toEqual([
      ['a', 'x'.repeat(513)],
      ['b/c', ''],
    ]);
  });

  it('refuses a file that runs past the end, and a header with a wrong checksum', () => {
    expect(() => [...tarFiles(tarEntry('long', 'abc', 4000))]).toThrow('long runs past the end');
    const broken = tarEntry('a', 'abc');
    broken[0] = 0x62;
    expect(() => [...tarFiles(broken)]).toThrow('bad header at byte 0');
  });
});

describe('openGpu', () => {
  it('opens an adapter after npm ci alone, says which and why, and its device takes the limits of the adapter', async () => {
    const { adapter, choice } = await openGpu();
    expect(choice.reasons.join('; ')).toContain(choice.description);
    expect(['system', 'swiftshader']).toContain(choice.driver);
    const limit = adapter!.limits.maxComputeWorkgroupStorageSize;
    const device = await openDevice(adapter!);
    expect(device.limits.maxComputeWorkgroupStorageSize).toBe(limit);
    device.destroy();
    await expect(device.lost).resolves.toMatchObject({ reason: 'destroyed' });
  });

  it('refuses a driver that does not exist', async () => {
    await expect(openGpu({ driver: 'lavapipe' })).rejects.toThrow('there are auto, system, swiftshader');
  });
});

/** Runs an ES module in a Node of its own: a process can't unload a Vulkan driver or a package. */
const inNode = (code: string, env: Record<string, string> = {}): string =>
  execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 60_000,
  });

describe('openGpu in a process of its own', () => {
  it('falls back to SwiftShader, and a process with a destroyed device ends by itself', () => {
    const out = inNode(`
      const { openGpu } = await import('./src/gpu/adapter.node.ts');
      const { openDevice } = await import('./src/gpu/adapter.ts');
      const { adapter, choice } = await openGpu({ driver: 'swiftshader' });
      (await openDevice(adapter)).destroy();
      console.log(choice.driver, choice.software, adapter.info.architecture);`);
    expect(out.trim()).toBe('swiftshader true swiftshader');
  });

  it('several processes that unpack the driver at once all get it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'wave64-test-'));
    try {
      const out = inNode(
        `
        import { spawn } from 'node:child_process';
        const code = "const { openGpu } = await import('./src/gpu/adapter.node.ts');" +
          "console.log((await openGpu({ driver: 'swiftshader' })).choice.driver)";
        const one = () => new Promise((done) => {
          const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code]);
          let text = '';
          child.stdout.on('data', (data) => { text += data; });
          child.on('close', () => done(text.trim()));
        });
        console.log((await Promise.all([one(), one(), one()])).join());`,
        { WAVE64_CACHE: home },
      );
      expect(out.trim()).toBe('swiftshader,swiftshader,swiftshader');
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('says what to install when the packages are missing', () => {
    const out = inNode(`
      import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(\`export function resolve(name, context, next) {
        if (name === 'webgpu') throw Object.assign(new Error("Cannot find package 'webgpu'"), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(name, context);
      }\`));
      const { openGpu } = await import('./src/gpu/adapter.node.ts');
      const { gpu, choice } = await openGpu();
      console.log(gpu, choice.driver, choice.reasons.join('|'));`);
    expect(out).toMatch(/^undefined none npm webgpu does not load .*npm install webgpu.*Cannot find package 'webgpu'/);
  });
});

describe('linkShader', () => {
  const kernel = (body: string) => ({ 'kernel.wesl': body });

  it('links an extra module with what it refers to and nothing else', async () => {
    const text = await linkShader('kernel', {
      sources: kernel(
        'import package::float::control::{round_of, QUIET};\nfn f() -> u32 { return round_of(QUIET); }\n',
      ),
    });
    expect(text).toContain('fn round_of');
    expect(text).toContain('const QUIET');
    expect(text).not.toContain('KEEP_INPUT');
  });

  it('hands in constants of the host', async () => {
    const text = await linkShader('kernel', {
      sources: kernel('import constants::LANES;\nfn f() -> u32 { return u32(LANES); }\n'),
      constants: { LANES: 64 },
    });
    expect(text).toMatch(/const LANES\s*=\s*64/);
  });

  it('reports a module that does not exist, and one that does not parse', async () => {
    await expect(linkShader('nowhere')).rejects.toThrow('nowhere');
    await expect(linkShader('kernel', { sources: kernel('fn f( {') })).rejects.toThrow();
  });
});
