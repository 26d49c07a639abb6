/**
 * A software adapter for tests of shaders: Chromium's SwiftShader, through the `webgpu` package in this process. It says
 * whether numbers are right; its times mean nothing.
 */
import { existsSync } from 'node:fs';
import type { Gpu } from '../../src/engine/backends/webgpu/kernel.js';

export const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** Why tests of shaders cannot run here. */
export const noGpu = existsSync(SWIFTSHADER) ? undefined : `there is no ${SWIFTSHADER} (Debian's chromium)`;

/** What a browser has as `navigator.gpu`, with the software adapter alone. */
export async function softwareGpu(): Promise<GPU> {
  process.env.VK_ICD_FILENAMES = SWIFTSHADER;
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  return create([]);
}

/** Keeps what gave a device as long as the device: collected earlier, it takes the process down. */
const instances = new WeakMap<GPUDevice, GPU>();

/** A device of the software adapter; the caller destroys it. */
export async function softwareDevice(descriptor: GPUDeviceDescriptor = {}): Promise<GPUDevice> {
  const gpu = await softwareGpu();
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error('SwiftShader gives no adapter');
  const device = await adapter.requestDevice(descriptor);
  instances.set(device, gpu);
  return device;
}

/** The modules of each device by their code. */
const modules = new WeakMap<GPUDevice, Map<string, GPUShaderModule>>();

/** A device as kernels see it; `edit` may change what is compiled. Each module is compiled once per device. */
export function gpuOf(device: GPUDevice, edit = (code: string, _label: string) => code): Gpu {
  const known = modules.get(device) ?? new Map<string, GPUShaderModule>();
  modules.set(device, known);
  return {
    device,
    module(label, ...files) {
      const code = edit(files.join('\n'), label);
      const module = known.get(code) ?? device.createShaderModule({ label, code });
      known.set(code, module);
      return module;
    },
  };
}
