/** The binary32 library: every public operation, by its SoftFloat name. Conventions: f32-arithmetic.ts. */
export {
  f32_add,
  f32_div,
  f32_ldexp,
  f32_mul,
  f32_mulAdd,
  f32_mulAddScaled,
  f32_sqrt,
  f32_sub,
} from './f32-arithmetic.ts';
export { f32_class, f32_isBelow, f32_relation } from './f32-compare.ts';
export { f32_roundToInt, f32_to_i32, f32_to_u32, i32_to_f32, u32_to_f32 } from './f32-convert.ts';
export { EQUAL, GREATER, LESS, UNORDERED } from './f64-compare.ts';
export { f32_to_f64, f64_to_f32 } from './f64-convert.ts';
export { f32_defaultNaN, f32_isNaN, f32_isSignalingNaN, f32_passNaN } from './nan.ts';
export { f32_overflow, f32_underflow } from './roundPack.ts';
