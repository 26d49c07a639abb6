/**
 * @module test/node/native/libvmaf
 * A real native libvmaf (2.3.0) and anyvmaf see the same in video that real encoders made a moment ago: VIF and ADM
 * features, and VMAF with that generation's motion, equal to the six decimals that it prints.
 *
 * Sizes are those at which that libvmaf's x86 code equals its own portable code: below about 400 columns its AVX2 path
 * strays from it in ADM scale 3, and an output width of 4n + 1 at wavelet levels 1 to 3 makes it read beyond the row.
 * Content avoids black and white noise, where the two differ as well.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { score } from '../../../src/index.js';
import { copyFfprobe, ffmpeg, hasEncoder, nativeIsAbsent, nativeVmaf } from '../../support/native.js';

interface Trial {
  readonly name: string;
  /** lavfi source. */
  readonly source: string;
  readonly pixels: 'yuv420p' | 'yuv420p10le' | 'yuv422p' | 'yuv444p';
  readonly encoder: string;
  /** Options of the encoder, quality among them. */
  readonly options: readonly string[];
  readonly model?: string;
}

const NOISE = 'noise=alls=12:allf=t:all_seed=7';
const X264 = ['-preset', 'veryfast', '-crf'];
const X265 = ['-preset', 'ultrafast', '-x265-params', 'log-level=none', '-crf'];
const VP9 = ['-deadline', 'realtime', '-cpu-used', '8', '-b:v', '0', '-crf'];

const TRIALS: readonly Trial[] = [
  {
    name: 'a',
    source: 'testsrc2=s=512x288',
    pixels: 'yuv420p',
    encoder: 'libx264',
    options: [...X264, '23'],
  },
  {
    name: 'b',
    source: `testsrc2=s=512x288,${NOISE}`,
    pixels: 'yuv420p',
    encoder: 'libx264',
    options: [...X264, '45'],
  },
  {
    name: 'c',
    source: 'mandelbrot=s=640x360',
    pixels: 'yuv420p',
    encoder: 'libx265',
    options: [...X265, '30'],
  },
  {
    name: 'd',
    source: `mandelbrot=s=443x301,${NOISE}`,
    pixels: 'yuv420p',
    encoder: 'mpeg2video',
    options: ['-q:v', '9'],
  },
  {
    name: 'e',
    source: `testsrc2=s=507x197,${NOISE}`,
    pixels: 'yuv420p10le',
    encoder: 'libvpx-vp9',
    options: [...VP9, '40'],
  },
  {
    name: 'f',
    source: `testsrc2=s=480x270,${NOISE}`,
    pixels: 'yuv420p10le',
    encoder: 'libx265',
    options: [...X265, '38'],
  },
  {
    name: 'g',
    source:
      'life=s=128x72:mold=10:ratio=0.4:seed=3:death_color=#504030:life_color=#c0d0e0,scale=1280:720:flags=bicubic',
    pixels: 'yuv420p',
    encoder: 'libx264',
    options: [...X264, '38'],
  },
  {
    name: 'h',
    source: `gradients=s=640x480:seed=5:speed=0.05,${NOISE}`,
    pixels: 'yuv444p',
    encoder: 'libx264',
    options: [...X264, '33'],
  },
  {
    name: 'i',
    source: `cellauto=s=96x54:rule=110:seed=9,scale=960:540:flags=bilinear,${NOISE}`,
    pixels: 'yuv422p',
    encoder: 'libx264',
    options: [...X264, '40'],
  },
  {
    name: 'neg',
    source: `testsrc2=s=640x360,${NOISE}`,
    pixels: 'yuv420p',
    encoder: 'libx264',
    options: [...X264, '35'],
    model: 'vmaf_v0.6.1neg',
  },
  {
    name: '4k',
    source: `mandelbrot=s=1920x1080`,
    pixels: 'yuv420p',
    encoder: 'libx264',
    options: [...X264, '40'],
    model: 'vmaf_4k_v0.6.1',
  },
];

const FRAMES = 4;
const absent = nativeIsAbsent();

describe.skipIf(absent !== undefined)(
  `native libvmaf 2.3.0${absent === undefined ? '' : ` (${absent})`}`,
  () => {
    let home = '';
    let ffprobe = '';

    beforeAll(() => {
      home = mkdtempSync(join(tmpdir(), 'anyvmaf-native-'));
      ffprobe = copyFfprobe(home);
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    for (const trial of TRIALS) {
      const { name, source, pixels, encoder, options, model = 'vmaf_v0.6.1' } = trial;
      const title = `${source}, ${pixels}, ${encoder} ${options.at(-1)}, ${model}`;
      it.skipIf(absent !== undefined || !hasEncoder(encoder))(title, async () => {
        const folder = join(home, name);
        mkdirSync(folder);
        const frames = ['-frames:v', String(FRAMES)];
        const y4m = ['-pix_fmt', pixels, '-strict', '-1', '-f', 'yuv4mpegpipe'];
        ffmpeg(['-f', 'lavfi', '-i', source, ...frames, ...y4m, 'reference.y4m'], folder);
        ffmpeg(['-i', 'reference.y4m', '-c:v', encoder, ...options, '-threads', '1', 'encoded.mkv'], folder);
        ffmpeg(['-i', 'encoded.mkv', ...frames, ...y4m, 'distorted.y4m'], folder);

        const native = nativeVmaf(ffprobe, folder, model);
        const report = await score(
          { reference: join(folder, 'reference.y4m'), distorted: join(folder, 'distorted.y4m') },
          { models: [`version=${model}`], compat: 'libvmaf-3.0', threads: 0 },
        );
        expect(native.frames.length).toBe(FRAMES);
        const wrong: string[] = [];
        const check = (what: string, actual: number | undefined, expected: number) => {
          if (Number(actual?.toFixed(6)) !== expected) wrong.push(`${what}: ${actual}, libvmaf ${expected}`);
        };
        for (const { frameNum, metrics } of native.frames) {
          for (const [metric, value] of Object.entries(metrics)) {
            // `integer_motion` is written only for debugging by later versions.
            if (metric.startsWith('integer_motion') && !metric.startsWith('integer_motion2')) continue;
            check(`${metric} of frame ${frameNum}`, report.frames[frameNum]?.metrics[metric], value);
          }
        }
        const pooled = report.pooled_metrics.vmaf;
        const mean = pooled && 'mean' in pooled ? pooled.mean : undefined;
        check('mean vmaf', mean, native.pooled_metrics.vmaf?.mean ?? Number.NaN);
        expect(wrong).toEqual([]);
      });
    }
  },
);
