/**
 * LDS atomics on f64: what is stored for memory M and source S, cell by cell (ROCm rocjitsu memory_pipeline.cpp and
 * atomic_semantics_and_decode_test.cpp; AMD RDNA4 ISA, DS_MIN_NUM_F64; LLVM review D97411; the published text of DS_MIN_RTN_F64).
 */
import { describe, expect, it } from 'vitest';
import { targets } from '../../src/isa/target.ts';
import { definition, digits, KERNEL, negated, variant, words } from './run.ts';

/** What the atomic stores. */
function stored(name: string, m: string, s: string, mode = KERNEL, where = variant('gfx90a')): string {
  const semantics = definition(name).semantics(where);
  if (semantics.unit !== 'lds' || semantics.cpu === undefined) throw new Error(`${name} is no atomic`);
  const memory = Uint32Array.from(words(m));
  semantics.cpu(memory, Uint32Array.from(words(s)), mode);
  return digits(memory[1]!) + digits(memory[0]!);
}

const [one, two, zero, tiny] = ['3ff0000000000000', '4000000000000000', '0000000000000000', '0000000000000001'];
const [sM, sS, qM, qS] = ['7ff0000000000aaa', 'fff0000000000bbb', '7ff8000000000aaa', 'fff8000000000bbb'];

/** M, S, then the minimum stored by ds_min_f64, ds_min_num_f64 and the published text. */
const minima: [string, string, string, string, string, string][] = [
  ['two numbers, S smaller', two, one, one, one, one],
  ['two numbers, M smaller', one, two, one, one, one],
  ['-0 below +0', zero, negated(zero), negated(zero), negated(zero), zero],
  ['+0 not below -0', negated(zero), zero, negated(zero), negated(zero), negated(zero)],
  ['M signalling, S number', sM, one, qM, one, sM],
  ['M signalling, S signalling', sM, sS, qM, qS, sM],
  ['M signalling, S quiet', sM, qS, qM, qS, sM],
  ['M number, S signalling', one, sS, qS, one, one],
  ['M quiet, S signalling', qM, sS, qS, qS, qM],
  ['M quiet, S number', qM, one, one, one, qM],
  ['M number, S quiet', one, qS, one, one, one],
  ['both quiet', qM, qS, qM, qS, qM],
];

const older = targets.filter(({ generation }) => generation !== 'gfx12').map(({ name }) => name);
const newer = targets.filter(({ generation }) => generation === 'gfx12').map(({ name }) => name);

describe.each(['', '_rtn'])('ds_min%s_f64 and ds_max%s_f64', (rtn) => {
  it.each(minima)('%s', (_, m, s, old, num, published) => {
    // The maximum is the minimum of the negated operands, negated.
    const max = (where: Parameters<typeof stored>[4]) =>
      negated(stored(`ds_max${rtn}_f64`, negated(m), negated(s), KERNEL, where));
    for (const [names, expected] of [
      [older, old],
      [newer, num],
    ] as const)
      for (const target of names) {
        expect(stored(`ds_min${rtn}_f64`, m, s, KERNEL, variant(target)), target).toBe(expected);
        expect(max(variant(target)), target).toBe(expected);
      }
    for (const { name } of targets) {
      expect(stored(`ds_min${rtn}_f64`, m, s, KERNEL, variant(name, 'published')), name).toBe(published);
      expect(max(variant(name, 'published')), name).toBe(published);
    }
  });
});

describe('flushed sources', () => {
  const flush = KERNEL & ~0x40;
  it('older chips compare flushed values and store the bits as they were; ties keep M', () => {
    expect(stored('ds_min_f64', zero, negated(tiny), flush)).toBe(negated(tiny));
    expect(stored('ds_max_f64', tiny, zero, flush)).toBe(tiny);
    expect(stored('ds_min_f64', tiny, zero, flush)).toBe(tiny);
    expect(stored('ds_min_f64', tiny, zero, KERNEL)).toBe(zero);
  });
  it('gfx12 stores the flushed values', () => {
    const where = variant('gfx1200');
    expect(stored('ds_min_f64', zero, negated(tiny), flush, where)).toBe(negated(zero));
    expect(stored('ds_max_f64', tiny, zero, flush, where)).toBe(zero);
    expect(stored('ds_min_f64', tiny, one, flush, where)).toBe(zero);
    expect(stored('ds_min_f64', tiny, one, KERNEL, where)).toBe(tiny);
  });
  it('the output bit plays no part', () => {
    for (const target of ['gfx90a', 'gfx1200'])
      expect(stored('ds_min_f64', one, tiny, KERNEL & ~0x80, variant(target))).toBe(tiny);
  });
});

describe('ds_add_f64', () => {
  it('rounds to nearest even and keeps subnormals whatever MODE says', () => {
    const third = '3fd5555555555555';
    for (const mode of [KERNEL, 0x30c, 0x304, 0x308, 0x300]) {
      expect(stored('ds_add_f64', third, one, mode)).toBe('3ff5555555555555');
      expect(stored('ds_add_f64', tiny, tiny, mode)).toBe('0000000000000002');
    }
  });
  it("of two NaN gives the source's, quieted; opposite infinities give the default NaN", () => {
    expect(stored('ds_add_f64', sM, sS)).toBe(qS);
    expect(stored('ds_add_f64', sM, one)).toBe(qM);
    expect(stored('ds_add_f64', '7ff0000000000000', 'fff0000000000000')).toBe('fff8000000000000');
  });
});
