/** Probes do what they say, by the counter of operations: their kind, and what stands beside it. */
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../src/bench/kinds.ts';
import { countOperations } from '../../src/bench/operations.ts';
import { BOUND_PROBES, MEMORY_PROBES, OPERATION_PROBES, stepOf } from '../../src/bench/probes.ts';

const counted = (source: string) =>
  countOperations(`@group(0) @binding(1) var<storage, read_write> vgprs: array<u32>;\n${source}`, 'work');

describe('probes', () => {
  /** Part of a probe that may be loop, start and end. */
  const SLACK = 0.06;

  it.each(KINDS)('%s: as many as it is taken for, and little else', (kind) => {
    const { source, work } = OPERATION_PROBES.find(({ id }) => id === `probe/${kind}`)!;
    const { operations, openLoops } = counted(source);
    const { count, besides } = stepOf(kind);
    expect(openLoops).toBe(0);
    for (const other of KINDS) {
      const steps = work / count;
      const expected = steps * ((other === kind ? count : 0) + (besides[other] ?? 0));
      expect(operations[other] ?? 0, other).toBeGreaterThanOrEqual(expected);
      expect(operations[other] ?? 0, other).toBeLessThanOrEqual(expected + SLACK * steps);
    }
  });

  it.each(['read', 'write', 'copy'])('memory/%s: so many bytes', (way) => {
    const { source, work } = MEMORY_PROBES.find(({ id }) => id === `probe/memory/${way}`)!;
    const { reads, writes } = counted(source);
    const bytes = { read: reads.vgprs, write: writes.vgprs, copy: reads.vgprs! + writes.vgprs! }[way];
    expect(bytes).toBe(work);
  });

  it('those of the bound exist', () => {
    const ids = [...OPERATION_PROBES, ...MEMORY_PROBES].map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...BOUND_PROBES]));
  });
});
