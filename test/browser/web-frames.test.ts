/**
 * @module test/browser/web-frames
 * The page's frame viewer in headless Chromium: the samples it shows are those of the library, every view, keys, zoom,
 * the next frame, failures, axe, a phone's width and the dark theme.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { extractFrames, type FramePair, qualityMaps, type RgbImage } from 'anyvmaf';
import type { ElementHandle, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { y4mFrame, y4mHeader } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import {
  type Fingers,
  openPage,
  pinch,
  type ServedPage,
  screenshot,
  servePage,
  settled,
  type View,
} from '../support/page.js';

vi.setConfig(PATIENT);

const absent = noChromium || (hasFfmpeg ? '' : ` (${needsFfmpeg})`);
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Frames that both clips have, and the size that is scored. */
const FRAMES = 30;

interface Pair {
  readonly reference: string;
  readonly distorted: string;
}

interface Files {
  readonly reference: string;
  readonly distorted: string | readonly string[];
}

const TAGGED = ['-colorspace', 'smpte170m', '-color_trc', 'smpte170m', '-color_primaries', 'smpte170m'];

/** A video of moving shapes, and a worse one, of half its size unless said. */
function h264(size = '160x120', tags: readonly string[] = TAGGED): Pair {
  const made = (crf: string, size: string) =>
    encode({ codec: 'h264', frames: FRAMES, size, rate: 5, extra: ['-crf', crf, ...tags] });
  return { reference: made('12', '320x240'), distorted: made('34', size) };
}

/** As Y4M of 10 bits, blurred. */
function y4m(size = '320x240', frames = FRAMES): Pair {
  const raw = (name: string, filter: string) =>
    ffmpeg(join(encodeFolder(), `${size}-${name}`), [
      ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25`, '-frames:v', String(frames), '-vf', filter],
      ...['-pix_fmt', 'yuv420p10le', '-strict', '-1', '-f', 'yuv4mpegpipe'],
    ]);
  return { reference: raw('reference.y4m', 'null'), distorted: raw('distorted.y4m', 'gblur=2') };
}

/** A video with more noise in every frame than in the one before. */
function worsening(): Pair {
  const format = { width: 320, height: 180, bitDepth: 8, chroma: '420' } as const;
  const write = (side: 'reference' | 'distorted') => {
    const frames = Array.from({ length: 75 }, (_, i) =>
      y4mFrame(makeSample(format, { distortion: { noise: 1 + i / 4 } }), side, i),
    );
    const path = join(encodeFolder(), `worsening-${side}.y4m`);
    writeFileSync(path, Buffer.concat([Buffer.from(y4mHeader(format)), ...frames]));
    return path;
  };
  return { reference: write('reference'), distorted: write('distorted') };
}

async function pairInNode({ reference, distorted }: Pair, index: number): Promise<FramePair> {
  for await (const pair of extractFrames({ reference, distorted }, [index])) return pair;
  throw new Error(`frame ${index} did not come`);
}

describe.skipIf(absent !== '')(`the frame viewer${absent}`, () => {
  let served: ServedPage;

  beforeAll(async () => {
    served = await servePage();
  });

  afterAll(async () => {
    await served?.close();
  });

  /** Scores a pair on a fresh page. */
  async function scored(files: Files, view: View = {}): Promise<{ page: Page; complaints: string[] }> {
    const opened = await openPage(served, view);
    const { page } = opened;
    await page.setInputFiles('#pick-reference', files.reference);
    await page.setInputFiles('#pick-distorted', files.distorted);
    await page.locator('button.primary').click();
    await page.getByText(/^Done in/).waitFor();
    // While frames come the list of moments changes.
    await settled(page);
    return opened;
  }

  /** Opens the worst moment, then goes to a frame. */
  async function show(page: Page, frame: number): Promise<void> {
    await page.locator('.moments button').first().click();
    await page.locator('dialog[open][data-frame]').waitFor();
    await go(page, frame);
  }

  async function go(page: Page, frame: number): Promise<void> {
    await page.getByLabel('Frame number').fill(String(frame));
    await page.getByLabel('Frame number').press('Enter');
    await shown(page, frame);
    await page.locator('.frames-stage').focus();
  }

  function shown(page: Page, frame: number): Promise<void> {
    return page.locator(`dialog[data-frame="${frame}"]:not([data-busy])`).waitFor();
  }

  /** Waits until the pictures are where they were last asked to be. */
  function placed(page: Page): Promise<void> {
    return page.locator('.frames-stage:not([data-placing])').waitFor();
  }

  /** Samples of a canvas, red, green and blue of each. */
  function samples(page: Page, layer: string): Promise<number[]> {
    return page.evaluate((selector) => {
      const canvas = document.querySelector<HTMLCanvasElement>(selector);
      const { data } = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
      return data ? [...data].filter((_, i) => i % 4 < 3) : [];
    }, `.frames-${layer} canvas`);
  }

  /** SHA-256 of a canvas's samples; all of them are opaque. */
  function hash(page: Page, layer: string): Promise<string> {
    return page.evaluate(async (selector) => {
      const canvas = document.querySelector<HTMLCanvasElement>(selector);
      const image = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
      const digest = await crypto.subtle.digest('SHA-256', image?.data ?? new Uint8Array());
      return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    }, `.frames-${layer} canvas`);
  }

  /** The same of an image of the library. */
  function expectedHash({ data, width, height }: RgbImage): string {
    const rgba = new Uint8Array(4 * width * height).fill(255);
    for (let i = 0; i < width * height; i++) rgba.set(data.subarray(3 * i, 3 * i + 3), 4 * i);
    return createHash('sha256').update(rgba).digest('hex');
  }

  /** Where a canvas lies on the screen, and how large a sample is. */
  function placement(page: Page, layer: string) {
    return page.evaluate((selector) => {
      const canvas = document.querySelector<HTMLCanvasElement>(selector);
      const pane = canvas?.closest('.frames-pane')?.getBoundingClientRect();
      const box = canvas?.getBoundingClientRect();
      if (!canvas || !pane || !box) throw new Error(`no ${selector}`);
      return {
        x: Math.round(box.left - pane.left),
        y: Math.round(box.top - pane.top),
        scale: box.width / canvas.width,
        sharp: canvas.style.imageRendering === 'pixelated',
      };
    }, `.frames-${layer} canvas`);
  }

  const violations = (page: Page) =>
    page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await axe.run();
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });

  for (const [name, make] of [
    ['10-bit Y4M', y4m],
    ['H.264 that says its colours', () => h264('320x240')],
    ['H.264 that does not', () => h264('320x240', [])],
  ] as const) {
    it(`shows the very samples that the library gives in Node: ${name}`, async () => {
      const pair = make();
      const { page, complaints } = await scored(pair);
      await show(page, 17);
      const expected = await pairInNode(pair, 17);
      expect(await hash(page, 'reference')).toBe(expectedHash(expected.reference.image()));
      expect(await hash(page, 'distorted')).toBe(expectedHash(expected.distorted.image()));
      await page.keyboard.press('4');
      await page.locator('dialog[data-made="difference 17"]').waitFor();
      expect(await hash(page, 'difference')).toBe(expectedHash(expected.difference().image));
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  }

  it('shows H.264 of different sizes: the reference to the sample, the scaled video as near as filters are', async () => {
    const pair = h264();
    const { page } = await scored(pair);
    await show(page, 17);
    const expected = await pairInNode(pair, 17);
    expect(await hash(page, 'reference')).toBe(expectedHash(expected.reference.image()));
    // Node scales with ffmpeg, the page with the library's filter of the same kind.
    const { data } = expected.distorted.image();
    const there = await samples(page, 'distorted');
    expect(there.length).toBe(data.length);
    const difference = there.reduce((sum, value, i) => sum + Math.abs(value - (data[i] ?? 0)), 0);
    expect(difference / data.length).toBeLessThan(1);
    await page.context().close();
  });

  it('colours the map by the losses that the library measures', async () => {
    const pair = y4m();
    const { page } = await scored(pair);
    await show(page, 5);
    await page.keyboard.press('5');
    await page.locator('dialog[data-made="map 5"]').waitFor();
    const expected = await (async () => {
      for await (const maps of qualityMaps(pair, [5])) return maps.lost('both');
      throw new Error('frame 5 did not come');
    })();
    const size = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.frames-map canvas');
      return [canvas?.width, canvas?.height];
    });
    expect(size).toEqual([expected.width, expected.height]);
    await expect
      .poll(() => page.locator('.frames-summary').textContent())
      .toContain(`The frame loses ${expected.total.toFixed(2)} of 1.`);
    // The square that loses most is the lightest, and the loss under the pointer is said.
    const most = expected.values.indexOf(Math.max(...expected.values));
    const lightness = await samples(page, 'map').then((rgb) =>
      Array.from({ length: rgb.length / 3 }, (_, i) => (rgb[3 * i] ?? 0) + (rgb[3 * i + 1] ?? 0)),
    );
    expect(lightness[most]).toBe(Math.max(...lightness));
    await placed(page);
    const at = await placement(page, 'distorted');
    const pane = await page.locator('.frames-pane').first().boundingBox();
    const [column, row] = [most % expected.width, Math.floor(most / expected.width)];
    await page.mouse.move(
      (pane?.x ?? 0) + at.x + (16 * column + 8) * at.scale,
      (pane?.y ?? 0) + at.y + (16 * row + 8) * at.scale,
    );
    const density = ((expected.values[most] ?? 0) * 320 * 240) / (16 * 16);
    await expect
      .poll(() => page.locator('.frames-readout').textContent())
      .toContain(`loss here ${density.toFixed(2)}`);
    await page.context().close();
  });

  it('goes through frames and worst moments by key, with the score of each', async () => {
    const pair = h264();
    const { page } = await scored(pair);
    await show(page, 10);
    await page.keyboard.press('ArrowRight');
    await shown(page, 11);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await shown(page, 9);
    await page.keyboard.press('End');
    await shown(page, FRAMES - 1);
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('dialog').getAttribute('data-frame')).toBe(String(FRAMES - 1));
    await page.keyboard.press('Home');
    await shown(page, 0);
    await page.keyboard.press('w');
    const number = page.locator('.frames input[type=number]');
    await expect.poll(() => number.inputValue()).not.toBe('0');
    const worst = Number(await number.inputValue());
    await shown(page, worst);
    const score = await page.locator('.frames-score strong').textContent();
    await page.keyboard.press('n');
    await expect.poll(() => number.inputValue()).not.toBe(String(worst));
    const second = Number(await number.inputValue());
    expect(Math.abs(second - worst)).toBeGreaterThan(1);
    await shown(page, second);
    const next = await page.locator('.frames-score strong').textContent();
    expect(Number(next)).toBeGreaterThanOrEqual(Number(score));
    await page.context().close();
  });

  /** Whether an element has the focus, as soon as the dialog that took it is closed. */
  const hasFocus = (element: ElementHandle<Node>) => () =>
    element.evaluate((node) => document.activeElement === node);

  it('gives the focus back to the moment that opened it', async () => {
    const { page } = await scored(h264());
    const opener = await page.locator('.moments button').nth(1).elementHandle();
    await opener?.press('Enter');
    await page.locator('dialog[open][data-frame]').waitFor();
    await page.keyboard.press('End');
    await shown(page, FRAMES - 1);
    await page.keyboard.press('Escape');
    await page.locator('dialog:not([open])').waitFor({ state: 'attached' });
    if (!opener) throw new Error('there is no second moment');
    await expect.poll(hasFocus(opener)).toBe(true);
    await page.context().close();
  });

  it('gives the focus back to the chart that opened it, by key and by pointer', async () => {
    const { page } = await scored(h264());
    const chart = page.getByRole('slider', { name: /of every frame/ });
    const slider = await chart.elementHandle();
    if (!slider) throw new Error('there is no chart');
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
    // And from there it goes on by key.
    await page.keyboard.press('End');
    await expect.poll(() => chart.getAttribute('aria-valuenow')).toBe(String(FRAMES - 1));
    await page.context().close();
  });

  it('gives the focus to the moment nearest in time when the one that opened it is no longer among the worst', async () => {
    const pair = worsening();
    // Slowly, for there to be time to look at what is worst so far.
    const { page } = await openPage(served, { hash: 'feature=cambi&threads=1' });
    await page.setInputFiles('#pick-reference', pair.reference);
    await page.setInputFiles('#pick-distorted', pair.distorted);
    const pressWhen = (pattern: RegExp) =>
      page.evaluate(
        ({ source }) =>
          new Promise<void>((resolve) => {
            const look = () => {
              const figures = document.querySelector('.figures')?.textContent ?? '';
              if (!new RegExp(source).test(figures)) return;
              observer.disconnect();
              document.querySelector<HTMLButtonElement>('.busy-line button')?.click();
              resolve();
            };
            const observer = new MutationObserver(look);
            observer.observe(document.body, { subtree: true, childList: true, characterData: true });
          }),
        { source: pattern.source },
      );
    const paused = pressWhen(/\d+ of \d+ frames/);
    await page.locator('button.primary').click();
    await paused;
    await page.locator('.moments[aria-busy=true] button').first().click();
    await page.locator('dialog[open][data-frame]').waitFor();
    const opened = Number(await page.locator('dialog').getAttribute('data-frame'));
    // The button is behind the dialog, so that no hand could press it.
    await page.evaluate(() => document.querySelector<HTMLButtonElement>('.busy-line button')?.click());
    await page.locator('.moments:not([aria-busy])').waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    const frames = await page
      .locator('.moments .when')
      .evaluateAll((all) => all.map(({ textContent }) => Number(/frame (\d+)/.exec(textContent ?? '')?.[1])));
    // Each frame is worse than the one before: what was worst then is hardly among the worst now.
    const nearest = frames.toSorted((a, b) => Math.abs(a - opened) - Math.abs(b - opened))[0];
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.querySelector('.when')?.textContent))
      .toContain(`frame ${nearest}`);
    await page.context().close();
  });

  it('zooms by two fingers, about the place between them', async () => {
    const { page } = await scored(y4m(), { touch: true, width: 800, height: 900 });
    await show(page, 3);
    await page.keyboard.press('z');
    await expect.poll(() => page.locator('.frames-zoom').textContent()).toBe('1:1');
    await placed(page);
    const before = await placement(page, 'reference');
    const pane = await page.locator('.frames-pane').first().boundingBox();
    const [x, y] = [(pane?.x ?? 0) + (pane?.width ?? 0) / 2, (pane?.y ?? 0) + (pane?.height ?? 0) / 2];
    const apart = (by: number): Fingers => [
      [x - by, y],
      [x + by, y],
    ];
    await pinch(page, apart(40), apart(120));
    await expect.poll(async () => (await placement(page, 'reference')).scale).toBeCloseTo(3, 1);
    await placed(page);
    const after = await placement(page, 'reference');
    // The sample between the fingers stays there.
    const [middleX, middleY] = [(pane?.width ?? 0) / 2, (pane?.height ?? 0) / 2];
    expect((middleX - after.x) / after.scale).toBeCloseTo((middleX - before.x) / before.scale, -0.5);
    expect((middleY - after.y) / after.scale).toBeCloseTo((middleY - before.y) / before.scale, -0.5);
    expect(await placement(page, 'distorted')).toEqual(after);
    await pinch(page, apart(120), apart(60));
    await expect.poll(async () => (await placement(page, 'reference')).scale).toBeCloseTo(1.5, 1);
    // The page itself is as large as before.
    expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
    await page.context().close();
  });

  it('compares several encodes at one frame and place', async () => {
    const { reference, distorted } = h264('320x240');
    const better = encode({
      codec: 'h264',
      frames: FRAMES,
      rate: 5,
      extra: ['-crf', '24', ...TAGGED],
    });
    const { page, complaints } = await scored({ reference, distorted: [distorted, better] });
    // The first list is that of the first encode, and so on.
    await page.locator('.moments ol').nth(1).locator('button').first().click();
    await page.locator('dialog[open][data-encode="1"]').waitFor();
    const select = page.getByRole('combobox', { name: 'Encode' }).and(page.locator('dialog select'));
    expect(await select.inputValue()).toBe('1');
    await go(page, 17);
    await page.keyboard.press('z');
    await expect.poll(() => page.locator('.frames-zoom').textContent()).toBe('1:1');
    await page.keyboard.press('Shift+ArrowRight');
    await placed(page);
    const before = await placement(page, 'distorted');
    const second = await pairInNode({ reference, distorted: better }, 17);
    expect(await hash(page, 'distorted')).toBe(expectedHash(second.distorted.image()));
    await page.keyboard.press('e');
    await page.locator('dialog[data-encode="0"][data-frame="17"]:not([data-busy])').waitFor();
    const first = await pairInNode({ reference, distorted }, 17);
    expect(await hash(page, 'distorted')).toBe(expectedHash(first.distorted.image()));
    expect(await hash(page, 'reference')).toBe(expectedHash(first.reference.image()));
    await placed(page);
    expect(await placement(page, 'distorted')).toEqual(before);
    await page.keyboard.press('4');
    await page.locator('dialog[data-made="difference 17"]').waitFor();
    expect(await hash(page, 'difference')).toBe(expectedHash(first.difference().image));
    await select.selectOption('1');
    await page.locator('dialog[data-encode="1"][data-made="difference 17"]').waitFor();
    expect(await hash(page, 'difference')).toBe(expectedHash(second.difference().image));
    await expect.poll(() => page.locator('.frames-meta').textContent()).toContain(basename(better));
    await screenshot(page, 'frames-several');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows one encode against another, and saves the pictures sample by sample', async () => {
    const { reference, distorted } = h264('320x240');
    const better = encode({ codec: 'h264', frames: FRAMES, rate: 5, extra: ['-crf', '24', ...TAGGED] });
    const { page, complaints } = await scored({ reference, distorted: [distorted, better] });
    await show(page, 17);
    const save = async (name: string) => {
      await page.getByText('Save PNG').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('.frames-saves').getByRole('button', { name, exact: true }).click(),
      ]);
      const { decode } = await import('fast-png');
      const { data, channels } = decode(readFileSync(await download.path()));
      return { name: download.suggestedFilename(), data: [...data].filter((_, i) => i % channels < 3) };
    };
    await page.getByRole('combobox', { name: 'Against' }).selectOption({ label: basename(better) });
    await page.locator('dialog[data-against="1"][data-frame="17"]:not([data-busy])').waitFor();
    const both = await pairInNode({ reference: better, distorted }, 17);
    expect(await hash(page, 'reference')).toBe(expectedHash(both.reference.image()));
    expect(await hash(page, 'distorted')).toBe(expectedHash(both.distorted.image()));
    const badges = page.locator('.frames-badge');
    expect(await badges.allTextContents()).toEqual([basename(better), basename(distorted)]);
    await page.keyboard.press('4');
    await page.locator('dialog[data-made="difference 17"]').waitFor();
    const difference = await save('Difference');
    expect(difference.name).toBe(`${basename(distorted, '.mp4')}.frame-17.difference.png`);
    expect(difference.data).toEqual([...both.difference().image.data]);
    await page.keyboard.press('b');
    await page.locator('dialog[data-against=""][data-made="difference 17"]').waitFor();
    await page.keyboard.press('1');
    const encoded = await save(basename(distorted));
    expect(encoded.data).toEqual([...both.distorted.image().data]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('plays and pauses, fills the screen, and changes what is said together with the picture', async () => {
    const { page, complaints } = await scored(h264('320x240'));
    await show(page, 0);
    // Whatever is said of a frame is said of the one on show.
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
    await expect
      .poll(async () => Number(await page.locator('dialog').getAttribute('data-frame')))
      .toBeGreaterThan(4);
    await page.keyboard.press('k');
    await page.locator('dialog:not([data-playing])').waitFor();
    // What it stops at is exact.
    await page.locator('dialog:not([data-rough]):not([data-busy])').waitFor();
    const stopped = Number(await page.locator('dialog').getAttribute('data-frame'));
    const exact = await pairInNode(h264('320x240'), stopped);
    expect(await hash(page, 'reference')).toBe(expectedHash(exact.reference.image()));
    expect(await hash(page, 'distorted')).toBe(expectedHash(exact.distorted.image()));
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await shown(page, FRAMES - 1);
    await page.locator('dialog:not([data-playing])').waitFor();
    expect(await page.evaluate(() => (window as unknown as { wrong: string[] }).wrong)).toEqual([]);
    await page.locator('.frames-stage').focus();
    await page.keyboard.press('x');
    await expect
      .poll(() => page.evaluate(() => document.fullscreenElement?.className))
      .toBe('frames-theatre');
    await page.keyboard.press('Home');
    await shown(page, 0);
    await page.keyboard.press('x');
    await expect.poll(() => page.evaluate(() => document.fullscreenElement)).toBe(null);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('plays in colours that are nearly exact, and saves exact pictures while it plays', async () => {
    const { page, complaints } = await scored(h264('320x240'));
    await show(page, 0);
    // A film shows its pictures too shortly to look at: keeps one.
    await page.evaluate(() => {
      const dialog = document.querySelector('dialog');
      const kept: { frame: number; data: Record<string, number[]> }[] = [];
      new MutationObserver((_, observer) => {
        if (!dialog?.hasAttribute('data-rough') || Number(dialog.dataset.frame) < 5) return;
        const data = ['reference', 'distorted'].map((name) => {
          const canvas = document.querySelector<HTMLCanvasElement>(`.frames-${name} canvas`);
          const image = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
          return [name, [...(image?.data ?? [])].filter((_, i) => i % 4 < 3)];
        });
        kept.push({ frame: Number(dialog.dataset.frame), data: Object.fromEntries(data) });
        observer.disconnect();
      }).observe(document.body, { subtree: true, attributeFilter: ['data-frame', 'data-rough'] });
      Object.assign(window, { kept });
    });
    await page.keyboard.press('k');
    const kept = await page.waitForFunction(() => (window as unknown as { kept: unknown[] }).kept[0]);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
    await page.locator('dialog:not([data-playing]):not([data-rough])').waitFor();
    const frame = Number(/frame-(\d+)\.encode\.png$/.exec(download.suggestedFilename())?.[1]);
    expect(await page.locator('dialog').getAttribute('data-frame')).toBe(String(frame));
    const { decode } = await import('fast-png');
    const { data, channels } = decode(readFileSync(await download.path()));
    const exact = await pairInNode(h264('320x240'), frame);
    expect([...data].filter((_, i) => i % channels < 3)).toEqual([...exact.distorted.image().data]);
    const rough = (await kept.jsonValue()) as { frame: number; data: Record<string, number[]> };
    const pair = await pairInNode(h264('320x240'), rough.frame);
    for (const role of ['reference', 'distorted'] as const) {
      const there = rough.data[role] ?? [];
      const wanted = pair[role].image().data;
      expect(there.length).toBe(wanted.length);
      const off = there.reduce((sum, value, i) => sum + Math.abs(value - (wanted[i] ?? 0)), 0) / there.length;
      expect(off).toBeLessThan(4);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows samples that are not square as wide as they are', async () => {
    const wide = (crf: string) =>
      encode({ codec: 'h264', frames: 6, size: '160x120', extra: ['-crf', crf, '-vf', 'setsar=4/3'] });
    const { page } = await scored({ reference: wide('12'), distorted: wide('38') });
    await show(page, 3);
    await placed(page);
    const shape = await page.locator('.frames-reference canvas').evaluate((canvas) => {
      const { width, height } = canvas.getBoundingClientRect();
      return width / height;
    });
    expect(shape).toBeCloseTo(16 / 9, 2);
    await page.context().close();
  });

  it('shows a 4K picture, every sample of it', async () => {
    const pair = y4m('3840x2160', 2);
    const { page, complaints } = await scored(pair);
    await show(page, 1);
    const expected = await pairInNode(pair, 1);
    expect(await hash(page, 'reference')).toBe(expectedHash(expected.reference.image()));
    expect(await hash(page, 'distorted')).toBe(expectedHash(expected.distorted.image()));
    await placed(page);
    const whole = await placement(page, 'reference');
    const pane = await page.locator('.frames-pane').first().boundingBox();
    // All of it, as large as the pane holds it.
    expect(3840 * whole.scale).toBeLessThanOrEqual((pane?.width ?? 0) + 1);
    expect(2160 * whole.scale).toBeLessThanOrEqual((pane?.height ?? 0) + 1);
    await screenshot(page, 'frames-4k');
    await page.keyboard.press('z');
    await expect.poll(() => page.locator('.frames-zoom').textContent()).toBe('1:1');
    await page.keyboard.press('4');
    await page.locator('dialog[data-made="difference 1"]').waitFor();
    expect(await hash(page, 'difference')).toBe(expectedHash(expected.difference().image));
    await placed(page);
    await screenshot(page, 'frames-4k-difference');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('keeps zoom and place the same in both pictures, sample by sample', async () => {
    const { page } = await scored(h264());
    await show(page, 3);
    for (const [zoom, presses] of [
      [1, 1],
      [2, 1],
      [4, 1],
    ] as const) {
      for (let i = 0; i < presses; i++) await page.keyboard.press('z');
      await page.waitForFunction(
        (zoom) => document.querySelector('.frames-zoom')?.textContent === `${zoom}:1`,
        zoom,
      );
      const [reference, distorted] = await Promise.all([
        placement(page, 'reference'),
        placement(page, 'distorted'),
      ]);
      expect(reference).toEqual(distorted);
      expect(reference.scale).toBeCloseTo(zoom, 9);
      expect(reference.sharp).toBe(true);
    }
    const before = await placement(page, 'reference');
    await page.keyboard.press('Shift+ArrowRight');
    await placed(page);
    const panned = await placement(page, 'reference');
    expect(before.x - panned.x).toBe(80);
    expect(await placement(page, 'distorted')).toEqual(panned);
    const box = await page.locator('.frames-pane').last().boundingBox();
    const [x, y] = [(box?.x ?? 0) + 100, (box?.y ?? 0) + 100];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y - 20, { steps: 3 });
    await page.mouse.up();
    await placed(page);
    const dragged = await placement(page, 'distorted');
    expect([dragged.x - panned.x, dragged.y - panned.y]).toEqual([30, -20]);
    await page.mouse.wheel(0, -200);
    await expect.poll(async () => (await placement(page, 'reference')).scale).toBeGreaterThan(4);
    await placed(page);
    expect(await placement(page, 'reference')).toEqual(await placement(page, 'distorted'));
    await page.context().close();
  });

  it('shows at 1:1 on the screen what the canvas holds', async () => {
    const pair = y4m();
    const { page } = await scored(pair);
    await show(page, 17);
    await page.keyboard.press('z');
    await expect.poll(() => page.locator('.frames-zoom').textContent()).toBe('1:1');
    await placed(page);
    const at = await placement(page, 'distorted');
    const pane = await page.locator('.frames-pane').last().boundingBox();
    const clip = {
      x: (pane?.x ?? 0) + at.x + 40,
      y: (pane?.y ?? 0) + at.y + 60,
      width: 64,
      height: 48,
    };
    const { decode } = await import('fast-png');
    const screen = decode(await page.screenshot({ clip }));
    const { data } = (await pairInNode(pair, 17)).distorted.image();
    const expected: number[] = [];
    for (let y = 60; y < 108; y++) expected.push(...data.subarray(3 * (320 * y + 40), 3 * (320 * y + 104)));
    const { channels } = screen;
    expect([...screen.data].filter((_, i) => i % channels < 3)).toEqual(expected);
    await page.context().close();
  });

  it('moves the border of the split by pointer and by key', async () => {
    const { page } = await scored(h264());
    await show(page, 3);
    await page.keyboard.press('2');
    const slider = page.getByRole('slider', { name: 'Border between reference and distorted' });
    await slider.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('0 % reference');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('2');
    const stage = await page.locator('.frames-stage').boundingBox();
    const middle = (stage?.y ?? 0) + (stage?.height ?? 0) / 2;
    await page.mouse.move((stage?.x ?? 0) + 0.02 * (stage?.width ?? 0), middle);
    await page.mouse.down();
    await page.mouse.move((stage?.x ?? 0) + 0.75 * (stage?.width ?? 0), middle, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('75');
    await page.context().close();
  });

  it('does not flicker by itself for those who want less motion', async () => {
    const pair = h264();
    const { page } = await scored(pair);
    await show(page, 3);
    await page.keyboard.press('3');
    await page.waitForTimeout(900);
    const badge = page.locator('.frames-badge').first();
    expect(await badge.textContent()).toBe(basename(pair.distorted));
    await page.keyboard.press('Space');
    await expect.poll(() => badge.textContent()).toBe('Reference');
    expect(await page.getByRole('button', { name: 'Hold' }).count()).toBe(0);
    await page.context().close();
  });

  it('says which file cannot be read any more', async () => {
    const { reference, distorted } = y4m();
    const moved = join(encodeFolder(), 'moved.y4m');
    copyFileSync(distorted, moved);
    const { page } = await scored({ reference, distorted: moved });
    writeFileSync(moved, 'something else');
    await page.locator('.moments button').first().click();
    await page.locator('.frames-message').filter({ hasText: 'moved.y4m cannot be read again' }).waitFor();
    await page.context().close();
  });

  for (const [name, view] of [
    ['light', {}],
    ['dark', { dark: true }],
    ['phone', { width: 390, height: 800 }],
  ] as const) {
    it(`has nothing that axe calls serious, and fits: ${name}`, async () => {
      const { page, complaints } = await scored(h264(), view);
      await show(page, 12);
      await page.evaluate(readFileSync(axe, 'utf8'));
      for (const [i, mode] of ['side', 'split', 'flicker', 'difference', 'map'].entries()) {
        await page.keyboard.press(String(i + 1));
        if (mode === 'difference' || mode === 'map')
          await page.locator(`dialog[data-made="${mode} 12"]`).waitFor();
        await placed(page);
        await screenshot(page, `frames-${name}-${mode}`);
        expect(await violations(page), mode).toEqual([]);
        const wide = await page.evaluate(() => [
          document.querySelector('dialog')?.scrollWidth,
          document.documentElement.clientWidth,
        ]);
        expect(wide[0], mode).toBeLessThanOrEqual(wide[1] ?? 0);
      }
      await page.keyboard.press('?');
      await page.locator('.frames-keys kbd').first().waitFor();
      expect(await violations(page), 'keys').toEqual([]);
      await screenshot(page, `frames-${name}-keys`);
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  }
});
