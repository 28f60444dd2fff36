/** The worker's side of `workerReference.ts`: the reference engine, away from the page's thread. */
import { findTarget } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { decode } from '../program/decode.ts';
import { ReferenceEngine } from '../reference/engine.ts';
import { answerCalls } from '../verify/calls.ts';
import { WaveState } from '../wavefront/state.ts';
import { pagePort } from './webWorker.ts';
import type { Ran, Run } from './workerReference.ts';

const engine = new ReferenceEngine();

answerCalls<Run, Ran>(pagePort(), async ({ target, waveSize, code, shape, words, options }) => {
  const chip = { target: findTarget(target), waveSize };
  const program = typeof code === 'string' ? assemble(code, chip) : decode(code, chip);
  const { state, cost } = await engine.run(program, new WaveState(shape, words), options);
  return [{ words: state.words, cost }, state.words];
});
