/** Kernels that are measured without an engine around them, over the registers of a batch all the same. */
import { linkKernel } from '../gpu/cost.ts';
import type { KernelRunner } from '../gpu/runner.ts';
import { Special } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import type { Prepared, Subject } from './measure.ts';
import { type Batches, costOf, shapeOf, type Workload } from './programs.ts';

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
  };
}

/** Regions of the batch that take turns, so that caches don't flatter. */
const REGIONS = 4;

/** A timed pass should take this long, so that the clock's grain and the start of a pass don't count. */
const PASS_MS = 4;
const MAX_DISPATCHES = 64;

const shell = (source: string, registers: number) => `${source}
@group(0) @binding(1) var<storage, read_write> vgprs: array<u32>;
@group(0) @binding(3) var<uniform> dispatch: vec4u;

fn load64(at: u32) -> vec2u { return vec2u(vgprs[at], vgprs[at + 64u]); }
fn store64(at: u32, value: vec2u) { vgprs[at] = value.x; vgprs[at + 64u] = value.y; }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) lane: u32) {
  let index = group.y * groups.x + group.x;
  if (index < dispatch.z) { work((dispatch.x + index * dispatch.y) * ${registers * 64}u + lane); }
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
  lanes: lanes.filter((count, i) => i === 0 || REGIONS * count * 4 * kernel.registers <= runner.maxBindingBytes),
  prepare: async (count): Promise<Prepared> => {
    const text = await linkKernel(shell(kernel.source, kernel.registers));
    const { words, shape, check } = await inputOf(kernel, batches, count);
    const waves = count / 64;
    const job = (dispatches: number) => ({
      kernels: [text],
      dispatches: Array.from({ length: dispatches }, (_, i) => ({
        kernel: 0,
        first: (i % REGIONS) * waves,
        stride: 1,
        waves,
      })),
      shape,
    });
    const first = await runner.run(job(REGIONS), words);
    if (first.cost.compileMs !== undefined) batches.compileMs.set(text, first.cost.compileMs);
    const once = (first.cost.deviceMs ?? PASS_MS) / REGIONS;
    const dispatches = Math.min(MAX_DISPATCHES, REGIONS * Math.ceil(PASS_MS / Math.max(once, 1e-3) / REGIONS));
    return {
      lanes: count,
      work: count * kernel.work,
      compileMs: batches.compileMs.get(text) ?? null,
      mismatches: check(new WaveState(shape, first.words)),
      cost: costOf([text], count),
      run: async () => {
        const began = performance.now();
        const { deviceMs, compileMs = 0 } = (await runner.run(job(dispatches), words)).cost;
        const wallMs = (performance.now() - began - compileMs) / dispatches;
        return { wallMs, ...(deviceMs !== undefined && { deviceMs: deviceMs / dispatches }) };
      },
    };
  },
});

/** Regions with operands, of which the first is compared with what the reference makes of it. */
async function inputOf({ registers, expected }: RawKernel, batches: Batches, lanes: number) {
  const waves = lanes / 64;
  const shape = {
    waveSize: 64,
    waves: waves * REGIONS,
    wavesPerGroup: 1,
    vgprs: registers,
    sgprs: 0,
    ldsWords: 0,
  } as const;
  const state = new WaveState(shape);
  if (!expected) {
    state.words.forEach((_, i, words) => {
      words[i] = Math.imul(i, 0x9e3779b1) | 1;
    });
    return { words: state.words, shape, check: () => 0 };
  }
  const { inputs, expected: right } = await batches.of(expected.workload, lanes);
  const given = 4 * expected.workload.pairs * 64;
  const { vgprs: have } = shapeOf(expected.workload);
  for (const [region, input] of inputs.entries())
    for (let wave = 0; wave < waves; wave++) {
      const from = input.layout.vgprs + wave * have * 64;
      state.words.set(input.words.subarray(from, from + given), state.layout.vgpr(region * waves + wave, 0));
    }
  return { words: state.words, shape, check: (got: WaveState) => differences(got, right, waves, expected) };
}

/** Words that differ, VCC among them, in the lanes that the kernel could do. */
function differences(
  got: WaveState,
  right: WaveState,
  waves: number,
  { registers }: NonNullable<RawKernel['expected']>,
): number {
  let wrong = 0;
  for (let wave = 0; wave < waves; wave++) {
    const ok = got.vgpr(wave, OK_REGISTER);
    const flags = got.vgpr(wave, VCC_REGISTER);
    const columns = registers.map(([mine, theirs]) => [got.vgpr(wave, mine), right.vgpr(wave, theirs)] as const);
    for (let lane = 0; lane < 64; lane++) {
      if (ok[lane] === 0) continue;
      const vcc = right.special(wave, lane < 32 ? Special.vccLo : Special.vccHi);
      if (flags[lane] !== ((vcc >>> (lane & 31)) & 1)) wrong++;
      for (const [mine, theirs] of columns) if (mine[lane] !== theirs[lane]) wrong++;
    }
  }
  return wrong;
}

/** Where raw macros put VCC's bit, and whether they could do the lane. */
export const VCC_REGISTER = 16;
export const OK_REGISTER = 17;
