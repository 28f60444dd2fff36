/**
 * The control word of one floating-point operation: how it rounds, what happens to subnormals, which NaN comes out.
 * The CPU library and the WGSL library (`shaders/float/control.wesl`) take the same word, so that "the mode" is data
 * that can cross from the host to a kernel unchanged, and that a shader compiler folds away where it is a literal.
 *
 * | bits | name             | meaning                                                                              |
 * | ---- | ---------------- | ------------------------------------------------------------------------------------ |
 * | 1:0  | round            | 0 nearest even, 1 toward +inf, 2 toward -inf, 3 toward zero (the order of AMD's MODE) |
 * | 2    | KEEP_INPUT       | 0: a subnormal source counts as zero of the same sign                                |
 * | 3    | KEEP_OUTPUT      | 0: a tiny result becomes zero of the same sign (tiny: judged after rounding with unbounded exponent) |
 * | 4    | QUIET            | 1: a signalling NaN that passes through is quieted; 0: it keeps its bits             |
 * | 5    | NAN_CANONICAL    | 1: every NaN result is the default NaN; 0: the first NaN source in order passes       |
 * | 6    | NAN_POSITIVE     | 1: the default NaN is positive (ARM, RISC-V, wasm); 0: negative (AMD, x86)            |
 */
export type Control = number;

/** Rounding modes in the order of AMD's MODE register, FP_ROUND (AMD ISA documents). */
export const Round = { nearestEven: 0, up: 1, down: 2, towardZero: 3 } as const;
export type Round = (typeof Round)[keyof typeof Round];

export const KEEP_INPUT = 1 << 2;
export const KEEP_OUTPUT = 1 << 3;
export const QUIET = 1 << 4;
export const NAN_CANONICAL = 1 << 5;
export const NAN_POSITIVE = 1 << 6;

/** IEEE 754 as AMD's default kernel mode has it: nearest even, subnormals kept, signalling NaNs quieted. */
export const IEEE_DEFAULT: Control = KEEP_INPUT | KEEP_OUTPUT | QUIET;

/** The rounding mode held in `control`. */
export const roundOf = (control: Control): Round => (control & 3) as Round;
