/**
 * LDS: atomics on f64, reads and writes. The lane's byte address is its VGPR plus the 16-bit offset. Lanes act in ascending order
 * (AMD promises none); the returning forms give the old bits as they were.
 *
 * Minimum (maximum mirrors it, with +0 above -0) of memory M and source S. Subnormals count as zero for the comparison where MODE's
 * input bit says so; ties keep M.
 *
 * | M, S                     | gfx9 to gfx11, CDNA: ds_min_f64 | gfx12: ds_min_num_f64       |
 * | ------------------------ | ------------------------------- | --------------------------- |
 * | both numbers             | the smaller, its bits unflushed | the smaller, its bits flushed |
 * | M signalling             | M quieted                       | as a NaN                    |
 * | S signalling, M not      | S quieted                       | as a NaN                    |
 * | M NaN, S number          | S                               | S                           |
 * | S NaN, M number          | M                               | M                           |
 * | both quiet NaN           | M quieted                       | S quieted                   |
 *
 * Sources: ROCm rocjitsu vm/amdgpu/memory_pipeline.cpp and atomic_semantics_and_decode_test.cpp (an emulator, not captures); the
 * RDNA4 ISA text for min_num; LLVM review D97411 for signalling NaN in memory. The published text is `src < tmp ? src : tmp`.
 */
import { type Control, KEEP_INPUT, KEEP_OUTPUT, QUIET } from '../../float/control.ts';
import {
  f64_add,
  f64_isBelow,
  f64_isNaN,
  f64_isSignalingNaN,
  f64_relation,
  GREATER,
  LESS,
  result,
} from '../../float/f64.ts';
import { controlF64 } from '../../wavefront/mode.ts';
import { forms } from '../encodings.ts';
import { flushedHi, flushedLo } from '../flush.ts';
import type { AtomicBody, Erratum, Fidelity, InstructionDef, LdsSemantics } from '../instruction.ts';
import type { OperandType } from '../operand.ts';
import { dst, src } from '../operands.ts';
import type { Target, Variant } from '../target.ts';

const QUIET_BIT = 0x00080000;

const keep = (memory: Uint32Array, hi: number, lo: number): void => {
  memory[1] = hi;
  memory[0] = lo;
};

/** Does the source win over the memory's number? Both are numbers, compared as MODE flushes them, -0 below +0. */
const sourceWins = (wantsMax: boolean, memory: Uint32Array, source: Uint32Array, control: Control): boolean => {
  const mHi = flushedHi(memory[1]!, control);
  const mLo = flushedLo(memory[1]!, memory[0]!, control);
  const sHi = flushedHi(source[1]!, control);
  const sLo = flushedLo(source[1]!, source[0]!, control);
  return wantsMax ? f64_isBelow(mHi, mLo, sHi, sLo) : f64_isBelow(sHi, sLo, mHi, mLo);
};

const select =
  (wantsMax: boolean): AtomicBody =>
  (memory, source, mode) => {
    const control = controlF64(mode);
    const [mHi, mLo, sHi, sLo] = [memory[1]!, memory[0]!, source[1]!, source[0]!];
    if (f64_isSignalingNaN(mHi, mLo)) keep(memory, mHi | QUIET_BIT, mLo);
    else if (f64_isSignalingNaN(sHi, sLo)) keep(memory, sHi | QUIET_BIT, sLo);
    else if (f64_isNaN(sHi, sLo)) return;
    else if (f64_isNaN(mHi, mLo) || sourceWins(wantsMax, memory, source, control)) keep(memory, sHi, sLo);
  };

const selectNumber =
  (wantsMax: boolean): AtomicBody =>
  (memory, source, mode) => {
    const control = controlF64(mode);
    const [mHi, mLo, sHi, sLo] = [memory[1]!, memory[0]!, source[1]!, source[0]!];
    const memoryIsNaN = f64_isNaN(mHi, mLo);
    if (f64_isNaN(sHi, sLo)) {
      if (memoryIsNaN) keep(memory, sHi | QUIET_BIT, sLo);
      else keep(memory, flushedHi(mHi, control), flushedLo(mHi, mLo, control));
    } else if (memoryIsNaN || sourceWins(wantsMax, memory, source, control))
      keep(memory, flushedHi(sHi, control), flushedLo(sHi, sLo, control));
    else keep(memory, flushedHi(mHi, control), flushedLo(mHi, mLo, control));
  };

const selectPublished =
  (relation: number): AtomicBody =>
  (memory, source, mode) => {
    if (f64_relation(source[1]!, source[0]!, memory[1]!, memory[0]!, controlF64(mode)) === relation)
      keep(memory, source[1]!, source[0]!);
  };

/** Nearest even and every subnormal kept whatever MODE says; of two NaN the source's, quieted. */
const add: AtomicBody = (memory, source) => {
  f64_add(source[1]!, source[0]!, memory[1]!, memory[0]!, KEEP_INPUT | KEEP_OUTPUT | QUIET);
  keep(memory, result[1]!, result[0]!);
};

const family = 'lds';

const atomic = (cpu: AtomicBody, wgsl: string, returns: boolean): LdsSemantics => ({
  unit: 'lds',
  access: 'atomic',
  words: 2,
  align: 8,
  returns,
  cpu,
  wgsl,
});

const address = src('addr', 'u32');
const atomicOperands = (returns: boolean) =>
  returns ? [dst('f64'), address, src('data0', 'f64')] : [address, src('data0', 'f64')];

const errata: readonly Erratum[] = [
  {
    text: 'GCN3 and Vega: compares with a second data register, DATA2.',
    hardware: 'One data register.',
    source: 'LLVM AMDGPU encodings of DS_MIN_F64',
  },
  {
    text: 'MEM = src < tmp ? src : tmp (max: >): a NaN in memory stays, zeros are not ordered.',
    hardware:
      'A signalling NaN wins and is quieted, a quiet NaN loses to a number, -0 is below +0; gfx12 selects by minimumNumber.',
    source: 'ROCm rocjitsu vm/amdgpu/memory_pipeline.cpp; LLVM review D97411; AMD RDNA4 ISA, DS_MIN_NUM_F64',
  },
];

const minmax = (which: 'min' | 'max', returns: boolean): InstructionDef => {
  const wantsMax = which === 'max';
  const rtn = returns ? '_rtn' : '';
  const name = `ds_${which}${rtn}_f64`;
  const opcode = (wantsMax ? 83 : 82) + (returns ? 32 : 0);
  const old = atomic(select(wantsMax), `ds_${which}_f64`, returns);
  const num = atomic(selectNumber(wantsMax), `ds_${which}_num_f64`, returns);
  const published = atomic(selectPublished(wantsMax ? GREATER : LESS), `ds_${which}_f64_published`, returns);
  return {
    name,
    family,
    summary: `The ${wantsMax ? 'larger' : 'smaller'} of LDS and source into LDS${returns ? '; returns the old value' : ''}`,
    forms: [
      ...forms('DS', { gfx9: opcode, gfx10: opcode, gfx11: opcode }),
      ...forms('DS', { gfx12: opcode }, { name: `ds_${which}_num${rtn}_f64`, aliases: [name] }),
    ],
    operands: atomicOperands(returns),
    semantics: ({ target, profile }) =>
      profile === 'published' ? published : target.generation === 'gfx12' ? num : old,
    fidelity: ({ target, profile }: Variant): Fidelity =>
      profile === 'published' || target.generation === 'gfx12' ? 'documented' : 'modelled',
    errata,
  };
};

const addF64 = (returns: boolean): InstructionDef => {
  const semantics = atomic(add, 'ds_add_f64', returns);
  return {
    name: `ds_add${returns ? '_rtn' : ''}_f64`,
    family,
    summary: `LDS + source into LDS${returns ? '; returns the old value' : ''}`,
    forms: forms('DS', { gfx9: returns ? 124 : 92 }, { has: (target: Target) => target.cdna >= 2 }),
    operands: atomicOperands(returns),
    semantics: () => semantics,
    fidelity: () => 'modelled',
  };
};

/** ds_read and ds_write; ds_load and ds_store from gfx11 on. */
const transfer = (access: 'read' | 'write', type: OperandType, words: 1 | 2 | 4, opcode: number): InstructionDef => {
  const reads = access === 'read';
  const align = ({ 1: 4, 2: 8, 4: 16 } as const)[words];
  const semantics: LdsSemantics = { unit: 'lds', access, words, align, returns: reads };
  const name = `ds_${access}_${type}`;
  return {
    name,
    family,
    summary: reads ? `Read ${words * 32} bits of LDS` : `Write ${words * 32} bits of LDS`,
    forms: [
      ...forms('DS', { gfx9: opcode, gfx10: opcode }),
      ...forms(
        'DS',
        { gfx11: opcode, gfx12: opcode },
        { name: `ds_${reads ? 'load' : 'store'}_${type}`, aliases: [name] },
      ),
    ],
    operands: reads ? [dst(type), address] : [address, src('data0', type)],
    semantics: () => semantics,
    fidelity: () => 'documented',
  };
};

export const lds: readonly InstructionDef[] = [
  minmax('min', false),
  minmax('min', true),
  minmax('max', false),
  minmax('max', true),
  addF64(false),
  addF64(true),
  transfer('read', 'b32', 1, 0x36),
  transfer('read', 'b64', 2, 0x76),
  transfer('read', 'b128', 4, 0xff),
  transfer('write', 'b32', 1, 0x0d),
  transfer('write', 'b64', 2, 0x4d),
  transfer('write', 'b128', 4, 0xdf),
];
