/** Programs to LLVM's text: what `llvm-mc --disassemble` (22) prints. */
import { isVop3 } from '../isa/fields.ts';
import { constantWords, type Operand, type OperandSpec } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import { scalarName, type WaveSize } from '../wavefront/registers.ts';
import { DecodeError, type DecodeOptions, decodeAt, dwords } from './decode.ts';
import { immediateSyntax } from './immediates.ts';
import { mnemonicsOf } from './mnemonics.ts';
import type { Instruction, Program } from './program.ts';
import { x1kText } from './x1k/print.ts';

/** One line of a listing. */
export interface ListingLine {
  /** Byte offset. */
  readonly offset: number;
  readonly words: readonly number[];
  /** The instruction, or `.long 0x...` for words that are none of ours. */
  readonly text: string;
  /** Why it is `.long`. */
  readonly error?: DecodeError;
}

/** The instructions of a program as text, in order. */
export const disassemble = (program: Program): string[] =>
  program.instructions.map((instruction) => instructionText(instruction, program.target));

/** A listing of machine code; unknown words don't end it. @throws DecodeError if the length is no multiple of 4 */
export function disassembleBytes(bytes: Uint8Array, { target, waveSize }: DecodeOptions): ListingLine[] {
  const words = dwords(bytes);
  const lines: ListingLine[] = [];
  const size: WaveSize = waveSize ?? target.waveSizes[0]!;
  for (let at = 0; at < words.length; ) {
    const line = listingLine(words, at, target, size);
    lines.push(line);
    at += line.words.length;
  }
  return lines;
}

function listingLine(words: readonly number[], at: number, target: Target, waveSize: WaveSize): ListingLine {
  try {
    const instruction = decodeAt(words, at, target, waveSize);
    const own = words.slice(at, at + instruction.size / 4);
    return { offset: at * 4, words: own, text: instructionText(instruction, target) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const word = words[at]!;
    return { offset: at * 4, words: [word], text: `.long 0x${word.toString(16).padStart(8, '0')}`, error };
  }
}

/** LLVM's text of an instruction, without a tab before it. */
export function instructionText(instruction: Instruction, target: Target): string {
  const { def, form, operands, offset, gds, clamp, omod } = instruction;
  if (form.encoding === 'X1K') return x1kText(instruction);
  const written = def.operands.flatMap((spec, index) => {
    const operand = operands[index]!;
    const isLeftOut = spec.field === 'vcc' || (spec.optional && operand.kind === 'immediate' && operand.value === 0);
    return isLeftOut ? [] : [operandText(operand, spec, target)];
  });
  const words = [`${form.name ?? def.name}${suffix(instruction, target)}`];
  if (written.length > 0) words.push(written.join(', '));
  if (offset !== 0) words.push(`offset:${offset}`);
  if (gds) words.push('gds');
  if (clamp) words.push('clamp');
  if (omod !== 0) words.push(['', 'mul:2', 'mul:4', 'div:2'][omod]!);
  return words.join(' ');
}

/** _e32 on every short vector encoding, _e64 on VOP3 where there is a short one. */
function suffix({ def, form }: Instruction, target: Target): string {
  if (!form.encoding.startsWith('V')) return '';
  if (!isVop3(form.encoding)) return '_e32';
  return mnemonicsOf(target).get(form.name ?? def.name)!.forms.length > 1 ? '_e64' : '';
}

function operandText(operand: Operand, spec: OperandSpec, target: Target): string {
  const text = plainText(operand, spec, target);
  const { neg, abs } = operand;
  if (abs) return neg ? `-|${text}|` : `|${text}|`;
  if (!neg) return text;
  // -1 is another constant than 1 with its sign bit flipped.
  return operand.kind === 'inline' || operand.kind === 'literal' ? `neg(${text})` : `-${text}`;
}

const floats = ['0.5', '-0.5', '1.0', '-1.0', '2.0', '-2.0', '4.0', '-4.0'];

function inlineText(code: number, isWide: boolean): string {
  if (code === 248) return isWide ? '0.15915494309189532' : '0.15915494';
  if (code >= 240) return floats[code - 240]!;
  return String(code <= 192 ? code - 128 : 192 - code);
}

function plainText(operand: Operand, spec: OperandSpec, target: Target): string {
  const isWide = spec.type === 'f64' || spec.type === 'b64';
  switch (operand.kind) {
    case 'vgpr':
      return operand.count === 1 ? `v${operand.index}` : `v[${operand.index}:${operand.index + operand.count - 1}]`;
    case 'scalar':
      return scalarName(operand.code, operand.count);
    case 'inline':
      return inlineText(operand.code, isWide);
    case 'literal':
      return literalText(operand.word, spec, isWide);
    case 'immediate':
      if (spec.optional) return String(operand.value);
      return spec.hex ? `0x${operand.value.toString(16)}` : immediateSyntax[spec.type]!.print(operand.value, target);
  }
}

/**
 * A literal whose value an inline constant has is `lit(...)`, or assembling the text would give other bytes. For f64, LLVM prints
 * the constant all the same, and so do we.
 */
function literalText(word: number, spec: OperandSpec, isWide: boolean): string {
  const hex = `0x${word.toString(16)}`;
  const value = constantWords({ kind: 'literal', word }, spec.type);
  const same = inlineCodes.find((code) =>
    constantWords({ kind: 'inline', code }, spec.type).every((inline, i) => inline === value[i]),
  );
  if (same === undefined) return hex;
  return spec.type === 'f64' ? inlineText(same, isWide) : `lit(${hex})`;
}

/** 0 to 64, -1 to -16, and the floats. */
const inlineCodes = [...Array.from({ length: 81 }, (_, i) => 128 + i), ...Array.from({ length: 9 }, (_, i) => 240 + i)];
