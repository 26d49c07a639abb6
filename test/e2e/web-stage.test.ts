/**
 * @module test/e2e/web-stage
 * What the page shows after Score is pressed, in headless Chromium: the setup in one line, the result in view, the verdict on
 * the number with what mends it, and results that no longer fit the settings.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encodeFolder } from '../support/encode.js';
import { openPage, type ServedPage, screenshot, servePage, settled, type View } from '../support/page.js';

vi.setConfig(PATIENT);

describe.skipIf(noChromium)(`the result on stage${noChromium}`, () => {
  let served: ServedPage;
  const clip = makeSample({ width: 160, height: 90, bitDepth: 8, chroma: '420' }, { seed: 9 });

  beforeAll(async () => {
    served = await servePage();
  });

  afterAll(() => served?.close());

  function write(name: string, side: 'reference' | 'distorted', frames = 12): string {
    const path = join(encodeFolder(), name);
    writeFileSync(path, y4mFile(clip, side, frames));
    return path;
  }

  /** A page with files chosen and looked at. */
  async function chosen(reference: string, distorted: readonly string[], view: View = {}) {
    const { page, complaints } = await openPage(served, view);
    await page.setInputFiles('#pick-reference', reference);
    await page.setInputFiles('#pick-distorted', [...distorted]);
    await page.waitForFunction(
      () => document.querySelector('.findings-body > *') && !document.querySelector('#findings .waiting'),
    );
    return { page, complaints, [Symbol.asyncDispose]: () => page.context().close() };
  }

  async function score(page: Page): Promise<void> {
    await page.locator('button.primary').click();
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
  }

  it('folds the setup into a line, and has the table of five encodes in view at 1280x720', async () => {
    const reference = write('master.y4m', 'reference');
    const encodes = [1, 2, 3, 4, 5].map((n) => write(`encode-${n}.y4m`, 'distorted'));
    await using view = await chosen(reference, encodes, { width: 1280, height: 720 });
    const { page, complaints } = view;
    // From far below, as who changed a setting there.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await score(page);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await page.locator('.setup').isVisible()).toBe(false);
    expect(await page.locator('.setup-line').textContent()).toContain('master.y4m → 5 encodes');
    const last = await page.locator('table.encodes tbody tr').nth(4).boundingBox();
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(720);
    expect(
      await page.locator('.plot.large').evaluate((plot) => plot.getBoundingClientRect().top),
    ).toBeGreaterThan(0);
    await screenshot(page, 'stage-five');

    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('button', { name: 'Remove encode-5.y4m' }).waitFor();
    expect(await page.locator('.setup-line').isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Add another');
    // Other files need the setup again, wherever they were dropped.
    await score(page);
    expect(await page.locator('.setup').isVisible()).toBe(false);
    await page.setInputFiles('#pick-distorted', write('encode-6.y4m', 'distorted'));
    await page.getByRole('button', { name: 'Remove encode-6.y4m' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
