/** docs/instructions.md is what the instruction objects say. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { instructionSheet } from '../../src/isa/sheet.ts';

it('docs/instructions.md is up to date (npm run docs)', () => {
  expect(readFileSync(new URL('../../docs/instructions.md', import.meta.url), 'utf8')).toBe(instructionSheet());
});
