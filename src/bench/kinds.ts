/**
 * Kinds of operations that adapters do at different rates: where a driver on a CPU has no vector instruction it goes lane by lane. On
 * SwiftShader a shift costs 8 sums, countLeadingZeros 130. `probe/<kind>` measures the rate of a kind (`probes.ts`); kinds that
 * the probes of others contain come first.
 */
export const KINDS = [
  /** Sums, differences, `& | ^ ~ !`, also of truth values. */
  'u32-add',
  'u32-mul',
  /** select, u32(bool). */
  'u32-select',
  /** By any distance; quotients and remainders of whole numbers too, which kernels have by powers of two only. */
  'u32-shift',
  /** Order of unsigned numbers. */
  'u32-less',
  /** Equality of anything, order of i32 and f32. */
  'u32-equal',
  /** min, max; clamp is two. */
  'u32-min',
  /** countLeadingZeros and other counts of bits. */
  'u32-clz',
  'i32-to-f32',
  'u32-to-f32',
  'f32-to-i32',
  'f32-to-u32',
  /** Sums, products and roundings of f32. */
  'f32-mul',
  /** Quotients and roots of f32. */
  'f32-div',
] as const;

export type Kind = (typeof KINDS)[number];

/** Numbers by kind; kinds that are absent are 0. */
export type ByKind = Readonly<Partial<Record<Kind, number>>>;

/** Sums and products of a count by kind, as two numbers: multiplications, all others. */
export function summed(operations: ByKind): { readonly multiplies: number; readonly others: number } {
  const multiplies = operations['u32-mul'] ?? 0;
  const all = Object.values(operations).reduce((sum, count) => sum + count, 0);
  return { multiplies, others: all - multiplies };
}

/** The kind of a binary operator on operands of this component type. */
export function kindOfOperator(operator: string, component: string): Kind {
  if (operator === '==' || operator === '!=') return 'u32-equal';
  if (/^[<>]=?$/.test(operator)) return component === 'u32' ? 'u32-less' : 'u32-equal';
  if (component === 'f32') return operator === '/' ? 'f32-div' : 'f32-mul';
  if (operator === '*') return 'u32-mul';
  return /^(?:<<|>>|\/|%)$/.test(operator) ? 'u32-shift' : 'u32-add';
}

/** Built-ins by name: kind and how many of it a component costs. */
const BUILT_INS: Readonly<Record<string, readonly [Kind, number]>> = {
  select: ['u32-select', 1],
  min: ['u32-min', 1],
  max: ['u32-min', 1],
  clamp: ['u32-min', 2],
  abs: ['u32-min', 1],
  all: ['u32-add', 1],
  any: ['u32-add', 1],
  dot: ['f32-mul', 2],
  countLeadingZeros: ['u32-clz', 1],
  countTrailingZeros: ['u32-clz', 1],
  countOneBits: ['u32-clz', 1],
  firstLeadingBit: ['u32-clz', 1],
  firstTrailingBit: ['u32-clz', 1],
  extractBits: ['u32-shift', 2],
  insertBits: ['u32-shift', 4],
  sqrt: ['f32-div', 1],
  inverseSqrt: ['f32-div', 1],
};

/** What a built-in function costs a component; others than these are taken for one operation on their type. */
export const builtIn = (name: string, component: string): readonly [Kind, number] =>
  BUILT_INS[name] ?? [component === 'f32' ? 'f32-mul' : 'u32-add', 1];

/** What `u32(x)` and the like cost; undefined where they cost nothing. */
export function conversion(from: string, to: string): Kind | undefined {
  if (from === to || from === 'int' || (from !== 'f32' && from !== 'bool' && to !== 'f32' && to !== 'bool'))
    return undefined;
  if (from === 'bool') return 'u32-select';
  if (to === 'bool') return 'u32-equal';
  if (to === 'f32') return from === 'i32' ? 'i32-to-f32' : 'u32-to-f32';
  return to === 'i32' ? 'f32-to-i32' : 'f32-to-u32';
}
