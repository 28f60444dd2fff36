/**
 * Storage of batches that is used again. Fresh memory costs more than what a batch's words are written or copied in: the kernel clears
 * it page by page, and the threads of a process wait for each other while it does.
 */
import { type Shape, sameShape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';

/** More than a run has free at once; an engine that returns storage of its own must not fill the memory. */
const MAX_FREE = 16;

export class StatePool {
  readonly #free: WaveState[] = [];
  readonly #most: number;

  /** @param most batches that are kept */
  constructor(most = MAX_FREE) {
    this.#most = most;
  }

  /** A batch of that shape with anything in it. */
  take(shape: Shape): WaveState {
    const last = this.#free.findLastIndex(({ layout }) => sameShape(layout.shape, shape));
    if (last >= 0) return this.#free.splice(last, 1)[0]!;
    this.#free.pop(); // of a shape that is gone by, or else it would be in the way for ever
    return new WaveState(shape);
  }

  /** Storage of whatever shape, if there is any. */
  spare(): WaveState | undefined {
    return this.#free.pop();
  }

  /** Storage that nobody looks at any more. */
  give(state: WaveState): void {
    if (this.#free.length < this.#most) this.#free.push(state);
  }
}
