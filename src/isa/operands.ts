/** Operand lists that many instructions share. */
import type { OperandField, OperandSpec, OperandType } from './operand.ts';

export const dst = (type: OperandType, field: OperandField = 'vdst'): OperandSpec => ({ field, type, role: 'dst' });
export const src = (field: OperandField, type: OperandType): OperandSpec => ({ field, type, role: 'src' });

const sources = ['src0', 'src1', 'src2'] as const;

/** A vector destination and up to three sources, all of one type. */
export const uniform = (type: OperandType, count: 1 | 2 | 3): OperandSpec[] => [
  dst(type),
  ...sources.slice(0, count).map((field) => src(field, type)),
];
