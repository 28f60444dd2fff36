/**
 * LLVM AMDGPU assembly to a program.
 * Syntax: LLVM's AMDGPUInstructionSyntax, AMDGPUOperandSyntax, AMDGPUModifierSyntax, as llvm-mc 22 accepts it.
 */
import { fieldOf, isVop3, layoutOf } from '../isa/fields.ts';
import type { Form, InstructionDef } from '../isa/instruction.ts';
import { type Candidate, violation } from '../isa/legality.ts';
import { type Operand, type OperandSpec, wordsOf } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import { Scalar, type WaveSize } from '../wavefront/registers.ts';
import { AsmError, quote, SyntaxFault } from './asmError.ts';
import { type Constant, constantOperand } from './constants.ts';
import { Directives } from './directives.ts';
import { encodeWords } from './encode.ts';
import { immediateSyntax } from './immediates.ts';
import { Cursor, describe, Lexer } from './lexer.ts';
import { makeProgram } from './make.ts';
import { type Mnemonic, mnemonicsOf, nearest, targetsWith } from './mnemonics.ts';
import { parseTerm, type Term } from './operandSyntax.ts';
import type { Instruction, Program } from './program.ts';
import { X1kAssembler } from './x1k/assembler.ts';

export interface AssembleOptions {
  readonly target: Target;
  /** Without it: what the text's kernel descriptor says, else the target's default. */
  readonly waveSize?: WaveSize | undefined;
  /** The name that errors give; 'input' without it. */
  readonly file?: string | undefined;
  /** Called for each warning: LLVM encodes another value than the one written. */
  readonly warn?: ((warning: AsmError) => void) | undefined;
}

/** A text has at most so many lines, and a line so many characters. */
const MAX_LINES = 1_000_000;
const MAX_LINE_LENGTH = 65_536;
/** Errors that are collected before giving up. */
const MAX_ERRORS = 10;

/**
 * Assembles a text.
 * @throws AsmError the first error, with up to nine further ones in `others`; each has a line, a column and one line of text
 */
export function assemble(text: string, options: AssembleOptions): Program {
  const file = options.file ?? 'input';
  const lines = splitLines(text, file);
  const described = describedWaveSize(lines);
  const waveSize = options.waveSize ?? described?.size ?? options.target.waveSizes[0]!;
  if (!options.target.waveSizes.includes(waveSize)) {
    const line = options.waveSize === undefined ? described!.line : 1;
    throw new AsmError(
      file,
      line,
      1,
      `${options.target.name} has no wave${waveSize}: ${sizes(options.target)} is allowed`,
    );
  }
  const { target } = options;
  const assembler = target.generation === 'x1k' ? new X1kAssembler(target) : new Assembler(target, waveSize);
  const errors: AsmError[] = [];
  for (const [index, line] of lines.entries()) {
    try {
      for (const [column, reason] of assembler.line(line, index + 1))
        options.warn?.(new AsmError(file, index + 1, column, reason));
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      errors.push(new AsmError(file, index + 1, error.column, error.message));
      if (errors.length === MAX_ERRORS) break;
    }
  }
  if (errors.length === 0 && assembler.openBlock !== undefined)
    errors.push(new AsmError(file, lines.length, 1, `the text ends before ${assembler.openBlock}`));
  const [first, ...others] = errors;
  if (first !== undefined) throw Object.assign(first, { others });
  return makeProgram(options.target, waveSize, assembler.instructions, assembler.labels);
}

const sizes = (target: Target) => target.waveSizes.map((size) => `wave${size}`).join(' or ');

function splitLines(text: string, file: string): string[] {
  const lines = text.split('\n', MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw new AsmError(file, MAX_LINES + 1, 1, `a program has at most ${MAX_LINES} lines`);
  const long = lines.findIndex((line) => line.length > MAX_LINE_LENGTH);
  if (long >= 0)
    throw new AsmError(file, long + 1, MAX_LINE_LENGTH + 1, `a line has at most ${MAX_LINE_LENGTH} characters`);
  return lines;
}

/** The wave size of the first kernel descriptor in the text, and its line; it usually stands behind the code. */
function describedWaveSize(lines: readonly string[]): { size: WaveSize; line: number } | undefined {
  for (const [index, line] of lines.entries()) {
    const found = /^\s*\.amdhsa_wavefront_size32\s+([01])\b/.exec(line);
    if (found !== null) return { size: found[1] === '1' ? 32 : 64, line: index + 1 };
  }
  return undefined;
}

type Warnings = [column: number, reason: string][];

/** What stands behind the operands: mul:2, div:2, clamp, offset:8, gds; with their columns. */
interface Modifiers {
  omod: 0 | 1 | 2 | 3;
  clamp: boolean;
  offset: number;
  gds: boolean;
  readonly columns: Map<string, number>;
}

class Assembler {
  readonly instructions: Instruction[] = [];
  readonly labels = new Map<string, number>();
  private readonly target: Target;
  private readonly waveSize: WaveSize;
  private readonly lexer = new Lexer();
  private readonly directives: Directives;
  private pc = 0;
  private warnings: Warnings = [];

  constructor(target: Target, waveSize: WaveSize) {
    this.target = target;
    this.waveSize = waveSize;
    this.directives = new Directives({
      target,
      waveSize: (size, column) => {
        if (size !== waveSize)
          throw new SyntaxFault(column, `the kernel is for wave${size}, the program is assembled for wave${waveSize}`);
      },
    });
  }

  get openBlock(): string | undefined {
    return this.directives.skipTo;
  }

  /** Takes one line; returns its warnings. @throws SyntaxFault */
  line(text: string, lineNumber: number): Warnings {
    this.warnings = [];
    const { skipTo } = this.directives;
    if (skipTo !== undefined) {
      if (text.trim() === skipTo) this.directives.skipTo = undefined;
      return this.warnings;
    }
    const cursor = new Cursor(this.lexer.tokens(text));
    while (cursor.token.kind === 'name' && cursor.sees(':', 1)) this.label(cursor);
    if (!cursor.atEnd) this.statement(cursor, lineNumber);
    return this.warnings;
  }

  private label(cursor: Cursor): void {
    const { text, column } = cursor.next();
    cursor.next();
    if (this.labels.has(text)) throw new SyntaxFault(column, `label ${quote(text)} is already defined`);
    if (this.directives.inText) this.labels.set(text, this.pc);
  }

  private statement(cursor: Cursor, line: number): void {
    const { kind, text, column } = cursor.next();
    if (kind !== 'name')
      throw new SyntaxFault(column, `expected an instruction, a label or a directive, found ${quote(text)}`);
    if (cursor.sees('=')) return;
    if (text.startsWith('.')) this.directives.take(text, column, cursor);
    else if (!this.directives.inText) throw new SyntaxFault(column, 'instructions belong into .text');
    else this.instruction(text.toLowerCase(), cursor, { line, column });
  }

  private instruction(name: string, cursor: Cursor, at: { line: number; column: number }): void {
    const { mnemonic, forms } = this.lookUp(name, at.column);
    const terms = this.operands(mnemonic, forms[0]!, cursor);
    const modifiers = parseModifiers(cursor);
    if (!cursor.atEnd) throw tooMany(mnemonic, cursor);
    const omodColumn = modifiers.columns.get('omod');
    if (omodColumn !== undefined && !mnemonic.def.modifiers?.omod)
      throw new SyntaxFault(omodColumn, `${mnemonic.name} takes no output modifier`);
    const form = this.chooseForm(forms, mnemonic, terms, modifiers);
    const operands = mnemonic.def.operands.map((spec, i) => this.operand(terms[i]!, spec, mnemonic, form));
    const { columns, ...parts } = modifiers;
    const candidate: Candidate = { def: mnemonic.def, form, operands, ...parts };
    const wrong = violation(candidate, this.target, this.waveSize);
    if (wrong !== undefined) {
      const column = typeof wrong.where === 'number' ? columnOf(terms[wrong.where]!) : columns.get(wrong.where);
      throw new SyntaxFault(column ?? at.column, wrong.reason);
    }
    const instruction = { def: mnemonic.def, form, operands, ...parts, pc: this.pc, at };
    const size = encodeWords(instruction, this.target).length * 4;
    this.instructions.push({ ...instruction, size });
    this.pc += size;
  }

  /** The instruction of a name, and the forms that its suffix leaves. */
  private lookUp(name: string, column: number): { mnemonic: Mnemonic; forms: readonly Form[] } {
    const names = mnemonicsOf(this.target);
    const suffix = /_(?:e32|e64)$/.exec(name)?.[0] ?? '';
    const mnemonic = names.get(suffix === '' ? name : name.slice(0, -4));
    if (mnemonic === undefined) throw new SyntaxFault(column, this.unknown(name));
    if (suffix === '') return { mnemonic, forms: mnemonic.forms };
    const forms = mnemonic.forms.filter(
      ({ encoding }) => encoding.startsWith('V') && isVop3(encoding) === (suffix === '_e64'),
    );
    if (forms.length === 0)
      throw new SyntaxFault(column, `${mnemonic.name} has no ${suffix.slice(1)} encoding on ${this.target.name}`);
    return { mnemonic, forms };
  }

  private unknown(name: string): string {
    const elsewhere = targetsWith(name.replace(/_e(?:32|64)$/, ''));
    if (elsewhere.length > 0) return `${name} does not exist on ${this.target.name}, but on ${elsewhere.join(', ')}`;
    const encoding = /_(dpp|dpp8|sdwa)$/.exec(name)?.[1];
    if (encoding !== undefined) return `the ${encoding.toUpperCase()} encoding of ${quote(name)} is not supported`;
    return `unknown instruction ${quote(name)}; near are ${nearest(name, mnemonicsOf(this.target).keys()).join(', ')}`;
  }

  /** One term (or the 16 bits of a field) for each operand; those that aren't written are VCC. */
  private operands({ name, def }: Mnemonic, short: Form, cursor: Cursor): (Term | Operand)[] {
    const written = def.operands.filter(({ field }) => field !== 'vcc');
    const terms: (Term | Operand)[] = [];
    for (const [index, spec] of written.entries()) {
      if (cursor.atEnd && spec.optional) terms.push({ kind: 'immediate', value: 0 });
      else if (index === 0 ? cursor.atEnd : !cursor.accept(',')) break;
      else terms.push(this.parseOperand(spec, cursor));
    }
    const missing = written.length - terms.length;
    const implicit = missing === 1 ? this.implicitMask(written, short) : -1;
    if (implicit >= 0) terms.splice(implicit, 0, this.vcc());
    else if (missing > 0) throw this.expectedOperands(name, written, cursor);
    return written.length === def.operands.length ? terms : [...terms, this.vcc()];
  }

  private parseOperand({ type, optional }: OperandSpec, cursor: Cursor): Term | Operand {
    if (optional) return { kind: 'immediate', value: cursor.integer('this field', 0, 0xffff) };
    const syntax = immediateSyntax[type];
    return syntax ? { kind: 'immediate', value: syntax.parse(cursor, this.target) } : parseTerm(cursor, this.target);
  }

  /** The mask that the short encoding doesn't hold (VOPC's destination, v_cndmask's third source): it may be left out. */
  private implicitMask(written: readonly OperandSpec[], short: Form): number {
    const layout = layoutOf(short.encoding, this.target.generation);
    return written.findIndex((spec) => spec.type === 'mask' && fieldOf(spec, layout) === undefined);
  }

  private expectedOperands(name: string, written: readonly OperandSpec[], cursor: Cursor): SyntaxFault {
    return cursor.fault(`${name} needs ${written.length} operand${written.length === 1 ? '' : 's'}: ${roles(written)}`);
  }

  private vcc(): Operand {
    return { kind: 'scalar', code: Scalar.vccLo, count: this.waveSize / 32 };
  }

  /** As LLVM: the short encoding where the operands allow it, else VOP3. */
  private chooseForm(
    forms: readonly Form[],
    { def }: Mnemonic,
    terms: readonly (Term | Operand)[],
    modifiers: Modifiers,
  ): Form {
    const [short, long] = forms as [Form, Form?];
    if (long === undefined) return short;
    const layout = layoutOf(short.encoding, this.target.generation);
    const maskIsLeftOut = def.operands.some(
      ({ field }, i) => field !== 'vcc' && terms[i]!.kind === 'scalar' && columnOf(terms[i]!) === undefined,
    );
    if (maskIsLeftOut) return short;
    const fits = def.operands.every((spec, index) => {
      const term = terms[index]!;
      const field = fieldOf(spec, layout);
      const isRegister = term.kind === 'vgpr' || term.kind === 'scalar';
      if (isRegister && (term.neg || term.abs)) return false;
      if (field === undefined) return term.kind === 'scalar' && term.code === Scalar.vccLo;
      return field.holds !== 'vgpr' || term.kind === 'vgpr';
    });
    return fits && modifiers.columns.size === 0 ? short : long;
  }

  /** The operand for a term; what the target allows is checked later. */
  private operand(term: Term | Operand, spec: OperandSpec, { def }: Mnemonic, form: Form): Operand {
    if (term.kind === 'immediate' || term.kind === 'inline' || term.kind === 'literal') return term;
    const { neg, abs } = term;
    const modifiers = neg || abs ? { ...(neg && { neg }), ...(abs && { abs }) } : {};
    switch (term.kind) {
      case 'vgpr':
        return { kind: 'vgpr', index: term.index, count: term.count, ...modifiers };
      case 'scalar': {
        const count = term.code === Scalar.null ? wordsOf(spec.type, this.waveSize) : term.count;
        return { kind: 'scalar', code: term.code, count, ...modifiers };
      }
      default:
        return this.constant(term, spec, def, form);
    }
  }

  /** VOP3 keeps NEG and ABS of a constant as modifiers; elsewhere they change the constant. */
  private constant(term: Constant, spec: OperandSpec, def: InstructionDef, form: Form): Operand {
    const warn = (reason: string) => this.warnings.push([term.column, reason]);
    const { neg, abs } = term;
    if (!isVop3(form.encoding)) {
      const takesModifiers = (spec.type === 'f32' || spec.type === 'f64') && def.modifiers?.neg === true;
      return constantOperand(term, spec.type, takesModifiers, warn);
    }
    const constant = constantOperand({ ...term, neg: false, abs: false }, spec.type, false, warn);
    return { ...constant, ...(neg && { neg }), ...(abs && { abs }) };
  }
}

const columnOf = (term: Term | Operand): number | undefined => ('column' in term ? term.column : undefined);

const roles = (specs: readonly OperandSpec[]) => specs.map(({ field, type }) => `${field} (${type})`).join(', ');

function tooMany({ name, def }: Mnemonic, cursor: Cursor): SyntaxFault {
  if (!cursor.sees(',')) return cursor.fault(`unexpected ${describe(cursor.token)} after the operands`);
  const written = def.operands.filter(({ field }) => field !== 'vcc');
  return cursor.fault(`too many operands: ${name} takes ${written.length === 0 ? 'none' : roles(written)}`);
}

const outputModifiers: Readonly<Record<string, 0 | 1 | 2 | 3>> = {
  'mul:1': 0,
  'mul:2': 1,
  'mul:4': 2,
  'div:1': 0,
  'div:2': 3,
};

function parseModifiers(cursor: Cursor): Modifiers {
  const modifiers: Modifiers = { omod: 0, clamp: false, offset: 0, gds: false, columns: new Map() };
  while (cursor.token.kind === 'name' || (cursor.sees(',') && cursor.peek(1).kind === 'name' && cursor.sees(':', 2))) {
    cursor.accept(',');
    const { text, column } = cursor.next();
    const key = text === 'mul' || text === 'div' ? 'omod' : text;
    if (modifiers.columns.has(key)) throw new SyntaxFault(column, `${key} is given twice`);
    modifiers.columns.set(key, column);
    if (key === 'omod') {
      cursor.expect(':');
      const value = outputModifiers[`${text}:${cursor.token.text}`];
      if (value === undefined)
        throw cursor.fault(`output modifiers are mul:2, mul:4 and div:2, not ${quote(`${text}:${cursor.token.text}`)}`);
      cursor.next();
      modifiers.omod = value;
    } else if (key === 'offset') {
      cursor.expect(':');
      modifiers.offset = cursor.integer('offset', 0, 65535);
    } else if (key === 'clamp') modifiers.clamp = true;
    else if (key === 'gds') modifiers.gds = true;
    else
      throw new SyntaxFault(
        column,
        `unknown modifier ${quote(text)}: mul:2, mul:4, div:2, clamp, offset:N and gds exist`,
      );
  }
  return modifiers;
}
