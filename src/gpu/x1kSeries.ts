import { EX2_SERIES, LN2_SERIES, SIN_SERIES } from '../isa/x1k/coefficients.ts';

/** A private variable, as the tables of reciprocals are (`rom.ts`). */
const table = (name: string, words: readonly number[]): string => `
const ${name.toUpperCase()}_COUNT: u32 = ${words.length}u;
var<private> ${name}_words: array<u32, ${words.length}> = array<u32, ${words.length}>(${words.map((w) => `${w}u`).join(', ')});

fn ${name}_series(k: u32) -> u32 {
  return ${name}_words[k];
}
`;

let cached: string | undefined;

/** The module `package::isa::x1k_series`: the coefficients of X1K's series, made from the host's. */
export function x1kSeriesModule(): string {
  cached ??= [table('ex2', EX2_SERIES), table('ln2', LN2_SERIES), table('sin', SIN_SERIES)].join('');
  return cached;
}
