/** Hardware registers of s_getreg and s_setreg, by number, as LLVM 22 names them. */
import { gcnGeneration, type Target } from '../isa/target.ts';

const older = { 1: 'MODE', 2: 'STATUS', 3: 'TRAPSTS', 5: 'GPR_ALLOC', 6: 'LDS_ALLOC', 7: 'IB_STS', 15: 'SH_MEM_BASES' };
const trapBases = { 16: 'TBA_LO', 17: 'TBA_HI', 18: 'TMA_LO', 19: 'TMA_HI' };
const gfx9 = { ...older, ...trapBases, 4: 'HW_ID' };
const rdna = { ...older, 20: 'FLAT_SCR_LO', 21: 'FLAT_SCR_HI', 23: 'HW_ID1', 24: 'HW_ID2' };
const gfx10 = { ...rdna, ...trapBases, 25: 'POPS_PACKER' };
const snapshot = { 20: 'XCC_ID', 21: 'SQ_PERF_SNAPSHOT_DATA', 22: 'SQ_PERF_SNAPSHOT_DATA1' };
const snapshotPc = { 23: 'SQ_PERF_SNAPSHOT_PC_LO', 24: 'SQ_PERF_SNAPSHOT_PC_HI' };

const gfx11 = {
  ...rdna,
  18: 'PERF_SNAPSHOT_PC_LO',
  19: 'PERF_SNAPSHOT_PC_HI',
  27: 'PERF_SNAPSHOT_DATA',
  29: 'SHADER_CYCLES',
};

const gfx12 = {
  1: 'WAVE_MODE',
  2: 'WAVE_STATUS',
  4: 'WAVE_STATE_PRIV',
  5: 'WAVE_GPR_ALLOC',
  6: 'WAVE_LDS_ALLOC',
  7: 'IB_STS',
  10: 'PERF_SNAPSHOT_DATA',
  11: 'PERF_SNAPSHOT_PC_LO',
  12: 'PERF_SNAPSHOT_PC_HI',
  15: 'PERF_SNAPSHOT_DATA1',
  16: 'PERF_SNAPSHOT_DATA2',
  17: 'WAVE_EXCP_FLAG_PRIV',
  18: 'WAVE_EXCP_FLAG_USER',
  19: 'WAVE_TRAP_CTRL',
  20: 'WAVE_SCRATCH_BASE_LO',
  21: 'WAVE_SCRATCH_BASE_HI',
  23: 'WAVE_HW_ID1',
  24: 'WAVE_HW_ID2',
  26: 'WAVE_SCHED_MODE',
  29: 'SHADER_CYCLES_LO',
  30: 'SHADER_CYCLES_HI',
  31: 'WAVE_DVGPR_ALLOC_LO',
  32: 'WAVE_DVGPR_ALLOC_HI',
};

function registersOf(target: Target): Readonly<Record<number, string>> {
  switch (gcnGeneration(target)) {
    case 'gfx9':
      return target.cdna >= 3 ? { ...gfx9, ...snapshot, ...snapshotPc } : gfx9;
    case 'gfx10':
      return target.name === 'gfx1010' ? { ...gfx10, 22: 'XNACK_MASK' } : { ...gfx10, 29: 'SHADER_CYCLES' };
    case 'gfx11':
      return gfx11;
    case 'gfx12':
      return gfx12;
  }
}

/** LLVM's name of a hardware register, HW_REG_..., if the number has one on the target. */
export function hwregName(id: number, target: Target): string | undefined {
  const name = registersOf(target)[id];
  return name === undefined ? undefined : `HW_REG_${name}`;
}

/** The number of a hardware register. gfx12 also takes the names without WAVE_. */
export function hwregNumber(name: string, target: Target): number | undefined {
  const found = Object.entries(registersOf(target)).find(
    ([, known]) => name === `HW_REG_${known}` || (known.startsWith('WAVE_') && name === `HW_REG_${known.slice(5)}`),
  );
  return found && Number(found[0]);
}
