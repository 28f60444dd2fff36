/**
 * v_min_f64, v_max_f64 (v_min_num_f64, v_max_num_f64 on gfx12).
 *
 * a = S0, b = S1 after the input flush; q(x) is x with the quiet bit set. -0 is below +0; the selected flushed bits are the result,
 * MODE's round field and output denormal bit play no part.
 *
 * | a, b                    | gfx9, gfx10, CDNA, IEEE=1 | same, IEEE=0 | gfx11, IEEE=1 | same, IEEE=0 | gfx12 |
 * | ----------------------- | ------------------------- | ------------ | ------------- | ------------ | ----- |
 * | sNaN, number            | q(a)                      | b            | q(a)          | b            | b     |
 * | number, sNaN            | q(b)                      | a            | q(b)          | a            | a     |
 * | sNaN, any NaN           | q(a)                      | b            | q(a)          | a            | q(a)  |
 * | qNaN, sNaN              | q(b)                      | b            | q(b)          | a            | a     |
 * | qNaN, number            | b                         | b            | b             | b            | b     |
 * | number, qNaN            | a                         | a            | a             | a            | a     |
 * | qNaN, qNaN              | b                         | b            | a             | a            | a     |
 *
 * Sources: the texts of the CDNA3, RDNA3 and RDNA4 ISA documents (V_MIN_F64, V_MIN_NUM_F64); the gfx12 column captured on gfx1201
 * (ROCm rocjitsu shared/minmax.h and minmax_test.cpp). gfx10 is taken to be like gfx9: its text was not at hand.
 */
import { type Control, QUIET } from '../../float/control.ts';
import { f64_isBelow, f64_isNaN, f64_isSignalingNaN, f64_leave } from '../../float/f64.ts';
import { forms, withVop3 } from '../encodings.ts';
import { flushedHi, flushedLo } from '../flush.ts';
import type { Fidelity, InstructionDef, LaneSemantics } from '../instruction.ts';
import { type F64Op2, f64Binary } from '../lanes.ts';
import { uniform } from '../operands.ts';
import { gcnGeneration, type Variant } from '../target.ts';

const QUIET_BIT = 0x00080000;

/** Leaves the result for operands of which at least one is a NaN. */
export type NaNRule = F64Op2;

/** Under IEEE=1 (QUIET) a signalling NaN of either side wins, the first before the second. Returns whether it did. */
const signalingWins = (aHi: number, aLo: number, bHi: number, bLo: number, control: Control): boolean => {
  if ((control & QUIET) === 0) return false;
  if (f64_isSignalingNaN(aHi, aLo)) f64_leave(aHi | QUIET_BIT, aLo);
  else if (f64_isSignalingNaN(bHi, bLo)) f64_leave(bHi | QUIET_BIT, bLo);
  else return false;
  return true;
};

/** Two NaN that don't signal, or with IEEE=0: the second. */
const gfx9: NaNRule = (aHi, aLo, bHi, bLo, control) => {
  if (signalingWins(aHi, aLo, bHi, bLo, control)) return;
  if (f64_isNaN(aHi, aLo)) f64_leave(bHi, bLo);
  else f64_leave(aHi, aLo);
};

/** Two NaN that don't signal, or with IEEE=0: the first. */
const gfx11: NaNRule = (aHi, aLo, bHi, bLo, control) => {
  if (signalingWins(aHi, aLo, bHi, bLo, control)) return;
  if (f64_isNaN(bHi, bLo)) f64_leave(aHi, aLo);
  else f64_leave(bHi, bLo);
};

/** A number beats any NaN; of two NaN the first, quieted. */
const gfx12: NaNRule = (aHi, aLo, bHi, bLo) => {
  if (!f64_isNaN(bHi, bLo)) f64_leave(bHi, bLo);
  else if (!f64_isNaN(aHi, aLo)) f64_leave(aHi, aLo);
  else f64_leave(aHi | QUIET_BIT, aLo);
};

/** Selects the smaller (`wantsMax` false) or the larger operand; NaN by `rule`. */
const select =
  (wantsMax: boolean, rule: NaNRule): F64Op2 =>
  (s0Hi, s0Lo, s1Hi, s1Lo, control) => {
    const aHi = flushedHi(s0Hi, control);
    const aLo = flushedLo(s0Hi, s0Lo, control);
    const bHi = flushedHi(s1Hi, control);
    const bLo = flushedLo(s1Hi, s1Lo, control);
    if (f64_isNaN(aHi, aLo) || f64_isNaN(bHi, bLo)) rule(aHi, aLo, bHi, bLo, control);
    else if (f64_isBelow(aHi, aLo, bHi, bLo) !== wantsMax) f64_leave(aHi, aLo);
    else f64_leave(bHi, bLo);
  };

/** The columns of the table, named as in the WGSL functions. */
const columns = { gfx9, gfx11, gfx12 } as const;
const columnOf = { gfx9: 'gfx9', gfx10: 'gfx9', gfx11: 'gfx11', gfx12: 'gfx12' } as const;

const semantics = (name: string, wantsMax: boolean) => {
  const of = (column: keyof typeof columns): LaneSemantics => ({
    unit: 'valu',
    cpu: f64Binary(select(wantsMax, columns[column])),
    wgsl: `${name}_${column}`,
    usesMode: true,
  });
  const byColumn = { gfx9: of('gfx9'), gfx11: of('gfx11'), gfx12: of('gfx12') };
  return ({ target }: Variant) => byColumn[columnOf[gcnGeneration(target)]];
};

const fidelityOf = { gfx9: 'documented', gfx10: 'modelled', gfx11: 'documented', gfx12: 'measured' } as const;

const fidelity = ({ target }: Variant): Fidelity => fidelityOf[gcnGeneration(target)];

const family = 'minmax';
const modifiers = { neg: true, abs: true, omod: true, clamp: true };

export const minmax: readonly InstructionDef[] = [
  {
    name: 'v_min_f64',
    family,
    summary: 'The smaller of S0 and S1, with -0 below +0',
    forms: [
      ...forms('VOP3', { gfx9: 0x282, gfx10: 0x166, gfx11: 0x329 }),
      ...withVop3('VOP2', { gfx12: 0xd }, { name: 'v_min_num_f64', aliases: ['v_min_f64'] }),
    ],
    operands: uniform('f64', 2),
    modifiers,
    semantics: semantics('v_min_f64', false),
    fidelity,
  },
  {
    name: 'v_max_f64',
    family,
    summary: 'The larger of S0 and S1, with -0 below +0',
    forms: [
      ...forms('VOP3', { gfx9: 0x283, gfx10: 0x167, gfx11: 0x32a }),
      ...withVop3('VOP2', { gfx12: 0xe }, { name: 'v_max_num_f64', aliases: ['v_max_f64'] }),
    ],
    operands: uniform('f64', 2),
    modifiers,
    semantics: semantics('v_max_f64', true),
    fidelity,
  },
];
