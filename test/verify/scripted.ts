/** Engines that do what a test says, for what happens around engines. */
import type { Engine, RunResult } from '../../src/engine.ts';
import type { WaveState } from '../../src/wavefront/state.ts';

/** An engine whose runs `change` a copy of the state; `change` gets the number of the run, from 0, and may throw. */
export function scripted(
  name: Engine['name'],
  change: (state: WaveState, run: number) => void = () => {},
): Engine & { runs: number; closed: boolean } {
  return {
    name,
    device: `scripted ${name}`,
    runs: 0,
    closed: false,
    async run(_, input): Promise<RunResult> {
      const state = input.clone();
      change(state, this.runs++);
      return { state, cost: { compileMs: 1, totalMs: 3 } };
    },
    async close() {
      this.closed = true;
    },
  };
}
