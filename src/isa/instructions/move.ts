/** Copies of bits: no flush, no quieting, whatever MODE says. */
import { withVop3 } from '../encodings.ts';
import type { Fidelity, InstructionDef, LaneBody, LaneSemantics } from '../instruction.ts';
import { low } from '../lanes.ts';
import { dst, src } from '../operands.ts';

const mov: LaneBody = ({ lanes, active, src: [a], dst: to }) => {
  const [from, d] = [low(a!), low(to)];
  for (let i = 0; i < lanes; i++) if (active[i] !== 0) d[i] = from[i]!;
};

const cndmask: LaneBody = ({ lanes, active, src: [a, b, mask], dst: to }) => {
  const [ifClear, ifSet, bit, d] = [low(a!), low(b!), low(mask!), low(to)];
  for (let i = 0; i < lanes; i++) if (active[i] !== 0) d[i] = bit[i] === 0 ? ifClear[i]! : ifSet[i]!;
};

const semantics = (cpu: LaneBody, wgsl: string) => {
  const lane: LaneSemantics = { unit: 'valu', cpu, wgsl, usesMode: false };
  return () => lane;
};

const documented = (): Fidelity => 'documented';
const family = 'move';

export const move: readonly InstructionDef[] = [
  {
    name: 'v_mov_b32',
    family,
    summary: 'Copy 32 bits',
    forms: withVop3('VOP1', { gfx9: 0x1, gfx10: 0x1, gfx11: 0x1, gfx12: 0x1 }),
    operands: [dst('b32'), src('src0', 'b32')],
    semantics: semantics(mov, 'v_mov_b32'),
    fidelity: documented,
  },
  {
    // S0 and S1 are f32 to the encoding: the VOP3 form takes ABS and NEG on them. The short form's mask is VCC.
    name: 'v_cndmask_b32',
    family,
    summary: "S1 where the lane's mask bit is set, else S0",
    forms: withVop3('VOP2', { gfx9: 0x0, gfx10: 0x1, gfx11: 0x1, gfx12: 0x1 }),
    operands: [dst('b32'), src('src0', 'f32'), src('src1', 'f32'), src('src2', 'mask')],
    modifiers: { neg: true, abs: true },
    semantics: semantics(cndmask, 'v_cndmask_b32'),
    fidelity: documented,
  },
];
