/** Errors of assembly text: one line each, with the place. */

/** What is wrong with a program's text, and where. `message` is `file:line:column: reason`. */
export class AsmError extends Error {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  readonly reason: string;
  /** The errors of later lines, in order; the assembler stops after a few. */
  others: readonly AsmError[] = [];

  constructor(file: string, line: number, column: number, reason: string) {
    super(`${file}:${line}:${column}: ${reason}`);
    this.name = 'AsmError';
    this.file = file;
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** An error of one line, before the line's number is known. */
export class SyntaxFault extends Error {
  readonly column: number;

  constructor(column: number, reason: string) {
    super(reason);
    this.name = 'SyntaxFault';
    this.column = column;
  }
}

/** Program text shortened for a message: control characters never reach the terminal. */
export function quote(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, '?');
  return `'${plain.length > 40 ? `${plain.slice(0, 40)}...` : plain}'`;
}
