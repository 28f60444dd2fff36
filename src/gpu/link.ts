import { shaderSources } from '#shader-sources';
import { linkerOf } from './linker.ts';
import { romModule } from './rom.ts';
import { x1kSeriesModule } from './x1kSeries.ts';

/** Links modules of `shaders/` and those made from the host's tables. */
export const linkShader = linkerOf(() => ({
  ...shaderSources(),
  'isa/rom.wesl': romModule(),
  'isa/x1k_series.wesl': x1kSeriesModule(),
}));
