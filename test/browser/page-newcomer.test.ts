/**
 * @module test/browser/page-newcomer
 * A newcomer's session in headless Chromium: the sample and its tour, a misaligned pair of their own, the verdict and its
 * fix. All tests share one page.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { noChromium } from '../support/chromium.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import { allShown, checked, drop, pages, says, score, tabTo } from '../support/page.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);

/** A video of two seconds, and a smaller encode of it that lacks the first frame. */
function clips() {
  const x264 = (preset: string, crf: number) =>
    ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', preset, '-crf', String(crf)] as const;
  const reference = ffmpeg(join(encodeFolder(), 'holiday.mp4'), [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25', '-frames:v', '50', ...x264('ultrafast', 8)],
  ]);
  const small = 'trim=start_frame=1,setpts=PTS-STARTPTS,scale=256:144';
  return {
    reference,
    encode: ffmpeg(join(encodeFolder(), 'holiday-small.mp4'), [
      '-i',
      reference,
      '-vf',
      small,
      ...x264('fast', 26),
    ]),
  };
}

describe.skipIf(absent !== '')(`a newcomer${absent}`, () => {
  const site = pages();
  let page: Page;

  beforeAll(async () => {
    page = await site.open({ ...FIRST, stays: true });
  });

  const number = async () => Number.parseFloat((await page.locator('.score').textContent()) ?? '');
  const badge = () => page.locator('.answer .badge');

  it('scores the sample with one click, and takes the tour by keyboard', async () => {
    const offer = page.getByRole('button', { name: 'Try it with a sample' });
    await offer.click();
    await allShown(page);
    expect(await page.locator('#result-heading').textContent()).toContain('sample-encode.y4m');
    await says(page.locator('.answer .pill')).toBe('good');
    expect(await number()).toBeGreaterThan(30);
    expect(await number()).toBeLessThan(95);
    expect(await page.locator('.flaw, .flaw-note').count()).toBe(0);
    // The bad part is found.
    const first = await page.locator('.moments .when').first().textContent();
    const frame = Number(/frame (\d+)/.exec(first ?? '')?.[1]);
    expect(frame).toBeGreaterThanOrEqual(28);
    expect(frame).toBeLessThan(38);
    expect(await offer.isVisible()).toBe(false);
    const tour = page.getByRole('dialog');
    const parts = ['The score', 'Every frame', 'The worst moments', 'Share it, then try your own videos'];
    for (const [i, part] of parts.entries()) {
      await page.locator('[role=dialog]:focus', { hasText: part }).waitFor();
      await says(tour).toContain(`Tour: ${i + 1} of 4`);
      expect(await page.locator('.toured').evaluate((at) => at.getBoundingClientRect().top)).toBeLessThan(
        450,
      );
      if (part === 'The worst moments') {
        await page.locator('.moments .shot canvas').nth(3).waitFor();
        expect(await lookAround(page)).toEqual({});
        await page.setViewportSize(FIRST);
      }
      if (i === 3) {
        await page.setViewportSize({ width: 390, height: 844 });
        const card = await tour.boundingBox();
        expect(card?.x).toBeGreaterThanOrEqual(0);
        await page.setViewportSize(FIRST);
        await says(tour).toContain('drop them anywhere on this page');
      }
      await tabTo(page, /^(Next|Done)$/);
      await page.keyboard.press('Enter');
    }
    expect(await tour.count()).toBe(0);
    expect(await page.locator('.take :focus').count()).toBe(1);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(2 * 900);
    await page.locator('#results .details > summary').click();
    const run = page.locator('#results .details .run > div').filter({ hasText: 'Backends' });
    expect(await run.textContent()).toContain('CPU, WebAssembly (simd128)');
    expect(await run.locator('dt').allTextContents()).toEqual(['metrics', 'threads']);
    await page.locator('#results .details > summary').click();
  });

  it('drops a pair of their own, which replaces the sample', async () => {
    const { reference, encode } = clips();
    await drop(page, 'main', [encode, reference]);
    await says(page.locator('.slot-distorted .file-name')).toBe('holiday-small.mp4');
    await checked(page);
    expect(await page.locator('.slot .file-name').allTextContents()).toEqual([
      'holiday.mp4',
      'holiday-small.mp4',
    ]);
    await says(page.locator('#findings .wrong')).toBe('A score of this pair cannot be trusted.');
    // The sample's result stays until the pair is scored.
    await says(page.locator('button.primary')).toBe('Score');
    await says(page.locator('#result-heading')).toBe('sample-encode.y4m');
    await says(page.locator('.outdated')).toContain('Files or settings have changed');
    expect(await lookAround(page)).toEqual({});
    await page.setViewportSize(FIRST);
  });

  it('reads that the pair is wrong, and fixes it with the button beside the message', async () => {
    await score(page);
    await says(badge()).toBe('wrong pair');
    const wrong = await number();
    const notes = page.locator('.flaw-note');
    expect(await notes.count()).toBe(1);
    await says(notes).toContain('[offset');
    await says(notes).toContain('distorted frame 0 shows reference frame 1');
    // The number is not bold, and consequences of the cause are folded.
    const weight = await page.locator('.score').evaluate((element) => getComputedStyle(element).fontWeight);
    expect(weight).toBe('400');
    const found = page.locator('.found');
    expect(await found.evaluate((details: HTMLDetailsElement) => details.open)).toBe(false);
    await page.locator('.moments .shot canvas').first().waitFor();
    expect(await lookAround(page, { screens: 2.5 })).toEqual({});
    await page.setViewportSize(FIRST);
    await page.getByRole('button', { name: 'Fix and score again' }).click();
    await expect.poll(() => badge().filter({ hasText: 'wrong pair' }).count()).toBe(0);
    await allShown(page);
    expect(await number()).toBeGreaterThan(wrong + 30);
    await says(page.locator('.answer .pill')).toBe('good');
    await says(page.locator('.compared')).toBe('Compared at 320×180, reference frames 1 to 49, offset 1.');
  });
});
