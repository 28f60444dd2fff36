/** The Verify panel: the demonstration on the engines there are, its progress and its report. */
import type { Engine } from '../engine.ts';
import { assemble } from '../program/assembler.ts';
import type { Program } from '../program/program.ts';
import { runBulk } from '../verify/bulk.ts';
import {
  countWrongQuotients,
  demonstrationShape,
  divisionText,
  drawBatch,
  isDivision,
  minimumText,
} from '../verify/demonstration.ts';
import { batchSizes, type Job, type Stage } from '../verify/job.ts';
import { rate } from '../verify/report.ts';
import { WaveState } from '../wavefront/state.ts';
import { byId } from './dom.ts';
import { showReport, showVerdict } from './jobReport.ts';
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
  const { size } = batchSizes(waves, batchWaves);
  return drawBatch(demonstrationShape(settings.target, WAVE, size(batch)), seed, batch, settings.round);
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
      batches: batchSizes(plan.waves, plan.batchWaves).batches,
      draw: (batch) => drawPlanned(plan, batch),
      ...(isDivision(plan.settings.profile, plan.settings.round) && { countWrong: countWrongQuotients }),
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
