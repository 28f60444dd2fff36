/**
 * The package as others install it: packed by npm, unpacked elsewhere, its export imported by plain Node (no TypeScript loader).
 * What the export makes must be WGSL that stands alone.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'wave64-package-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('wave64/float64 works from the packed package', () => {
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8' });
  const name = /"filename":\s*"([^"]+)"/.exec(packed)![1]!;
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'wave64'), { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, name), '-C', join(modules, 'wave64'), '--strip-components=1']);
  symlinkSync(join(root, 'node_modules', 'wesl'), join(modules, 'wesl'), 'dir');
  writeFileSync(
    join(folder, 'use.mjs'),
    `import { float64Wgsl, IEEE_DEFAULT } from 'wave64/float64';
     console.log(JSON.stringify({ wgsl: await float64Wgsl(['f64_add', 'f64_to_f32']), control: IEEE_DEFAULT }));`,
  );
  const { wgsl, control } = JSON.parse(execFileSync('node', ['use.mjs'], { cwd: folder, encoding: 'utf8' }));
  expect(control).toBe(0b11100);
  expect(wgsl).toMatch(/^fn f64_add\(/m);
  expect(wgsl).toMatch(/^fn f64_to_f32\(/m);
  expect(wgsl).not.toMatch(/\bfn f64_div\b|\bimport\b/);
  // Of the shaders only the float library is in it.
  const bundle = readFileSync(join(modules, 'wave64', 'lib', 'float64.js'), 'utf8');
  expect(bundle).toContain('fn f64_div(');
  expect(bundle).not.toContain('v_div_scale');
});
