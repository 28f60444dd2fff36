/** The Verify panel: the demonstration on the engines there are, its progress and its report. */
import type { Engine } from '../engine.ts';
import { runBulk } from '../verify/bulk.ts';
import { BATCH_WAVES, type DemonstrationSpec, demonstrationJob } from '../verify/demonstrationJob.ts';
import type { Job } from '../verify/job.ts';
import { rate } from '../verify/report.ts';
import { WaveState } from '../wavefront/state.ts';
import { CheckWorkers } from './checkers.ts';
import { byId } from './dom.ts';
import { showReport, showVerdict } from './jobReport.ts';
import type { Settings } from './settings.ts';
import { count, messageOf, plural } from './text.ts';

/** Enough batches for a moving bar. */
const BATCHES = 16;

/** What the panel runs: enough to draw any wave of it again. Each wave is a workgroup. */
export interface JobPlan extends Job {
  readonly settings: Settings;
  /** The job as workers make it. */
  readonly spec: DemonstrationSpec;
  readonly batchWaves: number;
}

export function planJob(settings: Settings, waves: number, seed: number): JobPlan {
  const { target, profile, round } = settings;
  const batchWaves = Math.min(BATCH_WAVES, Math.ceil(waves / BATCHES));
  const spec: DemonstrationSpec = {
    target: target.name,
    waveSize: 64,
    profile,
    waves,
    batchWaves,
    withMinimum: true,
    registers: 'steps',
    operands: 'special',
    seed,
    round,
  };
  return { ...demonstrationJob(spec), settings, spec, batchWaves };
}

/** One wave of the job, as a batch of its own. */
export function drawWave(plan: JobPlan, wave: number): WaveState {
  const batch = plan.draw(Math.floor(wave / plan.batchWaves));
  const index = wave % plan.batchWaves;
  const one = new WaveState({ ...batch.layout.shape, waves: 1 });
  batch.readPart(one, index);
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
  const workers = new CheckWorkers();
  let abort = new AbortController();

  const start = async () => {
    abort = new AbortController();
    const plan = planJob(settings(), number('waves'), number('seed'));
    const { waves, profile } = plan.spec;
    showProgress(0, waves, 'compiling …');
    const checkers = workers.checkers({ spec: plan.spec, options: { profile } }, plan.batches);
    let batchesDone = 0;
    try {
      const report = await runBulk(plan, engines, {
        profile,
        signal: abort.signal,
        checkers,
        onBatch: ({ wavesDone, lanesDone, wallMs }) =>
          showProgress(wavesDone, waves, `${rate((lanesDone / wallMs) * 1000)} lanes/s, compared`),
      });
      batchesDone = report.batchesDone;
      showReport(report, plan);
      if (batchesDone > 0) done(plan);
    } finally {
      if (batchesDone < plan.batches) await workers.end();
    }
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
