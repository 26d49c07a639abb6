/**
 * @module test/browser/page
 * The built page in Chromium, from the empty first screen to a result: under a strict content security policy, in a subfolder,
 * by pointer, drop and keyboard, with the same numbers as in Node. Runs are paused, resumed and cancelled; results are in
 * view and have pictures.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScoreOptions, ScoreRequest } from '../../src/engine/contract/types.js';
import { score as scoreInNode } from '../../src/index.js';
import type { Report } from '../../src/report/schema.js';
import { y4mFile, yuvFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { guessRaw } from '../../web/src/setup/files.js';
import { noChromium } from '../support/chromium.js';
import { FIRST, lookAround, violations } from '../support/looks.js';
import {
  allShown,
  checked,
  choose,
  clear,
  done,
  download,
  drop,
  finish,
  focused,
  pages,
  pairInNode,
  pauseSoon,
  reportsOf,
  SLOW,
  samplesOf,
  saved,
  says,
  score,
  start,
  tabTo,
  write,
  writePair,
} from '../support/page.js';

const FORMAT = { width: 160, height: 90, bitDepth: 8, chroma: '420' } as const;
const LONG = 36;

/** The parts that do not depend on the machine. */
function essence(report: Report | undefined): Partial<Report> | undefined {
  if (!report) return undefined;
  const { frames, pooled_metrics, aggregate_metrics, distribution, metrics, models, frameCount, warnings } =
    report;
  return { frames, pooled_metrics, aggregate_metrics, distribution, metrics, models, frameCount, warnings };
}

/** In the page: families, sizes, weights and styles of all laid-out text. */
function fontsInUse(): string[] {
  const withText = [...document.querySelectorAll('body *')].filter(
    (element) =>
      element.getClientRects().length > 0 &&
      // Only shown while paused, when the cores are free.
      !element.matches('.figures b') &&
      [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== ''),
  );
  return withText.map((element) => {
    const { fontFamily, fontSize, fontWeight, fontStyle } = getComputedStyle(element);
    return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  });
}

describe.skipIf(noChromium)(`the page in Chromium${noChromium}`, () => {
  const site = pages();
  const files = writePair('', makeSample(FORMAT, { cut: 5 }), 9);
  const slow = makeSample({ ...FORMAT, width: 320, height: 180 }, { seed: 5 });
  const long = writePair('long-', slow, LONG);

  describe('empty', () => {
    it('loads little and only its own files, and links to all licences', async () => {
      site.served.asked.length = 0;
      // Chromium requests an icon for licences.txt.
      const page = await site.open({ provokes: /404/ });
      await page.waitForLoadState('networkidle');
      const paths = [...new Set(site.served.asked)];
      expect(paths.filter((path) => /\.wasm$|worker|model\/|ffmpeg/.test(path))).toEqual([]);
      const sizes = paths.map(
        (path) => gzipSync(readFileSync(join(site.served.folder, path || 'index.html'))).length,
      );
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000);

      const missing: string[] = [];
      page.on('response', (response) => {
        if (response.status() >= 400) missing.push(new URL(response.url()).pathname);
      });
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
      await page.waitForLoadState('networkidle');
      expect(missing.filter((path) => !path.endsWith('/favicon.ico'))).toEqual([]);
    });

    it('contains the engine, the ONNX runtime and ffmpeg once each', () => {
      const names = readdirSync(site.served.folder, { recursive: true, encoding: 'utf8' });
      const modules = names.filter((name) => name.endsWith('.wasm')).map((name) => basename(name));
      expect(modules.map((name) => name.replace(/[-.].*/, '')).sort()).toEqual([
        ...['anyvmaf', 'ffmpeg', 'ort', 'perceptual'],
      ]);
    });

    it('follows the theme of the system, and remembers another choice', async () => {
      const page = await site.open();
      const shows = (theme: string) =>
        expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
      const press = (name: string) => page.getByRole('button', { name: `Theme: ${name}` }).click();
      await shows('light');
      for (const name of ['as the system', 'light']) await press(name);
      await shows('dark');
      await page.reload();
      await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
      await shows('dark');
      await press('dark');
      await shows('light');
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
      await shows('dark');
      await press('as the system');
      await shows('light');
      await page.reload();
      await page.getByRole('button', { name: 'Theme: light' }).waitFor();
      await shows('light');
    });
  });

  describe('scoring', () => {
    let page: Page;
    let runs = 0;
    beforeAll(async () => {
      page = await site.open({ ...FIRST, stays: true });
    });

    /** Expects one more report of the page, equal to Node's. */
    async function expectNodesReport(request: ScoreRequest, options: ScoreOptions = {}): Promise<void> {
      const reports = await reportsOf(page);
      expect(reports).toHaveLength(++runs);
      const expected = await scoreInNode(request, { threads: 0, ...options });
      expect(essence(reports.at(-1))).toEqual(essence(expected));
    }

    it('of raw YUV equals Node; the size comes from the name, and is refused if bytes are left over', async () => {
      const raw = { width: 96, height: 64, bitDepth: 10, chroma: '422' } as const;
      const ten = makeSample(raw, { seed: 3 });
      const pair = {
        reference: write('ref_96x64_422_10bit.yuv', yuvFile(ten, 'reference', 5)),
        distorted: write('dis_96x64_422_10bit.yuv', yuvFile(ten, 'distorted', 5)),
      };
      await choose(page, pair.reference, pair.distorted);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('96');
      await expect.poll(() => page.inputValue('#raw-depth')).toBe('10');
      await expect.poll(() => page.inputValue('#raw-chroma')).toBe('422');
      const checks = page.locator('.checks');
      await says(checks).toContain('dis_96x64_422_10bit.yuv: 5 frames');
      expect(await violations(page)).toEqual([]);
      await page.fill('#raw-width', '100');
      await says(checks).toContain('bytes left over');
      await page.fill('#raw-width', '96');
      await says(checks).toContain('dis_96x64_422_10bit.yuv: 5 frames');
      await checked(page);
      await finish(page);
      await expectNodesReport({ ...pair, raw });
    });

    it('of raw YUV that also fits another size equals Node; inspection corrects the size', async () => {
      const raw = { width: 128, height: 96, bitDepth: 8, chroma: '420' } as const;
      const frames = makeSample(raw, { seed: 7 });
      const pair = {
        reference: write('master.yuv', yuvFile(frames, 'reference', 33)),
        distorted: write('encode.yuv', yuvFile(frames, 'distorted', 33)),
      };
      const facts = Object.values(pair).map((path) => ({ name: basename(path), size: statSync(path).size }));
      // 33 frames have as many bytes as four of CIF.
      expect(guessRaw(facts)).toEqual({ format: { ...raw, width: 352, height: 288 }, from: 'size' });
      await clear(page);
      await page.setInputFiles('#pick-reference', pair.reference);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('352');
      await page.setInputFiles('#pick-distorted', pair.distorted);
      await expect.poll(() => page.inputValue('#raw-width')).toBe('128');
      expect(await page.inputValue('#raw-height')).toBe('96');
      await page.locator('.checks').filter({ hasText: 'encode.yuv: 33 frames' }).waitFor();
      await page.waitForSelector('#findings .fine, #findings .finding');
      expect(await page.textContent('#findings')).not.toContain('neighbouring rows');
      await finish(page);
      await expectNodesReport({ ...pair, raw });
    });

    it('of Y4M equals Node bit for bit; encodes are dropped with their reference, an empty file is refused', async () => {
      await clear(page);
      await drop(page, 'body', [files.distorted, write('nothing.mp4', ''), files.reference]);
      await page.locator('.slot-error', { hasText: 'nothing.mp4 is empty (0 bytes)' }).waitFor();
      expect(await page.locator('.slot-reference .file-name').textContent()).toBe('reference.y4m');
      expect(await page.locator('.slot-distorted .file-name').allTextContents()).toEqual(['distorted.y4m']);
      await drop(page, '.slot-distorted', [files.reference]);
      await page.locator('.slot-distorted .file-name', { hasText: 'reference.y4m' }).waitFor();
      await finish(page);
      const found = (await reportsOf(page)).slice(runs);
      runs += 2;
      expect(found).toHaveLength(2);
      for (const distorted of [files.distorted, files.reference]) {
        const expected = await scoreInNode({ reference: files.reference, distorted }, { threads: 0 });
        expect(essence(found.find((report) => report.distorted.name === basename(distorted)))).toEqual(
          essence(expected),
        );
      }
    });

    it('shows pictures of files and worst moments, which open the viewer', async () => {
      await clear(page);
      await choose(page, files.reference, files.distorted);
      const first = await pairInNode(files, 0);
      for (const side of ['reference', 'distorted'] as const) {
        const thumb = page.locator(`.slot-${side} .file-thumb canvas:not([hidden])`);
        await thumb.waitFor();
        expect(Buffer.compare(await samplesOf(thumb), first[side].image({ maxSide: 192 }).data)).toBe(0);
        // Nothing below may move: the row is as high without its picture.
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
      runs++;
      const pictures = page.locator('.moments button').first().locator('.shot canvas');
      await expect.poll(() => pictures.count()).toBe(3);
      const [reference, distorted, map] = await Promise.all([0, 1, 2].map((i) => samplesOf(pictures.nth(i))));
      expect(reference?.equals(distorted ?? reference)).toBe(false);
      // Not only grey.
      expect(map?.some((_, i) => i % 3 === 0 && map[i] !== map[i + 2])).toBe(true);
      await page.locator('.moments .shots').first().click();
      await page.locator('dialog[open][data-frame]').waitFor();
      await page.keyboard.press('Escape');
      // Other files unfold the setup.
      expect(await page.locator('.setup').isVisible()).toBe(false);
      await page.setInputFiles('#pick-distorted', files.reference);
      await page.locator('.slot-distorted').getByRole('button', { name: 'Remove reference.y4m' }).waitFor();
    });

    it('passes models, a metric, a range and subsampling to the library; then colour metrics without a model', async () => {
      await clear(page);
      await choose(page, files.reference, files.distorted);
      await page.getByText('Settings', { exact: true }).click();
      await page.getByLabel('VMAF NEG').check();
      await page.getByLabel('PSNR luma').check();
      await page.fill('#setting-range', '1-8');
      await page.fill('#setting-subsample', '2');
      await page.fill('#setting-threads', '2');
      await page.locator('#setting-threads').blur();
      expect(await violations(page)).toEqual([]);
      await checked(page);
      await score(page);
      await expectNodesReport(files, {
        models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=vmaf_neg'],
        features: ['psnr'],
        range: { unit: 'frames', start: 1, end: 8 },
        subsample: 2,
      });

      // Their module is loaded on use.
      const features = ['xpsnr', 'ssimulacra2', 'butteraugli', 'cvvdp'];
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.getByLabel('VMAF HD television, vmaf_v0.6.1').uncheck();
      for (const name of features) await page.check(`#feature-${name}`);
      await checked(page);
      const modules = () => site.served.asked.filter((path) => /perceptual-.*\.wasm$/.test(path)).length;
      const before = modules();
      await score(page);
      expect(modules()).toBe(before + 1);
      await expectNodesReport(files, { models: [], features });
      const charts = page.locator('#results .feature .label');
      await expect.poll(() => charts.allTextContents()).toContainEqual(expect.stringMatching(/^Butteraugli/));
      expect(await lookAround(page)).toEqual({});
      await page.locator('.moments button').first().click();
      await says(page.locator('.frames-head')).toMatch(/SSIMULACRA2|XPSNR/);
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate(() => history.state?.viewer)).toBeUndefined();
    });
  });

  describe('a run', () => {
    /** In the page: a warm-up lasts longer than its two seconds, in which a busy machine may not draw it. */
    const lengthened = (page: Page) =>
      page.addInitScript(() => {
        const plain = window.setTimeout;
        window.setTimeout = ((work: () => void, time?: number) =>
          plain(work, time === 2000 ? 6000 : time)) as typeof window.setTimeout;
      });

    it('warms up all fonts of the results before it, pauses, resumes and ends with all frames', async () => {
      const page = await site.open({ hash: SLOW, before: lengthened });
      const height = () => page.evaluate(() => document.documentElement.scrollHeight);
      await choose(page, long.reference, long.distorted);
      const rehearsal = page.locator('.rehearsal');
      await rehearsal.locator('canvas').first().waitFor({ state: 'attached' });
      // The warm-up is invisible, not focusable, hidden from screen readers, and takes no room.
      expect(await rehearsal.locator('canvas').first().isVisible()).toBe(false);
      expect(await rehearsal.evaluate((element) => element.matches('[inert][aria-hidden=true]'))).toBe(true);
      const during = await height();
      const known = new Set<string>();
      for (; (await rehearsal.count()) > 0; await sleep(250))
        for (const font of await page.evaluate(fontsInUse)) known.add(font);
      expect(await height()).toBe(during);

      await pauseSoon(page);
      await start(page);
      const figures = page.locator('.figures');
      await figures.filter({ hasText: 'Paused' }).waitFor();
      await page.locator('.headline .score').waitFor();
      expect(await rehearsal.count()).toBe(0);
      expect(await page.locator('#chart-heading').count()).toBe(1);
      // Each new font would block the browser.
      expect((await page.evaluate(fontsInUse)).filter((font) => !known.has(font))).toEqual([]);
      // Frames in progress are finished, then nothing changes.
      let before = '';
      await expect
        .poll(
          async () => {
            const now = (await figures.textContent()) ?? '';
            const still = now === before;
            before = now;
            return still;
          },
          { interval: 400, timeout: 90_000 },
        )
        .toBe(true);
      expect(before).not.toContain(`${LONG} of`);
      expect(await reportsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Resume' }).click();
      await done(page);
      const [report] = await reportsOf(page);
      expect(report?.frames.length).toBe(LONG);
    });

    it('ends the warm-up, and can be cancelled; finished encodes stay', async () => {
      const page = await site.open({ width: 390, height: 844, dark: true, hash: SLOW, before: lengthened });
      await choose(page, long.reference, long.distorted);
      await page.waitForSelector('.rehearsal', { state: 'attached' });
      await pauseSoon(page);
      const left = await page.evaluate(() => {
        document.querySelector<HTMLButtonElement>('button.primary')?.click();
        return document.querySelectorAll('.rehearsal').length;
      });
      expect(left).toBe(0);
      await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
      // Files dropped meanwhile are added later, with a message; pasted text is refused.
      const notice = page.locator('.notice');
      await page.evaluate(() => document.dispatchEvent(new ClipboardEvent('paste', { bubbles: true })));
      await says(notice).toContain('Only files can be pasted');
      await drop(page, 'main', [files.distorted]);
      await says(notice).toBe('distorted.y4m will be added when the run ends.');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText(/^Cancelled/).waitFor();
      expect(await reportsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove distorted.y4m' }).click();
      expect(await notice.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Remove long-distorted.y4m' }).click();
      await page.getByRole('button', { name: 'Remove long-reference.y4m' }).click();
      await choose(page, files.reference, files.distorted);
      await finish(page);
      expect(await reportsOf(page)).toHaveLength(1);

      // A cancelled run keeps finished encodes; the other one is marked, and the only one left to score.
      const short = write('long-short.y4m', y4mFile(slow, 'distorted', 9));
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Remove distorted.y4m' }).click();
      await choose(page, long.reference, short);
      await score(page);
      await page.getByRole('button', { name: 'Change' }).click();
      await page.setInputFiles('#pick-distorted', long.distorted);
      await checked(page);
      await pauseSoon(page);
      await page.getByRole('button', { name: 'Score 1 new encode' }).click();
      await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      const marks = page.locator('table.encodes tbody th');
      await says(marks.nth(1)).toMatch(
        RegExp(`stopped: the first \\d+ of ${LONG} frames only|stopped before its first frame`),
      );
      expect(await marks.nth(0).textContent()).not.toContain('stopped');
      // Cancelling just before the last report arrives: it counts, and nothing is left to score.
      await page.evaluate(() => {
        window.reports.push = (...late) => {
          window.press('Cancel');
          return Array.prototype.push.apply(window.reports, late);
        };
      });
      await page.getByRole('button', { name: 'Score 1 encode', exact: true }).click();
      await page.getByRole('button', { name: 'Score again', exact: true }).waitFor();
      await says(marks.nth(1)).not.toContain('stopped');
      expect((await reportsOf(page)).at(-1)?.frames).toHaveLength(LONG);
      // The first report of another run cancels it; the earlier ones return.
      await page.getByRole('button', { name: 'Score again', exact: true }).click();
      await page.getByText('Cancelled. The earlier scores are below.').waitFor();
      await says(marks.nth(1)).not.toContain('stopped');
    });
  });

  describe('the result', () => {
    const shots = makeSample(FORMAT, { seed: 9, cut: 20 });
    const y4m = (name: string, side: 'reference' | 'distorted', frames = 12) =>
      write(name, y4mFile(shots, side, frames));

    it('comes back after saved reports, also after Forward to the entry of one', async () => {
      const page = await site.open();
      await choose(page, y4m('back-ref.y4m', 'reference'), y4m('back-dis.y4m', 'distorted'));
      await score(page);
      const { text } = await saved(page, 'Download JSON');
      const report = write('back.json', text.replaceAll('back-dis.y4m', 'kept-dis.y4m'));
      const heading = page.locator('#result-heading');
      await page.setInputFiles('#pick-reports', report);
      await says(heading).toBe('kept-dis.y4m');
      await page.goBack();
      await says(heading).toBe('back-dis.y4m');
      await page.goForward();
      await expect.poll(() => page.evaluate(() => history.state?.report)).toBe(true);
      await page.setInputFiles('#pick-reports', report);
      await says(heading).toBe('kept-dis.y4m');
      await page.goBack();
      await says(heading).toBe('back-dis.y4m');
    });

    it('keeps settings that a copied link has when the setup is unfolded', async () => {
      const page = await site.open();
      await choose(page, y4m('linked-ref.y4m', 'reference'), y4m('linked-dis.y4m', 'distorted'));
      await page.locator('.settings > summary').click();
      await page.locator('#setting-subsample').fill('2');
      await page.locator('#setting-subsample').press('Tab');
      await score(page);
      await page.getByRole('button', { name: 'Copy link to settings' }).click();
      await expect.poll(() => new URL(page.url()).hash).toBe('#subsample=2');
      const changed = page.evaluate(
        () => new Promise<void>((done) => addEventListener('hashchange', () => done(), { once: true })),
      );
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await changed;
      await page.locator('.setup').waitFor();
      expect(await page.locator('#setting-subsample').inputValue()).toBe('2');
      expect(await page.locator('.outdated').count()).toBe(0);
    });

    it('folds the setup and has the table of five encodes in view at 1280x720; other choices reuse results', async () => {
      const encodes = [1, 2, 3, 4, 5].map((n) => y4m(`encode-${n}.y4m`, 'distorted'));
      const page = await site.open({ width: 1280, height: 720 });
      await choose(page, y4m('master.y4m', 'reference'), ...encodes);
      // Start scrolled down, as after changing a setting.
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

      await page.getByRole('button', { name: 'Change' }).click();
      await page.locator('.setup').waitFor();
      expect(await page.locator('.setup-line').isVisible()).toBe(false);
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Add another');
      // Forward and Back do the same, without losing the results.
      await page.goForward();
      await page.locator('.setup-line').waitFor();
      await page.goBack();
      await page.locator('.setup').waitFor();

      // Encodes with a result are shown at once, and not scored again.
      const rows = page.locator('table.encodes tbody tr');
      const names = () => rows.locator('.open').allTextContents();
      await page.getByRole('button', { name: 'Remove encode-5.y4m' }).click();
      await expect.poll(names).toEqual([1, 2, 3, 4].map((n) => `encode-${n}.y4m`));
      const worse = makeSample(FORMAT, { seed: 9, cut: 20, distortion: { blur: 3, quantiser: 30 } });
      await page.setInputFiles('#pick-distorted', write('encode-6.y4m', y4mFile(worse, 'distorted', 12)));
      await checked(page);
      expect(await page.locator('.outdated').count()).toBe(0);
      await page.getByRole('button', { name: 'Score 1 new encode' }).click();
      await allShown(page);
      expect((await reportsOf(page)).map(({ distorted }) => distorted.name).sort()).toEqual(
        [1, 2, 3, 4, 5, 6].map((n) => `encode-${n}.y4m`),
      );
      expect(await names()).toEqual([1, 2, 3, 4, 6].map((n) => `encode-${n}.y4m`));

      // A checkbox includes encodes in tables, curves and files.
      const best = () => page.locator('td.main.best').count();
      expect(await best()).toBe(4);
      const box = (n: number) => page.getByLabel(`Include encode-${n}.y4m in tables, curves and BD-rate`);
      await box(6).uncheck();
      // The others are equally good.
      await expect.poll(best).toBe(0);
      expect(await page.locator('.legend button[aria-pressed=false]').allTextContents()).toEqual([
        expect.stringContaining('encode-6.y4m'),
      ]);
      const csv = await saved(page, 'Download Comparison CSV');
      expect(csv.text.trim().split('\n')).toHaveLength(5);
      // It stays unticked when other results are shown.
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Remove encode-1.y4m' }).click();
      await expect.poll(() => rows.count()).toBe(4);
      expect(await box(6).isChecked()).toBe(false);
      for (const n of [2, 3]) await box(n).uncheck();
      // The last one cannot be left out.
      await box(4).click();
      expect(await box(4).isChecked()).toBe(true);
    });

    it('is reached by keyboard alone, from choosing files to saving a picture of another encode', async () => {
      const encodes = ['keys-a', 'keys-b'].map((name) => y4m(`${name}.y4m`, 'distorted'));
      const page = await site.open({ width: 1280, height: 720 });
      // Without a listener, Chromium would show its own dialog.
      page.on('filechooser', () => {});
      const pick = async (name: RegExp, chosen: string | string[]) => {
        await tabTo(page, name);
        const chooser = page.waitForEvent('filechooser');
        await page.keyboard.press('Enter');
        await (await chooser).setFiles(chosen);
      };
      await pick(/^Choose a file$/, y4m('keys-ref.y4m', 'reference'));
      await page.locator('.slot-reference .file-name').waitFor();
      await pick(/^Choose files$/, encodes);
      await checked(page);
      await tabTo(page, /^Score$/);
      await page.keyboard.press('Enter');
      await allShown(page);
      await tabTo(page, /^Open the worst frame of keys-a\.y4m$/);
      const opener = await focused(page);
      await page.keyboard.press('Enter');
      const dialog = page.locator('dialog[open]');
      await page.locator('dialog[open][data-encode="0"]').waitFor();
      await page.keyboard.press('e');
      await page.locator('dialog[open][data-encode="1"]').waitFor();
      const frame = await dialog.getAttribute('data-frame');
      const { name } = await download(page, () => page.keyboard.press('s'));
      expect(name).toBe(`keys-b.frame-${frame}.encode.png`);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await focused(page)).toEqual(opener);
    });
  });
});
