import { operationCounter } from '../src/bench/operations.ts';
import { FLOAT64_FUNCTIONS, type Float64Function, float64Wgsl } from '../src/float64.ts';

/**
 * Operators in the WGSL of each binary64 and binary32 function, calls expanded: what a driver that inlines everything and
 * runs both sides of each choice has to do.
 *
 *     node --import tsx bench/opcount.ts [function ...]
 */
const asked = process.argv.slice(2) as Float64Function[];
const names = asked.length > 0 ? asked : FLOAT64_FUNCTIONS;
const countOf = operationCounter(await float64Wgsl(names, { comments: false }));
for (const name of names) {
  const { multiplies, others } = countOf(name);
  console.log(`${name.padEnd(18)}${String(multiplies).padStart(6)} multiplies ${String(others).padStart(6)} others`);
}
