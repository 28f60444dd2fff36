/** Worker threads that draw and check: what they report is what this thread reports, differences included, and they end. */
import { afterAll, describe, expect, it } from 'vitest';
import { WorkerChecker } from '../../src/cli/checkers.ts';
import type { BatchStore, Engine } from '../../src/engine.ts';
import { openWebGpuEngine } from '../../src/gpu/engine.node.ts';
import { FileBatch } from '../../src/gpu/wordsFile.node.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { runBulk } from '../../src/verify/bulk.ts';
import { LocalChecker } from '../../src/verify/checker.ts';
import { BATCH_WAVES, type DemonstrationSpec, demonstrationJob } from '../../src/verify/demonstrationJob.ts';
import { WaveState } from '../../src/wavefront/state.ts';
import { scripted } from '../verify/scripted.ts';

const spec: DemonstrationSpec = {
  target: 'gfx90a',
  waveSize: 64,
  profile: 'hardware',
  waves: 2 * BATCH_WAVES + 100,
  withMinimum: false,
  registers: 'steps',
  operands: 'special',
  seed: 5,
  round: 'rne',
};
const job = demonstrationJob(spec);
const workers = [0, 1].map(() => new WorkerChecker({ spec, forms: 'fused', options: {} }));

afterAll(async () => {
  for (const worker of workers) await worker.close();
});

/** The right answer, with a bit of v20 turned in wave 3 of the second batch. */
const second = job.draw(1).vgpr(0, 0);
const wrongOnce = () => {
  const reference = new ReferenceEngine();
  return {
    ...scripted('webgpu'),
    run: async (...[program, state, options]: Parameters<typeof reference.run>) => {
      const result = await reference.run(program, state, options);
      // Threads may draw out of turn.
      if (state.vgpr(0, 0).every((word, lane) => word === second[lane])) result.state.vgpr(3, 20)[7]! ^= 1;
      return result;
    },
  };
};

describe('worker threads', () => {
  it('draw the batches of the job', async () => {
    const drawn = await workers[1]!.draw(2);
    expect(drawn.words).toEqual(job.draw(2).words);
    expect(await workers[1]!.check(2, drawn)).toMatchObject({ waves: 100, lanes: 6400 });
  });

  it('find what the checker of this thread finds', async () => {
    const reference = new ReferenceEngine();
    const inThreads = await runBulk(job, [wrongOnce(), reference], { checkers: workers });
    const here = await runBulk(job, [wrongOnce(), reference], { checkers: [new LocalChecker(job, reference, {})] });
    const { comparison } = inThreads;
    expect(comparison.first).toMatchObject([{ wave: BATCH_WAVES + 3, register: 'v20', lane: 7 }]);
    expect(comparison).toEqual(here.comparison);
    expect([inThreads.wrong, inThreads.lanesDone]).toEqual([1, 64 * spec.waves]);
    expect(here.wrong).toBe(1);
  });

  it('find the same through the store of an engine', async () => {
    const engine = await openWebGpuEngine();
    const [store, reference] = [engine.store!, new ReferenceEngine()];
    const wrongStore: BatchStore = {
      take: (shape) => store.take(shape),
      give: (batch) => store.give(batch),
      run: async (program, batch, options) => {
        const way = new FileBatch(batch);
        const part = new WaveState({ ...batch.shape, waves: 1 });
        way.readPart(part, 0);
        const isSecond = part.vgpr(0, 0).every((word, lane) => word === second[lane]);
        const cost = await store.run(program, batch, options);
        way.readPart(part, 3);
        if (isSecond) part.vgpr(0, 20)[7]! ^= 1;
        way.writePart(part, 3);
        return cost;
      },
    };
    const wrong: Engine = { ...scripted('webgpu'), store: wrongStore };
    const report = await runBulk(job, [wrong, reference], { checkers: workers });
    expect(report.comparison).toMatchObject({
      mismatches: 1,
      first: [{ wave: BATCH_WAVES + 3, register: 'v20', lane: 7 }],
    });
    expect(report).toMatchObject({ wrong: 1, lanesDone: 64 * spec.waves, batchesDone: 3 });
    expect(report.engines[0]!.stages[0]!.lanes).toBe(64 * spec.waves);
    await engine.close();
  });

  it('get the same pairs whatever the size of a batch', () => {
    const [small, large] = [192, 256].map((batchWaves) => demonstrationJob({ ...spec, batchWaves }));
    // Wave 200 of the run.
    expect(small!.draw(1).vectors(8)).toEqual(large!.draw(0).vectors(200));
    expect(small!.draw(1).vectors(8)).not.toEqual(small!.draw(0).vectors(8));
  });

  it('compute alone where no engine is under test', async () => {
    const report = await runBulk(job, [new ReferenceEngine()], { checkers: workers });
    expect(report).toMatchObject({ wrong: 0, lanesDone: 64 * spec.waves, batchesDone: 3 });
    expect(report.engines[0]!.stages[0]!.lanes).toBe(64 * spec.waves);
  });

  it('a worker that ends is a failure of the run', async () => {
    const ending = new WorkerChecker({ spec, forms: 'fused', options: {} });
    const running = runBulk(job, [new ReferenceEngine()], { checkers: [ending] });
    await ending.close();
    expect(await running).toMatchObject({ batchesDone: 0, failure: { kind: 'lost' } });
  });
});
