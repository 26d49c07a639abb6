/**
 * @module test/browser/page-states
 * Every state of the page in headless Chromium, from empty to several encodes, failures and the viewer: nothing is cut off,
 * overlaps or is wider than the window, axe finds nothing, and results are as short as promised. Successive states share a
 * page. `page-newcomer` covers a wrong pair, `page-many` eleven encodes.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { FIRST, lookAround } from '../support/looks.js';
import { checked, choose, junk, pages, SLOW, score, startPaused, write } from '../support/page.js';
import { exhaustive } from '../support/tier.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);
const FORMAT = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;

interface State {
  readonly name: string;
  /** Brings the page there, from any earlier state. */
  readonly reach: (page: Page) => Promise<void>;
  /** States with the same one share a page; others have their own. */
  readonly way?: 'results' | 'run';
  /** Largest height in screens of 1440x900. */
  readonly screens?: number;
  /** Also checks folded parts. */
  readonly unfolds?: boolean;
  /** Selector of the part that differs from the state before; default: everything. */
  readonly within?: string;
  readonly viewer?: boolean;
  /** Only in the exhaustive run. */
  readonly rare?: boolean;
}

/** A step that runs once, however often it is called. */
function once(bring: (page: Page) => Promise<void>): (page: Page) => Promise<void> {
  let brought: Promise<void> | undefined;
  return (page) => {
    brought ??= bring(page);
    return brought;
  };
}

/** Tiles below the score that are alone in their row and leave the rest of it empty. */
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

/** Reports a viewer that is wider than the window. */
const wideDialog = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const over = (document.querySelector('dialog')?.scrollWidth ?? 0) - document.documentElement.clientWidth;
    return over > 0 ? [`the dialog is ${over} px too wide`] : [];
  });

describe.skipIf(absent !== '')(`states of the page${absent}`, () => {
  const site = pages();
  const shared: { results?: Promise<Page>; run?: Promise<Page> } = {};

  const clip = makeSample(FORMAT, { seed: 9, cut: 20 });
  const y4m = (side: 'reference' | 'distorted', frames = 12) =>
    write(`${side}-${frames}.y4m`, y4mFile(clip, side, frames));
  const h264 = (crf: number) => encode({ codec: 'h264', frames: 12, extra: ['-crf', String(crf)] });
  async function scored(page: Page, reference: string, ...distorted: string[]): Promise<void> {
    await choose(page, reference, ...distorted);
    await score(page);
    await page.locator('.moments .shot canvas').first().waitFor();
  }

  const chosen = once((page) => choose(page, h264(8), h264(16)));
  const one = once(async (page) => {
    await chosen(page);
    await score(page);
    await page.locator('.moments .shot canvas').first().waitFor();
  });
  const failed = once(async (page) => {
    await one(page);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.setInputFiles('#pick-distorted', [junk('bad.mp4'), h264(40)]);
    await page.getByRole('button', { name: `Remove ${basename(h264(40))}` }).waitFor();
    await checked(page);
    await score(page);
    await page.locator('.runner .failure', { hasText: 'bad.mp4' }).waitFor();
    await expect.poll(() => page.locator('.moments .shot canvas').count()).toBeGreaterThan(3);
  });
  const opened = once(async (page) => {
    await failed(page);
    await page.locator('.moments button').first().click();
  });
  const long = (page: Page) => {
    const named = (crf: number) => write(`${`${crf}`.padEnd(200, 'x')}.mp4`, readFileSync(h264(crf)));
    return scored(page, named(8), named(16), named(40));
  };
  const broken = once(async (page) => {
    await page.setInputFiles('#pick-reference', y4m('reference'));
    await page.setInputFiles('#pick-distorted', junk('broken.mp4'));
    await page.locator('.failure').filter({ hasText: 'broken.mp4' }).waitFor();
  });

  const view = (mode: string, key: string): State => ({
    name: `viewer, ${mode}`,
    way: 'results',
    viewer: true,
    async reach(page) {
      await opened(page);
      await page.locator('dialog[open][data-frame]:not([data-busy])').waitFor();
      await page.keyboard.press(key);
      if (mode === 'difference' || mode === 'map')
        await page.locator(`dialog[data-made^="${mode} "]`).waitFor();
    },
  });

  const STATES: readonly State[] = [
    { name: 'empty', way: 'results', reach: async () => {} },
    { name: 'ready', way: 'results', reach: chosen },
    { name: 'one result', way: 'results', screens: 2, unfolds: true, reach: one },
    { name: 'failed file among others', way: 'results', reach: failed },
    view('side by side', '1'),
    view('split', '2'),
    view('flicker', '3'),
    view('difference', '4'),
    view('map', '5'),
    view('scopes', 'h'),
    view('keys', '?'),
    { name: 'nothing but a failed file', way: 'run', reach: broken },
    {
      name: 'running',
      way: 'run',
      async reach(page) {
        await broken(page);
        await page.getByRole('button', { name: 'Remove broken.mp4' }).click();
        await choose(page, y4m('reference', 40), y4m('distorted', 40));
        await startPaused(page);
        await page.locator('.score:not(.is-awaited)').waitFor();
      },
    },
    { name: 'long names', unfolds: true, reach: long },
    {
      name: 'long names of the last session',
      async reach(page) {
        await long(page);
        // It is stored a little later.
        await expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last'))).toBe('1');
        page.on('dialog', (dialog) => dialog.accept());
        await page.reload();
        await page.getByRole('button', { name: 'Continue where you left off' }).waitFor();
      },
    },
    {
      name: 'viewer, tone-mapped',
      viewer: true,
      rare: true,
      async reach(page) {
        const colours = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
        const pq = (rate: number) =>
          encode({
            codec: 'vp9',
            pixelFormat: 'yuv420p10le',
            frames: 8,
            extra: [...colours, '-b:v', `${rate}k`],
          });
        await scored(page, pq(900), pq(150));
        await page.locator('.moments button').first().click();
        await page.locator('dialog[open][data-frame]', { hasText: 'tone-mapped' }).waitFor();
      },
    },
    {
      name: 'ffmpeg.wasm on its way',
      rare: true,
      async reach(page) {
        await page.route(/ffmpeg-core\.wasm$/, () => {});
        await page.setInputFiles('#pick-reference', y4m('reference'));
        await page.setInputFiles('#pick-distorted', encode({ codec: 'mpeg2', frames: 8, size: '96x64' }));
        await page.getByRole('button', { name: /^Load ffmpeg\.wasm/ }).click();
        await page.locator('#findings').getByRole('button', { name: 'Pause' }).waitFor();
      },
    },
  ];

  it.each(STATES.filter(({ rare }) => exhaustive || !rare))('$name', async (state) => {
    const { reach, screens, way, within, unfolds = false } = state;
    const open = () =>
      site.open({ ...FIRST, ...(way === 'run' && { hash: SLOW }), stays: way !== undefined });
    if (way) shared[way] ??= open();
    const page = await ((way && shared[way]) ?? open());
    await page.setViewportSize(FIRST);
    await page.emulateMedia({ colorScheme: 'light' });
    await reach(page);
    const wrong = await lookAround(page, {
      unfolds,
      turn: STATES.indexOf(state),
      screens,
      within,
      also: state.viewer ? wideDialog : loneTiles,
    });
    expect(wrong).toEqual({});
  });
});
