/**
 * The VGPRs of a wave in a kernel: which WGSL value each word stands for.
 *
 * A vector instruction leaves the lanes alone whose EXEC bit is 0. Instead of a `select` behind each instruction, values computed
 * under one EXEC are right in its active lanes only, and nothing else is ever taken from them: active lanes read active lanes, and
 * at the end only those are stored. The lanes come together when EXEC changes.
 */
import { guarded, type KernelText } from './kernel.ts';

interface Word {
  /** Right in all lanes; undefined while it lies in the buffer only. */
  all?: string;
  /** `all` is not what the buffer holds. */
  dirty: boolean;
  /** The buffer was asked for it. */
  loaded: boolean;
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
      const all =
        exec() === 'true'
          ? word.active
          : this.#kernel.value('v', `select(${this.#all(register, word)}, ${word.active}, ${exec()})`);
      this.#words.set(register, { all, dirty: word.dirty || !word.stored, loaded: word.loaded });
    }
  }

  /** Registers whose words in the buffer this kernel has asked for. */
  get loaded(): ReadonlySet<number> {
    return new Set([...this.#words].flatMap(([register, word]) => (word.loaded ? [register] : [])));
  }

  /**
   * Statements that bring the buffer up to date. A store without a condition costs SwiftShader a third of one in a branch, so where the
   * word in the buffer is at hand, lanes that are not to change it store that.
   * @param held the condition under which a lane may store a register at all; default always
   */
  stores(exec: () => string, held: (register: number) => string = () => 'true'): string[] {
    const everywhere: string[] = [];
    const conditional = new Map<string, string[]>();
    for (const [register, word] of this.#words) {
      if (!word.dirty && (word.stored || word.active === undefined)) continue;
      const store = this.#toStore(word, exec, held(register));
      const statement = (value: string) => `${this.#place(register)} = ${value};`;
      if (store.condition === 'true') everywhere.push(statement(store.value));
      else if (store.before) everywhere.push(statement(`select(${store.before}, ${store.value}, ${store.condition})`));
      else conditional.set(store.condition, [...(conditional.get(store.condition) ?? []), statement(store.value)]);
    }
    return [...everywhere, ...[...conditional].flatMap(([condition, statements]) => guarded(condition, statements))];
  }

  /** What goes into the buffer, where, and what it holds now, if that is at hand. */
  #toStore({ all, active, dirty }: Word, exec: () => string, held: string) {
    const before = dirty ? undefined : all;
    if (active === undefined) return { value: all!, condition: held, before };
    if (exec() === 'true') return { value: active, condition: held, before };
    if (dirty) return { value: `select(${all}, ${active}, ${exec()})`, condition: held, before };
    return { value: active, condition: held === 'true' ? exec() : `${held} & ${exec()}`, before };
  }

  /** What `stores` says has been done. */
  markStored(): void {
    for (const word of this.#words.values()) {
      word.dirty = false;
      word.stored = true;
    }
  }

  #place(register: number): string {
    return this.#kernel.vectorPlace(`${register * this.#kernel.lanes}u`);
  }

  #word(register: number): Word {
    let word = this.#words.get(register);
    if (word === undefined) {
      word = { dirty: false, loaded: false };
      this.#words.set(register, word);
    }
    return word;
  }

  #all(register: number, word: Word): string {
    if (word.all === undefined) {
      word.all = this.#kernel.value('v', this.#place(register));
      word.loaded = true;
    }
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
