/** A program: decoded instructions in order, whatever they came from (assembly text, bytes, a code object). */
import type { Form, InstructionDef } from '../isa/instruction.ts';
import type { Operand } from '../isa/operand.ts';
import type { Target } from '../isa/target.ts';
import type { X1kOmod } from '../isa/x1k/control.ts';
import type { WaveSize } from '../wavefront/registers.ts';

/** Where an instruction stands in its source, counted from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

export interface Instruction {
  readonly def: InstructionDef;
  readonly form: Form;
  /** One for each of `def.operands`, in their order; an operand that isn't written (implicit VCC) is filled in. */
  readonly operands: readonly Operand[];
  /** Output modifier 0 none, 1 *2, 2 *4, 3 /2, and clamp. */
  readonly omod: 0 | 1 | 2 | 3;
  readonly clamp: boolean;
  /** X1K: the output modifier instead of `omod`. */
  readonly x1kOmod?: X1kOmod;
  /** DS: byte offset 0..65535, and GDS instead of LDS. */
  readonly offset: number;
  readonly gds: boolean;
  /** Byte offset in the program, and length of the encoding in bytes. */
  readonly pc: number;
  readonly size: number;
  readonly at?: SourcePosition;
}

export interface Program {
  readonly target: Target;
  readonly waveSize: WaveSize;
  readonly instructions: readonly Instruction[];
  /** Label to byte offset. */
  readonly labels: ReadonlyMap<string, number>;
  /** Registers the program names: one more than the highest index. */
  readonly vgprs: number;
  readonly sgprs: number;
  readonly usesLds: boolean;
}
