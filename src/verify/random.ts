/**
 * A stream of random 32-bit words that a seed fixes for ever: xoshiro128** (Blackman, Vigna 2018), its state filled by
 * splitmix32. The streams of one seed have nothing to do with each other, so that any batch of a long run can be made by itself.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  /** @param seed a whole number below 2^53 @param stream which of the seed's streams */
  constructor(seed: number, stream = 0) {
    let state = (seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32) + 1, 0x85ebca6b) ^ Math.imul(stream, 0xc2b2ae35);
    const next = () => {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.a = next();
    this.b = next();
    this.c = next();
    this.d = next() | 1;
  }

  /** 32 random bits. */
  word(): number {
    const product = Math.imul(this.b, 5);
    const value = Math.imul((product << 7) | (product >>> 25), 9);
    const t = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= t;
    this.d = (this.d << 11) | (this.d >>> 21);
    return value >>> 0;
  }

  /** A whole number from 0 to n - 1, n up to 2^32. */
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n);
  }

  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }
}
