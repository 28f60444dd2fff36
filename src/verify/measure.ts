/** Throughput of programs on engines: warm-up, repeats, median and spread; the engines' results are compared on the way. */
import type { Engine, RunCost, RunOptions } from '../engine.ts';
import { formOn, type InstructionDef } from '../isa/instruction.ts';
import { instructions } from '../isa/instructions/index.ts';
import type { Target } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import type { WaveState } from '../wavefront/state.ts';
import { compareStates } from './compare.ts';
import { ADDRESS, demonstrationShape, divisionText, drawBatch, minimumText } from './demonstration.ts';
import { oneInstruction } from './oneInstruction.ts';
import { classes, drawFrom } from './operands.ts';

export type OperandKind = 'normal' | 'special';

/** One thing to measure; `draw` makes the n-th input of that many waves. */
export interface Subject {
  readonly id: string;
  readonly program: Program;
  readonly draw: (waves: number, n: number) => WaveState;
}

/** One line of the report. Times are medians over the repeats. */
export interface Figure {
  readonly id: string;
  readonly engine: Engine['name'];
  readonly adapter: string;
  readonly lanes: number;
  /** Lanes a second, by the wall clock, upload and readback included, compiling not. */
  readonly perSecond: number;
  /** Slowest and fastest repeat. */
  readonly spread: readonly [number, number];
  readonly repeats: number;
  /** Nanoseconds of one run on the device by its own clock; null where it can't tell. */
  readonly deviceNs: number | null;
  /** Milliseconds that the first run took longer for compiling; null if nothing was. */
  readonly compileMs: number | null;
  /** Bytes moved to the device and back by one run. */
  readonly bytes: number;
  /** Share of the adapter's limit; null until a probe has measured that. */
  readonly boundShare: number | null;
  readonly operands: OperandKind;
  /** Words that differ from the other engine's, of one run; null if nothing was compared. */
  readonly mismatches: number | null;
}

/** Addresses of the LDS minimum by lane, as byte offsets. */
const addresses: Readonly<Record<string, (lane: number, word: number) => number>> = {
  distinct: (lane) => 8 * lane,
  equal: () => 0,
  random8: (_, word) => 8 * (word & 7),
};

/** What `wave64 bench` measures on a target: the macro, the LDS minimum, every vector instruction by itself. */
export function subjects(target: Target, waveSize: WaveSize, operands: OperandKind): Subject[] {
  const build = (text: string) => assemble(text, { target, waveSize, file: 'built-in' });
  const draw = (waves: number, n: number) =>
    drawBatch(
      demonstrationShape(target, waveSize, waves),
      1,
      n,
      'rne',
      operands === 'normal' ? drawFrom([classes.ordinary!]) : undefined,
    );
  const minimum = build(minimumText(target));
  const withAddresses = (address: (lane: number, word: number) => number) => (waves: number, n: number) => {
    const state = draw(waves, n);
    for (let wave = 0; wave < waves; wave++) {
      const quotient = state.vgpr(wave, 0);
      state.vgpr(wave, ADDRESS).forEach((_, lane, lanes) => {
        lanes[lane] = address(lane, quotient[lane]!);
      });
    }
    return state;
  };
  return [
    { id: 'macro/generic/stored', program: build(divisionText(target, waveSize)), draw },
    ...Object.entries(addresses).map(([name, address]) => ({
      id: `lds-min/${name}`,
      program: minimum,
      draw: withAddresses(address),
    })),
    ...instructions
      .filter((def) => isVector(def, target))
      .map((def) => ({ id: `instruction/${def.name}`, program: oneInstruction(def.name, target, waveSize), draw })),
  ];
}

const isVector = (def: InstructionDef, target: Target) =>
  formOn(def, target) !== undefined &&
  def.semantics({ target, profile: 'hardware' }).unit === 'valu' &&
  !def.operands.some((o) => o.role === 'update');

export interface MeasureOptions extends RunOptions {
  /** About how long to repeat. */
  readonly seconds: number;
  readonly operands: OperandKind;
}

const MIN_REPEATS = 3;
/** Inputs that take turns, so that caches don't flatter. */
const INPUTS = 4;

/** Measures one subject on one engine. `expected` is what another engine gave for input 0, to compare with. */
export async function measure(
  subject: Subject,
  engine: Engine,
  waves: number,
  options: MeasureOptions,
  expected?: WaveState,
): Promise<{ figure: Figure; output: WaveState }> {
  const inputs = Array.from({ length: INPUTS }, (_, n) => subject.draw(waves, n));
  const first = await engine.run(subject.program, inputs[0]!, options);
  const costs: RunCost[] = [];
  const began = performance.now();
  while (costs.length < MIN_REPEATS || performance.now() - began < options.seconds * 1000)
    costs.push((await engine.run(subject.program, inputs[costs.length % INPUTS]!, options)).cost);
  const { shape } = inputs[0]!.layout;
  const lanes = shape.waves * shape.waveSize;
  const rates = costs.map(({ totalMs, compileMs = 0 }) => (lanes / (totalMs - compileMs)) * 1000).sort((a, b) => a - b);
  const deviceMs = costs.flatMap((cost) => cost.deviceMs ?? []).sort((a, b) => a - b);
  const figure: Figure = {
    id: subject.id,
    engine: engine.name,
    adapter: engine.device,
    lanes,
    perSecond: median(rates),
    spread: [rates[0]!, rates.at(-1)!],
    repeats: costs.length,
    deviceNs: deviceMs.length > 0 ? median(deviceMs) * 1e6 : null,
    compileMs: first.cost.compileMs ?? null,
    bytes: 2 * inputs[0]!.words.byteLength,
    boundShare: null,
    operands: options.operands,
    mismatches: expected ? compareStates(first.state, expected).mismatches : null,
  };
  return { figure, output: first.state };
}

const median = (sorted: readonly number[]) => {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};
