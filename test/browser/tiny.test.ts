/**
 * @module test/browser/tiny
 * A no-reference model in headless Chromium: by onnxruntime-web, in workers and in the page, with Node's numbers.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { built, root } from '../support/built.js';
import { needsChromium, PATIENCE, PATIENT, sharedChromium } from '../support/chromium.js';
import { linear, meanOf } from '../support/onnx.js';
import { seeded } from '../support/random.js';
import { type StaticServer, serve } from '../support/server.js';

vi.setConfig(PATIENT);

const ORT = 'node_modules/onnxruntime-web/dist';
const LIBRARY = 'ort.wasm.bundle.min.mjs';
const CODE = 'ort-wasm-simd-threaded.wasm';
const absent = [needsChromium, existsSync(join(root, ORT, LIBRARY)) ? '' : 'needs onnxruntime-web']
  .filter(Boolean)
  .join(', ');

declare global {
  interface Window {
    /** The library as the page loaded it. */
    anyvmafTiny: Promise<typeof import('../../src/index.browser.js')>;
  }
}

const WIDTH = 32;
const HEIGHT = 24;
const FRAMES = 5;
const LUMA = WIDTH * HEIGHT;
const FRAME = (LUMA * 3) / 2;

describe.skipIf(absent !== '')(`tiny models in Chromium${absent && ` (${absent})`}`, () => {
  let server: StaticServer;
  let browser: Browser;
  const video = seeded(11).bytes(FRAMES * FRAME);

  beforeAll(async () => {
    built('dist/bundle/js/index.browser.js');
    server = await serve(root.replace(/\/$/, ''), {
      '/index.html':
        '<!doctype html><link rel="icon" href="data:,"><script type="module">' +
        "window.anyvmafTiny = import('/dist/bundle/js/index.browser.js');</script>",
      '/nr.onnx': meanOf(['B', 1, 'H', 'W'], { factor: 255 }),
      '/nr.json': JSON.stringify({ name: 'luma_mean', kind: 'nr' }),
      '/fr.onnx': linear([1, 0, 0, 0, 0, 0], 0),
      '/video.yuv': video,
      // As JavaScript, which .mjs is not to every server.
      '/ort/ort.js': readFileSync(join(root, ORT, LIBRARY)),
      [`/ort/${CODE}`]: readFileSync(join(root, ORT, CODE)),
    });
    browser = await sharedChromium();
  });
  afterAll(async () => {
    await server?.stop();
  });

  it.each([0, 2])('score a video without a reference, on %i workers', async (threads) => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    try {
      await page.goto(`${server.origin}/index.html`);
      const found = await page.evaluate(
        async ({ threads, width, height }) => {
          const api = await window.anyvmafTiny;
          api.configure({ onnxruntime: '/ort/ort.js' });
          const distorted = await (await fetch('/video.yuv')).blob();
          const raw = { width, height, bitDepth: 8, chroma: '420' } as const;
          const alone = await api.score(
            { distorted, raw },
            { threads, noReference: true, tiny: [{ model: '/nr.onnx' }] },
          );
          const pair = await api.score(
            { reference: distorted, distorted, raw },
            { threads, models: [], tiny: [{ model: '/fr.onnx' }] },
          );
          const refused = await api
            .score(
              { distorted, raw },
              { threads, noReference: true, tiny: [{ model: '/nr.onnx', device: 'cuda' }] },
            )
            .catch((error: Error) => error.message);
          return {
            values: alone.frames.map(({ metrics }) => metrics.luma_mean),
            tiny: alone.tiny,
            pair: pair.frames.map(({ metrics }) => [metrics.vmaf_tiny_model, metrics.integer_adm2]),
            refused,
          };
        },
        { threads, width: WIDTH, height: HEIGHT },
      );
      const means = Array.from(
        { length: FRAMES },
        (_, i) => video.subarray(i * FRAME, i * FRAME + LUMA).reduce((sum, value) => sum + value, 0) / LUMA,
      );
      found.values.forEach((value, i) => {
        expect(value).toBeCloseTo(means[i] ?? 0, 3);
      });
      expect(found.tiny?.[0]).toMatchObject({ runtime: 'onnxruntime-web', device: 'cpu', kind: 'nr' });
      for (const [score, adm] of found.pair) expect(score).toBeCloseTo(adm ?? 0, 5);
      expect(found.refused).toMatch(/The device cuda of tiny models is not here: .* Here is cpu/);
    } finally {
      await page.close();
    }
  });
});
