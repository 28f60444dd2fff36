/**
 * A stretch of vector instructions as a loop: one copy of each body, and a table that says which registers an iteration reads and
 * writes. Registers lie in the state buffer all the time. What a driver compiles depends on the bodies and not on how many instructions
 * there are, and programs that differ in registers alone share a kernel. (lavapipe takes 30 s for a kernel that has a table of 900 words
 * as a constant or private array, half a second with the table in a buffer; rates are alike.)
 *
 * Nothing here needs another lane: a lane reads and writes its own VGPRs and its own bits of masks, and scalar words that are read whole
 * are not written.
 */
import type { Variant } from '../isa/target.ts';
import { guarded, hex, type KernelStart, type KernelText } from './kernel.ts';
import { type Cell, type Loop, NOWHERE, type SlotCells, type Target, type WordCells } from './loop.ts';
import type { Outcome } from './translate.instruction.ts';
import { type KnownMode, value, WaveText } from './waveText.ts';

/** What becomes of a lane that a step can't do: there is no such step, it goes on the bail list, a branch does it. */
export type LoopBail = 'never' | 'list' | 'branch';

/**
 * The module.
 * @param listIsOf where it runs over a bail list: whose that is. A loop leaves each lane the step to begin at, a straight kernel none
 */
export function loopKernel(
  loop: Loop,
  start: KernelStart,
  variant: Variant,
  knownMode: KnownMode | undefined,
  bail: LoopBail,
  listIsOf: 'loop' | 'straight' = 'loop',
): string {
  return new LoopText(loop, start, variant, knownMode, bail).module(start.runs === 'list' && listIsOf === 'loop');
}

class LoopText {
  readonly #loop: Loop;
  readonly #bail: LoopBail;
  readonly #wave: WaveText;
  readonly #kernel: KernelText;
  readonly #exec: string;

  constructor(loop: Loop, start: KernelStart, variant: Variant, knownMode: KnownMode | undefined, bail: LoopBail) {
    this.#loop = loop;
    this.#bail = bail;
    this.#wave = new WaveText(start, variant, knownMode, bail === 'never' ? 'complete' : 'fused');
    this.#kernel = this.#wave.kernel;
    // What is read once must not be read for the first time within a branch.
    this.#exec = this.#wave.exec;
    void this.#wave.mode;
  }

  /** @param resumes a lane begins at the step that could not do it */
  module(resumes: boolean): string {
    const { slots, columns } = this.#loop;
    const kernel = this.#kernel;
    kernel.useTable();
    kernel.line('let iterations = table[dispatch.w];');
    if (resumes) kernel.useFirstStep();
    const first = resumes ? `first_step / ${slots.length}u` : '0u';
    // The condition stands behind the turn: drivers that run lanes side by side would run one more turn, in which no lane is.
    kernel.line(`var i = ${first};`);
    kernel.line('loop {');
    kernel.line(`let row = dispatch.w + 1u + i * ${columns}u;`);
    for (let column = 0; column < columns; column++) kernel.line(`let column${column} = table[row + ${column}u];`);
    for (const [s, slot] of slots.entries()) {
      const step = `i * ${slots.length}u + ${s}u`;
      const conditions = [
        kernel.alive,
        'constant' in slot.used ? 'true' : `${text(slot.used)} != 0u`,
        resumes && slots.length > 1 ? `first_step <= ${step}` : 'true',
      ].filter((condition) => condition !== 'true');
      kernel.line(conditions.length > 0 ? `if (${conditions.join(' && ')}) {` : '{');
      this.#slot(slot, step);
      kernel.line('}');
    }
    kernel.line('continuing { i++; break if i >= iterations; }');
    kernel.line('}');
    return kernel.finish();
  }

  #slot({ step, sources, numbers, registers, masks }: SlotCells, place: string): void {
    const wave = this.#wave;
    const kernel = this.#kernel;
    // Read before anything is stored.
    const args = sources.map(({ bit, words }) =>
      bit ? this.#bit(words) : kernel.value('v', value(words.map((word) => this.#word(word)))),
    );
    const call = (complete: boolean) => step.call(wave, args, numbers.map(text), complete);
    const outcome = call(this.#bail === 'never');
    if (outcome.ok === undefined) {
      this.#store(outcome, registers, masks);
      return;
    }
    const bails = `${this.#exec === 'true' ? '' : `${this.#exec} && `}!${outcome.ok}`;
    kernel.line(`if (${bails}) {`);
    if (this.#bail === 'list') {
      for (const line of kernel.bail(place)) kernel.line(line);
      kernel.line('break;');
      kernel.line('}');
      this.#store(outcome, registers, masks);
    } else {
      this.#store(call(true), registers, masks);
      kernel.line('} else {');
      this.#store(outcome, registers, masks);
      kernel.line('}');
    }
  }

  /** This lane's bit of a mask. Lanes of the second word find it next to the first. */
  #bit(words: readonly WordCells[]): string {
    const [low, high] = words as [WordCells, WordCells?];
    const xor = high ? `select(${text(low.xor)}, ${text(high.xor)}, lane >= 32u)` : text(low.xor);
    const slot = `${text(low.scalar)}${high ? ' + (lane >> 5u)' : ''}`;
    const state = low.hasScalar ? `(atomicLoad(&scalars[scalar_base + ${slot}]) & ${text(low.and)}) ^ ` : '';
    return this.#kernel.value('m', `(((${state}${xor}) >> (lane & 31u)) & 1u) != 0u`);
  }

  #word({ hasVgpr, hasScalar, isScalar, vgpr, scalar, and, xor }: WordCells): string {
    if (!hasVgpr && !hasScalar) return text(xor);
    const register = this.#kernel.vectorPlace(text(vgpr));
    const uniform = `atomicLoad(&scalars[scalar_base + ${text(scalar)}])`;
    const either = `select(${register}, ${uniform}, ${text(isScalar)} != 0u)`;
    const state = hasVgpr && hasScalar ? either : hasVgpr ? register : uniform;
    const kept = 'constant' in and && and.constant === 0xffffffff ? state : `(${state} & ${text(and)})`;
    return 'constant' in xor && xor.constant === 0 ? kept : `(${kept} ^ ${text(xor)})`;
  }

  /** An active lane's words, and every lane's bit of masks. */
  #store({ words, flag }: Outcome, registers: readonly Target[], masks: readonly Target[]): void {
    const kernel = this.#kernel;
    const exec = this.#exec;
    const stores = registers.flatMap((register, i) => to(register, (at) => `${kernel.vectorPlace(at)} = ${words[i]};`));
    for (const line of guarded(exec, stores)) kernel.line(line);
    const bit = masks.length > 0 ? this.#wave.activeBit(flag) : flag;
    for (const line of masks.flatMap((mask) => to(mask, (at) => kernel.storeBit(at, bit)))) kernel.line(line);
  }
}

function to({ at, sometimes }: Target, statement: (at: string) => string): string[] {
  if ('constant' in at && at.constant === NOWHERE) return [];
  return guarded(sometimes ? `${text(at)} != ${hex(NOWHERE)}` : 'true', [statement(text(at))]);
}

function text(cell: Cell): string {
  if ('constant' in cell) return hex(cell.constant);
  return cell.plus === 0 ? `column${cell.column}` : `(column${cell.column} + ${hex(cell.plus)})`;
}
