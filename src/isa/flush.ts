/** The input flush of MODE on f64 words, for instructions that select or copy a source instead of computing with it. */
import { type Control, KEEP_INPUT } from '../float/control.ts';

const isFlushed = (hi: number, control: Control): boolean => (control & KEEP_INPUT) === 0 && (hi & 0x7ff00000) === 0;

/** The high word of a source, or that of the zero of its sign if it is a subnormal (or zero) and the control flushes. */
export const flushedHi = (hi: number, control: Control): number => (isFlushed(hi, control) ? hi & 0x80000000 : hi);

/** The low word that goes with it. */
export const flushedLo = (hi: number, lo: number, control: Control): number => (isFlushed(hi, control) ? 0 : lo);
