/** The decision map on the page: its picture, ticks and legend, and what pointer and keys do to them. */
import type { Pair } from '../verify/operands.ts';
import { colourOf, decidePair, knownCodes, nameOf } from './decision.ts';
import { byId, make } from './dom.ts';
import { watchGestures } from './gestures.ts';
import type { Fraction, MapPainter } from './mapPainter.ts';
import {
  cellSize,
  cellUnder,
  type Point,
  panned,
  pixelAt,
  planeAt,
  type Size,
  ticks,
  type View,
  wholePlane,
  zoomed,
} from './mapView.ts';
import { modeFor, type Settings } from './settings.ts';
import { hex64, minus } from './text.ts';

export interface DecisionMap {
  /** Paints again, after settings or fractions changed. */
  redraw(): void;
  /** Puts the mark on a pair of exponent fields. */
  mark(cell: Point): void;
}

export interface MapHost {
  readonly settings: () => Settings;
  /** Fractions of numerator and denominator over the whole plane. */
  readonly fractions: () => readonly [Fraction, Fraction];
  /** A pair of exponent fields was clicked. */
  readonly pick: (cell: Point) => void;
}

const KEY_PAN = 40;
const KEY_ZOOM = 1.5;
const TICK_GAP = 56;

export function mountMap(canvas: HTMLCanvasElement, painter: MapPainter, host: MapHost): DecisionMap {
  let size: Size = { width: 0, height: 0 };
  let view: View = wholePlane({ width: 1, height: 1 });
  const ratio = () => Math.min(window.devicePixelRatio, painter.ratioLimit);
  const hover = byId('map-hover', HTMLDivElement);
  let marked: Point | undefined;

  const paint = async () => {
    const { target, profile } = host.settings();
    const [numerator, denominator] = host.fractions();
    const shown = view;
    await painter.paint({
      view: shown,
      ratio: ratio(),
      numerator,
      denominator,
      mode: modeFor(host.settings()),
      variant: { target, profile },
    });
    if (shown !== view) return;
    // What is on the screen: scale, and the pixel of the plane's origin.
    canvas.dataset.view = [shown[0], shown[8], shown[9]].join(' ');
    canvas.dataset.profile = profile;
  };
  const redraw = coalesced(paint, (error) => {
    hover.textContent = `The map could not be drawn: ${error instanceof Error ? error.message : error}`;
  });
  const show = (next: View) => {
    view = next;
    delete canvas.dataset.view;
    showTicks(view, size);
    if (marked) showMark(view, size, marked);
    redraw();
  };
  const middle = (): Point => [size.width / 2, size.height / 2];

  const describe = (pixel: Point) => {
    const cell = cellUnder(view, pixel);
    hover.replaceChildren(...(cell ? describeCell(cell, host) : ['Point at the map.']));
  };
  watchGestures(canvas, {
    pan: (delta) => show(panned(view, delta, size)),
    zoom: (factor, about) => show(zoomed(view, factor, about, size)),
    hover: describe,
    leave: () => hover.replaceChildren('Point at the map.'),
    click: (pixel) => {
      const cell = cellUnder(view, pixel);
      if (cell) host.pick(cell);
    },
  });

  const whole = () => show(wholePlane(size));
  const zoomMiddle = (factor: number) => show(zoomed(view, factor, middle(), size));
  const keys: Record<string, () => void> = {
    ArrowLeft: () => show(panned(view, [KEY_PAN, 0], size)),
    ArrowRight: () => show(panned(view, [-KEY_PAN, 0], size)),
    ArrowUp: () => show(panned(view, [0, KEY_PAN], size)),
    ArrowDown: () => show(panned(view, [0, -KEY_PAN], size)),
    '+': () => zoomMiddle(KEY_ZOOM),
    '=': () => zoomMiddle(KEY_ZOOM),
    '-': () => zoomMiddle(1 / KEY_ZOOM),
    '0': whole,
    Enter: () => {
      const cell = cellUnder(view, middle());
      if (cell) host.pick(cell);
    },
  };
  canvas.addEventListener('keydown', (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    describe(middle());
  });
  byId('zoom-in', HTMLButtonElement).addEventListener('click', () => zoomMiddle(KEY_ZOOM));
  byId('zoom-out', HTMLButtonElement).addEventListener('click', () => zoomMiddle(1 / KEY_ZOOM));
  byId('zoom-reset', HTMLButtonElement).addEventListener('click', whole);

  new ResizeObserver(() => {
    const next = { width: canvas.clientWidth, height: canvas.clientHeight };
    if (next.width === 0 || (next.width === size.width && next.height === size.height)) return;
    const showsAll = size.width === 0 || view.every((x, i) => x === wholePlane(size)[i]);
    const centre = planeAt(view, middle());
    size = next;
    canvas.width = Math.round(size.width * ratio());
    canvas.height = Math.round(size.height * ratio());
    if (showsAll) whole();
    else {
      const [x, y] = pixelAt(view, centre);
      show(panned(view, [middle()[0] - x, middle()[1] - y], size));
    }
  }).observe(canvas);

  byId('map-painter', HTMLParagraphElement).textContent = `Drawn by ${painter.name}.`;
  showLegend();
  return {
    redraw,
    mark: (cell) => {
      marked = cell;
      showMark(view, size, cell);
    },
  };
}

/** Runs `task` on the next frame; calls while it runs make it run once more. */
function coalesced(task: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let state: 'idle' | 'running' | 'again' = 'idle';
  const run = () =>
    requestAnimationFrame(async () => {
      try {
        await task();
      } catch (error) {
        failed(error);
      }
      const again = state === 'again';
      state = again ? 'running' : 'idle';
      if (again) run();
    });
  return () => {
    if (state !== 'idle') state = 'again';
    else {
      state = 'running';
      run();
    }
  };
}

/** The pair of a cell: those exponent fields with the plane's fractions, both positive. */
export function pairAt([x, y]: Point, [numerator, denominator]: readonly [Fraction, Fraction]): Pair {
  return {
    nHi: (x << 20) | numerator.hi,
    nLo: numerator.lo,
    dHi: (y << 20) | denominator.hi,
    dLo: denominator.lo,
  };
}

const css = (colour: number) => `#${colour.toString(16).padStart(6, '0')}`;

function swatch(code: number): HTMLElement {
  const element = make('span', { class: 'swatch' });
  element.style.background = css(colourOf(code));
  return element;
}

function describeCell(cell: Point, host: MapHost): (Node | string)[] {
  const settings = host.settings();
  const pair = pairAt(cell, host.fractions());
  const code = decidePair(pair, modeFor(settings), settings);
  const line = (label: string, value: Node | string) => make('div', {}, make('span', {}, label), value);
  return [
    line('numerator', make('code', {}, hex64(pair.nHi, pair.nLo))),
    line('denominator', make('code', {}, hex64(pair.dHi, pair.dLo))),
    line('exponents', `${cell[0]} − ${cell[1]} = ${minus(cell[0] - cell[1])}`),
    make('div', {}, swatch(code), make('strong', {}, nameOf(code))),
  ];
}

function showLegend(): void {
  const items = knownCodes.map((code) => make('li', { 'data-code': String(code) }, swatch(code), nameOf(code)));
  byId('legend', HTMLUListElement).replaceChildren(...items);
}

function showMark(view: View, { width, height }: Size, [x, y]: Point): void {
  const mark = byId('map-mark', HTMLDivElement);
  const [left, top] = pixelAt(view, [x + 0.5, y + 0.5]);
  mark.hidden = left < 0 || top < 0 || left > width || top > height;
  mark.style.cssText = `left:${left}px;top:${top}px`;
}

function showTicks(view: View, { width, height }: Size): void {
  const scale = cellSize(view);
  const [left, bottom] = planeAt(view, [0, height]);
  const [right, top] = planeAt(view, [width, 0]);
  const labels = (from: number, to: number, position: (value: number) => string) =>
    ticks(from, to, scale, TICK_GAP).map((value) => {
      const label = make('span', {}, String(value));
      label.style.cssText = position(value);
      return label;
    });
  byId('ticks-x', HTMLDivElement).replaceChildren(
    ...labels(left, right, (x) => `left:${pixelAt(view, [x + 0.5, 0])[0]}px`),
  );
  byId('ticks-y', HTMLDivElement).replaceChildren(
    ...labels(bottom, top, (y) => `top:${pixelAt(view, [0, y + 0.5])[1]}px`),
  );
}
