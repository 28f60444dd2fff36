/** What the speed of the CPU is measured with computes what it should: native quotients on normal and special operands. */
import { expect, it } from 'vitest';
import { cpuSubjects } from '../../src/verify/cpuMacro.ts';

it.each(['normal', 'special'] as const)('%s operands: every subject divides (seed 1)', (operands) => {
  for (const { id, run, wrong } of cpuSubjects(operands)) {
    for (let wave = 0; wave < 20; wave++) {
      expect(run(1)).toBe(64);
      expect([id, wrong()]).toEqual([id, 0]);
    }
  }
});

it('the subjects are those of the bench, and nothing is wrong after rounds of waves', () => {
  const subjects = cpuSubjects('normal');
  expect(subjects.map(({ id }) => id)).toEqual([
    'macro/bigint',
    'macro/error-free',
    'macro/error-free/result',
    'macro/wasm',
    'macro/wasm/result',
    'macro/native',
  ]);
  for (const { run, wrong } of subjects) {
    expect(run(8)).toBe(8 * 64);
    expect(wrong()).toBe(0);
  }
});
