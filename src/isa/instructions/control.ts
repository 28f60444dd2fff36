/**
 * Waits, hints, barriers and the end. Nothing here is late, so waits and hints do nothing. From gfx12 on a barrier is signalled and
 * waited for by two instructions; the wait joins the waves. Opcodes: llvm-mc 22.
 */
import { forms, type Opcodes } from '../encodings.ts';
import type { ControlSemantics, Encoding, Fidelity, Form, InstructionDef } from '../instruction.ts';
import type { OperandSpec, OperandType } from '../operand.ts';
import { src } from '../operands.ts';

const none: ControlSemantics = { unit: 'control', effect: 'none' };
const barrier: ControlSemantics = { unit: 'control', effect: 'barrier' };
const end: ControlSemantics = { unit: 'control', effect: 'end' };

const documented = (): Fidelity => 'documented';

const define = (
  name: string,
  summary: string,
  forms: readonly Form[],
  operands: readonly OperandSpec[] = [],
  semantics = none,
): InstructionDef => ({
  name,
  family: 'control',
  summary,
  forms,
  operands,
  semantics: () => semantics,
  fidelity: documented,
});

const immediate = (type: OperandType = 'simm16'): OperandSpec[] => [src('simm16', type)];
/** LLVM prints counts of these in hexadecimal. */
const hexImmediate: OperandSpec[] = [{ ...src('simm16', 'simm16'), hex: true }];
const optionalImmediate: OperandSpec[] = [{ ...src('simm16', 'simm16'), optional: true }];

const all = (gfx9: number, gfx10: number, gfx11: number, gfx12: number, encoding: Encoding = 'SOPP') =>
  forms(encoding, { gfx9, gfx10, gfx11, gfx12 });

/** A wait for one counter of gfx10 and gfx11: `s_waitcnt_vscnt null, 0`. */
const counterWait = (counter: string, opcodes: Opcodes) =>
  define(`s_waitcnt_${counter}`, `Wait until ${counter} is at most the immediate`, forms('SOPK', opcodes), [
    src('sdst', 'b32'),
    ...hexImmediate,
  ]);

/** A wait of gfx12: `s_wait_dscnt 0x0`. */
const wait = (counter: string, gfx12: number) =>
  define(`s_wait_${counter}`, `Wait until ${counter} is at most the immediate`, forms('SOPP', { gfx12 }), hexImmediate);

export const control: readonly InstructionDef[] = [
  define('s_nop', 'Do nothing', all(0x0, 0x0, 0x0, 0x0), immediate()),
  define('s_sleep', 'Sleep for a while', all(0xe, 0xe, 0x3, 0x3), immediate()),
  define('s_setprio', 'Set the priority of the wave', all(0xf, 0xf, 0x35, 0x35), immediate()),
  define(
    's_clause',
    'Keep the following instructions together',
    forms('SOPP', { gfx10: 0x21, gfx11: 0x5, gfx12: 0x5 }),
    hexImmediate,
  ),
  define(
    's_inst_prefetch',
    'Set how far instructions are fetched ahead',
    [
      ...forms('SOPP', { gfx10: 0x20 }),
      ...forms('SOPP', { gfx11: 0x4 }, { name: 's_set_inst_prefetch_distance', aliases: ['s_inst_prefetch'] }),
    ],
    hexImmediate,
  ),
  define(
    's_delay_alu',
    'Hint how long to wait for ALU results',
    forms('SOPP', { gfx11: 0x7, gfx12: 0x7 }),
    immediate('delay'),
  ),
  define(
    's_waitcnt',
    'Wait until memory counters are low enough',
    forms('SOPP', { gfx9: 0xc, gfx10: 0xc, gfx11: 0x9, gfx12: 0x9 }),
    immediate('waitcnt'),
  ),
  counterWait('vscnt', { gfx10: 0x17, gfx11: 0x18 }),
  counterWait('vmcnt', { gfx10: 0x18, gfx11: 0x19 }),
  counterWait('expcnt', { gfx10: 0x19, gfx11: 0x1a }),
  counterWait('lgkmcnt', { gfx10: 0x1a, gfx11: 0x1b }),
  define(
    's_waitcnt_depctr',
    'Wait for dependencies between ALUs',
    [
      ...forms('SOPP', { gfx10: 0x23, gfx11: 0x8 }),
      ...forms('SOPP', { gfx12: 0x8 }, { name: 's_wait_alu', aliases: ['s_waitcnt_depctr'] }),
    ],
    immediate('depctr'),
  ),
  define('s_wait_idle', 'Wait until the wave is idle', forms('SOPP', { gfx10: 0x22, gfx11: 0xa, gfx12: 0xa })),
  define('s_wait_event', 'Wait for an event', forms('SOPP', { gfx11: 0xb, gfx12: 0xb }), hexImmediate),
  wait('loadcnt', 0x40),
  wait('storecnt', 0x41),
  wait('samplecnt', 0x42),
  wait('bvhcnt', 0x43),
  wait('expcnt', 0x44),
  wait('dscnt', 0x46),
  wait('kmcnt', 0x47),
  wait('loadcnt_dscnt', 0x48),
  wait('storecnt_dscnt', 0x49),
  define(
    's_barrier',
    'Wait for the other waves of the workgroup',
    forms('SOPP', { gfx9: 0xa, gfx10: 0xa, gfx11: 0x3d }),
    [],
    barrier,
  ),
  define('s_barrier_signal', 'Tell the barrier that this wave has come', forms('SOP1', { gfx12: 0x4e }), [
    src('ssrc0', 'barrier'),
  ]),
  define('s_barrier_wait', 'Wait for the barrier', forms('SOPP', { gfx12: 0x14 }), immediate(), barrier),
  define(
    's_code_end',
    'Padding behind the last instruction',
    forms('SOPP', { gfx10: 0x1f, gfx11: 0x1f, gfx12: 0x1f }),
    [],
    end,
  ),
  define('s_endpgm', 'End the wave', all(0x1, 0x1, 0x30, 0x30), optionalImmediate, end),
];
