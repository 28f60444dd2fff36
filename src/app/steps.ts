/** The eleven steps of the f64 division macro on one pair, each in a register of its own. */
import type { Engine } from '../engine.ts';
import { assemble } from '../program/assembler.ts';
import { modeOf } from '../verify/demonstration.ts';
import type { Pair } from '../verify/operands.ts';
import { Special } from '../wavefront/layout.ts';
import { WaveState } from '../wavefront/state.ts';
import { byId, make, makeTable } from './dom.ts';
import type { Settings } from './settings.ts';
import { decimal64, hex64 } from './text.ts';

/** v[0:1] / v[2:3]; step k leaves its result in v[4+2k:5+2k]. Every target has these spellings. */
const steps = [
  { text: 'v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]', does: 'denominator, scaled' },
  { text: 'v_div_scale_f64 v[6:7], vcc, v[0:1], v[2:3], v[0:1]', does: 'numerator, scaled' },
  { text: 'v_rcp_f64 v[8:9], v[4:5]', does: 'reciprocal from the table' },
  { text: 'v_fma_f64 v[10:11], -v[4:5], v[8:9], 1.0', does: 'its error' },
  { text: 'v_fma_f64 v[12:13], v[8:9], v[10:11], v[8:9]', does: 'reciprocal, refined' },
  { text: 'v_fma_f64 v[14:15], -v[4:5], v[12:13], 1.0', does: 'its error' },
  { text: 'v_fma_f64 v[16:17], v[12:13], v[14:15], v[12:13]', does: 'reciprocal, refined again' },
  { text: 'v_mul_f64 v[18:19], v[6:7], v[16:17]', does: 'quotient, nearly' },
  { text: 'v_fma_f64 v[20:21], -v[4:5], v[18:19], v[6:7]', does: 'residual' },
  { text: 'v_div_fmas_f64 v[22:23], v[20:21], v[16:17], v[18:19]', does: 'quotient, scaled back if VCC' },
  { text: 'v_div_fixup_f64 v[24:25], v[22:23], v[2:3], v[0:1]', does: 'special cases' },
] as const;

const source = `${steps.map(({ text }) => text).join('\n')}\ns_endpgm\n`;

export interface Step {
  readonly text: string;
  readonly does: string;
  readonly hi: number;
  readonly lo: number;
  /** The lane's bit of the mask that the step writes. */
  readonly flag?: number;
}

/** Runs the macro on a pair, in lane 0 of a wave. @throws EngineError */
export async function runSteps(engine: Engine, pair: Pair, { target, profile, round }: Settings): Promise<Step[]> {
  const program = assemble(source, { target, waveSize: 64, file: 'steps' });
  const { vgprs, sgprs } = program;
  const state = WaveState.start({ waveSize: 64, waves: 1, wavesPerGroup: 1, vgprs, sgprs, ldsWords: 0 });
  state.setSpecial(0, Special.mode, modeOf(round));
  for (const [register, word] of [pair.nLo, pair.nHi, pair.dLo, pair.dHi].entries()) state.vgpr(0, register).fill(word);
  const { state: end } = await engine.run(program, state, { profile });
  const flags = [end.scalar(0, 0) & 1, end.special(0, Special.vccLo) & 1];
  return steps.map(({ text, does }, index) => {
    const flag = flags[index];
    const [lo, hi] = [end.vgpr(0, 4 + 2 * index)[0]!, end.vgpr(0, 5 + 2 * index)[0]!];
    return { text, does, hi, lo, ...(flag !== undefined && { flag }) };
  });
}

/** Fills the panel of steps below the map. */
export function showSteps(engine: Engine, pair: Pair, { target, profile }: Settings, results: readonly Step[]): void {
  const operand = (hi: number, lo: number) =>
    make('span', {}, make('code', {}, hex64(hi, lo)), ` = ${decimal64(hi, lo)}`);
  const rows = results.map(({ text, does, hi, lo, flag }, index) => [
    String(index + 1),
    make('span', {}, make('code', {}, text), make('small', {}, does)),
    make('code', { class: 'bits' }, hex64(hi, lo)),
    decimal64(hi, lo),
    flag === undefined ? '' : String(flag),
  ]);
  const by = engine.name === 'webgpu' ? 'WebGPU' : 'the CPU reference';
  const table = makeTable(
    `${target.name}, ${profile} profile, by ${by}`,
    ['', 'instruction', 'bits', 'decimal', 'VCC'],
    rows,
  );
  table.classList.add('steps');
  const head = make('p', { class: 'pair-shown' }, operand(pair.nHi, pair.nLo), ' ÷ ', operand(pair.dHi, pair.dLo));
  byId('steps', HTMLDivElement).replaceChildren(
    make('h3', {}, 'The macro, step by step'),
    head,
    make('div', { class: 'scroll' }, table),
  );
}
