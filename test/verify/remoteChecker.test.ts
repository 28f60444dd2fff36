/** A checker behind a port: it reports what the checker there reports, storage goes back and forth, and failures end in one error. */
import { describe, expect, it, vi } from 'vitest';
import { EngineError, type StoredBatch } from '../../src/engine.ts';
import { findTarget } from '../../src/isa/target.ts';
import { makeProgram } from '../../src/program/make.ts';
import { runBulk } from '../../src/verify/bulk.ts';
import { LocalChecker } from '../../src/verify/checker.ts';
import type { Job } from '../../src/verify/job.ts';
import {
  type CheckPort,
  type CheckThread,
  checkCalls,
  RemoteChecker,
  serveChecks,
} from '../../src/verify/remoteChecker.ts';
import type { Shape } from '../../src/wavefront/layout.ts';
import { type Batch, WaveState } from '../../src/wavefront/state.ts';
import { scripted } from './scripted.ts';

const shape = { waveSize: 64, waves: 2, wavesPerGroup: 1, vgprs: 1, sgprs: 0, ldsWords: 0 } as const;
const program = makeProgram(findTarget('gfx90a'), 64, [], new Map());

/** Batch k of the job holds `first` + k in every lane of v0. */
interface Setting {
  readonly first: number;
  readonly batches: number;
}

const jobOf = ({ first, batches }: Setting): Job => ({
  stages: [{ name: 'lanes', program }],
  batches,
  draw: (batch, pool) => {
    const state = WaveState.start(shape, pool?.take(shape).words);
    for (const wave of [0, 1]) state.vgpr(wave, 0).fill(first + batch);
    return state;
  },
  parts: {
    shapeOf: () => shape,
    draw: (part, batch) => {
      WaveState.start(shape, part.words);
      for (const wave of [0, 1]) part.vgpr(wave, 0).fill(first + batch);
    },
  },
  countWrong: (state, input) => Number(state.words.some((word, at) => word !== input.words[at])),
});

/** Both ends of a way that moves what it is told to move, as threads have it. */
function way() {
  const listeners: { page?: (message: never) => void; worker?: (message: never) => void } = {};
  const moved: ArrayBuffer[] = [];
  let tellFailure = (_why: string) => {};
  const post = (to: keyof typeof listeners) => (message: unknown, transfer: ArrayBuffer[]) => {
    const copy = structuredClone(message, { transfer });
    moved.push(...transfer);
    setTimeout(() => listeners[to]?.(copy as never));
  };
  const thread: CheckThread<Setting> = {
    send: post('worker'),
    receive: (take) => {
      listeners.page = take;
    },
    failed: (tell) => {
      tellFailure = tell;
    },
    end: async () => {
      delete listeners.worker;
    },
  };
  const port: CheckPort<Setting> = {
    send: post('page'),
    receive: (take) => {
      listeners.worker = take;
    },
  };
  const die = (why: string) => {
    delete listeners.worker;
    tellFailure(why);
  };
  return { thread, port, moved, die };
}

const setting: Setting = { first: 5, batches: 12 };
const local = (given: Setting) => new LocalChecker(jobOf(given), scripted('reference'), {});

/** A store in this thread's memory, by the places of its batches. */
function storeOf(change: (state: WaveState) => void = () => {}) {
  const states: WaveState[] = [];
  const taken = new Set<number>();
  const store = {
    taken,
    take: (of: Shape): StoredBatch => {
      const at = states.push(new WaveState(of)) - 1;
      taken.add(at);
      return { shape: of, file: 0, at };
    },
    give: ({ at }: StoredBatch) => void taken.delete(at),
    run: async (_: unknown, { at }: StoredBatch) => {
      change(states[at]!);
      return { totalMs: 3 };
    },
  };
  return { store, reach: ({ at }: StoredBatch): Batch => states[at]! };
}

function remote(open = local) {
  const { thread, port, moved, die } = way();
  serveChecks(port, open);
  const calls = checkCalls(thread);
  return { checker: new RemoteChecker(calls, setting), calls, moved, die };
}

/** Turns a bit of lane 9 in the batch that holds 8: the fourth. */
const wrongOnce = () =>
  scripted('webgpu', (state) => {
    const v0 = state.vgpr(1, 0);
    if (v0[9] === 8) v0[9] = 12;
  });

describe('checkers in other threads', () => {
  it('report what this thread reports, in the order of the batches', async () => {
    const remotes = [remote(), remote(), remote()];
    const engines = () => [wrongOnce(), scripted('reference')] as const;
    const there = await runBulk(jobOf(setting), engines(), { checkers: remotes.map(({ checker }) => checker) });
    const here = await runBulk(jobOf(setting), engines(), { checkers: [local(setting)] });
    expect(there.comparison).toMatchObject({ mismatches: 1, first: [{ wave: 7, lane: 9, a: 12, b: 8 }] });
    expect(there.comparison).toEqual(here.comparison);
    expect(there).toMatchObject({ wrong: 1, batchesDone: 12, lanesDone: 12 * 128, wavesDone: 24 });
  });

  it('get storage and give it back: none is copied or lost', async () => {
    const { checker, moved } = remote();
    const first = await checker.draw(0);
    const output = first.clone();
    await checker.check(0, output);
    expect(output.words.buffer.byteLength).toBe(0);
    expect(moved.every((buffer) => buffer.byteLength === 0)).toBe(true);
    expect([checker.pool.spare(), checker.pool.spare(), checker.pool.spare()]).toEqual([
      expect.any(WaveState),
      expect.any(WaveState),
      undefined,
    ]);
  });

  it('draw into a store and check what lies there; no words are sent', async () => {
    const { store, reach } = storeOf((state) => {
      const v0 = state.vgpr(1, 0);
      if (v0[9] === 8) v0[9] = 12;
    });
    const { thread, port, moved } = way();
    serveChecks(port, local, reach);
    const checker = new RemoteChecker(checkCalls(thread), setting);
    const engines = [{ ...scripted('webgpu'), store }, scripted('reference')] as const;
    const report = await runBulk(jobOf(setting), engines, { checkers: [checker] });
    expect(report.comparison).toMatchObject({ mismatches: 1, first: [{ wave: 7, lane: 9, a: 12, b: 8 }] });
    expect(report).toMatchObject({ wrong: 1, batchesDone: 12, lanesDone: 12 * 128, wavesDone: 24 });
    expect(moved).toEqual([]);
    expect(store.taken.size).toBe(0);
  });

  it('in a thread that reaches no store say so', async () => {
    const { store } = storeOf();
    const engines = [{ ...scripted('webgpu'), store }, scripted('reference')] as const;
    const running = runBulk(jobOf(setting), engines, { checkers: [remote().checker] });
    await expect(running).rejects.toThrow('a stored batch that its thread does not reach');
  });

  it('do one job after another', async () => {
    const { checker, calls } = remote();
    const engines = [scripted('webgpu'), scripted('reference')] as const;
    await runBulk(jobOf(setting), engines, { checkers: [checker] });
    const next = { first: 100, batches: 3 };
    const second = new RemoteChecker(calls, next);
    expect((await second.draw(1)).vgpr(0, 0)[0]).toBe(101);
    const report = await runBulk(jobOf(next), engines, { checkers: [new RemoteChecker(calls, next)] });
    expect(report).toMatchObject({ wrong: 0, batchesDone: 3, comparison: { mismatches: 0 } });
  });

  it('compute alone where nothing is under test', async () => {
    const report = await runBulk(jobOf(setting), [scripted('reference')], { checkers: [remote().checker] });
    expect(report).toMatchObject({ wrong: 0, batchesDone: 12, comparison: { words: 0 } });
  });
});

describe('one clear error, and no hang', () => {
  const lost = { failure: { kind: 'lost', message: 'a worker that checks failed: out of memory' } };
  const engines = [scripted('webgpu'), scripted('reference')] as const;

  it('where a thread fails on its way', async () => {
    const { checker, die } = remote();
    const onBatch = () => die('out of memory');
    const report = await runBulk(jobOf(setting), engines, { checkers: [remote().checker, checker], onBatch });
    expect(report).toMatchObject(lost);
    expect(report.batchesDone).toBeLessThan(setting.batches);
  });

  it('where it failed before it was asked', async () => {
    const { checker, die } = remote();
    die('out of memory');
    expect(await runBulk(jobOf(setting), engines, { checkers: [checker] })).toMatchObject({ batchesDone: 0, ...lost });
  });

  it('where it failed while the engine under test had all its batches', async () => {
    const { checker, die } = remote();
    const slow = scripted('webgpu', () => die('out of memory'));
    expect(await runBulk(jobOf(setting), [slow, engines[1]], { checkers: [checker] })).toMatchObject(lost);
  });

  it('where it cannot begin', async () => {
    const { checker } = remote(() => {
      throw new EngineError('unsupported', 'no such job');
    });
    const report = await runBulk(jobOf(setting), engines, { checkers: [checker] });
    expect(report.failure).toMatchObject({ kind: 'unsupported', message: 'no such job' });
  });

  it('where it makes a mistake of its own', async () => {
    const { checker } = remote((given) => {
      const broken = local(given);
      vi.spyOn(broken, 'checkFrom').mockRejectedValue(new TypeError('a mistake of ours'));
      return broken;
    });
    await expect(runBulk(jobOf(setting), engines, { checkers: [checker] })).rejects.toThrow('a mistake of ours');
  });

  it('where it is closed', async () => {
    const { checker } = remote();
    const drawing = checker.draw(0);
    await checker.close();
    await expect(drawing).rejects.toThrow('a worker that checks failed: it was closed');
    await expect(checker.draw(1)).rejects.toThrow('it was closed');
  });
});
