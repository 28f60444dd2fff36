/**
 * What a target allows an instruction's operands to be. The assembler and the decoder ask the same question.
 * Sources: LLVM's AMDGPU assembler (AMDGPUOperandSyntax, AMDGPUModifierSyntax and what llvm-mc 22 accepts); AMD ISA documents.
 */
import type { WaveSize } from '../wavefront/registers.ts';
import { Scalar } from '../wavefront/registers.ts';
import { type Field, fieldOf, isVector, isVop3, layoutOf } from './fields.ts';
import type { Form, InstructionDef } from './instruction.ts';
import { type Operand, type OperandSpec, wordsOf } from './operand.ts';
import type { Target } from './target.ts';

/** The parts of an instruction that the rules look at. */
export interface Candidate {
  readonly def: InstructionDef;
  readonly form: Form;
  readonly operands: readonly Operand[];
  readonly omod: number;
  readonly clamp: boolean;
  readonly offset: number;
  readonly gds: boolean;
}

/** What is not allowed: which operand (by index) or modifier, and why. */
export interface Violation {
  readonly where: number | 'omod' | 'clamp' | 'offset' | 'gds';
  readonly reason: string;
}

/** The first rule that an instruction breaks, or undefined. */
export function violation(candidate: Candidate, target: Target, waveSize: WaveSize): Violation | undefined {
  const { def, form, operands } = candidate;
  const layout = layoutOf(form.encoding, target.generation);
  for (const [index, spec] of def.operands.entries()) {
    const operand = operands[index]!;
    const reason =
      operandReason(operand, spec, fieldOf(spec, layout), target, waveSize) ??
      counterWaitReason(operand, spec, def, target) ??
      sourceModifierReason(operand, spec, def, form);
    if (reason !== undefined) return { where: index, reason };
  }
  return constantViolation(candidate, target) ?? modifierViolation(candidate, target);
}

/** What the operand may be, in words. */
function allowed(spec: OperandSpec, holds: Field['holds'], words: number): string {
  const vgprs = words === 1 ? 'a VGPR' : `${words} VGPRs (v[0:${words - 1}])`;
  const scalars = words === 1 ? 'an SGPR' : 'an SGPR pair (s[0:1], vcc, exec)';
  if (holds === 'vgpr') return vgprs;
  if (holds === 'scalar' || spec.type === 'mask') return scalars;
  return `${holds === 'source' ? `${vgprs}, ` : ''}${scalars} or a constant`;
}

function operandReason(
  operand: Operand,
  spec: OperandSpec,
  field: Field | undefined,
  target: Target,
  waveSize: WaveSize,
): string | undefined {
  const words = wordsOf(spec.type, waveSize);
  if (field === undefined) {
    const isVcc = operand.kind === 'scalar' && operand.code === Scalar.vccLo && operand.count === words;
    return isVcc ? undefined : `this encoding needs ${words === 2 ? 'vcc' : 'vcc_lo'} here`;
  }
  if (spec.type === 'barrier') {
    const isM0 = operand.kind === 'scalar' && operand.code === Scalar.m0;
    return isM0 || operand.kind === 'inline' ? undefined : 'expected m0 or an inline constant such as -1';
  }
  switch (operand.kind) {
    case 'vgpr':
      if (field.holds !== 'vgpr' && (field.holds !== 'source' || spec.type === 'mask')) break;
      if (operand.count !== words) break;
      if (words > 1 && target.cdna >= 2 && operand.index % 2 === 1)
        return `${target.name} needs an even first VGPR, v[${operand.index}:${operand.index + words - 1}] is odd`;
      return undefined;
    case 'scalar':
      if (field.holds === 'vgpr' || field.holds === 'bits') break;
      return scalarReason(operand.code, operand.count, words, target) ?? undefined;
    case 'inline':
    case 'literal':
      if (spec.type === 'mask' || (field.holds !== 'source' && field.holds !== 'scalarSource')) break;
      return undefined;
    case 'immediate':
      return undefined;
  }
  return `expected ${allowed(spec, field.holds, words)}`;
}

function scalarReason(code: number, count: number, words: number, target: Target): string | undefined {
  if (code === Scalar.null) return target.generation === 'gfx9' ? `${target.name} has no null register` : undefined;
  if (count !== words) return `expected ${words === 1 ? 'one SGPR' : `${words} SGPRs`}`;
  if (code < Scalar.vccLo && code + count > target.sgprs)
    return `s${code + count - 1} is out of range: ${target.name} has s0 to s${target.sgprs - 1}`;
  const isPairable =
    code <= Scalar.vccLo || code === Scalar.execLo || (code >= Scalar.ttmp0 && code + count <= Scalar.m0);
  if (count > 1 && !isPairable) return `expected ${words} SGPRs`;
  return count > 1 && code % count !== 0 ? `SGPR pairs start at an even register` : undefined;
}

/** gfx11 kept the register operand of s_waitcnt_vscnt and its kin for null alone. */
function counterWaitReason(
  operand: Operand,
  spec: OperandSpec,
  def: InstructionDef,
  target: Target,
): string | undefined {
  const isRegister = spec.field === 'sdst' && def.name.startsWith('s_waitcnt_') && target.generation === 'gfx11';
  return isRegister && !(operand.kind === 'scalar' && operand.code === Scalar.null) ? 'expected null' : undefined;
}

/** NEG and ABS are for float sources of the VOP3 encodings. */
function sourceModifierReason(
  operand: Operand,
  spec: OperandSpec,
  def: InstructionDef,
  form: Form,
): string | undefined {
  if (!operand.neg && !operand.abs) return undefined;
  const isFloat = spec.role === 'src' && (spec.type === 'f32' || spec.type === 'f64');
  if (!isVop3(form.encoding) || !isFloat || (operand.neg && !def.modifiers?.neg))
    return 'this operand takes no neg or abs modifier';
  if (!operand.abs) return undefined;
  if (form.encoding === 'VOP3B') return 'abs is not allowed here: VOP3B encodings have no ABS bits (neg is allowed)';
  return def.modifiers?.abs ? undefined : 'this operand takes no abs modifier';
}

/** Literals and the constant bus. An SGPR or pair counts once however often it is read; inline constants and null are free. */
function constantViolation({ def, form, operands }: Candidate, target: Target): Violation | undefined {
  let literal: number | undefined;
  const bus = new Set<string>();
  for (const [index, operand] of operands.entries()) {
    const spec = def.operands[index]!;
    const { role, field } = spec;
    if (role === 'dst' || field === 'literal') continue;
    if (operand.kind === 'literal') {
      if (isVop3(form.encoding) && !target.vop3Literal)
        return {
          where: index,
          reason: `${target.name} allows no literal constant in the VOP3 encoding; inline constants are -16 to 64, +-0.5, +-1.0, +-2.0, +-4.0, 1/(2*pi)`,
        };
      if (literal !== undefined && literal !== operand.word)
        return { where: index, reason: 'an instruction may have only one literal constant' };
      literal = operand.word;
      bus.add('literal');
    } else if (operand.kind === 'scalar' && operand.code !== Scalar.null) {
      // An implicit mask is read as the whole VCC, in wave32 too (so LLVM counts).
      const isImplicit = fieldOf(spec, layoutOf(form.encoding, target.generation)) === undefined;
      bus.add(`${operand.code}:${isImplicit ? 2 : operand.count}`);
    }
    if (isVector(form.encoding) && bus.size > target.constantBusLimit)
      return {
        where: index,
        reason: `constant bus: ${target.name} allows ${target.constantBusLimit} scalar source${target.constantBusLimit === 1 ? '' : 's'} (SGPRs, VCC and a literal count)`,
      };
  }
  return undefined;
}

function modifierViolation({ def, form, omod, clamp, offset, gds }: Candidate, target: Target): Violation | undefined {
  const vop3 = isVop3(form.encoding);
  if (omod !== 0 && !(vop3 && def.modifiers?.omod))
    return { where: 'omod', reason: `${def.name} takes no output modifier mul:2, mul:4 or div:2` };
  if (clamp && !(vop3 && def.modifiers?.clamp)) return { where: 'clamp', reason: `${def.name} takes no clamp` };
  if (gds && !(form.encoding === 'DS' && target.hasGds)) return { where: 'gds', reason: `${target.name} has no GDS` };
  if (offset !== 0 && form.encoding !== 'DS') return { where: 'offset', reason: `${def.name} takes no offset` };
  return undefined;
}
