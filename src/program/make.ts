/** Instructions to a program: what the program as a whole uses. */

import { vgprsOf } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import { Scalar, type WaveSize } from '../wavefront/registers.ts';
import type { Instruction, Program } from './program.ts';

/** The program of these instructions, with the registers that they name counted. */
export function makeProgram(
  target: Target,
  waveSize: WaveSize,
  instructions: readonly Instruction[],
  labels: ReadonlyMap<string, number>,
): Program {
  let [vgprs, sgprs] = [0, 0];
  for (const { operands } of instructions)
    for (const operand of operands) {
      for (const vgpr of vgprsOf(operand)) vgprs = Math.max(vgprs, vgpr + 1);
      if (operand.kind === 'scalar' && operand.code < Scalar.vccLo)
        sgprs = Math.max(sgprs, operand.code + operand.count);
    }
  const usesLds = instructions.some(({ form, gds }) => form.encoding === 'DS' && !gds);
  return { target, waveSize, instructions, labels, vgprs, sgprs, usesLds };
}
