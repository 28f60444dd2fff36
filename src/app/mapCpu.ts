/** The decision map without WebGPU: the CPU body of v_div_scale_f64, a row of pixels at a time, on a 2D canvas. */
import { colourOf, decide, type F64Lanes } from './decision.ts';
import type { Fraction, MapPainter, MapScene } from './mapPainter.ts';
import { cellShown, cellSize, PLANE, planeAt } from './mapView.ts';

/**
 * A painter on a canvas that no other context was taken from.
 * @throws Error if the canvas has no 2D context
 */
export function cpuPainter(canvas: HTMLCanvasElement): MapPainter {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('the canvas gives no 2D context');
  return {
    name: 'the CPU reference, v_div_scale_f64 in TypeScript',
    ratioLimit: 1,
    async paint(scene) {
      const image = context.createImageData(canvas.width, canvas.height);
      paintPlane(new Uint32Array(image.data.buffer), canvas.width, canvas.height, scene);
      context.putImageData(image, 0, 0);
    },
  };
}

/** The words of an operand whose exponent fields are these. */
const lanesOf = (exponents: readonly number[], { hi, lo }: Fraction): F64Lanes => [
  new Uint32Array(exponents.length).fill(lo),
  Uint32Array.from(exponents, (e) => (e << 20) | hi),
];

/** Fills `pixels` (RGBA, little endian); transparent outside the plane. */
export function paintPlane(pixels: Uint32Array, width: number, height: number, scene: MapScene): void {
  const pixel = 1 / (cellSize(scene.view) * scene.ratio);
  const shown = (middle: number) => {
    const cell = cellShown(middle, pixel);
    return cell >= 0 && cell < PLANE ? cell : undefined;
  };
  const middleOf = (x: number, y: number) => planeAt(scene.view, [(x + 0.5) / scene.ratio, (y + 0.5) / scene.ratio]);
  const columns = Array.from({ length: width }, (_, x) => shown(middleOf(x, 0)[0]));
  const left = columns.findIndex((cell) => cell !== undefined);
  const cells = columns.filter((cell) => cell !== undefined);
  if (cells.length === 0) return;
  const numerator = lanesOf(cells, scene.numerator);
  let last: { cell: number; row: number } | undefined;
  for (let y = 0; y < height; y++) {
    const cell = shown(middleOf(0, y)[1]);
    if (cell === undefined) continue;
    const start = y * width + left;
    if (last?.cell === cell) pixels.copyWithin(start, last.row, last.row + cells.length);
    else {
      const denominator = lanesOf(new Array<number>(cells.length).fill(cell), scene.denominator);
      const codes = decide(numerator, denominator, scene.mode, scene.variant);
      for (let i = 0; i < codes.length; i++) pixels[start + i] = rgba(colourOf(codes[i]!));
    }
    last = { cell, row: start };
  }
}

const rgba = (colour: number) =>
  (0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | ((colour >>> 16) & 0xff)) >>> 0;
