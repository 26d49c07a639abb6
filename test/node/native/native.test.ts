/**
 * @module test/node/native/native
 * Native ffmpeg and libvmaf as a backend.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { escapeOption } from '../../../src/engine/backends/native/command.js';
import { describeNative, probeBackend, score } from '../../../src/index.js';
import { ffmpeg } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { copyFfprobe, nativeIsAbsent } from '../../support/programs.js';

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
