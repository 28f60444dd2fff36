/**
 * Every instruction on every generation and in both profiles: the kernel that calls it links, and the compiler accepts it. What the
 * bodies compute is checked elsewhere; here it is that definitions and shaders agree on names, arguments and types.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGpu } from '../../src/gpu/adapter.node.ts';
import { openDevice } from '../../src/gpu/adapter.ts';
import { linkKernel } from '../../src/gpu/cost.ts';
import { translate } from '../../src/gpu/translate.ts';
import { formOn, type InstructionDef } from '../../src/isa/instruction.ts';
import { instructions } from '../../src/isa/instructions/index.ts';
import { type Operand, type OperandSpec, wordsOf } from '../../src/isa/operand.ts';
import { findTarget, type Profile, type Target } from '../../src/isa/target.ts';
import { makeProgram } from '../../src/program/make.ts';
import type { Instruction } from '../../src/program/program.ts';
import { Scalar, type WaveSize } from '../../src/wavefront/registers.ts';
import { batchFor } from './engineRig.ts';

let device: GPUDevice;
beforeAll(async () => {
  device = await openDevice((await openGpu()).adapter!);
});
afterAll(() => device.destroy());

/** An operand that the field can hold, a register wherever it can be one. */
function operandFor({ field, type, role }: OperandSpec, at: number, waveSize: WaveSize): Operand {
  const count = wordsOf(type, waveSize);
  if (field === 'simm16') return { kind: 'immediate', value: type === 'hwreg' ? 0x1801 : 1 };
  if (field === 'literal') return { kind: 'literal', word: 3 };
  if (type === 'mask') return { kind: 'scalar', code: role === 'src' ? Scalar.vccLo : 2 * at, count };
  if (field.startsWith('s') && field !== 'src0' && field !== 'src1' && field !== 'src2')
    return { kind: 'scalar', code: 4 * at, count };
  return { kind: 'vgpr', index: 4 * at, count };
}

function instructionFor(def: InstructionDef, target: Target, waveSize: WaveSize): Instruction | undefined {
  const form = formOn(def, target);
  if (!form) return undefined;
  const { neg, abs, omod, clamp } = def.modifiers ?? {};
  const operands = def.operands.map((spec, at): Operand => {
    const modifiable = spec.role === 'src' && spec.type !== 'mask';
    return { ...operandFor(spec, at, waveSize), neg: modifiable && neg === true, abs: modifiable && abs === true };
  });
  const rest = { omod: omod ? 1 : 0, clamp: clamp === true, offset: 0, gds: false, pc: 0, size: 8 } as const;
  return { def, form, operands, ...rest };
}

const cases = ['gfx906', 'gfx90a', 'gfx942', 'gfx1030', 'gfx1100', 'gfx1200'].flatMap((name) =>
  (['hardware', 'published'] as const).map((profile) => [name, profile] as const),
);

it.each(cases)('%s, %s', async (name, profile: Profile) => {
  const target = findTarget(name);
  const waveSize = target.waveSizes[0]!;
  const list = instructions.flatMap((def) => instructionFor(def, target, waveSize) ?? []);
  const running = list.filter(({ def }) => def.family !== 'control');
  expect(running.length).toBeGreaterThan(50);
  const program = makeProgram(target, waveSize, running, new Map());
  const variant = { target, profile };
  const { layout } = batchFor(program);
  const plan = translate(program, layout, variant, {
    mode: undefined,
    maxSteps: 1e6,
    costs: new Map(),
    maxKernelCost: 1,
  });
  expect(plan.kernels.length).toBe(1);
  const module = device.createShaderModule({ code: await linkKernel(plan.kernels[0]!) });
  const { messages } = await module.getCompilationInfo();
  expect(messages.map(({ lineNum, message }) => `${lineNum}: ${message}`)).toEqual([]);
});
