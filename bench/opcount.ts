import { summed } from '../src/bench/kinds.ts';
import { operationCounter } from '../src/bench/operations.ts';
import { FLOAT64_FUNCTIONS, type Float64Function, float64Wgsl } from '../src/float64.ts';

/**
 * Operations in the WGSL of each binary64 and binary32 function, calls expanded: what a driver that inlines everything and
 * runs both sides of each choice has to do.
 *
 *     node --import tsx bench/opcount.ts [function ...]
 */
const asked = process.argv.slice(2) as Float64Function[];
const names = asked.length > 0 ? asked : FLOAT64_FUNCTIONS;
const countOf = operationCounter(await float64Wgsl(names, { comments: false }));
for (const name of names) {
  const { operations } = countOf(name);
  const { multiplies, others } = summed(operations);
  const kinds = Object.entries(operations).map(([kind, count]) => `${count} ${kind}`);
  console.log(`${name.padEnd(18)}${multiplies + others} operations: ${kinds.join(', ')}`);
}
