/** The division macro as kernels by themselves, with functions of `shaders/bench/macro.wesl`. MODE is the kernels' default. */
import type { Workload } from './programs.ts';
import type { RawKernel } from './rawKernels.ts';
import { CHAIN } from './texts.ts';

const place = (register: number) => `base + ${register * 64}u`;

/** Where these kernels put VCC's bit, and whether they could do the lane. */
const VCC = 16;
const OK = 17;

/** The macros of `chainText` by one of the functions, in registers. */
export function macroKernel(id: string, name: string, workload: Workload): RawKernel {
  const source = `import package::bench::macro::{MacroOut, ${name}};
fn work(base: u32) {
  var n = load64(base);
  var d = load64(${place(2)});
  var out: MacroOut;
  var ok = true;
  for (var k = 0u; k < ${CHAIN}u; k++) {
    out = ${name}(n, d, 0x3f0u);
    n = out.result;
    d = out.r2;
    ok &= out.ok;
  }
  store64(${place(4)}, out.p);
  store64(${place(8)}, out.ns);
  store64(${place(10)}, out.q);
  store64(${place(18)}, out.result);
  store64(${place(20)}, out.r2);
  vgprs[${place(VCC)}] = u32(out.vcc);
  vgprs[${place(OK)}] = u32(ok);
}`;
  return {
    id,
    source,
    registers: 22,
    work: CHAIN,
    expected: {
      workload,
      vcc: VCC,
      ok: OK,
      registers: [
        [4, 4],
        [5, 5],
        [8, 8],
        [9, 9],
        [10, 10],
        [11, 11],
        [18, 12],
        [19, 13],
        [20, 14],
        [21, 15],
      ],
    },
  };
}

/** The divisions of `directChainText`. */
export const directKernel = (id: string, workload: Workload): RawKernel => ({
  id,
  source: `import package::isa::division_fused::direct_division;
fn work(base: u32) {
  var n = load64(base);
  var d = load64(${place(2)});
  var ok = true;
  for (var k = 0u; k < ${CHAIN}u; k++) {
    let quotient = direct_division(n, d, 0x3f0u);
    d = n;
    n = quotient.result;
    ok &= quotient.ok;
  }
  store64(${place(4)}, n);
  vgprs[${place(6)}] = u32(ok);
}`,
  registers: 7,
  work: CHAIN,
  expected: {
    workload,
    ok: 6,
    registers: [
      [4, 26],
      [5, 27],
    ],
  },
});
