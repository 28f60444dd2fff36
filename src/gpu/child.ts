/** The driver process: has the WebGPU device and runs one job at a time for its parent. */
import { readSync, writeSync } from 'node:fs';
import { EngineError } from '../engine.ts';
import { Layout } from '../wavefront/layout.ts';
import { openGpu } from './adapter.node.ts';
import { openDevice } from './adapter.ts';
import { type ChildMessage, move, type RunMessage, WORDS_FD } from './childProtocol.ts';
import { DeviceRunner } from './deviceRunner.ts';

const tell = (message: ChildMessage): void => {
  process.send?.(message);
};

const kernels = new Map<number, string>();

async function answer(runner: DeviceRunner, message: RunMessage): Promise<void> {
  for (const [number, code] of message.newKernels) kernels.set(number, code);
  const words = new Uint32Array(new Layout(message.shape).words);
  move(readSync, WORDS_FD, words);
  const job = { ...message, kernels: message.kernels.map((number) => kernels.get(number)!) };
  const result = await runner.run(job, words, () => tell({ kind: 'compiled' }));
  move(writeSync, WORDS_FD, result.words);
  tell({ kind: 'done', cost: result.cost });
}

const { adapter, choice } = await openGpu();
if (adapter) {
  const runner = new DeviceRunner(await openDevice(adapter));
  const { device, software, maxBufferBytes, maxBindingBytes } = runner;
  process.on('message', (message: RunMessage) => {
    answer(runner, message).catch((error: unknown) => {
      const kind = error instanceof EngineError ? error.kind : 'lost';
      tell({ kind: 'failed', error: kind, message: error instanceof Error ? error.message : String(error) });
    });
  });
  tell({ kind: 'ready', device, software, maxBufferBytes, maxBindingBytes });
} else tell({ kind: 'none', reasons: choice.reasons });

// The driver's threads would keep the process alive.
process.on('disconnect', () => process.exit(0));
