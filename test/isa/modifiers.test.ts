/** OMOD and CLAMP by the captured table (ROCm rocjitsu shared/output_modifier.h), and when OMOD acts. */
import { describe, expect, it } from 'vitest';
import { result } from '../../src/float/result.ts';
import { f32_clamp, f32_omod, f64_clamp, f64_omod, type Omod, omodActs, omodRule } from '../../src/isa/modifiers.ts';
import { definition, digits, KERNEL, words } from './run.ts';

const left = () => digits(result[1]!) + digits(result[0]!);
const omod64 = (hex: string, omod: Omod, mode = KERNEL): string => {
  f64_omod(words(hex)[1]!, words(hex)[0]!, omod, mode);
  return left();
};
const omod32 = (hex: string, omod: Omod, mode = KERNEL, rule: 'f32' | 'transcendental_f32' = 'f32'): string =>
  digits(f32_omod(words(hex)[0]!, omod, rule, mode));

const [none, twice, fourfold, half] = [0, 1, 2, 3] as const;

describe('OMOD', () => {
  it.each([
    ['NaN', '7ff0000000000001', '7ff0000000000001', '7ff0000000000001', '7ff0000000000001'],
    ['infinity', 'fff0000000000000', 'fff0000000000000', 'fff0000000000000', 'fff0000000000000'],
    ['zero', '8000000000000000', '0000000000000000', '0000000000000000', '0000000000000000'],
    ['subnormal', '800fffffffffffff', '0000000000000000', '0000000000000000', '0000000000000000'],
    ['smallest exponent', '801fffffffffffff', '802fffffffffffff', '803fffffffffffff', '8000000000000000'],
    ['ordinary', 'c008000000000001', 'c018000000000001', 'c028000000000001', 'bff8000000000001'],
    ['largest exponent but one', '7fd8000000000000', '7fe8000000000000', '7ff0000000000000', '7fc8000000000000'],
    ['overflow', 'ffe0000000000001', 'fff0000000000000', 'fff0000000000000', 'ffd0000000000001'],
  ])('f64 %s: *2, *4, /2', (_, d, double, quadruple, halved) => {
    expect([none, twice, fourfold, half].map((omod) => omod64(d, omod))).toEqual([d, double, quadruple, halved]);
  });

  it.each([
    ['NaN', '7f800001', '7f800001', '7f800001', '7f800001'],
    ['zero', '80000000', '00000000', '00000000', '00000000'],
    ['subnormal', '807fffff', '00000000', '00000000', '00000000'],
    ['smallest exponent', '80ffffff', '817fffff', '81ffffff', '80000000'],
    ['ordinary', 'c0400001', 'c0c00001', 'c1400001', 'bfc00001'],
    ['overflow', 'ff000001', 'ff800000', 'ff800000', 'fe800001'],
  ])('f32 %s: *2, *4, /2', (_, d, double, quadruple, halved) => {
    expect([none, twice, fourfold, half].map((omod) => omod32(d, omod))).toEqual([d, double, quadruple, halved]);
  });

  it('overflow follows the rounding mode of the type; not after v_rcp_f32 and its kin', () => {
    const modes = [0, 1, 2, 3].map((round) => KERNEL | (round << 2) | round);
    expect(modes.map((mode) => omod64('7fe0000000000000', twice, mode))).toEqual([
      '7ff0000000000000',
      '7ff0000000000000',
      '7fefffffffffffff',
      '7fefffffffffffff',
    ]);
    expect(modes.map((mode) => omod32('ff000000', twice, mode))).toEqual([
      'ff800000',
      'ff7fffff',
      'ff800000',
      'ff7fffff',
    ]);
    for (const mode of modes) expect(omod32('ff000000', twice, mode, 'transcendental_f32')).toBe('ff800000');
  });

  it.each([
    ['v_fma_f64', 'f64'],
    ['v_rcp_f64', 'f64'],
    ['v_fmac_f64', 'f64'],
    ['v_mul_f32', 'f32'],
    ['v_div_scale_f32', 'f32'],
    ['v_rcp_f32', 'transcendental_f32'],
    ['v_sqrt_f32', 'transcendental_f32'],
    ['v_cmp_lt_f64', undefined],
    ['v_mov_b32', undefined],
  ])('%s is under rule %s', (name, rule) => expect(omodRule(definition(name))).toBe(rule));

  it('acts before gfx12 with IEEE off and output subnormals of the type flushed', () => {
    const [ieee, out64, out32] = [0x200, 0x80, 0x20];
    for (const rule of ['f64', 'f32', 'transcendental_f32'] as const)
      for (const mode of [0, ieee, out64, out32, out64 | out32, ieee | out64, ieee | out32]) {
        const flushed = rule === 'f64' ? (mode & out64) === 0 : rule === 'f32' ? (mode & out32) === 0 : true;
        expect(omodActs(rule, mode, false), `${rule} ${mode}`).toBe((mode & ieee) === 0 && flushed);
        expect(omodActs(rule, mode, true)).toBe(true);
      }
  });
});

describe('CLAMP', () => {
  const clamp64 = (hex: string, mode = KERNEL): string => {
    f64_clamp(words(hex)[1]!, words(hex)[0]!, mode);
    return left();
  };
  it.each([
    ['bff0000000000000', '0000000000000000'],
    ['8000000000000000', '0000000000000000'],
    ['8000000000000001', '0000000000000000'],
    ['fff0000000000000', '0000000000000000'],
    ['0000000000000000', '0000000000000000'],
    ['0000000000000001', '0000000000000001'],
    ['3fefffffffffffff', '3fefffffffffffff'],
    ['3ff0000000000000', '3ff0000000000000'],
    ['3ff0000000000001', '3ff0000000000000'],
    ['4000000000000000', '3ff0000000000000'],
    ['7ff0000000000000', '3ff0000000000000'],
  ])('f64 %s gives %s', (d, expected) => expect(clamp64(d)).toBe(expected));

  it.each([
    ['bf800000', '00000000'],
    ['80000000', '00000000'],
    ['00000001', '00000001'],
    ['3f7fffff', '3f7fffff'],
    ['3f800001', '3f800000'],
    ['7f800000', '3f800000'],
  ])('f32 %s gives %s', (d, expected) => expect(digits(f32_clamp(words(d)[0]!, KERNEL))).toBe(expected));

  it('NaN gives +0 under DX10_CLAMP, else stays, of either sign', () => {
    const off = KERNEL & ~0x100;
    for (const nan of ['7ff0000000000001', 'fff8000000000001']) {
      expect(clamp64(nan)).toBe('0000000000000000');
      expect(clamp64(nan, off)).toBe(nan);
    }
    for (const nan of ['7f800001', 'ffc00001']) {
      expect(digits(f32_clamp(words(nan)[0]!, KERNEL))).toBe('00000000');
      expect(digits(f32_clamp(words(nan)[0]!, off))).toBe(nan);
    }
  });
});
