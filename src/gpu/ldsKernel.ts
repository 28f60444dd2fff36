/**
 * LDS instructions as a kernel in which an invocation runs a whole wave, lane by lane in ascending order.
 *
 * An adapter that computes on the CPU has a few lanes side by side, and switches between the many parts of a workgroup at each
 * barrier, which costs it more than all the rest of an LDS instruction. Here nothing is shared, so there is no barrier, and what
 * lies side by side is waves. Registers lie in the state buffer before and after.
 */
import type { LdsSemantics } from '../isa/instruction.ts';
import type { Variant } from '../isa/target.ts';
import type { Instruction } from '../program/program.ts';
import { Special } from '../wavefront/layout.ts';
import { FaultCode } from '../wavefront/state.ts';
import { hex, type KernelStart, type WgslFunction } from './kernel.ts';
import { ldsOperand } from './translate.lds.ts';
import { type KnownMode, value } from './waveText.ts';

/** Waves of a workgroup of such a kernel: enough for the lanes of a CPU, few enough for all its cores to have some. */
export const WAVES_A_WORKGROUP = 8;

/**
 * The module.
 * @param instructions of unit `lds`
 * @param stopAt the wave has used up its step budget before the instruction at this byte offset, behind the others
 */
export function ldsKernel(
  instructions: readonly Instruction[],
  { layout, afterFaults }: KernelStart,
  variant: Variant,
  knownMode: KnownMode | undefined,
  stopAt: number | undefined,
): string {
  const { sgprs, waveSize, wavesPerGroup, ldsWords } = layout.shape;
  const special = (word: number) => `scalars[scalar_base + ${sgprs + word}u]`;
  const functions = [...(knownMode?.calls ?? [])];
  const mode = knownMode?.text ?? special(Special.mode);
  const body = instructions.flatMap((instruction) => {
    const semantics = instruction.def.semantics(variant);
    if (semantics.unit !== 'lds') throw new Error(`${instruction.def.name} does nothing to LDS`);
    if (semantics.wgsl !== undefined) functions.push({ family: instruction.def.family, name: semantics.wgsl });
    return instructionText(instruction, semantics, waveSize, ldsWords);
  });
  const report = [Special.fault, Special.faultPc, Special.faultLane, Special.faultAddress].map(
    (word, i) => `    ${special(word)} = fault.${'xyzw'[i]};`,
  );
  return [
    ...imports(functions),
    bindings(layout.vgprWords),
    `@compute @workgroup_size(${WAVES_A_WORKGROUP})`,
    'fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) place: u32) {',
    `  let index = group.x * ${WAVES_A_WORKGROUP}u + place;`,
    '  let wave = dispatch.x + index * dispatch.y;',
    `  let scalar_base = wave * ${layout.scalarWords}u;`,
    `  let lds_base = (wave / ${wavesPerGroup}u) * ${ldsWords}u;`,
    `  var alive = index < dispatch.z${afterFaults ? ` && ${special(Special.fault)} == 0u` : ''};`,
    `  let exec_lo = ${special(Special.execLo)};`,
    `  let exec_hi = ${waveSize === 64 ? special(Special.execHi) : '0u'};`,
    `  let mode = ${mode}${variant.target.hasIeeeBit ? '' : ' | 0x300u'};`,
    '  var fault = vec4u();',
    ...body,
    ...(stopAt === undefined
      ? []
      : [`  if (alive) { fault = vec4u(${FaultCode.stepBudget}u, ${hex(stopAt)}, 0u, 0u); }`]),
    '  if (fault.x != 0u) {',
    ...report,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** All active lanes are checked, range before alignment; then they act. */
function instructionText(
  instruction: Instruction,
  semantics: LdsSemantics,
  waveSize: number,
  ldsWords: number,
): string[] {
  const address = ldsOperand(instruction, 'addr');
  if (address === undefined) throw new Error(`${instruction.def.name}: the address is no VGPR`);
  const register = (index: number) => `vgprs[wave][${index * waveSize}u + lane]`;
  const { offset, pc } = instruction;
  const highest = ldsWords * 4 - semantics.words * 4 - offset;
  const eachActive = (lines: readonly string[]) => [
    `    for (var lane = 0u; lane < ${waveSize}u; lane++) {`,
    '      if (alive && ((select(exec_lo, exec_hi, lane >= 32u) >> (lane & 31u)) & 1u) != 0u) {',
    ...lines.map((line) => `        ${line}`),
    '      }',
    '    }',
  ];
  return [
    '  {',
    ...eachActive([
      `let base = ${register(address.index)};`,
      `let out_of_range = ${highest < 0 ? 'true' : `base > ${hex(highest)}`};`,
      `let byte = base + ${hex(offset)};`,
      `if (fault.x == 0u && (out_of_range || (byte & ${hex(semantics.align - 1)}) != 0u)) {`,
      `  let code = select(${FaultCode.ldsMisaligned}u, ${FaultCode.ldsOutOfRange}u, out_of_range);`,
      `  fault = vec4u(code, ${hex(pc)}, lane, byte);`,
      '}',
    ]),
    '    alive = alive && fault.x == 0u;',
    ...eachActive([
      `let at = lds_base + ((${register(address.index)} + ${hex(offset)}) >> 2u);`,
      ...action(instruction, semantics, register),
    ]),
    '  }',
  ];
}

/** What a lane does at the LDS word `at`. */
function action(
  instruction: Instruction,
  { access, words, wgsl, returns }: LdsSemantics,
  register: (index: number) => string,
): string[] {
  const places = Array.from({ length: words }, (_, i) => `lds[at + ${i}u]`);
  const from = ldsOperand(instruction, 'data0');
  const to = ldsOperand(instruction, 'vdst');
  const source = from ? places.map((_, i) => register(from.index + i)) : [];
  const results = to ? places.map((_, i) => register(to.index + i)) : [];
  switch (access) {
    case 'read':
      return results.map((result, i) => `${result} = ${places[i]};`);
    case 'write':
      return places.map((place, i) => `${place} = ${source[i]};`);
    case 'atomic':
      if (wgsl === undefined || words !== 2) throw new Error(`${instruction.def.name}: no atomic on two words`);
      return [
        `let old = ${value(places)};`,
        `let new_value = ${wgsl}(old, ${value(source)}, mode);`,
        ...places.map((place, i) => `${place} = new_value.${'xy'[i]};`),
        ...(returns ? results.map((result, i) => `${result} = old.${'xy'[i]};`) : []),
      ];
  }
}

function imports(functions: readonly WgslFunction[]): string[] {
  const lines = functions.map(({ family, name }) => `import package::isa::${family}::${name};`);
  return [...new Set(lines)].sort();
}

const bindings = (vgprWords: number) => `
@group(0) @binding(0) var<storage, read_write> scalars: array<u32>;
@group(0) @binding(1) var<storage, read_write> vgprs: array<array<u32, ${vgprWords}>>;
@group(0) @binding(2) var<storage, read_write> lds: array<u32>;
@group(0) @binding(3) var<uniform> dispatch: vec4u;`;
