/** What the Verify panel says about a run: the verdict, the table of engines, the first differences, the fidelity. */
import type { BulkReport } from '../verify/bulk.ts';
import { differenceLines, faultLine, fidelityOf, rate } from '../verify/report.ts';
import { byId, make, makeTable } from './dom.ts';
import type { JobPlan } from './job.ts';
import { count, plural } from './text.ts';

type Verdict = 'equal' | 'differs' | 'alone' | 'failed';

/** Fills the verdict: its first line in bold. */
export function showVerdict(verdict: Verdict, ...lines: string[]): void {
  const box = byId('verdict', HTMLDivElement);
  box.hidden = false;
  box.dataset.verdict = verdict;
  box.replaceChildren(...lines.map((line, i) => make(i === 0 ? 'strong' : 'span', {}, line)));
}

/** Verdict, throughput, the first differences and faults, fidelity. */
export function showReport(report: BulkReport, plan: JobPlan): void {
  const box = byId('report', HTMLDivElement);
  box.dataset.mismatches = String(report.comparison.mismatches);
  box.dataset.words = String(report.comparison.words);
  showVerdict(...verdictOf(report));
  const programs = plan.stages.map(({ program }) => program);
  const tables: HTMLElement[] = [enginesTable(report)];
  const problems = [...differenceLines(report), ...report.faults.map((fault) => faultLine(fault, programs).what)];
  if (problems.length > 0)
    tables.push(
      make(
        'ol',
        { class: 'differences', 'aria-label': 'The first differences' },
        ...problems.map((p) => make('li', {}, p)),
      ),
    );
  tables.push(fidelityTable(plan));
  box.replaceChildren(...tables);
}

const quotientsNote = (wrong: number, lanes: number): string =>
  wrong === 0
    ? `All ${count(lanes)} quotients are JavaScript’s a\u00a0/\u00a0b.`
    : `${count(wrong)} of ${plural(lanes, 'quotient')} are not JavaScript’s a\u00a0/\u00a0b.`;

function verdictOf(report: BulkReport): [Verdict, ...string[]] {
  const { comparison, wrong, lanesDone, engines } = report;
  const notes = [
    ...(wrong === undefined ? [] : [quotientsNote(wrong, lanesDone)]),
    ...(report.interrupted ? [`Cancelled after ${plural(report.wavesDone, 'wave')}.`] : []),
  ];
  if (report.failure) return ['failed', report.failure.message, ...notes];
  if (engines.length === 1)
    return ['alone', `${plural(lanesDone, 'lane')} on the CPU reference, compared with nothing`, ...notes];
  const words = `in ${plural(comparison.words, 'word')} of ${plural(report.wavesDone, 'wave')}`;
  const bad = comparison.mismatches > 0 || (wrong ?? 0) > 0;
  return [
    bad ? 'differs' : 'equal',
    `${count(comparison.mismatches)} mismatch${comparison.mismatches === 1 ? '' : 'es'} ${words}`,
    ...notes,
  ];
}

function enginesTable({ engines, work }: BulkReport): HTMLTableElement {
  const [first] = engines;
  const workers = plural(work.find(({ by }) => by === 'checker')!.threads, 'Web Worker');
  const rows = first!.stages.map(({ name }, i) => [
    `${name === 'macros' ? 'division macros' : name}/s`,
    ...engines.map(({ stages }) => rate((stages[i]!.lanes / stages[i]!.ms) * 1000)),
  ]);
  const compile = engines.map(({ stages }) => stages.reduce((ms, stage) => ms + stage.compileMs, 0));
  return makeTable(
    `Throughput, the reference in ${workers}`,
    [
      '',
      ...engines.map(({ name, device }) =>
        name === 'webgpu'
          ? make('span', { title: device }, 'WebGPU')
          : make('span', { title: `CPU, ${workers}` }, 'CPU reference'),
      ),
    ],
    [...rows, ['compiling', ...compile.map((ms) => (ms > 0 ? `${Math.round(ms)} ms` : '–'))]],
  );
}

function fidelityTable({ stages, settings }: JobPlan): HTMLElement {
  const programs = stages.map(({ program }) => program);
  const rows = fidelityOf(programs, settings.profile).map(({ instruction, fidelity, errata }) => [
    make('code', {}, instruction),
    make('span', { class: `badge ${fidelity}` }, fidelity),
    errata === 0 ? '–' : String(errata),
  ]);
  return make(
    'details',
    { open: '' },
    make('summary', {}, `Fidelity of each instruction on ${settings.target.name}`),
    makeTable(
      'measured: read off that chip family; documented: AMD’s text, not measured; modelled: our decision; errata: where chips and text differ',
      ['instruction', 'fidelity', 'errata'],
      rows,
    ),
  );
}
