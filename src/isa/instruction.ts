/**
 * What an instruction is. One object of this shape stands for one instruction everywhere: the assembler, the disassembler,
 * both engines, the fidelity report and the documentation read it, and there is no second list.
 * The objects live in `instructions/`, one file a family; the WGSL bodies in `shaders/isa/`, under the same family names.
 */
import type { OperandSpec } from './operand.ts';
import type { Generation, Target, Variant } from './target.ts';

/** `X1K` stands for programs that are text alone; the opcode of such a form only tells instructions apart. */
export type Encoding = 'VOP1' | 'VOP2' | 'VOPC' | 'VOP3' | 'VOP3B' | 'SOP1' | 'SOP2' | 'SOPK' | 'SOPP' | 'DS' | 'X1K';

/**
 * One way to write and encode the instruction on some targets.
 * An instruction has several forms where it has a short and a VOP3 encoding, or where generations number it differently.
 */
export interface Form {
  readonly encoding: Encoding;
  readonly opcode: number;
  readonly on: readonly Generation[];
  /** Narrows `on` to the targets of a generation that have it (v_fmac_f64: CDNA2 and later). */
  readonly has?: (target: Target) => boolean;
  /** The mnemonic there, if it isn't the definition's (ds_min_num_f64 on gfx12, s_load for s_read ...). */
  readonly name?: string;
  /** Further spellings that the assembler accepts there; the disassembler prints `name`. */
  readonly aliases?: readonly string[];
}

/** How far a result can be trusted on a target: read off that chip's family; AMD's text; our decision; not the chip's bits. */
export type Fidelity = 'measured' | 'documented' | 'modelled' | 'approximate';

/** Where AMD's text and chips part. */
export interface Erratum {
  readonly text: string;
  readonly hardware: string;
  readonly source: string;
}

/** The words of one operand over the lanes of a wave, low word first: `words[w][lane]`. */
export type LaneWords = readonly Uint32Array[];

/** What the CPU body of a vector instruction works on. The engine has applied EXEC to nothing yet: bodies skip inactive lanes. */
export interface LaneIo {
  readonly lanes: number;
  /** 1 where EXEC is set. */
  readonly active: Uint8Array;
  /** Sources in operand order, modifiers applied; an updated destination's old value comes last. A mask source has 0 or 1 a lane in its one word. */
  readonly src: readonly LaneWords[];
  /** Vector destination; only active lanes may be written. May share storage with a source: read a lane before writing it. */
  readonly dst: LaneWords;
  /** Mask destination, 0 or 1 a lane; zero on entry, so that inactive lanes give 0. */
  readonly flag: Uint32Array;
  /** MODE as the target acts on it (`effectiveMode`). */
  readonly mode: number;
}

export type LaneBody = (io: LaneIo) => void;

/** What the CPU body of a scalar instruction works on: words low first. */
export interface ScalarIo {
  readonly src: readonly (readonly number[])[];
  /** Destination words, to be written by the body. */
  readonly dst: number[];
  scc: number;
  mode: number;
}

export type ScalarBody = (io: ScalarIo) => void;

/**
 * Read-modify-write of one memory location: `memory` and `source` words, low first; the body overwrites `memory`.
 */
export type AtomicBody = (memory: Uint32Array, source: Uint32Array, mode: number) => void;

/**
 * A vector instruction. `wgsl` names a function of `shaders/isa/<family>.wesl`:
 * `fn NAME(s0: T0, s1: T1, ..., mode: u32) -> R`, sources in operand order (an updated destination last), `T` = u32 for one word,
 * vec2<u32> (x low) for two, bool for masks; `mode` only if `usesMode`.
 * R is the vector destination's type, bool if there is only a mask destination, and a struct { d, flag: bool } if there are both.
 */
export interface LaneSemantics {
  readonly unit: 'valu';
  readonly cpu: LaneBody;
  readonly wgsl: string;
  readonly usesMode: boolean;
}

/**
 * A scalar instruction. `wgsl`: `fn NAME(s0: T0, ..., mode: u32 if usesMode) -> R` over the uniform words; R is the destination's
 * type, or u32 (the new MODE) if `writesMode`. `laneWgsl`, where present, names the same operation on one lane's bits as bools:
 * bitwise operations on lane masks then need no vote across the wave.
 */
export interface ScalarSemantics {
  readonly unit: 'salu';
  readonly cpu: ScalarBody;
  readonly wgsl: string;
  readonly laneWgsl?: string;
  readonly usesMode: boolean;
  readonly writesMode: boolean;
  /** SCC becomes (result != 0). */
  readonly writesScc: boolean;
}

/** An LDS instruction, one address (plus 16-bit offset) a lane. Lanes act in ascending order. */
export interface LdsSemantics {
  readonly unit: 'lds';
  readonly access: 'read' | 'write' | 'atomic';
  /** Words read or written at the address; the address must be a multiple of `align` bytes. */
  readonly words: 1 | 2 | 4;
  readonly align: 4 | 8 | 16;
  /** Atomics: writes the old value to vdst. */
  readonly returns: boolean;
  readonly cpu?: AtomicBody;
  /** Atomics: `fn NAME(memory: vec2u, source: vec2u, mode: u32) -> vec2u` of `shaders/isa/<family>.wesl`. */
  readonly wgsl?: string;
}

/** Waits and hints do nothing here; `barrier` joins the waves of a workgroup; `end` ends the wave. */
export interface ControlSemantics {
  readonly unit: 'control';
  readonly effect: 'none' | 'barrier' | 'end';
}

/**
 * An instruction of X1K: as `LaneSemantics`, but with `X1kControl` (rounding and output modifier) for MODE, and with every operand
 * four components: `src[k]` and `dst` hold x, y, z, w in the CPU body, vec4u in WGSL.
 */
export interface X1kSemantics {
  readonly unit: 'x1k';
  readonly cpu: LaneBody;
  readonly wgsl: string;
}

export type Semantics = LaneSemantics | ScalarSemantics | LdsSemantics | ControlSemantics | X1kSemantics;

export interface InstructionDef {
  /** AMD's name, lower case, without _e32/_e64. */
  readonly name: string;
  /** File in `src/isa/instructions` and `shaders/isa`. */
  readonly family: string;
  /** One line for people. */
  readonly summary: string;
  readonly forms: readonly Form[];
  /** In assembly order: destinations first. */
  readonly operands: readonly OperandSpec[];
  /** Source modifiers its VOP3 form allows; `abs` is absent in VOP3B. */
  readonly modifiers?: {
    readonly neg?: boolean;
    readonly abs?: boolean;
    readonly omod?: boolean;
    readonly clamp?: boolean;
  };
  /** What it does, by target and profile. */
  readonly semantics: (variant: Variant) => Semantics;
  readonly fidelity: (variant: Variant) => Fidelity;
  readonly errata?: readonly Erratum[];
}

/** The form of `def` with this encoding on `target`, if it has one. */
export function formOn(def: InstructionDef, target: Target, encoding?: Encoding): Form | undefined {
  return def.forms.find(
    (f) =>
      f.on.includes(target.generation) &&
      (f.has?.(target) ?? true) &&
      (encoding === undefined || f.encoding === encoding),
  );
}
