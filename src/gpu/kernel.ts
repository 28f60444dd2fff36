/**
 * The WGSL text of one kernel while it is being written. A kernel is a straight line of `let`s: every value has one name and is
 * never changed, so a register is the name of its latest value and costs nothing to copy.
 *
 * One workgroup runs one wavefront, an invocation a lane. All barriers stand in uniform control flow: nothing returns early, and
 * what must not happen (in a wave that has faulted, or beyond the last wave) is held back where memory is written.
 */
import { type Layout, Special } from '../wavefront/layout.ts';

/** A function of `shaders/isa`. */
export interface WgslFunction {
  readonly family: string;
  readonly name: string;
}

export const hex = (word: number): string => `0x${(word >>> 0).toString(16)}u`;

/** What a kernel begins with. */
export interface KernelStart {
  readonly layout: Layout;
  /** A kernel before this one may have stopped waves. */
  readonly afterFaults: boolean;
}

export class KernelText {
  readonly layout: Layout;
  /** Words before the special words of a wave. */
  readonly sgprs: number;
  /** bool, alike in all lanes: the wave exists and has not faulted. */
  alive: string;
  readonly #lines: string[] = [];
  readonly #imports = new Map<string, Set<string>>();
  readonly #ballots = new Map<string, string[]>();
  /** Scalar words that every lane, or of which every lane its bit, has read since the last barrier: not to be overwritten yet. */
  readonly #read = new Set<number>();
  readonly #bitsRead = new Set<number>();
  #names = 0;
  #voteWords = 0;
  #checks = 0;
  #staged = false;
  #bits = false;
  /** Who has touched LDS since the last barrier. */
  #ldsTouched: 'nobody' | 'lane 0' | 'lanes' = 'nobody';

  constructor({ layout, afterFaults }: KernelStart) {
    this.layout = layout;
    this.sgprs = layout.shape.sgprs;
    this.alive = this.value('a', 'index < dispatch.z');
    if (afterFaults)
      this.alive = this.value('a', `${this.alive} && ${this.scalarWord(this.special(Special.fault))} == 0u`);
  }

  get lanes(): number {
    return this.layout.shape.waveSize;
  }

  /** Word index, within a wave's scalars, of a special word. */
  special(word: number): number {
    return this.sgprs + word;
  }

  line(text: string): void {
    this.#lines.push(`  ${text}`);
  }

  /** Gives an expression a name. */
  value(prefix: string, expression: string): string {
    const name = `${prefix}${this.#names++}`;
    this.line(`let ${name} = ${expression};`);
    return name;
  }

  /** The text of a call; the function is imported. */
  call({ family, name }: WgslFunction, args: readonly string[]): string {
    this.#imports.set(family, (this.#imports.get(family) ?? new Set()).add(name));
    return `${name}(${args.join(', ')})`;
  }

  /** The value of a scalar word as every lane sees it. */
  scalarWord(slot: number): string {
    this.#read.add(slot);
    return this.value('s', `atomicLoad(&scalars[scalar_base + ${slot}u])`);
  }

  /** This lane's bit of a mask of the state. */
  maskBit(slot: number): string {
    for (let i = 0; i < this.lanes / 32; i++) this.#bitsRead.add(slot + i);
    const word = this.lanes === 64 ? `${slot}u + (lane >> 5u)` : `${slot}u`;
    return this.value('m', `((atomicLoad(&scalars[scalar_base + ${word}]) >> (lane & 31u)) & 1u) != 0u`);
  }

  vectorAddress(register: number): string {
    return `vgprs[vector_base + ${register * this.lanes}u]`;
  }

  /** One bit a lane, as the words of a mask that every lane sees. Costs a barrier. */
  ballot(bit: string): string[] {
    const known = this.#ballots.get(bit);
    if (known) return known;
    const first = this.#voteWords;
    const count = this.lanes / 32;
    this.#voteWords += count;
    this.line(`if (${bit}) { atomicOr(&votes[${first}u + (lane >> 5u)], 1u << (lane & 31u)); }`);
    this.line('workgroupBarrier();');
    const words = Array.from({ length: count }, (_, i) => this.value('b', `atomicLoad(&votes[${first + i}u])`));
    this.#ballots.set(bit, words);
    return words;
  }

  /**
   * Lets scalars be overwritten that slower lanes may not have read yet, where there are any.
   * @param words that lane 0 writes
   * @param masks words that lanes write bit by bit, each its own
   */
  beforeWriting(words: readonly number[], masks: readonly number[]): void {
    const early =
      words.some((slot) => this.#bitsRead.has(slot)) || [...words, ...masks].some((slot) => this.#read.has(slot));
    if (early) this.storageBarrier();
  }

  storageBarrier(): void {
    this.line('storageBarrier();');
    this.#read.clear();
    this.#bitsRead.clear();
    this.#ldsTouched = 'nobody';
  }

  /** What others did to LDS before is done when `by` touches it, and scalars may be overwritten. */
  beforeLds(by: 'lane 0' | 'lanes'): void {
    const others = this.#ldsTouched === 'lanes' || (this.#ldsTouched === 'lane 0' && by === 'lanes');
    if (others || this.#read.size + this.#bitsRead.size > 0) this.storageBarrier();
    this.touchLds(by);
  }

  touchLds(by: 'lane 0' | 'lanes'): void {
    this.#ldsTouched = by;
  }

  /** The lowest lane whose `bad` holds, `lanes` if none. Costs a barrier. */
  lowestLane(bad: string): string {
    const check = this.#checks++;
    this.line(`if (${bad}) { atomicMin(&first_lane[${check}u], lane); }`);
    this.line('workgroupBarrier();');
    return this.value('f', `atomicLoad(&first_lane[${check}u])`);
  }

  /** `stage_address`, `stage_data`: a place for each lane in workgroup memory. */
  useStage(): void {
    this.#staged = true;
  }

  /** A statement that sets this lane's bit of a mask in the state. */
  storeBit(slot: number, bit: string): string {
    this.#bits = true;
    return `store_bit(scalar_base + ${slot}u${this.lanes === 64 ? ' + (lane >> 5u)' : ''}, lane, ${bit});`;
  }

  /** The whole module; it imports `package::isa::...`. */
  finish(): string {
    const { scalarWords, vgprWords, shape } = this.layout;
    const cleared = [
      ...clear('votes', this.#voteWords, 0, this.lanes),
      ...clear('first_lane', this.#checks, this.lanes, this.lanes),
    ];
    const imports = [...this.#imports].map(
      ([family, names]) => `import package::isa::${family}::{${[...names].sort().join(', ')}};`,
    );
    return [
      ...imports.sort(),
      bindings,
      ...(this.#voteWords > 0 ? [`var<workgroup> votes: array<atomic<u32>, ${this.#voteWords}>;`] : []),
      ...(this.#checks > 0 ? [`var<workgroup> first_lane: array<atomic<u32>, ${this.#checks}>;`] : []),
      ...(this.#staged ? [stage(this.lanes)] : []),
      ...(this.#bits ? [storeBit] : []),
      `@compute @workgroup_size(${this.lanes})`,
      'fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) lane: u32) {',
      '  let index = group.y * groups.x + group.x;',
      '  let wave = dispatch.x + index * dispatch.y;',
      `  let scalar_base = wave * ${scalarWords}u;`,
      `  let vector_base = wave * ${vgprWords}u + lane;`,
      ...(this.#checks > 0 ? [`  let lds_base = (wave / ${shape.wavesPerGroup}u) * ${shape.ldsWords}u;`] : []),
      ...cleared,
      ...(cleared.length > 0 ? ['  workgroupBarrier();'] : []),
      ...this.#lines,
      '}',
      '',
    ].join('\n');
  }
}

/** Workgroup memory is never zero by itself here: adapters are asked not to clear it. */
const clear = (name: string, count: number, word: number, lanes: number): string[] =>
  Array.from({ length: Math.ceil(count / lanes) }, (_, i) => {
    const here = Math.min(lanes, count - i * lanes);
    return `  if (lane < ${here}u) { atomicStore(&${name}[${i * lanes}u + lane], ${word}u); }`;
  });

/** `dispatch`: first wave, distance to the next, number of waves. */
const bindings = `
@group(0) @binding(0) var<storage, read_write> scalars: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> vgprs: array<u32>;
@group(0) @binding(2) var<storage, read_write> lds: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> dispatch: vec4u;`;

const stage = (lanes: number) => `
var<workgroup> stage_address: array<u32, ${lanes}>;
var<workgroup> stage_data: array<vec2u, ${lanes}>;`;

const storeBit = `
fn store_bit(word: u32, lane: u32, bit: bool) {
  let own = 1u << (lane & 31u);
  let change = (atomicLoad(&scalars[word]) & own) ^ select(0u, own, bit);
  if (change != 0u) { atomicXor(&scalars[word], change); }
}`;
