/**
 * Reciprocals and roots: v_rcp, v_rsq, v_sqrt, in f64 and f32.
 *
 * The f64 instructions are seeds for Newton's iteration, not correctly rounded: a cubic from a table of 32 segments, 34 or 35 fraction
 * bits, relative error of v_rcp_f64 up to 2^-24.37. The f32 ones are the same data path rounded once to 24 bits. MODE's round field has
 * no effect. f64 honours MODE's denormal bits; f32 counts subnormals as zeros, in and out, whatever MODE says.
 *
 * | source          | rcp  | rsq         | sqrt        |
 * | --------------- | ---- | ----------- | ----------- |
 * | +-0             | +-inf | +-inf      | +-0         |
 * | +inf            | +0   | +0          | +inf        |
 * | -inf            | -0   | default NaN | default NaN |
 * | negative finite | < 0  | default NaN | default NaN |
 * | NaN             | itself, quieted under IEEE=1 and on gfx12 |||
 *
 * Sources: ROCm rocjitsu shared/transcendental_f64.h, lib/util amdgpu_{rcp,rsq,sqrt}.h and transcendental_test.cpp: every mantissa bit
 * that is read, on gfx1201, and the same on gfx1100. Older chips have not been read out.
 */
import { amd_rcp_f64, amd_rsq_f64, amd_sqrt_f64 } from '../../float/approximate.ts';
import { amd_rcp_f32, amd_rsq_f32, amd_sqrt_f32 } from '../../float/approximate-f32.ts';
import { f64_div, f64_rsqrt, f64_sqrt } from '../../float/f64.ts';
import { controlF64 } from '../../wavefront/mode.ts';
import { withVop3 } from '../encodings.ts';
import type { Erratum, Fidelity, InstructionDef, LaneBody, LaneSemantics } from '../instruction.ts';
import { f32Unary, f64Unary } from '../lanes.ts';
import { uniform } from '../operands.ts';
import type { Variant } from '../target.ts';

const fidelityF32 = ({ target }: Variant): Fidelity =>
  target.generation === 'gfx11' || target.generation === 'gfx12' ? 'measured' : 'modelled';

const fidelity = (variant: Variant): Fidelity =>
  variant.profile === 'published' ? 'documented' : fidelityF32(variant);

const errata: readonly Erratum[] = [
  {
    text: 'D0 = 1.0 / S0, 1.0 / sqrt(S0), sqrt(S0), correctly rounded.',
    hardware: 'Table results with 34 (rcp) or 35 fraction bits; relative error of rcp up to 2^-24.37.',
    source:
      'ROCm rocjitsu shared/transcendental_f64.h, measured on gfx1100 and gfx1201; 54 values captured on a gfx12 card by yoshou/amdgpu-sim',
  },
];

/** Correctly rounded to nearest even with MODE's denormal bits: the published text's 1.0 / S0 and its kin. */
const nearest = (mode: number): number => controlF64(mode) & ~3;

const reciprocal = (hi: number, lo: number, control: number): void => f64_div(0x3ff00000, 0, hi, lo, control);

const everything = { neg: true, abs: true, omod: true, clamp: true };
const family = 'transcendental';

const semanticsF64 = (name: string, hardware: LaneBody, published: LaneBody) => {
  const of = (cpu: LaneBody, wgsl: string): LaneSemantics => ({ unit: 'valu', cpu, wgsl, usesMode: true });
  const byProfile = { hardware: of(hardware, name), published: of(published, `${name}_published`) };
  return ({ profile }: Variant) => byProfile[profile];
};

const semanticsF32 = (name: string, cpu: LaneBody) => {
  const lane: LaneSemantics = { unit: 'valu', cpu, wgsl: name, usesMode: true };
  return () => lane;
};

export const transcendental: readonly InstructionDef[] = [
  {
    name: 'v_rcp_f64',
    family,
    summary: 'A seed for 1 / S0',
    forms: withVop3('VOP1', { gfx9: 0x25, gfx10: 0x2f, gfx11: 0x2f, gfx12: 0x2f }),
    operands: uniform('f64', 1),
    modifiers: everything,
    semantics: semanticsF64('v_rcp_f64', f64Unary(amd_rcp_f64), f64Unary(reciprocal, nearest)),
    fidelity,
    errata,
  },
  {
    name: 'v_rsq_f64',
    family,
    summary: 'A seed for 1 / sqrt(S0)',
    forms: withVop3('VOP1', { gfx9: 0x26, gfx10: 0x31, gfx11: 0x31, gfx12: 0x31 }),
    operands: uniform('f64', 1),
    modifiers: everything,
    semantics: semanticsF64('v_rsq_f64', f64Unary(amd_rsq_f64), f64Unary(f64_rsqrt, nearest)),
    fidelity,
    errata,
  },
  {
    name: 'v_sqrt_f64',
    family,
    summary: 'A seed for sqrt(S0)',
    forms: withVop3('VOP1', { gfx9: 0x28, gfx10: 0x34, gfx11: 0x34, gfx12: 0x34 }),
    operands: uniform('f64', 1),
    modifiers: everything,
    semantics: semanticsF64('v_sqrt_f64', f64Unary(amd_sqrt_f64), f64Unary(f64_sqrt, nearest)),
    fidelity,
    errata,
  },
  {
    name: 'v_rcp_f32',
    family,
    summary: '1 / S0 within one unit in the last place',
    forms: withVop3('VOP1', { gfx9: 0x22, gfx10: 0x2a, gfx11: 0x2a, gfx12: 0x2a }),
    operands: uniform('f32', 1),
    modifiers: everything,
    semantics: semanticsF32('v_rcp_f32', f32Unary(amd_rcp_f32)),
    fidelity: fidelityF32,
  },
  {
    name: 'v_rsq_f32',
    family,
    summary: '1 / sqrt(S0) within one unit in the last place',
    forms: withVop3('VOP1', { gfx9: 0x24, gfx10: 0x2e, gfx11: 0x2e, gfx12: 0x2e }),
    operands: uniform('f32', 1),
    modifiers: everything,
    semantics: semanticsF32('v_rsq_f32', f32Unary(amd_rsq_f32)),
    fidelity: fidelityF32,
  },
  {
    name: 'v_sqrt_f32',
    family,
    summary: 'sqrt(S0) within one unit in the last place',
    forms: withVop3('VOP1', { gfx9: 0x27, gfx10: 0x33, gfx11: 0x33, gfx12: 0x33 }),
    operands: uniform('f32', 1),
    modifiers: everything,
    semantics: semanticsF32('v_sqrt_f32', f32Unary(amd_sqrt_f32)),
    fidelity: fidelityF32,
  },
];
