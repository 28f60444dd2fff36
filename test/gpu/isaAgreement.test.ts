import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { result } from '../../src/float/result.ts';
import type { InstructionDef, LaneSemantics, LdsSemantics, ScalarSemantics } from '../../src/isa/instruction.ts';
import { instructions } from '../../src/isa/instructions/index.ts';
import { f32_clamp, f32_omod, f64_clamp, f64_omod, type Omod, omodActs } from '../../src/isa/modifiers.ts';
import type { OperandType } from '../../src/isa/operand.ts';
import { type Profile, targets } from '../../src/isa/target.ts';
import { openTestGpu, type TestGpu } from './harness.ts';
import { type LaneDevice, openLanes, rowSizes, signatureOf } from './lanes.ts';
import { F32, F64, MODES, operand, type Random, random } from './operands.ts';

/**
 * Each instruction has two bodies written by different methods: the CPU's on doubles and exact integers, the WGSL one on u32
 * words. Here both meet on operands where rules change, in every rounding and denormal mode, IEEE bit on and off.
 */
const LANES = Number(process.env['ISA_LANES'] ?? 512);
const SEED = Number(process.env['ISA_SEED'] ?? 20261130);

let gpu: TestGpu;
let lanes: LaneDevice;
beforeAll(async () => {
  gpu = await openTestGpu();
  lanes = openLanes(gpu);
});
afterAll(() => gpu.close());

type Body<S> = { def: InstructionDef; semantics: S; where: string };

/** Every pair of a CPU body and a WGSL body that some target and profile joins, once. */
function bodies<S extends LaneSemantics | ScalarSemantics | LdsSemantics>(unit: S['unit']): Body<S>[] {
  const found = new Map<string, Body<S>>();
  for (const def of instructions) {
    for (const target of targets) {
      for (const profile of ['hardware', 'published'] as const satisfies Profile[]) {
        if (!def.forms.some((form) => form.on.includes(target.generation) && (form.has?.(target) ?? true))) continue;
        const semantics = def.semantics({ target, profile });
        if (semantics.unit !== unit || !('wgsl' in semantics) || semantics.wgsl === undefined) continue;
        const key = `${def.name} ${semantics.wgsl}`;
        if (!found.has(key)) found.set(key, { def, semantics: semantics as S, where: `${target.name} ${profile}` });
      }
    }
  }
  return [...found.values()];
}

const low = (bits: bigint): number => Number(bits & 0xffffffffn);
const high = (bits: bigint): number => Number(bits >> 32n);

/** Words of one source. `before`: the float sources already drawn for the lane. */
function draw(next: Random, type: OperandType, before: bigint[]): number[] {
  if (type === 'f64' || type === 'f32') {
    const bits = operand(next, type === 'f64' ? F64 : F32, before);
    before.push(bits);
    return type === 'f64' ? [low(bits), high(bits)] : [low(bits)];
  }
  if (type === 'mask') return [next() & 1];
  if (type === 'b64') return [next(), next()];
  // Integers: exponents for ldexp, class masks, plain bits.
  return [next() & 1 ? next() : (next() % 4400) - 2200];
}

const hex = (words: ArrayLike<number>): string =>
  Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join(' ');

/** Fails with the first few lanes that differ: sources, what the CPU gives, what the device gives. */
function compareRows(input: Uint32Array, inputSize: number, cpu: Uint32Array, device: Uint32Array, size: number): void {
  const different: string[] = [];
  for (let row = 0; row < cpu.length / size; row++) {
    const [want, got] = [cpu, device].map((words) => hex(words.subarray(row * size, (row + 1) * size)));
    if (want !== got)
      different.push(`${hex(input.subarray(row * inputSize, (row + 1) * inputSize))}: ${want} / ${got}`);
  }
  expect(different.slice(0, 5), `${different.length} lanes differ (words: CPU / device)`).toEqual([]);
}

/** Runs `semantics.cpu` over the rows of one mode, every lane active. */
function runCpu(
  def: InstructionDef,
  semantics: LaneSemantics,
  rows: number[][][],
  mode: number,
  out: number,
): Uint32Array {
  const count = rows.length;
  const columns = rows[0]!.map((source, at) =>
    source.map((_, word) => Uint32Array.from(rows, (row) => row[at]![word]!)),
  );
  const dst = [new Uint32Array(count), new Uint32Array(count)];
  const flag = new Uint32Array(count);
  semantics.cpu({ lanes: count, active: new Uint8Array(count).fill(1), src: columns, dst, flag, mode });
  const hasMask = def.operands.some(({ role, type }) => role === 'dst' && type === 'mask');
  const dataWords = hasMask ? out - 1 : out;
  return Uint32Array.from({ length: count * out }, (_, i) => {
    const [lane, word] = [Math.floor(i / out), i % out];
    return word < dataWords ? dst[word]![lane]! : flag[lane]!;
  });
}

describe(`vector instructions, CPU and WGSL bodies, seed ${SEED}`, () => {
  test.each(
    bodies<LaneSemantics>('valu').map((body) => [`${body.def.name} by ${body.semantics.wgsl} (${body.where})`, body]),
  )('%s', async (_, body) => {
    const { def, semantics } = body as Body<LaneSemantics>;
    const next = random(SEED);
    const sources = def.operands.filter(({ role }) => role === 'src');
    const types = [...sources, ...def.operands.filter(({ role }) => role === 'update')].map(({ type }) => type);
    const sizes = rowSizes(signatureOf(def.family, semantics.wgsl));
    const kernel = await lanes.function(def.family, semantics.wgsl);
    for (const mode of semantics.usesMode ? MODES : [MODES[0]!]) {
      const rows = Array.from({ length: LANES }, () => {
        const before: bigint[] = [];
        return types.map((type) => draw(next, type, before));
      });
      const input = Uint32Array.from(rows.flatMap((row) => [...row.flat(), ...(semantics.usesMode ? [mode] : [])]));
      const device = await kernel.run(input);
      compareRows(input, sizes.input, runCpu(def, semantics, rows, mode, sizes.output), device, sizes.output);
    }
  });
});

describe(`LDS atomics, CPU and WGSL bodies, seed ${SEED}`, () => {
  test.each(
    bodies<LdsSemantics>('lds').map((body) => [`${body.def.name} by ${body.semantics.wgsl} (${body.where})`, body]),
  )('%s', async (_, body) => {
    const { def, semantics } = body as Body<LdsSemantics>;
    const next = random(SEED);
    const kernel = await lanes.function(def.family, semantics.wgsl!);
    const rows = Array.from({ length: 4 * LANES }, () => {
      const before: bigint[] = [];
      const words = [...draw(next, 'f64', before), ...draw(next, 'f64', before)];
      return [...words, MODES[next() % MODES.length]!];
    });
    const cpu = rows.flatMap(([mLow, mHigh, sLow, sHigh, mode]) => {
      const memory = Uint32Array.of(mLow!, mHigh!);
      semantics.cpu!(memory, Uint32Array.of(sLow!, sHigh!), mode!);
      return [...memory];
    });
    const input = Uint32Array.from(rows.flat());
    compareRows(input, 5, Uint32Array.from(cpu), await kernel.run(input), 2);
  });
});

describe(`scalar instructions, CPU and WGSL bodies, seed ${SEED}`, () => {
  const scalars = bodies<ScalarSemantics>('salu');
  test.each(scalars.map((body) => [`${body.def.name} by ${body.semantics.wgsl}`, body]))('%s', async (_, body) => {
    const { def, semantics } = body as Body<ScalarSemantics>;
    const next = random(SEED);
    const signature = signatureOf(def.family, semantics.wgsl);
    const sizes = rowSizes(signature);
    const kernel = await lanes.function(def.family, semantics.wgsl);
    const types = def.operands.filter(({ role }) => role === 'src').map(({ type }) => type);
    const rows = Array.from({ length: 256 }, () =>
      types.map((type) => {
        // Any field of register 1, MODE.
        if (type === 'hwreg') return [(next() & 0xffc0) | 1];
        return draw(next, type, []);
      }),
    );
    const modes = rows.map(() => next());
    const cpu = rows.flatMap((row, i) => {
      const io = {
        src: row.map((words) => words.map((word) => word >>> 0)),
        dst: new Array<number>(sizes.output).fill(0),
        scc: 0,
        mode: modes[i]!,
      };
      semantics.cpu(io);
      return semantics.writesMode ? [io.mode] : io.dst;
    });
    const input = Uint32Array.from(
      rows.flatMap((row, i) => [...row.flat(), ...(semantics.usesMode ? [modes[i]!] : [])]),
    );
    compareRows(input, sizes.input, Uint32Array.from(cpu), await kernel.run(input), sizes.output);
  });

  // One lane's bit of a mask is bit 0 of the same operation on words.
  const laneForms = scalars.filter(({ semantics }) => semantics.laneWgsl !== undefined);
  test.each(laneForms.map((body) => [`${body.semantics.laneWgsl} as ${body.def.name}`, body]))(
    '%s',
    async (_, body) => {
      const { def, semantics } = body as Body<ScalarSemantics>;
      const arity = signatureOf(def.family, semantics.laneWgsl!).parameters.length;
      const rows =
        arity === 1
          ? [[0], [1]]
          : [
              [0, 0],
              [0, 1],
              [1, 0],
              [1, 1],
            ];
      const kernel = await lanes.function(def.family, semantics.laneWgsl!);
      const cpu = rows.map((row) => {
        const io = { src: row.map((bit) => [bit, 0]), dst: [0, 0], scc: 0, mode: 0 };
        semantics.cpu(io);
        return io.dst[0]! & 1;
      });
      expect(Array.from(await kernel.run(Uint32Array.from(rows.flat())))).toEqual(cpu);
    },
  );
});

describe(`output modifiers, CPU and WGSL bodies, seed ${SEED}`, () => {
  type Case = {
    type: 'f32' | 'f64';
    name: string;
    arguments: number;
    cpu: (words: number[], omod: Omod, mode: number) => number[];
  };
  const pair = (run: () => void): number[] => {
    run();
    return [result[0]!, result[1]!];
  };
  const cases: Case[] = [
    {
      type: 'f64',
      name: 'f64_omod',
      arguments: 2,
      cpu: ([lo, hi], omod, mode) => pair(() => f64_omod(hi!, lo!, omod, mode)),
    },
    { type: 'f32', name: 'f32_omod', arguments: 2, cpu: ([a], omod, mode) => [f32_omod(a!, omod, 'f32', mode)] },
    { type: 'f64', name: 'f64_clamp', arguments: 1, cpu: ([lo, hi], _, mode) => pair(() => f64_clamp(hi!, lo!, mode)) },
    { type: 'f32', name: 'f32_clamp', arguments: 1, cpu: ([a], _, mode) => [f32_clamp(a!, mode)] },
  ];
  test.each(cases)('$name', async ({ type, name, arguments: count, cpu }) => {
    const next = random(SEED);
    const sizes = rowSizes(signatureOf('modifiers', name));
    const kernel = await lanes.function('modifiers', name);
    const rows = Array.from({ length: 8 * LANES }, () => ({
      words: draw(next, type, []),
      omod: (next() & 3) as Omod,
      mode: MODES[next() % MODES.length]!,
    }));
    const input = Uint32Array.from(
      rows.flatMap(({ words, omod, mode }) => [...words, ...(count === 2 ? [omod] : []), mode]),
    );
    const want = Uint32Array.from(rows.flatMap(({ words, omod, mode }) => cpu(words, omod, mode)));
    compareRows(input, sizes.input, want, await kernel.run(input), sizes.output);
  });

  test.each(['f64', 'f32', 'transcendental_f32'] as const)('omod_acts_%s, every MODE', async (rule) => {
    const kernel = await lanes.function('modifiers', `omod_acts_${rule}`);
    const rows = Array.from({ length: 2048 }, (_, i) => [i >> 1, i & 1] as const);
    const want = rows.map(([mode, always]) => Number(omodActs(rule, mode, always === 1)));
    expect(Array.from(await kernel.run(Uint32Array.from(rows.flat())))).toEqual(want);
  });
});
