/**
 * The f64 division macro on the CPU, for comparing speeds: `macro/bigint` on exact integers (src/float/exact.ts), `macro/error-free` at
 * once on doubles with every value kept, `macro/error-free/result` with what compiled programs keep, `macro/wasm` both ways by
 * WebAssembly's vector instructions where there are such, and native a / b. All run over the same operands, which take turns.
 */
import { amd_rcp_f64 } from '../float/approximate.ts';
import { IEEE_DEFAULT } from '../float/control.ts';
import { mul, mulAdd, mulAddScaled } from '../float/exact.ts';
import { result } from '../float/f64.ts';
import { binary64, bitsOfWords, hiWord, loWord } from '../float/format.ts';
import { type MacroValue, plainOrders } from '../isa/divisionMacro.ts';
import { DivisionMacroLanes } from '../isa/divisionMacroLanes.ts';
import { vectorBytes } from '../isa/divisionMacroVectors.ts';
import { divFixup, divScale } from '../isa/instructions/divisionF64.ts';
import { LaneMemory } from '../isa/laneMemory.ts';
import { classes, type Draw, drawOf, drawPair, newPair } from './operands.ts';
import { Random } from './random.ts';

const LANES = 64;
const WAVES = 1024;

/** The words of numerators and denominators of a wave. */
const BYTES_A_PAIR = 16 * LANES;

/** Doubles over the lanes of a wave as numbers and as words, low and high apart. */
interface Column {
  readonly numbers: Float64Array;
  readonly words: readonly [Uint32Array, Uint32Array];
}

export interface CpuSubject {
  readonly id: string;
  /** Divides the pairs of the next `waves` waves; returns how many. */
  readonly run: (waves: number) => number;
  /** Lanes of the last wave run whose result isn't native a / b; NaN counts as NaN. */
  readonly wrong: () => number;
}

/** @param memory where the words lie */
const column = (memory?: LaneMemory): Column => {
  const words = () => memory?.words(LANES) ?? new Uint32Array(LANES);
  return { numbers: new Float64Array(LANES), words: [words(), words()] };
};

function set({ numbers, words }: Column, lane: number, hi: number, lo: number): void {
  new Uint32Array(numbers.buffer).set([lo, hi], 2 * lane);
  words[0][lane] = lo;
  words[1][lane] = hi;
}

type Wave = readonly [n: Column, d: Column];

function drawWaves(draw: Draw, seed: number, memory: LaneMemory | undefined): Wave[] {
  const random = new Random(seed);
  const pair = newPair();
  return Array.from({ length: WAVES }, () => {
    const [n, d] = [column(memory), column(memory)];
    for (let lane = 0; lane < LANES; lane++) {
      draw(random, pair);
      set(n, lane, pair.nHi, pair.nLo);
      set(d, lane, pair.dHi, pair.dLo);
    }
    return [n, d];
  });
}

const SIGN = 1n << 63n;
const ONE = 0x3ffn << 52n;
const left = () => bitsOfWords(result[1]!, result[0]!);
const fma = (a: bigint, b: bigint, c: bigint) => mulAdd(binary64, a, b, c, IEEE_DEFAULT);

/** The macro with every product and sum on exact integers; scaling, table and repair are those of the instructions. */
function divideExactly(n: bigint, d: bigint): bigint {
  const words = (bits: bigint) => [hiWord(bits), loWord(bits)] as const;
  divScale(...words(d), ...words(d), ...words(n), IEEE_DEFAULT);
  const ds = left();
  const flag = divScale(...words(n), ...words(d), ...words(n), IEEE_DEFAULT);
  const ns = left();
  amd_rcp_f64(...words(ds), IEEE_DEFAULT);
  const r0 = left();
  const r1 = fma(r0, fma(ds ^ SIGN, r0, ONE), r0);
  const r2 = fma(r1, fma(ds ^ SIGN, r1, ONE), r1);
  const q = mul(binary64, ns, r2, IEEE_DEFAULT);
  const t = fma(ds ^ SIGN, q, ns);
  const k = flag === 0 ? 0 : ((q >> 52n) & 0x7ffn) > 1023n ? 128 : -128;
  const p = mulAddScaled(binary64, t, r2, q, k, IEEE_DEFAULT);
  divFixup(...words(p), ...words(d), ...words(n), IEEE_DEFAULT);
  return left();
}

const kept: readonly MacroValue[] = ['ds', 'r2', 'ns', 'q', 't', 'p', 'result'];
const everything: readonly MacroValue[] = [...kept, 'r0', 'e0', 'r1', 'e1'];

/** The subjects over operands of that kind. */
export function cpuSubjects(operands: 'normal' | 'special', seed = 1): CpuSubject[] {
  const memory = LaneMemory.open(WAVES * BYTES_A_PAIR + 2 * vectorBytes(LANES));
  const waves = drawWaves(operands === 'normal' ? drawOf(classes.ordinary!) : drawPair, seed, memory);
  const active = new Uint8Array(LANES).fill(1);
  const subject = (id: string, divide: (wave: Wave) => void, quotients: Column) => {
    let turn = 0;
    let last = waves[0]!;
    const run = (count: number) => {
      for (let k = 0; k < count; k++) {
        last = waves[turn]!;
        turn = (turn + 1) % WAVES;
        divide(last);
      }
      return count * LANES;
    };
    const wrong = () => {
      const [n, d] = last;
      return active.reduce((sum, _, lane) => {
        set(quotients, lane, quotients.words[1][lane]!, quotients.words[0][lane]!);
        const isRight = Object.is(quotients.numbers[lane], n.numbers[lane]! / d.numbers[lane]!);
        return sum + (isRight ? 0 : 1);
      }, 0);
    };
    return { id, run, wrong };
  };
  const atOnce = (id: string, values: readonly MacroValue[], lies?: LaneMemory) => {
    const out = Object.fromEntries(values.map((value) => [value, column(lies)])) as Record<MacroValue, Column>;
    const words = Object.fromEntries(values.map((value) => [value, out[value].words]));
    const macro = new DivisionMacroLanes(LANES, words, plainOrders, lies);
    return subject(id, ([n, d]) => macro.run(active, n.words, d.words), out.result);
  };
  const exact = column();
  const divideWave = ([n, d]: Wave) => {
    for (let lane = 0; lane < LANES; lane++) {
      const bits = ({ words }: Column) => bitsOfWords(words[1][lane]!, words[0][lane]!);
      const quotient = divideExactly(bits(n), bits(d));
      exact.words[0][lane] = loWord(quotient);
      exact.words[1][lane] = hiWord(quotient);
    }
  };
  const native = new Float64Array(LANES);
  const divideNatively = ([n, d]: Wave) => {
    for (let lane = 0; lane < LANES; lane++) native[lane] = n.numbers[lane]! / d.numbers[lane]!;
  };
  return [
    subject('macro/bigint', divideWave, exact),
    atOnce('macro/error-free', everything),
    atOnce('macro/error-free/result', kept),
    ...(memory ? [atOnce('macro/wasm', everything, memory), atOnce('macro/wasm/result', kept, memory)] : []),
    { ...subject('macro/native', divideNatively, exact), wrong: () => 0 },
  ];
}
