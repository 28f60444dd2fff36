/** The text form of X1K programs (docs/x1k.md): what is read, how it is printed, what is an error and where. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTarget, x1kTarget } from '../../src/isa/target.ts';
import { AsmError } from '../../src/program/asmError.ts';
import { assemble } from '../../src/program/assembler.ts';
import { DecodeError, decode } from '../../src/program/decode.ts';
import { disassemble } from '../../src/program/disassemble.ts';
import { mnemonicsOf } from '../../src/program/mnemonics.ts';

const program = (text: string) => assemble(text, { target: x1kTarget, file: 'p' });
const printed = (text: string) => disassemble(program(text)).join('\n');

/** `p:LINE:COLUMN: reason` of the first error. */
function errorOf(text: string): string {
  try {
    program(text);
  } catch (error) {
    if (error instanceof AsmError) return error.message;
    throw error;
  }
  return 'no error';
}

describe('reads and prints', () => {
  it.each([
    ['min r2.xy, r0, -|r1|.yxzw *2 sat', 'min r2.xy, r0, -|r1|.yxzw *2 sat'],
    ['MAD R3, r0.x, r1.wzyx, -r2.zzzz /8', 'mad r3, r0.x, r1.wzyx, -r2.z /8'],
    ['max r1.xyzw, r0.xyzw, |r0.y| omod_disabled', 'max r1, r0, |r0|.y omod_disabled'],
    ['mov r0,(1-2*r1) ; comment', 'mov r0, (1-2*r1)'],
    ['mov r0, -(r1-r2).x *1', 'mov r0, -(r1-r2).x'],
    ['mov r0, |( r1 + r2 )|.wwww sat // comment', 'mov r0, |(r1+r2)|.w sat'],
    ['mov r127.w, -|(1-r127)|', 'mov r127.w, -|(1-r127)|'],
    ['rcp r1.y, r0.w *4', 'rcp r1.y, r0.w *4'],
    ['dp3 r1, r0, r2 /2', 'dp3 r1, r0, r2 /2'],
    ['d2a r1, r0, r2, r3 /4', 'd2a r1, r0, r2, r3 /4'],
    ['pred_gt -|r1|.zyxw', 'pred_gt -|r1|.z'],
    ['end', 'end'],
  ])('%s', (text, canonical) => {
    expect(printed(text)).toBe(canonical);
    expect(printed(canonical)).toBe(canonical);
  });

  it('registers are four VGPRs: rN.x is 4N; a presubtract names two', () => {
    expect(program('rcp r3.w, r0.x').vgprs).toBe(16);
    expect(program('mov r0, (r9-r1)').vgprs).toBe(40);
    expect(program('pred_eq r2.y').vgprs).toBe(10);
    expect(program('end')).toMatchObject({ vgprs: 0, sgprs: 0, usesLds: false, waveSize: 64 });
  });

  it('blank lines and comments; instructions count as one in addresses', () => {
    const { instructions } = program('; title\n\n  mov r0, r1\n# note\nmov r1, r0 // back\nend\n');
    expect(instructions.map(({ pc, at }) => [pc, at?.line])).toEqual([
      [0, 3],
      [1, 5],
      [2, 6],
    ]);
  });

  it('every operation of the target can be written', () => {
    for (const { name, def } of mnemonicsOf(x1kTarget).values()) {
      const operands = def.operands.filter(({ field }) => field !== 'vcc').map((_, i) => `r${i}`);
      expect(program(`${name} ${operands.join(', ')}`).instructions[0]!.def).toBe(def);
    }
  });

  const register = fc.nat(127).map((n) => `r${n}`);
  const swizzle = fc.constantFrom('', '.x', '.w', '.wzyx', '.xxyy', '.yzxw');
  const plain = fc.oneof(
    register,
    register.map((r) => `(1-2*${r})`),
    register.map((r) => `(1-${r})`),
    fc.tuple(register, fc.constantFrom('+', '-'), register).map(([a, sign, b]) => `(${a}${sign}${b})`),
  );
  const source = fc
    .tuple(fc.constantFrom('', '-'), fc.boolean(), plain, swizzle)
    .map(([neg, abs, r, s]) => `${neg}${abs ? `|${r}|` : r}${s}`);
  const mask = fc.constantFrom('', '.x', '.xz', '.yw', '.yzw');
  const output = fc.constantFrom('', ' *2', ' *8', ' /4', ' sat', ' /2 sat');

  it('what it prints it reads as the same (seed 7)', () => {
    fc.assert(
      fc.property(register, mask, source, source, source, output, (d, m, a, b, c, o) => {
        const text = `mad ${d}${m}, ${a}, ${b}, ${c}${o}`;
        expect(printed(text)).toBe(text);
        const operands = (line: string) => program(line).instructions[0]!.operands;
        expect(operands(printed(text))).toEqual(operands(text));
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe('errors, with their column', () => {
  it.each([
    ['mul r0, r1, r2', "p:1:1: unknown operation 'mul'; near are "],
    ['v_mov_b32 v0, v1', 'p:1:1: v_mov_b32 does not exist on x1k, but on gfx900'],
    ['min r0, r1', 'p:1:11: min needs more operands: it is min DST, SRC0, SRC1'],
    ['mov', 'p:1:4: mov needs more operands: it is mov DST, SRC0'],
    ['mov r0, r1, r2', "p:1:11: unexpected ','; it is mov DST, SRC0"],
    ['mov r128, r1', "p:1:5: expected a register, r0 to r127, found 'r128'"],
    ['mov r01, r1', "p:1:5: expected a register, r0 to r127, found 'r01'"],
    ['mov v0, r1', "p:1:5: expected a register, r0 to r127, found 'v0'"],
    ['mov r0, 1', "p:1:9: expected a register, r0 to r127, found '1'"],
    ['mov r0.yx, r1', "p:1:8: a mask is some of x, y, z, w in that order, not 'yx'"],
    ['mov r0.xx, r1', "p:1:8: a mask is some of x, y, z, w in that order, not 'xx'"],
    ['mov r0., r1', "p:1:8: a mask is some of x, y, z, w in that order, not ''"],
    ['mov r0, r1.xy', "p:1:12: a swizzle is one or four of x, y, z, w, not 'xy'"],
    ['mov r0, r1.rgba', "p:1:12: a swizzle is one or four of x, y, z, w, not 'rgba'"],
    ['mov r0, |r1.x|.y', 'p:1:15: a source has one swizzle'],
    ['mov r0, |r1', "p:1:12: expected '|', found the end of the line"],
    ['mov r0, (r1-r2', "p:1:15: expected ')', found the end of the line"],
    ['mov r0, (2-r2)', 'p:1:10: presubtract is (1-2*r0), (r1-r0), (r1+r0), (1-r0)'],
    ['mov r0, (r1*r2)', 'p:1:12: presubtract is (1-2*r0), (r1-r0), (r1+r0), (1-r0)'],
    ['mov r0, (r1.x-r2)', 'p:1:13: a swizzle stands behind the parenthesis'],
    ['mov r0, (1-3*r2)', "p:1:12: expected a register, r0 to r127, found '3'"],
    ['mov r0, r1 *3', "p:1:12: output modifiers are *1, *2, *4, *8, /2, /4, /8, omod_disabled, then sat, not '*3'"],
    ['mov r0, r1 sat *2', "p:1:16: unexpected '*'; output modifiers are *1"],
    ['mov r0, r1 clamp', "p:1:12: unexpected 'clamp'; output modifiers are"],
    ['mov r0, r1 omod_disabled sat', 'p:1:12: omod_disabled cannot be combined with sat'],
    ['pred_eq (1-r0)', 'p:1:9: pred_eq takes no presubtract'],
    ['pred_eq r0 sat', 'p:1:12: pred_eq has no output modifier'],
    ['end r0', "p:1:5: unexpected 'r0'; output modifiers are"],
    ['mov r0, r1\n, r2', "p:2:1: expected an operation, found ','"],
  ])('%s', (text, message) => expect(errorOf(text)).toContain(message));

  it.each([
    'mad r0, r0, r0, r0',
    'frc r0, r0',
    'dp3 r0, r0, r0',
    'dp4 r0, r0, r0',
    'd2a r0, r0, r0, r0',
    'ex2 r0, r0',
    'ln2 r0, r0',
    'rcp r0, r0',
    'rsq r0, r0',
    'sin r0, r0',
    'cos r0, r0',
  ])('omod_disabled is for operations that copy a source: not %s (ATI CTM Guide v1.01 p. 29, 42)', (text) =>
    expect(errorOf(`${text} omod_disabled`)).toContain('omod_disabled is for min, max, cnd, cmp and mov'),
  );

  it('no wave32, no bytes; X1K operations elsewhere are errors', () => {
    expect(() => assemble('end', { target: x1kTarget, waveSize: 32, file: 'p' })).toThrow('p:1:1: x1k has no wave32');
    expect(() => decode(new Uint8Array(4), { target: x1kTarget })).toThrow(DecodeError);
    expect(() => assemble('min r0, r1, r2', { target: findTarget('gfx90a') })).toThrow(
      'min does not exist on gfx90a, but on x1k',
    );
  });

  it('hostile text is an error or a program, nothing else (seed 8)', () => {
    const pieces = fc.constantFrom(
      'min ',
      'mad ',
      'pred_eq ',
      'end',
      'r0',
      'r1.',
      '.wzyx',
      ', ',
      '-',
      '|',
      '(',
      ')',
      '1',
      '2',
      '*',
      '/',
      '+',
      ' sat',
      ' omod_disabled',
      '\n',
      ';',
      '"',
      '0x',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
        expect(errorOf(parts.join(''))).toMatch(/^no error$|^p:\d+:\d+: [^\n]+$/);
      }),
      { seed: 8, numRuns: 3000 },
    );
  });
});
