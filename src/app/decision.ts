/**
 * What v_div_scale_f64 decides about a pair, as one small number, and how the map shows it. The CPU half; `shaders/app/decision.wesl`
 * makes the same number out of the WGSL body.
 */
import type { LaneSemantics } from '../isa/instruction.ts';
import { division } from '../isa/instructions/division.ts';
import type { Variant } from '../isa/target.ts';
import type { Pair } from '../verify/operands.ts';

const divScale = division.find(({ name }) => name === 'v_div_scale_f64')!;

/**
 * | code   | meaning                                                                       |
 * | ------ | ----------------------------------------------------------------------------- |
 * | 0 - 17 | denominator + 3 * numerator + 9 * VCC; each 0 as it was, 1 scaled up, 2 down    |
 * | 18, 19 | an operand is zero: NaN instead of both; 18 + VCC                             |
 */
export const NAN_CODE = 18;
export const DECISION_CODES = 20;

/** Codes that occur on the plane, in the order of the legend, with their colour as 24 bits. */
const colours: ReadonlyMap<number, number> = new Map([
  [0, 0xd9dce3], // nothing to do
  [10, 0x2f6fde], // denominator up, VCC
  [12, 0xd6455d], // numerator up, VCC
  [11, 0x8a3fb5], // denominator down, VCC
  [4, 0x2aa783], // both up
  [8, 0xe8912d], // both down
  [3, 0x8fd3bf], // numerator up: the denominator is infinite or NaN
  [6, 0xb98543], // numerator down: the denominator is infinite or NaN
  [2, 0xf2c879], // denominator down: the numerator is infinite or NaN
  [9, 0xf3e04a], // VCC alone: the denominator is infinite or NaN
  [NAN_CODE, 0x23262d],
  [NAN_CODE + 1, 0x5e5a66],
]);

/** Seen only if the map meets a code that the legend lacks. */
const UNKNOWN_COLOUR = 0xff00ff;

/** 24-bit colour of a decision. */
export const colourOf = (code: number): number => colours.get(code) ?? UNKNOWN_COLOUR;

/** The codes that have a colour of their own, in the order of the legend. */
export const knownCodes: readonly number[] = [...colours.keys()];

const moves = ['', ' × 2¹²⁸', ' × 2⁻¹²⁸'];

/** In words: `denominator × 2¹²⁸, VCC`. */
export function nameOf(code: number): string {
  if (code >= NAN_CODE) return code === NAN_CODE ? 'NaN: an operand is zero' : 'NaN: an operand is zero, VCC';
  const [denominator, numerator, vcc] = [code % 3, Math.floor(code / 3) % 3, code >= 9];
  const parts: string[] = [];
  if (denominator === numerator && denominator !== 0) parts.push(`both${moves[denominator]}`);
  else {
    if (denominator !== 0) parts.push(`denominator${moves[denominator]}`);
    if (numerator !== 0) parts.push(`numerator${moves[numerator]}`);
  }
  if (parts.length === 0) parts.push('left alone');
  return vcc ? `${parts.join(', ')}, VCC` : parts.join(', ');
}

/** Lanes of words for one f64 operand: low words, high words. */
export type F64Lanes = readonly [Uint32Array, Uint32Array];

const isZero = ([lo, hi]: F64Lanes, i: number) => ((hi[i]! << 1) | lo[i]!) === 0;
const exponent = (hi: number) => (hi >>> 20) & 0x7ff;
const isNan = (hi: number, lo: number) =>
  (hi & 0x7fffffff) > 0x7ff00000 || ((hi & 0x7fffffff) === 0x7ff00000 && lo !== 0);

/** 0 the same value, 1 scaled up, 2 scaled down. A subnormal scaled down to zero keeps its exponent field but not its bits. */
function moveOf(hi: number, lo: number, scaledHi: number, scaledLo: number): 0 | 1 | 2 {
  if (isNan(hi, lo) || (hi === scaledHi && lo === scaledLo)) return 0;
  return exponent(scaledHi) > exponent(hi) ? 1 : 2;
}

/**
 * The decision of the CPU body on each lane.
 * @param mode MODE as the target acts on it
 */
export function decide(numerator: F64Lanes, denominator: F64Lanes, mode: number, variant: Variant): Uint8Array {
  const lanes = numerator[0].length;
  const active = new Uint8Array(lanes).fill(1);
  const { cpu } = divScale.semantics(variant) as LaneSemantics;
  const scale = (s0: F64Lanes) => {
    const dst: F64Lanes = [new Uint32Array(lanes), new Uint32Array(lanes)];
    const flag = new Uint32Array(lanes);
    cpu({ lanes, active, src: [s0, denominator, numerator], dst, flag, mode });
    return { dst, flag };
  };
  const d = scale(denominator);
  const n = scale(numerator);
  return Uint8Array.from({ length: lanes }, (_, i) => {
    const move = (s0: F64Lanes, [lo, hi]: F64Lanes) => moveOf(s0[1][i]!, s0[0][i]!, hi[i]!, lo[i]!);
    const flag = n.flag[i]!;
    if (isZero(numerator, i) || isZero(denominator, i)) return NAN_CODE + flag;
    return move(denominator, d.dst) + 3 * move(numerator, n.dst) + 9 * flag;
  });
}

/** The decision on one pair. */
export function decidePair({ nHi, nLo, dHi, dLo }: Pair, mode: number, variant: Variant): number {
  const lane = (hi: number, lo: number): F64Lanes => [Uint32Array.of(lo), Uint32Array.of(hi)];
  return decide(lane(nHi, nLo), lane(dHi, dLo), mode, variant)[0]!;
}
