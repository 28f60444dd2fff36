/**
 * Constants of the text to operands: inline where one exists, else a 32-bit literal.
 * Rules: LLVM's AMDGPU assembler. An integer keeps its bits (5 is 5, also where a float is read), but for an f64 source a literal is
 * the high word; a float is rounded to the operand's format.
 */
import { constantWords, type InlineOperand, type LiteralOperand, type OperandType } from '../isa/operand.ts';
import { quote, SyntaxFault } from './asmError.ts';
import type { Term } from './operandSyntax.ts';

export type Constant = Extract<Term, { kind: 'integer' | 'float' }>;

const isWide = (type: OperandType) => type === 'f64' || type === 'b64';

const floatCodes = [240, 241, 242, 243, 244, 245, 246, 247, 248];

const bits = new DataView(new ArrayBuffer(8));

const signBit = 0x80000000;

/** The inline constant that supplies these words, low first, to an operand of this type. */
function inlineCode(words: readonly number[], type: OperandType): number | undefined {
  const [low, high] = words as [number, number?];
  const integer = low | 0;
  const isExtended = high === undefined || high === (integer < 0 ? 0xffffffff : 0);
  if (isExtended && integer >= -16 && integer <= 64) return integer < 0 ? 192 - integer : 128 + integer;
  return floatCodes.find((code) => constantWords({ kind: 'inline', code }, type).every((word, i) => word === words[i]));
}

/** The bits of a float in the operand's format. `inexact` where a literal would lose the low word of an f64. */
function floatWords(term: Constant & { kind: 'float' }, type: OperandType): number[] {
  if (isWide(type)) {
    bits.setFloat64(0, term.value);
    return [bits.getUint32(4), bits.getUint32(0)];
  }
  const single = Math.fround(term.value);
  const isTiny = Math.abs(single) < 2 ** -126;
  if (!Number.isFinite(single) || (isTiny && single !== term.value))
    throw new SyntaxFault(term.column, 'the constant does not fit a 32-bit float');
  bits.setFloat32(0, single);
  return [bits.getUint32(0)];
}

/** The bits of an integer, which LLVM keeps in 64 bits: 0xffffffffffffffff is -1. */
function integerWords(term: Constant & { kind: 'integer' }, type: OperandType): number[] {
  const value = BigInt.asIntN(64, term.value);
  const word = Number(BigInt.asUintN(32, value));
  if (BigInt.asUintN(64, term.value) !== term.value && term.value !== value)
    throw new SyntaxFault(term.column, 'the constant does not fit 64 bits');
  if (isWide(type)) return [word, Number(BigInt.asUintN(32, value >> 32n))];
  if (value < -0x80000000n || value > 0xffffffffn)
    throw new SyntaxFault(term.column, 'the constant does not fit 32 bits');
  return [word];
}

/** ABS and NEG of a constant are applied here: to the sign bit of the operand's width. */
function withModifiers(words: number[], term: Constant, type: OperandType, takesModifiers: boolean): number[] {
  if (!term.neg && !term.abs) return words;
  if (!takesModifiers || (term.kind === 'integer' && isWide(type)))
    throw new SyntaxFault(term.column, 'neg and abs are for registers and floats: write the constant itself');
  const top = words.length - 1;
  let high = words[top]!;
  if (term.abs) high &= ~signBit;
  if (term.neg) high ^= signBit;
  return words.with(top, high >>> 0);
}

/** The literal of an integer that has no inline constant: for f64 the high word, which may itself be an inline float's. */
function wideIntegerLiteral(
  words: readonly number[],
  term: Constant,
  type: OperandType,
): InlineOperand | LiteralOperand {
  const [word, high] = words as [number, number];
  const fits = high === 0 || (high === 0xffffffff && word >= signBit);
  if (!fits) throw new SyntaxFault(term.column, 'the constant is no inline constant and does not fit 32 bits');
  const code = type === 'f64' && !term.lit ? inlineCode([0, word], type) : undefined;
  return code === undefined ? { kind: 'literal', word } : { kind: 'inline', code };
}

/**
 * The operand for a constant.
 * @param takesModifiers the operand is a float source that may have ABS and NEG
 * @param warn called where the value that is encoded differs from the one that is written (an f64 literal has only a high word)
 * @throws SyntaxFault if the value can't be encoded
 */
export function constantOperand(
  term: Constant,
  type: OperandType,
  takesModifiers: boolean,
  warn: (reason: string) => void,
): InlineOperand | LiteralOperand {
  const words = withModifiers(
    term.kind === 'integer' ? integerWords(term, type) : floatWords(term, type),
    term,
    type,
    takesModifiers,
  );
  const code = term.lit ? undefined : inlineCode(words, type);
  if (code !== undefined) return { kind: 'inline', code };
  if (!isWide(type)) return { kind: 'literal', word: words[0]! };
  if (term.kind === 'integer') return wideIntegerLiteral(words, term, type);
  if (type !== 'f64')
    throw new SyntaxFault(
      term.column,
      'this operand takes no float literal: only 0.5, 1.0, 2.0, 4.0, their negatives and 1/(2*pi)',
    );
  const [low, high] = words as [number, number];
  if (low !== 0)
    warn(`${quote(String(term.value))} is not exact: a literal is the high word of an f64, so the low word is 0`);
  return { kind: 'literal', word: high };
}
