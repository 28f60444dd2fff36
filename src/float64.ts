import { floatSources } from '#shader-sources';
import { linkerOf } from './gpu/linker.ts';

/**
 * IEEE binary64 for WGSL, which has none: the package's export `wave64/float64`. A binary64 is a `vec2u` (x the low word,
 * y the high word), a binary32 a `u32`, an integer the bits of an i32 or u32. Every result has the bits that IEEE 754
 * asks for, whatever the driver does to its own floats. The control word that most functions take last is made of the
 * constants exported here.
 */
export {
  type Control,
  IEEE_DEFAULT,
  KEEP_INPUT,
  KEEP_OUTPUT,
  NAN_CANONICAL,
  NAN_POSITIVE,
  QUIET,
  Round,
} from './float/control.ts';

/** Each function and the module of `shaders/float` that holds it. Signatures and rules stand with the functions there. */
const MODULES = {
  f64_add: 'f64_add',
  f64_sub: 'f64_add',
  f64_mul: 'f64_mul',
  f64_div: 'f64_div',
  f64_sqrt: 'f64_sqrt',
  f64_rsqrt: 'f64_rsqrt',
  f64_mulAdd: 'f64_mulAdd',
  f64_mulAddScaled: 'f64_mulAdd',
  f64_ldexp: 'f64_convert',
  f64_roundToInt: 'f64_convert',
  f64_min: 'f64_compare',
  f64_max: 'f64_compare',
  f64_relation: 'f64_compare',
  f64_is_below: 'f64_compare',
  f64_class: 'f64_compare',
  f64_to_f32: 'f64_convert',
  f64_to_i32: 'f64_convert',
  f64_to_u32: 'f64_convert',
  f32_to_f64: 'f64_convert',
  i32_to_f64: 'f64_convert',
  u32_to_f64: 'f64_convert',
  f32_add: 'f32_add',
  f32_sub: 'f32_add',
  f32_mul: 'f32_mul',
  f32_div: 'f32_div',
  f32_sqrt: 'f32_sqrt',
  f32_mulAdd: 'f32_mulAdd',
  f32_mulAddScaled: 'f32_mulAdd',
  f32_ldexp: 'f32_convert',
  f32_roundToInt: 'f32_convert',
  f32_min: 'f32_compare',
  f32_max: 'f32_compare',
  f32_relation: 'f32_compare',
  f32_is_below: 'f32_compare',
  f32_class: 'f32_compare',
  f32_to_i32: 'f32_convert',
  f32_to_u32: 'f32_convert',
  i32_to_f32: 'f32_convert',
  u32_to_f32: 'f32_convert',
} as const;

const linkFloat = linkerOf(floatSources);

/** A function that `float64Wgsl` can give. */
export type Float64Function = keyof typeof MODULES;

/** Their names. */
export const FLOAT64_FUNCTIONS = Object.keys(MODULES) as Float64Function[];

/**
 * A WGSL text with the functions asked for and what they need, nothing else: put it before your own module.
 * The same in Node and in a browser bundle.
 *
 * @param functions names such as `f64_mulAdd`; their WGSL signature is SoftFloat's with words for numbers:
 * `fn f64_mulAdd(a: vec2u, b: vec2u, c: vec2u, control: u32) -> vec2u`
 * @param options.comments keep the comments of the sources (default), or drop them for a smaller text
 * @throws RangeError on a name that does not exist; the message lists those that do
 */
export async function float64Wgsl(
  functions: readonly Float64Function[],
  options: { comments?: boolean } = {},
): Promise<string> {
  const unknown = functions.filter((name) => !Object.hasOwn(MODULES, name));
  if (unknown.length > 0) {
    const allowed = FLOAT64_FUNCTIONS.join(', ');
    throw new RangeError(`no binary64 function ${unknown.map((name) => `'${name}'`).join(', ')}; there are ${allowed}`);
  }
  if (functions.length === 0) return '';
  // The linker keeps what a root module refers to: here one function that names those asked for, and is cut out again.
  const imports = functions.map((name) => `import package::float::${MODULES[name]}::${name};`);
  const uses = functions.map((name) => `  _ = ${name};`);
  const root = [...imports, 'fn float64_root() {', ...uses, '}'].join('\n');
  const text = await linkFloat('float64_root', {
    sources: { 'float64_root.wesl': root },
    comments: options.comments ?? true,
  });
  return text.replace(/fn float64_root\(\) \{[^}]*\}\s*/, '');
}
