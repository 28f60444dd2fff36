/** CPU bodies against results read off chips (sources: data/README.md). The whole domain of the f32 seeds: test/float. */
import { describe, expect, it } from 'vitest';
import { gfx1200, isNan, json, KERNEL, run, table, variant } from './run.ts';

interface Answer {
  readonly instr: string;
  readonly in: readonly string[];
  readonly out: string;
  readonly vcc?: number;
  readonly kind?: 'digest';
  readonly mode?: readonly [round: number, denorm32: number, denorm64: number];
}

const answers = json('known-answers.json') as readonly Answer[];
const rows = answers.filter(({ kind }) => kind === undefined);

describe.each(['gfx1100', 'gfx1201'])('single answers of gfx1100 and gfx1201, and of their model, on %s', (target) => {
  it.each([...new Set(rows.map(({ instr }) => instr))])('%s', (name) => {
    for (const { in: sources, out, vcc, mode } of rows.filter(({ instr }) => instr === name)) {
      const [round, denorm32, denorm64] = mode!;
      const bits = 0x300 | round | (round << 2) | (denorm32 << 4) | (denorm64 << 6);
      const fmas = name.startsWith('v_div_fmas');
      const operands = fmas ? [...sources, String(vcc)] : sources;
      const [{ value, flag }] = run(name, [operands], bits, variant(target)) as [{ value: string; flag: number }];
      const what = `${name} ${sources}`;
      if (out === 'NaN') expect(isNan(value), what).toBe(true);
      else expect(value, what).toBe(out);
      if (!fmas && vcc !== undefined) expect(flag, `VCC of ${what}`).toBe(vcc);
    }
  });
});

describe('captured on a Radeon RX 9060 XT (gfx1200)', () => {
  it.each(['v_rcp_f64', 'v_rsq_f64', 'v_sqrt_f64', 'v_div_scale_f32', 'v_div_scale_f64', 'v_div_fixup_f64'])(
    '%s',
    (name) => {
      const captured = table(`${name}.txt`);
      const arity = name.startsWith('v_div') ? 3 : 1;
      const results = run(
        name,
        captured.map((row) => row.slice(0, arity)),
        KERNEL,
        gfx1200,
      );
      const withFlag = name.startsWith('v_div_scale');
      expect(results.map(({ value, flag }) => (withFlag ? [value, String(flag)] : [value]))).toEqual(
        captured.map((row) => row.slice(arity)),
      );
    },
  );
});
