/** The division macro by vector instructions of WebAssembly: what calls assembly/divisionMacro.ts. */
import { RCP_ROM } from '../float/rom.ts';
import { type FactorOrders, type MacroValue, macroValues } from './divisionMacro.ts';
import { divisionMacroWasm } from './divisionMacro.wasm.ts';
import { scaled } from './divisionMacroScale.ts';
import { SIGN, type Words } from './divisionMacroWords.ts';
import type { LaneMemory } from './laneMemory.ts';

interface Exports {
  readonly divide: (frame: number, lanes: number, isDirect: boolean) => number;
}

/** Undefined where there is no WebAssembly or it has no vectors. */
const compiled = compile();

function compile(): WebAssembly.Module | undefined {
  try {
    return new WebAssembly.Module(Uint8Array.from(atob(divisionMacroWasm), (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Where a frame has the addresses of the operands. */
const OPERANDS = 16;

const ALL_ONES = 0xffffffff;

/** Rows as the cubic is computed from: the first coefficient with its constant, the third at the scale of its sum. */
const rom = Float64Array.from(RCP_ROM, (coefficient, i) => {
  const segment = i >> 2;
  const parts = [coefficient * 512 + (segment === 0 ? 0 : 256), coefficient, coefficient * 256, coefficient];
  return parts[i & 3]!;
});

/** What a macro takes of a memory at most, columns for all its values included. */
export const vectorBytes = (lanes: number): number => 4096 + 256 * lanes;

/** The outputs of a macro, all of them. */
export interface MacroColumns {
  readonly flag: Uint32Array;
  readonly values: Readonly<Record<MacroValue, Words>>;
}

export class DivisionMacroVectors {
  /** The operands of the last run as they were. */
  readonly n: Words;
  readonly d: Words;
  /** The lanes that it did not do. */
  readonly left: Uint8Array;

  readonly #memory: LaneMemory;
  readonly #lanes: number;
  readonly #exports: Exports;
  readonly #frame: Uint32Array;

  /** Undefined where there are no such instructions. @param memory where all columns lie */
  static over(memory: LaneMemory, columns: MacroColumns, orders: FactorOrders): DivisionMacroVectors | undefined {
    if (!compiled) return undefined;
    const instance = new WebAssembly.Instance(compiled, { env: { memory: memory.memory } });
    return new DivisionMacroVectors(memory, instance.exports as unknown as Exports, columns, orders);
  }

  private constructor(memory: LaneMemory, exports: Exports, { flag, values }: MacroColumns, orders: FactorOrders) {
    const lanes = flag.length;
    this.#memory = memory;
    this.#lanes = lanes;
    this.#exports = exports;
    [this.n, this.d] = [
      [memory.words(lanes), memory.words(lanes)],
      [memory.words(lanes), memory.words(lanes)],
    ];
    this.left = memory.bytes(lanes);
    const copy = (bytes: ArrayBufferView) => {
      const place = memory.bytes(bytes.byteLength);
      place.set(new Uint8Array(bytes.buffer));
      return place;
    };
    const powers = (exponents: Int16Array) => copy(Int8Array.from(exponents, (exponent) => exponent / 128));
    const [doubles, integers] = [() => memory.bytes(8 * lanes), () => memory.bytes(4 * lanes)];
    const significands = [doubles(), doubles(), doubles(), doubles()];
    const [exponents, masks, lists] = [
      [integers(), integers()],
      [integers(), integers()],
      [integers(), integers()],
    ];
    const operands = [...this.n, ...this.d];
    const columns = [
      ...[powers(scaled.n), powers(scaled.d), copy(scaled.flag), copy(rom)],
      ...[...significands, ...exponents, ...masks, ...lists, this.left, flag],
      ...[...operands, ...operands, ...macroValues.flatMap((value) => values[value])],
    ];
    const { e0, r1, e1, r2, q, t, p } = orders;
    const swapped = [e0, r1, e1, r2, q, t, p].map(({ isSwapped }) => (isSwapped ? ALL_ONES : 0));
    const minus = [e0, e1, t].map(({ negatesSecond }) => (negatesSecond ? 0 : SIGN));
    const frame = [...columns.map(({ byteOffset }) => byteOffset), ...swapped, ...minus];
    this.#frame = memory.words(frame.length);
    this.#frame.set(frame);
  }

  /** Does all lanes but those in `left`; returns how many these are. @param isDirect whether nobody wants the steps from r0 to e1 */
  run(n: Words, d: Words, isDirect: boolean): number {
    this.#take(n, this.n, OPERANDS);
    this.#take(d, this.d, OPERANDS + 2);
    return this.#exports.divide(this.#frame.byteOffset, this.#lanes, isDirect);
  }

  /** Tells the frame where an operand is: where it lies already, or in its copy. */
  #take(operand: Words, copy: Words, place: number): void {
    for (let word = 0; word < 2; word++) {
      const isSeen = this.#memory.holds(operand[word]!);
      if (!isSeen) copy[word]!.set(operand[word]!);
      this.#frame[place + word] = (isSeen ? operand : copy)[word]!.byteOffset;
    }
  }
}
