/**
 * @module test/browser/web-tiny
 * Tiny models in the built page: the one that it brings scores a video without its original, one from the user's files
 * beside VMAF, and what is wrong with such files is said when they are picked.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { score } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/types.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encodeFolder } from '../support/encode.js';
import { linear, meanOf } from '../support/onnx.js';
import { openPage, type ServedPage, screenshot, servePage } from '../support/page.js';

declare global {
  interface Window {
    /** What the engine's worker sent of each video. */
    told: { frames: FrameMetrics[]; report: Report | null }[];
  }
}

/** Remembers what the engine's worker tells. */
function listen(): void {
  window.told = [];
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        const { kind, index: of, report, encodes = [] } = data?.event ?? {};
        const toldOf = (index: number) => {
          window.told[index] ??= { frames: [], report: null };
          return window.told[index];
        };
        for (const [index, { frames }] of encodes.entries()) toldOf(index).frames.push(...frames);
        if (kind === 'report') toldOf(of).report = report;
      });
    }
  };
}

const FRAMES = 6;

describe.skipIf(noChromium)(`tiny models in the page${noChromium}`, () => {
  let served: ServedPage;
  let files: Record<'reference' | 'distorted' | 'mean' | 'meanSidecar' | 'sum' | 'text' | 'wrong', string>;

  beforeAll(async () => {
    const clip = makeSample({ width: 160, height: 96, bitDepth: 8, chroma: '420' }, { seed: 9 });
    const write = (name: string, content: string | Uint8Array) => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, content);
      return path;
    };
    files = {
      reference: write('tiny-reference.y4m', y4mFile(clip, 'reference', FRAMES)),
      distorted: write('tiny-distorted.y4m', y4mFile(clip, 'distorted', FRAMES)),
      mean: write('own.onnx', meanOf([1, 1, 48, 80], { factor: 100 })),
      meanSidecar: write('own.json', JSON.stringify({ name: 'own_mean', kind: 'nr' })),
      sum: write('sum.onnx', linear([10, 0, 0, 0, 0, 1], 2)),
      text: write('text.onnx', 'not a model'),
      wrong: write('sum.json', JSON.stringify({ feature_order: ['adm2'] })),
    };
    served = await servePage();
  }, 180_000);
  afterAll(() => served?.close());

  async function open() {
    const opened = await openPage(served);
    await opened.page.addInitScript(listen);
    await opened.page.reload();
    await opened.page.waitForSelector('.slot');
    // Settings come with the first file.
    await opened.page.setInputFiles('#pick-distorted', files.distorted);
    await opened.page.locator('.settings > summary').click();
    return { ...opened, [Symbol.asyncDispose]: () => opened.page.context().close() };
  }

  const pickTiny = (page: Page, ...paths: string[]) => page.setInputFiles('#pick-tiny', paths);
  const said = (page: Page, words: string) => page.locator('#tiny-said', { hasText: words }).waitFor();

  /** Scores, and gives what was told of the first video. */
  async function run(page: Page): Promise<{ frames: FrameMetrics[]; report: Report | null }> {
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByText(/^Done in/).waitFor({ timeout: 120_000 });
    const [first] = await page.evaluate(() => window.told);
    return first ?? { frames: [], report: null };
  }

  it('the one that comes with it scores a video by itself, with the numbers of Node', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    expect(await page.getByRole('button', { name: 'Score', exact: true }).isDisabled()).toBe(true);
    await page.locator('#tiny-nr').check();
    const { frames, report } = await run(page);
    expect(report?.tiny?.[0]).toMatchObject({ source: 'nr_vmaf_v0.6.1', registered: true, kind: 'nr' });
    const there = await score(
      { distorted: files.distorted },
      { noReference: true, threads: 0, tiny: [{ model: 'nr_vmaf_v0.6.1' }] },
    );
    expect(frames).toHaveLength(FRAMES);
    const [name = ''] = there.tiny?.[0]?.metrics ?? [];
    there.frames.forEach(({ metrics }, i) => {
      expect(Object.keys(frames[i]?.metrics ?? {})).toEqual([name]);
      expect(frames[i]?.metrics[name]).toBeCloseTo(metrics[name] ?? Number.NaN, 2);
    });
    await page.locator('#results').getByText(name).first().waitFor();
    // On which device it ran stands among how it was run.
    const device = page.locator('dd', { hasText: 'onnxruntime-web' });
    await device.first().waitFor({ state: 'attached' });
    const rows = await device.allTextContents();
    expect(rows).toEqual([
      expect.stringMatching(/^the (processor|GPU)\b.*, onnxruntime-web, .*asked for: auto$/),
    ]);
    expect(await page.locator('dt', { hasText: 'tiny_nr' }).count()).toBe(1);
    await screenshot(page, 'page-tiny-alone');
    // From now on it works offline.
    const kept = await page.evaluate(async () => {
      const runtime = ['ort/ort.bundle.min.js', 'ort/ort-wasm-simd-threaded.jsep.wasm'];
      return Promise.all(runtime.map(async (name) => (await caches.match(name))?.status));
    });
    expect(kept).toEqual([200, 200]);
    expect(complaints).toEqual([]);
  }, 180_000);

  it('one from files scores beside VMAF, with its sidecar, resized to what it takes', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await pickTiny(page, files.mean, files.meanSidecar);
    await said(page, 'own_mean scores the distorted picture alone.');
    await page.setInputFiles('#pick-reference', files.reference);
    const { frames, report } = await run(page);
    expect(report?.tiny?.[0]).toMatchObject({ name: 'own_mean', file: 'own.onnx', resize: 'bilinear' });
    const there = await score(
      { reference: files.reference, distorted: files.distorted },
      { threads: 0, tiny: [{ model: files.mean, resize: 'bilinear' }] },
    );
    there.frames.forEach(({ metrics }, i) => {
      expect(frames[i]?.metrics.vmaf).toBe(metrics.vmaf);
      expect(frames[i]?.metrics.own_mean).toBeCloseTo(metrics.own_mean ?? Number.NaN, 3);
    });
    expect(complaints).toEqual([]);
  }, 180_000);

  it('says what is wrong with files when they are picked, and forgets them when asked to', async () => {
    await using opened = await open();
    const { page } = opened;
    await pickTiny(page, files.text);
    await said(page, '"text.onnx" is not an ONNX model');
    await pickTiny(page, files.meanSidecar);
    await said(page, 'Choose an .onnx file, with its .json sidecar');
    await pickTiny(page, files.sum);
    await said(page, 'scores from 6 features of the pair; it needs the reference.');
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page
      .getByText(/reads features .* cannot score without one/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await said(page, 'no reference is needed');
    await page.getByText('Choose the reference').first().waitFor();
  }, 180_000);

  it('refuses one whose sidecar does not fit it, with the reason', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.setInputFiles('#pick-reference', files.reference);
    await pickTiny(page, files.sum, files.wrong);
    await said(page, 'scores from one feature');
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByText('takes 6 features, but its sidecar lists 1 (adm2)').first().waitFor();
  }, 180_000);
});
