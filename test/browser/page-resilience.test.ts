/**
 * @module test/browser/page-resilience
 * Resilience of the page in Chromium: no layout shifts; no loss by Reload, Back, crashes, other tabs, full or denied storage, or
 * files added at any time; and it works, or explains what to do, if the browser lacks a feature.
 */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample, type SampleDistortion } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { encode, hasFfmpeg, needsFfmpeg } from '../support/encode.js';
import { violations } from '../support/looks.js';
import {
  allShown,
  checked,
  choose,
  done,
  drop,
  leave,
  openWorst,
  pages,
  pauseFirst,
  SLOW,
  saved,
  says,
  score,
  settled,
  shiftsLittle,
  start,
  startPaused,
  watchShifts,
  write,
} from '../support/page.js';
import { exhaustive, tier } from '../support/tier.js';

/** Window sizes; phones stack most elements, so they shift most. */
const SIZES = tier(
  [[390, 844] as const],
  [[1440, 900] as const, [1280, 720] as const, [820, 1180] as const, [390, 844] as const],
);

const FORMAT = { width: 160, height: 90, bitDepth: 8, chroma: '420' } as const;

const onward = (page: Page) => page.getByRole('button', { name: 'Continue where you left off' });
const title = (page: Page) => says(page.locator('#result-heading'));

/** Accepts dialogs on leaving a page. @returns their types so far */
function leaves(page: Page): string[] {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    dialog.accept();
  });
  return dialogs;
}

/** Crops both sides of one encode. @returns where its own settings are listed, and their text */
async function cropped(page: Page, name: string) {
  await page.getByRole('button', { name: `Settings for ${name} only` }).click();
  for (const side of ['encode', 'reference'])
    await page.getByRole('dialog').getByLabel(`Crop of the ${side}`).fill('96:64:0:2');
  await page.getByRole('button', { name: 'Done' }).click();
  const own = page.locator('.slot-distorted .own');
  await says(own).toContain('encode cropped to 96:64:0:2');
  return { own, settings: await own.textContent() };
}

/** Polls the page's mark of a stored session. */
const isStored = (page: Page) => expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last')));

/** The stored sessions as JSON; runs in the page. */
async function storedSessions(): Promise<string> {
  // Opening it before the page does would create an empty one.
  if (localStorage.getItem('anyvmaf-last') !== '1') return '[]';
  const open = indexedDB.open('anyvmaf');
  await new Promise((resolve) => open.addEventListener('success', resolve));
  const all = open.result.transaction('sessions').objectStore('sessions').getAll();
  await new Promise((resolve) => all.addEventListener('success', resolve));
  open.result.close();
  return JSON.stringify(all.result);
}

/** For each stored session, which results were left out. */
async function stored(page: Page): Promise<boolean[][]> {
  const sessions: { leftOut: boolean[] }[] = JSON.parse(await page.evaluate(storedSessions));
  return sessions.map(({ leftOut }) => leftOut);
}

/** Pastes a file into the focused element. */
async function paste(page: Page, path: string, bytes: Uint8Array): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  await page.evaluate(
    ([name, base64]) => {
      const clipboardData = new DataTransfer();
      const file = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      clipboardData.items.add(new File([file], name));
      const target = document.activeElement ?? document.body;
      target.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }));
    },
    [name, Buffer.from(bytes).toString('base64')] as const,
  );
}

describe.skipIf(noChromium)(`resilience of the page${noChromium}`, () => {
  const site = pages({ kept: false });
  const short = makeSample(FORMAT, { seed: 4, cut: 20 });
  const long = makeSample({ ...FORMAT, width: 320, height: 180 }, { seed: 5 });
  const videos = { reference: '', a: '', b: '', slow: '', slowly: '', few: '' };
  const bytes = y4mFile(short, 'distorted', 8);

  beforeAll(() => {
    videos.reference = write('bears-ref.y4m', y4mFile(short, 'reference', 8));
    videos.a = write('bears-a.y4m', bytes);
    videos.b = write('bears-b.y4m', bytes);
    videos.slow = write('bears-slow.y4m', y4mFile(long, 'reference', 80));
    videos.slowly = write('bears-slowly.y4m', y4mFile(long, 'distorted', 80));
    videos.few = write('bears-few.y4m', y4mFile(long, 'distorted', 4));
  });

  it.skipIf(!hasFfmpeg).each(SIZES)(
    `has hardly any layout shifts from the first screen to the last, and restores series, %i x %i (${needsFfmpeg})`,
    async (width, height) => {
      const [reference, ...encodes] = [4, 20, 34].map((crf) =>
        encode({ codec: 'h264', size: '160x90', frames: 12, extra: ['-crf', String(crf)] }),
      );
      const page = await site.open({ width, height });
      leaves(page);
      await watchShifts(page);
      // In turn, as users do.
      await page.setInputFiles('#pick-reference', reference ?? '');
      await page.locator('.slot-reference .file-thumb canvas:not([hidden])').waitFor();
      await page.setInputFiles('#pick-distorted', encodes);
      await checked(page);
      await score(page);
      await page.locator('.moments .shot canvas').nth(5).waitFor();
      for (const fold of await page.locator('#results summary:visible').all()) await fold.click();
      await page.locator('.moments button').first().click();
      await page.locator('dialog[open][data-frame]:not([data-busy])').waitFor();
      for (const key of ['2', '3', '4', '5', '1', 'h', 'e']) await page.keyboard.press(key);
      await page.locator('dialog[open][data-encode="1"][data-frame]:not([data-busy])').waitFor();
      await leave(page, () => page.goBack());
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.locator('.setup').waitFor();
      await isStored(page).toBe('1');
      await shiftsLittle(page);
      await page.getByText('Settings', { exact: true }).click();
      await page.getByLabel('PSNR luma').check();
      await score(page);
      await shiftsLittle(page);
      const rates = page.locator('section:has(> .bar #rates-heading)');
      // Unfolded above, it stays open for other results.
      const series = rates.locator('.series li:not(.fresh) input').first();
      await series.fill('mine');
      await series.press('Enter');
      await rates.getByLabel('Quality by').selectOption('psnr_y');
      // It is stored a little later.
      await expect.poll(() => page.evaluate(storedSessions)).toMatch(/"mine".*"psnr_y"/);
      await page.reload();
      await watchShifts(page);
      await onward(page).click();
      await settled(page);
      await shiftsLittle(page);
      await says(rates.locator('#rates-heading')).toBe('PSNR over bit rate');
      await rates.getByText('Series', { exact: true }).click();
      await expect.poll(() => series.inputValue()).toBe('mine');
    },
  );

  it('keeps finished encodes through Back and a confirmed Reload during a run, beside another tab, and when its tab is closed', async () => {
    const [page, other] = [await site.open({ hash: SLOW }), await site.open({ hash: SLOW })];
    const dialogs = leaves(page);
    await choose(other, videos.reference, videos.b);
    await choose(page, videos.slow, videos.slowly);
    // The shorter encode ends first.
    await page.setInputFiles('#pick-distorted', videos.few);
    await checked(page);
    await score(other);
    await page.evaluate(() => {
      const timer = setInterval(() => {
        if (window.reports.length === 0) return;
        clearInterval(timer);
        window.press('Pause');
      }, 2);
    });
    await start(page);
    await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
    await expect.poll(() => stored(page)).toEqual([[false], [false]]);
    // Back during a run removes nothing.
    await page.goBack();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await page.locator('table.encodes tbody tr').count()).toBe(2);
    expect(dialogs).toEqual([]);
    await page.reload();
    expect(dialogs).toEqual(['beforeunload']);
    // The session of this tab, not of the open one.
    await says(page.locator('.last')).toContain('1 encode of bears-slow.y4m');
    await onward(page).click();
    await title(page).toBe('bears-few.y4m');
    await title(other).toBe('bears-b.y4m');
    expect(await stored(page)).toEqual([[false], [false]]);
    // Another tab offers it only once its own tab is closed.
    const next = await site.open();
    expect(await onward(next).count()).toBe(0);
    await page.close();
    await next.reload();
    await says(next.locator('.last')).toContain('1 encode');
    await onward(next).click();
    await title(next).toBe('bears-few.y4m');
    await title(other).toBe('bears-b.y4m');
  });

  it.runIf(exhaustive)('offers the sessions of two tabs that crashed one after the other', async () => {
    const page = await site.open({ keeps: true });
    const next = await page.context().newPage();
    await next.goto(site.served.url);
    await choose(page, videos.reference, videos.a);
    await score(page);
    await choose(next, videos.reference, videos.b);
    await score(next);
    await expect.poll(() => stored(next)).toEqual([[false], [false]]);
    const crashed = Promise.all([page, next].map((tab) => tab.waitForEvent('crash')));
    for (const tab of [page, next]) {
      const control = await page.context().newCDPSession(tab);
      control.send('Page.crash').catch(() => {});
    }
    await crashed;
    for (const name of ['bears-b.y4m', 'bears-a.y4m']) {
      const again = await page.context().newPage();
      await again.goto(site.served.url);
      await onward(again).click();
      await title(again).toBe(name);
    }
  });

  it('stores a session apart that another tab continued first', async () => {
    const page = await site.open();
    await choose(page, videos.reference, videos.a);
    await score(page);
    await expect.poll(() => stored(page)).toEqual([[false]]);
    const tabs = await Promise.all([page.context().newPage(), page.context().newPage()]);
    await page.close();
    for (const tab of tabs) await tab.goto(site.served.url);
    for (const tab of tabs) await onward(tab).waitFor();
    for (const tab of tabs) {
      await onward(tab).click();
      await title(tab).toBe('bears-a.y4m');
    }
    await expect.poll(() => stored(tabs[0])).toEqual([[false], [false]]);
    for (const tab of tabs) await tab.close();
  });

  it('works with full storage, but offers no session', async () => {
    const page = await site.open({ keeps: true });
    leaves(page);
    const control = await page.context().newCDPSession(page);
    const { origin } = new URL(page.url());
    await control.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    await choose(page, videos.reference, videos.a);
    await score(page);
    await openWorst(page);
    await page.waitForTimeout(600);
    await isStored(page).toBe(null);
    await page.reload();
    await page.waitForSelector('.slot');
    expect(await page.locator('.last').isVisible()).toBe(false);
  });

  it('queues files that are pasted and dropped during a run, with a message, and scores them after it', async () => {
    const page = await site.open();
    await choose(page, videos.reference, videos.a);
    await startPaused(page, pauseFirst);
    const encode = (frames: number) => y4mFile(short, 'distorted', frames);
    await paste(page, 'bears-pasted.y4m', encode(5));
    await drop(page, 'main', [write('bears-dropped.y4m', encode(6))]);
    const notice = page.locator('.notice');
    await says(notice).toBe('bears-pasted.y4m, bears-dropped.y4m will be added when the run ends.');
    // It was paused before the engine started.
    await page.waitForTimeout(300);
    expect(await page.locator('.figures').textContent()).toBe('PausedOpening the videos …');
    await page.getByRole('button', { name: 'Resume' }).click();
    await done(page);
    await expect
      .poll(() => page.locator('.slot-distorted .file-name').allTextContents())
      .toEqual(['bears-a.y4m', 'bears-pasted.y4m', 'bears-dropped.y4m']);
    expect(await notice.isVisible()).toBe(false);
    await checked(page);
    await page.getByRole('button', { name: 'Score 2 new encodes' }).click();
    await allShown(page);
    expect(await page.locator('table.encodes tbody tr').count()).toBe(3);
    // Also with a frame open: the viewer stays, and the file is added.
    await openWorst(page);
    await paste(page, 'bears-late.y4m', encode(4));
    await page
      .locator('.slot-distorted .file-name', { hasText: 'bears-late.y4m' })
      .waitFor({ state: 'attached' });
    expect(await page.locator('dialog[open][data-frame]').count()).toBe(1);
  });

  describe('the result', () => {
    const y4m = (name: string, side: 'reference' | 'distorted', distortion?: SampleDistortion) =>
      write(
        name,
        y4mFile(makeSample(FORMAT, { seed: 9, cut: 20, ...(distortion && { distortion }) }), side, 12),
      );

    it('is dropped if an earlier version of the page stored it in another form', async () => {
      const page = await site.open();
      await page.evaluate(async () => {
        indexedDB.deleteDatabase('anyvmaf');
        const open = indexedDB.open('anyvmaf', 1);
        open.onupgradeneeded = () => {
          const sessions = open.result.createObjectStore('sessions', { keyPath: 'id' });
          sessions.put({ id: 'old', when: 0, distorted: [], results: ['old 0'] });
          open.result.createObjectStore('results');
        };
        await new Promise((resolve) => open.addEventListener('success', resolve));
        open.result.close();
        localStorage.setItem('anyvmaf-last', '1');
      });
      await page.reload();
      await expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last'))).toBe(null);
      expect(await page.locator('.last').count()).toBe(0);
    });

    it('of finished encodes survives a crash during a run', async () => {
      // A crash kills all tabs of a profile.
      const page = await site.open({ hash: SLOW, keeps: true });
      await choose(page, videos.slow, videos.few);
      await score(page);
      await expect.poll(() => stored(page)).toEqual([[false]]);
      await page.setInputFiles('#pick-distorted', videos.slowly);
      await startPaused(page, pauseFirst);
      const control = await page.context().newCDPSession(page);
      const gone = page.waitForEvent('crash');
      control.send('Page.crash').catch(() => {});
      await gone;
      const next = await page.context().newPage();
      await next.goto(site.served.url);
      await says(next.locator('.last')).toContain('1 encode of bears-slow.y4m');
      await onward(next).click();
      await title(next).toBe('bears-few.y4m');
    });

    it('is restored after a reload, which asks if nothing was saved, and after a saved report; dropping the videos attaches them', async () => {
      const files = [
        y4m('kept-whole.y4m', 'reference'),
        y4m('kept-a.y4m', 'distorted'),
        y4m('kept-b.y4m', 'distorted', { blur: 3, quantiser: 30 }),
      ] as const;
      const page = await site.open();
      const dialogs = leaves(page);
      await page.setInputFiles('#pick-distorted', files[1]);
      await page.reload();
      expect(dialogs).toEqual([]);
      await choose(page, ...files);
      await page.getByText('Settings', { exact: true }).click();
      await page.getByLabel('PSNR luma').check();
      await checked(page);
      await score(page);
      const rows = page.locator('table.encodes tbody tr');
      const numbers = () => rows.locator('td').allTextContents();
      const whole = await numbers();
      const box = rows.nth(1).getByRole('checkbox');
      await box.uncheck();
      const before = await numbers();
      await expect.poll(() => stored(page)).toEqual([[false, true]]);

      await rows.nth(1).getByRole('button').click();
      await page.locator('dialog[open]').waitFor();
      await page.reload();
      expect(dialogs).toEqual(['beforeunload']);
      const go = onward(page);
      await go.waitFor();
      expect(await page.locator('.last').textContent()).toContain('2 encodes of kept-whole.y4m');
      expect(await violations(page)).toEqual([]);
      await go.click();
      await rows.nth(1).waitFor();
      // A restored session can be left without a dialog.
      await page.reload();
      expect(dialogs).toHaveLength(1);
      await go.click();
      await rows.nth(1).waitFor();
      await expect.poll(numbers).toEqual(before);
      expect(await box.isChecked()).toBe(false);
      await box.check();
      await says(page.locator('.headline .origin')).toBe('Drop the videos on this page to see frames.');
      await drop(page, 'main', [files[1], files[0], files[2]]);
      await says(page.locator('.notice')).toBe('2 results have their videos again.');
      await checked(page);
      // Nothing is left to score.
      await page.getByRole('button', { name: 'Score again' }).waitFor();
      expect(await page.locator('.outdated').count()).toBe(0);
      await rows.nth(1).getByRole('button').click();
      await page.locator('dialog[open][data-frame]').waitFor();
      // Both encodes in the grid.
      await page.keyboard.press('6');
      await page.locator('dialog[data-further="0"]:not([data-busy]) .frames-third canvas').waitFor();
      await leave(page);

      // A saved report gets the chosen videos; Back restores the results that it replaced.
      const json = await saved(page, 'Download JSON');
      await page.setInputFiles('#pick-reports', write('kept.json', json.text));
      await title(page).toBe('kept-a.y4m');
      await page.locator('.moments .shot canvas').first().waitFor();
      await openWorst(page);
      await leave(page, () => page.goBack());
      await title(page).toBe('kept-a.y4m');
      await page.goBack();
      await title(page).toBe('2 encodes of kept-whole.y4m');
      await expect.poll(numbers).toEqual(whole);
    });

    it('gives encodes their own settings back when their videos are dropped again', async () => {
      const files = [y4m('own-whole.y4m', 'reference'), y4m('own-a.y4m', 'distorted')] as const;
      const page = await site.open();
      leaves(page);
      await choose(page, ...files);
      const { own, settings } = await cropped(page, 'own-a.y4m');
      await checked(page);
      await score(page);
      await expect.poll(() => stored(page)).toEqual([[false]]);
      await page.reload();
      await onward(page).click();
      await title(page).toBe('own-a.y4m');
      await drop(page, 'main', files);
      await says(own).toBe(settings);
      await page.getByRole('button', { name: 'Score again' }).waitFor();
      expect(await page.locator('.outdated').count()).toBe(0);
    });

    it('is restored with its files if the browser has their handles', async () => {
      const page = await site.open();
      leaves(page);
      const names = ['handle-ref.y4m', 'handle-a.y4m'] as const;
      const [reference, distorted] = (['reference', 'distorted'] as const).map((side, i) =>
        readFileSync(y4m(names[i] ?? '', side)).toString('base64'),
      );
      // Tests cannot operate the browser's picker; files of the private file system have handles too.
      await page.evaluate(
        async ([names, contents]) => {
          const folder = await navigator.storage.getDirectory();
          const handles: FileSystemFileHandle[] = [];
          for (const [i, name] of names.entries()) {
            const handle = await folder.getFileHandle(name, { create: true });
            const file = await handle.createWritable();
            await file.write(Uint8Array.from(atob(contents[i] ?? ''), (letter) => letter.charCodeAt(0)));
            await file.close();
            handles.push(handle);
          }
          Object.assign(window, { showOpenFilePicker: async () => handles.splice(0, 1) });
        },
        [names, [reference, distorted]] as const,
      );
      for (const side of ['reference', 'distorted']) await page.locator(`.slot-${side} .pick`).click();
      await page.locator('.slot-distorted .file-name').waitFor();
      await checked(page);
      // Its own settings are stored too.
      const { own, settings } = await cropped(page, 'handle-a.y4m');
      await checked(page);
      await score(page);
      const number = await page.locator('.score').textContent();
      await expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last'))).toBe('1');
      await page.reload();
      await onward(page).click();
      await says(page.locator('.score')).toBe(number);
      await says(page.locator('.slot-distorted .file-name')).toBe('handle-a.y4m');
      await says(own).toBe(settings);
      await page.getByRole('button', { name: 'Score again' }).waitFor();
      await page.locator('.moments .shot canvas').first().waitFor();
    });
  });

  describe('without', () => {
    /** Scripts that remove a feature from the page and its workers, before their first line. */
    const LACKS = {
      WebCodecs: "for (const name of ['VideoDecoder', 'VideoFrame', 'EncodedVideoChunk']) delete self[name];",
      IndexedDB: 'Object.defineProperty(self, "indexedDB", { value: undefined, configurable: true });',
      'access to storage':
        'for (const name of ["localStorage", "indexedDB"]) Object.defineProperty(self, name, { get() { throw new ' +
        'DOMException("denied", "SecurityError"); }, configurable: true });',
      'navigator.locks': 'delete Object.getPrototypeOf(navigator).locks;',
      'file handles':
        'delete self.showOpenFilePicker; delete self.FileSystemFileHandle; delete Object.getPrototypeOf(navigator).storage; ' +
        'if (self.DataTransferItem) delete DataTransferItem.prototype.getAsFileSystemHandle;',
      OffscreenCanvas: 'delete self.OffscreenCanvas;',
      WebGPU: 'delete Object.getPrototypeOf(navigator).gpu;',
      caches:
        'for (let at = self; at; at = Object.getPrototypeOf(at)) if (Object.hasOwn(at, "caches")) delete at.caches;',
      'SharedArrayBuffer and BroadcastChannel':
        'for (const name of ["SharedArrayBuffer", "BroadcastChannel"]) delete self[name];',
      'APIs of Chromium only':
        'for (const name of ["deviceMemory", "connection", "hardwareConcurrency", "userAgentData"]) ' +
        'delete Object.getPrototypeOf(navigator)[name]; delete self.requestIdleCallback; delete self.scheduler; ' +
        'if (self.performance) delete Object.getPrototypeOf(performance).memory;',
    } as const;

    const lacking = (what: keyof typeof LACKS) =>
      site.open({
        before: (page) =>
          page.route(/\.js$/, async (route) => {
            const response = await route.fetch();
            await route.fulfill({ response, body: `{${LACKS[what]}}\n${await response.text()}` });
          }),
      });

    it.skipIf(!hasFfmpeg)(`WebCodecs, it says so, and offers ffmpeg.wasm (${needsFfmpeg})`, async () => {
      const video = encode({ codec: 'h264', size: '160x90', frames: 12, extra: ['-crf', '20'] });
      const page = await lacking('WebCodecs');
      await page.setInputFiles('#pick-reference', video);
      await page.setInputFiles('#pick-distorted', video);
      const failure = page.locator('#findings .failure');
      await says(failure).toContain('This browser cannot decode the video');
      const text = (await failure.textContent()) ?? '';
      expect(text).toContain('this browser has no WebCodecs');
      expect(text).not.toContain('install');
      const load = failure.getByRole('button', { name: /^Load ffmpeg\.wasm/ });
      await load.waitFor();
      if (!exhaustive) return;
      await load.click();
      await failure.waitFor({ state: 'detached' });
      await checked(page);
      await score(page);
    });

    it('a secure context (plain http:), it scores Y4M and leaves the link in the address bar', async () => {
      const page = await site.open();
      leaves(page);
      const plain = 'http://plain.test/';
      await page.route(`${plain}**`, async (route) => {
        const url = route.request().url().replace(plain, site.served.url);
        await route.fulfill({ response: await route.fetch({ url }) });
      });
      await page.goto(plain);
      expect(await page.evaluate(() => [isSecureContext, 'VideoDecoder' in window])).toEqual([false, false]);
      await choose(page, videos.reference, videos.a);
      await score(page);
      await openWorst(page);
      await leave(page);
      const link = page.getByRole('button', { name: 'Copy link' });
      await link.click();
      await says(link).toContain('copy the link from the address bar');
      expect(new URL(page.url()).hash).not.toBe('#');
    });

    const others = (Object.keys(LACKS) as (keyof typeof LACKS)[]).filter((what) => what !== 'WebCodecs');
    it.each(tier(['IndexedDB'] as const, others))('%s, everything else works', async (what) => {
      const page = await lacking(what);
      leaves(page);
      const [reference, distorted] = hasFfmpeg
        ? [8, 30].map((crf) =>
            encode({ codec: 'h264', size: '160x90', frames: 12, extra: ['-crf', String(crf)] }),
          )
        : [videos.reference, videos.a];
      await choose(page, reference ?? '', distorted ?? '');
      await score(page);
      await page.locator('.moments .shot canvas').nth(2).waitFor();
      await openWorst(page);
      await page.keyboard.press('4');
      await page.locator('dialog[data-made^="difference "]').waitFor();
      await page.waitForTimeout(400);
      await page.reload();
      await page.waitForSelector('.slot');
      await expect.poll(() => onward(page).count()).toBe(/Indexed|storage/.test(what) ? 0 : 1);
    });
  });
});
