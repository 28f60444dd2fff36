/** Instructions to bytes. */
import {
  dsGds,
  type Field,
  fieldOf,
  isVop3,
  layoutOf,
  VOP3_ABS,
  VOP3_CLAMP,
  VOP3_NEG,
  VOP3_OMOD,
} from '../isa/fields.ts';
import type { Operand } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import { Scalar } from '../wavefront/registers.ts';
import type { Instruction, Program } from './program.ts';

export const LITERAL_CODE = 255;
export const VGPR_CODE = 256;

/** gfx11 and gfx12 swap the codes of M0 and null. The same swap decodes. */
export function scalarCode(code: number, target: Target): number {
  const swaps = target.generation === 'gfx11' || target.generation === 'gfx12';
  if (swaps && code === Scalar.m0) return Scalar.null;
  return swaps && code === Scalar.null ? Scalar.m0 : code;
}

function operandCode(operand: Operand, field: Field, target: Target): number {
  switch (operand.kind) {
    case 'vgpr':
      return field.holds === 'source' ? VGPR_CODE + operand.index : operand.index;
    case 'scalar':
      return scalarCode(operand.code, target);
    case 'inline':
      return operand.code;
    case 'literal':
      return LITERAL_CODE;
    case 'immediate':
      return operand.value;
  }
}

/** The dword behind the encoding: a literal constant, or s_setreg_imm32_b32's. */
function trailing(instruction: Pick<Instruction, 'def' | 'operands'>): number | undefined {
  for (const [index, operand] of instruction.operands.entries()) {
    if (operand.kind === 'literal') return operand.word >>> 0;
    if (operand.kind === 'immediate' && instruction.def.operands[index]!.field === 'literal')
      return operand.value >>> 0;
  }
  return undefined;
}

type Encodable = Omit<Instruction, 'pc' | 'size'>;

/** The dwords of an instruction. It must be legal on the target (`violation`). */
export function encodeWords(instruction: Encodable, target: Target): number[] {
  const { def, form, operands } = instruction;
  const layout = layoutOf(form.encoding, target.generation);
  const words = [(layout.fixed | (form.opcode << layout.opcode.shift)) >>> 0];
  if (layout.dwords === 2) words.push(0);
  const put = (dword: number, shift: number, value: number) => {
    words[dword] = (words[dword]! | (value << shift)) >>> 0;
  };
  for (const [index, spec] of def.operands.entries()) {
    const field = fieldOf(spec, layout);
    if (field !== undefined && spec.field !== 'literal')
      put(field.dword, field.shift, operandCode(operands[index]!, field, target));
  }
  if (isVop3(form.encoding)) {
    for (const [index, { field }] of def.operands.entries()) {
      const source = ['src0', 'src1', 'src2'].indexOf(field);
      if (operands[index]!.neg) put(1, VOP3_NEG + source, 1);
      if (operands[index]!.abs) put(0, VOP3_ABS + source, 1);
    }
    put(1, VOP3_OMOD, instruction.omod);
    put(0, VOP3_CLAMP, Number(instruction.clamp));
  }
  if (form.encoding === 'DS') {
    put(0, 0, instruction.offset);
    put(0, dsGds(target.generation), Number(instruction.gds));
  }
  const last = trailing(instruction);
  return last === undefined ? words : [...words, last];
}

/** The program's machine code, little endian. */
export function encode(program: Program): Uint8Array<ArrayBuffer> {
  const words = program.instructions.flatMap((instruction) => encodeWords(instruction, program.target));
  const bytes = new DataView(new ArrayBuffer(words.length * 4));
  for (const [index, word] of words.entries()) bytes.setUint32(index * 4, word, true);
  return new Uint8Array(bytes.buffer);
}
