/** Division macros done at once: the steps of their instructions do nothing, and the last one does it all. */
import type { MacroValue } from '../isa/divisionMacro.ts';
import { DivisionMacroLanes } from '../isa/divisionMacroLanes.ts';
import { vectorBytes } from '../isa/divisionMacroVectors.ts';
import { LaneMemory } from '../isa/laneMemory.ts';
import type { OperandSpec } from '../isa/operand.ts';
import type { DivisionMacro } from '../program/divisionMacro.ts';
import type { Layout } from '../wavefront/layout.ts';
import { isNearestF64 } from '../wavefront/mode.ts';
import { laneSource } from './operands.ts';
import { Next, type Step, type Wave } from './wave.ts';

/** Memory for the registers of a wave and so many macros; undefined where there is nothing to put there. */
export const memoryOf = ({ shape, vgprWords }: Layout, macros: number): LaneMemory | undefined =>
  macros > 0 ? LaneMemory.open(4 * vgprWords + macros * vectorBytes(shape.waveSize)) : undefined;

/**
 * The steps of a program with its division macros done at once wherever MODE allows it, in the hardware profile. `steps` are those of
 * the instructions, bound to `wave`; each instruction keeps one. A wave must not run out of steps on the way, so its budget must cover
 * the whole program. Registers of the wave lie in `memory`, if there is one.
 */
export function fuseDivisions(
  macros: readonly DivisionMacro[],
  steps: readonly Step[],
  wave: Wave,
  memory: LaneMemory | undefined,
): readonly Step[] {
  const fused = [...steps];
  for (const macro of macros) {
    const atOnce = macroStep(macro, wave, memory);
    const nothing: Step = () => Next.instruction;
    for (const member of macro.members) {
      const alone = steps[member]!;
      const instead = member === macro.at ? atOnce : nothing;
      // MODE is the same at every member.
      fused[member] = () => (isNearestF64(wave.mode) ? instead() : alone());
    }
  }
  return fused;
}

const sourceSpec: OperandSpec = { field: 'src0', type: 'f64', role: 'src' };

type Pair = [Uint32Array, Uint32Array];

function macroStep(macro: DivisionMacro, wave: Wave, memory: LaneMemory | undefined): Step {
  const n = laneSource(wave, macro.numerator, sourceSpec);
  const d = laneSource(wave, macro.denominator, sourceSpec);
  const [nWords, dWords] = [n.words as Pair, d.words as Pair];
  const out: Partial<Record<MacroValue, Partial<Pair>>> = {};
  for (const { value, word, register } of macro.live) {
    const words: Partial<Pair> = out[value] ?? [];
    words[word] = wave.vgprs[register]!;
    out[value] = words;
  }
  const lanes = new DivisionMacroLanes(wave.lanes, out, macro.orders, memory);
  const flags = macro.flags.flatMap(({ word, code }) => {
    const slot = wave.slot(code, 0);
    return slot === undefined ? [] : [{ word, slot }];
  });
  const bits = new Uint32Array(2);
  return () => {
    n.refresh?.();
    d.refresh?.();
    lanes.run(wave.active, nWords, dWords);
    if (flags.length > 0) packFlags(lanes.flag, bits);
    for (let i = 0; i < flags.length; i++) wave.scalars[flags[i]!.slot] = bits[flags[i]!.word]!;
    return Next.instruction;
  };
}

/** 0 or 1 a lane to one bit a lane. */
function packFlags(flag: Uint32Array, bits: Uint32Array): void {
  bits.fill(0);
  for (let lane = 0; lane < flag.length; lane++) bits[lane >>> 5]! |= flag[lane]! << (lane & 31);
}
