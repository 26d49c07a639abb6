/**
 * @module test/browser/web-states
 * Every state of the page in headless Chromium, from empty to eleven encodes, failures and the viewer, in four windows, light and
 * dark: nothing is cut off, lies on something else or is wider than the window, axe finds nothing, and results are as short as
 * promised.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { y4mFile, y4mFrame, y4mHeader } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encode, encodeFolder, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { lookAround, WINDOWS } from '../support/looks.js';
import { openPage, pauseSoon, type ServedPage, screenshot, servePage, settled } from '../support/page.js';

vi.setConfig(PATIENT);

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);
const FORMAT = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;

/** `ANYVMAF_LOOK=1` looks thoroughly, and keeps a picture of everything for a person to look at, in test-artifacts. */
const KEEP = process.env.ANYVMAF_LOOK === '1';

type Opened = Awaited<ReturnType<typeof openPage>>;

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

describe.skipIf(absent !== '')(`states of the page${absent}`, () => {
  let served: ServedPage;
  /** A page with the viewer open, which its states share. */
  let viewer: Opened | undefined;

  beforeAll(async () => {
    served = await servePage();
  });

  afterAll(async () => {
    await viewer?.page.context().close();
    await served?.close();
  });

  const clip = makeSample(FORMAT, { seed: 9, cut: 20 });

  function write(name: string, bytes: Uint8Array | string): string {
    const path = join(encodeFolder(), name);
    writeFileSync(path, bytes);
    return path;
  }

  const y4m = (side: 'reference' | 'distorted', frames = 12) =>
    write(`${side}-${frames}.y4m`, y4mFile(clip, side, frames));
  const junk = (name: string) => write(name, 'This is no video. '.repeat(40));
  const h264 = (crf: number) => encode({ codec: 'h264', extra: ['-crf', String(crf)] });
  const vp9 = (rate: number) => encode({ codec: 'vp9', extra: ['-b:v', `${rate}k`] });
  const ladder = (count: number) =>
    [16, 22, 28, 34, 40, 46].map(h264).concat([900, 600, 400, 250, 150].map(vp9)).slice(0, count);

  async function choose(page: Page, reference: string, distorted: readonly string[]): Promise<void> {
    await page.setInputFiles('#pick-reference', reference);
    await page.setInputFiles('#pick-distorted', [...distorted]);
    await page.waitForFunction(
      () => document.querySelector('.findings-body > *') && !document.querySelector('#findings .waiting'),
    );
  }

  async function score(page: Page, reference: string, distorted: readonly string[]): Promise<void> {
    await choose(page, reference, distorted);
    await page.locator('button.primary').click();
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    // The pictures come last.
    await page.locator('.moments .shot canvas').first().waitFor();
  }

  const view = (mode: string, key: string): State => ({
    name: `viewer, ${mode}`,
    viewer: true,
    async reach(page) {
      if ((await page.locator('dialog[open]').count()) === 0) {
        await score(page, h264(8), ladder(2));
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
    { name: 'ready', reach: (page) => choose(page, y4m('reference'), [y4m('distorted')]) },
    {
      name: 'running',
      hash: 'feature=ciede&threads=1',
      async reach(page) {
        await choose(page, y4m('reference', 90), [y4m('distorted', 90)]);
        await pauseSoon(page);
        await page.locator('button.primary').click();
        await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
        await page.locator('.score:not(.is-awaited)').waitFor();
      },
    },
    { name: 'one result', screens: 2, unfolds: true, reach: (page) => score(page, h264(8), ladder(1)) },
    { name: 'five encodes', screens: 4, unfolds: true, reach: (page) => score(page, h264(8), ladder(5)) },
    {
      name: 'eleven encodes',
      screens: 4,
      unfolds: true,
      async reach(page) {
        await score(page, h264(8), ladder(11));
        await page.locator('.bd table').waitFor();
      },
    },
    {
      name: 'misaligned pair',
      screens: 2.5,
      async reach(page) {
        const late = Array.from({ length: 50 }, (_, n) => y4mFrame(clip, 'distorted', n + 10));
        const file = write('late.y4m', Buffer.concat([Buffer.from(y4mHeader(FORMAT)), ...late]));
        await score(page, y4m('reference', 60), [file]);
        await page.locator('.flaw-note').filter({ hasText: '[offset' }).waitFor();
      },
    },
    {
      name: 'unrelated pair',
      screens: 2.5,
      async reach(page) {
        const other = makeSample(FORMAT, { seed: 77, cut: 33 });
        await score(page, y4m('reference', 60), [write('other.y4m', y4mFile(other, 'distorted', 60))]);
        await page.locator('.flaw').first().waitFor();
      },
    },
    {
      name: 'failed file among others',
      async reach(page) {
        await score(page, h264(8), [h264(28), junk('bad.mp4'), h264(40)]);
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

  it.each(STATES)('$name', async (state) => {
    const { name, reach, hash = '', screens, unfolds } = state;
    const [width, height] = WINDOWS[0];
    const fresh = () => openPage(served, { width, height, hash });
    if (state.viewer) viewer ??= await fresh();
    const { page, complaints } = (state.viewer && viewer) || (await fresh());
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: 'light' });
    await reach(page);
    const wrong = await lookAround(page, {
      unfolds: unfolds ?? false,
      thorough: KEEP,
      also: loneTiles,
      async seen({ width, height, kind }) {
        if (screens !== undefined && width === 1440 && kind === 'light') {
          const tall = await page.evaluate(() => document.documentElement.scrollHeight);
          expect(tall).toBeLessThanOrEqual(screens * height);
        }
        if (!KEEP) return;
        // Charts out of sight follow the theme later.
        await page.waitForTimeout(600);
        await screenshot(page, `state-${name}-${width}-${kind}`.replaceAll(/[ ,]+/g, '-'));
      },
    });
    expect(wrong).toEqual({});
    expect(complaints).toEqual([]);
    if (!state.viewer) await page.context().close();
  });
});
