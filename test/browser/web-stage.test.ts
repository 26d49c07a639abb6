/**
 * @module test/browser/web-stage
 * What the page shows after Score is pressed, in headless Chromium: the setup in one line, the result in view, the verdict on
 * the number with what mends it, and results that no longer fit the settings.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractFrames, type FramePair } from 'anyvmaf';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { y4mFile, y4mFrame, y4mHeader } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encodeFolder } from '../support/encode.js';
import { openPage, type ServedPage, screenshot, servePage, settled, type View } from '../support/page.js';

vi.setConfig(PATIENT);

const FORMAT = { width: 160, height: 90, bitDepth: 8, chroma: '420' } as const;

describe.skipIf(noChromium)(`the result on stage${noChromium}`, () => {
  let served: ServedPage;
  const clip = makeSample(FORMAT, { seed: 9, cut: 20 });

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

  it('says a wrong pair on its number, mends it and scores again, and marks what no longer fits', async () => {
    const reference = write('whole.y4m', 'reference', 60);
    // Ten frames late, which its scene cut tells.
    const late = join(encodeFolder(), 'late.y4m');
    const [head, frame] = [y4mHeader(FORMAT), (n: number) => y4mFrame(clip, 'distorted', n)];
    writeFileSync(
      late,
      Buffer.concat([Buffer.from(head), ...Array.from({ length: 50 }, (_, n) => frame(n + 10))]),
    );
    await using view = await chosen(reference, [late]);
    const { page, complaints } = view;
    await score(page);
    const badge = page.locator('.answer .badge');
    expect(await badge.textContent()).toBe('wrong pair');
    expect(await page.locator('.flaw-note').count()).toBe(1);
    expect(await page.locator('.flaw-note').textContent()).toContain('[offset');
    // The number does not stand at full weight, and what follows from the cause is folded.
    expect(await page.locator('.score').evaluate((element) => getComputedStyle(element).fontWeight)).toBe(
      '400',
    );
    expect(await page.locator('.found').evaluate((details: HTMLDetailsElement) => details.open)).toBe(false);
    await screenshot(page, 'stage-wrong-pair');
    await page.getByRole('button', { name: 'Fix and score again' }).click();
    await expect.poll(() => badge.textContent()).not.toBe('wrong pair');
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    await expect
      .poll(() => page.locator('.compared').textContent())
      .toBe('Compared at 160×90, reference frames 10 to 59, offset 10.');

    const outdated = page.locator('.outdated');
    expect(await outdated.count()).toBe(0);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByText('Settings', { exact: true }).click();
    // More threads give the same numbers.
    await page.fill('#setting-threads', '2');
    await page.locator('#setting-threads').blur();
    expect(await outdated.count()).toBe(0);
    await page.fill('#setting-subsample', '2');
    await page.locator('#setting-subsample').blur();
    await outdated.filter({ hasText: 'other files or settings' }).waitFor();
    await page.fill('#setting-subsample', '1');
    await page.locator('#setting-subsample').blur();
    await outdated.waitFor({ state: 'detached' });
    await page.fill('#setting-subsample', '2');
    await page.locator('#setting-subsample').blur();
    await page.getByRole('button', { name: 'Score again' }).click();
    await outdated.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.compared').textContent()).toContain('one of 2');
    expect(complaints).toEqual([]);
  });

  it('goes by keyboard alone from the files to a saved picture of the worst frame of another encode', async () => {
    const files = {
      reference: write('keys-ref.y4m', 'reference'),
      distorted: ['keys-a', 'keys-b'].map((name) => write(`${name}.y4m`, 'distorted')),
    };
    const { page, complaints } = await openPage(served, { width: 1280, height: 720 });
    // Chromium would show its own dialog while nobody listens.
    page.on('filechooser', () => {});
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement;
        return [at?.textContent?.trim(), at?.getAttribute('title')].map((name) => name ?? '');
      });
    const tabTo = async (name: RegExp) => {
      for (let n = 0; n < 80; n++) {
        if ((await focused()).some((one) => name.test(one))) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not lead to ${name}.`);
    };
    const pick = async (name: RegExp, chosen: string | string[]) => {
      await tabTo(name);
      const chooser = page.waitForEvent('filechooser');
      await page.keyboard.press('Enter');
      await (await chooser).setFiles(chosen);
    };
    await pick(/^Choose a file$/, files.reference);
    await page.locator('.slot-reference .file-name').waitFor();
    await pick(/^Choose files$/, files.distorted);
    await page.locator('#findings:not(:has(.waiting)) .findings-body > *').first().waitFor();
    await tabTo(/^Score$/);
    await page.keyboard.press('Enter');
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    await tabTo(/^Look at the worst frame of keys-a\.y4m$/);
    const opener = await focused();
    await page.keyboard.press('Enter');
    const dialog = page.locator('dialog[open]');
    await page.locator('dialog[open][data-encode="0"]').waitFor();
    await page.keyboard.press('e');
    await page.locator('dialog[open][data-encode="1"]').waitFor();
    const frame = await dialog.getAttribute('data-frame');
    const saved = page.waitForEvent('download');
    await page.keyboard.press('s');
    expect((await saved).suggestedFilename()).toBe(`keys-b.frame-${frame}.encode.png`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused()).toEqual(opener);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows files and worst moments as pictures, opens the viewer from them, and takes them into the report', async () => {
    const reference = write('pictured.y4m', 'reference');
    await using view = await chosen(reference, [write('pictured-encode.y4m', 'distorted')]);
    const { page, complaints } = view;
    const first = await firstPair(reference);
    for (const side of ['reference', 'distorted'] as const) {
      const thumb = page.locator(`.slot-${side} .file-thumb canvas:not([hidden])`);
      await thumb.waitFor();
      expect(await pixels(thumb)).toEqual([...first[side].image({ maxSide: 192 }).data]);
      // What lies below must not move under a pointer: the row is as high as before it had its picture.
      const heights = await thumb.evaluate((canvas: HTMLElement) => {
        const height = () => canvas.closest('.file')?.getBoundingClientRect().height;
        const pictured = height();
        canvas.hidden = true;
        const empty = height();
        canvas.hidden = false;
        return [pictured, empty];
      });
      expect(heights[0]).toBe(heights[1]);
    }
    await score(page);
    const shots = page.locator('.moments button').first().locator('.shot canvas');
    await expect.poll(() => shots.count()).toBe(3);
    const [report, encode, map] = await Promise.all([0, 1, 2].map((i) => pixels(shots.nth(i))));
    expect(report).not.toEqual(encode);
    // Grey where nothing is lost, coloured elsewhere.
    expect(map?.some((_, i) => i % 3 === 0 && map[i] !== map[i + 2])).toBe(true);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'HTML report' }).click(),
    ]);
    const html = readFileSync(await download.path(), 'utf8');
    const moments = await page.locator('.moments button').count();
    expect(html.match(/<img alt="" src="data:image\/jpeg;base64,/g)).toHaveLength(3 * moments);
    await page.locator('.moments .shots').first().click();
    await page.locator('dialog[open][data-frame]').waitFor();
    await screenshot(page, 'stage-pictures');
    expect(complaints).toEqual([]);
  });
});

async function firstPair(file: string): Promise<FramePair> {
  const distorted = file.replace('.y4m', '-encode.y4m');
  for await (const pair of extractFrames({ reference: file, distorted }, [0])) return pair;
  throw new Error('there is no frame');
}

/** Red, green and blue of every pixel of a canvas. */
function pixels(canvas: Locator): Promise<number[]> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const { data } = element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? {};
    return data ? [...data].filter((_, i) => i % 4 < 3) : [];
  });
}
