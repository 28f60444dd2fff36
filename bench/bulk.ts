/**
 * Bulk verification, end to end against its parts: each kind of work alone, then the whole, in one process and so on one adapter;
 * the reference alone with one and two worker threads; resident memory of this process and the driver's as a run goes on.
 *
 *     node --import tsx bench/bulk.ts [seconds a measurement, default 4]
 *
 * Each measurement is done three times in turn, and the median stands. On an adapter that computes on the CPU, all kinds of work
 * share the cores, and no order of them makes the whole faster than all their processor time over the cores. So that is printed too;
 * other processes change it less than they change the rates.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { median } from '../src/bench/figure.ts';
import { WorkerChecker } from '../src/cli/checkers.ts';
import type { Engine, RunCost } from '../src/engine.ts';
import { openWebGpuEngine } from '../src/gpu/engine.node.ts';
import { ReferenceEngine, type ReferenceForms } from '../src/reference/engine.ts';
import { runBulk } from '../src/verify/bulk.ts';
import { LocalChecker } from '../src/verify/checker.ts';
import { type DemonstrationSpec, demonstrationJob, LARGE_BATCH_WAVES } from '../src/verify/demonstrationJob.ts';
import type { Job } from '../src/verify/job.ts';
import { StatePool } from '../src/verify/pool.ts';
import { rate } from '../src/verify/report.ts';
import type { Batch, WaveState } from '../src/wavefront/state.ts';

const ROUNDS = 3;
const WARM_UP_MS = 2000;
const LANES = 64 * LARGE_BATCH_WAVES;
const MICROSECONDS = 1e6;
const ms = 1000 * Number(process.argv[2] ?? 4);
if (!(ms > 0)) throw new RangeError('seconds a measurement: a number above 0');

/** This process and the driver's, where one is open. */
function processes(): number[] {
  const isDriver = (id: string) => {
    try {
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
      return parent === String(process.pid) && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('gpu/child.ts');
    } catch {
      return false;
    }
  };
  return [process.pid, ...readdirSync('/proc').filter(isDriver).map(Number)];
}

/** Seconds of processor time that the processes have had. */
function processorSeconds(ids: readonly number[]): number {
  const TICKS = 100;
  return ids.reduce((sum, id) => {
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS;
  }, 0);
}

const residentMiB = (id: number) =>
  Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]) / 1024);

/** Moving batches between threads and processes is no work of a checker's own. */
const NOWHERE: Batch = { readPart() {}, writePart() {} };

/** Lanes a second, and microseconds of processor a lane. */
interface Speed {
  readonly perSecond: number;
  readonly us: number;
}

/** The speed of work since then. */
function stopwatch(): (lanes: number) => Speed {
  const ids = processes();
  const [began, had] = [performance.now(), processorSeconds(ids)];
  return (lanes) => ({
    perSecond: (lanes * 1000) / (performance.now() - began),
    us: ((processorSeconds(ids) - had) * MICROSECONDS) / lanes,
  });
}

/** Work on one batch after another, after some to warm up. */
async function alone(work: (batch: number) => unknown): Promise<Speed> {
  for (let batch = 0; batch < 4; batch++) await work(batch);
  const until = performance.now() + ms;
  const speed = stopwatch();
  let batches = 0;
  while (performance.now() < until) await work(batches++);
  return speed(batches * LANES);
}

/** The engine under test, with as many batches under way as its driver process takes. Kernels by the device's clock, which knows no processor. */
async function deviceAlone(engine: Engine, job: Job): Promise<Record<string, Speed>> {
  const pool = new StatePool();
  const input = job.draw(0);
  const costs: RunCost[] = [];
  const { program } = job.stages[0]!;
  const once = async () => {
    const { state, cost } = await engine.run(program, input, { into: pool.take(input.layout.shape) });
    pool.give(state);
    return cost;
  };
  for (let batch = 0; batch < 4; batch++) await once();
  const until = performance.now() + ms;
  const one = async () => {
    while (performance.now() < until) costs.push(await once());
  };
  const speed = stopwatch();
  await Promise.all([one(), one(), one()]);
  const byClock = (taken: (cost: RunCost) => number): Speed => ({
    perSecond: (costs.length * LANES * 1000) / costs.reduce((sum, cost) => sum + taken(cost), 0),
    us: Number.NaN,
  });
  return {
    compute: byClock(({ deviceMs = Number.NaN }) => deviceMs),
    'read back': byClock(({ readbackMs = 0 }) => readbackMs),
    'upload, compute, read back': speed(costs.length * LANES),
  };
}

/**
 * What a checker's thread does, by its own clocks, in a thread that has nothing else to do, and its share of the process's processor
 * time; and the engine under test by itself. Outputs are the reference's.
 */
async function parts(engine: Engine, spec: DemonstrationSpec): Promise<Record<string, Speed>> {
  const job = demonstrationJob(spec);
  const reference = new ReferenceEngine({ forms: 'fused' });
  const checker = new LocalChecker(job, reference, {});
  const outputs: WaveState[] = [];
  for (const batch of [0, 1, 2, 3]) outputs.push((await reference.run(job.stages[0]!.program, job.draw(batch))).state);
  const taken = { draw: 0, reference: 0, compare: 0, 'a / b': 0 };
  let lanes = 0;
  const all = await alone(async (turn) => {
    const batch = turn % outputs.length;
    checker.drawInto(batch, NOWHERE);
    const checked = await checker.checkFrom(batch, outputs[batch]);
    taken.draw += checked.drawMs;
    taken.reference += checked.costs.reduce((sum, { cost }) => sum + cost.totalMs, 0);
    taken.compare += checked.compareMs;
    taken['a / b'] += checked.countMs;
    lanes += checked.lanes;
  });
  const cores = (all.us * all.perSecond) / MICROSECONDS;
  const speedOf = (ms: number): Speed => ({ perSecond: (lanes * 1000) / ms, us: (ms * 1000 * cores) / lanes });
  return {
    ...Object.fromEntries(Object.entries(taken).map(([name, ms]) => [name, speedOf(ms)])),
    'these four in a thread': speedOf(Object.values(taken).reduce((sum, ms) => sum + ms, 0)),
    ...(await deviceAlone(engine, job)),
  };
}

/** A bulk run of about the time asked for, as `wave64 verify --pairs` does it. */
async function whole(engine: Engine | undefined, spec: DemonstrationSpec, workers: number, forms: ReferenceForms) {
  const reference = new ReferenceEngine();
  const checkers = Array.from({ length: workers }, () => new WorkerChecker({ spec, forms, options: {} }));
  const ids = processes();
  const memory: string[] = [];
  const abort = new AbortController();
  let [began, lanesBefore] = [0, 0];
  let speedOf = stopwatch();
  let speed: Speed = { perSecond: Number.NaN, us: Number.NaN };
  try {
    const report = await runBulk(demonstrationJob(spec), engine ? [engine, reference] : [reference], {
      checkers,
      signal: abort.signal,
      onBatch: ({ lanesDone, batchesDone, wallMs }) => {
        const now = performance.now();
        // V8 takes about two seconds until it has compiled the threads' code for good, two threads on two cores longer than one.
        if (batchesDone <= 8 || wallMs < WARM_UP_MS) [began, lanesBefore, speedOf] = [now, lanesDone, stopwatch()];
        else if (now - began >= (memory.length * ms) / 10) memory.push(ids.map(residentMiB).join(' + '));
        if (began === now || now - began < ms || abort.signal.aborted) return;
        speed = speedOf(lanesDone - lanesBefore);
        abort.abort();
      },
    });
    if (report.failure) throw report.failure;
    if (report.comparison.mismatches > 0 || report.wrong !== 0) throw new Error('the engines differ');
  } finally {
    for (const checker of checkers) await checker.close();
  }
  return { ...speed, memory };
}

const specOf = (registers: DemonstrationSpec['registers'], operands: DemonstrationSpec['operands']) => ({
  target: 'gfx90a',
  waveSize: 64 as const,
  profile: 'hardware' as const,
  waves: 1e9,
  withMinimum: false,
  registers,
  operands,
  seed: 1,
  round: 'rne' as const,
});

const medianOf = (speeds: readonly Speed[]): Speed => ({
  perSecond: median(speeds.map(({ perSecond }) => perSecond)),
  us: median(speeds.map(({ us }) => us)),
});

const line = (name: string, { perSecond, us }: Speed, more = '') =>
  console.log(
    `  ${name.padEnd(28)}${rate(perSecond).padStart(7)} lanes/s${Number.isNaN(us) ? '' : `, ${us.toFixed(3)} us of processor`}${more}`,
  );

async function bulk(engine: Engine, spec: DemonstrationSpec): Promise<void> {
  const cores = availableParallelism();
  console.log(`\n${spec.registers} registers, ${spec.operands} operands, on ${engine.device} and ${cores} cores`);
  const counts = [1, 2];
  const partRounds: Record<string, Speed>[] = [];
  const wholes = counts.map((): Awaited<ReturnType<typeof whole>>[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    partRounds.push(await parts(engine, spec));
    for (const [i, count] of counts.entries()) wholes[i]!.push(await whole(engine, spec, count, 'fused'));
  }
  const part = (name: string) => medianOf(partRounds.map((round) => round[name]!));
  for (const name of Object.keys(partRounds[0]!)) line(name, part(name));
  for (const [i, count] of counts.entries()) {
    const speed = medianOf(wholes[i]!);
    const check = part('these four in a thread').perSecond * count;
    const slowest = Math.min(part('compute').perSecond, part('read back').perSecond, check);
    const used = (speed.perSecond * speed.us) / MICROSECONDS / cores;
    line(
      `end to end, ${count} worker${count > 1 ? 's' : ''}`,
      speed,
      `, ${(speed.perSecond / slowest).toFixed(2)} of the slowest's rate, ${used.toFixed(2)} of the cores`,
    );
    console.log(`    resident MiB, this process + the driver's: ${wholes[i]!.at(-1)!.memory.join(', ')}`);
  }
}

async function workerScaling(forms: ReferenceForms): Promise<void> {
  const spec = specOf('steps', 'special');
  const rounds: Speed[][] = [[], []];
  for (let round = 0; round < ROUNDS; round++)
    for (const count of [1, 2]) rounds[count - 1]!.push(await whole(undefined, spec, count, forms));
  const [one, two] = rounds.map(medianOf);
  console.log(`\nthe reference alone, ${forms}`);
  line('1 worker', one!);
  line('2 workers', two!, `, ${(two!.perSecond / one!.perSecond).toFixed(2)} of one`);
}

const engine = await openWebGpuEngine();
await bulk(engine, specOf('steps', 'special'));
await bulk(engine, specOf('compiled', 'special'));
await bulk(engine, specOf('compiled', 'normal'));
await engine.close();
for (const forms of ['fused', 'steps'] as const) await workerScaling(forms);
