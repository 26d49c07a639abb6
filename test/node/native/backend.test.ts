/**
 * @module test/node/native/backend
 * The backend native-cpu on a real libvmaf (2.3.0, within ffprobe): encoded video scored through our decoders and pairing
 * has our numbers, to the six decimals it prints, and hostile names pass all levels of ffmpeg's escaping.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { escapeOption } from '../../../src/engine/backends/native/ffmpeg-command.js';
import { describeNative, probeBackend, score } from '../../../src/index.js';
import { copyFfprobe, ffmpeg, nativeIsAbsent } from '../../support/native.js';

const absent = nativeIsAbsent();
const MODEL = new URL('../../../model/vmaf_v0.6.1.json', import.meta.url);

describe.skipIf(absent !== undefined)(`native-cpu${absent === undefined ? '' : ` (${absent})`}`, () => {
  let home = '';
  let vmafBin = '';
  let request = { reference: '', distorted: '' };

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'anyvmaf-backend-'));
    vmafBin = copyFfprobe(home);
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=512x288', '-frames:v', '6'];
    const x264 = ['-c:v', 'libx264', '-threads', '1', '-preset', 'veryfast', '-crf'];
    ffmpeg([...source, ...x264, '10', 'reference.mkv'], home);
    ffmpeg(['-i', 'reference.mkv', ...x264, '40', '-vf', 'scale=256:144', 'distorted.mkv'], home);
    request = { reference: join(home, 'reference.mkv'), distorted: join(home, 'distorted.mkv') };
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('is found, described and healthy', async () => {
    const found = await describeNative({ vmafBin });
    expect(found).toMatchObject({ binary_path: vmafBin, flavour: 'ffprobe', error: null });
    const health = await probeBackend('native-cpu', { vmafBin });
    // What libvmaf gives a grey frame.
    expect(health).toMatchObject({ runtime_healthy: true, score: 97.428043 });
  });

  it('has the numbers of the own core, for decoded, scaled and paired video', async () => {
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
    const native = await score(request, {
      models: [`path=${file}:name=${name}`],
      frameCount: 2,
      backend: 'native-cpu',
      vmafBin,
    });
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
      execFileSync(vmafBin, ['-v', 'error', '-f', 'lavfi', '-i', graph, '-count_frames'], {
        stdio: 'ignore',
      });
      expect(JSON.parse(readFileSync(log, 'utf8')).frames, name).toHaveLength(1);
    }
  });

  it('says what its filter cannot do', async () => {
    const options = { backend: 'native-cpu', vmafBin } as const;
    await expect(score(request, { ...options, noPrediction: true })).rejects.toThrow(/always predicts/);
    await expect(score(request, { ...options, features: ['nonsense'] })).rejects.toThrow(/ended with status/);
    await expect(score(request, { ...options, backend: 'cuda' })).rejects.toThrow(/cuda is not here/);
  });
});
