/** docs/instructions.md: every instruction, how far its results can be trusted on each target, and where AMD's text and chips part. */
import { formOn, type InstructionDef } from './instruction.ts';
import { instructions } from './instructions/index.ts';
import { type Target, targets } from './target.ts';

const intro = `# Instructions

Written by \`npm run docs\` from the instruction objects in \`src/isa/instructions\`; change it there.

**Fidelity** of an instruction on a target, in the hardware profile: **M** measured (a source read it off that chip's family),
**d** documented (follows AMD's text, no measurement is known), **m** modelled (we had to decide), **a** approximate, \`-\` the target doesn't have it.
The operations of the target \`x1k\` are in [x1k.md](x1k.md).
`;

const letter = (def: InstructionDef, target: Target): string => {
  if (formOn(def, target) === undefined) return '-';
  const fidelity = def.fidelity({ target, profile: 'hardware' });
  return { measured: '**M**', documented: 'd', modelled: 'm', approximate: 'a' }[fidelity];
};

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;

const heading = (cells: readonly string[]) => row(cells) + row(cells.map(() => '---'));

const cell = (text: string) => text.replaceAll('|', '\\|');

/** The whole page, as Markdown. */
export function instructionSheet(): string {
  const names = targets.map(({ name }) => name.replace('gfx', ''));
  const amdgpu = instructions.filter(({ family }) => family !== 'x1k');
  const table = amdgpu.map((def) => {
    const spellings = [...new Set(def.forms.flatMap(({ name }) => (name ? [name] : [])))].filter((n) => n !== def.name);
    const also = spellings.length > 0 ? ` (${spellings.join(', ')})` : '';
    return row([`\`${def.name}\`${also}`, cell(def.summary), ...targets.map((target) => letter(def, target))]);
  });
  const errata = amdgpu.flatMap((def) =>
    (def.errata ?? []).map(({ text, hardware, source }) =>
      row([`\`${def.name}\``, ...[text, hardware, source].map(cell)]),
    ),
  );
  return [
    intro,
    heading(['instruction', 'what it does', ...names]) + table.join(''),
    "## Where AMD's text and chips part\n",
    'The profile `published` follows the text, `hardware` (the default) the chips.\n',
    heading(['instruction', 'the text', 'chips', 'source']) + errata.join(''),
  ].join('\n');
}
