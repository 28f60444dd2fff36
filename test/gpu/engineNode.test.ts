/** The driver process of the WebGPU engine in Node: what a hang, a crash and a missing adapter become, and that nothing stays behind. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Engine, EngineError, StoredBatch } from '../../src/engine.ts';
import { ChildRunner, openWebGpuEngine } from '../../src/gpu/engine.node.ts';
import { FileBatch } from '../../src/gpu/wordsFile.node.ts';
import { compareStates } from '../../src/verify/compare.ts';
import { Special } from '../../src/wavefront/layout.ts';
import { WaveState } from '../../src/wavefront/state.ts';
import { batchFor, openEngine, programOf } from './engineRig.ts';
import { openHangingEngine } from './hang.ts';

const program = programOf('v_mov_b32 v1, v0');
const batch = (first: number) => {
  const state = batchFor(program);
  state.vgpr(0, 0).fill(first);
  return state;
};

const failure = async (promise: Promise<unknown>): Promise<EngineError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (e: unknown) => e,
  );
  return error as EngineError;
};

/** Process ids of driver processes that this process has started. */
const drivers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => {
      try {
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
        return Number(parent) === process.pid && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('gpu/child.ts');
      } catch {
        return false;
      }
    })
    .map(Number);

const onLinux = process.platform === 'linux';

/** What a stored batch holds now. */
function read(stored: StoredBatch): WaveState {
  const state = new WaveState(stored.shape);
  new FileBatch(stored).readPart(state, 0);
  return state;
}

/** Puts a batch into an engine's store. */
function store({ store }: Engine, state: WaveState): StoredBatch {
  const stored = store!.take(state.layout.shape);
  new FileBatch(stored).writePart(state, 0);
  return stored;
}

describe('batches in its store', () => {
  const loud = programOf('v_cmp_lt_f64 vcc, v[0:1], v[2:3]\nv_cndmask_b32 v4, v0, v1, vcc\nds_write_b32 v5, v1');
  const states = [5, 3, 9].map((waves) => {
    const state = batchFor(loud, { waves });
    const { layout, words } = state;
    for (let i = layout.vgprs; i < layout.vgpr(waves, 0); i++) words[i] = (i * 2654435761) >>> 0;
    for (let wave = 0; wave < waves; wave++) state.vgpr(wave, 5).fill(wave === 2 ? 1 << 20 : 8);
    state.setSpecial(waves - 1, Special.mode, 0x3f0);
    return state;
  });

  it.each([{}, { maxBatchBytes: 10_000 }])('become what batches in memory become, with options %o', async (options) => {
    const engine = await openWebGpuEngine(options);
    const expected = await Promise.all(states.map(async (state) => (await engine.run(loud, state)).state));
    const stored = states.map((state) => store(engine, state));
    const costs = await Promise.all(stored.map((batch) => engine.store!.run(loud, batch)));
    for (const [i, state] of stored.map(read).entries())
      expect(compareStates(state, expected[i]!)).toMatchObject({ mismatches: 0 });
    expect(expected[0]!.faults().map(({ wave }) => wave)).toEqual([2]);
    for (const { deviceMs, totalMs } of costs) expect(totalMs).toBeGreaterThan(deviceMs!);
    // A second run begins without the faults of the first.
    const mild = programOf('v_mov_b32 v1, v0');
    await engine.store!.run(mild, stored[0]!);
    expect(read(stored[0]!).faults()).toEqual([]);
    for (const batch of stored) engine.store!.give(batch);
    await engine.close();
  });

  it('that are under way when the driver hangs fail, the one to blame by its name; the next has a new driver', async () => {
    const engine = await openHangingEngine({ hangAt: 1, timeoutMs: 3000 });
    const stored = [7, 8, 9].map((word) => store(engine, batch(word)));
    const kinds = await Promise.all(
      stored.map((one) =>
        engine.store!.run(program, one).then(
          () => 'done',
          (error: EngineError) => error.kind,
        ),
      ),
    );
    expect(kinds).toEqual(['done', 'timeout', 'lost']);
    const next = store(engine, batch(10));
    await engine.store!.run(program, next);
    expect(read(next).vgpr(0, 1)[63]).toBe(10);
    for (const one of [...stored, next]) engine.store!.give(one);
    await engine.close();
  });
});

describe('the driver process', () => {
  it('gives the same words as a device in this process, and takes its kernels along once', async () => {
    const [outside, inside] = [await openWebGpuEngine(), await openEngine()];
    const loud = programOf('v_cmp_lt_f64 vcc, v[0:1], v[2:3]\nv_cndmask_b32 v4, v0, v1, vcc\nds_write_b32 v5, v1');
    const state = batchFor(loud, { waves: 5 });
    for (let i = state.layout.vgprs; i < state.layout.lds - 320; i++) state.words[i] = (i * 2654435761) >>> 0;
    for (let wave = 0; wave < 5; wave++) state.vgpr(wave, 5).fill(8);
    const [a, b, c] = [await outside.run(loud, state), await outside.run(loud, state), await inside.run(loud, state)];
    const [into, twin] = [state.clone(), state.clone()];
    for (const words of [into.words, twin.words]) words.fill(0xdeadbeef);
    expect((await outside.run(loud, state, { into })).state.words).toBe(into.words);
    expect((await inside.run(loud, state, { into: twin })).state.words).toBe(twin.words);
    expect([into.words, twin.words]).toEqual([c.state.words, c.state.words]);
    expect(a.state.words).toEqual(c.state.words);
    expect(b.state.words).toEqual(c.state.words);
    expect(a.cost.compileMs).toBeGreaterThan(0);
    expect(b.cost.compileMs).toBeUndefined();
    expect(outside.device).toBe(inside.device);
    await outside.close();
    await inside.close();
  });

  it('is ended when its driver hangs; what was complete stays, and the next run has a new driver', async () => {
    const engine = await openHangingEngine({ hangAt: 1, timeoutMs: 3000 });
    const first = await engine.run(program, batch(7));
    const started = performance.now();
    const error = await failure(engine.run(program, batch(8)));
    expect(error).toMatchObject({ name: 'EngineError', kind: 'timeout' });
    expect(error.message).toMatch(
      /^the WebGPU driver did not answer within 3 s while running the program; it was ended$/,
    );
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(first.state.vgpr(0, 1)[63]).toBe(7);
    const next = await Promise.all([9, 10].map((word) => engine.run(program, batch(word))));
    expect(next.map(({ state }) => state.vgpr(0, 1)[0])).toEqual([9, 10]);
    await engine.close();
  });

  it('has several batches under way: results in order, each its own, of whatever size', async () => {
    const engine = await openWebGpuEngine();
    const done: number[] = [];
    const runs = Array.from({ length: 9 }, async (_, i) => {
      const state = batchFor(program, { waves: 1 + ((i * 7) % 5) });
      for (let wave = 0; wave < state.layout.shape.waves; wave++) state.vgpr(wave, 0).fill(100 * i + wave);
      const { state: result } = await engine.run(program, state);
      done.push(i);
      return Array.from({ length: result.layout.shape.waves }, (_, wave) => result.vgpr(wave, 1)[63]);
    });
    const results = await Promise.all(runs);
    expect(results).toEqual(
      results.map((_, i) => Array.from({ length: 1 + ((i * 7) % 5) }, (_, wave) => 100 * i + wave)),
    );
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await engine.close();
  });

  it('that hangs with several batches under way fails the one that hangs; the others are run', async () => {
    const engine = await openHangingEngine({ hangAt: 1, timeoutMs: 3000 });
    const runs = [7, 8, 9, 10, 11].map((word) =>
      engine.run(program, batch(word)).then(
        ({ state }) => state.vgpr(0, 1)[63],
        (error: EngineError) => error.kind,
      ),
    );
    expect(await Promise.all(runs)).toEqual([7, 'timeout', 9, 10, 11]);
    await engine.close();
  });

  it.runIf(onLinux)('that is killed gives one clear line, and the engine recovers', async () => {
    const engine = await openWebGpuEngine();
    expect((await engine.run(program, batch(4))).state.vgpr(0, 1)[0]).toBe(4);
    const [id] = drivers();
    process.kill(id!, 'SIGKILL');
    const error = await failure(engine.run(program, batch(5)));
    expect(error).toMatchObject({ name: 'EngineError', kind: 'lost' });
    expect(error.message).toMatch(/^the WebGPU driver process ended \(SIGKILL\)/);
    expect(error.message).not.toContain('\n');
    expect((await engine.run(program, batch(6))).state.vgpr(0, 1)[0]).toBe(6);
    await engine.close();
    expect((await failure(engine.run(program, batch(6)))).message).toBe('the WebGPU engine is closed');
  });

  it.runIf(onLinux)('that is killed in the middle of a run gives the same', async () => {
    const engine = await openHangingEngine({ timeoutMs: 60_000 });
    const running = failure(engine.run(program, batch(5)));
    const [id] = drivers();
    setTimeout(() => process.kill(id!, 'SIGKILL'), 500);
    expect(await running).toMatchObject({ kind: 'lost' });
    await engine.close();
    expect(drivers()).toEqual([]);
  });

  it('refuses a kernel that does not compile with the line of the compiler, and goes on', async () => {
    const runner = await ChildRunner.open({});
    const shape = batch(0).layout.shape;
    const dispatches = [{ kernel: 0, first: 0, stride: 1, waves: 1 }];
    const job = { kernels: ['fn main() { nonsense }'], dispatches, shape };
    const error = await failure(runner.run(job, batch(0).words));
    expect(error).toMatchObject({ kind: 'unsupported' });
    expect(error.message).toMatch(/^the WebGPU driver does not compile the kernel: .*/);
    const good = { ...job, kernels: ['@compute @workgroup_size(1) fn main() {}'] };
    expect((await runner.run(good, batch(9).words)).words).toEqual(batch(9).words);
    await runner.close();
  });

  it('that finds no adapter says which it tried', async () => {
    const error = await failure(openWebGpuEngine({ driver: 'none' as 'auto' }));
    expect(error).toMatchObject({ name: 'EngineError', kind: 'unavailable' });
    expect(error.message).toMatch(/^no WebGPU adapter: WebGPU driver 'none' does not exist; there are /);
  });

  it('does not keep its parent alive, whether closed or not', async () => {
    const script = (ending: string) => `
      const { openWebGpuEngine } = await import('./src/gpu/engine.node.ts');
      const { programOf, batchFor } = await import('./test/gpu/engineRig.ts');
      const engine = await openWebGpuEngine();
      const program = programOf('v_mov_b32 v1, 42');
      const { state } = await engine.run(program, batchFor(program));
      ${ending}
      console.log(state.vgpr(0, 1)[0]);`;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    for (const ending of ['', 'await engine.close();']) {
      const args = ['--import', 'tsx', '--input-type=module', '-e', script(ending)];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 60_000 });
      expect(stdout).toBe('42\n');
    }
  });
});
