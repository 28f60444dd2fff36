/**
 * The whole f64 division macro over the lanes of a wave, on native doubles, with every value that a program may find in its registers
 * afterwards: rounding to nearest even, subnormals kept, finite operands that are not zero. Other lanes are left to the instructions.
 *
 * Significands N, D, R, Q, T lie between 1/2 and 2 (residuals below) and exponents beside them, so that no product overflows or
 * loses an error term. With ns = +-N 2^a, ds = +-D 2^b after v_div_scale (whose powers of two are exact):
 *
 *   r0 = R0 2^-b      the table of v_rcp_f64
 *   e0 = 1 - D R0     product and its error exactly (Dekker), 1 - product exactly (Sterbenz: it is near 1), so one rounding
 *   r1 = R0 + R0 E0   see `nearSum`
 *   e1, r2            the same again
 *   q  = N R2 2^(a-b) one rounding, in subnormals too (see `pack`)
 *   t  = N - D Q 2^a  as e0; N and D Q are within a factor of two of each other, or Q is 0
 *   p  = (Q + T R2) 2^(a-b+k)  as r1; k is what v_div_fmas scales by
 *
 * Ranges: b lies in [-1022, 1021], so that every reciprocal is normal. (One whose table value may fall below 2^-1022, next to
 * 2^1022, is left to the instructions.) Without a flag |a-b| < 820 and a >= -969. With one, k = 128 where
 * a - b >= 640 and -128 where a - b <= -640, and q may overflow or be subnormal:
 *   q infinite:  t = -ns's infinity, p = the default NaN, the result infinite (v_div_fixup's overflow).
 *   q subnormal: Q is a multiple of u = 2^(-1074-a+b) and N - D Q below D u, a multiple of 2^-52 min(u, 1): 53 bits, exact. |n/d| is
 *                below 2^-1149, so p and the result are zeros: q + t r2 has the sign of n/d, as |t| <= ds 2^-1075 tells.
 * Elsewhere p is the result: v_div_fixup copies it, what it calls underflow (encoded exponents 1075 apart) has rounded to zero already,
 * and so has what it calls overflow to infinity.
 */
import { amd_rcp_significand } from '../float/approximate.ts';
import { powerOfTwo, productError } from '../float/errorFree.ts';
import { cells, mulAddNearest } from '../float/f64-mulAdd.ts';
import { decideHardware, decision, f64Limits } from './instructions/divisionScale.ts';

/** The values of the macro, in an order in which each comes after what it is made of. */
export const macroValues = ['ds', 'r0', 'e0', 'r1', 'e1', 'r2', 'ns', 'q', 't', 'p', 'result'] as const;
export type MacroValue = (typeof macroValues)[number];

/** Low and high words over the lanes. */
export type Words = readonly [lo: Uint32Array, hi: Uint32Array];

const SIGN = 0x80000000;
const FRACTION = 0xfffff;
const ONE = 0x3ff00000;

/** What becomes of a lane: nothing, the macro, or the instructions one by one. */
const OFF = 0;
const RUNS = 1;
const LEFT = 2;

/** A double and its words, for one lane after the other. */
const cell = new Float64Array(1);
const cellWords = new Uint32Array(cell.buffer);

/** Doubles over the lanes, and their words: low at 2 i, high at 2 i + 1. */
const column = (lanes: number) => {
  const values = new Float64Array(lanes);
  return { values, words: new Int32Array(values.buffer) };
};

/** value +- these decide whether the sum of a double and a rounded product is safe from the product's rounding. */
const MARGIN = 2 ** -51;

export class DivisionMacroLanes {
  /** 1 in lanes whose numerator is at least so much larger or smaller than the denominator: both v_div_scale's flags. */
  readonly flag: Uint32Array;
  /** 1 in active lanes that the instructions must do. */
  readonly left: Uint8Array;

  readonly #lanes: number;
  readonly #state: Uint8Array;
  readonly #isDirect: boolean;
  readonly #out: Readonly<Record<MacroValue, Words>>;
  /** Of these, the ones that someone asked for. */
  readonly #wanted: Readonly<Partial<Record<MacroValue, Words>>>;
  /** Exponents a and b of ns and ds, and the signs of n and d in bit 31. */
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #signs: Int32Array;
  readonly #signD: Int32Array;
  readonly #N;
  readonly #D;
  readonly #R0;
  readonly #E0;
  readonly #R1;
  readonly #E1;
  readonly #R2;

  /** @param out where the wanted values go; what is missing isn't stored */
  constructor(lanes: number, out: Partial<Record<MacroValue, Partial<Words>>>) {
    const to = (name: MacroValue): Words => [
      out[name]?.[0] ?? new Uint32Array(lanes),
      out[name]?.[1] ?? new Uint32Array(lanes),
    ];
    this.#lanes = lanes;
    this.flag = new Uint32Array(lanes);
    this.left = new Uint8Array(lanes);
    this.#state = new Uint8Array(lanes);
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
    this.#wanted = Object.fromEntries(Object.entries(this.#out).filter(([name]) => out[name as MacroValue]));
    this.#a = new Int32Array(lanes);
    this.#b = new Int32Array(lanes);
    this.#signs = new Int32Array(lanes);
    this.#signD = new Int32Array(lanes);
    this.#N = column(lanes);
    this.#D = column(lanes);
    this.#R0 = column(lanes);
    this.#E0 = column(lanes);
    this.#R1 = column(lanes);
    this.#E1 = column(lanes);
    this.#R2 = column(lanes);
  }

  /**
   * Does the active lanes for numerators `n` and denominators `d`; outputs may share storage with these.
   * @returns how many active lanes it left alone, marked in `left`
   */
  run(active: Uint8Array, n: Words, d: Words): number {
    const leaves = this.#unpack(active, n[0], n[1], d[0], d[1]);
    if (this.#isDirect) this.#reciprocals();
    else this.#refineTwice(0, this.#lanes);
    this.#packReciprocals();
    this.#quotients();
    return leaves;
  }

  /** Significands, exponents, and what v_div_scale gives. */
  #unpack(active: Uint8Array, nLo: Uint32Array, nHi: Uint32Array, dLo: Uint32Array, dHi: Uint32Array): number {
    const { flag, left } = this;
    const [state, signs, signD, a, b] = [this.#state, this.#signs, this.#signD, this.#a, this.#b];
    const [N, D] = [this.#N.words, this.#D.words];
    const [dsLo, dsHi] = this.#out.ds;
    const [nsLo, nsHi] = this.#out.ns;
    let leaves = 0;
    for (let i = 0; i < this.#lanes; i++) {
      flag[i] = 0;
      left[i] = 0;
      state[i] = OFF;
      if (active[i] === 0) continue;
      const [xHi, xLo, yHi, yLo] = [nHi[i]! | 0, nLo[i]! | 0, dHi[i]! | 0, dLo[i]! | 0];
      const eN = (xHi >>> 20) & 0x7ff;
      const eD = (yHi >>> 20) & 0x7ff;
      signs[i] = xHi;
      signD[i] = yHi;
      if (eN > 53 && eN < 2047 && eD > 0 && eD < 2044 && eN - eD < 768 && eD - eN < 768) {
        // No row of v_div_scale's table.
        N[2 * i] = xLo;
        N[2 * i + 1] = (xHi & FRACTION) | ONE;
        D[2 * i] = yLo;
        D[2 * i + 1] = (yHi & FRACTION) | ONE;
        a[i] = eN - 1023;
        b[i] = eD - 1023;
        dsLo[i] = yLo;
        dsHi[i] = yHi;
        nsLo[i] = xLo;
        nsHi[i] = xHi;
        state[i] = RUNS;
      } else if (isLeft(xHi, xLo) || isLeft(yHi, yLo)) {
        left[i] = 1;
        state[i] = LEFT;
        leaves++;
      } else if (eD === 2044 && (yHi & FRACTION) === FRACTION) {
        // The table's reciprocal may be subnormal.
        left[i] = 1;
        state[i] = LEFT;
        leaves++;
      } else {
        state[i] = RUNS;
        this.#unpackScaled(i, xHi, xLo, yHi, yLo);
      }
    }
    return leaves;
  }

  /** The same for one lane where v_div_scale may scale. */
  #unpackScaled(i: number, xHi: number, xLo: number, yHi: number, yLo: number): void {
    const eN = (xHi >>> 20) & 0x7ff;
    const eD = (yHi >>> 20) & 0x7ff;
    decideHardware(eN, eD, true, f64Limits);
    const kD = decision.k;
    decideHardware(eN, eD, false, f64Limits);
    const kN = decision.k;
    this.flag[i] = decision.flag;
    const b = kD + significandInto(this.#D.words, i, yHi, yLo);
    const a = kN + significandInto(this.#N.words, i, xHi, xLo);
    this.#a[i] = a;
    this.#b[i] = b;
    scaledInto(this.#out.ds, i, yHi, yLo, kD, b, this.#D.words);
    scaledInto(this.#out.ns, i, xHi, xLo, kN, a, this.#N.words);
  }

  /**
   * R2 = RN(1 / D), which the refinement gives too unless 1/D lies within 2^-43 ulp of the middle between two doubles (argued in
   * shaders/isa/division_fused.wesl: r1 + r1 e1 misses 1/d by less than 2^-43.9 ulp). An ulp is 2^-53 here, and
   * 1/D - R2 = rest / D; where it comes within 2^-42 of half an ulp, the refinement decides.
   */
  #reciprocals(): void {
    const state = this.#state;
    const [D, R2] = [this.#D.values, this.#R2.values];
    for (let i = 0; i < this.#lanes; i++) {
      if (state[i] !== RUNS) continue;
      const d = D[i]!;
      const r = 1 / d;
      R2[i] = r;
      const product = d * r;
      const rest = 1 - product - productError(d, r, product);
      if (Math.abs(rest) > d * (2 ** -54 * (1 - 2 ** -41))) this.#refineTwice(i, i + 1);
    }
  }

  /** The table's reciprocals of lanes `from` to `to` - 1. */
  #seeds(from: number, to: number): void {
    const state = this.#state;
    const [D, R0] = [this.#D.words, this.#R0.values];
    for (let i = from; i < to; i++)
      if (state[i] === RUNS) R0[i] = amd_rcp_significand(D[2 * i + 1]! & FRACTION, D[2 * i]!);
  }

  /** One step of refinement: E = 1 - D R, next = R + R E. */
  #refine(R: Float64Array, E: Float64Array, next: Float64Array, from: number, to: number): void {
    const state = this.#state;
    const D = this.#D.values;
    for (let i = from; i < to; i++) {
      if (state[i] !== RUNS) continue;
      const d = D[i]!;
      const r = R[i]!;
      const product = d * r;
      const e = 1 - product - productError(d, r, product);
      const step = r * e;
      const sum = r + step;
      const rest = step - (sum - r);
      const margin = step * MARGIN;
      const low = sum + (rest - margin);
      E[i] = e;
      next[i] = low === sum + (rest + margin) ? low : nearSum(r, e, r);
    }
  }

  #refineTwice(from: number, to: number): void {
    this.#seeds(from, to);
    this.#refine(this.#R0.values, this.#E0.values, this.#R1.values, from, to);
    this.#refine(this.#R1.values, this.#E1.values, this.#R2.values, from, to);
  }

  #packReciprocals(): void {
    const { r0, e0, r1, e1, r2 } = this.#wanted;
    if (r0) this.#packReciprocal(this.#R0.words, r0);
    if (e0) this.#packError(this.#E0.words, e0);
    if (r1) this.#packReciprocal(this.#R1.words, r1);
    if (e1) this.#packError(this.#E1.words, e1);
    if (r2) this.#packReciprocal(this.#R2.words, r2);
  }

  /** R 2^-b with the sign of d; it is normal. */
  #packReciprocal(R: Int32Array, [lo, hi]: Words): void {
    const [state, b, signD] = [this.#state, this.#b, this.#signD];
    for (let i = 0; i < this.#lanes; i++) {
      if (state[i] !== RUNS) continue;
      lo[i] = R[2 * i]!;
      hi[i] = (R[2 * i + 1]! - (b[i]! << 20)) | (signD[i]! & SIGN);
    }
  }

  #packError(E: Int32Array, [lo, hi]: Words): void {
    const state = this.#state;
    for (let i = 0; i < this.#lanes; i++) {
      if (state[i] !== RUNS) continue;
      lo[i] = E[2 * i]!;
      hi[i] = E[2 * i + 1]!;
    }
  }

  #quotients(): void {
    const { flag } = this;
    const [state, signs, signD, a, b] = [this.#state, this.#signs, this.#signD, this.#a, this.#b];
    const [N, D, R2] = [this.#N.values, this.#D.values, this.#R2.values];
    const [qLo, qHi] = this.#out.q;
    const [tLo, tHi] = this.#out.t;
    const [pLo, pHi] = this.#out.p;
    const [resultLo, resultHi] = this.#out.result;
    for (let i = 0; i < this.#lanes; i++) {
      if (state[i] !== RUNS) continue;
      const x = a[i]! - b[i]!;
      // Residuals of 106 bits below the numerator are normal from here up.
      if (flag[i] !== 0 || a[i]! < -900) {
        this.#edge(i, x);
        continue;
      }
      const [n, d, r] = [N[i]!, D[i]!, R2[i]!];
      const sign = (signs[i]! ^ signD[i]!) & SIGN;
      const q = n * r;
      cell[0] = q;
      qLo[i] = cellWords[0]!;
      qHi[i] = (cellWords[1]! + (x << 20)) | sign;
      const product = d * q;
      const t = n - product - productError(d, q, product);
      cell[0] = t;
      tLo[i] = cellWords[0]!;
      tHi[i] = t === 0 ? 0 : (cellWords[1]! + (a[i]! << 20)) ^ (signs[i]! & SIGN);
      const h = t * r;
      const sum = q + h;
      const rest = h - (sum - q);
      const margin = h * MARGIN;
      const p = sum + (rest - margin);
      cell[0] = p === sum + (rest + margin) ? p : nearSum(t, r, q);
      const lo = cellWords[0]!;
      const hi = (cellWords[1]! + (x << 20)) | sign;
      pLo[i] = lo;
      pHi[i] = hi;
      resultLo[i] = lo;
      resultHi[i] = hi;
    }
  }

  /** One lane whose quotient is scaled or whose residual may be subnormal. x = a - b. */
  #edge(i: number, x: number): void {
    const [n, d, r] = [this.#N.values[i]!, this.#D.values[i]!, this.#R2.values[i]!];
    const { q, t, p, result } = this.#out;
    const signN = this.#signs[i]! & SIGN;
    const sign = (this.#signs[i]! ^ this.#signD[i]!) & SIGN;
    const product = n * r;
    if (x + (product >= 1 ? 0 : -1) > 1023) {
      put(q, i, 0, sign | 0x7ff00000);
      put(t, i, 0, (signN ^ SIGN) | 0x7ff00000);
      put(p, i, 0, 0xfff80000);
      put(result, i, 0, sign | 0x7ff00000);
      return;
    }
    const k = this.flag[i] === 0 ? 0 : x > 0 ? 128 : -128;
    cell[0] = product;
    rest[0] = productError(n, r, product);
    pack(q, i, x, sign);
    const quotient = packed[0]!;
    const back = d * quotient;
    const residual = n - back - productError(d, quotient, back);
    cell[0] = Math.abs(residual);
    rest[0] = 0;
    pack(t, i, this.#a[i]!, residual < 0 ? signN ^ SIGN : residual === 0 ? 0 : signN);
    if (x < -1000) {
      // |n / d| is below 2^-1127, and q may be subnormal.
      put(p, i, 0, sign);
      put(result, i, 0, sign);
      return;
    }
    cells[0] = residual;
    cells[1] = r;
    cells[2] = quotient;
    mulAddNearest();
    cell[0] = cells[0]!;
    rest[0] = cells[1]!;
    pack(p, i, x + k, sign);
    result[0][i] = p[0][i]!;
    result[1][i] = p[1][i]!;
  }
}

/** Zero, infinite or NaN. */
const isLeft = (hi: number, lo: number): boolean => (hi & 0x7ff00000) === 0x7ff00000 || ((hi & ~SIGN) | lo) === 0;

/** a * b + c, rounded once, wherever it lies. */
const nearSum = (a: number, b: number, c: number): number => {
  cells[0] = a;
  cells[1] = b;
  cells[2] = c;
  mulAddNearest();
  return cells[0]!;
};

/** Leaves the significand, from 1 to 2, of a finite word that is not zero as double `i`; returns the exponent that goes with it. */
const significandInto = (words: Int32Array, i: number, hi: number, lo: number): number => {
  const field = (hi >>> 20) & 0x7ff;
  words[2 * i] = lo;
  words[2 * i + 1] = (hi & FRACTION) | ONE;
  if (field !== 0) return field - 1023;
  cell[0] = (hi & FRACTION) * 2 ** 32 + (lo >>> 0);
  words[2 * i] = cellWords[0]!;
  words[2 * i + 1] = (cellWords[1]! & FRACTION) | ONE;
  return (cellWords[1]! >>> 20) - 1023 - 1074;
};

/** Stores what v_div_scale gives of the word (hi, lo), moved by 2^k to `exponent`: a normal number, or the word itself. */
const scaledInto = (
  out: Words,
  i: number,
  hi: number,
  lo: number,
  k: number,
  exponent: number,
  words: Int32Array,
): void => {
  if (k === 0) put(out, i, lo, hi);
  else put(out, i, words[2 * i]!, (words[2 * i + 1]! & FRACTION) | ((exponent + 1023) << 20) | (hi & SIGN));
};

const put = ([lo, hi]: Words, i: number, loWord: number, hiWord: number): void => {
  lo[i] = loWord;
  hi[i] = hiWord;
};

/** What `pack` rounds besides `cell`, of which only the sign counts; and what it made of `cell`. */
const rest = new Float64Array(1);
const packed = new Float64Array(1);

/** Places that a double is moved down by to lose all bits but one, and more. */
const FAR = 200;

/**
 * Stores (cell + rest) 2^exponent as lane `i` of `out`, rounded once: cell is the double nearest to the sum, not negative, and rest
 * has the sign of what is missing. `packed` becomes cell as it was rounded. Adding 2^52 units rounds a subnormal to whole units; a tie
 * of cell is none of the sum where there is a rest.
 */
const pack = (out: Words, i: number, exponent: number, sign: number): void => {
  const value = cell[0]!;
  const field = (cellWords[1]! >>> 20) + exponent;
  packed[0] = value;
  if (value === 0) put(out, i, 0, sign);
  else if (field > 2046) put(out, i, 0, sign | 0x7ff00000);
  else if (field > 0) put(out, i, cellWords[0]!, (cellWords[1]! + (exponent << 20)) | sign);
  else {
    const place = Math.min(-1074 - exponent, FAR);
    const unit = powerOfTwo(place);
    const base = unit * 2 ** 52;
    let sum = value + base;
    const lost = value - (sum - base);
    if (lost === unit / 2 && rest[0]! > 0) sum += unit;
    else if (lost === unit / -2 && rest[0]! < 0) sum -= unit;
    packed[0] = sum - base;
    cell[0] = sum;
    put(out, i, cellWords[0]!, (cellWords[1]! - ((place + 52 + 1023) << 20)) | sign);
  }
};
