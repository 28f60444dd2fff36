import { openGpu } from '../../src/gpu/adapter.node.ts';
import { openDevice } from '../../src/gpu/adapter.ts';
import { linkShader } from '../../src/gpu/link.ts';
import { shaderSources } from '../../src/gpu/sources.node.ts';

/** One function of `shaders/float` on a real device, applied to many cases at once. */
export type GpuFunction = {
  /** Names of its parameters in order. */
  parameters: readonly string[];
  /** Applies it to each case, a list of arguments as bits; gives the results' bits. */
  run: (cases: readonly (readonly bigint[])[]) => Promise<bigint[]>;
};

export type TestGpu = {
  device: GPUDevice;
  /**
   * Compiles `name`; a second call for the same one costs nothing.
   *
   * @param edit changes the text of the module that declares it
   */
  compile: (name: string, edit?: (text: string) => string) => Promise<GpuFunction>;
  /** Lets the process end. */
  close: () => void;
};

/** The device of a test file. Fails where no WebGPU adapter is, with the reasons. */
export async function openTestGpu(): Promise<TestGpu> {
  const { adapter, choice } = await openGpu();
  if (!adapter) throw new Error(`no WebGPU adapter: ${choice.reasons.join('; ')}`);
  const device = await openDevice(adapter);
  const compiled = new Map<string, Promise<GpuFunction>>();
  return {
    device,
    compile: (name, edit) => {
      if (edit) return compileFunction(device, name, edit);
      const known = compiled.get(name) ?? compileFunction(device, name);
      compiled.set(name, known);
      return known;
    },
    close: () => device.destroy(),
  };
}

type Signature = { module: string; parameters: { name: string; type: string }[]; result: string };

/** Where `shaders/float` declares the function, and as what. */
function signatureOf(name: string): Signature {
  const pattern = new RegExp(`^fn ${name}\\(([^)]*)\\) -> (\\w+) \\{`, 'm');
  for (const [path, text] of Object.entries(shaderSources())) {
    const match = path.startsWith('float/') && pattern.exec(text);
    if (!match) continue;
    const parameters = match[1]!.split(',').map((parameter) => {
      const [parameterName, type] = parameter.split(':').map((part) => part.trim());
      return { name: parameterName!, type: type! };
    });
    return { module: path.slice('float/'.length, -'.wesl'.length), parameters, result: match[2]! };
  }
  throw new Error(`shaders/float declares no function ${name}`);
}

const wordsOf = (type: string): number => (type === 'vec2u' ? 2 : 1);

function kernelSource(name: string, { module, parameters, result }: Signature): string {
  const stride = parameters.reduce((sum, { type }) => sum + wordsOf(type), 0);
  let at = 0;
  const args = parameters.map(({ type }) => {
    const word = (i: number): string => `operands[at + ${i}u]`;
    const first = at;
    at += wordsOf(type);
    if (type === 'vec2u') return `vec2u(${word(first)}, ${word(first + 1)})`;
    return type === 'i32' ? `bitcast<i32>(${word(first)})` : word(first);
  });
  const call = `${name}(${args.join(', ')})`;
  const store =
    result === 'vec2u'
      ? `let r = ${call};\n  results[2u * i] = r.x;\n  results[2u * i + 1u] = r.y;`
      : `results[i] = u32(${call});`;
  return `import package::float::${module}::${name};
@group(0) @binding(0) var<storage, read> operands: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  if (i >= arrayLength(&results) / ${wordsOf(result)}u) { return; }
  let at = i * ${stride}u;
  ${store}
}
`;
}

async function compileFunction(
  device: GPUDevice,
  name: string,
  edit: (text: string) => string = (text) => text,
): Promise<GpuFunction> {
  const signature = signatureOf(name);
  const path = `float/${signature.module}.wesl`;
  const sources = { 'kernel.wesl': kernelSource(name, signature), [path]: edit(shaderSources()[path]!) };
  const code = await linkShader('kernel', { sources });
  const module = device.createShaderModule({ code });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  return {
    parameters: signature.parameters.map((parameter) => parameter.name),
    run: async (cases) => {
      const words = new Uint32Array(
        cases.flatMap((args) =>
          signature.parameters.flatMap(({ type }, i) => {
            const bits = BigInt.asUintN(64, args[i]!);
            const low = Number(bits & 0xffffffffn);
            return wordsOf(type) === 2 ? [low, Number(bits >> 32n)] : [low];
          }),
        ),
      );
      const results = await dispatch(device, pipeline, words, cases.length, wordsOf(signature.result));
      return cases.map((_, i) =>
        wordsOf(signature.result) === 1
          ? BigInt(results[i]!)
          : (BigInt(results[2 * i + 1]!) << 32n) | BigInt(results[2 * i]!),
      );
    },
  };
}

/** Runs a pipeline of workgroups of 64 over `count` cases: operands at binding 0, results at binding 1. */
export async function dispatch(
  device: GPUDevice,
  pipeline: GPUComputePipeline,
  words: Uint32Array<ArrayBuffer>,
  count: number,
  resultWords: number,
): Promise<Uint32Array> {
  const size = 4 * resultWords * count;
  const operands = device.createBuffer({
    size: words.byteLength,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
  });
  const results = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const readback = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(operands, 0, words);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: { buffer: operands } },
        { binding: 1, resource: { buffer: results } },
      ],
    }),
  );
  pass.dispatchWorkgroups(Math.ceil(count / 64));
  pass.end();
  encoder.copyBufferToBuffer(results, 0, readback, 0, size);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(GPUMapMode.READ);
  const copy = new Uint32Array(readback.getMappedRange()).slice();
  for (const buffer of [operands, results, readback]) buffer.destroy();
  return copy;
}
