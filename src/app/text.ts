/** Values as the page prints them. */
import { numberOfWords } from '../float/format.ts';

/** 8 hex digits. */
export const hex32 = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** 16 hex digits, high word first. */
export const hex64 = (hi: number, lo: number): string => hex32(hi) + hex32(lo);

/** The double of two words in decimal: enough digits to name it, -0 as such. */
export function decimal64(hi: number, lo: number): string {
  const value = numberOfWords(hi, lo);
  return Object.is(value, -0) ? '-0' : String(value);
}

const grouped = new Intl.NumberFormat('en');

/** 262,144 */
export const count = (n: number): string => grouped.format(n);

/** A whole number with a proper minus sign. */
export const minus = (n: number): string => String(n).replace('-', '−');

/** `1 wave`, `2 waves` */
export const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

/** What went wrong, in one line. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
