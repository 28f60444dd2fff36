/** X1K instructions to WGSL: registers are vec4u, swizzled and changed as they are read, masked as they are written. */
import type { X1kSemantics } from '../isa/instruction.ts';
import type { Operand } from '../isa/operand.ts';
import { CONTROL_ROUND, outputControl } from '../isa/x1k/control.ts';
import type { Instruction } from '../program/program.ts';
import { hex, type WgslFunction } from './kernel.ts';
import { value, type WaveText } from './waveText.ts';

const everything = [0, 1, 2, 3];

const presubtractNames = { '1-2*s0': 'bias', 's1-s0': 'sub', 's1+s0': 'add', '1-s0': 'inv' } as const;

const presubtractOf = (operand: Operand): WgslFunction | undefined => {
  const presubtract = operand.kind === 'vgpr' ? operand.x1k?.presubtract : undefined;
  return presubtract && { family: 'x1k', name: `x1k_presubtract_${presubtractNames[presubtract.kind]}` };
};

/** The presubtract functions that an instruction calls. */
export const presubtractsOf = ({ operands }: Instruction): WgslFunction[] =>
  operands.flatMap((operand) => presubtractOf(operand) ?? []);

function source(wave: WaveText, operand: Operand, round: string): string {
  if (operand.kind !== 'vgpr') throw new Error('a source of X1K is a register');
  const { index, abs, neg, x1k } = operand;
  const read = (first: number) => value((x1k?.swizzle ?? everything).map((i) => wave.vectors.read(first + i)));
  const presubtract = presubtractOf(operand);
  const plain = presubtract
    ? wave.kernel.call(presubtract, [read(index), read(x1k?.presubtract?.s1 ?? index), round])
    : read(index);
  const magnitude = abs ? `(${plain} & vec4u(0x7fffffffu))` : plain;
  return neg ? `(${magnitude} ^ vec4u(0x80000000u))` : magnitude;
}

export function x1kInstruction(wave: WaveText, instruction: Instruction, { wgsl }: X1kSemantics): void {
  const { def, operands, x1kOmod, clamp } = instruction;
  const [to, ...from] = operands;
  if (to?.kind !== 'vgpr') throw new Error(`${def.name}: the destination is a register`);
  const round = `(${wave.mode} & ${hex(CONTROL_ROUND)})`;
  const args = from.map((operand) => source(wave, operand, round));
  const control = `(${round} | ${hex(outputControl(x1kOmod ?? 0, clamp))})`;
  const result = wave.kernel.value('d', wave.kernel.call({ family: def.family, name: wgsl }, [...args, control]));
  for (const i of to.x1k?.mask ?? everything) wave.vectors.write(to.index + i, `${result}.${'xyzw'[i]}`);
}
