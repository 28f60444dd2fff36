// What the commands do, and their exit codes: 0 done and equal, 1 differs, 3 no engine, 4 faulted or not ended; what was complete survives.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { KINDS } from '../../src/bench/kinds.ts';
import type { EngineSource } from '../../src/cli/io.ts';
import { type Engine, EngineError } from '../../src/engine.ts';
import { openWebGpuEngine } from '../../src/gpu/engine.node.ts';
import { TranslatingEngine } from '../../src/gpu/engine.ts';
import type { KernelRunner } from '../../src/gpu/runner.ts';
import { findTarget } from '../../src/isa/target.ts';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { demonstrationShape, drawBatch, NUMERATOR } from '../../src/verify/demonstration.ts';
import { BATCH_WAVES } from '../../src/verify/demonstrationJob.ts';
import { PART_WAVES } from '../../src/verify/job.ts';
import type { WaveState } from '../../src/wavefront/state.ts';
import { openHangingEngine } from '../gpu/hang.ts';
import { scripted } from '../verify/scripted.ts';
import { inFolder, wave64 } from './cli.ts';

const BATCH_LANES = 64 * BATCH_WAVES;

const engines = (webgpu: () => Promise<Engine>): EngineSource => ({
  reference: async () => new ReferenceEngine(),
  webgpu,
  adapter: async () => ({
    driver: 'none',
    description: '',
    software: false,
    reasons: ['nothing here'],
    limits: {},
    features: [],
  }),
});

/** One driver for all tests that only need one; its kernels stay compiled. */
let driver: TranslatingEngine;
const real = engines(async () => {
  const { runner } = driver;
  const { device, software, maxBufferBytes, maxBindingBytes } = runner;
  const run: KernelRunner['run'] = (...args) => runner.run(...args);
  return new TranslatingEngine({ device, software, maxBufferBytes, maxBindingBytes, run, close: async () => {} });
});
const noWebGpu = engines(() => Promise.reject(new EngineError('unavailable', 'no WebGPU adapter: nothing here')));

/** The reference in the other engine's place; `change` spoils the result of its n-th run, or throws. */
const spoiled = (change: (state: WaveState, run: number) => void): EngineSource =>
  engines(async () => {
    const reference = new ReferenceEngine();
    let runs = 0;
    return {
      name: 'webgpu',
      device: 'a spoiled adapter',
      run: async (...args) => {
        const result = await reference.run(...args);
        change(result.state, runs++);
        return result;
      },
      close: async () => {},
    };
  });

/** 3 + 0.5 in v[0:1] where EXEC is set, and its minimum with LDS; the address of the second minimum lies in v6. */
const SUM = `
  v_add_f64 v[0:1], v[2:3], 0.5
  ds_min_rtn_f64 v[4:5], v6, v[0:1] offset:8
  s_waitcnt lgkmcnt(0)
  s_endpgm
`;

const state = (entry: object, waves = 1) =>
  JSON.stringify({ target: 'gfx90a', wave: 64, waves: Array(waves).fill(entry) });

const SUM_STATE = state({
  exec: '0000000000000005',
  v: { 3: '40080000' },
  lds: ['00000000', '00000000', '00000000', '40140000'],
});

let folder: { close: () => void };
beforeAll(async () => {
  driver = await openWebGpuEngine();
  folder = inFolder({
    'sum.s': SUM,
    'sum.json': SUM_STATE,
    'far.s': 'v_mov_b32 v0, 1\nds_read_b64 v[2:3], v1\ns_endpgm\n',
    'far.json': state({ v: { 1: ['00000000', '0000fff8', '00010000', ...Array(61).fill('00000000')] } }, 3),
    'odd.json': state({ v: { 1: '00000004' } }),
    'mov.s': 'v_mov_b32 v0, v2\ns_endpgm\n',
    'nops.s': 's_nop 0\ns_nop 0\ns_nop 0\ns_endpgm\n',
    'good.json': JSON.stringify([
      { instr: 'v_rcp_f64', gen: 'gfx1201', in: ['0x4008000000000000'], out: '0x3fd5555554000000' },
    ]),
    'wrong.json': JSON.stringify([
      { instr: 'v_rcp_f64', gen: 'gfx1201', in: ['0x4008000000000000'], out: '0x3fd5555555555555' },
    ]),
    'div.txt':
      '3ff0000000000000 4008000000000000 3fd5555555555555 01 3fd5555555555555 01 3fd5555555555555 01 3fd5555555555556 01\n',
  });
});
afterAll(async () => {
  await driver.close();
  folder.close();
});

/** The one JSON document of a command. */
async function json(argv: string, source: EngineSource) {
  const { exit, out, err } = await wave64([...argv.split(' '), '--json'], source);
  return { exit, err, document: JSON.parse(out) as Record<string, unknown> };
}

const run = (argv: string, source: EngineSource) => wave64(argv.split(' '), source);

describe('verify', () => {
  test('the main job on a few waves: table, fidelity, quotients; WebGPU equals the reference', async () => {
    const { exit, out, err } = await run('verify --waves 8', real);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(/│ webgpu +│ .* │ 512 +│ .*│ 0 +│\n/);
    expect(out).toMatch(/│ reference +│ .* │ 512 +│ .*│ 0 +│\n/);
    expect(out).toMatch(/│ ds_min_rtn_f64 +│ modelled +│/);
    expect(out).toContain("quotients against JavaScript's a / b: 512 compared, 0 differ");
    for (const work of ['draw', 'upload', 'compute', 'read back', 'reference', 'compare', 'a / b'])
      expect(out).toMatch(new RegExp(`│ ${work} +│ 1 +│ [0-9.]+ [kMG]? *│ +[0-9]+ % +│`));
  });

  test('pairs on a wave32 target, seed 7, rounding up: one JSON document', async () => {
    const { exit, document } = await json('verify --pairs 1000 --seed 7 --round rup --target gfx1100', real);
    expect(exit).toBe(0);
    expect(document).toMatchObject({
      command: 'verify',
      exit: 0,
      target: 'gfx1100',
      wave: 32,
      seed: 7,
      round: 'rup',
      lanes: 1024,
      mismatches: 0,
      differences: [],
      interrupted: false,
    });
    expect(document).not.toHaveProperty('quotients'); // only nearest even is a division
  });

  test.each(['gfx90a', 'gfx1100', 'gfx1200'])(
    'the division as compiled, on %s: every register that it leaves',
    async (target) => {
      const { exit, document } = await json(
        `verify --pairs 2000 --registers compiled --seed 3 --target ${target}`,
        real,
      );
      const { waves, wave, lanes } = document as { waves: number; wave: number; lanes: number };
      expect({ exit, ...document }).toMatchObject({
        exit: 0,
        mismatches: 0,
        registers: 'compiled',
        operands: 'special',
      });
      expect(document['quotients']).toEqual({ checked: lanes, wrong: 0 });
      // 12 VGPRs, the SGPRs that v_div_scale's mask is dropped into, the special words.
      expect(document['wordsCompared']).toBe(12 * lanes + waves * (wave === 64 ? 18 : 16));
    },
  );

  test('normal operands are ordinary numbers', async () => {
    const fields = new Set<number>();
    const source = spoiled((state) => {
      for (const word of [...state.vgpr(1, 1), ...state.vgpr(1, 3)]) fields.add((word >>> 20) & 0x7ff);
    });
    const { exit, document } = await json('verify --pairs 256 --operands normal', source);
    expect({ exit, ...document }).toMatchObject({ exit: 0, registers: 'steps', operands: 'normal' });
    expect([...fields].filter((field) => field < 923 || field > 1122)).toEqual([]);
    expect(fields.size).toBeGreaterThan(30);
  });

  test('a wrong quotient in the place of its numerator is found by native division', async () => {
    const flip = (state: WaveState) => {
      state.vgpr(0, 0)[5]! ^= 1;
    };
    const { exit, document } = await json('verify --pairs 64 --registers compiled', spoiled(flip));
    expect({ exit, ...document }).toMatchObject({ exit: 1, mismatches: 1, quotients: { checked: 64, wrong: 1 } });
  });

  test('the published profile is no division, and both engines agree on it', async () => {
    const { exit, document } = await json('verify --pairs 640 --profile published', real);
    expect({ exit, mismatches: document['mismatches'] }).toEqual({ exit: 0, mismatches: 0 });
  });

  test('a program on random registers, and on a state', async () => {
    expect((await json('verify sum.s --waves 3 --seed 2', real)).document).toMatchObject({
      exit: 0,
      waves: 3,
      mismatches: 0,
    });
    expect((await json('verify sum.s --state sum.json', real)).document).toMatchObject({
      exit: 0,
      waves: 1,
      mismatches: 0,
      faults: [],
    });
  });

  test('one wrong bit in the second batch ends with 1 and is named', async () => {
    // Which batch the engine gets first is up to the threads that draw them, so the second is known by its numerators.
    const shape = { ...demonstrationShape(findTarget('gfx90a'), 64, PART_WAVES), ldsWords: 0 };
    const numerators = drawBatch(shape, 1, BATCH_WAVES / PART_WAVES).vgpr(3, NUMERATOR);
    const { exit, out } = await run(
      `verify --pairs ${2 * BATCH_LANES}`,
      spoiled((s) => {
        if (s.vgpr(3, NUMERATOR).every((word, lane) => word === numerators[lane])) s.vgpr(3, 8)[9]! ^= 1;
      }),
    );
    expect(exit).toBe(1);
    expect(out).toMatch(/\nwave 1027 v8 lane 9: webgpu [0-9a-f]{8}, reference [0-9a-f]{8}\nv8: 1 words differ\n/);
  });

  test('a wrong quotient that both engines share is found by native division', async () => {
    class Shared extends ReferenceEngine {
      override async run(...args: Parameters<ReferenceEngine['run']>) {
        const result = await super.run(...args);
        result.state.vgpr(0, 20).fill(1);
        result.state.vgpr(0, 21).fill(1);
        return result;
      }
    }
    const both = {
      ...noWebGpu,
      webgpu: async () => new Shared() as unknown as Engine,
      reference: async () => new Shared(),
    };
    expect((await json('verify --pairs 64', both)).document).toMatchObject({
      exit: 1,
      mismatches: 0,
      quotients: { checked: 64, wrong: 64 },
    });
  });
});

describe('run', () => {
  test.each(['webgpu', 'reference'])('the final state, on %s: EXEC, the sum, the old value, LDS', async (engine) => {
    const { exit, out } = await run(`run sum.s --state sum.json --engine ${engine}`, real);
    const [entry] = (JSON.parse(out) as { waves: Record<string, unknown>[] }).waves;
    const lanes = (on: string) =>
      ['0', '2'].reduce((all, lane) => all.with(Number(lane), on), Array<string>(64).fill('00000000'));
    expect(exit).toBe(0);
    expect(entry).toEqual({
      exec: '0000000000000005',
      vcc: '0000000000000000',
      scc: 0,
      m0: '00000000',
      mode: '000003f0',
      s: {},
      v: {
        0: '00000000',
        1: lanes('400c0000'),
        2: '00000000',
        3: '40080000',
        4: '00000000',
        5: lanes('40140000').with(2, '400c0000'),
        6: '00000000',
      },
      lds: ['00000000', '00000000', '00000000', '400c0000'],
    });
  });

  test('--out writes the same text, which is a state file again', async () => {
    const { out } = await run('run sum.s --state sum.json --engine reference', real);
    const written = await run('run sum.s --state sum.json --engine reference --out out.json', real);
    expect(written).toEqual({ exit: 0, out: '', err: '' });
    expect(readFileSync('out.json', 'utf8')).toBe(out);
    expect((await run('run sum.s --state out.json --engine reference', real)).exit).toBe(0);
  });

  test('65,536 waves run in batches, each wave once', async () => {
    const waves = Array.from({ length: 65536 }, (_, i) => ({ v: { 2: i.toString(16).padStart(8, '0') } }));
    writeFileSync('many.json', JSON.stringify({ waves }));
    const { exit, out } = await run('run mov.s --state many.json --engine reference', real);
    const after = (JSON.parse(out) as { waves: { v: Record<string, string> }[] }).waves;
    expect(exit).toBe(0);
    expect(after.map((w) => w.v['0'])).toEqual(waves.map((w) => w.v[2]));
  });
});

describe('exit code 3: no engine', () => {
  test('asked for by name: what to do', async () => {
    for (const argv of [
      'run sum.s --state sum.json',
      'verify --pairs 1 --engine both',
      'bench --engine webgpu',
      'vectors good.json --engine webgpu',
    ])
      expect(await run(argv, noWebGpu)).toEqual({
        exit: 3,
        out: '',
        err: 'wave64: no WebGPU adapter: nothing here; allowed: --engine reference, which needs no adapter\n',
      });
  });

  test('not asked for: the reference runs alone and says so', async () => {
    const { exit, out, err } = await run('verify --pairs 64', noWebGpu);
    expect({ exit, err }).toEqual({
      exit: 0,
      err: 'wave64: no WebGPU adapter: nothing here; the reference engine runs alone, compared with no other\n',
    });
    expect(out).toContain('not compared');
  });
});

describe('exit code 4: faults', () => {
  test.each(['webgpu', 'reference'])(
    'LDS out of range on %s: wave, lane, pc, instruction, address; the state is printed',
    async (engine) => {
      const { exit, out, err } = await run(`run far.s --state far.json --engine ${engine}`, real);
      expect({ exit, err }).toEqual({
        exit: 4,
        err: 'wave64: far.s:2:1: wave 0 lane 2, pc 0x4, ds_read_b64, address 0x00010000: LDS address out of range\n',
      });
      expect(
        (JSON.parse(out) as { waves: { v: object }[] }).waves.map((w) => (w.v as Record<string, string>)['0']),
      ).toEqual(Array(3).fill('00000001'));
    },
  );

  test('misaligned LDS under verify: both engines agree, and it is a fault all the same', async () => {
    const { exit, err, document } = await json('verify far.s --state odd.json', real);
    expect({ exit, err }).toEqual({
      exit: 4,
      err: 'wave64: far.s:2:1: wave 0 lane 0, pc 0x4, ds_read_b64, address 0x00000004: LDS address misaligned\n',
    });
    expect(document).toMatchObject({ mismatches: 0, faults: [{ wave: 0, lane: 0, pc: 4, address: 4 }] });
  });

  test('more steps than allowed', async () => {
    const { exit, err } = await run('run nops.s --state sum.json --max-steps 2 --engine reference', real);
    expect({ exit, err }).toEqual({
      exit: 4,
      err: 'wave64: nops.s:3:1: wave 0, pc 0x8, s_nop: more instructions executed than --max-steps allows\n',
    });
  });
});

describe('exit code 4: drivers, and what was complete', () => {
  /** Process ids of our driver processes. */
  const drivers = () =>
    readdirSync('/proc').filter((id) => {
      if (!/^\d+$/.test(id)) return false;
      try {
        return (
          readFileSync(`/proc/${id}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`) &&
          readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('gpu/child.ts')
        );
      } catch {
        return false;
      }
    });

  test('a driver that hangs in the second batch is ended; the first batch is reported', async () => {
    const hanging = engines(() => openHangingEngine({ hangAt: 1, timeoutMs: 8000 }));
    const { exit, err, document } = await json(`verify --pairs ${3 * BATCH_LANES}`, hanging);
    expect(exit).toBe(4);
    expect(err).toBe(
      'wave64: the WebGPU driver did not answer within 8 s while running the program; it was ended; 1 of 3 batches are done and reported\n',
    );
    expect(document).toMatchObject({
      batches: { done: 1, of: 3 },
      lanes: BATCH_LANES,
      mismatches: 0,
      quotients: { checked: BATCH_LANES, wrong: 0 },
      failure: { kind: 'timeout' },
    });
  });

  test.runIf(process.platform === 'linux')(
    'a driver that is killed: one clear line, the waves before are written',
    async () => {
      const others = new Set(drivers());
      const own = () => drivers().filter((id) => !others.has(id));
      let runs = 0;
      const killed = engines(async () => {
        const engine = await openWebGpuEngine();
        return {
          name: 'webgpu',
          device: engine.device,
          run: (...args) => {
            if (runs++ === 1) for (const id of own()) process.kill(Number(id), 'SIGKILL');
            return engine.run(...args);
          },
          close: () => engine.close(),
        };
      });
      writeFileSync('two.json', state({}, 2048));
      const { exit, out, err } = await run('run mov.s --state two.json', killed);
      expect({ exit, err }).toEqual({
        exit: 4,
        err: 'wave64: the WebGPU driver process ended (SIGKILL); 1024 of 2048 waves are done and written\n',
      });
      expect((JSON.parse(out) as { waves: object[] }).waves.length).toBe(1024);
      expect(own()).toEqual([]);
    },
  );

  test('an interrupt: what was done is printed', async () => {
    const interrupt = new AbortController();
    const source = spoiled(() => interrupt.abort());
    const { exit, out, err } = await wave64(['verify', '--pairs', String(3 * BATCH_LANES)], source, interrupt.signal);
    expect({ exit, err }).toEqual({ exit: 4, err: 'wave64: interrupted; 1 of 3 batches are done and reported\n' });
    expect(out).toContain('1,024 of 3,072 waves');
  });
});

describe('vectors', () => {
  test('a known answer of the reciprocal table, on both engines', async () => {
    expect((await json('vectors good.json', real)).document).toMatchObject({
      exit: 0,
      engines: [
        { engine: 'webgpu', cases: 1, failed: 0 },
        { engine: 'reference', cases: 1, failed: 0 },
      ],
    });
  });

  test('a wrong one ends with 1 and is shown', async () => {
    const { exit, out } = await run('vectors wrong.json --engine reference', real);
    expect(exit).toBe(1);
    expect(out).toContain(
      'reference [0] gfx1201 v_rcp_f64 4008000000000000: expected 3fd5555555555555, got 3fd5555554000000\n',
    );
  });

  test.each(['rne', 'rtz', 'rdn'])(
    'an operation without an instruction, f64_div in %s, on both engines',
    async (round) => {
      expect((await json(`vectors div.txt --format testfloat --op f64_div --round ${round}`, real)).exit).toBe(0);
    },
  );

  test('its other rounding mode gives another answer', async () => {
    const { document } = await json('vectors div.txt --format testfloat --op f64_div --round rup', real);
    expect(document).toMatchObject({ exit: 0, engines: [{ failed: 0 }, { failed: 0 }] });
  });
});

describe('asm and disasm', () => {
  const text = ['\tv_rcp_f64_e32 v[0:1], v[2:3]', '\tv_fma_f64 v[4:5], -v[0:1], v[2:3], 1.0', '\ts_endpgm', ''].join(
    '\n',
  );

  test.each(['gfx906', 'gfx90a', 'gfx942', 'gfx1030', 'gfx1100', 'gfx1200'])(
    'text to hex, to bytes, and back, on %s',
    async (target) => {
      writeFileSync('loop.s', text);
      const hex = await run(`asm loop.s --target ${target}`, real);
      writeFileSync('loop.hex', hex.out);
      expect(await run(`asm loop.s --target ${target} --out loop.bin`, real)).toEqual({ exit: 0, out: '', err: '' });
      expect(readFileSync('loop.bin').toString('hex')).toBe(hex.out.replaceAll('\n', ''));
      for (const file of ['loop.hex', 'loop.bin'])
        expect(await run(`disasm ${file} --target ${target}`, real)).toEqual({ exit: 0, out: text, err: '' });
    },
  );

  test('LLVM 22 has these bytes', async () => {
    writeFileSync('loop.s', text);
    expect((await run('asm loop.s --target gfx90a', real)).out).toBe('024b007e\n0400ccd10005ca23\n000081bf\n');
    expect((await json('asm loop.s --target gfx1100', real)).document).toMatchObject({
      wave: 32,
      vgprs: 6,
      instructions: [{ pc: 0, bytes: '025f007e', line: 1 }, { pc: 4 }, { pc: 12 }],
    });
  });

  test('unknown bytes are printed, and end with 2', async () => {
    writeFileSync('bad.hex', '000081bf ffffffff');
    const { exit, out } = await run('disasm bad.hex', real);
    expect({ exit, out }).toEqual({ exit: 2, out: '\ts_endpgm\n\t.long 0xffffffff\n' });
  });
});

describe('bench and info', () => {
  const figureSchema = z.strictObject({
    id: z.string(),
    engine: z.enum(['webgpu', 'reference']),
    adapter: z.string(),
    lanes: z.int().positive(),
    perSecond: z.number().positive(),
    deviceNs: z.number().positive().nullable(),
    compileMs: z.number().positive().nullable(),
    bytes: z.int().nonnegative(),
    boundShare: z.number().positive().nullable(),
    operands: z.enum(['normal', 'special']),
    wallNs: z.number().positive(),
    wallPerSecond: z.number().positive(),
    spread: z.tuple([z.number().positive(), z.number().positive()]),
    repeats: z.int().min(3),
    mismatches: z.int(),
    operations: z.partialRecord(z.enum(KINDS), z.number().positive()).nullable(),
    multiplies: z.number().nonnegative().nullable(),
    others: z.number().nonnegative().nullable(),
  });
  const schema = z.object({ command: z.literal('bench'), exit: z.int(), figures: z.array(figureSchema) });

  test.each(['normal', 'special'])(
    'figures on %s operands, results compared, report and charts written',
    async (operands) => {
      const { exit, document } = await json(
        `bench --only macro/fused macro/direct lds-min/equal f64/fma macro/steps --lanes 128 --seconds 1 --operands ${operands} --out bench`,
        real,
      );
      const { figures } = schema.parse(document);
      expect(exit).toBe(0);
      expect(figures.map(({ id, engine }) => `${engine} ${id}`)).toEqual([
        'webgpu macro/fused/stored',
        'webgpu macro/direct',
        'webgpu macro/fused/registers',
        'webgpu macro/direct/registers',
        'webgpu f64/fma',
        'webgpu lds-min/equal',
        'webgpu lds-min/equal/serial',
        'reference macro/steps',
        'reference macro/steps/fused',
      ]);
      for (const figure of figures) {
        expect(figure).toMatchObject({ lanes: 128, operands, mismatches: 0 });
        if (figure.engine === 'reference')
          expect(figure).toMatchObject({ deviceNs: null, compileMs: null, boundShare: null });
        else for (const known of [figure.boundShare, figure.bytes]) expect(known).toBeGreaterThan(0);
      }
      expect(JSON.parse(readFileSync('bench/report.json', 'utf8'))).toEqual(document);
      expect(readFileSync('bench/report.md', 'utf8')).toContain('![rates](rates.svg)');
      expect(readFileSync('bench/rates.svg', 'utf8')).toMatch(/^<svg /);
    },
  );

  test('compiling alone, without probes', async () => {
    const { exit, document } = await json('bench --engine webgpu --only compile/bail --seconds 1', real);
    expect(exit).toBe(0);
    const { figures } = schema.parse(document);
    expect(figures).toMatchObject([{ id: 'compile/bail', lanes: 64, mismatches: 0, boundShare: null }]);
    expect(figures[0]!.compileMs).toBeGreaterThan(0);
  });

  test('a result that differs from the reference ends with 1', async () => {
    const wrong = scripted('reference', (state) => state.vgpr(1, 5).fill(7));
    const { exit, document } = await json('bench --engine reference --only macro/steps --lanes 128 --seconds 1', {
      ...noWebGpu,
      reference: async () => wrong,
    });
    expect(exit).toBe(1);
    for (const { mismatches } of schema.parse(document).figures) expect(mismatches).toBeGreaterThan(0);
  });

  test('ids that do not exist', async () => {
    const { exit, err } = await run('bench --engine reference --only macro/nothing', real);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: 'wave64: --only macro/nothing names nothing; allowed: macro/bigint, macro/error-free, macro/error-free/result, macro/wasm, macro/wasm/result, macro/native, macro/steps, macro/steps/fused\n',
    });
  });

  test('info without an adapter: the reference, and why', async () => {
    const { exit, out } = await run('info', noWebGpu);
    expect(exit).toBe(0);
    expect(out).toContain('nothing here');
    expect(out).toMatch(/│ reference +│ CPU \(JavaScript\) +│ equal/);
    expect(out).toContain('would use: reference (say --engine reference), since no WebGPU adapter works here');
  });

  test('every command has help with an example', async () => {
    for (const command of ['verify', 'run', 'vectors', 'asm', 'disasm', 'bench', 'info']) {
      const { exit, out } = await run(`${command} --help`, noWebGpu);
      expect({
        exit,
        example: out.includes(`\nExamples:\n`),
        usage: out.startsWith(`Usage: wave64 ${command} `),
      }).toEqual({ exit: 0, example: true, usage: true });
    }
  });
});
