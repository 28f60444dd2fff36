/** Which engines a command runs on, and what it says where there is no WebGPU. */
import { type Engine, EngineError } from '../engine.ts';
import type { ReferenceForms } from '../reference/engine.ts';
import { CommandError, Exit } from './errors.ts';
import type { Io } from './io.ts';
import type { CommonOptions } from './options.ts';

export interface OpenedEngines {
  /** The engine under test, then the one it is compared with. */
  readonly engines: readonly [Engine, Engine?];
  close(): Promise<void>;
}

const opened = (...engines: [Engine, Engine?]): OpenedEngines => ({
  engines,
  close: async () => {
    for (const engine of engines) await engine?.close();
  },
});

/** The exit code that an engine's failure gives, and its line. */
export function engineFailure(error: EngineError): CommandError {
  switch (error.kind) {
    case 'unavailable':
      return new CommandError(Exit.noEngine, `${error.message}; allowed: --engine reference, which needs no adapter`);
    case 'unsupported':
      return new CommandError(Exit.noEngine, error.message);
    default:
      return new CommandError(Exit.fault, error.message);
  }
}

/**
 * @param fallback where WebGPU is missing, run the reference alone and say so on stderr, instead of failing
 * @throws CommandError with exit code 3 where no engine can be opened
 */
export async function openEngines(
  io: Io,
  { engine: choice, timeout, form }: Pick<CommonOptions, 'engine' | 'timeout' | 'form'>,
  fallback = false,
  forms?: ReferenceForms,
): Promise<OpenedEngines> {
  if (choice === 'reference') return opened(await io.engines.reference(forms));
  try {
    const webgpu = await io.engines.webgpu(timeout * 1000, form);
    return choice === 'webgpu' ? opened(webgpu) : opened(webgpu, await io.engines.reference(forms));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (!fallback) throw engineFailure(error);
    io.err(`wave64: ${error.message}; the reference engine runs alone, compared with no other\n`);
    return opened(await io.engines.reference(forms));
  }
}
