/** A device from a WebGPU adapter, alike in Node and in the browser. How Node comes to an adapter: `adapter.node.ts`. */

/** Which adapter was taken and why: the lines `wave64 info` prints. */
export type AdapterChoice = {
  /** `system`: the machine's own Vulkan, Metal or D3D driver; `swiftshader`: a CPU driver; `none`: no adapter at all. */
  driver: 'system' | 'swiftshader' | 'none';
  /** One line a candidate, in the order of trying, the last one about the adapter taken. */
  reasons: string[];
  /** The adapter in a few words, empty without one. */
  description: string;
  /** True where the adapter runs on the CPU: forms without inlined slow paths are the faster ones there. */
  software: boolean;
};

/** The limits a wavefront kernel may press against: a default device offers less than its adapter has. */
const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupsPerDimension',
] as const;

const WANTED_FEATURES = ['timestamp-query', 'subgroups'] as const;

/**
 * A device with the adapter's own compute limits, and timestamp queries and subgroup operations where it has them.
 * An adapter makes one device; ask for a new adapter for a second one.
 *
 * @throws what `GPUAdapter.requestDevice` throws: the adapter was used before or is lost
 */
export async function openDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  return adapter.requestDevice({
    requiredFeatures: WANTED_FEATURES.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(WANTED_LIMITS.map((limit) => [limit, adapter.limits[limit]])),
  });
}

/** The adapter's name as its driver tells it: description first, else vendor and architecture. */
export function describeAdapter({ info }: Pick<GPUAdapter, 'info'>): string {
  const family = [info.vendor, info.architecture].filter(Boolean).join(' ');
  return info.description || info.device || family || 'unnamed adapter';
}
