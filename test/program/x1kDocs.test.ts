/** docs/x1k.md: every example assembles and gives the registers that it promises; the operations listed are those that there are. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { x1kTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { mnemonicsOf } from '../../src/program/mnemonics.ts';
import { x1kExamples, x1kRegisters, x1kState } from '../../src/program/x1k/examples.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';

const doc = readFileSync(new URL('../../docs/x1k.md', import.meta.url), 'utf8');
const examples = [...doc.matchAll(/^### (.+)\n\n```x1k\n([^`]+)```/gm)].map(
  ([, title, text]) => [title!, text!] as const,
);

describe('docs/x1k.md', () => {
  it('has the examples of the page', () => {
    expect(examples).toEqual(x1kExamples.map(({ title, text }) => [title, text]));
    expect([...doc.matchAll(/```/g)]).toHaveLength(2 * examples.length);
  });

  it.each(examples)('%s', async (_, text) => {
    const program = assemble(text, { target: x1kTarget });
    const { state: end } = await new ReferenceEngine().run(program, x1kState(program, text));
    const promised = x1kRegisters(text, '->');
    expect(promised.size).toBeGreaterThan(0);
    const hex = (words: readonly number[]) => words.map((word) => word.toString(16).padStart(8, '0')).join(' ');
    for (const [register, words] of promised)
      for (const lane of [0, 63])
        expect(`r${register} ${hex([0, 1, 2, 3].map((i) => end.vgpr(0, 4 * register + i)[lane]!))}`).toBe(
          `r${register} ${hex(words)}`,
        );
  });

  it('lists every operation', () => {
    const listed = [...doc.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)/g)].map((m) => m[1]!),
    );
    expect(listed.sort()).toEqual([...mnemonicsOf(x1kTarget).keys()].sort());
  });
});
