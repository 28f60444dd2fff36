/** A batch of wavefronts: their registers and LDS in one packed buffer (`Layout`), with accessors. */
import { Layout, runsOf, type Shape, Special } from './layout.ts';
import { KERNEL_MODE } from './mode.ts';

export const FaultCode = { ldsOutOfRange: 1, ldsMisaligned: 2, stepBudget: 3 } as const;

/** Why and where a wave stopped before its end. */
export interface Fault {
  readonly wave: number;
  readonly code: number;
  /** Byte offset of the instruction in the program. */
  readonly pc: number;
  readonly lane: number;
  /** LDS byte address. */
  readonly address: number;
}

/** A batch wherever its words lie: parts of it are read and written, which are whole workgroups from wave `first` on. */
export interface Batch {
  readPart(part: WaveState, first: number): void;
  writePart(part: WaveState, first: number): void;
}

export class WaveState implements Batch {
  readonly layout: Layout;
  /** The packed words; what a WebGPU buffer holds. */
  readonly words: Uint32Array<ArrayBuffer>;
  readonly #vectors: Uint32Array<ArrayBuffer>[] = [];

  constructor(shape: Shape, words?: Uint32Array<ArrayBuffer>) {
    this.layout = new Layout(shape);
    if (words !== undefined && words.length !== this.layout.words)
      throw new RangeError(`a batch of this shape has ${this.layout.words} words, not ${words.length}`);
    this.words = words ?? new Uint32Array(this.layout.words);
  }

  /**
   * A batch as a kernel finds it: all lanes on, MODE as compiled kernels have it, everything else zero.
   * @param words storage to take, whatever is in it; default new
   */
  static start(shape: Shape, words?: Uint32Array<ArrayBuffer>): WaveState {
    const state = new WaveState(shape, words?.fill(0));
    for (let wave = 0; wave < shape.waves; wave++) {
      state.setSpecial(wave, Special.execLo, 0xffffffff);
      state.setSpecial(wave, Special.execHi, shape.waveSize === 64 ? 0xffffffff : 0);
      state.setSpecial(wave, Special.mode, KERNEL_MODE);
    }
    return state;
  }

  clone(): WaveState {
    return new WaveState(this.layout.shape, this.words.slice());
  }

  readPart(part: WaveState, first: number): void {
    for (const run of runsOf(part.layout, this.layout, first))
      part.words.set(this.words.subarray(run.whole, run.whole + run.words), run.part);
  }

  writePart(part: WaveState, first: number): void {
    for (const run of runsOf(part.layout, this.layout, first))
      this.words.set(part.words.subarray(run.part, run.part + run.words), run.whole);
  }

  /** The vector registers of a wave, as a view that is made once. */
  vectors(wave: number): Uint32Array<ArrayBuffer> {
    const { layout, words } = this;
    this.#vectors[wave] ??= words.subarray(layout.vgpr(wave, 0), layout.vgpr(wave + 1, 0));
    return this.#vectors[wave];
  }

  /** The lanes of one VGPR, as a view. */
  vgpr(wave: number, register: number): Uint32Array<ArrayBuffer> {
    const start = this.layout.vgpr(wave, register);
    return this.words.subarray(start, start + this.layout.shape.waveSize);
  }

  special(wave: number, word: number): number {
    return this.words[this.layout.special(wave, word)]!;
  }

  setSpecial(wave: number, word: number, value: number): void {
    this.words[this.layout.special(wave, word)] = value;
  }

  /** A scalar register by operand code; null and absent registers read 0. */
  scalar(wave: number, code: number): number {
    const word = this.layout.scalar(wave, code);
    return word === undefined ? 0 : this.words[word]!;
  }

  /** Writes a scalar register by operand code; a write to null or an absent register is dropped. */
  setScalar(wave: number, code: number, value: number): void {
    const word = this.layout.scalar(wave, code);
    if (word !== undefined) this.words[word] = value;
  }

  /** The LDS words of a workgroup, as a view. */
  lds(group: number): Uint32Array<ArrayBuffer> {
    const start = this.layout.ldsOf(group);
    return this.words.subarray(start, start + this.layout.shape.ldsWords);
  }

  /** The faults of the batch, by wave. */
  faults(): Fault[] {
    const faults: Fault[] = [];
    for (let wave = 0; wave < this.layout.shape.waves; wave++) {
      const code = this.special(wave, Special.fault);
      if (code === 0) continue;
      const at = (word: number) => this.special(wave, word);
      faults.push({
        wave,
        code,
        pc: at(Special.faultPc),
        lane: at(Special.faultLane),
        address: at(Special.faultAddress),
      });
    }
    return faults;
  }
}
