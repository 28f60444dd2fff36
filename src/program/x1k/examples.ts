/**
 * Examples of X1K programs, for the page and the documentation. A comment `; r0 = 3f800000 ...` gives the x, y, z, w that a register
 * starts with, in all lanes; `; r2 -> ...` what it holds at the end.
 */
import { WaveState } from '../../wavefront/state.ts';
import type { Program } from '../program.ts';

export interface X1kExample {
  readonly title: string;
  readonly text: string;
}

export type RegisterWords = readonly [number, number, number, number];

/** The registers that comments of a text give (`=`) or promise (`->`). */
export function x1kRegisters(text: string, sign: '=' | '->'): ReadonlyMap<number, RegisterWords> {
  const pattern = new RegExp(`^;\\s*r(\\d{1,3})\\s*${sign}((?:\\s+[0-9a-fA-F]{8}){4})\\s*$`);
  const found = new Map<number, RegisterWords>();
  for (const line of text.split('\n')) {
    const [, register, words] = pattern.exec(line) ?? [];
    if (register === undefined) continue;
    const [x, y, z, w] = words!
      .trim()
      .split(/\s+/)
      .map((word) => Number.parseInt(word, 16));
    found.set(Number(register), [x!, y!, z!, w!]);
  }
  return found;
}

/** One wave with the registers that a text gives, in all lanes; the others are 0. `program` is that text's. */
export function x1kState({ vgprs, waveSize }: Program, text: string): WaveState {
  const given = x1kRegisters(text, '=');
  const room = Math.max(vgprs, ...[...given.keys()].map((register) => 4 * register + 4));
  const state = WaveState.start({ waveSize, waves: 1, wavesPerGroup: 1, vgprs: room, sgprs: 0, ldsWords: 0 });
  for (const [register, words] of given)
    for (const [i, word] of words.entries()) state.vgpr(0, 4 * register + i).fill(word);
  return state;
}

export const x1kExamples: readonly X1kExample[] = [
  {
    title: 'MIN and MAX of zeros: MIN(+0, -0) is -0',
    text: `; r0 = 00000000 80000000 00000000 80000000
; r1 = 80000000 00000000 00000000 80000000
; Both inputs are zeros: the second one is returned.
min r2, r0, r1
max r3, r0, r1
; r2 -> 80000000 00000000 00000000 80000000
; r3 -> 80000000 00000000 00000000 80000000
end
`,
  },
  {
    title: "The dot product's loss: 1 - 1 + 2^-25 is 0",
    text: `; r0 = 3f800000 bf800000 33000000 00000000
; r1 = 3f800000 bf800000 33800000 00000000
; r2 = 3f800000 3f800000 3f800000 3f800000
; r3 = 00000000 00000000 00000000 00000000
; The largest values cancel, and 2^-25 is too small beside them; 2^-24 is not.
dp3 r3.x, r0, r2
dp3 r3.y, r1, r2
; One after the other nothing is lost.
mad r3.z, r0.x, r2, r0.y
mad r3.z, r0, r2, r3.z
; r3 -> 00000000 33800000 33000000 00000000
end
`,
  },
  {
    title: 'RSQ(-0) is +Inf, RCP(-0) is -Inf',
    text: `; r0 = 80000000 00000000 7f800000 bf800000
; The root is taken first, and is not the -0 of IEEE 754.
rsq r1.x, r0.x
rsq r1.y, r0.y
rsq r1.z, r0.z
rsq r1.w, r0.w
rcp r2.x, r0.x
rcp r2.y, r0.y
rcp r2.z, r0.z
rcp r2.w, r0.w
; r1 -> 7f800000 7f800000 00000000 7fffffff
; r2 -> ff800000 7f800000 00000000 bf800000
end
`,
  },
  {
    title: 'Out of range: EX2 is lost before the output modifier, MAD is not',
    text: `; r0 = 43000000 c2fe0000 7f000000 00800000
; r1 = 40000000 3f000000 40000000 3f000000
; r2 = 00000000 00000000 00000000 00000000
; 2^128 is infinite and 2^-127 is 0, whatever comes behind.
ex2 r3.x, r0.x /2
ex2 r3.y, r0.y *2
; 2^127 * 2 and 2^-126 / 2 come back.
mad r3.z, r0, r1, r2 /2
mad r3.w, r0, r1, r2 *2
; r3 -> 7f800000 00000000 7f000000 00800000
end
`,
  },
  {
    title: 'A move that keeps all bits, and one that does not',
    text: `; r0 = 7f801234 ffc00001 00000001 807fffff
max r1, r0, r0 omod_disabled
mov r2, r0
; The output modifier makes every NaN 7fffffff, and denormals zeros.
; r1 -> 7f801234 ffc00001 00000001 807fffff
; r2 -> 7fffffff 7fffffff 00000000 80000000
end
`,
  },
  {
    title: 'Swizzle, mask, source and output modifiers',
    text: `; r0 = 3f000000 bf800000 40000000 40400000
; r1 = 3e800000 3e000000 bf400000 40800000
; r2 = 00000000 00000000 11111111 22222222
; x: min(0.5, 0.125) * 2; y: min(-1, 0.25) * 2, below 0.
min r2.xy, r0, |r1|.yxzw *2 sat
; 1 - 2 * r1, in the order w, z, y, x.
mov r3, (1-2*r1).wzyx
; r2 -> 3e800000 00000000 11111111 22222222
; r3 -> c0e00000 40200000 3f400000 3f000000
end
`,
  },
];
