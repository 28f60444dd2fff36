import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../shaders/', import.meta.url));

let cached: Record<string, string> | undefined;

/** Every shader module by its path below `shaders/` (`float/f64_add.wesl`), read once. */
export function shaderSources(): Record<string, string> {
  cached ??= Object.fromEntries(
    readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.wesl'))
      .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(FOLDER, path), 'utf8')]),
  );
  return cached;
}
