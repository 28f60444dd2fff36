/**
 * Writes the tables of docs/performance.md, and the charts beside the reports, from the reports in docs/performance/:
 *
 *     node --import tsx bench/ratios.ts
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { charts, mainFigures } from '../src/bench/charts.ts';
import type { Figure } from '../src/bench/figure.ts';
import { withPrefix } from '../src/bench/report.ts';

const docs = new URL('../docs/', import.meta.url);
const DRIVERS = ['swiftshader', 'lavapipe'] as const;
type Driver = (typeof DRIVERS)[number];
type Operands = Figure['operands'];

interface Report {
  readonly cpu: string;
  readonly node: string;
  readonly adapters: string;
  readonly figures: readonly Figure[];
}

function reportOf(driver: Driver, operands: Operands): Report | undefined {
  const file = new URL(`performance/${driver}-${operands}/report.json`, docs);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The figure at its main size. */
const figure = (driver: Driver, operands: Operands, id: string) =>
  mainFigures(reportOf(driver, operands)?.figures ?? []).find((f) => f.id === id);

/** A ratio asked for: of which figures, at least how much on which driver. */
interface Row {
  readonly text: string;
  readonly of: string;
  readonly over: string;
  readonly operands?: Operands;
  readonly asked: Partial<Record<Driver, number>>;
}

const rows: readonly Row[] = [
  {
    text: 'fused over generic, stored',
    of: 'macro/fused/stored',
    over: 'macro/generic/stored',
    asked: { swiftshader: 6, lavapipe: 2 },
  },
  {
    text: 'fused over generic, eight in registers',
    of: 'macro/fused/registers',
    over: 'macro/generic/registers',
    asked: { swiftshader: 3.5, lavapipe: 3.5 },
  },
  {
    text: 'fused, stored, over BigInt',
    of: 'macro/fused/stored',
    over: 'macro/bigint',
    asked: { swiftshader: 40, lavapipe: 240 },
  },
  {
    text: 'fused, stored, over error-free doubles',
    of: 'macro/fused/stored',
    over: 'macro/error-free/result',
    asked: { swiftshader: 0.3, lavapipe: 1.8 },
  },
  {
    text: 'fused, in registers, over error-free doubles',
    of: 'macro/fused/registers',
    over: 'macro/error-free/result',
    asked: { lavapipe: 3.7 },
  },
  {
    text: 'fast tier over generic, stored',
    of: 'macro/fast/stored',
    over: 'macro/generic/stored',
    asked: { swiftshader: 2, lavapipe: 1.25 },
  },
  {
    text: 'fused over generic, every second lane special',
    of: 'macro/fused/stored',
    over: 'macro/generic/stored',
    operands: 'special',
    asked: { swiftshader: 1.5, lavapipe: 1 },
  },
  {
    text: 'error-free doubles over BigInt, on the CPU',
    of: 'macro/error-free/result',
    over: 'macro/bigint',
    asked: { swiftshader: 130, lavapipe: 130 },
  },
  ...(['distinct', 'equal', 'random8'] as const).map((addresses, i) => ({
    text: `ds_min_rtn_f64 over its serial form, ${addresses} addresses`,
    of: `lds-min/${addresses}`,
    over: `lds-min/${addresses}/serial`,
    asked: { swiftshader: 1, lavapipe: [2.2, 1, 0.8][i]! },
  })),
];

const digits = (value: number) => String(Number(value.toPrecision(3)));

function cell(driver: Driver, { of, over, operands = 'normal', asked }: Row): string {
  const [a, b] = [figure(driver, operands, of), figure(driver, operands, over)];
  const least = asked[driver];
  if (!a || !b) return '-';
  const ratio = a.perSecond / b.perSecond;
  if (least === undefined) return digits(ratio);
  return `${digits(least)}: **${digits(ratio)}**${ratio < least ? ' (missed)' : ''}`;
}

function times(driver: Driver, id: string, most: number): string {
  const ms = figure(driver, 'normal', id)?.compileMs ?? undefined;
  return ms === undefined ? '-' : `${most} ms: **${ms.toFixed(0)} ms**${ms > most ? ' (missed)' : ''}`;
}

/** Special operands against normal ones are two runs. */
function keptOnSpecial(driver: Driver): string {
  const [special, normal] = (['special', 'normal'] as const).map((o) => figure(driver, o, 'macro/error-free/result'));
  if (!special || !normal) return '-';
  const ratio = special.perSecond / normal.perSecond;
  return `0.5: **${digits(ratio)}**${ratio < 0.5 ? ' (missed)' : ''}`;
}

function bound(driver: Driver): string {
  const share = figure(driver, 'normal', 'macro/fused/registers')?.boundShare;
  return share === undefined || share === null ? '-' : `0.5: **${digits(share)}**${share < 0.5 ? ' (missed)' : ''}`;
}

const table = (head: readonly string[], body: readonly (readonly string[])[]) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const ratios = table(
  ['least, and what came', ...DRIVERS],
  [
    ...rows.map((row) => [row.text, ...DRIVERS.map((driver) => cell(driver, row))]),
    ['error-free doubles, special over normal operands', ...DRIVERS.map(keptOnSpecial)],
    ['share of the bound, fused in registers', ...DRIVERS.map(bound)],
    [
      'compiling one fused macro with its bail kernel, at most',
      ...DRIVERS.map((d) => times(d, 'macro/fused/stored', 420)),
    ],
  ],
);

const IDS = [
  'probe/u32-add',
  'probe/u32-mul',
  'probe/u32-mulhi',
  'probe/memory/read',
  'probe/memory/write',
  'macro/generic/stored',
  'macro/shared/stored',
  'macro/fast/stored',
  'macro/fused/stored',
  'macro/direct',
  'macro/generic/registers',
  'macro/fused/registers',
  'macro/bigint',
  'macro/error-free',
  'macro/error-free/result',
  'macro/native',
  'f64/add',
  'f64/mul',
  'f64/fma',
  'f64/div',
  'f64/sqrt',
  'f64/min',
  'lds-min/distinct',
  'lds-min/equal',
  'lds-min/random8',
  'program/newton',
  'program/dot-lds-min',
];

const rates = table(
  ['operations a second', 'multiplications + others', ...DRIVERS.flatMap((d) => [d, 'of bound', 'special operands'])],
  IDS.map((id) => {
    const any = figure('swiftshader', 'normal', id);
    const count = any?.others == null ? '' : `${Math.round(any.multiplies!)} + ${Math.round(any.others)}`;
    const cells = DRIVERS.flatMap((driver) => {
      const [normal, special] = [figure(driver, 'normal', id), figure(driver, 'special', id)];
      const share = normal?.boundShare;
      return [
        normal ? withPrefix(normal.perSecond) : '-',
        share == null ? '' : `${Math.round(100 * share)} %`,
        special ? withPrefix(special.perSecond) : '-',
      ];
    });
    return [id, count, ...cells];
  }),
);

const machine = DRIVERS.map((driver) => reportOf(driver, 'normal'))
  .filter((report) => report !== undefined)
  .map(({ adapters, cpu, node }) => `* ${adapters}; ${cpu}; Node ${node}`)
  .join('\n');

for (const driver of DRIVERS)
  for (const operands of ['normal', 'special'] as const)
    for (const { name, svg } of charts(reportOf(driver, operands)?.figures ?? []))
      writeFileSync(new URL(`performance/${driver}-${operands}/${name}.svg`, docs), svg);

const path = new URL('performance.md', docs);
const fill = (text: string, name: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`),
    (_, before: string, after: string) => `${before}\n${content}\n\n${after}`,
  );
let text = readFileSync(path, 'utf8');
for (const [name, content] of Object.entries({ machine, ratios, rates })) text = fill(text, name, content);
writeFileSync(path, text);
