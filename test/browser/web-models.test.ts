/**
 * @module test/browser/web-models
 * Models that are not part of the page, in Chromium: offered, fetched when asked for from the server that the page names,
 * refused when they are not what they should be, and there without a network from then on.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { score } from '../../src/index.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encodeFolder } from '../support/encode.js';
import { openPage, type ServedPage, screenshot, servePage, settled } from '../support/page.js';
import { needsShared, sharedPath } from '../support/shared.js';

vi.setConfig(PATIENT);

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `mirror/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;
const file = sharedPath(`models/vmaf_v1.0.16/${NAME}.json`);

describe.skipIf(noChromium)(`a model of VMAF v1 in the page${noChromium}`, () => {
  let served: ServedPage;
  const videos = { reference: '', distorted: '' };

  beforeAll(async () => {
    const clip = makeSample({ width: 320, height: 240, bitDepth: 10, chroma: '420' }, { seed: 5 });
    for (const side of ['reference', 'distorted'] as const) {
      videos[side] = join(encodeFolder(), `${side}.y4m`);
      writeFileSync(videos[side], y4mFile(clip, side, 3));
    }
    served = await servePage();
    const index = join(served.folder, 'index.html');
    const named = '<meta name="anyvmaf-models-from" content="./mirror"></head>';
    writeFileSync(index, readFileSync(index, 'utf8').replace('</head>', named));
    mkdirSync(dirname(join(served.folder, AT)), { recursive: true });
  });
  afterAll(() => served?.close());

  const start = (page: Page) => page.getByRole('button', { name: 'Score', exact: true }).click();

  const fetchIt = (page: Page) => page.getByRole('button', { name: 'Fetch it (15 kB) and score' });

  /** Chooses the videos, and ticks a model in place of the usual one. */
  async function choose(page: Page, model: string): Promise<void> {
    await page.setInputFiles('#pick-reference', videos.reference);
    await page.setInputFiles('#pick-distorted', videos.distorted);
    await page.getByText('Settings', { exact: true }).click();
    await page.getByLabel('VMAF HD television, vmaf_v0.6.1').uncheck();
    await page.getByLabel(model).check();
  }

  async function chosen(model = 'VMAF v1 HD television'): Promise<{ page: Page; complaints: string[] }> {
    const opened = await openPage(served);
    await choose(opened.page, model);
    return opened;
  }

  it('is fetched only when asked for, and not kept when it is something else', async () => {
    writeFileSync(join(served.folder, AT), '{}');
    served.asked.length = 0;
    const { page } = await chosen();
    await start(page);
    const failure = page.locator('.runner .failure');
    await failure.filter({ hasText: 'has to be fetched first' }).waitFor();
    await failure.filter({ hasText: `${NAME} is not part of the page` }).waitFor();
    await screenshot(page, 'page-model-absent');
    expect(served.asked).not.toContain(AT);
    await fetchIt(page).click();
    await failure.filter({ hasText: /has the sha256 44136fa.*, not e4cf8c.* so it was not kept/ }).waitFor();
    await screenshot(page, 'page-model-refused');
    expect(served.asked).toContain(AT);
    const kept = await page.evaluate(async () => (await (await caches.open('anyvmaf-models')).keys()).length);
    expect(kept).toBe(0);
    await page.context().close();
  });

  it('says what else went wrong, and can be asked again', async () => {
    // Nobody has put this one on the server.
    const { page } = await chosen('VMAF v1 Phone');
    await start(page);
    await fetchIt(page).click();
    await page.locator('.runner .failure').filter({ hasText: 'the server answered 404' }).waitFor();
    await expect.poll(() => fetchIt(page).isEnabled()).toBe(true);
    await page.context().close();
  });

  it.skipIf(file === undefined)(
    `scores as in Node, and without a network from then on (${needsShared})`,
    async () => {
      writeFileSync(join(served.folder, AT), readFileSync(file ?? ''));
      const { page, complaints } = await chosen();
      await start(page);
      await fetchIt(page).click();
      await page.getByText(/^Done in/).waitFor();
      await settled(page);
      const there = await score(videos, { models: [`path=${file}:name=vmaf_v1`], threads: 0 });
      const mean = (there.pooled_metrics.vmaf_v1?.mean ?? 0).toFixed(2);
      await expect.poll(() => page.locator('.score').textContent()).toContain(mean);
      await screenshot(page, 'page-model-scored');
      expect(complaints).toEqual([]);
      // What the page itself needs is kept too, once files were chosen.
      const entries = () =>
        page.evaluate(async () => {
          const names = (await caches.keys()).filter((name) => name !== 'anyvmaf-models');
          return Promise.all(
            names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)),
          );
        });
      await expect.poll(async () => (await entries()).flat().some((url) => url.endsWith('.wasm'))).toBe(true);
      await expect
        .poll(async () => (await entries()).flat().some((url) => url.includes('/model/')))
        .toBe(true);
      await page.context().setOffline(true);
      await page.reload();
      await page.waitForSelector('.slot');
      await choose(page, 'VMAF v1 HD television');
      await start(page);
      await page.getByText(/^Done in/).waitFor();
      await expect.poll(() => page.locator('.score').textContent()).toContain(mean);
      await page.context().close();
    },
  );
});
