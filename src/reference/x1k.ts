/** Steps of X1K instructions: four components a register, swizzled and changed as they are read, masked as they are written. */
import type { LaneWords, X1kSemantics } from '../isa/instruction.ts';
import type { Operand } from '../isa/operand.ts';
import { presubtracts } from '../isa/x1k/alu.ts';
import { CONTROL_ROUND, outputControl } from '../isa/x1k/control.ts';
import type { Instruction } from '../program/program.ts';
import { Next, type Step, type Wave } from './wave.ts';

interface Source {
  readonly words: LaneWords;
  /** Computes the words where they aren't the registers themselves. */
  readonly refresh?: (control: number) => void;
}

const registersOf = (wave: Wave, first: number, swizzle: readonly number[]): LaneWords =>
  swizzle.map((component) => wave.vgprs[first + component]!);

function sourceOf(wave: Wave, operand: Operand): Source {
  if (operand.kind !== 'vgpr') throw new Error('a source of X1K is a register');
  const { index, abs, neg, x1k } = operand;
  const swizzle = x1k?.swizzle ?? [0, 1, 2, 3];
  const s0 = registersOf(wave, index, swizzle);
  const presubtract = x1k?.presubtract;
  if (!presubtract && !abs && !neg) return { words: s0 };
  const s1 = registersOf(wave, presubtract?.s1 ?? index, swizzle);
  const compute = presubtract ? presubtracts[presubtract.kind] : (word: number) => word;
  const keep = abs ? 0x7fffffff : 0xffffffff;
  const flip = neg ? 0x80000000 : 0;
  const words = s0.map(() => new Uint32Array(wave.lanes));
  const refresh = (control: number) => {
    for (const [i, to] of words.entries())
      for (let lane = 0; lane < wave.lanes; lane++)
        to[lane] = (compute(s0[i]![lane]!, s1[i]![lane]!, control) & keep) ^ flip;
  };
  return { words, refresh };
}

/** The step of an instruction; components that the mask leaves out are written where nobody reads. */
export function x1kStep({ def, operands, x1kOmod, clamp }: Instruction, { cpu }: X1kSemantics, wave: Wave): Step {
  const to = operands[0]!;
  if (to.kind !== 'vgpr') throw new Error(`${def.name}: the destination is a register`);
  const mask = to.x1k?.mask ?? [0, 1, 2, 3];
  const nowhere = new Uint32Array(wave.lanes);
  const dst = [0, 1, 2, 3].map((i) => (mask.includes(i) ? wave.vgprs[to.index + i]! : nowhere));
  const sources = operands.slice(1).map((operand) => sourceOf(wave, operand));
  const src = sources.map(({ words }) => words);
  const io = { lanes: wave.lanes, active: wave.active, src, dst, flag: new Uint32Array(0), mode: 0 };
  const output = outputControl(x1kOmod ?? 0, clamp);
  return () => {
    const round = wave.mode & CONTROL_ROUND;
    for (const { refresh } of sources) refresh?.(round);
    io.mode = round | output;
    cpu(io);
    return Next.instruction;
  };
}
