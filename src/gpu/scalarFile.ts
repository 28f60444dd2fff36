/**
 * The scalar registers of a wave in a kernel: which WGSL values each stands for.
 *
 * A lane mask has two forms: words that every lane computes alike, and one bool a lane. Vector compares and EXEC live in the
 * second, and most masks are never needed in the first, which takes a ballot across the wave. So a register holds whichever it
 * was written in, the other is made where it is asked for, and each is kept.
 */
import { Special } from '../wavefront/layout.ts';
import { hex, type KernelText } from './kernel.ts';

/** One SGPR, or the pair that a mask of wave64 takes. */
interface Unit {
  readonly slot: number;
  readonly words: (string | undefined)[];
  /** The buffer does not hold `words[i]`. */
  readonly dirty: boolean[];
  /** The lane's bit. */
  lane?: string | undefined;
  /** `lane` was written, and `words` are to be made of it. */
  laneDirty: boolean;
  /** The buffer holds `lane` though it was written. */
  laneStored?: boolean;
}

export class ScalarFile {
  readonly #kernel: KernelText;
  readonly #units = new Map<number, Unit>();
  /** SCC is whether any lane has this bit; undecided until someone asks. */
  #sccBit: string | undefined;

  constructor(kernel: KernelText) {
    this.#kernel = kernel;
  }

  /** The word as every lane sees it: a u32 expression. */
  word(slot: number): string {
    const unit = this.#unitOf(slot);
    const at = slot - unit.slot;
    if (unit.words[at] !== undefined) return unit.words[at];
    if (unit.laneDirty) this.#count(unit);
    else unit.words[at] = this.#kernel.scalarWord(slot);
    return unit.words[at]!;
  }

  /** This lane's bit of the mask that starts at `slot`: a bool expression. */
  bit(slot: number): string {
    const unit = this.#unitOf(slot);
    if (unit.lane !== undefined) return unit.lane;
    if (unit.words.every((word) => word === undefined)) unit.lane = this.#kernel.maskBit(slot);
    else unit.lane = this.bitOf(unit.words.map((_, i) => this.word(slot + i)));
    return unit.lane;
  }

  /** The buffer has all bits of the mask at `slot`. */
  setFull(slot: number): void {
    const unit = this.#unitOf(slot);
    unit.words.fill(hex(0xffffffff));
    unit.lane = 'true';
  }

  /** The mask at `slot` is known to have all bits. */
  isFull(slot: number): boolean {
    const { lane, words } = this.#unitOf(slot);
    return lane === 'true' || words.every((word) => word === hex(0xffffffff));
  }

  /** This lane's bit of mask words. */
  bitOf(words: readonly string[]): string {
    if (words.every((word) => word === hex(0xffffffff))) return 'true';
    if (words.every((word) => word === hex(0))) return 'false';
    const word = words.length === 1 ? words[0]! : `select(${words[0]}, ${words[1]}, lane >= 32u)`;
    return this.#kernel.value('m', `((${word} >> (lane & 31u)) & 1u) != 0u`);
  }

  /** The mask at `slot` exists as bits only. */
  isBits(slot: number): boolean {
    const unit = this.#unitOf(slot);
    return unit.laneDirty && unit.words.some((word) => word === undefined);
  }

  /** Writes one word, or the two of a pair. */
  writeWords(slot: number, values: readonly string[]): void {
    const unit = this.#unitOf(slot);
    if (unit.words.length > values.length && unit.laneDirty) this.#count(unit);
    values.forEach((value, i) => {
      const part = this.#unitOf(slot + i);
      const at = slot + i - part.slot;
      part.words[at] = value;
      part.dirty[at] = true;
      part.lane = undefined;
      part.laneDirty = false;
    });
  }

  writeBit(slot: number, bit: string): void {
    const unit = this.#unitOf(slot);
    if (bit === 'false') {
      this.writeWords(
        unit.slot,
        unit.words.map(() => hex(0)),
      );
      unit.lane = bit;
      return;
    }
    unit.words.fill(undefined);
    unit.dirty.fill(false);
    unit.lane = bit;
    unit.laneDirty = true;
    unit.laneStored = false;
  }

  writeScc(value: string): void {
    this.#sccBit = undefined;
    this.writeWords(this.#kernel.special(Special.scc), [value]);
  }

  /** SCC becomes whether any lane has this bit. */
  writeSccAny(bit: string): void {
    this.#sccBit = bit;
  }

  /** `stores` needs no words that can only be had by a barrier. */
  get isSettled(): boolean {
    return this.#sccBit === undefined;
  }

  /** Makes the words that can only be had by a barrier, so that `stores` needs none. */
  settle(): void {
    if (this.#sccBit === undefined) return;
    const words = this.#kernel.ballot(this.#sccBit);
    this.writeScc(this.#kernel.value('s', `select(0u, 1u, (${words.join(' | ')}) != 0u)`));
  }

  /** Words that `stores` overwrites: by lane 0, or bit by bit. */
  stored(by: 'words' | 'bits'): number[] {
    return [...this.#units.values()].flatMap((unit) =>
      unit.words.flatMap((_, i) => ((by === 'bits' ? toStore(unit) : unit.dirty[i]) ? [unit.slot + i] : [])),
    );
  }

  /**
   * Statements that bring up to date what is alike in all lanes: lane 0 does it. Words behind each other that become the same have a lane
   * each: a CPU does a store for all its lanes in the time of one lane's.
   */
  wordStores(): string[] {
    const words = [...this.#units.values()]
      .flatMap((unit) => unit.words.map((value, i) => ({ slot: unit.slot + i, value, dirty: unit.dirty[i] })))
      .filter(({ dirty }) => dirty)
      .toSorted((a, b) => a.slot - b.slot);
    const single: string[] = [];
    const rows: string[] = [];
    for (let from = 0, to = 0; from < words.length; from = to) {
      const { slot, value } = words[from]!;
      do to++;
      while (
        to < words.length &&
        to - from < this.#kernel.lanes &&
        words[to]!.slot === slot + to - from &&
        words[to]!.value === value
      );
      const store = (lane: string) => `  atomicStore(&scalars[scalar_base + ${slot}u${lane}], ${value});`;
      if (to - from === 1) single.push(store(''));
      else rows.push(`if (lane < ${to - from}u) {`, store(' + lane'), '}');
    }
    return [...(single.length > 0 ? ['if (lane == 0u) {', ...single, '}'] : []), ...rows];
  }

  /** Statements that bring this lane's bits of masks up to date. */
  maskStores(): string[] {
    return [...this.#units.values()].flatMap((unit) =>
      toStore(unit) ? [this.#kernel.storeBit(`${unit.slot}u`, unit.lane!)] : [],
    );
  }

  /** What the stores say has been done; whoever overwrites it has to wait for it. */
  markStored(): void {
    for (const slot of this.stored('bits')) this.#kernel.holdBits(slot);
    for (const slot of this.stored('words')) this.#kernel.holdWord(slot);
    for (const unit of this.#units.values()) {
      unit.laneStored = true;
      unit.dirty.fill(false);
    }
  }

  /** Turns bits into words. */
  #count(unit: Unit): void {
    this.#kernel.ballot(unit.lane!).forEach((word, i) => {
      unit.words[i] = word;
      unit.dirty[i] = true;
    });
    unit.laneDirty = false;
  }

  #unitOf(slot: number): Unit {
    const { sgprs, lanes } = this.#kernel;
    const base = slot < sgprs ? 0 : sgprs;
    // In wave64 a mask takes an even SGPR and the next; VCC and EXEC are such pairs, the other special words stand alone.
    const paired = lanes === 64 && (slot < sgprs ? (slot | 1) < sgprs : slot - sgprs <= Special.execHi);
    const first = paired ? slot - ((slot - base) & 1) : slot;
    let unit = this.#units.get(first);
    if (unit === undefined) {
      unit = {
        slot: first,
        words: paired ? [undefined, undefined] : [undefined],
        dirty: paired ? [false, false] : [false],
        laneDirty: false,
      };
      this.#units.set(first, unit);
    }
    return unit;
  }
}

const toStore = (unit: Unit): boolean => unit.laneDirty && !unit.laneStored;
