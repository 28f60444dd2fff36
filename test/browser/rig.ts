/** The built page on a local server, and a headless Chromium with or without WebGPU. Nothing else of the network is touched. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser, type Page } from 'puppeteer';
import { build, preview } from 'vite';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/** Builds the page as `npm run build` does, but into a temporary folder, and serves it on a free port of 127.0.0.1. */
export async function serveBuild(): Promise<Site> {
  const outDir = mkdtempSync(join(tmpdir(), 'wave64-page-'));
  const shared = { root: ROOT, logLevel: 'error' } as const;
  await build({ ...shared, build: { outDir, emptyOutDir: true } });
  const server = await preview({ ...shared, build: { outDir }, preview: { host: '127.0.0.1', port: 0, open: false } });
  return {
    url: server.resolvedUrls!.local[0]!,
    close: async () => {
      await server.close();
      rmSync(outDir, { recursive: true });
    },
  };
}

const QUIET = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** With fewer of these compute works, but a canvas stays blank. Dawn otherwise spends seconds on clearing workgroup memory. */
const WEBGPU = [
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  '--use-vulkan=swiftshader',
  '--use-angle=swiftshader',
  '--enable-dawn-features=disable_workgroup_init',
];

/** The Chromium that npm brings, else the system's. */
export async function launchChromium({ webgpu }: { webgpu: boolean }): Promise<Browser> {
  const candidates = [process.env.CHROMIUM, () => chromium.executablePath(), '/usr/bin/chromium'];
  const failures: string[] = [];
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    try {
      const executablePath = typeof candidate === 'string' ? candidate : await candidate();
      const args = webgpu ? [...QUIET, ...WEBGPU] : QUIET;
      return await puppeteer.launch({ executablePath, args, headless: true, timeout: 20_000 });
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`no Chromium starts:\n${failures.join('\n')}`);
}

export interface OpenPage {
  readonly page: Page;
  /** Errors on the page's console, uncaught errors, failed requests, requests that leave 127.0.0.1. */
  readonly problems: readonly string[];
}

/** The page once its panels stand. @param prepare called before it is loaded */
export async function openPage(
  browser: Browser,
  url: string,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<OpenPage> {
  const page = await browser.newPage();
  await prepare?.(page);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error instanceof Error ? error.message : error}`));
  page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') problems.push(`leaves 127.0.0.1: ${request.url()}`);
  });
  await page.setViewport({ width: 1440, height: 1000 });
  await page.goto(url);
  await page.waitForSelector('html[data-ready]', { timeout: 20_000 });
  return { page, problems };
}

/** A screenshot, to be read pixel by pixel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** 24-bit colour. */
  at(x: number, y: number): number;
}

/** Resolves when what the page has drawn until now should be on the screen: a screenshot shows the last frame, however old. */
export const presented = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

/** What a rectangle of the page looks like, in CSS pixels, as the browser puts it on a screen. */
export async function pictureOf(page: Page, selector: string): Promise<Picture> {
  await presented(page);
  const element = await page.$(selector);
  const png = await element!.screenshot({ encoding: 'base64' });
  // The browser that made the PNG decodes it, too.
  const { width, height, data } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
    context.drawImage(bitmap, 0, 0);
    const pixels = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    let text = '';
    for (let i = 0; i < pixels.length; i += 0x8000) text += String.fromCharCode(...pixels.subarray(i, i + 0x8000));
    return { width: bitmap.width, height: bitmap.height, data: btoa(text) };
  }, png);
  const rgba = Buffer.from(data, 'base64');
  return { width, height, at: (x, y) => rgba.readUIntBE(4 * (Math.floor(y) * width + Math.floor(x)), 3) };
}
