/** Charts are SVG with a mark for each figure; the text has a row for each. */
import { describe, expect, it } from 'vitest';
import { charts, comparison } from '../../src/bench/charts.ts';
import type { Figure } from '../../src/bench/figure.ts';
import { markdownReport, withPrefix } from '../../src/bench/report.ts';

const figure = (id: string, lanes: number, perSecond: number, boundShare: number | null = null): Figure => ({
  id,
  engine: 'webgpu',
  adapter: 'an <adapter>',
  lanes,
  perSecond,
  deviceNs: 1e6,
  compileMs: 12.4,
  bytes: 2500,
  boundShare,
  operands: 'normal',
  wallNs: 2e6,
  wallPerSecond: perSecond / 2,
  spread: [perSecond / 2, perSecond * 2],
  repeats: 3,
  mismatches: 0,
  operations: { 'u32-mul': 16, 'u32-add': 402.4 },
  multiplies: 16,
  others: 402.4,
});

const figures = [
  figure('probe/u32-add', 65536, 4e9, 1),
  figure('macro/a', 64, 1e5),
  figure('macro/a', 65536, 2e6, 0.5),
  figure('macro/b', 64, 2e5),
  figure('macro/b', 65536, 4e6, 0.25),
  figure('macro/bigint', 512, 7e4),
];

/** Elements of that name, and whether tags are closed in order. */
function elements(svg: string): Map<string, number> {
  const counts = new Map<string, number>();
  const open: string[] = [];
  for (const [, close, name, selfClosed] of svg.matchAll(/<(\/?)([a-z]\w*)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/gi)) {
    if (close) expect(open.pop()).toBe(name);
    else {
      counts.set(name!, (counts.get(name!) ?? 0) + 1);
      if (!selfClosed) open.push(name!);
    }
  }
  expect(open).toEqual([]);
  expect(svg.replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]/);
  return counts;
}

describe('charts', () => {
  const drawn = new Map(charts(figures).map(({ name, svg }) => [name, svg]));
  const texts = (name: string) => [...drawn.get(name)!.matchAll(/<text[^>]*>([^<]*)/g)].map((match) => match[1]);

  it('are well-formed SVG, with the adapter in them', () => {
    expect([...drawn.keys()]).toEqual(['rates', 'bound', 'scaling']);
    for (const svg of drawn.values()) {
      expect(elements(svg).get('svg')).toBe(1);
      expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      expect(svg).toContain('an &lt;adapter&gt;, normal operands');
    }
  });

  /** Bars and points. */
  const marks = (name: string) => [...drawn.get(name)!.matchAll(/<path [^>]*ecmeta_ssr_type="chart"/g)].length;

  it('a bar and a label for each id but the probes, of its main size', () => {
    expect(marks('rates')).toBe(3);
    expect(texts('rates')).toEqual(expect.arrayContaining(['macro/a', 'macro/b', 'macro/bigint', '2', '4', '0.07']));
    expect(texts('rates')).not.toContain('probe/u32-add');
  });

  it('shares for those that have one', () => {
    expect(marks('bound')).toBe(2);
    expect(texts('bound')).toEqual(expect.arrayContaining(['50', '25']));
    expect(texts('bound')).not.toContain('macro/bigint');
  });

  it('a line with a point for each size of ids with several', () => {
    expect(marks('scaling')).toBe(4);
    expect(texts('scaling')).toEqual(expect.arrayContaining(['macro/a', 'macro/b', 'lanes']));
  });

  it('several series side by side, with gaps', () => {
    const { name, svg } = comparison(
      'both',
      'Rates',
      ['x', 'y'],
      [
        { name: 'one', rates: [1e6, undefined] },
        { name: 'two', rates: [undefined, 34.56e6] },
      ],
    );
    expect([name, elements(svg).get('svg')]).toEqual(['both', 1]);
    expect(svg.match(/<path [^>]*ecmeta_ssr_type="chart"/g)).toHaveLength(2);
    const words = [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map((match) => match[1]);
    expect(words).toEqual(expect.arrayContaining(['Rates', 'one', 'two', 'x', 'y', '1', '34.6']));
  });

  it('none without figures', () => {
    expect(charts([])).toEqual([]);
    expect(charts([figure('macro/bigint', 64, 1e4)]).map(({ name }) => name)).toEqual(['rates']);
  });
});

describe('text', () => {
  it('a row for each figure, pictures, facts', () => {
    const text = markdownReport(figures, { node: 'v20' }, [{ name: 'rates' }]);
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    expect(rows).toHaveLength(2 + figures.length);
    expect(new Set(rows.map((row) => row.split('|').length))).toEqual(new Set([13]));
    expect(text).toContain('![rates](rates.svg)');
    expect(text).toContain('* node: v20');
    expect(rows[4]).toBe('| macro/a | 65,536 | 2 M | 1 M to 4 M | 1 | 2 | 12 | 2.5 k | 16 + 402 | 50 % | 0 |');
  });

  it('numbers with prefixes', () => {
    expect([0.5, 12, 1000, 12345, 2.5e6, 3e9].map(withPrefix)).toEqual(['0.5', '12', '1 k', '12.3 k', '2.5 M', '3 G']);
  });
});
