/** The wave being run: its registers in arrays that stay where they are, so that a program is prepared once for all waves. */
import type { LaneMemory } from '../isa/laneMemory.ts';
import { type Layout, Special, scalarSlot } from '../wavefront/layout.ts';
import { effectiveMode } from '../wavefront/mode.ts';
import { Scalar } from '../wavefront/registers.ts';
import type { WaveState } from '../wavefront/state.ts';

/** What becomes of the wave after an instruction. */
export const Next = { instruction: 0, barrier: 1, end: 2, fault: 3 } as const;
export type Next = (typeof Next)[keyof typeof Next];

/** An instruction, bound to the wave being run. */
export type Step = () => Next;

export class Wave {
  readonly lanes: number;
  /** The lanes of each VGPR; views of one array. */
  readonly vgprs: readonly Uint32Array[];
  /** SGPRs, then the special words (`Special`). */
  readonly scalars: Uint32Array;
  /** 1 where EXEC is set. */
  readonly active: Uint8Array;
  /** The LDS of the wave's workgroup. */
  lds = new Uint32Array(0);

  readonly #file: Uint32Array;
  /** What `active` says. */
  readonly #exec = { lo: 0, hi: 0 };
  readonly #sgprs: number;
  readonly #hasIeeeBit: boolean;

  /** @param memory where to have the vector registers */
  constructor(layout: Layout, hasIeeeBit: boolean, memory?: LaneMemory) {
    const { waveSize, vgprs, sgprs } = layout.shape;
    this.lanes = waveSize;
    this.#file = memory?.words(layout.vgprWords) ?? new Uint32Array(layout.vgprWords);
    this.vgprs = Array.from({ length: vgprs }, (_, i) => this.#file.subarray(i * waveSize, (i + 1) * waveSize));
    this.scalars = new Uint32Array(layout.scalarWords);
    this.active = new Uint8Array(waveSize);
    this.#sgprs = sgprs;
    this.#hasIeeeBit = hasIeeeBit;
  }

  /** Takes the registers of a wave: vector registers from one batch, the others from another of the same shape. */
  load(vectors: WaveState, { words, layout }: WaveState, wave: number): void {
    const { scalars } = this;
    this.#file.set(vectors.vectors(wave));
    const at = layout.scalars + wave * layout.scalarWords;
    for (let i = 0; i < scalars.length; i++) scalars[i] = words[at + i]!;
    this.readExec();
  }

  /** Gives them to a batch. */
  store({ words, layout }: WaveState, wave: number): void {
    const { scalars } = this;
    words.set(this.#file, layout.vgpr(wave, 0));
    const at = layout.scalars + wave * layout.scalarWords;
    for (let i = 0; i < scalars.length; i++) words[at + i] = scalars[i]!;
  }

  /** Index into `scalars` of word `word` of the register with that code; undefined for null and what a wave does not hold. */
  slot(code: number, word: number): number | undefined {
    return code === Scalar.null ? undefined : scalarSlot(this.#sgprs, code + word);
  }

  special(word: number): number {
    return this.scalars[this.#sgprs + word]!;
  }

  setSpecial(word: number, value: number): void {
    this.scalars[this.#sgprs + word] = value;
  }

  /** MODE as the target acts on it. */
  get mode(): number {
    return effectiveMode(this.special(Special.mode), this.#hasIeeeBit);
  }

  /** To be called after EXEC has been written. */
  readExec(): void {
    const { active, lanes } = this;
    const exec = this.#exec;
    const [lo, hi] = [this.special(Special.execLo) | 0, this.special(Special.execHi) | 0];
    if (lo === exec.lo && hi === exec.hi) return;
    [exec.lo, exec.hi] = [lo, hi];
    for (let lane = 0; lane < lanes; lane++) active[lane] = ((lane < 32 ? lo : hi) >>> (lane & 31)) & 1;
  }

  /** Notes why the wave stops before the instruction at byte `pc`. */
  stop(code: number, pc: number, lane: number, address: number): void {
    this.setSpecial(Special.fault, code);
    this.setSpecial(Special.faultPc, pc);
    this.setSpecial(Special.faultLane, lane);
    this.setSpecial(Special.faultAddress, address);
  }
}
