/** The programs that are measured, as AMD assembly. */
import type { Target } from '../isa/target.ts';
import {
  allocations,
  type DivisionRegisters,
  divisionLines,
  ldsMinimum,
  ldsWait,
  programText,
} from '../verify/demonstration.ts';
import type { WaveSize } from '../wavefront/registers.ts';

const pair = (register: number) => `v[${register}:${register + 1}]`;

/** Registers of a macro that a program may choose; the rest are those of LLVM's allocation. */
type MacroRegisters = Pick<DivisionRegisters, 'n' | 'd' | 'r' | 'result'>;

/** Where the macro alone has them. The operands stay, as in `c = a / b`, so that it can be run again. */
const MACRO: MacroRegisters = { n: 0, d: 2, r: 6, result: 12 };

/**
 * The division macro in the register allocation of LLVM 22 for `fdiv double`: it leaves p in v[4:5], r2, ns in v[8:9], q in v[10:11],
 * the result and VCC; r0, e0, r1, e1, ds and t are overwritten.
 */
const macroLines = (target: Target, wave: WaveSize, registers: MacroRegisters): string[] =>
  divisionLines(target, wave, { ...allocations.compiled.registers, ...registers });

/** The macro alone. */
export const macroText = (target: Target, wave: WaveSize): string => programText(macroLines(target, wave, MACRO));

/** The macro, and every register but the result overwritten: only that is used. */
export function resultText(target: Target, wave: WaveSize): string {
  const clear = Array.from({ length: 8 }, (_, i) => `v_mov_b32_e32 v${4 + i}, 0`);
  const masks = wave === 64 ? ['s_mov_b64 vcc, 0'] : ['s_mov_b32 vcc_lo, 0'];
  if (target.generation === 'gfx9') masks.push('s_mov_b64 s[0:1], 0');
  return programText([...macroLines(target, wave, MACRO), ...clear, ...masks]);
}

export const CHAIN = 8;

/**
 * Macros in a row: each divides the result of the one before by its r2. So both operands change, n / d by 1 / d and that by
 * d again, rounded each time, and stay where they are in size. Results are in v[12:13], the last r2 in v[14:15].
 */
export function chainText(target: Target, wave: WaveSize): string {
  const reciprocalOf = (k: number) => (k % 2 === 0 ? 6 : 14);
  return programText(
    Array.from({ length: CHAIN }, (_, k) =>
      macroLines(target, wave, {
        n: k === 0 ? 0 : 12,
        d: k === 0 ? 2 : reciprocalOf(k - 1),
        r: reciprocalOf(k),
        result: 12,
      }),
    ).flat(),
  );
}

const SIXTEEN = 16;
/** Registers of each of the sixteen macros: operands, what the macro leaves, result. */
const EACH = 14;
export const SIXTEEN_REGISTERS = SIXTEEN * EACH;

/** Sixteen macros that have nothing to do with each other, each with registers of its own, from v0, v14, v28, ... on. */
export const sixteenText = (target: Target, wave: WaveSize): string =>
  programText(
    Array.from({ length: SIXTEEN }, (_, k) => {
      const [n, d, p, r, ns, q, result] = [0, 2, 4, 6, 8, 10, 12].map((register) => EACH * k + register);
      return divisionLines(target, wave, {
        n: n!,
        d: d!,
        ds: p!,
        t: p!,
        p: p!,
        r: r!,
        e: ns!,
        ns: ns!,
        q: q!,
        result: result!,
      });
    }).flat(),
  );

/**
 * Divisions in a row of which only the results count: each divides the result of the one before by its numerator, so that both
 * operands change: n/d, 1/d, 1/n, d/n, d, n and again, rounded each time. The last result is in v[26:27].
 */
export function directChainText(target: Target, wave: WaveSize): string {
  const register = (k: number) => (k < 0 ? -2 * (k + 1) : 12 + 2 * k);
  return programText(
    Array.from({ length: CHAIN }, (_, k) =>
      macroLines(target, wave, { n: register(k - 1), d: register(k - 2), r: 6, result: register(k) }),
    ).flat(),
  );
}

/** LDS minima in a row on the address in v8 of v[0:1], v[2:3], v[4:5], v[6:7] in turn; the old values in v[10:11] to v[24:25]. */
export function minimaText(target: Target): string {
  const minima = Array.from(
    { length: MINIMA },
    (_, k) => `${ldsMinimum(target)} ${pair(10 + 2 * k)}, v8, ${pair(2 * (k % 4))}`,
  );
  return programText([...minima, ldsWait(target)]);
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
  return programText([...start, ...step, ...step, ...step]);
}

/** A dot product of four pairs in v[0:15], and its minimum with the double at the address in v16, into v[18:19]. */
export function dotText(target: Target): string {
  const suffix = target.generation === 'gfx12' ? '_e32' : '';
  const products = [1, 2, 3].map((k) => `v_fma_f64 v[20:21], ${pair(4 * k)}, ${pair(4 * k + 2)}, v[20:21]`);
  return programText([
    `v_mul_f64${suffix} v[20:21], v[0:1], v[2:3]`,
    ...products,
    `${ldsMinimum(target)} v[18:19], v16, v[20:21]`,
    ldsWait(target),
  ]);
}
