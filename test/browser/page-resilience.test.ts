/**
 * @module test/browser/page-resilience
 * What the page bears in Chromium: nothing moves by itself from the first screen to the last; Reload, Back, a crash, other tabs, a
 * full or denied storage and files that come at any time lose nothing; and it works, or says what to do, where a browser lacks
 * something.
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

/** Of windows; on a phone most stands below something else. */
const SIZES = tier(
  [[390, 844] as const],
  [[1440, 900] as const, [1280, 720] as const, [820, 1180] as const, [390, 844] as const],
);

const FORMAT = { width: 160, height: 90, bitDepth: 8, chroma: '420' } as const;

const onward = (page: Page) => page.getByRole('button', { name: 'Continue where you left off' });
const title = (page: Page) => says(page.locator('#result-heading'));

/** Accepts what a page asks before it is left. @returns what it asked so far */
function leaves(page: Page): string[] {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    dialog.accept();
  });
  return asked;
}

/** Whether the browser stores a session, as the page notes it. */
const isStored = (page: Page) => expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last')));

/** The sessions that the browser stores: which of the results of each were left out. */
const stored = (page: Page): Promise<boolean[][]> =>
  page.evaluate(async () => {
    // Opening it before the page does would make an empty one.
    if (localStorage.getItem('anyvmaf-last') !== '1') return [];
    const open = indexedDB.open('anyvmaf');
    await new Promise((resolve) => open.addEventListener('success', resolve));
    const all = open.result.transaction('sessions').objectStore('sessions').getAll();
    await new Promise((resolve) => all.addEventListener('success', resolve));
    open.result.close();
    return all.result.map(({ leftOut }) => leftOut);
  });

/** Pastes files into what has the focus. */
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

describe.skipIf(noChromium)(`the page bears much${noChromium}`, () => {
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
    `moves little by itself from the first screen to the last, %i x %i (${needsFfmpeg})`,
    async (width, height) => {
      const [reference, ...encodes] = [4, 20, 34].map((crf) =>
        encode({ codec: 'h264', size: '160x90', frames: 12, extra: ['-crf', String(crf)] }),
      );
      const page = await site.open({ width, height });
      leaves(page);
      await watchShifts(page);
      // One after the other, as by hand.
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
      await page.reload();
      await watchShifts(page);
      await onward(page).click();
      await settled(page);
      await shiftsLittle(page);
    },
  );

  it('loses no finished encode to Back and Reload in the middle of a run, of which the latter is asked for, to another tab at work, nor to its own being closed', async () => {
    const [page, other] = [await site.open({ hash: SLOW }), await site.open({ hash: SLOW })];
    const asked = leaves(page);
    await choose(other, videos.reference, videos.b);
    await choose(page, videos.slow, videos.slowly);
    // What is short of several ends first.
    await page.setInputFiles('#pick-distorted', videos.few);
    await checked(page);
    await score(other);
    await page.evaluate(() => {
      const timer = setInterval(() => {
        if (window.reports.length === 0) return;
        clearInterval(timer);
        const buttons = [...document.querySelectorAll<HTMLButtonElement>('.runner button')];
        buttons.find(({ textContent }) => textContent === 'Pause')?.click();
      }, 2);
    });
    await start(page);
    await page.locator('.figures').filter({ hasText: 'Paused' }).waitFor();
    await expect.poll(() => stored(page)).toEqual([[false], [false]]);
    // Back in mid-run takes nothing away.
    await page.goBack();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await page.locator('table.encodes tbody tr').count()).toBe(2);
    expect(asked).toEqual([]);
    await page.reload();
    expect(asked).toEqual(['beforeunload']);
    // Of this tab, not of the one that is open.
    await says(page.locator('.last')).toContain('1 encode of bears-slow.y4m');
    await onward(page).click();
    await title(page).toBe('bears-few.y4m');
    await title(other).toBe('bears-b.y4m');
    expect(await stored(page)).toEqual([[false], [false]]);
    // In another tab it is offered once its own is closed, not before.
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
    const crashed = Promise.all([page, next].map((one) => one.waitForEvent('crash')));
    for (const one of [page, next]) {
      const control = await page.context().newCDPSession(one);
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

  it('works with a full storage as without one, but for the offer', async () => {
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

  it('takes files that are pasted and dropped during a run, says so, and scores them after it', async () => {
    const page = await site.open();
    await choose(page, videos.reference, videos.a);
    await startPaused(page, pauseFirst);
    const encode = (frames: number) => y4mFile(short, 'distorted', frames);
    await paste(page, 'bears-pasted.y4m', encode(5));
    await drop(page, 'main', [write('bears-dropped.y4m', encode(6))]);
    const said = page.locator('.notice');
    await says(said).toBe('bears-pasted.y4m, bears-dropped.y4m will be added when the run ends.');
    // It was paused before the engine began.
    await page.waitForTimeout(300);
    expect(await page.locator('.figures').textContent()).toBe('PausedOpening the videos …');
    await page.getByRole('button', { name: 'Resume' }).click();
    await done(page);
    await expect
      .poll(() => page.locator('.slot-distorted .file-name').allTextContents())
      .toEqual(['bears-a.y4m', 'bears-pasted.y4m', 'bears-dropped.y4m']);
    expect(await said.isVisible()).toBe(false);
    await checked(page);
    await page.getByRole('button', { name: 'Score 2 new encodes' }).click();
    await done(page);
    await settled(page);
    expect(await page.locator('table.encodes tbody tr').count()).toBe(3);
    // With a frame open as well: the viewer stays, and the file is there when it is closed.
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

    it('is forgotten where an earlier version of the page stored it in another form', async () => {
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

    it('outlives a crash in the middle of a run, as far as encodes were finished', async () => {
      // A crash takes all tabs of a profile with it.
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

    it('is found again after a reload, which is asked for where nothing was saved, and after a saved report, with its videos once they are dropped', async () => {
      const files = [
        y4m('kept-whole.y4m', 'reference'),
        y4m('kept-a.y4m', 'distorted'),
        y4m('kept-b.y4m', 'distorted', { blur: 3, quantiser: 30 }),
      ] as const;
      const page = await site.open();
      const asked = leaves(page);
      await page.setInputFiles('#pick-distorted', files[1]);
      await page.reload();
      expect(asked).toEqual([]);
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
      expect(asked).toEqual(['beforeunload']);
      const go = onward(page);
      await go.waitFor();
      expect(await page.locator('.last').textContent()).toContain('2 encodes of kept-whole.y4m');
      expect(await violations(page)).toEqual([]);
      await go.click();
      await rows.nth(1).waitFor();
      // What was not saved by hand is offered, and may be left.
      await page.reload();
      expect(asked).toHaveLength(1);
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

      // A saved report takes the videos that are there; Back leads to what it took the place of.
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

    it('is found again with its files where the browser keeps their handles', async () => {
      const page = await site.open();
      leaves(page);
      const names = ['handle-ref.y4m', 'handle-a.y4m'] as const;
      const [reference, distorted] = (['reference', 'distorted'] as const).map((side, i) =>
        readFileSync(y4m(names[i] ?? '', side)).toString('base64'),
      );
      // The browser's own window cannot be worked here: files of its private folder have handles too.
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
      // What is set for it alone is kept, too.
      await page.getByRole('button', { name: 'Settings for handle-a.y4m only' }).click();
      await page.getByRole('dialog').getByLabel('Crop of the encode').fill('96:64:0:2');
      await page.getByRole('dialog').getByLabel('Crop of the reference').fill('96:64:0:2');
      await page.getByRole('button', { name: 'Done' }).click();
      const own = page.locator('.slot-distorted .own');
      await says(own).toContain('encode cropped to 96:64:0:2');
      const alone = await own.textContent();
      await checked(page);
      await score(page);
      const number = await page.locator('.score').textContent();
      await expect.poll(() => page.evaluate(() => localStorage.getItem('anyvmaf-last'))).toBe('1');
      await page.reload();
      await onward(page).click();
      await says(page.locator('.score')).toBe(number);
      await says(page.locator('.slot-distorted .file-name')).toBe('handle-a.y4m');
      await says(own).toBe(alone);
      await page.getByRole('button', { name: 'Score again' }).waitFor();
      await page.locator('.moments .shot canvas').first().waitFor();
    });
  });

  describe('where the browser lacks', () => {
    /** Takes something away from the page and its workers, before their own first line. */
    const LACKS = {
      WebCodecs: "for (const name of ['VideoDecoder', 'VideoFrame', 'EncodedVideoChunk']) delete self[name];",
      IndexedDB: 'Object.defineProperty(self, "indexedDB", { value: undefined, configurable: true });',
      'access to storage':
        'for (const name of ["localStorage", "indexedDB"]) Object.defineProperty(self, name, { get() { throw new ' +
        'DOMException("denied", "SecurityError"); }, configurable: true });',
      'navigator.locks': 'delete Object.getPrototypeOf(navigator).locks;',
      'handles of files':
        'delete self.showOpenFilePicker; delete self.FileSystemFileHandle; delete Object.getPrototypeOf(navigator).storage; ' +
        'if (self.DataTransferItem) delete DataTransferItem.prototype.getAsFileSystemHandle;',
      OffscreenCanvas: 'delete self.OffscreenCanvas;',
      WebGPU: 'delete Object.getPrototypeOf(navigator).gpu;',
      caches:
        'for (let at = self; at; at = Object.getPrototypeOf(at)) if (Object.hasOwn(at, "caches")) delete at.caches;',
      'threads that share memory, and messages between tabs':
        'for (const name of ["SharedArrayBuffer", "BroadcastChannel"]) delete self[name];',
      'what Chromium alone tells':
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

    it.skipIf(!hasFfmpeg)(
      `WebCodecs, it says so, and ffmpeg.wasm or a conversion will do (${needsFfmpeg})`,
      async () => {
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
      },
    );

    it('all that a page over plain http: is not given, Y4M is scored, and the link is left in the address', async () => {
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

    it.each(
      tier(
        ['IndexedDB' as const],
        [
          ...(['IndexedDB', 'access to storage', 'navigator.locks'] as const),
          ...(['handles of files', 'OffscreenCanvas', 'WebGPU', 'caches'] as const),
          ...(['threads that share memory, and messages between tabs', 'what Chromium alone tells'] as const),
        ],
      ),
    )('%s, everything else works', async (what) => {
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
