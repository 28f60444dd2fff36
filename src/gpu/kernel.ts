/**
 * The WGSL text of one kernel while it is being written. A kernel is a straight line of `let`s: every value has one name and is
 * never changed, so a register is the name of its latest value and costs nothing to copy.
 *
 * One workgroup runs one wavefront, an invocation a lane. All barriers stand in uniform control flow: nothing returns early, and
 * what must not happen (in a wave that has faulted, or beyond the last wave) is held back where memory is written.
 */

import { type Layout, Special } from '../wavefront/layout.ts';
import { bailList, listStart, steps } from './bailList.ts';

/** A function of `shaders/isa`. */
export interface WgslFunction {
  readonly family: string;
  readonly name: string;
}

export const hex = (word: number): string => `0x${(word >>> 0).toString(16)}u`;

/** Statements where a condition holds. */
export const guarded = (condition: string, statements: string[]): string[] =>
  condition === 'true' || statements.length === 0
    ? statements
    : [`if (${condition}) {`, ...statements.map((s) => `  ${s}`), '}'];

/**
 * Whom a kernel runs: `waves`, a wave a workgroup; `list`, the lanes that a kernel before it has put on the bail list, one after the
 * other; `branch`, a lane of the kernel that this text becomes a part of.
 */
export type Granularity = 'waves' | 'list' | 'branch';

/**
 * Who runs LDS atomics.
 *
 * | form   | who                                                                                                   |
 * | ------ | ----------------------------------------------------------------------------------------------------- |
 * | serial | lane 0 for all lanes                                                                                  |
 * | owners | for each place in LDS one lane, its owner (`translate.lds.ts`)                                        |
 * | waves  | an invocation for a whole wave, all LDS instructions being kernels by themselves (`ldsKernel.ts`)     |
 *
 * ds_min_rtn_f64 on distinct, equal, eight random places, times as many waves a second as `serial` in the same run: `waves` 14, 16
 * and 15 on SwiftShader (64 waves at once), 2.6, 5.4 and 4.4 on lavapipe (256). Adapters that compute on the CPU get `waves`: a
 * barrier of 64 invocations costs them more than the rest of the instruction. Others get `owners`.
 */
export type LdsForm = 'serial' | 'owners' | 'waves';

/** What a kernel begins with. */
export interface KernelStart {
  /** Default `owners`. */
  readonly ldsForm?: LdsForm | undefined;
  readonly layout: Layout;
  /** A kernel before this one may have stopped waves. */
  readonly afterFaults: boolean;
  /** All lanes of all waves are active; default false. */
  readonly execIsFull?: boolean;
  /** Default `waves`. */
  readonly runs?: Granularity;
}

/** Waves that one dispatch runs: as many workgroups as every adapter allows in one dimension, so that there is none without a wave. */
export const MAX_WAVES = 65535;

/** Who touches LDS: the lanes that the instruction names, lane 0 for all, or for each place always the same lane. */
export type LdsUser = 'lane 0' | 'lanes' | 'owners';

export class KernelText {
  readonly layout: Layout;
  readonly runs: Granularity;
  /** Words before the special words of a wave. */
  readonly sgprs: number;
  /** bool, alike in all lanes: the wave has not faulted. */
  alive: string;
  readonly #lines: string[] = [];
  readonly #imports = new Map<string, Set<string>>();
  readonly #ballots = new Map<string, string[]>();
  /** Scalar words that every lane, or of which every lane its bit, has read since the last barrier: not to be overwritten yet. */
  readonly #read = new Set<number>();
  readonly #bitsRead = new Set<number>();
  /** The same since the start of the kernel. */
  readonly #everRead = new Set<number>();
  readonly #everBitsRead = new Set<number>();
  #bails = false;
  #steps = false;
  #table = false;
  #names = 0;
  #voteWords = 0;
  #checks = 0;
  #staged = false;
  #bits = false;
  /** Who has touched LDS since the last barrier. */
  #ldsTouched: 'nobody' | LdsUser = 'nobody';

  constructor({ layout, afterFaults, runs = 'waves' }: KernelStart) {
    this.layout = layout;
    this.runs = runs;
    this.sgprs = layout.shape.sgprs;
    // A dispatch has a workgroup for each wave, and no more (`dispatchesOf`). Lanes of a wave that has stopped are never put on the
    // list.
    this.alive = 'true';
    if (afterFaults && runs === 'waves')
      this.alive = this.value('a', `${this.scalarWord(this.special(Special.fault))} == 0u`);
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
    this.#everRead.add(slot);
    return this.value('s', `atomicLoad(&scalars[scalar_base + ${slot}u])`);
  }

  /** This lane's bit of a mask of the state. */
  maskBit(slot: number): string {
    for (let i = 0; i < this.lanes / 32; i++) {
      this.#bitsRead.add(slot + i);
      this.#everBitsRead.add(slot + i);
    }
    const word = this.lanes === 64 ? `${slot}u + (lane >> 5u)` : `${slot}u`;
    return this.value('m', `((atomicLoad(&scalars[scalar_base + ${word}]) >> (lane & 31u)) & 1u) != 0u`);
  }

  /** The place of this lane in a VGPR that begins at a word of the wave's. */
  vectorPlace(word: string): string {
    return `vgprs[wave][${word} + lane]`;
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

  /** Lane 0 has written the word: others are not to overwrite it yet. */
  holdWord(slot: number): void {
    this.#read.add(slot);
  }

  /** Lanes have written their bits of the word. */
  holdBits(slot: number): void {
    this.#bitsRead.add(slot);
  }

  /** What others did to LDS before is done when `by` touches it. */
  beforeLds(by: LdsUser): void {
    const others = this.#ldsTouched !== 'nobody' && (this.#ldsTouched !== by || by === 'lanes');
    if (others) this.storageBarrier();
    this.touchLds(by);
  }

  touchLds(by: LdsUser): void {
    this.#ldsTouched = by;
  }

  /** Whether no lane is `bad`. Else the lowest of these remembers what its wave stops for. Costs a barrier. */
  check(bad: string, fault: { readonly code: string; readonly pc: string; readonly address: string }): string {
    const check = this.#checks++;
    this.line(`if (${bad}) { atomicMin(&first_lane[${check}u], lane); }`);
    this.line('workgroupBarrier();');
    const first = this.value('f', `atomicLoad(&first_lane[${check}u])`);
    this.line(`if (${bad} && lane == ${first}) { fault = vec3u(${fault.code}, ${fault.pc}, ${fault.address}); }`);
    return `${first} >= ${this.lanes}u`;
  }

  /**
   * A lane may be run again by itself, from the buffer, after others have stored: it took part in no vote, and nothing that it
   * read is overwritten, but for its own bits of masks.
   * @param words that lane 0 writes
   * @param masks words that lanes write bit by bit, each its own
   */
  isRepeatable(words: readonly number[], masks: readonly number[]): boolean {
    const votes = this.#voteWords + this.#checks > 0 || this.#staged;
    const overwritten =
      words.some((slot) => this.#everRead.has(slot) || this.#everBitsRead.has(slot)) ||
      masks.some((slot) => this.#everRead.has(slot));
    return !votes && !overwritten;
  }

  /** Statements that put this lane on the bail list. `step`: from which it is to be done, of a loop. */
  bail(step?: string): string[] {
    this.#bails = true;
    const mark = `atomicOr(&bails[wave * ${this.lanes / 32}u + (lane >> 5u)], 1u << (lane & 31u));`;
    return step === undefined ? [mark] : [`${this.#step()} = ${step};`, mark];
  }

  /** `first_step`: from which this lane of the list is to be done. */
  useFirstStep(): void {
    this.line(`let first_step = ${this.#step()};`);
  }

  #step(): string {
    this.#steps = true;
    return `steps[wave * ${this.lanes}u + lane]`;
  }

  /** `table`, `dispatch.w`: numbers that the host gives a dispatch, and where they begin. */
  useTable(): void {
    this.#table = true;
  }

  /** Has a text for a lane by itself done where `condition` holds. */
  branch(condition: string, text: KernelText): void {
    this.line(`if (${condition}) {`);
    for (const line of text.#liveLines()) this.line(line);
    this.line('}');
    for (const [family, names] of text.#imports) for (const name of names) this.call({ family, name }, []);
    this.#bits ||= text.#bits;
  }

  /** The lines but for values that nothing uses. */
  #liveLines(): string[] {
    const used = new Set<string>();
    const live: string[] = [];
    for (const line of this.#lines.toReversed()) {
      const name = /^\s*let (\w+) = /.exec(line)?.[1];
      if (name !== undefined && !used.has(name) && !/atomic(?!Load)/.test(line)) continue;
      for (const [word] of line.matchAll(/[A-Za-z_]\w*/g)) used.add(word);
      live.push(line);
    }
    return live.reverse();
  }

  /** `stage_address`, `stage_data`: a place for each lane in workgroup memory; `callers`: a mask of lanes for each lane. */
  useStage(): void {
    this.#staged = true;
  }

  /** A statement that sets this lane's bit of the mask that begins at a scalar word. */
  storeBit(slot: string, bit: string): string {
    this.#bits = true;
    return `store_bit(scalar_base + ${slot}${this.lanes === 64 ? ' + (lane >> 5u)' : ''}, lane, ${bit});`;
  }

  /** The fault that a check remembered, into the state. Nothing has read these words since the barrier of that check. */
  #report(): string[] {
    const words = [
      [Special.fault, 'fault.x'],
      [Special.faultPc, 'fault.y'],
      [Special.faultLane, 'lane'],
      [Special.faultAddress, 'fault.z'],
    ] as const;
    const store = words.map(
      ([word, text]) => `    atomicStore(&scalars[scalar_base + ${this.special(word)}u], ${text});`,
    );
    return ['  if (fault.x != 0u) {', ...store, '  }'];
  }

  /** The whole module; it imports `package::isa::...`. */
  finish(): string {
    const { scalarWords, vgprWords, shape } = this.layout;
    const cleared = [
      ...clear('votes', this.#voteWords, 0, this.lanes),
      ...clear('first_lane', this.#checks, this.lanes, this.lanes),
      ...(this.#staged ? clear('callers', (this.lanes * this.lanes) / 32, 0, this.lanes) : []),
    ];
    const imports = [...this.#imports].map(
      ([family, names]) => `import package::isa::${family}::{${[...names].sort().join(', ')}};`,
    );
    return [
      ...imports.sort(),
      bindings(vgprWords),
      ...(this.#bails || this.runs === 'list' ? [bailList] : []),
      ...(this.#steps ? [steps] : []),
      ...(this.#table ? [table] : []),
      ...(this.#voteWords > 0 ? [`var<workgroup> votes: array<atomic<u32>, ${this.#voteWords}>;`] : []),
      ...(this.#checks > 0 ? [`var<workgroup> first_lane: array<atomic<u32>, ${this.#checks}>;`] : []),
      ...(this.#staged ? [stage(this.lanes)] : []),
      ...(this.#bits ? [storeBit] : []),
      ...(this.runs === 'list' ? listStart(this.lanes) : waveStart(this.lanes)),
      `  let scalar_base = wave * ${scalarWords}u;`,
      ...(this.#checks > 0 ? [`  let lds_base = (wave / ${shape.wavesPerGroup}u) * ${shape.ldsWords}u;`] : []),
      ...cleared,
      ...(this.#checks > 0 ? ['  var fault = vec3u();'] : []),
      ...(cleared.length > 0 ? ['  workgroupBarrier();'] : []),
      ...this.#liveLines(),
      ...(this.#checks > 0 ? this.#report() : []),
      ...(this.runs === 'list' ? ['  }'] : []),
      '}',
      '',
    ].join('\n');
  }
}

const waveStart = (lanes: number) => [
  `@compute @workgroup_size(${lanes})`,
  'fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {',
  '  let wave = dispatch.x + group.x * dispatch.y;',
];

/** Workgroup memory is never zero by itself here: adapters are asked not to clear it. */
const clear = (name: string, count: number, word: number, lanes: number): string[] =>
  Array.from({ length: Math.ceil(count / lanes) }, (_, i) => {
    const here = Math.min(lanes, count - i * lanes);
    return `  if (lane < ${here}u) { atomicStore(&${name}[${i * lanes}u + lane], ${word}u); }`;
  });

/**
 * `dispatch`: first wave, distance to the next, number of waves, first word of its table. `vgprs` by wave: a driver that has no bounds
 * checks of its own looks up the length of the whole for each index into it, which costs SwiftShader as much as the access.
 */
const bindings = (vgprWords: number) => `
@group(0) @binding(0) var<storage, read_write> scalars: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> vgprs: array<array<u32, ${Math.max(vgprWords, 1)}>>;
@group(0) @binding(2) var<storage, read_write> lds: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> dispatch: vec4u;`;

const table = '@group(0) @binding(5) var<storage, read> table: array<u32>;';

const stage = (lanes: number) => `
var<workgroup> stage_address: array<u32, ${lanes}>;
var<workgroup> stage_data: array<vec2u, ${lanes}>;
var<workgroup> callers: array<atomic<u32>, ${(lanes * lanes) / 32}>;`;

const storeBit = `
fn store_bit(word: u32, lane: u32, bit: bool) {
  let own = 1u << (lane & 31u);
  let change = (atomicLoad(&scalars[word]) & own) ^ select(0u, own, bit);
  if (change != 0u) { atomicXor(&scalars[word], change); }
}`;
