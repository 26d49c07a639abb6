/**
 * @module test/node/platform/ffmpeg
 * Behaviour of an installed ffmpeg alone: layouts, facts, file names, invalid input, its processes (src/platform/node/ffmpeg),
 * and what it may open because of an input, by the input's origin.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BY_USER } from '../../../src/core/origin.js';
import type { DecodedSource, DecodeRequest } from '../../../src/media/decoder.js';
import { delivery } from '../../../src/media/delivery.js';
import { parseProbe } from '../../../src/media/facts.js';
import {
  accessOf,
  decodeArgs,
  findDenial,
  inputArgs,
  probeArgs,
} from '../../../src/platform/ffmpeg/commands.js';
import { nodeMediabunnyDecoder, nodeWasmDecoder } from '../../../src/platform/node/decoders.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { built } from '../../support/built.js';
import { ffmpegHashes, hashFrames, hashPlanes } from '../../support/decoded.js';
import { encode, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../../support/encode.js';
import { testFolder } from '../../support/folders.js';
import { planesFor } from '../../support/media.js';
import { pathOfInstalled } from '../../support/quick-starts.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

const decoder = createFfmpegDecoder();
const folder = testFolder('ffmpeg');
const file = (name: string): string => join(folder, name);

afterEach(() => {
  vi.unstubAllEnvs();
});

const open = async (path: string, request: DecodeRequest = {}): Promise<DecodedSource> =>
  decoder.open(path, await decoder.probe(path), request);

/** Makes a file of one of ffmpeg's sources. @param args a command line without spaces within its words */
const made = (name: string, source: string, args: string): string =>
  ffmpeg(file(name), ['-f', 'lavfi', '-i', source, ...args.split(' ')]);

/** Processes take time to end on a busy machine. */
const SOON = { timeout: 10_000 };

/** Ids of running ffmpeg processes that this one has started. */
function children(): number[] {
  const args = ['-o', 'pid=,stat=,comm=', '--ppid', String(process.pid)];
  const lines = spawnSync('ps', args, { encoding: 'utf8' }).stdout.trim().split('\n');
  return lines.flatMap((line) => {
    const [pid, state, command] = line.trim().split(/\s+/);
    return /^ff(mpeg|probe)$/.test(command ?? '') && !state?.startsWith('Z') ? [Number(pid)] : [];
  });
}

describe.runIf(hasFfmpeg)(`frames of ffmpeg (${needsFfmpeg})`, () => {
  const layouts: readonly (readonly [stored: string, planar: string, chroma: string, bitDepth: number])[] = [
    ['nv12', 'yuv420p', '420', 8],
    ['yuv422p10be', 'yuv422p10le', '422', 10],
    ['gray10le', 'gray10le', '400', 10],
    ['uyvy422', 'yuv422p', '422', 8],
    ['yuva444p10le', 'yuv444p10le', '444', 10],
  ];
  it.each(tier(layouts.slice(0, 3), layouts))(
    'keep their samples when %s becomes %s',
    async (stored, planar, chroma, bitDepth) => {
      const noise = "geq=lum='mod(X*7+Y*13+N*5,200)+16':cb='mod(X*3+Y+N,100)+60':cr='mod(X+Y*5,90)+70'";
      const pictures = `nullsrc=size=64x48:rate=25,format=${planar},${noise}`;
      const path = made(`${stored}.nut`, pictures, `-frames:v 3 -pix_fmt ${stored} -c:v rawvideo`);
      const source = await open(path);
      expect(source.facts).toMatchObject({ pixelFormat: stored, chroma, bitDepth });
      const wanted = ffmpegHashes(path, ['-pix_fmt', planar]);
      expect(wanted).toHaveLength(3);
      expect(new Set(wanted).size).toBe(3);
      expect(await hashFrames(source)).toEqual(wanted);
    },
  );

  it('repeat the chroma samples of 4:1:1 and 4:4:0, as the source tells', async () => {
    for (const [stored, chroma, width] of [
      ['yuv411p', '422', 16],
      ['yuv440p', '444', 64],
    ] as const) {
      const args = `-frames:v 1 -pix_fmt ${stored} -c:v rawvideo`;
      const path = made(`${stored}.nut`, 'testsrc2=size=64x48', args);
      const raw = rawFrames(path);
      const source = await open(path);
      expect(source.info.chroma).toBe(chroma);
      expect(source.decodedBy).toContain('repeated');
      const planes = planesFor(source.info);
      expect(await source.readFrame(0, planes)).toBe(true);
      await source.close();
      expect(Buffer.from(planes.y).equals(raw.subarray(0, 64 * 48))).toBe(true);
      const cb = raw.subarray(64 * 48);
      const across = chroma === '422' ? 32 : 64;
      const repeatX = across / width;
      const repeatY = chroma === '422' ? 1 : 2;
      const repeated = Uint8Array.from({ length: across * 48 }, (_, i) => {
        const [x, y] = [i % across, Math.floor(i / across)];
        return cb[Math.floor(y / repeatY) * width + Math.floor(x / repeatX)] ?? 0;
      });
      expect(planes.cb).toEqual(repeated);
    }
  });

  it('come with chroma rounded down at odd sizes', async () => {
    const path = encode({ codec: 'ffv1', size: '35x33', frames: 3, source: 'mandelbrot' });
    const raw = rawFrames(path);
    const source = await open(path);
    const planes = planesFor(source.info);
    expect([planes.y.length, planes.cb?.length]).toEqual([35 * 33, 17 * 16]);
    for (let n = 0; n < 3; n++) {
      expect(await source.readFrame(n, planes)).toBe(true);
      const frame = raw.subarray(n * (35 * 33 + 2 * 18 * 17));
      expect(Buffer.from(planes.y).equals(frame.subarray(0, 35 * 33))).toBe(true);
      const cr = Array.from({ length: 16 }, (_, row) =>
        frame.subarray(35 * 33 + 18 * 17 + row * 18).subarray(0, 17),
      );
      expect(Buffer.concat(cr).equals(Buffer.from(planes.cr ?? []))).toBe(true);
    }
    expect(await source.readFrame(3, planes)).toBe(false);
    await source.close();
  });

  it('may be read as luma only and skipped, but never twice', async () => {
    const path = encode({ codec: 'h264' });
    const source = await open(path);
    const wanted = rawFrames(path);
    const y = new Uint8Array(320 * 240);
    for (const index of [3, 4, 11]) {
      expect(await source.readFrame(index, { y })).toBe(true);
      expect(Buffer.from(y).equals(wanted.subarray(index * 115200).subarray(0, y.length))).toBe(true);
      expect(source.timestamp(index)).toBeCloseTo(index / 25, 9);
    }
    await expect((async () => source.readFrame(11, { y }))()).rejects.toThrow(/was requested after frame 11/);
    expect(await source.readFrame(30, { y })).toBe(false);
    expect(await source.readFrame(31, { y })).toBe(false);
    await source.close();
    await source.close();
  });

  it('are rotated in 4:2:2 by repeating chroma', async () => {
    const camera = encode({ codec: 'prores', pixelFormat: 'yuv422p10le', frames: 2 });
    const turned = ffmpeg(file('turned.mov'), ['-i', camera, '-c', 'copy', '-metadata:s:v', 'rotate=90']);
    const source = await open(turned);
    expect(source.info).toMatchObject({ width: 240, height: 320, chroma: '444', bitDepth: 10 });
    const stated = '(prores, turned by 270 degrees, chroma samples of 4:2:2 repeated, as 4:4:4)';
    expect(source.decodedBy).toContain(stated);
    const repeat = 'scale=flags=neighbor,format=yuv444p10le,transpose=cclock';
    expect(await hashFrames(source)).toEqual(ffmpegHashes(camera, ['-vf', repeat]));
  });

  it('are mirrored in 4:2:2 as ffmpeg does it', async () => {
    const camera = encode({ codec: 'prores', pixelFormat: 'yuv422p10le', frames: 2 });
    const bytes = readFileSync(camera);
    const at = bytes.lastIndexOf('tkhd') + 44;
    for (const [place, value] of [0, 1, 0, 1, 0].map((value, i) => [4 * i, value] as const))
      bytes.writeInt32BE(value * 65536, at + place);
    writeFileSync(file('mirrored.mov'), bytes);
    const repeat = 'scale=flags=neighbor,format=yuv444p10le,transpose=cclock_flip';
    expect(await hashFrames(await open(file('mirrored.mov')))).toEqual(ffmpegHashes(camera, ['-vf', repeat]));
  });

  it('are rotated as their bitstream states', async () => {
    const upright = encode({ codec: 'h264', frames: 1 });
    const orientation = 'h264_metadata=display_orientation=insert:rotate=90';
    const turned = ffmpeg(file('orientation.mp4'), ['-i', upright, '-c', 'copy', '-bsf:v', orientation]);
    const source = await open(turned);
    expect(source.info).toMatchObject({ width: 240, height: 320 });
    expect(await hashFrames(source)).toEqual(ffmpegHashes(turned));
  });
});

describe.runIf(hasFfmpeg)(`facts of ffprobe (${needsFfmpeg})`, () => {
  it('equal the options of the encoder', async () => {
    const colours = '-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 -color_range tv';
    const extra = [...colours.split(' '), '-aspect', '16:9'];
    const video = { pixelFormat: 'yuv420p10le', frames: 12, rate: '30000/1001' };
    const path = encode({ codec: 'hevc', ...video, extra });
    expect(await decoder.probe(path)).toMatchObject({
      name: path,
      container: 'mov,mp4,m4a,3gp,3g2,mj2',
      codec: 'hevc',
      profile: 'Main 10',
      pixelFormat: 'yuv420p10le',
      width: 320,
      height: 240,
      frameRate: { num: 30000, den: 1001 },
      frameCount: 12,
      rotation: 0,
      colorRange: 'limited',
      primaries: 'bt2020',
      transfer: 'smpte2084',
      matrix: 'bt2020nc',
      sampleAspect: { num: 4, den: 3 },
      fieldOrder: 'progressive',
      fileSize: readFileSync(path).length,
    });
  });

  it('tell interlaced video and its first field', async () => {
    const interlaced = (order: string) => {
      const flags = ['-flags', '+ilme+ildct', '-top', order === 'tff' ? '1' : '0'];
      return encode({ codec: 'mpeg2', size: '320x256', extra: ['-vf', `setfield=${order}`, ...flags] });
    };
    expect((await decoder.probe(interlaced('tff'))).fieldOrder).toBe('top-first');
    expect((await decoder.probe(interlaced('bff'))).fieldOrder).toBe('bottom-first');
  });

  it('skip a cover picture', async () => {
    const picture = made('cover.jpg', 'color=red:size=64x64', '-frames:v 1');
    const inputs = ['-i', picture, '-i', encode({ codec: 'h264' }), '-map', '0', '-map', '1'];
    const path = ffmpeg(file('cover.mp4'), [...inputs, '-c', 'copy', '-disposition:v:0', 'attached_pic']);
    expect(await decoder.probe(path)).toMatchObject({ codec: 'h264', width: 320 });
    expect(await hashFrames(await open(path))).toHaveLength(30);
  });

  it('include times in presentation order, from 0, without decoding, for frames of varying duration', async () => {
    const select = "-vf select='not(eq(mod(n,5),3))' -fps_mode vfr -frames:v 8 -c:v libx264";
    const varied = made('varied.mkv', 'testsrc2=size=64x48:rate=25', select);
    const times = [0, 0.04, 0.08, 0.16, 0.2, 0.24, 0.28, 0.36];
    const found = Array.from((await decoder.timestamps(varied))?.times ?? []);
    expect(found).toEqual(times.map((t) => expect.closeTo(t, 3)));
    const source = await open(varied);
    expect(await hashFrames(source)).toHaveLength(8);
    expect(times.map((_, i) => source.timestamp(i))).toEqual(times.map((t) => expect.closeTo(t, 3)));
    const bare = ffmpeg(file('bare.h264'), ['-i', encode({ codec: 'h264' }), '-c', 'copy']);
    expect(await decoder.timestamps(bare)).toBeNull();
    expect(await hashFrames(await open(bare))).toHaveLength(30);
  });
});

it.runIf(hasFfmpeg)(`a part is not decoded to the end of its file (${needsFfmpeg})`, () => {
  const path = encode({ codec: 'h264', frames: 150 });
  const source = { url: `file:${path}`, access: accessOf({ by: 'foreign' }, false, false) };
  const probed = spawnSync('ffprobe', probeArgs(source), { encoding: 'utf8' });
  const { facts } = parseProbe(JSON.parse(probed.stdout), path);
  const planes = delivery(facts.pixelFormat, facts.rotation, path);
  const args = decodeArgs(source, facts, planes, {}, { fromTime: 0.2, untilTime: 0.5 }, '5.1');
  const { status, stdout, stderr } = spawnSync('ffmpeg', args, { maxBuffer: 2 ** 28 });
  expect(status).toBe(0);
  const rate = (facts.frameRate?.num ?? 0) / (facts.frameRate?.den ?? 1);
  expect(stdout.length).toBe(Math.round(0.3 * rate) * facts.width * facts.height * 1.5);
  const decoded = stderr.toString().match(/\] n: *\d+ /g)?.length ?? 0;
  // One second more for rounded times.
  expect(decoded).toBeGreaterThan(0.5 * rate);
  expect(decoded).toBeLessThan(2 * rate);
});

describe.runIf(hasFfmpeg)(`file names (${needsFfmpeg})`, () => {
  // biome-ignore format: a list of words
  const names = [
    '-', 'it\'s "100% %d %03d %s".mp4', 'concat:a|b.mp4', '[x]{y}$HOME;`z`*?.mp4', 'a\\b.mp4', 'http:',
    '-y.mp4', 'a b.mp4', 'a:b.mp4', 'pipe:0', 'ü – 视频 🎬.mp4',
  ];
  it.each(tier(names.slice(0, 3), names))('have no special meaning to ffmpeg: %s', async (name) => {
    const path = file(name);
    copyFileSync(encode({ codec: 'h264', frames: 5 }), path);
    for (const input of [path, pathToFileURL(path), pathToFileURL(path).href]) {
      const facts = await decoder.probe(input);
      expect(facts.name).toBe(String(input));
      expect(await hashFrames(await decoder.open(input, facts, {}))).toHaveLength(5);
    }
    expect((await decoder.timestamps(path))?.times).toHaveLength(5);
  });

  it('in the current folder are not taken for options, URLs or protocols either', async () => {
    const before = process.cwd();
    mkdirSync(file('here/http:'), { recursive: true });
    process.chdir(file('here'));
    try {
      for (const name of ['-i', 'concat:x', 'data:,x', 'http://x.mp4']) {
        copyFileSync(encode({ codec: 'h264', frames: 5 }), name);
        expect((await decoder.probe(name)).frameCount).toBe(5);
      }
    } finally {
      process.chdir(before);
    }
  });

  it('that are URLs are refused unless allowed, and then only http and https', async () => {
    for (const url of ['https://example.invalid/a.mp4', new URL('http://example.invalid/a.mp4')])
      expect(await refusalOf('usage', () => decoder.probe(url))).toContain('pass allowUrl');
    const allowed = createFfmpegDecoder({ urls: true });
    for (const url of ['rtmp://example.invalid/a', 'subfile://x', 'ftp://example.invalid/a.mp4'])
      expect(await refusalOf('usage', () => allowed.probe(url))).toContain('never opened');
  });
});

describe.runIf(hasFfmpeg)(`invalid input (${needsFfmpeg})`, () => {
  it('that is not a file, or not a video', async () => {
    for (const input of [new Uint8Array(9), '-'])
      expect(await refusalOf('usage', () => decoder.probe(input))).toContain('give it as a file');
    writeFileSync(file('text.mp4'), 'not a video at all\n'.repeat(500));
    expect(await refusalOf('media', () => decoder.probe(file('text.mp4')))).toBe(
      `${file('text.mp4')} is not a video that ffmpeg knows: Invalid data found when processing input.`,
    );
  });

  it('that is raw YUV is refused with a command that converts it', async () => {
    const raw = made('bare.yuv', 'testsrc2=size=64x48:rate=25', '-frames:v 2 -pix_fmt yuv420p');
    const message = await refusalOf('media', () => createFfmpegDecoder({ origin: BY_USER }).probe(raw));
    const [, advised = ''] =
      /is raw YUV, whose size is not stated; .* ffmpeg (.*) OUTPUT\.y4m/.exec(message) ?? [];
    const args = advised.replace('WxH', '64x48').replace('R -i VIDEO', `25 -i ${raw}`).split(' ');
    expect(rawFrames(ffmpeg(file('told.y4m'), args))).toEqual(readFileSync(raw));
  });

  it('that is encrypted', async () => {
    const key =
      '-encryption_key 76a6c65c5ea762046bd749a2e632ccbb -encryption_kid a7e61c373e219033c21091fa607bf3b8';
    const scheme = ['-c', 'copy', '-encryption_scheme', 'cenc-aes-ctr', ...key.split(' ')];
    const path = ffmpeg(file('encrypted.mp4'), ['-i', encode({ codec: 'h264' }), ...scheme]);
    expect(await refusalOf('media', () => decoder.probe(path))).toContain('is encrypted');
  });

  it('that is floating-point RGB, which has no luma', async () => {
    const path = made('float.exr', 'testsrc2=s=64x64', '-frames:v 1 -pix_fmt gbrpf32le');
    const message = await refusalOf('media', () => decoder.probe(path));
    expect(message).toContain('RGB (gbrpf32le)');
    expect(message).toContain('-pix_fmt yuv444p');
  });

  it('that begins between key frames starts at the first decodable frame', async () => {
    const extra = ['-g', '25', '-preset', 'medium'];
    const path = encode({ codec: 'h264', frames: 60, extension: 'ts', extra });
    const late = file('late.ts');
    writeFileSync(late, readFileSync(path).subarray(100 * 188));
    const source = await open(late);
    expect(source.info.warnings.join()).toMatch(/the first 0\.\d{3} s of .* starts between key frames/);
    expect(await hashFrames(source)).toEqual(ffmpegHashes(path).slice(25));
    expect((await decoder.timestamps(late))?.times).toHaveLength(35);
    const part = await open(late, { frames: { start: 5, end: 8 } });
    expect(await hashFrames(part)).toEqual(ffmpegHashes(path).slice(30, 33));
  });

  it('that begins with a key frame of an open GOP has the times of the frames that are shown', async () => {
    const x265 = 'log-level=error:keyint=24:open-gop=1:bframes=4';
    const whole = ffmpeg(file('open.ts'), [
      ...['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25', '-frames:v', '96'],
      ...['-c:v', 'libx265', '-x265-params', x265],
    ]);
    const cut = ffmpeg(file('open-cut.ts'), ['-ss', '1.2', '-i', whole, '-c', 'copy']);
    const shown = ffmpegHashes(cut);
    expect((await decoder.timestamps(cut))?.times).toHaveLength(shown.length);
    const part = await open(cut, { frames: { start: 5, end: 8 } });
    expect(await hashFrames(part)).toEqual(shown.slice(5, 8));
  });

  it('that changes its size within', async () => {
    const [a, b] = ['320x240', '160x120'].map((size) =>
      readFileSync(encode({ codec: 'h264', size, extension: 'h264' })),
    );
    writeFileSync(file('change.h264'), Buffer.concat([a ?? '', b ?? ''] as Buffer[]));
    const message = await refusalOf('media', async () => hashFrames(await open(file('change.h264'))));
    expect(message).toContain('changes from 320x240 yuv420p to 160x120 yuv420p at frame 30');
  });
});

/** How a process ends. */
const ENDS = ['exit', 'SIGKILL', 'SIGTERM'] as const;

/** Frames are read directly into memory if possible, else piece by piece; nothing else may differ. */
describe.runIf(hasFfmpeg).each([
  ['directly', true],
  ['piece by piece', false],
])(`processes whose frames come %s (${needsFfmpeg})`, (_, direct) => {
  const MANY = 150;
  const decoder = createFfmpegDecoder({ direct });
  beforeEach(() => void vi.stubEnv('PATH', pathOfInstalled()));

  const open = async (path: string, request: DecodeRequest = {}) =>
    decoder.open(path, await decoder.probe(path), request);
  const long = (): string => encode({ codec: 'h264', frames: MANY });

  it('give every byte, also to a slow reader', async () => {
    // A chunk holds a part of a frame, or many frames.
    for (const size of ['720x480', '16x8']) {
      const path = encode({ codec: 'ffv1', frames: 24, size });
      const source = await open(path);
      const planes = planesFor(source.info);
      const hashes: string[] = [];
      while (await source.readFrame(hashes.length, planes)) {
        hashes.push(hashPlanes(planes));
        if (hashes.length % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await source.close();
      expect(hashes).toHaveLength(24);
      expect(hashes).toEqual(ffmpegHashes(path));
    }
  });

  it('end when the source is closed, however far it was read', async () => {
    const source = await open(long());
    await source.readFrame(2, planesFor(source.info));
    await expect.poll(children, SOON).toHaveLength(1);
    await source.close();
    await expect.poll(children, SOON).toHaveLength(0);
    expect(await source.readFrame(3, planesFor(source.info))).toBe(false);
  });

  it('end when the signal aborts, and reading rejects with the reason', async () => {
    const stop = new AbortController();
    const source = await open(long(), { signal: stop.signal });
    const planes = planesFor(source.info);
    await source.readFrame(0, planes);
    const reading = (async () => {
      for (let n = 1; n < MANY; n++) {
        await source.readFrame(n, planes);
        if (n === 20) stop.abort(new Error('enough'));
      }
    })();
    await expect(reading).rejects.toThrow('enough');
    await source.close();
    await expect.poll(children, SOON).toHaveLength(0);
    await expect(open(long(), { signal: stop.signal })).rejects.toThrow('enough');
    await expect(decoder.probe(long(), stop.signal)).rejects.toThrow('enough');
    const short = encode({ codec: 'h264', frames: 31 });
    await expect(decoder.timestamps(short, stop.signal)).rejects.toThrow('enough');
  });

  it('that are killed give one clear error', async () => {
    const source = await open(long());
    const planes = planesFor(source.info);
    await source.readFrame(0, planes);
    for (const pid of children()) process.kill(pid, 'SIGKILL');
    const message = await refusalOf('io', async () => {
      for (let n = 1; n < MANY; n++) await source.readFrame(n, planes);
    });
    expect(message).toMatch(/ffmpeg failed on .* at frame \d+, after .*: it was killed by SIGKILL/);
    await source.close();
  });

  it('read a few frames ahead and then wait', async () => {
    const source = await open(long());
    await new Promise((resolve) => setTimeout(resolve, 250));
    const before = process.memoryUsage().arrayBuffers;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 << 20);
    await expect.poll(children, SOON).toHaveLength(1);
    expect(await hashFrames(source)).toHaveLength(MANY);
    await expect.poll(children, SOON).toHaveLength(0);
  });

  it('do not outlive this one, whether it exits or is killed', async () => {
    writeFileSync(
      file('leave.mjs'),
      `import { createFfmpegDecoder } from ${JSON.stringify(join(process.cwd(), 'dist/platform/node/ffmpeg/decoder.js'))};
      const decoder = createFfmpegDecoder({ direct: ${direct} });
      const path = ${JSON.stringify(long())};
      await decoder.open(path, await decoder.probe(path), {});
      console.log('open');
      if (process.argv[2] === 'exit') process.exit(3);
      setInterval(() => {}, 1000);`,
    );
    for (const how of tier<readonly (typeof ENDS)[number][]>(
      ENDS.filter((end) => (end === 'SIGTERM') !== direct),
      ENDS,
    )) {
      const child = spawn(process.execPath, [file('leave.mjs'), how], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      await once(child.stdout, 'data');
      if (how !== 'exit') child.kill(how);
      await exited;
      const remaining = () =>
        spawnSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).stdout.includes(`file:${long()}`);
      await vi.waitFor(() => expect(remaining(), how).toBe(false), SOON);
    }
  });
});

describe.runIf(hasFfmpeg)(`frames with a labelled range (${needsFfmpeg})`, () => {
  it.each([
    ['yuv420p', 'pc', { size: { width: 96, height: 72, filter: 'bicubic' } }],
    ['yuv420p10le', 'pc', { size: { width: 96, height: 72, filter: 'bicubic' } }],
    ['gray', 'tv', { size: { width: 96, height: 72, filter: 'bicubic' } }],
    // Alpha is left out.
    ['yuva420p', 'pc', {}],
  ] as const)('keep it: %s labelled %s, %j', async (format, range, request) => {
    const pictures = 'testsrc2=size=64x48:rate=25';
    const hashes = async (name: string, label: string) => {
      const path = made(name, pictures, `-frames:v 2 -pix_fmt ${format}${label} -c:v ffv1`);
      return hashFrames(await decoder.open(path, await decoder.probe(path), request));
    };
    const plain = await hashes(`range-${format}.mkv`, '');
    expect(await hashes(`range-${format}-${range}.mkv`, ` -color_range ${range}`)).toEqual(plain);
  });
});

describe('availability', () => {
  it.runIf(hasFfmpeg)(`names the version (${needsFfmpeg})`, async () => {
    const found = await decoder.availability();
    expect(found).toMatchObject({ id: 'ffmpeg', usable: true });
    const { stdout } = spawnSync('ffmpeg', ['-version'], { encoding: 'utf8' });
    expect(stdout).toContain(`ffmpeg version ${found.version}`);
    expect(await decoder.availability()).toBe(found);
  });

  it.runIf(hasFfmpeg)(`finds a program that is installed later (${needsFfmpeg})`, async () => {
    vi.stubEnv('ANYVMAF_FFMPEG', file('later'));
    expect(await createFfmpegDecoder().availability()).toMatchObject({ usable: false });
    writeFileSync(file('later'), '#!/bin/sh\necho ffmpeg version 7.1\n');
    chmodSync(file('later'), 0o755);
    expect(await createFfmpegDecoder().availability()).toMatchObject({ usable: true, version: '7.1' });
  });

  it('without ffmpeg gives advice', async () => {
    vi.stubEnv('PATH', '/nowhere');
    const found = await createFfmpegDecoder().availability();
    expect(found.usable).toBe(false);
    expect(found.reason).toMatch(/^ffmpeg is not on PATH; install ffmpeg .*ANYVMAF_FFMPEG/);
    writeFileSync(file('clip.mp4'), 'x');
    expect(await refusalOf('io', () => decoder.probe(file('clip.mp4')))).toContain('ffprobe is not on PATH');
    vi.stubEnv('ANYVMAF_FFMPEG', '/nowhere/else');
    const said = (await createFfmpegDecoder().availability()).reason;
    expect(said).toContain('/nowhere/else (ANYVMAF_FFMPEG) does not exist');
  });

  it.each([
    ['echo hello', 'did not print its version'],
    ['yes', 'printed more than 16 MB'],
  ])('detects other programs: %s', async (script, why) => {
    writeFileSync(file('fake'), `#!/bin/sh\n${script}\n`);
    chmodSync(file('fake'), 0o755);
    vi.stubEnv('ANYVMAF_FFMPEG', file('fake'));
    const found = await createFfmpegDecoder().availability();
    expect(found.usable).toBe(false);
    expect(found.reason).toContain(why);
  });

  it.runIf(hasFfmpeg)(`looks for ffprobe, and does not start it (${needsFfmpeg})`, async () => {
    writeFileSync(file('probe'), `#!/bin/sh\ntouch '${file('started')}'\n`);
    chmodSync(file('probe'), 0o755);
    vi.stubEnv('ANYVMAF_FFPROBE', file('probe'));
    expect(await createFfmpegDecoder().availability()).toMatchObject({ usable: true });
    expect(existsSync(file('started'))).toBe(false);
    vi.stubEnv('ANYVMAF_FFPROBE', '/nowhere/else');
    const { usable, reason } = await createFfmpegDecoder().availability();
    expect(usable).toBe(false);
    expect(reason).toContain('/nowhere/else (ANYVMAF_FFPROBE) does not exist');
  });

  it.runIf(hasFfmpeg)(`follows ANYVMAF_FFMPEG (${needsFfmpeg})`, async () => {
    const real = spawnSync('sh', ['-c', 'command -v ffmpeg'], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(file('wrapped'), `#!/bin/sh\necho ran >> '${file('wrapped.log')}'\nexec ${real} "$@"\n`);
    chmodSync(file('wrapped'), 0o755);
    vi.stubEnv('ANYVMAF_FFMPEG', file('wrapped'));
    expect(await hashFrames(await open(encode({ codec: 'h264' })))).toHaveLength(30);
    expect(readFileSync(file('wrapped.log'), 'utf8')).toContain('ran');
  });
});

const PLAYLISTS = ['hls', 'dash', 'concat', 'imf', 'image2'];
const EVER = ['lavfi', 'sdp', 'rtsp', 'rtp', 'tee', 'mlv', 'vobsub', 'x11grab', 'svg_pipe', 'libopenmpt'];

describe('the lists', () => {
  it('allow a foreign input only its own file or URL', () => {
    const { formats, protocols } = accessOf({ by: 'foreign' }, false, true);
    expect(formats.filter((format) => [...PLAYLISTS, ...EVER, 'vapoursynth'].includes(format))).toEqual([]);
    const expected = expect.arrayContaining(['mp4', 'matroska', 'mpegts', 'avi', 'mxf', 'ivf', 'h264']);
    expect(formats).toEqual(expected);
    expect(protocols).toEqual(['file']);
    expect(accessOf({ by: 'foreign' }, true, true).formats).toEqual(formats);
  });

  it('separate files and the network for inputs of the user', () => {
    const { formats, protocols } = accessOf(BY_USER, false, false);
    expect(formats).toEqual(expect.arrayContaining(PLAYLISTS));
    expect(formats.filter((format) => EVER.includes(format))).toEqual([]);
    expect(protocols).toEqual(['file', 'crypto', 'data']);
    expect(accessOf(BY_USER, false, true).protocols).toEqual(expect.arrayContaining(['file', 'https']));
    const fetched = accessOf(BY_USER, true, true).protocols;
    expect(fetched).toEqual(['http', 'https', 'httpproxy', 'tls', 'tcp', 'crypto']);
  });

  it('come before the input', () => {
    const args = inputArgs({ url: 'file:/x', access: { formats: ['mov'], protocols: ['file'] } });
    expect(args).toEqual(['-protocol_whitelist', 'file', '-format_whitelist', 'mov', '-i', 'file:/x']);
  });

  it.each([
    ["[hls @ 0x55] Format not on whitelist 'mov'\nx: Invalid argument", { kind: 'playlist', format: 'hls' }],
    ["[tty @ 0x55] [error] Format not on whitelist 'mov'", { kind: 'text', format: 'tty' }],
    ["[mp2,mp3 @ 0x1] Format not on whitelist 'a'", { kind: 'format', format: 'mp2' }],
    ["[http @ 0x5] Protocol 'http' not on whitelist 'file'!\n", { kind: 'protocol', protocol: 'http' }],
    ['[hls @ 0x5] Invalid data', undefined],
  ])('are recognised in a log as the reason: %j', (log, denial) => {
    expect(findDenial(log)).toEqual(denial);
  });
});

describe.runIf(hasFfmpeg)(`a playlist, ${needsFfmpeg}`, () => {
  const folder = testFolder('access');
  const asked: string[] = [];
  const server: Server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const file = { '/file.m3u8': `file://${folder}/part.ts`, '/path.m3u8': `${folder}/part.ts` }[url];
    if (file) return response.end(playlist(file));
    if (url === '/own.m3u8') return response.end(playlist('part.ts'));
    return response.end(readFileSync(join(folder, 'part.ts')));
  });
  let host = '';
  const playlist = (part: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${part}\n#EXT-X-ENDLIST\n`;
  const put = (name: string, part: string) => {
    writeFileSync(join(folder, name), playlist(part));
    return join(folder, name);
  };

  beforeAll(async () => {
    const source = '-f lavfi -i testsrc2=size=64x64:rate=25 -frames:v 5 -pix_fmt yuv420p';
    const args = `${source} -c:v libx264 -preset ultrafast`;
    ffmpeg(join(folder, 'part.ts'), args.split(' '));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it('of local files is followed if the user named it', async () => {
    const facts = await createFfmpegDecoder({ origin: BY_USER }).probe(put('local.m3u8', 'part.ts'));
    expect(facts).toMatchObject({ container: 'hls', width: 64, height: 64 });
  });

  it('is opened only by decoders of the user', async () => {
    const path = put('local.mp4', 'part.ts');
    await expect(createFfmpegDecoder().probe(path)).rejects.toThrow('makes ffmpeg open other files (hls)');
    const script = (name: string) => () => pathToFileURL(built(`dist/bundle/js/${name}`));
    for (const decoder of [
      nodeMediabunnyDecoder({ script: script('node-parser-worker.js'), origin: BY_USER }),
      nodeWasmDecoder({ script: script('node-ffmpeg-worker.js'), origin: BY_USER }),
    ]) {
      if ((await decoder.availability()).usable) await expect(decoder.probe(path)).rejects.toThrow(path);
    }
  });

  it('of a local file does not reach the network unless URLs are allowed', async () => {
    const path = put('net.m3u8', `${host}/part.ts`);
    asked.length = 0;
    const message = 'makes ffmpeg use a protocol that is not allowed (http); pass allowUrl';
    await expect(createFfmpegDecoder({ origin: BY_USER }).probe(path)).rejects.toThrow(message);
    expect(asked).toEqual([]);
    const facts = await createFfmpegDecoder({ origin: BY_USER, urls: true }).probe(path);
    expect(facts.width).toBe(64);
  });

  it('that is fetched may name URLs beside it, and no local file', async () => {
    const decoder = createFfmpegDecoder({ origin: BY_USER, urls: true });
    expect((await decoder.probe(`${host}/own.m3u8`)).width).toBe(64);
    await expect(decoder.probe(`${host}/file.m3u8`)).rejects.toThrow('what is fetched may name URLs only');
    // A path without a scheme refers to the same server.
    asked.length = 0;
    await decoder.probe(`${host}/path.m3u8`);
    expect(asked).toContain(`${folder}/part.ts`);
    const foreign = createFfmpegDecoder({ urls: true });
    await expect(foreign.probe(`${host}/own.m3u8`)).rejects.toThrow('makes ffmpeg open other files (hls)');
  });

  it.runIf(process.platform === 'linux')('that is a pipe is not waited for', async () => {
    const path = join(folder, 'pipe.mp4');
    execFileSync('mkfifo', [path]);
    await expect(createFfmpegDecoder().probe(path)).rejects.toThrow('is not a regular file');
  });
});
