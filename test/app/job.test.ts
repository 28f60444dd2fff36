/** What the page runs, on the reference: each target's programs assemble and run, and a wave by itself is the wave of its batch. */
import { describe, expect, it } from 'vitest';
import { drawWave, planJob } from '../../src/app/job.ts';
import { runSteps } from '../../src/app/steps.ts';
import { targets } from '../../src/isa/target.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { runStages } from '../../src/verify/job.ts';

const engine = new ReferenceEngine();

describe.each(targets.map((target) => [target.name, target] as const))('%s', (_, target) => {
  it.each(['hardware', 'published'] as const)('divides 1 by 3 in eleven steps, %s profile', async (profile) => {
    const pair = { nHi: 0x3ff00000, nLo: 0, dHi: 0x40080000, dLo: 0 };
    const steps = await runSteps(engine, pair, { target, profile, round: 'rne' });
    expect(steps).toHaveLength(11);
    // v_rcp_f64 of 3: ROCm rocjitsu's table (measured), or correctly rounded as AMD's text has it.
    const reciprocal = profile === 'hardware' ? [0x3fd55555, 0x54000000] : [0x3fd55555, 0x55555555];
    expect([steps[2]!.hi, steps[2]!.lo]).toEqual(reciprocal);
    expect([steps[10]!.hi, steps[10]!.lo]).toEqual([0x3fd55555, 0x55555555]);
    expect(steps.map(({ flag }) => flag)).toEqual([0, 0, ...Array(9).fill(undefined)]);
  });

  it('runs a wave alone as it runs in its batch', async () => {
    const plan = planJob({ target, profile: 'hardware', round: 'rup' }, 37, 5);
    const { state: batch } = await runStages(engine, plan, plan.draw(1), { profile: 'hardware' });
    for (const index of [0, plan.batchWaves - 1]) {
      const start = drawWave(plan, plan.batchWaves + index);
      const { state: alone } = await runStages(engine, plan, start, { profile: 'hardware' });
      for (let register = 0; register < alone.layout.shape.vgprs; register++)
        expect(alone.vgpr(0, register)).toEqual(batch.vgpr(index, register));
      expect(alone.lds(0)).toEqual(batch.lds(index));
      for (let word = 0; word < 16; word++) expect(alone.special(0, word)).toBe(batch.special(index, word));
    }
  });
});

describe('planJob', () => {
  it('covers all waves, the last batch with the rest', () => {
    const plan = planJob({ target: targets[0]!, profile: 'hardware', round: 'rne' }, 37, 5);
    const sizes = Array.from({ length: plan.batches }, (_, batch) => plan.draw(batch).layout.shape.waves);
    expect(sizes.reduce((a, b) => a + b)).toBe(37);
    expect(sizes.at(-1)).toBe(1);
  });
});
