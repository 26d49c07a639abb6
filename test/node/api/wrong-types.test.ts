/**
 * @module test/node/api/wrong-types
 * What JavaScript callers can get wrong: every function of the API, each of its arguments in turn, every kind of value.
 */
import { describe, expect, it } from 'vitest';
import * as browser from '../../../src/index.browser.js';
import * as node from '../../../src/index.js';
import { readEncodingResult, readReport } from '../../../src/index.js';

function detached(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new TypeError('no');
    },
    ownKeys: () => {
      throw new TypeError('no');
    },
    has: () => {
      throw new TypeError('no');
    },
    getPrototypeOf: () => {
      throw new TypeError('no');
    },
  },
);
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

/** An argument: a value that fits, and the kinds above that are no matter of its type. */
interface Argument {
  readonly fits: unknown;
  readonly takes?: readonly Kind[];
}

const OBJECTS = ['object', 'null-prototype object'] as const;
const options: Argument = { fits: {}, takes: ['undefined', ...OBJECTS] };
/** Where members that there are not are passed over. */
const loose: Argument = { fits: {}, takes: ['undefined', ...OBJECTS, 'source without warnings'] };
/** Whose names are looked up among others. */
const text: Argument = { fits: 'x', takes: ['text'] };
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

const CALLS: Readonly<Record<string, readonly Argument[]>> = {
  AnyvmafError: [],
  score: [request, { ...options, takes: ['undefined', ...OBJECTS] }],
  prepareRun: [request, { ...options, takes: ['undefined', ...OBJECTS] }],
  scoreMany: [{ fits: 'a.y4m', takes: ['text', 'number'] }, { fits: ['b.y4m'], takes: ['array'] }, options],
  scoreBatch: [{ fits: [], takes: ['array'] }, options],
  scoreShard: [request, { fits: { number: 1, count: 2 } }, options],
  mergeShards: [{ fits: [], takes: ['array'] }, options],
  formatShard: [{ fits: {} }],
  formatFrames: [{ fits: csv }],
  readShard: [text, { fits: 'x', takes: ['undefined', 'text'] }],
  inspect: [request, options],
  align: [request, options],
  extractFrames: [request, { fits: [0], takes: ['array'] }, options],
  qualityMaps: [request, { fits: [0], takes: ['array'] }, options],
  mapQuality: [{ fits: undefined }, { fits: {}, takes: options.takes ?? [] }],
  searchQuality: [
    { fits: 'a.mp4', takes: ['text'] },
    { fits: { encoder: 'libx264' }, takes: [] },
  ],
  buildLadder: [
    { fits: 'a.mp4', takes: ['text'] },
    { fits: { encoder: 'libx264', sizes: [720] }, takes: [] },
  ],
  compareEncoders: [
    { fits: 'a.mp4', takes: ['text'] },
    { fits: { encoders: [{ encoder: 'libx264' }, { encoder: 'libx265' }] }, takes: [] },
  ],
  formatEncodingResult: [{ fits: searched }, text],
  readEncodingResult: [text],
  detectShots: [{ fits: 'a.mp4', takes: ['text'] }, options],
  tuneShots: [
    { fits: 'a.mp4', takes: ['text'] },
    { fits: { encoder: 'libx264' }, takes: [] },
  ],
  formatShots: [{ fits: { shots: [] }, takes: [] }, { fits: 'json' }],
  forgetSearches: [{ fits: 'x', takes: ['text', 'undefined'] }],
  parseEncoder: [text],
  parseTarget: [text],
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
  configure: [{ fits: {}, takes: [...OBJECTS, 'source without warnings'] }],
  listExtractors: [],
  heatmapColor: [{ fits: 0.5, takes: ['number', 'NaN'] }],
  heatmapFull: [
    { fits: new Float32Array(3), takes: [] },
    { fits: 0.03, takes: ['undefined'] },
  ],
  isReport: [{ fits: csv, takes: [...OBJECTS, 'source without warnings'] }],
  viewerOpinion: [{ fits: whole }, { fits: undefined }],
  formatProgress: [{ fits: { framesDone: 1, framesTotal: 2, fps: 3, secondsLeft: 4 }, takes: [] }, loose],
  readReport: [text, { fits: 'x', takes: ['undefined', 'text'] }],
  summarize: [{ fits: csv }, loose],
  frameGap: [{ fits: {}, takes: [...OBJECTS, 'source without warnings'] }],
  ranking: [{ fits: csv }],
  trustOf: [{ fits: {}, takes: [...OBJECTS, 'source without warnings'] }],
  worstFrames: [
    { fits: csv },
    ranked,
    { fits: 5, takes: ['number', 'NaN', 'undefined'] },
    { fits: 5, takes: ['number', 'NaN', 'undefined'] },
  ],
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

  it('has all of its functions in the table of this test', () => {
    expect(Object.keys(CALLS).sort()).toEqual(functions.map(([name]) => name).sort());
  });

  it.each(functions.flatMap(([name]) => (CALLS[name] ?? []).map((_argument, at) => [name, at] as const)))(
    '%s refuses a wrong argument %i in a sentence',
    async (name, at) => {
      const call = api[name] as Call;
      const args = CALLS[name] ?? [];
      const wrong: string[] = [];
      for (const [kind, value] of Object.entries(VALUES)) {
        if (args[at]?.takes?.includes(kind as Kind)) continue;
        const error = await failure(
          call,
          args.map(({ fits }, i) => (i === at ? value : fits)),
        );
        const fine =
          error instanceof node.AnyvmafError && error.code === 'usage' && error.message.length < 1500;
        if (!fine)
          wrong.push(`${kind}: ${error instanceof Error ? `${error.name} ${error.message}` : error}`);
      }
      expect(wrong).toEqual([]);
    },
  );
});
