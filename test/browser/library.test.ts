/**
 * @module test/browser/library
 * The built library in headless Chromium, on the page's thread, on its workers, in a worker of the host and on a GPU: scores,
 * quality maps and tiny models equal Node's.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { qualityMaps, score } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/schema.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built, root } from '../support/built.js';
import {
  launchChromium,
  noChromium,
  notesErrors,
  PATIENCE,
  PATIENT,
  sharedChromium,
} from '../support/chromium.js';
import { SMALL, y4mPair } from '../support/clips.js';
import { type StaticServer, serve } from '../support/file-server.js';
import { linear, meanOf } from '../support/onnx.js';
import { seeded } from '../support/random.js';
import { tier } from '../support/tier.js';

vi.setConfig(PATIENT);

type Library = typeof import('../../src/index.browser.js');

declare global {
  interface Window {
    anyvmaf: Promise<Library>;
  }
}

const OPTIONS = {
  models: ['version=vmaf_v0.6.1', 'version=vmaf_b_v0.6.3:name=b'],
  features: ['psnr=enable_apsnr=true'],
};
const CLIPS = {
  eight: { clip: makeSample({ width: 160, height: 90, bitDepth: 8, chroma: '420' }, { cut: 5 }), frames: 9 },
  ten: { clip: makeSample({ width: 97, height: 67, bitDepth: 10, chroma: '422' }, { seed: 3 }), frames: 4 },
};
type Name = keyof typeof CLIPS;

const ORT = 'node_modules/onnxruntime-web/dist';
const LIBRARY = 'ort.wasm.bundle.min.mjs';
const CODE = 'ort-wasm-simd-threaded.wasm';
const hasOrt = existsSync(join(root, ORT, LIBRARY));

/** Raw video for tiny models. */
const RAW = { width: 32, height: 24, bitDepth: 8, chroma: '420' } as const;
const FRAMES = 5;
const LUMA = RAW.width * RAW.height;
const FRAME = (LUMA * 3) / 2;
const video = seeded(11).bytes(FRAMES * FRAME);

const HOST_WORKER = `
  import { qualityMaps, score } from '/dist/bundle/js/index.browser.js';
  onmessage = async ({ data: { request, options } }) => {
    const { frames } = await score(request, options);
    for await (const maps of qualityMaps(request, [1]))
      postMessage({ frames, lost: [...maps.lost().values], picture: [...maps.render().image.data] });
  };`;

/** The parts of a report that do not depend on how it was run. */
type Result = Pick<Report, 'frames' | 'pooled_metrics' | 'aggregate_metrics' | 'warnings'>;

function resultOf({ frames, pooled_metrics, aggregate_metrics, warnings }: Report): Result {
  return { frames, pooled_metrics, aggregate_metrics, warnings };
}

describe.skipIf(noChromium)(`the library in Chromium${noChromium}`, () => {
  let server: StaticServer;
  let page: Page;
  const complaints: string[] = [];
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  const gpuPair = y4mPair(SMALL, 8);

  beforeAll(async () => {
    built('dist/bundle/js/index.browser.js');
    for (const [name, { clip, frames }] of Object.entries(CLIPS)) {
      files[`/${name}/reference.y4m`] = y4mFile(clip, 'reference', frames);
      files[`/${name}/distorted.y4m`] = y4mFile(clip, 'distorted', frames);
    }
    server = await serve(root.replace(/\/$/, ''), {
      ...files,
      '/index.html':
        '<!doctype html><link rel="icon" href="data:,"><script type="module">' +
        "window.anyvmaf = import('/dist/bundle/js/index.browser.js');</script>",
      '/host-worker.js': HOST_WORKER,
      '/gpu/reference.y4m': gpuPair.reference,
      '/gpu/distorted.y4m': gpuPair.distorted,
      '/nr.onnx': meanOf(['B', 1, 'H', 'W'], { factor: 255 }),
      '/nr.json': JSON.stringify({ name: 'luma_mean', kind: 'nr' }),
      '/fr.onnx': linear([1, 0, 0, 0, 0, 0], 0),
      '/video.yuv': video,
      ...(hasOrt && {
        // As .js, since some servers do not serve .mjs as JavaScript.
        '/ort/ort.js': readFileSync(join(root, ORT, LIBRARY)),
        [`/ort/${CODE}`]: readFileSync(join(root, ORT, CODE)),
      }),
    });
    page = await open(await sharedChromium());
  });

  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  afterAll(async () => {
    await page?.close();
    await server?.stop();
  });

  async function open(browser: Browser): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    // The library looks for a sidecar of each model.
    notesErrors(page, complaints, /404/);
    await page.goto(`${server.origin}/index.html`);
    return page;
  }

  /** Scores a pair of blobs in a page. @throws {Error} of the run */
  function inPage(page: Page, name: string, options: object): Promise<Report> {
    return page.evaluate(
      async ({ name, options }) => {
        const blob = async (side: string) => (await fetch(`/${name}/${side}.y4m`)).blob();
        const request = { reference: await blob('reference'), distorted: await blob('distorted') };
        return (await window.anyvmaf).score(request, options);
      },
      { name, options },
    );
  }

  const bytesOf = (name: Name) => ({
    reference: files[`/${name}/reference.y4m`] ?? new Uint8Array(),
    distorted: files[`/${name}/distorted.y4m`] ?? new Uint8Array(),
  });

  const known = new Map<Name, Promise<Report>>();
  /** The same run in Node, once for each clip. */
  function inNode(name: Name): Promise<Report> {
    const run = known.get(name) ?? score(bytesOf(name), { ...OPTIONS, threads: 0 });
    known.set(name, run);
    return run;
  }

  it.each(
    tier<readonly (readonly [Name, number | undefined])[]>(
      [
        ['eight', 0],
        ['ten', 2],
        ['eight', undefined],
      ],
      (['eight', 'ten'] as const).flatMap((name) =>
        [0, 2, undefined].map((threads) => [name, threads] as const),
      ),
    ),
  )('scores as Node does: %s bits, %s workers', async (name, threads) => {
    const options = { ...OPTIONS, ...(threads !== undefined && { threads }) };
    expect(resultOf(await inPage(page, name, options))).toEqual(resultOf(await inNode(name)));
  });

  it('measures colour metrics as Node does, on workers and on the page’s thread', async () => {
    const features = ['xpsnr', 'ssimulacra2', 'ssimulacra2=mode=exact', 'butteraugli', 'cvvdp'];
    const options = { models: [], features, threads: 0 };
    for (const name of ['eight', 'ten'] as const) {
      const expected = await score(bytesOf(name), options);
      expect(Object.keys(expected.aggregate_metrics)).toContain('cvvdp');
      for (const threads of [0, 2])
        expect(resultOf(await inPage(page, name, { ...options, threads }))).toEqual(resultOf(expected));
    }
    // The module from another URL or from memory.
    const named = await page.evaluate(async () => {
      const { configure, score } = await window.anyvmaf;
      const blob = async (side: string) => (await fetch(`/eight/${side}.y4m`)).blob();
      const request = { reference: await blob('reference'), distorted: await blob('distorted') };
      const run = () => score(request, { models: [], features: ['ssimulacra2'], threads: 0 });
      configure({ perceptualWasm: '/nowhere.wasm' });
      const refused = await run().catch((error: Error) => error.message);
      configure({ perceptualWasm: await (await fetch('/wasm/perceptual.wasm')).arrayBuffer() });
      return { refused, metrics: (await run()).metrics };
    });
    expect(named.metrics).toEqual(['ssimulacra2']);
    expect(named.refused).toMatch(/nowhere.wasm cannot be fetched.* configure\({ perceptualWasm }\)/);
  });

  it.each(['eight', 'ten'] as const)(
    'scores and maps losses in a worker of the host: %s bits',
    async (name) => {
      const found = await page.evaluate(
        async ({ name, options }) => {
          const blob = async (side: string) => (await fetch(`/${name}/${side}.y4m`)).blob();
          const worker = new Worker('/host-worker.js', { type: 'module' });
          const result = new Promise<{ frames: FrameMetrics[]; lost: number[]; picture: number[] }>(
            (resolve, reject) => {
              worker.onmessage = ({ data }) => resolve(data);
              worker.onerror = (event) => reject(new Error(event.message));
            },
          );
          const request = { reference: await blob('reference'), distorted: await blob('distorted') };
          worker.postMessage({ request, options });
          return result.finally(() => worker.terminate());
        },
        { name, options: OPTIONS },
      );
      expect(found.frames).toEqual((await inNode(name)).frames);
      for await (const maps of qualityMaps(bytesOf(name), [1])) {
        expect(found.lost).toEqual([...maps.lost().values]);
        expect(found.picture).toEqual([...maps.render().image.data]);
        return;
      }
      throw new Error('Node made no map.');
    },
  );

  it('refuses a file that is no video', async () => {
    const failure = await page.evaluate(async () => {
      const blob = new Blob(['not a video']);
      return (await window.anyvmaf).score({ reference: blob, distorted: blob }).then(
        () => undefined,
        (error: Error & { code: string }) => ({ name: error.name, code: error.code }),
      );
    });
    expect(failure).toEqual({ name: 'AnyvmafError', code: 'media' });
  });

  it.skipIf(!hasOrt).each([0, 2])(
    `scores with tiny models, with and without a reference, on %i workers${hasOrt ? '' : ' (needs onnxruntime-web)'}`,
    async (threads) => {
      const found = await page.evaluate(
        async ({ threads, raw }) => {
          const api = await window.anyvmaf;
          api.configure({ onnxruntime: '/ort/ort.js' });
          const distorted = await (await fetch('/video.yuv')).blob();
          const alone = (device?: 'cuda') =>
            api.score(
              { distorted, raw },
              { threads, noReference: true, tiny: [{ model: '/nr.onnx', ...(device && { device }) }] },
            );
          const { frames, tiny } = await alone();
          const pair = await api.score(
            { reference: distorted, distorted, raw },
            { threads, models: [], tiny: [{ model: '/fr.onnx' }] },
          );
          return {
            values: frames.map(({ metrics }) => metrics.luma_mean),
            tiny,
            pair: pair.frames.map(({ metrics }) => [metrics.vmaf_tiny_model, metrics.integer_adm2]),
            refused: await alone('cuda').catch((error: Error) => error.message),
          };
        },
        { threads, raw: RAW },
      );
      expect(found.values).toHaveLength(FRAMES);
      for (const [i, value] of found.values.entries()) {
        const luma = video.subarray(i * FRAME, i * FRAME + LUMA);
        expect(value).toBeCloseTo(luma.reduce((sum, sample) => sum + sample, 0) / LUMA, 3);
      }
      expect(found.tiny?.[0]).toMatchObject({ runtime: 'onnxruntime-web', device: 'cpu', kind: 'nr' });
      for (const [value, adm] of found.pair) expect(value).toBeCloseTo(adm ?? 0, 5);
      expect(found.refused).toMatch(/The device cuda is not available for tiny models: .* Available: cpu/);
    },
  );

  const BACKENDS = tier(['webgpu'], ['webgpu', 'hybrid']);
  it(`measures on a GPU with the core’s numbers: ${BACKENDS.join(' and ')}`, async () => {
    // Chromium's software adapter.
    const browser = await launchChromium([
      ...['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-webgpu-adapter=swiftshader'],
    ]);
    try {
      const own = await open(browser);
      const run = (backend: string) =>
        inPage(own, 'gpu', {
          noPrediction: true,
          features: ['psnr', 'motion', 'ssimulacra2'],
          threads: 1,
          backend,
        });
      const core = await run('cpu');
      for (const backend of BACKENDS) {
        const report = await run(backend);
        expect(report.frames).toEqual(core.frames);
        expect(report.backend_used).toBe(backend);
        expect(report.measurers?.[0]).toMatchObject({ backend: 'webgpu', adapter: { software: true } });
      }
    } finally {
      await browser.close();
    }
  });
});
