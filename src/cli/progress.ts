/** A progress bar on stderr; on a stream that is no terminal, a line every few seconds. */
import { SingleBar } from 'cli-progress';
import type { Io } from './io.ts';

export interface Progress {
  update(done: number, text?: string): void;
  stop(): void;
}

const silent: Progress = { update: () => {}, stop: () => {} };

/** @param unit what is counted @param quiet draw nothing, as with --json */
export function startProgress(io: Io, total: number, unit: string, quiet = false): Progress {
  if (io.progress === undefined || quiet) return silent;
  const bar = new SingleBar({
    stream: io.progress,
    format: `{bar} {percentage}% | {value}/{total} ${unit} | {text} | {duration_formatted}, {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    noTTYOutput: true,
    notTTYSchedule: 5000,
    hideCursor: true,
    clearOnComplete: false,
    etaBuffer: 20,
  });
  bar.start(total, 0, { text: '' });
  return {
    update: (done, text = '') => bar.update(done, { text }),
    stop: () => bar.stop(),
  };
}
