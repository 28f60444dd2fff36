/** The kept answers of llvm-mc (makeLlvmData.ts). */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Target } from '../../src/isa/target.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';

export interface Accepted {
  readonly text: string;
  /** Machine code in hexadecimal. */
  readonly bytes: string;
  /** What `llvm-mc --disassemble` prints for the bytes. */
  readonly disassembly: string;
}

export interface Rejected {
  readonly text: string;
  readonly column: number;
  readonly reason: string;
}

/** The rows of a target and wave size. */
export function llvmAnswers(target: Target, waveSize: WaveSize): { accepted: Accepted[]; rejected: Rejected[] } {
  const file = new URL(`data/llvm-mc-${target.name}-wave${waveSize}.tsv.gz`, import.meta.url);
  const accepted: Accepted[] = [];
  const rejected: Rejected[] = [];
  for (const row of gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n')) {
    const [text, bytes, third, reason] = row.split('\t') as [string, string, string?, string?];
    if (bytes === '!') rejected.push({ text, column: Number(third), reason: reason! });
    else accepted.push({ text, bytes, disassembly: third ?? text });
  }
  return { accepted, rejected };
}
