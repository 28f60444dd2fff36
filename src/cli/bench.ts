/** `wave64 bench`: how fast each engine is, by number of waves. */
import { type Command, Option } from 'commander';
import { type Engine, EngineError } from '../engine.ts';
import { type Figure, measure, type OperandKind, type Subject, subjects } from '../verify/measure.ts';
import { rate } from '../verify/report.ts';
import type { WaveState } from '../wavefront/state.ts';
import { engineFailure, openEngines } from './engines.ts';
import { CommandError, Exit, usage } from './errors.ts';
import type { End, Io } from './io.ts';
import { addCommon, type CommonOptions, llvmTarget, secondsOf, waveOf, wholeNumber } from './options.ts';
import { startProgress } from './progress.ts';
import { printTable } from './table.ts';

interface BenchOptions extends CommonOptions {
  readonly only?: string[];
  readonly operands: OperandKind;
  readonly seconds: number;
  readonly maxWaves: number;
}

/** Waves of the figures by size; instructions by themselves are measured at the one size that hides a dispatch. */
const SIZES = [1, 16, 256, 1024, 4096, 16384];
const INSTRUCTION_WAVES = 256;

const examples = `
Rates are lanes a second by the wall clock, upload and readback included, without compiling; medians, with the slowest and fastest repeat.
With --json the document has "figures": [{ "id", "engine", "adapter", "lanes", "perSecond", "spread", "repeats", "deviceNs", "compileMs", "bytes",
"boundShare", "operands", "mismatches" }].

Examples:
  wave64 bench --only macro lds-min
  wave64 bench --only instruction/v_fma_f64 --operands special --json > report.json`;

export function addBench(program: Command, io: Io, end: End): void {
  const command = program
    .command('bench')
    .description('measure the division macro, the LDS minimum and single instructions on both engines')
    .option('--only <id...>', 'figures whose id is, or begins with, one of these')
    .addOption(
      new Option('--operands <kind>', 'ordinary numbers, or the classes of verify')
        .choices(['normal', 'special'])
        .default('normal'),
    )
    .option('--seconds <n>', 'about how long to repeat each figure', secondsOf, 0.5)
    .option('--max-waves <n>', 'largest number of waves', wholeNumber(1, 65536), 4096)
    .addHelpText('after', examples);
  addCommon(command, ['target', 'form', 'profile', 'wave', 'maxSteps', 'timeout', 'json'], 'both');
  command.action((options: BenchOptions) => end(bench(io, command, options)));
}

interface Case {
  readonly subject: Subject;
  readonly waves: number;
}

function casesOf(options: BenchOptions): Case[] {
  const target = llvmTarget(options.target, 'bench measures AMDGPU instructions');
  const all = subjects(target, waveOf(target, options.wave), options.operands);
  const { only } = options;
  const chosen = all.filter(
    ({ id }) => only === undefined || only.some((prefix) => id === prefix || id.startsWith(`${prefix}/`)),
  );
  if (chosen.length === 0)
    throw usage(
      `--only ${only!.join(' ')} names nothing; allowed: macro, lds-min, ${all
        .slice(4)
        .map(({ id }) => id)
        .join(', ')}`,
    );
  return chosen.flatMap((subject) => {
    const sizes = subject.id.startsWith('instruction/')
      ? [Math.min(INSTRUCTION_WAVES, options.maxWaves)]
      : SIZES.filter((n) => n <= options.maxWaves);
    return sizes.map((waves) => ({ subject, waves }));
  });
}

async function bench(io: Io, command: Command, options: BenchOptions): Promise<Exit> {
  const cases = casesOf(options);
  const fallback = command.getOptionValueSource('engine') === 'default';
  const { engines, close } = await openEngines(io, options, fallback);
  const figures: Figure[] = [];
  let failure: CommandError | undefined;
  const bar = startProgress(io, cases.length, 'figures', options.json);
  try {
    for (const [index, { subject, waves }] of cases.entries()) {
      if (io.signal.aborted) break;
      bar.update(index, `${subject.id}, ${waves} waves`);
      await measureCase(subject, waves, engines, options, figures);
    }
    bar.update(cases.length);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    failure = engineFailure(error);
  } finally {
    bar.stop();
    await close();
  }
  const differs = figures.some(({ mismatches }) => (mismatches ?? 0) > 0);
  const exit = differs ? Exit.differs : (failure?.exit ?? (io.signal.aborted ? Exit.fault : Exit.done));
  if (options.json) io.out(`${JSON.stringify({ command: 'bench', exit, figures }, null, 2)}\n`);
  else printFigures(io, figures);
  const done = `${figures.length} figures are done and reported`;
  if (failure) throw new CommandError(exit, `${failure.message}; ${done}`);
  if (io.signal.aborted) throw new CommandError(exit, `interrupted; ${done}`);
  return exit;
}

/** The reference first, whose result the other engine must give. */
async function measureCase(
  subject: Subject,
  waves: number,
  engines: readonly [Engine, Engine?],
  options: BenchOptions,
  figures: Figure[],
): Promise<void> {
  const measureOptions = {
    seconds: options.seconds,
    operands: options.operands,
    profile: options.profile,
    maxSteps: options.maxSteps!,
  };
  let expected: WaveState | undefined;
  for (const engine of [...engines].reverse()) {
    if (engine === undefined) continue;
    const { figure, output } = await measure(subject, engine, waves, measureOptions, expected);
    figures.push(figure);
    expected = output;
  }
}

function printFigures(io: Io, figures: readonly Figure[]): void {
  for (const engine of new Set(figures.map((f) => f.engine))) {
    const rows = figures.filter((f) => f.engine === engine);
    io.out(`${engine}: ${rows[0]!.adapter}\n`);
    printTable(
      io,
      ['figure', 'lanes', 'lanes/s', 'slowest - fastest', 'device ms', 'cold compile ms', 'mismatches'],
      rows.map((f) => [
        f.id,
        f.lanes.toLocaleString('en'),
        rate(f.perSecond),
        `${rate(f.spread[0])} - ${rate(f.spread[1])}`,
        f.deviceNs === null ? '-' : (f.deviceNs / 1e6).toFixed(2),
        f.compileMs === null ? '-' : f.compileMs.toFixed(0),
        f.mismatches === null ? '-' : String(f.mismatches),
      ]),
    );
  }
}
