/**
 * @module test/node/platform/decoders
 * The three decoders in Node, an installed ffmpeg, mediabunny with libavcodec and ffmpeg.wasm, give the same frames, times and
 * errors, compared with the output of ffmpeg.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, openAsBlob, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors.js';
import type { DecodeRequest, Decoder } from '../../../src/media/decoder.js';
import { ChunkReader } from '../../../src/platform/ffmpeg-wasm/protocol.js';
import { nodeMediabunnyDecoder, nodeWasmDecoder } from '../../../src/platform/node/decoders.js';
import { createFfmpegDecoder } from '../../../src/platform/node/ffmpeg/decoder.js';
import { built } from '../../support/built.js';
import {
  decodeAll,
  ffmpegHashes,
  hashFrames,
  SAMPLES,
  type Sample,
  titleOf,
  withoutPacket,
} from '../../support/decoded.js';
import { type Encode, encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../../support/encode.js';
import { planesFor } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { refusalOf } from '../../support/refusals.js';
import { tier } from '../../support/tier.js';

type Id = 'ffmpeg' | 'mediabunny' | 'wasm';

const script = (name: string) => () => pathToFileURL(built(`dist/bundle/js/${name}`));
const DECODERS: Readonly<Record<Id, Decoder>> = {
  ffmpeg: createFfmpegDecoder(),
  mediabunny: nodeMediabunnyDecoder({ script: script('node-parser-worker.js') }),
  wasm: nodeWasmDecoder({ script: script('node-ffmpeg-worker.js') }),
};
const NEEDS: Readonly<Record<Id, string>> = {
  ffmpeg: needsFfmpeg,
  mediabunny: `${needsFfmpeg}, mediabunny and @mediabunny/server`,
  wasm: `${needsFfmpeg} and @ffmpeg/core`,
};
const usable = new Map<Id, boolean>();
for (const [id, decoder] of Object.entries(DECODERS) as [Id, Decoder][])
  usable.set(id, hasFfmpeg && (await decoder.availability()).usable);

/** Describes the tests of each decoder that is installed. */
function describeDecoders(ids: readonly Id[], tests: (decoder: Decoder, id: Id) => void): void {
  for (const id of ids) {
    const title = usable.get(id) ? `the decoder ${id}` : `the decoder ${id} (${NEEDS[id]})`;
    describe.skipIf(!usable.get(id))(title, () => tests(DECODERS[id], id));
  }
}

const ALL: readonly Id[] = ['ffmpeg', 'mediabunny', 'wasm'];

/** Codecs that a decoder refuses. */
const UNKNOWN: Readonly<Record<Id, readonly string[]>> = {
  ffmpeg: [],
  mediabunny: ['mpeg2video', 'prores', 'mjpeg', 'ffv1'],
  wasm: ['av1'],
};
const DECODED_BY: Readonly<Record<Id, string>> = {
  ffmpeg: '^ffmpeg \\d[\\w.]* \\(\\w+\\)$',
  mediabunny: '^mediabunny with libavcodec \\(CODEC\\)$',
  wasm: '^ffmpeg\\.wasm 5\\.1\\.4 \\(CODEC\\)$',
};

const more = (codec: string, encode: Encode): Sample => ({ codec, encode: { frames: 10, ...encode } });
/** Depths and layouts beyond those of every decoder. */
const FFMPEG_SAMPLES: readonly Sample[] = [
  more('h264', { codec: 'h264', pixelFormat: 'yuvj420p' }),
  more('hevc', { codec: 'hevc', pixelFormat: 'yuv422p12le' }),
  more('av1', { codec: 'av1', pixelFormat: 'yuv420p10le' }),
  more('ffv1', { codec: 'ffv1', pixelFormat: 'yuv444p16le' }),
  more('ffv1', { codec: 'ffv1', pixelFormat: 'gray12le' }),
];

/** The samples that `npm test` decodes with each: every codec and layout. */
const FEW_SAMPLES: Readonly<Record<Id, RegExp>> = {
  ffmpeg:
    /^(h264 yuv4(20p|22p10le|44p)$|hevc yuv4.*10le|vp9 yuv420p$|av1 yuv420p$|mpeg2|prores yuv444|mjpeg yuvj420p|ffv1 (yuv444p16|gray))/,
  mediabunny: /^/,
  wasm: /^(h264 yuv420p in ts|hevc yuv420p10le|vp9 yuv420p$|prores yuv444|mjpeg yuvj420p|ffv1 yuv444p$|mpeg2)/,
};

/** Bit depth and chroma of a pixel format of ffmpeg. */
function layout(pixelFormat: string): { readonly bitDepth: number; readonly chroma: string } {
  const bits = /(\d+)le$/.exec(pixelFormat)?.[1];
  return { bitDepth: Number(bits ?? 8), chroma: /4\d\d/.exec(pixelFormat)?.[0] ?? '400' };
}

/** 50 frames with key frames at 0, 12, 24...; B-frames between. */
const clip = (): string => encode({ codec: 'h264', frames: 50, extra: ['-g', '12'] });
const small = (...extra: readonly string[]): string =>
  encode({ codec: 'h264', frames: 50, size: '64x48', extra: ['-g', '12', ...extra] });

function put(name: string, content: string | Uint8Array): string {
  const path = join(encodeFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** A copy of a file with noise after a fraction of it, or truncated there. */
function harmed(path: string, at: number, how: 'noise' | 'cut'): string {
  const bytes = readFileSync(path);
  const from = Math.floor(bytes.length * at);
  if (how === 'noise') bytes.set(seeded(4).bytes(Math.min(6000, bytes.length - from)), from);
  return put(`${how}-${basename(path)}`, how === 'cut' ? bytes.subarray(0, from) : bytes);
}

describeDecoders(ALL, (decoder, id) => {
  const samples = id === 'ffmpeg' ? [...SAMPLES, ...FFMPEG_SAMPLES] : SAMPLES;
  const decodable = samples.filter(({ codec }) => !UNKNOWN[id].includes(codec));
  const few = decodable.filter((sample) => FEW_SAMPLES[id].test(titleOf(sample)));
  const decoded = tier(few, decodable);

  it.each(decoded.map((sample) => ({ title: titleOf(sample), sample })))(
    'gives the same planes as ffmpeg: $title',
    async ({ sample: { codec, encode: request, decoded: stored } }) => {
      const path = encode(request);
      const pixelFormat = stored ?? request.pixelFormat ?? 'yuv420p';
      const { facts, source, hashes } = await decodeAll(decoder, path);
      const size = { width: 320, height: 240, frameRate: { num: 25, den: 1 } };
      expect(facts).toMatchObject({ codec, pixelFormat, rotation: 0, ...size, ...layout(pixelFormat) });
      expect(source.info).toMatchObject({ width: 320, height: 240, ...layout(pixelFormat) });
      expect(source.decodedBy).toMatch(new RegExp(DECODED_BY[id].replace('CODEC', codec)));
      expect(hashes).toHaveLength(request.frames ?? 0);
      expect(hashes).toEqual(ffmpegHashes(path));
    },
  );

  const refused = samples.filter(({ codec }) => UNKNOWN[id].includes(codec));
  const ofEach = refused.filter(({ codec }, i) => refused.findIndex((one) => one.codec === codec) === i);
  it.each(tier(ofEach, refused).map((sample) => ({ title: titleOf(sample), sample })))(
    'reports that it cannot decode $title, with advice',
    async ({ sample }) => {
      const message = await refusalOf('media', () => decoder.probe(encode(sample.encode)));
      expect(message).toContain('install ffmpeg');
      if (id === 'wasm') expect(message).toContain('is av1, which ffmpeg.wasm cannot decode; install ffmpeg');
    },
  );

  const turns = [
    [90, 270, 'transpose=cclock'],
    [180, 180, 'hflip,vflip'],
    [270, 90, 'transpose=clock'],
  ] as const;
  it.each(turns.slice(0, tier(1, turns.length)))(
    'rotates pictures as players do: %i degrees',
    async (degrees, clockwise, filter) => {
      const turn = ['-i', clip(), '-c', 'copy', '-metadata:s:v', `rotate=${degrees}`];
      const path = ffmpeg(join(encodeFolder(), `turned-${degrees}.mp4`), turn);
      const { facts, source, hashes } = await decodeAll(decoder, path, { frames: { start: 0, end: 3 } });
      const [width, height] = degrees === 180 ? [320, 240] : [240, 320];
      expect(facts).toMatchObject({ rotation: clockwise, width, height });
      expect(source.decodedBy).toContain(`turned by ${clockwise} degrees`);
      expect(hashes).toEqual(ffmpegHashes(clip(), ['-vf', filter, '-frames:v', '3']));
    },
  );

  it('gives the times of all frames without decoding, and of each frame once read', async () => {
    const extra = ['-output_ts_offset', '3'];
    const path = encode({ codec: 'h264', frames: 50, rate: '30000/1001', extra });
    const { times } = (await decoder.timestamps(path)) ?? {};
    const { times: read, facts } = await decodeAll(decoder, path);
    expect(facts.frameRate).toEqual({ num: 30000, den: 1001 });
    const wanted = Array.from({ length: 50 }, (_, i) => expect.closeTo((i * 1001) / 30000, 4));
    expect([...(times ?? [])]).toEqual(wanted);
    expect(read).toEqual(wanted);
  });

  it.each<[string, ErrorCode, () => Parameters<Decoder['probe']>[0]]>([
    ['is not a video', 'media', () => put('text.mp4', 'hello')],
    ['is empty', 'io', () => put('empty.mp4', '')],
    ['no such file', 'io', () => join(encodeFolder(), 'none.mp4')],
    ['it is a directory', 'io', encodeFolder],
    ['give it as a file', 'usage', () => new ReadableStream<Uint8Array>()],
  ])('refuses other files: %s', async (says, code, input) => {
    expect(await refusalOf(code, () => decoder.probe(input()))).toContain(says);
  });

  it('reports that audio has no video track', async () => {
    const tone = ['-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac'];
    const audio = ffmpeg(join(encodeFolder(), 'audio.m4a'), tone);
    const message = `${audio} has no video track, only audio (aac).`;
    const found = await refusalOf('media', () => decoder.probe(audio));
    if (id === 'wasm') expect(found).toContain('no video track');
    else expect(found).toBe(message);
    if (id !== 'mediabunny') return;
    // In transport streams, mediabunny does not list unknown codecs.
    const stream = ffmpeg(join(encodeFolder(), 'audio.ts'), tone);
    const told = 'has no video track, or none of a codec that mediabunny knows; install ffmpeg';
    expect(await refusalOf('media', () => decoder.probe(stream))).toContain(told);
  });

  it('stops when it is aborted or closed', async () => {
    const facts = await decoder.probe(clip());
    const planes = planesFor(facts);
    const control = new AbortController();
    const source = await decoder.open(clip(), facts, { signal: control.signal });
    expect(await source.readFrame(0, planes)).toBe(true);
    control.abort(new Error('enough'));
    await expect((async () => source.readFrame(1, planes))()).rejects.toThrow('enough');
    await source.close();
    await expect(decoder.probe(small(), AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
    const other = await decoder.open(clip(), facts, {});
    const read = other.readFrame(30, planes);
    // mediabunny's decoder must not be closed while it reads.
    if (id === 'mediabunny') await read;
    await other.close();
    if (id !== 'mediabunny') expect(await read).toBe(false);
    expect(await other.readFrame(31, planes)).toBe(false);
  });
});

const X265_GROUPS = 'log-level=error:keyint=24:open-gop=1:bframes=4';
/** Long clips with several key frames, of which parts are decoded. */
const LONG: readonly (readonly [Encode, readonly Id[]])[] = [
  [{ codec: 'h264', extension: 'ts', extra: ['-g', '20'] }, ['ffmpeg']],
  [{ codec: 'h264', extension: 'h264', extra: ['-g', '20'] }, ['ffmpeg']],
  [{ codec: 'hevc', extra: ['-x265-params', X265_GROUPS] }, ['ffmpeg']],
  [{ codec: 'h264', extra: ['-g', '20'] }, ALL],
  [{ codec: 'vp9', extra: ['-g', '30'] }, ALL],
  [{ codec: 'ffv1', rate: '30000/1001' }, ['ffmpeg', 'wasm']],
  [{ codec: 'mpeg2', extension: 'mpg' }, ['ffmpeg']],
];
const long = (one: Encode): Encode => ({ frames: 120, size: '96x64', ...one });
const END = Number.POSITIVE_INFINITY;
type Range = readonly [start: number, end: number];
const FEW: readonly Range[] = [
  [61, 63],
  [100, END],
];
const FRAMES = tier(FEW, [...FEW, [0, 10], [1, 3], [59, 61], [60, 80], [119, 200]]);
const TIMES = tier<readonly Range[]>(
  [[2.3999, 2.5]],
  [
    [0, 0.5],
    [1, 1.21],
    [2.3999, 2.5],
    [3.9, END],
  ],
);

describeDecoders(ALL, (decoder) => {
  it('states only a colour range that the file states', async () => {
    expect((await decoder.probe(small())).colorRange).toBeUndefined();
    const labels = '-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709'.split(' ');
    expect((await decoder.probe(small(...labels))).colorRange).toBe('limited');
  });

  it.each(['mp4', 'mkv'])(
    'states a duration without the delay before the first frame, in %s',
    async (extension) => {
      const late = ['-i', small(), '-c:v', 'libx264', '-vf', 'setpts=PTS+0.4/TB'];
      const facts = await decoder.probe(ffmpeg(join(encodeFolder(), `late.${extension}`), late));
      expect(facts.duration).toBeCloseTo(2, 2);
    },
  );
});

describeDecoders(ALL, (decoder, id) => {
  const clips = LONG.filter(([, ids]) => ids.includes(id)).map(([request]) => long(request));
  const chosen = tier(clips.slice(0, id === 'ffmpeg' ? 3 : 1), clips);
  const rateOf = (request: Encode) => (request.rate === undefined ? 25 : 30000 / 1001);

  it.each(chosen)('gives the same frames by number as a whole decode: %o', async (request) => {
    const path = encode(request);
    const whole = ffmpegHashes(path);
    expect(whole).toHaveLength(120);
    const facts = await decoder.probe(path);
    for (const [start, end] of FRAMES) {
      const { source, hashes, times } = await decodeAll(decoder, path, { frames: { start, end } }, facts);
      const last = Math.min(end, 120);
      const { frameCount } = source.info;
      if (frameCount !== null) expect(frameCount, `${start}-${end}`).toBe(last - start);
      expect(hashes, `${start}-${end}`).toEqual(whole.slice(start, last));
      if (request.extension !== 'h264')
        for (const [i, time] of times.entries()) expect(time).toBeCloseTo((start + i) / rateOf(request), 2);
    }
  });

  it.each(chosen)('gives the frames from a time on: %o', async (request) => {
    const path = encode(request);
    for (const [start, end] of TIMES) {
      const { hashes } = await decodeAll(decoder, path, { time: { start, end } });
      const inside = ffmpegHashes(path).filter((_, i) => {
        const time = i / rateOf(request);
        return time >= start - 0.0006 && time < end - 0.0006;
      });
      expect(hashes, `${start}-${end}`).toEqual(inside);
    }
  });

  it('scales like ffmpeg, or not at all', async () => {
    const size = { width: 480, height: 270, filter: 'bicubic' } as const;
    const { source, hashes } = await decodeAll(decoder, small(), { size, frames: { start: 0, end: 5 } });
    const scaled = id === 'ffmpeg';
    expect(source.scaledBy).toBe(scaled ? 'swscale bicubic' : undefined);
    expect(source.info).toMatchObject(scaled ? { width: 480, height: 270 } : { width: 64, height: 48 });
    expect(hashes).toEqual(ffmpegHashes(small(), [...(scaled ? ['-s', '480x270'] : []), '-frames:v', '5']));
  });
});

describeDecoders(ALL, (decoder, id) => {
  const X265 = ['-x265-params', 'log-level=error:hash=1'];
  const FAST = ['-movflags', '+faststart'];
  /** Encode, kind of damage, and the fewest and most frames before it. */
  type Harm = readonly [Encode, 'noise' | 'cut', atLeast: number, atMost: number, ids: readonly Id[]];
  const first: readonly Harm[] = [
    [{ codec: 'h264', frames: 60 }, 'noise', 15, 40, ALL],
    [{ codec: 'h264', frames: 60, extra: FAST }, 'cut', 20, 40, ['ffmpeg', 'mediabunny']],
    [{ codec: 'vp9', frames: 60 }, 'cut', 15, 45, ['wasm']],
    [{ codec: 'h264', frames: 60, extension: 'ts' }, 'noise', 20, 40, ['ffmpeg']],
  ];
  const others: readonly Harm[] = [
    [{ codec: 'vp9', frames: 60 }, 'cut', 15, 45, ['ffmpeg']],
    [{ codec: 'ffv1', frames: 60 }, 'noise', 20, 40, ['ffmpeg']],
    [{ codec: 'hevc', frames: 60, extra: X265 }, 'noise', 15, 45, ['ffmpeg']],
    [{ codec: 'mpeg2', frames: 60 }, 'noise', 15, 45, ['ffmpeg']],
    [{ codec: 'prores', pixelFormat: 'yuv422p10le', frames: 60 }, 'noise', 20, 40, ['ffmpeg']],
    [{ codec: 'ffv1', frames: 60 }, 'cut', 20, 40, ['ffmpeg']],
    [{ codec: 'mjpeg', pixelFormat: 'yuvj420p', frames: 60 }, 'cut', 20, 40, ['ffmpeg']],
  ];
  const harms = tier(first, [...first, ...others]).filter(([, , , , ids]) => ids.includes(id));
  it.each(harms)('stops at damage with an error, or accepts it: %o %s', async (request, how, least, most) => {
    const bad = harmed(encode(request), 0.5, how);
    const facts = await decoder.probe(bad);
    const message = await refusalOf('media', () => decodeAll(decoder, bad, {}, facts));
    expect(message).toMatch(/ is (damaged|cut off) at frame \d+, after \d\.\d{3} s \(.+\); .*allowDamaged/);
    expect(message).toContain(bad);
    if (how === 'cut' && request.codec !== 'h264') expect(message).toContain('is cut off at frame');
    const { source, hashes } = await decodeAll(decoder, bad, { damage: 'accept' }, facts);
    expect(hashes.length).toBeGreaterThanOrEqual(least);
    expect(hashes.length).toBeLessThanOrEqual(most);
    expect(hashes).toEqual(ffmpegHashes(encode(request)).slice(0, hashes.length));
    expect(source.damage).toContain(`at frame ${hashes.length}`);
    expect(source.damage).toContain(`the ${hashes.length} frames before it are used`);
    expect(source.info.warnings).toEqual([source.damage]);
  });
});

describeDecoders(['ffmpeg', 'wasm'], (decoder, id) => {
  it('reports missing packets of a recording', async () => {
    const path = encode({ codec: 'h264', frames: 60, extension: 'ts', extra: ['-preset', 'veryfast'] });
    const lossy = put('lossy.ts', withoutPacket(readFileSync(path), 40));
    const { source, hashes } = await decodeAll(decoder, lossy, { damage: 'accept' });
    expect(hashes).not.toEqual(ffmpegHashes(path));
    expect(source.info.warnings.join()).toContain('Packets are missing in');
    expect(source.info.warnings.join()).toContain('Frames near the jump may be damaged');
  });

  const empty: [DecodeRequest, ErrorCode, string][] = [
    [{ time: { start: 90, end: 95 } }, 'media', 'no frame'],
    [{ frames: { start: 120, end: 130 } }, 'usage', 'frames from 120 on'],
    [{ frames: { start: 3, end: 3 } }, 'usage', 'frames 3 to 3'],
  ];
  it.each(id === 'wasm' ? tier(empty.slice(0, 1), empty) : empty)(
    'refuses a part without frames: %o',
    async (request, code, says) => {
      const run = () => decodeAll(decoder, encode(long({ codec: 'h264', extra: ['-g', '20'] })), request);
      if (id === 'wasm') expect(await refusalOf(code, run)).toContain(says);
      else expect(await refusalOf('usage', run)).toContain('nothing to score');
    },
  );
});

describeDecoders(ALL, (decoder, id) => {
  it('reports undecodable audio as not a video', async () => {
    const sound = ffmpeg(join(encodeFolder(), 'sound.m4a'), [
      ...['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac'],
    ]);
    const bytes = readFileSync(sound);
    const at = bytes.indexOf(Uint8Array.of(5, 128, 128, 128)) + 5;
    // Replaces AAC's object type with that of xHE-AAC.
    bytes.set([0xf9, 0x48], at);
    const message = await refusalOf('media', () => decoder.probe(put('xhe.m4a', bytes)));
    expect(message).toMatch(/no video track|is not a video that/);
    expect(message).not.toContain('[object');
  });

  /** VP8 with two hidden frames, at the time of the next frame or a tick after the previous one. */
  const hiding = (apart: boolean): string => {
    const log = join(encodeFolder(), 'hidden');
    const source = ['-f', 'lavfi', '-i', 'mandelbrot=size=96x64:rate=25', '-frames:v', '40'];
    const coded = ['-c:v', 'libvpx', '-b:v', '200k', '-auto-alt-ref', '1', '-lag-in-frames', '16'];
    const pass = (number: number) => ['-passlogfile', log, '-pass', String(number)];
    const path = join(encodeFolder(), 'hidden.webm');
    // Only the second pass, which is cached, needs the first.
    if (!existsSync(path)) spawnSync('ffmpeg', ['-y', ...source, ...coded, ...pass(1), '-f', 'null', '-']);
    const together = ffmpeg(path, [...source, ...coded, ...pass(2)]);
    if (!apart) return together;
    const time = 'if(eq(PTS\\,NEXT_PTS)\\,PREV_OUTPTS+1\\,PTS)';
    const moved = ['-c', 'copy', '-bsf:v', `setts=pts=${time}:dts=${time}`];
    return ffmpeg(join(encodeFolder(), 'hidden-apart.webm'), ['-i', together, ...moved]);
  };

  it.each(id === 'wasm' ? tier([true], [false, true]) : [false, true])(
    'does not count hidden frames of VP8 (with their own time: %s)',
    async (apart) => {
      const path = hiding(apart);
      const { facts, hashes, times } = await decodeAll(decoder, path);
      expect(hashes).toEqual(ffmpegHashes(path));
      expect(hashes).toHaveLength(40);
      expect(facts.frameRate).toEqual({ num: 25, den: 1 });
      const known = [...((await decoder.timestamps(path))?.times ?? [])];
      expect(known.map((time) => Math.round(time * 25))).toEqual(hashes.map((_, i) => i));
      expect(known).toEqual(times.map((time) => expect.closeTo(time ?? Number.NaN, 6)));
    },
  );
});

describeDecoders(['mediabunny', 'wasm'], (decoder) => {
  it('reads Blobs and bytes like files', async () => {
    for (const input of [await openAsBlob(small()), new Uint8Array(readFileSync(small()))])
      expect((await decodeAll(decoder, input)).hashes).toEqual(ffmpegHashes(small()));
  });
});

describeDecoders(['wasm'], (decoder) => {
  it('decodes a few frames ahead of a slow reader and then waits', async () => {
    const received = vi.spyOn(ChunkReader.prototype, 'give');
    onTestFinished(() => void received.mockRestore());
    const arrived = () => received.mock.calls.reduce((sum, [bytes]) => sum + bytes.length, 0);
    const path = encode({ codec: 'h264', frames: 60 });
    const frame = 320 * 240 * 1.5;
    const source = await decoder.open(path, await decoder.probe(path), {});
    // A busy machine may take longer than the pause below to its first frames.
    await vi.waitUntil(() => arrived() > 2 * frame, { timeout: 20_000 });
    let before = -1;
    while (before !== arrived()) {
      before = arrived();
      await sleep(500);
    }
    expect(before).toBeGreaterThan(2 * frame);
    // One piece may exceed the limit of 4 MiB.
    expect(before).toBeLessThan((4 << 20) + 3 * frame);
    expect(await hashFrames(source)).toEqual(ffmpegHashes(path));
    expect(arrived()).toBe(60 * frame);
  });
});

describeDecoders(['mediabunny'], (decoder) => {
  it.each(['mp4', 'ts'])('leaves pictures that their bitstream turns to others, in %s', async (extension) => {
    const turn = ['-c', 'copy', '-bsf:v', 'h264_metadata=display_orientation=insert:rotate=90'];
    const path = ffmpeg(join(encodeFolder(), `turned-by-sei.${extension}`), ['-i', small(), ...turn]);
    await expect(decoder.probe(path)).rejects.toThrow('are turned by their bitstream');
  });

  it('reads the index of an immutable file once', async () => {
    const blob = await openAsBlob(clip());
    const read = vi.spyOn(blob, 'slice');
    const facts = await decoder.probe(blob);
    const { times } = (await decoder.timestamps(blob)) ?? {};
    expect(times).toHaveLength(50);
    const reads = read.mock.calls.length;
    expect(reads).toBeGreaterThan(0);
    const expected = [...(times ?? [])];
    // The caller may change the times.
    times?.fill(7);
    expect(await decoder.probe(blob)).toEqual(facts);
    expect([...((await decoder.timestamps(blob))?.times ?? [])]).toEqual(expected);
    expect(read).toHaveBeenCalledTimes(reads);
  });

  it('opens an immutable file again without reading its index again', async () => {
    const [path, other] = [small(), small('-crf', '40')];
    const [blob, second] = [await openAsBlob(path), await openAsBlob(other)];
    // Computed first: a thread that is idle for two seconds ends, and closes its files.
    const [all, others] = [ffmpegHashes(path), ffmpegHashes(other)];
    expect(all).not.toEqual(others);
    const read = vi.spyOn(blob, 'slice');
    const facts = await decoder.probe(blob);
    await decoder.probe(second);
    const part = async (from: Blob, start: number) =>
      (await decodeAll(decoder, from, { frames: { start, end: start + 3 } })).hashes;
    // In both directions, and alternating between two files.
    const parts = async () => {
      for (const start of [40, 7, 30]) {
        expect(await part(blob, start)).toEqual(all.slice(start, start + 3));
        expect(await part(second, start)).toEqual(others.slice(start, start + 3));
      }
    };
    await parts();
    // Both files are open in threads now: a part reads at most its frames, and no index.
    read.mockClear();
    await parts();
    expect(read.mock.calls.length).toBeLessThanOrEqual(3);
    // A source that is closed within a group of pictures leaves nothing to the next.
    const source = await decoder.open(blob, facts, { frames: { start: 20, end: 50 } });
    await source.readFrame(0, planesFor(source.info));
    await source.close();
    expect(await part(blob, 3)).toEqual(all.slice(3, 6));
  });

  it('works after a broken file', async () => {
    const whole = readFileSync(small());
    const broken = new Blob([whole.fill(0x55, whole.length >> 1)]);
    for (let i = 0; i < 2; i++) await expect(decodeAll(decoder, broken)).rejects.toThrow();
    expect((await decodeAll(decoder, await openAsBlob(small()))).hashes).toEqual(ffmpegHashes(small()));
  });
});
