/**
 * LDS instructions to WGSL. All active lanes are checked before any acts, and lanes act in ascending order or so that nobody can
 * tell: reads go side by side; of several writes to a word only the highest lane's is done; atomics are run by one invocation.
 */
import type { LdsSemantics } from '../isa/instruction.ts';
import type { Instruction } from '../program/program.ts';
import { Special } from '../wavefront/layout.ts';
import { FaultCode } from '../wavefront/state.ts';
import { hex } from './kernel.ts';

import { halves } from './vectorFile.ts';
import { value, type WaveText } from './waveText.ts';

export function ldsInstruction(wave: WaveText, instruction: Instruction, semantics: LdsSemantics): void {
  const operandOf = (field: string) => {
    const at = instruction.def.operands.findIndex((spec) => spec.field === field);
    const operand = instruction.operands[at];
    return operand?.kind === 'vgpr' ? operand : undefined;
  };
  const { kernel } = wave;
  const address = operandOf('addr');
  if (address === undefined) throw new Error(`${instruction.def.name}: the address is no VGPR`);
  const base = wave.vectors.read(address.index);
  const byte = kernel.value('a', `${base} + ${hex(instruction.offset)}`);
  const word = kernel.value('a', `lds_base + (${byte} >> 2u)`);
  const from = operandOf('data0');
  const data = from ? Array.from({ length: semantics.words }, (_, i) => wave.vectors.read(from.index + i)) : [];
  const wanted = kernel.value('m', `${wave.exec} && ${kernel.alive}`);
  if (semantics.access === 'atomic') stage(wave, wanted, word, data);
  const active = check(wave, instruction, semantics, base, byte, wanted);
  const results =
    semantics.access === 'read'
      ? Array.from({ length: semantics.words }, (_, i) => kernel.value('v', `atomicLoad(&lds[${word} + ${i}u])`))
      : semantics.access === 'write'
        ? write(wave, active, word, data)
        : atomic(wave, instruction, semantics);
  const to = operandOf('vdst');
  if (to) for (const [i, result] of results.entries()) wave.vectors.write(to.index + i, result);
}

/**
 * Stops the wave, in the state before this instruction, if an active lane's address is out of range (checked first; the sum of
 * VGPR and offset doesn't wrap) or misaligned. `wanted`: the active lanes. Gives the lanes that act: a bool.
 */
function check(
  wave: WaveText,
  instruction: Instruction,
  semantics: LdsSemantics,
  base: string,
  byte: string,
  wanted: string,
): string {
  const { kernel, scalars } = wave;
  const highest = kernel.layout.shape.ldsWords * 4 - semantics.words * 4 - instruction.offset;
  const outOfRange = highest < 0 ? 'true' : kernel.value('c', `${base} > ${hex(highest)}`);
  const bad = kernel.value('c', `${wanted} && (${outOfRange} || (${byte} & ${hex(semantics.align - 1)}) != 0u)`);
  scalars.settle();
  kernel.beforeLds(semantics.access === 'atomic' ? 'lane 0' : 'lanes');
  const first = kernel.lowestLane(bad);
  const alive = kernel.value('a', `${kernel.alive} && ${first} >= ${kernel.lanes}u`);
  const special = (word: number) => `scalars[scalar_base + ${kernel.special(word)}u]`;
  const code = `select(${FaultCode.ldsMisaligned}u, ${FaultCode.ldsOutOfRange}u, ${outOfRange})`;
  for (const line of [
    `if (${kernel.alive} && ${first} < ${kernel.lanes}u) {`,
    ...wave.stores().map((s) => `  ${s}`),
    `  if (lane == ${first}) {`,
    `    atomicStore(&${special(Special.fault)}, ${code});`,
    `    atomicStore(&${special(Special.faultPc)}, ${hex(instruction.pc)});`,
    `    atomicStore(&${special(Special.faultLane)}, lane);`,
    `    atomicStore(&${special(Special.faultAddress)}, ${byte});`,
    '  }',
    '}',
  ])
    kernel.line(line);
  kernel.alive = alive;
  return kernel.value('m', `${wanted} && ${alive}`);
}

/** Each word that is written is marked with the highest lane that writes it; then that lane writes. */
function write(wave: WaveText, active: string, word: string, data: readonly string[]): string[] {
  const { kernel } = wave;
  const each = (statement: (at: string, i: number) => string) => {
    const body = data.map((_, i) => statement(`&lds[${word} + ${i}u]`, i));
    kernel.line(`if (${active}) { ${body.join(' ')} }`);
  };
  each((at) => `atomicStore(${at}, 0u);`);
  kernel.storageBarrier();
  each((at) => `atomicMax(${at}, lane + 1u);`);
  kernel.storageBarrier();
  const wins = data.map((_, i) => kernel.value('c', `${active} && atomicLoad(&lds[${word} + ${i}u]) == lane + 1u`));
  kernel.storageBarrier();
  for (const [i, stored] of data.entries())
    kernel.line(`if (${wins[i]}) { atomicStore(&lds[${word} + ${i}u], ${stored}); }`);
  kernel.touchLds('lanes');
  return [];
}

/** Lays a lane's address and source out for lane 0, before the barrier of the check. */
function stage({ kernel }: WaveText, wanted: string, word: string, data: readonly string[]): void {
  kernel.useStage();
  kernel.line(`stage_address[lane] = select(0xffffffffu, ${word}, ${wanted});`);
  kernel.line(`stage_data[lane] = ${value(data)};`);
}

/** Lane 0 runs all lanes, if none is at fault, and leaves the old values where the sources were. */
function atomic(wave: WaveText, { def }: Instruction, { wgsl, words, returns }: LdsSemantics): string[] {
  const { kernel } = wave;
  if (wgsl === undefined || words !== 2) throw new Error(`${def.name}: no atomic on two words`);
  const call = kernel.call({ family: def.family, name: wgsl }, ['old', 'stage_data[i]', wave.effectiveMode]);
  for (const line of [
    `if (lane == 0u && ${kernel.alive}) {`,
    `  for (var i = 0u; i < ${kernel.lanes}u; i++) {`,
    '    let at = stage_address[i];',
    '    if (at != 0xffffffffu) {',
    '      let old = vec2u(atomicLoad(&lds[at]), atomicLoad(&lds[at + 1u]));',
    `      let new_value = ${call};`,
    '      atomicStore(&lds[at], new_value.x);',
    '      atomicStore(&lds[at + 1u], new_value.y);',
    '      stage_data[i] = old;',
    '    }',
    '  }',
    '}',
    'workgroupBarrier();',
  ])
    kernel.line(line);
  return returns ? halves(kernel.value('v', 'stage_data[lane]'), 2) : [];
}
