import { FLOAT64_FUNCTIONS, type Float64Function, float64Wgsl } from '../src/float64.ts';

/**
 * Operators in the WGSL of each binary64 and binary32 function, calls expanded: what a driver that inlines everything and
 * runs both sides of each choice has to do. An operator on a vector counts once. A loop counts its body times its bound.
 *
 *     node --import tsx bench/opcount.ts [function ...]
 */
export type Count = { multiplies: number; others: number };

const BUILTINS = /\b(select|min|max|clamp|abs|countLeadingZeros|sqrt|u32|i32|f32)\(/g;
const OTHERS = /<<|>>|[<>=!]=|[-+&|^~!<>/]/g;

/** The counts of every function declared in a linked text, by name. */
export function countOperations(wgsl: string): Map<string, Count> {
  const bodies = new Map<string, string>();
  for (const [, name, body] of wgsl.matchAll(/^fn (\w+)\([^{]*\{\n([\s\S]*?)^\}/gm)) bodies.set(name!, body!);
  const counts = new Map<string, Count>();

  const countText = (text: string): Count => {
    const count = { multiplies: (text.match(/\*/g) ?? []).length, others: 0 };
    count.others += (text.match(OTHERS) ?? []).length + (text.match(BUILTINS) ?? []).length;
    for (const [, callee] of text.matchAll(/\b(\w+)\(/g)) {
      if (!bodies.has(callee!)) continue;
      const { multiplies, others } = countFunction(callee!);
      count.multiplies += multiplies;
      count.others += others;
    }
    return count;
  };

  const countFunction = (name: string): Count => {
    const known = counts.get(name);
    if (known) return known;
    let body = bodies.get(name)!.replaceAll(/: (ptr|array|vec\d)<[^=;]*>/g, '');
    const count = { multiplies: 0, others: 0 };
    const loop = /for \(var \w+ = 0u; \w+ < (\d+)u; \w+\+\+\) \{\n([\s\S]*?)^ {2}\}/m;
    for (let match = loop.exec(body); match; match = loop.exec(body)) {
      const once = countText(match[2]!);
      count.multiplies += once.multiplies * Number(match[1]);
      count.others += once.others * Number(match[1]);
      body = body.replace(match[0], '');
    }
    const straight = countText(body);
    count.multiplies += straight.multiplies;
    count.others += straight.others;
    counts.set(name, count);
    return count;
  };

  for (const name of bodies.keys()) countFunction(name);
  return counts;
}

if (process.argv[1]?.endsWith('opcount.ts')) {
  const asked = process.argv.slice(2) as Float64Function[];
  const names = asked.length > 0 ? asked : FLOAT64_FUNCTIONS;
  const counts = countOperations(await float64Wgsl(names, { comments: false }));
  for (const name of names) {
    const { multiplies, others } = counts.get(name)!;
    console.log(`${name.padEnd(18)}${String(multiplies).padStart(6)} multiplies ${String(others).padStart(6)} others`);
  }
}
