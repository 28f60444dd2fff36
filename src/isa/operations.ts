/**
 * Operations of the float libraries that no instruction computes by itself, in the shape of instructions: both engines run
 * TestFloat's vectors of them as they run any program. They have no encoding and no target; names are TestFloat's.
 * The WGSL bodies stand in `shaders/isa/operations.wesl`.
 */
import { roundOf } from '../float/control.ts';
import { f32_div, f32_sqrt } from '../float/f32.ts';
import {
  f32_to_f64,
  f64_div,
  f64_roundToInt,
  f64_sqrt,
  f64_to_f32,
  f64_to_i32,
  f64_to_u32,
  i32_to_f64,
  result,
  u32_to_f64,
} from '../float/f64.ts';
import { controlF32, controlF64 } from '../wavefront/mode.ts';
import type { InstructionDef, LaneBody } from './instruction.ts';
import { f32Binary, f32Unary, f64Binary, f64Unary, high, low } from './lanes.ts';
import type { OperandType } from './operand.ts';
import { dst, src } from './operands.ts';

/** One word <- f64 */
const narrow =
  (op: (hi: number, lo: number, mode: number) => number): LaneBody =>
  ({ lanes, active, src: [a], dst: to, mode }) => {
    for (let i = 0; i < lanes; i++) if (active[i] === 1) low(to)[i] = op(high(a!)[i]!, low(a!)[i]!, mode);
  };

/** f64 <- one word */
const widen =
  (op: (word: number, mode: number) => void): LaneBody =>
  ({ lanes, active, src: [a], dst: to, mode }) => {
    for (let i = 0; i < lanes; i++) {
      if (active[i] === 0) continue;
      op(low(a!)[i]!, mode);
      low(to)[i] = result[0]!;
      high(to)[i] = result[1]!;
    }
  };

const fields = ['src0', 'src1'] as const;

function operation(
  name: string,
  to: OperandType,
  from: readonly OperandType[],
  cpu: LaneBody,
  usesMode = true,
): InstructionDef {
  const semantics = { unit: 'valu', cpu, wgsl: `operation_${name}`, usesMode } as const;
  return {
    name,
    family: 'operations',
    summary: 'Operation of the float library',
    forms: [],
    operands: [dst(to), ...from.map((type, k) => src(fields[k]!, type))],
    semantics: () => semantics,
    fidelity: () => 'documented',
  };
}

export const operations: readonly InstructionDef[] = [
  operation('f64_div', 'f64', ['f64', 'f64'], f64Binary(f64_div)),
  operation('f64_sqrt', 'f64', ['f64'], f64Unary(f64_sqrt)),
  operation(
    'f64_roundToInt',
    'f64',
    ['f64'],
    f64Unary((hi, lo, control) => f64_roundToInt(hi, lo, roundOf(control), control)),
  ),
  operation(
    'f64_to_f32',
    'f32',
    ['f64'],
    narrow((hi, lo, mode) => f64_to_f32(hi, lo, controlF64(mode), controlF32(mode))),
  ),
  operation(
    'f64_to_i32',
    'i32',
    ['f64'],
    narrow((hi, lo, mode) => f64_to_i32(hi, lo, roundOf(controlF64(mode)), controlF64(mode))),
  ),
  operation(
    'f64_to_ui32',
    'u32',
    ['f64'],
    narrow((hi, lo, mode) => f64_to_u32(hi, lo, roundOf(controlF64(mode)), controlF64(mode))),
  ),
  operation(
    'f32_to_f64',
    'f64',
    ['f32'],
    widen((word, mode) => f32_to_f64(word, controlF32(mode))),
  ),
  operation('i32_to_f64', 'f64', ['i32'], widen(i32_to_f64), false),
  operation('ui32_to_f64', 'f64', ['u32'], widen(u32_to_f64), false),
  operation('f32_div', 'f32', ['f32', 'f32'], f32Binary(f32_div)),
  operation('f32_sqrt', 'f32', ['f32'], f32Unary(f32_sqrt)),
];
