/** The report's charts as SVG, by Apache ECharts, without a page. */
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { type EChartsCoreOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Figure } from './figure.ts';

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

export interface Chart {
  /** Of its file. */
  readonly name: string;
  readonly svg: string;
}

const WIDTH = 900;

/** The charts that these figures are enough for: rates of all ids, the macro by number of lanes, shares of the bound. */
export function charts(figures: readonly Figure[]): Chart[] {
  if (figures.length === 0) return [];
  const { operands } = figures[0]!;
  const adapter = figures.find(({ engine }) => engine === 'webgpu')?.adapter ?? figures[0]!.adapter;
  const about = `${adapter}, ${operands} operands`;
  const main = mainFigures(figures).filter(({ id }) => !id.startsWith('probe/'));
  const bound = main.filter(({ boundShare }) => boundShare !== null);
  return [
    ...(main.length > 0
      ? [bars('rates', 'Million operations a second', about, main, (f) => f.perSecond / 1e6, 'log')]
      : []),
    ...(bound.length > 0
      ? [bars('bound', "Share of the adapter's bound, %", about, bound, (f) => f.boundShare! * 100, 'value')]
      : []),
    ...scaling(figures, about),
  ];
}

/** Rates of one machine side by side: `rates` has one for each label, where there is one. */
export interface RateSeries {
  readonly name: string;
  readonly rates: readonly (number | undefined)[];
}

/** Bars of several series, as million operations a second. */
export function comparison(
  name: string,
  title: string,
  labels: readonly string[],
  series: readonly RateSeries[],
): Chart {
  const millions = series.map(({ rates }) => rates.map((rate) => rate && Number((rate / 1e6).toPrecision(3))));
  const least = decadeBelow(millions.flat().filter((value) => value !== undefined));
  return render(name, 90 + 46 * labels.length, {
    title: { text: title, left: 12, top: 8 },
    legend: { top: 34, left: 12, itemGap: 28 },
    grid: { left: 190, right: 60, top: 66, bottom: 28 },
    xAxis: { type: 'log', min: least, startValue: least },
    yAxis: { type: 'category', data: labels, inverse: true, axisTick: { show: false } },
    series: series.map((one, i) => ({
      type: 'bar',
      name: one.name,
      barGap: '0%',
      data: millions[i]!.map((value) => value ?? '-'),
      label: { show: true, position: 'right' },
    })),
  });
}

/** The lanes at which subjects with several sizes are compared. */
const MAIN_LANES = 65536;

/** One figure of each id: at 65,536 lanes, or else the first. */
export function mainFigures(figures: readonly Figure[]): Figure[] {
  const best = new Map<string, Figure>();
  for (const figure of figures) if (figure.lanes === MAIN_LANES || !best.has(figure.id)) best.set(figure.id, figure);
  return [...best.values()];
}

function bars(
  name: string,
  title: string,
  about: string,
  figures: readonly Figure[],
  value: (figure: Figure) => number,
  type: 'log' | 'value',
): Chart {
  const shown = figures.toReversed();
  const values = shown.map((figure) => Number(value(figure).toPrecision(3)));
  return render(name, 110 + 22 * shown.length, {
    title: { text: title, subtext: about, left: 12, top: 8 },
    grid: { left: 190, right: 80, top: 70, bottom: 34 },
    xAxis: type === 'log' ? { type, min: decadeBelow(values), startValue: decadeBelow(values) } : { type },
    yAxis: { type: 'category', data: shown.map(({ id }) => id), axisTick: { show: false } },
    series: [
      {
        type: 'bar',
        data: values,
        label: { show: true, position: 'right' },
      },
    ],
  });
}

/** Where the bars of a logarithmic axis begin. */
const decadeBelow = (values: readonly number[]) => 10 ** (Math.ceil(Math.log10(Math.min(...values))) - 1);

/** One line for each id that was measured at several sizes. */
function scaling(figures: readonly Figure[], about: string): Chart[] {
  const ids = [...new Set(figures.map(({ id }) => id))];
  const lines = ids
    .map((id) => ({ id, of: figures.filter((figure) => figure.id === id) }))
    .filter(({ of }) => of.length > 1);
  if (lines.length === 0) return [];
  return [
    render('scaling', 480, {
      title: { text: 'Million division macros a second by lanes', subtext: about, left: 12, top: 8 },
      legend: { top: 62, left: 12, itemGap: 28 },
      grid: { left: 70, right: 40, top: 120, bottom: 50 },
      xAxis: { type: 'log', name: 'lanes', nameLocation: 'middle', nameGap: 28, min: 64 },
      yAxis: { type: 'log' },
      series: lines.map(({ id, of }) => ({
        type: 'line',
        name: id,
        symbolSize: 7,
        data: of.map(({ lanes, perSecond }) => [lanes, Number((perSecond / 1e6).toPrecision(4))]),
      })),
    }),
  ];
}

function render(name: string, height: number, option: EChartsCoreOption): Chart {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: '#ffffff', ...option });
  const svg = chart.renderToSVGString().replace('>', ` role="img"><title>Chart of ${name}</title>`);
  chart.dispose();
  return { name, svg };
}
