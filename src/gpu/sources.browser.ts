type Sources = Readonly<Record<string, string>>;

const belowShaders = (modules: Sources): Sources =>
  Object.fromEntries(
    Object.entries(modules).map(([path, text]) => [path.slice(path.indexOf('shaders/') + 'shaders/'.length), text]),
  );

// Each function holds its own modules, so that a bundle which calls one of them carries no others.

/** Every shader module by its path below `shaders/` (`float/f64_add.wesl`), as the bundler packed it. */
export const shaderSources = (): Sources =>
  belowShaders(import.meta.glob<string>('../../shaders/**/*.wesl', { query: '?raw', import: 'default', eager: true }));

/** The modules of `shaders/float` alone; they import nothing else. */
export const floatSources = (): Sources =>
  belowShaders(
    import.meta.glob<string>('../../shaders/float/*.wesl', { query: '?raw', import: 'default', eager: true }),
  );
