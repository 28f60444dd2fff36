/** `wave64 vectors`: known answers of single instructions and operations. */
import { gunzipSync } from 'node:zlib';
import { type Command, Option } from 'commander';
import { type Engine, EngineError } from '../engine.ts';
import { findInstruction } from '../isa/instructions/index.ts';
import { defaultTarget, findTarget, type Target, targets } from '../isa/target.ts';
import { type RoundName, rounds } from '../verify/demonstration.ts';
import { columnsOf, newVectorReport, runDigest, runGroup, type VectorReport } from '../verify/oneInstruction.ts';
import {
  parseColumns,
  parseKnownAnswers,
  parseTestFloat,
  testFloatOperations,
  type VectorFile,
  VectorFileError,
} from '../verify/vectors.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { engineFailure, openEngines } from './engines.ts';
import { CommandError, Exit, usage } from './errors.ts';
import { readBytes } from './files.ts';
import type { End, Io } from './io.ts';
import { addCommon, type CommonOptions, llvmTarget, waveOf } from './options.ts';
import { type Progress, startProgress } from './progress.ts';
import { printTable } from './table.ts';

interface VectorOptions extends CommonOptions {
  readonly format: 'json' | 'testfloat' | 'columns';
  readonly op?: string;
  readonly round: RoundName;
  readonly digests: boolean;
}

const MAX_VECTOR_BYTES = 256 * 2 ** 20;

const examples = `
Formats (a file may be gzipped):
  json       [ { "instr": "v_rcp_f64", "gen": "gfx1100,gfx1201", "in": ["0x..."], "out": "0x...", "vcc": 0, "mode": { "round", "denorm32", "denorm16_64" } } ]
  testfloat  A [B [C]] RESULT FLAGS, or results and flags for rne, rtz, rdn, rup; NaN compares as NaN
  columns    sources, result and the VCC bit of one instruction, as captured from a chip

Examples:
  wave64 vectors known-answers.json
  wave64 vectors f64_mul.txt.gz --format testfloat --op f64_mul --round rtz
  wave64 vectors v_rcp_f64.txt --format columns --op v_rcp_f64 --target gfx1200`;

export function addVectors(program: Command, io: Io, end: End): void {
  const command = program
    .command('vectors')
    .description('check known answers of single instructions or operations')
    .argument('<file>', 'vectors')
    .addOption(new Option('--format <name>', 'of the file').choices(['json', 'testfloat', 'columns']).default('json'))
    .option('--op <name>', 'the operation of testfloat, the instruction of columns')
    .addOption(new Option('--round <mode>', 'which results of testfloat').choices(Object.keys(rounds)).default('rne'))
    .option('--no-digests', 'leave out the digests of millions of results in a json file')
    .addHelpText('after', examples);
  addCommon(command, ['target', 'form', 'profile', 'wave', 'maxSteps', 'timeout', 'json'], 'both');
  command.action((path: string, options: VectorOptions) => end(vectors(io, command, path, options)));
}

/** A group or digest on one of its targets: what runs at a time. */
interface Unit {
  readonly target: Target;
  readonly lanes: number;
  readonly run: (engine: Engine, report: VectorReport, onLanes: (lanes: number) => boolean) => Promise<void>;
}

interface EngineReport extends VectorReport {
  readonly engine: Engine;
  ms: number;
}

async function vectors(io: Io, command: Command, path: string, options: VectorOptions): Promise<Exit> {
  const file = load(path, options);
  const units = unitsOf(file, options);
  if (units.length === 0)
    throw usage(
      `${path}: nothing in it is for --target ${options.target?.name}; allowed: ${[...new Set(file.groups.flatMap((g) => g.targets))].join(', ')}`,
    );
  const fallback = command.getOptionValueSource('engine') === 'default';
  const { engines, close } = await openEngines(io, options, fallback);
  const reports: EngineReport[] = [];
  const lanes = units.reduce((sum, unit) => sum + unit.lanes, 0);
  const bar = startProgress(io, lanes * engines.length, 'cases', options.json);
  let failure: CommandError | undefined;
  try {
    for (const engine of engines) if (engine) await runUnits(io, engine, units, reports, bar);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    failure = engineFailure(error);
  } finally {
    bar.stop();
    await close();
  }
  const exit = reports.some((r) => r.failed > 0) ? Exit.differs : (failure?.exit ?? Exit.done);
  if (options.json)
    io.out(`${JSON.stringify({ command: 'vectors', file: path, exit, engines: reports.map(reportJson) }, null, 2)}\n`);
  else printReports(io, path, reports);
  if (failure) throw new CommandError(exit, `${failure.message}; the cases done before are reported`);
  if (io.signal.aborted) throw new CommandError(Exit.fault, 'interrupted; the cases done before are reported');
  return exit;
}

async function runUnits(
  io: Io,
  engine: Engine,
  units: readonly Unit[],
  reports: EngineReport[],
  bar: Progress,
): Promise<void> {
  const report: EngineReport = { engine, ms: 0, ...newVectorReport() };
  reports.push(report);
  const began = performance.now();
  const base = (reports.length - 1) * units.reduce((sum, unit) => sum + unit.lanes, 0);
  let lanes = 0;
  const onLanes = (done: number) => {
    lanes += done;
    report.ms = performance.now() - began;
    bar.update(base + lanes, `${engine.name}, ${report.failed} wrong`);
    return !io.signal.aborted;
  };
  for (const unit of units) {
    if (io.signal.aborted) return;
    await unit.run(engine, report, onLanes);
  }
}

/** @throws CommandError with exit code 2 */
function load(path: string, options: VectorOptions): VectorFile {
  const bytes = readBytes(path, MAX_VECTOR_BYTES);
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzip(path, bytes) : bytes).toString('utf8');
  try {
    if (options.format === 'json') return checkNames(path, parseKnownAnswers(text));
    if (options.op === undefined)
      throw usage(
        `--format ${options.format} needs --op; allowed: ${options.format === 'testfloat' ? testFloatOperations.join(', ') : 'an instruction'}`,
      );
    if (options.format === 'testfloat') {
      if (!testFloatOperations.includes(options.op))
        throw usage(`--op ${options.op} is no operation of TestFloat here; allowed: ${testFloatOperations.join(', ')}`);
      return parseTestFloat(text, options.op, options.round);
    }
    const def = findInstruction(options.op);
    if (def === undefined || def.semantics({ target: findTarget(defaultTarget), profile: 'hardware' }).unit !== 'valu')
      throw usage(
        `--op ${options.op} is no vector instruction; allowed: v_rcp_f64, v_div_scale_f64 and others of their kind`,
      );
    return parseColumns(text, options.op, columnsOf(def), []);
  } catch (error) {
    if (error instanceof VectorFileError) throw usage(`${path}${error.at} ${error.message}`);
    throw error;
  }
}

function gunzip(path: string, bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_VECTOR_BYTES });
  } catch (error) {
    throw usage(`${path}: ${(error as Error).message}; allowed: gzip of at most ${MAX_VECTOR_BYTES} bytes`);
  }
}

/** Instructions and targets of the file must exist. */
function checkNames(path: string, file: VectorFile): VectorFile {
  for (const { operation, targets: names, ...rest } of [...file.groups, ...file.digests]) {
    const place = 'place' in rest ? rest.place : rest.cases[0]!.place;
    if (findInstruction(operation) === undefined)
      throw usage(`${path}: ${place}.instr is "${operation}"; allowed: an instruction that wave64 has`);
    const unknown = names.find((name) => !targets.some((t) => t.name === name));
    if (unknown !== undefined)
      throw usage(`${path}: ${place}.gen names "${unknown}"; allowed: ${targets.map((t) => t.name).join(', ')}`);
  }
  return file;
}

function unitsOf(file: VectorFile, options: VectorOptions): Unit[] {
  const on = (names: readonly string[]): Target[] => {
    if (names.length === 0) return [llvmTarget(options.target, 'vectors are for AMDGPU instructions')];
    return names.filter((name) => options.target === undefined || name === options.target.name).map(findTarget);
  };
  const runOptions = { profile: options.profile, maxSteps: options.maxSteps! };
  const sized = (target: Target): WaveSize => waveOf(target, options.wave);
  const groups = file.groups.flatMap((group) =>
    on(group.targets).map(
      (target): Unit => ({
        target,
        lanes: group.cases.length,
        run: async (engine, report, onLanes) => {
          await runGroup(group, target, sized(target), engine, runOptions, report);
          onLanes(group.cases.length);
        },
      }),
    ),
  );
  const digests = (options.digests ? file.digests : []).flatMap((digest) =>
    on(digest.targets).map(
      (target): Unit => ({
        target,
        lanes: digest.count,
        run: (engine, report, onLanes) => runDigest(digest, target, sized(target), engine, runOptions, report, onLanes),
      }),
    ),
  );
  return [...groups, ...digests];
}

const reportJson = ({ engine, cases, failed, failures, ms }: EngineReport) => ({
  engine: engine.name,
  device: engine.device,
  cases,
  failed,
  failures,
  ms,
});

function printReports(io: Io, path: string, reports: readonly EngineReport[]): void {
  io.out(`${path}\n`);
  printTable(
    io,
    ['engine', 'adapter', 'cases', 'wrong', 'seconds'],
    reports.map((r) => [r.engine.name, r.engine.device, String(r.cases), String(r.failed), (r.ms / 1000).toFixed(1)]),
  );
  for (const { engine, failures } of reports)
    for (const f of failures)
      io.out(
        `${engine.name} ${f.place} ${f.target} ${f.operation} ${f.sources.join(' ')}: expected ${f.expected}, got ${f.got}\n`,
      );
}
