/** A verification as data for people (table rows, lines) and for programs (JSON). */
import type { Fidelity } from '../isa/instruction.ts';
import type { Profile, Target } from '../isa/target.ts';
import type { Program } from '../program/program.ts';
import { type Fault, FaultCode } from '../wavefront/state.ts';
import type { BulkReport, EngineFigures, StageFigures } from './bulk.ts';
import type { Difference } from './compare.ts';

export interface InstructionFidelity {
  readonly instruction: string;
  readonly fidelity: Fidelity;
  /** How many points AMD's text and chips differ in. */
  readonly errata: number;
}

/** How far the results of each instruction of the programs can be trusted, in order of appearance. */
export function fidelityOf(programs: readonly Program[], profile: Profile): InstructionFidelity[] {
  const rows = new Map<string, InstructionFidelity>();
  for (const { target, instructions } of programs)
    for (const { def, form } of instructions) {
      if (def.semantics({ target, profile }).unit === 'control') continue;
      const instruction = form.name ?? def.name;
      rows.set(instruction, {
        instruction,
        fidelity: def.fidelity({ target, profile }),
        errata: def.errata?.length ?? 0,
      });
    }
  return [...rows.values()];
}

/** What was run, beside the report of the run itself. */
export interface Setting {
  readonly target: Target;
  readonly wave: number;
  readonly profile: Profile;
  readonly programs: readonly Program[];
  /** Seed and rounding mode of random operands. */
  readonly seed?: number;
  readonly round?: string;
  /** Of random divisions: where they have their values, and what is divided. */
  readonly registers?: string;
  readonly operands?: string;
}

const hex = (value: number) => value.toString(16).padStart(8, '0');

/** A rate for people: 12.3 M, 456 k. */
export function rate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '-';
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (perSecond >= size) return `${(perSecond / size).toPrecision(3)} ${unit}`;
  return perSecond.toPrecision(3);
}

/** Lanes a second, of the batches after the first where there are any. */
function perSecond({ lanes, ms, firstLanes, firstMs }: StageFigures): number {
  if (lanes === 0) return Number.NaN;
  return lanes > firstLanes ? ((lanes - firstLanes) / (ms - firstMs)) * 1000 : (lanes / ms) * 1000;
}

/** Head and rows of the table by engine: what it ran, how fast, what differs. */
export function engineTable(report: BulkReport): { head: string[]; rows: string[][] } {
  const stages = report.engines[0]!.stages.map(({ name }) => name);
  const compared = report.engines.length > 1;
  return {
    head: ['engine', 'adapter', 'lanes', ...stages.map((name) => `${name}/s`), 'mismatches'],
    rows: report.engines.map((engine) => [
      engine.name,
      engine.device,
      report.lanesDone.toLocaleString('en'),
      ...engine.stages.map((stage) => rate(perSecond(stage))),
      compared ? String(report.comparison.mismatches) : 'not compared',
    ]),
  };
}

/** One line a difference, the first ones. */
export function differenceLines(report: BulkReport): string[] {
  const [a, b] = report.engines.map((engine) => engine.name);
  return report.comparison.first.map(
    (d: Difference) =>
      `wave ${d.wave} ${d.register}${d.lane === undefined ? '' : ` lane ${d.lane}`}: ${a} ${hex(d.a)}, ${b} ${hex(d.b)}`,
  );
}

const faultText: Readonly<Record<number, string>> = {
  [FaultCode.ldsOutOfRange]: 'LDS address out of range',
  [FaultCode.ldsMisaligned]: 'LDS address misaligned',
  [FaultCode.stepBudget]: 'more instructions executed than --max-steps allows',
};

/** Where a wave stopped, with the instruction's line in the source. */
export function faultLine(fault: Fault, programs: readonly Program[]): { at: string; what: string } {
  const instruction = programs.flatMap((p) => p.instructions.filter((i) => i.pc === fault.pc))[0];
  const position = instruction?.at ? `${instruction.at.line}:${instruction.at.column}` : '';
  const isLds = fault.code !== FaultCode.stepBudget;
  const place = isLds ? `wave ${fault.wave} lane ${fault.lane}` : `wave ${fault.wave}`;
  const name = instruction ? (instruction.form.name ?? instruction.def.name) : 'unknown instruction';
  const address = isLds ? `, address 0x${hex(fault.address)}` : '';
  return {
    at: position,
    what: `${place}, pc 0x${fault.pc.toString(16)}, ${name}${address}: ${faultText[fault.code] ?? `fault ${fault.code}`}`,
  };
}

const stageJson = (stage: StageFigures) => ({
  name: stage.name,
  lanes: stage.lanes,
  ms: stage.ms,
  compileMs: stage.compileMs,
  perSecond: stage.lanes === 0 ? null : perSecond(stage),
});

const engineJson = (engine: EngineFigures) => ({
  name: engine.name,
  device: engine.device,
  stages: engine.stages.map(stageJson),
});

/** The kinds of work that there was. */
export const worksOf = ({ work }: BulkReport) => work.filter(({ ms }) => ms > 0);

/**
 * `perSecond`: lanes a second while at it. `busy`: share of the run that it took, which is the run's rate over that one; a run is as
 * fast as its slowest work when that one's is 1. Where threads share cores, each takes longer than alone.
 */
export const workFigures = (
  { name, threads, ms }: { name: string; threads: number; ms: number },
  { lanesDone, wallMs }: BulkReport,
) => ({
  name,
  threads,
  ms,
  perSecond: lanesDone / (ms / threads / 1000),
  busy: ms / threads / wallMs,
});

/**
 * What bounds the run: a kind of work of the engine under test, which all overlap, or all that a checker's thread does, one after
 * another. Undefined where nothing was done.
 */
export function slowestWork(report: BulkReport): { name: string; perSecond: number; busy: number } | undefined {
  const work = worksOf(report);
  const own = work.filter(({ by }) => by === 'checker');
  const names = own.map(({ name }) => name).join(', ');
  const ms = own.reduce((sum, one) => sum + one.ms, 0);
  const candidates = [
    ...work.filter(({ by }) => by === 'engine'),
    ...own.slice(0, 1).map(({ threads }) => ({ name: names, threads, ms })),
  ].map((one) => workFigures(one, report));
  const slowest = candidates.toSorted((a, b) => b.busy - a.busy)[0];
  return slowest && { name: slowest.name, perSecond: slowest.perSecond, busy: slowest.busy };
}

/** The whole report as one JSON value. */
export function reportJson(report: BulkReport, setting: Setting): object {
  const { comparison } = report;
  return {
    target: setting.target.name,
    wave: setting.wave,
    profile: setting.profile,
    ...(setting.seed !== undefined && { seed: setting.seed }),
    ...(setting.round !== undefined && { round: setting.round }),
    ...(setting.registers !== undefined && { registers: setting.registers, operands: setting.operands }),
    waves: report.wavesDone,
    lanes: report.lanesDone,
    batches: { done: report.batchesDone, of: report.batches },
    engines: report.engines.map(engineJson),
    wordsCompared: comparison.words,
    mismatches: comparison.mismatches,
    mismatchesByRegister: Object.fromEntries(comparison.byRegister),
    differences: comparison.first.map((d) => ({ ...d, a: hex(d.a), b: hex(d.b) })),
    ...(report.wrong !== undefined && { quotients: { checked: report.lanesDone, wrong: report.wrong } }),
    faults: report.faults.map((fault) => ({ ...fault, text: faultLine(fault, setting.programs).what })),
    fidelity: fidelityOf(setting.programs, setting.profile),
    work: worksOf(report).map((work) => workFigures(work, report)),
    slowest: slowestWork(report) ?? null,
    wallMs: report.wallMs,
    ...(report.failure && { failure: { kind: report.failure.kind, message: report.failure.message } }),
    interrupted: report.interrupted,
  };
}
