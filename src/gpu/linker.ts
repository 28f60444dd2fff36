import { link } from 'wesl';

export type LinkOptions = {
  /** Modules beside the library's, by path (`kernel.wesl`), such as a generated kernel that imports from `package::`. */
  sources?: Record<string, string>;
  /** Values that modules import from `constants::`. */
  constants?: Record<string, string | number>;
  /** Switches for `@if(name)` in modules. */
  conditions?: Record<string, boolean>;
  /** Keep the comments of the modules, for a text that people read. */
  comments?: boolean;
};

/** See `linkerOf`. */
export type Linker = (root: string, options?: LinkOptions) => Promise<string>;

const CACHE_LIMIT = 256;

/**
 * What links modules of a library: the WGSL of one module with what it refers to, and nothing else, from all its imports. Texts are
 * kept, so that asking again costs nothing.
 *
 * A linker takes a root, a module path (`package::float::f64_add`, or `kernel` for an extra module `kernel.wesl`), and throws what `wesl`
 * reports about a module that does not parse, or an import that leads nowhere.
 *
 * @param library its modules by path (`float/f64_add.wesl`)
 */
export function linkerOf(library: () => Readonly<Record<string, string>>): Linker {
  const cache = new Map<string, Promise<string>>();
  return (root, options = {}) => {
    const key = JSON.stringify([root, options]);
    const known = cache.get(key);
    if (known) return known;
    const text = linkUncached(root, library(), options);
    if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value!);
    cache.set(key, text);
    text.catch(() => cache.delete(key));
    return text;
  };
}

async function linkUncached(
  root: string,
  library: Readonly<Record<string, string>>,
  { sources, constants, conditions, comments = false }: LinkOptions,
): Promise<string> {
  const linked = await link({
    weslSrc: { ...library, ...sources },
    rootModuleName: root,
    ...(constants && { constants }),
    ...(conditions && { conditions }),
    keepComments: comments,
    sourceMap: false,
  });
  return linked.dest;
}
