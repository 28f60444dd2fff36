import { RCP_ROM, type Rom, RSQ_ROM, SQRT_ROM } from '../float/rom.ts';

/**
 * A private variable: it is set up once an invocation however often it is read, where an array of constants would be copied at
 * each reading. (On SwiftShader setting up costs 65,536 lanes 4 ms beyond what a storage buffer costs, of some 130 ms for the
 * whole division macro, and needs no binding.)
 */
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
  cached ??= [table('rcp', RCP_ROM), table('rsq', RSQ_ROM), table('sqrt', SQRT_ROM)].join('\n');
  return cached;
}
