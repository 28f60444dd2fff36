/** The Speed panel: what `wave64 bench` measures, on the visitor's adapter. */
import type { Figure, OperandKind } from '../bench/figure.ts';
import { measure } from '../bench/measure.ts';
import { cellsOf, HEADINGS } from '../bench/report.ts';
import { planned, ratesOf } from '../bench/subjects.ts';
import type { Engine } from '../engine.ts';
import { TranslatingEngine } from '../gpu/engine.ts';
import type { Target } from '../isa/target.ts';
import { ReferenceEngine } from '../reference/engine.ts';
import { byId, make, makeTable } from './dom.ts';
import { messageOf } from './text.ts';

/**
 * Mounts the panel; where there is no WebGPU it measures the CPU. What is right is computed in this thread: a worker takes programs as
 * machine code, and operations of the library have none.
 */
export function mountBench(engines: readonly [Engine, Engine?], target: () => Target): void {
  const start = byId('bench-run', HTMLButtonElement);
  const stop = byId('bench-stop', HTMLButtonElement);
  const [first] = engines;
  let abort = new AbortController();

  const run = async () => {
    const operands: OperandKind = byId('bench-operands', HTMLSelectElement).value === 'special' ? 'special' : 'normal';
    const seconds = byId('bench-seconds', HTMLInputElement).valueAsNumber;
    const runner = first instanceof TranslatingEngine ? first.runner : undefined;
    const setting = {
      target: target(),
      operands,
      reference: new ReferenceEngine({ forms: 'fused' }),
      runner,
      cpu: true,
    };
    const { signal } = abort;
    const rates = (probed: readonly Figure[]) => ratesOf(probed, runner?.software === true);
    const { figures, failure } = await measure(planned(setting, seconds, undefined), rates, {
      seconds,
      operands,
      signal,
      progress: (done, of, id, lanes) => showProgress(done, of, id && `${id}, ${lanes} lanes`),
    });
    await show(figures);
    if (failure !== undefined) throw failure;
  };

  byId('bench', HTMLFormElement).addEventListener('submit', async (event) => {
    event.preventDefault();
    abort = new AbortController();
    start.disabled = true;
    stop.disabled = false;
    try {
      await run();
    } catch (error) {
      byId('bench-text', HTMLSpanElement).textContent = `Failed: ${messageOf(error)}`;
    } finally {
      start.disabled = false;
      stop.disabled = true;
    }
  });
  stop.addEventListener('click', () => abort.abort());
  start.disabled = false;
}

function showProgress(done: number, of: number, what: string): void {
  const bar = byId('bench-progress', HTMLProgressElement);
  bar.max = of;
  bar.value = done;
  byId('bench-text', HTMLSpanElement).textContent = `${done} of ${of} figures${what && `, ${what}`}`;
}

/** The charts come by themselves, since their library is larger than the rest of the page. */
async function show(figures: readonly Figure[]): Promise<void> {
  const wrong = figures.reduce((sum, { mismatches }) => sum + mismatches, 0);
  byId('bench-text', HTMLSpanElement).textContent = `${figures.length} figures, ${wrong} mismatches with the reference`;
  const table = makeTable('Medians of rounds that take turns', HEADINGS, figures.map(cellsOf));
  const report = byId('bench-report', HTMLDivElement);
  report.replaceChildren(make('section', { class: 'scroll', 'aria-label': 'Figures' }, table));
  const { charts } = await import('../bench/charts.ts');
  report.append(
    ...charts(figures).map(({ name, svg }) => {
      const source = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      return make('img', { src: source, alt: `Chart of ${name}; its numbers stand in the table`, class: 'chart' });
    }),
  );
}
