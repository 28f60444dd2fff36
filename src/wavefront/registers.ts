/** The registers of one wavefront, by name. */

/** Lanes of a wavefront. */
export type WaveSize = 32 | 64;

/**
 * Scalar registers are named by the operand codes of gfx10: s0-s105 are 0-105, then these (AMD RDNA2 ISA, "scalar operands").
 * gfx11 and gfx12 swap the codes of M0 and null in their encodings, and only there.
 */
export const Scalar = { vccLo: 106, vccHi: 107, ttmp0: 108, m0: 124, null: 125, execLo: 126, execHi: 127 } as const;

/** The text for a scalar code and register count, in LLVM's spelling: s4, s[4:5], vcc, exec_lo, m0, null. */
export function scalarName(code: number, count: number): string {
  switch (code) {
    case Scalar.vccLo:
      return count === 2 ? 'vcc' : 'vcc_lo';
    case Scalar.vccHi:
      return 'vcc_hi';
    case Scalar.execLo:
      return count === 2 ? 'exec' : 'exec_lo';
    case Scalar.execHi:
      return 'exec_hi';
    case Scalar.m0:
      return 'm0';
    case Scalar.null:
      return 'null';
    default: {
      const [file, index] = code >= Scalar.ttmp0 ? ['ttmp', code - Scalar.ttmp0] : ['s', code];
      return count === 1 ? `${file}${index}` : `${file}[${index}:${index + count - 1}]`;
    }
  }
}
