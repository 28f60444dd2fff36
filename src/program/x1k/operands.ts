/** Registers, swizzles, masks and presubtract in X1K program text. */
import type { VectorOperand, X1kComponents } from '../../isa/operand.ts';
import { quote, SyntaxFault } from '../asmError.ts';
import { type Cursor, describe, type Token } from '../lexer.ts';

/** Temporaries of the chip: 128 registers of four components. */
export const X1K_REGISTERS = 128;

/** A source as written, before it is known what the instruction reads. */
export interface X1kSource extends VectorOperand {
  readonly neg?: boolean;
  readonly abs?: boolean;
  readonly column: number;
}

const registerExample = `r0 to r${X1K_REGISTERS - 1}`;

/** The number of a register and the text behind its dot, with that text's column. */
function registerOf(token: Token): { register: number; letters: string | undefined; lettersAt: number } {
  const found = /^r(0|[1-9]\d*)(?:\.(.*))?$/.exec(token.text.toLowerCase());
  if (token.kind !== 'name' || found === null || Number(found[1]) >= X1K_REGISTERS)
    throw new SyntaxFault(token.column, `expected a register, ${registerExample}, found ${describe(token)}`);
  return { register: Number(found[1]), letters: found[2], lettersAt: token.column + 2 + found[1]!.length };
}

const numbersOf = (letters: string): number[] => Array.from(letters, (letter) => 'xyzw'.indexOf(letter));

/** One letter stands for all four places. */
function swizzleOf(letters: string, column: number): readonly number[] {
  const numbers = numbersOf(letters);
  if (numbers.includes(-1) || (numbers.length !== 1 && numbers.length !== 4))
    throw new SyntaxFault(column, `a swizzle is one or four of x, y, z, w, not ${quote(letters)}`);
  return numbers.length === 1 ? [0, 1, 2, 3].map(() => numbers[0]!) : numbers;
}

/** @throws SyntaxFault where the next token is no register, or its mask is none */
export function parseDestination(cursor: Cursor): VectorOperand {
  const { register, letters, lettersAt } = registerOf(cursor.next());
  const mask = letters === undefined ? [0, 1, 2, 3] : numbersOf(letters);
  if (mask.length === 0 || mask.some((n, i) => n < 0 || (i > 0 && n <= mask[i - 1]!)))
    throw new SyntaxFault(lettersAt, `a mask is some of x, y, z, w in that order, not ${quote(letters!)}`);
  return { kind: 'vgpr', index: 4 * register, count: 4, x1k: { mask } };
}

/** `r0`, `-r0`, `|r0|`, `-|r0|`, a presubtract in parentheses for r0, and a swizzle behind. @throws SyntaxFault */
export function parseSource(cursor: Cursor): X1kSource {
  const { column } = cursor.token;
  const neg = cursor.accept('-');
  const abs = cursor.accept('|');
  const { operand, letters: inside, lettersAt: insideAt } = plainSource(cursor);
  if (abs) cursor.expect('|');
  let [letters, lettersAt] = [inside, insideAt];
  const { token } = cursor;
  if (token.kind === 'name' && token.text.startsWith('.')) {
    if (inside !== undefined) throw cursor.fault('a source has one swizzle');
    cursor.next();
    [letters, lettersAt] = [token.text.slice(1).toLowerCase(), token.column + 1];
  }
  const swizzle = letters === undefined ? [0, 1, 2, 3] : swizzleOf(letters, lettersAt);
  const x1k: X1kComponents = { ...operand.x1k, swizzle };
  return { ...operand, x1k, column, ...(neg && { neg }), ...(abs && { abs }) };
}

interface Plain {
  readonly operand: VectorOperand;
  readonly letters?: string | undefined;
  readonly lettersAt: number;
}

const vector = (register: number, x1k: X1kComponents = {}): VectorOperand => ({
  kind: 'vgpr',
  index: 4 * register,
  count: 4,
  x1k,
});

function plainSource(cursor: Cursor): Plain {
  if (cursor.sees('(')) return { operand: parsePresubtract(cursor), lettersAt: 0 };
  const { register, letters, lettersAt } = registerOf(cursor.next());
  return { operand: vector(register), letters, lettersAt };
}

const presubtractForms = '(1-2*r0), (r1-r0), (r1+r0), (1-r0)';

function parsePresubtract(cursor: Cursor): VectorOperand {
  cursor.expect('(');
  const operand = cursor.token.kind === 'integer' ? presubtractFromOne(cursor) : presubtractOfTwo(cursor);
  cursor.expect(')');
  return operand;
}

const takeInteger = (cursor: Cursor, value: bigint): boolean => {
  const { token } = cursor;
  if (token.kind !== 'integer' || token.value !== value) return false;
  cursor.next();
  return true;
};

function presubtractFromOne(cursor: Cursor): VectorOperand {
  if (!takeInteger(cursor, 1n) || !cursor.accept('-')) throw cursor.fault(`presubtract is ${presubtractForms}`);
  if (!takeInteger(cursor, 2n)) return vector(bare(cursor), { presubtract: { kind: '1-s0' } });
  cursor.expect('*');
  return vector(bare(cursor), { presubtract: { kind: '1-2*s0' } });
}

function presubtractOfTwo(cursor: Cursor): VectorOperand {
  const s1 = 4 * bare(cursor);
  const kind = cursor.accept('+') ? 's1+s0' : cursor.accept('-') ? 's1-s0' : undefined;
  if (kind === undefined) throw cursor.fault(`presubtract is ${presubtractForms}`);
  return vector(bare(cursor), { presubtract: { kind, s1 } });
}

/** A register within a presubtract: its swizzle stands behind the parenthesis. */
function bare(cursor: Cursor): number {
  const { register, letters, lettersAt } = registerOf(cursor.next());
  if (letters !== undefined) throw new SyntaxFault(lettersAt, 'a swizzle stands behind the parenthesis');
  return register;
}
