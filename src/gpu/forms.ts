/**
 * The forms that f64 code takes in kernels, and which of them is chosen. All of them leave the same bits in every register; the
 * option `form` of the engine forces one.
 *
 * | form    | what it is                                                                        | lanes it can't do      |
 * | ------- | --------------------------------------------------------------------------------- | ---------------------- |
 * | generic | each instruction complete: every operand, every MODE                                | none                   |
 * | fast    | each instruction for zero and normal operands and results (`shaders/isa/fast.wesl`) | bail                   |
 * | fused   | a division macro at once on integers, with every register that it leaves            | bail                   |
 * | direct  | a division macro of which only the result is used, as one division                  | bail                   |
 * | shared  | a loop over the instructions, with one copy of each body (`loopKernel.ts`)          | none                   |
 *
 * The rule of `auto`, from the first row that fits:
 *
 * 1. MODE of the f64 instructions is not known, or does not round to nearest even with subnormals kept, or the profile is
 *    `published`: generic. The arguments for the other forms are made for that MODE, and for what chips do.
 * 2. A division macro of which r0, e0, r1 and e1 are overwritten: fused.
 * 3. Everything else: generic.
 * 4. Any of these in a loop, where the stretch of vector instructions inlined has more operations than a quarter of what a kernel may
 *    have, and the loop takes at most a tenth longer, or where it has more than twice what a kernel may have. A loop is slower where
 *    values would stay in variables, or where it has slots that an iteration does not use (drivers on the CPU run them all the same).
 *    Milliseconds of CPU for the first run, straight and as a loop, and how long a repeated run takes as a loop against straight:
 *
 *    |                                             | SwiftShader          | lavapipe             |
 *    | ------------------------------------------- | -------------------- | -------------------- |
 *    | 4 fused macros                              | 663, 219: alike      | 509, 294: alike      |
 *    | 4 fused macros, every fourth lane bails     | 1,394, 903: alike    | 1,605, 859: alike    |
 *    | 16 fused macros                             | 3,797, 107: alike    | 2,107, 188: alike    |
 *    | 16 fused macros, every fourth lane bails    | 6,013, 730: alike    | 2,552, 897: alike    |
 *    | 4 macros that can't be fused                | 5,209, 1,216: 1.2    | 2,747, 1,048: 1.1    |
 *    | 16 v_fma, each on the one before            | 1,880, 168: 1.1      | 955, 169: 1.8        |
 *
 * `shared` does all vector instructions like that, also division macros, one at a time and complete. In `auto` a loop may have a whole
 * macro's eleven instructions for slots, if the program repeats them. Kernels of bailed lanes are loops as in `shared`.
 *
 * `direct` is not chosen: with the registers that nobody reads left out, `fused` has fewer operations. Neither rounds quotients up to
 * 2^-1022: where one lies exactly in the middle between two subnormals, v_div_fmas rounds what r2 makes of it, not the quotient itself
 * (1470d80000000000 / 5773400000000000 is 3 units by the instructions, 4 by IEEE).
 *
 * `fast` has v_fma, v_fmac, v_mul, v_add, v_rcp and the three v_div instructions in f64, without output modifiers. It is not chosen: on
 * normal operands it gives 1.9 times generic on SwiftShader and 1.3 to 1.6 on lavapipe, but less than generic on both with every second
 * lane special; no other adapter has been measured. `fast`, `fused` and `direct` too leave to generic what rule 1 says and what they don't have.
 *
 * `fused` does normal operands, scaled or not, whose quotient is normal, zero or infinite (`shaders/isa/division_fused.wesl`).
 *
 * A lane that a short form can't do stores nothing. Who does it depends on the adapter. One that computes on the CPU
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

export const FORMS = ['auto', 'generic', 'fast', 'fused', 'direct', 'shared'] as const;
export type Form = (typeof FORMS)[number];

/** Who does the lanes that a fast kernel can't do: a second kernel over a list, or a branch of the same kernel. */
export type Bail = 'list' | 'branch';

/** The form asked for, where rule 1 lets the profile have it. */
export const formFor = (form: Form, { profile }: Variant): Form =>
  profile === 'published' && form !== 'shared' && form !== 'auto' ? 'generic' : form;

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

/** The fast function of an instruction, in a MODE that fast functions are for; `translate.fast.ts` says what it takes. */
export function fastFunctionOf({ def, omod, clamp }: Instruction, variant: Variant): WgslFunction | undefined {
  const semantics = def.semantics(variant);
  if (semantics.unit !== 'valu' || omod !== 0 || clamp || !HAVE_FAST.has(semantics.wgsl)) return undefined;
  return { family: 'fast', name: `${semantics.wgsl}_fast` };
}

/** A stretch of vector instructions, in operations. */
export interface LoopCosts {
  /** Inlined. */
  readonly straight: number;
  /** As a loop: all slots. */
  readonly compiled: number;
  /** What an iteration does for all slots, times iterations, over the same of the straight form; words of VGPRs count too. */
  readonly slowdown: number;
}

/** May a stretch of so many operations become a loop? */
export const mayLoop = (form: Form, straight: number, maxKernelCost: number): boolean =>
  form === 'shared' || (form === 'auto' && straight > maxKernelCost / 4);

/** Does it? Rule 5 of `auto`. */
export const wantsLoop = (form: Form, { straight, compiled, slowdown }: LoopCosts, maxKernelCost: number): boolean =>
  compiled < straight && (form === 'shared' || slowdown <= 1.1 || straight > 2 * maxKernelCost);
