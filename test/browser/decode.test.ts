/**
 * @module test/browser/decode
 * The decoders in headless Chromium: WebCodecs and ffmpeg.wasm give the same planes as ffmpeg, on pages with and without
 * cross-origin isolation.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChromaFormat } from '../../src/core/frame.js';
import { chromaSize, lumaBytes, sampleBytes } from '../../src/core/frame.js';
import { built, root } from '../support/built.js';
import { needsChromium, PATIENCE, PATIENT, sharedChromium } from '../support/chromium.js';
import { SAMPLES, titleOf } from '../support/decoded.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg, rawFrames } from '../support/encode.js';
import { type StaticServer, serve } from '../support/file-server.js';
import { tier } from '../support/tier.js';

vi.setConfig(PATIENT);

const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** Modules that decoders load. */
const MODULES = {
  mediabunny: '/node_modules/mediabunny/dist/bundles/mediabunny.mjs',
  ffmpegCore: '/node_modules/@ffmpeg/core/dist/esm/',
};

const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  window.anyvmafDecoders = import('/dist/platform/browser/decoders.js');
</script>`;

declare global {
  interface Window {
    anyvmafDecoders: Promise<typeof import('../../src/platform/browser/decoders.js')>;
  }
}

interface Outcome {
  readonly error?: { readonly code: string; readonly message: string };
  readonly decodedBy: string;
  readonly isolated: boolean;
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly chroma: ChromaFormat;
  readonly pixelFormat: string;
  /** SHA-256 of each frame's planes. */
  readonly hashes: readonly string[];
  readonly times: readonly (number | undefined)[];
  readonly allTimes: readonly number[] | undefined;
}

/** WebCodecs of Debian's Chromium. */
const WEBCODECS = new Set(['h264', 'vp9', 'av1']);

/** The codecs of WebCodecs, with higher bit depth and chroma once each, and two that only ffmpeg.wasm decodes. */
const FEW = /^(h264 yuv420p|h264 yuv422p10le|vp9 yuv420p10le|av1 yuv420p|hevc yuv420p10le|ffv1 yuv444p)$/;
const all = SAMPLES.map((sample) => ({ ...sample, title: titleOf(sample) }));
const tried = tier(
  all.filter(({ title }) => FEW.test(title)),
  all,
);

const absent = [
  needsChromium,
  hasFfmpeg ? '' : needsFfmpeg,
  existsSync(join(root, 'node_modules/@ffmpeg/core')) ? '' : 'needs @ffmpeg/core',
]
  .filter(Boolean)
  .join(', ');

describe.skipIf(absent !== '')(`decoding in Chromium${absent && ` (${absent})`}`, () => {
  let server: StaticServer;
  let context: BrowserContext;
  let plain: Page;
  let isolated: Page;
  const complaints: string[] = [];
  /** The page, and encodes. */
  const files: Record<string, string | Uint8Array> = { '/index.html': PAGE };

  beforeAll(async () => {
    built('dist/platform/browser/decoders.js');
    server = await serve(root.replace(/\/$/, ''), files, {
      // Workers of an isolated page must be isolated too, and their referer is the script.
      headers: (path, { url = '', headers: { referer = '' } }) =>
        path.endsWith('.js') || `${url} ${referer}`.includes('isolated') ? ISOLATED : {},
    });
    context = await (await sharedChromium()).newContext();
    context.setDefaultTimeout(PATIENCE);
    [plain, isolated] = [await context.newPage(), await context.newPage()];
    for (const page of [plain, isolated]) page.on('pageerror', (error) => complaints.push(String(error)));
    await plain.goto(`${server.origin}/index.html`);
    await isolated.goto(`${server.origin}/index.html?isolated`);
  });

  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  afterAll(async () => {
    await context?.close();
    await server?.stop();
  });

  /** @returns the URL path of a file */
  function publish(path: string): string {
    const url = `/encodes/${createHash('sha1').update(path).digest('hex').slice(0, 8)}${extname(path)}`;
    files[url] ??= readFileSync(path);
    return url;
  }

  /** Lists frames of files without decoding, in turn, while other threads are busy. @returns frame counts or error messages */
  function listBesideWork(paths: readonly string[], busyThreads: number): Promise<(number | string)[]> {
    return plain.evaluate(
      async ({ urls, busyThreads, modules }) => {
        const script = URL.createObjectURL(new Blob(['for (;;);'], { type: 'text/javascript' }));
        const busy = Array.from({ length: busyThreads }, () => new Worker(script));
        try {
          const { browserDecoders } = await window.anyvmafDecoders;
          const [decoder] = browserDecoders(() => modules);
          const found: (number | string)[] = [];
          for (const url of urls) {
            const file = new File([await (await fetch(url)).blob()], url.slice(9));
            try {
              const { frameCount } = (await decoder?.probe(file)) ?? {};
              const times = (await decoder?.timestamps(file))?.times;
              if (frameCount !== times?.length) throw new Error(`${frameCount} are not ${times?.length}`);
              found.push(frameCount ?? 0);
            } catch (error) {
              found.push((error as Error).message);
            }
          }
          return found;
        } finally {
          for (const worker of busy) worker.terminate();
        }
      },
      { urls: paths.map(publish), busyThreads, modules: MODULES },
    );
  }

  type Id = 'mediabunny' | 'wasm';

  function decode(page: Page, path: string, id: Id, request: object = {}): Promise<Outcome> {
    const url = publish(path);
    return page.evaluate(
      async ({ url, id, request, modules }) => {
        const { browserDecoders } = await window.anyvmafDecoders;
        const decoder = browserDecoders(() => modules).find((decoder) => decoder.id === id);
        const file = new File([await (await fetch(url)).blob()], url.slice(9));
        const isolated = crossOriginIsolated;
        const nothing = { decodedBy: '', width: 0, height: 0, bitDepth: 0, chroma: '400' as const };
        const hashes: string[] = [];
        const times: (number | undefined)[] = [];
        try {
          if (!decoder) throw new Error(`no decoder ${id}`);
          const { usable, reason } = await decoder.availability();
          if (!usable) throw new Error(reason);
          const facts = await decoder.probe(file);
          const allTimes = [...((await decoder.timestamps(file))?.times ?? [])];
          const source = await decoder.open(file, facts, request);
          const { width, height, bitDepth, chroma } = source.info;
          const luma = width * height * (bitDepth > 8 ? 2 : 1);
          const part = luma / (chroma === '444' ? 1 : chroma === '422' ? 2 : 4);
          const frame = new Uint8Array(luma + 2 * part);
          const planes = {
            y: frame.subarray(0, luma),
            cb: frame.subarray(luma, luma + part),
            cr: frame.subarray(luma + part),
          };
          while (await source.readFrame(hashes.length, planes)) {
            times.push(source.timestamp(hashes.length));
            const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', frame));
            hashes.push([...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
          }
          await source.close();
          const [{ pixelFormat }, { decodedBy, info }] = [facts, source];
          return { ...info, isolated, pixelFormat, decodedBy, hashes, times, allTimes };
        } catch (thrown) {
          const { code = '', message } = thrown as Error & { code?: string };
          const error = { code, message };
          return { ...nothing, isolated, pixelFormat: '', error, hashes, times, allTimes: undefined };
        }
      },
      { url, id, request, modules: MODULES },
    );
  }

  function expectedHashes(path: string, outcome: Outcome): string[] {
    const { width, height } = chromaSize(outcome);
    const bytes = lumaBytes(outcome) + 2 * width * height * sampleBytes(outcome.bitDepth);
    const raw = rawFrames(path);
    return Array.from({ length: raw.length / bytes }, (_, i) =>
      createHash('sha256')
        .update(raw.subarray(i * bytes, (i + 1) * bytes))
        .digest('hex'),
    );
  }

  describe.each(tried)('$title', ({ encode: made, codec }) => {
    if (WEBCODECS.has(codec))
      it('is decoded by WebCodecs to the planes of ffmpeg', async () => {
        const path = encode(made);
        const outcome = await decode(plain, path, 'mediabunny');
        expect(outcome.error).toBeUndefined();
        expect(outcome.pixelFormat).toBe(made.pixelFormat ?? 'yuv420p');
        expect(outcome.hashes).toHaveLength(20);
        expect(outcome.hashes).toEqual(expectedHashes(path, outcome));
        expect(outcome.times).toEqual(outcome.allTimes);
        expect(outcome.decodedBy).toBe(`mediabunny with WebCodecs (${codec})`);
      });
    else
      it('is refused by WebCodecs with advice, and decoded by ffmpeg.wasm to the planes of ffmpeg', async () => {
        const path = encode(made);
        const { error } = await decode(plain, path, 'mediabunny');
        expect(error?.code).toBe('media');
        expect(error?.message).toContain('ffmpeg.wasm decodes more');
        const outcome = await decode(plain, path, 'wasm');
        expect(outcome.error).toBeUndefined();
        expect(outcome.hashes).toEqual(expectedHashes(path, outcome));
        expect(outcome.hashes).toHaveLength(20);
      });
  });

  it('ffmpeg.wasm waits for its reader, with and without isolation', async () => {
    // 44 frames of 1.4 MB exceed the buffer of 48 MB.
    const path = encode({ codec: 'h264', size: '1280x720', frames: 44 });
    const first = await decode(plain, path, 'wasm');
    const second = await decode(isolated, path, 'wasm');
    expect([first.isolated, second.isolated]).toEqual([false, true]);
    const expected = expectedHashes(path, first);
    expect(first.hashes).toEqual(expected);
    expect(second.hashes).toEqual(expected);
  });

  it('decodes parts of a video', async () => {
    const path = encode({ codec: 'h264', size: '64x48', frames: 50, extra: ['-g', '12'] });
    for (const id of ['mediabunny', 'wasm'] as const) {
      const whole = await decode(plain, path, id);
      const part = await decode(plain, path, id, { time: { start: 1.6, end: 1.8 } });
      expect(part.hashes).toEqual(whole.hashes.slice(40, 45));
      expect(part.times).toEqual(whole.times.slice(40, 45));
      const frames = await decode(plain, path, id, { frames: { start: 7, end: 11 } });
      expect(frames.hashes).toEqual(whole.hashes.slice(7, 11));
    }
  });

  it('aborts an endless file, but not an hour of video, also on a busy machine', async () => {
    const part = encode({ codec: 'h264', size: '64x64', frames: 250 });
    const hour = ffmpeg(join(encodeFolder(), 'hour.mp4'), [
      ...['-stream_loop', '359', '-i', `file:${part}`, '-frames:v', '90000', '-c', 'copy'],
    ]);
    const endless = join(root, 'test/fixtures/hostile/endless-element-2.mkv');
    for (const busyThreads of tier([0], [0, 4 * availableParallelism()])) {
      const [frames, refusal] = await listBesideWork([hour, endless], busyThreads);
      expect(frames).toBe(90_000);
      expect(refusal).toMatch(
        /^\S+\.mkv cannot be read by mediabunny: aborted after \d+\.\d s without progress/,
      );
    }
  });

  it('explains that ffmpeg.wasm cannot decode AV1', async () => {
    const { error } = await decode(plain, encode({ codec: 'av1', frames: 5 }), 'wasm');
    expect(error?.message).toContain(
      'is av1, which ffmpeg.wasm cannot decode; use a browser whose WebCodecs can',
    );
  });
});
