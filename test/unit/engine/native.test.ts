/**
 * @module test/unit/engine/native
 * Installed programs of libvmaf: their command lines, help and logs, and that each is asked once.
 */
import { describe, expect, it } from 'vitest';
import type { ChromaFormat } from '../../../src/core/frame.js';
import {
  commandArgs,
  escapeOption,
  formatProblem,
  parseLog,
  vmafReadsY4m,
} from '../../../src/engine/backends/native/command.js';
import {
  buildFlags,
  ffmpegVersion,
  filterOptions,
  flavourOf,
  release,
  survey,
  vmafOptions,
  vmafVersion,
} from '../../../src/engine/backends/native/survey.js';
import type {
  NativeHost,
  NativeJob,
  NativeOutcome,
  NativeProgram,
  NativeTask,
} from '../../../src/engine/backends/native/types.js';

const program = (flavour: NativeProgram['flavour'], ...options: string[]): NativeProgram => ({
  flavour,
  path: '/bin/x',
  version: '3.2.0',
  build_flags: { cpu: true, cuda: false, sycl: false, hip: false, metal: false },
  options: new Set(options),
  key: 'x',
});

const PLAIN = { disableClip: false, enableTransform: false, overloads: [] };
const MODEL = { source: { version: 'vmaf_v0.6.1' }, name: 'vmaf', ...PLAIN };

const TASK: NativeTask = {
  backend: 'native-cpu',
  input: { reference: 'r', distorted: 'd' },
  models: [MODEL],
  features: [],
  predicts: true,
  subsample: 1,
  threads: 0,
  devices: {},
  log: 'log.json',
};

describe('vmaf', () => {
  it('gets every option', () => {
    const overloads = [{ extractor: 'adm', option: 'adm_enhn_gain_limit', value: '1' }];
    const source = { file: 'model0.json' };
    const args = commandArgs(program('vmaf', 'no_cuda', 'no_sycl', 'cpumask'), {
      ...TASK,
      models: [{ source, name: 'm', disableClip: true, enableTransform: true, overloads }],
      ...{ features: ['psnr=enable_apsnr=true'], predicts: false, subsample: 5, threads: 4 },
      ...{ devices: { cpumask: 7 }, frameCount: 9, skip: { reference: 1, distorted: 2 } },
    });
    expect(args.join(' ')).toBe(
      '--reference r --distorted d ' +
        '--model path=model0.json:name=m:disable_clip=true:enable_transform=true:adm.adm_enhn_gain_limit=1 ' +
        '--feature psnr=enable_apsnr=true --no_prediction --subsample 5 --threads 4 --frame_cnt 9 ' +
        '--frame_skip_ref 1 --frame_skip_dist 2 --no_cuda --no_sycl --cpumask 7 --quiet --json --output log.json',
    );
  });

  it.each([
    // A stock build may have CUDA without saying so.
    ['native-cpu', ['gpumask'], '--gpumask 4294967295'],
    ['native-cpu', ['no_cuda', 'gpumask'], '--no_cuda'],
    ['cuda', ['no_cuda', 'no_sycl', 'no_hip', 'no_metal'], '--no_sycl --no_hip --no_metal'],
    ['sycl', ['no_cuda', 'no_sycl', 'sycl_device'], '--no_cuda --sycl_device 0'],
    ['hip', ['no_hip', 'hip_device', 'backend'], '--backend hip'],
    ['native-cpu', ['no_hip', 'backend', 'precision'], '--backend cpu --precision max'],
  ] as const)('takes %s with %j as %s', (backend, options, expected) => {
    const args = commandArgs(program('vmaf', ...options), { ...TASK, backend });
    expect(args.slice(6, -4).join(' ')).toBe(expected);
  });

  it('gets no option that it does not have', () => {
    const task: NativeTask = { ...TASK, backend: 'sycl', devices: { syclDevice: 1 } };
    const refused = /vmaf \(\/bin\/x\) has no option --sycl_device/;
    expect(() => commandArgs(program('vmaf', 'no_sycl'), task)).toThrow(refused);
  });

  it('gets only the headers of Y4M and the formats that it reads', () => {
    const reads = (tags: string) => vmafReadsY4m(`YUV4MPEG2 W4 H2 F25:1 ${tags}`);
    const tags = '420 420jpeg 420mpeg2 420p10 420p12 422p10 422p12 444 444p10 444p12'.split(' ');
    expect(['', 'I?', 'Ip', ...tags.map((tag) => `Ip C${tag}`)].filter((tag) => !reads(tag))).toEqual([]);
    const others = ['422', '420paldv', '411', 'mono', '444alpha', '420p16', '420p9', 'mono10', ''];
    const refused = ['It', 'Ib C420', 'Ip Im', `X${'x'.repeat(240)}`, ...others.map((tag) => `C${tag}`)];
    expect(refused.filter(reads)).toEqual([]);
    const problem = (chroma: ChromaFormat, bitDepth: number) =>
      formatProblem({ flavour: 'vmaf' }, { chroma, bitDepth });
    expect(problem('422', 12)).toBeUndefined();
    expect(problem('400', 8)).toMatch(/supports only 4:2:0, 4:2:2 and 4:4:4/);
    expect(problem('420', 9)).toMatch(/8, 10, 12 and 16 bit, not 9/);
  });
});

describe('the libvmaf filter', () => {
  const graph = (task: Partial<NativeTask>) =>
    commandArgs(program('ffprobe', 'model'), { ...TASK, ...task }).find((arg) => arg.includes('libvmaf'));

  it('gets every option', () => {
    const task = { features: ['psnr=enable_apsnr=true:min_sse=0.5', 'ciede'], subsample: 2, threads: 3 };
    expect(graph(task)).toBe(
      'movie=filename=d:format_name=yuv4mpegpipe[d];movie=filename=r:format_name=yuv4mpegpipe[r];' +
        '[d][r]libvmaf=log_fmt=json:log_path=log.json:shortest=1:eof_action=endall:repeatlast=0:' +
        'model=version\\\\=vmaf_v0.6.1\\\\:name\\\\=vmaf:' +
        'feature=name\\\\=psnr\\\\:enable_apsnr\\\\=true\\\\:min_sse\\\\=0.5|name\\\\=ciede:' +
        'n_subsample=2:n_threads=3',
    );
  });

  it('escapes for the list of options and for the graph, once each', () => {
    expect(escapeOption('plain_1.json')).toBe('plain_1.json');
    // Level one: \: ; level two: \\\: .
    expect(escapeOption(':')).toBe('\\\\:');
    expect(escapeOption(',')).toBe('\\,');
    expect(escapeOption("'")).toBe("\\\\\\'");
  });

  it('is refused what it has no option for', () => {
    const refused = (task: Partial<NativeTask>) => () => graph(task);
    expect(refused({ predicts: false })).toThrow(/always predicts/);
    expect(refused({ devices: { gpumask: 1 } })).toThrow(/has no option gpumask/);
    expect(refused({ models: [{ ...MODEL, name: 'a|b' }] })).toThrow(/"a\|b" contains "\|"/);
    const problem = formatProblem({ flavour: 'ffmpeg' }, { chroma: '420', bitDepth: 12 });
    expect(problem).toMatch(/8 and 10 bit, not 12/);
  });
});

const HELP = `vmaf: unrecognized option '--help'
Usage: vmaf [options]
 --reference/-r $path:        a file
 --distorted/-d $path:        a file
 --gpumask: $bitmask          a mask
 --no_cuda:                   off
 --no-metal                   off
 --sycl_device $unsigned:     a number`;

describe('the help of vmaf', () => {
  it('is recognised by its two videos', () => {
    expect(flavourOf(HELP)).toBe('vmaf');
    expect(flavourOf('ffmpeg version 6.0 Copyright')).toBe('ffmpeg');
    expect(flavourOf('ffprobe version n7.1')).toBe('ffprobe');
    expect(flavourOf('Usage: cat [OPTION]... [FILE]...')).toBeUndefined();
    expect(flavourOf('')).toBeUndefined();
  });

  it('names options in any spelling, and backends by the options that turn them off', () => {
    const options = vmafOptions(HELP);
    expect(options.has('reference') && options.has('sycl_device') && options.has('gpumask')).toBe(true);
    expect(buildFlags(options)).toEqual({ cpu: true, cuda: true, sycl: false, hip: false, metal: true });
  });
});

describe('versions', () => {
  it.each([
    ['3.2.0\n', '3.2.0'],
    ['v2.3.1', '2.3.1'],
    ['VMAF version 3.0.0-rc.5', '3.0.0-rc.5'],
    ['f85a8536', 'f85a8536'],
    ['\u0000\u0001garbage', null],
    ['', null],
  ])('%j is %j', (text, expected) => expect(vmafVersion(text)).toBe(expected));

  it('of ffmpeg come from the banner, and a release is the numbers of a version', () => {
    const banner = 'ffprobe version N-66595-gc2b38619c0-static https://example.org';
    expect(ffmpegVersion(banner)).toBe('N-66595-gc2b38619c0-static');
    expect(release('3.0.0-rc.5')).toEqual([3, 0]);
    expect(release('n7.1')).toEqual([7, 1]);
    expect(release('f85a8536')).toBeUndefined();
    expect(release(null)).toBeUndefined();
  });
});

it('the filter and its options are known from its help', () => {
  const text =
    'Filter libvmaf\n  text.\nlibvmaf AVOptions:\n   model   <string>  ..FV.. text\n   n_threads  <int> x\n';
  expect([...(filterOptions(text) ?? [])]).toEqual(['model', 'n_threads']);
  expect(filterOptions("Unknown filter 'libvmaf'.\n")).toBeUndefined();
});

const parse = (text: string) => parseLog(text, 'vmaf');

describe('a log', () => {
  it('keeps its order, gaps and nulls', () => {
    // Version 3.2 writes no line feed after a null per frame.
    const log = parse(`{
  "version": "f85a8536",
  "fps": null,
  "frames": [
    { "frameNum": 0, "metrics": { "b": 34.786288,        "a": null, "vmaf": 1.0000002530090364 } },
    { "frameNum": 5, "metrics": { "b": -0.000000, "late": 2 } }
  ],
  "pooled_metrics": {
    "b": { "min": -0.0, "max": 34.786288, "mean": 17.393144, "harmonic_mean": 0.9 },
    "a": {
    }
  },
  "aggregate_metrics": { "apsnr_y": 33.113422, "apsnr_cb": null }
}`);
    expect(log.version).toBe('f85a8536');
    expect(log.frameNumbers).toEqual([0, 5]);
    expect(log.series.map(({ name }) => name)).toEqual(['b', 'a', 'vmaf', 'late']);
    expect(log.series.map(({ values }) => [...values])).toEqual([
      [34.786288, -0],
      [Number.NaN, Number.NaN],
      [1.0000002530090364, Number.NaN],
      [Number.NaN, 2],
    ]);
    expect(log.series.map(({ present }) => [...present])).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
    expect([...log.pooled.keys()]).toEqual(['b']);
    expect(log.pooled.get('b')?.mean).toBe(17.393144);
    expect(log.aggregates).toEqual({ apsnr_y: 33.113422, apsnr_cb: Number.NaN });
  });

  it('may hold nan and inf, which are not JSON, and a metric named __proto__', () => {
    const log = parse('{"frames":[{"frameNum":0,"metrics":{"a": -nan(ind), "b": inf, "nan": 1}}]}');
    expect(log.series.map(({ name, values }) => [name, values[0]])).toEqual([
      ['a', Number.NaN],
      ['b', Number.NaN],
      ['nan', 1],
    ]);
    const named = parse('{"frames":[{"frameNum":0,"metrics":{"__proto__": 7}}]}');
    expect(named.series.map(({ name }) => name)).toEqual(['__proto__']);
  });

  it.each([
    ['', /is not JSON/],
    ['[]', /is not JSON/],
    ['<VMAF/>', /is not JSON/],
    ['{}', /has no frames/],
    ['{"frames":{}}', /has no frames/],
    ['{"frames":[{"frameNum":0}]}', /an invalid frame 0/],
    ['{"frames":[{"frameNum":1,"metrics":{}},{"frameNum":1,"metrics":{}}]}', /an invalid frame 1/],
    ['{"frames":[{"frameNum":0,"metrics":{"a":"1"}}]}', /no number for "a"/],
  ])('is refused: %s', (text, expected) => {
    expect(() => parse(text)).toThrow(expected);
  });
});

/** A host with one program that answers on request. */
function fakeHost() {
  const asked: string[] = [];
  const ended: unknown[] = [];
  let answer = () => {};
  const waiting = () =>
    new Promise<void>((resolve) => {
      answer = resolve;
    });
  let gate = waiting();
  const host: NativeHost = {
    pipes: false,
    candidates: (kind) => (kind === 'vmaf' ? [{ path: '/bin/vmaf', from: 'PATH', key: 'vmaf 1' }] : []),
    run: async ({ args, signal }: NativeJob): Promise<NativeOutcome> => {
      asked.push(args.join(' '));
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => {
          ended.push(signal.reason);
          reject(signal.reason);
        });
      });
      await Promise.race([gate, aborted]);
      const stdout = 'is neither one nor the other';
      return { kind: 'ended', code: 0, signal: null, stdout, stderr: '', time: 1 };
    },
  };
  return {
    host,
    asked,
    ended,
    answer: () => answer(),
    again: () => {
      gate = waiting();
    },
  };
}

it('thirty callers at once, each with its own signal, share one question and its answer', async () => {
  const { host, asked, answer } = fakeHost();
  const calls = Array.from({ length: 30 }, () => survey(host, { signal: new AbortController().signal }));
  answer();
  for (const { rejected } of await Promise.all(calls)) expect(rejected).toHaveLength(1);
  await survey(host, { signal: new AbortController().signal });
  await survey(host, {});
  expect(asked).toEqual(['--help']);
});

it('a caller that aborts does not end the question for the others', async () => {
  const { host, asked, ended, answer } = fakeHost();
  const stop = new AbortController();
  const [hasty, patient] = [survey(host, { signal: stop.signal }), survey(host, {})];
  stop.abort('enough');
  await expect(hasty).rejects.toBe('enough');
  answer();
  expect((await patient).rejected).toHaveLength(1);
  expect([asked, ended]).toEqual([['--help'], []]);
});

it('when all callers abort, the program is ended and the next caller asks again', async () => {
  const { host, asked, ended, answer, again } = fakeHost();
  const stops = [new AbortController(), new AbortController()];
  const calls = stops.map(({ signal }) => survey(host, { signal }));
  stops[0]?.abort('one');
  expect(ended).toEqual([]);
  stops[1]?.abort('two');
  await Promise.allSettled(calls);
  expect(ended).toEqual(['two']);
  again();
  const next = survey(host, {});
  answer();
  expect((await next).rejected).toHaveLength(1);
  expect(asked).toEqual(['--help', '--help']);
});

it('a caller that has aborted before starts nothing', async () => {
  const { host, asked } = fakeHost();
  await expect(survey(host, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
  expect(asked).toEqual([]);
});
