/** FFmpeg in WebAssembly as a decoder in Node (src/platform/ffmpeg-wasm, src/platform/node/wasm-decoder.ts). */
import { spawnSync } from 'node:child_process';
import { openAsBlob, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createRing, RingReader } from '../../../src/platform/ffmpeg-wasm/ring.js';
import { nodeWasmDecoder } from '../../../src/platform/node/wasm-decoder.js';
import { built } from '../../support/built.js';
import { SAMPLES, titleOf } from '../../support/codec-samples.js';
import { planesFor } from '../../support/decoded.js';
import { decodeAll, frameHashes } from '../../support/decoding.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../../support/encode.js';
import { failure } from '../../support/media.js';
import { seeded } from '../../support/random.js';
import { withoutPacket } from '../../support/transport-stream.js';

const decoder = nodeWasmDecoder({
  worker: () => new URL('../../../dist/bundle/js/node-ffmpeg-worker.js', import.meta.url),
});
const { usable } = await decoder.availability();
const canRun = usable && hasFfmpeg;
const title = (text: string): string => (canRun ? text : `${text} (${needsFfmpeg} and @ffmpeg/core)`);

/** 50 frames with key frames at 0, 12, 24...; B-frames between. */
const clip = (): string => encode({ codec: 'h264', frames: 50, extra: ['-g', '12'] });

describe.skipIf(!canRun)(title('the wasm decoder'), () => {
  for (const sample of SAMPLES.filter(({ codec }) => codec !== 'av1')) {
    it(`gives the planes that ffmpeg gives: ${titleOf(sample)}`, async () => {
      const path = encode(sample.encode);
      const { facts, source, hashes } = await decodeAll(decoder, path);
      expect(facts.codec).toBe(sample.codec);
      expect(facts.pixelFormat).toBe(sample.decoded ?? sample.encode.pixelFormat ?? 'yuv420p');
      expect(hashes).toHaveLength(20);
      expect(hashes).toEqual(frameHashes(rawFrames(path), facts));
      expect(source.decodedBy).toBe(`ffmpeg.wasm 5.1.4 (${sample.codec})`);
    });
  }

  it('names AV1 as what it cannot decode, and what can', async () => {
    const path = encode({ codec: 'av1', frames: 5 });
    const message = await failure(() => decoder.probe(path), 'media');
    expect(message).toContain('is av1, which ffmpeg.wasm cannot decode; install ffmpeg');
  });

  it('turns pictures upright, as ffmpeg does', async () => {
    for (const degrees of [90, 180, 270]) {
      const path = join(encodeFolder(), `turned-${degrees}.mp4`);
      ffmpeg(path, ['-i', clip(), '-c', 'copy', '-metadata:s:v', `rotate=${degrees}`]);
      const { facts, hashes } = await decodeAll(decoder, path, { frames: { start: 0, end: 3 } });
      expect(facts.width).toBe(degrees === 180 ? 320 : 240);
      expect(hashes).toEqual(frameHashes(rawFrames(path, ['-frames:v', '3']), facts));
    }
  });

  it('says where packets of a recording are missing', async () => {
    const path = encode({ codec: 'h264', frames: 60, extension: 'ts', extra: ['-preset', 'veryfast'] });
    const lossy = withoutPacket(readFileSync(path), 40);
    const { source } = await decodeAll(decoder, lossy, { allowDamaged: true });
    expect(source.info.warnings.join()).toContain('Packets are missing in');
  });

  it('reads Blobs and bytes as it reads files', async () => {
    const expected = (await decodeAll(decoder, clip())).hashes;
    expect((await decodeAll(decoder, await openAsBlob(clip()))).hashes).toEqual(expected);
    expect((await decodeAll(decoder, new Uint8Array(readFileSync(clip())))).hashes).toEqual(expected);
  });

  it('knows the times of all frames without decoding, and of each frame once it is read', async () => {
    const path = encode({ codec: 'h264', frames: 50, rate: '30000/1001', extra: ['-output_ts_offset', '3'] });
    const times = await decoder.timestamps(path);
    const { times: read } = await decodeAll(decoder, path);
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
    for (const path of [
      clip(),
      encode({ codec: 'vp9', frames: 50 }),
      encode({ codec: 'ffv1', frames: 50 }),
    ]) {
      const { facts, hashes, times } = await decodeAll(decoder, path, request);
      expect(hashes).toEqual(frameHashes(rawFrames(path), facts).slice(first, first + count));
      times.forEach((time, i) => {
        expect(time).toBeCloseTo((first + i) / 25, 3);
      });
    }
  });

  it('refuses a part in which there is no frame', async () => {
    const facts = await decoder.probe(clip());
    const open = async (request: object) => {
      const source = await decoder.open(clip(), facts, request);
      try {
        await source.readFrame(0, planesFor(facts));
      } finally {
        await source.close();
      }
    };
    expect(await failure(() => open({ frames: { start: 60, end: 70 } }), 'usage')).toContain(
      'frames from 60 on',
    );
    expect(await failure(() => open({ frames: { start: 3, end: 3 } }), 'usage')).toContain('frames 3 to 3');
    expect(await failure(() => open({ time: { start: 100, end: 101 } }), 'media')).toContain('no frame');
  });

  it('does not scale, which swscale without assembler code does not do as ffmpeg does', async () => {
    const size = { width: 480, height: 270, filter: 'bicubic' } as const;
    const { source, facts, hashes } = await decodeAll(decoder, clip(), { size });
    expect(source.scaledBy).toBeUndefined();
    expect(source.info).toMatchObject({ width: 320, height: 240 });
    expect(hashes).toEqual(frameHashes(rawFrames(clip()), facts));
  });

  describe('damage', () => {
    /** Noise in place of some frames after the first third. */
    function damaged(): string {
      const path = join(encodeFolder(), 'damaged.mp4');
      const bytes = readFileSync(clip());
      const start = bytes.indexOf('mdat') + 4;
      const at = start + Math.floor((bytes.length - start) / 3);
      bytes.set(seeded(4).bytes(6000), at);
      writeFileSync(path, bytes);
      return path;
    }

    it('is an error that names file, frame and time', async () => {
      const message = await failure(() => decodeAll(decoder, damaged()), 'media');
      expect(message).toMatch(/damaged\.mp4 is damaged at frame \d+, after 0\.\d+ s \(h264: .*allowDamaged/);
    });

    it('ends a video where that is allowed, behind frames that are whole', async () => {
      const { source, facts, hashes } = await decodeAll(decoder, damaged(), { allowDamaged: true });
      expect(hashes.length).toBeGreaterThan(5);
      expect(hashes.length).toBeLessThan(40);
      expect(hashes).toEqual(frameHashes(rawFrames(clip()), facts).slice(0, hashes.length));
      expect(source.damage).toContain(`the ${hashes.length} frames before it are used`);
    });

    it('is told from a file that is cut off', async () => {
      const path = join(encodeFolder(), 'cut.webm');
      const whole = readFileSync(encode({ codec: 'vp9', frames: 50 }));
      writeFileSync(path, whole.subarray(0, Math.floor(whole.length * 0.6)));
      expect(await failure(() => decodeAll(decoder, path), 'media')).toContain('is cut off at frame');
      const { hashes, facts } = await decodeAll(decoder, path, { allowDamaged: true });
      const all = frameHashes(rawFrames(encode({ codec: 'vp9', frames: 50 })), facts);
      expect(hashes.length).toBeGreaterThan(10);
      expect(hashes).toEqual(all.slice(0, hashes.length));
    });
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
    const audio = ffmpeg(join(encodeFolder(), 'audio.m4a'), ['-f', 'lavfi', '-i', 'sine=d=1']);
    expect(await failure(() => decoder.probe(audio), 'media')).toContain('no video track');
    const stream = new ReadableStream<Uint8Array>();
    expect(await failure(() => decoder.probe(stream), 'usage')).toContain('give it as a file');
  });

  it('stops at once when it is aborted or closed', async () => {
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
    const reading = other.readFrame(30, planes);
    await other.close();
    expect(await reading).toBe(false);
    expect(await other.readFrame(31, planes)).toBe(false);
  });

  it('decodes for the command line where nothing is on PATH', () => {
    const main = built('dist/bundle/js/main.js');
    const args = [main, clip(), encode({ codec: 'mpeg2', frames: 50 }), '--decoder', 'wasm', '--json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--output', '-'], {
      encoding: 'utf8',
      env: { PATH: '' },
    });
    expect(stderr).not.toContain('Error');
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

describe('the ring between threads', () => {
  it('passes bytes on in order, and makes the writer wait for the reader', async () => {
    const ring = createRing(1000);
    const capacity = ring.bytes.length;
    const total = 5 * capacity + 12345;
    const script = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { RingWriter } = await import(workerData.module);
      const writer = new RingWriter(workerData.ring, () => parentPort.postMessage('wake'));
      for (let sent = 0; sent < workerData.total; ) {
        const part = new Uint8Array(Math.min(77777, workerData.total - sent));
        for (let i = 0; i < part.length; i++) part[i] = (sent + i) % 251;
        writer.time(sent);
        writer.write(part);
        sent += part.length;
      }
      parentPort.postMessage('end');`;
    const module = new URL('../../../dist/platform/ffmpeg-wasm/ring.js', import.meta.url).href;
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    const worker = new Worker(url, { workerData: { ring, total, module }, execArgv: [] });
    const reader = new RingReader(ring);
    worker.on('message', (message) => (message === 'end' ? reader.end() : reader.wake()));
    // A writer that did not wait would write over what has not been read.
    await new Promise((resolve) => setTimeout(resolve, 300));
    let position = 0;
    let wrong = 0;
    const times: number[] = [];
    for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
      expect(chunk.length).toBeLessThanOrEqual(capacity);
      for (const byte of chunk) if (byte !== position++ % 251) wrong++;
      times.push(...reader.takeTimes());
    }
    await worker.terminate();
    expect({ position, wrong }).toEqual({ position: total, wrong: 0 });
    expect(times).toEqual(Array.from({ length: Math.ceil(total / 77777) }, (_, i) => i * 77777));
  });
});
