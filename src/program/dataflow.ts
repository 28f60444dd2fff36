/**
 * Which words of the registers each instruction of a straight-line program reads and writes, which instruction wrote what it
 * reads, and what is still needed after it.
 */
import { constantWords, type Operand } from '../isa/operand.ts';
import type { Variant } from '../isa/target.ts';
import { Scalar } from '../wavefront/registers.ts';
import type { Instruction, Program } from './program.ts';

/** A 32-bit word of the wave as one number: a VGPR, a scalar register by its code, SCC, MODE, or all of LDS. */
export type Place = number;

const SCALARS = 512;
export const vgprPlace = (register: number): Place => register;
export const scalarPlace = (code: number): Place => SCALARS + code;
export const SCC_PLACE: Place = SCALARS + 128;
export const MODE_PLACE: Place = SCALARS + 129;
export const LDS_PLACE: Place = SCALARS + 130;
const PLACES = SCALARS + 131;

/** VGPRs are written in active lanes only. */
export const isVgprPlace = (place: Place): boolean => place < SCALARS;
/** The scalar register's code; for scalar places. */
export const codeOfPlace = (place: Place): number => place - SCALARS;

const EXEC: readonly Place[] = [scalarPlace(Scalar.execLo), scalarPlace(Scalar.execHi)];

export const writesExec = ({ writes }: Effects): boolean => writes.some((place) => EXEC.includes(place));

export interface Effects {
  readonly reads: readonly Place[];
  readonly writes: readonly Place[];
  /** The wave may stop or wait here, with every register to be seen by others: LDS faults, barriers, the end. */
  readonly stops: boolean;
}

/** The words of a register operand, low first; none of a constant and of null. */
export function placesOf(operand: Operand): Place[] {
  const run = (first: Place, count: number) => Array.from({ length: count }, (_, word) => first + word);
  if (operand.kind === 'vgpr') return run(vgprPlace(operand.index), operand.count);
  if (operand.kind !== 'scalar' || operand.code === Scalar.null) return [];
  return run(scalarPlace(operand.code), operand.count);
}

/** What an instruction reads and writes, MODE and EXEC included. @throws Error for X1K, which has registers of another kind */
export function effectsOf(instruction: Instruction, variant: Variant): Effects {
  const { def, operands, omod, clamp } = instruction;
  const semantics = def.semantics(variant);
  const of = (...roles: string[]) =>
    def.operands.flatMap(({ role }, k) => (roles.includes(role) ? placesOf(operands[k]!) : []));
  const reads = of('src', 'update');
  const writes = of('dst', 'update');
  switch (semantics.unit) {
    case 'valu':
      reads.push(...EXEC);
      if (semantics.usesMode || omod !== 0 || clamp) reads.push(MODE_PLACE);
      return { reads, writes, stops: false };
    case 'salu':
      if (semantics.usesMode) reads.push(MODE_PLACE);
      if (semantics.writesMode) writes.push(MODE_PLACE);
      if (semantics.writesScc) writes.push(SCC_PLACE);
      return { reads, writes, stops: false };
    case 'lds':
      reads.push(...EXEC, MODE_PLACE, LDS_PLACE);
      if (semantics.access !== 'read') writes.push(LDS_PLACE);
      return { reads, writes, stops: true };
    case 'control':
      return { reads, writes, stops: semantics.effect !== 'none' };
    case 'x1k':
      throw new Error(`${def.name}: X1K instructions have no dataflow here`);
  }
}

/** The origin of a constant word. */
export const constantOrigin = (word: number): string => `constant ${word}`;

const isMove = ({ def, operands, omod, clamp }: Instruction) =>
  ['v_mov_b32', 's_mov_b32', 's_mov_b64'].includes(def.name) &&
  !operands[1]!.abs &&
  !operands[1]!.neg &&
  omod === 0 &&
  !clamp;

/** Who wrote what is read, over the instructions that a wave executes from the program's start. */
export class Dataflow {
  readonly instructions: readonly Instruction[];
  readonly effects: readonly Effects[];
  readonly #writers: readonly (readonly number[])[];
  /** How often EXEC was written before each instruction. */
  readonly #epochs: readonly number[];

  constructor({ instructions }: Program, variant: Variant) {
    this.instructions = instructions;
    this.effects = instructions.map((instruction) => effectsOf(instruction, variant));
    const last = new Int32Array(PLACES).fill(-1);
    this.#writers = this.effects.map(({ reads, writes }, index) => {
      const writers = reads.map((place) => last[place]!);
      for (const place of writes) last[place] = index;
      return writers;
    });
    let epoch = 0;
    this.#epochs = this.effects.map((effects) => (writesExec(effects) ? epoch++ : epoch));
  }

  /** The instruction that wrote what instruction `index` reads at `place` (in active lanes); -1 if the wave started with it. */
  writer(index: number, place: Place): number {
    return this.#writers[index]![this.effects[index]!.reads.indexOf(place)]!;
  }

  /**
   * Where the word that instruction `index` reads at `place` comes from, through moves: the same string for the same bits (in active
   * lanes). A move to a VGPR counts while EXEC is what it was then.
   */
  origin(index: number, place: Place): string {
    const at = this.writer(index, place);
    const move = this.instructions[at];
    const here = `${place} of ${at}`;
    if (move === undefined || !isMove(move) || this.#epochs[at] !== this.#epochs[index]) return here;
    const [to, from] = [move.operands[0]!, move.operands[1]!];
    const word = placesOf(to).indexOf(place);
    if (from.kind === 'inline' || from.kind === 'literal')
      return constantOrigin(constantWords(from, move.def.operands[1]!.type)[word]!);
    const source = placesOf(from)[word];
    return source === undefined ? here : this.origin(at, source);
  }

  /**
   * For each of `indices`, 1 at the places whose value is needed after that instruction: read before it is overwritten, or still
   * there where the wave stops. An overwritten VGPR keeps its inactive lanes, so that it counts only while EXEC stays as it is.
   */
  liveAfter(indices: ReadonlySet<number>): ReadonlyMap<number, Uint8Array> {
    const found = new Map<number, Uint8Array>();
    const live = new Uint8Array(PLACES).fill(1);
    for (let index = this.effects.length - 1; index >= 0; index--) {
      if (indices.has(index)) found.set(index, live.slice());
      const effects = this.effects[index]!;
      for (const place of effects.writes) live[place] = 0;
      for (const place of effects.reads) live[place] = 1;
      if (effects.stops) live.fill(1);
      else if (writesExec(effects)) live.fill(1, 0, SCALARS);
    }
    return found;
  }
}
