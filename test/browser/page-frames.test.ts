/**
 * @module test/browser/page-frames
 * The page's frame viewer in headless Chromium: in every view it shows the library's samples, with several encodes, zoomed,
 * played and saved; keys, touch and focus work. Tests of one pair share a page.
 */
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type FramePair, qualityMaps, type RgbImage, score as scoreInNode } from 'anyvmaf';
import { decode } from 'fast-png';
import type { ElementHandle, JSHandle, Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { y4mHeader } from '../../src/core/frame.js';
import { y4mFrame } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { violations } from '../support/looks.js';
import {
  checked,
  choose,
  download,
  drag,
  type Fingers,
  leave,
  pages,
  pairInNode,
  pinch,
  reportsOf,
  samplesOf,
  says,
  score,
  shiftsLittle,
  startPaused,
  type View,
  watchShifts,
  write,
} from '../support/page.js';
import { seeded } from '../support/random.js';

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);

/** Frames of clips at 10 fps, more than playback prefetches; and the frame that most tests show. */
const FRAMES = 24;
const FRAME = 7;

interface Pair {
  readonly reference: string;
  readonly distorted: string;
}

const TAGGED = ['-colorspace', 'smpte170m', '-color_trc', 'smpte170m', '-color_primaries', 'smpte170m'];

const h264 = (crf: number, size = '320x240', tags: readonly string[] = TAGGED, frames = FRAMES) =>
  encode({ codec: 'h264', frames, size, rate: 10, extra: ['-crf', String(crf), ...tags] });

/** 10-bit Y4M, the encode blurred. */
function y4m(): Pair {
  const raw = (name: string, filter: string) =>
    ffmpeg(join(encodeFolder(), `ten-bit-${name}`), [
      ...['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=25', '-frames:v', String(FRAMES), '-vf', filter],
      ...['-pix_fmt', 'yuv420p10le', '-strict', '-1', '-f', 'yuv4mpegpipe'],
    ]);
  return { reference: raw('reference.y4m', 'null'), distorted: raw('distorted.y4m', 'gblur=2') };
}

/** Bytes before the samples of a Y4M frame. */
const FRAME_HEAD = 'FRAME\n'.length;

/** A video at 5 fps, with noise that grows from frame to frame. */
function worsening(): Pair {
  const format = { width: 256, height: 144, bitDepth: 8, chroma: '420' } as const;
  const clip = makeSample(format);
  const { next } = seeded(75);
  const frames = Array.from({ length: 60 }, (_, i) => y4mFrame(clip, 'reference', i));
  const noisy = frames.map((frame, i) =>
    Buffer.from(frame).map((byte, at) =>
      at < FRAME_HEAD ? byte : Math.max(0, Math.min(255, Math.round(byte + i * (2 * next() - 1)))),
    ),
  );
  const file = (name: string, all: readonly Uint8Array[]) =>
    write(`worsening-${name}.y4m`, Buffer.concat([Buffer.from(y4mHeader(format, '5:1')), ...all]));
  return { reference: file('reference', frames), distorted: file('distorted', noisy) };
}

type Layer = 'reference' | 'distorted' | 'third' | 'fourth' | 'difference' | 'map';

const canvasOf = (page: Page, layer: Layer): Locator => page.locator(`.frames-${layer} canvas`);

/** Expects both pictures on show to equal those of a pair, sample by sample. */
async function expectShown(page: Page, pair: FramePair): Promise<void> {
  await expectPicture(page, 'reference', pair.reference.image());
  await expectPicture(page, 'distorted', pair.distorted.image());
}

/** Red, green and blue of a picture. */
function rgbOf(png: Uint8Array): Uint8Array {
  const { data, channels } = decode(png);
  return Uint8Array.from(data).filter((_, i) => i % channels < 3);
}

/** Without a list of differences, which would be too long to read. */
function expectSame(found: Uint8Array, expected: ArrayLike<number>): void {
  expect(Buffer.compare(found, Uint8Array.from(expected))).toBe(0);
}

/** Expects a canvas to show a picture, sample by sample. */
const expectPicture = async (page: Page, layer: Layer, { data }: RgbImage): Promise<void> =>
  expectSame(await samplesOf(canvasOf(page, layer)), data);

/** Mean difference of samples. */
function distance(found: Uint8Array, expected: ArrayLike<number>): number {
  expect(found.length).toBe(expected.length);
  return found.reduce((sum, value, i) => sum + Math.abs(value - (expected[i] ?? 0)), 0) / expected.length;
}

/** Position of a canvas in its pane, and pixels per sample. */
function placement(page: Page, layer: Layer) {
  return canvasOf(page, layer).evaluate((canvas: HTMLCanvasElement) => {
    const pane = canvas.closest('.frames-pane')?.getBoundingClientRect();
    const box = canvas.getBoundingClientRect();
    if (!pane) throw new Error('there is no pane');
    return {
      x: Math.round(box.left - pane.left),
      y: Math.round(box.top - pane.top),
      scale: box.width / canvas.width,
      sharp: canvas.style.imageRendering === 'pixelated',
    };
  });
}

const sizeOf = (page: Page, layer: Layer): Promise<number[]> =>
  canvasOf(page, layer).evaluate(({ width, height }: HTMLCanvasElement) => [width, height]);

/** Presses the key of the next zoom. */
async function zoomTo(page: Page, zoom: string): Promise<void> {
  await page.keyboard.press('z');
  await says(page.locator('.frames-zoom')).toBe(zoom);
}

const boxOf = async (page: Page, selector: string, which: 'first' | 'last' = 'first') =>
  (await page.locator(selector)[which]().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

/** Waits until the pictures are positioned. */
const placed = (page: Page): Promise<void> => page.locator('.frames-stage:not([data-placing])').waitFor();

const shown = (page: Page, frame: number): Promise<void> =>
  page.locator(`dialog[data-frame="${frame}"]:not([data-busy])`).waitFor();

/** Waits for the difference or map of a frame. */
const made = (page: Page, layer: 'difference' | 'map', frame = FRAME): Promise<void> =>
  page.locator(`dialog[data-made="${layer} ${frame}"]`).waitFor();

async function close(page: Page): Promise<void> {
  if ((await page.locator('dialog[open]').count()) === 0) return;
  await leave(page);
}

/** Reopens the viewer at the worst moment of an encode, then goes to a frame. */
async function show(page: Page, frame = FRAME, encoded = 0): Promise<void> {
  await close(page);
  const list = page.locator('.moments ol').nth(encoded);
  await list.locator('button').first().click();
  await page.locator(`dialog[open][data-frame][data-encode="${encoded}"]`).waitFor();
  await page.getByLabel('Frame number').fill(String(frame));
  await page.getByLabel('Frame number').press('Enter');
  await shown(page, frame);
  await page.locator('.frames-stage').focus();
  // View and zoom outlast the dialog.
  await page.keyboard.press('1');
  await page.keyboard.press('f');
}

const hasFocus = (element: ElementHandle<Node>) => () =>
  element.evaluate((node) => document.activeElement === node);

describe.skipIf(absent !== '')(`the frame viewer${absent}`, () => {
  const site = pages();

  async function scored(reference: string, distorted: readonly string[], view: View = {}): Promise<Page> {
    const page = await site.open(view);
    await choose(page, reference, ...distorted);
    await score(page);
    return page;
  }

  describe('of two encodes in tagged H.264', () => {
    const pairs = () => {
      const [reference, worse, better] = [h264(12), h264(34), h264(24)];
      return { worse: { reference, distorted: worse }, better: { reference, distorted: better } };
    };
    let page: Page;
    beforeAll(async () => {
      const { worse, better } = pairs();
      page = await site.open({ width: 1280, height: 720, stays: true });
      await choose(page, worse.reference, worse.distorted, better.distorted);
      await watchShifts(page);
      await score(page);
    });

    it('scores them as Node does, without layout shifts', async () => {
      await shiftsLittle(page);
      expect(await page.getByRole('heading', { name: 'VMAF over bit rate' }).count()).toBe(1);
      await page.setViewportSize({ width: 1280, height: 860 });
      const { worse } = pairs();
      const expected = await scoreInNode(worse, { threads: 0 });
      const found = (await reportsOf(page)).find(
        ({ distorted }) => distorted.name === basename(worse.distorted),
      );
      expect(found?.frames).toEqual(expected.frames);
      expect(found?.pooled_metrics).toEqual(expected.pooled_metrics);
      expect(found?.pairing?.distorted.decoder).toBe('mediabunny');
    });

    it('compares them at the same frame and place, with the same samples as in Node', async () => {
      const { worse, better } = pairs();
      await show(page, FRAME, 1);
      const select = page.getByRole('combobox', { name: 'Encode' }).and(page.locator('dialog select'));
      expect(await select.inputValue()).toBe('1');
      await zoomTo(page, '1:1');
      await page.keyboard.press('Shift+ArrowRight');
      await placed(page);
      const before = await placement(page, 'distorted');
      const second = await pairInNode(better, FRAME);
      await expectShown(page, second);
      await page.keyboard.press('e');
      await page.locator(`dialog[data-encode="0"][data-frame="${FRAME}"]:not([data-busy])`).waitFor();
      const first = await pairInNode(worse, FRAME);
      await expectShown(page, first);
      await placed(page);
      expect(await placement(page, 'distorted')).toEqual(before);
      await page.keyboard.press('4');
      await made(page, 'difference');
      await expectPicture(page, 'difference', first.difference().image);
      await select.selectOption('1');
      await page.locator(`dialog[data-encode="1"][data-made="difference ${FRAME}"]`).waitFor();
      await expectPicture(page, 'difference', second.difference().image);
      await says(page.locator('.frames-meta')).toContain(basename(better.distorted));
    });

    it('shows one encode against another, and saves exact pictures', async () => {
      const { worse, better } = pairs();
      await show(page);
      const save = async (name: string) => {
        await page.getByText('Save PNG').click();
        const button = page.locator('.frames-saves').getByRole('button', { name, exact: true });
        return download(page, () => button.click());
      };
      const label = basename(better.distorted);
      await page.getByRole('combobox', { name: 'Against' }).selectOption({ label });
      await page.locator(`dialog[data-against="1"][data-frame="${FRAME}"]:not([data-busy])`).waitFor();
      const both = await pairInNode({ reference: better.distorted, distorted: worse.distorted }, FRAME);
      await expectShown(page, both);
      const badges = await page.locator('.frames-badge').allTextContents();
      expect(badges).toEqual([label, basename(worse.distorted)]);
      await page.keyboard.press('4');
      await made(page, 'difference');
      const difference = await save('Difference');
      expect(difference.name).toBe(`${basename(worse.distorted, '.mp4')}.frame-${FRAME}.difference.png`);
      expectSame(rgbOf(difference.bytes), both.difference().image.data);
      await page.keyboard.press('b');
      await page.locator(`dialog[data-against=""][data-made="difference ${FRAME}"]`).waitFor();
      await page.keyboard.press('1');
      const encoded = await save(basename(worse.distorted));
      expectSame(rgbOf(encoded.bytes), both.distorted.image().data);
    });

    it('steps through frames and worst moments by key, with their scores', async () => {
      await show(page, 5);
      await page.keyboard.press('ArrowRight');
      await shown(page, 6);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await shown(page, 4);
      await page.keyboard.press('End');
      await shown(page, FRAMES - 1);
      await page.keyboard.press('ArrowRight');
      expect(await page.locator('dialog').getAttribute('data-frame')).toBe(String(FRAMES - 1));
      const moment = async (key: string) => {
        const number = page.locator('.frames input[type=number]');
        const before = await number.inputValue();
        await page.keyboard.press(key);
        await expect.poll(() => number.inputValue()).not.toBe(before);
        const frame = Number(await number.inputValue());
        await shown(page, frame);
        return { frame, score: Number(await page.locator('.frames-score strong').textContent()) };
      };
      // Start from an end that is not the worst moment.
      const listed = await page.locator('.moments ol').first().locator('.when').first().textContent();
      await page.keyboard.press(/frame 0$/.test(listed ?? '') ? 'End' : 'Home');
      await shown(page, /frame 0$/.test(listed ?? '') ? FRAMES - 1 : 0);
      const worst = await moment('w');
      expect(listed).toContain(`frame ${worst.frame}`);
      const second = await moment('n');
      expect(Math.abs(second.frame - worst.frame)).toBeGreaterThan(1);
      expect(second.score).toBeGreaterThanOrEqual(worst.score);
    });

    it('returns the focus to the moment or chart that opened it, by key and by pointer', async () => {
      await close(page);
      const opener = await page.locator('.moments button').nth(1).elementHandle();
      const chart = page.getByRole('slider', { name: /of every frame/ });
      const slider = await chart.elementHandle();
      if (!opener || !slider) throw new Error('there is no second moment, or no chart');
      await opener.press('Enter');
      await page.locator('dialog[open][data-frame]').waitFor();
      await page.keyboard.press('End');
      await shown(page, FRAMES - 1);
      await page.keyboard.press('Escape');
      await page.locator('dialog:not([open])').waitFor({ state: 'attached' });
      await expect.poll(hasFocus(opener)).toBe(true);

      await chart.focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('Enter');
      await page.locator('dialog[open][data-frame="0"]').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(hasFocus(slider)).toBe(true);
      await page.locator('.plot.large .marks').click();
      await page.locator('dialog[open]:not([data-frame="0"])').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(hasFocus(slider)).toBe(true);
      // The chart works by key again.
      await page.keyboard.press('End');
      await expect.poll(() => chart.getAttribute('aria-valuenow')).toBe(String(FRAMES - 1));
    });

    it('zooms and pans both pictures together', async () => {
      await show(page);
      for (const zoom of [1, 2, 4]) {
        await zoomTo(page, `${zoom}:1`);
        await placed(page);
        const reference = await placement(page, 'reference');
        expect(await placement(page, 'distorted')).toEqual(reference);
        expect(reference.scale).toBeCloseTo(zoom, 9);
        expect(reference.sharp).toBe(true);
      }
      const before = await placement(page, 'reference');
      await page.keyboard.press('Shift+ArrowRight');
      await placed(page);
      const panned = await placement(page, 'reference');
      expect(before.x - panned.x).toBe(80);
      expect(await placement(page, 'distorted')).toEqual(panned);
      const box = await boxOf(page, '.frames-pane', 'last');
      const [x, y] = [box.x + 100, box.y + 100];
      await drag(page, [x, y], [x + 30, y - 20], 3);
      await placed(page);
      const dragged = await placement(page, 'distorted');
      expect([dragged.x - panned.x, dragged.y - panned.y]).toEqual([30, -20]);
      await page.mouse.wheel(0, -200);
      await expect.poll(async () => (await placement(page, 'reference')).scale).toBeGreaterThan(4);
      await placed(page);
      expect(await placement(page, 'reference')).toEqual(await placement(page, 'distorted'));
    });

    it('keeps half of a low window for pictures, and closes by Back, which stays on the page', async () => {
      await show(page);
      await page.setViewportSize({ width: 640, height: 360 });
      await page.keyboard.press('5');
      await made(page, 'map');
      expect((await boxOf(page, '.frames-stage')).height).toBeGreaterThanOrEqual(180);
      await page.setViewportSize({ width: 1280, height: 860 });
      const url = page.url();
      await leave(page, () => page.goBack());
      expect(page.url()).toBe(url);
      await page.goForward();
      await page.locator('dialog[open][data-frame]').waitFor();
      // Closing it otherwise leaves no history entry.
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate(() => history.state?.viewer)).toBeUndefined();
      expect(await page.locator('dialog[open]').count()).toBe(0);
      expect(await page.locator('.moments button').count()).toBeGreaterThan(0);
      // Leaving the page asks while nothing was saved.
      const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
      expect(await asks()).toBe(true);
      await download(page, () => page.getByRole('button', { name: 'Download CSV', exact: true }).click());
      await expect.poll(asks).toBe(false);
    });

    it('closes by Escape while a number is typed, without going to that frame', async () => {
      await show(page);
      await page.getByLabel('Frame number').fill('3');
      await leave(page);
      await expect.poll(() => page.evaluate(() => history.state?.viewer)).toBeUndefined();
      expect(await page.locator('dialog[open]').count()).toBe(0);
    });

    it('restores the number of the current frame when the field is left empty or unchanged', async () => {
      await show(page);
      const number = page.getByLabel('Frame number');
      await number.focus();
      await page.locator('.frames-timeline input').evaluate((slider: HTMLInputElement) => {
        slider.value = '2';
        slider.dispatchEvent(new Event('input'));
      });
      await shown(page, 2);
      await number.blur();
      expect(await number.inputValue()).toBe('2');
      await number.fill('');
      await number.blur();
      expect(await number.inputValue()).toBe('2');
    });

    it('stays open when reopened before the close event, and before the browser has gone back', async () => {
      await show(page);
      await page.evaluate(() => {
        const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
        // Fires `close` in a later task.
        dialog?.close();
        document.querySelector<HTMLButtonElement>('.moments button')?.click();
        return new Promise((resolve) => dialog?.addEventListener('close', resolve, { once: true }));
      });
      expect(await page.locator('dialog[open]').count()).toBe(1);
      await page.evaluate(() => {
        const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
        // Runs after the page's own listener, which calls `history.back()`.
        const reopen = () => document.querySelector<HTMLButtonElement>('.moments button')?.click();
        dialog?.addEventListener('close', reopen, { once: true });
        dialog?.close();
        return new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
      });
      expect(await page.locator('dialog[open][data-frame]').count()).toBe(1);
      await leave(page, () => page.goBack());
      expect(await page.locator('.moments').isVisible()).toBe(true);
    });

    it('moves the divider of the split view by pointer and by key', async () => {
      await show(page);
      await page.keyboard.press('2');
      const slider = page.getByRole('slider', { name: 'Divider between reference and distorted' });
      await slider.focus();
      await page.keyboard.press('Home');
      await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('0 % reference');
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('2');
      const stage = await boxOf(page, '.frames-stage');
      const middle = stage.y + stage.height / 2;
      await drag(page, [stage.x + 0.02 * stage.width, middle], [stage.x + 0.75 * stage.width, middle], 4);
      await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('75');
    });

    it('does not flicker by itself if the user prefers reduced motion', async () => {
      await show(page);
      await page.keyboard.press('3');
      const badge = page.locator('.frames-badge').first();
      // Longer than the interval of the flicker.
      await page.waitForTimeout(900);
      expect(await badge.textContent()).toBe(basename(pairs().worse.distorted));
      await page.keyboard.press('Space');
      await says(badge).toBe('Reference');
      expect(await page.getByRole('button', { name: 'Hold' }).count()).toBe(0);
    });

    it('plays, pauses, fills the screen, and updates texts together with the picture', async () => {
      await show(page, 0);
      const dialog = page.locator('dialog');
      // Texts must always state the frame on show.
      await page.evaluate(() => {
        const dialog = document.querySelector('dialog');
        const wrong: string[] = [];
        new MutationObserver(() => {
          const said = /\d+/.exec(dialog?.querySelector('h2')?.textContent ?? '')?.[0];
          if (said !== dialog?.dataset.frame) wrong.push(`${said} ${dialog?.dataset.frame}`);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
        Object.assign(window, { wrong });
      });
      await page.keyboard.press('k');
      await page.locator('dialog[data-playing]').waitFor();
      // Arriving pictures must not replace a number that is being typed.
      const number = page.getByLabel('Frame number');
      await number.fill('0');
      await expect.poll(async () => Number(await dialog.getAttribute('data-frame'))).toBeGreaterThan(1);
      expect(await number.inputValue()).toBe('0');
      await page.locator('.frames-stage').focus();
      await page.keyboard.press('k');
      await page.locator('dialog:not([data-playing])').waitFor();
      // It stops at an exact picture.
      await page.locator('dialog:not([data-rough]):not([data-busy])').waitFor();
      const stopped = Number(await dialog.getAttribute('data-frame'));
      await expectShown(page, await pairInNode(pairs().worse, stopped));
      await page.getByRole('button', { name: 'Play', exact: true }).click();
      await shown(page, FRAMES - 1);
      await page.locator('dialog:not([data-playing])').waitFor();
      expect(await page.evaluate(() => (window as unknown as { wrong: string[] }).wrong)).toEqual([]);
      await page.locator('.frames-stage').focus();
      await page.keyboard.press('x');
      const full = () => page.evaluate(() => document.fullscreenElement?.className);
      await expect.poll(full).toBe('frames-theatre');
      await page.keyboard.press('Home');
      await shown(page, 0);
      await page.keyboard.press('x');
      await expect.poll(full).toBeUndefined();
    });

    it('plays in nearly exact colours, and saves exact pictures during playback', async () => {
      const { worse } = pairs();
      await show(page, 0);
      // Pictures are on show too briefly during playback: copy one pair.
      await page.evaluate(() => {
        const dialog = document.querySelector('dialog');
        new MutationObserver((_, observer) => {
          if (!dialog?.hasAttribute('data-rough') || Number(dialog.dataset.frame) < 3) return;
          for (const name of ['reference', 'distorted']) {
            const shown = document.querySelector<HTMLCanvasElement>(`.frames-${name} canvas`);
            if (!shown) return;
            const { width, height } = shown;
            const copy = Object.assign(document.createElement('canvas'), {
              width,
              height,
              className: 'kept',
            });
            copy.getContext('2d')?.drawImage(shown, 0, 0);
            copy.hidden = true;
            copy.dataset.frame = dialog.dataset.frame;
            document.body.append(copy);
          }
          observer.disconnect();
        }).observe(document.body, { subtree: true, attributeFilter: ['data-frame', 'data-rough'] });
      });
      await page.keyboard.press('k');
      const kept = page.locator('canvas.kept');
      await kept.nth(1).waitFor({ state: 'attached' });
      const { name, bytes } = await download(page, () => page.keyboard.press('s'));
      await page.locator('dialog:not([data-playing]):not([data-rough])').waitFor();
      const frame = Number(/frame-(\d+)\.encode\.png$/.exec(name)?.[1]);
      // An exact picture does not stop playback, which then ends at the last frame.
      const at = Number(await page.locator('dialog').getAttribute('data-frame'));
      expect([frame, FRAMES - 1]).toContain(at);
      expectSame(rgbOf(bytes), (await pairInNode(worse, frame)).distorted.image().data);
      const pair = await pairInNode(worse, Number(await kept.first().getAttribute('data-frame')));
      for (const [i, role] of (['reference', 'distorted'] as const).entries())
        expect(distance(await samplesOf(kept.nth(i)), pair[role].image().data)).toBeLessThan(4);
    });
  });

  describe('of 10-bit Y4M on a touch screen', () => {
    let page: Page;
    let moved = '';
    beforeAll(async () => {
      const { reference, distorted } = y4m();
      moved = join(encodeFolder(), 'moved.y4m');
      copyFileSync(distorted, moved);
      page = await scored(reference, [distorted, moved], { touch: true, stays: true });
    });

    it('shows the same samples as in Node, also on the screen at 1:1', async () => {
      const expected = await pairInNode(y4m(), FRAME);
      await show(page);
      await expectShown(page, expected);
      await zoomTo(page, '1:1');
      await placed(page);
      const at = await placement(page, 'distorted');
      const pane = await boxOf(page, '.frames-pane', 'last');
      const clip = { x: pane.x + at.x + 40, y: pane.y + at.y + 60, width: 64, height: 48 };
      const screen = rgbOf(await page.screenshot({ clip }));
      const { data } = expected.distorted.image();
      const wanted: number[] = [];
      for (let y = 60; y < 108; y++) wanted.push(...data.subarray(3 * (320 * y + 40), 3 * (320 * y + 104)));
      expectSame(screen, wanted);
      await page.keyboard.press('4');
      await made(page, 'difference');
      await expectPicture(page, 'difference', expected.difference().image);
    });

    it('colours the map by the losses of the library', async () => {
      await show(page);
      await page.keyboard.press('5');
      await made(page, 'map');
      const expected = await (async () => {
        for await (const maps of qualityMaps(y4m(), [FRAME])) return maps.lost('both');
        throw new Error(`there is no frame ${FRAME}`);
      })();
      const { width, values, total } = expected;
      expect(await sizeOf(page, 'map')).toEqual([width, expected.height]);
      await says(page.locator('.frames-summary')).toContain(`The frame loses ${total.toFixed(2)}.`);
      // The square with the most loss is the lightest, and the loss under the pointer is read out.
      const most = values.indexOf(Math.max(...values));
      const rgb = await samplesOf(canvasOf(page, 'map'));
      const lightness = Array.from(values, (_, i) => (rgb[3 * i] ?? 0) + (rgb[3 * i + 1] ?? 0));
      expect(lightness[most]).toBe(Math.max(...lightness));
      await placed(page);
      const at = await placement(page, 'distorted');
      const pane = await boxOf(page, '.frames-pane');
      const [column, row] = [most % width, Math.floor(most / width)];
      await page.mouse.move(
        pane.x + at.x + (16 * column + 8) * at.scale,
        pane.y + at.y + (16 * row + 8) * at.scale,
      );
      const density = ((values[most] ?? 0) * 320 * 240) / (16 * 16);
      await says(page.locator('.frames-readout')).toContain(`here ${density.toFixed(2)}`);
    });

    it('maps Butteraugli if chosen', async () => {
      await show(page);
      await page.keyboard.press('5');
      await made(page, 'map');
      await page.locator('.frames-map-set select').first().selectOption('butteraugli');
      const most = await (async () => {
        for await (const { butteraugli } of qualityMaps(y4m(), [FRAME], { butteraugli: true }))
          return butteraugli?.maximum ?? 0;
        throw new Error(`there is no frame ${FRAME}`);
      })();
      await says(page.locator('.frames-summary')).toContain(`The largest is ${most.toFixed(2)}.`);
      expect(await sizeOf(page, 'map')).toEqual([320, 240]);
      await page.locator('.frames-map-set select').first().selectOption('both');
      await says(page.locator('.frames-summary')).toContain('The frame loses ');
    });

    it('zooms by pinching, around the point between the fingers', async () => {
      await show(page);
      await zoomTo(page, '1:1');
      await placed(page);
      const before = await placement(page, 'reference');
      const pane = await boxOf(page, '.frames-pane');
      const [x, y] = [pane.x + pane.width / 2, pane.y + pane.height / 2];
      const apart = (by: number): Fingers => [
        [x - by, y],
        [x + by, y],
      ];
      await pinch(page, apart(40), apart(120));
      await expect.poll(async () => (await placement(page, 'reference')).scale).toBeCloseTo(3, 1);
      await placed(page);
      const after = await placement(page, 'reference');
      // The sample between the fingers stays there.
      const [middleX, middleY] = [pane.width / 2, pane.height / 2];
      expect((middleX - after.x) / after.scale).toBeCloseTo((middleX - before.x) / before.scale, -0.5);
      expect((middleY - after.y) / after.scale).toBeCloseTo((middleY - before.y) / before.scale, -0.5);
      expect(await placement(page, 'distorted')).toEqual(after);
      await pinch(page, apart(120), apart(60));
      await expect.poll(async () => (await placement(page, 'reference')).scale).toBeCloseTo(1.5, 1);
      // The page itself is as large as before.
      expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
    });

    it('names the file that cannot be read any more', async () => {
      await close(page);
      write('moved.y4m', 'something else');
      await page.locator('.moments ol').nth(1).locator('button').first().click();
      await page.locator('.frames-message').filter({ hasText: 'moved.y4m cannot be read again' }).waitFor();
    });
  });

  describe('of four encodes in untagged H.264 with non-square samples', () => {
    const at = (crf: number, size = '160x120', frames = FRAMES) =>
      h264(crf, size, ['-vf', 'setsar=4/3'], frames);
    const reference = () => at(12);
    /** One has half the size, one ends early. */
    const encodes = () => [at(34), at(34, '80x60'), at(40, '160x120', 6), at(46)];
    const rows = () => page.locator('.slot-distorted .file');
    let page: Page;
    /** Titles of moments' buttons that were replaced after all of them were on show. */
    let replaced: JSHandle<string[]>;
    beforeAll(async () => {
      const [last = '', ...others] = encodes().reverse();
      page = await site.open({ stays: true });
      await choose(page, reference(), last, ...others.reverse());
      // Between press and release of its remove button, the first encode is chosen again and inspected.
      await rows()
        .first()
        .getByRole('button', { name: /^Remove / })
        .hover();
      await page.mouse.down();
      await page.setInputFiles('#pick-distorted', last);
      await rows().nth(4).waitFor();
      await checked(page);
      await page.mouse.up();
      replaced = await page.evaluateHandle(() => {
        const titles: string[] = [];
        new MutationObserver((changes) => {
          if (!document.querySelector('.moments:not([aria-busy])')) return;
          for (const { removedNodes } of changes)
            for (const node of removedNodes) if (node instanceof HTMLButtonElement) titles.push(node.title);
        }).observe(document.body, { subtree: true, childList: true });
        return titles;
      });
      await score(page);
    });

    // Browsers drop the click if the pressed element leaves the page.
    it('loses no press on a file to its inspection, nor on a moment to its picture', async () => {
      expect(await rows().locator('.file-name').allTextContents()).toEqual(
        encodes().map((path) => basename(path)),
      );
      for (const list of ['.moments li', '.strip']) {
        const picture = page.locator(`${list} button canvas`).first();
        await picture.scrollIntoViewIfNeeded();
        const pressed = await picture.evaluate((canvas) => {
          const { left, top, width, height } = canvas.getBoundingClientRect();
          return document.elementFromPoint(left + width / 2, top + height / 2)?.tagName;
        });
        expect(pressed).toBe('BUTTON');
      }
      expect((await replaced.jsonValue()).filter((title) => title.includes('frame'))).toEqual([]);
    });
    const pairOf = (i: number, frame = FRAME) =>
      pairInNode({ reference: reference(), distorted: encodes()[i] ?? '' }, frame);

    it('shows them in their aspect ratio, and an encode of half the size nearly as Node scales it', async () => {
      await show(page);
      await expectShown(page, await pairOf(0));
      await placed(page);
      const { width, height } = await boxOf(page, '.frames-reference canvas');
      expect(width / height).toBeCloseTo(16 / 9, 2);
      await show(page, FRAME, 1);
      const expected = await pairOf(1);
      await expectPicture(page, 'reference', expected.reference.image());
      // Node scales with ffmpeg, the page with the library's equivalent filter.
      const { data } = expected.distorted.image();
      expect(distance(await samplesOf(canvasOf(page, 'distorted')), data)).toBeLessThan(1);
    });

    it('shows several at the same frame, place and zoom', async () => {
      const further = (list: string) =>
        page.locator(`dialog[data-further="${list}"]:not([data-busy])`).waitFor();
      const labels = () => page.locator('.frames-label:visible span').allTextContents();
      const chosen = (name: string) => page.getByRole('combobox', { name });
      /** Expects pictures of these encodes beside the reference. */
      const expectGrid = async (frame: number, ...all: readonly number[]) => {
        for (const [n, i] of all.entries()) {
          const layer = (['distorted', 'third', 'fourth'] as const)[n] ?? 'fourth';
          const { distorted } = await pairOf(i, frame);
          const found = await samplesOf(canvasOf(page, layer));
          expect(distance(found, distorted.image().data), `encode ${i}`).toBeLessThan(i === 1 ? 1 : 1e-9);
        }
      };
      await show(page, 4);
      await page.keyboard.press('6');
      await further('1 2');
      await expectPicture(page, 'reference', (await pairOf(0, 4)).reference.image());
      await expectGrid(4, 0, 1, 2);
      const names = encodes().map((path) => basename(path));
      const badge = page.locator('.frames-badge:visible').last();
      const score = await page.locator('.frames-score strong').textContent();
      expect(await badge.textContent()).toBe(`${score} · ${names[0]}`);
      expect(await badge.getAttribute('title')).toBe(`${score} · ${names[0]}`);
      expect(await chosen('Third picture').getAttribute('title')).toBe(names[1]);
      expect((await labels()).every((label) => Number(label) > 0)).toBe(true);
      expect(await violations(page)).toEqual([]);
      // Keys change zoom and place of all.
      for (const key of ['z', 'Shift+ArrowRight']) await page.keyboard.press(key);
      await says(page.locator('.frames-zoom')).toBe('1:1');
      await placed(page);
      const place = await placement(page, 'reference');
      for (const layer of ['distorted', 'third', 'fourth'] as const)
        expect(await placement(page, layer)).toEqual(place);
      // Many quick steps end at one frame, which the third encode lacks.
      for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
      await shown(page, 8);
      await expectGrid(8, 0, 1);
      expect((await labels())[1]).toBe('no picture of this moment');
      expect((await sizeOf(page, 'fourth'))[0]).toBe(0);
      await page.keyboard.press('v');
      await further('1 3');
      await expectGrid(8, 0, 1, 3);
      // No encode is shown twice.
      await chosen('Against').selectOption({ label: names[1] ?? '' });
      await further('2 3');
      await page.keyboard.press('b');
      await page.locator('.frames-message:visible').waitFor();
      await chosen('Against').selectOption({ label: 'Reference' });
      await page.locator('dialog[data-against=""]:not([data-busy])').waitFor();
    });

    it('plays them in step, and can leave the grid and the viewer while pictures load', async () => {
      await show(page, 0);
      const dialog = page.locator('dialog');
      await page.keyboard.press('6');
      await page.locator('dialog:not([data-further=""]):not([data-busy])').waitFor();
      await page.keyboard.press('k');
      await expect.poll(async () => Number(await dialog.getAttribute('data-frame'))).toBeGreaterThan(1);
      await page.keyboard.press('k');
      await page.locator('dialog:not([data-playing]):not([data-rough]):not([data-busy])').waitFor();
      // Change the view while pictures load.
      for (const key of ['End', '1']) await page.keyboard.press(key);
      await shown(page, FRAMES - 1);
      await expectShown(page, await pairOf(0, FRAMES - 1));
      for (const key of ['6', 'Home', 'ArrowRight']) await page.keyboard.press(key);
      await leave(page, () => page.goBack());
      expect(await page.locator('.moments').isVisible()).toBe(true);
    });
  });

  it('returns the focus to the nearest moment if the one that opened it is no longer listed', async () => {
    const { reference, distorted } = worsening();
    // Slow metrics on one thread, so that the run can be paused before its end.
    const page = await site.open({
      hash: 'feature=cambi&feature=psnr_hvs&feature=ciede&feature=float_ssim&threads=1',
    });
    await choose(page, reference, distorted);
    await startPaused(page);
    await page.locator('.moments[aria-busy=true] button').first().click();
    await page.locator('dialog[open][data-frame]').waitFor();
    const opened = Number(await page.locator('dialog').getAttribute('data-frame'));
    // The button is behind the dialog, so it is clicked by script.
    await page.evaluate(() => document.querySelector<HTMLButtonElement>('.busy-line button')?.click());
    await page.locator('.moments:not([aria-busy])').waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    const frames = await page
      .locator('.moments .when')
      .evaluateAll((all) => all.map(({ textContent }) => Number(/frame (\d+)/.exec(textContent ?? '')?.[1])));
    // Each frame is worse than the one before, so the earlier worst moments are hardly listed now.
    const nearest = frames.toSorted((a, b) => Math.abs(a - opened) - Math.abs(b - opened))[0];
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.querySelector('.when')?.textContent))
      .toContain(`frame ${nearest}`);
  });
});
