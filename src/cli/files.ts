/** Input and output files of commands, with every failure as one line. */
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { usage } from './errors.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened',
  EPERM: 'may not be opened',
  ENOTDIR: 'no such folder',
  ENOSPC: 'no space left',
};

const reasonOf = (error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? message;
};

/**
 * The bytes of a regular file.
 * @throws CommandError with exit code 2
 */
export function readBytes(path: string, maxBytes: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw usage(`${path}: is a folder; allowed: a file`);
    if (stat.size > maxBytes) throw usage(`${path}: has ${stat.size} bytes; allowed: at most ${maxBytes}`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'exit' in error) throw error;
    throw usage(`${path}: ${reasonOf(error)}; allowed: a file that can be read`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The text of a file, without a byte-order mark. */
export const readText = (path: string, maxBytes: number): string =>
  readBytes(path, maxBytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');

/** @throws CommandError with exit code 2 */
export function writeOutput(path: string, data: string | Uint8Array): void {
  try {
    writeFileSync(path, data);
  } catch (error) {
    throw usage(`${path}: ${reasonOf(error)}; allowed: a file that can be written`);
  }
}
