/**
 * Compiled kernels, as llvm-objdump 22 prints them: every line whose mnemonic we have gives its bytes, and the bytes its text.
 * The listings are large and lie outside of the repository; without them the data of llvm.test.ts has to do.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { decode } from '../../src/program/decode.ts';
import { disassemble } from '../../src/program/disassemble.ts';
import { encode } from '../../src/program/encode.ts';
import { mnemonicsOf } from '../../src/program/mnemonics.ts';

const folder = new URL('../../../shared/kernels/disasm/', import.meta.url);
const listings = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.s.gz')) : [];

/** `\ttext // address: words`. Zero words between kernels are padding; apertures are no registers of a wave here. */
const instructionLine = /^\t(\S.*?)\s*\/\/ [0-9A-F]+: ([0-9A-F]{8}(?: [0-9A-F]{8})*)/;
const isOurs = (text: string, words: string) => words !== '00000000' && !text.includes('src_private_base');

function rowsOf(listing: string) {
  const target = findTarget(/^gfx[0-9a-f]+/.exec(listing)![0]);
  const names = mnemonicsOf(target);
  const rows: { text: string; words: string }[] = [];
  for (const line of gunzipSync(readFileSync(new URL(listing, folder)))
    .toString('utf8')
    .split('\n')) {
    const [, text, words] = instructionLine.exec(line) ?? [];
    if (text === undefined || words === undefined || !isOurs(text, words)) continue;
    if (names.has(text.split(' ')[0]!.replace(/_e(?:32|64)$/, ''))) rows.push({ text, words: words.toLowerCase() });
  }
  return { target, rows };
}

describe.skipIf(listings.length === 0).each(listings.length === 0 ? ['none'] : listings)('%s', (listing) => {
  it('assembles to the bytes of the listing and back', () => {
    const { target, rows } = rowsOf(listing);
    // llvm-objdump prints every gfx10+ kernel in wave32's syntax; the encodings are the same.
    const waveSize = target.waveSizes[0]!;
    const program = assemble(rows.map(({ text }) => text).join('\n'), { target, waveSize });
    const code = new DataView(encode(program).buffer);
    const words = program.instructions.map(({ pc, size }) =>
      Array.from({ length: size / 4 }, (_, i) =>
        code
          .getUint32(pc + i * 4, true)
          .toString(16)
          .padStart(8, '0'),
      ).join(' '),
    );
    expect(words).toEqual(rows.map((row) => row.words));
    const again = disassemble(decode(encode(program), { target, waveSize }));
    expect(again).toEqual(rows.map(({ text }) => text));
    expect(rows.length).toBeGreaterThan(2000);
  });
});
