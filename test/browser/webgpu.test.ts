/**
 * @module test/browser/webgpu
 * A GPU in a browser, here Chromium's software adapter: in its workers, alone and beside the core, with the core's numbers.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Report } from '../../src/report/types.js';
import { built, root } from '../support/built.js';
import { launchChromium, needsChromium, noChromium, PATIENT } from '../support/chromium.js';
import { SMALL, y4mPair } from '../support/clips.js';
import { type StaticServer, serve } from '../support/server.js';

vi.setConfig(PATIENT);

const GRAPHICS = ['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-webgpu-adapter=swiftshader'];
const FRAMES = 8;

describe.skipIf(needsChromium)(`webgpu in Chromium${noChromium}`, () => {
  let browser: Browser;
  let server: StaticServer;

  beforeAll(async () => {
    built('dist/bundle/js/index.browser.js');
    const { reference, distorted } = y4mPair(SMALL, FRAMES);
    server = await serve(root.replace(/\/$/, ''), {
      '/index.html': '<!doctype html>',
      '/r.y4m': reference,
      '/d.y4m': distorted,
    });
    browser = await launchChromium(GRAPHICS);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Scores with a backend; what a run throws is its message. */
  async function score(backend: string): Promise<Report | string> {
    const page = await browser.newPage();
    await page.goto(`${server.origin}/index.html`);
    // As text, so that nothing of this file's compilation is in it.
    const found: unknown = await page.evaluate(`(async () => {
      const { score } = await import('/dist/bundle/js/index.browser.js');
      const video = async (name) => (await fetch(name)).blob();
      const request = { reference: await video('r.y4m'), distorted: await video('d.y4m') };
      const options = { noPrediction: true, features: ['psnr', 'motion'], threads: 1, backend: '${backend}' };
      return score(request, options).catch((error) => error.message);
    })()`);
    await page.close();
    return found as Report | string;
  }

  it.each(['webgpu', 'hybrid'])('measures as the core does: %s', async (backend) => {
    const core = (await score('cpu')) as Report;
    const report = (await score(backend)) as Report;
    expect(report.frames).toEqual(core.frames);
    expect(report.backend_used).toBe(backend);
    expect(report.measurers?.[0]).toMatchObject({ backend: 'webgpu', adapter: { software: true } });
  });
});
