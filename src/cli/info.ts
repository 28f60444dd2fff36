/** `wave64 info`: adapters, limits, a self-test, and which engine would be used and why. */
import type { Command } from 'commander';
import { type Engine, EngineError } from '../engine.ts';
import { allTargets, defaultTarget, findTarget } from '../isa/target.ts';
import { assemble } from '../program/assembler.ts';
import { runBulk } from '../verify/bulk.ts';
import {
  countWrongQuotients,
  demonstrationShape,
  divisionText,
  drawBatch,
  minimumText,
} from '../verify/demonstration.ts';
import { Exit } from './errors.ts';
import type { AdapterReport, End, Io } from './io.ts';
import { addCommon, type CommonOptions } from './options.ts';
import { printTable } from './table.ts';

const examples = `
The environment variable WAVE64_DRIVER chooses the driver: auto, system or swiftshader.

Examples:
  wave64 info
  WAVE64_DRIVER=system wave64 info --json`;

export function addInfo(program: Command, io: Io, end: End): void {
  const command = program
    .command('info')
    .description('show adapters, limits, a self-test, and which engine would be used')
    .addHelpText('after', examples);
  addCommon(command, ['timeout', 'json']).action((options: CommonOptions) => end(info(io, options)));
}

/** What the self-test of an engine found. */
interface SelfTest {
  readonly engine: 'webgpu' | 'reference';
  readonly device: string;
  /** Words that differ from the reference, quotients that differ from JavaScript's. */
  readonly mismatches: number;
  readonly wrongQuotients: number;
  readonly ms: number;
  readonly error?: string;
}

const SELF_TEST_WAVES = 4;

async function info(io: Io, options: CommonOptions): Promise<Exit> {
  const timeoutMs = options.timeout * 1000;
  const adapter = await adapterOf(io, timeoutMs);
  const reference = await io.engines.reference();
  const tests = [await selfTest(reference, undefined)];
  if (adapter.driver !== 'none') tests.unshift(await webGpuTest(io, timeoutMs, reference));
  await reference.close();
  const failed = tests.some((t) => t.mismatches > 0 || t.wrongQuotients > 0);
  const works = tests[0]!.engine === 'webgpu' && tests[0]!.error === undefined;
  const chosen = works ? 'webgpu' : 'reference';
  if (options.json)
    io.out(
      `${JSON.stringify({ command: 'info', node: process.version, adapter, selfTest: tests, engine: chosen, targets: allTargets.map((t) => t.name) }, null, 2)}\n`,
    );
  else print(io, adapter, tests, chosen);
  return failed ? Exit.differs : Exit.done;
}

async function adapterOf(io: Io, timeoutMs: number): Promise<AdapterReport> {
  try {
    return await io.engines.adapter(timeoutMs);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { driver: 'none', description: '', software: false, reasons: [error.message], limits: {}, features: [] };
  }
}

async function webGpuTest(io: Io, timeoutMs: number, reference: Engine): Promise<SelfTest> {
  try {
    const webgpu = await io.engines.webgpu(timeoutMs);
    const test = await selfTest(webgpu, reference);
    await webgpu.close();
    return test;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { engine: 'webgpu', device: '', mismatches: 0, wrongQuotients: 0, ms: 0, error: error.message };
  }
}

/** A few waves of the demonstration. */
async function selfTest(engine: Engine, other: Engine | undefined): Promise<SelfTest> {
  const target = findTarget(defaultTarget);
  const build = (text: string) => assemble(text, { target, waveSize: 64, file: 'built-in' });
  const stages = [
    { name: 'macros', program: build(divisionText(target, 64)) },
    { name: 'minima', program: build(minimumText(target)) },
  ];
  const shape = demonstrationShape(target, 64, SELF_TEST_WAVES);
  const job = { stages, batches: 1, draw: () => drawBatch(shape, 1, 0), countWrong: countWrongQuotients };
  const report = await runBulk(job, other ? [engine, other] : [engine]);
  const common = {
    engine: engine.name,
    device: engine.device,
    mismatches: report.comparison.mismatches,
    wrongQuotients: report.wrong!,
    ms: report.wallMs,
  };
  return report.failure ? { ...common, error: report.failure.message } : common;
}

function print(io: Io, adapter: AdapterReport, tests: readonly SelfTest[], chosen: string): void {
  io.out('WebGPU adapters, in the order of trying:\n');
  for (const reason of adapter.reasons) io.out(`  ${reason}\n`);
  if (adapter.driver !== 'none') {
    io.out(`  taken: ${adapter.description} (${adapter.driver}${adapter.software ? ', computes on the CPU' : ''})\n`);
    printTable(
      io,
      ['limit', 'value'],
      Object.entries(adapter.limits).map(([name, value]) => [name, value.toLocaleString('en')]),
    );
    io.out(`features: ${adapter.features.join(', ')}\n`);
  }
  printTable(
    io,
    ['self-test', 'adapter', 'result', 'ms, compiling included'],
    tests.map((t) => [
      t.engine,
      t.device,
      t.error ??
        (t.mismatches + t.wrongQuotients === 0
          ? 'equal'
          : `${t.mismatches} words, ${t.wrongQuotients} quotients differ`),
      t.ms.toFixed(0),
    ]),
  );
  const why = chosen === 'webgpu' ? 'an adapter was found and passed the self-test' : 'no WebGPU adapter works here';
  io.out(
    `engine that "wave64 run" would use: ${chosen}${chosen === 'webgpu' ? '' : ' (say --engine reference)'}, since ${why}\n`,
  );
  io.out(`targets: ${allTargets.map((t) => t.name).join(', ')}\n`);
}
