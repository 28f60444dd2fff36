/**
 * The whole f64 division macro over the lanes of a wave, on native doubles, with every value that a program may find in its registers
 * afterwards: rounding to nearest even, subnormals kept. Zeros, infinities and NaNs are in divisionMacroSpecial.ts.
 *
 * Signed significands N, D, R, Q, P lie between 1/2 and 2 (residuals below) and exponents beside them, so that no product overflows or
 * loses an error term. With ns = N 2^a and ds = D 2^b after v_div_scale, whose powers of two are exact:
 *
 *   r0 = R0 2^-b      the table of v_rcp_f64
 *   e0 = 1 - D R0     product and its error exactly (Dekker), 1 - product exactly (Sterbenz: it is near 1), so one rounding
 *   r1 = R0 + R0 e0   a sum that is safe from the product's rounding (`MARGIN`), or else rounded once from the exact sum (`roundSum`)
 *   e1, r2            the same again
 *   q  = N R2 2^(a-b) one rounding, in subnormals too (`pack`)
 *   t  = (N - D Q) 2^a  as e0; N and D Q are within a factor of two of each other, or Q is 0
 *   p  = (Q + T R2) 2^x  as r1; v_div_fmas scales, x is a - b without scaling
 *
 * Ranges: b lies in [-1022, 1021], so that every reciprocal is normal, but r1 next to 2^-1022, which `#refine` rounds as a subnormal.
 * Without a flag x = a - b, |x| < 820 and a >= -969. With one, x = a - b + 128 where a - b >= 640 and a - b - 128 where a - b <= -640.
 * `#quotients` does all lanes as if q, t and p were normal; `#repair` does the others again:
 *   q infinite:  t = -ns's infinity, p = the default NaN, the result infinite (v_div_fixup's overflow).
 *   q subnormal: Q is a multiple of u = 2^(-1074-a+b) and N - D Q below D u, a multiple of 2^-52 min(u, 1): 53 bits, exact. |n/d| is
 *                below 2^-1149, so p and the result are zeros: q + t r2 has the sign of n/d, as |t| <= ds 2^-1075 tells.
 *   q zero:      t = ns.
 * Elsewhere p is the result: v_div_fixup copies it, what it calls underflow (encoded exponents 1075 apart) has rounded to zero already,
 * and so has what it calls overflow to infinity.
 *
 * Where all lanes are active and their columns lie in memory that WebAssembly sees, its vector instructions do the macro (assembly/divisionMacro.ts),
 * and what stands here the lanes with a subnormal reciprocal alone.
 */
import { amd_rcp_significand } from '../float/approximate.ts';
import { productError } from '../float/errorFree.ts';
import { cells, mulAddNearest } from '../float/f64-mulAdd.ts';
import { type FactorOrders, type MacroValue, plainOrders } from './divisionMacro.ts';
import { conditions, scaled } from './divisionMacroScale.ts';
import { isFiniteWord, isZero, putSpecial, putSpecialNumerator } from './divisionMacroSpecial.ts';
import { DivisionMacroVectors } from './divisionMacroVectors.ts';
import {
  cell,
  cellWords,
  FRACTION,
  FRACTION_AND_SIGN,
  normalize,
  ONE,
  pack,
  packed,
  put,
  rest,
  SIGN,
  signOf,
  type Words,
} from './divisionMacroWords.ts';
import type { LaneMemory } from './laneMemory.ts';

/** Doubles over the lanes, and their words: low at 2 i, high at 2 i + 1. */
const column = (lanes: number) => {
  const values = new Float64Array(lanes);
  return { values, words: new Int32Array(values.buffer) };
};

/** A rounded product is off by less than this of itself: if both ends give the same sum, so does the product. */
const MARGIN = 2 ** -51;

export class DivisionMacroLanes {
  /** 1 in lanes whose numerator is at least so much larger or smaller than the denominator: both v_div_scale's flags. */
  readonly flag: Uint32Array;

  readonly #orders: FactorOrders;
  readonly #isDirect: boolean;
  readonly #out: Readonly<Record<MacroValue, Words>>;
  readonly #vectors: DivisionMacroVectors | undefined;
  /** Lists of lanes: the `#count` done at once; those that a loop leaves to the next one; those with a zero, an infinity or a NaN. */
  readonly #list: Uint8Array;
  readonly #others: Uint8Array;
  /** And those to do in this run. */
  readonly #pending: Uint8Array;
  readonly #specials: Uint8Array;
  #count = 0;
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** Significands; zeros, infinities and NaNs as they are. */
  readonly #N;
  readonly #D;
  readonly #R0;
  readonly #R1;
  readonly #R2;

  /**
   * @param out where the wanted values go; what is missing isn't stored
   * @param memory where all of `out` lies, with `vectorBytes` left
   */
  constructor(
    lanes: number,
    out: Partial<Record<MacroValue, Partial<Words>>>,
    orders = plainOrders,
    memory?: LaneMemory,
  ) {
    const words = () => memory?.words(lanes) ?? new Uint32Array(lanes);
    const to = (name: MacroValue): Words => [out[name]?.[0] ?? words(), out[name]?.[1] ?? words()];
    this.#orders = orders;
    this.flag = words();
    this.#isDirect = !(out.r0 || out.e0 || out.r1 || out.e1);
    this.#out = {
      ds: to('ds'),
      r0: to('r0'),
      e0: to('e0'),
      r1: to('r1'),
      e1: to('e1'),
      r2: to('r2'),
      ns: to('ns'),
      q: to('q'),
      t: to('t'),
      p: to('p'),
      result: to('result'),
    };
    this.#vectors = memory && DivisionMacroVectors.over(memory, { flag: this.flag, values: this.#out }, orders);
    this.#list = new Uint8Array(lanes);
    this.#others = new Uint8Array(lanes);
    this.#pending = new Uint8Array(lanes);
    this.#specials = new Uint8Array(lanes);
    this.#a = new Int32Array(lanes);
    this.#b = new Int32Array(lanes);
    this.#N = column(lanes);
    this.#D = column(lanes);
    this.#R0 = new Float64Array(lanes);
    this.#R1 = new Float64Array(lanes);
    this.#R2 = new Float64Array(lanes);
  }

  /** Does the active lanes for numerators `n` and denominators `d`; outputs may share storage with these. */
  run(active: Uint8Array, n: Words, d: Words): void {
    const vectors = active.includes(0) ? undefined : this.#vectors;
    if (!vectors) this.#runLanes(this.#pending, this.#listActive(active), n, d);
    else {
      const left = vectors.run(n, d, this.#isDirect);
      if (left > 0) this.#runLanes(vectors.left, left, vectors.n, vectors.d);
    }
  }

  /** To `#pending` the active lanes; returns how many. The flag of others is 0. */
  #listActive(active: Uint8Array): number {
    const pending = this.#pending;
    let count = 0;
    for (let i = 0; i < active.length; i++) {
      pending[count] = i;
      count += active[i]!;
    }
    this.flag.fill(0);
    return count;
  }

  /** Does the first `count` lanes of a list. */
  #runLanes(list: Uint8Array, count: number, n: Words, d: Words): void {
    const specials = this.#unpackOthers(this.#unpack(list, count, n[0], n[1], d[0], d[1]));
    if (this.#isDirect) this.#reciprocals();
    else this.#refineTwice(this.#list, this.#count);
    this.#repair(this.#quotients());
    for (let k = 0; k < specials; k++) this.#finishSpecial(this.#specials[k]!);
  }

  /** Significands, exponents, and what v_div_scale gives, for normal operands; returns how many lanes have others. */
  #unpack(
    pending: Uint8Array,
    pendingCount: number,
    nLo: Uint32Array,
    nHi: Uint32Array,
    dLo: Uint32Array,
    dHi: Uint32Array,
  ): number {
    const { flag } = this;
    const [list, others] = [this.#list, this.#others];
    const [a, b] = [this.#a, this.#b];
    const [N, D] = [this.#N.words, this.#D.words];
    const [dsLo, dsHi] = this.#out.ds;
    const [nsLo, nsHi] = this.#out.ns;
    let count = 0;
    let otherCount = 0;
    for (let k = 0; k < pendingCount; k++) {
      const i = pending[k]!;
      const nTop = nHi[i]! | 0;
      const nLow = nLo[i]! | 0;
      const dTop = dHi[i]! | 0;
      const dLow = dLo[i]! | 0;
      const eN = fieldOf(nTop);
      const eD = fieldOf(dTop);
      const row = conditions(eN, eD);
      const kN = scaled.n[row]!;
      const kD = scaled.d[row]!;
      flag[i] = scaled.flag[row]!;
      // Normal operands stay normal.
      nsLo[i] = nLow;
      nsHi[i] = nTop + (kN << 20);
      dsLo[i] = dLow;
      dsHi[i] = dTop + (kD << 20);
      a[i] = eN - 1023 + kN;
      b[i] = eD - 1023 + kD;
      // No branch: it would be guessed wrong too often. Other lanes keep their words.
      const isOther = (outside(eN) | outside(eD)) >>> 31;
      const one = ONE & (isOther - 1);
      const mask = FRACTION_AND_SIGN | -isOther;
      N[2 * i] = nLow;
      N[2 * i + 1] = (nTop & mask) | one;
      D[2 * i] = dLow;
      D[2 * i + 1] = (dTop & mask) | one;
      list[count] = i;
      count += 1 - isOther;
      others[otherCount] = i;
      otherCount += isOther;
    }
    this.#count = count;
    return otherCount;
  }

  /**
   * The same for the first `count` of `others`; returns how many of them have a zero, an infinity or a NaN. Of these, lanes with a
   * denominator that is none are done with the rest, for the sake of what depends on the denominator alone.
   */
  #unpackOthers(count: number): number {
    const [list, others, specials] = [this.#list, this.#others, this.#specials];
    const [a, b, N, D] = [this.#a, this.#b, this.#N.words, this.#D.words];
    const [dsLo, dsHi] = this.#out.ds;
    const [nsLo, nsHi] = this.#out.ns;
    let found = 0;
    for (let k = 0; k < count; k++) {
      const i = others[k]!;
      const nTop = N[2 * i + 1]!;
      const nLow = N[2 * i]!;
      const dTop = D[2 * i + 1]!;
      const row = conditions(fieldOf(nTop), fieldOf(dTop));
      const kN = scaled.n[row]!;
      const isNumber = isFiniteWord(nTop) && !isZero(nTop, nLow);
      const isDivisor = isFiniteWord(dTop) && !isZero(dTop, D[2 * i]!);
      if (isNumber) {
        const exponent = kN + normalize(N, i);
        a[i] = exponent;
        // Without scaling it may stay subnormal.
        nsLo[i] = kN === 0 ? nLow : N[2 * i]!;
        nsHi[i] = kN === 0 ? nTop : N[2 * i + 1]! + (exponent << 20);
      }
      if (isDivisor) {
        const exponent = scaled.d[row]! + normalize(D, i);
        b[i] = exponent;
        dsLo[i] = D[2 * i]!;
        dsHi[i] = D[2 * i + 1]! + (exponent << 20);
        if (!isZero(nTop, nLow)) list[this.#count++] = i;
      }
      if (!isNumber || !isDivisor) specials[found++] = i;
    }
    return found;
  }

  /**
   * R2 = RN(1 / D), which the refinement gives too unless 1/D lies within 2^-43 ulp of the middle between two doubles (argued in
   * shaders/isa/division_fused.wesl: r1 + r1 e1 misses 1/d by less than 2^-43.9 ulp, or 2^-43.8 where r1 is subnormal). An ulp
   * is 2^-53 here, and 1/D - R2 = rest / D; where it comes within 2^-42 of half an ulp, the refinement decides.
   */
  #reciprocals(): void {
    const [list, count, others, b] = [this.#list, this.#count, this.#others, this.#b];
    const [D, R2] = [this.#D.values, this.#R2];
    const [lo, hi] = this.#out.r2;
    let doubtful = 0;
    for (let k = 0; k < count; k++) {
      const i = list[k]!;
      const d = D[i]!;
      const r = 1 / d;
      R2[i] = r;
      cell[0] = r;
      lo[i] = cellWords[0]!;
      hi[i] = cellWords[1]! - (b[i]! << 20);
      const product = d * r;
      const rest = 1 - product - productError(d, r, product);
      if (Math.abs(rest) > Math.abs(d) * (2 ** -54 * (1 - 2 ** -41))) others[doubtful++] = i;
    }
    if (doubtful > 0) this.#refineTwice(others, doubtful);
  }

  /** The table's reciprocals and two steps of refinement, for the first `count` lanes of a list. */
  #refineTwice(list: Uint8Array, count: number): void {
    const [b, D, R0] = [this.#b, this.#D.words, this.#R0];
    const { r0, e0, r1, e1, r2 } = this.#out;
    const [lo, hi] = r0;
    for (let k = 0; k < count; k++) {
      const i = list[k]!;
      const top = D[2 * i + 1]!;
      cell[0] = amd_rcp_significand(top & FRACTION, D[2 * i]!) * signOf(top);
      R0[i] = cell[0]!;
      lo[i] = cellWords[0]!;
      hi[i] = cellWords[1]! - (b[i]! << 20);
    }
    this.#refine(R0, e0, this.#R1, r1, list, count);
    this.#refine(this.#R1, e1, this.#R2, r2, list, count);
  }

  /** One step: e = 1 - D R, next = R + R e. */
  #refine(R: Float64Array, outE: Words, next: Float64Array, outNext: Words, list: Uint8Array, count: number): void {
    const [b, D] = [this.#b, this.#D.values];
    const [eLo, eHi] = outE;
    const [lo, hi] = outNext;
    for (let k = 0; k < count; k++) {
      const i = list[k]!;
      const d = D[i]!;
      const r = R[i]!;
      const product = d * r;
      const e = 1 - product - productError(d, r, product);
      cell[0] = e;
      eLo[i] = cellWords[0]!;
      eHi[i] = cellWords[1]!;
      const step = r * e;
      const sum = r + step;
      const rest = step - (sum - r);
      const margin = step * MARGIN;
      const low = sum + (rest - margin);
      next[i] = low;
      cell[0] = low;
      lo[i] = cellWords[0]!;
      hi[i] = cellWords[1]! - (b[i]! << 20);
      // Below a half it may be subnormal.
      if (low === sum + (rest + margin) && Math.abs(low) >= 0.5) continue;
      cells[0] = r;
      cells[1] = e;
      cells[2] = r;
      roundSum();
      packed[0] = cell[0]!;
      if (b[i] === 1021) pack(outNext, i, -1021);
      else {
        lo[i] = cellWords[0]!;
        hi[i] = cellWords[1]! - (b[i]! << 20);
      }
      next[i] = packed[0]!;
    }
  }

  /**
   * As if q, t and p were normal (t may be 0) and the sum for p far from the middle of two doubles. Returns how many lanes it put among
   * `others` because they aren't.
   */
  #quotients(): number {
    const [list, count, others] = [this.#list, this.#count, this.#others];
    const [flag, a, b] = [this.flag, this.#a, this.#b];
    const [N, D, R2] = [this.#N.values, this.#D.values, this.#R2];
    const [qLo, qHi] = this.#out.q;
    const [tLo, tHi] = this.#out.t;
    const [pLo, pHi] = this.#out.p;
    const [resultLo, resultHi] = this.#out.result;
    let found = 0;
    for (let k = 0; k < count; k++) {
      const i = list[k]!;
      const n = N[i]!;
      const d = D[i]!;
      const r = R2[i]!;
      const aExponent = a[i]!;
      const qExponent = aExponent - b[i]!;
      const q = n * r;
      cell[0] = q;
      const qTop = cellWords[1]!;
      qLo[i] = cellWords[0]!;
      qHi[i] = qTop + (qExponent << 20);
      const product = d * q;
      const t = n - product - productError(d, q, product);
      cell[0] = t;
      const tTop = cellWords[1]!;
      const tMask = -(tTop & ~SIGN) >> 31; // 0 where t is
      tLo[i] = cellWords[0]!;
      tHi[i] = tTop + ((aExponent << 20) & tMask);
      const h = t * r;
      const sum = q + h;
      const rest = h - (sum - q);
      const margin = h * MARGIN;
      const p = sum + (rest - margin);
      cell[0] = p;
      const x = quotientExponent(qExponent, flag[i]!);
      const pTop = cellWords[1]!;
      const lo = cellWords[0]!;
      const hi = pTop + (x << 20);
      pLo[i] = lo;
      pHi[i] = hi;
      resultLo[i] = lo;
      resultHi[i] = hi;
      // No branch: it would be guessed wrong too often.
      others[found] = i;
      const isOutside =
        outside(fieldOf(qTop) + qExponent) | outside(fieldOf(pTop) + x) | ((fieldOf(tTop) + aExponent - 1) & tMask);
      found += (isOutside >>> 31) | Number(p !== sum + (rest + margin));
    }
    return found;
  }

  /** The first `count` of `others` again, whatever they are. */
  #repair(count: number): void {
    const [others, flag, a, b] = [this.#others, this.flag, this.#a, this.#b];
    const [N, D, R2] = [this.#N, this.#D.values, this.#R2];
    const { q, t, p, result } = this.#out;
    for (let k = 0; k < count; k++) {
      const i = others[k]!;
      const d = D[i]!;
      const r = R2[i]!;
      const quotient = N.values[i]! * r;
      cell[0] = quotient;
      const top = cellWords[1]!;
      const sign = top & SIGN;
      const qExponent = a[i]! - b[i]!;
      const x = quotientExponent(qExponent, flag[i]!);
      if (fieldOf(top) + qExponent > 2046) {
        put(q, i, 0, sign | INFINITY);
        put(t, i, 0, (~N.words[2 * i + 1]! & SIGN) | INFINITY);
        put(p, i, 0, DEFAULT_NAN);
        put(result, i, 0, sign | INFINITY);
        continue;
      }
      if (qExponent < -1021 || a[i]! < -900) this.#packSmall(i, qExponent, sign);
      // n / d is at least 2^1024, below 2^-1075, or rounded for certain.
      if (x > 1024) put(p, i, 0, sign | INFINITY);
      else if (x < -1076) put(p, i, 0, sign);
      else {
        const product = d * quotient;
        cells[0] = N.values[i]! - product - productError(d, quotient, product);
        cells[1] = r;
        cells[2] = quotient;
        roundSum();
        pack(p, i, x);
      }
      put(result, i, p[0][i]!, p[1][i]!);
    }
  }

  /** q, which may be subnormal or 0, and t, which may be subnormal and then is exact. */
  #packSmall(i: number, qExponent: number, sign: number): void {
    const { ns, q, t } = this.#out;
    if (qExponent < -1075) {
      put(q, i, 0, sign);
      put(t, i, ns[0][i]!, ns[1][i]!);
      return;
    }
    const n = this.#N.values[i]!;
    cells[0] = n;
    cells[1] = this.#R2[i]!;
    cells[2] = 0;
    roundSum();
    pack(q, i, qExponent);
    cells[0] = this.#D.values[i]!;
    cells[1] = -packed[0]!;
    cells[2] = n;
    mulAddNearest();
    cell[0] = cells[0]!;
    rest[0] = 0;
    pack(t, i, this.#a[i]!);
  }

  /** A lane with a zero, an infinity or a NaN. */
  #finishSpecial(i: number): void {
    const [N, D] = [this.#N.words, this.#D.words];
    const [nTop, nLow, dTop, dLow] = [N[2 * i + 1]!, N[2 * i]!, D[2 * i + 1]!, D[2 * i]!];
    if (isZero(nTop, nLow) || isZero(dTop, dLow) || !isFiniteWord(dTop))
      putSpecial(this.#out, i, nTop, nLow, dTop, dLow, this.#orders);
    else putSpecialNumerator(this.#out, i, nTop, nLow, dTop, this.#orders);
  }
}

const INFINITY = 0x7ff00000;
const DEFAULT_NAN = 0xfff80000;

/** The biased exponent of a high word. */
const fieldOf = (hi: number): number => (hi >> 20) & 0x7ff;

/** What v_div_fmas makes of the exponent of q. */
const quotientExponent = (ofQ: number, flag: number): number => ofQ + (((ofQ >> 31) | 1) << 7) * flag;

/** Negative for a biased exponent that no normal number has. */
const outside = (field: number): number => (field - 1) | (2046 - field);

/** From `cells` a, b, c to `cell` the double nearest to a * b + c, and to `rest` a number with the sign of what is missing. */
const roundSum = (): void => {
  mulAddNearest();
  cell[0] = cells[0]!;
  rest[0] = cells[1]!;
};
