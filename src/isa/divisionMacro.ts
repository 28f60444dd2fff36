/** The f64 division macro: its values, and how programs may write it. */

/** The values of the macro, in an order in which each comes after what it is made of. */
export const macroValues = ['ds', 'r0', 'e0', 'r1', 'e1', 'r2', 'ns', 'q', 't', 'p', 'result'] as const;
export type MacroValue = (typeof macroValues)[number];

/** The values that are a product of two others, or a sum with one. */
export const factorsOf = {
  e0: ['ds', 'r0'],
  r1: ['r0', 'e0'],
  e1: ['ds', 'r1'],
  r2: ['r1', 'e1'],
  q: ['ns', 'r2'],
  t: ['ds', 'q'],
  p: ['t', 'r2'],
} as const satisfies Partial<Record<MacroValue, readonly [MacroValue, MacroValue]>>;
export type MacroProduct = keyof typeof factorsOf;

/** How a program has a product. It only decides which NaN passes, the first one among the factors, and whether with a minus. */
export interface FactorOrder {
  /** The second factor stands first. */
  readonly isSwapped: boolean;
  /** The minus of e0, e1, t is at the second factor, not at ds. */
  readonly negatesSecond: boolean;
}
export type FactorOrders = Readonly<Record<MacroProduct, FactorOrder>>;

const plain: FactorOrder = { isSwapped: false, negatesSecond: false };

/** As LLVM writes it. */
export const plainOrders: FactorOrders = { e0: plain, r1: plain, e1: plain, r2: plain, q: plain, t: plain, p: plain };
