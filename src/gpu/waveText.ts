/** A wave in a kernel: its registers, MODE and EXEC, as instructions read and write them. */
import { constantWords, type Operand, type OperandType, wordsOf } from '../isa/operand.ts';
import type { Variant } from '../isa/target.ts';
import { Special, scalarSlot } from '../wavefront/layout.ts';
import { isNearestF64 } from '../wavefront/mode.ts';
import { Scalar } from '../wavefront/registers.ts';
import { FaultCode } from '../wavefront/state.ts';
import { guarded, hex, type KernelStart, KernelText, type LdsForm, type WgslFunction } from './kernel.ts';
import { ScalarFile } from './scalarFile.ts';
import { pair, VectorFile } from './vectorFile.ts';

/** MODE as a WGSL expression, and the functions it calls: kept from kernel to kernel while it is made of constants alone. */
export interface KnownMode {
  readonly value: number;
  readonly text: string;
  readonly calls: readonly WgslFunction[];
}

/**
 * How a kernel does what has a shorter form for most operands (`forms.ts`): `complete`, for all operands; `fused`, division macros at
 * once; `fast`, also single instructions in their fast form.
 */
export type Tier = 'complete' | 'fused' | 'fast';

/** Everything about a wave that instructions act on, while one kernel is written. */
export class WaveText {
  readonly kernel: KernelText;
  readonly vectors: VectorFile;
  readonly scalars: ScalarFile;
  readonly variant: Variant;
  readonly ldsForm: LdsForm;
  readonly tier: Tier;
  /** f64 values as fast instructions have them, by the text of their words: those that are required to be right under the present EXEC. */
  readonly opened = new Map<string, string>();
  /** Undefined when MODE is known only where the program runs. */
  knownMode: KnownMode | undefined;
  #mode: string;
  /** bool: so far nothing has kept this lane from being done here; undefined while nothing could. */
  #ok: string | undefined;
  /** The same, of instructions under the present EXEC. */
  #pending: string | undefined;

  constructor(start: KernelStart, variant: Variant, knownMode: KnownMode | undefined, tier: Tier = 'complete') {
    this.tier = tier;
    this.kernel = new KernelText(start);
    this.vectors = new VectorFile(this.kernel);
    this.scalars = new ScalarFile(this.kernel);
    if (start.execIsFull) this.scalars.setFull(this.execSlot);
    this.variant = variant;
    this.ldsForm = start.ldsForm ?? 'owners';
    this.knownMode = knownMode;
    this.#mode = '';
    if (knownMode) {
      for (const call of knownMode.calls) this.kernel.call(call, []);
      this.#mode = this.kernel.value('mode', knownMode.text);
    }
  }

  /** MODE as it stands in the register. */
  get mode(): string {
    if (this.#mode === '') this.#mode = this.kernel.value('mode', this.scalars.word(this.kernel.special(Special.mode)));
    return this.#mode;
  }

  set mode(value: string) {
    this.#mode = value;
    this.scalars.writeWords(this.kernel.special(Special.mode), [value]);
  }

  /** MODE as vector instructions act on it: gfx12 has neither DX10_CLAMP nor IEEE and acts as if both were set. */
  get effectiveMode(): string {
    return this.variant.target.hasIeeeBit ? this.mode : `(${this.mode} | 0x300u)`;
  }

  get execSlot(): number {
    return this.kernel.special(Special.execLo);
  }

  /** This lane's EXEC bit. */
  get exec(): string {
    return this.scalars.bit(this.execSlot);
  }

  /** All lanes are active. */
  get execIsFull(): boolean {
    return this.scalars.isFull(this.execSlot);
  }

  slot(code: number): number | undefined {
    return scalarSlot(this.kernel.sgprs, code);
  }

  writeScalar(code: number, values: readonly string[]): void {
    const slot = this.slot(code);
    if (slot === undefined) return;
    if (code === Scalar.execLo || code === Scalar.execHi) this.#changeExec();
    this.scalars.writeWords(slot, values);
  }

  /** A flag as a mask has it: zero in lanes that are not active. */
  activeBit(flag: string): string {
    return flag === 'false' ? flag : this.kernel.value('m', this.exec === 'true' ? flag : `${this.exec} && ${flag}`);
  }

  writeMask(code: number, bit: string): void {
    const slot = this.slot(code);
    if (slot === undefined) return;
    if (code === Scalar.execLo) this.#changeExec();
    this.scalars.writeBit(slot, bit);
  }

  /** The words of a source, modifiers applied. */
  sourceWords(operand: Operand, type: OperandType): string[] {
    const words = this.#plainWords(operand, wordsOf(type, this.kernel.layout.shape.waveSize), type);
    const top = words.length - 1;
    if (operand.abs) words[top] = `(${words[top]} & 0x7fffffffu)`;
    if (operand.neg) words[top] = `(${words[top]} ^ 0x80000000u)`;
    return words;
  }

  #plainWords(operand: Operand, count: number, type: OperandType): string[] {
    const each = (word: (i: number) => string) => Array.from({ length: count }, (_, i) => word(i));
    switch (operand.kind) {
      case 'vgpr':
        return each((i) => this.vectors.read(operand.index + i));
      case 'scalar':
        return each((i) => {
          const slot = this.slot(operand.code + (operand.code === Scalar.null ? 0 : i));
          return slot === undefined ? hex(0) : this.scalars.word(slot);
        });
      case 'immediate':
        return each((i) => hex(i === 0 ? operand.value : 0));
      default:
        return constantWords(operand, type).slice(0, count).map(hex);
    }
  }

  /** This lane's bit of a mask source. A constant is one of as many bits as the wave has lanes. */
  sourceBit(operand: Operand): string {
    const type = this.kernel.lanes === 64 ? 'b64' : 'b32';
    if (operand.kind !== 'scalar') return this.scalars.bitOf(this.sourceWords(operand, type));
    const slot = this.slot(operand.code);
    return slot === undefined ? 'false' : this.scalars.bit(slot);
  }

  /** A source as the argument of a body. */
  argument(operand: Operand, type: OperandType): string {
    if (type === 'mask') return this.sourceBit(operand);
    return value(this.sourceWords(operand, type));
  }

  #changeExec(): void {
    this.#settleOk();
    this.opened.clear();
    this.vectors.changeExec(() => this.exec);
  }

  /** Instructions may be fast ones here. */
  get isFast(): boolean {
    return this.tier === 'fast' && this.knownMode !== undefined && isNearestF64(this.knownMode.value);
  }

  /** A lane in which `ok` does not hold, if it is active, is to be done by the complete form. */
  require(ok: string): void {
    this.#pending = this.#pending === undefined ? ok : this.kernel.value('ok', `${this.#pending} & ${ok}`);
  }

  /** Some lane may have to be done by the complete form. */
  get mayBail(): boolean {
    return this.#ok !== undefined || this.#pending !== undefined;
  }

  #settleOk(): void {
    if (this.#pending === undefined) return;
    const here = this.execIsFull ? this.#pending : `(!${this.exec} | ${this.#pending})`;
    this.#ok = this.kernel.value('ok', this.#ok === undefined ? here : `${this.#ok} & ${here}`);
    this.#pending = undefined;
  }

  /** A lane can be done again by itself after this kernel. */
  get isRepeatable(): boolean {
    return (
      this.scalars.isSettled && this.kernel.isRepeatable(this.scalars.stored('words'), this.scalars.stored('bits'))
    );
  }

  /** Statements that bring the state in the buffer up to date; they hold no barrier. */
  stores(): string[] {
    return guarded(this.kernel.alive, [...this.scalars.wordStores(), ...this.laneStores()]);
  }

  /** What a lane stores of its own. */
  laneStores(): string[] {
    return [...this.scalars.maskStores(), ...this.vectors.stores(() => this.exec)];
  }

  /** Brings the state in the buffer up to date before an instruction that may stop the wave. */
  commit(): void {
    const { kernel, scalars, vectors } = this;
    scalars.settle();
    kernel.beforeWriting(scalars.stored('words'), scalars.stored('bits'));
    for (const statement of this.stores()) kernel.line(statement);
    scalars.markStored();
    vectors.markStored();
  }

  /** Ends the wave with a fault: it has used up its step budget before the instruction at `pc`. */
  stop(pc: number): void {
    const { kernel } = this;
    const slot = (word: number) => `&scalars[scalar_base + ${kernel.special(word)}u]`;
    kernel.beforeWriting([kernel.special(Special.fault)], []);
    kernel.line(`if (${kernel.alive} && lane == 0u) {`);
    kernel.line(`  atomicStore(${slot(Special.fault)}, ${FaultCode.stepBudget}u);`);
    kernel.line(`  atomicStore(${slot(Special.faultPc)}, ${hex(pc)});`);
    kernel.line('}');
  }

  /** Brings the state in the buffer up to date, and gives the module. */
  finish(): string {
    this.commit();
    return this.kernel.finish();
  }

  /**
   * The same of a fast kernel. A lane that is not ok leaves alone what the complete form will read. The rest that form writes anew, so
   * that here every lane may.
   * @param slow the complete form: a branch of this kernel, or to be run over the bail list
   */
  finishFast(slow: WaveText): string {
    const { kernel, scalars, vectors } = this;
    this.#settleOk();
    const ok = `${this.#ok}`;
    const isFree = (register: number) => this.execIsFull && !slow.vectors.loaded.has(register);
    const stores = [
      ...scalars.wordStores(),
      ...guarded(ok, scalars.maskStores()),
      ...vectors.stores(
        () => this.exec,
        (register) => (isFree(register) ? 'true' : ok),
      ),
    ];
    for (const statement of guarded(kernel.alive, stores)) kernel.line(statement);
    const bails = kernel.alive === 'true' ? `!${ok}` : `${kernel.alive} & !${ok}`;
    if (slow.kernel.runs === 'branch') kernel.branch(bails, slow.kernel);
    else for (const line of guarded(bails, kernel.bail())) kernel.line(line);
    return kernel.finish();
  }

  /** Brings a single lane's part of the state up to date. */
  finishLane(): void {
    for (const statement of guarded(this.kernel.alive, this.laneStores())) this.kernel.line(statement);
  }
}

/** One, two or four words as a WGSL value. */
export function value(words: readonly string[]): string {
  if (words.length === 1) return words[0]!;
  return words.length === 2 ? pair(words[0]!, words[1]!) : `vec4u(${words.join(', ')})`;
}
