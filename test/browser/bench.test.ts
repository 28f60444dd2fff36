/** The Speed panel in a real headless browser: figures without a mismatch, and charts that have a size. */
import type { Browser } from 'puppeteer';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  await browser?.close();
  await site?.close();
});

it('measures for the seconds asked for and shows table and charts', async () => {
  const { page } = opened;
  await page.$eval('#bench-seconds', (element) => {
    (element as HTMLInputElement).value = '1';
  });
  await page.click('#bench-run');
  await page.waitForSelector('#bench-report img', { timeout: 110_000 });
  expect(await page.$eval('#bench-text', (element) => element.textContent)).toMatch(
    /^\d\d figures, 0 mismatches with the reference$/,
  );
  const ids = await page.$$eval('#bench-report tbody th', (cells) => cells.map((cell) => cell.textContent));
  expect(ids).toEqual(expect.arrayContaining(['macro/fused/stored', 'macro/bigint', 'f64/fma', 'probe/u32-add']));
  await page.waitForFunction(() =>
    [...document.querySelectorAll<HTMLImageElement>('#bench-report img')].every((image) => image.naturalWidth === 900),
  );
  expect(opened.problems).toEqual([]);
});
