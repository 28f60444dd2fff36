/** Bytes that are no program of ours: an error with offset and words, `.long` in a listing, never a guess. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTarget, targets } from '../../src/isa/target.ts';
import { assemble } from '../../src/program/assembler.ts';
import { DecodeError, decode } from '../../src/program/decode.ts';
import { disassemble, disassembleBytes } from '../../src/program/disassemble.ts';
import { encode } from '../../src/program/encode.ts';

const target = findTarget('gfx90a');

function errorOf(words: readonly number[], name = 'gfx90a'): string {
  try {
    decode(new Uint8Array(Uint32Array.from(words).buffer), { target: findTarget(name) });
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  return 'no error';
}

describe('unknown and incomplete code', () => {
  it.each([
    [
      'an unknown opcode, behind a known instruction',
      [0xbf800000, 0xbf82ffff],
      'offset 0x4: bf82ffff: no instruction known on gfx90a',
    ],
    ['SOPC', [0xbf000000], 'offset 0x0: bf000000: no instruction known on gfx90a'],
    ['SMEM', [0xc0020002, 0x18], 'offset 0x0: c0020002: no instruction known on gfx90a'],
    ['half of a VOP3', [0xd1cc0000], 'offset 0x0: d1cc0000: v_fma_f64: the code ends within it'],
    ['a missing literal', [0x7e004aff], 'offset 0x0: 7e004aff: v_rcp_f64: the code ends within it'],
    [
      'a literal in VOP3 on gfx9',
      [0xd1cc0000, 0x041204ff, 0],
      'offset 0x0: d1cc0000 041204ff: v_fma_f64: gfx90a allows no literal constant',
    ],
    [
      'an odd VGPR pair on CDNA2',
      [0xd1cc0001, 0x04120503],
      'offset 0x0: d1cc0001 04120503: v_fma_f64: gfx90a needs an even first VGPR',
    ],
    ['AccVGPR data', [0xdaa40000, 0x00000200], 'offset 0x0: daa40000 00000200: ds_min_f64: AccVGPRs are not supported'],
    ['GDS', [0xd8a50000, 0x00000200], 'offset 0x0: d8a50000 00000200: ds_min_f64: gfx90a has no GDS'],
    [
      'OP_SEL bits',
      [0xd1cc0800, 0x04120502],
      'offset 0x0: d1cc0800 04120502: v_fma_f64: bits 0x800 of dword 0 are not supported',
    ],
    ['SDWA', [0x7e0244f9, 0], 'offset 0x0: 7e0244f9: v_rcp_f32: operand code 249 is not supported'],
    ['an aperture', [0xbe8001eb], 'offset 0x0: be8001eb: s_mov_b64: operand code 235 is not supported'],
    ['FLAT_SCRATCH', [0xbee60100], 'offset 0x0: bee60100: s_mov_b64: s103 is out of range'],
    ['two scalar sources', [0xd1cc0000, 0x04100400], 'offset 0x0: d1cc0000 04100400: v_fma_f64: constant bus'],
  ])('%s', (_, words, message) => expect(errorOf(words)).toContain(message));

  it('no null on gfx9', () => expect(errorOf([0xbe80007d])).toMatch(/gfx90a has no null register/));

  it('DPP on RDNA', () => expect(errorOf([0x7e0254fa, 0], 'gfx1100')).toMatch(/operand code 250 is not supported/));

  it('a length that is no multiple of 4', () => {
    expect(() => decode(new Uint8Array(7), { target })).toThrow(/offset 0x4: .*7 bytes are no whole number of dwords/);
  });

  it('a listing goes on behind unknown words', () => {
    const code = new Uint8Array(Uint32Array.from([0xbf800001, 0xbf82ffff, 0xbf810000]).buffer);
    const lines = disassembleBytes(code, { target });
    expect(lines.map(({ offset, text }) => [offset, text])).toEqual([
      [0, 's_nop 1'],
      [4, '.long 0xbf82ffff'],
      [8, 's_endpgm'],
    ]);
    expect(lines[1]!.error).toBeInstanceOf(DecodeError);
  });

  it("machine code within a larger buffer is read from the view's start", () => {
    const code = new Uint8Array([9, 9, 9, 9, 1, 0, 0x80, 0xbf]).subarray(4);
    expect(disassemble(decode(code, { target }))).toEqual(['s_nop 1']);
  });
});

describe('random words', () => {
  /** Words near our encodings: the first dword's top bits are those of an encoding. */
  const tops = [
    0x7e000000, 0x7c000000, 0x02000000, 0xd1c00000, 0xd5000000, 0xd8800000, 0xbe800000, 0xb9000000, 0xbf800000,
    0x86000000,
  ];
  const first = fc.tuple(fc.constantFrom(...tops), fc.nat(0x1ffffff)).map(([top, low]) => (top ^ low) >>> 0);
  const words = fc.tuple(first, fc.nat(0xffffffff), fc.nat(0xffffffff));

  it('what decodes encodes to the same bytes; the rest is a DecodeError (seed 90)', () => {
    let decoded = 0;
    fc.assert(
      fc.property(words, fc.constantFrom(...targets), (dwords, on) => {
        const code = new Uint8Array(Uint32Array.from(dwords).buffer);
        const listing = disassembleBytes(code, { target: on });
        expect(listing.flatMap((line) => line.words)).toEqual(dwords.map((word) => word >>> 0));
        for (const line of listing) {
          if (line.error) continue;
          decoded++;
          const own = new Uint8Array(Uint32Array.from(line.words).buffer);
          expect(encode(decode(own, { target: on }))).toEqual(own);
        }
      }),
      { seed: 90, numRuns: 20000 },
    );
    expect(decoded).toBeGreaterThan(1000);
  });

  it('what decodes to unambiguous text assembles again (seed 91)', () => {
    fc.assert(
      fc.property(words, fc.constantFrom(...targets), (dwords, on) => {
        const code = new Uint8Array(Uint32Array.from(dwords).buffer);
        for (const { text, words: own, error } of disassembleBytes(code, { target: on })) {
          if (error || /neg\(|invalid|s_waitcnt/.test(text)) continue;
          const again = encode(assemble(text, { target: on }));
          expect([text, ...new Uint32Array(again.buffer)]).toEqual([text, ...own]);
        }
      }),
      { seed: 91, numRuns: 10000 },
    );
  });
});
