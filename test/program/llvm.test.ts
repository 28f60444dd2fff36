/**
 * The assembler, encoder, decoder and disassembler against llvm-mc 22 (Debian): its bytes, its text, and what it rejects, for texts
 * derived from the instruction objects (llvmTexts.ts). The answers are kept in data/; no LLVM is needed here.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { isVop3 } from '../../src/isa/fields.ts';
import { instructions } from '../../src/isa/instructions/index.ts';
import { type Target, targets } from '../../src/isa/target.ts';
import { AsmError } from '../../src/program/asmError.ts';
import { assemble } from '../../src/program/assembler.ts';
import { decode } from '../../src/program/decode.ts';
import { disassemble } from '../../src/program/disassemble.ts';
import { encode } from '../../src/program/encode.ts';
import { formsOn } from '../../src/program/mnemonics.ts';
import type { Program } from '../../src/program/program.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import { llvmAnswers } from './llvmData.ts';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The bytes of each instruction of a program, in hexadecimal. */
function pieces(program: Program): string[] {
  const hex = hexOf(encode(program));
  return program.instructions.map(({ pc, size }) => hex.slice(pc * 2, (pc + size) * 2));
}

/** Pairs that differ, few enough to read. */
const differences = (texts: readonly string[], ours: readonly (string | undefined)[], theirs: readonly string[]) =>
  texts.flatMap((text, i) => (ours[i] === theirs[i] ? [] : [{ text, ours: ours[i], llvm: theirs[i] }])).slice(0, 20);

function faultOf(text: string, target: Target, waveSize: WaveSize): unknown {
  try {
    assemble(text, { target, waveSize });
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each(targets)('$name', (target) => {
  describe.each(target.waveSizes.map((waveSize) => ({ waveSize })))('wave$waveSize', ({ waveSize }) => {
    const { accepted, rejected } = llvmAnswers(target, waveSize);
    const texts = accepted.map(({ text }) => text);
    const bytes = accepted.map((row) => row.bytes);

    let decoded: Program;
    beforeAll(() => {
      decoded = decode(Buffer.from(bytes.join(''), 'hex'), { target, waveSize });
    });

    it("text to bytes: LLVM's bytes", () => {
      const program = assemble(texts.join('\n'), { target, waveSize });
      expect(program.instructions.length).toBe(texts.length);
      expect(differences(texts, pieces(program), bytes)).toEqual([]);
    });

    it("bytes to text: LLVM's text", () => {
      const printed = accepted.map(({ disassembly }) => disassembly);
      expect(differences(texts, disassemble(decoded), printed)).toEqual([]);
    });

    it('bytes to text to bytes, where the text says all (not: neg(1.0), f64 literals that an inline constant has, unused bits of s_waitcnt)', () => {
      const clear = accepted.filter(
        ({ text, disassembly }) => !disassembly.includes('neg(') && !/lit\(|^s_waitcnt 0x/.test(text),
      );
      const program = assemble(clear.map(({ disassembly }) => disassembly).join('\n'), { target, waveSize });
      const wanted = clear.map((row) => row.bytes);
      expect(
        differences(
          clear.map(({ text }) => text),
          pieces(program),
          wanted,
        ),
      ).toEqual([]);
    });

    it('what LLVM rejects is an error on one line, at a column of the text', () => {
      const wrong = rejected.filter(({ text }) => {
        const error = faultOf(text, target, waveSize);
        if (!(error instanceof AsmError)) return true;
        const { line, column, message } = error;
        return line !== 1 || column < 1 || column > text.length + 1 || message.includes('\n');
      });
      expect(wrong.slice(0, 20)).toEqual([]);
    });

    it('every encoding of every instruction of the target is among the rows', () => {
      const seen = new Set<string>();
      for (const { def, form } of decoded.instructions) seen.add(`${def.name} ${form.encoding}`);
      const forms = instructions.flatMap((def) => formsOn(def, target).map((form) => `${def.name} ${form.encoding}`));
      expect(forms.filter((form) => !seen.has(form))).toEqual([]);
      expect(forms.length).toBeGreaterThan(80);
    });

    it('every mnemonic round-trips text, bytes, text', () => {
      const firsts = new Map(decoded.instructions.map((i) => [`${i.def.name} ${isVop3(i.form.encoding)}`, i] as const));
      const lines = disassemble({ ...decoded, instructions: [...firsts.values()] });
      const again = disassemble(decode(encode(assemble(lines.join('\n'), { target, waveSize })), { target, waveSize }));
      expect(again).toEqual(lines);
    });
  });
});
