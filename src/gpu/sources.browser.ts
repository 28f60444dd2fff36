const modules = import.meta.glob<string>('../../shaders/**/*.wesl', { query: '?raw', import: 'default', eager: true });

const sources = Object.fromEntries(
  Object.entries(modules).map(([path, text]) => [path.slice(path.indexOf('shaders/') + 'shaders/'.length), text]),
);

/** Every shader module by its path below `shaders/` (`float/f64_add.wesl`), as the bundler packed it. */
export function shaderSources(): Record<string, string> {
  return sources;
}
