/** Which registers a program names, for what lists or fills just those. */
import { vgprsOf, wordsOf } from '../isa/operand.ts';
import type { Program } from '../program/program.ts';

export interface NamedRegisters {
  readonly vgprs: ReadonlySet<number>;
  /** Below s106 only; VCC, EXEC, M0 are always listed. */
  readonly sgprs: ReadonlySet<number>;
  /** VGPRs that hold LDS addresses, with the largest multiple of bytes that any of their instructions needs. */
  readonly addresses: ReadonlyMap<number, number>;
}

const FIRST_SPECIAL = 106;

/** The registers that the instructions of a program read or write. */
export function namedRegisters(program: Program): NamedRegisters {
  const vgprs = new Set<number>();
  const sgprs = new Set<number>();
  const addresses = new Map<number, number>();
  for (const { def, operands } of program.instructions) {
    operands.forEach((operand, index) => {
      for (const vgpr of vgprsOf(operand)) vgprs.add(vgpr);
      if (operand.kind === 'scalar')
        for (let i = 0; i < operand.count; i++) if (operand.code + i < FIRST_SPECIAL) sgprs.add(operand.code + i);
      const spec = def.operands[index]!;
      if (spec.field === 'addr' && operand.kind === 'vgpr') {
        const widest = Math.max(...def.operands.map(({ type }) => 4 * wordsOf(type, program.waveSize)));
        addresses.set(operand.index, Math.max(widest, addresses.get(operand.index) ?? 0));
      }
    });
  }
  return { vgprs, sgprs, addresses };
}
