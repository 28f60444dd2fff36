/** Bytes to instructions. Nothing is guessed: a word that isn't exactly an instruction of ours is an error. */
import {
  DS_ACC,
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
import type { Encoding, Form, InstructionDef } from '../isa/instruction.ts';
import { instructions } from '../isa/instructions/index.ts';
import { violation } from '../isa/legality.ts';
import { type Operand, type OperandSpec, wordsOf } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import { Scalar, type WaveSize } from '../wavefront/registers.ts';
import { encodeWords, LITERAL_CODE, scalarCode, VGPR_CODE } from './encode.ts';
import { makeProgram } from './make.ts';
import { formsOn } from './mnemonics.ts';
import type { Instruction, Program } from './program.ts';

/** Bytes that are no instruction we know; `message` gives the offset and the words. */
export class DecodeError extends Error {
  /** Byte offset of the instruction. */
  readonly offset: number;
  /** Its first dwords, as far as they were read. */
  readonly words: readonly number[];
  readonly reason: string;

  constructor(offset: number, words: readonly number[], reason: string) {
    super(`offset 0x${offset.toString(16)}: ${words.map(hex8).join(' ')}: ${reason}`);
    this.name = 'DecodeError';
    this.offset = offset;
    this.words = words;
    this.reason = reason;
  }
}

const hex8 = (word: number) => word.toString(16).padStart(8, '0');

export interface DecodeOptions {
  readonly target: Target;
  /** The target's default without it. */
  readonly waveSize?: WaveSize | undefined;
}

/**
 * The program of this machine code.
 * @throws DecodeError at the first instruction that isn't ours, or where the bytes end within one
 */
export function decode(bytes: Uint8Array, options: DecodeOptions): Program {
  const { target } = options;
  const waveSize = options.waveSize ?? target.waveSizes[0]!;
  const words = dwords(bytes);
  const decoded: Instruction[] = [];
  for (let at = 0; at < words.length; ) {
    const instruction = decodeAt(words, at, target, waveSize);
    decoded.push(instruction);
    at += instruction.size / 4;
  }
  return makeProgram(target, waveSize, decoded, new Map());
}

/** The dwords of machine code. @throws DecodeError if the last is cut off */
export function dwords(bytes: Uint8Array): number[] {
  if (bytes.length % 4 !== 0)
    throw new DecodeError(bytes.length - (bytes.length % 4), [], `${bytes.length} bytes are no whole number of dwords`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}

/** VOP3B shares VOP3's opcodes. */
const opcodeSpace = (encoding: Encoding) => (encoding === 'VOP3B' ? 'VOP3' : encoding);

function encodingOf(word: number, target: Target): Encoding | undefined {
  if (target.generation === 'x1k') return undefined;
  if (word >>> 31 === 0) return word >>> 25 === 0x3f ? 'VOP1' : word >>> 25 === 0x3e ? 'VOPC' : 'VOP2';
  if (word >>> 26 === (target.generation === 'gfx9' ? 0x34 : 0x35)) return 'VOP3';
  if (word >>> 26 === 0x36) return 'DS';
  if (word >>> 23 === 0x17d) return 'SOP1';
  if (word >>> 23 === 0x17e) return undefined;
  if (word >>> 23 === 0x17f) return 'SOPP';
  if (word >>> 28 === 0xb) return 'SOPK';
  return word >>> 30 === 2 ? 'SOP2' : undefined;
}

interface Known {
  readonly def: InstructionDef;
  readonly form: Form;
}

const byTarget = new Map<Target, ReadonlyMap<string, Known>>();

function formsByOpcode(target: Target): ReadonlyMap<string, Known> {
  const known = byTarget.get(target);
  if (known !== undefined) return known;
  const found = new Map<string, Known>();
  for (const def of instructions)
    for (const form of formsOn(def, target)) {
      const key = `${opcodeSpace(form.encoding)} ${form.opcode}`;
      if (found.has(key)) throw new Error(`${def.name} and ${found.get(key)!.def.name} share ${key} on ${target.name}`);
      found.set(key, { def, form });
    }
  byTarget.set(target, found);
  return found;
}

const bitsOf = (words: readonly number[], { dword, shift, width }: Field) =>
  (words[dword]! >>> shift) & (width === 32 ? -1 : (1 << width) - 1);

/**
 * The instruction at dword `at`.
 * @throws DecodeError if it is unknown, incomplete, not allowed on the target, or has bits set that mean nothing here
 */
export function decodeAt(words: readonly number[], at: number, target: Target, waveSize: WaveSize): Instruction {
  const pc = at * 4;
  const first = words[at]!;
  const encoding = encodingOf(first, target);
  const opcode = encoding && bitsOf([first], layoutOf(encoding, target.generation).opcode);
  const known = formsByOpcode(target).get(`${encoding} ${opcode}`);
  if (known === undefined) throw new DecodeError(pc, [first], `no instruction known on ${target.name}`);
  const { def, form } = known;
  const layout = layoutOf(form.encoding, target.generation);
  const length = layout.dwords;
  const own = words.slice(at, at + length + 1);
  const fault = (reason: string) => new DecodeError(pc, own.slice(0, length), `${def.name}: ${reason}`);
  if (own.length < length) throw fault('the code ends within it');
  const hasLiteral = def.operands.some((spec) => {
    const field = fieldOf(spec, layout);
    const isConstant = field?.holds === 'source' || field?.holds === 'scalarSource';
    return spec.field === 'literal' || (isConstant && bitsOf(own, field) === LITERAL_CODE);
  });
  const size = length + Number(hasLiteral);
  if (own.length < size) throw fault('the code ends within it');
  const operands = def.operands.map((spec) => decodeOperand(own, spec, form, target, waveSize, fault));
  const instruction = {
    def,
    form,
    operands: withSourceModifiers(own, def, form, operands),
    ...modifiersOf(own, form, target),
    pc,
    size: size * 4,
  };
  if (form.encoding === 'DS' && target.cdna >= 2 && (first >>> DS_ACC) & 1) throw fault('AccVGPRs are not supported');
  const wrong = violation(instruction, target, waveSize);
  if (wrong !== undefined) throw fault(wrong.reason);
  const again = encodeWords(instruction, target);
  const strange = again.findIndex((word, i) => word !== own[i]);
  if (strange >= 0)
    throw fault(
      `bits 0x${((again[strange]! ^ own[strange]!) >>> 0).toString(16)} of dword ${strange} are not supported`,
    );
  return instruction;
}

function decodeOperand(
  words: readonly number[],
  spec: OperandSpec,
  form: Form,
  target: Target,
  waveSize: WaveSize,
  fault: (reason: string) => DecodeError,
): Operand {
  const layout = layoutOf(form.encoding, target.generation);
  const count = wordsOf(spec.type, waveSize);
  if (spec.field === 'literal') return { kind: 'immediate', value: words[layout.dwords]! };
  const field = fieldOf(spec, layout);
  if (field === undefined) return { kind: 'scalar', code: Scalar.vccLo, count };
  const value = bitsOf(words, field);
  if (field.holds === 'bits') return { kind: 'immediate', value };
  if (field.holds === 'vgpr') return { kind: 'vgpr', index: value, count };
  if (value >= VGPR_CODE) return { kind: 'vgpr', index: value - VGPR_CODE, count };
  if (value === LITERAL_CODE) return { kind: 'literal', word: words[layout.dwords]! };
  if ((value >= 128 && value <= 208) || (value >= 240 && value <= 248)) return { kind: 'inline', code: value };
  if (value >= 128) throw fault(`operand code ${value} is not supported`);
  return { kind: 'scalar', code: scalarCode(value, target), count };
}

function withSourceModifiers(
  words: readonly number[],
  def: InstructionDef,
  form: Form,
  operands: readonly Operand[],
): Operand[] {
  if (!isVop3(form.encoding)) return [...operands];
  return operands.map((operand, index) => {
    const source = ['src0', 'src1', 'src2'].indexOf(def.operands[index]!.field);
    if (source < 0) return operand;
    const neg = (words[1]! >>> (VOP3_NEG + source)) & 1;
    const abs = form.encoding === 'VOP3' ? (words[0]! >>> (VOP3_ABS + source)) & 1 : 0;
    return { ...operand, ...(neg && { neg: true }), ...(abs && { abs: true }) };
  });
}

function modifiersOf(
  words: readonly number[],
  form: Form,
  target: Target,
): Pick<Instruction, 'omod' | 'clamp' | 'offset' | 'gds'> {
  const vop3 = isVop3(form.encoding);
  const ds = form.encoding === 'DS';
  return {
    omod: (vop3 ? (words[1]! >>> VOP3_OMOD) & 3 : 0) as 0 | 1 | 2 | 3,
    clamp: vop3 && ((words[0]! >>> VOP3_CLAMP) & 1) === 1,
    offset: ds ? words[0]! & 0xffff : 0,
    gds: ds && ((words[0]! >>> dsGds(target.generation)) & 1) === 1,
  };
}
