import { describe, expect, it } from 'vitest';
import { noGpu, softwareDevice } from '../support/gpu.js';

describe.skipIf(noGpu)('the software adapter of these tests', () => {
  it('gives a device with the limits that every WebGPU device has', async () => {
    const device = await softwareDevice();
    expect(device.limits.maxComputeInvocationsPerWorkgroup).toBeGreaterThanOrEqual(256);
    expect(device.limits.maxStorageBuffersPerShaderStage).toBeGreaterThanOrEqual(8);
    device.destroy();
  });
});
