/** A checker in another thread: what asks it, and what answers there. */
import type { StoredBatch } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import { type Batch, WaveState } from '../wavefront/state.ts';
import { type Answered, type Asked, answerCalls, Calls, type Port, type Thread } from './calls.ts';
import type { Checked, Checker, LocalChecker, StoredChecker } from './checker.ts';
import { StatePool } from './pool.ts';

/** The words of a batch, whose buffer changes hands. */
interface Sent {
  readonly shape: Shape;
  readonly words: Uint32Array<ArrayBuffer>;
}

/**
 * `storage` is for batches that are drawn, `output` what the engine under test made of one; `stored` is where a batch lies, of which then
 * no words are sent.
 */
type Request<Setting> =
  | { readonly kind: 'start'; readonly setting: Setting }
  | { readonly kind: 'draw'; readonly batch: number; readonly storage?: Sent; readonly stored?: StoredBatch }
  | { readonly kind: 'check'; readonly batch: number; readonly output?: Sent; readonly stored?: StoredBatch };

/** With a verdict, `state` is storage for the next batch, whatever is in it. */
interface Reply {
  readonly state?: Sent;
  readonly checked?: Checked;
}

export type CheckThread<Setting> = Thread<Asked<Request<Setting>>, Answered<Reply>>;
export type CheckCalls<Setting> = Calls<Request<Setting>, Reply>;
export type CheckPort<Setting> = Port<Answered<Reply>, Asked<Request<Setting>>>;

/** The way to a thread that serves checks. */
export const checkCalls = <Setting>(thread: CheckThread<Setting>): CheckCalls<Setting> =>
  new Calls(thread, 'a worker that checks');

/** Storage of batches goes to the thread and comes back with its answer. */
export class RemoteChecker<Setting> implements Checker {
  readonly pool = new StatePool();
  readonly #calls: CheckCalls<Setting>;
  readonly #started: Promise<Reply>;
  /** Batches that are not checked yet. */
  readonly #drawn = new Map<number, WaveState>();

  /**
   * @param calls to a thread that has nothing left to do for a checker before
   * @param setting what the thread makes its checker from: plain data
   */
  constructor(calls: CheckCalls<Setting>, setting: Setting) {
    this.#calls = calls;
    this.#started = calls.ask({ kind: 'start', setting });
    this.#started.catch(() => {}); // whatever is asked next says so
  }

  async draw(batch: number): Promise<WaveState> {
    await this.#started;
    const spare = this.pool.spare();
    const { state } = await this.#calls.ask(
      { kind: 'draw', batch, ...(spare && { storage: sent(spare) }) },
      spare?.words,
    );
    if (!state) throw new Error('a checker gave no batch');
    const drawn = received(state);
    this.#drawn.set(batch, drawn);
    return drawn;
  }

  async check(batch: number, judged?: WaveState): Promise<Checked> {
    await this.#started;
    const drawn = this.#drawn.get(batch);
    if (drawn) this.pool.give(drawn);
    this.#drawn.delete(batch);
    const { checked, state } = await this.#calls.ask(
      { kind: 'check', batch, ...(judged && { output: sent(judged) }) },
      judged?.words,
    );
    if (!checked) throw new Error('a checker gave no verdict');
    if (state) this.pool.give(received(state));
    return checked;
  }

  readonly stored: StoredChecker = {
    draw: async (batch, stored) => {
      await this.#started;
      await this.#calls.ask({ kind: 'draw', batch, stored });
    },
    check: async (batch, stored) => {
      const { checked } = await this.#calls.ask({ kind: 'check', batch, stored });
      if (!checked) throw new Error('a checker gave no verdict');
      return checked;
    },
  };

  /** Ends the thread; what it was asked fails. */
  close(): Promise<void> {
    return this.#calls.close();
  }
}

/**
 * The thread's side.
 * @param open makes the checker, with an engine of the thread's own
 * @param reach the way to a stored batch, for a thread that is sent any
 */
export function serveChecks<Setting>(
  port: CheckPort<Setting>,
  open: (setting: Setting) => LocalChecker,
  reach?: (batch: StoredBatch) => Batch,
): void {
  let checker: LocalChecker;
  const wayTo = (stored: StoredBatch): Batch => {
    if (!reach) throw new Error('a checker was sent a stored batch that its thread does not reach');
    return reach(stored);
  };
  answerCalls(port, async (request): Promise<[Reply, Uint32Array<ArrayBuffer> | undefined]> => {
    if (request.kind === 'start') {
      checker = open(request.setting);
      return [{}, undefined];
    }
    if (request.stored) {
      const way = wayTo(request.stored);
      if (request.kind === 'check') return [{ checked: await checker.checkFrom(request.batch, way) }, undefined];
      checker.drawInto(request.batch, way);
      return [{}, undefined];
    }
    const reply = await (request.kind === 'draw'
      ? draw(checker, request.batch, request.storage)
      : check(checker, request.batch, request.output));
    return [reply, reply.state?.words];
  });
}

async function draw(checker: LocalChecker, batch: number, storage: Sent | undefined): Promise<Reply> {
  if (storage) checker.pool.give(received(storage));
  return { state: sent(await checker.draw(batch)) };
}

/** Storage goes back as it came. */
async function check(checker: LocalChecker, batch: number, output: Sent | undefined): Promise<Reply> {
  const checked = await checker.checkFrom(batch, output && received(output));
  return { checked, ...(output && { state: output }) };
}

const sent = ({ layout, words }: WaveState): Sent => ({ shape: layout.shape, words });
const received = ({ shape, words }: Sent) => new WaveState(shape, words);
