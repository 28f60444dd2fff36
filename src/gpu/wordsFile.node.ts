/**
 * Batches in a file, which each thread of a process and its driver process have open: who has the words at hand moves them, and no other
 * thread touches them. Node can't share memory with another process.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredBatch } from '../engine.ts';
import { Layout, runsOf, type Shape } from '../wavefront/layout.ts';
import type { Batch, WaveState } from '../wavefront/state.ts';

/** `readSync` or `writeSync`. */
type Transfer = (file: number, bytes: Uint8Array, offset: number, length: number, position: number) => number;

/** All words to or from a place in a file; one call moves at most 2 GiB. */
export function move(by: Transfer, file: number, words: Uint32Array, position: number): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  for (let at = 0; at < bytes.length; ) at += by(file, bytes, at, Math.min(bytes.length - at, 1 << 30), position + at);
}

/** A way to a stored batch that any thread of the process may take. */
export class FileBatch implements Batch {
  readonly #layout: Layout;
  readonly #file: number;
  readonly #at: number;

  constructor({ shape, file, at }: StoredBatch) {
    this.#layout = new Layout(shape);
    this.#file = file;
    this.#at = at;
  }

  readPart(part: WaveState, first: number): void {
    this.#move(readSync, part, first);
  }

  writePart(part: WaveState, first: number): void {
    this.#move(writeSync, part, first);
  }

  #move(by: Transfer, { words, layout }: WaveState, first: number): void {
    for (const run of runsOf(layout, this.#layout, first))
      move(by, this.#file, words.subarray(run.part, run.part + run.words), this.#at + 4 * run.whole);
  }
}

/** Bytes of a file. */
interface Room {
  readonly at: number;
  readonly bytes: number;
}

/** An open file without a name, in memory where there is a folder for that with room, and who has which part of it. */
export class WordsFile {
  readonly file = openSharedFile();
  readonly #free: Room[] = [];
  readonly #taken = new Map<number, Room>();
  #end = 0;
  #closed = false;

  /** Room for a batch, with anything in it. */
  take(shape: Shape): StoredBatch {
    const room = this.#roomFor(new Layout(shape).words * 4);
    this.#taken.set(room.at, room);
    return { shape, file: this.file, at: room.at };
  }

  give({ at }: StoredBatch): void {
    const room = this.#taken.get(at);
    if (!room) return;
    this.#free.push(room);
    this.#taken.delete(at);
    if (this.#closed && this.#taken.size === 0) closeSync(this.file);
  }

  /** To be called once. As long as a batch is taken a thread may write to the descriptor, which must not be another file's by then. */
  close(): void {
    this.#closed = true;
    if (this.#taken.size === 0) closeSync(this.file);
  }

  #roomFor(bytes: number): Room {
    const fits = this.#free.findIndex((room) => room.bytes >= bytes);
    if (fits >= 0) return this.#free.splice(fits, 1)[0]!;
    // What is left over from smaller batches must not add up.
    if (this.#taken.size === 0) {
      this.#free.length = 0;
      this.#end = 0;
    }
    const at = this.#end;
    this.#end += bytes;
    return { at, bytes };
  }
}

const RAM_FOLDER = '/dev/shm';
const ENOUGH_RAM = 1 << 30;

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
