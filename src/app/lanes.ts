/** The Lanes panel: the registers of one wave of the job, a row a lane, after both programs. */
import type { Engine } from '../engine.ts';
import { ADDRESS, DENOMINATOR, NUMERATOR, QUOTIENT } from '../verify/demonstration.ts';
import { runStages } from '../verify/job.ts';
import { Special } from '../wavefront/layout.ts';
import type { WaveState } from '../wavefront/state.ts';
import { byId, checkedValue, make } from './dom.ts';
import { drawWave, type JobPlan } from './job.ts';
import { decimal64, hex32, hex64, messageOf } from './text.ts';

interface Column {
  readonly register: number;
  readonly words: 1 | 2;
  readonly holds: string;
}

/** The registers of the demonstration, in the order of its steps. */
const columns: readonly Column[] = [
  { register: NUMERATOR, words: 2, holds: 'numerator' },
  { register: DENOMINATOR, words: 2, holds: 'denominator' },
  { register: 6, words: 2, holds: 'scaled denominator' },
  { register: 8, words: 2, holds: 'reciprocal, refined' },
  { register: 10, words: 2, holds: 'its last error' },
  { register: 12, words: 2, holds: 'scaled numerator' },
  { register: 14, words: 2, holds: 'first quotient' },
  { register: 16, words: 2, holds: 'residual' },
  { register: 18, words: 2, holds: 'v_div_fmas' },
  { register: QUOTIENT, words: 2, holds: 'quotient' },
  { register: ADDRESS, words: 1, holds: 'LDS address' },
  { register: 22, words: 2, holds: 'old LDS value' },
];

/** One wave after the job, by each engine. */
interface Shown {
  readonly state: WaveState;
  readonly other: WaveState | undefined;
}

export interface LanesPanel {
  /** Shows waves of that job from now on. */
  show(plan: JobPlan): Promise<void>;
}

export function mountLanes([first, second]: readonly [Engine, Engine?]): LanesPanel {
  const input = byId('wave', HTMLInputElement);
  const note = byId('lanes-note', HTMLSpanElement);
  let plan: JobPlan | undefined;
  let shown: Shown | undefined;

  const load = async () => {
    const [job, wave] = [plan, input.valueAsNumber];
    if (!job || !input.checkValidity()) return;
    note.textContent = `Running wave ${wave} …`;
    try {
      const start = drawWave(job, wave);
      const run = async (engine: Engine) =>
        (await runStages(engine, job, start, { profile: job.settings.profile })).state;
      const [state, other] = await Promise.all([run(first), second && run(second)]);
      if (input.valueAsNumber !== wave || plan !== job) return;
      shown = { state, other };
      note.textContent = noteOf(job, wave, first, second);
      draw(shown);
    } catch (error) {
      note.textContent = messageOf(error);
    }
  };
  input.addEventListener('input', load);
  byId('lanes-form', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault());
  for (const radio of document.querySelectorAll('input[name="notation"]'))
    radio.addEventListener('change', () => shown && draw(shown));

  return {
    async show(next) {
      plan = next;
      input.max = String(next.spec.waves - 1);
      if (!input.checkValidity()) input.value = '0';
      await load();
    },
  };
}

const noteOf = ({ settings, spec }: JobPlan, wave: number, first: Engine, second: Engine | undefined): string =>
  `Wave ${wave} of seed ${spec.seed} on ${settings.target.name}, ${settings.profile} profile, by ${first.name}` +
  `${second ? `, compared with ${second.name}` : ''}.`;

function draw(shown: Shown): void {
  const { waveSize } = shown.state.layout.shape;
  const lanes = Array.from({ length: waveSize }, (_, lane) => lane);
  const rows = lanes.map((lane) => laneRow(shown, lane));
  const heads = columns.map(({ register, words, holds }) =>
    make(
      'th',
      { scope: 'col' },
      make('code', {}, words === 2 ? `v[${register}:${register + 1}]` : `v${register}`),
      holds,
    ),
  );
  const head = make(
    'tr',
    {},
    make('th', { scope: 'col' }, 'lane'),
    ...heads,
    make('th', { scope: 'col' }, make('code', {}, 'vcc'), 'scaled'),
  );
  byId('lanes', HTMLTableElement).replaceChildren(make('thead', {}, head), make('tbody', {}, ...rows));
}

function laneRow(shown: Shown, lane: number): HTMLTableRowElement {
  const active = maskBit(shown.state, 0, Special.execLo, lane);
  const cells = columns.map((column) => cellOf(shown, column, lane));
  const vcc = maskBit(shown.state, 0, Special.vccLo, lane);
  const differs = shown.other && maskBit(shown.other, 0, Special.vccLo, lane) !== vcc;
  cells.push(make('td', { class: differs ? 'differs' : undefined }, String(vcc)));
  return make('tr', { class: active ? undefined : 'inactive' }, make('th', { scope: 'row' }, String(lane)), ...cells);
}

function cellOf({ state, other }: Shown, { register, words }: Column, lane: number): HTMLTableCellElement {
  const read = (from: WaveState) => {
    const lo = from.vgpr(0, register)[lane]!;
    return words === 1 ? { hi: 0, lo } : { hi: from.vgpr(0, register + 1)[lane]!, lo };
  };
  const value = read(state);
  const expected = other ? read(other) : value;
  const differs = value.hi !== expected.hi || value.lo !== expected.lo;
  const texts =
    words === 1 ? [hex32(value.lo), String(value.lo)] : [hex64(value.hi, value.lo), decimal64(value.hi, value.lo)];
  if (checkedValue('notation') === 'decimal') texts.reverse();
  const title = differs ? `${texts[1]}; reference ${hex64(expected.hi, expected.lo)}` : texts[1];
  return make('td', { class: differs ? 'differs' : undefined, title }, texts[0]!);
}

/** A lane's bit of a mask whose low word is that special word. */
const maskBit = (state: WaveState, wave: number, low: number, lane: number): number =>
  (state.special(wave, low + (lane >> 5)) >>> (lane & 31)) & 1;
