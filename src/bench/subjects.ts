/** Everything that `wave64 bench` and the page measure, by id. */
import type { Engine } from '../engine.ts';
import type { WebGpuOptions } from '../gpu/engine.ts';
import type { KernelRunner } from '../gpu/runner.ts';
import type { Target } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { ReferenceEngine } from '../reference/engine.ts';
import { type CpuSubject, cpuSubjects } from '../verify/cpuMacro.ts';
import { oneInstruction } from '../verify/oneInstruction.ts';
import { drawWord, newPair } from '../verify/operands.ts';
import type { Random } from '../verify/random.ts';
import type { WaveState } from '../wavefront/state.ts';
import { compileSubjects } from './compiling.ts';
import type { AdapterRates, Figure, OperandKind } from './figure.ts';
import { largestLanes } from './inputs.ts';
import { directKernel, macroKernel } from './macroKernels.ts';
import type { Subject } from './measure.ts';
import { BOUND_PROBES, MEMORY_PROBES, OPERATION_PROBES, ratesFrom } from './probes.ts';
import { Batches, onCpu, onGpu, shapeOf, type Workload } from './programs.ts';
import { type RawKernel, rawSubject } from './rawKernels.ts';
import {
  CHAIN,
  chainText,
  directChainText,
  dotText,
  MINIMA,
  macroText,
  minimaText,
  newtonText,
  resultText,
} from './texts.ts';

export interface Setting {
  readonly target: Target;
  readonly operands: OperandKind;
  /** Says what is right. */
  readonly reference: Engine;
  /** Absent where only the CPU is measured. */
  readonly runner: KernelRunner | undefined;
  /** Measure the CPU too. */
  readonly cpu: boolean;
  /** Sizes for all; else by subject. */
  readonly lanes?: readonly number[];
}

/** Lanes that hide what a dispatch costs; and of the LDS minimum, whose waves are workgroups. */
const MAIN = 65536;
const LDS_MAIN = 16384;
/** Probes compute long in each lane. */
const PROBE_LANES = 16384;
/** The size where there is less than so much time for a subject. */
const QUICK = 4096;
const SECONDS_A_SUBJECT = 0.8;
const SIZES = [64, 1024, 16384, 262144];
/** No batch is larger, lest a run take minutes on the CPU. */
const LARGEST = 1 << 20;
const BATCH_BYTES = 256 << 20;

/** The address register of `minimaText` and the LDS of a wave. */
const ADDRESS = 8;
const LDS_DOUBLES = 64;

const OPERATIONS: Readonly<Record<string, string>> = {
  add: 'f64_add',
  sub: 'f64_sub',
  mul: 'f64_mul',
  fma: 'f64_mulAdd',
  div: 'f64_div',
  sqrt: 'f64_sqrt',
  min: 'v_min_f64',
  round: 'f64_roundToInt',
  'to-f32': 'f64_to_f32',
  'from-f32': 'f32_to_f64',
  'to-i32': 'f64_to_i32',
  'from-i32': 'i32_to_f64',
};

/** @throws AsmError where the target lacks an instruction */
export function subjectsOf({ target, operands, reference, runner, cpu, lanes }: Setting): Subject[] {
  const wave = 64;
  const batches = new Batches(reference, operands);
  const build = (text: string) => assemble(text, { target, waveSize: wave, file: 'built-in' });
  const macro: Workload = { id: 'macro', program: build(macroText(target, wave)), pairs: 1, work: 1 };
  const result: Workload = { ...macro, program: build(resultText(target, wave)) };
  const chain: Workload = { id: 'chain', program: build(chainText(target, wave)), pairs: 1, work: CHAIN };
  const directChain: Workload = { ...chain, id: 'direct', program: build(directChainText(target, wave)) };
  const subjects: Subject[] = [];
  if (runner) {
    const sizes = lanes ?? sizesFor(macro, runner);
    const main = lanes ?? [MAIN];
    const gpu = (id: string, workload: Workload, options: WebGpuOptions, at: readonly number[]) =>
      onGpu({ ...workload, id }, { runner, options }, batches, at);
    const raw = (kernel: RawKernel, at: readonly number[]) => rawSubject(kernel, runner, batches, at);
    subjects.push(
      ...MEMORY_PROBES.map((kernel) => raw(kernel, main)),
      ...OPERATION_PROBES.map((kernel) => raw(kernel, lanes ?? [PROBE_LANES])),
      gpu('macro/generic/stored', macro, { form: 'generic' }, sizes),
      gpu('macro/shared/stored', macro, { form: 'shared' }, sizes),
      gpu('macro/fast/stored', macro, { form: 'fast' }, sizes),
      gpu('macro/fused/stored', macro, { form: 'fused' }, sizes),
      gpu('macro/direct', result, { form: 'direct' }, sizes),
      raw(macroKernel('macro/generic/registers', 'generic_macro', chain), main),
      raw(macroKernel('macro/fused/registers', 'fused_macro', chain), main),
      raw(directKernel('macro/direct/registers', directChain), main),
      ...Object.entries(OPERATIONS).map(([name, operation]) => {
        const program = oneInstruction(operation, target, wave);
        return gpu(`f64/${name}`, { id: name, program, pairs: 2, work: 1 }, { form: 'generic' }, main);
      }),
      ...Object.entries(addresses).flatMap(([name, address]) => {
        const workload = minima(target, address);
        const at = lanes ?? [LDS_MAIN];
        return [
          gpu(`lds-min/${name}`, workload, {}, at),
          gpu(`lds-min/${name}/serial`, workload, { ldsForm: 'serial' }, at),
        ];
      }),
      gpu('program/newton', { id: '', program: build(newtonText(target)), pairs: 1, work: 1 }, {}, main),
      gpu('program/dot-lds-min', dot(target), {}, lanes ?? [LDS_MAIN]),
      ...compileSubjects(target, runner, batches),
    );
  }
  if (cpu) {
    const at = lanes ?? [LDS_MAIN];
    subjects.push(
      ...cpuSubjects(operands).map(cpuSubject),
      onCpu({ ...macro, id: 'macro/steps' }, new ReferenceEngine({ forms: 'steps' }), batches, at),
      onCpu({ ...macro, id: 'macro/steps/fused' }, new ReferenceEngine({ forms: 'fused' }), batches, at),
    );
  }
  return subjects;
}

/** Those whose id begins with one of these; all without a choice. */
export const chosen = <T extends { readonly id: string }>(
  all: readonly T[],
  only: readonly string[] | undefined,
): T[] => all.filter(({ id }) => only === undefined || only.some((name) => id.startsWith(name)));

/**
 * What to measure in so many seconds: the subjects chosen, with the probes that the bound needs, and at a small size only where
 * there is little time for each, when compiling isn't measured unless asked for. None if `only` names none.
 */
export function planned(setting: Setting, seconds: number, only: readonly string[] | undefined): Subject[] {
  const subjects = (sizes: Pick<Setting, 'lanes'>) => {
    const all = subjectsOf({ ...setting, ...sizes });
    const asked = chosen(all, only);
    const hasBound = asked.some(({ id, engine }) => engine === 'webgpu' && !id.startsWith('compile/'));
    const probed = hasBound ? BOUND_PROBES : [];
    return all.filter((subject) => asked.includes(subject) || probed.includes(subject.id));
  };
  const all = subjects({});
  const hurried = setting.lanes === undefined && seconds < SECONDS_A_SUBJECT * all.length;
  if (!hurried) return all;
  return subjects({ lanes: [QUICK] }).filter(({ id }) => only !== undefined || !id.startsWith('compile/'));
}

/** The adapter's rates, if all probes are among the figures. `software`: it computes on the CPU. */
export const ratesOf = (figures: readonly Figure[], software: boolean): AdapterRates | undefined =>
  ratesFrom((id) => figures.find((figure) => figure.id === id)?.perSecond, !software);

function sizesFor(workload: Workload, { maxBufferBytes, maxBindingBytes }: KernelRunner): number[] {
  const largest = largestLanes(shapeOf(workload), Math.min(maxBufferBytes, BATCH_BYTES), maxBindingBytes);
  return [MAIN, ...SIZES, Math.min(largest, LARGEST)].filter((n, i, all) => all.indexOf(n) === i);
}

/** Byte addresses of lanes. */
const addresses: Readonly<Record<string, (lane: number, random: Random) => number>> = {
  distinct: (lane) => 8 * lane,
  equal: () => 0,
  random8: (_, random) => 8 * random.below(8),
};

function fillLds(state: WaveState, wave: number, random: Random): void {
  const pair = newPair();
  const lds = state.lds(wave);
  for (let word = 0; word < lds.length; word += 2) {
    drawWord(random, pair);
    lds[word] = pair.nLo;
    lds[word + 1] = pair.nHi;
  }
}

const minima = (target: Target, address: (lane: number, random: Random) => number): Workload => ({
  id: 'lds-min',
  program: assemble(minimaText(target), { target, waveSize: 64, file: 'built-in' }),
  pairs: 2,
  ldsWords: 2 * LDS_DOUBLES,
  work: MINIMA,
  more: (state, wave, random) => {
    state.vgpr(wave, ADDRESS).forEach((_, lane, lanes) => {
      lanes[lane] = address(lane, random);
    });
    fillLds(state, wave, random);
  },
});

const dot = (target: Target): Workload => ({
  id: 'dot',
  program: assemble(dotText(target), { target, waveSize: 64, file: 'built-in' }),
  pairs: 4,
  ldsWords: 2 * LDS_DOUBLES,
  work: 1,
  more: (state, wave, random) => {
    state.vgpr(wave, 16).forEach((_, lane, lanes) => {
      lanes[lane] = 8 * random.below(LDS_DOUBLES);
    });
    fillLds(state, wave, random);
  },
});

/** Waves of a run: short enough to take turns. */
const CPU_WAVES: Readonly<Record<string, number>> = { 'macro/bigint': 8 };

const cpuSubject = ({ id, run, wrong }: CpuSubject): Subject => {
  const waves = CPU_WAVES[id] ?? 256;
  return {
    id,
    engine: 'reference',
    adapter: 'CPU (JavaScript)',
    lanes: [waves * 64],
    prepare: async () => {
      run(waves);
      return {
        lanes: waves * 64,
        work: waves * 64,
        compileMs: null,
        mismatches: wrong(),
        cost: undefined,
        run: async () => {
          const began = performance.now();
          run(waves);
          return { wallMs: performance.now() - began };
        },
      };
    },
  };
};
