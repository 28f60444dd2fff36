/** What a command touches besides files: streams, the interrupt, the engines. Tests put their own in place of each. */
import type { Engine } from '../engine.ts';
import type { Form } from '../gpu/forms.ts';
import type { ReferenceForms } from '../reference/engine.ts';
import type { Checker } from '../verify/checker.ts';
import type { CheckSetting } from './checkWorker.ts';
import type { Exit } from './errors.ts';

/** The adapter that the WebGPU engine would take, and how it came to that. */
export interface AdapterReport {
  readonly driver: 'system' | 'swiftshader' | 'none';
  readonly description: string;
  readonly software: boolean;
  /** A line a candidate, in the order of trying. */
  readonly reasons: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
}

export type ClosableChecker = Checker & { close(): Promise<void> };

export interface EngineSource {
  /** @param forms default `steps` */
  reference(forms?: ReferenceForms): Promise<Engine>;
  /** A thread that draws and checks batches, where there are threads. */
  checker?(setting: CheckSetting): ClosableChecker;
  /**
   * @param timeoutMs how long one run may take before its driver is ended
   * @param form default `auto`
   * @throws EngineError `unavailable` where there is no adapter
   */
  webgpu(timeoutMs: number, form?: Form): Promise<Engine>;
  /** @throws EngineError where the driver doesn't even answer this */
  adapter(timeoutMs: number): Promise<AdapterReport>;
}

export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Where a progress bar may be drawn; none is without it. */
  readonly progress?: NodeJS.WriteStream;
  /** Aborted by Ctrl-C: finish the batch, print what was done. */
  readonly signal: AbortSignal;
  readonly engines: EngineSource;
}

/** Takes the exit code of a command's action. */
export type End = (result: Promise<Exit>) => Promise<void>;
