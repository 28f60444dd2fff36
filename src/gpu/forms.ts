/**
 * The forms that f64 code takes in kernels, and which of them is chosen. All of them leave the same bits in every register; the
 * option `form` of the engine forces one.
 *
 * | form    | what it is                                                                        | lanes it can't do      |
 * | ------- | --------------------------------------------------------------------------------- | ---------------------- |
 * | generic | each instruction complete: every operand, every MODE                                | none                   |
 * | fast    | each instruction for zero and normal operands and results (`shaders/isa/fast.wesl`) | bail                   |
 * | fused   | a division macro at once on integers, with every register that it leaves            | bail                   |
 * | direct  | a division macro of which only the result is used, as one division                  | none                   |
 *
 * The rule of `auto`, from the first row that fits:
 *
 * 1. MODE of the f64 instructions is not known, or does not round to nearest even with subnormals kept, or the profile is
 *    `published`: generic. The arguments for the other forms are made for that MODE, and for what chips do.
 * 2. A division macro whose intermediate registers are all overwritten before anyone looks: direct.
 * 3. A division macro of which r0, e0, r1 and e1 are overwritten: fused.
 * 4. Everything else: generic.
 *
 * `fast` has v_fma, v_fmac, v_mul, v_add, v_rcp and the three v_div instructions in f64, without output modifiers. It is not chosen: on
 * SwiftShader it gave 1.03 to 1.6 times generic on normal operands, less than its second kernel costs where lanes bail, and no
 * other adapter has been measured. `fast`, `fused` and `direct` too leave to generic what rule 1 says and what they don't have.
 *
 * A lane that a fast or fused instruction can't do stores nothing. Who does it depends on the adapter. One that computes on the CPU
 * runs both sides of a branch at full price, so the lane goes on a list, and a second kernel, the same piece of the program in complete
 * instructions, runs over the list. Other adapters skip what no lane takes: there the complete instructions stand in a branch of
 * the same kernel. The option `bail` forces one of them.
 *
 * So that a lane can be run again by itself, a piece ends where an instruction needs the other lanes (LDS, masks counted
 * across the wave) or where scalars that it has read are overwritten.
 */
import type { Variant } from '../isa/target.ts';
import type { Instruction } from '../program/program.ts';
import type { WgslFunction } from './kernel.ts';

export const FORMS = ['auto', 'generic', 'fast', 'fused', 'direct'] as const;
export type Form = (typeof FORMS)[number];

/** Who does the lanes that a fast kernel can't do: a second kernel over a list, or a branch of the same kernel. */
export type Bail = 'list' | 'branch';

/** The form asked for, where rule 1 lets the profile have it. */
export const formFor = (form: Form, { profile }: Variant): Form => (profile === 'published' ? 'generic' : form);

/** Functions of `shaders/isa` that have a fast one beside them, named with `_fast`. */
const HAVE_FAST: ReadonlySet<string> = new Set([
  'v_fma_f64',
  'v_mul_f64',
  'v_add_f64',
  'v_rcp_f64',
  'v_div_scale_f64',
  'v_div_fmas_f64',
  'v_div_fixup_f64',
]);

/** The fast function of an instruction, in a MODE that fast functions are for. */
export function fastFunctionOf({ def, omod, clamp }: Instruction, variant: Variant): WgslFunction | undefined {
  const semantics = def.semantics(variant);
  if (semantics.unit !== 'valu' || omod !== 0 || clamp || !HAVE_FAST.has(semantics.wgsl)) return undefined;
  return { family: 'fast', name: `${semantics.wgsl}_fast` };
}
