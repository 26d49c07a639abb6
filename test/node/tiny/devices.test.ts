/**
 * @module test/node/tiny/devices
 * Devices are those of the installed runtimes: a named one is used or refused, and auto reports what it skipped. OpenVINO is a
 * scripted stand-in.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TINY_DEVICES } from '../../../src/core/choices.js';
import { AnyvmafError } from '../../../src/core/errors.js';
import { browserTinyRuntimes } from '../../../src/platform/browser/tiny/runtimes.js';
import { nodeTinySignatures } from '../../../src/platform/node/tiny/platform.js';
import { nodeTinyRuntimes, tryProvider } from '../../../src/platform/node/tiny/runtimes.js';
import { checkOnnx } from '../../../src/tiny/onnx/check.js';
import { toHalves } from '../../../src/tiny/ort.js';
import { type DeviceOffer, openOn } from '../../../src/tiny/session.js';
import type { TinyModel, TinySession } from '../../../src/tiny/types.js';
import { linear, model, node, port, TYPE } from '../../support/onnx.js';

const read = (bytes: Uint8Array): Pick<TinyModel, 'source' | 'program' | 'graph'> => ({
  source: 'm.onnx',
  program: { bytes, external: [] },
  graph: checkOnnx(bytes, 'm.onnx'),
});

const SUM = read(linear([1, 10], 0.5));
const plain = { threads: 1, fp16: false } as const;
const ROW = { features: { data: Float32Array.of(2, 3), dims: [1, 2] } };

/** Imports installed packages, except those that a test replaces; `null` stands for a missing one. */
function loading(replaced: Readonly<Record<string, unknown>>) {
  return (name: string): Promise<unknown> =>
    name in replaced
      ? replaced[name] === null
        ? Promise.reject(new Error(`Cannot find package '${name}'`))
        : Promise.resolve(replaced[name])
      : import(name);
}

describe('runtimes of Node', () => {
  it.each([
    ['onnxruntime-node', {}],
    ['onnxruntime-web', { 'onnxruntime-node': null }],
  ])('run a model by %s', async (runtime, replaced) => {
    const session = await nodeTinyRuntimes(loading(replaced)).open(SUM, { device: 'auto', ...plain });
    expect(session).toMatchObject({ runtime, device: 'cpu' });
    const several = await Promise.all([1, 2, 3].map(() => session.run(ROW)));
    for (const { score } of several) expect(score).toEqual({ data: Float32Array.of(32.5), dims: [1, 1] });
    await session.close();
    await expect(session.run(ROW)).rejects.toThrow('is closed');
  });

  it('report that there is none', async () => {
    const none = nodeTinyRuntimes(
      loading({ 'onnxruntime-node': null, 'onnxruntime-web': null, 'openvino-node': null }),
    );
    const work = none.open(SUM, { device: 'auto', ...plain });
    await expect(work).rejects.toThrow('No runtime for tiny models is available');
    await expect(none.open(SUM, { device: 'cpu', ...plain })).rejects.toThrow('No device is.');
  });

  it('list every device, with advice about missing ones', async () => {
    const devices = await nodeTinyRuntimes(loading({}), async () => null).devices();
    expect(devices.map(({ device }) => device)).toEqual(TINY_DEVICES);
    for (const { available, how } of devices) if (!available) expect(how).toMatch(/^[A-Z].*\.$/);
    expect(devices.find(({ device }) => device === 'rocm')).toMatchObject({ available: false });
  });

  it('list as available only what was tried and works', async () => {
    const ort = {
      Tensor: class {},
      InferenceSession: {},
      listSupportedBackends: () => ['cpu', 'webgpu', 'coreml'].map((name) => ({ name, bundled: true })),
    };
    const tried: unknown[] = [];
    const runtimes = nodeTinyRuntimes(
      loading({ 'onnxruntime-node': ort, 'openvino-node': null }),
      async (provider) => {
        tried.push(provider);
        return provider === 'webgpu' ? 'found no drivers' : null;
      },
    );
    const listed = await runtimes.devices();
    expect(listed.find(({ device }) => device === 'webgpu')).toEqual({
      device: 'webgpu',
      available: false,
      runtime: 'onnxruntime-node',
      how: expect.stringMatching(
        /^Offered by onnxruntime-node, but it does not start: found no drivers\. It needs a GPU/,
      ),
    });
    const values = listed.filter(({ available }) => available).map(({ device }) => device);
    expect(values).toEqual('cpu coreml coreml-ane coreml-gpu coreml-cpu'.split(' '));
    await runtimes.devices();
    expect(tried).toHaveLength(5);
  });

  it('are tried in a separate process, which reports why a driver does not start', async () => {
    expect(await tryProvider('cpu')).toBeNull();
    const none = process.env.VK_ICD_FILENAMES;
    process.env.VK_ICD_FILENAMES = '/nowhere/none.json';
    try {
      expect(await tryProvider('webgpu')).toMatch(/^[^\n]{10,200}$/);
    } finally {
      if (none === undefined) delete process.env.VK_ICD_FILENAMES;
      else process.env.VK_ICD_FILENAMES = none;
    }
  });

  it.each([
    ['int64', TYPE.int64, 0.5],
    ['int32', 6, 2 ** 31],
    ['uint8', TYPE.uint8, -1],
    ['int8', TYPE.int8, 128],
  ])('refuse numbers that an input of %s cannot hold, and do not round', async (name, type, wrong) => {
    const cast = read(
      model({
        nodes: [node('Cast', ['x'], ['y'], { to: { int: TYPE.float } })],
        inputs: [port('x', ['N'], type)],
        outputs: [port('y', ['N'])],
      }),
    );
    const session = await nodeTinyRuntimes().open(cast, { device: 'cpu', ...plain });
    const fed = (value: number) => session.run({ x: { data: Float32Array.of(7, value), dims: [2] } });
    await expect(fed(wrong)).rejects.toThrow(
      `The input "x" of the tiny model "m.onnx" takes whole numbers (${name}), but gets ${wrong}, and rounding`,
    );
    await expect(fed(Number.NaN)).rejects.toThrow('but gets NaN, and rounding');
    expect((await fed(100)).y?.data).toEqual(Float32Array.of(7, 100));
    await session.close();
  });

  it('refuse a missing device, and list the others', async () => {
    const asked = nodeTinyRuntimes().open(SUM, { device: 'rocm', ...plain });
    await expect(asked).rejects.toThrow(
      /The device rocm is not available for tiny models: .* Available: .*cpu.*; name one of them, or auto/,
    );
    await expect(asked).rejects.toMatchObject({ code: 'backend' });
  });

  it('report the error of the runtime about an invalid graph', async () => {
    const broken = read(
      model({ nodes: [node('Relu', ['nowhere'], ['y'])], inputs: [], outputs: [port('y', [1])] }),
    );
    await expect(nodeTinyRuntimes().open(broken, { device: 'cpu', ...plain })).rejects.toThrow(
      /"m.onnx" does not start on cpu \(onnxruntime-node: .*\)\. A named device has no fallback; ask for auto to use another/,
    );
  });
});

class Tensor {
  constructor(
    readonly type: unknown,
    readonly shape: readonly number[],
    readonly data: unknown,
  ) {}
  getShape = () => this.shape;
}

/** A stand-in for openvino-node that gives back its input. */
function openVino(devices: readonly string[], calls: unknown[] = [], fed: Tensor[] = []) {
  const inferAsync = async (inputs: Readonly<Record<string, Tensor>>) => {
    const [input] = Object.values(inputs) as [Tensor];
    fed.push(input);
    return { y: input };
  };
  class Core {
    getAvailableDevices = () => devices;
    readModel = async (bytes: Uint8Array) => ({ bytes });
    compileModel = async (_: unknown, device: string, options: object) => {
      calls.push({ device, options });
      if (device === 'NPU') throw new Error('no driver\nfor it');
      return { createInferRequest: () => ({ inferAsync }) };
    };
  }
  const element = Object.fromEntries('f32 f16 f64 i64 i32 i8 u8'.split(' ').map((name) => [name, name]));
  return { default: { addon: { Core, Tensor, element } } };
}

describe('OpenVINO', () => {
  it('runs on its devices, in the requested precision', async () => {
    const calls: unknown[] = [];
    const runtimes = nodeTinyRuntimes(loading({ 'openvino-node': openVino(['CPU', 'GPU.0'], calls) }));
    const here = (await runtimes.devices()).filter(({ runtime }) => runtime === 'openvino-node');
    expect(here.map(({ device }) => device)).toEqual(['openvino', 'openvino-cpu', 'openvino-gpu']);
    await runtimes.open(SUM, { device: 'openvino-gpu', threads: 3, fp16: true });
    const cpu = await runtimes.open(SUM, { device: 'openvino-cpu', threads: 3, fp16: false });
    expect(cpu).toMatchObject({ device: 'openvino-cpu', runtime: 'openvino-node' });
    expect(calls).toEqual([
      { device: 'GPU', options: { INFERENCE_PRECISION_HINT: 'f16' } },
      { device: 'CPU', options: { INFERENCE_PRECISION_HINT: 'f32', INFERENCE_NUM_THREADS: 3 } },
    ]);
  });

  it.each([
    [1, 'f32', Float32Array.of(2, 3)],
    [2, 'u8', Uint8Array.of(2, 3)],
    [3, 'i8', Int8Array.of(2, 3)],
    [6, 'i32', Int32Array.of(2, 3)],
    [7, 'i64', BigInt64Array.of(2n, 3n)],
    [10, 'f16', toHalves(Float32Array.of(2, 3))],
    [11, 'f64', Float64Array.of(2, 3)],
  ])('gets tensors of type %i as %s, and gives numbers', async (type, element, data) => {
    const fed: Tensor[] = [];
    const runtimes = nodeTinyRuntimes(loading({ 'openvino-node': openVino(['CPU'], [], fed) }));
    const graph = { inputs: [{ name: 'features', type }] } as unknown as TinyModel['graph'];
    const session = await runtimes.open({ ...SUM, graph }, { device: 'openvino-cpu', ...plain });
    expect((await session.run(ROW)).y).toEqual(ROW.features);
    expect(fed).toMatchObject([{ type: element, data }]);
  });

  it('gives an error if a device does not start, and uses no other', async () => {
    const runtimes = nodeTinyRuntimes(loading({ 'openvino-node': openVino(['CPU', 'NPU']) }));
    const work = runtimes.open(SUM, { device: 'openvino-npu', ...plain });
    await expect(work).rejects.toThrow(/does not start on openvino-npu \(openvino-node: no driver for it\)/);
  });
});

describe('auto', () => {
  const offer = (device: DeviceOffer['device'], fails: boolean): DeviceOffer => ({
    device,
    runtime: 'onnxruntime-node',
    async open(_model, _options, notes): Promise<TinySession> {
      if (fails) throw new AnyvmafError('backend', `${device} has no driver.`);
      return { runtime: 'onnxruntime-node', device, notes, run: async () => ({}), close: async () => {} };
    },
  });

  it('takes the first device that starts, and reports the skipped ones', async () => {
    const offers = [offer('cpu', false), offer('cuda', true), offer('coreml', false)];
    const order = ['cuda', 'rocm', 'coreml', 'cpu'] as const;
    const session = await openOn(SUM, { device: 'auto', ...plain }, offers, order);
    expect(session.device).toBe('coreml');
    expect(session.notes).toEqual(['The device cuda was skipped: cuda has no driver.']);
  });

  it('skips a software adapter, which a named device uses', async () => {
    const software = { ...offer('webgpu', false), adapter: { name: 'google swiftshader', software: true } };
    const offers = [software, offer('cpu', false)];
    const session = await openOn(SUM, { device: 'auto', ...plain }, offers, ['webgpu', 'cpu']);
    expect(session.device).toBe('cpu');
    expect(session.notes).toEqual([
      'The device webgpu was skipped: its adapter google swiftshader is a software renderer, slower than cpu.',
    ]);
    const asked = await openOn(SUM, { device: 'webgpu', ...plain }, offers, ['webgpu', 'cpu']);
    expect(asked.device).toBe('webgpu');
  });

  it('can be limited to the CPU', async () => {
    const offers = [offer('cpu', false), offer('cuda', false)];
    const session = await openOn(SUM, { device: 'auto', only: 'cpu', ...plain }, offers, ['cuda', 'cpu']);
    expect(session.device).toBe('cpu');
  });
});

afterEach(() => vi.unstubAllGlobals());
const found = async (adapter: object | null) => {
  vi.stubGlobal('navigator', { gpu: { requestAdapter: async () => adapter } });
  const [device] = (await browserTinyRuntimes(() => undefined).devices()).filter(
    (one) => one.device === 'webgpu',
  );
  return device;
};
const here = { device: 'webgpu', available: true, runtime: 'onnxruntime-web' };

it('adapters of a browser have their name, and are software if they declare it', async () => {
  expect(await found({ info: { vendor: 'nvidia', architecture: 'ampere', device: '' } })).toEqual({
    ...here,
    adapter: 'nvidia ampere',
  });
  const software = [
    { info: { vendor: 'google', architecture: 'swiftshader' } },
    { info: { vendor: 'mesa', description: 'llvmpipe (LLVM 15)' } },
    { info: { vendor: 'microsoft', isFallbackAdapter: true } },
    { isFallbackAdapter: true, info: { vendor: 'microsoft' } },
  ];
  for (const adapter of software) expect(await found(adapter)).toMatchObject({ ...here, software: true });
  expect(await found({})).toEqual({ ...here, adapter: 'of no name' });
  expect(await found(null)).toMatchObject({ available: false, runtime: null });
});

it('signatures fail closed', async () => {
  const verify = (load: (name: string) => Promise<unknown>, bundle = '{}') =>
    nodeTinySignatures(load).verify(Uint8Array.of(1), bundle, 'a.onnx', {
      issuer: 'https://issuer.example',
      identity: 'a@example.com',
    });
  const run = verify(loading({ sigstore: null }));
  await expect(run).rejects.toThrow('cannot be checked without the package sigstore');
  await expect(verify(loading({ sigstore: {} }))).rejects.toThrow('cannot be checked');
  const work = verify(loading({ sigstore: { verify: async () => {} } }), 'no JSON');
  await expect(work).rejects.toThrow('does not verify');
  const refusing = { verify: async () => Promise.reject(new Error('wrong key')) };
  await expect(verify(loading({ sigstore: refusing }))).rejects.toThrow('does not verify (wrong key)');
  const asked: unknown[] = [];
  const agreeing = { verify: async (...args: unknown[]) => asked.push(args[2]) };
  await expect(verify(loading({ sigstore: agreeing }))).resolves.toBeUndefined();
  expect(asked).toEqual([
    { certificateIssuer: 'https://issuer.example', certificateIdentityEmail: 'a@example.com' },
  ]);
  // The installed package, with an empty bundle.
  await expect(verify(loading({}))).rejects.toThrow('does not verify');
});
