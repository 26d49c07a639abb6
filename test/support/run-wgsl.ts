/**
 * @module test/support/run-wgsl
 * Runs a compute shader over arrays: the functions of shaders by themselves, in batches.
 */

/**
 * Runs the entry point `main` of `code`, whose workgroups have 64 invocations.
 * @param inputs what bindings 0, 1, ... of group 0 hold, `storage, read`
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
