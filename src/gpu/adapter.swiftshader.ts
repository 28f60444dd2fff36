import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** A folder with SwiftShader, a Vulkan driver for the CPU, and where it came from. */
export type SwiftShader = { folder: string; origin: string };

/** The files of a SwiftShader folder: the Vulkan loader, the driver, and the manifest that leads the one to the other. */
export const LOADER = 'libvulkan.so.1';
export const MANIFEST = 'vk_swiftshader_icd.json';
const FILES = [LOADER, 'libvk_swiftshader.so', MANIFEST];

const DEBIAN_FOLDER = '/usr/lib/chromium';
const MAX_TAR_BYTES = 64 << 20;

const isComplete = (folder: string): boolean => FILES.every((file) => existsSync(join(folder, file)));

/**
 * SwiftShader as npm's `@sparticuz/chromium` ships it (unpacked once into a cache folder), else as Debian's chromium
 * does. `reasons` gets a line for each place without it.
 */
export function findSwiftShader(reasons: string[]): SwiftShader | undefined {
  if (process.platform !== 'linux') {
    reasons.push(`SwiftShader: packaged for Linux only, this is ${process.platform}`);
    return undefined;
  }
  try {
    return { folder: unpackedSwiftShader(), origin: 'npm @sparticuz/chromium' };
  } catch (error) {
    reasons.push(
      `SwiftShader of npm @sparticuz/chromium: ${error instanceof Error ? error.message.split('\n')[0] : error}`,
    );
  }
  if (isComplete(DEBIAN_FOLDER)) return { folder: DEBIAN_FOLDER, origin: `Debian chromium (${DEBIAN_FOLDER})` };
  reasons.push(`SwiftShader of Debian chromium: not in ${DEBIAN_FOLDER}`);
  return undefined;
}

/** The cache folder with the package's SwiftShader, filled on first use; the environment variable WAVE64_CACHE moves it. */
function unpackedSwiftShader(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const packageFolder = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const nodeModules = dirname(dirname(packageFolder));
  const archive = join(packageFolder, 'bin', 'swiftshader.tar.br');
  const chosen = process.env.WAVE64_CACHE;
  const places = chosen
    ? [chosen]
    : [join(nodeModules, '.cache', 'wave64'), join(tmpdir(), `wave64-${userInfo().uid}`)];
  let failure: unknown;
  for (const place of places) {
    const folder = join(place, `swiftshader-${version}-${process.arch}`);
    try {
      makeOwnFolder(place);
      if (!isComplete(folder)) unpack(archive, folder);
      return folder;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Makes `folder`; refuses one that another user owns, since libraries are loaded from it (the second place is under a shared /tmp). */
function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (!lstatSync(folder).isDirectory() || uid !== userInfo().uid) throw new Error(`${folder} belongs to another user`);
}

/** Unpacks beside `folder` and renames: of several processes that start at once one wins, and none sees half a library. */
function unpack(archive: string, folder: string): void {
  const scratch = mkdtempSync(`${folder}-`);
  try {
    chmodSync(scratch, 0o755);
    for (const { name, content } of tarFiles(
      brotliDecompressSync(readFileSync(archive), { maxOutputLength: MAX_TAR_BYTES }),
    )) {
      if (FILES.includes(basename(name))) writeFileSync(join(scratch, basename(name)), content);
    }
    if (!isComplete(scratch)) throw new Error(`${archive} lacks one of ${FILES.join(', ')}`);
    try {
      renameSync(scratch, folder);
    } catch (error) {
      if (!isComplete(folder)) throw error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The regular files of a POSIX ustar archive. Throws on a header that does not add up or a file that runs past the end. */
export function* tarFiles(tar: Uint8Array): Generator<{ name: string; content: Uint8Array }> {
  const text = (from: number, length: number): string => {
    const bytes = tar.subarray(from, from + length);
    const end = bytes.indexOf(0);
    return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString('latin1');
  };
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    // The checksum is the sum of the header's bytes, its own eight counted as blanks.
    const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
    const size = Number.parseInt(text(at + 124, 12), 8);
    if (Number.parseInt(text(at + 148, 8), 8) !== sum || !(size >= 0)) throw new Error(`tar: bad header at byte ${at}`);
    const start = at + 512;
    if (start + size > tar.length) throw new Error(`tar: ${text(at, 100)} runs past the end of the archive`);
    const type = String.fromCharCode(tar[at + 156]!);
    if (type === '0' || type === '\0') yield { name: text(at, 100), content: tar.subarray(start, start + size) };
    at = start + Math.ceil(size / 512) * 512;
  }
}
