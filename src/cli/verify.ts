/** `wave64 verify`: both engines over packed wavefronts, compared bit for bit. */
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { defaultTarget, findTarget, type Target } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import type { ReferenceForms } from '../reference/engine.ts';
import { type BulkReport, runBulk } from '../verify/bulk.ts';
import {
  type AllocationName,
  allocations,
  type OperandKind,
  operandKinds,
  type RoundName,
  rounds,
} from '../verify/demonstration.ts';
import { BATCH_WAVES, type DemonstrationSpec, demonstrationJob } from '../verify/demonstrationJob.ts';
import { batchSizes, type Job } from '../verify/job.ts';
import { randomBatch, randomShape } from '../verify/randomState.ts';
import {
  differenceLines,
  engineTable,
  faultLine,
  fidelityOf,
  rate,
  reportJson,
  type Setting,
  slowestWork,
  workFigures,
  worksOf,
} from '../verify/report.ts';
import { x1kText } from '../verify/x1k.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import type { CheckSetting } from './checkWorker.ts';
import { engineFailure, openEngines } from './engines.ts';
import { CommandError, Exit, usage } from './errors.ts';
import type { ClosableChecker, End, Io } from './io.ts';
import { addCommon, type CommonOptions, MAX_SEED, waveOf, wholeNumber } from './options.ts';
import { loadProgram, wavesABatch } from './programs.ts';
import { startProgress } from './progress.ts';
import { printTable } from './table.ts';

interface VerifyOptions extends CommonOptions {
  readonly state?: string;
  readonly waves?: number;
  readonly pairs?: number;
  readonly registers?: AllocationName;
  readonly operands?: OperandKind;
  readonly seed: number;
  readonly round: RoundName;
  readonly workers?: number;
  readonly referenceForms?: ReferenceForms;
}

const MAIN_WAVES = 4096;
const PROGRAM_WAVES = 64;
/** From so many waves on, worker threads draw and check. */
const WORKERS_FROM = 16384;

const examples = `
Examples:
  wave64 verify                                   4,096 waves of divisions and LDS minima on both engines
  wave64 verify --pairs 1M --seed 7               a million random divisions, every register compared
  wave64 verify --pairs 1G --registers compiled   the division as compilers leave it, which WebGPU does at once
  wave64 verify --round rtz --target gfx1100      rounding toward zero, the macro as gfx1100 has it
  wave64 verify --target x1k --waves 1k           every operation of X1K on random registers
  wave64 verify program.s --state in.json         your program on your waves
  wave64 verify program.s --waves 256 --seed 3    your program on random registers`;

export function addVerify(program: Command, io: Io, end: End): void {
  const command = program
    .command('verify')
    .description('run packed wavefronts on both engines and compare every register bit for bit')
    .argument('[program.s]', 'assembly text (default: the f64 division macro and the LDS minimum)')
    .option('--state <in.json>', 'the waves that the program runs on')
    .option('--waves <n>', 'how many waves of random registers', wholeNumber(1, 1e9))
    .option('--pairs <n>', 'how many random divisions', wholeNumber(1, 1e12))
    .addOption(
      new Option(
        '--registers <allocation>',
        'of --pairs: a register for each step, or those that LLVM gives `a / b`, where steps overwrite each other (default: steps)',
      ).choices(Object.keys(allocations)),
    )
    .addOption(
      new Option(
        '--operands <kind>',
        'of --pairs: classes of special ones, or ordinary numbers alone (default: special)',
      ).choices(Object.keys(operandKinds)),
    )
    .option('--seed <n>', 'of random operands', wholeNumber(0, MAX_SEED), 1)
    .addOption(
      new Option('--round <mode>', 'rounding of f64 for random operands').choices(Object.keys(rounds)).default('rne'),
    )
    .option(
      '--workers <n>',
      'threads that draw and check; 0: this one (default: as many as there are cores)',
      wholeNumber(0, 64),
    )
    .addOption(
      new Option(
        '--reference-forms <forms>',
        'the reference by instructions, or with division macros at once and every 256th wave by instructions (default with --pairs)',
      ).choices(['steps', 'fused']),
    )
    .addHelpText('after', examples);
  addCommon(command, ['target', 'form', 'profile', 'wave', 'maxSteps', 'timeout', 'json'], 'both');
  command.action((path: string | undefined, options: VerifyOptions) => end(verify(io, command, path, options)));
}

async function verify(io: Io, command: Command, path: string | undefined, options: VerifyOptions): Promise<Exit> {
  const { job, setting, spec } = await plan(io, path, options);
  const forms = options.referenceForms ?? (options.pairs === undefined ? 'steps' : 'fused');
  const fallback = command.getOptionValueSource('engine') === 'default';
  const { engines, close } = await openEngines(io, options, fallback, forms);
  const checkers = engines.some((engine) => engine?.name === 'reference') ? workersFor(io, spec, forms, options) : [];
  const memory = new MemoryLog();
  try {
    const waves = job.waves.toLocaleString('en');
    const bar = startProgress(io, job.waves, 'waves', options.json);
    const report = await runBulk(job, engines, {
      profile: options.profile,
      maxSteps: options.maxSteps!,
      signal: io.signal,
      ...(checkers.length > 0 && { checkers }),
      onBatch: ({ wavesDone, comparison, lanesDone, wallMs }) => {
        memory.note(lanesDone);
        bar.update(wavesDone, `${rate((lanesDone / wallMs) * 1000)} lanes/s, ${comparison.mismatches} mismatches`);
      },
    });
    bar.stop();
    const exit = exitOf(report);
    if (options.json)
      io.out(
        `${JSON.stringify({ command: 'verify', exit, ...reportJson(report, setting), referenceForms: forms, workers: checkers.length, memory: memory.points }, null, 2)}\n`,
      );
    else printReport(io, report, setting, `${waves} waves`);
    return endOf(report, setting, exit, path);
  } finally {
    for (const checker of checkers) await checker.close();
    await close();
  }
}

/** Threads that draw and check, for a large job that they can make; else none. */
function workersFor(
  io: Io,
  spec: DemonstrationSpec | undefined,
  forms: ReferenceForms,
  { workers, profile, maxSteps }: VerifyOptions,
): ClosableChecker[] {
  if (spec === undefined || io.engines.checker === undefined) return [];
  const count = workers ?? (spec.waves >= WORKERS_FROM ? availableParallelism() : 0);
  const setting: CheckSetting = { spec, forms, options: { profile, maxSteps: maxSteps! } };
  return Array.from({ length: count }, () => io.engines.checker!(setting));
}

/** What this process (not the driver's) holds in memory as the run goes on, in at most 32 points. */
class MemoryLog {
  readonly points: { readonly lanes: number; readonly rssMiB: number }[] = [];
  #every = 1;
  #notes = 0;

  note(lanes: number): void {
    if (this.#notes++ % this.#every !== 0) return;
    this.points.push({ lanes, rssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20) });
    if (this.points.length < 32) return;
    this.#every *= 2;
    this.points.splice(0, 32, ...this.points.filter((_, index) => index % 2 === 0));
  }
}

/** `spec` where other threads can make the job too. */
interface Plan {
  readonly job: Job & { readonly waves: number };
  readonly setting: Setting;
  readonly spec?: DemonstrationSpec;
}

async function plan(io: Io, path: string | undefined, options: VerifyOptions): Promise<Plan> {
  if (path === undefined && options.state !== undefined)
    throw usage('--state needs a program; allowed: wave64 verify PROGRAM.s --state IN.json');
  if (path !== undefined && options.pairs !== undefined)
    throw usage('--pairs runs the division macro; allowed: --waves with a program');
  if (options.pairs !== undefined && options.waves !== undefined)
    throw usage('--pairs and --waves both say how much to run; allowed: one of the two');
  if (options.state !== undefined && options.waves !== undefined)
    throw usage('--state and --waves both say what to run on; allowed: one of the two');
  if (options.pairs === undefined && (options.registers ?? options.operands) !== undefined)
    throw usage(
      `--${options.registers ? 'registers' : 'operands'} says how random divisions are run; allowed: with --pairs`,
    );
  if (path === undefined && options.target?.generation === 'x1k') return planX1k(options.target, options);
  if (path === undefined) return planDemonstration(options);
  return options.state === undefined ? planRandom(io, path, options) : planState(io, path, options.state, options);
}

/** Divisions of random pairs; with `--pairs` these alone, else the LDS minimum of each quotient too. */
function planDemonstration(options: VerifyOptions): Plan {
  const target = options.target ?? findTarget(defaultTarget);
  const waveSize = waveOf(target, options.wave);
  const withMinimum = options.pairs === undefined;
  const spec: DemonstrationSpec = {
    target: target.name,
    waveSize,
    profile: options.profile,
    waves: withMinimum ? (options.waves ?? MAIN_WAVES) : Math.ceil(options.pairs! / waveSize),
    withMinimum,
    registers: options.registers ?? 'steps',
    operands: options.operands ?? 'special',
    seed: options.seed,
    round: options.round,
  };
  const job = demonstrationJob(spec);
  return {
    job,
    spec,
    setting: {
      ...settingOf(
        target,
        waveSize,
        job.stages.map((stage) => stage.program),
        options,
        true,
      ),
      ...(!withMinimum && { registers: spec.registers, operands: spec.operands }),
    },
  };
}

function planRandom(io: Io, path: string, options: VerifyOptions): Plan {
  const target = options.target ?? findTarget(defaultTarget);
  return planRegisters(loadProgram(io, path, target, options.wave), options.waves ?? PROGRAM_WAVES, options);
}

/** Every operation of X1K. */
function planX1k(target: Target, options: VerifyOptions): Plan {
  if (options.pairs !== undefined)
    throw usage('--pairs runs the division macro, which x1k lacks; allowed: --waves with --target x1k');
  const program = assemble(x1kText(), { target, waveSize: waveOf(target, options.wave), file: 'built-in' });
  return planRegisters(program, options.waves ?? MAIN_WAVES, options);
}

/** A program on random registers. */
function planRegisters(program: Program, waves: number, options: VerifyOptions): Plan {
  const shape = randomShape(program, waves);
  const sizes = batchSizes(shape.waves, wavesABatch(shape, BATCH_WAVES));
  const draw = (batch: number) =>
    randomBatch(program, { ...shape, waves: sizes.size(batch) }, options.seed, batch, options.round);
  return {
    job: { stages: [{ name: 'lanes', program }], waves: shape.waves, batches: sizes.batches, draw },
    setting: settingOf(program.target, program.waveSize, [program], options, true),
  };
}

async function planState(io: Io, path: string, statePath: string, options: VerifyOptions): Promise<Plan> {
  const { batchesOf, loadProgramAndState } = await import('./states.ts');
  const { program, file } = loadProgramAndState(io, path, statePath, options);
  return {
    job: { stages: [{ name: 'lanes', program }], waves: file.waves.length, ...batchesOf(file, program, BATCH_WAVES) },
    setting: settingOf(program.target, program.waveSize, [program], options, false),
  };
}

const settingOf = (
  target: Target,
  wave: WaveSize,
  programs: Program[],
  { profile, seed, round }: VerifyOptions,
  random: boolean,
): Setting => ({
  target,
  wave,
  profile,
  programs,
  ...(random && { seed, round }),
});

function exitOf(report: BulkReport): Exit {
  if (report.comparison.mismatches > 0 || (report.wrong ?? 0) > 0) return Exit.differs;
  if (report.failure) return engineFailure(report.failure).exit;
  return report.interrupted || report.faults.length > 0 ? Exit.fault : Exit.done;
}

function printReport(io: Io, report: BulkReport, setting: Setting, asked: string): void {
  const { target, wave, profile, seed, round, registers } = setting;
  const { head, rows } = engineTable(report);
  const drawn = seed === undefined ? 'state file' : `seed ${seed}, ${round}`;
  const operands = registers === undefined ? drawn : `${drawn}, registers ${registers}, ${setting.operands} operands`;
  io.out(
    `${target.name}, wave${wave}, ${profile} profile, ${operands}: ${report.wavesDone.toLocaleString('en')} of ${asked}, ${(report.wallMs / 1000).toFixed(1)} s\n`,
  );
  printTable(io, head, rows);
  printTable(
    io,
    ['work', 'threads', 'lanes/s while at it', 'of the run'],
    worksOf(report).map((work) => {
      const { name, threads, perSecond, busy } = workFigures(work, report);
      return [name, String(threads), rate(perSecond), `${Math.round(100 * busy)} %`];
    }),
  );
  const slowest = slowestWork(report);
  if (slowest)
    io.out(
      `the slowest, ${slowest.name}: ${rate(slowest.perSecond)} lanes/s while at it; end to end ${slowest.busy.toFixed(2)} of that\n`,
    );
  printTable(
    io,
    ['instruction', `on ${target.name}`, 'errata'],
    fidelityOf(setting.programs, profile).map((row) => [row.instruction, row.fidelity, String(row.errata)]),
  );
  for (const line of differenceLines(report)) io.out(`${line}\n`);
  for (const [register, count] of report.comparison.byRegister) io.out(`${register}: ${count} words differ\n`);
  if (report.wrong !== undefined)
    io.out(
      `quotients against JavaScript's a / b: ${report.lanesDone.toLocaleString('en')} compared, ${report.wrong} differ\n`,
    );
}

/** The exit code, or the error that ends the command with it. */
function endOf(report: BulkReport, setting: Setting, exit: Exit, path = 'built-in'): Exit {
  const done = `${report.batchesDone} of ${report.batches} batches are done and reported`;
  if (report.failure) throw new CommandError(exit, `${engineFailure(report.failure).message}; ${done}`);
  if (exit !== Exit.fault) return exit;
  if (report.interrupted) throw new CommandError(exit, `interrupted; ${done}`);
  const { at, what } = faultLine(report.faults[0]!, setting.programs);
  throw new CommandError(exit, `${[path, at].filter(Boolean).join(':')}: ${what}`);
}
