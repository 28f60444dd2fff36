/** Kernels that are measured without an engine around them, over the registers of a batch all the same. */
import { linkKernel } from '../gpu/cost.ts';
import type { KernelRunner } from '../gpu/runner.ts';
import { cutDispatch } from '../gpu/translate.ts';
import { Special } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import type { Prepared, Subject } from './measure.ts';
import { type Batches, prepareOnGpu, type Workload } from './programs.ts';
import { regionsFor } from './regions.ts';

export interface RawKernel {
  readonly id: string;
  /** WGSL that imports what it needs and has a function `work(base: u32)`; `base` is the lane's word of v0, registers 64 apart. */
  readonly source: string;
  readonly registers: number;
  /** Operations a lane. */
  readonly work: number;
  /** What a program of the reference engine says about which registers of it; absent for probes. */
  readonly expected?: {
    readonly workload: Workload;
    /** The kernel's register, and the program's with the same value. */
    readonly registers: readonly (readonly [number, number])[];
    /** Kernel registers that say whether the kernel could do the lane, and what is its bit of VCC; else it can, and has none. */
    readonly ok?: number;
    readonly vcc?: number;
  };
}

const shell = (source: string, registers: number) => `${source}
@group(0) @binding(1) var<storage, read_write> vgprs: array<u32>;
@group(0) @binding(3) var<uniform> dispatch: vec4u;

fn load64(at: u32) -> vec2u { return vec2u(vgprs[at], vgprs[at + 64u]); }
fn store64(at: u32, value: vec2u) { vgprs[at] = value.x; vgprs[at + 64u] = value.y; }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  work((dispatch.x + group.x * dispatch.y) * ${registers * 64}u + lane);
}
`;

/** A kernel as a subject. */
export const rawSubject = (
  kernel: RawKernel,
  runner: KernelRunner,
  batches: Batches,
  lanes: readonly number[],
): Subject => ({
  id: kernel.id,
  engine: 'webgpu',
  adapter: runner.device,
  lanes: lanes.filter((count, i) => i === 0 || bytesOf(kernel, count) <= runner.maxBindingBytes),
  prepare: async (count): Promise<Prepared> => {
    const text = await linkKernel(shell(kernel.source, kernel.registers));
    const dispatches = cutDispatch({ kernel: 0, first: 0, stride: 1, waves: count / 64 });
    const { inputs, check } = await inputsOf(kernel, batches, count);
    return prepareOnGpu(
      { runner, batches, lanes: count, work: kernel.work, check },
      { kernels: [text], dispatches },
      inputs,
    );
  },
});

/** Bytes of the registers of all regions. */
function bytesOf({ registers }: RawKernel, lanes: number): number {
  const bytes = 4 * registers * lanes;
  return bytes * regionsFor(bytes);
}

/** Regions with operands, of which the first is compared with what the reference makes of it. */
async function inputsOf({ registers, expected }: RawKernel, batches: Batches, lanes: number) {
  const waves = lanes / 64;
  const shape = { waveSize: 64, waves, wavesPerGroup: 1, vgprs: registers, sgprs: 0, ldsWords: 0 } as const;
  if (!expected) {
    const inputs = Array.from({ length: regionsFor(4 * registers * lanes) }, () => new WaveState(shape));
    for (const [region, { words }] of inputs.entries())
      words.forEach((_, i) => {
        words[i] = Math.imul(i + region, 0x9e3779b1) | 1;
      });
    return { inputs, check: () => 0 };
  }
  const { inputs: drawn, expected: right } = await batches.of(expected.workload, lanes);
  const given = 4 * expected.workload.pairs * 64;
  const inputs = drawn.map((input) => {
    const state = new WaveState(shape);
    for (let wave = 0; wave < waves; wave++) {
      const from = input.layout.vgpr(wave, 0);
      state.words.set(input.words.subarray(from, from + given), state.layout.vgpr(wave, 0));
    }
    return state;
  });
  return { inputs, check: (got: WaveState) => differences(got, right, waves, expected) };
}

/** Words that differ, VCC among them, in the lanes that the kernel could do. */
function differences(
  got: WaveState,
  right: WaveState,
  waves: number,
  { registers, ok: done, vcc: flag }: NonNullable<RawKernel['expected']>,
): number {
  let wrong = 0;
  for (let wave = 0; wave < waves; wave++) {
    const ok = done === undefined ? undefined : got.vgpr(wave, done);
    const flags = flag === undefined ? undefined : got.vgpr(wave, flag);
    const columns = registers.map(([mine, theirs]) => [got.vgpr(wave, mine), right.vgpr(wave, theirs)] as const);
    for (let lane = 0; lane < 64; lane++) {
      if (ok?.[lane] === 0) continue;
      const vcc = right.special(wave, lane < 32 ? Special.vccLo : Special.vccHi);
      if (flags && flags[lane] !== ((vcc >>> (lane & 31)) & 1)) wrong++;
      for (const [mine, theirs] of columns) if (mine[lane] !== theirs[lane]) wrong++;
    }
  }
  return wrong;
}
