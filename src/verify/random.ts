/** Words made at a time for `word`. */
const AHEAD = 64;

/** The whole number from 0 to n - 1 that a random word stands for, n up to 2^11: of its upper 21 bits, on integers (Lemire 2019). */
export const below = (word: number, n: number): number => Math.imul(word >>> 11, n) >>> 21;

/**
 * The random word that is left when `below(word, n)` has been taken from one, so that one word stands for several small numbers; their
 * joint distribution is as even as the product of their n's is small against 2^32 (Brackett-Rozinsky, Lemire 2024).
 */
export const rest = (word: number, n: number): number => Math.imul(word, n);

/** Words that are dropped at first, until each bit of the seed has reached all of the state. */
const SETTLING = 16;

/**
 * A stream of random 32-bit words that a seed fixes for ever: sfc32 (Doty-Humphrey, PractRand), whose state is three words and a counter.
 * Seed and stream are these three words, and a step maps states one to one: at equal counts no two streams are in one
 * state, so that none of less than 2^32 words repeats a part of another, and any batch of a long run can be made by itself.
 */
export class Random {
  /** Words for `word`, and the next of them. */
  readonly #ahead = new Uint32Array(AHEAD);
  #next = AHEAD;
  /** a, b, c and the counter. */
  readonly #state = new Int32Array(4);

  /** @param seed a whole number below 2^53 @param stream which of the seed's streams, below 2^32 */
  constructor(seed: number, stream = 0) {
    this.#state.set([stream, seed >>> 0, Math.floor(seed / 2 ** 32), 1]);
    this.fill(this.#ahead, 0, SETTLING);
  }

  /** 32 random bits. */
  word(): number {
    if (this.#next === AHEAD) {
      this.fill(this.#ahead, 0, AHEAD);
      this.#next = 0;
    }
    return this.#ahead[this.#next++]!;
  }

  /** A whole number from 0 to n - 1, n up to 2^32. */
  below(n: number): number {
    return (this.word() * (n * 2 ** -32)) >>> 0;
  }

  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** Random bits for the words from `first` to `last - 1`, a multiple of four. They come after those that were made for `word`. */
  fill(words: Uint32Array, first: number, last: number): void {
    const state = this.#state;
    // Not taken apart at once, which V8 then takes for values of any kind: that took twice the time.
    let a = state[0]!;
    let b = state[1]!;
    let c = state[2]!;
    let counter = state[3]!;
    let word = 0;
    // Four in a turn, since a turn of a loop costs as much as a word.
    for (let i = first; i < last; i += 4) {
      word = (((a + b) | 0) + counter) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + word) | 0;
      words[i] = word;
      word = (((a + b) | 0) + (counter + 1)) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + word) | 0;
      words[i + 1] = word;
      word = (((a + b) | 0) + (counter + 2)) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + word) | 0;
      words[i + 2] = word;
      word = (((a + b) | 0) + (counter + 3)) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + word) | 0;
      words[i + 3] = word;
      counter = (counter + 4) | 0;
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = counter;
  }
}
