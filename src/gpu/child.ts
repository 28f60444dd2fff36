/** The driver process: has the WebGPU device and runs jobs for its parent. */
import { readSync, writeSync } from 'node:fs';
import { EngineError } from '../engine.ts';
import { openGpu } from './adapter.node.ts';
import { openDevice } from './adapter.ts';
import { type ChildMessage, type RunMessage, WORDS_FD } from './childProtocol.ts';
import { DeviceRunner, messageOf } from './deviceRunner.ts';
import { move } from './wordsFile.node.ts';

const tell = (message: ChildMessage): void => {
  progress = performance.now();
  process.send?.(message);
};

/** Jobs under way, and when something last happened to one. */
let jobs = 0;
let progress = 0;

const MAX_NAP_MS = 4;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * While a promise of WebGPU is open, Dawn asks the driver at every turn of the event loop whether it is done. That takes a whole core,
 * which a driver that computes on the CPU needs. So the thread sleeps between turns: a quarter of the time it has waited, so that
 * short jobs aren't held up; half of it where the driver has its next job already.
 */
function nap(): void {
  if (jobs === 0) return;
  const waited = performance.now() - progress;
  Atomics.wait(neverWoken, 0, 0, Math.min(jobs > 1 ? waited / 2 : waited / 4, MAX_NAP_MS));
  setImmediate(nap);
}

const kernels = new Map<number, string>();

async function answer(runner: DeviceRunner, message: RunMessage): Promise<void> {
  if (message.forget) kernels.clear();
  for (const [number, code] of message.newKernels) kernels.set(number, code);
  const job = { ...message, kernels: message.kernels.map((number) => kernels.get(number)!) };
  const transfer = {
    put: (into: Uint32Array) => move(readSync, WORDS_FD, into, message.at),
    take: (from: Uint32Array) => move(writeSync, WORDS_FD, from, message.at),
  };
  const compiled = message.compiles ? () => tell({ kind: 'compiled', job: message.job }) : undefined;
  const { cost } = await runner.transfer(job, transfer, compiled);
  tell({ kind: 'done', job: message.job, cost });
}

/** The device, or what kept us from one. */
async function open(): Promise<DeviceRunner | readonly string[]> {
  try {
    const { adapter, choice } = await openGpu();
    return adapter ? new DeviceRunner(await openDevice(adapter)) : choice.reasons;
  } catch (error) {
    return [messageOf(error)];
  }
}

const runner = await open();
if (runner instanceof DeviceRunner) {
  const { device, software, maxBufferBytes, maxBindingBytes } = runner;
  process.on('message', (message: RunMessage) => {
    progress = performance.now();
    if (jobs++ === 0) setImmediate(nap);
    answer(runner, message)
      .catch((error: unknown) => {
        const kind = error instanceof EngineError ? error.kind : 'lost';
        tell({ kind: 'failed', job: message.job, error: kind, message: messageOf(error) });
      })
      .finally(() => jobs--);
  });
  tell({ kind: 'ready', device, software, maxBufferBytes, maxBindingBytes });
} else tell({ kind: 'none', reasons: runner });

// The driver's threads would keep the process alive.
process.on('disconnect', () => process.exit(0));
