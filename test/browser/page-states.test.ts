/**
 * @module test/browser/page-states
 * Every state of the page in headless Chromium, from empty to eleven encodes, failures and the viewer, light and dark: nothing is
 * cut off, lies on something else or is wider than the window, axe finds nothing, and results are as short as promised.
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { y4mFile, y4mFrame, y4mHeader } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import { choose, junk, pages, pauseSoon, SLOW, score, screenshot, start, write } from '../support/page.js';
import { exhaustive } from '../support/tier.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);
const FORMAT = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;

interface State {
  readonly name: string;
  /** Brings a page there: a fresh one, or that of the viewer's other states. */
  readonly reach: (page: Page) => Promise<void>;
  /** What follows `#` in the address. */
  readonly hash?: string;
  /** Most windows of 1440x900 that it fills. */
  readonly screens?: number;
  /** Whether what is folded in it is looked at as well. */
  readonly unfolds?: boolean;
  /** Whether it is one of the viewer. */
  readonly viewer?: boolean;
  /** Whether only the exhaustive run reaches it. */
  readonly rare?: boolean;
}

/** Tiles below the score that stand alone in their row and leave the rest of it empty. */
const loneTiles = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const rows = new Map<number, number[]>();
    for (const tile of document.querySelectorAll('#results .tiles > div')) {
      const { top, width } = tile.getBoundingClientRect();
      if (width > 0) rows.set(top, [...(rows.get(top) ?? []), width]);
    }
    const [first = [], ...others] = rows.values();
    const all = first.reduce((sum, width) => sum + width, 0);
    return others.some(([width = 0, ...more]) => more.length === 0 && width < 0.9 * all)
      ? [`tiles stand ${[first, ...others].map(({ length }) => length).join(' + ')}`]
      : [];
  });

/** How much wider than the window the viewer is. */
const wideDialog = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const over = (document.querySelector('dialog')?.scrollWidth ?? 0) - document.documentElement.clientWidth;
    return over > 0 ? [`the dialog is ${over} px too wide`] : [];
  });

describe.skipIf(absent !== '')(`states of the page${absent}`, () => {
  const site = pages();
  /** A page with the viewer open, which its states share. */
  let viewer: Page | undefined;

  const clip = makeSample(FORMAT, { seed: 9, cut: 20 });
  const y4m = (side: 'reference' | 'distorted', frames = 12) =>
    write(`${side}-${frames}.y4m`, y4mFile(clip, side, frames));
  const h264 = (crf: number) => encode({ codec: 'h264', frames: 12, extra: ['-crf', String(crf)] });
  const vp9 = (rate: number) => encode({ codec: 'vp9', frames: 12, extra: ['-b:v', `${rate}k`] });
  const ladder = (count: number) =>
    [16, 22, 28, 34, 40, 46].map(h264).concat([900, 600, 400, 250, 150].map(vp9)).slice(0, count);

  async function scored(page: Page, reference: string, ...distorted: string[]): Promise<void> {
    await choose(page, reference, ...distorted);
    await score(page);
    // The pictures come last.
    await page.locator('.moments .shot canvas').first().waitFor();
  }

  const view = (mode: string, key: string): State => ({
    name: `viewer, ${mode}`,
    viewer: true,
    async reach(page) {
      if ((await page.locator('dialog[open]').count()) === 0) {
        await scored(page, h264(8), ...ladder(2));
        await page.locator('.moments button').first().click();
      }
      await page.locator('dialog[open][data-frame]:not([data-busy])').waitFor();
      await page.keyboard.press(key);
      if (mode === 'difference' || mode === 'map')
        await page.locator(`dialog[data-made^="${mode} "]`).waitFor();
    },
  });

  const STATES: readonly State[] = [
    { name: 'empty', reach: async () => {} },
    { name: 'ready', reach: (page) => choose(page, y4m('reference'), y4m('distorted')) },
    {
      name: 'running',
      hash: SLOW,
      async reach(page) {
        await choose(page, y4m('reference', 90), y4m('distorted', 90));
        await pauseSoon(page);
        await start(page);
        await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
        await page.locator('.score:not(.is-awaited)').waitFor();
      },
    },
    { name: 'one result', screens: 2, unfolds: true, reach: (page) => scored(page, h264(8), ...ladder(1)) },
    {
      name: 'five encodes',
      screens: 4,
      unfolds: true,
      rare: true,
      reach: (page) => scored(page, h264(8), ...ladder(5)),
    },
    {
      name: 'eleven encodes',
      screens: 4,
      unfolds: true,
      async reach(page) {
        await scored(page, h264(8), ...ladder(11));
        await page.locator('.bd table').waitFor();
      },
    },
    {
      name: 'misaligned pair',
      screens: 2.5,
      async reach(page) {
        const late = Array.from({ length: 50 }, (_, n) => y4mFrame(clip, 'distorted', n + 10));
        const file = write('late.y4m', Buffer.concat([Buffer.from(y4mHeader(FORMAT)), ...late]));
        await scored(page, y4m('reference', 60), file);
        await page.locator('.flaw-note').filter({ hasText: '[offset' }).waitFor();
      },
    },
    {
      name: 'unrelated pair',
      rare: true,
      screens: 2.5,
      async reach(page) {
        const other = makeSample(FORMAT, { seed: 77, cut: 33 });
        await scored(page, y4m('reference', 60), write('other.y4m', y4mFile(other, 'distorted', 60)));
        await page.locator('.flaw').first().waitFor();
      },
    },
    {
      name: 'failed file among others',
      async reach(page) {
        await scored(page, h264(8), h264(28), junk('bad.mp4'), h264(40));
        await page.locator('.runner .failure', { hasText: 'bad.mp4' }).waitFor();
      },
    },
    {
      name: 'nothing but a failed file',
      async reach(page) {
        await page.setInputFiles('#pick-reference', y4m('reference'));
        await page.setInputFiles('#pick-distorted', junk('broken.mp4'));
        await page.locator('.failure').filter({ hasText: 'broken.mp4' }).waitFor();
      },
    },
    view('side by side', '1'),
    view('split', '2'),
    view('flicker', '3'),
    view('difference', '4'),
    view('map', '5'),
    view('keys', '?'),
  ];

  it.each(STATES.filter(({ rare }) => exhaustive || !rare))('$name', async (state) => {
    const { name, reach, hash = '', screens, unfolds = false } = state;
    if (state.viewer) viewer ??= await site.open({ ...FIRST, stays: true });
    const page = (state.viewer && viewer) || (await site.open({ ...FIRST, hash }));
    await page.setViewportSize(FIRST);
    await page.emulateMedia({ colorScheme: 'light' });
    await reach(page);
    const wrong = await lookAround(page, {
      unfolds,
      also: state.viewer ? wideDialog : loneTiles,
      async seen({ width, height, kind }) {
        if (screens !== undefined && width === FIRST.width && kind === 'light') {
          const tall = await page.evaluate(() => document.documentElement.scrollHeight);
          expect(tall).toBeLessThanOrEqual(screens * height);
        }
        if (!exhaustive) return;
        // Charts out of sight follow the theme later.
        await page.waitForTimeout(600);
        await screenshot(page, `state-${name}-${width}-${kind}`.replaceAll(/[ ,]+/g, '-'));
      },
    });
    expect(wrong).toEqual({});
  });
});
