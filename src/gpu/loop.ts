/**
 * Steps rolled up into a loop, and everything in which one iteration differs from another as numbers of a table: which slots it uses,
 * which registers these read and write, modifiers, constants.
 */
import { type Schedule, schedule } from './loopSchedule.ts';
import type { SourceWord, Step } from './translate.step.ts';

/** A number that the iterations have in common, or that lies in a column of the table but for `plus`. */
export type Cell = { readonly constant: number } | { readonly column: number; readonly plus: number };

/** The value of a cell that says that a word is not kept. */
export const NOWHERE = 0xffffffff;

type Numbers = (number | undefined)[];

/** An iteration a row. Columns that differ by a constant are one. */
class Table {
  readonly #rows: number;
  readonly #columns: Numbers[] = [];

  constructor(rows: number) {
    this.#rows = rows;
  }

  /** @param values by iteration; undefined where nobody looks */
  cell(values: readonly (number | undefined)[]): Cell {
    const known = values.filter((value) => value !== undefined);
    const [first = 0] = known;
    if (known.every((value) => value === first)) return { constant: first };
    for (const [column, numbers] of this.#columns.entries()) {
      const differences = values.flatMap((value, i) => {
        const number = numbers[i];
        return value === undefined || number === undefined ? [] : [(value - number) >>> 0];
      });
      const [plus = 0] = differences;
      if (differences.some((difference) => difference !== plus)) continue;
      this.#fill(numbers, values, plus);
      return { column, plus };
    }
    const numbers: Numbers = Array.from({ length: this.#rows });
    this.#fill(numbers, values, 0);
    return { column: this.#columns.push(numbers) - 1, plus: 0 };
  }

  #fill(numbers: Numbers, values: readonly (number | undefined)[], plus: number): void {
    for (const [i, value] of values.entries()) if (value !== undefined) numbers[i] = (value - plus) >>> 0;
  }

  get columns(): number {
    return this.#columns.length;
  }

  words(): number[] {
    const rows = Array.from({ length: this.#rows }, (_, i) => this.#columns.map((column) => column[i] ?? 0));
    return [this.#rows, ...rows.flat()];
  }
}

/** How the steps of a slot find a word of a source. */
export interface WordCells {
  /** Where they take it from, constants apart, and which a step takes if they do both: 1 for a scalar. */
  readonly hasVgpr: boolean;
  readonly hasScalar: boolean;
  readonly isScalar: Cell;
  /** First word of the VGPR within a wave's; the scalar word. */
  readonly vgpr: Cell;
  readonly scalar: Cell;
  readonly and: Cell;
  readonly xor: Cell;
}

/** Where a word or a mask goes. */
export interface Target {
  readonly at: Cell;
  /** In some iterations it goes nowhere. */
  readonly sometimes: boolean;
}

export interface SlotCells {
  /** 1 in iterations that use the slot. */
  readonly used: Cell;
  /** One of its steps: they differ in numbers only. */
  readonly step: Step;
  readonly sources: readonly { readonly bit: boolean; readonly words: readonly WordCells[] }[];
  readonly numbers: readonly Cell[];
  /** For each word of the outcome the first word of its VGPR within a wave's. */
  readonly registers: readonly Target[];
  /** Scalar words at which masks begin. */
  readonly masks: readonly Target[];
}

export class Loop {
  readonly steps: readonly Step[];
  readonly schedule: Schedule<Step>;
  readonly slots: readonly SlotCells[];
  /** The number of iterations, then `columns` words for each. */
  readonly table: readonly number[];
  readonly columns: number;
  readonly #lanes: number;
  readonly #table: Table;

  /** @param limit operations that the slots may have together, if that can be */
  constructor(steps: readonly Step[], lanes: number, limit: number) {
    this.steps = steps;
    this.schedule = schedule(steps, limit);
    this.#lanes = lanes;
    this.#table = new Table(this.schedule.rows.length);
    this.slots = this.schedule.slots.map((_, slot) => this.#slot(this.schedule.rows.map((row) => row[slot])));
    this.table = this.#table.words();
    this.columns = this.#table.columns;
  }

  /** The table in parts of at most so many steps, if an iteration has not more, and the steps of each. */
  parts(most: number): { readonly table: readonly number[]; readonly steps: number }[] {
    const parts: { table: number[]; steps: number }[] = [];
    for (const [i, row] of this.schedule.rows.entries()) {
      const steps = row.filter((step) => step !== undefined).length;
      let part = parts.at(-1);
      if (part === undefined || part.steps + steps > most) {
        part = { table: [0], steps: 0 };
        parts.push(part);
      }
      part.table[0]!++;
      for (let column = 0; column < this.columns; column++) part.table.push(this.table[1 + i * this.columns + column]!);
      part.steps += steps;
    }
    return parts;
  }

  #slot(steps: readonly (Step | undefined)[]): SlotCells {
    const step = steps.find((s) => s !== undefined)!;
    const cell = (of: (step: Step) => number) => this.#table.cell(steps.map((s) => s && of(s)));
    const target = (of: (step: Step) => number | undefined): Target => ({
      at: cell((s) => of(s) ?? NOWHERE),
      sometimes: steps.some((s) => s && of(s) === undefined),
    });
    const address = (register: number | undefined) => register && register * this.#lanes;
    const masks = Math.max(...steps.map((s) => s?.masks.length ?? 0));
    return {
      used: this.#table.cell(steps.map((s) => (s ? 1 : 0))),
      step,
      sources: step.sources.map(({ bit, words }, i) => ({
        bit,
        words: words.map((_, w) => this.#word(steps.map((s) => s?.sources[i]?.words[w]))),
      })),
      numbers: step.numbers.map((_, i) => cell((s) => s.numbers[i]!)),
      registers: step.registers.map((_, i) => target((s) => address(s.registers[i]))),
      masks: Array.from({ length: masks }, (_, i) => target((s) => s.masks[i])),
    };
  }

  #word(words: readonly (SourceWord | undefined)[]): WordCells {
    const cell = (of: (word: SourceWord) => number | undefined) => this.#table.cell(words.map((w) => w && of(w)));
    const has = (from: SourceWord['from']) => words.some((w) => w?.from === from);
    return {
      hasVgpr: has('vgpr'),
      hasScalar: has('scalar'),
      isScalar: cell(({ from }) => (from === 'constant' ? undefined : Number(from === 'scalar'))),
      vgpr: cell(({ from, at }) => (from === 'vgpr' ? at * this.#lanes : undefined)),
      scalar: cell(({ from, at }) => (from === 'scalar' ? at : undefined)),
      and: cell(({ and }) => and),
      xor: cell(({ xor }) => xor),
    };
  }
}
