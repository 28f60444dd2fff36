/** The binary64 library: every public operation, by its SoftFloat name. Conventions: f64-arithmetic.ts. */
export { f64_add, f64_div, f64_isFinite, f64_ldexp, f64_mul, f64_sub } from './f64-arithmetic.ts';
export { EQUAL, f64_class, f64_isBelow, f64_relation, GREATER, LESS, UNORDERED } from './f64-compare.ts';
export {
  f32_to_f64,
  f64_roundToInt,
  f64_to_f32,
  f64_to_i32,
  f64_to_u32,
  i32_to_f64,
  u32_to_f64,
} from './f64-convert.ts';
export { f64_mulAdd, f64_mulAddScaled } from './f64-mulAdd.ts';
export { f64_rsqrt, f64_sqrt } from './f64-roots.ts';
export { f64_defaultNaN, f64_isNaN, f64_isSignalingNaN, f64_passNaN } from './nan.ts';
export { f64_leave, result } from './result.ts';
export { f64_overflow, f64_underflow } from './roundPack.ts';
