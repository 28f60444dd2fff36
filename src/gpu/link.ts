import { link } from 'wesl';
import { shaderSources } from '#shader-sources';
import { romModule } from './rom.ts';
import { x1kSeriesModule } from './x1kSeries.ts';

export type LinkOptions = {
  /** Modules beside those in `shaders/`, by path (`kernel.wesl`), such as a generated kernel that imports from `package::`. */
  sources?: Record<string, string>;
  /** Values that modules import from `constants::`. */
  constants?: Record<string, string | number>;
  /** Switches for `@if(name)` in modules. */
  conditions?: Record<string, boolean>;
  /** Keep the comments of the modules, for a text that people read. */
  comments?: boolean;
};

const CACHE_LIMIT = 256;
const cache = new Map<string, Promise<string>>();

/**
 * The WGSL of one module with what it refers to, and nothing else, from all its imports.
 *
 * @param root module path (`package::float::f64_add`, or `kernel` for an extra module `kernel.wesl`)
 * @throws what `wesl` reports about a module that does not parse, or an import that leads nowhere
 */
export function linkShader(root: string, options: LinkOptions = {}): Promise<string> {
  const key = JSON.stringify([root, options]);
  const known = cache.get(key);
  if (known) return known;
  const text = linkUncached(root, options);
  if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value!);
  cache.set(key, text);
  text.catch(() => cache.delete(key));
  return text;
}

async function linkUncached(
  root: string,
  { sources, constants, conditions, comments = false }: LinkOptions,
): Promise<string> {
  const linked = await link({
    weslSrc: { ...shaderSources(), 'isa/rom.wesl': romModule(), 'isa/x1k_series.wesl': x1kSeriesModule(), ...sources },
    rootModuleName: root,
    ...(constants && { constants }),
    ...(conditions && { conditions }),
    keepComments: comments,
    sourceMap: false,
  });
  return linked.dest;
}
