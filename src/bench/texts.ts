/** The programs that are measured, as AMD assembly. */
import type { Target } from '../isa/target.ts';
import type { WaveSize } from '../wavefront/registers.ts';

const pair = (register: number) => `v[${register}:${register + 1}]`;

/** First registers of what a division macro reads and leaves. */
export interface MacroRegisters {
  readonly n: number;
  readonly d: number;
  readonly reciprocal: number;
  readonly result: number;
}

/** Where the macro alone has them: numerator, denominator and result as LLVM does for `a = a / b`. */
export const MACRO: MacroRegisters = { n: 0, d: 2, reciprocal: 6, result: 0 };

/**
 * The division macro in the register allocation of LLVM 22 for `fdiv double`: it leaves p in v[4:5], r2, ns in v[8:9], q in v[10:11],
 * the result and VCC; r0, e0, r1, e1, ds and t are overwritten.
 */
export function macroLines(target: Target, wave: WaveSize, { n, d, reciprocal, result }: MacroRegisters): string[] {
  const vcc = wave === 64 ? 'vcc' : 'vcc_lo';
  const dropped = target.generation === 'gfx9' ? 's[0:1]' : 'null';
  const [N, D, R] = [pair(n), pair(d), pair(reciprocal)];
  const refine = target.cdna >= 2 ? `v_fmac_f64_e32 ${R}, ${R}, v[8:9]` : `v_fma_f64 ${R}, ${R}, v[8:9], ${R}`;
  return [
    `v_div_scale_f64 v[4:5], ${dropped}, ${D}, ${D}, ${N}`,
    `v_rcp_f64_e32 ${R}, v[4:5]`,
    `v_fma_f64 v[8:9], -v[4:5], ${R}, 1.0`,
    refine,
    `v_fma_f64 v[8:9], -v[4:5], ${R}, 1.0`,
    refine,
    `v_div_scale_f64 v[8:9], ${vcc}, ${N}, ${D}, ${N}`,
    `v_mul_f64${target.generation === 'gfx12' ? '_e32' : ''} v[10:11], v[8:9], ${R}`,
    'v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]',
    `v_div_fmas_f64 v[4:5], v[4:5], ${R}, v[10:11]`,
    `v_div_fixup_f64 ${pair(result)}, v[4:5], ${D}, ${N}`,
  ];
}

/** The macro alone. */
export const macroText = (target: Target, wave: WaveSize): string => ended(macroLines(target, wave, MACRO));

/** The macro, and every register but the result overwritten: only that is used. */
export function resultText(target: Target, wave: WaveSize): string {
  const clear = Array.from({ length: 8 }, (_, i) => `v_mov_b32_e32 v${4 + i}, 0`);
  const masks = wave === 64 ? ['s_mov_b64 vcc, 0'] : ['s_mov_b32 vcc_lo, 0'];
  if (target.generation === 'gfx9') masks.push('s_mov_b64 s[0:1], 0');
  return ended([...macroLines(target, wave, MACRO), ...clear, ...masks]);
}

export const CHAIN = 8;

/**
 * Macros in a row: each divides the result of the one before by its r2. So both operands change, n / d by 1 / d and that by
 * d again, rounded each time, and stay where they are in size. Results are in v[12:13], the last r2 in v[14:15].
 */
export function chainText(target: Target, wave: WaveSize): string {
  const reciprocalOf = (k: number) => (k % 2 === 0 ? 6 : 14);
  return ended(
    Array.from({ length: CHAIN }, (_, k) =>
      macroLines(target, wave, {
        n: k === 0 ? 0 : 12,
        d: k === 0 ? 2 : reciprocalOf(k - 1),
        reciprocal: reciprocalOf(k),
        result: 12,
      }),
    ).flat(),
  );
}

const waitLds = (target: Target) => (target.generation === 'gfx12' ? 's_wait_dscnt 0x0' : 's_waitcnt lgkmcnt(0)');

/** LDS minima in a row on the address in v8 of v[0:1], v[2:3], v[4:5], v[6:7] in turn; the old values in v[10:11] to v[24:25]. */
export function minimaText(target: Target): string {
  const name = target.generation === 'gfx12' ? 'ds_min_num_rtn_f64' : 'ds_min_rtn_f64';
  const minima = Array.from({ length: MINIMA }, (_, k) => `${name} ${pair(10 + 2 * k)}, v8, ${pair(2 * (k % 4))}`);
  return ended([...minima, waitLds(target)]);
}

export const MINIMA = 8;

/** Three Newton steps to 1 / sqrt(v[0:1]) from v_rsq_f64's estimate: y += y (1/2 - x/2 y^2). */
export function newtonText(target: Target): string {
  const suffix = target.generation === 'gfx12' ? '_e32' : '';
  const step = [
    `v_mul_f64${suffix} v[8:9], v[4:5], v[6:7]`,
    'v_fma_f64 v[8:9], -v[8:9], v[6:7], 0.5',
    'v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]',
  ];
  const start = [`v_mul_f64${suffix} v[4:5], v[0:1], 0.5`, 'v_rsq_f64_e32 v[6:7], v[0:1]'];
  return ended([...start, ...step, ...step, ...step]);
}

/** A dot product of four pairs in v[0:15], and its minimum with the double at the address in v16, into v[18:19]. */
export function dotText(target: Target): string {
  const name = target.generation === 'gfx12' ? 'ds_min_num_rtn_f64' : 'ds_min_rtn_f64';
  const suffix = target.generation === 'gfx12' ? '_e32' : '';
  const products = [1, 2, 3].map((k) => `v_fma_f64 v[20:21], ${pair(4 * k)}, ${pair(4 * k + 2)}, v[20:21]`);
  return ended([
    `v_mul_f64${suffix} v[20:21], v[0:1], v[2:3]`,
    ...products,
    `${name} v[18:19], v16, v[20:21]`,
    waitLds(target),
  ]);
}

const ended = (lines: readonly string[]) => [...lines, 's_endpgm'].map((line) => `\t${line}\n`).join('');
