/**
 * WebAssembly does nearly all lanes, whatever the operands. That its bits are right divisionMacro.test.ts says, which runs the macro with
 * and without it.
 */
import { describe, expect, it } from 'vitest';
import { type MacroValue, macroValues, plainOrders } from '../../src/isa/divisionMacro.ts';
import { DivisionMacroVectors, vectorBytes } from '../../src/isa/divisionMacroVectors.ts';
import type { Words } from '../../src/isa/divisionMacroWords.ts';
import { LaneMemory } from '../../src/isa/laneMemory.ts';
import { classes, type Draw, drawOf, drawPair, newPair } from '../../src/verify/operands.ts';
import { Random } from '../../src/verify/random.ts';

const LANES = 64;
const WAVES = 200;

const memory = LaneMemory.open(2 * vectorBytes(LANES))!;
const pair = (): Words => [memory.words(LANES), memory.words(LANES)];
const values = Object.fromEntries(macroValues.map((value) => [value, pair()])) as Record<MacroValue, Words>;
const vectors = DivisionMacroVectors.over(memory, { flag: memory.words(LANES), values }, plainOrders)!;

/** The share of lanes that are left to JavaScript, of so many waves. */
function left(draw: Draw, isDirect: boolean): number {
  const [random, drawn] = [new Random(1), newPair()];
  const [n, d] = [pair(), pair()];
  let lanes = 0;
  for (let wave = 0; wave < WAVES; wave++) {
    for (let lane = 0; lane < LANES; lane++) {
      draw(random, drawn);
      [n[0][lane], n[1][lane], d[0][lane], d[1][lane]] = [drawn.nLo, drawn.nHi, drawn.dLo, drawn.dHi];
    }
    lanes += vectors.run(n, d, isDirect);
  }
  return lanes / (WAVES * LANES);
}

describe.each([true, false])('lanes that vectors leave (direct: %s)', (isDirect) => {
  it('none of ordinary operands', () => expect(left(drawOf(classes.ordinary!), isDirect)).toBe(0));
  it('hardly any of all classes', () => expect(left(drawPair, isDirect)).toBeLessThan(0.001));
});

describe('memory of lanes', () => {
  it('gives out what does not overlap, at multiples of 16 bytes', () => {
    const small = LaneMemory.open(100)!;
    const [a, b] = [small.bytes(3), small.words(5)];
    expect([a.byteOffset, a.length, b.byteOffset, b.length]).toEqual([0, 3, 16, 5]);
    expect([small.holds(a), small.holds(b), small.holds(new Uint32Array(1)), memory.holds(a)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('gives no more than it has', () => expect(() => LaneMemory.open(1)!.bytes(65537)).toThrow(RangeError));
});
