/**
 * The house: a folder imports only from the floors below it. The reference, the WebGPU engine and verify stand side by side and
 * know nothing of each other, so that each can be checked against the other; only the command line and the page choose engines.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** What each floor may import, itself included. */
const below: Record<string, readonly string[]> = {
  float: ['float'],
  wavefront: ['float', 'wavefront'],
  isa: ['float', 'wavefront', 'isa'],
  program: ['float', 'wavefront', 'isa', 'program'],
  'engine.ts': ['wavefront', 'isa', 'program'],
  reference: ['float', 'wavefront', 'isa', 'program', 'engine.ts', 'reference'],
  gpu: ['float', 'wavefront', 'isa', 'program', 'engine.ts', 'gpu'],
  verify: ['float', 'wavefront', 'isa', 'program', 'engine.ts', 'verify'],
  'float64.ts': ['float', 'gpu'],
  bench: ['float', 'wavefront', 'isa', 'program', 'engine.ts', 'reference', 'gpu', 'verify', 'bench'],
  cli: [
    'float',
    'wavefront',
    'isa',
    'program',
    'engine.ts',
    'reference',
    'gpu',
    'verify',
    'float64.ts',
    'bench',
    'cli',
  ],
  app: [
    'float',
    'wavefront',
    'isa',
    'program',
    'engine.ts',
    'reference',
    'gpu',
    'verify',
    'float64.ts',
    'bench',
    'app',
  ],
};

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) => /\.[jt]s$/.test(f));
const floorOf = (path: string) => relative(src, path).split(sep)[0]!;

/** Relative module specifiers of a source, whatever the form of import. */
const specifiers = (text: string) =>
  [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*)['"](\.{1,2}\/[^'"?]+)[^'"]*['"]/g)].map((m) => m[1]!);

describe('floors', () => {
  it('every file of src stands on a known floor', () => {
    const unknown = files.filter((f) => !(f.split(sep)[0]! in below));
    expect(unknown).toEqual([]);
  });

  it('imports go down only', () => {
    const upward: string[] = [];
    for (const file of files) {
      const path = join(src, file);
      for (const specifier of specifiers(readFileSync(path, 'utf8'))) {
        const imported = join(dirname(path), specifier);
        if (!imported.startsWith(src)) continue;
        if (!below[floorOf(path)]?.includes(floorOf(imported))) upward.push(`${file} imports ${specifier}`);
      }
    }
    expect(upward).toEqual([]);
  });

  it('sees an upward import where there is one', () => {
    expect(specifiers(`import { x } from '../gpu/engine.ts';\nawait import("./a.ts"); export * from './b.ts'`)).toEqual(
      ['../gpu/engine.ts', './a.ts', './b.ts'],
    );
  });
});
