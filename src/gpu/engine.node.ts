/**
 * The WebGPU engine in Node. The driver runs in a child process, so that one that hangs or crashes is an error and not the end:
 * nothing inside a process can end a thread that never returns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { EngineError } from '../engine.ts';
import type { Driver } from './adapter.node.ts';
import { type ChildMessage, move, type RunMessage, WORDS_FDS } from './childProtocol.ts';
import { TranslatingEngine, type WebGpuOptions } from './engine.ts';
import type { Job, JobCost, KernelRunner } from './runner.ts';

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

type Ready = Extract<ChildMessage, { kind: 'ready' }>;

/** What became of a request: the child's message, or its end. */
type Answer = ChildMessage | { readonly kind: 'ended'; readonly error: 'lost' | 'timeout'; readonly how: string };

export class ChildRunner implements KernelRunner {
  readonly #options: NodeGpuOptions;
  readonly #files = WORDS_FDS.map(openSharedFile);
  readonly #numbers = new Map<string, number>();
  /** When the last job that used a file is done with it. */
  readonly #turns: Promise<unknown>[] = WORDS_FDS.map(() => Promise.resolve());
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

  /** Jobs compute one after the other; a few are under way at once (`DeviceRunner`), the others wait. */
  run(
    job: Job,
    words: Uint32Array<ArrayBuffer>,
    into?: Uint32Array<ArrayBuffer>,
  ): Promise<{ words: Uint32Array<ArrayBuffer>; cost: JobCost }> {
    const number = this.#jobs++;
    const file = number % this.#files.length;
    const result = this.#turns[file]!.then(() => this.#run(job, number, file, words, into));
    this.#turns[file] = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const driver = await this.#driver?.catch(() => undefined);
    driver?.end();
    for (const file of this.#files) closeSync(file);
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
    const driver = new DriverProcess(this.#files, this.#options.driver);
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

  async #run(
    job: Job,
    number: number,
    file: number,
    words: Uint32Array<ArrayBuffer>,
    into: Uint32Array<ArrayBuffer> | undefined,
  ) {
    for (;;) {
      if (this.#closed) throw new EngineError('lost', 'the WebGPU engine is closed');
      const started = performance.now();
      const driver = await this.#running();
      move(writeSync, this.#files[file]!, words);
      const sent = performance.now();
      driver.send(this.#message(job, number, file));
      let answer = await driver.answer(number, this.#compileTimeoutMs, 'compiling');
      if (answer.kind === 'compiled')
        answer = await driver.answer(number, this.#options.timeoutMs ?? 60_000, 'running the program');
      // A job that comes to nothing because an older one has brought the process down is run again.
      if (answer.kind !== 'done' && driver.dropped && !this.#closed) continue;
      if (answer.kind !== 'done') throw this.#failure(driver, answer);
      const answered = performance.now();
      const result = into ?? new Uint32Array(words.length);
      move(readSync, this.#files[file]!, result);
      const { uploadMs, readbackMs, ...rest } = answer.cost;
      const cost = {
        ...rest,
        uploadMs: uploadMs + sent - started,
        readbackMs: readbackMs + performance.now() - answered,
      };
      return { words: result, cost };
    }
  }

  #message({ kernels, dispatches, table, shape }: Job, job: number, file: number): RunMessage {
    const forget = this.#numbers.size > MAX_KERNELS;
    if (forget) this.#numbers.clear();
    const fresh = [...new Set(kernels)].filter((code) => !this.#numbers.has(code));
    for (const code of fresh) this.#numbers.set(code, this.#numbers.size);
    const numberOf = (code: string) => this.#numbers.get(code)!;
    return {
      job,
      file,
      forget,
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
  /** Answers that nobody has asked for yet, and who waits for one: by the number of the job, or none for the process itself. */
  readonly #answers: Answer[] = [];
  readonly #waiting = new Map<number | undefined, Waiting>();
  #end: Answer | undefined;
  #stderr = '';
  readonly #kill = () => this.#child.kill('SIGKILL');

  constructor(files: readonly number[], driver: Driver | undefined) {
    this.#child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), {
      execArgv: ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href],
      env: { ...process.env, ...(driver && { WAVE64_DRIVER: driver }) },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...files],
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

const RAM_FOLDER = '/dev/shm';
const ENOUGH_RAM = 1 << 30;

/** An open file without a name, in memory where there is a folder for that with room. */
function openSharedFile(): number {
  const folder = mkdtempSync(join(hasRoom(RAM_FOLDER) ? RAM_FOLDER : tmpdir(), 'wave64-'));
  try {
    return openSync(join(folder, 'words'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ENOUGH_RAM;
  } catch {
    return false;
  }
}
