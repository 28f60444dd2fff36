/** Pointer, wheel and pinch on an element, as pans, zooms and clicks in its own pixels. */
import type { Point } from './mapView.ts';

export interface Gestures {
  readonly pan: (delta: Point) => void;
  readonly zoom: (factor: number, about: Point) => void;
  readonly hover: (at: Point) => void;
  readonly leave: () => void;
  /** A press that did not move. */
  readonly click: (at: Point) => void;
}

/** Pixels that a press may wander and still be a click. */
const CLICK_SLACK = 4;

/** Zoom of one wheel pixel; a notch of a mouse is about 100 of them. */
const WHEEL_ZOOM = 0.0015;
const WHEEL_LINE = 16;

const distance = ([ax, ay]: Point, [bx, by]: Point) => Math.hypot(ax - bx, ay - by);
const between = ([ax, ay]: Point, [bx, by]: Point): Point => [(ax + bx) / 2, (ay + by) / 2];

export function watchGestures(element: HTMLElement, act: Gestures): void {
  const at = (event: MouseEvent): Point => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const pressed = new Map<number, Point>();
  let pressedAt: Point | undefined; // undefined once the press is no click any more

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, at(event));
    pressedAt = pressed.size === 1 ? at(event) : undefined;
  });
  element.addEventListener('pointermove', (event) => {
    const before = pressed.get(event.pointerId);
    const now = at(event);
    act.hover(now);
    if (!before) return;
    if (pressedAt && distance(pressedAt, now) <= CLICK_SLACK) return;
    pressedAt = undefined;
    const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
    pressed.set(event.pointerId, now);
    const [from, to] = other ? [between(before, other), between(now, other)] : [before, now];
    act.pan([to[0] - from[0], to[1] - from[1]]);
    if (other) act.zoom(distance(now, other) / Math.max(distance(before, other), 1), to);
  });
  const released = (event: PointerEvent) => {
    pressed.delete(event.pointerId);
    if (pressedAt && event.type === 'pointerup') act.click(pressedAt);
    pressedAt = undefined;
  };
  element.addEventListener('pointerup', released);
  element.addEventListener('pointercancel', released);
  element.addEventListener('pointerleave', act.leave);
  element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE : 1);
      act.zoom(Math.exp(-pixels * WHEEL_ZOOM), at(event));
    },
    { passive: false },
  );
}
