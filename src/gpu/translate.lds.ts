/**
 * LDS instructions to WGSL. All active lanes are checked before any acts, and lanes act in ascending order or so that nobody can
 * tell: reads go side by side; of several writes to a word only the highest lane's is done; atomics on one place are run by one
 * invocation.
 */
import type { LdsSemantics } from '../isa/instruction.ts';
import type { Instruction } from '../program/program.ts';
import { FaultCode } from '../wavefront/state.ts';
import { hex } from './kernel.ts';
import { halves } from './vectorFile.ts';
import { value, type WaveText } from './waveText.ts';

export function ldsInstruction(wave: WaveText, instruction: Instruction, semantics: LdsSemantics): void {
  const operandOf = (field: string) => ldsOperand(instruction, field);
  const { kernel } = wave;
  const address = operandOf('addr');
  if (address === undefined) throw new Error(`${instruction.def.name}: the address is no VGPR`);
  const base = wave.vectors.read(address.index);
  const byte = kernel.value('a', `${base} + ${hex(instruction.offset)}`);
  const word = kernel.value('a', `lds_base + (${byte} >> 2u)`);
  const from = operandOf('data0');
  const data = from ? Array.from({ length: semantics.words }, (_, i) => wave.vectors.read(from.index + i)) : [];
  const wanted = kernel.value('m', `${wave.exec} && ${kernel.alive}`);
  const isAtomic = semantics.access === 'atomic';
  if (isAtomic) stage(wave, wanted, word, data);
  kernel.beforeLds(isAtomic ? userOf[wave.ldsForm] : 'lanes');
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

/** The VGPR in a field of an LDS instruction. */
export function ldsOperand({ def, operands }: Instruction, field: string) {
  const operand = operands[def.operands.findIndex((spec) => spec.field === field)];
  return operand?.kind === 'vgpr' ? operand : undefined;
}

/**
 * Stops the wave, in the state before this instruction, if an active lane's address is out of range (checked first; the sum of
 * VGPR and offset doesn't wrap) or misaligned. `wanted`: the active lanes. Gives the lanes that act: a bool.
 *
 * The state is written before the check, not in a branch behind it: drivers that run untaken branches would write it anyway,
 * and a register is written once, however many instructions follow that may stop the wave.
 */
function check(
  wave: WaveText,
  instruction: Instruction,
  semantics: LdsSemantics,
  base: string,
  byte: string,
  wanted: string,
): string {
  const { kernel } = wave;
  const highest = kernel.layout.shape.ldsWords * 4 - semantics.words * 4 - instruction.offset;
  const outOfRange = highest < 0 ? 'true' : kernel.value('c', `${base} > ${hex(highest)}`);
  const bad = kernel.value('c', `${wanted} && (${outOfRange} || (${byte} & ${hex(semantics.align - 1)}) != 0u)`);
  wave.commit();
  const code = `select(${FaultCode.ldsMisaligned}u, ${FaultCode.ldsOutOfRange}u, ${outOfRange})`;
  const good = kernel.check(bad, { code, pc: hex(instruction.pc), address: byte });
  kernel.alive = kernel.value('a', `${kernel.alive} && ${good}`);
  return kernel.value('m', `${wanted} && ${kernel.alive}`);
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

const userOf = { serial: 'lane 0', owners: 'owners', waves: 'owners' } as const;

/** Lays a lane's address and source out for who acts for it, before the barrier of the check. */
function stage({ kernel, ldsForm }: WaveText, wanted: string, word: string, data: readonly string[]): void {
  const { lanes } = kernel;
  kernel.useStage();
  kernel.line(`stage_data[lane] = ${value(data)};`);
  if (ldsForm === 'serial') {
    kernel.line(`stage_address[lane] = select(0xffffffffu, ${word}, ${wanted});`);
    return;
  }
  // Neighbours in LDS have different owners, and so have places a power of two apart.
  const owner = `((${word} >> 1u) ^ (${word} >> ${1 + Math.log2(lanes)}u)) & ${lanes - 1}u`;
  const half = lanes === 64 ? ' + ((lane & 32u) << 1u)' : '';
  kernel.line(`stage_address[lane] = ${word};`);
  kernel.line(`if (${wanted}) { atomicOr(&callers[(${owner})${half}], 1u << (lane & 31u)); }`);
}

function atomic(wave: WaveText, { def }: Instruction, { wgsl, words, returns }: LdsSemantics): string[] {
  const { kernel, ldsForm, effectiveMode } = wave;
  if (wgsl === undefined || words !== 2) throw new Error(`${def.name}: no atomic on two words`);
  const call = (memory: string, source: string) =>
    kernel.call({ family: def.family, name: wgsl }, [memory, source, effectiveMode]);
  for (const line of ldsForm === 'serial' ? laneZeroActs(wave, call) : ownersAct(wave, call)) kernel.line(line);
  kernel.line('workgroupBarrier();');
  return returns ? halves(kernel.value('v', 'stage_data[lane]'), 2) : [];
}

type Call = (memory: string, source: string) => string;

/** Lane 0 runs all lanes, if none is at fault, and leaves the old values where the sources were. */
const laneZeroActs = ({ kernel }: WaveText, call: Call): string[] => [
  `if (lane == 0u && ${kernel.alive}) {`,
  `  for (var i = 0u; i < ${kernel.lanes}u; i++) {`,
  '    let at = stage_address[i];',
  '    if (at != 0xffffffffu) {',
  '      let old = vec2u(atomicLoad(&lds[at]), atomicLoad(&lds[at + 1u]));',
  `      let new_value = ${call('old', 'stage_data[i]')};`,
  '      atomicStore(&lds[at], new_value.x);',
  '      atomicStore(&lds[at + 1u], new_value.y);',
  '      stage_data[i] = old;',
  '    }',
  '  }',
  '}',
];

/**
 * Each place in LDS has a lane that owns it, whatever the instruction. The owner acts for all lanes that name its places, in
 * ascending order, if none is at fault, and leaves the old values where the sources were. So lanes of different places act side
 * by side, those of one place as fast as one lane can, and between atomics LDS needs no barrier. A place is read once in a row
 * of lanes that name it.
 */
function ownersAct({ kernel }: WaveText, call: Call): string[] {
  const high = kernel.lanes === 64 ? 'atomicExchange(&callers[lane + 64u], 0u)' : '0u';
  const calls = kernel.value('q', `vec2u(atomicExchange(&callers[lane], 0u), ${high})`);
  return [
    '{',
    '  var held = 0xffffffffu;',
    '  var memory = vec2u();',
    `  for (var calls = select(vec2u(), ${calls}, ${kernel.alive}); (calls.x | calls.y) != 0u;) {`,
    '    let low = calls.x != 0u;',
    '    let half = select(calls.y, calls.x, low);',
    '    let caller = countTrailingZeros(half) + select(32u, 0u, low);',
    '    let rest = half & (half - 1u);',
    '    calls = select(vec2u(0u, rest), vec2u(rest, calls.y), low);',
    '    let at = stage_address[caller];',
    '    if (at != held) {',
    '      held = at;',
    '      memory = vec2u(atomicLoad(&lds[at]), atomicLoad(&lds[at + 1u]));',
    '    }',
    '    let old = memory;',
    `    memory = ${call('memory', 'stage_data[caller]')};`,
    '    atomicStore(&lds[at], memory.x);',
    '    atomicStore(&lds[at + 1u], memory.y);',
    '    stage_data[caller] = old;',
    '  }',
    '}',
  ];
}
