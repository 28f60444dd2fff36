/** Every instruction there is: one object each, one file a family. */
import type { InstructionDef } from '../instruction.ts';
import { arithmetic } from './arithmetic.ts';
import { compare } from './compare.ts';
import { control } from './control.ts';
import { division } from './division.ts';
import { lds } from './lds.ts';
import { minmax } from './minmax.ts';
import { mode } from './mode.ts';
import { move } from './move.ts';
import { scalar } from './scalar.ts';
import { transcendental } from './transcendental.ts';
import { x1k } from './x1k.ts';

export const instructions: readonly InstructionDef[] = [
  ...division,
  ...transcendental,
  ...arithmetic,
  ...minmax,
  ...compare,
  ...move,
  ...scalar,
  ...mode,
  ...control,
  ...lds,
  ...x1k,
];

const byName = new Map(instructions.map((def) => [def.name, def]));

/** The instruction of that name (`InstructionDef.name`; names that only some targets print are in its forms). */
export const findInstruction = (name: string): InstructionDef | undefined => byName.get(name);
