/**
 * Texts to ask llvm-mc about, derived from the instruction objects: every mnemonic of a target with every kind of operand in every
 * place, legal or not, and combinations that strain the constant bus.
 */
import { fieldOf, layoutOf } from '../../src/isa/fields.ts';
import type { InstructionDef } from '../../src/isa/instruction.ts';
import { type OperandSpec, wordsOf } from '../../src/isa/operand.ts';
import { type Target, targets } from '../../src/isa/target.ts';
import { type Mnemonic, mnemonicsOf } from '../../src/program/mnemonics.ts';
import type { WaveSize } from '../../src/wavefront/registers.ts';

const words = (text: string) => text.trim().split(/\s+/);
const lines = (text: string) => text.trim().split(/\s*\n\s*/);

const constants = words(
  '0 1 64 65 -1 -16 -17 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 3.0 0x12345678 0xffffffff 0x123456789 lit(0x64) lit(1)',
);

const sources: Readonly<Record<number, readonly string[]>> = {
  1: [
    ...words(
      'v1 v255 v256 s1 s100 s101 s102 s105 s106 vcc_lo vcc_hi exec_lo exec_hi m0 null ttmp1 v[2:3] s[2:3] vcc exec',
    ),
    ...constants,
    ...words('0.15915494 0x3e22f983 0.1 1e40 1e-40 0x3f800000 0xfffffff0 100 -100 1e-3'),
  ],
  2: [
    ...words('v[2:3] v[254:255] v[255:256] v[3:4] v2 v[2:4] s[2:3] s[3:4] s2 s[100:101] s[102:103] s[104:105] s[0:3]'),
    ...words('vcc vcc_lo exec exec_lo m0 null ttmp[2:3] ttmp[3:4]'),
    ...constants,
    ...words(
      '0.15915494309189532 0x3fc45f306dc9c882 0x40000000 0x3ff00000 lit(0x3ff00000) 0x3ff0000000000000 100 -100',
    ),
  ],
  4: words('v[4:7] v[252:255] v[253:256] v[5:8] v[4:5] v4 s[4:7] 0'),
};

/** Sources that only make sense where NEG and ABS may be. */
const modified: Readonly<Record<number, readonly string[]>> = {
  1: words('-v1 |v1| -|v1| neg(v1) abs(v1) neg(abs(v1)) -s1 |s1| neg(1.0) |-1.0| -|2.0|'),
  2: words('-v[2:3] |v[2:3]| -|v[2:3]| neg(v[2:3]) abs(v[2:3]) -s[2:3] |s[2:3]| neg(1.0) |-1.0| -|2.0|'),
  4: [],
};

const masks = words(
  'vcc vcc_lo s[2:3] s2 s[3:4] exec exec_lo null m0 ttmp[2:3] ttmp2 v1 v[2:3] 0 -1 s[100:101] s[104:105] s105 s[102:103]',
);

const fields: Readonly<Record<string, readonly string[]>> = {
  simm16: words('0 1 7 15 16 63 64 65 255 0x1234 0xffff -1 -32768 v0 s0'),
  imm32: words('0 3 64 65 -1 -16 -17 0x3f0 0xffffffff 0x12345678 s0 v0'),
  hwreg: lines(`
    hwreg(HW_REG_MODE)
    hwreg(HW_REG_MODE, 0, 32)
    hwreg(HW_REG_MODE, 4, 2)
    hwreg(HW_REG_MODE, 31, 1)
    hwreg(HW_REG_MODE, 0, 33)
    hwreg(HW_REG_MODE, 32, 1)
    hwreg(HW_REG_MODE, 0, 0)
    hwreg(HW_REG_MODE, 4)
    hwreg(HW_REG_WAVE_MODE, 4, 2)
    hwreg(HW_REG_STATUS)
    hwreg(HW_REG_NONE)
    hwreg(1, 2, 3)
    hwreg(2)
    hwreg(22)
    hwreg(29)
    hwreg(64)
    0x1801
    0xffff`),
  waitcnt: lines(`
    0
    0xffff
    0x1234
    0x0f70
    vmcnt(0)
    vmcnt(63)
    vmcnt(64)
    vmcnt(3) lgkmcnt(5)
    vmcnt(0) & lgkmcnt(0)
    vmcnt(0), expcnt(0), lgkmcnt(0)
    vmcnt(0) expcnt(0) lgkmcnt(0)
    expcnt(7)
    expcnt(8)
    lgkmcnt(15)
    lgkmcnt(16)
    lgkmcnt(63)
    lgkmcnt(64)
    lgkmcnt_sat(100)
    vmcnt_sat(100)
    vscnt(0)`),
  depctr: lines(`
    0
    0xfff
    0xffff
    0xff9f
    0xffe3
    0xfffd
    depctr_va_vdst(0)
    depctr_va_vdst(15)
    depctr_va_vdst(16)
    depctr_va_vdst(1) depctr_sa_sdst(0)
    depctr_sa_sdst(0) & depctr_va_sdst(3)
    depctr_va_ssrc(0)
    depctr_va_vcc(0)
    depctr_vm_vsrc(1)
    depctr_vm_vsrc(1) depctr_vm_vsrc(2)
    depctr_hold_cnt(0)
    depctr_none(0)`),
  delay: lines(`
    0
    0x91
    0x87
    instid0(VALU_DEP_1)
    instid0(TRANS32_DEP_3)
    instid0(FMA_ACCUM_CYCLE_1)
    instid0(SALU_CYCLE_3)
    instskip(NEXT)
    instskip(SKIP_4)
    instid1(VALU_DEP_4)
    instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(TRANS32_DEP_2)
    instid0(NO_DEP) | instskip(SAME) | instid1(NO_DEP)
    instid0(VALU_DEP_9)
    instid2(VALU_DEP_1)`),
};

/** What is tried in the place of an operand. */
function choices(spec: OperandSpec, isVector: boolean): readonly string[] {
  if (fields[spec.type]) return fields[spec.type]!;
  if (spec.type === 'mask') return masks;
  const count = wordsOf(spec.type, 64);
  return [...sources[count]!, ...(isVector ? modified[count]! : [])];
}

const written = (specs: readonly OperandSpec[]) => specs.filter(({ field }) => field !== 'vcc');

/** A legal operand for each place, different registers. */
function usual({ name, operands }: InstructionDef, waveSize: WaveSize): string[] {
  return written(operands).map(({ field, type }, place) => {
    if (name.startsWith('s_waitcnt_') && field === 'sdst') return 'null';
    if (fields[type]) return type === 'hwreg' ? 'hwreg(HW_REG_MODE, 4, 2)' : '0';
    if (type === 'mask') return waveSize === 64 ? 'vcc' : 'vcc_lo';
    const count = wordsOf(type, waveSize);
    const file = /^s(?:dst|src\d)$/.test(field) ? 's' : 'v';
    const first = 4 * place + 4;
    return count === 1 ? `${file}${first}` : `${file}[${first}:${first + count - 1}]`;
  });
}

const tails = [' mul:2', ' mul:4', ' div:2', ' mul:1', ' mul:3', ' clamp', ' clamp mul:2', ' offset:8', ' gds'];
const dsTails = [
  ' offset:0',
  ' offset:8',
  ' offset:65535',
  ' offset:65536',
  ' offset:-1',
  ' gds',
  ' offset:16 gds',
  ' clamp',
  ' mul:2',
];

/** Scalar combinations for two and three sources, by width: how many the constant bus and the literal rules let through. */
const crowds: Readonly<Record<number, readonly string[]>> = {
  1: words('s2 s2 s6 0x12345678 0x12345678 0x87654321 vcc_lo m0 exec_lo null 1.0 v9'),
  2: words('s[2:3] s[2:3] s[6:7] 0x12345678 0x12345678 0x76543210 vcc exec null 1.0 v[10:11]'),
};

function* crowded(specs: readonly OperandSpec[], base: readonly string[]): Generator<string[]> {
  const places = specs.flatMap(({ field, role, type }, i) =>
    role === 'src' && /^s?src\d/.test(field) && crowds[wordsOf(type, 64)] && type !== 'mask' ? [i] : [],
  );
  if (places.length < 2) return;
  for (const [n, a] of places.entries())
    for (const b of places.slice(n + 1)) {
      const [as, bs] = [crowds[wordsOf(specs[a]!.type, 64)]!, crowds[wordsOf(specs[b]!.type, 64)]!];
      for (const [i, first] of as.entries())
        for (const second of bs.slice(i)) yield base.with(a, first).with(b, second);
    }
  if (places.length < 3) return;
  const [a, b, c] = places as [number, number, number];
  const crowd = crowds[wordsOf(specs[a]!.type, 64)]!;
  for (let i = 0; i + 2 < crowd.length; i++)
    yield base
      .with(a, crowd[i]!)
      .with(b, crowd[i + 1]!)
      .with(c, crowd[i + 2]!);
}

function* operandLists(mnemonic: Mnemonic, target: Target, waveSize: WaveSize): Generator<string[]> {
  const specs = written(mnemonic.def.operands);
  const [form] = mnemonic.forms;
  const isVector = form!.encoding.startsWith('V');
  const base = usual(mnemonic.def, waveSize);
  yield base;
  for (const [place, spec] of specs.entries()) {
    const field = fieldOf(spec, layoutOf(mnemonic.forms.at(-1)!.encoding, target.generation));
    for (const choice of choices(spec, isVector && field?.holds === 'source')) yield base.with(place, choice);
  }
  yield* crowded(specs, base);
  yield base.slice(0, -1);
  yield [...base, 'v0'];
  yield [...base, '0'];
}

const join = (operands: readonly string[]) => (operands.length === 0 ? '' : ` ${operands.join(', ')}`);

/** Instructions that should be treated alike: same encodings, operands and modifiers. */
const shapeOf = ({ def, forms }: Mnemonic) =>
  JSON.stringify([
    forms.map(({ encoding }) => encoding),
    def.operands.map(({ field, type }) => [field, type]),
    def.modifiers,
  ]);

/** One in this many of the operand lists is tried for the later instructions of a shape (a prime, so that places take turns). */
const SPARSE = 7;

/** Every text to try for a target, in a fixed order, each once. The first instruction of a shape gets all operand lists. */
export function textsFor(target: Target, waveSize: WaveSize): string[] {
  const texts = new Set<string>();
  const shapes = new Set<string>();
  for (const [name, mnemonic] of mnemonicsOf(target)) {
    const all = [...operandLists(mnemonic, target, waveSize)];
    const base = join(all[0]!);
    texts.add(`${name}${base}`);
    if (name !== mnemonic.name) continue;
    const lists = shapes.has(shapeOf(mnemonic)) ? all.filter((_, index) => index % SPARSE === 0) : all;
    shapes.add(shapeOf(mnemonic));
    for (const list of lists) texts.add(`${name}${join(list)}`);
    const encoding = mnemonic.forms[0]!.encoding;
    const isVector = encoding.startsWith('V');
    for (const tail of encoding === 'DS' ? dsTails : isVector ? tails : [' clamp']) texts.add(`${name}${base}${tail}`);
    if (!isVector) continue;
    for (const suffix of ['_e32', '_e64'])
      for (const [index, list] of lists.entries()) if (index % 5 === 0) texts.add(`${name}${suffix}${join(list)}`);
    for (const tail of tails) texts.add(`${name}_e64${base}${tail}`);
  }
  for (const [name, { def }] of targets.flatMap((other) => [...mnemonicsOf(other)]))
    if (!mnemonicsOf(target).has(name)) texts.add(`${name}${join(usual(def, waveSize))}`);
  return [...texts];
}
