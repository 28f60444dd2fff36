/** LDS instructions: every active lane is checked before any acts; then lanes act in ascending order. */
import type { AtomicBody, LdsSemantics } from '../isa/instruction.ts';
import type { OperandField } from '../isa/operand.ts';
import type { Instruction } from '../program/program.ts';
import { FaultCode } from '../wavefront/state.ts';
import { Next, type Step, type Wave } from './wave.ts';

/** The registers of an operand; none if the instruction lacks it. */
function registers(instruction: Instruction, wave: Wave, field: OperandField): readonly Uint32Array[] {
  const operand = instruction.operands[instruction.def.operands.findIndex((spec) => spec.field === field)];
  return operand?.kind === 'vgpr' ? wave.vgprs.slice(operand.index, operand.index + operand.count) : [];
}

export function ldsStep(instruction: Instruction, semantics: LdsSemantics, wave: Wave): Step {
  const { def, pc, offset } = instruction;
  const { words, align } = semantics;
  const [addresses] = registers(instruction, wave, 'addr');
  if (addresses === undefined) throw new Error(`${def.name} at ${pc}: the address is no VGPR`);
  const act = laneAction(instruction, semantics, wave);
  return () => {
    const end = wave.lds.length * 4 - words * 4;
    for (let lane = 0; lane < wave.lanes; lane++) {
      if (wave.active[lane] === 0) continue;
      const address = addresses[lane]! + offset;
      const code = address > end ? FaultCode.ldsOutOfRange : address % align !== 0 ? FaultCode.ldsMisaligned : 0;
      if (code === 0) continue;
      wave.stop(code, pc, lane, address);
      return Next.fault;
    }
    for (let lane = 0; lane < wave.lanes; lane++)
      if (wave.active[lane] !== 0) act(lane, (addresses[lane]! + offset) >>> 2);
    return Next.instruction;
  };
}

type LaneAction = (lane: number, word: number) => void;

/** What one lane does at LDS word `word`. */
function laneAction(instruction: Instruction, semantics: LdsSemantics, wave: Wave): LaneAction {
  const to = registers(instruction, wave, 'vdst');
  const from = registers(instruction, wave, 'data0');
  switch (semantics.access) {
    case 'read':
      return (lane, word) => {
        for (let i = 0; i < to.length; i++) to[i]![lane] = wave.lds[word + i]!;
      };
    case 'write':
      return (lane, word) => {
        for (let i = 0; i < from.length; i++) wave.lds[word + i] = from[i]![lane]!;
      };
    case 'atomic':
      return atomicAction(semantics, wave, from, to);
  }
}

function atomicAction(
  { words, cpu }: LdsSemantics,
  wave: Wave,
  from: readonly Uint32Array[],
  to: readonly Uint32Array[],
): LaneAction {
  const body: AtomicBody | undefined = cpu;
  if (body === undefined) throw new Error('an atomic without a body');
  const memory = new Uint32Array(words);
  const source = new Uint32Array(words);
  return (lane, word) => {
    for (let i = 0; i < words; i++) {
      memory[i] = wave.lds[word + i]!;
      source[i] = from[i]![lane]!;
    }
    for (let i = 0; i < to.length; i++) to[i]![lane] = memory[i]!;
    body(memory, source, wave.mode);
    for (let i = 0; i < words; i++) wave.lds[word + i] = memory[i]!;
  };
}
