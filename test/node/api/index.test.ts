/**
 * @module test/node/api/index
 * The public API: its names, what configure takes, and what JavaScript callers can get wrong: a value of every kind for
 * each argument of every function.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import * as browser from '../../../src/index.browser.js';
import * as node from '../../../src/index.js';
import { readEncodingResult, readReport } from '../../../src/index.js';
import { loadCore, readModel } from '../../../src/platform/browser/package-files.js';
import { refusalOf } from '../../support/refusals.js';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

describe('the public API', () => {
  it('has the same names and parameters in Node and in browsers, and the version of the package', () => {
    expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
    const arity = (api: object) =>
      Object.entries(api).map(([name, value]) => [name, typeof value === 'function' && value.length]);
    expect(arity(browser)).toEqual(arity(node));
    const constants = ['HEATMAP_FULLS', 'SHOT_FORMATS', 'STATISTICS', 'version'];
    expect(Object.keys(node).sort()).toEqual([...constants, ...Object.keys(CALLS)].sort());
    expect(node.version).toBe(manifest.version);
  });
});

describe('the origin of a call', () => {
  const outside = fileURLToPath(import.meta.url);
  const origin = { by: 'foreign', folders: ['/nowhere'] } as const;
  const call = node.score as (...args: readonly unknown[]) => Promise<unknown>;

  it.each([
    ['follows its options', {}, [undefined]],
    ['its request says', { origin: { by: 'user' } }, []],
  ])('holds whatever else %s', async (_, more, others) => {
    const scored = call({ reference: outside, distorted: outside, ...more }, { origin }, ...others);
    await expect(scored).rejects.toThrow('allowed folders');
  });

  it('is refused before a model is opened if it is malformed', async () => {
    const model = fileURLToPath(new URL('../../../model/vmaf_v0.6.1.json', import.meta.url));
    const opened = node.openModel(`path=${model}`, { origin: 'foreign' as never });
    await expect(opened).rejects.toThrow('origin is "foreign", but it must be an object with by.');
  });
});

describe('arguments', () => {
  it('are those of the time of the call, whatever becomes of their objects', async () => {
    const request = { reference: 'first.y4m', distorted: 'first.y4m' };
    const options = { features: ['psnr'], threads: 0 };
    const encodes = ['first.y4m'];
    const run = await node.prepareRun(request, options);
    const calls = [node.score(request, options), node.scoreMany('first.y4m', encodes, options)];
    const frames = node.extractFrames(request, [0]);
    Object.assign(request, { reference: 'second.y4m', distorted: 'second.y4m' });
    options.features[0] = 'nonsense';
    encodes[0] = 'second.y4m';
    const ended = [...calls, frames.next(), run.start()].map((call) =>
      expect(call).rejects.toThrow('cannot read first.y4m'),
    );
    await Promise.all(ended);
  });

  it('have no inherited options, of which some would be ignored', async () => {
    class Options {
      get models() {
        return [];
      }
    }
    for (const options of [Object.create({ models: [] }), new Options()]) {
      const scored = node.score({ reference: 'a.y4m', distorted: 'b.y4m' }, options);
      await expect(scored).rejects.toThrow(
        'models is inherited by the options, which must be a plain object.',
      );
    }
  });
});

describe('configure', () => {
  const wasm = new URL('../../../wasm/anyvmaf.wasm', import.meta.url);
  const picture = { y: new Uint8Array(64 * 64).fill(50) };
  const size = { width: 64, height: 64, bitDepth: 8, chroma: '420' } as const;
  const scoreOne = async () => {
    using scorer = await node.createScorer(size, { threads: 0 });
    await scorer.push(picture, picture);
    return (await scorer.finish()).frames[0]?.metrics.integer_vif_scale0;
  };

  it.each([
    ['a URL', wasm],
    ['a URL as text', wasm.href],
    ['a path', wasm.pathname],
    ['bytes', readFileSync(wasm)],
    ['a compiled module', new WebAssembly.Module(readFileSync(wasm))],
  ])('takes the core as %s', async (_, value) => {
    node.configure({ wasm: value });
    expect(await scoreOne()).toBe(1);
  });

  const other = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  it.each([
    ['that is not there', '/nowhere/anyvmaf.wasm', 'io', '/nowhere/anyvmaf.wasm'],
    ['that is not WebAssembly', new Uint8Array([1, 2, 3]), 'internal', 'does not compile'],
    ['that is another module', other, 'internal', 'not anyvmaf.wasm'],
  ])('refuses a core %s, and takes a good one after it', async (_, value, code, part) => {
    node.configure({ wasm: value });
    await expect(scoreOne()).rejects.toMatchObject({ code, message: expect.stringContaining(part) });
    node.configure({ wasm });
    expect(await scoreOne()).toBe(1);
  });

  it('takes the folder of models', async () => {
    node.configure({ models: new URL('file:///nowhere/') });
    try {
      expect(await refusalOf('io', () => scoreOne())).toContain('/nowhere/');
    } finally {
      node.configure({ models: new URL('../../../model/', import.meta.url) });
    }
    expect(await scoreOne()).toBe(1);
  });
});

it('a browser names the model or module whose download breaks off', async () => {
  const broken = () => new ReadableStream({ pull: (controller) => controller.error(new TypeError('lost')) });
  vi.stubGlobal('fetch', async () => new Response(broken()));
  const url = 'https://a.example/x';
  const model = await refusalOf('io', () => readModel(new URL(url)));
  expect(model).toBe(`The model ${url} cannot be fetched.`);
  expect(await refusalOf('io', () => loadCore(url, 'wasm'))).toContain(
    `module ${url} cannot be fetched; name`,
  );
  vi.unstubAllGlobals();
});

function detached(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

const no = () => {
  throw new TypeError('no');
};
const hostile = new Proxy({}, { get: no, ownKeys: no, has: no, getPrototypeOf: no });
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** Values by what they are; each is wrong for most arguments. */
const VALUES = {
  undefined: undefined,
  null: null,
  number: 5,
  NaN: Number.NaN,
  bigint: 5n,
  boolean: true,
  text: 'x',
  symbol: Symbol('x'),
  function: () => {},
  array: [],
  'array of null': [null],
  object: {},
  'null-prototype object': Object.create(null),
  'detached bytes': detached(),
  'source without warnings': {
    info: { name: 'x', container: 'yuv', width: 16, height: 16, bitDepth: 8, chroma: '420', frameCount: 1 },
    readFrame: async () => {},
    close: () => {},
  },
  'throwing proxy': hostile,
  'revoked proxy': revoked.proxy,
} as const;

type Kind = keyof typeof VALUES;

/** An argument: a value that fits, and the kinds above that are accepted by its type. */
interface Argument {
  readonly fits: unknown;
  readonly takes?: readonly Kind[];
}

const OBJECTS = ['object', 'null-prototype object'] as const;
const options: Argument = { fits: {}, takes: ['undefined', ...OBJECTS] };
/** Options whose unknown members are ignored. */
const ignoring = [...OBJECTS, 'source without warnings'] as const;
const loose: Argument = { fits: {}, takes: ['undefined', ...ignoring] };
/** A name that is looked up among others. */
const text: Argument = { fits: 'x', takes: ['text'] };
const path: Argument = { fits: 'a.mp4', takes: ['text'] };
const list: Argument = { fits: [], takes: ['array'] };
const indices: Argument = { fits: [0], takes: ['array'] };
const csv = readReport('Frame,psnr_y,\n0,30.5,\n');
const whole = readReport('{"frames":[]}');
const request: Argument = { fits: { reference: 'a.y4m', distorted: 'b.y4m' } };
const curve = [
  { kbps: 1, quality: 1 },
  { kbps: 2, quality: 2 },
];
const searched = await readEncodingResult(
  JSON.stringify({
    kind: 'search',
    source: 'a.mkv',
    encoder: 'libx264',
    parameter: 'crf',
    value: 20,
    targets: [{ metric: 'vmaf', statistic: 'mean', atLeast: 90 }],
    points: [{ value: 20, bytes: 1, kbps: 1, quality: 91, margin: 1, framesPerSecond: null }],
    command: [],
    encodes: 1,
    cached: 0,
    samples: null,
  }),
);
const ranked: Argument = { fits: { metric: 'psnr_y', worse: 'low' } };
const count: Argument = { fits: 5, takes: ['number', 'NaN', 'undefined'] };
const encoders = { encoders: [{ encoder: 'libx264' }, { encoder: 'libx265' }] };

const CALLS: Readonly<Record<string, readonly Argument[]>> = {
  AnyvmafError: [],
  score: [request, options],
  prepareRun: [request, options],
  scoreMany: [{ fits: 'a.y4m', takes: ['text', 'number'] }, { fits: ['b.y4m'], takes: ['array'] }, options],
  scoreBatch: [list, options],
  scoreShard: [request, { fits: { number: 1, count: 2 } }, options],
  mergeShards: [list, options],
  formatShard: [{ fits: {} }],
  formatFrames: [{ fits: csv }],
  readShard: [text, { fits: 'x', takes: ['undefined', 'text'] }],
  inspect: [request, options],
  describeVideo: [path, options],
  align: [request, options],
  extractFrames: [request, indices, options],
  qualityMaps: [request, indices, options],
  mapQuality: [{ fits: undefined }, { fits: {}, takes: options.takes ?? [] }],
  searchQuality: [path, { fits: { encoder: 'libx264' }, takes: [] }],
  buildLadder: [path, { fits: { encoder: 'libx264', sizes: [720] }, takes: [] }],
  compareEncoders: [path, { fits: encoders, takes: [] }],
  formatEncodingResult: [{ fits: searched }, text],
  readEncodingResult: [text],
  detectShots: [path, options],
  tuneShots: [path, { fits: { encoder: 'libx264' }, takes: [] }],
  formatShots: [{ fits: { shots: [] }, takes: [] }, { fits: 'json' }],
  forgetSearches: [{ fits: 'x', takes: ['text', 'undefined'] }],
  parseEncoder: [text],
  parseTarget: [text],
  decideEncodes: [{ fits: [csv], takes: ['array'] }, loose],
  bdRate: [{ fits: curve, takes: [] }, { fits: curve, takes: [] }, loose],
  bdQuality: [{ fits: curve, takes: [] }, { fits: curve, takes: [] }, loose],
  createScorer: [{ fits: { width: 16, height: 16, bitDepth: 8, chroma: '420' } }, options],
  createEmbeddedServer: [{ fits: {} }, { fits: {}, takes: [] }],
  listModels: [],
  describeModel: [text],
  pullModel: [text, loose],
  openModel: [{ ...text, takes: ['text', 'undefined'] }],
  evaluateModel: [text, { fits: 'x.parquet', takes: ['text'] }, loose],
  compareModels: [{ fits: ['x'], takes: ['array'] }, { fits: 'x.parquet', takes: ['text'] }, loose],
  writeFeatures: [{ fits: [{ reference: 'a.y4m', distorted: 'b.y4m' }], takes: [] }, options],
  listTinyModels: [],
  describeTinyModel: [text, loose],
  listTinyDevices: [],
  listBackends: [loose],
  probeBackend: [{ fits: 'x' }, loose],
  describeNative: [loose],
  diagnose: [loose],
  configure: [{ fits: {}, takes: ignoring }],
  listExtractors: [],
  heatmapColor: [{ fits: 0.5, takes: ['number', 'NaN'] }],
  heatmapFull: [
    { fits: new Float32Array(3), takes: [] },
    { fits: 0.03, takes: ['undefined'] },
  ],
  isReport: [{ fits: csv, takes: ignoring }],
  viewerOpinion: [{ fits: whole }, { fits: undefined }],
  formatProgress: [{ fits: { framesDone: 1, framesTotal: 2, fps: 3, secondsLeft: 4 }, takes: [] }, loose],
  readReport: [text, { fits: 'x', takes: ['undefined', 'text'] }],
  summarize: [{ fits: csv }, loose],
  frameGap: [{ fits: {}, takes: ignoring }],
  ranking: [{ fits: csv }],
  trustOf: [{ fits: {}, takes: ignoring }],
  worstFrames: [{ fits: csv }, ranked, count, count],
  formatHtml: [{ fits: csv }, loose],
  formatReport: [{ fits: csv }, { fits: 'csv' }, loose],
  writeReport: [{ fits: csv }, { fits: 'csv' }, loose],
};

type Call = (...args: readonly unknown[]) => unknown;

/** What a call throws, sooner or later. */
async function failure(call: Call, args: readonly unknown[]): Promise<unknown> {
  try {
    const result: unknown = await call(...args);
    if (typeof result === 'object' && result !== null) {
      if (Symbol.asyncIterator in result) await (result as AsyncGenerator).next();
      else if (Symbol.iterator in result && 'next' in result) (result as Generator).next();
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each([
  ['Node', node],
  ['browsers', browser],
])('the API of %s', (_, api: Readonly<Record<string, unknown>>) => {
  const functions = Object.entries(api).filter(([, value]) => typeof value === 'function');

  it.each(functions.flatMap(([name]) => (CALLS[name] ?? []).map((_argument, at) => [name, at] as const)))(
    '%s refuses a wrong argument %i in a sentence',
    async (name, at) => {
      const call = api[name] as Call;
      const args = CALLS[name] ?? [];
      const wrong: string[] = [];
      for (const [kind, value] of Object.entries(VALUES)) {
        if (args[at]?.takes?.includes(kind as Kind)) continue;
        const wrongly = args.map(({ fits }, i) => (i === at ? value : fits));
        const error = await failure(call, wrongly);
        const fine =
          error instanceof node.AnyvmafError && error.code === 'usage' && error.message.length < 1500;
        const told = error instanceof Error ? `${error.name} ${error.message}` : error;
        if (!fine) wrong.push(`${kind}: ${told}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  const x264 = { encoder: 'libx264' };
  it.each<[string, string, (unreadable: unknown) => readonly unknown[]]>([
    ['score', 'tiny', (one) => [request.fits, { tiny: [one] }]],
    ['score', 'scaleTo', (one) => [request.fits, { scaleTo: one }]],
    ['score', 'range', (one) => [request.fits, { range: one }]],
    ['score', 'signal', (one) => [request.fits, { signal: one }]],
    ['searchQuality', 'targets', (one) => ['a.mp4', { ...x264, targets: [one] }]],
    ['searchQuality', 'range', (one) => ['a.mp4', { ...x264, range: one }]],
    ['searchQuality', 'encoderOptions', (one) => ['a.mp4', { ...x264, encoderOptions: one }]],
    ['buildLadder', 'sizes', (one) => ['a.mp4', { ...x264, sizes: [one] }]],
    ['buildLadder', 'between', (one) => ['a.mp4', { ...x264, sizes: [720], between: one }]],
    ['compareEncoders', 'encoders', (one) => ['a.mp4', { encoders: [one, x264] }]],
    ['bdRate', 'its points', (one) => [[one, ...curve], curve]],
    ['bdRate', 'between', (one) => [curve, curve, { between: one }]],
  ])('%s refuses an unreadable object in %s', async (name, _option, args) => {
    for (const unreadable of [hostile, revoked.proxy]) {
      const error = await failure(api[name] as Call, args(unreadable));
      expect(error).toMatchObject({ name: 'AnyvmafError', code: 'usage' });
    }
  });
});
