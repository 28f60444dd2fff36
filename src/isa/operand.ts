/**
 * Operands of an instruction: what its definition asks for (`OperandSpec`) and what a program holds (`Operand`).
 */
import type { WaveSize } from '../wavefront/registers.ts';

/**
 * What an operand means to the instruction.
 * `b*` plain bits, `f*` floats and `i32`/`u32` integers of that many bits; `mask` one bit a lane (an SGPR, a pair in wave64);
 * `f32x4` the four components of an X1K register;
 * `barrier` M0 or an inline constant; `hwreg`, `simm16`, `waitcnt`, `depctr`, `delay` and `imm32` are fields of SOPP and SOPK words.
 */
export type OperandType =
  | 'b32'
  | 'b64'
  | 'b128'
  | 'f32'
  | 'f64'
  | 'f32x4'
  | 'i32'
  | 'u32'
  | 'mask'
  | 'hwreg'
  | 'simm16'
  | 'imm32'
  | 'waitcnt'
  | 'depctr'
  | 'delay'
  | 'barrier';

/** The field of the encoding that carries the operand; AMD's names. `vcc` is read or written without being encoded. */
export type OperandField =
  | 'vdst'
  | 'sdst'
  | 'src0'
  | 'src1'
  | 'src2'
  | 'vcc'
  | 'addr'
  | 'data0'
  | 'data1'
  | 'ssrc0'
  | 'ssrc1'
  | 'simm16'
  | 'literal';

export interface OperandSpec {
  readonly field: OperandField;
  readonly type: OperandType;
  /** `update`: a destination whose old value is also a source, the last one (v_fmac). */
  readonly role: 'dst' | 'src' | 'update';
  /** May be left out of the text, and is left out where it is 0, else printed in decimal (s_endpgm). */
  readonly optional?: true;
  /** LLVM prints it in hexadecimal whatever its value (s_round_mode 0x0), not small values in decimal (s_nop 0). */
  readonly hex?: true;
}

/** 32-bit words that a value of this type takes in registers (masks: by wave size). */
export function wordsOf(type: OperandType, waveSize: WaveSize): number {
  switch (type) {
    case 'b64':
    case 'f64':
      return 2;
    case 'b128':
    case 'f32x4':
      return 4;
    case 'mask':
      return waveSize / 32;
    default:
      return 1;
  }
}

/** Components are numbers: 0 x, 1 y, 2 z, 3 w. */
export interface X1kComponents {
  /** Of a source: the component that each place reads. */
  readonly swizzle?: readonly number[];
  /** Of a destination: the components that are written, ascending. */
  readonly mask?: readonly number[];
  /** Of a source: computed from the register (s0) and, in `s1-s0` and `s1+s0`, from the one whose first VGPR is `s1`. */
  readonly presubtract?: { readonly kind: '1-2*s0' | 's1-s0' | 's1+s0' | '1-s0'; readonly s1?: number };
}

export interface VectorOperand {
  readonly kind: 'vgpr';
  /** First register, and how many. */
  readonly index: number;
  readonly count: number;
  /** X1K: which components are read or written, and how. */
  readonly x1k?: X1kComponents;
}
export interface ScalarOperand {
  readonly kind: 'scalar';
  /** First register as a code of `Scalar`, and how many. */
  readonly code: number;
  readonly count: number;
}
/** An inline constant: codes 128-208 the integers 0..64, -1..-16; 240-248 floats (AMD ISA documents, "inline constants"). */
export interface InlineOperand {
  readonly kind: 'inline';
  readonly code: number;
}
/** The 32-bit literal that follows the instruction. */
export interface LiteralOperand {
  readonly kind: 'literal';
  readonly word: number;
}
/** A field that is no register or constant: simm16, hwreg, waitcnt ... as the 16 (32) bits of the encoding. */
export interface ImmediateOperand {
  readonly kind: 'immediate';
  readonly value: number;
}

export type Operand = (VectorOperand | ScalarOperand | InlineOperand | LiteralOperand | ImmediateOperand) & {
  /** Source modifiers, applied to the bits before anything else: ABS, then NEG. */
  readonly abs?: boolean;
  readonly neg?: boolean;
};

/** The VGPRs that an operand names, in no order. */
export function vgprsOf(operand: Operand): number[] {
  if (operand.kind !== 'vgpr') return [];
  const { index, count, x1k } = operand;
  const second = x1k?.presubtract?.s1;
  return [index, ...(second === undefined ? [] : [second])].flatMap((first) =>
    Array.from({ length: count }, (_, i) => first + i),
  );
}

const f32Inline = [
  0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
];
const f64InlineHigh = [
  0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000, 0x3fc45f30,
];

/** Low word of 1/(2 pi) as chips have it, 3fc45f306dc9c882: rounded down (LLVM inlines only this value). */
const inv2PiLow = 0x6dc9c882;

/**
 * The words, low first, that a constant supplies to an operand of this type.
 * Integer codes give the integer's bits, sign-extended, also to float operands (5 as f64 is 0000000000000005); float codes give
 * the float of the operand's width, f32 bits in b32 and i32. A literal is the high word of an f64 and is zero-extended to a b64.
 */
export function constantWords(operand: InlineOperand | LiteralOperand, type: OperandType): readonly number[] {
  const wide = type === 'f64' || type === 'b64' || type === 'mask';
  if (operand.kind === 'literal') {
    if (!wide) return [operand.word >>> 0];
    return type === 'f64' ? [0, operand.word >>> 0] : [operand.word >>> 0, 0];
  }
  const { code } = operand;
  if (code >= 240) {
    if (!wide) return [f32Inline[code - 240]!];
    return [code === 248 ? inv2PiLow : 0, f64InlineHigh[code - 240]!];
  }
  const integer = code <= 192 ? code - 128 : 192 - code;
  return wide ? [integer >>> 0, integer < 0 ? 0xffffffff : 0] : [integer >>> 0];
}
