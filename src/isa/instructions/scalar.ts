/** Scalar moves and bitwise operations. They act whatever EXEC is; the bitwise ones set SCC to (result != 0). */
import { forms, type Opcodes } from '../encodings.ts';
import type { Fidelity, InstructionDef, ScalarBody, ScalarSemantics } from '../instruction.ts';
import type { OperandType } from '../operand.ts';
import { dst, src } from '../operands.ts';

type WordOp = (a: number, b: number) => number;

/** Word by word; SCC from all of them. */
const bitwise =
  (op: WordOp): ScalarBody =>
  (io) => {
    let any = 0;
    for (let word = 0; word < io.dst.length; word++) {
      const value = op(io.src[0]![word]!, io.src[1]![word]!) >>> 0;
      io.dst[word] = value;
      any |= value;
    }
    io.scc = any === 0 ? 0 : 1;
  };

const mov: ScalarBody = (io) => {
  for (let word = 0; word < io.dst.length; word++) io.dst[word] = io.src[0]![word]!;
};

const family = 'scalar';
const documented = (): Fidelity => 'documented';

const semanticsOf = (name: string, cpu: ScalarBody, laneWgsl: string, writesScc: boolean): ScalarSemantics => ({
  unit: 'salu',
  cpu,
  wgsl: name,
  laneWgsl,
  usesMode: false,
  writesMode: false,
  writesScc,
});

const types: readonly OperandType[] = ['b32', 'b64'];

/** The b32 and the b64 instruction of an operation; opcodes of the b64 one follow by one. */
const pair = (operation: string, define: (name: string, type: OperandType, step: number) => InstructionDef) =>
  types.map((type, step) => define(`s_${operation}_${type}`, type, step));

const stepped = (opcodes: Opcodes, step: number): Opcodes =>
  Object.fromEntries(Object.entries(opcodes).map(([generation, opcode]) => [generation, opcode + step]));

/** `renamed`: the name from gfx11 on. */
const logic = (operation: string, summary: string, op: WordOp, opcodes: Opcodes, renamed?: string) =>
  pair(operation, (name, type, by) => {
    const semantics = semanticsOf(name, bitwise(op), `lane_${operation}`, true);
    const { gfx11, gfx12, ...older } = stepped(opcodes, by) as Required<Opcodes>;
    return {
      name,
      family,
      summary,
      forms: [
        ...forms('SOP2', older),
        ...forms('SOP2', { gfx11, gfx12 }, renamed ? { name: `s_${renamed}_${type}`, aliases: [name] } : {}),
      ],
      operands: [dst(type, 'sdst'), src('ssrc0', type), src('ssrc1', type)],
      semantics: () => semantics,
      fidelity: documented,
    };
  });

export const scalar: readonly InstructionDef[] = [
  ...pair('mov', (name, type, step) => {
    const semantics = semanticsOf(name, mov, 'lane_mov', false);
    return {
      name,
      family,
      summary: 'Copy',
      forms: forms('SOP1', stepped({ gfx9: 0x0, gfx10: 0x3, gfx11: 0x0, gfx12: 0x0 }, step)),
      operands: [dst(type, 'sdst'), src('ssrc0', type)],
      semantics: () => semantics,
      fidelity: documented,
    };
  }),
  ...logic('and', 'S0 & S1', (a, b) => a & b, { gfx9: 0xc, gfx10: 0xe, gfx11: 0x16, gfx12: 0x16 }),
  ...logic('or', 'S0 | S1', (a, b) => a | b, { gfx9: 0xe, gfx10: 0x10, gfx11: 0x18, gfx12: 0x18 }),
  ...logic('xor', 'S0 ^ S1', (a, b) => a ^ b, { gfx9: 0x10, gfx10: 0x12, gfx11: 0x1a, gfx12: 0x1a }),
  ...logic('andn2', 'S0 & ~S1', (a, b) => a & ~b, { gfx9: 0x12, gfx10: 0x14, gfx11: 0x22, gfx12: 0x22 }, 'and_not1'),
];
