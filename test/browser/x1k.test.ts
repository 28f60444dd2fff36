/**
 * The page's X1K panel in a real headless browser: its examples on WebGPU and the CPU reference, among them MIN(+0, -0), the dot product's
 * loss and RSQ(-0) of the ATI CTM Guide v1.01 p. 42; a program typed in; errors with their place.
 */
import type { Browser } from 'puppeteer';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { x1kExamples, x1kRegisters } from '../../src/program/x1k/examples.ts';
import { launchChromium, type OpenPage, openPage, type Site, serveBuild } from './rig.ts';

let site: Site;
let browser: Browser;
let opened: OpenPage;

beforeAll(async () => {
  site = await serveBuild();
  browser = await launchChromium({ webgpu: true });
  opened = await openPage(browser, site.url);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});
afterEach(() => {
  expect(opened.problems).toEqual([]);
});

/** What the panel shows once `caption` or an error is there: each register's last row, as hex words. */
async function shown(): Promise<{ caption: string; registers: Map<number, string> }> {
  const { page } = opened;
  await page.waitForSelector('#x1k-result caption', { timeout: 30_000 });
  const caption = await page.$eval('#x1k-result caption', (element) => element.textContent ?? '');
  const rows = await page.$$eval('#x1k-result tbody tr', (list) =>
    list.map((row) => [
      row.querySelector('th')!.textContent ?? '',
      [...row.querySelectorAll('code')].map((code) => code.textContent).join(' '),
    ]),
  );
  return { caption, registers: new Map(rows.map(([name, words]) => [Number(name!.slice(1)), words!])) };
}

const empty = () => opened.page.$eval('#x1k-result', (box) => box.replaceChildren());
const hex = (words: readonly number[]) => words.map((word) => word.toString(16).padStart(8, '0')).join(' ');

it.each(x1kExamples.map(({ title }, index) => [title, index] as const))('%s', async (_, index) => {
  const { page } = opened;
  await empty();
  // The first example stands there from the start.
  if (index === 0) await page.click('#x1k-run');
  else await page.select('#x1k-example', String(index));
  const { caption, registers } = await shown();
  expect(caption).toContain('WebGPU and the CPU reference: 0 mismatches');
  const promised = x1kRegisters(x1kExamples[index]!.text, '->');
  for (const [register, words] of promised) expect(registers.get(register)).toBe(hex(words));
});

it('the examples are those of the guide: MIN(+0, -0), the loss, RSQ(-0)', () => {
  const titles = x1kExamples.map(({ title }) => title).join('\n');
  for (const part of ['MIN(+0, -0) is -0', "The dot product's loss", 'RSQ(-0) is +Inf']) expect(titles).toContain(part);
});

it('runs what is typed, and says where it is wrong', async () => {
  const { page } = opened;
  const type = async (text: string) => {
    await empty();
    await page.$eval(
      '#x1k-text',
      (area, to) => {
        (area as HTMLTextAreaElement).value = to;
      },
      text,
    );
    await page.click('#x1k-run');
  };
  await type('; r0 = 40800000 00000000 00000000 80000000\nrcp r1.xy, r0.x *2\npred_eq r0.w\n');
  const { caption, registers } = await shown();
  expect(caption).toContain('predicate (VCC): 1');
  expect(registers.get(1)).toBe('3f000000 3f000000 00000000 00000000');
  await type('rcp r1, r0.x\nmul r1, r0, r0\n');
  await page.waitForSelector('#x1k-result .error');
  expect(await page.$eval('#x1k-result .error', (line) => line.textContent)).toContain(
    "program:2:1: unknown operation 'mul'",
  );
});
