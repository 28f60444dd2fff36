/** Options that several commands share, and how their values are read. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FORMS, type Form } from '../gpu/forms.ts';
import { allTargets, defaultTarget, findTarget, type Profile, type Target, targets } from '../isa/target.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { usage } from './errors.ts';

export type EngineChoice = 'webgpu' | 'reference' | 'both';

/** Values of the common options, as commander collects them; a command has those it asked for. */
export interface CommonOptions {
  readonly target?: Target;
  readonly engine?: EngineChoice;
  readonly form?: Form;
  readonly profile: Profile;
  readonly wave?: WaveSize;
  readonly maxSteps?: number;
  /** Seconds one run may take on the WebGPU engine. */
  readonly timeout: number;
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** Reads a whole number in a range, in decimal or with `k`, `M`, `G` for thousands. */
export const wholeNumber =
  (low: number, high: number) =>
  (text: string): number => {
    const scale = { k: 1e3, M: 1e6, G: 1e9 }[text.slice(-1)];
    const digits = scale ? text.slice(0, -1) : text;
    const value = /^\d{1,16}$/.test(digits) ? Number(digits) * (scale ?? 1) : Number.NaN;
    if (!(value >= low && value <= high))
      throw new InvalidArgumentError(`allowed: a whole number from ${low} to ${high}`);
    return value;
  };

export const secondsOf = (text: string): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0 && value <= 86400)) throw new InvalidArgumentError('allowed: seconds, more than 0, at most 86400');
  return value;
};

const target = (name: string): Target => {
  try {
    return findTarget(name);
  } catch {
    throw new InvalidArgumentError(`allowed: ${allTargets.map((t) => t.name).join(', ')}`);
  }
};

export const MAX_SEED = Number.MAX_SAFE_INTEGER;

const makers = {
  target: () => new Option('--target <chip>', `whose instructions (default ${defaultTarget})`).argParser(target),
  engine: (choice: EngineChoice) =>
    new Option('--engine <name>', 'which engine runs').choices(['webgpu', 'reference', 'both']).default(choice),
  engineOne: () =>
    new Option('--engine <name>', 'which engine runs').choices(['webgpu', 'reference']).default('webgpu'),
  form: () =>
    new Option('--form <name>', 'how f64 code is put into WebGPU kernels; the bits are the same')
      .choices(FORMS)
      .default('auto'),
  profile: () =>
    new Option('--profile <name>', "what chips do, or what AMD's text says")
      .choices(['hardware', 'published'])
      .default('hardware'),
  wave: () =>
    new Option('--wave <lanes>', "lanes of a wavefront (default: the target's)").argParser((text) => {
      if (text !== '32' && text !== '64') throw new InvalidArgumentError('allowed: 32 or 64');
      return Number(text);
    }),
  maxSteps: () =>
    new Option('--max-steps <n>', 'instructions a wave may execute')
      .default(1_000_000)
      .argParser(wholeNumber(1, 2 ** 32 - 1)),
  timeout: () => new Option('--timeout <s>', 'seconds one run may take on WebGPU').default(60).argParser(secondsOf),
  json: () => new Option('--json', 'print one JSON document, nothing else'),
  debug: () => new Option('--debug', 'print stack traces of errors'),
} as const;

/** Adds common options to a command, in the order named, then --debug. */
export function addCommon(
  command: Command,
  names: readonly Exclude<keyof typeof makers, 'engine' | 'debug'>[],
  engine?: EngineChoice,
): Command {
  if (engine) command.addOption(makers.engine(engine));
  for (const name of names) command.addOption(makers[name]());
  return command.addOption(makers.debug());
}

/**
 * The target asked for, or the default, of a command that needs LLVM's AMDGPU code.
 * @throws CommandError with exit code 2 for X1K, which has text alone
 */
export function llvmTarget(asked: Target | undefined, why: string): Target {
  const target = asked ?? findTarget(defaultTarget);
  if (target.generation === 'x1k')
    throw usage(`--target x1k: ${why}; allowed: ${targets.map(({ name }) => name).join(', ')}`);
  return target;
}

/**
 * Lanes of a wave on this target: as asked, or the target's own.
 * @throws CommandError with exit code 2 for a size that it lacks
 */
export function waveOf(target: Target, asked: WaveSize | undefined): WaveSize {
  const wave = asked ?? target.waveSizes[0]!;
  if (!target.waveSizes.includes(wave))
    throw usage(`${target.name} has no wave${wave}; allowed: wave ${target.waveSizes.join(' or ')}`);
  return wave;
}
