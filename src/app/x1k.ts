/** The X1K panel: a program in the text form of docs/x1k.md, its registers before and after, on the engines there are. */
import type { Engine } from '../engine.ts';
import { x1kTarget } from '../isa/target.ts';
import { numberOf } from '../isa/x1k/number.ts';
import { assemble } from '../program/assembler.ts';
import { x1kExamples, x1kState } from '../program/x1k/examples.ts';
import { compareStates } from '../verify/compare.ts';
import { modeOf, type RoundName } from '../verify/demonstration.ts';
import { namedRegisters } from '../verify/registers.ts';
import { Special } from '../wavefront/layout.ts';
import type { WaveState } from '../wavefront/state.ts';
import { byId, make, makeTable } from './dom.ts';
import { hex32, messageOf } from './text.ts';

/** Fills the panel; `round` is what MODE holds. */
export function mountX1k(engines: readonly [Engine, Engine?], round: () => RoundName): void {
  const example = byId('x1k-example', HTMLSelectElement);
  const text = byId('x1k-text', HTMLTextAreaElement);
  const result = byId('x1k-result', HTMLDivElement);
  let asked = 0;

  const run = async () => {
    const ask = ++asked;
    try {
      const shown = await runText(engines, text.value, round());
      if (ask === asked) result.replaceChildren(...shown);
    } catch (error) {
      if (ask === asked) result.replaceChildren(make('p', { class: 'error' }, messageOf(error)));
    }
  };

  example.replaceChildren(...x1kExamples.map(({ title }, index) => new Option(title, String(index))));
  example.addEventListener('change', () => {
    text.value = x1kExamples[Number(example.value)]!.text;
    void run();
  });
  text.value = x1kExamples[0]!.text;
  byId('x1k', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
  byId('x1k-run', HTMLButtonElement).disabled = false;
}

/** @throws AsmError, EngineError */
async function runText(
  [first, second]: readonly [Engine, Engine?],
  text: string,
  round: RoundName,
): Promise<HTMLElement[]> {
  const program = assemble(text, { target: x1kTarget, file: 'program' });
  const start = x1kState(program, text);
  start.setSpecial(0, Special.mode, modeOf(round));
  const [end, other] = await Promise.all(
    [first, second].map(async (engine) => engine && (await engine.run(program, start)).state),
  );
  const named = [...new Set([...namedRegisters(program).vgprs].map((vgpr) => Math.floor(vgpr / 4)))];
  const rows = named.sort((a, b) => a - b).flatMap((register) => rowsOf(register, start, end!));
  const mismatches = other ? compareStates(end!, other).mismatches : undefined;
  const verdict =
    mismatches === undefined ? 'by the CPU reference alone' : `WebGPU and the CPU reference: ${mismatches} mismatches`;
  const predicate = `predicate (VCC): ${end!.special(0, Special.vccLo) & 1}`;
  return [makeTable(`${verdict}; ${predicate}`, ['register', '', 'x', 'y', 'z', 'w'], rows)];
}

/** The register before, and after where it has changed. */
function rowsOf(register: number, start: WaveState, end: WaveState): (Node | string)[][] {
  const words = (state: WaveState) => [0, 1, 2, 3].map((i) => wordOf(state, 4 * register + i));
  const [before, after] = [words(start), words(end)];
  const row = (when: string, of: readonly number[]) => [`r${register}`, when, ...of.map(cell)];
  const isSame = before.every((word, i) => word === after[i]);
  return isSame ? [row('kept', before)] : [row('before', before), row('after', after)];
}

/** Lane 0; components that the program does not name may lie beyond the state. */
const wordOf = (state: WaveState, vgpr: number): number =>
  vgpr < state.layout.shape.vgprs ? state.vgpr(0, vgpr)[0]! : 0;

/** The bits, and the number that X1K sees in them, to the nine digits that name an f32. */
function cell(word: number): HTMLElement {
  const value = numberOf(word);
  const decimal = Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(9)));
  return make('span', {}, make('code', { class: 'bits' }, hex32(word)), make('small', {}, ` ${decimal}`));
}
