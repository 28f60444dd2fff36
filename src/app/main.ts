/** The page: opens the engines that there are and mounts the panels on them. */
import type { Engine } from '../engine.ts';
import { WebGpuEngine } from '../gpu/engine.ts';
import { mountBench } from './bench.ts';
import { byId } from './dom.ts';
import { mountJob } from './job.ts';
import { mountLanes } from './lanes.ts';
import { type DecisionMap, mountMap } from './map.ts';
import { cpuPainter } from './mapCpu.ts';
import { gpuPainter } from './mapGpu.ts';
import { openPageGpu, type PageGpu } from './pageGpu.ts';
import { mountPair } from './pair.ts';
import { mountSettings, showAdapter } from './settings.ts';
import { WorkerReference } from './workerReference.ts';
import { mountX1k } from './x1k.ts';

/** Calls for the map before it is there wait for its first picture, which shows the state of then. */
let map: DecisionMap | undefined;
const settings = mountSettings(() => map?.redraw());

const gpu = await openPageGpu();
const engines = enginesOn(gpu);
const lanes = mountLanes(engines);
mountJob({ settings, engines, done: (plan) => lanes.show(plan) });
const pair = mountPair({
  settings,
  engines,
  changed: () => map?.redraw(),
  running: (cell) => map?.mark(cell),
});
mountX1k(engines, () => settings().round);
const canvas = byId('map', HTMLCanvasElement);
const painter = gpu.device ? gpuPainter(gpu.device, canvas) : cpuPainter(canvas);
map = mountMap(canvas, painter, { settings, fractions: pair.fractions, pick: pair.pick });
mountBench(engines, () => settings().target);
document.documentElement.dataset.ready = 'true';

/** The engine under test first; the reference alone where there is no WebGPU. */
function enginesOn(gpu: PageGpu): [Engine, Engine?] {
  const reference = new WorkerReference();
  if (!gpu.device) {
    showAdapter('none', 'WebGPU is not available here: running on the CPU reference.', `Why: ${gpu.reason}.`);
    return [reference];
  }
  showAdapter('webgpu', `WebGPU: ${gpu.name}${gpu.software ? ' (software, on the CPU)' : ''}`, gpu.facts);
  gpu.device.lost.then(({ message }) =>
    showAdapter('none', 'The WebGPU device was lost; reload the page to try again.', message),
  );
  return [new WebGpuEngine(gpu.device), reference];
}
