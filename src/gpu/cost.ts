/**
 * What a function costs a driver to compile: drivers inline every call, so a body counts wherever it is reached.
 * The count is taken from the linked WGSL; there is no list of costs.
 */
import type { WgslFunction } from './kernel.ts';
import { linkShader } from './link.ts';
import { romBufferModule } from './rom.ts';

const OPERATION = /[-+*/%&|^~!<>=]+|\bselect\(/g;
const FUNCTION = /^fn (\w+)\([^{]*\{([\s\S]*?)\n\}/gm;
const CALL = /\b([A-Za-z_]\w*)\(/g;

/** Operations of each function of a module, with those of the functions it calls. WGSL has no recursion. */
export function inlinedOperations(wgsl: string): Map<string, number> {
  const bodies = new Map([...wgsl.matchAll(FUNCTION)].map((match) => [match[1]!, match[2]!]));
  const costs = new Map<string, number>();
  const costOf = (name: string): number => {
    const known = costs.get(name);
    if (known !== undefined) return known;
    const body = bodies.get(name)!;
    const calls = [...body.matchAll(CALL)].map((match) => match[1]!).filter((callee) => bodies.has(callee));
    const cost = (body.match(OPERATION)?.length ?? 0) + calls.reduce((sum, callee) => sum + costOf(callee), 0);
    costs.set(name, cost);
    return cost;
  };
  for (const name of bodies.keys()) costOf(name);
  return costs;
}

/** Links a kernel of the engine with the modules it imports. */
export const linkKernel = (source: string): Promise<string> =>
  linkShader('kernel', { sources: { 'kernel.wesl': source, 'isa/rom.wesl': romBufferModule() } });

const known = new Map<string, number>();

/** Operations that each of these functions brings into a kernel, by name. */
export async function functionCosts(functions: readonly WgslFunction[]): Promise<ReadonlyMap<string, number>> {
  const missing = new Map(functions.filter(({ name }) => !known.has(name)).map((f) => [f.name, f]));
  if (missing.size > 0) {
    const imports = [...missing.values()].map(({ family, name }) => `import package::isa::${family}::${name};`);
    const calls = [...missing.keys()].map((name) => `  _ = ${name}();`);
    const costs = inlinedOperations(await linkKernel([...imports, 'fn main() {', ...calls, '}', ''].join('\n')));
    for (const name of missing.keys()) known.set(name, costs.get(name) ?? 0);
  }
  return known;
}
