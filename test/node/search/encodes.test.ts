/**
 * @module test/node/search/encodes
 * Real encoders: one search, one ladder and one tuning of shots from source to file, what the installed ffmpeg makes of unusual
 * sources, and what a killed search leaves. Needs ffmpeg. All other tests of searches run on recorded curves, see
 * test/support/encoding-host.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BY_USER } from '../../../src/core/origin.js';
import {
  buildLadder,
  formatShots,
  type Report,
  type SearchOptions,
  score,
  searchQuality,
  type TuneShotsResult,
} from '../../../src/index.js';
import { nodeEncoding } from '../../../src/platform/node/encoding/host.js';
import { nodePlatform } from '../../../src/platform/node/platform.js';
import { decodedColour, samplesOf } from '../../../src/search/commands.js';
import { cutMaterial } from '../../../src/search/material.js';
import { scoreEncode } from '../../../src/search/probe.js';
import {
  type EncodeRequest,
  type EncodingFolder,
  inSession,
  type SourceFacts,
} from '../../../src/search/session.js';
import { anyvmaf, anyvmafProcess } from '../../support/cli.js';
import {
  canJoin,
  counters,
  encode,
  type FilmPart,
  ffmpeg,
  film,
  hasFfmpeg,
  needsFfmpeg,
  packetTimes,
  probed,
  rawFrames,
} from '../../support/encode.js';
import { privateTmp, testFolder } from '../../support/folders.js';
import { refusalOf } from '../../support/refusals.js';

const FAST = { encoder: 'libx264', encoderOptions: { preset: 'ultrafast' }, threads: 0 } as const;
/** A search with two encodes; each starts ffmpeg and ffprobe many times. */
const FEW = { ...FAST, range: { min: 24, max: 32, step: 8 }, targets: [{ atLeast: 60 }] } as const;
const COLOUR = '-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv'.split(' ');

/** Two shots of 12 and 11 frames. */
const PARTS: readonly FilmPart[] = [
  { source: 'testsrc2', frames: 12 },
  { source: 'mandelbrot', frames: 11, filter: 'noise=alls=12:all_seed=5' },
];
/** Uneven presentation times, also across cuts. */
const UNEVEN = { filter: 'setpts=(N+floor(N/3)+floor(N/7))/25/TB', extra: ['-vsync', 'vfr'] };

const joins = canJoin();

const { leftovers } = privateTmp('anyvmaf-search-');
const counting = (frames: number) => Array.from({ length: frames }, (_, i) => i);

describe.skipIf(!hasFfmpeg)(`real encoders (${needsFfmpeg})`, () => {
  const folder = testFolder();
  afterAll(() => expect(leftovers()).toEqual([]));
  const hidden = () => readdirSync(folder).filter((name) => name.startsWith('.'));
  /** A source with two audio tracks and one of subtitles. */
  const tracks = () => {
    const film = encode({ codec: 'ffv1', size: '96x64', frames: 8, source: 'mandelbrot' });
    const words = join(folder, 'words.srt');
    writeFileSync(words, '1\n00:00:00,000 --> 00:00:00,200\nWords\n');
    const tone = (pitch: number) => ['-f', 'lavfi', '-i', `sine=frequency=${pitch}:duration=0.32`];
    const inputs = ['-i', film, ...tone(440), ...tone(880), '-i', words];
    const maps = ['0:v', '1:a', '2:a', '3:s'].flatMap((track) => ['-map', track]);
    const codecs = ['-c:v', 'copy', '-c:a:0', 'aac', '-c:a:1', 'ac3', '-c:s', 'srt'];
    return ffmpeg(join(folder, 'tracks.mkv'), [...inputs, ...maps, ...codecs]);
  };

  it('are stopped when they write more than they may, into any file', async () => {
    const source = encode({ codec: 'ffv1', size: '1280x720', frames: 60, source: 'testsrc2' });
    const host = nodeEncoding(BY_USER);
    const limit = 4 << 20;
    const scratch = await host.openFolder(limit);
    try {
      const x264 = await host.encoder('libx264');
      const request: EncodeRequest = {
        ...{ input: source, isSource: true, output: 'out.mkv', encoder: x264.name, version: x264.version },
        // No accepted option can request this; it writes from the first frame on.
        args: [...'-preset veryslow -tune zerolatency -crf 51 -x264-params dump-yuv=d.yuv'.split(' ')],
        pixelFormat: 'yuv420p',
      };
      const allowed = /the files of an encode take more, but .* are allowed/;
      await expect(scratch.encode(request)).rejects.toThrow(allowed);
    } finally {
      await scratch.close();
    }
  });

  const refused = ['h264_omx', 'h264_v4l2m2m', 'libx264 -i x'];
  it.each(refused)('named %s are refused to somebody else', async (name) => {
    const host = nodeEncoding({ by: 'foreign', folders: [folder] });
    await expect(host.encoder(name)).rejects.toThrow(/is not allowed here/);
  });

  it('find a quality, write the encode with all tracks, and keep points for the next search', async () => {
    const output = join(folder, 'all tracks.mkv');
    const options = { ...FEW, cache: join(folder, 'points') };
    const seen = new Set<string>();
    const onStage: SearchOptions['onStage'] = (stage) => {
      if ('value' in stage) seen.add(`${stage.kind} ${stage.frames} of ${stage.total}`);
    };
    const found = await searchQuality(tracks(), { ...options, output, onStage });
    const { command, final, value, predicted, version, points, warnings } = found;
    // Frames as ffmpeg and the scorer count them, the last ones too.
    for (const kind of ['encoding', 'scoring']) expect(seen).toContain(`${kind} 8 of 8`);
    expect(version).toMatch(/^ffmpeg \S+, libavcodec \S+, libx264 \d+/);
    expect(final).toMatchObject({ file: output, reached: true });
    expect(warnings).toEqual([]);
    // Nothing was sampled, so the prediction is exact.
    expect(final?.pooled.vmaf?.mean).toBe(predicted.value);
    expect(points.find((point) => point.value === value)?.bytes).toBeGreaterThan(0);
    expect(await searchQuality(tracks(), options)).toMatchObject({ value, encodes: 0 });
    expect(hidden()).toEqual([]);
    const entries = 'stream=codec_name,codec_type,width,height:packet=stream_index,size,pts_time';
    const packets = () => probed(output, entries);
    const made = packets();
    expect(made).toMatch(/h264\|codec_type=video\|width=96\|height=64[\s\S]*aac[\s\S]*ac3[\s\S]*subrip/);
    rmSync(output);
    const [program = '', ...args] = command;
    execFileSync(program, ['-v', 'error', ...args], { stdio: 'pipe' });
    expect(packets()).toBe(made);
  });

  it('print a command that opens the same pictures', async () => {
    const pictures = join(folder, 'f_%03d.png');
    const made = [
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=96x64',
      '-frames:v',
      '4',
      '-start_number',
      '101',
      pictures,
    ];
    execFileSync('ffmpeg', ['-v', 'error', ...made], { stdio: 'pipe' });
    const { command } = await searchQuality(pictures, { ...FEW, cache: false });
    const [program = '', ...args] = command;
    execFileSync(program, ['-v', 'error', ...args], { cwd: folder, stdio: 'pipe' });
    expect(packetTimes(join(folder, args.at(-1) ?? ''))).toHaveLength(4);
  });

  it('keep times that are not whole frames, such as those of phones', async () => {
    const source = film({
      ...{ parts: PARTS, size: '96x64', filter: "settb=1/1000,setpts='N*33+15*sin(N*1.7)'" },
      extra: ['-vsync', 'passthrough', '-enc_time_base', '1:1000'],
    });
    const output = join(folder, 'phone.mkv');
    await searchQuality(source, { ...FEW, cache: false, output });
    expect(packetTimes(output)).toEqual(packetTimes(source));
  });

  it('are scored in the colour of their source, although a cut and an encode state less', async () => {
    // A cut would be taken for BT.601 in SDR with chroma in the middle.
    const extra = [...COLOUR, '-chroma_sample_location', 'left'];
    const mandelbrot = { codec: 'ffv1', size: '96x64', frames: 6, source: 'mandelbrot' } as const;
    const source = encode({ ...mandelbrot, pixelFormat: 'yuv420p10le', extra });
    const features = ['butteraugli', 'cvvdp=display=standard_hdr_pq'];
    await inSession(nodePlatform, source, { features, threads: 0, cache: false }, async (session) => {
      const { folder: scratch, facts, signal } = session;
      const frames = { first: 0, count: facts.times.length };
      const cut = cutMaterial(session, [{ scored: frames, encoded: frames }], 'cut.y4m');
      const path = await cut.open();
      const bare = {
        ...{ input: path, isSource: false, encoder: 'libx264', version: '5.1.9', pixelFormat: 'yuv420p10le' },
        ...{ args: ['-crf', '30'], output: 'bare.mkv', signal },
      };
      await scratch.encode(bare);
      await scratch.encode({ ...bare, input: source, isSource: true, output: 'stated.mkv' });
      const valuesOf = ({ frames }: Pick<Report, 'frames'>) => frames.map(({ metrics }) => metrics);
      const scored = valuesOf(await scoreEncode(session, path, scratch.path('bare.mkv')));
      const options = { features, threads: 0, preflight: false };
      const whole = await score({ reference: source, distorted: scratch.path('stated.mkv') }, options);
      expect(whole.distorted.colour).toMatchObject({ matrix: 'bt2020', transfer: 'pq' });
      expect(scored).toEqual(valuesOf(whole));
    });
    // The default display is not for PQ.
    const targets = [{ metric: 'cvvdp', atLeast: 5 }];
    const wrong = () => searchQuality(source, { ...FEW, targets, cache: false });
    const sentence = await refusalOf('feature', wrong);
    expect(sentence).toMatch(/display standard_\w+ shows SDR but .* is PQ; .*standard_hdr_pq/);
  });

  it('say at the start that a container cannot hold the source', async () => {
    const stages: string[] = [];
    const onStage = ({ kind }: { kind: string }) => stages.push(kind);
    const options = { ...FEW, cache: false, onStage, output: join(folder, 'tracks.mp4') } as const;
    const sentence = await refusalOf('usage', () => searchQuality(tracks(), options));
    const message = /cannot hold one of its tracks: .*subrip.*; write to a name that ends in \.mkv\./;
    expect(sentence).toMatch(message);
    expect(stages).toEqual(['reading']);
  });

  it('build a ladder whose command encodes every rung for DASH and HLS', async () => {
    // Segments of four seconds have eight frames.
    const source = encode({ codec: 'ffv1', size: '96x64', frames: 12, rate: 2, source: 'mandelbrot' });
    const { curves, rungs, command } = await buildLadder(source, {
      ...FAST,
      ...{ sizes: [64, { width: 48, height: 32 }], range: { min: 14, max: 38, step: 24 } },
      ...{ rungs: 2, between: { min: 1, max: 100 }, cache: false },
    });
    expect(rungs).toHaveLength(2);
    const [large, small] = curves.map((curve) => curve.points[0]);
    expect(small?.kbps).toBeLessThan(large?.kbps ?? 0);
    // Smaller pictures are scored at the size of the source.
    expect(small?.quality).toBeLessThan(large?.quality ?? 0);
    const [program = '', ...args] = command;
    execFileSync(program, ['-v', 'error', ...args], { cwd: folder, stdio: 'pipe' });
    const manifest = readFileSync(join(folder, 'ladder.mpd'), 'utf8');
    for (const { width, height } of rungs) expect(manifest).toContain(`width="${width}" height="${height}"`);
    expect(manifest.match(/<Representation /g)).toHaveLength(rungs.length);
    // The files have the promised sizes, with the key frames of segments.
    for (const [i, { bytes }] of rungs.entries()) {
      const parts = [`init-stream${i}.m4s`, `chunk-stream${i}-00001.m4s`, `chunk-stream${i}-00002.m4s`];
      const whole = join(folder, `rung-${i}.mp4`);
      writeFileSync(whole, Buffer.concat(parts.map((name) => readFileSync(join(folder, name)))));
      const packets = [...probed(whole, 'packet=size').matchAll(/size=(\d+)/g)];
      const delivered = packets.reduce((sum, [, size]) => sum + Number(size), 0);
      expect(packets).toHaveLength(12);
      expect(Math.abs(bytes / delivered - 1)).toBeLessThan(0.02);
    }
    const master = join(folder, 'master.m3u8');
    const measured = await anyvmaf(['ladder', '--master', master]);
    expect(measured.code, measured.stderr).toBe(0);
    const declared = [...readFileSync(master, 'utf8').matchAll(/BANDWIDTH=(\d+),AVERAGE-BANDWIDTH=(\d+)/g)];
    expect(declared).toHaveLength(rungs.length);
    for (const [i, [, peak, average]] of declared.entries()) {
      const bits = (n: number) => statSync(join(folder, `chunk-stream${i}-0000${n}.m4s`)).size * 8;
      const [first, second] = [bits(1), bits(2)];
      expect(Number(peak)).toBe(Math.ceil(Math.max(first / 4, second / 2, (first + second) / 6)));
      expect(Number(average)).toBe(Math.ceil((first + second) / 6));
    }
  });

  describe.skipIf(!joins)('with shots', () => {
    const request = {
      ...{ parts: PARTS, size: '96x64', counted: true, pixelFormat: 'yuv420p10le' },
      ...{ filter: `${UNEVEN.filter},setsar=4/3`, inputs: ['-f', 'lavfi', '-i', 'sine=duration=1.28'] },
      extra: ['-map', '0:a', '-c:a', 'aac', ...COLOUR, ...UNEVEN.extra],
    };
    let output = '';
    let wanted: readonly number[] = [];
    let tuned: TuneShotsResult;
    beforeAll(async () => {
      output = join(folder, 'joined.mp4');
      const source = film(request);
      wanted = packetTimes(source);
      expect(new Set(wanted.map((time, i) => time - (wanted[i - 1] ?? 0))).size).toBeGreaterThan(2);
      // One value for each shot; recorded curves test how it is found.
      const args = ['--encoder', 'libx264', '--encoder-arg', 'preset=ultrafast', '--encoder-arg', 'bf=2'];
      const limits = ['--min-length', '0.2', '--values', '34..34', '--target', '10', '--cache', 'none'];
      const made = await anyvmaf(['shots', source, ...args, ...limits, '--encode', output, '--json']);
      expect(made.code, made.stderr).toBe(0);
      tuned = JSON.parse(made.stdout);
    });

    it('are tuned one by one and joined frame by frame, as they were scored', () => {
      expect(tuned.shots.map(({ first, count }) => [first, count])).toEqual([
        [0, 12],
        [12, 11],
      ]);
      expect(counters(output)).toEqual(counting(23));
      expect(packetTimes(output)).toEqual(wanted);
      expect(tuned.final?.difference).toEqual({ within: 0, edges: 0 });
      expect(tuned.final?.pooled.vmaf?.mean).toBeCloseTo(tuned.pooled.vmaf?.mean ?? Number.NaN, 9);
      const colour = 'color_space,color_transfer,color_primaries,sample_aspect_ratio';
      const facts = probed(output, `stream=codec_name,pix_fmt,${colour}`);
      for (const fact of ['h264', 'aac', 'yuv420p10le', 'bt2020', 'smpte2084', 'bt2020nc', '4:3'])
        expect(facts).toContain(fact);
      expect(hidden()).toEqual([]);
    });

    it('are made by a script that needs only ffmpeg', async () => {
      const script = join(folder, 'make.sh');
      writeFileSync(script, await formatShots(tuned, 'shell'));
      const scripted = join(folder, 'by script.mkv');
      execFileSync('sh', [script, scripted], { stdio: 'pipe' });
      expect(counters(scripted)).toEqual(counting(23));
      expect(probed(scripted, 'stream=codec_name')).toMatch(/h264[\s\S]*aac/);
      // Rate control depends on times, so shots are measured with those that the script gives them.
      const report = await score({ reference: film(request), distorted: scripted }, { threads: 0 });
      expect(report.pooled_metrics.vmaf?.mean).toBeCloseTo(tuned.final?.pooled.vmaf?.mean ?? Number.NaN, 9);
    });

    it('are cut and in time by a script too, where frames are dense at the cut and the video begins late', async () => {
      const source = film({
        ...{ parts: PARTS, size: '96x64', counted: true },
        filter: 'setpts=(0.5+if(lt(N\\,10)\\,N*0.2\\,1.8+(N-9)*0.04))/TB',
        inputs: ['-f', 'lavfi', '-i', 'sine=duration=2.9'],
        extra: ['-map', '0:a', '-c:a', 'ac3', ...UNEVEN.extra],
      });
      const script = join(folder, 'dense.sh');
      const args = ['--encoder', 'libx264', '--encoder-arg', 'preset=ultrafast', '--cache', 'none'];
      const limits = ['--min-length', '0.2', '--values', '34..34', '--target', '1'];
      const made = await anyvmaf(['shots', source, ...args, ...limits, '-o', script]);
      expect(made.code, made.stderr).toBe(0);
      const scripted = join(folder, 'dense.mkv');
      execFileSync('sh', [script, scripted], { stdio: 'pipe' });
      expect(counters(scripted)).toEqual(counting(23));
      const late = (path: string) => {
        const starts = probed(path, 'stream=codec_type,start_time');
        const start = (kind: string) =>
          Number(new RegExp(`codec_type=${kind}\\|start_time=([\\d.]+)`).exec(starts)?.[1]);
        return start('video') - start('audio');
      };
      expect(late(source)).toBeGreaterThan(0.4);
      expect(late(scripted)).toBeCloseTo(late(source), 2);
    });
  });

  it('may be killed: the next search removes their files', async () => {
    const tmp = mkdtempSync(join(folder, 'tmp-'));
    const source = encode({ codec: 'ffv1', size: '96x64', frames: 8, source: 'mandelbrot' });
    const args = ['search', source, '--encoder', 'libx264', '--cache', 'none', '-q'];
    const env = { TMPDIR: tmp };
    const { code } = await anyvmafProcess([...args, '--encoder-arg', 'preset=veryslow'], {
      env,
      meanwhile: async (child) => {
        const made = () => readdirSync(tmp).some((name) => name.startsWith('anyvmaf-search-'));
        while (!made() && child.exitCode === null) await sleep(5);
        child.kill('SIGKILL');
      },
    });
    expect(code).toBeNull();
    const next = await anyvmaf([...args, '--values', '30..30', '--target', '1'], { env });
    expect(next).toMatchObject({ code: 0 });
    expect(readdirSync(tmp)).toEqual([]);
    expect(execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })).not.toContain(tmp);
  });
});

describe.skipIf(!hasFfmpeg)(`the installed ffmpeg as an encoding host (${needsFfmpeg})`, () => {
  const host = nodeEncoding(BY_USER);
  const folder = testFolder();
  let scratch: EncodingFolder;
  beforeAll(async () => {
    scratch = await host.openFolder(1e8);
  });
  afterAll(async () => {
    await scratch.close();
    expect(leftovers()).toEqual([]);
  });

  /** A source of a few frames, which is made once. */
  const make = (name: string, args: readonly string[], graph = 'testsrc2=s=96x64:r=25') =>
    ffmpeg(join(folder, name), ['-f', 'lavfi', '-i', graph, '-frames:v', '6', ...args]);
  const request = (input: string, output: string, other: Partial<EncodeRequest> = {}): EncodeRequest => ({
    ...{ input, isSource: true, encoder: 'libx264', version: '5.1.9', output, pixelFormat: 'yuv420p' },
    args: ['-crf', '24', '-preset', 'ultrafast'],
    ...other,
  });
  /** Encodes a whole source into a file of the user. */
  const whole = async (source: string, name: string, other: Partial<EncodeRequest> = {}) => {
    const output = join(folder, name);
    await scratch.encode(request(source, output, { whole: true, ...other }));
    return output;
  };
  const lossless = ['-c:v', 'ffv1'];
  const EXACT_X264 = ['-qp', '0', '-preset', 'ultrafast'];

  it('knows an encoder, its options and formats, and suggests another for an unknown one', async () => {
    const { options, pixelFormats, version } = await host.encoder('libx264');
    expect([options.get('crf'), options.get('preset')]).toEqual(['float', 'string']);
    expect(pixelFormats).toContain('yuv420p10le');
    expect(version).toMatch(/^ffmpeg \S+, libavcodec \S+, libx264 \d+/);
    const unknown = await refusalOf('usage', () => host.encoder('libx265x'));
    expect(unknown).toMatch(/no video encoder "libx265x".*did you mean libx265/);
    await expect(host.encoder('a b; rm')).rejects.toThrow(/no video encoder/);
  });

  it('encodes odd sizes where the encoder can, and otherwise quotes its refusal', async () => {
    const graph = 'mandelbrot=s=97x65:r=25';
    const full = make('odd444.mkv', ['-pix_fmt', 'yuv444p', ...lossless], graph);
    const odd = await whole(full, 'odd.mp4', { pixelFormat: 'yuv444p' });
    expect(probed(odd, 'stream=width,height,pix_fmt')).toContain('width=97|height=65|pix_fmt=yuv444p');
    const half = make('odd420.mkv', ['-pix_fmt', 'yuv420p', ...lossless], graph);
    const sentence = await refusalOf('media', () => whole(half, 'half.mkv'));
    expect(sentence).toMatch(/libx264 could not encode .*odd420\.mkv.*divisible by 2/);
    expect(readdirSync(folder).filter((name) => name.startsWith('.') || name === 'half.mkv')).toEqual([]);
  });

  it('reads the facts of a source: frames, uneven times, and what it cannot encode', async () => {
    const late = "setpts='(N+gt(N,3))/25/TB'";
    const source = make('uneven.mkv', ['-vf', late, '-vsync', 'vfr', ...lossless, '-g', '3']);
    const facts = await host.source(source);
    const wanted = [0, 40, 80, 120, 200, 240];
    expect([...facts.times].map((time) => Math.round(time * 1000))).toEqual(wanted);
    expect(facts.sizes.every((size) => size > 0)).toBe(true);
    expect(packetTimes(await whole(source, 'uneven-out.mkv'))).toEqual(wanted);
    const coarse = make('410.mkv', ['-c:v', 'ffv1', '-pix_fmt', 'yuv410p']);
    await expect(host.source(coarse)).rejects.toThrow(/yuv410p, which is not .*convert/);
    const pipe = join(folder, 'pipe.mkv');
    execFileSync('mkfifo', [pipe]);
    await expect(host.source(pipe)).rejects.toThrow(/is a pipe/);
  });

  it('makes BT.709 of RGB, as decoding for scores does, and labels it, in samples and whole encodes', async () => {
    const source = make('rgb.mkv', ['-c:v', 'ffv1', '-pix_fmt', 'gbrp']);
    const facts = await host.source(source);
    expect(samplesOf(facts)).toBe('rgb');
    const exact = { samples: 'rgb', pixelFormat: 'yuv444p', args: EXACT_X264 } as const;
    const made = await whole(source, 'rgb-out.mkv', exact);
    const small = await whole(source, 'rgb-small.mkv', { samples: 'rgb', size: { width: 48, height: 32 } });
    expect(probed(small, 'stream=width,color_space')).toContain('width=48|color_space=bt709');
    await scratch.cut(source, facts, [{ first: 0, count: facts.times.length }], 'rgb.y4m');
    const cut = request(scratch.path('rgb.y4m'), 'rgb.mkv', { isSource: false, pixelFormat: 'yuv444p' });
    await scratch.encode({ ...cut, args: EXACT_X264, colour: decodedColour(facts) });
    for (const encode of [made, scratch.path('rgb.mkv')]) {
      expect(probed(encode, 'stream=color_space,color_range')).toContain('color_range=tv|color_space=bt709');
    }
    expect(rawFrames(made).equals(rawFrames(scratch.path('rgb.mkv')))).toBe(true);
    const same = { reference: source, distorted: made };
    const report = await score(same, { threads: 0, features: ['psnr'], preflight: false });
    expect(report.pooled_metrics.psnr_y).toMatchObject({ min: 60 });
    expect(report.pairing?.reference.conversions[0]).toContain('by the matrix BT.709');
  });

  it('keeps full range in samples and whole encodes', async () => {
    const args = '-vf scale=out_range=full -color_range pc -c:v libx264 -bf 2 -qp 6'.split(' ');
    const source = make('full.mp4', args);
    const full = await whole(source, 'full-out.mkv', { samples: 'full' });
    expect(probed(full, 'stream=color_range')).toContain('=pc');
    const facts = await host.source(source);
    const runs = [
      { first: 4, count: 2 },
      { first: 0, count: 2 },
    ];
    await scratch.cut(source, facts, runs, 'cut.y4m');
    const header = /^YUV4MPEG2 [^\n]* XCOLORRANGE=FULL\nFRAME\n/;
    expect(readFileSync(scratch.path('cut.y4m'), 'latin1')).toMatch(header);
    // Frame by frame, although the source predicts from later frames.
    const [size, head] = [(96 * 64 * 3) / 2, 'FRAME\n'.length];
    const shown = rawFrames(source);
    const stored = readFileSync(scratch.path('cut.y4m')).subarray(-4 * (size + head));
    for (const [i, frame] of [4, 5, 0, 1].entries()) {
      const at = i * (size + head) + head;
      const wanted = shown.subarray(frame * size, (frame + 1) * size);
      expect(stored.subarray(at, at + size).equals(wanted)).toBe(true);
    }
    const labelled = { isSource: false, samples: 'full', colour: facts.track } as const;
    const cut = request(scratch.path('cut.y4m'), 'cut.mkv', labelled);
    const { sizes, seconds } = await scratch.encode({ ...cut, keys: [0, 2], frames: { first: 1, count: 3 } });
    expect([sizes.length, seconds > 0]).toEqual([3, true]);
    expect(probed(scratch.path('cut.mkv'), 'stream=color_range')).toContain('=pc');
    await scratch.remove('cut.mkv');
    expect(existsSync(scratch.path('cut.mkv'))).toBe(false);
  });

  it.each(['gamma22', 'gamma28'])('keeps the transfer %s in samples', async (transfer) => {
    const tags = ['-color_primaries', 'bt470bg', '-color_trc', transfer, '-colorspace', 'bt470bg'];
    const source = make(`${transfer}.mkv`, [...lossless, ...tags]);
    const facts = await host.source(source);
    expect(facts.track.transfer).toMatch(/^bt470/);
    const [cut, out] = [`${transfer}.y4m`, `${transfer}-out.mkv`];
    await scratch.cut(source, facts, [{ first: 0, count: 6 }], cut);
    const colour = decodedColour(facts);
    await scratch.encode(request(scratch.path(cut), out, { isSource: false, colour }));
    expect(probed(scratch.path(out), 'stream=color_transfer')).toContain(facts.track.transfer);
  });

  it('fails where files exceed the allowed space, or the encoder refuses', async () => {
    const source = make('noise.mkv', lossless, 'nullsrc=s=96x64:r=25,noise=alls=90:allf=t');
    const facts = await host.source(source);
    const small = await host.openFolder(70_000);
    const best = request(source, 'best.mkv', { args: ['-crf', '0'] });
    expect(await refusalOf('io', () => small.encode(best))).toMatch(/temporary files/);
    expect(readdirSync(small.root)).toEqual([]);
    const cut = small.cut(source, facts, [{ first: 0, count: 9 }], 'a.y4m');
    expect(await refusalOf('io', () => cut)).toMatch(/temporary files/);
    await small.close();
    expect(existsSync(small.root)).toBe(false);
    const nonesuch = scratch.encode(request(source, 'x.mkv', { args: ['-preset', 'nonesuch'] }));
    const message = expect.stringMatching(/could not encode/);
    await expect(nonesuch).rejects.toMatchObject({ code: 'media', message });
    const stop = new AbortController();
    const stopped = scratch.encode(request(source, 'y.mkv', { signal: stop.signal }));
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('leaves no file where the disk is full, whatever the exit code of ffmpeg', async () => {
    const source = make('named.mkv', lossless);
    const wrapper = join(folder, 'full-disk');
    // Files end after 4 KiB, and that ends the program with success.
    const limit = 'case "$*" in *.tmp*) trap "" XFSZ; ulimit -f 8;; esac';
    writeFileSync(wrapper, `#!/bin/sh\n${limit}\nffmpeg "$@"\nexit 0\n`, { mode: 0o755 });
    vi.stubEnv('ANYVMAF_FFMPEG', wrapper);
    try {
      const sentence = await refusalOf('io', () => whole(source, 'full.mkv', { args: ['-crf', '1'] }));
      expect(sentence).toMatch(/full\.mkv cannot be written: file too large/);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('.') || name === 'full.mkv')).toEqual([]);
  });

  it('refuses its source and unwritable places as outputs, and writes a bare name into its folder', async () => {
    const source = make('named.mkv', lossless);
    const copy = join(folder, 'copy.mkv');
    copyFileSync(source, copy);
    await expect(whole(copy, 'copy.mkv')).rejects.toThrow('is the source');
    for (const name of [copy, pathToFileURL(copy).href])
      await expect(scratch.checkOutput(name, copy)).rejects.toThrow('is the source');
    expect(readFileSync(copy).equals(readFileSync(source))).toBe(true);
    await expect(scratch.checkOutput(source, '/nonexistent/x.txt')).rejects.toThrow(/must end in \.mp4/);
    const unwritten = await refusalOf('io', () => scratch.checkOutput(source, '/nonexistent/x.mkv'));
    expect(unwritten).toMatch(/cannot write \/nonexistent\/x\.mkv: /);
    const here = process.cwd();
    process.chdir(folder);
    try {
      await scratch.encode(request(source, 'bare.mkv', { whole: true }));
      expect(existsSync(join(folder, 'bare.mkv'))).toBe(true);
    } finally {
      process.chdir(here);
    }
  });

  it.skipIf(!joins)('leaves no file where joined segments fail a check or lack frames', async () => {
    const source = make('joined.mkv', lossless);
    const facts: SourceFacts = await host.source(source);
    const segments = [
      { name: 's1.mkv', frames: { first: 0, count: 2 } },
      { name: 's2.mkv', frames: { first: 2, count: 4 } },
    ];
    for (const { name, frames } of segments) await scratch.encode(request(source, name, { frames }));
    const output = join(folder, 'whole.mkv');
    const task = { segments, source, facts, output };
    const refusing = scratch.join({ ...task, check: () => Promise.reject(new Error('another picture')) });
    await expect(refusing).rejects.toThrow('another picture');
    const short = scratch.join({ ...task, segments: segments.slice(0, 1), check: async () => {} });
    await expect(short).rejects.toMatchObject({ code: 'media' });
    expect(readdirSync(folder).filter((name) => name.startsWith('.') || name === 'whole.mkv')).toEqual([]);
  });
});
