/**
 * The text form of X1K programs, one operation a line (docs/x1k.md):
 *
 *     OP DST[.mask], SRC, ... [*1|*2|*4|*8|/2|/4|/8|omod_disabled] [sat]
 *     pred_REL SRC
 *     end
 *
 * Operations and output modifiers: ATI CTM Guide v1.01. The spelling is this project's.
 */
import type { InstructionDef } from '../../isa/instruction.ts';
import { isX1kCopy } from '../../isa/instructions/x1k.ts';
import type { Operand } from '../../isa/operand.ts';
import type { Target } from '../../isa/target.ts';
import { OMOD_DISABLED, omodTexts, type X1kOmod } from '../../isa/x1k/control.ts';
import { Scalar } from '../../wavefront/registers.ts';
import { quote, SyntaxFault } from '../asmError.ts';
import { Cursor, describe, Lexer } from '../lexer.ts';
import { mnemonicsOf, nearest, targetsWith } from '../mnemonics.ts';
import type { Instruction } from '../program.ts';
import { parseDestination, parseSource, type X1kSource } from './operands.ts';

/** Takes the lines of a program in order. An instruction counts as one in program addresses, since it has no bytes. */
export class X1kAssembler {
  readonly instructions: Instruction[] = [];
  readonly labels = new Map<string, number>();
  readonly openBlock = undefined;
  private readonly target: Target;
  private readonly lexer = new Lexer();

  constructor(target: Target) {
    this.target = target;
  }

  /** Takes one line; there are no warnings. @throws SyntaxFault */
  line(text: string, line: number): [] {
    const cursor = new Cursor(this.lexer.tokens(text));
    if (cursor.atEnd) return [];
    const { kind, text: name, column } = cursor.next();
    if (kind !== 'name') throw new SyntaxFault(column, `expected an operation, found ${quote(name)}`);
    const mnemonic = mnemonicsOf(this.target).get(name.toLowerCase());
    if (mnemonic === undefined) throw new SyntaxFault(column, this.unknown(name.toLowerCase()));
    const { def, forms } = mnemonic;
    const operands = parseOperands(def, cursor);
    const { omod, clamp } = parseOutput(def, cursor);
    if (!cursor.atEnd) throw cursor.fault(`unexpected ${describe(cursor.token)}; ${usageOf(def)}`);
    const rest = { omod: 0, clamp, offset: 0, gds: false, pc: this.instructions.length, size: 1 } as const;
    this.instructions.push({ def, form: forms[0]!, operands, ...rest, x1kOmod: omod, at: { line, column } });
    return [];
  }

  private unknown(name: string): string {
    const elsewhere = targetsWith(name);
    if (elsewhere.length > 0) return `${name} does not exist on x1k, but on ${elsewhere.join(', ')}`;
    return `unknown operation ${quote(name)}; near are ${nearest(name, mnemonicsOf(this.target).keys()).join(', ')}`;
  }
}

/** How an instruction is written. */
function usageOf({ name, operands }: InstructionDef): string {
  const sources = operands.filter(({ role }) => role === 'src').map((_, i) => `SRC${i}`);
  const written = operands[0]?.type === 'f32x4' ? ['DST', ...sources] : sources;
  return written.length === 0 ? `${name} stands alone` : `it is ${name} ${written.join(', ')}`;
}

function parseOperands(def: InstructionDef, cursor: Cursor): Operand[] {
  return def.operands.map((spec, index): Operand => {
    if (spec.field === 'vcc') return { kind: 'scalar', code: Scalar.vccLo, count: 2 };
    const first = index === 0 || def.operands[index - 1]!.field === 'vcc';
    if (first ? cursor.atEnd : !cursor.accept(','))
      throw cursor.fault(`${def.name} needs more operands: ${usageOf(def)}`);
    if (spec.role === 'dst') return parseDestination(cursor);
    const source = parseSource(cursor);
    if (spec.type === 'f32') return oneComponent(def, source);
    const { column: _, ...operand } = source;
    return operand;
  });
}

/** A predicate tests the first component of its source. */
function oneComponent(def: InstructionDef, { index, x1k, neg, abs, column }: X1kSource): Operand {
  if (x1k?.presubtract) throw new SyntaxFault(column, `${def.name} takes no presubtract`);
  const operand = { kind: 'vgpr', index: index + x1k!.swizzle![0]!, count: 1 } as const;
  return { ...operand, ...(neg && { neg }), ...(abs && { abs }) };
}

interface Output {
  readonly omod: X1kOmod;
  readonly clamp: boolean;
}

const outputForms = '*1, *2, *4, *8, /2, /4, /8, omod_disabled, then sat';

/** @throws SyntaxFault for modifiers that don't exist, or that this operation or combination does not have */
function parseOutput(def: InstructionDef, cursor: Cursor): Output {
  const { column } = cursor.token;
  const omod = parseOmod(cursor);
  const clamp = cursor.accept('sat');
  if (!cursor.atEnd && !cursor.sees(','))
    throw cursor.fault(`unexpected ${describe(cursor.token)}; output modifiers are ${outputForms}`);
  if ((omod !== undefined || clamp) && !def.modifiers?.omod)
    throw new SyntaxFault(column, `${def.name} has no output modifier`);
  if (omod !== OMOD_DISABLED) return { omod: omod ?? 0, clamp };
  if (!isX1kCopy(def))
    throw new SyntaxFault(column, `omod_disabled is for min, max, cnd, cmp and mov, not ${def.name}`);
  if (clamp)
    throw new SyntaxFault(column, 'omod_disabled cannot be combined with sat: clamping needs the output modifier');
  return { omod, clamp };
}

function parseOmod(cursor: Cursor): X1kOmod | undefined {
  if (cursor.accept('omod_disabled')) return OMOD_DISABLED;
  if (!cursor.sees('*') && !cursor.sees('/')) return undefined;
  const { text: sign, column } = cursor.next();
  const { text } = cursor.next();
  if (sign === '*' && text === '1') return 0;
  const found = omodTexts.indexOf(`${sign}${text}` as (typeof omodTexts)[number]);
  if (found <= 0) throw new SyntaxFault(column, `output modifiers are ${outputForms}, not ${quote(sign + text)}`);
  return found as X1kOmod;
}
