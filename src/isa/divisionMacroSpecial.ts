/**
 * The values of the division macro where numerator or denominator is zero, infinite or NaN. v_div_scale makes the default NaN of both
 * where either is zero, and quiets a NaN. After that the first NaN among the factors passes, with its minus.
 */
import type { FactorOrder, FactorOrders, MacroValue } from './divisionMacro.ts';
import { put, SIGN, type Words } from './divisionMacroWords.ts';

const INFINITY = 0x7ff00000;
const QUIET_BIT = 0x00080000;
const DEFAULT_NAN = 0xfff80000 | 0;

export const isZero = (hi: number, lo: number): boolean => ((hi & ~SIGN) | lo) === 0;
export const isFiniteWord = (hi: number): boolean => (hi & INFINITY) !== INFINITY;
const isNaNWord = (hi: number, lo: number): boolean => !isFiniteWord(hi) && ((hi & 0xfffff) | lo) !== 0;

/** A high word with the minus that the first or the second factor of a product has. */
const minusFirst = (hi: number, { negatesSecond }: FactorOrder): number => (negatesSecond ? hi : hi ^ SIGN);
const minusSecond = (hi: number, { negatesSecond }: FactorOrder): number => (negatesSecond ? hi ^ SIGN : hi);

type Out = Readonly<Record<MacroValue, Words>>;

/** What depends on a numerator that is an infinity or a NaN, where the denominator is neither and not zero. */
export function putSpecialNumerator(
  { ns, q, t, p, result }: Out,
  i: number,
  nHi: number,
  nLo: number,
  dHi: number,
  orders: FactorOrders,
): void {
  const isPassed = isNaNWord(nHi, nLo);
  const top = isPassed ? nHi | QUIET_BIT : ((nHi ^ dHi) & SIGN) | INFINITY;
  // Of infinities, t is the difference.
  const tTop = isPassed ? minusSecond(top, orders.t) : DEFAULT_NAN;
  put(ns, i, nLo, isPassed ? top : nHi);
  put(q, i, nLo, top);
  put(t, i, nLo, tTop);
  put(p, i, nLo, tTop);
  put(result, i, nLo, top);
}

/** Everything, where either is zero or the denominator infinite or NaN; but ns where v_div_scale leaves a number. */
export function putSpecial(
  out: Out,
  i: number,
  nHi: number,
  nLo: number,
  dHi: number,
  dLo: number,
  orders: FactorOrders,
): void {
  const { e0, r1, e1, r2, q, t, p } = orders;
  const hasZero = isZero(nHi, nLo) || isZero(dHi, dLo);
  const isPassed = hasZero || isNaNWord(dHi, dLo);
  const low = hasZero ? 0 : dLo;
  const ds = hasZero ? DEFAULT_NAN : isPassed ? dHi | QUIET_BIT : dHi;
  // 1 / infinity is 0, and infinity * 0 the default NaN.
  const r0 = isPassed ? ds : dHi & SIGN;
  const e0Top = isPassed ? (e0.isSwapped ? minusSecond(r0, e0) : minusFirst(ds, e0)) : DEFAULT_NAN;
  const r1Top = isPassed && !r1.isSwapped ? r0 : e0Top;
  const e1Top = isPassed && !e1.isSwapped ? minusFirst(ds, e1) : minusSecond(r1Top, e1);
  const r2Top = r2.isSwapped ? e1Top : r1Top;
  put(out.ds, i, low, ds);
  put(out.r0, i, low, r0);
  put(out.e0, i, low, e0Top);
  put(out.r1, i, low, r1Top);
  put(out.e1, i, low, e1Top);
  put(out.r2, i, low, r2Top);
  const isNumeratorPassed = hasZero || isNaNWord(nHi, nLo);
  const ns = hasZero ? DEFAULT_NAN : isNumeratorPassed ? nHi | QUIET_BIT : nHi;
  const nsLow = hasZero ? 0 : nLo;
  if (hasZero || !isFiniteWord(nHi)) put(out.ns, i, nsLow, ns);
  const isQuotientNs = isNumeratorPassed && !q.isSwapped;
  const qTop = isQuotientNs ? ns : r2Top;
  const qLow = isQuotientNs ? nsLow : low;
  const isResidualDs = isPassed && !t.isSwapped;
  const tTop = isResidualDs ? minusFirst(ds, t) : minusSecond(qTop, t);
  const tLow = isResidualDs ? low : qLow;
  put(out.q, i, qLow, qTop);
  put(out.t, i, tLow, tTop);
  put(out.p, i, p.isSwapped ? low : tLow, p.isSwapped ? r2Top : tTop);
  putResult(out.result, i, nHi, nLo, dHi, dLo);
}

/** The table of v_div_fixup. */
const putResult = (out: Words, i: number, nHi: number, nLo: number, dHi: number, dLo: number): void => {
  const sign = (nHi ^ dHi) & SIGN;
  const [nZero, dZero] = [isZero(nHi, nLo), isZero(dHi, dLo)];
  if (isNaNWord(nHi, nLo)) put(out, i, nLo, nHi | QUIET_BIT);
  else if (isNaNWord(dHi, dLo)) put(out, i, dLo, dHi | QUIET_BIT);
  else if ((nZero && dZero) || (!isFiniteWord(nHi) && !isFiniteWord(dHi))) put(out, i, 0, DEFAULT_NAN);
  else put(out, i, 0, dZero || !isFiniteWord(nHi) ? sign | INFINITY : sign);
};
