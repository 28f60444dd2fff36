/**
 * What parent and driver process say to each other. The words of a batch go through a file that both have open, which costs two
 * copies in memory; messages carry the rest.
 */
import type { EngineError } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { JobCost } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** The file's descriptor in the child: the place after stdin, stdout, stderr and the message channel. */
export const WORDS_FD = 4;

/** Start of a job. Each kernel is sent once; later jobs name it by its number, until told to forget them. */
export interface RunMessage {
  /** Number of the job, which answers name. */
  readonly job: number;
  /** Byte in the file: where its words are, and where they go. */
  readonly at: number;
  readonly forget: boolean;
  /** The child says when it has compiled what the job needs. */
  readonly compiles: boolean;
  readonly kernels: readonly number[];
  readonly newKernels: readonly (readonly [number, string])[];
  readonly dispatches: readonly Dispatch[];
  readonly table?: readonly number[];
  readonly shape: Shape;
}

/** About the process, then about jobs. Jobs are begun and done in the order in which they were sent. */
export type ChildMessage =
  | { readonly kind: 'none'; readonly reasons: readonly string[] }
  | {
      readonly kind: 'ready';
      readonly device: string;
      readonly software: boolean;
      readonly maxBufferBytes: number;
      readonly maxBindingBytes: number;
    }
  | JobMessage;

export type JobMessage =
  | { readonly kind: 'compiled'; readonly job: number }
  | { readonly kind: 'done'; readonly job: number; readonly cost: JobCost }
  | { readonly kind: 'failed'; readonly job: number; readonly error: EngineError['kind']; readonly message: string };
