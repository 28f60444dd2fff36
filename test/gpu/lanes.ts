/**
 * Runs single functions of `shaders/isa` on the WebGPU device, one call a lane. A function's parameters and result are read from its
 * module, so that nothing has to be said twice.
 */
import { readFileSync } from 'node:fs';
import { linkShader } from '../../src/gpu/link.ts';
import { dispatch, type TestGpu } from './harness.ts';

/** Words that a parameter or result takes in a lane's row; a bool is 0 or 1. */
const WORDS = { u32: 1, bool: 1, vec2u: 2, DivScaleF64: 3, DivScaleF32: 2 } as const;
type WgslType = keyof typeof WORDS;

export interface Signature {
  readonly parameters: readonly WgslType[];
  readonly result: WgslType;
}

const typeNamed = (name: string): WgslType => {
  if (!Object.hasOwn(WORDS, name)) throw new Error(`a test can't pass the type ${name}`);
  return name as WgslType;
};

/** Parameters and result of a function of `shaders/isa`. */
export function signatureOf(family: string, name: string): Signature {
  const text = readFileSync(new URL(`../../shaders/isa/${family}.wesl`, import.meta.url), 'utf8');
  const found = new RegExp(`^fn ${name}\\(([^)]*)\\) -> (\\w+)`, 'm').exec(text);
  if (!found) throw new Error(`${family}.wesl has no function ${name}`);
  const parameters = found[1]!.split(',').map((parameter) => typeNamed(parameter.split(':')[1]!.trim()));
  return { parameters, result: typeNamed(found[2]!) };
}

const load = (type: WgslType, at: number): string => {
  if (type === 'vec2u') return `vec2u(source[i + ${at}u], source[i + ${at + 1}u])`;
  return type === 'bool' ? `(source[i + ${at}u] != 0u)` : `source[i + ${at}u]`;
};

const STORE: Record<WgslType, string> = {
  u32: 'result[o] = r;',
  bool: 'result[o] = u32(r);',
  vec2u: 'result[o] = r.x; result[o + 1u] = r.y;',
  DivScaleF64: 'result[o] = r.d.x; result[o + 1u] = r.d.y; result[o + 2u] = u32(r.flag);',
  DivScaleF32: 'result[o] = r.d; result[o + 1u] = u32(r.flag);',
};

/** Words that a lane reads and writes. */
export interface RowSizes {
  readonly input: number;
  readonly output: number;
}

/** Words of all parameters of a lane, and of its result. */
export const rowSizes = ({ parameters, result }: Signature): RowSizes => ({
  input: parameters.reduce((sum, type) => sum + WORDS[type], 0),
  output: WORDS[result],
});

/** The body of a kernel that calls the function on row `i` of `source` and leaves the result in row `o` of `result`. */
function callText(name: string, { parameters, result }: Signature): string {
  let at = 0;
  const values = parameters.map((type) => {
    at += WORDS[type];
    return load(type, at - WORDS[type]);
  });
  return `let r = ${name}(${values.join(', ')});\n  ${STORE[result]}`;
}

const kernelText = (imports: string, body: string, sizes: RowSizes): string => `${imports}
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x * ${sizes.input}u;
  let o = id.x * ${sizes.output}u;
  if o >= arrayLength(&result) { return; }
  ${body}
}
`;

export interface LaneKernel {
  /** Rows of input words to rows of output words. */
  run(rows: Uint32Array<ArrayBuffer>): Promise<Uint32Array>;
}

export interface LaneDevice {
  /** A kernel of one function. A kernel asked for again costs nothing. */
  function(family: string, name: string): Promise<LaneKernel>;
  /** A kernel of its own text: `imports` before the functions, `body` with row offsets `i` and `o`. */
  kernel(imports: string, body: string, sizes: RowSizes): Promise<LaneKernel>;
}

/** Functions of `shaders/isa` on the device of a test file. */
export const openLanes = ({ device }: TestGpu): LaneDevice => {
  const compiled = new Map<string, Promise<LaneKernel>>();
  const compile = async (text: string, sizes: RowSizes): Promise<LaneKernel> => {
    const code = await linkShader('kernel', { sources: { 'kernel.wesl': text } });
    const module = device.createShaderModule({ code });
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
    return { run: (rows) => dispatch(device, pipeline, rows, rows.length / sizes.input, sizes.output) };
  };
  const kernel: LaneDevice['kernel'] = (imports, body, sizes) => {
    const text = kernelText(imports, body, sizes);
    const known = compiled.get(text) ?? compile(text, sizes);
    compiled.set(text, known);
    return known;
  };
  return {
    kernel,
    function: (family, name) => {
      const signature = signatureOf(family, name);
      const imports = `import package::isa::${family}::${name};`;
      return kernel(imports, callText(name, signature), rowSizes(signature));
    },
  };
};
