import { RCP_ROM, type Rom, RSQ_ROM, SQRT_ROM } from '../float/rom.ts';

/**
 * A constant array: on SwiftShader v_rcp_f64 with it costs 4 ms more for 65,536 lanes than with the table in a storage buffer
 * (of some 130 ms for the whole division macro), and needs no binding.
 */
const table = (name: string, rom: Rom): string => {
  const rows = Array.from(
    { length: rom.length / 4 },
    (_, row) => `vec4u(${rom.slice(4 * row, 4 * row + 4).join(', ')})`,
  );
  return `const ${name}_rows = array<vec4u, ${rows.length}>(\n  ${rows.join(',\n  ')}\n);

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
