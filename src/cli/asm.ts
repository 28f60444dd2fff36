/** `wave64 asm` and `wave64 disasm`: LLVM syntax to bytes and back. */
import type { Command } from 'commander';
import { defaultTarget, findTarget, type Target } from '../isa/target.ts';
import { DecodeError } from '../program/decode.ts';
import { disassemble, disassembleBytes, type ListingLine } from '../program/disassemble.ts';
import { encode } from '../program/encode.ts';
import type { Program } from '../program/program.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { Exit, usage } from './errors.ts';
import { readBytes, writeOutput } from './files.ts';
import type { End, Io } from './io.ts';
import { addCommon, type CommonOptions, llvmTarget, waveOf } from './options.ts';
import { loadProgram } from './programs.ts';

interface AsmOptions extends CommonOptions {
  readonly out?: string;
}

const MAX_BINARY_BYTES = 16 * 2 ** 20;

const asmExamples = `
Bytes are printed in hex in the order they have in memory, an instruction a line. Programs for x1k have no bytes: they are checked and printed as text.

Examples:
  wave64 asm program.s --target gfx1100
  wave64 asm program.s --out program.bin`;

const disasmExamples = `
The file holds bytes, or their hex digits as "wave64 asm" prints them.

Examples:
  wave64 disasm program.bin --target gfx1100
  wave64 asm program.s > program.hex && wave64 disasm program.hex`;

export function addAsm(program: Command, io: Io, end: End): void {
  const asm = program
    .command('asm')
    .description('assemble LLVM syntax to bytes')
    .argument('<program.s>', 'assembly text')
    .option('--out <file>', 'write the bytes there instead of printing them')
    .addHelpText('after', asmExamples);
  addCommon(asm, ['target', 'wave', 'json']).action((path: string, options: AsmOptions) =>
    end(assembleFile(io, path, options)),
  );
}

export function addDisasm(program: Command, io: Io, end: End): void {
  const disasm = program
    .command('disasm')
    .description('disassemble bytes to LLVM syntax')
    .argument('<program.bin>', 'machine code')
    .option('--out <file>', 'write the text there instead of printing it')
    .addHelpText('after', disasmExamples);
  addCommon(disasm, ['target', 'wave', 'json']).action((path: string, options: AsmOptions) =>
    end(disassembleFile(io, path, options)),
  );
}

const targetOf = (options: AsmOptions): Target => options.target ?? findTarget(defaultTarget);

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

async function assembleFile(io: Io, path: string, options: AsmOptions): Promise<Exit> {
  const program = loadProgram(io, path, targetOf(options), options.wave);
  if (program.target.generation === 'x1k') return checkText(io, program, options);
  const bytes = encode(program);
  if (options.out !== undefined) writeOutput(options.out, bytes);
  if (options.json) io.out(`${JSON.stringify(asmJson(program, bytes), null, 2)}\n`);
  else if (options.out === undefined)
    io.out(program.instructions.map(({ pc, size }) => `${hexOf(bytes.subarray(pc, pc + size))}\n`).join(''));
  return Exit.done;
}

/** X1K programs have no bytes: the program is checked, and printed as text in its one spelling. */
function checkText(io: Io, program: Program, { out, json }: AsmOptions): Exit {
  const lines = disassemble(program);
  const text = lines.map((line) => `${line}\n`).join('');
  if (out !== undefined) writeOutput(out, text);
  if (json) {
    const { target, waveSize, vgprs } = program;
    const instructions = program.instructions.map(({ pc, at }, i) => ({ pc, text: lines[i]!, ...at }));
    io.out(
      `${JSON.stringify({ command: 'asm', target: target.name, wave: waveSize, vgprs, instructions }, null, 2)}\n`,
    );
  } else if (out === undefined) io.out(text);
  return Exit.done;
}

const asmJson = (program: Program, bytes: Uint8Array) => ({
  command: 'asm',
  target: program.target.name,
  wave: program.waveSize,
  vgprs: program.vgprs,
  sgprs: program.sgprs,
  usesLds: program.usesLds,
  labels: Object.fromEntries(program.labels),
  instructions: program.instructions.map(({ pc, size, at }) => ({
    pc,
    bytes: hexOf(bytes.subarray(pc, pc + size)),
    ...at,
  })),
});

async function disassembleFile(io: Io, path: string, options: AsmOptions): Promise<Exit> {
  const target = llvmTarget(options.target, 'its programs are text and have no bytes');
  const waveSize = waveOf(target, options.wave);
  const listing = list(path, bytesOf(path), { target, waveSize });
  const text = listing.map((line) => `\t${line.text}\n`).join('');
  if (options.out !== undefined) writeOutput(options.out, text);
  if (options.json) {
    const instructions = listing.map(({ offset, words, text }) => ({
      pc: offset,
      words: words.map((w) => w.toString(16).padStart(8, '0')),
      text,
    }));
    io.out(`${JSON.stringify({ command: 'disasm', target: target.name, wave: waveSize, instructions }, null, 2)}\n`);
  } else if (options.out === undefined) io.out(text);
  const unknown = listing.find((line) => line.error !== undefined);
  if (unknown)
    throw usage(
      `${path}: ${unknown.error!.message}; allowed: instructions of ${target.name} that wave64 has; the rest is printed`,
    );
  return Exit.done;
}

/** The file's bytes; a file of hex digits gives those that the digits stand for. */
function bytesOf(path: string): Uint8Array {
  const bytes = readBytes(path, MAX_BINARY_BYTES);
  const text = bytes.toString('latin1');
  return /^[\s0-9a-fA-F]+$/.test(text) ? Buffer.from(text.replace(/\s+/g, ''), 'hex') : bytes;
}

function list(path: string, bytes: Uint8Array, options: { target: Target; waveSize: WaveSize }): ListingLine[] {
  try {
    return disassembleBytes(bytes, options);
  } catch (error) {
    if (error instanceof DecodeError) throw usage(`${path}: ${error.message}`);
    throw error;
  }
}
