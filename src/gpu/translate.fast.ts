/** One instruction in its fast form (`shaders/isa/fast.wesl`), and the values that such instructions hand on to each other. */
import type { OperandSpec } from '../isa/operand.ts';
import type { Instruction } from '../program/program.ts';
import type { WgslFunction } from './kernel.ts';
import { halves } from './vectorFile.ts';
import { value, type WaveText } from './waveText.ts';

const inFamily = (name: string): WgslFunction => ({ family: 'fast', name });

/** Writes the fast form of a vector instruction of f64. */
export function fastInstruction(wave: WaveText, instruction: Instruction, body: WgslFunction): void {
  const { def, operands } = instruction;
  const { kernel } = wave;
  const at = (wanted: (spec: OperandSpec) => boolean) =>
    def.operands.flatMap((spec, i) => (wanted(spec) ? [{ ...spec, operand: operands[i]! }] : []));
  const sources = [...at(({ role }) => role === 'src'), ...at(({ role }) => role === 'update')];
  const args = sources.map(({ operand, type }) =>
    type === 'mask' ? wave.sourceBit(operand) : openedSource(wave, operand),
  );
  const [vector] = at(({ role, type }) => role !== 'src' && type !== 'mask');
  const [mask] = at(({ role, type }) => role === 'dst' && type === 'mask');
  if (vector?.operand.kind !== 'vgpr') throw new Error(`${def.name}: the destination is no VGPR`);
  let words: readonly string[];
  if (mask) {
    // Only v_div_scale has one: it does nothing where it may be fast.
    const [scaled, ...ratio] = sources;
    wave.require(kernel.call(body, args.slice(-ratio.length)));
    words = wave.sourceWords(scaled!.operand, 'f64');
    if (mask.operand.kind === 'scalar') wave.writeMask(mask.operand.code, wave.activeBit('false'));
  } else {
    const opened = kernel.value('f', kernel.call(body, args));
    wave.require(`${opened}.ok`);
    words = halves(kernel.value('d', kernel.call(inFamily('fast_close'), [opened])), 2);
    wave.opened.set(value(words), opened);
  }
  for (const [i, word] of words.entries()) wave.vectors.write(vector.operand.index + i, word);
}

/** A source taken apart, modifiers applied. What a fast instruction has made is so already. */
function openedSource(wave: WaveText, operand: OperandOf): string {
  const { kernel, opened } = wave;
  const bits = value(wave.sourceWords({ ...operand, neg: false, abs: false }, 'f64'));
  let plain = opened.get(bits);
  if (plain === undefined) {
    plain = kernel.value('f', kernel.call(inFamily('fast_open'), [bits]));
    wave.require(`${plain}.ok`);
    opened.set(bits, plain);
  }
  const magnitude = operand.abs ? kernel.call(inFamily('fast_abs'), [plain]) : plain;
  return operand.neg ? kernel.call(inFamily('fast_negate'), [magnitude]) : magnitude;
}

type OperandOf = Instruction['operands'][number];
