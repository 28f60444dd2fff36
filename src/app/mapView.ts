/**
 * Where the plane of exponents lies on the canvas: one matrix, plane -> pixel (CSS pixels, y down), that dragging and zooming multiply.
 * The plane's x is the numerator's exponent field, its y the denominator's; both go from 0 to 2048, y upward.
 */
import { mat3d, vec2d } from 'wgpu-matrix';

export const PLANE = 2048;

/** Pixels a cell may grow to, and the part of the canvas that the plane may shrink to. */
const MAX_SCALE = 64;
const MIN_FILL = 0.5;

export type Point = readonly [x: number, y: number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type View = Float64Array;

const scaleOf = (view: View) => view[0]!;

/** Pixels a cell takes. */
export const cellSize = scaleOf;

/** The whole plane, in the middle of the canvas. */
export function wholePlane({ width, height }: Size): View {
  const scale = Math.min(width, height) / PLANE;
  const [x, y] = [(width - scale * PLANE) / 2, (height + scale * PLANE) / 2];
  return mat3d.scale(mat3d.translation([x, y]), [scale, -scale]);
}

/** Moves what the canvas shows by that many pixels; some of the plane stays in sight. */
export function panned(view: View, [dx, dy]: Point, size: Size): View {
  return kept(mat3d.multiply(mat3d.translation([dx, dy]), view), size);
}

/** Zooms about a pixel, which keeps its place on the plane. */
export function zoomed(view: View, factor: number, [x, y]: Point, size: Size): View {
  const smallest = (MIN_FILL * Math.min(size.width, size.height)) / PLANE;
  const allowed = Math.min(Math.max(scaleOf(view) * factor, smallest), MAX_SCALE) / scaleOf(view);
  const about = mat3d.translation([x, y]);
  mat3d.scale(about, [allowed, allowed], about);
  mat3d.translate(about, [-x, -y], about);
  return kept(mat3d.multiply(about, view), size);
}

/** The point of the plane under a pixel. */
export function planeAt(view: View, pixel: Point): Point {
  const [x, y] = vec2d.transformMat3(pixel, mat3d.inverse(view));
  return [x!, y!];
}

/** The pixel of a point of the plane. */
export function pixelAt(view: View, point: Point): Point {
  const [x, y] = vec2d.transformMat3(point, view);
  return [x!, y!];
}

/** Pixel -> plane for a canvas with `ratio` device pixels a CSS pixel. */
export const planeOfPixel = (view: View, ratio: number): View =>
  mat3d.multiply(mat3d.inverse(view), mat3d.scaling([1 / ratio, 1 / ratio]));

/** The pair of exponents under a pixel, if the plane is there. */
export function cellUnder(view: View, pixel: Point): Point | undefined {
  const [x, y] = planeAt(view, pixel);
  const inside = x >= 0 && y >= 0 && x < PLANE && y < PLANE;
  return inside ? [Math.floor(x), Math.floor(y)] : undefined;
}

/**
 * The cell that a pixel shows along one axis: the one at its middle, but 0 and 2047, which decide otherwise than their neighbours,
 * win over the rest of the pixel, so that they don't vanish from a small picture. `cell_at` of shaders/app/decision.wesl.
 * @param pixel width of a pixel in cells
 */
export function cellShown(middle: number, pixel: number): number {
  const first = Math.floor(middle - pixel / 2);
  const last = Math.ceil(middle + pixel / 2) - 1;
  if (first <= 0 && last >= 0) return 0;
  if (first <= PLANE - 1 && last >= PLANE - 1) return PLANE - 1;
  return Math.floor(middle);
}

/** Keeps the middle of the canvas on the plane. */
function kept(view: View, { width, height }: Size): View {
  const middle: Point = [width / 2, height / 2];
  const at = planeAt(view, middle);
  const clamped = at.map((x) => Math.min(Math.max(x, 0), PLANE)) as [number, number];
  const [px, py] = pixelAt(view, clamped);
  return mat3d.multiply(mat3d.translation([middle[0] - px, middle[1] - py]), view);
}

/** Round numbers between two exponents, at least `gap` pixels apart. */
export function ticks(from: number, to: number, pixelsPerUnit: number, gap: number): number[] {
  const steps = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  const step = steps.find((s) => s * pixelsPerUnit >= gap) ?? PLANE;
  const first = Math.ceil(Math.max(from, 0) / step);
  const last = Math.floor(Math.min(to, PLANE - 1) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
}
