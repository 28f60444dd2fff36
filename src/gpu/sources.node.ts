import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../shaders/', import.meta.url));

let cached: Sources | undefined;

/** Modules by their path below `shaders/`. */
export type Sources = Readonly<Record<string, string>>;

/** Every shader module by its path below `shaders/` (`float/f64_add.wesl`), read once. */
export function shaderSources(): Sources {
  cached ??= Object.fromEntries(
    readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.wesl'))
      .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(FOLDER, path), 'utf8')]),
  );
  return cached;
}

/** The modules of `shaders/float` alone; they import nothing else. */
export const floatSources = (): Sources =>
  Object.fromEntries(Object.entries(shaderSources()).filter(([path]) => path.startsWith('float/')));
