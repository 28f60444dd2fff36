/** What the map says about pairs, against the rules as ROCm rocjitsu (division.h, measured) and AMD's ISA text give them. */
import { describe, expect, it } from 'vitest';
import { colourOf, DECISION_CODES, decidePair, knownCodes, nameOf } from '../../src/app/decision.ts';
import { paintPlane } from '../../src/app/mapCpu.ts';
import { PLANE, wholePlane } from '../../src/app/mapView.ts';
import { findTarget, type Profile } from '../../src/isa/target.ts';
import { KERNEL_MODE } from '../../src/wavefront/mode.ts';

const target = findTarget('gfx90a');

/** The decision's name for two exponent fields, with these high fraction bits. */
const named = (profile: Profile, n: number, d: number, fraction = 0) =>
  nameOf(
    decidePair({ nHi: (n << 20) | fraction, nLo: 0, dHi: (d << 20) | fraction, dLo: 0 }, KERNEL_MODE, {
      target,
      profile,
    }),
  );

describe('hardware profile', () => {
  it.each([
    // difference of at least 768 either way, and one less
    [1768, 1000, 'denominator × 2¹²⁸, VCC'],
    [1767, 1000, 'left alone'],
    [232, 1000, 'numerator × 2¹²⁸, VCC'],
    [233, 1000, 'left alone'],
    // denominators from 2^1022 on
    [1023, 2045, 'denominator × 2⁻¹²⁸, VCC'],
    [1278, 2045, 'both × 2⁻¹²⁸'],
    [1277, 2045, 'denominator × 2⁻¹²⁸, VCC'],
    [1500, 2044, 'left alone'],
    // tiny numerators
    [53, 500, 'both × 2¹²⁸'],
    [54, 500, 'left alone'],
    // zeros: NaN, and VCC follows the exponents
    [0, 0, 'NaN: an operand is zero'],
    [1023, 0, 'NaN: an operand is zero, VCC'],
    [0, 1023, 'NaN: an operand is zero, VCC'],
    [0, 500, 'NaN: an operand is zero'],
    // infinities are left alone, their fields take part
    [2047, 1000, 'denominator × 2¹²⁸, VCC'],
    [1000, 2047, 'left alone, VCC'],
    [1500, 2047, 'numerator × 2⁻¹²⁸'],
    // subnormals
    [0, 0, 'both × 2¹²⁸', 0x80000],
    [700, 0, 'both × 2¹²⁸', 0x80000],
  ])('exponents %i, %i', (n, d, name, fraction = 0) => {
    expect(named('hardware', n, d, fraction)).toBe(name);
  });
});

describe('published profile', () => {
  it.each([
    [1768, 1000, 'denominator × 2¹²⁸, VCC'],
    [232, 1000, 'left alone'], // n/d is no subnormal yet
    [100, 1150, 'numerator × 2¹²⁸, VCC'], // n/d = 2^-1050 is
    [100, 1200, 'left alone'], // n/d rounds to zero
    [1278, 2045, 'left alone'], // 1/2^1022 is normal
    [1278, 2046, 'both × 2⁻¹²⁸'],
    [53, 500, 'both × 2¹²⁸'],
    [54, 500, 'left alone'],
    [1023, 0, 'NaN: an operand is zero'],
    [0, 1023, 'NaN: an operand is zero'],
  ])('exponents %i, %i', (n, d, name) => {
    expect(named('published', n, d)).toBe(name);
  });
});

describe('colours', () => {
  it('are different for each code of the legend', () => {
    expect(new Set(knownCodes.map(colourOf)).size).toBe(knownCodes.length);
    expect(new Set(knownCodes.map(nameOf)).size).toBe(knownCodes.length);
    expect(Math.max(...knownCodes)).toBeLessThan(DECISION_CODES);
  });

  it('exist for whatever the plane holds: borders of the rules, two fractions, both profiles', () => {
    const fields = [
      0, 1, 2, 52, 53, 54, 500, 767, 768, 769, 1022, 1023, 1024, 1150, 1278, 1279, 1280, 1500, 1815, 2044,
    ];
    const all = [...fields, 2045, 2046, 2047];
    const seen = new Set<number>();
    for (const profile of ['hardware', 'published'] as const)
      for (const fraction of [0, 0x80000])
        for (const n of all)
          for (const d of all) {
            const pair = { nHi: (n << 20) | fraction, nLo: 0, dHi: (d << 20) | fraction, dLo: 0 };
            seen.add(decidePair(pair, KERNEL_MODE, { target, profile }));
          }
    expect([...seen].sort((a, b) => a - b)).toEqual([...knownCodes].sort((a, b) => a - b));
  });
});

describe('paintPlane', () => {
  it('gives each pixel the colour of its pair, and nothing outside the plane', () => {
    const [width, height] = [80, 64];
    const pixels = new Uint32Array(width * height);
    const one = { hi: 0, lo: 0 };
    const scene = {
      ratio: 1,
      numerator: one,
      denominator: one,
      mode: KERNEL_MODE,
      variant: { target, profile: 'hardware' },
    } as const;
    paintPlane(pixels, width, height, { ...scene, view: wholePlane({ width, height }) });
    expect(pixels[10 * width + 4]).toBe(0);
    const cell = PLANE / height;
    for (const [x, y] of [
      [40, 32],
      [10, 5],
      [70, 60],
      [9, 60],
    ] as const) {
      const [n, d] = [Math.floor((x - 8 + 0.5) * cell), Math.floor((height - y - 0.5) * cell)];
      const code = decidePair({ nHi: n << 20, nLo: 0, dHi: d << 20, dLo: 0 }, KERNEL_MODE, scene.variant);
      const rgba = pixels[y * width + x]!;
      expect(((rgba & 0xff) << 16) | (rgba & 0xff00) | ((rgba >>> 16) & 0xff), nameOf(code)).toBe(colourOf(code));
    }
  });
});
