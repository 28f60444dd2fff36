/** Vectors through engines: programs of one instruction, a case a lane. */
import type { Engine, RunOptions } from '../engine.ts';
import type { InstructionDef } from '../isa/instruction.ts';
import { findInstruction } from '../isa/instructions/index.ts';
import { type VectorOperand, wordsOf } from '../isa/operand.ts';
import { operations } from '../isa/operations.ts';
import type { Target } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { makeProgram } from '../program/make.ts';
import type { Program } from '../program/program.ts';
import { Special } from '../wavefront/layout.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { WaveState } from '../wavefront/state.ts';
import type { VectorCase, VectorDigest, VectorGroup } from './vectors.ts';

/** Sources lie in v[0:1], v[2:3], v[4:5], the result in v[6:7], masks in VCC. */
const RESULT = 6;

/** The instruction that computes a TestFloat operation, its sources as `$0`, `$1`, `$2`, the result as `$d`, VCC as `$v`. */
const operationText: Readonly<Record<string, string>> = {
  f64_add: 'v_add_f64 $d, $0, $1',
  f64_sub: 'v_add_f64 $d, $0, -$1',
  f64_mul: 'v_mul_f64 $d, $0, $1',
  f64_mulAdd: 'v_fma_f64 $d, $0, $1, $2',
  f64_lt: 'v_cmp_lt_f64 $v, $0, $1',
  f64_le: 'v_cmp_le_f64 $v, $0, $1',
  f64_eq: 'v_cmp_eq_f64 $v, $0, $1',
  f32_mulAdd: 'v_fma_f32 $d, $0, $1, $2',
};

const registerOf = (index: number, words: number) => (words === 1 ? `v${index}` : `v[${index}:${index + words - 1}]`);

/** Hex digits of the columns of an instruction's captured results: sources, result, VCC where it writes that. */
export function columnsOf(def: InstructionDef): number[] {
  const digits = (role: string) =>
    def.operands
      .filter((o) => (o.role === 'dst') === (role === 'dst') && o.type !== 'mask')
      .map((o) => 8 * wordsOf(o.type, 64));
  const writesMask = def.operands.some((o) => o.role === 'dst' && o.type === 'mask');
  return [...digits('src'), ...digits('dst'), ...(writesMask ? [1] : [])];
}

/**
 * The program that runs one operation on every lane.
 * @throws Error for an unknown operation, AsmError where the target lacks the instruction
 */
export function oneInstruction(operation: string, target: Target, waveSize: WaveSize): Program {
  const library = operations.find((def) => def.name === operation);
  if (library) return libraryProgram(library, target, waveSize);
  const vcc = waveSize === 64 ? 'vcc' : 'vcc_lo';
  const text = (operationText[operation] ?? textOf(operation, vcc)).replace('$v', vcc);
  const words = operation.startsWith('f32') ? 1 : 2;
  const filled = text
    .replace('$d', registerOf(RESULT, words))
    .replace(/\$(\d)/g, (_, k: string) => registerOf(2 * Number(k), words));
  return assemble(`${filled}\ns_endpgm\n`, { target, waveSize, file: operation });
}

/** A program of one operation that has no encoding. */
function libraryProgram(def: InstructionDef, target: Target, waveSize: WaveSize): Program {
  const operands = def.operands.map(({ type }, index): VectorOperand => {
    const first = index === 0 ? RESULT : 2 * (index - 1);
    return { kind: 'vgpr', index: first, count: wordsOf(type, waveSize) };
  });
  const form = { encoding: 'VOP3', opcode: 0, on: [] } as const;
  return makeProgram(
    target,
    waveSize,
    [{ def, form, operands, omod: 0, clamp: false, offset: 0, gds: false, pc: 0, size: 8 }],
    new Map(),
  );
}

function textOf(name: string, vcc: string): string {
  const def = findInstruction(name);
  if (def === undefined) throw new Error(`unknown instruction '${name}'`);
  let source = 0;
  const operands = def.operands.flatMap(({ field, type, role }) => {
    if (field === 'vcc') return name.startsWith('v_cndmask') ? [vcc] : []; // v_div_fmas reads VCC without naming it
    if (type === 'mask') return [vcc];
    return [registerOf(role === 'src' ? 2 * source++ : RESULT, wordsOf(type, 64))];
  });
  return `${name} ${operands.join(', ')}`;
}

/** Cases as the lanes of as many waves as they need. */
function packCases(cases: readonly VectorCase[], program: Program, mode: number): WaveState {
  const { waveSize } = program;
  const waves = Math.max(1, Math.ceil(cases.length / waveSize));
  const state = WaveState.start({
    waveSize,
    waves,
    wavesPerGroup: 1,
    vgprs: Math.max(program.vgprs, 8),
    sgprs: program.sgprs,
    ldsWords: 0,
  });
  for (let wave = 0; wave < waves; wave++) state.setSpecial(wave, Special.mode, mode);
  cases.forEach(({ sources, vcc }, index) => {
    const wave = Math.floor(index / waveSize);
    const lane = index % waveSize;
    for (const [k, words] of sources.entries())
      for (const [w, word] of words.entries()) state.vgpr(wave, 2 * k + w)[lane] = word;
    if (vcc === 1) {
      const half = lane < 32 ? Special.vccLo : Special.vccHi;
      state.setSpecial(wave, half, state.special(wave, half) | (1 << (lane & 31)));
    }
  });
  return state;
}

export interface VectorFailure {
  readonly place: string;
  readonly operation: string;
  readonly target: string;
  readonly sources: readonly string[];
  readonly expected: string;
  readonly got: string;
}

export interface VectorReport {
  cases: number;
  failed: number;
  /** The first of them. */
  readonly failures: VectorFailure[];
}

export const newVectorReport = (): VectorReport => ({ cases: 0, failed: 0, failures: [] });

const LISTED = 20;

const hex = (words: readonly number[]) =>
  [...words]
    .reverse()
    .map((w) => w.toString(16).padStart(8, '0'))
    .join('');

/** NaN of one or two words, low first. */
function isNan(words: readonly number[]): boolean {
  if (words.length === 1) return (words[0]! & 0x7fffffff) > 0x7f800000;
  const magnitude = words[1]! & 0x7fffffff;
  return magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && words[0] !== 0);
}

/** What a case should give and gave, where they differ. */
export function caseDifference(
  expected: VectorCase,
  group: VectorGroup,
  result: readonly number[],
  flag: number,
): { expected: string; got: string } | undefined {
  const parts: [string, string][] = [];
  if (expected.result !== undefined) {
    const wanted = expected.result;
    const equal = wanted === 'nan' || (group.anyNan && isNan(wanted)) ? isNan(result) : hex(result) === hex(wanted);
    if (!equal) parts.push([wanted === 'nan' ? 'NaN' : hex(wanted), hex(result)]);
  }
  if (expected.flag !== undefined && expected.flag !== flag) parts.push([`vcc ${expected.flag}`, `vcc ${flag}`]);
  return parts.length === 0
    ? undefined
    : { expected: parts.map((p) => p[0]).join(' '), got: parts.map((p) => p[1]).join(' ') };
}

export function addFailure(report: VectorReport, failure: VectorFailure): void {
  report.failed++;
  if (report.failures.length < LISTED) report.failures.push(failure);
}

/** Runs the cases of a group on one engine and counts what comes out otherwise. */
export async function runGroup(
  group: VectorGroup,
  target: Target,
  waveSize: WaveSize,
  engine: Engine,
  options: RunOptions,
  report: VectorReport,
): Promise<void> {
  const program = oneInstruction(group.operation, target, waveSize);
  const { state } = await engine.run(program, packCases(group.cases, program, group.mode), options);
  group.cases.forEach((expected, index) => {
    const wave = Math.floor(index / waveSize);
    const lane = index % waveSize;
    const words =
      expected.result === 'nan' || expected.result === undefined
        ? resultWords(group.operation)
        : expected.result.length;
    const result = Array.from({ length: words }, (_, w) => state.vgpr(wave, RESULT + w)[lane]!);
    const flag = (state.special(wave, lane < 32 ? Special.vccLo : Special.vccHi) >>> (lane & 31)) & 1;
    const difference = caseDifference(expected, group, result, flag);
    report.cases++;
    if (difference)
      addFailure(report, {
        place: expected.place,
        operation: group.operation,
        target: target.name,
        sources: expected.sources.map(hex),
        ...difference,
      });
  });
}

const resultWords = (operation: string) => (/f32$/.test(operation) ? 1 : 2);

const DIGEST_WAVES = 4096;

/** The hash of `VectorDigest`, as two halves: FNV-1a's constants, a word at a time. */
class Digest {
  private hi = 0xcbf29ce4;
  private lo = 0x84222325;

  add(words: Uint32Array): void {
    for (const word of words) {
      // times 1099511628211 = 2^40 + 435, modulo 2^64
      const mixed = (this.lo ^ word) >>> 0;
      const low = mixed * 435;
      this.hi = (Math.imul(this.hi, 435) + Math.floor(low / 2 ** 32) + (mixed << 8)) >>> 0;
      this.lo = low >>> 0;
    }
  }

  get text(): string {
    return hex([this.lo, this.hi]);
  }
}

/**
 * Runs an instruction over a range of one-word sources and compares the hash of its results.
 * @param onLanes told how many lanes each batch had; gives false to stop, and then nothing is reported
 */
export async function runDigest(
  digest: VectorDigest,
  target: Target,
  waveSize: WaveSize,
  engine: Engine,
  options: RunOptions,
  report: VectorReport,
  onLanes: (lanes: number) => boolean,
): Promise<void> {
  const program = oneInstruction(digest.operation, target, waveSize);
  const hash = new Digest();
  for (let done = 0; done < digest.count; ) {
    const waves = Math.min(DIGEST_WAVES, (digest.count - done) / waveSize);
    const input = WaveState.start({
      waveSize,
      waves,
      wavesPerGroup: 1,
      vgprs: program.vgprs,
      sgprs: program.sgprs,
      ldsWords: 0,
    });
    for (let wave = 0; wave < waves; wave++) {
      const first = digest.first + done + wave * waveSize;
      const lanes = input.vgpr(wave, 0);
      for (let lane = 0; lane < waveSize; lane++) lanes[lane] = first + lane;
    }
    const { state } = await engine.run(program, input, options);
    for (let wave = 0; wave < waves; wave++) hash.add(state.vgpr(wave, RESULT));
    done += waves * waveSize;
    if (!onLanes(waves * waveSize)) return;
  }
  report.cases++;
  if (hash.text === digest.hash) return;
  const sources = [`${digest.count} sources`];
  addFailure(report, {
    place: digest.place,
    operation: digest.operation,
    target: target.name,
    sources,
    expected: digest.hash,
    got: hash.text,
  });
}
