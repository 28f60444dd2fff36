/**
 * Asks llvm-mc (Debian's llvm-22) for the bytes and the disassembly of the texts of llvmTexts.ts, or why it rejects them, and keeps
 * the answers in data/. Run by hand when instructions or texts are added: node --import tsx test/program/makeLlvmData.ts
 *
 * A row: text, bytes, what the disassembler prints if that isn't the text. Of a rejected text: text, '!', column, LLVM's reason.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type Target, targets } from '../../src/isa/target.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import { textsFor } from './llvmTexts.ts';

function llvmMc(target: Target, waveSize: WaveSize, input: string, ...options: string[]) {
  const wave = target.waveSizes.length > 1 ? [`--mattr=+wavefrontsize${waveSize}`] : [];
  const { stdout, stderr } = spawnSync('llvm-mc-22', ['--arch=amdgcn', `--mcpu=${target.name}`, ...wave, ...options], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return { stdout, stderr };
}

/** Bytes of the accepted texts and reasons for the others, in the order of `texts`. */
function assembleAll(target: Target, waveSize: WaveSize, texts: readonly string[]) {
  const { stdout, stderr } = llvmMc(target, waveSize, `${texts.join('\n')}\n`, '--show-encoding');
  const rejected = new Map<number, { column: string; reason: string }>();
  for (const [, line, column, reason] of stderr.matchAll(/^<stdin>:(\d+):(\d+): error: (.*)$/gm))
    if (!rejected.has(Number(line))) rejected.set(Number(line), { column: column!, reason: reason! });
  const accepted = [...stdout.matchAll(/^\t(.*?)\s*; encoding: \[(.*)\]$/gm)].map(([, text, bytes]) => ({
    text: text!,
    bytes: bytes!.replaceAll('0x', '').replaceAll(',', ''),
  }));
  if (accepted.length + rejected.size !== texts.length)
    throw new Error(`${target.name}: ${accepted.length} accepted + ${rejected.size} rejected of ${texts.length}`);
  let next = 0;
  return texts.map((text, index) => ({
    text,
    rejected: rejected.get(index + 1),
    llvm: rejected.has(index + 1) ? undefined : accepted[next++],
  }));
}

function disassembleAll(target: Target, waveSize: WaveSize, bytes: readonly string[]): string[] {
  const input = bytes.map((hex) => hex.replace(/../g, '0x$& ')).join('\n');
  const { stdout, stderr } = llvmMc(target, waveSize, input, '--disassemble');
  if (stderr !== '') throw new Error(stderr.slice(0, 500));
  const texts = [...stdout.matchAll(/^\t(.*)$/gm)].map((m) => m[1]!.trim()).filter((line) => !line.startsWith('.'));
  if (texts.length !== bytes.length)
    throw new Error(`${target.name}: ${texts.length} lines for ${bytes.length} instructions`);
  return texts;
}

/**
 * Not part of the question: SDWA and DPP, which LLVM chooses for some modifiers, and mistakes of llvm-mc 22: it accepts lit(...)
 * in a VOP3 encoding that has no literals (emits none, and its disassembler crashes on the bytes), and ABS in VOP3B, which
 * it drops; it encodes null in s_barrier_signal as 20.
 */
function isAskable(text: string, bytes: string, printed: string, target: Target): boolean {
  const isBrokenLiteral = text.includes('lit(') && !target.vop3Literal && bytes.slice(6, 8).startsWith('d');
  const isDroppedAbs = text.startsWith('v_div_scale') && /\||abs/.test(text);
  if (text === 's_barrier_signal null') return false;
  return !/_sdwa|_dpp/.test(printed) && !isBrokenLiteral && !isDroppedAbs;
}

/** All that LLVM accepts, and one in three that it rejects: the rejected are more, and alike. */
function thinned<T extends { rejected: unknown }>(answers: readonly T[]): T[] {
  let count = 0;
  return answers.filter(({ rejected }) => rejected === undefined || count++ % 3 === 0);
}

for (const target of targets)
  for (const waveSize of target.waveSizes) {
    const answers = assembleAll(target, waveSize, textsFor(target, waveSize));
    const ours = thinned(answers).filter(
      ({ text, llvm }) => llvm === undefined || isAskable(text, llvm.bytes, llvm.text, target),
    );
    const accepted = ours.filter(({ llvm }) => llvm !== undefined);
    const printed = disassembleAll(
      target,
      waveSize,
      accepted.map(({ llvm }) => llvm!.bytes),
    );
    let next = 0;
    const rows = ours.map(({ text, llvm, rejected }) => {
      if (llvm === undefined) return `${text}\t!\t${rejected!.column}\t${rejected!.reason}`;
      const disassembly = printed[next++]!;
      return disassembly === text ? `${text}\t${llvm.bytes}` : `${text}\t${llvm.bytes}\t${disassembly}`;
    });
    const file = new URL(`data/llvm-mc-${target.name}-wave${waveSize}.tsv.gz`, import.meta.url);
    writeFileSync(file, gzipSync(`${rows.join('\n')}\n`, { level: 9 }));
    console.log(
      `${target.name} wave${waveSize}: ${accepted.length} accepted, ${ours.length - accepted.length} rejected`,
    );
  }
