/**
 * @module test/browser/page-problems
 * The built page when something is missing or wrong: mismatched or undecodable files, a dead engine, missing models, incomplete
 * links, no network, no server. Also tiny models and VMAF v1 models, which are fetched on request.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { y4mHeader } from '../../src/core/frame.js';
import { score as scoreInNode } from '../../src/index.js';
import { y4mFile, y4mFrame } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encode, encodeFolder, ffmpeg, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { lookAround, violations } from '../support/looks.js';
import { linear, meanOf } from '../support/onnx.js';
import {
  allShown,
  checked,
  choose,
  clear,
  done,
  finish,
  focused,
  follow,
  junk,
  pages,
  pauseFirst,
  reportsOf,
  says,
  score,
  shiftsLittle,
  start,
  startPaused,
  tabTo,
  watchShifts,
  write,
  writePair,
} from '../support/page.js';
import { exhaustive, needsShared, sharedPath } from '../support/tier.js';

/** Files that the page fetches on first use and then caches: FFmpeg, onnxruntime, tiny models. */
const LARGE = /^ffmpeg\/|^ort\/|^assets\/[nf]r_vmaf_/;

const FORMAT = { width: 160, height: 90, bitDepth: 8, chroma: '420' } as const;

describe.skipIf(noChromium)(`problems in the page${noChromium}`, () => {
  const site = pages({ kept: false });
  const files = writePair('', makeSample(FORMAT, { cut: 5 }), 9);

  describe('explains problems', () => {
    let page: Page;
    beforeAll(async () => {
      page = await site.open({ stays: true });
    });

    it('with videos of different sizes, and fixes it by a button', async () => {
      const half = makeSample({ ...FORMAT, width: 96, height: 54 });
      const small = write('small.y4m', y4mFile(half, 'distorted', 9));
      await choose(page, files.reference, small);
      const finding = page
        .locator('.finding, .failure')
        .filter({ hasText: '96x54' })
        .filter({ hasText: '160x90' });
      await finding.first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page
        .getByRole('button', { name: /^Scale/ })
        .first()
        .click();
      await page.waitForSelector('#findings .waiting', { state: 'detached' });
      await checked(page);
      await finish(page);
      const [report] = await reportsOf(page);
      const pair = { reference: files.reference, distorted: small };
      expect(report?.frames).toEqual((await scoreInNode(pair, { threads: 0, scale: 'bicubic' })).frames);
    });

    it('with a setting of one encode, which the button for all replaces', async () => {
      const small = makeSample({ ...FORMAT, width: 96, height: 54 });
      const own = await site.open();
      await choose(own, files.reference, write('own-small.y4m', y4mFile(small, 'distorted', 9)));
      await own.getByRole('button', { name: 'Settings for own-small.y4m only' }).click();
      await own.locator('#setting-own-scale').selectOption('none');
      await own.keyboard.press('Escape');
      await own.getByRole('button', { name: 'Scale to one size' }).click();
      await expect.poll(() => own.locator('.failure').count()).toBe(0);
      await score(own);
    });

    it('with one bad file among several, beside the results of the others', async () => {
      const [bad, worse] = [junk('bad.mp4'), junk('worse.mp4')] as const;
      await clear(page);
      const before = (await reportsOf(page)).length;
      await choose(page, files.reference, bad, files.distorted);
      await score(page);
      await page.locator('.runner .failure', { hasText: 'bad.mp4' }).waitFor();
      expect(await page.locator('.runner .failure').count()).toBe(1);
      const [report, ...further] = (await reportsOf(page)).slice(before);
      expect(further).toEqual([]);
      expect(report?.frames).toEqual((await scoreInNode(files, { threads: 0 })).frames);
      const results = page.locator('#results');
      await results.getByText('distorted.y4m').first().waitFor();
      expect(await results.textContent()).not.toContain('not finished');
      // The failed file is not in the results.
      expect(await results.textContent()).not.toContain('bad.mp4');
      expect(await page.locator('table.encodes').count()).toBe(0);

      // Without a good file, scoring is disabled, with the reason beside the button.
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByRole('button', { name: 'Remove distorted.y4m' }).click();
      await page.setInputFiles('#pick-distorted', worse);
      const again = page.locator('button.primary');
      await expect.poll(() => again.isDisabled()).toBe(true);
      await says(page.locator('#run-hint')).toMatch(/^Nothing can be scored yet\. .*(bad|worse)\.mp4/);
      await page.getByRole('button', { name: 'Remove bad.mp4' }).click();
      await page.setInputFiles('#pick-distorted', files.distorted);
      await expect.poll(() => again.isDisabled()).toBe(false);
    });

    it.skipIf(!hasFfmpeg)(`with film grain that the browser's decoder adds, ${needsFfmpeg}`, async () => {
      const grain = ffmpeg(join(encodeFolder(), 'grain.mp4'), [
        ...['-i', files.reference, '-c:v', 'libsvtav1', '-preset', '10', '-crf', '30'],
        ...['-svtav1-params', 'film-grain=50'],
      ]);
      await clear(page);
      await choose(page, files.reference, grain);
      const finding = page.locator('#findings').getByText('film grain synthesis');
      await finding.waitFor({ timeout: 60_000 });
    });

    it.runIf(hasFfmpeg)(
      `with a codec that the browser lacks, and loads ffmpeg.wasm when asked to (${needsFfmpeg})`,
      async () => {
        const encoded = encode({ codec: 'mpeg2', frames: 8, size: '96x64' });
        const plain = ffmpeg(join(encodeFolder(), 'plain.y4m'), [
          ...['-f', 'lavfi', '-i', 'testsrc2=size=96x64:rate=25', '-frames:v', '8', '-pix_fmt', 'yuv420p'],
        ]);
        const page = await site.open({ keeps: true });
        await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
        const { asked } = site.served;
        asked.length = 0;
        const ranges: string[] = [];
        page.on('request', (request) => {
          const { range } = request.headers();
          if (range && request.url().endsWith('.wasm')) ranges.push(range);
        });
        await choose(page, plain, encoded);
        await page.getByText('This browser cannot decode the video').waitFor();
        await page.getByText('32 MB (10 MB compressed)').waitFor();
        expect(asked.filter((path) => path.startsWith('ffmpeg/'))).toEqual([]);
        await page.evaluate(() => {
          const findings = document.getElementById('findings');
          const pause = new MutationObserver(() => {
            if (!/wasm: [1-9]/.test(findings?.textContent ?? '')) return;
            pause.disconnect();
            for (const button of findings?.querySelectorAll('button') ?? [])
              if (button.textContent === 'Pause') button.click();
          });
          if (findings) pause.observe(findings, { subtree: true, childList: true, characterData: true });
        });
        await page.getByRole('button', { name: 'Load ffmpeg.wasm (32 MB) and use it' }).click();
        // Resuming continues the download.
        await page.getByRole('button', { name: 'Resume' }).click();
        await page.waitForSelector('#findings .fine, #findings .finding', { timeout: 180_000 });
        expect(asked.some((path) => path.startsWith('ffmpeg/'))).toBe(true);
        expect(ranges).toEqual(['bytes=0-', expect.stringMatching(/^bytes=[1-9]\d{5,}-$/)]);
        await finish(page);
        const [report] = await reportsOf(page);
        const expected = await scoreInNode({ reference: plain, distorted: encoded }, { threads: 0 });
        expect(report?.frames).toEqual(expected.frames);
        expect(report?.pairing?.distorted.decoder).toBe('wasm');

        if (!exhaustive) return;
        // Pictures stay RGB if only colour metrics are measured.
        const still = (name: string, filter: string) =>
          ffmpeg(join(encodeFolder(), name), [
            ...['-f', 'lavfi', '-i', `testsrc2=size=96x64,${filter}`, '-frames:v', '1', '-pix_fmt', 'rgb24'],
          ]);
        const pair = { reference: still('still.png', 'null'), distorted: still('blurred.png', 'gblur') };
        const features = ['ssimulacra2'];
        await page.getByRole('button', { name: 'Change' }).click();
        await page.getByText('Settings', { exact: true }).click();
        await page.getByLabel('VMAF HD television, vmaf_v0.6.1').uncheck();
        for (const name of features) await page.check(`#feature-${name}`);
        for (const path of [plain, encoded])
          await page.getByRole('button', { name: `Remove ${basename(path)}` }).click();
        await choose(page, pair.reference, pair.distorted);
        await score(page);
        const [, stills] = await reportsOf(page);
        const same = await scoreInNode(pair, { threads: 0, models: [], features });
        expect(stills?.frames).toEqual(same.frames);
        expect(stills?.reference.colour).toEqual(same.reference.colour);
        expect(stills?.reference.colour?.matrix).toBe('gbr');
      },
    );

    it('with an engine that ran out of memory, and tries again with one thread', async () => {
      const page = await site.open({ hash: 'threads=2' });
      await choose(page, files.reference, files.distorted);
      await startPaused(page, pauseFirst);
      await page.evaluate(() =>
        window.workers[0]?.dispatchEvent(
          new ErrorEvent('error', { message: 'Uncaught RangeError: Out of memory' }),
        ),
      );
      await page.locator('.runner .failure', { hasText: 'The browser ran out of memory' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Try with one thread' }).click();
      await done(page);
      const [report] = await reportsOf(page);
      expect([report?.frames.length, report?.threads]).toEqual([9, 1]);
    });
  });

  describe('a link', () => {
    it('restores models: ticks the built-in tiny model, asks for a model file, and unfolds rare models', async () => {
      const page = await site.open({ hash: 'tiny=nr_vmaf_v0.6.1&tiny=own&model=none' });
      await page.setInputFiles('#pick-distorted', files.distorted);
      await page.getByText('Settings', { exact: true }).click();
      expect(await page.locator('#tiny-nr').isChecked()).toBe(true);
      await page.locator('#tiny-said', { hasText: 'choose it here' }).waitFor();
      expect(await page.locator('.ticks input:checked').count()).toBe(0);
      await page.getByRole('button', { name: 'Reset' }).click();
      expect(await page.locator('#tiny-nr').isChecked()).toBe(false);
      // A link with a rare model, which unfolds those.
      await follow(page, 'model=version=vmaf_v1.0.16_hfr_5d0h:name=vmaf_v1_hfr_phone');
      const box = page.getByLabel('VMAF v1 HFR Phone');
      await box.waitFor();
      expect(await box.isChecked()).toBe(true);
      await says(page.locator('.settings .state')).toMatch(/^VMAF v1 HFR Phone/);
    });

    it('restores settings, which are in the copied link', async () => {
      const page = await site.open({ hash: 'offset=-3&range=2s-4s&model=auto&raw=352x288,8,420' });
      const state = page.locator('.settings .state');
      await says(state).toBe('By size · range 2s-4s · offset -3');
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

  it('handles encodes one by one: a card per cause, settings of one encode, why one is not compared; colours and layout stay', async () => {
    const shots = makeSample(FORMAT, { seed: 9, cut: 20 });
    const whole = write('own-whole.y4m', y4mFile(shots, 'reference', 40));
    /** @param first frames that the encode lacks @param lossless every other frame is lossless */
    const from = (name: string, first: number, lossless = false) =>
      write(
        name,
        Buffer.concat([
          Buffer.from(y4mHeader(FORMAT)),
          ...Array.from({ length: 40 - first }, (_, n) =>
            y4mFrame(shots, lossless && n % 2 === 0 ? 'reference' : 'distorted', n + first),
          ),
        ]),
      );
    const page = await site.open({ width: 1280, height: 720 });
    await choose(page, whole, from('own-a.y4m', 10), from('own-d.y4m', 0, true));
    // One late encode has one warning with one button.
    const warnings = page.locator('.finding').filter({ hasText: 'Warning' });
    await says(warnings).toContain('Use offset 10');
    expect(await warnings.count()).toBe(1);
    await page.setInputFiles('#pick-distorted', [from('own-b.y4m', 12), from('own-c.y4m', 0)]);
    await checked(page);
    // Before the run: one card with a line for each, with its own offset.
    const finding = page.locator('#findings .finding', { hasText: 'Use offset' });
    await expect.poll(() => finding.locator('.each li').count()).toBe(2);
    await says(page.locator('#findings .wrong')).toBe('Scores of own-a.y4m, own-b.y4m could not be trusted.');
    expect(await finding.getByRole('button').allTextContents()).toEqual([
      'Use offset 10',
      'Use offset 12',
      'Fix all 2',
    ]);
    const colours = () =>
      page.evaluate(() =>
        [0, 1, 2, 3].map((i) => document.documentElement.style.getPropertyValue(`--e${i}`)),
      );
    await watchShifts(page, false);
    await start(page);
    await page.locator('table.encodes tbody tr').nth(3).waitFor();
    const atFirst = await colours();
    expect(new Set(atFirst).size).toBe(4);
    await allShown(page);
    expect(await colours()).toEqual(atFirst);
    await says(page.locator('.headline .note')).toBe(
      'Bold is the best of its column. Not compared with the others: own-a.y4m, own-b.y4m (another number of frames).',
    );
    expect(await page.locator('table.encodes td.main.best').count()).toBe(1);
    await shiftsLittle(page);
    const card = page.locator('.flaw-card');
    expect(await card.count()).toBe(1);
    await says(card.locator('.flaw-note')).toBe('Do not trust this score (2 encodes): [offset]');
    expect(await card.locator('li b').allTextContents()).toEqual(['own-a.y4m', 'own-b.y4m']);
    await says(card.getByRole('button').first()).toBe('Fix all 2 and score again');
    // Fix one alone, then the other.
    await page.getByRole('button', { name: 'Fix this one: own-b.y4m' }).click();
    await page.getByRole('button', { name: 'Fix and score again' }).click();
    await expect.poll(() => page.locator('.flaw-note').count()).toBe(0);
    await allShown(page);
    // The others are not scored again.
    const counts = (await reportsOf(page)).map(({ frames }) => frames.length);
    expect([counts.slice(0, 4).sort(), ...counts.slice(4)]).toEqual([[28, 30, 40, 40], 28, 30]);
    const own = page.locator('table.encodes .own');
    expect(await own.allTextContents()).toEqual(['offset 10', 'offset 12']);

    // By keyboard: invalid values are explained beside their field, refusals of the library below.
    await page.getByRole('button', { name: 'Change' }).click();
    await tabTo(page, /^Settings for own-c\.y4m only$/);
    const opener = await focused(page);
    await page.keyboard.press('Enter');
    const form = page.getByRole('dialog', { name: 'Settings for own-c.y4m only' });
    await form.waitFor();
    const set = async (label: string, value: string) => {
      await form.getByLabel(label, { exact: true }).focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.type(value);
      await page.keyboard.press('Tab');
    };
    await set('Offset in frames', 'soon');
    await says(form.locator('#setting-own-offset-wrong')).toContain('“soon” is not a valid offset.');
    await set('Crop of the encode', '80x80');
    await says(form.locator('#setting-own-crop-dis-wrong')).toContain('“80x80” is not a valid crop.');
    expect(await lookAround(page)).toEqual({});
    await page.setViewportSize({ width: 1280, height: 720 });
    await set('Offset in frames', '0');
    await set('Crop of the encode', '500:500');
    const refused = form.getByRole('alert').filter({ hasText: 'cannot be scored' });
    await says(refused).toContain('goes beyond the picture of 160x90');
    await set('Crop of the encode', '80:60:0:10');
    await set('Crop of the reference', '80:60:0:10');
    await set('Range of the reference', '10-38');
    await expect.poll(() => refused.count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.locator('.own-dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toEqual(opener);
    await says(page.locator('.file .own').last()).toBe(
      'own settings: range 10-38, reference cropped to 80:60:0:10, encode cropped to 80:60:0:10 Use common settings',
    );
    // The inspection has redrawn the rows.
    await checked(page);
    expect(await focused(page)).toEqual(opener);
    // Only that encode is scored; its settings are in its row and in “How it was run”.
    await page.getByRole('button', { name: 'Score 1 encode' }).click();
    await allShown(page);
    const all = await reportsOf(page);
    expect(all).toHaveLength(7);
    expect(all[6]?.frames).toHaveLength(28);
    expect(all[6]?.pairing?.range).toEqual({ unit: 'frames', start: 10, end: 38 });
    await expect.poll(() => own.last().textContent()).toContain('encode cropped to 80:60:0:10');
    await says(page.locator('.headline .note')).toContain(
      'have different numbers of frames and were scored at different sizes',
    );
    await page.getByText('How it was run').click();
    const runs = page.locator('.run');
    await says(runs).toContain('cropped to 80x60 at 0,10 of 160x90');
    await says(runs).toContain('10 to 38 (frames)');
    // With the common settings again, its first result is shown.
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('button', { name: 'Use common settings' }).last().click();
    await expect.poll(() => own.count()).toBe(2);
    expect(await focused(page)).toEqual(opener);
    await page.getByRole('button', { name: 'Score again' }).waitFor();
    expect(await reportsOf(page)).toHaveLength(7);
    // An encode that becomes the reference has no own settings.
    await page.getByRole('button', { name: 'Swap reference and distorted' }).click();
    await says(page.locator('.slot-reference .file-name')).toBe('own-a.y4m');
    expect(await page.locator('.slot-reference .own').count()).toBe(0);
  });

  describe('tiny models', () => {
    const FRAMES = 3;
    const clip = makeSample({ ...FORMAT, width: 96, height: 64 }, { seed: 9 });
    const videos = writePair('tiny-', clip, FRAMES);
    let page: Page;
    beforeAll(async () => {
      page = await site.open({ keeps: true, stays: true });
    });

    const said = (words: string) => page.locator('#tiny-said', { hasText: words }).waitFor();
    const pick = (...paths: string[]) => page.setInputFiles('#pick-tiny', paths);

    it('built in: scores a video without reference, as Node does', async () => {
      // The service worker must control the page before the engine fetches files.
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
      await page.setInputFiles('#pick-distorted', videos.distorted);
      await page.locator('.settings > summary').click();
      expect(await page.getByRole('button', { name: 'Score', exact: true }).isDisabled()).toBe(true);
      await page.locator('#tiny-nr').check();
      await finish(page);
      const [report] = await reportsOf(page);
      expect(report?.tiny?.[0]).toMatchObject({ source: 'nr_vmaf_v0.6.1', registered: true, kind: 'nr' });
      const expected = await scoreInNode(
        { distorted: videos.distorted },
        { noReference: true, threads: 0, tiny: [{ model: 'nr_vmaf_v0.6.1' }] },
      );
      expect(report?.frames).toHaveLength(FRAMES);
      const [name = ''] = expected.tiny?.[0]?.metrics ?? [];
      for (const [i, { metrics }] of expected.frames.entries()) {
        expect(Object.keys(report?.frames[i]?.metrics ?? {})).toEqual([name]);
        expect(report?.frames[i]?.metrics[name]).toBeCloseTo(metrics[name] ?? Number.NaN, 2);
      }
      await page.locator('#results').getByText(name).first().waitFor();
      // “How it was run” names the model and its device.
      const rows = page.locator('dt:text-is("tiny model") + dd');
      await rows.first().waitFor({ state: 'attached' });
      expect(await rows.allTextContents()).toEqual([
        'tiny_nr, nr_vmaf_v0.6.1',
        expect.stringMatching(/^tiny_nr: (CPU|GPU)\b.*, onnxruntime-web, .*requested: auto$/),
      ]);
      // From now on it works offline.
      const kept = () =>
        page.evaluate(async () => {
          const runtime = ['ort/ort.bundle.min.js', 'ort/ort-wasm-simd-threaded.jsep.wasm'];
          return Promise.all(runtime.map(async (name) => (await caches.match(name))?.status));
        });
      await expect.poll(kept).toEqual([200, 200]);
    });

    it('from files: are refused with a reason, or score beside VMAF', async () => {
      const sum = write('sum.onnx', linear([10, 0, 0, 0, 0, 1], 2));
      const sidecar = write('own.json', JSON.stringify({ name: 'own_mean', kind: 'nr' }));
      const mean = write('own.onnx', meanOf([1, 1, 48, 80], { factor: 100 }));
      await page.getByRole('button', { name: 'Change' }).click();
      await page.locator('#tiny-nr').uncheck();
      await pick(write('text.onnx', 'not a model'));
      await said('"text.onnx" is not a valid ONNX model');
      await pick(sidecar);
      await said('Choose an .onnx file, with its .json sidecar');
      await pick(sum);
      await said('scores from 6 features of the pair; it needs the reference.');
      await start(page);
      await page
        .getByText(/reads features .* cannot score without one/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      await said('no reference is needed');
      await page.getByText('Choose the reference').first().waitFor();

      // A sidecar that does not match its model.
      await page.setInputFiles('#pick-reference', videos.reference);
      await pick(sum, write('sum.json', JSON.stringify({ feature_order: ['adm2'] })));
      await said('scores from one feature');
      await start(page);
      await page.getByText('takes 6 features, but its sidecar lists 1 (adm2)').first().waitFor();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();

      // A model of one picture size.
      await pick(mean, sidecar);
      await said('own_mean scores the distorted picture alone.');
      await finish(page);
      const report = (await reportsOf(page)).at(-1);
      expect(report?.tiny?.[0]).toMatchObject({ name: 'own_mean', file: 'own.onnx', resize: 'bilinear' });
      const expected = await scoreInNode(videos, { threads: 0, tiny: [{ model: mean, resize: 'bilinear' }] });
      expect(report?.frames).toHaveLength(FRAMES);
      for (const [i, { metrics }] of expected.frames.entries()) {
        expect(report?.frames[i]?.metrics.vmaf).toBe(metrics.vmaf);
        expect(report?.frames[i]?.metrics.own_mean).toBeCloseTo(metrics.own_mean ?? Number.NaN, 3);
      }
    });
  });

  it('explains how to serve it if opened as a file', async () => {
    const page = await (await site.served.newContext()).newPage();
    await page.goto(pathToFileURL(join(site.served.folder, 'index.html')).href);
    await page.getByRole('heading', { name: 'This page needs a server' }).waitFor();
    expect(await page.locator('pre code').textContent()).toBe(
      `python3 -m http.server 8000 --bind 127.0.0.1 --directory '${site.served.folder}/'`,
    );
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

const NAME = 'vmaf_v1.0.16_3d0h';
const AT = `mirror/Netflix/vmaf/v3.2.0/model/vmaf_v1.0.16/${NAME}.json`;
const model = sharedPath(`models/vmaf_v1.0.16/${NAME}.json`);

describe.skipIf(noChromium)(`files that the page fetches and caches${noChromium}`, () => {
  const site = pages({ copy: true, kept: false });
  // The smallest size for VMAF v1: CAMBI needs the columns, SpEED the rows.
  const clip = makeSample({ ...FORMAT, width: 216, height: 160, bitDepth: 10 }, { seed: 5 });
  const videos = writePair('ten-bit-', clip, 3);

  beforeAll(() => {
    const { folder } = site.served;
    const index = join(folder, 'index.html');
    const named = '<meta name="anyvmaf-models-from" content="./mirror"></head>';
    writeFileSync(index, readFileSync(index, 'utf8').replace('</head>', named));
    mkdirSync(dirname(join(folder, AT)), { recursive: true });
  });

  const fetchIt = (page: Page) => page.getByRole('button', { name: 'Fetch it (15 kB) and score' });

  /** URLs of cached files except fetched models. */
  const kept = (page: Page) =>
    page.evaluate(async () => {
      const requests = [];
      for (const name of await caches.keys())
        if (name !== 'anyvmaf-models') requests.push(...(await (await caches.open(name)).keys()));
      return requests.map(({ url }) => url.slice(document.baseURI.length));
    });

  /** Chooses the videos, and ticks a model instead of the default. */
  async function chooseModel(page: Page, model: string): Promise<void> {
    await page.setInputFiles('#pick-reference', videos.reference);
    await page.setInputFiles('#pick-distorted', videos.distorted);
    await page.getByText('Settings', { exact: true }).click();
    await page.getByLabel('VMAF HD television, vmaf_v0.6.1').uncheck();
    await page.getByLabel(model).check();
  }

  it('fetches a model only on request, discards a file with another digest, and explains failures', async () => {
    writeFileSync(join(site.served.folder, AT), '{}');
    site.served.asked.length = 0;
    const page = await site.open({ provokes: /404/ });
    await chooseModel(page, 'VMAF v1 HD television');
    await start(page);
    const failure = page.locator('.runner .failure');
    await failure.filter({ hasText: 'must be fetched first' }).waitFor();
    await failure.filter({ hasText: `${NAME} is not part of the page` }).waitFor();
    expect(site.served.asked).not.toContain(AT);
    await fetchIt(page).click();
    await failure
      .filter({ hasText: /has the SHA-256 44136fa.*, not e4cf8c.* so it was discarded/ })
      .waitFor();
    expect(site.served.asked).toContain(AT);
    const models = await page.evaluate(
      async () => (await (await caches.open('anyvmaf-models')).keys()).length,
    );
    expect(models).toBe(0);
    // The server does not have this model.
    await page.getByLabel('VMAF v1 HD television').uncheck();
    await page.getByLabel('VMAF v1 Phone').check();
    await start(page);
    await fetchIt(page).click();
    await page.locator('.runner .failure').filter({ hasText: 'the server answered 404' }).waitFor();
    await expect.poll(() => fetchIt(page).isEnabled()).toBe(true);
  });

  it.skipIf(model === undefined)(
    `scores with a fetched model as Node does, then also offline (${needsShared})`,
    async () => {
      writeFileSync(join(site.served.folder, AT), readFileSync(model ?? ''));
      const page = await site.open({ keeps: true });
      await chooseModel(page, 'VMAF v1 HD television');
      await start(page);
      await fetchIt(page).click();
      await done(page);
      const expected = await scoreInNode(videos, { models: [`path=${model}:name=vmaf_v1`], threads: 0 });
      const mean = (expected.pooled_metrics.vmaf_v1?.mean ?? 0).toFixed(2);
      const shown = page.locator('.score');
      await says(shown).toContain(mean);
      // The page's own files are cached too once files were chosen.
      await expect.poll(async () => (await kept(page)).some((url) => url.endsWith('.wasm'))).toBe(true);
      await expect.poll(async () => (await kept(page)).some((url) => url.startsWith('model/'))).toBe(true);
      await page.context().setOffline(true);
      await page.reload();
      await page.waitForSelector('.slot');
      await chooseModel(page, 'VMAF v1 HD television');
      await finish(page);
      await says(shown).toContain(mean);
    },
  );

  // The last test, as it stops the server.
  it('works offline after a first visit, scoring and views included, and states what does not', async () => {
    const { served } = site;
    served.asked.length = 0;
    const page = await site.open({ keeps: true });
    await page.evaluate(() => navigator.serviceWorker.ready);
    const needed = readdirSync(served.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(served.folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
      .filter((name) => /^(assets|model)\//.test(name) && !LARGE.test(name));
    // The first screen is cached first, then the rest, without choosing a file.
    await expect.poll(async () => (await kept(page)).includes('')).toBe(true);
    await expect.poll(() => kept(page)).toEqual(expect.arrayContaining(needed));
    await page.getByText('This page works offline.').waitFor();
    const note = page.locator('.offline-note');
    expect(await note.isVisible()).toBe(false);
    // A new build drops the cache of an older one, but not fetched models or caches of other folders.
    const early = await (await served.newContext()).newPage();
    await early.goto(`${served.url}licences.txt`);
    const others = ['anyvmaf-models', 'anyvmaf-page /another/folder/ 0123'];
    const old = 'anyvmaf-page /some/folder/ 0123';
    await early.evaluate((names) => Promise.all(names.map((name) => caches.open(name))), [...others, old]);
    await early.goto(served.url);
    const names = () => early.evaluate(() => caches.keys());
    await expect.poll(async () => (await names()).includes(old)).toBe(false);
    expect(await names()).toEqual(expect.arrayContaining(others));
    await early.context().close();
    await page.context().setOffline(true);
    await served.unplug();
    await page.reload();
    await page.waitForSelector('.slot');
    await says(note).toContain('ffmpeg.wasm for formats that the browser cannot');
    expect(await note.isVisible()).toBe(true);
    await choose(page, videos.reference, videos.distorted);
    await score(page);
    await page.locator('.moments:not([aria-busy]) button').first().click();
    await page.locator('dialog[open][data-frame]').waitFor();
    expect(served.asked.filter((path) => LARGE.test(path))).toEqual([]);
  });
});
