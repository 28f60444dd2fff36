/** The command line in this process: arguments in, what it prints and its exit code out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineSource } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';

/** For commands that must fail before any engine is asked for. */
export const noEngines: EngineSource = {
  reference: () => Promise.reject(new Error('an engine was opened')),
  webgpu: () => Promise.reject(new Error('an engine was opened')),
  adapter: () => Promise.reject(new Error('an adapter was asked for')),
};

export interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command with these engines. */
export async function wave64(
  argv: readonly string[],
  engines: EngineSource = noEngines,
  signal = new AbortController().signal,
): Promise<Ended> {
  let [out, err] = ['', ''];
  const exit = await main(argv, { out: (text) => (out += text), err: (text) => (err += text), signal, engines });
  return { exit, out, err };
}

/** A folder of files for a test, which is the current one until `close`. */
export function inFolder(files: Readonly<Record<string, string | Uint8Array>>): { close: () => void } {
  const [before, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), 'wave64-test-'))];
  for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), data);
  process.chdir(folder);
  return {
    close: () => {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    },
  };
}
