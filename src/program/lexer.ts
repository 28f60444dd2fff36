/** Assembly text to tokens, line by line. Comments: `;` and `//` to the end of the line, `#` at its start, and C's block comments. */
import { quote, SyntaxFault } from './asmError.ts';

export type Token = { readonly column: number; readonly text: string } & (
  | { readonly kind: 'name' | 'string' | 'mark' | 'end' }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
);

const patterns = {
  blank: /[ \t\r\f\v]+/y,
  name: /[A-Za-z_.$@][\w.$@]*/y,
  number: /\d[\w.]*(?:(?<=[eE])(?<!0[xX][\w.]*)[+-]\d+)?/y,
  string: /"(?:[^"\\]|\\.)*"/y,
};

const hexadecimal = /^0[xX][\da-fA-F]+$/;
const binary = /^0[bB][01]+$/;
const octal = /^0[0-7]+$/;
const decimal = /^\d+$/;
const float = /^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/;

/** A number as LLVM reads it: 0x, 0b, a leading 0 for octal, and decimal floats. */
function numberToken(text: string, column: number): Token {
  if (hexadecimal.test(text) || binary.test(text))
    return { kind: 'integer', text, column, value: BigInt(text.toLowerCase()) };
  if (octal.test(text)) return { kind: 'integer', text, column, value: BigInt(`0o${text}`) };
  if (decimal.test(text) && (text === '0' || text[0] !== '0'))
    return { kind: 'integer', text, column, value: BigInt(text) };
  if (float.test(text) && !decimal.test(text)) return { kind: 'float', text, column, value: Number(text) };
  throw new SyntaxFault(column, `${quote(text)} is not a number: 12, 0x1f, 0b101, 017 and 1.5e3 are`);
}

/** Reads the lines of one text in order; a block comment may span several. */
export class Lexer {
  private inComment = false;

  /**
   * The tokens of the next line, the last of kind `end`.
   * @throws SyntaxFault at a character that begins no token.
   */
  tokens(line: string): Token[] {
    const tokens: Token[] = [];
    let at = 0;
    const take = (pattern: RegExp): string | undefined => {
      pattern.lastIndex = at;
      const found = pattern.exec(line)?.[0];
      if (found !== undefined) at += found.length;
      return found;
    };
    while (at < line.length) {
      if (this.inComment) {
        const close = line.indexOf('*/', at);
        if (close < 0) break;
        this.inComment = false;
        at = close + 2;
      }
      if (take(patterns.blank) !== undefined) continue;
      if (at >= line.length) break;
      if (line[at] === ';' || line.startsWith('//', at) || (line[at] === '#' && tokens.length === 0)) break;
      if (line.startsWith('/*', at)) {
        this.inComment = true;
        at += 2;
        continue;
      }
      const column = at + 1;
      const name = take(patterns.name);
      const number = name === undefined ? take(patterns.number) : undefined;
      const string = name ?? number ?? take(patterns.string);
      if (name !== undefined) tokens.push({ kind: 'name', text: name, column });
      else if (number !== undefined) tokens.push(numberToken(number, column));
      else if (string !== undefined) tokens.push({ kind: 'string', text: string.slice(1, -1), column });
      else tokens.push({ kind: 'mark', text: line[at++]!, column });
    }
    tokens.push({ kind: 'end', text: 'the end of the line', column: line.length + 1 });
    return tokens;
  }
}

/** A place in the tokens of one line. */
export class Cursor {
  private readonly tokens: readonly Token[];
  private index: number;

  constructor(tokens: readonly Token[], index = 0) {
    this.tokens = tokens;
    this.index = index;
  }

  get token(): Token {
    return this.peek(0);
  }

  peek(ahead: number): Token {
    return this.tokens[Math.min(this.index + ahead, this.tokens.length - 1)]!;
  }

  get atEnd(): boolean {
    return this.token.kind === 'end';
  }

  next(): Token {
    const token = this.token;
    this.index++;
    return token;
  }

  /** True at a mark or name of this text. */
  sees(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token.kind === 'mark' || token.kind === 'name') && token.text === text;
  }

  /** Steps over the mark or name, if it is there. */
  accept(text: string): boolean {
    if (!this.sees(text)) return false;
    this.index++;
    return true;
  }

  /** @throws SyntaxFault if something else is there. */
  expect(text: string): void {
    if (!this.accept(text)) throw this.fault(`expected '${text}', found ${describe(this.token)}`);
  }

  /** An integer with an optional minus, within bounds. @throws SyntaxFault naming `what` and the bounds. */
  integer(what: string, least: number, most: number): number {
    const { column } = this.token;
    const sign = this.accept('-') ? -1n : 1n;
    const token = this.next();
    const range = `${what} must be an integer from ${least} to ${most}`;
    if (token.kind !== 'integer') throw new SyntaxFault(column, `${range}, found ${describe(token)}`);
    const value = sign * token.value;
    if (value < BigInt(least) || value > BigInt(most))
      throw new SyntaxFault(column, `${range}, found ${quote(`${sign < 0n ? '-' : ''}${token.text}`)}`);
    return Number(value);
  }

  fault(reason: string): SyntaxFault {
    return new SyntaxFault(this.token.column, reason);
  }
}

/** A token for a message. */
export const describe = (token: Token): string => (token.kind === 'end' ? token.text : quote(token.text));
