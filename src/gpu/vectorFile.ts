/**
 * The VGPRs of a wave in a kernel: which WGSL value each word stands for.
 *
 * A vector instruction leaves the lanes alone whose EXEC bit is 0. Instead of a `select` behind each instruction, values computed
 * under one EXEC are right in its active lanes only, and nothing else is ever taken from them: active lanes read active lanes, and
 * at the end only those are stored. The lanes come together when EXEC changes.
 */
import type { KernelText } from './kernel.ts';

interface Word {
  /** Right in all lanes; undefined while it lies in the buffer only. */
  all?: string;
  /** `all` is not what the buffer holds. */
  dirty: boolean;
  /** Written under the present EXEC: right where that is set. */
  active?: string;
  /** The buffer holds `active` where it is right. */
  stored?: boolean;
}

export class VectorFile {
  readonly #kernel: KernelText;
  readonly #words = new Map<number, Word>();

  constructor(kernel: KernelText) {
    this.#kernel = kernel;
  }

  /** The word of a register: a u32 expression. */
  read(register: number): string {
    const word = this.#word(register);
    return word.active ?? this.#all(register, word);
  }

  write(register: number, value: string): void {
    const word = this.#word(register);
    word.active = value;
    word.stored = false;
  }

  /** EXEC, so far `exec`, is about to change. */
  changeExec(exec: () => string): void {
    for (const [register, word] of this.#words) {
      if (word.active === undefined) continue;
      const all = this.#kernel.value('v', `select(${this.#all(register, word)}, ${word.active}, ${exec()})`);
      this.#words.set(register, { all, dirty: word.dirty || !word.stored });
    }
  }

  /** Statements that bring the buffer up to date. */
  stores(exec: () => string): string[] {
    const everywhere: string[] = [];
    const active: string[] = [];
    for (const [register, word] of this.#words) {
      const address = this.#kernel.vectorAddress(register);
      if (word.stored && !word.dirty) continue;
      if (word.active !== undefined && !word.dirty) active.push(`${address} = ${word.active};`);
      else if (word.active !== undefined)
        everywhere.push(`${address} = select(${word.all}, ${word.active}, ${exec()});`);
      else if (word.dirty) everywhere.push(`${address} = ${word.all};`);
    }
    return active.length > 0 ? [...everywhere, `if (${exec()}) {`, ...active.map((s) => `  ${s}`), '}'] : everywhere;
  }

  /** What `stores` says has been done. */
  markStored(): void {
    for (const word of this.#words.values()) {
      word.dirty = false;
      word.stored = true;
    }
  }

  #word(register: number): Word {
    let word = this.#words.get(register);
    if (word === undefined) {
      word = { dirty: false };
      this.#words.set(register, word);
    }
    return word;
  }

  #all(register: number, word: Word): string {
    word.all ??= this.#kernel.value('v', this.#kernel.vectorAddress(register));
    return word.all;
  }
}

/** Two words as a vec2u; the halves of one value are that value. */
export function pair(low: string, high: string): string {
  const whole = low.slice(0, -2);
  return low.endsWith('.x') && high === `${whole}.y` ? whole : `vec2u(${low}, ${high})`;
}

/** The words of a value, low first. */
export const halves = (value: string, words: number): string[] =>
  words === 1 ? [value] : Array.from({ length: words }, (_, i) => `${value}.${'xyzw'[i]}`);
