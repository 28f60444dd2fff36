/** The division macro at once: which form of it a program allows, and its WGSL. */

import { factorsOf, type MacroProduct, type MacroValue } from '../isa/divisionMacro.ts';
import type { Variant } from '../isa/target.ts';
import { type DivisionMacro, findDivisionMacros } from '../program/divisionMacro.ts';
import type { Instruction, Program } from '../program/program.ts';
import { isNearestF64 } from '../wavefront/mode.ts';
import type { Bail, Form } from './forms.ts';
import { hex, type WgslFunction } from './kernel.ts';
import type { WaveText } from './waveText.ts';

/** A macro to be done at its last instruction. */
export interface MacroUse {
  readonly form: 'fused' | 'direct' | 'shared';
  readonly macro: DivisionMacro;
  /** How the program writes the macro, as `division_macro` in division_macro.wesl wants to know. */
  readonly shape: number;
}

export interface MacroPlan {
  /** By the instruction where it is done. */
  readonly uses: ReadonlyMap<Instruction, MacroUse>;
  /** Instructions that macros stand for. */
  readonly dropped: ReadonlySet<Instruction>;
}

const FUSED: WgslFunction = { family: 'division_fused', name: 'fused_division' };
const RESIDUAL: WgslFunction = { family: 'division_fused', name: 'fused_residual' };
const DIRECT: WgslFunction = { family: 'division_fused', name: 'direct_division' };
export const COMPLETE: WgslFunction = { family: 'division_macro', name: 'division_macro' };

export const MACRO_FUNCTIONS: readonly WgslFunction[] = [FUSED, RESIDUAL, DIRECT];

/** Whether it leaves lanes to `shared`, which does all. */
export const mayBail = ({ form }: Pick<MacroUse, 'form'>): boolean => form !== 'shared';

/** The functions of a kernel that does the macro: those of bailed lanes too, where they are done in a branch. */
export function functionsOfMacro(use: MacroUse, bail: Bail): readonly WgslFunction[] {
  const own = { direct: [DIRECT], fused: [FUSED, RESIDUAL], shared: [COMPLETE] }[use.form];
  return mayBail(use) && bail === 'branch' ? [...own, COMPLETE] : own;
}

/** @param mode MODE at the start, if it is known */
export function planMacros(program: Program, variant: Variant, form: Form, mode: number | undefined): MacroPlan {
  const uses = new Map<Instruction, MacroUse>();
  const dropped = new Set<Instruction>();
  const { instructions } = program;
  const setsMode = instructions.some(({ def }) => {
    const semantics = def.semantics(variant);
    return semantics.unit === 'x1k' || (semantics.unit === 'salu' && semantics.writesMode);
  });
  const isNearest = !setsMode && mode !== undefined && isNearestF64(mode);
  const allowed = form === 'shared' || (isNearest && form !== 'generic' && form !== 'fast');
  if (!allowed || variant.profile === 'published') return { uses, dropped };
  for (const macro of findDivisionMacros(program, variant.profile)) {
    const chosen = formOf(macro, form);
    if (chosen === undefined) continue;
    uses.set(instructions[macro.at]!, { form: chosen, macro, shape: shapeOf(macro) });
    for (const index of macro.members) if (index !== macro.at) dropped.add(instructions[index]!);
  }
  return { uses, dropped };
}

/** Values that only the instructions themselves make. */
const REFINEMENTS: readonly MacroValue[] = ['r0', 'e0', 'r1', 'e1'];

function formOf({ live, flags }: DivisionMacro, form: Form): MacroUse['form'] | undefined {
  const mayBeDirect = flags.length === 0 && live.every(({ value }) => value === 'result');
  const whole = flags.every(({ word, code }) =>
    word === 0 ? true : flags.some((other) => other.word === 0 && other.code === code - 1),
  );
  const mayBeOne = whole && !live.some(({ value }) => REFINEMENTS.includes(value));
  if (form === 'shared') return mayBeOne ? 'shared' : undefined;
  if (form === 'direct') return mayBeDirect ? 'direct' : undefined;
  return mayBeOne ? 'fused' : undefined;
}

/**
 * Bit i: the factors of step i of division_macro.wesl are exchanged; bit 8 + i: the minus stands before the other one of ds r or
 * ds q. Products don't change by that, but which NaN comes out does.
 */
function shapeOf({ orders }: DivisionMacro): number {
  return (Object.keys(factorsOf) as MacroProduct[]).reduce((shape, product, step) => {
    const { isSwapped, negatesSecond } = orders[product];
    return shape | (Number(isSwapped) << step) | (Number(negatesSecond) << (8 + step));
  }, 0);
}

/** Writes the whole macro behind what stands there. */
export function macroInstruction(wave: WaveText, { form, macro, shape }: MacroUse): void {
  const n = wave.argument(macro.numerator, 'f64');
  const d = wave.argument(macro.denominator, 'f64');
  const { value, flag, ok } = macroCall(wave, wave.tier === 'complete' ? 'shared' : form, n, d, hex(shape));
  if (ok !== undefined) wave.require(ok);
  for (const { value: name, word, register } of macro.live)
    wave.vectors.write(register, `${value(name)}.${'xy'[word]}`);
  const flags = macro.flags.filter(({ word }) => word === 0);
  if (flags.length === 0) return;
  const bit = wave.activeBit(flag);
  for (const { code } of flags) wave.writeMask(code, bit);
}

/** What a macro makes, as WGSL expressions. */
interface MacroOutcome {
  /** A vec2u; undefined where the form doesn't make the value. */
  readonly value: (name: MacroValue) => string | undefined;
  /** bool; 'false' where no lane has one. */
  readonly flag: string;
  /** bool: the rest holds; undefined where it always does. */
  readonly ok?: string;
}

/** Calls what does the macro in this form. `shape`: u32, see `MacroUse`. */
export function macroCall(
  { kernel, effectiveMode }: WaveText,
  form: MacroUse['form'],
  n: string,
  d: string,
  shape: string,
): MacroOutcome {
  if (form === 'direct') {
    const direct = kernel.value('d', kernel.call(DIRECT, [n, d, effectiveMode]));
    return { value: (name) => (name === 'result' ? `${direct}.result` : undefined), flag: 'false', ok: `${direct}.ok` };
  }
  if (form === 'shared') {
    const m = kernel.value('d', kernel.call(COMPLETE, [n, d, shape, effectiveMode]));
    return { value: (name) => (REFINEMENTS.includes(name) ? undefined : `${m}.${name}`), flag: `${m}.flag` };
  }
  const f = kernel.value('d', kernel.call(FUSED, [n, d]));
  const t = kernel.value('d', kernel.call(RESIDUAL, [`${f}.remainder`, `${f}.place`, n]));
  return {
    value: (name) => (REFINEMENTS.includes(name) ? undefined : name === 't' ? t : `${f}.${name}`),
    flag: `${f}.flag`,
    ok: `${f}.ok`,
  };
}
