/**
 * @module test/node/native/native
 * Native ffmpeg and libvmaf as a backend, and as the program that this package is compared with.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { escapeOption } from '../../../src/engine/backends/native/command.js';
import { describeNative, probeBackend, score } from '../../../src/index.js';
import { ffmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { copyFfprobe, hasEncoder, nativeIsAbsent, nativeVmaf } from '../../support/programs.js';

const absent = nativeIsAbsent();
const MODEL = new URL('../../../model/vmaf_v0.6.1.json', import.meta.url);

describe.skipIf(absent !== undefined)(`native-cpu${absent === undefined ? '' : ` (${absent})`}`, () => {
  const home = testFolder();
  let vmafBin = '';
  let request = { reference: '', distorted: '' };

  beforeAll(() => {
    vmafBin = copyFfprobe(home);
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=512x288', '-frames:v', '6'];
    const x264 = ['-c:v', 'libx264', '-threads', '1', '-preset', 'veryfast', '-crf'];
    const reference = ffmpeg(join(home, 'reference.mkv'), [...source, ...x264, '10']);
    const smaller = ['-i', reference, ...x264, '40', '-vf', 'scale=256:144'];
    request = { reference, distorted: ffmpeg(join(home, 'distorted.mkv'), smaller) };
  });

  it('is found, described and healthy', async () => {
    const found = await describeNative({ vmafBin });
    expect(found).toMatchObject({ binary_path: vmafBin, flavour: 'ffprobe', error: null });
    const health = await probeBackend('native-cpu', { vmafBin });
    // The score that libvmaf gives a grey frame.
    expect(health).toMatchObject({ runtime_healthy: true, score: 97.428043 });
  });

  it('gives the values of our core, for decoded, scaled and paired video', async () => {
    const models = ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=neg:adm.adm_enhn_gain_limit=1.0'];
    const own = await score(request, { models, compat: 'libvmaf-3.0', threads: 0 });
    const native = await score(request, { models, backend: 'native-cpu', vmafBin });
    expect(native.native).toMatchObject({ libvmaf: '2.3.0', decimals: 6, pooled: 'printed', input: 'pipes' });
    expect([native.compat, native.backend_used, native.frameCount]).toEqual(['libvmaf-3.0', 'native-cpu', 6]);
    expect(native.pairing).toEqual(own.pairing);
    for (const [i, { metrics }] of native.frames.entries()) {
      for (const name of ['vmaf', 'neg', 'integer_adm2', 'integer_vif_scale0', 'integer_motion2']) {
        expect(Number(own.frames[i]?.metrics[name]?.toFixed(6)), `${name} ${i}`).toBe(metrics[name]);
      }
    }
    const mean = own.pooled_metrics.vmaf?.mean;
    expect(native.pooled_metrics.vmaf?.mean).toBe(Number(mean?.toFixed(6)));
  });

  it('takes hostile names of scores and of model files', async () => {
    const folder = join(home, "it's [a];, \\folder%20 ");
    mkdirSync(folder);
    const file = join(folder, 'model; ,[x].json');
    copyFileSync(MODEL, file);
    const name = "n'a[m]e, ;\\x";
    const models = [`path=${file}:name=${name}`];
    const native = await score(request, { models, frameCount: 2, backend: 'native-cpu', vmafBin });
    const own = await score(request, { compat: 'libvmaf-3.0', frameCount: 2, threads: 0 });
    expect(native.frames[0]?.metrics[name]).toBe(Number(own.frames[0]?.metrics.vmaf?.toFixed(6)));
  });

  it('escapes paths as ffmpeg reads them', () => {
    for (const name of ["a'b", 'a:b', 'a\\b', 'a,b;c', '[a]', ' a ', 'a=b', "\\'", 'ä%d']) {
      const folder = join(home, 'paths', name);
      mkdirSync(folder, { recursive: true });
      const log = join(folder, 'log.json');
      const y4m = join(folder, 'v.y4m');
      const frame = Buffer.concat([Buffer.from('FRAME\n'), Buffer.alloc(64 * 96, 128)]);
      writeFileSync(y4m, Buffer.concat([Buffer.from('YUV4MPEG2 W64 H64 F25:1 Ip C420jpeg\n'), frame]));
      const movie = `movie=filename=${escapeOption(y4m)}`;
      const graph = `${movie}[d];${movie}[r];[d][r]libvmaf=log_fmt=json:log_path=${escapeOption(log)}`;
      const args = ['-v', 'error', '-f', 'lavfi', '-i', graph, '-count_frames'];
      execFileSync(vmafBin, args, { stdio: 'ignore' });
      expect(JSON.parse(readFileSync(log, 'utf8')).frames, name).toHaveLength(1);
    }
  });

  it('says what its filter cannot do', async () => {
    const options = { backend: 'native-cpu', vmafBin } as const;
    await expect(score(request, { ...options, noPrediction: true })).rejects.toThrow(/always predicts/);
    const unknown = score(request, { ...options, features: ['nonsense'] });
    await expect(unknown).rejects.toThrow(/no feature extractor "nonsense"/);
    await expect(score(request, { ...options, backend: 'cuda' })).rejects.toThrow(/cuda is not available/);
  });
});

type Trial = readonly [
  source: string,
  pixels: 'yuv420p' | 'yuv420p10le' | 'yuv422p' | 'yuv444p',
  encoder: string,
  options: readonly string[],
  model?: string,
];

const NOISE = 'noise=alls=12:allf=t:all_seed=7';
const X264 = ['-preset', 'veryfast', '-crf'];
const X265 = ['-preset', 'ultrafast', '-x265-params', 'log-level=none', '-crf'];
const VP9 = ['-deadline', 'realtime', '-cpu-used', '8', '-b:v', '0', '-crf'];

/** Source, pixel format, encoder with its options, and model. */
const TRIALS: readonly Trial[] = [
  [`testsrc2=s=512x288,${NOISE}`, 'yuv420p', 'libx264', [...X264, '45']],
  [`testsrc2=s=507x197,${NOISE}`, 'yuv420p10le', 'libvpx-vp9', [...VP9, '40']],
  [`gradients=s=640x480:seed=5:speed=0.05,${NOISE}`, 'yuv444p', 'libx264', [...X264, '33']],
  [`mandelbrot=s=443x301,${NOISE}`, 'yuv422p', 'mpeg2video', ['-q:v', '9']],
  [`testsrc2=s=480x270,${NOISE}`, 'yuv420p', 'libx264', [...X264, '35'], 'vmaf_v0.6.1neg'],
  ['mandelbrot=s=640x360', 'yuv420p', 'libx265', [...X265, '30'], 'vmaf_4k_v0.6.1'],
];

const FRAMES = 3;
const nativeHome = testFolder();
const ffprobe = absent === undefined ? copyFfprobe(nativeHome) : '';
for (const [number, [source, pixels, encoder, options, model = 'vmaf_v0.6.1']] of TRIALS.entries()) {
  const title = `native libvmaf 2.3.0: ${source}, ${pixels}, ${encoder} ${options.at(-1)}, ${model}`;
  it.skipIf(absent !== undefined || !hasEncoder(encoder))(
    absent ? `${title} (${absent})` : title,
    async () => {
      const folder = join(nativeHome, String(number));
      mkdirSync(folder);
      const frames = ['-frames:v', String(FRAMES)];
      const y4m = ['-pix_fmt', pixels, '-strict', '-1', '-f', 'yuv4mpegpipe'];
      const drawn = ['-f', 'lavfi', '-i', source, ...frames, ...y4m];
      const reference = ffmpeg(join(folder, 'reference.y4m'), drawn);
      const encoding = ['-i', reference, '-c:v', encoder, ...options, '-threads', '1'];
      const encoded = ffmpeg(join(folder, 'encoded.mkv'), encoding);
      const distorted = ffmpeg(join(folder, 'distorted.y4m'), ['-i', encoded, ...frames, ...y4m]);

      const native = nativeVmaf(ffprobe, folder, model);
      const settings = { models: [`version=${model}`], compat: 'libvmaf-3.0', threads: 0 } as const;
      const report = await score({ reference, distorted }, settings);
      expect(native.frames.length).toBe(FRAMES);
      const wrong: string[] = [];
      const check = (what: string, actual: number | undefined, expected: number) => {
        if (Number(actual?.toFixed(6)) !== expected) wrong.push(`${what}: ${actual}, libvmaf ${expected}`);
      };
      for (const { frameNum, metrics } of native.frames) {
        for (const [metric, value] of Object.entries(metrics)) {
          // Later versions write `integer_motion` only for debugging.
          if (metric.startsWith('integer_motion') && !metric.startsWith('integer_motion2')) continue;
          check(`${metric} of frame ${frameNum}`, report.frames[frameNum]?.metrics[metric], value);
        }
      }
      const pooled = report.pooled_metrics.vmaf;
      const mean = pooled && 'mean' in pooled ? pooled.mean : undefined;
      check('mean vmaf', mean, native.pooled_metrics.vmaf?.mean ?? Number.NaN);
      expect(wrong).toEqual([]);
    },
  );
}
