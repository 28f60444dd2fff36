/** Questions to another thread and its answers, whatever kind of thread the platform has. Storage changes hands; it is not copied. */
import { EngineError } from '../engine.ts';

/** One end of the way between two threads. */
export interface Port<Sent, Received> {
  send(message: Sent, transfer: ArrayBuffer[]): void;
  /** Hands over all that comes. */
  receive(take: (message: Received) => void): void;
}

/** The way to a thread that this one started. */
export interface Thread<Sent, Received> extends Port<Sent, Received> {
  /** Tells why the thread is no more, or never was. */
  failed(tell: (why: string) => void): void;
  end(): Promise<void>;
}

export interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

export type Answered<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly kind: EngineError['kind'] | undefined; readonly message: string };

interface Waiting<Answer> {
  readonly done: (answer: Answer) => void;
  readonly failed: (error: Error) => void;
}

/** The side that asks. Once the thread has failed or was closed, each question is answered by that. */
export class Calls<Question, Answer> {
  readonly #thread: Thread<Asked<Question>, Answered<Answer>>;
  readonly #who: string;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #failure: EngineError | undefined;
  #lastId = 0;

  /** @param who the thread, in messages of its failure */
  constructor(thread: Thread<Asked<Question>, Answered<Answer>>, who: string) {
    this.#thread = thread;
    this.#who = who;
    thread.receive((answered) => this.#take(answered));
    thread.failed((why) => this.#fail(why));
  }

  /**
   * @param storage of the question, which the other thread gets
   * @throws EngineError `lost` if the thread fails; what the thread threw, as an EngineError if it was one
   */
  ask(question: Question, storage?: Uint32Array<ArrayBuffer>): Promise<Answer> {
    return new Promise((done, failed) => {
      if (this.#failure) throw this.#failure;
      const id = ++this.#lastId;
      this.#thread.send({ id, question }, storage ? [storage.buffer] : []);
      this.#waiting.set(id, { done, failed });
    });
  }

  async close(): Promise<void> {
    this.#fail('it was closed');
    await this.#thread.end();
  }

  #take(answered: Answered<Answer>): void {
    const waiting = this.#waiting.get(answered.id);
    this.#waiting.delete(answered.id);
    if ('answer' in answered) waiting?.done(answered.answer);
    else waiting?.failed(errorOf(answered));
  }

  #fail(why: string): void {
    this.#failure ??= new EngineError('lost', `${this.#who} failed: ${why}`);
    for (const { failed } of this.#waiting.values()) failed(this.#failure);
    this.#waiting.clear();
  }
}

const errorOf = ({ kind, message }: { readonly kind: EngineError['kind'] | undefined; readonly message: string }) =>
  kind ? new EngineError(kind, message) : new Error(message);

/** The side that answers. @param answer gives the answer, and the storage in it that the other thread gets */
export function answerCalls<Question, Answer>(
  port: Port<Answered<Answer>, Asked<Question>>,
  answer: (question: Question) => Promise<readonly [Answer, Uint32Array<ArrayBuffer> | undefined]>,
): void {
  port.receive(async ({ id, question }) => {
    try {
      const [given, storage] = await answer(question);
      port.send({ id, answer: given }, storage ? [storage.buffer] : []);
    } catch (error) {
      const kind = error instanceof EngineError ? error.kind : undefined;
      port.send({ id, kind, message: error instanceof Error ? error.message : String(error) }, []);
    }
  });
}
