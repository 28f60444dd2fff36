/** `npm run docs`: writes docs/instructions.md from the instruction objects. */
import { writeFileSync } from 'node:fs';
import { instructionSheet } from '../src/isa/sheet.ts';

writeFileSync(new URL('instructions.md', import.meta.url), instructionSheet());
