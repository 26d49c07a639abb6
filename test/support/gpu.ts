/**
 * @module test/support/gpu
 * A software adapter for tests of shaders: Chromium's SwiftShader, through the `webgpu` package in this process. It says
 * whether numbers are right; its times mean nothing.
 */
import { existsSync } from 'node:fs';
import { tier } from './tier.js';

export const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

export const noGpu = existsSync(SWIFTSHADER) ? undefined : `there is no ${SWIFTSHADER} (Debian's chromium)`;

/**
 * What a browser has as `navigator.gpu`, with the software adapter alone. In `npm test` workgroup memory starts with
 * arbitrary values instead of zeros, which makes shaders compile several times as fast and no shader may rely on.
 */
export async function softwareGpu(): Promise<GPU> {
  process.env.VK_ICD_FILENAMES = SWIFTSHADER;
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  instance ??= create(tier(['enable-dawn-features=disable_workgroup_init'], []));
  return instance;
}

/** Kept alive: if collected while Dawn has work to do, it takes the process down. */
let instance: GPU | undefined;

/** A device of the software adapter; the caller destroys it. */
export async function softwareDevice(descriptor: GPUDeviceDescriptor = {}): Promise<GPUDevice> {
  const gpu = await softwareGpu();
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error('SwiftShader gives no adapter');
  return adapter.requestDevice(descriptor);
}

/**
 * Runs the entry point `main` of `code` over arrays; its workgroups have 64 invocations.
 * @param inputs contents of bindings 0, 1, ... of group 0, `storage, read`
 * @param words length of the output, the binding after them, `storage, read_write`
 * @param invocations how many the entry point needs
 */
export async function runWgsl(
  device: GPUDevice,
  code: string,
  inputs: readonly Uint32Array[],
  words: number,
  invocations: number,
): Promise<Uint32Array> {
  const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } });
  const buffers = inputs.map((input) => {
    const buffer = device.createBuffer({ size: input.byteLength, usage: STORAGE | COPY_DST });
    device.queue.writeBuffer(buffer, 0, input.slice());
    return buffer;
  });
  const output = device.createBuffer({ size: 4 * words, usage: STORAGE | COPY_SRC });
  const back = device.createBuffer({ size: 4 * words, usage: COPY_DST | MAP_READ });
  const entries = [...buffers, output].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(invocations / 64));
  pass.end();
  encoder.copyBufferToBuffer(output, 0, back, 0, 4 * words);
  device.queue.submit([encoder.finish()]);
  await back.mapAsync(GPUMapMode.READ);
  const result = new Uint32Array(back.getMappedRange().slice(0));
  for (const buffer of [...buffers, output, back]) buffer.destroy();
  return result;
}
