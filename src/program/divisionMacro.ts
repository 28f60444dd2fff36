/**
 * Finds the f64 division macro in a program by its dataflow, in whatever order, registers and company a compiler put it:
 *
 *     ds, -    = div_scale(d, d, n)       e1     = fma(-ds, r1, 1)      t      = fma(-ds, q, ns)
 *     r0       = rcp(ds)                  r2     = fma(r1, e1, r1)      p      = div_fmas(t, r2, q, flag)
 *     e0       = fma(-ds, r0, 1)          ns, flag = div_scale(n, d, n) result = div_fixup(p, d, n)
 *     r1       = fma(r0, e0, r0)          q      = ns * r2
 *
 * so that an engine may do all of it where the last instruction stands. (LLVM's SIISelLowering, LowerFDIV64, emits these.)
 */
import { type FactorOrders, factorsOf, type MacroProduct, type MacroValue, macroValues } from '../isa/divisionMacro.ts';
import { constantWords, type Operand } from '../isa/operand.ts';
import type { Profile } from '../isa/target.ts';
import { codeOfPlace, constantOrigin, Dataflow, isVgprPlace, MODE_PLACE, placesOf, writesExec } from './dataflow.ts';
import type { Program } from './program.ts';

/** A VGPR that holds the low (0) or high (1) word of a value after the macro. */
export interface LiveWord {
  readonly value: MacroValue;
  readonly word: 0 | 1;
  readonly register: number;
}

/** A scalar register that holds the flags of lanes 0 to 31 (0) or 32 to 63 (1) after the macro. Both v_div_scale give the same. */
export interface LiveFlags {
  readonly word: 0 | 1;
  readonly code: number;
}

export interface DivisionMacro {
  /** The index of the instruction that makes each value. */
  readonly steps: Readonly<Record<MacroValue, number>>;
  /** These, ascending, with copies of the flags to VCC: what the macro stands for. */
  readonly members: readonly number[];
  /** Where the whole may be done instead: the last member, which is v_div_fixup. */
  readonly at: number;
  /** As v_div_fixup has them, modifiers included; they hold there what every member reads. */
  readonly numerator: Operand;
  readonly denominator: Operand;
  readonly orders: FactorOrders;
  /** What is needed later. All else that members write is overwritten first, and may be left as it was. */
  readonly live: readonly LiveWord[];
  readonly flags: readonly LiveFlags[];
}

/** The division macros of a program in the order of their last instructions; none on X1K. */
export function findDivisionMacros(program: Program, profile: Profile = 'hardware'): DivisionMacro[] {
  const { target, instructions } = program;
  const fixups = instructions.flatMap(({ def }, index) => (def.name === 'v_div_fixup_f64' ? [index] : []));
  if (fixups.length === 0) return [];
  const flow = new Dataflow(program, { target, profile });
  const live = flow.liveAfter(new Set(fixups));
  return fixups.flatMap((at) => {
    const found = match(flow, at);
    return found && standsAlone(flow, found) ? [macroOf(flow, found, live.get(at)!)] : [];
  });
}

interface Match {
  readonly steps: Record<MacroValue, number>;
  readonly copies: readonly number[];
}

const membersOf = ({ steps, copies }: Match) => [...Object.values(steps), ...copies].sort((a, b) => a - b);

/** An operand of an instruction: its index and the operand's. */
type Use = readonly [at: number, operand: number];

class Matcher {
  readonly flow: Dataflow;
  constructor(flow: Dataflow) {
    this.flow = flow;
  }

  operand([at, k]: Use): Operand {
    return this.flow.instructions[at]!.operands[k]!;
  }

  /** The instruction of one of these names whose vector destination is just what is used, without modifiers on it; -1 if none is. */
  maker(use: Use, names: readonly string[]): number {
    const operand = this.operand(use);
    const places = placesOf(operand);
    const at = operand.kind === 'vgpr' ? this.flow.writer(use[0], places[0]!) : -1;
    const instruction = this.flow.instructions[at];
    if (instruction === undefined || !names.includes(instruction.def.name)) return -1;
    if (instruction.omod !== 0 || instruction.clamp) return -1;
    const made = placesOf(instruction.operands[0]!);
    return places.every((place, w) => place === made[w] && this.flow.writer(use[0], place) === at) ? at : -1;
  }

  isPlain(use: Use): boolean {
    const { abs, neg } = this.operand(use);
    return !abs && !neg;
  }

  /** Do two uses see the same bits, be it in copies? */
  isSame(a: Use, b: Use): boolean {
    const [x, y] = [this.operand(a), this.operand(b)];
    return !x.abs === !y.abs && !x.neg === !y.neg && `${this.origins(a)}` === `${this.origins(b)}`;
  }

  /** 1.0, written so or moved to a register (as LLVM does without optimisation). */
  isOne(use: Use): boolean {
    return this.isPlain(use) && `${this.origins(use)}` === `${ONE}`;
  }

  /** Where the words of an f64 operand come from, modifiers apart. */
  private origins([at, k]: Use): string[] {
    const operand = this.operand([at, k]);
    if (operand.kind === 'inline' || operand.kind === 'literal')
      return constantWords(operand, 'f64').map(constantOrigin);
    return placesOf(operand).map((place) => this.flow.origin(at, place));
  }
}

const ONE = [0, 0x3ff00000].map(constantOrigin);

const FMA = ['v_fma_f64', 'v_fmac_f64'];

/** The factors and the addend of v_fma, v_fmac (whose old destination is added) and v_div_fmas, as operands. */
function termsOf(m: Matcher, at: number): { factors: readonly [Use, Use]; addend: Use } {
  const isFmac = m.flow.instructions[at]!.def.name === 'v_fmac_f64';
  return {
    factors: [
      [at, 1],
      [at, 2],
    ],
    addend: [at, isFmac ? 0 : 3],
  };
}

/** Both orders of two factors. */
const orders = ([a, b]: readonly [Use, Use]) =>
  [
    [a, b],
    [b, a],
  ] as const;

/** The macro that ends in the v_div_fixup at `at`, by what it is made of, from the end to the start. */
function match(flow: Dataflow, at: number): Match | undefined {
  const m = new Matcher(flow);
  const { omod, clamp } = flow.instructions[at]!;
  const [d, n]: [Use, Use] = [
    [at, 2],
    [at, 3],
  ];
  const p = m.isPlain([at, 1]) ? m.maker([at, 1], ['v_div_fmas_f64']) : -1;
  if (p < 0 || omod !== 0 || clamp) return undefined;
  for (const [tUse, r2Use] of orders(termsOf(m, p).factors)) {
    const t = m.maker(tUse, FMA);
    const r2 = m.maker(r2Use, FMA);
    const q = m.maker([p, 3], ['v_mul_f64']);
    if (t < 0 || r2 < 0 || q < 0 || ![tUse, r2Use, [p, 3] as Use].every((use) => m.isPlain(use))) continue;
    const scaled = matchScales(m, { t, q, r2, p }, n, d);
    const refined = scaled && matchReciprocal(m, scaled.ds, r2);
    if (refined) {
      const { ds, ns, copies } = scaled;
      return { steps: { ds, ...refined, r2, ns, q, t, p, result: at }, copies };
    }
  }
  return undefined;
}

interface Tail {
  readonly t: number;
  readonly q: number;
  readonly r2: number;
  readonly p: number;
}

/** t = fma(-ds, q, ns) and q = ns * r2, where ns = div_scale(n, d, n) gives p its flags and ds = div_scale(d, d, n). */
function matchScales(m: Matcher, { t, q, r2, p }: Tail, n: Use, d: Use) {
  const { factors, addend } = termsOf(m, t);
  const ns = m.isPlain(addend) ? m.maker(addend, ['v_div_scale_f64']) : -1;
  if (ns < 0) return undefined;
  const isQuotient = orders([
    [q, 1],
    [q, 2],
  ]).some(([a, b]) => m.isPlain(a) && m.isPlain(b) && m.maker(a, ['v_div_scale_f64']) === ns && m.maker(b, FMA) === r2);
  const ds = negatedProduct(m, factors, (use) => m.maker(use, ['v_mul_f64']) === q);
  const copies = flagsFrom(m, p, ns);
  if (!isQuotient || ds < 0 || copies === undefined) return undefined;
  const isScale = (at: number, of: Use) => m.isSame([at, 2], of) && m.isSame([at, 3], d) && m.isSame([at, 4], n);
  return isScale(ds, d) && isScale(ns, n) ? { ds, ns, copies } : undefined;
}

/** Of two factors with one minus between them, one being `other`: the v_div_scale that makes the other one, or -1. */
function negatedProduct(m: Matcher, factors: readonly [Use, Use], other: (use: Use) => boolean): number {
  const [a, b] = factors.map((use) => m.operand(use)) as [Operand, Operand];
  if (a.abs || b.abs || !a.neg === !b.neg) return -1;
  const found = orders(factors).find(([, use]) => other(use));
  return found ? m.maker(found[0], ['v_div_scale_f64']) : -1;
}

/** Does v_div_fmas `p` read the flags of v_div_scale `ns`? The copies on their way to VCC, or undefined. */
function flagsFrom(m: Matcher, p: number, ns: number): readonly number[] | undefined {
  const vcc = placesOf(m.operand([p, 4]));
  const made = placesOf(m.operand([ns, 1]));
  const isMade = (at: number, places: readonly number[]) =>
    places.length === made.length && places.every((place, w) => place === made[w] && m.flow.writer(at, place) === ns);
  if (isMade(p, vcc)) return [];
  const copy = m.flow.writer(p, vcc[0]!);
  const instruction = m.flow.instructions[copy];
  if (!instruction || !/^s_mov_b(32|64)$/.test(instruction.def.name)) return undefined;
  const whole = vcc.every((place) => m.flow.writer(p, place) === copy);
  return whole && `${placesOf(instruction.operands[0]!)}` === `${vcc}` && isMade(copy, placesOf(m.operand([copy, 1])))
    ? [copy]
    : undefined;
}

/** r2 back to r0 = rcp(ds), by two steps of e = fma(-ds, r, 1), fma(r, e, r). */
function matchReciprocal(m: Matcher, ds: number, r2: number) {
  const second = matchNewton(m, ds, r2, FMA);
  const first = second && matchNewton(m, ds, second.r, ['v_rcp_f64']);
  if (!first) return undefined;
  const source: Use = [first.r, 1];
  if (!m.isPlain(source) || m.maker(source, ['v_div_scale_f64']) !== ds) return undefined;
  return { r0: first.r, e0: first.e, r1: second.r, e1: second.e };
}

/** `next` = fma(r, e, r) with e = fma(-ds, r, 1): e, and the instruction of one of these names that makes r. */
function matchNewton(m: Matcher, ds: number, next: number, names: readonly string[]) {
  const { factors, addend } = termsOf(m, next);
  const r = m.maker(addend, names);
  if (r < 0 || ![...factors, addend].every((use) => m.isPlain(use))) return undefined;
  for (const [a, b] of orders(factors)) {
    const e = m.maker(b, ['v_fma_f64']);
    if (m.maker(a, names) !== r || e < 0) continue;
    const error = termsOf(m, e);
    if (m.isOne(error.addend) && negatedProduct(m, error.factors, (use) => m.maker(use, names) === r) === ds)
      return { r, e };
  }
  return undefined;
}

/** Nobody else reads what members write before the last of them, and EXEC, MODE and the wave's going on are not touched on the way. */
function standsAlone(flow: Dataflow, found: Match): boolean {
  const members = membersOf(found);
  if (new Set(members).size !== members.length) return false;
  if (members.some((index) => writesExec(flow.effects[index]!))) return false;
  const isMember = new Set(members);
  for (let index = members[0]! + 1; index < found.steps.result; index++) {
    if (isMember.has(index)) continue;
    const effects = flow.effects[index]!;
    if (effects.stops || writesExec(effects) || effects.writes.includes(MODE_PLACE)) return false;
    if (effects.reads.some((place) => isMember.has(flow.writer(index, place)))) return false;
  }
  return true;
}

function macroOf(flow: Dataflow, found: Match, isLive: Uint8Array): DivisionMacro {
  const { steps } = found;
  const members = membersOf(found);
  const at = steps.result;
  const valueAt = new Map(macroValues.map((value) => [steps[value], value]));
  const live: LiveWord[] = [];
  const flags: LiveFlags[] = [];
  for (const index of members) {
    const { operands } = flow.instructions[index]!;
    for (const [k, operand] of operands.entries()) {
      const isDestination = k === 0 || (k === 1 && (index === steps.ds || index === steps.ns));
      if (!isDestination) continue;
      for (const [w, place] of placesOf(operand).entries()) {
        if (isLive[place] === 0 || overwritten(flow, place, index, at)) continue;
        const word = w === 0 ? 0 : 1;
        if (isVgprPlace(place)) live.push({ value: valueAt.get(index)!, word, register: place });
        else flags.push({ word, code: codeOfPlace(place) });
      }
    }
  }
  const { operands } = flow.instructions[at]!;
  const orders = ordersOf(flow, steps);
  return { steps, members, at, numerator: operands[3]!, denominator: operands[2]!, orders, live, flags };
}

function ordersOf(flow: Dataflow, steps: Match['steps']): FactorOrders {
  const entries = Object.entries(factorsOf) as [MacroProduct, readonly [MacroValue, MacroValue]][];
  const orders = entries.map(([product, [first]]) => {
    const at = steps[product];
    const [, a, b] = flow.instructions[at]!.operands as [Operand, Operand, Operand];
    const isSwapped = flow.writer(at, placesOf(a)[0]!) !== steps[first];
    return [product, { isSwapped, negatesSecond: isSwapped ? !!a.neg : !!b.neg }];
  });
  return Object.fromEntries(orders);
}

function overwritten(flow: Dataflow, place: number, after: number, until: number): boolean {
  for (let index = after + 1; index <= until; index++) if (flow.effects[index]!.writes.includes(place)) return true;
  return false;
}
