/**
 * The 16-bit fields that are written as words: s_waitcnt's counters, s_waitcnt_depctr's, s_delay_alu's hints, hardware registers.
 * Each is a reader of text and a writer of LLVM's text, side by side.
 * Sources: LLVM AMDGPU operand syntax (waitcnt, depctr, delay, hwreg); names and defaults as llvm-mc 22 prints them.
 */
import { type GcnGeneration, gcnGeneration, type Target } from '../isa/target.ts';
import { SyntaxFault } from './asmError.ts';
import { hwregName, hwregNumber } from './hwregs.ts';
import { type Cursor, describe } from './lexer.ts';

/** How one kind of field is read and written. */
export interface ImmediateSyntax {
  /** @throws SyntaxFault naming what is allowed. */
  readonly parse: (cursor: Cursor, target: Target) => number;
  readonly print: (value: number, target: Target) => string;
}

const hex = (value: number) => `0x${value.toString(16)}`;

/** A counter in the field: its bits, low parts first. */
interface Counter {
  readonly name: string;
  readonly parts: readonly { readonly shift: number; readonly width: number }[];
}

const part = (shift: number, width: number) => ({ shift, width });

const counters: Readonly<Record<GcnGeneration, readonly Counter[]>> = {
  gfx9: [
    { name: 'vmcnt', parts: [part(0, 4), part(14, 2)] },
    { name: 'expcnt', parts: [part(4, 3)] },
    { name: 'lgkmcnt', parts: [part(8, 4)] },
  ],
  gfx10: [
    { name: 'vmcnt', parts: [part(0, 4), part(14, 2)] },
    { name: 'expcnt', parts: [part(4, 3)] },
    { name: 'lgkmcnt', parts: [part(8, 6)] },
  ],
  gfx11: [
    { name: 'vmcnt', parts: [part(10, 6)] },
    { name: 'expcnt', parts: [part(0, 3)] },
    { name: 'lgkmcnt', parts: [part(4, 6)] },
  ],
  gfx12: [
    { name: 'vmcnt', parts: [part(10, 6)] },
    { name: 'expcnt', parts: [part(0, 3)] },
    { name: 'lgkmcnt', parts: [part(4, 6)] },
  ],
};

const most = ({ parts }: Counter) => parts.reduce((bits, { width }) => bits + width, 0);
const maximum = (counter: Counter) => (1 << most(counter)) - 1;

function getCounter(counter: Counter, field: number): number {
  let value = 0;
  let at = 0;
  for (const { shift, width } of counter.parts) {
    value |= ((field >>> shift) & ((1 << width) - 1)) << at;
    at += width;
  }
  return value;
}

function setCounter(counter: Counter, field: number, value: number): number {
  let at = 0;
  let result = field;
  for (const { shift, width } of counter.parts) {
    const mask = ((1 << width) - 1) << shift;
    result = (result & ~mask) | (((value >>> at) << shift) & mask);
    at += width;
  }
  return result;
}

/** `name(value)` terms, separated by blanks, '&' or ','. */
function* namedValues(cursor: Cursor): Generator<{ name: string; column: number }> {
  do {
    const token = cursor.next();
    if (token.kind !== 'name')
      throw new SyntaxFault(token.column, `expected a counter's name or an integer, found ${describe(token)}`);
    cursor.expect('(');
    yield { name: token.text, column: token.column };
    cursor.expect(')');
  } while (cursor.accept('&') || cursor.accept(',') || !cursor.atEnd);
}

/** s_waitcnt: `vmcnt(0) lgkmcnt(0)`; a counter that isn't named is at its maximum. */
const waitcnt: ImmediateSyntax = {
  parse: (cursor, target) => {
    if (cursor.token.kind !== 'name') return plainField(cursor);
    const known = counters[gcnGeneration(target)];
    let field = known.reduce((all, counter) => setCounter(counter, all, maximum(counter)), 0);
    for (const { name, column } of namedValues(cursor)) {
      const saturates = name.endsWith('_sat');
      const counter = known.find((c) => c.name === (saturates ? name.slice(0, -4) : name));
      if (counter === undefined) throw new SyntaxFault(column, `no counter '${name}': ${list(known)} are allowed`);
      const value = cursor.integer(name, 0, saturates ? 0x7fffffff : maximum(counter));
      field = setCounter(counter, field, Math.min(value, maximum(counter)));
    }
    return field;
  },
  print: (field, target) => {
    const known = counters[gcnGeneration(target)];
    const waiting = known.filter((c) => getCounter(c, field) !== maximum(c));
    return (waiting.length === 0 ? known : waiting).map((c) => `${c.name}(${getCounter(c, field)})`).join(' ');
  },
};

const list = (named: readonly { name: string }[]) => named.map(({ name }) => name).join(', ');

const depctrCounters: readonly Counter[] = [
  { name: 'depctr_hold_cnt', parts: [part(7, 1)] },
  { name: 'depctr_sa_sdst', parts: [part(0, 1)] },
  { name: 'depctr_va_vdst', parts: [part(12, 4)] },
  { name: 'depctr_va_sdst', parts: [part(9, 3)] },
  { name: 'depctr_va_ssrc', parts: [part(8, 1)] },
  { name: 'depctr_va_vcc', parts: [part(1, 1)] },
  { name: 'depctr_vm_vsrc', parts: [part(2, 3)] },
];

/** gfx1010 lacks the hold counter. */
const depctrOn = (target: Target) => (target.name === 'gfx1010' ? depctrCounters.slice(1) : depctrCounters);

/** s_waitcnt_depctr, s_wait_alu: `depctr_va_vdst(0)`; a field that isn't named is at its maximum. */
const depctr: ImmediateSyntax = {
  parse: (cursor, target) => {
    if (cursor.token.kind !== 'name') return plainField(cursor);
    const known = depctrOn(target);
    let field = known.reduce((all, counter) => setCounter(counter, all, maximum(counter)), 0);
    const seen = new Set<string>();
    for (const { name, column } of namedValues(cursor)) {
      const counter = known.find((c) => c.name === name);
      if (counter === undefined) throw new SyntaxFault(column, `no counter '${name}': ${list(known)} are allowed`);
      if (seen.has(name)) throw new SyntaxFault(column, `${name} is given twice`);
      seen.add(name);
      field = setCounter(counter, field, cursor.integer(name, 0, maximum(counter)));
    }
    return field;
  },
  print: (field, target) => {
    const known = depctrOn(target);
    const used = known.reduce((all, counter) => setCounter(counter, all, maximum(counter)), 0);
    if ((field & ~used) !== 0) return hex(field);
    const waiting = known.filter((c) => getCounter(c, field) !== maximum(c));
    return (waiting.length === 0 ? known : waiting).map((c) => `${c.name}(${getCounter(c, field)})`).join(' ');
  },
};

const dependencies = [
  ...[
    'NO_DEP',
    'VALU_DEP_1',
    'VALU_DEP_2',
    'VALU_DEP_3',
    'VALU_DEP_4',
    'TRANS32_DEP_1',
    'TRANS32_DEP_2',
    'TRANS32_DEP_3',
  ],
  ...['FMA_ACCUM_CYCLE_1', 'SALU_CYCLE_1', 'SALU_CYCLE_2', 'SALU_CYCLE_3'],
];
const skips = ['SAME', 'NEXT', 'SKIP_1', 'SKIP_2', 'SKIP_3', 'SKIP_4'];

const delayParts = [
  { name: 'instid0', shift: 0, width: 4, values: dependencies, invalid: '/* invalid instid value */' },
  { name: 'instskip', shift: 4, width: 3, values: skips, invalid: '/* invalid instskip value */' },
  { name: 'instid1', shift: 7, width: 4, values: dependencies, invalid: '/* invalid instid value */' },
];

/** s_delay_alu: `instid0(VALU_DEP_1) | instskip(NEXT) | instid1(TRANS32_DEP_1)`. */
const delay: ImmediateSyntax = {
  parse: (cursor) => {
    if (cursor.token.kind !== 'name') return plainField(cursor);
    let field = 0;
    do {
      const token = cursor.next();
      const found = delayParts.find(({ name }) => name === token.text);
      if (found === undefined)
        throw new SyntaxFault(token.column, `expected ${list(delayParts)} or an integer, found ${describe(token)}`);
      cursor.expect('(');
      const value = cursor.next();
      const index = found.values.indexOf(value.text);
      if (index < 0) throw new SyntaxFault(value.column, `${found.name} is one of ${found.values.join(', ')}`);
      cursor.expect(')');
      field |= index << found.shift;
    } while (cursor.accept('|'));
    return field;
  },
  print: (field) => {
    const terms = delayParts.flatMap(({ name, shift, width, values, invalid }) => {
      const value = (field >>> shift) & ((1 << width) - 1);
      return value === 0 ? [] : [`${name}(${values[value] ?? invalid})`];
    });
    return terms.length === 0 ? '0' : terms.join(' | ');
  },
};

/** `hwreg(HW_REG_MODE, 4, 2)`: register, first bit, number of bits; 6, 5 and 5 bits of the field. */
const hwreg: ImmediateSyntax = {
  parse: (cursor, target) => {
    if (!cursor.accept('hwreg')) return plainField(cursor);
    cursor.expect('(');
    const { token } = cursor;
    const id = token.kind === 'name' ? hwregNumber(token.text, target) : cursor.integer('a hardware register', 0, 63);
    if (id === undefined)
      throw new SyntaxFault(
        token.column,
        `${target.name} has no hardware register ${describe(token)}; MODE is ${hwregName(1, target)}`,
      );
    if (token.kind === 'name') cursor.next();
    let [offset, size] = [0, 32];
    if (cursor.accept(',')) {
      offset = cursor.integer('the first bit', 0, 31);
      cursor.expect(',');
      size = cursor.integer('the number of bits', 1, 32);
    }
    cursor.expect(')');
    return id | (offset << 6) | ((size - 1) << 11);
  },
  print: (field, target) => {
    const [id, offset, size] = [field & 63, (field >>> 6) & 31, (field >>> 11) + 1];
    const bits = offset === 0 && size === 32 ? '' : `, ${offset}, ${size}`;
    return `hwreg(${hwregName(id, target) ?? id}${bits})`;
  },
};

const plainField = (cursor: Cursor) => cursor.integer('this field', -0x8000, 0xffff) & 0xffff;

/** Small values (those of inline integers) in decimal, others in hexadecimal, as LLVM does. */
export const printInteger = (value: number): string => (value <= 64 ? String(value) : hex(value));

const simm16: ImmediateSyntax = { parse: plainField, print: printInteger };

const imm32: ImmediateSyntax = {
  parse: (cursor) => cursor.integer('the 32-bit constant', -0x80000000, 0xffffffff) >>> 0,
  print: (value) => (value >= 0xfffffff0 ? String(value | 0) : printInteger(value)),
};

/** The syntax of operands that are fields, not registers or constants; by `OperandType`. */
export const immediateSyntax: Readonly<Record<string, ImmediateSyntax>> = {
  waitcnt,
  depctr,
  delay,
  hwreg,
  simm16,
  imm32,
};
