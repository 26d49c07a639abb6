/**
 * @module test/unit/engine/native/commands
 * The command lines of the programs: what each option becomes, and what is refused because it cannot be said.
 */
import { describe, expect, it } from 'vitest';
import {
  escapeOption,
  ffmpegArgs,
  filterFormatProblem,
} from '../../../../src/engine/backends/native/ffmpeg-command.js';
import type { NativeTask } from '../../../../src/engine/backends/native/task.js';
import type { NativeProgram } from '../../../../src/engine/backends/native/types.js';
import {
  vmafArgs,
  vmafFormatProblem,
  vmafReadsY4m,
} from '../../../../src/engine/backends/native/vmaf-command.js';

const program = (flavour: NativeProgram['flavour'], ...options: string[]): NativeProgram => ({
  flavour,
  path: '/bin/x',
  version: '3.2.0',
  build_flags: { cpu: true, cuda: false, sycl: false, hip: false, metal: false },
  options: new Set(options),
  key: 'x',
});

const MODEL = {
  source: { version: 'vmaf_v0.6.1' },
  name: 'vmaf',
  disableClip: false,
  enableTransform: false,
  overloads: [],
};

const TASK: NativeTask = {
  backend: 'native-cpu',
  input: { reference: 'r', distorted: 'd' },
  models: [MODEL],
  features: [],
  noPrediction: false,
  subsample: 1,
  threads: 0,
  devices: {},
  log: 'log.json',
};

describe('vmaf', () => {
  it('is told everything', () => {
    const args = vmafArgs(program('vmaf', 'no_cuda', 'no_sycl', 'cpumask'), {
      ...TASK,
      models: [
        {
          source: { file: 'model0.json' },
          name: 'm',
          disableClip: true,
          enableTransform: true,
          overloads: [{ extractor: 'adm', option: 'adm_enhn_gain_limit', value: '1' }],
        },
      ],
      features: ['psnr=enable_apsnr=true'],
      noPrediction: true,
      subsample: 5,
      threads: 4,
      devices: { cpumask: 7 },
      frameCount: 9,
      skipReference: 1,
      skipDistorted: 2,
    });
    expect(args.join(' ')).toBe(
      '--reference r --distorted d ' +
        '--model path=model0.json:name=m:disable_clip=true:enable_transform=true:adm.adm_enhn_gain_limit=1 ' +
        '--feature psnr=enable_apsnr=true --no_prediction --subsample 5 --threads 4 --frame_cnt 9 ' +
        '--frame_skip_ref 1 --frame_skip_dist 2 --no_cuda --no_sycl --cpumask 7 --quiet --json --output log.json',
    );
  });

  it.each([
    // A stock build may have CUDA without a word of it.
    ['native-cpu', ['gpumask'], '--gpumask 4294967295'],
    ['native-cpu', ['no_cuda', 'gpumask'], '--no_cuda'],
    ['cuda', ['no_cuda', 'no_sycl', 'no_hip', 'no_metal'], '--no_sycl --no_hip --no_metal'],
    ['sycl', ['no_cuda', 'no_sycl', 'sycl_device'], '--no_cuda --sycl_device 0'],
    ['hip', ['no_hip', 'hip_device', 'backend'], '--backend hip'],
    ['native-cpu', ['no_hip', 'backend', 'precision'], '--backend cpu --precision max'],
  ] as const)('takes %s with %j as %s', (backend, options, expected) => {
    const args = vmafArgs(program('vmaf', ...options), { ...TASK, backend });
    expect(args.slice(6, -4).join(' ')).toBe(expected);
  });

  it('is not asked for what it does not have', () => {
    const run = () =>
      vmafArgs(program('vmaf', 'no_sycl'), { ...TASK, backend: 'sycl', devices: { syclDevice: 1 } });
    expect(run).toThrow(/vmaf \(\/bin\/x\) has no option --sycl_device/);
  });

  it('reads what the specification says it reads', () => {
    const tags = [
      '420',
      '420jpeg',
      '420mpeg2',
      '420p10',
      '420p12',
      '422p10',
      '422p12',
      '444',
      '444p10',
      '444p12',
    ];
    expect(tags.filter((tag) => !vmafReadsY4m(tag))).toEqual([]);
    const others = ['422', '420paldv', '411', 'mono', '444alpha', '420p16', '420p9', 'mono10', ''];
    expect(others.filter((tag) => vmafReadsY4m(tag))).toEqual([]);
    expect(vmafFormatProblem({ chroma: '422', bitDepth: 12 })).toBeUndefined();
    expect(vmafFormatProblem({ chroma: '400', bitDepth: 8 })).toMatch(/chroma only/);
    expect(vmafFormatProblem({ chroma: '420', bitDepth: 9 })).toMatch(/8, 10, 12 and 16 bit, not 9/);
  });
});

describe('the libvmaf filter', () => {
  const graph = (task: Partial<NativeTask>) =>
    ffmpegArgs(program('ffprobe', 'model'), { ...TASK, ...task }).find((arg) => arg.includes('libvmaf'));

  it('is told everything', () => {
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

  it('refuses what it cannot be told', () => {
    const refused = (task: Partial<NativeTask>) => () => graph(task);
    expect(refused({ noPrediction: true })).toThrow(/always predicts/);
    expect(refused({ devices: { gpumask: 1 } })).toThrow(/has no option gpumask/);
    expect(refused({ models: [{ ...MODEL, name: 'a|b' }] })).toThrow(/"a\|b" has a "\|"/);
    expect(filterFormatProblem({ chroma: '420', bitDepth: 12 })).toMatch(/8 and 10 bit, not 12/);
  });
});
