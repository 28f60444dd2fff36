/**
 * Instructions and macros as steps of a loop (`loopKernel.ts`): which WGSL body does it, and what it reads and writes, as numbers that a
 * table can hold.
 */

import { macroValues } from '../isa/divisionMacro.ts';
import type { LaneSemantics } from '../isa/instruction.ts';
import { constantWords, type Operand, type OperandType, wordsOf } from '../isa/operand.ts';
import type { Variant } from '../isa/target.ts';
import type { Instruction } from '../program/program.ts';
import { type Shape, scalarSlot } from '../wavefront/layout.ts';
import { Scalar } from '../wavefront/registers.ts';
import type { Bail } from './forms.ts';
import type { WgslFunction } from './kernel.ts';
import type { Schedulable } from './loopSchedule.ts';
import { modifiersOf, type Outcome, vectorCall } from './translate.instruction.ts';
import { COMPLETE, functionsOfMacro, type MacroUse, macroCall, mayBail } from './translate.macro.ts';
import type { WaveText } from './waveText.ts';

/** A word of a source is `(state & and) ^ xor`: modifiers change the top bit, and of a constant nothing is left but `xor`. */
export interface SourceWord {
  readonly from: 'vgpr' | 'scalar' | 'constant';
  /** VGPR, or word of the wave's scalars. */
  readonly at: number;
  readonly and: number;
  readonly xor: number;
}

/** One value of a step. `bit`: this lane's bit of a mask, whose words these are; else all the words. */
export interface Source {
  readonly bit: boolean;
  readonly words: readonly SourceWord[];
}

export interface Step extends Schedulable {
  readonly instruction: Instruction;
  readonly sources: readonly Source[];
  /** Further arguments. */
  readonly numbers: readonly number[];
  /** The VGPR of each word of the outcome; undefined where it is not kept. */
  readonly registers: readonly (number | undefined)[];
  /** First words, among the wave's scalars, of the masks that the flag goes to. */
  readonly masks: readonly number[];
  /** Some lanes may have to be done by the complete form. */
  readonly mayBail: boolean;
  /** Writes the call of a body, of the complete one or of the one that may bail. Steps of one kind write the same. */
  readonly call: (wave: WaveText, args: readonly string[], numbers: readonly string[], complete: boolean) => Outcome;
}

/** What decides about a step besides the instruction. */
export interface StepContext {
  readonly variant: Variant;
  readonly shape: Shape;
  readonly costs: ReadonlyMap<string, number>;
  readonly macros: ReadonlyMap<Instruction, MacroUse>;
  readonly bail: Bail;
}

/** The step, or undefined for what is none: scalar and LDS instructions, what writes EXEC. */
export function stepOf(instruction: Instruction, context: StepContext): Step | undefined {
  const macro = context.macros.get(instruction);
  if (macro) return macroStep(instruction, macro, context);
  const semantics = instruction.def.semantics(context.variant);
  return semantics.unit === 'valu' ? vectorStep(instruction, semantics, context) : undefined;
}

/** Operations of loads, stores and the branch around them. */
const SLOT = 30;

const costOf = (functions: readonly WgslFunction[], { costs }: StepContext) =>
  functions.reduce((sum, { name }) => sum + (costs.get(name) ?? 0), SLOT);

function macroStep(instruction: Instruction, use: MacroUse, context: StepContext): Step | undefined {
  const { macro, form, shape } = use;
  const masks = macro.flags.flatMap(({ word, code }) => (word === 0 ? maskSlot(code, context) : []));
  if (masks.includes(EXEC)) return undefined;
  const registers = macroValues.flatMap((value) =>
    [0, 1].map((word) => macro.live.find((live) => live.value === value && live.word === word)?.register),
  );
  return {
    instruction,
    kind: `macro ${form}`,
    cost: costOf(functionsOfMacro(use, context.bail), context),
    sources: [macro.numerator, macro.denominator].map((operand) => sourceOf(operand, 'f64', context)),
    numbers: [shape],
    registers,
    masks,
    mayBail: mayBail(use),
    call: (wave, [n, d], [shapeText], complete) => {
      const { value, flag, ok } = macroCall(wave, complete ? 'shared' : form, n!, d!, shapeText!);
      const words = macroValues.flatMap((name) => {
        const made = value(name);
        return [0, 1].map((word) => made && `${made}.${'xy'[word]}`);
      });
      return { words, flag, ...(ok !== undefined && { ok }) };
    },
  };
}

const MUL_ADD: WgslFunction = { family: 'mul_add', name: 'mul_add_f64' };

/** Functions whose costs a loop asks for, besides those of instructions. */
export const LOOP_FUNCTIONS: readonly WgslFunction[] = [MUL_ADD, COMPLETE];

function vectorStep(instruction: Instruction, semantics: LaneSemantics, context: StepContext): Step | undefined {
  const { def, operands } = instruction;
  const withOperand = def.operands.map((spec, i) => ({ ...spec, operand: operands[i]! }));
  const of = (role: string) => withOperand.filter((operand) => operand.role === role);
  const vector = withOperand.find(({ role, type }) => role !== 'src' && type !== 'mask');
  const mask = of('dst').find(({ type }) => type === 'mask');
  if (vector && vector.operand.kind !== 'vgpr') return undefined;
  const masks = mask?.operand.kind === 'scalar' ? maskSlot(mask.operand.code, context) : [];
  if (masks.includes(EXEC)) return undefined;
  const first = vector?.operand.kind === 'vgpr' ? vector.operand.index : 0;
  const words = vector ? wordsOf(vector.type, context.shape.waveSize) : 0;
  const sources = [...of('src'), ...of('update')].map(({ operand, type }) => sourceOf(operand, type, context));
  const { body, ...rest } = asMulAdd(semantics.wgsl, sources) ?? {
    body: { family: def.family, name: semantics.wgsl },
    sources,
    numbers: [],
  };
  const mode = (wave: WaveText) => (semantics.usesMode ? [wave.effectiveMode] : []);
  return {
    instruction,
    kind: `${body.name} ${instruction.omod} ${instruction.clamp}`,
    cost: costOf([body, ...modifiersOf(instruction)], context),
    ...rest,
    registers: Array.from({ length: words }, (_, i) => first + i),
    masks,
    mayBail: false,
    call: (wave, args, numbers) => vectorCall(wave, instruction, body, [...args, ...numbers, ...mode(wave)]),
  };
}

interface Call {
  readonly body: WgslFunction;
  readonly sources: readonly Source[];
  readonly numbers: readonly number[];
}

/** The call of mul_add_f64 that does the same, with the operands and kinds of its table, if there is one. */
function asMulAdd(wgsl: string, sources: readonly Source[]): Call | undefined {
  const call = (kind: number, factorsAndTerm: readonly Source[], flag = NO_BIT): Call => ({
    body: MUL_ADD,
    sources: [...factorsAndTerm, flag],
    numbers: [kind],
  });
  const [a, b, c, flag] = sources as [Source, Source, Source, Source];
  switch (wgsl) {
    case 'v_fma_f64':
      return call(0, [a, b, c]);
    case 'v_add_f64':
      return call(0, [a, ONE, b]);
    case 'v_mul_f64':
      return call(1, [a, b, ZERO]);
    case 'v_div_fmas_f64':
      return call(2, [a, b, c], flag);
    default:
      return undefined;
  }
}

const constants = (...words: number[]): SourceWord[] =>
  words.map((xor) => ({ from: 'constant', at: 0, and: 0, xor: xor >>> 0 }));

const ONE: Source = { bit: false, words: constants(0, 0x3ff00000) };
const ZERO: Source = { bit: false, words: constants(0, 0) };
const NO_BIT: Source = { bit: true, words: constants(0, 0) };

/** Stands for EXEC, which no step may write. */
const EXEC = -1;

function maskSlot(code: number, { shape }: StepContext): number[] {
  if (code === Scalar.execLo || code === Scalar.execHi) return [EXEC];
  const slot = scalarSlot(shape.sgprs, code);
  return slot === undefined ? [] : [slot];
}

function sourceOf(operand: Operand, type: OperandType, { shape }: StepContext): Source {
  const count = wordsOf(type, shape.waveSize);
  const words = plainWords(operand, type, count, shape);
  const top = words.at(-1)!;
  const and = operand.abs ? 0x7fffffff : 0xffffffff;
  const xor = ((top.xor & and) ^ (operand.neg ? 0x80000000 : 0)) >>> 0;
  return { bit: type === 'mask', words: [...words.slice(0, -1), { ...top, and: (top.and & and) >>> 0, xor }] };
}

function plainWords(operand: Operand, type: OperandType, count: number, shape: Shape): SourceWord[] {
  const each = (word: (i: number) => SourceWord) => Array.from({ length: count }, (_, i) => word(i));
  switch (operand.kind) {
    case 'vgpr':
      return each((i) => ({ from: 'vgpr', at: operand.index + i, and: 0xffffffff, xor: 0 }));
    case 'scalar':
      return each((i) => {
        const at = scalarSlot(shape.sgprs, operand.code + (operand.code === Scalar.null ? 0 : i));
        return at === undefined ? constants(0)[0]! : { from: 'scalar', at, and: 0xffffffff, xor: 0 };
      });
    case 'immediate':
      return each((i) => constants(i === 0 ? operand.value : 0)[0]!);
    default: {
      const bits = type === 'mask' ? (shape.waveSize === 64 ? 'b64' : 'b32') : type;
      return constants(...constantWords(operand, bits).slice(0, count));
    }
  }
}

/** Scalar words that a step reads whole, and those of which it writes each lane's bit. */
export function scalarsOf({ sources, masks }: Step, { waveSize }: Shape) {
  const read = sources.flatMap(({ bit, words }) =>
    bit ? [] : words.flatMap(({ from, at }) => (from === 'scalar' ? [at] : [])),
  );
  const written = masks.flatMap((slot) => Array.from({ length: waveSize / 32 }, (_, i) => slot + i));
  return { read, written };
}
