/** The decision map by WebGPU: each pixel's fragment runs the simulator's own v_div_scale_f64. */
import { linkShader } from '../gpu/link.ts';
import type { Profile } from '../isa/target.ts';
import { colourOf, DECISION_CODES } from './decision.ts';
import type { MapPainter, MapScene } from './mapPainter.ts';
import { cellSize, planeOfPixel } from './mapView.ts';

/** Bytes of the shader's `Scene`: a mat3x3f (three columns of four words), two fractions, MODE, the pixel, padded to 16. */
const SCENE_BYTES = 80;

/**
 * A painter on a canvas that no other context was taken from.
 * @throws Error if the canvas has no WebGPU context
 */
export function gpuPainter(device: GPUDevice, canvas: HTMLCanvasElement): MapPainter {
  const context = canvas.getContext('webgpu');
  if (!context) throw new Error('the canvas gives no WebGPU context');
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device, format, alphaMode: 'premultiplied' });

  const scenes = device.createBuffer({ size: SCENE_BYTES, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  const palette = paletteBuffer(device);
  const uniform = (binding: number): GPUBindGroupLayoutEntry => ({
    binding,
    visibility: GPUShaderStage.FRAGMENT,
    buffer: { type: 'uniform' },
  });
  const bindings = device.createBindGroupLayout({ entries: [uniform(0), uniform(1)] });
  const group = device.createBindGroup({
    layout: bindings,
    entries: [
      { binding: 0, resource: { buffer: scenes } },
      { binding: 1, resource: { buffer: palette } },
    ],
  });

  const compile = async (profile: Profile) => {
    const code = await linkShader('package::app::decision', { conditions: { published: profile === 'published' } });
    const module = device.createShaderModule({ label: `decision map, ${profile}`, code });
    return device.createRenderPipelineAsync({
      label: `decision map, ${profile}`,
      layout: device.createPipelineLayout({ bindGroupLayouts: [bindings] }),
      vertex: { module },
      fragment: { module, targets: [{ format }] },
    });
  };
  const pipelines = new Map<Profile, Promise<GPURenderPipeline>>();
  const pipelineFor = (profile: Profile) => {
    const pipeline = pipelines.get(profile) ?? compile(profile);
    pipelines.set(profile, pipeline);
    return pipeline;
  };

  return {
    name: 'WebGPU, v_div_scale_f64 in WGSL',
    ratioLimit: 2,
    async paint(scene) {
      const pipeline = await pipelineFor(scene.variant.profile);
      device.queue.writeBuffer(scenes, 0, sceneBytes(scene));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginRenderPass({
        colorAttachments: [{ view: context.getCurrentTexture().createView(), loadOp: 'clear', storeOp: 'store' }],
      });
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.draw(3);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
    },
  };
}

function sceneBytes({ view, ratio, numerator, denominator, mode }: MapScene): ArrayBuffer {
  const bytes = new ArrayBuffer(SCENE_BYTES);
  new Float32Array(bytes).set(planeOfPixel(view, ratio));
  new Uint32Array(bytes).set([numerator.lo, numerator.hi, denominator.lo, denominator.hi, mode], 12);
  new Float32Array(bytes)[17] = 1 / (cellSize(view) * ratio);
  return bytes;
}

/** One vec4f a decision code. */
function paletteBuffer(device: GPUDevice): GPUBuffer {
  const channels = Array.from({ length: DECISION_CODES }, (_, code) => {
    const colour = colourOf(code);
    return [(colour >>> 16) / 255, ((colour >>> 8) & 0xff) / 255, (colour & 0xff) / 255, 1];
  });
  const data = new Float32Array(channels.flat());
  const buffer = device.createBuffer({
    size: data.byteLength,
    usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
  });
  device.queue.writeBuffer(buffer, 0, data);
  return buffer;
}
