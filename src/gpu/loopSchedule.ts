/**
 * Rolls a row of steps up into a loop. The body of the loop is a sequence of slots, each for steps of one kind; an iteration runs
 * the next steps of the program in slots that follow each other, and leaves out slots that don't fit. Sixteen times the same eleven
 * kinds are sixteen iterations of eleven slots, or more iterations of a slot for each distinct kind.
 */

/** What a schedule must know of a step. */
export interface Schedulable {
  /** Steps of one kind can take the same slot. */
  readonly kind: string;
  /** Operations that a slot for it costs. */
  readonly cost: number;
}

interface Slots {
  /** The kinds of the slots. */
  readonly slots: readonly string[];
  /** Operations of all slots together. */
  readonly cost: number;
}

export interface Schedule<Step> extends Slots {
  /** For each iteration the step in each slot, or none. */
  readonly rows: readonly (readonly (Step | undefined)[])[];
}

/** Where a stretch may begin that is tried as the sequence of slots, and how long it may be. */
const STARTS = 32;
const LENGTH = 32;

/** Steps that sequences are tried on. */
const SAMPLE = 512;

/** What operations more to compile must save of those to run. */
const WORTH = 0.9;

/**
 * A schedule with few operations to run, where a driver runs all slots of each iteration, whose slots have at most `limit` operations
 * to compile; if there is none, the one with a slot for each kind.
 *
 * Tried are stretches of the program itself, since programs repeat themselves, each with the kinds that it lacks behind it.
 */
export function schedule<Step extends Schedulable>(steps: readonly Step[], limit: number): Schedule<Step> {
  const costs = new Map(steps.map(({ kind, cost }) => [kind, cost]));
  const all = [...costs.keys()];
  const costOf = (slots: readonly string[]) => slots.reduce((sum, kind) => sum + costs.get(kind)!, 0);
  const candidates = new Map<string, Slots>();
  for (let start = 0; start < Math.min(steps.length, STARTS); start++)
    for (let length = 1; length <= Math.min(LENGTH, steps.length - start); length++) {
      const stretch = steps.slice(start, start + length).map(({ kind }) => kind);
      const slots = [...stretch, ...all.filter((kind) => !stretch.includes(kind))];
      const cost = costOf(slots);
      if (cost <= limit) candidates.set(slots.join(), { slots, cost });
    }
  const sample = steps.slice(0, SAMPLE);
  const runCost = ({ slots, cost }: Slots) => assign(sample, slots).length * cost;
  let best: Slots = { slots: all, cost: costOf(all) };
  for (const candidate of [...candidates.values()].sort((a, b) => a.cost - b.cost))
    if (runCost(candidate) < WORTH * runCost(best)) best = candidate;
  return { ...best, rows: assign(steps, best.slots) };
}

/** Each step in the next slot of its kind, in a new iteration where there is none left. */
function assign<Step extends Schedulable>(steps: readonly Step[], slots: readonly string[]): Schedule<Step>['rows'] {
  const rows: (Step | undefined)[][] = [];
  let next = slots.length;
  for (const step of steps) {
    let slot = slots.indexOf(step.kind, next);
    if (slot < 0) {
      rows.push(Array.from({ length: slots.length }));
      slot = slots.indexOf(step.kind);
    }
    rows.at(-1)![slot] = step;
    next = slot + 1;
  }
  return rows;
}
