/**
 * Where an encoding keeps what: the bits of its one or two dwords.
 * Sources: AMD ISA documents (Vega, CDNA3, RDNA2, RDNA3, RDNA4), "Microcode formats"; llvm-mc 22.
 */
import type { Encoding } from './instruction.ts';
import type { OperandField, OperandSpec } from './operand.ts';
import type { GcnGeneration, Generation } from './target.ts';

/**
 * A bit field: dword, lowest bit, width, and what its values mean: `vgpr` a register number, `scalar` a code 0-127,
 * `scalarSource` also constants, `source` also VGPRs (256 + number), `bits` plain bits.
 */
export interface Field {
  readonly dword: 0 | 1;
  readonly shift: number;
  readonly width: number;
  readonly holds: 'vgpr' | 'scalar' | 'scalarSource' | 'source' | 'bits';
}

export interface EncodingLayout {
  readonly dwords: 1 | 2;
  /** The bits of the first dword that tell the encoding. */
  readonly fixed: number;
  readonly opcode: Field;
  /** An operand field that is absent is not encoded: it is VCC. `literal` is a dword of its own at the end. */
  readonly fields: Partial<Record<OperandField, Field>>;
}

const field = (holds: Field['holds'], dword: 0 | 1, high: number, low: number): Field => ({
  dword,
  shift: low,
  width: high - low + 1,
  holds,
});

const literal = field('bits', 0, 31, 0);

const vop3 = (generation: Generation, extra: Partial<Record<OperandField, Field>>): EncodingLayout => ({
  dwords: 2,
  fixed: generation === 'gfx9' ? 0xd0000000 : 0xd4000000,
  opcode: field('bits', 0, 25, 16),
  fields: {
    vdst: field('vgpr', 0, 7, 0),
    src0: field('source', 1, 8, 0),
    src1: field('source', 1, 17, 9),
    src2: field('source', 1, 26, 18),
    ...extra,
  },
});

/** Bits of the second dword that VOP3 and VOP3B share: OMOD 28:27 and, from `VOP3_NEG` up, NEG of source 0, 1, 2. */
export const VOP3_OMOD = 27;
export const VOP3_NEG = 29;
/** Bits of the first dword: ABS of source 0, 1, 2 from here up (VOP3 only), and CLAMP. */
export const VOP3_ABS = 8;
export const VOP3_CLAMP = 15;

/** LDS instructions: the first dword's bit of GDS; OFFSET is bits 15:0. */
export const dsGds = (generation: Generation): number => (generation === 'gfx9' ? 16 : 17);
/** AccVGPR data (CDNA2 and later). */
export const DS_ACC = 25;

function layout(encoding: Encoding, generation: Generation): EncodingLayout {
  const vdst = field('vgpr', 0, 24, 17);
  const sdst = field('scalar', 0, 22, 16);
  const src0 = field('source', 0, 8, 0);
  const src1 = field('vgpr', 0, 16, 9);
  const simm16 = field('bits', 0, 15, 0);
  const ssrc0 = field('scalarSource', 0, 7, 0);
  switch (encoding) {
    case 'VOP1':
      return { dwords: 1, fixed: 0x7e000000, opcode: field('bits', 0, 16, 9), fields: { vdst, src0 } };
    case 'VOP2':
      return { dwords: 1, fixed: 0, opcode: field('bits', 0, 30, 25), fields: { vdst, src0, src1 } };
    case 'VOPC':
      return { dwords: 1, fixed: 0x7c000000, opcode: field('bits', 0, 24, 17), fields: { src0, src1 } };
    case 'VOP3':
      return vop3(generation, {});
    case 'VOP3B':
      return vop3(generation, { sdst: field('scalar', 0, 14, 8) });
    case 'SOP1':
      return { dwords: 1, fixed: 0xbe800000, opcode: field('bits', 0, 15, 8), fields: { sdst, ssrc0 } };
    case 'SOP2': {
      const ssrc1 = field('scalarSource', 0, 15, 8);
      return { dwords: 1, fixed: 0x80000000, opcode: field('bits', 0, 29, 23), fields: { sdst, ssrc0, ssrc1 } };
    }
    case 'SOPK':
      return { dwords: 1, fixed: 0xb0000000, opcode: field('bits', 0, 27, 23), fields: { sdst, simm16, literal } };
    case 'SOPP':
      return { dwords: 1, fixed: 0xbf800000, opcode: field('bits', 0, 22, 16), fields: { simm16 } };
    case 'DS':
      return {
        dwords: 2,
        fixed: 0xd8000000,
        opcode: generation === 'gfx9' ? field('bits', 0, 24, 17) : field('bits', 0, 25, 18),
        fields: {
          addr: field('vgpr', 1, 7, 0),
          data0: field('vgpr', 1, 15, 8),
          data1: field('vgpr', 1, 23, 16),
          vdst: field('vgpr', 1, 31, 24),
        },
      };
    case 'X1K':
      throw new Error('X1K has no encodings');
  }
}

const layouts: Record<GcnGeneration, Map<Encoding, EncodingLayout>> = {
  gfx9: new Map(),
  gfx10: new Map(),
  gfx11: new Map(),
  gfx12: new Map(),
};

/** The layout of an encoding on a generation. */
export function layoutOf(encoding: Encoding, generation: Generation): EncodingLayout {
  if (generation === 'x1k') throw new Error('X1K has no encodings');
  const known = layouts[generation].get(encoding);
  if (known !== undefined) return known;
  const made = layout(encoding, generation);
  layouts[generation].set(encoding, made);
  return made;
}

/** The field that carries an operand, or undefined if it isn't encoded and is VCC. A compare's mask is a scalar in VOP3's VDST. */
export function fieldOf(spec: OperandSpec, { fields }: EncodingLayout): Field | undefined {
  const found = fields[spec.field];
  return spec.type === 'mask' && found?.holds === 'vgpr' ? { ...found, holds: 'scalar' } : found;
}

/** The encodings that have OMOD, CLAMP, NEG and (VOP3) ABS. */
export const isVop3 = (encoding: Encoding): boolean => encoding === 'VOP3' || encoding === 'VOP3B';

/** The encodings whose sources the constant bus feeds. */
export const isVector = (encoding: Encoding): boolean => encoding.startsWith('VOP');
