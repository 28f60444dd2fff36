import { constants } from 'node:os';
import { join } from 'node:path';
import { findSwiftShader, LOADER, MANIFEST } from './adapter.swiftshader.ts';
import { type AdapterChoice, describeAdapter } from './adapter.ts';

/**
 * The way to a WebGPU adapter in Node: npm `webgpu` (Dawn) over the system's driver where there is a real GPU, else over
 * SwiftShader, which `npm ci` brings. Nothing here is for a browser, which has `navigator.gpu`.
 */

export const DRIVERS = ['auto', 'system', 'swiftshader'] as const;
/** `auto` takes the system's adapter unless it runs on the CPU; the other two take just that driver, whatever it is. */
export type Driver = (typeof DRIVERS)[number];

/**
 * Clearing workgroup memory takes SwiftShader seconds, and kernels write it before they read it. Timestamps are rounded to 0.1 ms
 * lest a page spy on other pages; here they may be exact.
 */
const DAWN_OPTIONS = ['enable-dawn-features=disable_workgroup_init', 'disable-dawn-features=timestamp_quantization'];

/** Keeps a library loaded although Node closes it again, because it is no Node add-on (dlopen(3), RTLD_NODELETE). */
const RTLD_NODELETE = 0x1000;

/**
 * Every instance that gave an adapter. Dawn frees an instance when its object is collected, with devices still at work on
 * it: the process then dies in a mutex. This keeps no process alive.
 */
const instances: GPU[] = [];

export type OpenedGpu =
  | { gpu: GPU; adapter: GPUAdapter; choice: AdapterChoice }
  | { gpu: undefined; adapter: undefined; choice: AdapterChoice };

/**
 * Opens the best adapter there is. Without one `choice.driver` is `none` and `choice.reasons` says why; that is no exception.
 *
 * @param options.driver overrides the environment variable `WAVE64_DRIVER`; both default to `auto`
 * @throws RangeError on a driver name that does not exist
 */
export async function openGpu(options: { driver?: string } = {}): Promise<OpenedGpu> {
  const driver = driverNamed(options.driver ?? process.env.WAVE64_DRIVER ?? 'auto');
  const reasons: string[] = [];
  const dawn = await importDawn(reasons);
  const opened =
    dawn &&
    ((driver !== 'swiftshader' && (await openSystem(dawn, driver, reasons))) ||
      (driver !== 'system' && (await openSwiftShader(dawn, reasons))));
  return (
    opened || {
      gpu: undefined,
      adapter: undefined,
      choice: { driver: 'none', reasons, description: '', software: false },
    }
  );
}

function driverNamed(name: string): Driver {
  const driver = DRIVERS.find((known) => known === name);
  if (!driver) throw new RangeError(`WebGPU driver '${name}' does not exist; there are ${DRIVERS.join(', ')}`);
  return driver;
}

type Dawn = { create(options: string[]): GPU; globals: object };

async function importDawn(reasons: string[]): Promise<Dawn | undefined> {
  try {
    const dawn: Dawn = await import('webgpu');
    Object.assign(globalThis, dawn.globals);
    return dawn;
  } catch (error) {
    const detail = error instanceof Error ? error.message.split('\n')[0] : error;
    reasons.push(`npm webgpu does not load (it is an optional dependency: npm install webgpu): ${detail}`);
    return undefined;
  }
}

/** Loads a library for good; gives the reason when it can't. */
function preload(library: string): string | undefined {
  try {
    process.dlopen({ exports: {} }, library, constants.dlopen.RTLD_NOW | RTLD_NODELETE);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Any library that is no Node add-on ends here, loaded.
    if (!message.includes('did not self-register')) return message;
  }
  return undefined;
}

async function openSystem(dawn: Dawn, driver: Driver, reasons: string[]): Promise<OpenedGpu | undefined> {
  // Asked first, because Dawn would complain on stderr.
  const missing = process.platform === 'linux' ? preload(LOADER) : undefined;
  if (missing) {
    reasons.push(`system: no Vulkan here (${missing})`);
    return undefined;
  }
  const gpu = dawn.create(DAWN_OPTIONS);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    reasons.push('system: Dawn finds no adapter that it accepts');
    return undefined;
  }
  const software = adapter.info.isFallbackAdapter;
  const description = describeAdapter(adapter);
  if (software && driver === 'auto') {
    reasons.push(`system: ${description} runs on the CPU`);
    return undefined;
  }
  reasons.push(`system: ${description}`);
  instances.push(gpu);
  return { gpu, adapter, choice: { driver: 'system', reasons, description, software } };
}

async function openSwiftShader(dawn: Dawn, reasons: string[]): Promise<OpenedGpu | undefined> {
  const found = findSwiftShader(reasons);
  if (!found) return undefined;
  // A loader that the process already has serves as well: it reads these variables each time an instance is made.
  process.env.VK_DRIVER_FILES = process.env.VK_ICD_FILENAMES = join(found.folder, MANIFEST);
  const failure = preload(join(found.folder, LOADER));
  const gpu = failure ? undefined : dawn.create(DAWN_OPTIONS);
  const adapter = await gpu?.requestAdapter();
  if (!gpu || !adapter) {
    reasons.push(`SwiftShader of ${found.origin}: ${failure ?? 'Dawn finds no adapter that it accepts'}`);
    return undefined;
  }
  const description = describeAdapter(adapter);
  reasons.push(`SwiftShader of ${found.origin}: ${description}`);
  instances.push(gpu);
  return { gpu, adapter, choice: { driver: 'swiftshader', reasons, description, software: true } };
}
