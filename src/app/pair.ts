/** The form below the map: the pair that the macro runs on, by hand or by a click, and the engine that runs it. */
import type { Engine } from '../engine.ts';
import { byId, make } from './dom.ts';
import { pairAt } from './map.ts';
import type { Fraction } from './mapPainter.ts';
import type { Point } from './mapView.ts';
import type { Settings } from './settings.ts';
import { runSteps, showSteps } from './steps.ts';
import { messageOf } from './text.ts';

export interface PairForm {
  /** Fractions of numerator and denominator; the map's plane has these. */
  readonly fractions: () => readonly [Fraction, Fraction];
  /** Takes a pair of exponent fields and runs the macro on it. */
  readonly pick: (cell: Point) => void;
}

export interface PairHost {
  readonly settings: () => Settings;
  readonly engines: readonly [Engine, Engine?];
  /** The fractions changed. */
  readonly changed: () => void;
  /** The macro runs on these exponent fields. */
  readonly running: (cell: Point) => void;
}

const input = (id: string) => byId(id, HTMLInputElement);

/** Up to 13 hex digits, read as if zeros stood before them. */
function fractionOf(id: string): Fraction {
  const digits = input(id).checkValidity() ? input(id).value.padStart(13, '0') : '0'.repeat(13);
  return { hi: Number.parseInt(digits.slice(0, 5), 16), lo: Number.parseInt(digits.slice(5), 16) };
}

export function mountPair({ settings, engines, changed, running }: PairHost): PairForm {
  const form = byId('pair', HTMLFormElement);
  const select = byId('steps-engine', HTMLSelectElement);
  const named = engines.filter((engine) => engine !== undefined);
  select.replaceChildren(
    ...named.map(({ name }, index) => new Option(name === 'webgpu' ? 'WebGPU' : 'CPU reference', String(index))),
  );
  const fractions = () => [fractionOf('n-fraction'), fractionOf('d-fraction')] as const;
  let asked = 0;

  const run = async () => {
    const ask = ++asked;
    const engine = named[Number(select.value)]!;
    const cell: Point = [input('n-exponent').valueAsNumber, input('d-exponent').valueAsNumber];
    const [pair, chosen] = [pairAt(cell, fractions()), settings()];
    running(cell);
    try {
      const steps = await runSteps(engine, pair, chosen);
      if (ask === asked) showSteps(engine, pair, chosen, steps);
    } catch (error) {
      byId('steps', HTMLDivElement).replaceChildren(make('p', { class: 'error' }, messageOf(error)));
    }
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  for (const id of ['n-fraction', 'd-fraction']) input(id).addEventListener('input', changed);
  byId('run-pair', HTMLButtonElement).disabled = false;
  return {
    fractions,
    pick: ([x, y]) => {
      input('n-exponent').value = String(x);
      input('d-exponent').value = String(y);
      void run();
    },
  };
}
