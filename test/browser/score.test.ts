/**
 * @module test/browser/score
 * The built library in headless Chromium: the same report as in Node, to the last bit, in a page with workers, in the
 * page's own thread and inside a worker of the host.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { score } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/types.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built, root } from '../support/built.js';
import { noChromium, PATIENCE, PATIENT, sharedChromium } from '../support/chromium.js';
import { type StaticServer, serve } from '../support/server.js';

vi.setConfig(PATIENT);

const MODELS = ['version=vmaf_v0.6.1', 'version=vmaf_b_v0.6.3:name=b'];
const FEATURES = ['psnr=enable_apsnr=true'];
const CLIPS = {
  eight: { clip: makeSample({ width: 160, height: 90, bitDepth: 8, chroma: '420' }, { cut: 5 }), frames: 9 },
  ten: { clip: makeSample({ width: 97, height: 67, bitDepth: 10, chroma: '422' }, { seed: 3 }), frames: 4 },
};

declare global {
  interface Window {
    /** The library as the page loaded it. */
    anyvmaf: Promise<Pick<typeof import('../../src/index.browser.js'), 'score'>>;
  }
}

type Result = Pick<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics' | 'warnings'>;

describe.skipIf(noChromium)(`in Chromium${noChromium}`, () => {
  let server: StaticServer;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};

  beforeAll(async () => {
    built('dist/bundle/js/index.browser.js');
    for (const [name, { clip, frames }] of Object.entries(CLIPS)) {
      files[`/${name}/reference.y4m`] = y4mFile(clip, 'reference', frames);
      files[`/${name}/distorted.y4m`] = y4mFile(clip, 'distorted', frames);
    }
    const hostWorker = `
      import { score } from '/dist/bundle/js/index.browser.js';
      onmessage = async ({ data: { reference, distorted, options } }) => {
        const report = await score({ reference, distorted }, options);
        postMessage(report.frames);
      };`;
    server = await serve(root.replace(/\/$/, ''), {
      ...files,
      '/index.html': `<!doctype html><link rel="icon" href="data:,"><script type="module">
        window.anyvmaf = import('/dist/bundle/js/index.browser.js');
      </script>`,
      '/host-worker.js': hostWorker,
    });
    browser = await sharedChromium();
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${server.origin}/index.html`);
  });

  afterAll(async () => {
    await page?.context().close();
    await server?.stop();
  });

  /** Scores a clip in the page, its files handed over as blobs. */
  function inPage(name: string, threads: number | undefined): Promise<Result> {
    return page.evaluate(
      async ({ name, options }) => {
        const library = await window.anyvmaf;
        const blob = async (side: string) => (await fetch(`/${name}/${side}.y4m`)).blob();
        const request = { reference: await blob('reference'), distorted: await blob('distorted') };
        const report = await library.score(request, options);
        const { frames, pooled_metrics, aggregate_metrics, warnings } = report;
        return { frames, pooled_metrics, aggregate_metrics, warnings };
      },
      { name, options: { models: MODELS, features: FEATURES, ...(threads !== undefined && { threads }) } },
    );
  }

  async function inNode(name: string): Promise<Result> {
    const bytes = (side: string) => files[`/${name}/${side}.y4m`] ?? new Uint8Array();
    const report = await score(
      { reference: bytes('reference'), distorted: bytes('distorted') },
      { models: MODELS, features: FEATURES, threads: 0 },
    );
    const { frames, pooled_metrics, aggregate_metrics, warnings } = report;
    return { frames, pooled_metrics, aggregate_metrics, warnings };
  }

  for (const [name, { clip, frames }] of Object.entries(CLIPS)) {
    const { width, height, bitDepth, chroma } = clip.format;
    for (const threads of [0, 2, undefined]) {
      const how = threads === undefined ? 'as many workers as it likes' : `${threads} workers`;
      it(`scores ${frames} frames of ${width}x${height} ${bitDepth} bit ${chroma} as Node does, ${how}`, async () => {
        expect(await inPage(name, threads)).toEqual(await inNode(name));
      });
    }
  }

  it('scores inside a worker of the host', async () => {
    const frames: FrameMetrics[] = await page.evaluate(
      async (options) => {
        const blob = async (side: string) => (await fetch(`/eight/${side}.y4m`)).blob();
        const worker = new Worker('/host-worker.js', { type: 'module' });
        const result = new Promise<FrameMetrics[]>((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = (event) => reject(new Error(event.message));
        });
        worker.postMessage({
          reference: await blob('reference'),
          distorted: await blob('distorted'),
          options,
        });
        return result.finally(() => worker.terminate());
      },
      { models: MODELS, features: FEATURES },
    );
    expect(frames).toEqual((await inNode('eight')).frames);
  });

  it('explains a file that is no video', async () => {
    const failure = await page.evaluate(async () => {
      const library = await window.anyvmaf;
      const blob = new Blob(['not a video']);
      return library.score({ reference: blob, distorted: blob }).then(
        () => undefined,
        (error: Error & { code: string }) => ({ name: error.name, code: error.code }),
      );
    });
    expect(failure).toEqual({ name: 'AnyvmafError', code: 'media' });
  });

  it('leaves no error in the console', () => {
    expect(complaints).toEqual([]);
  });
});
