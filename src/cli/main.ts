/** The command line: parses arguments, runs one command, turns every failure into one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { CommandError, Exit } from './errors.ts';
import type { End, Io } from './io.ts';

/** Where each command is; a command line loads only its own. */
const loaders: Readonly<Record<string, () => Promise<(program: Command, io: Io, end: End) => void>>> = {
  verify: async () => (await import('./verify.ts')).addVerify,
  run: async () => (await import('./run.ts')).addRun,
  vectors: async () => (await import('./vectors.ts')).addVectors,
  asm: async () => (await import('./asm.ts')).addAsm,
  disasm: async () => (await import('./asm.ts')).addDisasm,
  bench: async () => (await import('./bench.ts')).addBench,
  info: async () => (await import('./info.ts')).addInfo,
};

const names = Object.keys(loaders);

const guide = `
Exit codes: 0 done and equal; 1 ran and differs; 2 bad input or usage; 3 no engine can run it; 4 the program faulted or did not end.

Examples:
  wave64 verify                      the main job: 262,144 divisions and LDS minima, WebGPU against the CPU reference
  wave64 run program.s --state in.json --out out.json
  wave64 info                        which adapter would be used, and why`;

/**
 * Runs one command.
 * @param argv arguments after the program's name
 * @returns the exit code; nothing is thrown
 */
export async function main(argv: readonly string[], io: Io): Promise<Exit> {
  let exit: Exit = Exit.done;
  const program = new Command('wave64')
    .description('AMD GPU wavefronts, bit for bit, on any WebGPU device')
    .addHelpText('after', guide)
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: io.out, writeErr: () => {} });
  const end: End = async (result) => {
    exit = await result;
  };
  const [named = ''] = argv;
  for (const name of Object.hasOwn(loaders, named) ? [named] : names) (await loaders[name]!())(program, io, end);
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    if (argv.length === 0) throw new CommandError(Exit.usage, `no command; allowed: ${names.join(', ')}`);
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return report(error, argv, program, io);
  }
}

function report(error: unknown, argv: readonly string[], program: Command, io: Io): Exit {
  if (error instanceof CommanderError && error.exitCode === 0) return Exit.done; // --help
  const failure =
    error instanceof CommanderError ? new CommandError(Exit.usage, usageLine(error, argv, program)) : error;
  const message = failure instanceof Error ? failure.message : String(failure);
  const own = failure instanceof CommandError;
  io.err(`wave64: ${own ? '' : 'internal error: '}${message.replace(/\s*\n\s*/g, ' ')}\n`);
  if (argv.includes('--debug') && failure instanceof Error) io.err(`${failure.stack}\n`);
  return own ? failure.exit : Exit.fault;
}

/** Commander's message in the form of all our errors: what is wrong; what is allowed. */
function usageLine(error: CommanderError, argv: readonly string[], program: Command): string {
  const command = program.commands.find((c) => c.name() === argv[0]);
  const text = error.message
    .replace(/^error: /, '')
    .replace(/ is invalid\. (Allowed choices are|allowed:) (.*?)\.?$/s, ' is invalid; allowed: $2');
  if (text.includes('; allowed: ')) return text;
  switch (error.code) {
    case 'commander.unknownCommand':
      return `${text}; allowed: ${names.join(', ')}`;
    case 'commander.unknownOption': {
      const options = (command ?? program).options.map((option) => option.long);
      return `${text}; allowed: ${options.length > 0 ? options.join(', ') : '--help'}`;
    }
    case 'commander.excessArguments':
      return `too many arguments; allowed: ${argumentsOf(command)}`;
    default:
      return `${text}; allowed: ${argumentsOf(command)}`;
  }
}

function argumentsOf(command: Command | undefined): string {
  if (command === undefined) return 'a command';
  const names = command.registeredArguments.map((a) => (a.required ? `<${a.name()}>` : `[${a.name()}]`));
  const required = command.options.filter((o) => o.mandatory && o.defaultValue === undefined).map((o) => o.flags);
  return ['wave64', command.name(), ...names, ...required, '[options]'].join(' ');
}
