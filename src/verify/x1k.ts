/**
 * X1K's built-in program and random registers. The program does every operation on r0, r1, r2 into a register of its own, so that each
 * result is compared; scalar operations take all four components, and arithmetic is done with output modifiers too.
 */
import type { WaveState } from '../wavefront/state.ts';
import type { Random } from './random.ts';

const components = ['x', 'y', 'z', 'w'] as const;

/** Operations on whole registers, and how each is also done with output modifiers. */
const vectorLines: readonly (readonly [operation: string, sources: string, output: string])[] = [
  ['mad', 'r0, r1, r2', '/8'],
  ['min', 'r0, r1', '*8 sat'],
  ['max', 'r0, r1', 'omod_disabled'],
  ['cnd', 'r0, r1, r2', '/4'],
  ['cmp', 'r0, r1, r2', 'omod_disabled'],
  ['frc', 'r0', '*2'],
  ['dp3', 'r0, r1', '*4'],
  ['dp4', 'r0, r1', '/2'],
  ['d2a', 'r0, r1, r2', 'sat'],
  ['mov', '(r1-r0)', '*2'],
];

const scalarOperations = ['ex2', 'ln2', 'rcp', 'rsq', 'sin', 'cos'];

/** Every operation of X1K; results from r3 on. */
export function x1kText(): string {
  let next = 3;
  const lines = [
    ...vectorLines.flatMap(([name, sources, output]) => [
      `${name} r${next++}, ${sources}`,
      `${name} r${next++}, ${sources} ${output}`,
    ]),
    ...scalarOperations.flatMap((name) => {
      const register = next++;
      return components.map((c) => `${name} r${register}.${c}, r0.${c}`);
    }),
    `mov r${next++}, (1-2*r0)`,
    `mov r${next++}, |(r1+r0)|.wzyx`,
    `mov r${next++}, -(1-r0)`,
    'pred_ge r0.x',
    'end',
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const specials = [
  0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 1, 0x807fffff, 0x3f800000, 0xbf800000,
  0x3f000000, 0x00800000, 0x80800000, 0x7f7fffff, 0x3f000001,
] as const;

/** A word: any bits, numbers around 1, numbers of few bits, special values. */
function drawWord(random: Random): number {
  const kind = random.below(16);
  const bits = random.word();
  const around = ((127 - 24 + random.below(48)) << 23) >>> 0;
  if (kind < 7) return ((bits & 0x807fffff) | around) >>> 0;
  if (kind < 9) return ((bits & 0x80700000) | around) >>> 0;
  return kind === 9 ? specials[random.below(specials.length)]! : bits;
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The word of a * b, rounded: added with the other sign, the sum cancels but for the rounding. */
function productWord(a: number, b: number): number {
  singleBits[0] = a;
  const first = single[0]!;
  singleBits[0] = b;
  single[0] = first * single[0]!;
  return singleBits[0]!;
}

/**
 * Random words for every register of a wave. In a fourth of the lanes each the products of r0 and r1 cancel r2, and the products of the x
 * and y components cancel each other (in dot products).
 */
export function drawX1kRegisters(random: Random, state: WaveState, wave: number): void {
  const { vgprs, waveSize } = state.layout.shape;
  const lanes = Array.from({ length: vgprs }, (_, register) => state.vgpr(wave, register));
  for (const words of lanes) for (let lane = 0; lane < waveSize; lane++) words[lane] = drawWord(random);
  if (vgprs < 12) return;
  for (let lane = 0; lane < waveSize; lane++) {
    const kind = random.below(4);
    const [a, b] = [random.below(2), random.below(4)];
    if (kind === 0)
      for (let i = 0; i < 4; i++)
        lanes[8 + i]![lane] = (productWord(lanes[i]![lane]!, lanes[4 + i]![lane]!) ^ (b === 0 ? 0 : 0x80000000)) >>> 0;
    if (kind !== 1) continue;
    lanes[1]![lane] = (lanes[a * 4]![lane]! ^ 0x80000000) >>> 0;
    lanes[5]![lane] = lanes[4 - a * 4]![lane]!;
  }
}
