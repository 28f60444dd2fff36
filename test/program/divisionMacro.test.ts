/** The division sequence is found by dataflow: whatever the order and the registers, and only where running it at once changes nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTarget, targets } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { findDivisionMacros } from '../../src/program/divisionMacro.ts';
import { divisionText } from '../../src/verify/demonstration.ts';

const find = (text: string, target = 'gfx90a') => findDivisionMacros(assemble(text, { target: findTarget(target) }));

/** As LLVM 22 allocates registers on gfx90a; v[0:1] / v[2:3] in v[0:1]. */
const compiled = [
  'v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]',
  'v_rcp_f64_e32 v[6:7], v[4:5]',
  'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
  'v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]',
  'v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0',
  'v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]',
  'v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]',
  'v_mul_f64 v[10:11], v[8:9], v[6:7]',
  'v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]',
  'v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]',
  'v_div_fixup_f64 v[0:1], v[4:5], v[2:3], v[0:1]',
];

/** What each macro leaves for others: the values by their first register. */
const held = (text: string) =>
  find(text).map(({ live }) =>
    live.filter(({ word }) => word === 0).map(({ value, register }) => `${value} v${register}`),
  );

describe('recognised', () => {
  it.each(targets.filter(({ generation }) => generation !== 'x1k').map(({ name }) => name))(
    'the sequence for %s',
    (name) => {
      const target = findTarget(name);
      for (const waveSize of target.waveSizes) {
        const text = divisionText(target, waveSize);
        const [macro, ...more] = findDivisionMacros(assemble(text, { target, waveSize }));
        expect(more).toEqual([]);
        expect(macro?.numerator).toMatchObject({ kind: 'vgpr', index: 0 });
        expect(macro?.denominator).toMatchObject({ kind: 'vgpr', index: 2 });
      }
    },
  );

  it('what it leaves in registers, and which of that is overwritten', () => {
    expect(held(compiled.join('\n'))).toEqual([['r2 v6', 'ns v8', 'q v10', 'p v4', 'result v0']]);
    expect(
      held([...compiled, 'v_mov_b32_e32 v6, 0', 'v_mov_b32_e32 v10, v8', 'v_mov_b32_e32 v8, 0'].join('\n')),
    ).toEqual([['ns v8', 'p v4', 'result v0']]);
  });

  it('a register overwritten after EXEC has changed is still seen', () => {
    const after = ['s_mov_b64 exec, s[4:5]', 'v_mov_b32_e32 v6, 0', 'v_mov_b32_e32 v7, 0'];
    expect(held([...compiled, ...after].join('\n'))).toEqual([['r2 v6', 'ns v8', 'q v10', 'p v4', 'result v0']]);
  });

  it('flags: VCC and the first SDST, until they are overwritten', () => {
    const codes = (text: string) => find(text)[0]?.flags.map(({ code, word }) => [code, word]);
    expect(codes(compiled.join('\n'))).toEqual([
      [0, 0],
      [1, 1],
      [106, 0],
      [107, 1],
    ]);
    expect(codes([...compiled, 's_mov_b64 vcc, 0'].join('\n'))).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it('a constant numerator, factors in the other order', () => {
    const text = compiled
      .join('\n')
      .replaceAll(/v\[0:1\]$/gm, '1.0')
      .replace('vcc, v[0:1],', 'vcc, 1.0,')
      .replace('-v[4:5], v[10:11]', 'v[10:11], -v[4:5]')
      .replace('v[8:9], v[6:7]\n', 'v[6:7], v[8:9]\n');
    expect(find(text)[0]?.numerator).toMatchObject({ kind: 'inline' });
  });

  it('two sequences in any interleaving, in any registers', () => {
    const other = compiled.map((line) =>
      line.replaceAll(/v\[(\d+):(\d+)\]/g, (_, a, b) => `v[${+a + 20}:${+b + 20}]`).replace('s[0:1]', 's[2:3]'),
    );
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 22, maxLength: 22 }), fc.nat(100), (takes, shift) => {
        const [a, b] = [[...compiled], [...other]];
        const merged: string[] = [];
        // The part between the second scale and fmas owns VCC and stays whole.
        for (const take of takes) {
          const from = (take && a.length > 0) || b.length === 0 ? a : b;
          const owns = from[0]?.includes('vcc') ? 4 : 1;
          merged.push(...from.splice(0, owns));
        }
        merged.push(...a, ...b);
        const text = merged
          .join('\n')
          .replaceAll(/v\[(\d+):(\d+)\]/g, (_, x, y) => `v[${+x + 2 * shift}:${+y + 2 * shift}]`);
        const found = find(text);
        expect(found).toHaveLength(2);
        expect(found.map(({ numerator }) => numerator.kind === 'vgpr' && numerator.index - 2 * shift).sort()).toEqual([
          0, 20,
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

/** The sequence with line `index` replaced or followed by something. */
const changed = (index: number, ...lines: string[]) =>
  [...compiled.slice(0, index), ...lines, ...compiled.slice(index + 1)].join('\n');

describe('left alone', () => {
  it.each([
    ['another denominator in v_div_fixup', changed(10, 'v_div_fixup_f64 v[0:1], v[4:5], v[12:13], v[0:1]')],
    ['a clamp', changed(7, 'v_mul_f64 v[10:11], v[8:9], v[6:7] clamp')],
    ['an absolute value', changed(9, 'v_div_fmas_f64 v[4:5], |v[4:5]|, v[6:7], v[10:11]')],
    ['the sign of the residual', changed(8, 'v_fma_f64 v[4:5], v[4:5], v[10:11], v[8:9]')],
    ['2.0 for 1.0', changed(2, 'v_fma_f64 v[8:9], -v[4:5], v[6:7], 2.0')],
    ['one refinement less', changed(5, 's_nop 0')],
    ['a numerator changed in between', changed(7, compiled[7]!, 'v_mov_b32_e32 v0, 0')],
    ['EXEC changed in between', changed(3, compiled[3]!, 's_mov_b64 exec, s[4:5]')],
    ['MODE changed in between', changed(3, compiled[3]!, 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0')],
    ['a step that another instruction reads', changed(7, compiled[7]!, 'v_mov_b32_e32 v30, v10')],
    ['half of a step that another instruction writes', changed(7, compiled[7]!, 'v_mov_b32_e32 v10, v30')],
    ['VCC changed before v_div_fmas', changed(8, compiled[8]!, 's_mov_b64 vcc, 0')],
    ['an LDS access in between, which may stop the wave', changed(7, compiled[7]!, 'ds_write_b32 v40, v41')],
    ['the wrong scale for VCC', changed(6, 'v_div_scale_f64 v[8:9], s[4:5], v[0:1], v[2:3], v[0:1]')],
    ['the flag of the denominator alone', changed(0, 'v_div_scale_f64 v[4:5], vcc, v[2:3], v[2:3], v[12:13]')],
  ])('%s', (_, text) => {
    expect(find(text)).toEqual([]);
  });
});
