/**
 * @module test/browser/quality-maps
 * Maps of where quality is lost, made in a worker in headless Chromium: the same numbers and the same picture as in Node.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { qualityMaps } from '../../src/index.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { built, root } from '../support/built.js';
import { noChromium, PATIENCE, PATIENT, sharedChromium } from '../support/chromium.js';
import { type StaticServer, serve } from '../support/server.js';

vi.setConfig(PATIENT);

const clip = makeSample({ width: 97, height: 67, bitDepth: 10, chroma: '420' }, { seed: 3 });
const files = {
  '/reference.y4m': y4mFile(clip, 'reference', 3),
  '/distorted.y4m': y4mFile(clip, 'distorted', 3),
};

const WORKER = `
  import { qualityMaps } from '/dist/bundle/js/index.browser.js';
  onmessage = async ({ data: request }) => {
    for await (const maps of qualityMaps(request, [1]))
      postMessage({ lost: [...maps.lost().values], picture: [...maps.render().image.data] });
  };`;

const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  const blob = async (side) => (await fetch('/' + side + '.y4m')).blob();
  const worker = new Worker('/worker.js', { type: 'module' });
  window.mapped = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  worker.postMessage({ reference: await blob('reference'), distorted: await blob('distorted') });
</script>`;

describe.skipIf(noChromium)(`in Chromium${noChromium}`, () => {
  let server: StaticServer;
  let browser: Browser;

  beforeAll(async () => {
    built('dist/bundle/js/index.browser.js');
    server = await serve(root.replace(/\/$/, ''), { ...files, '/worker.js': WORKER, '/index.html': PAGE });
    browser = await sharedChromium();
  });

  afterAll(async () => {
    await server?.stop();
  });

  it('maps a pair of blobs as Node does', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(`${server.origin}/index.html`);
    await page.waitForFunction('window.mapped !== undefined');
    const found = await page.evaluate('window.mapped');
    const request = { reference: files['/reference.y4m'], distorted: files['/distorted.y4m'] };
    for await (const maps of qualityMaps(request, [1])) {
      expect(found).toEqual({ lost: [...maps.lost().values], picture: [...maps.render().image.data] });
    }
    expect.assertions(1);
  });
});
