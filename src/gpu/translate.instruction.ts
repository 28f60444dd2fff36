/** One instruction to WGSL: what it reads, the call of its body in `shaders/isa`, what it writes. */
import type { LaneSemantics, ScalarSemantics, Semantics } from '../isa/instruction.ts';
import { type OmodRule, omodRule } from '../isa/modifiers.ts';
import { constantWords, type Operand, type OperandType, wordsOf } from '../isa/operand.ts';
import type { Variant } from '../isa/target.ts';
import type { Instruction } from '../program/program.ts';
import { fastFunctionOf } from './forms.ts';
import { hex, type WgslFunction } from './kernel.ts';
import { fastInstruction } from './translate.fast.ts';
import { ldsInstruction } from './translate.lds.ts';
import { presubtractsOf, x1kInstruction } from './translate.x1k.ts';
import { halves } from './vectorFile.ts';
import type { WaveText } from './waveText.ts';

/** Writes the WGSL of one instruction behind what stands there. */
export function translateInstruction(wave: WaveText, instruction: Instruction): void {
  const semantics: Semantics = instruction.def.semantics(wave.variant);
  switch (semantics.unit) {
    case 'valu':
      vectorInstruction(wave, instruction, semantics);
      break;
    case 'salu':
      scalarInstruction(wave, instruction, semantics);
      break;
    case 'lds':
      ldsInstruction(wave, instruction, semantics);
      break;
    case 'x1k':
      x1kInstruction(wave, instruction, semantics);
      break;
    case 'control':
      break;
  }
}

/** The functions of `shaders/isa` that an instruction calls. */
export function functionsOf(instruction: Instruction, variant: Variant): WgslFunction[] {
  const semantics = instruction.def.semantics(variant);
  const { family } = instruction.def;
  const body = 'wgsl' in semantics && semantics.wgsl !== undefined ? [{ family, name: semantics.wgsl }] : [];
  return [...body, ...modifiersOf(instruction), ...presubtractsOf(instruction)];
}

const modifier = (name: string): WgslFunction => ({ family: 'modifiers', name });

/** The functions of its output modifiers. */
export function modifiersOf({ def, omod, clamp }: Instruction): WgslFunction[] {
  const rule = omodRule(def);
  if (rule === undefined) return [];
  return [
    ...(omod !== 0 ? [modifier(`omod_acts_${rule}`), modifier(`${typeOf(rule)}_omod`)] : []),
    ...(clamp ? [modifier(`${typeOf(rule)}_clamp`)] : []),
  ];
}

const typeOf = (rule: OmodRule) => (rule === 'f64' ? 'f64' : 'f32');

function vectorInstruction(wave: WaveText, instruction: Instruction, semantics: LaneSemantics): void {
  const fast = wave.isFast ? fastFunctionOf(instruction, wave.variant) : undefined;
  if (fast) {
    fastInstruction(wave, instruction, fast);
    return;
  }
  const { def, operands } = instruction;
  const withOperand = def.operands.map((spec, i) => ({ ...spec, operand: operands[i]! }));
  const sources = withOperand.filter(({ role }) => role === 'src');
  const updated = withOperand.filter(({ role }) => role === 'update');
  const args = [...sources, ...updated].map(({ operand, type }) => wave.argument(operand, type));
  if (semantics.usesMode) args.push(wave.effectiveMode);
  const { words, flag } = vectorCall(wave, instruction, { family: def.family, name: semantics.wgsl }, args);

  const vector = withOperand.find(({ role, type }) => role !== 'src' && type !== 'mask');
  if (vector) {
    if (vector.operand.kind !== 'vgpr') throw new Error(`${def.name}: the destination is no VGPR`);
    const { index } = vector.operand;
    for (const [i, word] of words.entries()) wave.vectors.write(index + i, word!);
  }
  const mask = withOperand.find(({ role, type }) => role === 'dst' && type === 'mask');
  if (mask && mask.operand.kind === 'scalar') wave.writeMask(mask.operand.code, wave.activeBit(flag));
}

/** What an instruction or a macro makes, as WGSL expressions. */
export interface Outcome {
  /** Words of the vector destination; undefined where this form makes none. */
  readonly words: readonly (string | undefined)[];
  /** The lane's bit for masks; 'false' where there is none. */
  readonly flag: string;
  /** bool: the rest holds; undefined where it always does. */
  readonly ok?: string;
}

/** Calls a body that does a vector instruction, and applies the modifiers. */
export function vectorCall(
  wave: WaveText,
  instruction: Instruction,
  body: WgslFunction,
  args: readonly string[],
): Outcome {
  const { kernel } = wave;
  const { operands } = instruction.def;
  const result = kernel.value('d', kernel.call(body, args));
  const hasMask = operands.some(({ role, type }) => role === 'dst' && type === 'mask');
  const vector = operands.find(({ role, type }) => role !== 'src' && type !== 'mask');
  if (!vector) return { words: [], flag: result };
  const modified = applyModifiers(wave, instruction, hasMask ? `${result}.d` : result);
  return {
    words: halves(modified, wordsOf(vector.type, kernel.layout.shape.waveSize)),
    flag: hasMask ? `${result}.flag` : 'false',
  };
}

/** OMOD, then CLAMP, on the rounded result. */
function applyModifiers(wave: WaveText, { def, omod, clamp }: Instruction, result: string): string {
  const rule = omodRule(def);
  if (rule === undefined || (omod === 0 && !clamp)) return result;
  const { kernel, effectiveMode } = wave;
  let modified = result;
  if (omod !== 0) {
    const always = !wave.variant.target.hasIeeeBit;
    const acts = kernel.call(modifier(`omod_acts_${rule}`), [effectiveMode, String(always)]);
    // An approximation that overflows is infinite in every rounding mode, as it is to nearest.
    const mode = rule === 'transcendental_f32' ? `(${effectiveMode} & ~3u)` : effectiveMode;
    const scaled = kernel.call(modifier(`${typeOf(rule)}_omod`), [modified, hex(omod), mode]);
    modified = kernel.value('d', `select(${modified}, ${scaled}, ${acts})`);
  }
  return clamp
    ? kernel.value('d', kernel.call(modifier(`${typeOf(rule)}_clamp`), [modified, effectiveMode]))
    : modified;
}

function scalarInstruction(wave: WaveText, instruction: Instruction, semantics: ScalarSemantics): void {
  const { def, operands } = instruction;
  if (semantics.laneWgsl !== undefined && actsOnBits(wave, instruction)) {
    maskInstruction(wave, instruction, semantics, semantics.laneWgsl);
    return;
  }
  const { kernel } = wave;
  const sources = def.operands.flatMap((spec, i) => (spec.role === 'dst' ? [] : [{ ...spec, operand: operands[i]! }]));
  const args = sources.map(({ operand, type }) => wave.argument(operand, type));
  const constant = sources.every(({ operand }) => operand.kind !== 'scalar');
  const body = { family: def.family, name: semantics.wgsl };
  if (semantics.writesMode) {
    const { knownMode } = wave;
    wave.knownMode =
      constant && knownMode
        ? {
            value: modeAfter(instruction, semantics, knownMode.value),
            text: kernel.call(body, [...args, knownMode.text]),
            calls: [...knownMode.calls, body],
          }
        : undefined;
    wave.mode = kernel.value('mode', kernel.call(body, [...args, wave.mode]));
    return;
  }
  if (semantics.usesMode) args.push(wave.mode);
  const result = kernel.value('d', kernel.call(body, args));
  const to = def.operands.findIndex(({ role }) => role === 'dst');
  const destination = operands[to]!;
  const words = halves(result, wordsOf(def.operands[to]!.type, kernel.layout.shape.waveSize));
  if (semantics.writesScc) wave.scalars.writeScc(kernel.value('s', `select(0u, 1u, (${words.join(' | ')}) != 0u)`));
  if (destination.kind === 'scalar') wave.writeScalar(destination.code, words);
}

/** MODE after an instruction whose sources are constants. */
function modeAfter({ def, operands }: Instruction, { cpu }: ScalarSemantics, mode: number): number {
  const src = def.operands.flatMap(({ role, type }, i) => (role === 'dst' ? [] : [constantOf(operands[i]!, type)]));
  const io = { src, dst: [], scc: 0, mode };
  cpu(io);
  return io.mode;
}

function constantOf(operand: Operand, type: OperandType): readonly number[] {
  if (operand.kind === 'immediate') return [operand.value];
  return operand.kind === 'inline' || operand.kind === 'literal' ? constantWords(operand, type) : [];
}

/** The operation is on a whole mask, and one of its sources exists as bits only. */
function actsOnBits(wave: WaveText, { def, operands }: Instruction): boolean {
  const { lanes } = wave.kernel;
  return (
    def.operands.every(({ type }) => wordsOf(type, wave.kernel.layout.shape.waveSize) * 32 === lanes) &&
    def.operands.some(({ role }, i) => {
      const operand = operands[i]!;
      const slot = operand.kind === 'scalar' ? wave.slot(operand.code) : undefined;
      return role === 'src' && slot !== undefined && wave.scalars.isBits(slot);
    })
  );
}

function maskInstruction(
  wave: WaveText,
  { def, operands }: Instruction,
  semantics: ScalarSemantics,
  laneWgsl: string,
): void {
  const { kernel } = wave;
  const args = def.operands.flatMap(({ role }, i) => (role === 'src' ? [wave.sourceBit(operands[i]!)] : []));
  const bit = kernel.value('m', kernel.call({ family: def.family, name: laneWgsl }, args));
  if (semantics.writesScc) wave.scalars.writeSccAny(bit);
  const destination = operands[def.operands.findIndex(({ role }) => role === 'dst')]!;
  if (destination.kind === 'scalar') wave.writeMask(destination.code, bit);
}
