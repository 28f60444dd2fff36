/** Instructions of a program as closures over the wave being run. Nothing is allocated where they run. */
import { result } from '../float/result.ts';
import type { LaneIo, LaneSemantics, ScalarIo, ScalarSemantics } from '../isa/instruction.ts';
import { f32_clamp, f32_omod, f64_clamp, f64_omod, omodActs, omodRule } from '../isa/modifiers.ts';
import { type Operand, type OperandSpec, wordsOf } from '../isa/operand.ts';
import type { Variant } from '../isa/target.ts';
import type { Instruction } from '../program/program.ts';
import { Special } from '../wavefront/layout.ts';
import { Scalar } from '../wavefront/registers.ts';
import { ldsStep } from './lds.ts';
import { laneSource, scalarSource } from './operands.ts';
import { Next, type Step, type Wave } from './wave.ts';
import { x1kStep } from './x1k.ts';

/** Operands with what the instruction's definition says of them. */
type Bound = readonly (readonly [OperandSpec, Operand])[];

const bind = ({ def, operands }: Instruction): Bound => def.operands.map((spec, i) => [spec, operands[i]!] as const);

/** Sources in operand order; an updated destination comes last. */
const sourcesOf = (bound: Bound): Bound => [
  ...bound.filter(([{ role }]) => role === 'src'),
  ...bound.filter(([{ role }]) => role === 'update'),
];

/** The step of one instruction of a program that `checkRunnable` let pass. */
export function stepOf(instruction: Instruction, wave: Wave, variant: Variant): Step {
  const semantics = instruction.def.semantics(variant);
  switch (semantics.unit) {
    case 'valu':
      return vectorStep(instruction, semantics, wave, variant);
    case 'salu':
      return scalarStep(instruction, semantics, wave);
    case 'lds':
      return ldsStep(instruction, semantics, wave);
    case 'x1k':
      return x1kStep(instruction, semantics, wave);
    case 'control': {
      const next = { none: Next.instruction, barrier: Next.barrier, end: Next.end }[semantics.effect];
      return () => next;
    }
  }
}

function vectorStep(instruction: Instruction, { cpu }: LaneSemantics, wave: Wave, variant: Variant): Step {
  const bound = bind(instruction);
  const sources = sourcesOf(bound).map(([spec, operand]) => laneSource(wave, operand, spec));
  const refreshes = sources.flatMap(({ refresh }) => (refresh ? [refresh] : []));
  const to = bound.find(([{ role, type }]) => role !== 'src' && type !== 'mask')?.[1];
  const mask = bound.find(([{ role, type }]) => role === 'dst' && type === 'mask')?.[1];
  const dst = to?.kind === 'vgpr' ? wave.vgprs.slice(to.index, to.index + to.count) : [];
  const flag = new Uint32Array(wave.lanes);
  const src = sources.map(({ words }) => words);
  const io = { lanes: wave.lanes, active: wave.active, src, dst, flag, mode: 0 };
  const modify = outputModifiers(instruction, io, variant);
  const writeMask = mask === undefined ? undefined : maskWriter(wave, mask, flag);
  return () => {
    for (let i = 0; i < refreshes.length; i++) refreshes[i]!();
    io.mode = wave.mode;
    if (writeMask !== undefined) flag.fill(0);
    cpu(io);
    modify?.();
    writeMask?.();
    return Next.instruction;
  };
}

/** OMOD, then CLAMP, on the destination of the active lanes; undefined where the instruction carries neither. */
function outputModifiers({ def, omod, clamp }: Instruction, io: LaneIo, { target }: Variant): (() => void) | undefined {
  const rule = omodRule(def);
  if (rule === undefined || (omod === 0 && !clamp)) return undefined;
  const [lo, hi] = [io.dst[0]!, io.dst[1]!];
  return () => {
    const { mode } = io;
    const scale = omodActs(rule, mode, !target.hasIeeeBit) ? omod : 0;
    for (let lane = 0; lane < io.lanes; lane++) {
      if (io.active[lane] === 0) continue;
      if (rule === 'f64') {
        f64_omod(hi[lane]!, lo[lane]!, scale, mode);
        if (clamp) f64_clamp(result[1]!, result[0]!, mode);
        lo[lane] = result[0]!;
        hi[lane] = result[1]!;
      } else {
        const scaled = f32_omod(lo[lane]!, scale, rule, mode);
        lo[lane] = clamp ? f32_clamp(scaled, mode) : scaled;
      }
    }
  };
}

/** Packs 0 or 1 a lane into the scalar words of a mask. */
function maskWriter(wave: Wave, mask: Operand, flag: Uint32Array): () => void {
  if (mask.kind !== 'scalar') throw new Error('a mask is written to scalar registers');
  const count = wave.lanes / 32;
  const write = scalarWriter(wave, mask, count);
  const words = [0, 0];
  return () => {
    for (let word = 0; word < count; word++) {
      let bits = 0;
      for (let lane = 0; lane < 32; lane++) bits |= flag[32 * word + lane]! << lane;
      words[word] = bits >>> 0;
    }
    write(words);
  };
}

/** Writes scalar words; those of null and of registers that a wave does not hold are dropped. */
function scalarWriter(
  wave: Wave,
  { code }: { readonly code: number },
  count: number,
): (words: readonly number[]) => void {
  const slots = Array.from({ length: count }, (_, i) => wave.slot(code, i));
  const writesExec = code + count > Scalar.execLo && code !== Scalar.null;
  return (words) => {
    for (let i = 0; i < count; i++) {
      const slot = slots[i];
      if (slot !== undefined) wave.scalars[slot] = words[i]!;
    }
    if (writesExec) wave.readExec();
  };
}

function scalarStep(instruction: Instruction, semantics: ScalarSemantics, wave: Wave): Step {
  const bound = bind(instruction);
  const sources = sourcesOf(bound).map(([spec, operand]) => scalarSource(wave, operand, spec));
  const to = bound.find(([{ role }]) => role !== 'src');
  const count = to === undefined ? 0 : wordsOf(to[0].type, wave.lanes === 64 ? 64 : 32);
  const write = to?.[1].kind === 'scalar' ? scalarWriter(wave, to[1], count) : undefined;
  const dst = Array.from({ length: count }, () => 0);
  const io: ScalarIo = { src: sources.map(({ words }) => words), dst, scc: 0, mode: 0 };
  return () => {
    for (let i = 0; i < sources.length; i++) sources[i]!.refresh?.();
    io.mode = wave.special(Special.mode);
    semantics.cpu(io);
    write?.(dst);
    if (semantics.writesScc) wave.setSpecial(Special.scc, io.scc);
    if (semantics.writesMode) wave.setSpecial(Special.mode, io.mode);
    return Next.instruction;
  };
}
