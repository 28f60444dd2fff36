/** What WebGPU there is in Node: printed as JSON by a process of its own, since a driver may hang or crash, and keeps Node alive. */
import { openGpu } from '../gpu/adapter.node.ts';
import type { AdapterReport } from './io.ts';

const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupsPerDimension',
] as const;

const { adapter, choice } = await openGpu();
const report: AdapterReport = {
  driver: choice.driver,
  description: choice.description,
  software: choice.software,
  reasons: choice.reasons,
  limits: adapter ? Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]])) : {},
  features: adapter ? [...adapter.features].sort() : [],
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
