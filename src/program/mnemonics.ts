/** Which names mean which instructions on a target. */
import { isVop3 } from '../isa/fields.ts';
import { type Form, formOn, type InstructionDef } from '../isa/instruction.ts';
import { instructions } from '../isa/instructions/index.ts';
import { allTargets, type Target } from '../isa/target.ts';

/** The instruction behind a name, and its forms there: the short encoding first, if there is one. */
export interface Mnemonic {
  /** The name that a disassembler prints, without _e32 or _e64. */
  readonly name: string;
  readonly def: InstructionDef;
  readonly forms: readonly Form[];
}

/** All forms of a definition on a target. */
export const formsOn = (def: InstructionDef, target: Target): Form[] =>
  def.forms.filter((form) => form === formOn({ ...def, forms: [form] }, target));

const byTarget = new Map<Target, ReadonlyMap<string, Mnemonic>>();

/** The mnemonics of a target, aliases included. */
export function mnemonicsOf(target: Target): ReadonlyMap<string, Mnemonic> {
  const known = byTarget.get(target);
  if (known !== undefined) return known;
  const names = new Map<string, Mnemonic>();
  for (const def of instructions) {
    const forms = formsOn(def, target).sort((a, b) => Number(isVop3(a.encoding)) - Number(isVop3(b.encoding)));
    const [first] = forms;
    if (first === undefined) continue;
    const mnemonic = { name: first.name ?? def.name, def, forms };
    for (const name of [mnemonic.name, ...(first.aliases ?? [])]) {
      if (names.has(name)) throw new Error(`two instructions are called ${name} on ${target.name}`);
      names.set(name, mnemonic);
    }
  }
  byTarget.set(target, names);
  return names;
}

/** Names of targets that have this mnemonic. */
export const targetsWith = (name: string): string[] =>
  allTargets.filter((target) => mnemonicsOf(target).has(name)).map((target) => target.name);

/** Insertions, deletions and replacements that turn `a` into `b` (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** Up to three names that are close to this one, the closest first. */
export function nearest(name: string, names: Iterable<string>): string[] {
  const short = name.slice(0, 40);
  return [...names]
    .map((candidate) => ({ candidate, far: distance(short, candidate) }))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
