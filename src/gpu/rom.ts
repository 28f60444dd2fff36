import { RCP_ROM, type Rom, RSQ_ROM, SQRT_ROM } from '../float/rom.ts';

const ROMS: readonly (readonly [name: string, rom: Rom])[] = [
  ['rcp', RCP_ROM],
  ['rsq', RSQ_ROM],
  ['sqrt', SQRT_ROM],
];

/** A private variable needs no binding. It is set up once an invocation, where an array of constants would be copied at each reading. */
const table = (name: string, rom: Rom): string => {
  const row = (index: number): string => `vec4u(${rom.slice(4 * index, 4 * index + 4).join(', ')})`;
  const rows = Array.from({ length: rom.length / 4 }, (_, index) => row(index)).join(',\n  ');
  const type = `array<vec4u, ${rom.length / 4}>`;
  return `var<private> ${name}_rows: ${type} = ${type}(\n  ${rows}\n);

fn ${name}_row(index: u32) -> vec4u {
  return ${name}_rows[index];
}
`;
};

let cached: string | undefined;

/**
 * The module `package::isa::rom`: `rcp_row`, `rsq_row` and `sqrt_row` give a row of V_RCP's, V_RSQ's and V_SQRT's tables.
 * Made from the host's tables, so that the coefficients are written down once.
 */
export function romModule(): string {
  cached ??= ROMS.map(([name, rom]) => table(name, rom)).join('\n');
  return cached;
}

/** The binding in group 0 at which kernels of the engine find the tables. */
export const ROM_BINDING = 6;

/** All tables, one behind the other. */
export const romWords = (): Uint32Array<ArrayBuffer> => new Uint32Array(ROMS.flatMap(([, rom]) => [...rom]));

/** The same module for kernels that find the tables in a buffer with `romWords`. */
export function romBufferModule(): string {
  let first = 0;
  const functions = ROMS.map(([name, rom]) => {
    const text = `fn ${name}_row(index: u32) -> vec4u {\n  return rom[index + ${first}u];\n}\n`;
    first += rom.length / 4;
    return text;
  });
  return [`@group(0) @binding(${ROM_BINDING}) var<storage, read> rom: array<vec4u>;\n`, ...functions].join('\n');
}
