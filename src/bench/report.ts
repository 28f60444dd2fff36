/** The report as text for people. */
import type { Chart } from './charts.ts';
import type { Figure } from './figure.ts';

const PREFIXES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** Three digits and a prefix: 12.3 M. */
export function withPrefix(value: number): string {
  const [scale, letter] = PREFIXES.find(([least]) => value >= least) ?? [1, ''];
  return `${Number((value / scale).toPrecision(3))}${letter && ` ${letter}`}`;
}

const milliseconds = (ns: number | null): string => (ns === null ? '-' : `${Number((ns / 1e6).toPrecision(3))}`);

export const HEADINGS = [
  'figure',
  'lanes',
  'per second',
  'slowest to fastest',
  'device ms',
  'wall ms',
  'compile ms',
  'bytes',
  'mul + other',
  'of bound',
  'mismatches',
] as const;

/** The cells of a figure under `HEADINGS`. */
export const cellsOf = (figure: Figure): string[] => [
  figure.id,
  figure.lanes.toLocaleString('en'),
  withPrefix(figure.perSecond),
  figure.spread.map(withPrefix).join(' to '),
  milliseconds(figure.deviceNs),
  milliseconds(figure.wallNs),
  figure.compileMs === null ? '-' : figure.compileMs.toFixed(0),
  figure.bytes === 0 ? '-' : withPrefix(figure.bytes),
  figure.others === null ? '-' : `${Math.round(figure.multiplies!)} + ${Math.round(figure.others)}`,
  figure.boundShare === null ? '-' : `${(100 * figure.boundShare).toFixed(0)} %`,
  String(figure.mismatches),
];

/** @param facts lines about machine and settings @param charts files that lie beside the text */
export function markdownReport(
  figures: readonly Figure[],
  facts: Readonly<Record<string, string>>,
  charts: readonly Pick<Chart, 'name'>[],
): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '# wave64 bench',
    '',
    ...Object.entries(facts).map(([name, fact]) => `* ${name}: ${fact}`),
    '',
    ...charts.flatMap(({ name }) => [`![${name}](${name}.svg)`, '']),
    row(HEADINGS),
    row(HEADINGS.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...figures.map((figure) => row(cellsOf(figure))),
    '',
  ].join('\n');
}
