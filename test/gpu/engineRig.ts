/** What the tests of the WebGPU engine share: an engine on the adapter there is, programs from text, batches to run them on. */
import { openGpu } from '../../src/gpu/adapter.node.ts';
import { openDevice } from '../../src/gpu/adapter.ts';
import { WebGpuEngine, type WebGpuOptions } from '../../src/gpu/engine.ts';
import { findTarget } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import type { Program } from '../../src/program/program.ts';
import type { Shape } from '../../src/wavefront/layout.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';
import { WaveState } from '../../src/wavefront/state.ts';

export async function openEngine(options?: WebGpuOptions): Promise<WebGpuEngine> {
  const { adapter, choice } = await openGpu();
  if (!adapter) throw new Error(choice.reasons.join('; '));
  return new WebGpuEngine(await openDevice(adapter), options);
}

export const programOf = (text: string, target = 'gfx90a', waveSize?: WaveSize): Program =>
  assemble(`${text}\ns_endpgm\n`, { target: findTarget(target), waveSize });

/** A batch as a kernel finds it, with room for the program's registers. */
export const batchFor = (program: Program, shape: Partial<Shape> = {}): WaveState =>
  WaveState.start({
    waveSize: program.waveSize,
    waves: 1,
    wavesPerGroup: 1,
    vgprs: program.vgprs,
    sgprs: program.sgprs,
    ldsWords: program.usesLds ? 256 : 0,
    ...shape,
  });

/** A generator of 32-bit words (xorshift32), alike wherever it runs. */
export function wordsFrom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

export const lanesOf = (size: WaveSize): number[] => Array.from({ length: size }, (_, lane) => lane);
