/** X1K instructions as text, in the one spelling that the assembler's tests compare with: no mask, swizzle or modifier that says nothing. */
import type { Operand } from '../../isa/operand.ts';
import { omodTexts } from '../../isa/x1k/control.ts';
import type { Instruction } from '../program.ts';

const letters = (numbers: readonly number[]): string => numbers.map((n) => 'xyzw'[n]).join('');

function dotted(numbers: readonly number[]): string {
  const text = letters(numbers);
  if (text === 'xyzw') return '';
  return `.${numbers.length === 4 && numbers.every((n) => n === numbers[0]) ? text[0] : text}`;
}

const register = (vgpr: number): string => `r${Math.floor(vgpr / 4)}`;

function plain(operand: Operand & { kind: 'vgpr' }): string {
  const { index, x1k } = operand;
  const presubtract = x1k?.presubtract;
  if (presubtract === undefined) return register(index);
  const text = presubtract.kind.replace('s0', register(index)).replace('s1', register(presubtract.s1 ?? index));
  return `(${text})`;
}

function operandText(operand: Operand): string[] {
  if (operand.kind !== 'vgpr') return [];
  const { index, count, x1k, neg, abs } = operand;
  if (x1k?.mask) return [`${register(index)}${dotted(x1k.mask)}`];
  const swizzle = count === 1 ? `.${'xyzw'[index % 4]}` : dotted(x1k?.swizzle ?? [0, 1, 2, 3]);
  const magnitude = abs ? `|${plain(operand)}|` : plain(operand);
  return [`${neg ? '-' : ''}${magnitude}${swizzle}`];
}

/** The line of an X1K instruction. */
export function x1kText({ def, operands, x1kOmod, clamp }: Instruction): string {
  const written = operands.flatMap(operandText).join(', ');
  return [def.name, written, omodTexts[x1kOmod ?? 0], clamp ? 'sat' : ''].filter((part) => part !== '').join(' ');
}
