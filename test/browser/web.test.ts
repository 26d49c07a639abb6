/**
 * @module test/browser/web
 * The built page in Chromium, from an empty first screen to a score: under a strict content security policy, in a
 * subfolder, by pointer, by drop and by keyboard, with what goes wrong said in words.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ScoreOptions } from '../../src/engine/contract/types.js';
import { score } from '../../src/index.js';
import type { FrameMetrics, Report } from '../../src/report/types.js';
import { y4mFile, yuvFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { guessRaw } from '../../web/src/setup/raw-guess.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { openPage, pauseSoon, type ServedPage, screenshot, servePage, type View } from '../support/page.js';

vi.setConfig(PATIENT);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What the page fetches only when it is used, and then keeps: FFmpeg, onnxruntime and the tiny models. */
const LARGE = /^ffmpeg\/|^ort\/|^assets\/[nf]r_vmaf_/;

declare global {
  interface Window {
    /** Reports as the engine's worker sent them. */
    reports: Report[];
    workers: Worker[];
    axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
  }
}

/** In the page: families, sizes, weights and styles of all text that is laid out. */
function fontsInUse(): string[] {
  const withText = [...document.querySelectorAll('body *')].filter(
    (element) =>
      element.getClientRects().length > 0 &&
      // Of a run that is held up, when the cores are free.
      !element.matches('.figures b') &&
      [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== ''),
  );
  return [
    ...new Set(
      withText.map((element) => {
        const { fontFamily, fontSize, fontWeight, fontStyle } = getComputedStyle(element);
        return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
      }),
    ),
  ];
}

/** Remembers workers and what they report: frames in batches, then what is left of the report. */
function listen(): void {
  window.reports = [];
  window.workers = [];
  const Plain = window.Worker;
  window.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      window.workers.push(this);
      const frames = new Map<string, FrameMetrics[]>();
      this.addEventListener('message', ({ data }) => {
        const { kind, index: of, report, encodes = [] } = data?.event ?? {};
        // A run that was given up has no part in the next one.
        const key = (index: number) => `${data?.call} ${index}`;
        for (const [index, { frames: batch }] of encodes.entries())
          frames.set(key(index), [...(frames.get(key(index)) ?? []), ...batch]);
        if (kind === 'report') window.reports.push({ ...report, frames: frames.get(key(of)) ?? [] });
      });
    }
  };
}

describe.skipIf(noChromium)(`the page in Chromium${noChromium}`, () => {
  let served: ServedPage;
  const clip = makeSample({ width: 160, height: 90, bitDepth: 8, chroma: '420' }, { cut: 5 });
  const ten = makeSample({ width: 96, height: 64, bitDepth: 10, chroma: '422' }, { seed: 3 });
  const long = makeSample({ width: 640, height: 360, bitDepth: 8, chroma: '420' }, { seed: 5 });
  let files: Record<
    'reference' | 'distorted' | 'reference10' | 'distorted10' | 'long' | 'longDistorted',
    string
  >;

  beforeAll(async () => {
    const write = (name: string, bytes: Uint8Array) => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, bytes);
      return path;
    };
    // Raw video is Y4M's samples without any header.
    const raw = (side: 'reference' | 'distorted') => {
      const y4m = Buffer.from(y4mFile(ten, side, 5));
      const frame = 96 * 64 * 2 * 2;
      const start = y4m.indexOf('FRAME\n');
      return Buffer.concat(
        [0, 1, 2, 3, 4].map((n) => y4m.subarray(start + n * (frame + 6) + 6, start + (n + 1) * (frame + 6))),
      );
    };
    files = {
      reference: write('reference.y4m', y4mFile(clip, 'reference', 9)),
      distorted: write('distorted.y4m', y4mFile(clip, 'distorted', 9)),
      reference10: write('ref_96x64_422_10bit.yuv', raw('reference')),
      distorted10: write('dis_96x64_422_10bit.yuv', raw('distorted')),
      long: write('long.y4m', y4mFile(long, 'reference', 120)),
      longDistorted: write('long-distorted.y4m', y4mFile(long, 'distorted', 120)),
    };
    served = await servePage();
  });

  afterAll(() => served?.close());

  async function open(view: View = {}) {
    const opened = await openPage(served, view);
    await opened.page.context().addInitScript(listen);
    await opened.page.reload();
    await opened.page.waitForSelector('.slot');
    return { ...opened, [Symbol.asyncDispose]: () => opened.page.context().close() };
  }

  async function choose(page: Page, reference: string, ...distorted: string[]): Promise<void> {
    await page.setInputFiles('#pick-reference', reference);
    await page.setInputFiles('#pick-distorted', distorted);
    await page.waitForSelector('#findings .fine, #findings .finding, #findings .failure');
  }

  const start = (page: Page) => page.getByRole('button', { name: 'Score', exact: true }).click();
  const done = (page: Page) => page.getByText(/^Done in/).waitFor({ timeout: 180_000 });
  /** Settings under which a run lasts long enough to be held up. */
  const SLOW = 'feature=ciede&threads=1';

  const reports = (page: Page) => page.evaluate(() => window.reports);

  /** What does not depend on the machine. */
  function essence({
    frames,
    pooled_metrics,
    aggregate_metrics,
    distribution,
    metrics,
    models,
    frameCount,
    warnings,
  }: Report) {
    return { frames, pooled_metrics, aggregate_metrics, distribution, metrics, models, frameCount, warnings };
  }

  async function serious(page: Page): Promise<string[]> {
    // Through the protocol, which the page's content security policy does not concern.
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run());
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }

  const wide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  describe('empty', () => {
    it('asks for nothing but itself, and little of that', async () => {
      served.asked.length = 0;
      await using opened = await openEmpty();
      await opened.page.waitForLoadState('networkidle');
      const paths = [...new Set(served.asked)];
      expect(paths.filter((path) => /\.wasm$|worker|model\/|ffmpeg/.test(path))).toEqual([]);
      const weight = paths.reduce(
        (sum, path) => sum + gzipSync(readFileSync(join(served.folder, path || 'index.html'))).length,
        0,
      );
      expect(weight).toBeLessThan(90_000);
      expect(opened.complaints).toEqual([]);
    });

    it('ships the licences of all that is in it, linked from its foot', async () => {
      await using opened = await openEmpty();
      const { page } = opened;
      await page.getByRole('link', { name: 'Licences and sources' }).click();
      await page.waitForURL(/licences\.txt$/);
      const shown = (await page.textContent('body')) ?? '';
      for (const part of [
        'BSD-2-Clause Plus Patent License',
        'Copyright (c) 2016-2020 Netflix, Inc.',
        'Copyright (c) 2017 Google LLC',
        'Mozilla Public License Version 2.0',
        'GNU GENERAL PUBLIC LICENSE',
        'https://github.com/ffmpegwasm/ffmpeg.wasm',
        'https://github.com/Vanilagy/mediabunny',
      ])
        expect(shown).toContain(part);
    });

    it('holds the engine, the runtime of tiny models and ffmpeg, and each of them once', () => {
      const names = readdirSync(served.folder, { recursive: true, encoding: 'utf8' });
      const modules = names.filter((name) => name.endsWith('.wasm')).map((name) => basename(name));
      expect(modules.map((name) => name.replace(/[-.].*/, '')).sort()).toEqual(['anyvmaf', 'ffmpeg', 'ort']);
    });

    async function openEmpty() {
      const opened = await openPage(served);
      return { ...opened, [Symbol.asyncDispose]: () => opened.page.context().close() };
    }

    for (const [width, dark] of [
      [1280, false],
      [1280, true],
      [390, false],
      [390, true],
    ] as const) {
      it(`fits ${width} pixels, ${dark ? 'dark' : 'light'}, and axe finds nothing serious`, async () => {
        await using opened = await open({ width, height: width > 600 ? 860 : 844, dark });
        const { page } = opened;
        expect(await wide(page)).toBeLessThanOrEqual(0);
        expect(await serious(page)).toEqual([]);
        await expect
          .poll(() => page.evaluate(() => document.documentElement.dataset.theme))
          .toBe(dark ? 'dark' : 'light');
        await screenshot(page, `page-empty-${width}-${dark ? 'dark' : 'light'}`);
      });
    }

    it('goes from theme to theme and keeps the choice', async () => {
      await using opened = await open();
      const { page } = opened;
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
      await page.getByRole('button', { name: 'Theme: as the system' }).click();
      await page.getByRole('button', { name: 'Theme: light' }).click();
      await expect.poll(theme).toBe('dark');
      await page.reload();
      await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
      await expect.poll(theme).toBe('dark');
    });
  });

  describe('scores', () => {
    it('Y4M as Node does, to the last bit', async () => {
      await using opened = await open();
      const { page, complaints } = opened;
      await choose(page, files.reference, files.distorted);
      await screenshot(page, 'page-chosen');
      expect(await serious(page)).toEqual([]);
      await start(page);
      await done(page);
      const [report] = await reports(page);
      const there = await score({ reference: files.reference, distorted: files.distorted }, { threads: 0 });
      expect(report && essence(report)).toEqual(essence(there));
      expect(complaints).toEqual([]);
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-done');
    });

    it('raw YUV, its geometry guessed from the name, as Node does', async () => {
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.reference10, files.distorted10);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('96');
      await expect.poll(() => page.inputValue('#raw-depth')).toBe('10');
      await expect.poll(() => page.inputValue('#raw-chroma')).toBe('422');
      await expect.poll(() => page.textContent('.checks')).toContain('dis_96x64_422_10bit.yuv: 5 frames');
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-raw');
      await start(page);
      await done(page);
      const raw = { width: 96, height: 64, bitDepth: 10, chroma: '422' } as const;
      const there = await score(
        { reference: files.reference10, distorted: files.distorted10, raw },
        { threads: 0 },
      );
      const [report] = await reports(page);
      expect(report && essence(report)).toEqual(essence(there));
    });

    it('raw YUV whose size fits another geometry, corrected by its pictures, as Node does', async () => {
      const raw = { width: 720, height: 480, bitDepth: 8, chroma: '420' } as const;
      const frames = makeSample(raw, { seed: 7 });
      const [reference, distorted] = (['reference', 'distorted'] as const).map((side) => {
        const path = join(encodeFolder(), side === 'reference' ? 'master.yuv' : 'encode.yuv');
        writeFileSync(path, yuvFile(frames, side, 12));
        return path;
      }) as [string, string];
      const files = [reference, distorted].map((path) => ({
        name: basename(path),
        size: statSync(path).size,
      }));
      // Six frames are as long as one of 1080p.
      expect(guessRaw(files)).toEqual({ format: { ...raw, width: 1920, height: 1080 }, from: 'size' });
      await using opened = await open();
      const { page } = opened;
      await page.setInputFiles('#pick-reference', reference);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('1920');
      await page.setInputFiles('#pick-distorted', distorted);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('720');
      expect(await page.inputValue('#raw-height')).toBe('480');
      await page.locator('.checks').filter({ hasText: 'encode.yuv: 12 frames' }).waitFor();
      await page.waitForSelector('#findings .fine, #findings .finding');
      expect(await page.textContent('#findings')).not.toContain('neighbouring rows');
      await screenshot(page, 'page-raw-corrected');
      await start(page);
      await done(page);
      const there = await score({ reference, distorted, raw }, { threads: 0 });
      const [report] = await reports(page);
      expect(report && essence(report)).toEqual(essence(there));
      expect(report?.frameCount).toBe(12);
    });

    it('says at once that raw files are not of a format', async () => {
      await using opened = await open();
      const { page } = opened;
      await page.setInputFiles('#pick-reference', files.reference10);
      await page.locator('.checks').filter({ hasText: '5 frames' }).waitFor();
      await page.fill('#raw-width', '100');
      await expect.poll(() => page.textContent('.checks')).toContain('bytes left over');
    });

    it('several models, a metric, a range and every other frame, all told to the library', async () => {
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.reference, files.distorted);
      await page.getByText('Settings', { exact: true }).click();
      await page.getByLabel('VMAF NEG').check();
      await page.getByLabel('PSNR luma').check();
      await page.fill('#setting-range', '1-8');
      await page.fill('#setting-subsample', '2');
      await page.fill('#setting-threads', '2');
      await page.locator('#setting-threads').blur();
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-settings');
      await page.waitForSelector('#findings .fine, #findings .finding');
      await start(page);
      await done(page);
      const options: ScoreOptions = {
        models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=vmaf_neg'],
        features: ['psnr'],
        range: { unit: 'frames', start: 1, end: 8 },
        subsample: 2,
        threads: 0,
      };
      const there = await score({ reference: files.reference, distorted: files.distorted }, options);
      const [report] = await reports(page);
      expect(report && essence(report)).toEqual(essence(there));
    });

    it.runIf(hasFfmpeg)(`H.264 in MP4 as Node does (${needsFfmpeg})`, async () => {
      const reference = encode({ codec: 'h264', frames: 20, extra: ['-crf', '12'] });
      const distorted = encode({ codec: 'h264', frames: 20, extra: ['-crf', '38'] });
      await using opened = await open();
      const { page } = opened;
      await choose(page, reference, distorted);
      await start(page);
      await done(page);
      const there = await score({ reference, distorted }, { threads: 0 });
      const [report] = await reports(page);
      expect(report?.frames).toEqual(there.frames);
      expect(report?.pooled_metrics).toEqual(there.pooled_metrics);
      expect(report?.pairing?.distorted.decoder).toBe('mediabunny');
    });

    it('several encodes dropped together with their reference', async () => {
      await using opened = await open();
      const { page } = opened;
      await drop(page, 'body', [files.distorted, files.reference]);
      await page.locator('.slot-reference .file-name', { hasText: 'reference.y4m' }).waitFor();
      await page.locator('.slot-distorted .file-name', { hasText: 'distorted.y4m' }).waitFor();
      await drop(page, '.slot-distorted', [files.reference]);
      await page.locator('.slot-distorted .file-name', { hasText: 'reference.y4m' }).waitFor();
      await start(page);
      await done(page);
      const scores = (await reports(page)).map(({ distorted, pooled_metrics }) => [
        distorted.name,
        pooled_metrics.vmaf?.mean,
      ]);
      const mean = async (distorted: string) =>
        (await score({ reference: files.reference, distorted }, { threads: 0 })).pooled_metrics.vmaf?.mean;
      expect(Object.fromEntries(scores)).toEqual({
        'distorted.y4m': await mean(files.distorted),
        'reference.y4m': await mean(files.reference),
      });
    });

    it('with the keyboard alone', async () => {
      await using opened = await open();
      const { page } = opened;
      // Chromium would show its own dialog while nobody listens.
      page.on('filechooser', () => {});
      const focused = () =>
        page.evaluate(() => document.activeElement?.textContent || document.activeElement?.ariaLabel);
      const tabTo = async (name: RegExp) => {
        for (let n = 0; n < 40; n++) {
          if (name.test((await focused()) ?? '')) return;
          await page.keyboard.press('Tab');
        }
        throw new Error(`Tab does not lead to ${name}.`);
      };
      const pick = async (name: RegExp, file: string) => {
        await tabTo(name);
        const chooser = page.waitForEvent('filechooser');
        await page.keyboard.press('Enter');
        await (await chooser).setFiles(file);
      };
      await pick(/^Choose a file$/, files.reference);
      await page.locator('.slot-reference .file-name').waitFor();
      await pick(/^Choose files$/, files.distorted);
      await page.waitForSelector('#findings .fine, #findings .finding');
      await tabTo(/^Score$/);
      await page.keyboard.press('Enter');
      await done(page);
      expect(await reports(page)).toHaveLength(1);
    });
  });

  describe('a run', () => {
    it('rehearses what shows the results while it waits, and nobody notices', async () => {
      await using opened = await open();
      const { page } = opened;
      const height = () => page.evaluate(() => document.documentElement.scrollHeight);
      await choose(page, files.long, files.longDistorted);
      const rehearsal = page.locator('.rehearsal');
      await rehearsal.locator('canvas').first().waitFor({ state: 'attached' });
      // It cannot be seen, focused or read out, and takes no room.
      expect(await rehearsal.locator('canvas').first().isVisible()).toBe(false);
      expect(await rehearsal.evaluate((element) => [element.matches('[inert][aria-hidden=true]')])).toEqual([
        true,
      ]);
      const during = await height();
      await rehearsal.waitFor({ state: 'detached' });
      expect(await height()).toBe(during);

      await page.click('button.primary');
      await page.waitForFunction(() => window.reports.length === 1);
      expect(await rehearsal.count()).toBe(0);
      expect(await page.locator('#chart-heading').count()).toBe(1);
    });

    it('has every font of a run before the run, for the browser waits for each', async () => {
      await using opened = await open({ hash: SLOW });
      const { page } = opened;
      const fonts = () => page.evaluate(fontsInUse);
      await choose(page, files.long, files.longDistorted);
      const rehearsal = page.locator('.rehearsal');
      await rehearsal.locator('canvas').first().waitFor({ state: 'attached' });
      const known = new Set<string>();
      while ((await rehearsal.count()) > 0) for (const font of await fonts()) known.add(font);
      await pauseSoon(page);
      await start(page);
      await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
      await page.locator('.headline .score').waitFor();
      expect((await fonts()).filter((font) => !known.has(font))).toEqual([]);
    });

    it('gives the rehearsal up when it is asked to score', async () => {
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.long, files.longDistorted);
      await page.waitForSelector('.rehearsal', { state: 'attached' });
      const left = await page.evaluate(() => {
        document.querySelector<HTMLButtonElement>('button.primary')?.click();
        return document.querySelectorAll('.rehearsal').length;
      });
      expect(left).toBe(0);
      await page.waitForFunction(() => window.reports.length === 1);
    });

    it('pauses, goes on and ends with all frames', async () => {
      await using opened = await open({ hash: SLOW });
      const { page } = opened;
      await choose(page, files.long, files.longDistorted);
      await pauseSoon(page);
      await start(page);
      const figures = page.locator('.figures');
      await figures.filter({ hasText: 'Paused' }).waitFor();
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-paused');
      // Frames in hand are finished, then nothing moves.
      let before = '';
      await expect
        .poll(
          async () => {
            const now = (await figures.textContent()) ?? '';
            const still = now === before;
            before = now;
            return still;
          },
          { interval: 1500, timeout: 90_000 },
        )
        .toBe(true);
      expect(before).not.toContain('120 of');
      expect(await reports(page)).toEqual([]);
      await page.getByRole('button', { name: 'Resume' }).click();
      await done(page);
      const [report] = await reports(page);
      expect(report?.frames.length).toBe(120);
    });

    it('is cancelled, and another one can start', async () => {
      await using opened = await open({ width: 390, height: 844, dark: true, hash: SLOW });
      const { page, complaints } = opened;
      await choose(page, files.long, files.longDistorted);
      await pauseSoon(page);
      await start(page);
      await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
      expect(await wide(page)).toBeLessThanOrEqual(0);
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-scoring-390-dark');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText(/^Cancelled/).waitFor();
      expect(await reports(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove long-distorted.y4m' }).click();
      await page.getByRole('button', { name: 'Remove long.y4m' }).click();
      await choose(page, files.reference, files.distorted);
      await page.getByRole('button', { name: 'Score again' }).click();
      await done(page);
      expect(await reports(page)).toHaveLength(1);
      expect(complaints).toEqual([]);
    });
  });

  describe('says what is wrong', () => {
    it('with videos that differ, and mends it by a button', async () => {
      const small = join(encodeFolder(), 'small.y4m');
      writeFileSync(
        small,
        y4mFile(makeSample({ width: 80, height: 46, bitDepth: 8, chroma: '420' }), 'distorted', 9),
      );
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.reference, small);
      const finding = page
        .locator('.finding, .failure')
        .filter({ hasText: '80x46' })
        .filter({ hasText: '160x90' });
      await finding.first().waitFor();
      await screenshot(page, 'page-differs');
      expect(await serious(page)).toEqual([]);
      await page
        .getByRole('button', { name: /^Scale/ })
        .first()
        .click();
      await page.waitForSelector('#findings .waiting', { state: 'detached' });
      await start(page);
      await done(page);
      const [report] = await reports(page);
      const there = await score(
        { reference: files.reference, distorted: small },
        { threads: 0, scale: 'bicubic' },
      );
      expect(report?.frames).toEqual(there.frames);
    });

    it('with a file that is no video', async () => {
      const junk = join(encodeFolder(), 'notes.mp4');
      writeFileSync(junk, 'These are notes, not a video. '.repeat(40));
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.reference, junk);
      await page.locator('.failure').filter({ hasText: 'notes.mp4' }).waitFor();
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-no-video');
    });

    it('with one bad file among several, told beside what comes of the others', async () => {
      const junk = (name: string): string => {
        const path = join(encodeFolder(), name);
        writeFileSync(path, 'No video either. '.repeat(40));
        return path;
      };
      const [bad, worse] = [junk('bad.mp4'), junk('worse.mp4')] as const;
      await using opened = await open();
      const { page } = opened;
      await choose(page, files.reference, bad, files.distorted);
      await start(page);
      await done(page);
      await page.locator('.runner .failure', { hasText: 'bad.mp4' }).waitFor();
      expect(await page.locator('.runner .failure').count()).toBe(1);
      const [report, ...further] = await reports(page);
      expect(further).toEqual([]);
      const there = await score(files, { threads: 0 });
      expect(report?.frames).toEqual(there.frames);
      await page.locator('#results').getByText('distorted.y4m').first().waitFor();
      expect(await page.locator('#results').textContent()).not.toContain('not finished');
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-one-bad');

      // The failed file is among the failures and nowhere in the results.
      expect(await page.locator('#results').textContent()).not.toContain('bad.mp4');
      expect(await page.locator('table.encodes').count()).toBe(0);

      // Where none is left, nothing can be scored, and the reason stands beside the button.
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Remove distorted.y4m' }).click();
      await page.setInputFiles('#pick-distorted', worse);
      const again = page.getByRole('button', { name: 'Score again' });
      await expect.poll(() => again.isDisabled()).toBe(true);
      expect(await page.locator('#run-hint').textContent()).toMatch(
        /^Nothing can be scored yet\. .*(bad|worse)\.mp4/,
      );
      await page.getByRole('button', { name: 'Remove bad.mp4' }).click();
      await page.setInputFiles('#pick-distorted', files.distorted);
      await expect.poll(() => again.isDisabled()).toBe(false);
    });

    it('with an empty file among others, which are taken', async () => {
      const empty = join(encodeFolder(), 'nothing.mp4');
      writeFileSync(empty, '');
      await using opened = await open();
      const { page } = opened;
      await drop(page, 'body', [files.distorted, empty, files.reference]);
      await page.locator('.slot-error', { hasText: 'nothing.mp4 is empty (0 bytes)' }).waitFor();
      expect(await page.locator('.slot-reference .file-name').textContent()).toBe('reference.y4m');
      expect(await page.locator('.slot-distorted .file-name').allTextContents()).toEqual(['distorted.y4m']);
    });

    it('with an empty file', async () => {
      const empty = join(encodeFolder(), 'empty.mp4');
      writeFileSync(empty, '');
      await using opened = await open();
      const { page } = opened;
      await page.setInputFiles('#pick-reference', empty);
      await page.getByText('empty.mp4 is empty').waitFor();
    });

    it.runIf(hasFfmpeg)(
      `with a codec that the browser lacks, and loads ffmpeg.wasm when asked to (${needsFfmpeg})`,
      async () => {
        const encoded = encode({ codec: 'mpeg2', frames: 8 });
        const plain = ffmpeg(join(encodeFolder(), 'plain.y4m'), [
          ...['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=25', '-frames:v', '8', '-pix_fmt', 'yuv420p'],
        ]);
        await using opened = await open();
        const { page } = opened;
        served.asked.length = 0;
        await choose(page, plain, encoded);
        await page.getByText('This browser cannot decode the video').waitFor();
        await page.getByText('32 MB (10 MB compressed)').waitFor();
        expect(served.asked.filter((path) => path.startsWith('ffmpeg/'))).toEqual([]);
        await screenshot(page, 'page-undecodable');
        await page.getByRole('button', { name: 'Load ffmpeg.wasm (32 MB) and use it' }).click();
        await page.waitForSelector('#findings .fine, #findings .finding', { timeout: 180_000 });
        expect(served.asked.some((path) => path.startsWith('ffmpeg/'))).toBe(true);
        await start(page);
        await done(page);
        const [report] = await reports(page);
        const there = await score({ reference: plain, distorted: encoded }, { threads: 0 });
        expect(report?.frames).toEqual(there.frames);
        expect(report?.pairing?.distorted.decoder).toBe('wasm');
      },
    );

    it('with an engine that died of memory, and tries again with one thread', async () => {
      await using opened = await open({ hash: SLOW.replace('threads=1', 'threads=2') });
      const { page } = opened;
      await choose(page, files.long, files.longDistorted);
      await pauseSoon(page);
      await start(page);
      await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
      await page.evaluate(() =>
        window.workers[0]?.dispatchEvent(
          new ErrorEvent('error', { message: 'Uncaught RangeError: Out of memory' }),
        ),
      );
      await page.locator('.runner .failure', { hasText: 'The browser ran out of memory' }).waitFor();
      expect(await serious(page)).toEqual([]);
      await screenshot(page, 'page-memory');
      await page.getByRole('button', { name: 'Try with one thread' }).click();
      await done(page);
      const [report] = await reports(page);
      expect(report?.frames.length).toBe(120);
      expect(report?.threads).toBe(1);
    });

    it('with a model that does not exist', async () => {
      await using opened = await open({ hash: 'model=version=vmaf_v9' });
      const { page } = opened;
      await choose(page, files.reference, files.distorted);
      await start(page);
      await page.locator('.runner .failure').filter({ hasText: 'vmaf_v9' }).waitFor();
    });
  });

  describe('a link', () => {
    it('restores tiny models: ticks the page’s own, and asks for a file that no link holds', async () => {
      await using opened = await open({ hash: 'tiny=nr_vmaf_v0.6.1&tiny=own&model=none' });
      const { page } = opened;
      await choose(page, files.reference, files.distorted);
      await page.getByText('Settings', { exact: true }).click();
      expect(await page.locator('#tiny-nr').isChecked()).toBe(true);
      await page.locator('#tiny-said', { hasText: 'choose it here' }).waitFor();
      expect(await page.locator('.ticks input:checked').count()).toBe(0);
      await page.getByRole('button', { name: 'Reset' }).click();
      expect(await page.locator('#tiny-nr').isChecked()).toBe(false);
    });

    it('unfolds models that few need where one of them is asked for', async () => {
      const model = 'version=vmaf_v1.0.16_hfr_5d0h:name=vmaf_v1_hfr_phone';
      await using opened = await open({ hash: `model=${model}` });
      const { page } = opened;
      await choose(page, files.reference, files.distorted);
      await page.getByText('Settings', { exact: true }).click();
      const box = page.getByLabel('VMAF v1 HFR Phone');
      await box.waitFor();
      expect(await box.isChecked()).toBe(true);
      await expect.poll(() => page.locator('.settings .state').textContent()).toMatch(/^VMAF v1 HFR Phone/);
    });

    it('restores the settings, and is copied with them', async () => {
      await using opened = await open({ hash: 'offset=-3&range=2s-4s&model=auto&raw=352x288,8,420' });
      const { page } = opened;
      const state = page.locator('.settings .state');
      await expect.poll(() => state.textContent()).toBe('By size · range 2s-4s · offset -3');
      await page.getByRole('button', { name: 'Copy link' }).click();
      await page
        .getByText(/^Link copied$|^The browser did not allow copying/)
        .first()
        .waitFor();
      const url = new URL(await page.evaluate(() => location.href));
      expect(new URLSearchParams(url.hash.slice(1)).get('offset')).toBe('-3');
      expect(url.search).toBe('');
    });
  });

  it('works without a network after a first visit, scoring and every view included, and says what does not', async () => {
    const own = await servePage();
    try {
      const { page, complaints } = await openPage(own);
      const kept = () =>
        page.evaluate(async () => {
          const requests = [];
          for (const name of await caches.keys()) requests.push(...(await (await caches.open(name)).keys()));
          return requests.map(({ url }) => url.slice(document.baseURI.length));
        });
      await page.evaluate(() => navigator.serviceWorker.ready);
      const needed = (await readdir(own.folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => relative(own.folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
        .filter((name) => /^(assets|model)\//.test(name) && !LARGE.test(name));
      // The first screen first, then quietly the rest; no file was chosen.
      await expect.poll(async () => (await kept()).includes('')).toBe(true);
      await expect.poll(kept).toEqual(expect.arrayContaining(needed));
      await page.getByText('It works offline.').waitFor();
      expect(await page.locator('.offline-note').isVisible()).toBe(false);
      // A build takes the place of an older one: not of fetched models, nor of the page in another folder.
      const early = await own.browser.newContext();
      const first = await early.newPage();
      await first.goto(`${own.url}licences.txt`);
      const others = ['anyvmaf-models', 'anyvmaf-page /another/folder/ 0123'];
      const old = 'anyvmaf-page /some/folder/ 0123';
      await first.evaluate((names) => Promise.all(names.map((name) => caches.open(name))), [...others, old]);
      await first.goto(own.url);
      const names = () => first.evaluate(() => caches.keys());
      await expect.poll(async () => (await names()).includes(old)).toBe(false);
      expect(await names()).toEqual(expect.arrayContaining(others));
      await early.close();
      await page.context().setOffline(true);
      await own.unplug();
      await page.reload();
      await page.waitForSelector('.slot');
      const note = page.locator('.offline-note');
      await expect
        .poll(() => note.textContent())
        .toContain('ffmpeg.wasm for formats that the browser cannot');
      expect(await note.isVisible()).toBe(true);
      await choose(page, files.reference, files.distorted);
      await start(page);
      await done(page);
      await page.locator('.moments:not([aria-busy]) button').first().click();
      await page.locator('dialog[open][data-frame]').waitFor();
      expect(own.asked.filter((path) => LARGE.test(path))).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('says how to serve it where it is opened as a file', async () => {
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(served.folder, 'index.html')).href);
    await page.getByRole('heading', { name: 'This page needs a server' }).waitFor();
    expect(await page.locator('pre code').textContent()).toBe(
      `python3 -m http.server 8000 --bind 127.0.0.1 --directory '${served.folder}/'`,
    );
    expect(await serious(page)).toEqual([]);
    await screenshot(page, 'page-file');
    await context.close();
  });
});

/** Drops files as a hand does: in, over, let go. */
async function drop(page: Page, onto: string, paths: readonly string[]): Promise<void> {
  const given = paths.map((path) => ({
    name: basename(path),
    base64: readFileSync(path).toString('base64'),
  }));
  const transfer = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of given) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    return transfer;
  }, given);
  for (const type of ['dragenter', 'dragover', 'drop'])
    await page.dispatchEvent(onto, type, { dataTransfer: transfer });
}
