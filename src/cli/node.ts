/** The command line's surroundings in Node. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { EngineError } from '../engine.ts';
import { WorkerChecker } from './checkers.ts';
import type { AdapterReport, Io } from './io.ts';

/** Streams of this process, Ctrl-C as a signal (twice ends the process), engines with the driver in a child process. */
export function nodeIo(): Io {
  const interrupt = new AbortController();
  process.on('SIGINT', () => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
  // A reader that has enough (| head) closes the pipe: no more is to be said.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  return {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    progress: process.stderr,
    signal: interrupt.signal,
    engines: {
      reference: async (forms = 'steps') => new (await import('../reference/engine.ts')).ReferenceEngine({ forms }),
      checker: (setting) => new WorkerChecker(setting),
      webgpu: async (timeoutMs, form = 'auto') =>
        (await import('../gpu/engine.node.ts')).openWebGpuEngine({ timeoutMs, form }),
      adapter: findAdapter,
    },
  };
}

/** Asks a process of its own. */
function findAdapter(timeoutMs: number): Promise<AdapterReport> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const script = fileURLToPath(new URL('./adapterReport.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--import', tsx, script],
      { timeout: timeoutMs, killSignal: 'SIGKILL' },
      (error, out) => {
        if (error === null) resolve(JSON.parse(out));
        else
          reject(
            new EngineError(
              'lost',
              error.killed
                ? `the WebGPU driver did not answer within ${timeoutMs / 1000} s`
                : `the WebGPU driver process ended (${error.signal ?? `exit code ${error.code}`})`,
            ),
          );
      },
    );
  });
}
