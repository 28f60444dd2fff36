/**
 * Writes the tables of docs/performance.md, the charts beside the reports, and the README's chart, from the reports in docs/performance/:
 *
 *     node --import tsx bench/ratios.ts
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { charts, comparison, mainFigures } from '../src/bench/charts.ts';
import type { Figure } from '../src/bench/figure.ts';
import { KINDS } from '../src/bench/kinds.ts';
import { withPrefix } from '../src/bench/report.ts';
import { ratesOf } from '../src/bench/subjects.ts';

const docs = new URL('../docs/', import.meta.url);
const DRIVERS = ['swiftshader', 'lavapipe'] as const;
type Driver = (typeof DRIVERS)[number];
const NAMES: Readonly<Record<Driver, string>> = { swiftshader: 'SwiftShader', lavapipe: 'lavapipe' };
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
    text: 'fused, stored, over error-free doubles with every register',
    of: 'macro/fused/stored',
    over: 'macro/error-free',
    asked: { swiftshader: 0.3, lavapipe: 1.8 },
  },
  {
    text: 'fused, stored, over error-free doubles with the registers of compiled programs',
    of: 'macro/fused/stored',
    over: 'macro/error-free/result',
    asked: {},
  },
  {
    text: 'fused, in registers, over error-free doubles with every register',
    of: 'macro/fused/registers',
    over: 'macro/error-free',
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
    text: 'error-free doubles with every register over BigInt, on the CPU',
    of: 'macro/error-free',
    over: 'macro/bigint',
    asked: { swiftshader: 130, lavapipe: 130 },
  },
  {
    text: "WebAssembly's vectors with every register over BigInt, on the CPU",
    of: 'macro/wasm',
    over: 'macro/bigint',
    asked: { swiftshader: 130, lavapipe: 130 },
  },
  {
    text: 'reference engine at once over BigInt, every register kept',
    of: 'macro/steps/fused',
    over: 'macro/bigint',
    asked: {},
  },
  ...(['distinct', 'equal', 'random8'] as const).map((addresses, i) => ({
    text: `ds_min_rtn_f64 over its serial form, ${addresses} addresses`,
    of: `lds-min/${addresses}`,
    over: `lds-min/${addresses}/serial`,
    asked: { swiftshader: 1, lavapipe: [2.2, 1, 0.8][i]! },
  })),
];

const digits = (value: number) => String(Number(value.toPrecision(3)));

/** What was asked for at least, and what came. */
const atLeast = (least: number, came: number | undefined): string =>
  came === undefined ? '-' : `${digits(least)}: **${digits(came)}**${came < least ? ' (missed)' : ''}`;

const over = (a: Figure | undefined, b: Figure | undefined): number | undefined => a && b && a.perSecond / b.perSecond;

function cell(driver: Driver, { of, over: other, operands = 'normal', asked }: Row): string {
  const ratio = over(figure(driver, operands, of), figure(driver, operands, other));
  const least = asked[driver];
  if (least !== undefined) return atLeast(least, ratio);
  return ratio === undefined ? '-' : digits(ratio);
}

/** Milliseconds of compiling, of which no more than so many were asked for. */
function compiling(driver: Driver, id: string, most: number): string {
  const ms = figure(driver, 'normal', id)?.compileMs ?? undefined;
  return ms === undefined ? '-' : `${most}: **${ms.toFixed(0)}**${ms > most ? ' (missed)' : ''}`;
}

/** Special operands against normal ones are two runs. */
const keptOnSpecial = (driver: Driver, id: string, least: number) =>
  atLeast(least, over(figure(driver, 'special', id), figure(driver, 'normal', id)));

const bound = (driver: Driver) =>
  atLeast(0.5, figure(driver, 'normal', 'macro/fused/registers')?.boundShare ?? undefined);

const table = (head: readonly string[], body: readonly (readonly string[])[]) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const ratios = table(
  ['least, and what came', ...DRIVERS],
  [
    ...rows.map((row) => [row.text, ...DRIVERS.map((driver) => cell(driver, row))]),
    ...[
      ['error-free doubles with every register, special over normal operands', 'macro/error-free'],
      ['error-free doubles with the registers of compiled programs, the same', 'macro/error-free/result'],
      ["WebAssembly's vectors with every register, the same", 'macro/wasm'],
      ['reference engine at once, the same', 'macro/steps/fused'],
    ].map(([text, id]) => [text!, ...DRIVERS.map((driver) => keptOnSpecial(driver, id!, 0.5))]),
    ['share of the bound, fused in registers', ...DRIVERS.map(bound)],
  ],
);

const compiled = table(
  ['at most, and what came, ms', ...DRIVERS],
  [
    ['one fused macro', 'compile/fused', 120] as const,
    ['its bail kernel', 'compile/bail', 300] as const,
    ['sixteen fused macros in one program', 'compile/fused16', 1500] as const,
  ].map(([text, id, most]) => [text, ...DRIVERS.map((driver) => compiling(driver, id, most))]),
);

const IDS = [
  ...KINDS.map((kind) => `probe/${kind}`),
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
  'macro/direct/registers',
  'macro/bigint',
  'macro/error-free',
  'macro/error-free/result',
  'macro/wasm',
  'macro/wasm/result',
  'macro/native',
  'macro/steps',
  'macro/steps/fused',
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

/** What an operation of each kind costs, by the probes, what stands beside it taken off. */
const kinds = table(
  ['picoseconds an operation', ...DRIVERS],
  KINDS.map((kind) => [
    kind,
    ...DRIVERS.map((driver) => {
      const rate = ratesOf(reportOf(driver, 'normal')?.figures ?? [], true)?.operations[kind];
      return rate === undefined ? '-' : digits(1e12 / rate);
    }),
  ]),
);

const machine = DRIVERS.map((driver) => reportOf(driver, 'normal'))
  .filter((report) => report !== undefined)
  .map(({ adapters, cpu, node }) => `* ${adapters}; ${cpu}; Node ${node}`)
  .join('\n');

for (const driver of DRIVERS)
  for (const operands of ['normal', 'special'] as const)
    for (const { name, svg } of charts(reportOf(driver, operands)?.figures ?? []))
      writeFileSync(new URL(`performance/${driver}-${operands}/${name}.svg`, docs), svg);

/** The README's chart. The CPU's own code is the same in all reports; the last one's stands for it. */
const BARS: Readonly<Record<string, string>> = {
  'generic, stored': 'macro/generic/stored',
  'fused, stored': 'macro/fused/stored',
  'fused, in registers': 'macro/fused/registers',
  'direct, in registers': 'macro/direct/registers',
  'CPU, BigInt': 'macro/bigint',
  'CPU, error-free doubles': 'macro/error-free/result',
  'CPU, WebAssembly': 'macro/wasm/result',
};
const series = [
  ...DRIVERS.map((driver) => ({ name: `WebGPU on ${NAMES[driver]}, two cores`, driver, engine: 'webgpu' })),
  { name: 'CPU, one core', driver: DRIVERS.at(-1)!, engine: 'reference' },
].map(({ name, driver, engine }) => ({
  name,
  rates: Object.values(BARS).map((id) => {
    const one = figure(driver, 'normal', id);
    return one?.engine === engine ? one.perSecond : undefined;
  }),
}));
const readme = comparison('macros', 'Million f64 division macros a second', Object.keys(BARS), series);
writeFileSync(new URL(`performance/${readme.name}.svg`, docs), readme.svg);

const path = new URL('performance.md', docs);
const fill = (text: string, name: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`),
    (_, before: string, after: string) => `${before}\n${content}\n\n${after}`,
  );
let text = readFileSync(path, 'utf8');
for (const [name, content] of Object.entries({ machine, kinds, ratios, compiled, rates }))
  text = fill(text, name, content);
writeFileSync(path, text);
