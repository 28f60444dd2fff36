/** A checker in another thread: what asks it, and what answers there. */
import type { Shape } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { type Answered, type Asked, answerCalls, Calls, type Port, type Thread } from './calls.ts';
import type { Checked, Checker, LocalChecker } from './checker.ts';
import { StatePool } from './pool.ts';

/** The words of a batch, whose buffer changes hands. */
interface Sent {
  readonly shape: Shape;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** `words` is storage to draw into, `output` what the engine under test made of a batch. */
type Request<Setting> =
  | { readonly kind: 'start'; readonly setting: Setting }
  | { readonly kind: 'draw'; readonly batch: number; readonly words: Uint32Array<ArrayBuffer> | undefined }
  | { readonly kind: 'check'; readonly batch: number; readonly output: Sent | undefined };

/** With a verdict, `state` is storage for the next batch, whatever is in it. */
interface Reply {
  readonly state?: Sent | undefined;
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
    const words = this.pool.spare()?.words;
    const { state } = await this.#calls.ask({ kind: 'draw', batch, words }, words);
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
    const output = judged && sent(judged);
    const { checked, state } = await this.#calls.ask({ kind: 'check', batch, output }, output?.words);
    if (!checked) throw new Error('a checker gave no verdict');
    if (state) this.pool.give(received(state));
    return checked;
  }

  /** Ends the thread; what it was asked fails. */
  close(): Promise<void> {
    return this.#calls.close();
  }
}

/** The thread's side. @param open makes the checker, with an engine of the thread's own */
export function serveChecks<Setting>(port: CheckPort<Setting>, open: (setting: Setting) => LocalChecker): void {
  let checker: LocalChecker;
  answerCalls(port, async (request): Promise<[Reply, Uint32Array<ArrayBuffer> | undefined]> => {
    if (request.kind === 'start') {
      checker = open(request.setting);
      return [{}, undefined];
    }
    const reply = await (request.kind === 'draw'
      ? draw(checker, request.batch, request.words)
      : check(checker, request.batch, request.output));
    return [reply, reply.state?.words];
  });
}

/** A copy of the batch: the checker computes from its own. */
async function draw(checker: LocalChecker, batch: number, into: Uint32Array<ArrayBuffer> | undefined): Promise<Reply> {
  const { layout, words } = await checker.draw(batch);
  const copy = into?.length === words.length ? into : new Uint32Array(words.length);
  copy.set(words);
  return { state: { shape: layout.shape, words: copy } };
}

/** As much storage goes back as came. */
async function check(checker: LocalChecker, batch: number, output: Sent | undefined): Promise<Reply> {
  const checked = await checker.check(batch, output && received(output));
  return { checked, state: output && sent(checker.pool.take(output.shape)) };
}

const sent = ({ layout, words }: WaveState): Sent => ({ shape: layout.shape, words });
const received = ({ shape, words }: Sent) => new WaveState(shape, words);
