/** The visitor's WebGPU device, or why there is none. */
import { describeAdapter, openDevice } from '../gpu/adapter.ts';
import { count, messageOf } from './text.ts';

export type PageGpu =
  | { readonly device: GPUDevice; readonly name: string; readonly software: boolean; readonly facts: string }
  | { readonly device: undefined; readonly reason: string };

/** Opens the adapter that the browser thinks fastest. Having none is no exception: the page then works on the CPU reference. */
export async function openPageGpu(): Promise<PageGpu> {
  if (!('gpu' in navigator))
    return none(
      window.isSecureContext
        ? 'this browser has no WebGPU (Chrome and Edge 113, Safari 26, Firefox 141 and later have it)'
        : 'WebGPU needs https or localhost',
    );
  try {
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) return none('the browser has WebGPU but offers no adapter (blocked driver, or no GPU)');
    const device = await openDevice(adapter);
    const software = adapter.info.isFallbackAdapter;
    return { device, name: nameOf(adapter), software, facts: factsOf(adapter) };
  } catch (error) {
    return none(messageOf(error));
  }
}

const none = (reason: string): PageGpu => ({ device: undefined, reason });

function nameOf(adapter: GPUAdapter): string {
  const { vendor, architecture } = adapter.info;
  const family = [vendor, architecture].filter(Boolean).join(' ');
  const description = describeAdapter(adapter);
  return family && description !== family ? `${description} (${family})` : description;
}

/** The limits that decide how large a batch may be and where LDS can lie. */
function factsOf({ limits, features }: GPUAdapter): string {
  const mebi = (bytes: number) => `${count(Math.floor(bytes / 2 ** 20))} MiB`;
  return [
    `storage bindings to ${mebi(limits.maxStorageBufferBindingSize)}`,
    `workgroups of ${limits.maxComputeInvocationsPerWorkgroup}`,
    `${limits.maxComputeWorkgroupStorageSize / 1024} KiB of workgroup memory`,
    features.has('timestamp-query') ? 'timestamps' : 'no timestamps',
  ].join(' · ');
}
