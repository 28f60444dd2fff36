/**
 * Reads and writes of MODE. s_setreg and s_getreg name a hardware register and a bit field in 16 bits,
 * id | offset << 6 | (width - 1) << 11; MODE is id 1, and no other is supported. s_round_mode sets MODE bits 3:0, s_denorm_mode
 * bits 7:4. Sources: AMD RDNA2 ISA, SOPK and SOPP; LLVM AMDGPUUsage.
 */
import { forms } from '../encodings.ts';
import type { Fidelity, InstructionDef, ScalarBody, ScalarSemantics } from '../instruction.ts';
import { dst, src } from '../operands.ts';

/** The hardware register that the instructions of this file can reach. */
export const HWREG_MODE = 1;

export const hwregId = (hwreg: number): number => hwreg & 0x3f;
export const hwregOffset = (hwreg: number): number => (hwreg >>> 6) & 0x1f;
/** Bits of the field; one that reaches past bit 31 ends there. */
export const hwregWidth = (hwreg: number): number => ((hwreg >>> 11) & 0x1f) + 1;

const fieldMask = (hwreg: number): number => (hwregWidth(hwreg) === 32 ? -1 : (1 << hwregWidth(hwreg)) - 1);

const setreg: ScalarBody = (io) => {
  const hwreg = io.src[0]![0]!;
  const offset = hwregOffset(hwreg);
  const mask = fieldMask(hwreg) << offset;
  io.mode = ((io.mode & ~mask) | ((io.src[1]![0]! << offset) & mask)) >>> 0;
};

const getreg: ScalarBody = (io) => {
  const hwreg = io.src[0]![0]!;
  io.dst[0] = ((io.mode >>> hwregOffset(hwreg)) & fieldMask(hwreg)) >>> 0;
};

const setField =
  (offset: number): ScalarBody =>
  (io) => {
    io.mode = ((io.mode & ~(0xf << offset)) | ((io.src[0]![0]! & 0xf) << offset)) >>> 0;
  };

const writes = (cpu: ScalarBody, wgsl: string) => {
  const scalar: ScalarSemantics = { unit: 'salu', cpu, wgsl, usesMode: true, writesMode: true, writesScc: false };
  return () => scalar;
};

const reads: ScalarSemantics = {
  unit: 'salu',
  cpu: getreg,
  wgsl: 's_getreg_b32',
  usesMode: true,
  writesMode: false,
  writesScc: false,
};

const documented = (): Fidelity => 'documented';
const family = 'mode';

export const mode: readonly InstructionDef[] = [
  {
    name: 's_setreg_b32',
    family,
    summary: 'Write a bit field of MODE from an SGPR',
    forms: forms('SOPK', { gfx9: 0x12, gfx10: 0x13, gfx11: 0x12, gfx12: 0x12 }),
    operands: [src('simm16', 'hwreg'), src('sdst', 'b32')],
    semantics: writes(setreg, 's_setreg_b32'),
    fidelity: documented,
  },
  {
    name: 's_setreg_imm32_b32',
    family,
    summary: 'Write a bit field of MODE from a literal',
    forms: forms('SOPK', { gfx9: 0x14, gfx10: 0x15, gfx11: 0x13, gfx12: 0x13 }),
    operands: [src('simm16', 'hwreg'), src('literal', 'imm32')],
    semantics: writes(setreg, 's_setreg_b32'),
    fidelity: documented,
  },
  {
    name: 's_getreg_b32',
    family,
    summary: 'Read a bit field of MODE',
    forms: forms('SOPK', { gfx9: 0x11, gfx10: 0x12, gfx11: 0x11, gfx12: 0x11 }),
    operands: [dst('b32', 'sdst'), src('simm16', 'hwreg')],
    semantics: () => reads,
    fidelity: documented,
  },
  {
    name: 's_round_mode',
    family,
    summary: 'Set how f32 (bits 1:0) and f16, f64 (bits 3:2) round',
    forms: forms('SOPP', { gfx10: 0x24, gfx11: 0x11, gfx12: 0x11 }),
    operands: [{ ...src('simm16', 'simm16'), hex: true }],
    semantics: writes(setField(0), 's_round_mode'),
    fidelity: documented,
  },
  {
    name: 's_denorm_mode',
    family,
    summary: 'Set which subnormals of f32 (bits 1:0) and f16, f64 (bits 3:2) are kept',
    forms: forms('SOPP', { gfx10: 0x25, gfx11: 0x12, gfx12: 0x12 }),
    operands: [src('simm16', 'simm16')],
    semantics: writes(setField(4), 's_denorm_mode'),
    fidelity: documented,
  },
];
