/**
 * @module engine/backends/webgpu/pipeline
 * Compiled shaders, kept as long as their module: a call with another size or depth compiles nothing again.
 */

const pipelines = new WeakMap<GPUShaderModule, Map<string, Promise<GPUComputePipeline>>>();

/**
 * Compiles a compute pipeline once per module and constants.
 * @param constants values of the module's `override` declarations
 */
export function pipelineOf(
  device: GPUDevice,
  module: GPUShaderModule,
  constants: Readonly<Record<string, number>> = {},
): Promise<GPUComputePipeline> {
  const compiled = pipelines.get(module) ?? new Map<string, Promise<GPUComputePipeline>>();
  pipelines.set(module, compiled);
  const key = JSON.stringify(constants);
  const known = compiled.get(key);
  if (known) return known;
  const { label } = module;
  const compute = { module, constants };
  const compiling = device.createComputePipelineAsync({ label, layout: 'auto', compute });
  compiled.set(key, compiling);
  return compiling;
}
