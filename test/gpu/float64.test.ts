import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLOAT64_FUNCTIONS, type Float64Function, float64Wgsl, IEEE_DEFAULT } from '../../src/float64.ts';
import { openTestGpu, type TestGpu } from './harness.ts';

let gpu: TestGpu;
beforeAll(async () => {
  gpu = await openTestGpu();
});
afterAll(() => gpu.close());

const errorsOf = async (code: string): Promise<string[]> => {
  const info = await gpu.device.createShaderModule({ code }).getCompilationInfo();
  return info.messages.filter(({ type }) => type === 'error').map(({ message }) => message);
};

describe('float64Wgsl, the export wave64/float64', () => {
  it('gives a text that stands before a module of the caller', async () => {
    const library = await float64Wgsl(['f64_div']);
    const code = `${library}
@group(0) @binding(0) var<storage, read_write> x: array<vec2u>;
@compute @workgroup_size(1) fn main() { x[0] = f64_div(x[0], x[1], ${IEEE_DEFAULT}u); }`;
    const { device } = gpu;
    const pipeline = await device.createComputePipelineAsync({
      layout: 'auto',
      compute: { module: device.createShaderModule({ code }) },
    });
    const size = 16;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
    const buffer = device.createBuffer({ size, usage });
    const readback = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    device.queue.writeBuffer(buffer, 0, new Float64Array([1, 3]));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    const layout = pipeline.getBindGroupLayout(0);
    pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }));
    pass.dispatchWorkgroups(1);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, readback, 0, size);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(GPUMapMode.READ);
    expect(new Float64Array(readback.getMappedRange())[0]).toBe(1 / 3);
  });

  it('holds what the functions need and nothing else, with or without comments', async () => {
    const text = await float64Wgsl(['f64_add'], { comments: false });
    expect(await errorsOf(text)).toEqual([]);
    expect(text).toContain('fn f64_add(a: vec2u, b: vec2u, control: u32) -> vec2u');
    expect(text).not.toMatch(/f64_div|mul53|import|root|\/\//);
    expect(await float64Wgsl(['f64_add'])).toContain('/// a + b, rounded once.');
    expect(await float64Wgsl([])).toBe('');
  });

  it('compiles with all functions in one module, each under its own name', async () => {
    const text = await float64Wgsl(FLOAT64_FUNCTIONS);
    expect(await errorsOf(text)).toEqual([]);
    for (const name of FLOAT64_FUNCTIONS) expect(text).toMatch(new RegExp(`^fn ${name}\\(`, 'm'));
  });

  it('refuses a name that does not exist and lists those that do', async () => {
    const wrong = float64Wgsl(['f64_mul', 'f64_pow' as Float64Function, 'toString' as Float64Function]);
    await expect(wrong).rejects.toThrow(
      /^no binary64 function 'f64_pow', 'toString'; there are f64_add, .*u32_to_f32$/,
    );
  });

  it('goes into a browser bundle with its sources and without Node', async () => {
    const entry = new URL('../../src/float64.ts', import.meta.url).pathname;
    const output = await build({
      configFile: false,
      logLevel: 'error',
      build: { write: false, minify: false, lib: { entry, formats: ['es'], fileName: 'float64' } },
    });
    const [bundle] = Array.isArray(output) ? output : [output];
    if (!bundle || !('output' in bundle)) throw new Error('vite gave no bundle');
    const code = bundle.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
    expect(code).toContain('fn f64_mulAdd(');
    expect(code).not.toMatch(/from ['"](node:|webgpu|fs)/);
  });
});
