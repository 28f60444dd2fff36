/**
 * The ALU of X1K (R5xx): ATI CTM Guide v1.01, 3.6 "Note on Floating Point". Selections and special values are the guide's; it leaves
 * rounding open, so arithmetic is a model: one rounding, to nearest even unless MODE's f32 field says otherwise; dot products cut to 25
 * bits; transcendental operations within 1 ulp. Bodies and choices: `../x1k`, docs/x1k.md.
 */
import type { Fidelity, Form, InstructionDef, LaneBody, Semantics } from '../instruction.ts';
import type { OperandSpec } from '../operand.ts';
import { dst, src } from '../operands.ts';
import * as alu from '../x1k/alu.ts';
import { binary, dot2, dot3, scalar, ternary, test, unary } from '../x1k/lanes.ts';
import * as transcendental from '../x1k/transcendental.ts';

const family = 'x1k';
const output = { omod: true, clamp: true };
const fields = ['src0', 'src1', 'src2'] as const;

let forms = 0;
const form = (): Form[] => [{ encoding: 'X1K', opcode: forms++, on: ['x1k'] }];

const define = (
  name: string,
  summary: string,
  operands: readonly OperandSpec[],
  semantics: Semantics,
  fidelity: Fidelity,
): InstructionDef => ({
  name,
  family,
  summary,
  forms: form(),
  operands,
  ...(operands.length > 0 && { modifiers: { neg: true, abs: true, ...(semantics.unit === 'x1k' && output) } }),
  semantics: () => semantics,
  fidelity: () => fidelity,
});

/** An operation on four-component registers. */
const operation = (name: string, summary: string, sources: 1 | 2 | 3, fidelity: Fidelity, cpu: LaneBody) =>
  define(
    name,
    summary,
    [dst('f32x4'), ...fields.slice(0, sources).map((field) => src(field, 'f32x4'))],
    { unit: 'x1k', cpu, wgsl: `x1k_${name}` },
    fidelity,
  );

/** A predicate compare of one component with zero; VCC holds the predicate. The names are ours: the guide's page has none. */
const predicate = (relation: keyof typeof alu.predicates, summary: string) =>
  define(
    `pred_${relation}`,
    summary,
    [{ field: 'vcc', type: 'mask', role: 'dst' }, src('src0', 'f32')],
    { unit: 'valu', cpu: test(alu.predicates[relation]), wgsl: `x1k_pred_${relation}`, usesMode: false },
    'modelled',
  );

/** The instructions whose result is one of their sources, and which may disable the output modifier. */
export const isX1kCopy = ({ family: of, name }: InstructionDef): boolean =>
  of === family && ['min', 'max', 'cnd', 'cmp', 'mov'].includes(name);

export const x1k: readonly InstructionDef[] = [
  operation('mad', 'A * B + C', 3, 'modelled', ternary(alu.mad)),
  operation('min', 'A < B ? A : B; B if either is NaN or both are zero', 2, 'documented', binary(alu.min)),
  {
    ...operation('max', 'A > B ? A : B; B if either is NaN or both are zero', 2, 'documented', binary(alu.max)),
    errata: [
      {
        text: 'MAX is A >= B ? A : B, which gives the first of two zeros (p. 28)',
        hardware: 'Of two zeros the second input is returned (p. 42, the explicit rule, which is taken)',
        source: 'ATI CTM Guide v1.01',
      },
    ],
  },
  operation('cnd', 'C > 0.5 ? A : B', 3, 'documented', ternary(alu.cnd)),
  operation('cmp', 'C >= 0 ? A : B', 3, 'documented', ternary(alu.cmp)),
  operation('mov', 'MAX(A, A)', 1, 'documented', unary(alu.mov)),
  operation('frc', 'A - floor(A)', 1, 'modelled', unary(alu.frc)),
  operation('dp3', 'A.x * B.x + A.y * B.y + A.z * B.z', 2, 'modelled', dot2(alu.dp3)),
  operation('dp4', 'A.x * B.x + A.y * B.y + A.z * B.z + A.w * B.w', 2, 'modelled', dot2(alu.dp4)),
  operation('d2a', 'A.x * B.x + A.y * B.y + C.z', 3, 'modelled', dot3(alu.d2a)),
  operation('ex2', '2^A', 1, 'modelled', scalar(transcendental.ex2)),
  operation('ln2', 'log2(A)', 1, 'modelled', scalar(transcendental.ln2)),
  operation('rcp', '1 / A', 1, 'modelled', scalar(transcendental.rcp)),
  operation('rsq', '1 / sqrt(A)', 1, 'modelled', scalar(transcendental.rsq)),
  operation('sin', 'sin(2 pi A)', 1, 'modelled', scalar(transcendental.sin)),
  operation('cos', 'cos(2 pi A)', 1, 'modelled', scalar(transcendental.cos)),
  predicate('eq', 'Predicate: A = 0'),
  predicate('ne', 'Predicate: A is not 0'),
  predicate('lt', 'Predicate: A < 0'),
  predicate('le', 'Predicate: A <= 0'),
  predicate('gt', 'Predicate: A > 0'),
  predicate('ge', 'Predicate: A >= 0'),
  define('end', 'End the program', [], { unit: 'control', effect: 'end' }, 'documented'),
];
