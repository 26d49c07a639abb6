/** mediabunny over libavcodec as a decoder in Node (src/platform/mediabunny, src/platform/node/mediabunny-decoder.ts). */
import { openAsBlob, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { VideoSample } from 'mediabunny';
import { describe, expect, it, vi } from 'vitest';
import { SampleCopier, samplePixelFormat } from '../../../src/platform/mediabunny/samples.js';
import { rate } from '../../../src/platform/mediabunny/track.js';
import { nodeMediabunnyDecoder } from '../../../src/platform/node/mediabunny-decoder.js';
import { built } from '../../support/built.js';
import { SAMPLES, titleOf } from '../../support/codec-samples.js';
import { planesFor } from '../../support/decoded.js';
import { decodeAll, frameHashes } from '../../support/decoding.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../../support/encode.js';
import { failure } from '../../support/media.js';
import { seeded } from '../../support/random.js';

const decoder = nodeMediabunnyDecoder({
  parser: () => pathToFileURL(built('dist/bundle/js/node-parser-worker.js')),
});
const { usable } = await decoder.availability();
const canRun = usable && hasFfmpeg;
const title = (text: string): string =>
  canRun ? text : `${text} (${needsFfmpeg}, mediabunny and @mediabunny/server)`;

const DECODED = new Set(['h264', 'hevc', 'vp9', 'av1']);

/** 50 frames with key frames at 0, 12, 24...; B-frames between. */
const clip = (): string => encode({ codec: 'h264', frames: 50, extra: ['-g', '12'] });

describe.skipIf(!canRun)(title('the mediabunny decoder'), () => {
  for (const sample of SAMPLES) {
    if (DECODED.has(sample.codec)) {
      it(`gives the planes that ffmpeg gives: ${titleOf(sample)}`, async () => {
        const path = encode(sample.encode);
        const { facts, source, hashes } = await decodeAll(decoder, path);
        expect(facts).toMatchObject({ codec: sample.codec, width: 320, height: 240, rotation: 0 });
        expect(facts.frameRate).toEqual({ num: 25, den: 1 });
        expect(facts.pixelFormat).toBe(sample.encode.pixelFormat ?? 'yuv420p');
        expect(hashes).toHaveLength(20);
        expect(hashes).toEqual(frameHashes(rawFrames(path), facts));
        expect(source.decodedBy).toBe(`mediabunny with libavcodec (${sample.codec})`);
      });
    } else {
      it(`says that it cannot decode ${titleOf(sample)}, and what can`, async () => {
        const path = encode(sample.encode);
        expect(await failure(() => decoder.probe(path), 'media')).toContain('install ffmpeg');
      });
    }
  }

  it('goes through the index of a file once, where the file cannot change', async () => {
    const blob = await openAsBlob(clip());
    const read = vi.spyOn(blob, 'slice');
    const [facts, times] = [await decoder.probe(blob), await decoder.timestamps(blob)];
    expect(times).toHaveLength(50);
    const reads = read.mock.calls.length;
    expect(reads).toBeGreaterThan(0);
    const expected = [...(times ?? [])];
    // Whoever has the times may do with them what they like.
    times?.fill(7);
    expect(await decoder.probe(blob)).toEqual(facts);
    expect([...((await decoder.timestamps(blob)) ?? [])]).toEqual(expected);
    expect(read).toHaveBeenCalledTimes(reads);
  });

  it('opens a file again without going through it again, where it cannot change', async () => {
    const path = encode({ codec: 'h264', frames: 50, size: '64x48', extra: ['-g', '12'] });
    const other = encode({ codec: 'h264', frames: 50, size: '64x48', extra: ['-g', '12', '-crf', '40'] });
    const [blob, second] = [await openAsBlob(path), await openAsBlob(other)];
    // Ahead: a thread that has nothing to do for two seconds is gone with what it has open.
    const [raw, otherRaw] = [rawFrames(path), rawFrames(other)];
    const read = vi.spyOn(blob, 'slice');
    const facts = await decoder.probe(blob);
    const all = frameHashes(raw, facts);
    const otherFacts = await decoder.probe(second);
    const others = frameHashes(otherRaw, otherFacts);
    expect(all).not.toEqual(others);
    const part = async (from: Blob, start: number) => {
      const { hashes } = await decodeAll(decoder, from, { frames: { start, end: start + 3 } });
      return hashes;
    };
    // To and fro, and between two files.
    for (const start of [40, 7, 30]) {
      expect(await part(blob, start)).toEqual(all.slice(start, start + 3));
      expect(await part(second, start)).toEqual(others.slice(start, start + 3));
    }
    // Probing read all of so small a file; what came later had it.
    expect(read).toHaveBeenCalledTimes(1);
    // One that is closed in the midst of a group leaves nothing of it to the next.
    const source = await decoder.open(blob, facts, { frames: { start: 20, end: 50 } });
    await source.readFrame(0, planesFor(source.info));
    await source.close();
    expect(await part(blob, 3)).toEqual(all.slice(3, 6));
  });

  it('goes on after a file that broke', async () => {
    const whole = readFileSync(encode({ codec: 'h264', frames: 50, size: '64x48', extra: ['-g', '12'] }));
    const facts = await decoder.probe(new Blob([whole]));
    const broken = new Blob([whole.fill(0x55, whole.length >> 1)]);
    for (let i = 0; i < 2; i++) {
      const reading = decodeAll(decoder, broken);
      await expect(reading).rejects.toThrow();
    }
    const good = await openAsBlob(clip());
    const { hashes } = await decodeAll(decoder, good);
    expect(hashes).toEqual(frameHashes(rawFrames(clip()), await decoder.probe(good)));
    expect(facts.codec).toBe('h264');
  });

  it('turns pictures upright, as ffmpeg does', async () => {
    for (const degrees of [90, 180, 270]) {
      const path = join(encodeFolder(), `turned-${degrees}.mp4`);
      ffmpeg(path, ['-i', clip(), '-c', 'copy', '-metadata:s:v', `rotate=${degrees}`]);
      const { facts, source, hashes } = await decodeAll(decoder, path, { frames: { start: 0, end: 3 } });
      expect(facts.width).toBe(degrees === 180 ? 320 : 240);
      expect(source.decodedBy).toContain(`turned by ${facts.rotation} degrees`);
      expect(hashes).toEqual(frameHashes(rawFrames(path, ['-frames:v', '3']), facts));
    }
  });

  it('reads Blobs and bytes as it reads files', async () => {
    const expected = (await decodeAll(decoder, clip())).hashes;
    expect((await decodeAll(decoder, await openAsBlob(clip()))).hashes).toEqual(expected);
    expect((await decodeAll(decoder, new Uint8Array(readFileSync(clip())))).hashes).toEqual(expected);
  });

  it('knows the times of all frames without decoding, and of each frame once it is read', async () => {
    const path = encode({ codec: 'h264', frames: 50, rate: '30000/1001', extra: ['-output_ts_offset', '3'] });
    const times = await decoder.timestamps(path);
    const { times: read, facts } = await decodeAll(decoder, path);
    expect(facts.frameRate).toEqual({ num: 30000, den: 1001 });
    expect(times).toHaveLength(50);
    expect(read).toHaveLength(50);
    for (let i = 0; i < 50; i++) {
      expect(times?.[i]).toBeCloseTo((i * 1001) / 30000, 4);
      expect(read[i]).toBeCloseTo((i * 1001) / 30000, 4);
    }
  });

  it.each([
    { request: { frames: { start: 7, end: 11 } }, first: 7, count: 4 },
    { request: { frames: { start: 40, end: 99 } }, first: 40, count: 10 },
    { request: { time: { start: 0.5, end: 0.7 } }, first: 13, count: 5 },
    { request: { time: { start: 1.6, end: Number.POSITIVE_INFINITY } }, first: 40, count: 10 },
  ])('gives a part of a video: $request', async ({ request, first, count }) => {
    for (const path of [clip(), encode({ codec: 'vp9', frames: 50 })]) {
      const { facts, hashes, times } = await decodeAll(decoder, path, request);
      expect(hashes).toEqual(frameHashes(rawFrames(path), facts).slice(first, first + count));
      times.forEach((time, i) => {
        expect(time).toBeCloseTo((first + i) / 25, 3);
      });
    }
  });

  it('does not scale', async () => {
    const size = { width: 480, height: 270, filter: 'bicubic' } as const;
    const facts = await decoder.probe(clip());
    const source = await decoder.open(clip(), facts, { size });
    expect(source.scaledBy).toBeUndefined();
    expect(source.info).toMatchObject({ width: 320, height: 240 });
    await source.close();
  });

  it('reports damage with file, frame and time, or ends there', async () => {
    const path = join(encodeFolder(), 'damaged.mp4');
    const bytes = readFileSync(clip());
    const start = bytes.indexOf('mdat') + 4;
    bytes.set(seeded(4).bytes(6000), start + Math.floor((bytes.length - start) / 3));
    writeFileSync(path, bytes);
    const message = await failure(() => decodeAll(decoder, path), 'media');
    expect(message).toMatch(/damaged\.mp4 is damaged at frame \d+, after 0\.\d+ s \(h264: .*allowDamaged/);
    const { source, facts, hashes } = await decodeAll(decoder, path, { allowDamaged: true });
    expect(hashes.length).toBeGreaterThan(5);
    expect(hashes).toEqual(frameHashes(rawFrames(clip()), facts).slice(0, hashes.length));
    expect(source.damage).toContain(`the ${hashes.length} frames before it are used`);
  });

  it('notices that a file is cut off', async () => {
    const path = join(encodeFolder(), 'cut.mp4');
    const front = join(encodeFolder(), 'index-first.mp4');
    ffmpeg(front, ['-i', clip(), '-c', 'copy', '-movflags', '+faststart']);
    const whole = readFileSync(front);
    writeFileSync(path, whole.subarray(0, Math.floor(whole.length * 0.6)));
    expect(await failure(() => decodeAll(decoder, path), 'media')).toMatch(
      /cut\.mp4 is (cut off|damaged) at frame/,
    );
  });

  it('says of what is no video that it is none', async () => {
    const file = (name: string, content: string | Uint8Array) => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, content);
      return path;
    };
    expect(await failure(() => decoder.probe(file('text.mp4', 'hello')), 'media')).toContain(
      'is not a video',
    );
    expect(await failure(() => decoder.probe(file('empty.mp4', '')), 'io')).toContain('is empty');
    expect(await failure(() => decoder.probe(join(encodeFolder(), 'none.mp4')), 'io')).toContain(
      'no such file',
    );
    const tone = ['-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac'];
    const audio = ffmpeg(join(encodeFolder(), 'audio.m4a'), tone);
    expect(await failure(() => decoder.probe(audio), 'media')).toBe(
      `${audio} has no video track, only audio (aac).`,
    );
    // There it does not list what it does not know.
    const stream = ffmpeg(join(encodeFolder(), 'audio.ts'), tone);
    expect(await failure(() => decoder.probe(stream), 'media')).toContain(
      'has no video track, or none of a codec that mediabunny knows; install ffmpeg',
    );
    expect(await failure(() => decoder.probe(new ReadableStream()), 'usage')).toContain('give it as a file');
  });

  it('stops when it is aborted or closed', async () => {
    const facts = await decoder.probe(clip());
    const planes = planesFor(facts);
    const control = new AbortController();
    const source = await decoder.open(clip(), facts, { signal: control.signal });
    expect(await source.readFrame(0, planes)).toBe(true);
    control.abort(new Error('enough'));
    await expect(source.readFrame(1, planes)).rejects.toThrow('enough');
    await source.close();
    await expect(decoder.probe(clip(), AbortSignal.abort(new Error('early')))).rejects.toThrow('early');

    const other = await decoder.open(clip(), facts, {});
    expect(await other.readFrame(3, planes)).toBe(true);
    await other.close();
    expect(await other.readFrame(4, planes)).toBe(false);
  });
});

describe('samples', () => {
  it('are luma and chroma in layouts that ffmpeg names', () => {
    expect(samplePixelFormat('I420')).toBe('yuv420p');
    expect(samplePixelFormat('I422P10')).toBe('yuv422p10le');
    expect(samplePixelFormat('I444AP12')).toBe('yuva444p12le');
    expect(samplePixelFormat('NV12')).toBe('nv12');
    for (const format of ['RGBA', 'BGRX', null]) expect(samplePixelFormat(format)).toBeUndefined();
  });

  /** A decoded picture in memory, with space between its rows. */
  function picture(format: string, bytes: readonly number[], layout: readonly PlaneLayout[]): VideoSample {
    const copy = {
      format,
      allocationSize: () => bytes.length,
      copyTo: async (into: Uint8Array) => {
        into.set(bytes);
        return layout;
      },
    };
    return copy as unknown as VideoSample;
  }

  it('are taken out of rows with space between them, and of interleaved chroma', async () => {
    const format = { width: 4, height: 2, bitDepth: 8, chroma: '420' } as const;
    const copier = new SampleCopier(format, { rotation: 0, flip: false });
    const planes = planesFor(format);
    const rows = [1, 2, 3, 4, 0, 5, 6, 7, 8, 0];
    const layout = [
      { offset: 0, stride: 5 },
      { offset: 10, stride: 4 },
    ];
    await copier.copy(picture('NV12', [...rows, 11, 21, 12, 22], layout), planes);
    expect(planes).toEqual({
      y: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
      cb: Uint8Array.of(11, 12),
      cr: Uint8Array.of(21, 22),
    });
  });

  // 1 2 3
  // 4 5 6 as stored.
  it.each([
    { rotation: 90, flip: false, upright: [4, 1, 5, 2, 6, 3] },
    { rotation: 180, flip: false, upright: [6, 5, 4, 3, 2, 1] },
    { rotation: 270, flip: false, upright: [3, 6, 2, 5, 1, 4] },
    { rotation: 0, flip: true, upright: [3, 2, 1, 6, 5, 4] },
    { rotation: 90, flip: true, upright: [1, 4, 2, 5, 3, 6] },
  ] as const)('are turned by $rotation degrees, mirrored: $flip', async ({ rotation, flip, upright }) => {
    const turned = rotation === 90 || rotation === 270;
    const size = turned ? { width: 2, height: 3 } : { width: 3, height: 2 };
    for (const bitDepth of [8, 10]) {
      const format = { ...size, bitDepth, chroma: '400' } as const;
      const copier = new SampleCopier(format, { rotation, flip });
      const bytes = [1, 2, 3, 4, 5, 6].flatMap((value) => (bitDepth === 8 ? [value] : [value, 3]));
      const y = planesFor(format).y;
      await copier.copy(picture('I420', bytes, [{ offset: 0, stride: bytes.length / 2 }]), { y });
      expect([...y]).toEqual(upright.flatMap((value) => (bitDepth === 8 ? [value] : [value, 3])));
    }
  });

  it('come at the rate that is meant', () => {
    expect(rate(25)).toEqual({ num: 25, den: 1 });
    expect(rate(29.9700299)).toEqual({ num: 30000, den: 1001 });
    expect(rate(23.976)).toEqual({ num: 24000, den: 1001 });
    expect(rate(12.5)).toEqual({ num: 25, den: 2 });
    expect(rate(17.123)).toEqual({ num: 17123, den: 1000 });
    expect(rate(0)).toBeUndefined();
  });
});
