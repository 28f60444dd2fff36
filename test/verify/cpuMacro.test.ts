/** What the speed of the CPU is measured with computes what it should: native quotients on normal and special operands. */
import { expect, it } from 'vitest';
import { cpuSubjects, measureCpu } from '../../src/verify/cpuMacro.ts';

it.each(['normal', 'special'] as const)('%s operands: every subject divides (seed 1)', (operands) => {
  for (const { id, run, wrong } of cpuSubjects(operands)) {
    for (let wave = 0; wave < 20; wave++) {
      expect(run(1)).toBe(64);
      expect([id, wrong()]).toEqual([id, 0]);
    }
  }
});

it('rates are positive, and nothing is wrong', () => {
  const figures = measureCpu(cpuSubjects('normal'), 1, 5);
  expect(figures.map(({ id }) => id)).toEqual([
    'macro/bigint',
    'macro/error-free',
    'macro/error-free/result',
    'macro/native',
  ]);
  for (const { perSecond, wrong } of figures) {
    expect(perSecond).toBeGreaterThan(0);
    expect(wrong).toBe(0);
  }
});
