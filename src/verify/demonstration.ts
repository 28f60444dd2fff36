/**
 * The built-in demonstration: the f64 division macro and the LDS minimum, as LLVM 22 emits them for each generation
 * (`fdiv double`, `atomicrmw fmin double` in addrspace(3)), but with a register for each step, so that each is compared.
 *
 * | registers | v[0:1]    | v[2:3]      | v4          | v[6:7] | v[8:9]     | v[10:11] | v[12:13] | v[14:15] | v[16:17] | v[18:19] | v[20:21] | v[22:23]  |
 * | --------- | --------- | ----------- | ----------- | ------ | ---------- | -------- | -------- | -------- | -------- | -------- | -------- | --------- |
 * | holds     | numerator | denominator | LDS address | ds     | reciprocal | fma      | ns       | q        | residual | fmas     | quotient | old value |
 */
import type { Profile, Target } from '../isa/target.ts';
import type { Shape } from '../wavefront/layout.ts';
import { Special } from '../wavefront/layout.ts';
import { KERNEL_MODE } from '../wavefront/mode.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { WaveState } from '../wavefront/state.ts';
import { drawLanes, LANES_AT_ONCE } from './drawLanes.ts';
import { classes, everyClass, type OperandClass } from './operands.ts';
import { below, Random } from './random.ts';

export const NUMERATOR = 0;
export const DENOMINATOR = 2;
export const ADDRESS = 4;
export const QUOTIENT = 20;

/** Doubles of LDS that the lanes of a wave share: about as many as lanes, so that some meet and some don't. */
const LDS_DOUBLES = 64;

/** First registers of the pairs that a division macro reads and writes. */
export interface DivisionRegisters {
  readonly n: number;
  readonly d: number;
  readonly ds: number;
  /** The reciprocal, refined in place, and its errors. */
  readonly r: number;
  readonly e: number;
  readonly ns: number;
  readonly q: number;
  readonly t: number;
  readonly p: number;
  readonly result: number;
}

/** The lines of the division macro as LLVM emits it for the target, in these registers. */
export function divisionLines(target: Target, wave: WaveSize, registers: DivisionRegisters): string[] {
  const pair = (name: keyof DivisionRegisters) => `v[${registers[name]}:${registers[name] + 1}]`;
  const [n, d, ds, r, e] = [pair('n'), pair('d'), pair('ds'), pair('r'), pair('e')];
  const [ns, q, t, p] = [pair('ns'), pair('q'), pair('t'), pair('p')];
  const vcc = wave === 64 ? 'vcc' : 'vcc_lo';
  const dropped = target.generation === 'gfx9' ? 's[0:1]' : 'null';
  const refine = target.cdna >= 2 ? `v_fmac_f64_e32 ${r}, ${r}, ${e}` : `v_fma_f64 ${r}, ${r}, ${e}, ${r}`;
  return [
    `v_div_scale_f64 ${ds}, ${dropped}, ${d}, ${d}, ${n}`,
    `v_rcp_f64_e32 ${r}, ${ds}`,
    ...(target.generation === 'gfx11' ? ['s_waitcnt_depctr depctr_va_vdst(0)'] : []),
    `v_fma_f64 ${e}, -${ds}, ${r}, 1.0`,
    refine,
    `v_fma_f64 ${e}, -${ds}, ${r}, 1.0`,
    refine,
    `v_div_scale_f64 ${ns}, ${vcc}, ${n}, ${d}, ${n}`,
    `v_mul_f64${target.generation === 'gfx12' ? '_e32' : ''} ${q}, ${ns}, ${r}`,
    `v_fma_f64 ${t}, -${ds}, ${q}, ${ns}`,
    ...(target.generation === 'gfx12' ? ['s_wait_alu depctr_va_vcc(0)'] : []),
    `v_div_fmas_f64 ${p}, ${t}, ${r}, ${q}`,
    `v_div_fixup_f64 ${pair('result')}, ${p}, ${d}, ${n}`,
  ];
}

export interface Allocation {
  readonly registers: DivisionRegisters;
  /** VGPRs of a wave. */
  readonly vgprs: number;
}

/** A register for each step, those of the table above; or those that LLVM 22 gives `a = a / b`, where steps overwrite each other. */
export const allocations = {
  steps: {
    registers: { n: NUMERATOR, d: DENOMINATOR, ds: 6, r: 8, e: 10, ns: 12, q: 14, t: 16, p: 18, result: QUOTIENT },
    vgprs: 24,
  },
  compiled: {
    registers: { n: NUMERATOR, d: DENOMINATOR, ds: 4, r: 6, e: 8, ns: 8, q: 10, t: 4, p: 4, result: 0 },
    vgprs: 12,
  },
} as const satisfies Record<string, Allocation>;

export type AllocationName = keyof typeof allocations;

/** Lines as a program's text, with its end. */
export const programText = (lines: readonly string[]): string =>
  [...lines, 's_endpgm'].map((line) => `\t${line}\n`).join('');

/** The division macro: v[20:21] = v[0:1] / v[2:3], or v[0:1] as compiled. */
export const divisionText = (target: Target, wave: WaveSize, allocation: AllocationName = 'steps'): string =>
  programText(divisionLines(target, wave, allocations[allocation].registers));

/** How the target spells the LDS minimum that returns the old value, and the wait for it. */
export const ldsMinimum = ({ generation }: Target): string =>
  generation === 'gfx12' ? 'ds_min_num_rtn_f64' : 'ds_min_rtn_f64';
export const ldsWait = ({ generation }: Target): string =>
  generation === 'gfx12' ? 's_wait_dscnt 0x0' : 's_waitcnt lgkmcnt(0)';

/** The minimum of the quotient and the double at v4 in LDS; the old value goes to v[22:23]. */
export const minimumText = (target: Target): string =>
  programText([`${ldsMinimum(target)} v[22:23], v4, v[20:21]`, ldsWait(target)]);

/** The batch of the demonstration: so many waves, each its own workgroup. */
export const demonstrationShape = (target: Target, wave: WaveSize, waves: number): Shape => ({
  waveSize: wave,
  waves,
  wavesPerGroup: 1,
  vgprs: allocations.steps.vgprs,
  sgprs: target.generation === 'gfx9' ? 2 : 0,
  ldsWords: 2 * LDS_DOUBLES,
});

/** Rounding modes of f64 by the names of test vectors, as MODE's bits 3:2. */
export const rounds = { rne: 0, rup: 1, rdn: 2, rtz: 3 } as const;
export type RoundName = keyof typeof rounds;

/** MODE as kernels start, with that rounding of f64. */
export const modeOf = (round: RoundName): number => (KERNEL_MODE & ~0xc) | (rounds[round] << 2);

/** The classes of what is divided: any, most of them special; or ordinary numbers alone. */
export const operandKinds = {
  special: everyClass,
  normal: [classes.ordinary!],
} as const satisfies Record<string, readonly OperandClass[]>;
export type OperandKind = keyof typeof operandKinds;

export interface DrawOptions {
  /** Default any class. */
  readonly operands?: readonly OperandClass[];
  /** Storage of the shape's size to take; default new. */
  readonly words?: Uint32Array<ArrayBuffer> | undefined;
}

/** Words of numerator and denominator. */
const PAIR_WORDS = 4;

/** A batch of random operand pairs, LDS addresses and LDS doubles (a multiple of 8 of them, 2,048 at most), which seed and batch number fix. */
export function drawBatch(
  shape: Shape,
  seed: number,
  batch: number,
  round: RoundName = 'rne',
  { operands = everyClass, words }: DrawOptions = {},
): WaveState {
  const random = new Random(seed, batch);
  const state = WaveState.start(shape, words);
  const mode = modeOf(round);
  for (let wave = 0; wave < shape.waves; wave++) state.setSpecial(wave, Special.mode, mode);
  drawOperands(random, state, operands);
  if (shape.ldsWords > 0) drawLds(random, state);
  return state;
}

/** Numerators and denominators, which are in registers that follow each other, some waves at a time. */
function drawOperands(random: Random, { words, layout }: WaveState, operands: readonly OperandClass[]): void {
  const { waves, waveSize } = layout.shape;
  const places = lanePlaces(waveSize, layout.vgprWords);
  const atOnce = LANES_AT_ONCE / waveSize;
  for (let first = 0; first < waves; first += atOnce) {
    const end = Math.min(first + atOnce, waves);
    const of = words.subarray(layout.vgpr(first, NUMERATOR), layout.vgpr(end, NUMERATOR));
    for (let wave = 0; wave < end - first; wave++)
      random.fill(of, wave * layout.vgprWords, wave * layout.vgprWords + PAIR_WORDS * waveSize);
    drawLanes(random, operands, of, waveSize, places, (end - first) * waveSize);
  }
}

/** Where the lanes of waves of so many words are; the last table is kept, since a run asks for one alone. */
function lanePlaces(waveSize: number, waveWords: number): Int32Array {
  if (kept.waveSize === waveSize && kept.waveWords === waveWords) return kept.places;
  const places = Int32Array.from(
    { length: LANES_AT_ONCE },
    (_, lane) => Math.floor(lane / waveSize) * waveWords + (lane % waveSize),
  );
  kept = { waveSize, waveWords, places };
  return places;
}
let kept = { waveSize: 0, waveWords: 0, places: new Int32Array(0) };

/** Where the pairs are if they follow each other. */
const ldsPlaces = Int32Array.from({ length: LANES_AT_ONCE }, (_, pair) => PAIR_WORDS * pair);

/** Each lane's address of a double in LDS, and the doubles: numerator and denominator of one pair after the other. */
function drawLds(random: Random, { words, layout }: WaveState): void {
  const { waves, waveSize, ldsWords } = layout.shape;
  for (let wave = 0; wave < waves; wave++) {
    const address = layout.vgpr(wave, ADDRESS);
    random.fill(words, address, address + waveSize);
    for (let lane = address; lane < address + waveSize; lane++) words[lane] = 8 * below(words[lane]!, ldsWords / 2);
  }
  const end = layout.ldsOf(layout.groups);
  for (let first = layout.lds; first < end; first += PAIR_WORDS * LANES_AT_ONCE) {
    const of = words.subarray(first, Math.min(first + PAIR_WORDS * LANES_AT_ONCE, end));
    random.fill(of, 0, of.length);
    drawLanes(random, everyClass, of, 1, ldsPlaces, of.length / PAIR_WORDS);
  }
}

/** Numerator, denominator and quotient of a lane. */
const doubles = new Float64Array(3);
const doubleWords = new Uint32Array(doubles.buffer);

/** Operands of a wave's lanes, then a / b over the numerators; and their words. */
const dividends = new Float64Array(64);
const divisors = new Float64Array(64);
const dividendWords = new Uint32Array(dividends.buffer);
const divisorWords = new Uint32Array(divisors.buffer);

/**
 * How many quotients of a batch are not what JavaScript's a / b gives in nearest even; NaN counts as NaN. Where the true quotient
 * lies exactly in the middle between two subnormals either of them is right.
 * @param input the operands @param quotient its register
 */
export function countWrongQuotients({ words, layout }: WaveState, input: WaveState, quotient = QUOTIENT): number {
  const { waves, waveSize } = layout.shape;
  const { words: operands } = input;
  let wrong = 0;
  for (let wave = 0; wave < waves; wave++) {
    const n = layout.vgpr(wave, NUMERATOR);
    const d = layout.vgpr(wave, DENOMINATOR);
    const q = layout.vgpr(wave, quotient);
    // All operands first: a double that was just written as two words is slow to read.
    pairWords(operands, n, waveSize, dividendWords);
    pairWords(operands, d, waveSize, divisorWords);
    for (let lane = 0; lane < waveSize; lane += 4) {
      if (divideFour(words, q, waveSize, lane) === 0) continue;
      for (let of = lane; of < lane + 4; of++)
        if (difference(words, q, waveSize, of) !== 0 && !isRight(operands, n + of, d + of, words, q + of, waveSize))
          wrong++;
    }
  }
  return wrong;
}

/** The doubles of a wave's lanes, whose low words begin there; four in a turn, since a turn of a loop costs as much as one of them. */
function pairWords(words: Uint32Array, low: number, waveSize: number, into: Uint32Array): void {
  const end = low + waveSize;
  for (let lane = low, i = 0; lane < end; lane += 4, i += 8) {
    into[i] = words[lane]!;
    into[i + 1] = words[lane + waveSize]!;
    into[i + 2] = words[lane + 1]!;
    into[i + 3] = words[lane + 1 + waveSize]!;
    into[i + 4] = words[lane + 2]!;
    into[i + 5] = words[lane + 2 + waveSize]!;
    into[i + 6] = words[lane + 3]!;
    into[i + 7] = words[lane + 3 + waveSize]!;
  }
}

/** Divides from that lane on, and gives 0 if none of the four differs from its quotient. */
function divideFour(words: Uint32Array, q: number, waveSize: number, lane: number): number {
  dividends[lane]! /= divisors[lane]!;
  dividends[lane + 1]! /= divisors[lane + 1]!;
  dividends[lane + 2]! /= divisors[lane + 2]!;
  dividends[lane + 3]! /= divisors[lane + 3]!;
  const firstTwo = difference(words, q, waveSize, lane) | difference(words, q, waveSize, lane + 1);
  return firstTwo | difference(words, q, waveSize, lane + 2) | difference(words, q, waveSize, lane + 3);
}

/** The bits in which a lane's a / b and its quotient differ, of both words together. */
const difference = (words: Uint32Array, q: number, waveSize: number, lane: number): number =>
  (words[q + lane]! ^ dividendWords[2 * lane]!) | (words[q + waveSize + lane]! ^ dividendWords[2 * lane + 1]!);

/** Whether a quotient that isn't a / b by its bits is right. The places are those of low words, high words are `next` further. */
function isRight(operands: Uint32Array, n: number, d: number, words: Uint32Array, q: number, next: number): boolean {
  doubleWords[0] = operands[n]!;
  doubleWords[1] = operands[n + next]!;
  doubleWords[2] = operands[d]!;
  doubleWords[3] = operands[d + next]!;
  doubleWords[4] = words[q]!;
  doubleWords[5] = words[q + next]!;
  return Object.is(doubles[2], doubles[0]! / doubles[1]!) || isBesideTie();
}

/** The largest magnitude that is beside a tie of subnormals, 2^-1022. */
const SMALLEST_NORMAL = 2 ** -1022;
const doubleBits = new BigUint64Array(doubles.buffer);
const MAGNITUDE = (1n << 63n) - 1n;

/** A finite magnitude in units of 2^-1074. */
function unitsOf(bits: bigint): bigint {
  const field = (bits & MAGNITUDE) >> 52n;
  const fraction = bits & ((1n << 52n) - 1n);
  return field === 0n ? fraction : (fraction | (1n << 52n)) << (field - 1n);
}

/**
 * Whether the quotient in `doubles` is one of two subnormals that the true one lies exactly in the middle of. v_div_fmas rounds
 * q + t r2 there, scaled, in one step (AMD rocjitsu, v_div_fmas captures), and that misses the middle by what r2 misses of 1/d: the macro gives either.
 */
function isBesideTie(): boolean {
  const [n, d, q] = doubles as unknown as [number, number, number];
  if (!Number.isFinite(n) || !Number.isFinite(d) || !(Math.abs(q) <= SMALLEST_NORMAL)) return false;
  if (d === 0 || doubleBits.reduce((signs, bits) => signs ^ bits, 0n) >> 63n !== 0n) return false;
  const [twice, divisor] = [unitsOf(doubleBits[0]!) << 1075n, unitsOf(doubleBits[1]!)];
  const halves = twice / divisor;
  const isTie = halves * divisor === twice && (halves & 1n) === 1n;
  const above = (doubleBits[2]! & MAGNITUDE) - (halves >> 1n);
  return isTie && (above === 0n || above === 1n);
}

/**
 * The macro is IEEE division as chips have it, rounding to nearest even, but where a quotient lies exactly in the middle between two
 * subnormals (about one in 10^9 of the special pairs), which `countWrongQuotients` knows; in AMD's text and the directed roundings it
 * is not.
 */
export const isDivision = (profile: Profile, round: RoundName): boolean => profile === 'hardware' && round === 'rne';
