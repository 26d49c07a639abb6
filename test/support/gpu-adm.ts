/**
 * ADM on the software adapter and in the core, for the same pictures.
 */
import { readFileSync } from 'node:fs';
import type { VideoFormat } from '../../src/core/frame.js';
import type { CoreCall } from '../../src/core/kernel.js';
import { Core, type Implementation } from '../../src/core/module.js';
import { ADM_ON_GPU } from '../../src/engine/backends/webgpu/adm.js';
import type { Gpu } from '../../src/engine/backends/webgpu/kernel.js';
import { ADM, admVariant } from '../../src/metrics/adm.js';
import { type AdmCsfSettings, admCsf } from '../../src/metrics/adm-csf.js';
import { coreCalls } from '../../src/metrics/metric.js';

const wasm = new WebAssembly.Module(readFileSync(new URL('../../wasm/anyvmaf.wasm', import.meta.url)));

/** Luma samples. */
export type Luma = Uint8Array | Uint16Array;
export interface LumaPair {
  readonly reference: Luma;
  readonly distorted: Luma;
}

/** Options of a parameter set, defaults where left out. */
export interface AdmOptions extends Partial<AdmCsfSettings> {
  readonly gainLimit?: number;
  readonly noiseWeight?: number;
  readonly aim?: boolean;
  readonly scale0?: boolean;
}

/** The call that measures parameter sets. */
export function admCall(format: VideoFormat, sets: readonly AdmOptions[]): CoreCall {
  const variants = sets.map(
    ({ gainLimit = 100, noiseWeight = 0.03125, aim = true, scale0 = true, ...csf }) => {
      const settings = { normViewDist: 3, refDisplayHeight: 1080, csfMode: 0, csfScale: 1, csfDiagScale: 1 };
      return admVariant(gainLimit, noiseWeight, admCsf({ ...settings, ...csf }), { aim, scale0 });
    },
  );
  const [call] = coreCalls(ADM, variants, format);
  if (!call) throw new Error('ADM has no call');
  return call;
}

/** What the GPU gives for pairs of a format: fields of each. */
export async function admOnGpu(
  gpu: Gpu,
  format: VideoFormat,
  call: CoreCall,
  pairs: readonly LumaPair[],
): Promise<number[][]> {
  const { device } = gpu;
  const kernel = await ADM_ON_GPU.open(gpu, call, format);
  const bytes = Math.ceil((format.width * format.height * (format.bitDepth > 8 ? 2 : 1)) / 4) * 4;
  const plane = () =>
    device.createBuffer({ size: bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
  const [reference, distorted] = [plane(), plane()];
  const size = kernel.words * 4;
  const results = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const read = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encode = kernel.bind(
    { reference: [{ planes: [reference] }], distorted: [{ planes: [distorted] }] },
    { buffer: results },
  );
  const out: number[][] = [];
  for (const pair of pairs) {
    for (const [buffer, samples] of [
      [reference, pair.reference],
      [distorted, pair.distorted],
    ] as const) {
      const padded = new Uint8Array(bytes);
      padded.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
      device.queue.writeBuffer(buffer, 0, padded);
    }
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    encode(pass);
    pass.end();
    encoder.copyBufferToBuffer(results, 0, read, 0, size);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(GPUMapMode.READ);
    const fields = new Float64Array(call.fields);
    kernel.read(new Uint32Array(read.getMappedRange().slice(0)), fields);
    read.unmap();
    out.push([...fields]);
  }
  kernel.close();
  for (const buffer of [reference, distorted, results, read]) buffer.destroy();
  return out;
}

/** What the core gives for the same. */
export function admInCore(
  format: VideoFormat,
  call: CoreCall,
  pairs: readonly LumaPair[],
  implementation: Implementation = 'simd128',
): number[][] {
  const core = new Core(wasm);
  const context = core.open(format, implementation);
  const { width, height, bitDepth } = format;
  const put = (samples: Luma) => {
    const address = core.alloc(core.planeBytes(width, height, bitDepth));
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    new Uint8Array(core.memory.buffer, address, bytes.length).set(bytes);
    return address;
  };
  const held = (serial: number, samples: Luma) => [
    { serial, planes: [{ address: put(samples), width, height }] },
  ];
  return pairs.map(({ reference, distorted }, i) => {
    context.setFrames({ reference: held(2 * i + 1, reference), distorted: held(2 * i + 2, distorted) });
    return [...(context.run(call) ?? [])];
  });
}
