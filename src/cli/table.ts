/** Tables on stdout. */
import Table from 'cli-table3';
import type { Io } from './io.ts';

export function printTable(io: Io, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  for (const row of rows) table.push([...row]);
  io.out(`${table.toString()}\n`);
}
