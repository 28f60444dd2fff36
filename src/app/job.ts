/** The Verify panel: the demonstration on the engines there are, its progress and its report. */
import type { Engine } from '../engine.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import { type BulkReport, type Job, runBulk, type Stage } from '../verify/bulk.ts';
import {
  countWrongQuotients,
  demonstrationShape,
  divisionText,
  drawBatch,
  minimumText,
} from '../verify/demonstration.ts';
import { differenceLines, faultLine, fidelityOf, rate } from '../verify/report.ts';
import { WaveState } from '../wavefront/state.ts';
import { byId, make, makeTable } from './dom.ts';
import type { Settings } from './settings.ts';
import { count, messageOf, plural } from './text.ts';

const WAVE = 64;

/** Waves a batch: enough to hide a dispatch's cost, few enough for a moving bar. */
const MAX_BATCH = 2048;
const BATCHES = 16;

/** What the panel ran: enough to draw any wave of it again. Each wave is a workgroup. */
export interface JobPlan {
  readonly settings: Settings;
  readonly waves: number;
  readonly seed: number;
  readonly batchWaves: number;
  readonly stages: readonly Stage[];
}

export function planJob(settings: Settings, waves: number, seed: number): JobPlan {
  const { target } = settings;
  const build = (file: string, text: string): Program => assemble(text, { target, waveSize: WAVE, file });
  const stages = [
    { name: 'division macros', program: build('division', divisionText(target, WAVE)) },
    { name: 'LDS minima', program: build('minimum', minimumText(target)) },
  ];
  return { settings, waves, seed, stages, batchWaves: Math.min(MAX_BATCH, Math.ceil(waves / BATCHES)) };
}

/** The state that a batch of the plan starts from. */
export function drawPlanned({ settings, waves, seed, batchWaves }: JobPlan, batch: number): WaveState {
  const size = Math.min(batchWaves, waves - batch * batchWaves);
  return drawBatch(demonstrationShape(settings.target, WAVE, size), seed, batch, settings.round);
}

/** One wave of the job, as a batch of its own. */
export function drawWave(plan: JobPlan, wave: number): WaveState {
  const batch = drawPlanned(plan, Math.floor(wave / plan.batchWaves));
  const index = wave % plan.batchWaves;
  const one = new WaveState({ ...batch.layout.shape, waves: 1 });
  const { scalars, vgprs, scalarWords, vgprWords } = batch.layout;
  const copy = (to: number, from: number, words: number) => one.words.set(batch.words.subarray(from, from + words), to);
  copy(one.layout.scalars, scalars + index * scalarWords, scalarWords);
  copy(one.layout.vgprs, vgprs + index * vgprWords, vgprWords);
  one.lds(0).set(batch.lds(index)); // each wave is a workgroup
  return one;
}

/** A batch after all stages of the plan. */
export async function runStages({ stages, settings }: JobPlan, engine: Engine, start: WaveState): Promise<WaveState> {
  let state = start;
  for (const { program } of stages) state = (await engine.run(program, state, { profile: settings.profile })).state;
  return state;
}

/** The macro is IEEE division only as chips have it, rounding to nearest even. */
const dividesExactly = ({ profile, round }: Settings) => profile === 'hardware' && round === 'rne';

export interface JobHost {
  readonly settings: () => Settings;
  /** The engine under test, then the one it is compared with. */
  readonly engines: readonly [Engine, Engine?];
  readonly done: (plan: JobPlan) => void;
}

export function mountJob({ settings, engines, done }: JobHost): void {
  const form = byId('job', HTMLFormElement);
  const run = byId('run', HTMLButtonElement);
  const cancel = byId('cancel', HTMLButtonElement);
  const number = (id: string) => byId(id, HTMLInputElement).valueAsNumber;
  let abort = new AbortController();

  const start = async () => {
    abort = new AbortController();
    const plan = planJob(settings(), number('waves'), number('seed'));
    const job: Job = {
      stages: plan.stages,
      batches: Math.ceil(plan.waves / plan.batchWaves),
      draw: (batch) => drawPlanned(plan, batch),
      ...(dividesExactly(plan.settings) && { countWrong: countWrongQuotients }),
    };
    showProgress(0, plan.waves, 'compiling …');
    const report = await runBulk(job, engines, {
      profile: plan.settings.profile,
      signal: abort.signal,
      onBatch: ({ wavesDone, lanesDone, wallMs }) =>
        showProgress(wavesDone, plan.waves, `${rate((lanesDone / wallMs) * 1000)} lanes/s, compared`),
    });
    showReport(report, plan);
    if (report.batchesDone > 0) done(plan);
  };

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    run.disabled = true;
    cancel.disabled = false;
    try {
      await start();
    } catch (error) {
      showVerdict('failed', messageOf(error));
    } finally {
      run.disabled = false;
      cancel.disabled = true;
    }
  });
  cancel.addEventListener('click', () => abort.abort());
  run.disabled = false;
}

function showProgress(done: number, of: number, what: string): void {
  const bar = byId('progress', HTMLProgressElement);
  bar.max = of;
  bar.value = done;
  byId('progress-text', HTMLSpanElement).textContent = `${count(done)} of ${plural(of, 'wave')}, ${what}`;
  if (done === 0) {
    byId('verdict', HTMLDivElement).hidden = true;
    byId('report', HTMLDivElement).replaceChildren();
  }
}

type Verdict = 'equal' | 'differs' | 'alone' | 'failed';

function showVerdict(verdict: Verdict, ...lines: string[]): void {
  const box = byId('verdict', HTMLDivElement);
  box.hidden = false;
  box.dataset.verdict = verdict;
  box.replaceChildren(...lines.map((line, i) => make(i === 0 ? 'strong' : 'span', {}, line)));
}

function showReport(report: BulkReport, plan: JobPlan): void {
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

function verdictOf(report: BulkReport): [Verdict, ...string[]] {
  const { comparison, wrong, lanesDone, engines } = report;
  const notes = [
    ...(wrong === undefined
      ? []
      : [`${plural(wrong, 'quotient')} of ${count(lanesDone)} not equal to JavaScript's a / b.`]),
    ...(report.interrupted ? [`Cancelled after ${plural(report.wavesDone, 'wave')}.`] : []),
  ];
  if (report.failure) return ['failed', report.failure.message, ...notes];
  if (engines.length === 1)
    return ['alone', `${plural(lanesDone, 'lane')} on the CPU reference, compared with nothing`, ...notes];
  const words = `in ${plural(comparison.words, 'word')} of ${plural(report.wavesDone, 'wave')}`;
  const bad = comparison.mismatches > 0 || (wrong ?? 0) > 0;
  return [
    bad ? 'differs' : 'equal',
    `${plural(comparison.mismatches, 'mismatch').replace(/hs$/, 'hes')} ${words}`,
    ...notes,
  ];
}

function enginesTable({ engines }: BulkReport): HTMLTableElement {
  const [first] = engines;
  const rows = first!.stages.map(({ name }, i) => [
    `${name}/s`,
    ...engines.map(({ stages }) => rate((stages[i]!.lanes / stages[i]!.ms) * 1000)),
  ]);
  const compile = engines.map(({ stages }) => stages.reduce((ms, stage) => ms + stage.compileMs, 0));
  return makeTable(
    'Throughput',
    [
      '',
      ...engines.map(({ name, device }) =>
        make('span', { title: device }, name === 'webgpu' ? 'WebGPU' : 'CPU reference'),
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
    errata === 0 ? '–' : plural(errata, 'point'),
  ]);
  return make(
    'details',
    { open: '' },
    make('summary', {}, `Fidelity of each instruction on ${settings.target.name}`),
    makeTable(
      'measured: read off that chip family; documented: AMD’s text, not measured; modelled: our decision',
      ['instruction', 'fidelity', 'chips and text differ in'],
      rows,
    ),
  );
}
