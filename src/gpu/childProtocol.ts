/**
 * What parent and driver process say to each other. The words of a batch go through a file that both have open, which costs two
 * copies in memory; messages carry the rest.
 */
import type { EngineError } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { JobCost } from './runner.ts';
import type { Dispatch } from './translate.ts';

/** File descriptor of the words in the child: the place after stdin, stdout, stderr and the message channel. */
export const WORDS_FD = 4;

/** Start of a job. Each kernel is sent once; later jobs name it by its number, until told to forget them. */
export interface RunMessage {
  readonly forget: boolean;
  readonly kernels: readonly number[];
  readonly newKernels: readonly (readonly [number, string])[];
  readonly dispatches: readonly Dispatch[];
  readonly shape: Shape;
}

export type ChildMessage =
  | { readonly kind: 'none'; readonly reasons: readonly string[] }
  | {
      readonly kind: 'ready';
      readonly device: string;
      readonly software: boolean;
      readonly maxBufferBytes: number;
      readonly maxBindingBytes: number;
    }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'done'; readonly cost: JobCost }
  | { readonly kind: 'failed'; readonly error: EngineError['kind']; readonly message: string };

/** `readSync` or `writeSync`. */
type Transfer = (file: number, bytes: Uint8Array, offset: number, length: number, position: number) => number;

/** All words to or from the start of a file; one call moves at most 2 GiB. */
export function move(by: Transfer, file: number, words: Uint32Array): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  for (let at = 0; at < bytes.length; ) at += by(file, bytes, at, Math.min(bytes.length - at, 1 << 30), at);
}
