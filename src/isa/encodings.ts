/** Shorthand for the forms of an instruction: which generation numbers it how. Sources: llvm-mc 22 and the AMD ISA documents. */
import type { Encoding, Form } from './instruction.ts';
import type { Generation } from './target.ts';

/** Opcode by generation; `cdna` stands for gfx9 targets where they differ from the rest only by having the instruction. */
export type Opcodes = Partial<Record<Generation, number>>;

/**
 * One form for each distinct opcode: `forms('VOP3', { gfx9: 0x1e1, gfx10: 0x16e, gfx11: 0x2fd, gfx12: 0x2fd })`.
 * `extra` is laid over each.
 */
export function forms(encoding: Encoding, opcodes: Opcodes, extra: Partial<Form> = {}): Form[] {
  const byOpcode = new Map<number, Generation[]>();
  for (const [generation, opcode] of Object.entries(opcodes) as [Generation, number][]) {
    const on = byOpcode.get(opcode);
    if (on) on.push(generation);
    else byOpcode.set(opcode, [generation]);
  }
  return [...byOpcode].map(([opcode, on]) => ({ encoding, opcode, on, ...extra }));
}

/** The VOP3 opcode of an instruction that also has a short form: AMD's fixed offsets (VOP1 +0x140 or +0x180, VOP2 +0x100, VOPC +0). */
export function withVop3(short: 'VOP1' | 'VOP2' | 'VOPC', opcodes: Opcodes, extra: Partial<Form> = {}): Form[] {
  const offset = (generation: string) =>
    short === 'VOPC' ? 0 : short === 'VOP2' ? 0x100 : generation === 'gfx9' ? 0x140 : 0x180;
  const long = Object.fromEntries(
    (Object.entries(opcodes) as [Generation, number][]).map(([g, opcode]) => [g, opcode + offset(g)]),
  );
  return [...forms(short, opcodes, extra), ...forms('VOP3', long, extra)];
}
