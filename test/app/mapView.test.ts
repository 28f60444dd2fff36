/** The map's view: what panning, zooming and resizing must keep. */
import { describe, expect, it } from 'vitest';
import {
  cellShown,
  cellSize,
  cellUnder,
  PLANE,
  type Point,
  panned,
  pixelAt,
  planeAt,
  planeOfPixel,
  ticks,
  wholePlane,
  zoomed,
} from '../../src/app/mapView.ts';

const size = { width: 600, height: 400 };
const whole = wholePlane(size);

const near = (actual: Point, expected: Point, digits = 6) => {
  expect(actual[0]).toBeCloseTo(expected[0], digits);
  expect(actual[1]).toBeCloseTo(expected[1], digits);
};

describe('view', () => {
  it('starts with the whole plane in the middle, y upward', () => {
    near(pixelAt(whole, [0, 0]), [100, 400]);
    near(pixelAt(whole, [PLANE, PLANE]), [500, 0]);
    expect(cellUnder(whole, [300, 200])).toEqual([1024, 1024]);
    expect(cellUnder(whole, [99, 200])).toBeUndefined();
    expect(cellUnder(whole, [500.5, 200])).toBeUndefined();
  });

  it('pans by pixels', () => {
    near(pixelAt(panned(whole, [30, -20], size), [0, 0]), [130, 380]);
  });

  it('zooms about a pixel, which keeps its place on the plane', () => {
    for (const pixel of [
      [300, 200],
      [120, 390],
      [480, 33],
    ] as const) {
      const closer = zoomed(whole, 7.5, pixel, size);
      near(planeAt(closer, pixel), planeAt(whole, pixel));
      expect(cellSize(closer)).toBeCloseTo(7.5 * cellSize(whole));
    }
  });

  it('zooms between half the canvas and 64 pixels a cell', () => {
    expect(cellSize(zoomed(whole, 1e9, [300, 200], size))).toBeCloseTo(64);
    expect(cellSize(zoomed(whole, 1e-9, [300, 200], size)) * PLANE).toBeCloseTo(200);
  });

  it('keeps the middle of the canvas on the plane', () => {
    for (const [dx, dy] of [
      [1e5, 0],
      [-1e5, 1e5],
      [0, -1e5],
    ] as const) {
      const [x, y] = planeAt(panned(whole, [dx, dy], size), [300, 200]);
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(-1e-6);
      expect(Math.max(x, y)).toBeLessThanOrEqual(PLANE + 1e-6);
    }
  });

  it('hands the shader the inverse, in device pixels', () => {
    const matrix = planeOfPixel(whole, 2);
    const at = (x: number, y: number): Point => pixelAt(matrix, [x, y]);
    near(at(2 * 300, 2 * 200), planeAt(whole, [300, 200]));
    near(at(0, 0), planeAt(whole, [0, 0]));
  });
});

describe('cellShown', () => {
  it('is the cell at the middle of the pixel', () => {
    expect(cellShown(100.5, 1)).toBe(100);
    expect(cellShown(100.99, 0.01)).toBe(100);
  });

  it('is 0 or 2047 wherever the pixel touches them, so that these rows stay visible', () => {
    expect(cellShown(1.7, 3.4)).toBe(0);
    expect(cellShown(2046.2, 3.4)).toBe(2047);
    expect(cellShown(2044.2, 3.4)).toBe(2044);
    expect(cellShown(5.2, 3.4)).toBe(5);
  });

  it('is outside the plane beyond its edges', () => {
    expect(cellShown(-2, 1)).toBeLessThan(0);
    expect(cellShown(2049, 1)).toBeGreaterThanOrEqual(PLANE);
  });
});

describe('ticks', () => {
  it('are multiples of a power of two, at least the gap apart, on the plane', () => {
    expect(ticks(-300, 2400, 0.2, 56)).toEqual([0, 512, 1024, 1536]);
    expect(ticks(1000.2, 1010, 32, 56)).toEqual([1002, 1004, 1006, 1008, 1010]);
    expect(ticks(2040, 2060, 64, 56)).toEqual([2040, 2041, 2042, 2043, 2044, 2045, 2046, 2047]);
  });
});
