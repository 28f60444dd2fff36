/**
 * The WebGPU engine in Node. The driver runs in a child process, so that one that hangs or crashes is an error and not the end:
 * nothing inside a process can end a thread that never returns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { EngineError, type StoredBatch } from '../engine.ts';
import type { Shape } from '../wavefront/layout.ts';
import type { Driver } from './adapter.node.ts';
import type { ChildMessage, RunMessage } from './childProtocol.ts';
import { TranslatingEngine, type WebGpuOptions } from './engine.ts';
import type { Job, JobCost, KernelRunner, KernelStore } from './runner.ts';
import { FileBatch, move, WordsFile } from './wordsFile.node.ts';

export interface NodeGpuOptions extends WebGpuOptions {
  /** Milliseconds that the kernels of a batch may take before the driver is taken to hang; default 60,000. */
  readonly timeoutMs?: number;
  /** The same for opening the adapter and for compiling; default 300,000, or `timeoutMs` if that is longer. */
  readonly compileTimeoutMs?: number;
  /** Which driver; default the environment variable `WAVE64_DRIVER`, or `auto`. */
  readonly driver?: Driver;
}

/**
 * The WebGPU engine on the best adapter there is. After a hang or a crash the next run starts a new driver process.
 * @throws EngineError `unavailable` without an adapter
 */
export async function openWebGpuEngine(options: NodeGpuOptions = {}): Promise<TranslatingEngine> {
  return new TranslatingEngine(await ChildRunner.open(options), options);
}

/** Kernels that the child keeps the text of. */
const MAX_KERNELS = 1024;

/** Batches that are in this thread's memory go through the file a few at a time: one is moved while another computes. */
const MEMORY_JOBS = 3;

type Ready = Extract<ChildMessage, { kind: 'ready' }>;

/** What became of a request: the child's message, or its end. */
type Answer = ChildMessage | { readonly kind: 'ended'; readonly error: 'lost' | 'timeout'; readonly how: string };

export class ChildRunner implements KernelRunner {
  readonly #options: NodeGpuOptions;
  readonly #words = new WordsFile();
  readonly #numbers = new Map<string, number>();
  /** The last jobs over batches in memory, each after the one `MEMORY_JOBS` before. */
  readonly #turns: Promise<unknown>[] = Array.from({ length: MEMORY_JOBS }, () => Promise.resolve());
  #turn = 0;
  #jobs = 0;
  #driver: Promise<DriverProcess> | undefined;
  #ready: Ready;
  #closed = false;

  private constructor(options: NodeGpuOptions) {
    this.#options = options;
    this.#ready = { kind: 'ready', device: '', software: true, maxBufferBytes: 0, maxBindingBytes: 0 };
  }

  /** @throws EngineError */
  static async open(options: NodeGpuOptions): Promise<ChildRunner> {
    const runner = new ChildRunner(options);
    try {
      await runner.#running();
      return runner;
    } catch (error) {
      await runner.close();
      throw error;
    }
  }

  get device(): string {
    return this.#ready.device;
  }
  get software(): boolean {
    return this.#ready.software;
  }
  get maxBufferBytes(): number {
    return this.#ready.maxBufferBytes;
  }
  get maxBindingBytes(): number {
    return this.#ready.maxBindingBytes;
  }

  /** Batches that lie in the file; where threads have drawn them, none of their words passes through this one. */
  readonly store: KernelStore = {
    take: (shape) => this.#take(shape),
    give: (batch) => this.#words.give(batch),
    open: (batch) => new FileBatch(batch),
    run: async (job, batch) => {
      const answer = await this.#run(job, batch);
      // The batch itself may have been half done.
      if (answer === undefined) throw new EngineError('lost', 'the WebGPU driver process was ended');
      return answer;
    },
  };

  /** Jobs compute one after the other; a few are under way at once (`DeviceRunner`), the others wait. */
  run(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    into?: Uint32Array<ArrayBuffer>,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    const turn = this.#turn++ % MEMORY_JOBS;
    const result = this.#turns[turn]!.then(() => this.#runWords(job, words, into));
    this.#turns[turn] = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const driver = await this.#driver?.catch(() => undefined);
    driver?.end();
    this.#words.close();
  }

  get #compileTimeoutMs(): number {
    return this.#options.compileTimeoutMs ?? Math.max(300_000, this.#options.timeoutMs ?? 0);
  }

  /** The driver process; a new one if there is none that is to be trusted. */
  #running(): Promise<DriverProcess> {
    this.#driver ??= this.#start();
    return this.#driver;
  }

  async #start(): Promise<DriverProcess> {
    const driver = new DriverProcess(this.#words.file, this.#options.driver);
    this.#numbers.clear();
    const message = await driver.answer(undefined, this.#compileTimeoutMs, 'opening the WebGPU adapter');
    if (message.kind === 'none') {
      this.#drop(driver);
      throw new EngineError('unavailable', `no WebGPU adapter: ${message.reasons.join('; ')}`);
    }
    if (message.kind !== 'ready') throw this.#failure(driver, message);
    this.#ready = message;
    return driver;
  }

  #take(shape: Shape): StoredBatch {
    this.#checkOpen();
    return this.#words.take(shape);
  }

  #checkOpen(): void {
    if (this.#closed) throw new EngineError('lost', 'the WebGPU engine is closed');
  }

  async #runWords(job: Job, words: Uint32Array<ArrayBuffer>, into: Uint32Array<ArrayBuffer> | undefined) {
    const batch = this.#take(job.shape);
    const { file, at } = batch;
    try {
      for (;;) {
        const started = performance.now();
        move(writeSync, file, words, at);
        const sent = performance.now();
        const cost = await this.#run(job, batch);
        // A job that comes to nothing because an older one has brought the process down is run again.
        if (cost === undefined) continue;
        const answered = performance.now();
        const result = into ?? new Uint32Array(words.length);
        move(readSync, file, result, at);
        const uploadMs = cost.uploadMs + sent - started;
        return {
          words: result,
          cost: { ...cost, uploadMs, readbackMs: cost.readbackMs + performance.now() - answered },
        };
      }
    } finally {
      this.#words.give(batch);
    }
  }

  /** Runs a job in place; undefined if an older one has brought the process down. */
  async #run(job: Job, batch: StoredBatch): Promise<JobCost | undefined> {
    this.#checkOpen();
    const driver = await this.#running();
    const number = this.#jobs++;
    const message = this.#message(job, number, batch.at, driver);
    driver.send(message);
    if (message.compiles) driver.compiling++;
    let answer = message.compiles && (await driver.answer(number, this.#compileTimeoutMs, 'compiling'));
    if (message.compiles) driver.compiling--;
    if (!answer || answer.kind === 'compiled') {
      for (const kernel of message.kernels) driver.compiled.add(kernel);
      answer = await driver.answer(number, this.#options.timeoutMs ?? 60_000, 'running the program');
    }
    if (answer.kind === 'done') return answer.cost;
    if (driver.dropped && !this.#closed) return undefined;
    throw this.#failure(driver, answer);
  }

  #message({ kernels, dispatches, table, shape }: Job, job: number, at: number, driver: DriverProcess): RunMessage {
    const forget = this.#numbers.size > MAX_KERNELS;
    if (forget) this.#numbers.clear();
    if (forget) driver.compiled.clear();
    const fresh = [...new Set(kernels)].filter((code) => !this.#numbers.has(code));
    for (const code of fresh) this.#numbers.set(code, this.#numbers.size);
    const numberOf = (code: string) => this.#numbers.get(code)!;
    return {
      job,
      at,
      forget,
      // Behind a job that compiles others wait too.
      compiles: driver.compiling > 0 || kernels.some((code) => !driver.compiled.has(numberOf(code))),
      kernels: kernels.map(numberOf),
      newKernels: fresh.map((code) => [numberOf(code), code]),
      dispatches,
      ...(table && { table }),
      shape,
    };
  }

  #failure(driver: DriverProcess, answer: Answer): EngineError {
    if (answer.kind === 'failed' && answer.error === 'unsupported')
      return new EngineError('unsupported', answer.message);
    // Whatever else went wrong, the process is not to be trusted any more.
    this.#drop(driver);
    if (answer.kind === 'failed') return new EngineError(answer.error, answer.message);
    if (answer.kind === 'ended') return new EngineError(answer.error, answer.how);
    return new EngineError('lost', `the WebGPU driver process answered '${answer.kind}' out of turn`);
  }

  #drop(driver: DriverProcess): void {
    driver.dropped = true;
    driver.end();
    this.#driver = undefined;
  }
}

/** A child process with a driver in it, and its end. */
class DriverProcess {
  readonly #child: ChildProcess;
  /** It is not to be trusted any more. */
  dropped = false;
  /** Kernels that are compiled, by their numbers, and jobs that are not yet known to be. */
  readonly compiled = new Set<number>();
  compiling = 0;
  /** Answers that nobody has asked for yet, and who waits for one: by the number of the job, or none for the process itself. */
  readonly #answers: Answer[] = [];
  readonly #waiting = new Map<number | undefined, Waiting>();
  #end: Answer | undefined;
  #stderr = '';
  readonly #kill = () => this.#child.kill('SIGKILL');

  constructor(words: number, driver: Driver | undefined) {
    this.#child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), {
      execArgv: ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href],
      env: { ...process.env, ...(driver && { WAVE64_DRIVER: driver }) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', words],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4096);
    });
    this.#child.on('message', (message: ChildMessage) => this.#take(message));
    this.#child.on('error', (error) => this.#take(ended(`there is no WebGPU driver process: ${error.message}`)));
    // After `exit` the last of stderr may still be on its way.
    this.#child.on('close', (code, signal) => {
      process.off('exit', this.#kill);
      this.#take(ended(`the WebGPU driver process ended (${signal ?? `exit code ${code}`})${this.#lastWords()}`));
    });
    process.once('exit', this.#kill);
    this.#hold(false);
  }

  send(message: RunMessage): void {
    // What the driver said while it opened (a loader's warnings) is no reason for how this job ends.
    this.#stderr = '';
    // A child that has ended says so by `close`.
    this.#child.send(message, () => {});
  }

  /** The next message about a job. Only while someone waits for one does the child keep this process alive. */
  async answer(job: number | undefined, timeoutMs: number, task: string): Promise<Answer> {
    const known = this.#answers.findIndex((answer) => jobOf(answer) === job);
    if (known >= 0) return this.#answers.splice(known, 1)[0]!;
    if (this.#end) return this.#end;
    const how = `the WebGPU driver did not answer within ${timeoutMs / 1000} s while ${task}; it was ended`;
    const answer = await new Promise<Answer>((resolve) => {
      const timer = setTimeout(() => this.#take({ kind: 'ended', error: 'timeout', how }), timeoutMs);
      this.#waiting.set(job, { resolve, timer });
      this.#hold(true);
    });
    if (this.#waiting.size === 0) this.#hold(false);
    return answer;
  }

  /** Ends the child at once: a driver that hangs heeds nothing milder. */
  end(): void {
    this.#child.removeAllListeners('message');
    this.#kill();
    this.#take(ended('the WebGPU driver process was ended'));
  }

  #take(answer: Answer): void {
    if (answer.kind === 'ended') {
      this.#end ??= answer;
      // In the order in which they were sent, so that the oldest job is the one to blame.
      const jobs = [...this.#waiting.keys()].sort((a = -1, b = -1) => a - b);
      for (const job of jobs) this.#give(job, this.#end);
      return;
    }
    // As long as one job gets on, no other has been waiting in vain.
    for (const { timer } of this.#waiting.values()) timer.refresh();
    if (!this.#give(jobOf(answer), answer)) this.#answers.push(answer);
  }

  #give(job: number | undefined, answer: Answer): boolean {
    const waiting = this.#waiting.get(job);
    if (waiting === undefined) return false;
    this.#waiting.delete(job);
    clearTimeout(waiting.timer);
    waiting.resolve(answer);
    return true;
  }

  #hold(on: boolean): void {
    const verb = on ? 'ref' : 'unref';
    this.#child[verb]();
    this.#child.channel?.[verb]();
    (this.#child.stderr as Socket | null)?.[verb]();
  }

  #lastWords(): string {
    const lines = this.#stderr.trim().split('\n');
    const line = lines.findLast((text) => /error/i.test(text)) ?? lines.at(-1);
    return line ? `: ${line.slice(0, 200)}` : '';
  }
}

/** Who waits for a message, and until when. */
interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly timer: NodeJS.Timeout;
}

const jobOf = (answer: Answer): number | undefined => ('job' in answer ? answer.job : undefined);

const ended = (how: string): Answer => ({ kind: 'ended', error: 'lost', how });
