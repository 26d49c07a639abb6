/**
 * A software adapter for tests of shaders: Chromium's SwiftShader, through the `webgpu` package in this process. It says
 * whether numbers are right; its times mean nothing.
 */
import { existsSync } from 'node:fs';

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
