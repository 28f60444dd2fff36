/** Words made at a time: a loop that does nothing else has the state in registers. */
const AHEAD = 256;

/** The whole number from 0 to n - 1 that a random word stands for, n up to 2^32. */
export const below = (word: number, n: number): number => ((word >>> 0) * (n * 2 ** -32)) >>> 0;

/** The one from `low` to `high`. */
export const between = (word: number, low: number, high: number): number => low + below(word, high - low + 1);

/**
 * A stream of random 32-bit words that a seed fixes for ever: xoshiro128** (Blackman, Vigna 2018), its state filled by
 * splitmix32. The streams of one seed have nothing to do with each other, so that any batch of a long run can be made by itself.
 */
export class Random {
  /** The words that `take` points into; as i32, which V8 keeps out of the heap also in a call that it does not inline. */
  readonly words = new Int32Array(AHEAD);
  #next = AHEAD;
  readonly #state = new Int32Array(4);

  /** @param seed a whole number below 2^53 @param stream which of the seed's streams */
  constructor(seed: number, stream = 0) {
    let state = (seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32) + 1, 0x85ebca6b) ^ Math.imul(stream, 0xc2b2ae35);
    for (let i = 0; i < 4; i++) {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      this.#state[i] = z ^ (z >>> 15);
    }
    this.#state[3]! |= 1;
  }

  /** Takes the next `n` words, 256 at most; returns where they stand in `words` until the next ones are taken. */
  take(n: number): number {
    if (this.#next + n > AHEAD) this.#make();
    const at = this.#next;
    this.#next = at + n;
    return at;
  }

  /** 32 random bits. */
  word(): number {
    return this.words[this.take(1)]! >>> 0;
  }

  /** A whole number from 0 to n - 1, n up to 2^32. */
  below(n: number): number {
    return below(this.word(), n);
  }

  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return between(this.word(), low, high);
  }

  /** Moves what is left to the front and makes the rest. */
  #make(): void {
    const words = this.words.copyWithin(0, this.#next);
    const state = this.#state;
    let [a, b, c, d] = [state[0]!, state[1]!, state[2]!, state[3]!];
    for (let i = AHEAD - this.#next; i < AHEAD; i++) {
      const product = Math.imul(b, 5);
      words[i] = Math.imul((product << 7) | (product >>> 25), 9);
      const t = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= t;
      d = (d << 11) | (d >>> 21);
    }
    [state[0], state[1], state[2], state[3]] = [a, b, c, d];
    this.#next = 0;
  }
}
