/** `wave64 run`: one engine over the waves of a state file. */
import type { Command } from 'commander';
import { type Engine, EngineError } from '../engine.ts';
import type { Program } from '../program/program.ts';
import { namedRegisters } from '../verify/registers.ts';
import { faultLine } from '../verify/report.ts';
import type { Fault, WaveState } from '../wavefront/state.ts';
import { type StateFile, type WaveEntry, waveEntry } from '../wavefront/statefile.ts';
import { engineFailure, openEngines } from './engines.ts';
import { CommandError, Exit } from './errors.ts';
import { writeOutput } from './files.ts';
import type { End, Io } from './io.ts';
import { addCommon, type CommonOptions } from './options.ts';
import { startProgress } from './progress.ts';
import { batchesOf, loadProgramAndState } from './states.ts';

interface RunCommandOptions extends CommonOptions {
  readonly state: string;
  readonly out?: string;
}

/** Waves a batch; what a failed driver had finished before is kept. */
const BATCH_WAVES = 1024;

const examples = `
Examples:
  wave64 run program.s --state in.json --out out.json
  wave64 run program.s --state in.json --engine reference --json

A state file: { "target": "gfx90a", "wave": 64, "mode": "000003f0", "waves_per_workgroup": 1, "waves": [ { "exec": 16 hex digits, "vcc": ..., "scc": 0,
"m0": word, "mode": word, "s": { "4": word }, "v": { "0": word, "1": [64 words] }, "lds": [words] } ] }; a word is 8 hex digits; what is missing is 0,
but exec (all lanes) and mode (nearest even, subnormals kept).`;

export function addRun(program: Command, io: Io, end: End): void {
  const command = program
    .command('run')
    .description('run a program over the waves of a state file on one engine')
    .argument('<program.s>', 'assembly text')
    .requiredOption('--state <in.json>', 'the waves to run it on')
    .option('--out <out.json>', 'where the final state goes (default: stdout)')
    .addHelpText('after', examples);
  addCommon(command, ['target', 'engineOne', 'form', 'profile', 'wave', 'maxSteps', 'timeout', 'json']);
  command.action((path: string, options: RunCommandOptions) => end(run(io, path, options)));
}

/** What a run has come to: entries of the waves that ended, and why it stopped if it did. */
interface Outcome {
  readonly waves: WaveEntry[];
  readonly faults: Fault[];
  failure?: CommandError;
}

async function run(io: Io, path: string, options: RunCommandOptions): Promise<Exit> {
  const { program, file } = loadProgramAndState(io, path, options.state, options);
  const { engines, close } = await openEngines(io, options);
  let outcome: Outcome;
  try {
    outcome = await runBatches(io, engines[0], program, file, options);
  } finally {
    await close();
  }
  const text = printState(file, program, outcome.waves);
  if (options.out === undefined) io.out(text);
  else writeOutput(options.out, text);
  if (options.out !== undefined && options.json)
    io.out(
      `${JSON.stringify({ command: 'run', engine: engines[0].name, device: engines[0].device, waves: outcome.waves.length, out: options.out })}\n`,
    );
  if (outcome.failure) throw outcome.failure;
  const [fault] = outcome.faults;
  if (fault === undefined) return Exit.done;
  const { at, what } = faultLine(fault, [program]);
  throw new CommandError(Exit.fault, `${[path, at].filter(Boolean).join(':')}: ${what}`);
}

async function runBatches(
  io: Io,
  engine: Engine,
  program: Program,
  file: StateFile,
  options: RunCommandOptions,
): Promise<Outcome> {
  const { batches, draw, first } = batchesOf(file, program, BATCH_WAVES);
  const bar = startProgress(io, file.waves.length, 'waves', batches === 1 || options.json);
  const named = namedRegisters(program);
  const outcome: Outcome = { waves: [], faults: [] };
  const take = (state: WaveState, start: number) => {
    for (let wave = 0; wave < state.layout.shape.waves; wave++)
      outcome.waves.push(waveEntry(state, wave, named, file.waves[start + wave]));
    for (const fault of state.faults()) outcome.faults.push({ ...fault, wave: fault.wave + start });
    bar.update(outcome.waves.length);
  };
  try {
    for (let batch = 0; batch < batches; batch++) {
      if (io.signal.aborted)
        throw new CommandError(
          Exit.fault,
          `interrupted; ${outcome.waves.length} of ${file.waves.length} waves are done and written`,
        );
      take(
        (await engine.run(program, draw(batch), { profile: options.profile, maxSteps: options.maxSteps! })).state,
        first(batch),
      );
    }
  } catch (error) {
    if (error instanceof EngineError) {
      const { exit, message } = engineFailure(error);
      outcome.failure = new CommandError(
        exit,
        `${message}; ${outcome.waves.length} of ${file.waves.length} waves are done and written`,
      );
    } else if (error instanceof CommandError) outcome.failure = error;
    else throw error;
  } finally {
    bar.stop();
  }
  return outcome;
}

/** One wave a line, so that two outputs can be compared by line. */
function printState(file: StateFile, program: Program, waves: readonly WaveEntry[]): string {
  const head = {
    target: program.target.name,
    wave: program.waveSize,
    waves_per_workgroup: file.waves_per_workgroup ?? 1,
  };
  return `${JSON.stringify(head).slice(0, -1)},"waves":[\n${waves.map((entry) => JSON.stringify(entry)).join(',\n')}\n]}\n`;
}
