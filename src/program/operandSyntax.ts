/** Operands as they are written: registers, constants, source modifiers. What the instruction allows is not looked at here. */
import type { Target } from '../isa/target.ts';
import { Scalar } from '../wavefront/registers.ts';
import { quote, SyntaxFault } from './asmError.ts';
import { type Cursor, describe } from './lexer.ts';

/** An operand of the text. `lit` is LLVM's `lit(...)`: encode as a literal, even where an inline constant exists. */
export type Term = { readonly column: number; readonly neg: boolean; readonly abs: boolean } & (
  | { readonly kind: 'vgpr'; readonly index: number; readonly count: number }
  | { readonly kind: 'scalar'; readonly code: number; readonly count: number }
  | { readonly kind: 'integer'; readonly value: bigint; readonly lit: boolean }
  | { readonly kind: 'float'; readonly value: number; readonly lit: boolean }
);

const named: Readonly<Record<string, readonly [code: number, count: number]>> = {
  vcc: [Scalar.vccLo, 2],
  vcc_lo: [Scalar.vccLo, 1],
  vcc_hi: [Scalar.vccHi, 1],
  exec: [Scalar.execLo, 2],
  exec_lo: [Scalar.execLo, 1],
  exec_hi: [Scalar.execHi, 1],
  m0: [Scalar.m0, 1],
  null: [Scalar.null, 1],
};

/** Scalar operands that LLVM knows and no wave state here has. */
const unsupported =
  /^(?:src_|scc$|vccz$|execz$|flat_scratch|xnack_mask|tba|tma|shared_|private_|pops_exiting|lds_direct|a\d+$|a$)/;

const plain = { neg: false, abs: false };

/**
 * Reads one operand.
 * @throws SyntaxFault if there is none, or a register that the target does not have.
 */
export function parseTerm(cursor: Cursor, target: Target): Term {
  const { column } = cursor.token;
  if (cursor.sees('neg') && cursor.sees('(', 1)) return { ...inParentheses(cursor, target), neg: true, column };
  if (cursor.sees('-')) {
    const { kind } = cursor.peek(1);
    if (kind === 'integer' || kind === 'float') return { ...constant(cursor), column };
    cursor.next();
    return { ...parseMagnitude(cursor, target), neg: true, column };
  }
  return parseMagnitude(cursor, target);
}

function parseMagnitude(cursor: Cursor, target: Target): Term {
  const { column } = cursor.token;
  if (cursor.sees('abs') && cursor.sees('(', 1)) return { ...inParentheses(cursor, target), abs: true, column };
  if (!cursor.accept('|')) return parsePlain(cursor, target);
  const term = parsePlain(cursor, target);
  cursor.expect('|');
  return { ...term, abs: true, column };
}

function inParentheses(cursor: Cursor, target: Target): Term {
  const modifier = cursor.next().text;
  cursor.expect('(');
  const term = modifier === 'neg' ? parseMagnitude(cursor, target) : parsePlain(cursor, target);
  cursor.expect(')');
  return term;
}

function parsePlain(cursor: Cursor, target: Target): Term {
  const { token } = cursor;
  if (token.kind === 'name')
    return token.text === 'lit' && cursor.sees('(', 1) ? literal(cursor) : register(cursor, target);
  return constant(cursor);
}

function literal(cursor: Cursor): Term {
  const { column } = cursor.next();
  cursor.expect('(');
  const term = constant(cursor);
  cursor.expect(')');
  return { ...term, lit: true, column } as Term;
}

function constant(cursor: Cursor): Term {
  const { column } = cursor.token;
  const negative = cursor.accept('-');
  const token = cursor.next();
  if (token.kind === 'integer')
    return { kind: 'integer', value: negative ? -token.value : token.value, lit: false, column, ...plain };
  if (token.kind === 'float')
    return { kind: 'float', value: negative ? -token.value : token.value, lit: false, column, ...plain };
  throw new SyntaxFault(column, `expected a register or a constant, found ${describe(token)}`);
}

function register(cursor: Cursor, target: Target): Term {
  const { column, text } = cursor.next();
  const special = named[text];
  if (special !== undefined) return { kind: 'scalar', code: special[0], count: special[1], column, ...plain };
  const file = /^(v|s|ttmp)(\d*)$/.exec(text);
  if (file === null) {
    if (unsupported.test(text)) throw new SyntaxFault(column, `${quote(text)} is not supported as an operand`);
    throw new SyntaxFault(column, `expected a register or a constant, found ${quote(text)}`);
  }
  const [first, last] = file[2] === '' ? range(cursor, text) : [file[2]!, file[2]!];
  const limit = file[1] === 'v' ? 256 : file[1] === 's' ? target.sgprs : 16;
  const index = Number(first);
  const count = Number(last) - index + 1;
  if (Number(last) >= limit)
    throw new SyntaxFault(
      column,
      `${file[1]}${last} is out of range: ${target.name} has ${file[1]}0 to ${file[1]}${limit - 1}`,
    );
  if (count < 1) throw new SyntaxFault(column, `the first register of ${file[1]}[${first}:${last}] is above the last`);
  if (file[1] === 'v') return { kind: 'vgpr', index, count, column, ...plain };
  return { kind: 'scalar', code: file[1] === 's' ? index : Scalar.ttmp0 + index, count, column, ...plain };
}

/** `[4:5]` or `[4]` after a register file's letter. */
function range(cursor: Cursor, file: string): [string, string] {
  const number = () => {
    const token = cursor.token;
    if (token.kind !== 'integer') throw cursor.fault(`expected a register number, found ${describe(token)}`);
    cursor.next();
    return token.value.toString();
  };
  if (!cursor.sees('['))
    throw cursor.fault(`expected a number or '[' after '${file}', found ${describe(cursor.token)}`);
  cursor.expect('[');
  const first = number();
  const last = cursor.accept(':') ? number() : first;
  cursor.expect(']');
  return [first, last];
}
