/**
 * @module test/browser/page-newcomer
 * A newcomer's day with the page, in headless Chromium: the sample and its tour, then a pair of the user's own that does not
 * fit, the verdict in words, the card's button, and a report that is opened from a disk as from a mail. One page for the day.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { noChromium } from '../support/chromium.js';
import { encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import { checked, done, drop, pages, saved, says, score, settled } from '../support/page.js';
import { openSent } from '../support/sent-report.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);

/** A film of two seconds, and an encode of it that lacks its first frame and is smaller. */
function clips() {
  const x264 = (preset: string, crf: number) =>
    ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', preset, '-crf', String(crf)] as const;
  const reference = ffmpeg(join(encodeFolder(), 'holiday.mp4'), [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=25', '-frames:v', '50', ...x264('ultrafast', 8)],
  ]);
  const small = 'trim=start_frame=1,setpts=PTS-STARTPTS,scale=480:270';
  return {
    reference,
    encode: ffmpeg(join(encodeFolder(), 'holiday-small.mp4'), [
      '-i',
      reference,
      '-vf',
      small,
      ...x264('fast', 30),
    ]),
  };
}

describe.skipIf(absent !== '')(`a newcomer's day${absent}`, () => {
  const site = pages();
  let page: Page;

  beforeAll(async () => {
    page = await site.open({ ...FIRST, stays: true });
  });

  const number = async () => Number.parseFloat((await page.locator('.score').textContent()) ?? '');
  const badge = () => page.locator('.answer .badge');

  it('scores the sample at one click, and goes through the tour', async () => {
    await page.getByRole('button', { name: 'Try it with a sample' }).click();
    await done(page);
    await settled(page);
    await says(page.locator('.answer .pill')).toBe('good');
    await says(page.getByRole('dialog')).toContain('Tour: 1 of 4');
    for (let step = 2; step <= 4; step++) {
      await page.getByRole('button', { name: 'Next' }).click();
      await says(page.getByRole('dialog')).toContain(`Tour: ${step} of 4`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const card = await page.getByRole('dialog').boundingBox();
    expect(card?.x).toBeGreaterThanOrEqual(0);
    await page.setViewportSize(FIRST);
    await says(page.getByRole('dialog')).toContain('drop them anywhere on this page');
    await page.getByRole('button', { name: 'Done' }).click();
  });

  it('drops a pair of their own, for which the sample makes room', async () => {
    const { reference, encode } = clips();
    await drop(page, 'main', [encode, reference]);
    await says(page.locator('.slot-distorted .file-name')).toBe('holiday-small.mp4');
    await checked(page);
    expect(await page.locator('.slot .file-name').allTextContents()).toEqual([
      'holiday.mp4',
      'holiday-small.mp4',
    ]);
    await says(page.locator('#findings .wrong')).toBe('A score of this pair could not be trusted.');
    // Never scored so far; the sample's result stays until then.
    await says(page.locator('button.primary')).toBe('Score');
    await says(page.locator('#result-heading')).toBe('sample-encode.y4m');
    await says(page.locator('.outdated')).toContain('other files or settings');
    expect(await lookAround(page)).toEqual({});
    await page.setViewportSize(FIRST);
  });

  it('reads in words that the pair is wrong, and mends it by the button beside', async () => {
    await score(page);
    await says(badge()).toBe('wrong pair');
    const wrong = await number();
    await says(page.locator('.flaw-note').first()).toContain(
      'reference frame 1 is what distorted frame 0 shows',
    );
    await page.getByRole('button', { name: 'Fix and score again' }).click();
    await expect.poll(() => badge().filter({ hasText: 'wrong pair' }).count()).toBe(0);
    await done(page);
    await settled(page);
    expect(await number()).toBeGreaterThan(wrong + 30);
    await says(page.locator('.answer .pill')).toBe('good');
    await says(page.locator('.compared')).toBe('Compared at 640×360, reference frames 1 to 49, offset 1.');
  });

  it('sends the report on, which opens from a disk and prints on A4 as the page shows it', async () => {
    await page.locator('.moments .shot canvas').nth(5).waitFor();
    const { name, text } = await saved(page, 'HTML report');
    expect(name).toBe('holiday-small.vmaf.html');
    const sent = await openSent(site.served, name, text);
    const seen = async (of: Page) => [
      Number.parseFloat((await of.locator('.score').textContent()) ?? ''),
      ...(await of.locator('.tiles dd').allTextContents()),
    ];
    expect(await seen(sent.page)).toEqual(await seen(page));
    expect((await seen(page)).length).toBe(9);
    const pictures = await sent.page
      .locator('.worst img')
      .evaluateAll((all: HTMLImageElement[]) => all.map(({ naturalWidth }) => naturalWidth > 100));
    expect(pictures).toEqual([true, true, true, true, true, true]);
    expect(await sent.sheets()).toBeLessThanOrEqual(4);
    expect(await sent.cut()).toEqual([]);
    await sent.close();
    expect(await lookAround(page)).toEqual({});
  });
});
