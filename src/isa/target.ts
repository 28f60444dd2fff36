/**
 * The chips whose wavefronts we run, and what an assembler, decoder or engine must know about each.
 * Feature facts: LLVM's AMDGPU backend (AMDGPUUsage, GCNSubtarget) and llvm-mc 22's acceptance of operands.
 */
import type { WaveSize } from '../wavefront/registers.ts';

/** Encoding generations: within one, an instruction keeps its opcode and its fields. */
export type GcnGeneration = 'gfx9' | 'gfx10' | 'gfx11' | 'gfx12';

/** X1K (R5xx, ATI CTM Guide) has programs as text alone: no encodings, no scalar registers, no LDS. */
export type Generation = GcnGeneration | 'x1k';

export interface Target {
  /** LLVM's `-mcpu` name. */
  readonly name: string;
  readonly generation: Generation;
  /** Wavefront sizes the chip has, the default of LLVM first. */
  readonly waveSizes: readonly WaveSize[];
  /** CDNA2 and later: 64-bit and wider VGPR operands start at an even register; AccVGPRs exist; v_fmac_f64, ds_add_f64. */
  readonly cdna: 0 | 1 | 2 | 3 | 4;
  /** SGPRs a program may name. */
  readonly sgprs: number;
  /** Distinct scalar sources (SGPRs, VCC, M0, literal) that one VALU instruction may read. */
  readonly constantBusLimit: 1 | 2;
  /** VOP3 encodings may carry a 32-bit literal. */
  readonly vop3Literal: boolean;
  /** Bytes of LDS that one workgroup can have. */
  readonly ldsBytes: number;
  /** MODE bits 8 and 9 (DX10_CLAMP, IEEE) exist; gfx12 acts as if both were set. */
  readonly hasIeeeBit: boolean;
  /** LDS instructions may name the GDS. */
  readonly hasGds: boolean;
}

const gfx9 = { generation: 'gfx9', waveSizes: [64], sgprs: 102, constantBusLimit: 1, vop3Literal: false } as const;
const rdna = { waveSizes: [32, 64], cdna: 0, sgprs: 106, constantBusLimit: 2, vop3Literal: true } as const;
const lds64K = { ldsBytes: 65536 } as const;

/** The targets that run LLVM's AMDGPU code. */
export const targets: readonly Target[] = [
  { name: 'gfx900', ...gfx9, cdna: 0, ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx906', ...gfx9, cdna: 0, ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx908', ...gfx9, cdna: 1, ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx90a', ...gfx9, cdna: 2, ...lds64K, hasIeeeBit: true, hasGds: false },
  { name: 'gfx942', ...gfx9, cdna: 3, ...lds64K, hasIeeeBit: true, hasGds: false },
  { name: 'gfx950', ...gfx9, cdna: 4, ldsBytes: 163840, hasIeeeBit: true, hasGds: false },
  { name: 'gfx1010', ...rdna, generation: 'gfx10', ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx1030', ...rdna, generation: 'gfx10', ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx1100', ...rdna, generation: 'gfx11', ...lds64K, hasIeeeBit: true, hasGds: true },
  { name: 'gfx1200', ...rdna, generation: 'gfx12', ...lds64K, hasIeeeBit: false, hasGds: false },
  { name: 'gfx1201', ...rdna, generation: 'gfx12', ...lds64K, hasIeeeBit: false, hasGds: false },
];

/** R5xx (Radeon X1000), whose fragment ALU the ATI CTM Guide describes: 64 lanes here, four VGPRs a register, MODE for its rounding. */
export const x1kTarget: Target = {
  name: 'x1k',
  generation: 'x1k',
  waveSizes: [64],
  cdna: 0,
  sgprs: 0,
  constantBusLimit: 1,
  vop3Literal: false,
  ldsBytes: 0,
  hasIeeeBit: true,
  hasGds: false,
};

export const allTargets: readonly Target[] = [...targets, x1kTarget];

/** The generation of a target that has encodings. @throws Error for X1K */
export function gcnGeneration({ name, generation }: Target): GcnGeneration {
  if (generation === 'x1k') throw new Error(`${name} has no encodings`);
  return generation;
}

export const defaultTarget = 'gfx90a';

/**
 * The target of that name.
 * @throws Error naming the allowed targets, if there is none.
 */
export function findTarget(name: string): Target {
  const target = allTargets.find((t) => t.name === name);
  if (target === undefined)
    throw new Error(`unknown target '${name}'; known are ${allTargets.map((t) => t.name).join(', ')}`);
  return target;
}

/** Which semantics: what chips do as far as anyone measured, or AMD's published text to the letter. */
export type Profile = 'hardware' | 'published';

/** What a body of an instruction may depend on besides its operands and MODE. */
export interface Variant {
  readonly target: Target;
  readonly profile: Profile;
}
