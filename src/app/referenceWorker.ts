/** The worker's side of `workerReference.ts`: the reference engine, away from the page's thread. */
import { EngineError } from '../engine.ts';
import { findTarget } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { decode } from '../program/decode.ts';
import { ReferenceEngine } from '../reference/engine.ts';
import { WaveState } from '../wavefront/state.ts';
import type { Reply, Request } from './workerReference.ts';

const engine = new ReferenceEngine();

async function answer({ id, target, waveSize, code, shape, words, options }: Request): Promise<Reply> {
  try {
    const chip = { target: findTarget(target), waveSize };
    const program = typeof code === 'string' ? assemble(code, chip) : decode(code, chip);
    const { state, cost } = await engine.run(program, new WaveState(shape, words), options);
    return { id, words: state.words, cost };
  } catch (error) {
    const kind = error instanceof EngineError ? error.kind : undefined;
    return { id, kind, message: error instanceof Error ? error.message : String(error) };
  }
}

addEventListener('message', async ({ data }: MessageEvent<Request>) => {
  const reply = await answer(data);
  postMessage(reply, { transfer: 'words' in reply ? [reply.words.buffer] : [] });
});
