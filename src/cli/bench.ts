/** `wave64 bench`: how fast everything is, against what the adapter could do. */
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { Chart } from '../bench/charts.ts';
import type { Figure, OperandKind } from '../bench/figure.ts';
import { type Measured, measure } from '../bench/measure.ts';
import { cellsOf, HEADINGS, markdownReport } from '../bench/report.ts';
import { chosen, planned, ratesOf, subjectsOf } from '../bench/subjects.ts';
import { type Engine, EngineError } from '../engine.ts';
import { TranslatingEngine } from '../gpu/engine.ts';
import { engineFailure, openEngines } from './engines.ts';
import { CommandError, Exit, usage } from './errors.ts';
import { writeOutput } from './files.ts';
import type { End, Io } from './io.ts';
import { addCommon, type CommonOptions, llvmTarget, secondsOf, wholeNumber } from './options.ts';
import { startProgress } from './progress.ts';
import { printTable } from './table.ts';

interface BenchOptions extends CommonOptions {
  readonly only?: string[];
  readonly operands: OperandKind;
  readonly seconds: number;
  readonly lanes?: number[];
  readonly markdown?: string;
  readonly svg?: string;
  readonly out?: string;
}

const examples = `
Rates are operations a second (division macros, LDS minima of a lane, ...) on the device by its own clock, else by the wall's; medians
of at least three rounds in which all figures take turns, with the slowest and the fastest repeat. Every result is compared with the
reference engine's. "of bound" is the part of what the adapter's own u32 and memory rates, probed in the same run, allow for the
operations and bytes that the text of the kernels has.

With --json the document has "figures": [{ "id", "engine", "adapter", "lanes", "perSecond", "deviceNs", "compileMs", "bytes", "boundShare",
"operands", "wallNs", "wallPerSecond", "spread", "repeats", "mismatches", "operations", "multiplies", "others" }].

Examples:
  wave64 bench --out docs/performance/mine
  wave64 bench --only macro/fused macro/generic f64/fma --operands special --seconds 20 --json > report.json`;

export function addBench(program: Command, io: Io, end: End): void {
  const command = program
    .command('bench')
    .description('measure the division macro in its forms, f64 operations, LDS minima and the adapter itself')
    .option('--only <id...>', 'figures whose id begins with one of these')
    .addOption(
      new Option('--operands <kind>', 'ordinary numbers, or every second lane from the classes of verify')
        .choices(['normal', 'special'])
        .default('normal'),
    )
    .option(
      '--seconds <n>',
      'about how long all of it may take; sizes that are not begun by then are left out',
      secondsOf,
      120,
    )
    .option('--lanes <n...>', 'sizes to measure at, multiples of 64 (default: by figure)', lanesOf)
    .option('--markdown <file>', 'write the report as Markdown')
    .option('--svg <folder>', 'write the charts')
    .option('--out <folder>', 'write report.json, report.md and the charts')
    .addHelpText('after', examples);
  addCommon(command, ['target', 'timeout', 'json'], 'both');
  command.action((options: BenchOptions) => end(bench(io, command, options)));
}

function lanesOf(text: string, before: number[] | undefined): number[] {
  const lanes = wholeNumber(64, 1 << 22)(text);
  return [...(before ?? []), Math.ceil(lanes / 64) * 64];
}

/** @throws CommandError with exit code 2 for X1K */
const benchTarget = (asked: BenchOptions['target']) => llvmTarget(asked, 'bench measures AMDGPU instructions');

async function bench(io: Io, command: Command, options: BenchOptions): Promise<Exit> {
  benchTarget(options.target);
  // Mesa keeps compiled kernels on disk, but compiling is measured cold.
  process.env.MESA_SHADER_CACHE_DISABLE ??= 'true';
  const fallback = command.getOptionValueSource('engine') === 'default';
  const { engines, close } = await openEngines(io, options, fallback, 'fused');
  const { figures, failure } = await measureAll(io, engines, options).finally(close);
  if (failure !== undefined && !(failure instanceof EngineError)) throw failure;
  const differs = figures.some(({ mismatches }) => mismatches > 0);
  const ended = failure ? engineFailure(failure) : undefined;
  const exit = differs ? Exit.differs : (ended?.exit ?? (io.signal.aborted ? Exit.fault : Exit.done));
  await write(io, figures, exit, options);
  const done = `${figures.length} figures are done and reported`;
  if (ended) throw new CommandError(exit, `${ended.message}; ${done}`);
  if (io.signal.aborted) throw new CommandError(exit, `interrupted; ${done}`);
  return exit;
}

async function measureAll(
  io: Io,
  engines: readonly [Engine, Engine?],
  { target, operands, seconds, lanes, only, json, engine }: BenchOptions,
): Promise<Measured> {
  const webgpu = engines.find((e) => e?.name === 'webgpu');
  const reference = engines.find((e) => e?.name === 'reference') ?? (await io.engines.reference('fused'));
  const setting = {
    target: benchTarget(target),
    operands,
    reference,
    runner: webgpu instanceof TranslatingEngine ? webgpu.runner : undefined,
    cpu: engine !== 'webgpu',
    ...(lanes && { lanes }),
  };
  const measured = planned(setting, seconds, only);
  if (measured.length === 0)
    throw usage(
      `--only ${only!.join(' ')} names nothing; allowed: ${subjectsOf(setting)
        .map(({ id }) => id)
        .join(', ')}`,
    );
  const cases = measured.reduce((sum, subject) => sum + subject.lanes.length, 0);
  const bar = startProgress(io, cases, 'figures', json);
  try {
    const rates = (probed: readonly Figure[]) => ratesOf(probed, setting.runner?.software === true);
    const { figures, ...rest } = await measure(measured, rates, {
      seconds,
      operands,
      signal: io.signal,
      progress: (done, _, id, count) => bar.update(done, id && `${id}, ${count} lanes`),
    });
    return { figures: chosen(figures, only), ...rest };
  } finally {
    bar.stop();
  }
}

async function write(io: Io, figures: readonly Figure[], exit: Exit, options: BenchOptions): Promise<void> {
  const facts = factsOf(figures, options);
  const document = `${JSON.stringify({ command: 'bench', exit, ...facts, figures }, null, 2)}\n`;
  const folder = options.svg ?? options.out;
  const charts: Chart[] = folder === undefined ? [] : await chartsOf(figures);
  for (const path of [options.svg, options.out]) if (path !== undefined) mkdirSync(path, { recursive: true });
  for (const { name, svg } of charts) writeOutput(join(folder!, `${name}.svg`), svg);
  const markdown = (shown: readonly Chart[]) => markdownReport(figures, facts, shown);
  if (options.markdown !== undefined) writeOutput(options.markdown, markdown([]));
  if (options.out !== undefined) {
    writeOutput(join(options.out, 'report.json'), document);
    writeOutput(join(options.out, 'report.md'), markdown(options.svg === undefined ? charts : []));
  }
  if (options.json) io.out(document);
  else
    for (const adapter of new Set(figures.map((figure) => figure.adapter))) {
      io.out(`${adapter}, ${options.operands} operands\n`);
      printTable(io, HEADINGS, figures.filter((figure) => figure.adapter === adapter).map(cellsOf));
    }
}

async function chartsOf(figures: readonly Figure[]): Promise<Chart[]> {
  try {
    return (await import('../bench/charts.ts')).charts(figures);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usage('charts need the optional dependency echarts; allowed: npm install echarts');
  }
}

/** What the figures depend on besides the code. */
function factsOf(figures: readonly Figure[], { target, operands, seconds }: BenchOptions): Record<string, string> {
  const adapters = [...new Set(figures.map(({ adapter }) => adapter))];
  return {
    adapters: adapters.join('; '),
    cpu: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`,
    node: process.version,
    target: benchTarget(target).name,
    operands,
    seconds: String(seconds),
  };
}
