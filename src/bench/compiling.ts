/**
 * How long drivers take to compile and first run the fused macro: one, the kernel of the lanes that it leaves (over an empty list), and
 * sixteen in one program, in the form that the engine chooses. What these subjects then do a second is of no interest.
 */
import type { WebGpuOptions } from '../gpu/engine.ts';
import type { KernelRunner } from '../gpu/runner.ts';
import type { Target } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { compareStates } from '../verify/compare.ts';
import type { WaveState } from '../wavefront/state.ts';
import { median } from './figure.ts';
import type { Prepared, Subject } from './measure.ts';
import { type Batches, type Workload, workOf } from './programs.ts';
import { compileMs, overRegions, type RegionWork } from './regions.ts';
import { macroText, SIXTEEN_REGISTERS, sixteenText } from './texts.ts';

const WAVE = 64;
const REPEATS = 5;
/** Whoever takes so long is not asked again. */
const ENOUGH_MS = 2000;

interface Compiled {
  readonly workload: Workload;
  readonly options: WebGpuOptions;
  /** The part of the work that is compiled, if not all, which then leaves the state as it was. */
  readonly part?: (work: RegionWork) => RegionWork;
}

/** Subjects whose `compileMs` is what they are for. */
export function compileSubjects(target: Target, runner: KernelRunner, batches: Batches): Subject[] {
  const workload = (id: string, text: string, pairs: number, work: number): Workload => ({
    id,
    program: assemble(text, { target, waveSize: WAVE, file: 'built-in' }),
    pairs,
    work,
  });
  const one = workload('compile/fused', macroText(target, WAVE), 1, 1);
  const sixteen = workload('compile/fused16', sixteenText(target, WAVE), SIXTEEN_REGISTERS / 4, 16);
  const all: Compiled[] = [
    { workload: one, options: { form: 'fused' } },
    { workload: { ...one, id: 'compile/bail' }, options: { form: 'fused', bail: 'list' }, part: bailKernel },
    { workload: sixteen, options: {} },
  ];
  return all.map((compiled) => ({
    id: compiled.workload.id,
    engine: 'webgpu',
    adapter: runner.device,
    lanes: [WAVE],
    prepare: () => prepare(compiled, runner, batches),
  }));
}

async function prepare(
  { workload, options, part }: Compiled,
  runner: KernelRunner,
  batches: Batches,
): Promise<Prepared> {
  const { inputs, expected } = await batches.of(workload, WAVE);
  const whole = await workOf(runner, options, workload.program, inputs[0]!);
  const work = part ? part(whole) : whole;
  const { first, run } = await overRegions(runner, work, inputs);
  return {
    lanes: WAVE,
    work: WAVE * workload.work,
    compileMs: await coldCompileMs(runner, work, inputs[0]!, workload.id),
    mismatches: compareStates(first, part ? inputs[0]! : expected).mismatches,
    cost: undefined,
    run,
  };
}

/** A few times, with texts that nobody has compiled before: the comment is new. */
async function coldCompileMs(runner: KernelRunner, work: RegionWork, input: WaveState, id: string): Promise<number> {
  const times: number[] = [];
  const began = performance.now();
  do {
    const kernels = work.kernels.map((text) => `${text}// ${id}, ${began + times.length}\n`);
    times.push((await compileMs(runner, { ...work, kernels }, input)) ?? 0);
  } while (times.length < REPEATS && performance.now() - began < ENOUGH_MS);
  return median(times);
}

/** The kernel of bailed lanes in place of the one before it too, so that it is compiled although nobody puts a lane on the list. */
function bailKernel({ kernels, dispatches, ...rest }: RegionWork): RegionWork {
  const { bail, ...dispatch } = dispatches.find((one) => one.bail !== undefined)!;
  return {
    ...rest,
    kernels: [kernels[bail!.kernel]!],
    dispatches: [{ ...dispatch, kernel: 0, bail: { ...bail!, kernel: 0 } }],
  };
}
