/**
 * @module test/gpu/measurer
 * The GPU as a measurer: pairs in flight, earlier pairs, device loss, limits, and memory for large pictures, counted on a fake
 * device.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type MockInstance,
  onTestFinished,
  vi,
} from 'vitest';
import { GpuLostError } from '../../src/engine/backends/webgpu/device.js';
import { openWebgpu, type WebgpuKind } from '../../src/engine/backends/webgpu/measurer.js';
import { openNodeGpu } from '../../src/platform/node/gpu.js';
import { noGpu, softwareGpu } from '../support/gpu.js';
import { coreRecords, differences, pairsOf, recordsOf, write } from '../support/gpu-parity.js';
import { format, planOf } from '../support/metric.js';
import { refusalOf } from '../support/refusals.js';

const plan = planOf(['psnr', 'motion'], format(40, 30)).extraction;
const pairs = pairsOf(plan, 'mixed', 5, 8);

/** The plan that compiles fastest. */
const luma = planOf(['psnr'], format(40, 30, 8, '400')).extraction;
const lumaPairs = pairsOf(luma, 'mixed', 5, 8);

describe.skipIf(noGpu)('a measurer on the GPU', () => {
  let kind: WebgpuKind;
  beforeAll(async () => {
    kind = await openWebgpu(await softwareGpu());
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => kind.close());

  it('names its adapter', () => {
    expect(kind.adapter).toMatchObject({ vendor: 'google', architecture: 'swiftshader', software: true });
  });

  it('looks back across chunks, and gives no motion without an earlier pair', async () => {
    const measurer = await kind.open(plan);
    for (const run of [{}, { first: 3 }, { first: 20, kept: 1 }, { first: 41, kept: 2 }, { first: 2 }]) {
      const records = await recordsOf(measurer, pairs, run);
      expect(differences(plan, records, await coreRecords(plan, pairs, run)), JSON.stringify(run)).toEqual(
        [],
      );
    }
    expect(measurer.holds(9)).toBe(true);
    expect(measurer.holds(2)).toBe(false);
  });

  it('measures only motion on pairs that subsampling skips', async () => {
    const measurer = await kind.open(planOf(['psnr', 'motion'], format(40, 30, 10)).extraction);
    const wide = { ...plan, format: format(40, 30, 10) };
    const some = pairsOf(wide, 'natural', 6, 5);
    const run = { subsample: 2 };
    const records = await recordsOf(measurer, some, run);
    expect(differences(wide, records, await coreRecords(wide, some, run))).toEqual([]);
  });

  it('runs two shader passes per call', async () => {
    const measurer = await kind.open(plan);
    await recordsOf(measurer, pairs);
    // Three planes and motion, which the first pair lacks.
    expect(measurer.dispatches).toBe(2 * (4 * pairs.length - 1));
  });

  it('creates no buffers, pipelines or bind groups after opening', async () => {
    const measurer = await kind.open(plan);
    const { device } = measurer;
    const made = (['createBuffer', 'createBindGroup', 'createComputePipelineAsync'] as const).map((name) =>
      vi.spyOn(device, name),
    );
    const submitted = vi.spyOn(device.queue, 'submit');
    const copied = copiesOf(device);
    for (let first = 0; first < 200; first += pairs.length) await recordsOf(measurer, pairs, { first });
    for (const calls of made) expect(calls).not.toHaveBeenCalled();
    expect(submitted).toHaveBeenCalledTimes(200);
    // Three planes of two pictures, and the results.
    expect(copied).toHaveBeenCalledTimes((6 + 1) * 200);
  });

  it('uploads only what its calls read', async () => {
    const measurer = await kind.open(planOf(['motion'], plan.format).extraction);
    const written = vi.spyOn(measurer.device.queue, 'writeBuffer');
    const copied = copiesOf(measurer.device);
    await recordsOf(measurer, pairs, { first: 4, kept: 1 });
    const planes = copied.mock.calls.filter(([, , to]) => to.label === 'plane').map(([, , , , size]) => size);
    // The first measured pair looks back to one that was not: staging memory holds one of the two.
    expect(written.mock.calls.map(([, , data]) => data.byteLength)).toEqual([40 * 30]);
    expect(planes).toEqual(pairs.slice(1).map(() => 40 * 30));
  });
});

describe('the package for Node', () => {
  it('creates one GPU per process: Dawn crashes if one is collected early', async () => {
    const create = vi.fn(() => ({ requestAdapter: async () => null }) as unknown as GPU);
    const open = () => openNodeGpu(async () => ({ create, globals: {} }));
    for (let opened = 0; opened < 2; opened++)
      await expect(open()).rejects.toMatchObject({ code: 'backend' });
    expect(create).toHaveBeenCalledTimes(1);
  });
});

describe.skipIf(noGpu)('a lost GPU', () => {
  let kind: WebgpuKind;
  beforeEach(async () => {
    kind = await openWebgpu(await softwareGpu());
  });
  afterEach(() => kind.close());

  it('rejects every pair in flight, and keeps their frames', async () => {
    const measurer = await kind.open(luma);
    const record = new Float64Array(measurer.layout.length);
    const measuring = lumaPairs.slice(0, measurer.slots).map((pair, index) => {
      const slot = measurer.slot(index);
      write(slot, pair);
      return measurer.measure(slot, record, true);
    });
    measurer.device.destroy();
    const reason = expect.any(GpuLostError);
    for (const outcome of await Promise.allSettled(measuring))
      expect(outcome).toMatchObject({ status: 'rejected', reason });
    for (const [index, pair] of lumaPairs.slice(0, measurer.slots).entries()) {
      expect(measurer.frames(index)?.reference.y).toEqual(pair.reference[0]);
      expect(measurer.frames(index)?.distorted.y).toEqual(pair.distorted[0]);
    }
    const next = measurer.measure(measurer.slot(measurer.slots), record, true);
    await expect(next).rejects.toThrow(GpuLostError);
    measurer.close();
  });

  it('is reopened for the next measurer', async () => {
    const lost = await kind.open(luma);
    lost.device.destroy();
    await lost.device.lost;
    const records = await recordsOf(await kind.open(luma), lumaPairs);
    expect(differences(luma, records, await coreRecords(luma, lumaPairs))).toEqual([]);
  });

  it('fails the run with a device error', async () => {
    const measurer = await kind.open(luma);
    vi.spyOn(console, 'error').mockReturnValue();
    measurer.device.createBuffer({ size: 2 ** 40, usage: GPUBufferUsage.STORAGE });
    await expect(recordsOf(measurer, lumaPairs)).rejects.toThrow(/Buffer size .* exceeds/);
  });

  it('aborts pairs in flight on close', async () => {
    const measurer = await kind.open(luma);
    const measuring = measurer.measure(measurer.slot(0), new Float64Array(measurer.layout.length), true);
    measurer.close();
    await expect(measuring).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe.skipIf(noGpu)('a GPU that does not support a call', () => {
  it('states why', async () => {
    const limits = { maxStorageBufferBindingSize: 2 ** 21 };
    const kind = await openWebgpu(await softwareGpu(), { limits });
    const why = (feature: string, video = plan.format) =>
      planOf([feature], video).extraction.calls.map((call) => kind.problem(call, video));
    expect(why('motion', format(1920, 1080))).toEqual([undefined]);
    expect(why('motion', format(1920, 1080, 10))).toEqual([
      'motion of 1920x1080 4:2:0 10 bit needs a buffer of 4 MiB, and this GPU binds at most 2 MiB',
    ]);
    expect(why('cambi', format(640, 480))).toEqual(['there is no shader for cambi']);
    kind.close();
  });

  it('is refused if absent', async () => {
    const none = { requestAdapter: async () => null } as unknown as GPU;
    await expect(openWebgpu(none)).rejects.toMatchObject({ code: 'backend' });
  });
});

/** Spies on the copies between buffers of a device. */
function copiesOf(device: GPUDevice) {
  const encoder = Object.getPrototypeOf(device.createCommandEncoder()) as GPUCommandEncoder;
  const spy = vi.spyOn(encoder, 'copyBufferToBuffer');
  onTestFinished(() => spy.mockRestore());
  return spy as unknown as MockInstance<(...args: [GPUBuffer, number, GPUBuffer, number, number]) => void>;
}

const MB = 1e6;
/** `GPUBufferUsage`: uniform or storage. */
const BOUND = 0x40 | 0x80;
/** `GPUBufferUsage.MAP_WRITE`. */
const MAP_WRITE = 0x2;

/** A fake GPU that records buffers. @param making is called with the usage of each buffer, and may throw */
function bookkeeper(making: (usage: number) => void = () => {}, maxBufferSize = 256 * 2 ** 20) {
  const buffers: { size: number; usage: number; destroyed: boolean }[] = [];
  const descriptors: GPUDeviceDescriptor[] = [];
  const nothing = () => {};
  const device = {
    limits: { maxStorageBufferBindingSize: 128 * 2 ** 20, maxBufferSize },
    lost: new Promise(nothing),
    queue: { writeBuffer: nothing },
    ...{ addEventListener: nothing, destroy: nothing, pushErrorScope: nothing },
    popErrorScope: async () => null,
    createShaderModule: () => ({ getCompilationInfo: async () => ({ messages: [] }) }),
    createComputePipelineAsync: async () => ({ getBindGroupLayout: nothing }),
    createBindGroup: () => ({}),
    createBuffer({ size, usage }: GPUBufferDescriptor) {
      making(usage);
      const book = { size, usage, destroyed: false };
      buffers.push(book);
      const destroy = () => {
        book.destroyed = true;
      };
      return { size, usage, destroy, unmap: nothing, getMappedRange: () => new ArrayBuffer(size) };
    },
  };
  const adapter = {
    info: { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false },
    features: new Set(),
    limits: { maxStorageBufferBindingSize: 2 ** 31, maxBufferSize: 2 ** 31 },
    async requestDevice(descriptor: GPUDeviceDescriptor) {
      descriptors.push(descriptor);
      return device;
    },
  };
  return { gpu: { requestAdapter: async () => adapter } as unknown as GPU, buffers, descriptors };
}

it('a GPU without memory for uploads reports it', async () => {
  const { gpu } = bookkeeper((usage) => {
    if ((usage & MAP_WRITE) !== 0) throw new RangeError('cannot be mapped');
  });
  const kind = await openWebgpu(gpu);
  expect(await refusalOf('resource', () => kind.open(luma))).toContain(
    'The GPU is out of memory (cannot be mapped)',
  );
});

it('stages no more of a pair than a buffer holds', async () => {
  const { gpu, buffers } = bookkeeper(undefined, 2000);
  await (await openWebgpu(gpu)).open(luma);
  expect(Math.max(...buffers.map(({ size }) => size))).toBe(2000);
});

describe('memory of the default model at 3840x2160', () => {
  it.each([
    [8, 119, 50],
    [10, 169, 100],
  ])(
    'at %i bit is %i MB of the GPU and %i MB of main memory, as in docs/backends.md',
    async (bitDepth, onGpu, inMain) => {
      const { gpu, buffers, descriptors } = bookkeeper();
      const kind = await openWebgpu(gpu);
      const measurer = await kind.open(
        planOf(['adm', 'motion', 'vif'], format(3840, 2160, bitDepth)).extraction,
      );
      const [staging, others] = [true, false].map((staged) =>
        buffers.filter(({ usage }) => ((usage & MAP_WRITE) !== 0) === staged),
      );
      const megabytes = (some = buffers) => Math.round(some.reduce((sum, { size }) => sum + size, 0) / MB);
      expect(megabytes(others)).toBe(onGpu);
      expect(megabytes(staging)).toBe(inMain);
      // The default limit of WebGPU is enough.
      const bound = buffers.filter(({ usage }) => (usage & BOUND) !== 0).map(({ size }) => size);
      expect(Math.max(...bound)).toBeLessThan(128 * 2 ** 20);
      expect(descriptors).toMatchObject([{ requiredLimits: {} }]);
      measurer.close();
      expect(buffers.filter(({ destroyed }) => !destroyed)).toEqual([]);
    },
  );
});
