/**
 * What the bodies of X1K operations are told beside their operands: one word, alike on both engines.
 *
 * | bits | field           | values                                                                        |
 * | ---- | --------------- | ----------------------------------------------------------------------------- |
 * | 1:0  | rounding        | MODE's FP_ROUND of f32: 0 nearest even, 1 +inf, 2 -inf, 3 zero (truncation)     |
 * | 4:2  | output modifier | 0 none, 1 *2, 2 *4, 3 *8, 4 /2, 5 /4, 6 /8, 7 OMOD_DISABLED                     |
 * | 5    | clamp           | the result is brought into 0 to 1                                              |
 *
 * The guide leaves rounding open (the chip has no MODE), so the switch is ours; nothing else of MODE acts.
 */
export type X1kControl = number;

export type X1kOmod = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

export const OMOD_DISABLED = 7;

/** The texts of output modifiers, by number; none is empty. */
export const omodTexts = ['', '*2', '*4', '*8', '/2', '/4', '/8', 'omod_disabled'] as const;

export const CONTROL_ROUND = 3;
const OMOD_SHIFT = 2;
export const CONTROL_CLAMP = 1 << 5;

/** What an instruction adds to MODE's rounding. */
export const outputControl = (omod: X1kOmod, clamp: boolean): X1kControl =>
  (omod << OMOD_SHIFT) | (clamp ? CONTROL_CLAMP : 0);

export const omodOf = (control: X1kControl): X1kOmod => ((control >>> OMOD_SHIFT) & 7) as X1kOmod;

/** The power of two that the output modifier multiplies by. */
export function omodExponent(control: X1kControl): number {
  const omod = omodOf(control);
  return omod === OMOD_DISABLED ? 0 : omod > 3 ? 3 - omod : omod;
}
