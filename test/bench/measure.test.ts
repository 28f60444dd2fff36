/** Rounds, medians, the bound on time, and shares of the adapter's bound, with subjects that do what the test says. */
import { describe, expect, it } from 'vitest';
import { boundNs, type Figure, median } from '../../src/bench/figure.ts';
import { KINDS, type Kind } from '../../src/bench/kinds.ts';
import { measure, type Prepared, type Subject } from '../../src/bench/measure.ts';
import { chosen, ratesOf } from '../../src/bench/subjects.ts';

interface Script {
  readonly lanes?: readonly number[];
  readonly times?: readonly number[];
  readonly cost?: Prepared['cost'];
  readonly mismatches?: number;
  readonly waitMs?: number;
}

let now = 0;

/** A subject whose runs take the times in turn, by its own account; by the clock of the settings, `waitMs` each. */
function scripted(
  id: string,
  log: string[],
  { lanes = [64], times = [1], cost, mismatches = 0, waitMs = 1 }: Script = {},
): Subject {
  return {
    id,
    engine: 'webgpu',
    adapter: 'scripted',
    lanes,
    prepare: async (count) => {
      let turn = 0;
      return {
        lanes: count,
        work: count,
        compileMs: 5,
        mismatches,
        cost,
        run: async () => {
          log.push(`${id} ${count}`);
          now += waitMs;
          const deviceMs = times[turn++ % times.length]!;
          return { wallMs: deviceMs + 1, deviceMs };
        },
      };
    },
  };
}

const never = () => undefined;
const figuresOf = async (...args: Parameters<typeof measure>) => (await measure(...args)).figures;
const settings = { seconds: 0.001, operands: 'normal', clock: () => now } as const;

describe('measuring', () => {
  it('takes turns: a warm-up each, then three rounds', async () => {
    const log: string[] = [];
    await measure([scripted('a', log), scripted('b', log)], never, settings);
    expect(log).toEqual(['a 64', 'b 64', 'a 64', 'b 64', 'a 64', 'b 64', 'a 64', 'b 64']);
  });

  it('gives the median, the slowest and the fastest of the runs after the warm-up, on the device and on the wall', async () => {
    const [figure] = await figuresOf([scripted('a', [], { times: [99, 4, 1, 2] })], never, settings);
    expect(figure).toMatchObject({
      lanes: 64,
      deviceNs: 2e6,
      wallNs: 3e6,
      perSecond: 32000,
      wallPerSecond: 64000 / 3,
      spread: [16000, 64000],
      repeats: 3,
      compileMs: 5,
      boundShare: null,
      operands: 'normal',
      mismatches: 0,
    });
  });

  it('leaves sizes out when the time is over, but no subject', async () => {
    const subject = (id: string) => scripted(id, [], { lanes: [128, 64, 256], waitMs: 5 });
    const short = await figuresOf([subject('a'), subject('b')], never, settings);
    expect(short.map(({ id, lanes }) => [id, lanes])).toEqual([
      ['a', 128],
      ['b', 128],
    ]);
    const long = await figuresOf([subject('a')], never, { ...settings, seconds: 1 });
    expect(long.map(({ lanes }) => lanes)).toEqual([64, 128, 256]);
  });

  it('goes through all subjects at a size before the next, and reports what was done when one fails', async () => {
    const log: string[] = [];
    const failing = scripted('b', log, { lanes: [64, 128] });
    const lost = new Error('lost');
    const subjects: Subject[] = [
      scripted('a', log, { lanes: [64, 128, 256] }),
      { ...failing, prepare: (lanes) => (lanes === 128 ? Promise.reject(lost) : failing.prepare(lanes)) },
    ];
    const { figures, failure } = await measure(subjects, never, { ...settings, seconds: 0.2 });
    expect(failure).toBe(lost);
    expect(figures.map(({ id, lanes }) => [id, lanes])).toEqual([
      ['a', 64],
      ['a', 128],
      ['b', 64],
    ]);
  });

  it('ends at once when it is stopped', async () => {
    const stop = new AbortController();
    const log: string[] = [];
    const subjects = ['a', 'b', 'c'].map((id) => scripted(id, log));
    const progress = (_: number, __: number, id: string) => {
      if (id === 'b') stop.abort();
    };
    expect(await figuresOf(subjects, never, { ...settings, signal: stop.signal, progress })).toEqual([]);
    expect(log).toEqual(['a 64', 'b 64']);
  });

  it('takes the wall where the device has no clock', async () => {
    const { prepare, ...rest } = scripted('a', []);
    const run = async () => {
      now += 4;
      return { wallMs: 4 };
    };
    const blind: Subject = { ...rest, prepare: async (lanes) => ({ ...(await prepare(lanes)), run }) };
    expect((await figuresOf([blind], never, settings))[0]).toMatchObject({
      deviceNs: null,
      wallNs: 4e6,
      perSecond: 16000,
    });
  });
});

it('or where its clock is too coarse for a run', async () => {
  const [figure] = await figuresOf([scripted('a', [], { times: [0, 0, 1, 1] })], never, settings);
  expect(figure).toMatchObject({ deviceNs: null, wallNs: 2e6 });
});

describe('the bound', () => {
  const operations = Object.fromEntries(KINDS.map((kind) => [kind, 1e12])) as Record<Kind, number>;
  const rates = {
    operations: { ...operations, 'u32-add': 1e9, 'u32-mul': 5e8, 'u32-shift': 2e8 },
    readBytes: 4e9,
    writtenBytes: 2e9,
    overlaps: true,
  };
  const cost = {
    operations: { 'u32-add': 200, 'u32-mul': 100, 'u32-shift': 20 },
    readBytes: 0,
    writtenBytes: 0,
    ldsBytes: 0,
  };

  it('is the longest of computing, reading and writing', () => {
    expect(boundNs(rates, cost)).toBeCloseTo(500);
    expect(boundNs(rates, { ...cost, readBytes: 4000 })).toBeCloseTo(1000);
    expect(boundNs(rates, { ...cost, readBytes: 4000, writtenBytes: 4000 })).toBeCloseTo(2000);
  });

  it('or their sum where they are instructions of the same cores', () => {
    const busy = { ...cost, readBytes: 4000, writtenBytes: 4000 };
    expect(boundNs({ ...rates, overlaps: false }, busy)).toBeCloseTo(500 + 1000 + 2000);
    expect(boundNs({ ...rates, overlaps: false }, { ...cost, ldsBytes: 4000 })).toBeCloseTo(500);
  });

  it('and a figure its share of it', async () => {
    const [figure] = await figuresOf([scripted('a', [], { cost, times: [0.001] })], () => rates, settings);
    expect(figure!.boundShare).toBeCloseTo(0.5);
    expect(figure).toMatchObject({ multiplies: 100 / 64, others: 220 / 64, bytes: 0 });
    expect(figure!.operations).toEqual({ 'u32-add': 200 / 64, 'u32-mul': 100 / 64, 'u32-shift': 20 / 64 });
  });

  /** An adapter that takes so many ns for an operation of each kind, as its probes see it. */
  const probed = (ns: (kind: Kind) => number) => {
    const step: Partial<Record<Kind, number>> = {
      'u32-mul': (2 * ns('u32-mul') + ns('u32-add')) / 2,
      'u32-shift': (2 * ns('u32-shift') + ns('u32-add')) / 2,
      'u32-less': ns('u32-less') + ns('u32-select') + ns('u32-add'),
      'u32-equal': ns('u32-equal') + ns('u32-select') + ns('u32-add'),
    };
    const alone: readonly Kind[] = ['u32-add', 'f32-mul', 'f32-div'];
    return KINDS.map((kind) => {
      const time = step[kind] ?? (alone.includes(kind) ? ns(kind) : ns(kind) + ns('u32-add'));
      return { id: `probe/${kind}`, perSecond: 1e9 / time } as Figure;
    });
  };
  const memory = ['read', 'write'].map((way, i) => ({ id: `probe/memory/${way}`, perSecond: i + 1 }) as Figure);

  it('takes off what a probe does besides its kind', () => {
    const ns = (kind: Kind) => 1 + KINDS.indexOf(kind);
    const rates = ratesOf([...probed(ns), ...memory], true)!;
    for (const kind of KINDS) expect(rates.operations[kind]).toBeCloseTo(1e9 / ns(kind), 0);
    expect([rates.readBytes, rates.writtenBytes]).toEqual([1, 2]);
  });

  it('gives no kind for nothing, however noisy its probe', () => {
    const noisy = probed((kind) => (kind === 'u32-less' ? -1.5 : 1));
    expect(ratesOf([...noisy, ...memory], true)!.operations['u32-less']).toBeCloseTo(2e10);
  });

  it('needs all probes', () => {
    const all = [...probed(() => 1), ...memory];
    expect(ratesOf(all, true)?.overlaps).toBe(false);
    for (const one of all)
      expect(
        ratesOf(
          all.filter((figure) => figure !== one),
          true,
        ),
      ).toBeUndefined();
  });
});

it('ids are chosen by what they begin with', () => {
  const subjects = ['macro/fused/stored', 'macro/fused/registers', 'macro/direct', 'f64/fma'].map((id) =>
    scripted(id, []),
  );
  const ids = (only?: string[]) => chosen(subjects, only).map(({ id }) => id);
  expect(ids(['macro/fused'])).toEqual(['macro/fused/stored', 'macro/fused/registers']);
  expect(ids(['f64', 'macro/direct'])).toEqual(['macro/direct', 'f64/fma']);
  expect(ids(['fused'])).toEqual([]);
  expect(ids()).toHaveLength(4);
});

it('medians', () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7])]).toEqual([2, 2.5, 7]);
});
