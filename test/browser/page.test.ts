/**
 * The page in a real headless browser: its WebGPU result equals the reference, the map shows the right colours, and without WebGPU
 * everything still works on the reference and says so. Each test leaves no error on the console and no request beyond 127.0.0.1.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Browser, Page } from 'puppeteer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { colourOf, decidePair, nameOf } from '../../src/app/decision.ts';
import { findTarget, type Profile } from '../../src/isa/target.ts';
import { demonstrationShape } from '../../src/verify/demonstration.ts';
import { Layout } from '../../src/wavefront/layout.ts';
import { KERNEL_MODE } from '../../src/wavefront/mode.ts';
import {
  launchChromium,
  type OpenPage,
  openPage,
  type Picture,
  pictureOf,
  presented,
  type Site,
  serveBuild,
} from './rig.ts';

const target = findTarget('gfx90a');

let site: Site;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  site = await serveBuild();
});
afterAll(() => site.close());
afterEach(() => {
  expect(opened.problems).toEqual([]);
});

const text = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '');

/** A browser for the tests of one block, and the page in it. */
function withBrowser(webgpu: boolean, prepare?: (page: Page) => Promise<unknown>): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium({ webgpu });
    opened = await openPage(browser, site.url, prepare);
    page = opened.page;
  });
  afterAll(() => browser.close());
}

/** Puts a value into a control as a person would: its events fire. */
const fill = (selector: string, value: string) =>
  page.$eval(
    selector,
    (element, to) => {
      const control = element as HTMLInputElement | HTMLSelectElement;
      control.value = to;
      for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, { bubbles: true }));
    },
    value,
  );

/** Runs so many waves and waits for the verdict. */
async function runJob(waves: number, seed: number): Promise<void> {
  await fill('#waves', String(waves));
  await fill('#seed', String(seed));
  await page.click('#run');
  await page.waitForSelector('#verdict:not([hidden])', { timeout: 60_000 });
  await page.waitForFunction(`document.querySelectorAll('#lanes tbody tr').length === 64`, { timeout: 30_000 });
}

/** The hex digits of the lane table, `cells[lane][column]`. */
const laneCells = () =>
  page.$$eval('#lanes tbody tr', (rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')),
  );

const doubleOf = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE();

/** Numerator over denominator by JavaScript's own division, for each lane of the table. */
async function expectQuotients(): Promise<void> {
  const cells = await laneCells();
  expect(cells).toHaveLength(64);
  for (const [numerator, denominator, ...rest] of cells)
    expect(doubleOf(rest[7]!)).toBe(doubleOf(numerator!) / doubleOf(denominator!));
}

/** Scale and origin of the map's view, once the picture of it is there. */
async function view(): Promise<{ scale: number; x: number; y: number }> {
  await page.waitForSelector('#map[data-view]', { timeout: 20_000 });
  const [scale, x, y] = (await page.$eval('#map', (map) => (map as HTMLElement).dataset.view!)).split(' ').map(Number);
  return { scale: scale!, x: x!, y: y! };
}

/** The pixel of the middle of a cell. */
async function pixelOf(n: number, d: number): Promise<[number, number]> {
  const { scale, x, y } = await view();
  return [x + (n + 0.5) * scale, y - (d + 0.5) * scale];
}

async function pictureOfMap(profile: Profile): Promise<Picture> {
  await page.waitForSelector(`#map[data-profile=${profile}][data-view]`, { timeout: 20_000 });
  return pictureOf(page, '#map');
}

/**
 * The map's colour at pairs, against the CPU's decision; pairs stand well inside their region. A busy machine may present the
 * new picture late, so that the old one is looked at again.
 */
const expectColours = (profile: Profile, pairs: readonly (readonly [number, number])[]): Promise<void> =>
  vi.waitFor(
    async () => {
      const picture = await pictureOfMap(profile);
      const seen = new Set<number>();
      for (const [n, d] of pairs) {
        const code = decidePair({ nHi: n << 20, nLo: 0, dHi: d << 20, dLo: 0 }, KERNEL_MODE, { target, profile });
        const colour = picture.at(...(await pixelOf(n, d)));
        seen.add(colour);
        expect(colour.toString(16), `${profile}, exponents ${n}, ${d}: ${nameOf(code)}`).toBe(
          colourOf(code).toString(16),
        );
      }
      expect(seen.size).toBeGreaterThan(3);
    },
    { timeout: 15_000, interval: 300 },
  );

const hardwarePairs = [
  [1023, 1023],
  [1900, 300],
  [100, 1700],
  [20, 400],
  [1000, 1000],
  [300, 1060],
  [1500, 900],
] as const;
const publishedPairs = [...hardwarePairs, [20, 1600], [400, 1436], [100, 1136]] as const;

/** The steps of one division as published with this project: n d ds f ns f r0 e0 r1 e1 r2 q t p result. */
const stepRows = gunzipSync(readFileSync(new URL('../isa/data/steps-hw-rne.txt.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => line.split(' '));

const shownSteps = () =>
  page.$$eval('#steps tbody tr', (rows) =>
    rows.map((row) => ({
      text: row.querySelector('code')?.textContent ?? '',
      bits: row.querySelector('.bits')?.textContent ?? '',
      vcc: row.querySelector('td:last-child')?.textContent ?? '',
    })),
  );

describe('with WebGPU', () => {
  withBrowser(true);

  it('reports the adapter', async () => {
    expect(await text('#adapter')).toMatch(/^WebGPU: .*swiftshader/i);
    expect(await page.$eval('#adapter', (line) => (line as HTMLElement).dataset.engine)).toBe('webgpu');
  });

  it('runs the job on WebGPU and on the reference: every register is equal', async () => {
    await runJob(160, 7);
    const { mismatches, words } = await page.$eval('#report', (report) => ({ ...(report as HTMLElement).dataset }));
    expect(mismatches).toBe('0');
    expect(Number(words)).toBeGreaterThan(160 * 64 * 24);
    expect(await text('#verdict')).toMatch(/^0 mismatches in .* of 160 wavesAll 10,240 quotients are JavaScript/);
    expect(await text('#report')).toMatch(/WebGPU.*CPU reference.*division macros\/s.*LDS minima\/s/);
    expect(await text('#report caption')).toBe(`Throughput, the reference in ${await workersOf(page)}`);
    expect(await text('#report details')).toMatch(/v_div_scale_f64modelled.*ds_min_rtn_f64/);
  });

  it('shows the 64 lanes of a wave, as bits or in decimal, and other waves on demand', async () => {
    await expectQuotients();
    expect(await page.$$('#lanes .differs')).toHaveLength(0);
    const first = await laneCells();
    await fill('#wave', '159');
    await page.waitForFunction(`document.querySelector('#lanes-note').textContent.startsWith('Wave 159 ')`);
    await expectQuotients();
    expect((await laneCells())[0]).not.toEqual(first[0]);
    await page.click('input[value=decimal]');
    const [decimal] = await laneCells();
    const title = await page.$eval('#lanes td', (cell) => cell.title);
    expect(decimal![0]).toBe(String(doubleOf(title)));
    await page.click('input[value=hex]');
  });

  it('stops between batches when asked to, and runs again', async () => {
    await fill('#waves', '3000');
    await page.click('#run');
    await page.waitForSelector('#cancel:not(:disabled)');
    await page.click('#cancel');
    await page.waitForSelector('#verdict:not([hidden])', { timeout: 60_000 });
    const [, waves] = (await text('#verdict')).match(/^0 mismatches in .*Cancelled after ([\d,]+) waves\.$/) ?? [];
    const done = Number(waves!.replace(',', ''));
    expect(done % 188).toBe(0); // whole batches, a sixteenth of the job each
    expect(done).toBeLessThan(3000);
    await runJob(160, 8);
    expect(await text('#verdict')).toMatch(/^0 mismatches in .* of 160 waves/);
  });

  it('draws the decisions of the hardware profile', async () => {
    await expectColours('hardware', hardwarePairs);
  });

  it('draws those of the published profile after the switch', async () => {
    await page.click('input[value=published]');
    await expectColours('published', publishedPairs);
    await page.click('input[value=hardware]');
    await pictureOfMap('hardware');
  });

  it('pans by dragging and keys, zooms by the wheel about the pointer', async () => {
    const map = (await (await page.$('#map'))!.boundingBox())!;
    const before = await view();
    await page.mouse.move(map.x + 200, map.y + 200);
    await page.mouse.down();
    await page.mouse.move(map.x + 240, map.y + 170, { steps: 4 });
    await page.mouse.up();
    const dragged = await view();
    expect([dragged.x - before.x, dragged.y - before.y]).toEqual([40, -30].map((d) => expect.closeTo(d, 3)));
    await page.mouse.wheel({ deltaY: -600 });
    const closer = await view();
    expect(closer.scale).toBeGreaterThan(2 * dragged.scale);
    // The pointer's place on the plane stays under it, within the pixel that wheel events are rounded to.
    const under = [(240 - dragged.x) / dragged.scale, (dragged.y - 170) / dragged.scale] as const;
    const after = [closer.x + under[0] * closer.scale, closer.y - under[1] * closer.scale];
    for (const [i, pixel] of [240, 170].entries()) expect(Math.abs(after[i]! - pixel)).toBeLessThan(2.5);
    await page.focus('#map');
    await page.keyboard.press('ArrowRight');
    expect((await view()).x).toBeCloseTo(closer.x - 40, 3);
    await page.keyboard.press('0');
    expect(await view()).toEqual(before);
  });

  it('zooms by pinching, about the fingers', async () => {
    const map = (await (await page.$('#map'))!.boundingBox())!;
    const before = await view();
    const [x, y] = [map.x + 200, map.y + 200];
    const left = await page.touchscreen.touchStart(x - 40, y);
    const right = await page.touchscreen.touchStart(x + 40, y);
    await right.move(x + 120, y);
    await left.move(x - 120, y);
    await left.end();
    await right.end();
    const after = await view();
    expect(after.scale / before.scale).toBeCloseTo(3, 3);
    const middle = (200 - before.x) / before.scale;
    expect(after.x + middle * after.scale).toBeCloseTo(200, 0);
    await page.click('#zoom-reset');
    expect(await view()).toEqual(before);
  });

  it('says what is under the pointer, and nothing moves when it leaves', async () => {
    const map = (await (await page.$('#map'))!.boundingBox())!;
    const button = async () => (await (await page.$('#zoom-reset'))!.boundingBox())!;
    const before = await button();
    const [x, y] = (await pixelOf(100, 1700)).map(Math.round) as [number, number];
    await page.mouse.move(map.x + x, map.y + y);
    await page.waitForFunction(`document.querySelector('#map-hover strong')`);
    expect(await text('#map-hover')).toMatch(/^numerator0\w{15}denominator6\w{15}exponents.*numerator × 2¹²⁸, VCC$/);
    expect(await button()).toEqual(before);
    await page.mouse.move(5, 5);
    await page.waitForFunction(`document.querySelector('#map-hover').textContent === 'Point at the map.'`);
    expect(await button()).toEqual(before);
  });

  it('shows the thin rules at the edge of the plane when zoomed in', async () => {
    await zoomTo(1278, 2045);
    await expectColours('hardware', [
      [1275, 2044],
      [1285, 2044],
      [1276, 2045],
      [1277, 2046],
      [1279, 2045],
      [1277, 2047],
      [1290, 2047],
    ]);
    await page.click('#zoom-reset');
  });

  it('runs the macro on a clicked pair: eleven steps with the published bits', async () => {
    const rows = stepRows.filter(([n, d]) => /^[0-7]/.test(n!) && /^[0-7]/.test(d!));
    const scaled = rows.find(([, , , flag]) => flag === '1')!;
    const plain = rows.find(([, , , flag]) => flag === '0')!;
    for (const [engine, row] of [
      ['0', scaled],
      ['1', plain],
    ] as const) {
      const [n, d, ds, f, ns, , ...rest] = row;
      await fill('#n-fraction', n!.slice(3));
      await fill('#d-fraction', d!.slice(3));
      await fill('#steps-engine', engine);
      const cell = [n!, d!].map((bits) => Number.parseInt(bits.slice(0, 3), 16)) as [number, number];
      await zoomTo(...cell);
      const map = (await (await page.$('#map'))!.boundingBox())!;
      const [x, y] = await pixelOf(...cell);
      await page.$eval('#steps', (steps) => steps.replaceChildren());
      await page.mouse.click(map.x + x, map.y + y);
      await page.waitForSelector('#steps table', { timeout: 30_000 });
      const shown = await shownSteps();
      expect(shown.map(({ bits }) => bits)).toEqual([ds, ns, ...rest]);
      expect(shown.map(({ vcc }) => vcc)).toEqual([f, f, ...Array(9).fill('')]);
      expect(shown[0]!.text).toBe('v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]');
      await page.click('#zoom-reset');
    }
  });

  it('is no blank picture; a copy goes to the temporary folder', async () => {
    expect((await view()).scale).toBeLessThan(1);
    await page.evaluate(() => scrollTo(0, 0));
    await presented(page);
    await page.screenshot({ path: join(tmpdir(), 'wave64-page.png') });
    expect(coloursOf(await pictureOf(page, '#verdict'))).toBeGreaterThan(5);
    expect(coloursOf(await pictureOf(page, '#map'))).toBeGreaterThanOrEqual(5);
  });

  it('fits a narrow window without scrolling sideways', async () => {
    await page.setViewport({ width: 390, height: 840 });
    const { scrollWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth }));
    expect(scrollWidth).toBe(390);
  });
});

/** Distinct colours of a picture, a sample every few pixels. */
function coloursOf(picture: Picture): number {
  const colours = new Set<number>();
  for (let y = 0; y < picture.height; y += 3) for (let x = 0; x < picture.width; x += 3) colours.add(picture.at(x, y));
  return colours.size;
}

/** Drags a pair to the middle of the map and zooms in until a cell is several pixels wide. */
async function zoomTo(n: number, d: number): Promise<void> {
  const map = (await (await page.$('#map'))!.boundingBox())!;
  const inside = (at: number, length: number) => Math.min(Math.max(at, 1), length - 1);
  const [x, y] = await pixelOf(n, d);
  await page.mouse.move(map.x + inside(x, map.width), map.y + inside(y, map.height));
  await page.mouse.down();
  await page.mouse.move(map.x + map.width / 2, map.y + map.height / 2);
  await page.mouse.up();
  await page.mouse.wheel({ deltaY: -2400 });
  expect((await view()).scale).toBeGreaterThan(4);
}

/** How many workers check a long job in this browser. */
const workersOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const workers = Math.min(navigator.hardwareConcurrency, 8);
    return `${workers} Web Worker${workers === 1 ? '' : 's'}`;
  });

describe('when the engines differ', () => {
  // Jobs of 16 waves run in batches of one.
  const word = new Layout(demonstrationShape(target, 64, 1)).vgpr(0, 8) + 5;
  // v8 of lane 5 changes on its way between the page and a worker: to be checked, or computed for the lanes.
  withBrowser(true, (page) =>
    page.evaluateOnNewDocument((at) => {
      Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => 3 });
      globalThis.Worker = class extends Worker {
        constructor(...parameters: ConstructorParameters<typeof Worker>) {
          super(...parameters);
          this.addEventListener('message', ({ data }) => {
            if (data.answer.words) data.answer.words[at] = 0xdeadbeef;
          });
        }
        override postMessage(
          message: { question: { output?: { words: Uint32Array } } },
          transfer?: Transferable[] | StructuredSerializeOptions,
        ) {
          const { output } = message.question;
          if (output) output.words[at] = 0xbadc0de5;
          super.postMessage(message, transfer as StructuredSerializeOptions);
        }
      };
    }, word),
  );

  it('three workers count and list the mismatches, and the lanes mark them', async () => {
    await runJob(16, 1);
    expect(await text('#verdict')).toMatch(/^16 mismatches in /);
    expect(await text('#report caption')).toBe('Throughput, the reference in 3 Web Workers');
    expect(await page.$eval('#verdict', (box) => (box as HTMLElement).dataset.verdict)).toBe('differs');
    const listed = await page.$$eval('.differences li', (items) => items.map((item) => item.textContent));
    expect(listed).toHaveLength(16);
    for (const [wave, line] of listed.entries())
      expect(line).toMatch(new RegExp(`^wave ${wave} v8 lane 5: webgpu badc0de5, reference [0-9a-f]{8}$`));
    const marked = await page.$$eval('#lanes .differs', (cells) =>
      cells.map((cell) => [cell.closest('tr')!.rowIndex, (cell as HTMLElement).title]),
    );
    expect(marked).toEqual([[6, expect.stringMatching(/; reference [0-9a-f]{8}deadbeef$/)]]);
  });
});

describe('when a worker that checks fails', () => {
  withBrowser(true, (page) =>
    page.evaluateOnNewDocument(() => {
      Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => 3 });
      const broken = new Blob(['onmessage = () => { throw new Error("no memory") }'], { type: 'text/javascript' });
      let opened = 0;
      // The page's own reference is the first, then come those that check.
      globalThis.Worker = class extends Worker {
        constructor(script: string | URL, options?: WorkerOptions) {
          super(opened++ === 2 ? URL.createObjectURL(broken) : script, options);
        }
      };
    }),
  );

  it('says so in one line, and the next runs have new ones', async () => {
    await runJob(160, 7);
    expect(await text('#verdict')).toMatch(/^a worker that checks failed: .*no memory/);
    for (const waves of [160, 50]) {
      await runJob(waves, 8);
      expect(await text('#verdict')).toMatch(new RegExp(`^0 mismatches in .* of ${waves} waves`));
    }
  });
});

describe('without WebGPU', () => {
  withBrowser(false);

  it('says so, and why', async () => {
    expect(await text('#adapter')).toMatch(/^WebGPU is not available here: running on the CPU reference\.Why: .+/);
  });

  it('runs the job on the reference alone, with right quotients, and shows its lanes', async () => {
    await runJob(16, 3);
    expect(await text('#report caption')).toBe(`Throughput, the reference in ${await workersOf(page)}`);
    expect(await text('#verdict')).toMatch(
      /^1,024 lanes on the CPU reference, compared with nothingAll 1,024 quotients are/,
    );
    await expectQuotients();
  });

  it('draws the map by the CPU body, in both profiles', async () => {
    await expectColours('hardware', hardwarePairs);
    await page.click('input[value=published]');
    await expectColours('published', publishedPairs);
  });

  it('runs the macro on the pair of the form: 1/3', async () => {
    await page.click('input[value=hardware]');
    await page.click('#run-pair');
    await page.waitForSelector('#steps table');
    const shown = await shownSteps();
    // The reciprocal of 3 by the table of ROCm rocjitsu (amdgpu_rcp.h, measured), and 1/3 rounded to nearest even.
    expect([shown[2]!.bits, shown[10]!.bits]).toEqual(['3fd5555554000000', '3fd5555555555555']);
  });
});
