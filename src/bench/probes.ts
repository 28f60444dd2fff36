/**
 * An adapter's own rates: kernels that do one kind of operation, in eight chains that depend on each other, so that nothing folds
 * and nothing waits long, unrolled far enough for the loop around them not to count.
 */
import type { AdapterRates } from './figure.ts';
import { type ByKind, KINDS, type Kind } from './kinds.ts';
import type { RawKernel } from './rawKernels.ts';

const CHAINS = 8;
const UNROLLED = 8;
const TURNS = 16;

interface Pattern {
  /** The next value of the chain `a` from it and the next two. */
  readonly step: (a: string, b: string, c: string) => string;
  /** What a step does besides the kind itself, so that no driver can fold the steps. */
  readonly besides?: ByKind;
  /** How many of the kind a step has, if not one. */
  readonly count?: number;
  /** Chains of f32, from 1 to 2 at first; else of u32. */
  readonly float?: true;
}

const withAdd = { 'u32-add': 1 };

/** `even`, `one`: a truth value and a float from 1 to 2 that only the lane knows. */
const PATTERNS: Readonly<Record<Kind, Pattern>> = {
  'u32-add': { step: (a, b, c) => `(((${a} + ${b}) ^ ${c}) - ${b}) | ${c}`, count: 4 },
  'u32-mul': { step: (a, b, c) => `((${a} * ${b}) ^ ${c}) * ${a}`, count: 2, besides: withAdd },
  'u32-shift': { step: (a, b) => `(${a} << 7u) ^ (${b} >> 9u)`, count: 2, besides: withAdd },
  'u32-less': {
    step: (a, b, c) => `select(${b}, ${c}, ${a} < ${b}) + ${a}`,
    besides: { 'u32-add': 1, 'u32-select': 1 },
  },
  'u32-equal': {
    step: (a, b, c) => `select(${b}, ${c}, ${a} == ${b}) + ${a}`,
    besides: { 'u32-add': 1, 'u32-select': 1 },
  },
  'u32-select': { step: (a, b, c) => `select(${b}, ${c}, even) + ${a}`, besides: withAdd },
  'u32-min': { step: (a, b, c) => `min(${a}, ${b}) + ${c}`, besides: withAdd },
  'u32-clz': { step: (a, b) => `countLeadingZeros(${a}) ^ ${b}`, besides: withAdd },
  'i32-to-f32': { step: (a, b) => `bitcast<u32>(f32(i32(${a}))) ^ ${b}`, besides: withAdd },
  'u32-to-f32': { step: (a, b) => `bitcast<u32>(f32(${a})) ^ ${b}`, besides: withAdd },
  'f32-to-i32': { step: (a, b) => `u32(i32(bitcast<f32>(${a}))) ^ ${b}`, besides: withAdd },
  'f32-to-u32': { step: (a, b) => `u32(bitcast<f32>(${a})) ^ ${b}`, besides: withAdd },
  'f32-mul': { step: (a, b) => `${a} * ${b}`, float: true },
  'f32-div': { step: (a) => `one / ${a}`, float: true },
};

function chains({ step, float }: Pick<Pattern, 'step' | 'float'>): string {
  const value = (i: number) => `x${i % CHAINS}`;
  const each = (text: (i: number) => string, separator: string) =>
    Array.from({ length: CHAINS }, (_, i) => text(i)).join(separator);
  const steps = Array.from(
    { length: CHAINS * UNROLLED },
    (_, k) => `    ${value(k)} = ${step(value(k), value(k + 1), value(k + 2))};`,
  );
  const start = (i: number) => `(seed ^ ${0x1234567 * (i + 1)}u) | 1u`;
  return `fn unit(bits: u32) -> f32 { return bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u); }
fn work(base: u32) {
  let seed = vgprs[base];
  let even = (seed & 1u) == 0u;
  let one = unit(seed);
${each((i) => `  var x${i} = ${float ? `unit(${start(i)})` : start(i)};`, '\n')}
  for (var i = 0u; i < ${TURNS}u; i++) {
${steps.join('\n')}
  }
  vgprs[base + 64u] = ${each((i) => (float ? `bitcast<u32>(x${i})` : `x${i}`), ' ^ ')};
}`;
}

/** What a step of a kind's probe does: so many of the kind, and what else. */
export function stepOf(kind: Kind): { readonly count: number; readonly besides: ByKind } {
  const { count = 1, besides = {} } = PATTERNS[kind];
  return { count, besides };
}

/** Steps that a lane of a probe does. */
const STEPS = CHAINS * UNROLLED * TURNS;

const kindProbe = (kind: Kind): RawKernel => ({
  id: `probe/${kind}`,
  registers: 2,
  work: STEPS * stepOf(kind).count,
  source: chains(PATTERNS[kind]),
});

/** Words of a lane that the memory probes move. */
const MOVED = 8;
const moved = (register: number) => `vgprs[base + ${64 * register}u]`;
const each = (text: (i: number) => string) => Array.from({ length: MOVED }, (_, i) => text(i));

export const OPERATION_PROBES: readonly RawKernel[] = [
  ...KINDS.map(kindProbe),
  {
    id: 'probe/u32-mulhi',
    registers: 2,
    work: STEPS,
    source: `import package::float::u64::mul32_high;\n${chains({ step: (a, b, c) => `mul32_high(${a}, ${b}) + ${c}` })}`,
  },
];

export const MEMORY_PROBES: readonly RawKernel[] = [
  {
    id: 'probe/memory/read',
    registers: MOVED + 1,
    work: 4 * MOVED,
    source: `fn work(base: u32) { ${moved(MOVED)} = ${each(moved).join(' ^ ')}; }`,
  },
  {
    id: 'probe/memory/write',
    registers: MOVED,
    work: 4 * MOVED,
    source: `fn work(base: u32) { ${each((i) => `${moved(i)} = base ^ ${i}u;`).join(' ')} }`,
  },
  {
    id: 'probe/memory/copy',
    registers: 2 * MOVED,
    work: 8 * MOVED,
    source: `fn work(base: u32) { ${each((i) => `${moved(MOVED + i)} = ${moved(i)};`).join(' ')} }`,
  },
];

/** Probes that the bound is made of. */
export const BOUND_PROBES: readonly string[] = [
  ...KINDS.map((kind) => `probe/${kind}`),
  'probe/memory/read',
  'probe/memory/write',
];

/** A kind is not taken to be free, however noisy the probes of what stands beside it are. */
const LEAST_PART = 0.1;

/**
 * The adapter's rates by what the probes did a second, if all are known. What a step does besides its kind goes off by that kind's
 * own rate; `KINDS` has it before.
 */
export function ratesFrom(perSecond: (id: string) => number | undefined, overlaps: boolean): AdapterRates | undefined {
  const [readBytes, writtenBytes] = [perSecond('probe/memory/read'), perSecond('probe/memory/write')];
  const rates: Partial<Record<Kind, number>> = {};
  for (const kind of KINDS) {
    const measured = perSecond(`probe/${kind}`);
    if (!measured) return undefined;
    const { besides, count } = stepOf(kind);
    const other = Object.entries(besides).reduce((sum, [name, times]) => sum + times / rates[name as Kind]!, 0);
    const step = count / measured;
    rates[kind] = count / Math.max(step - other, LEAST_PART * step);
  }
  if (!readBytes || !writtenBytes) return undefined;
  return { operations: rates as Record<Kind, number>, readBytes, writtenBytes, overlaps };
}
