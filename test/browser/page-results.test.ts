/**
 * @module test/browser/page-results
 * The page's results in headless Chromium: opening and saving reports and ladders, the chart by pointer and keyboard, comparing
 * two encodes, untrusted scores, printing; videos from links, and the HTML report.
 */

import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { decode as decodePng } from 'fast-png';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { y4mHeader } from '../../src/core/frame.js';
import { formatEncodingResult } from '../../src/index.js';
import { buildReport } from '../../src/report/build.js';
import type { Report } from '../../src/report/schema.js';
import { formatReport } from '../../src/report/write.js';
import { y4mFrame } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium } from '../support/chromium.js';
import { violations } from '../support/looks.js';
import {
  allShown,
  choose,
  download,
  drag,
  follow,
  leave,
  openWorst,
  pages,
  SLOW,
  saved,
  says,
  score,
  settled,
  startPaused,
  type View,
  write,
} from '../support/page.js';
import { LADDER } from '../support/report.js';
import {
  chart,
  fileOf,
  made,
  meanOf,
  middle,
  openReports,
  replaceReports,
  scores,
  slider,
} from '../support/saved-reports.js';

/** A report of 500 frames. */
const of500 = (name: string, level: number, parts: Parameters<typeof made>[2] = {}) =>
  made(name, scores(level, 500), parts);

/** A report of 20 seconds at a bit rate. */
function sized(name: string, level: number, kilobits: number): Report {
  const { distorted } = of500(name, level);
  return of500(name, level, { distorted: { ...distorted, fileSize: kilobits * 2500 } });
}

/** An encode that lacks the first frames of `high.mp4`, which the run skipped. */
function late(skipped: number): Report {
  const whole = of500('high.mp4', 90);
  const frames = whole.frames.slice(skipped).map(({ metrics }, frameNum) => ({ frameNum, metrics }));
  return {
    ...whole,
    frames,
    frameCount: frames.length,
    reference: { ...whole.reference, skipped },
    distorted: { ...whole.distorted, name: 'late.mp4' },
  };
}

describe.skipIf(noChromium)(`results in the page${noChromium}`, () => {
  const site = pages();
  const high = of500('high.mp4', 90);
  const low = of500('low.mp4', 60);

  const opened = (reports: readonly Report[], view?: View) => openReports(site, reports, view);
  const readOut = (page: Page) => slider(page).getAttribute('aria-valuetext');
  const all = (page: Page) => page.getByRole('button', { name: 'All', exact: true });

  describe('of one encode', () => {
    let page: Page;
    beforeAll(async () => {
      page = await opened([high], { stays: true });
    });

    it('show its score, its meaning and its worst moments', async () => {
      await says(page.locator('.score')).toContain(meanOf(high).toFixed(2));
      await says(page.locator('.answer .pill')).toBe('good');
      await says(page.locator('.tiles')).toContain((high.distribution.vmaf?.percentiles.p1 ?? 0).toFixed(2));
      await says(page.locator('.finding')).toContain('Levels differ.');
      // The dip at 200, listed once, and the single frame at 400.
      const moments = await page.locator('.moments .when').allTextContents();
      expect(moments.slice(0, 2)).toEqual(['0:08.00frame 200', '0:16.00frame 400']);
      await says(page.locator('.moments button').first()).toMatch(/VIF|ADM/);
    });

    it('are zoomed by drag and wheel, and read out under the pointer', async () => {
      const { x, y, width } = await middle(page);
      const tip = () => chart(page).locator('.tip').textContent();
      await page.mouse.move(x, y);
      // The middle of 0 to 499 is between two frames.
      await expect.poll(tip).toMatch(/frame (249|250) /);
      await drag(page, [x - width / 4, y], [x, y], 6);
      await expect.poll(() => all(page).isDisabled()).toBe(false);
      // Zoomed to the second quarter, the middle is at three eighths, once the chart is redrawn and the pointer moves.
      let moves = 0;
      const moved = async () => {
        await page.mouse.move(x, y + (moves++ % 2));
        return tip();
      };
      await expect.poll(moved).toMatch(/frame 18[678] /);
      await all(page).click();
      await page.mouse.move(x, y);
      await page.mouse.wheel(0, -120);
      await expect.poll(() => all(page).isDisabled()).toBe(false);
      for (let i = 0; i < 4; i++) await page.mouse.wheel(0, 240);
      await expect.poll(() => all(page).isDisabled()).toBe(true);
    });

    it('are read out at the chart’s current size, before it is redrawn', async () => {
      await middle(page);
      const read = await page.evaluate(() => {
        const plot = document.querySelector<HTMLElement>('.plot.large');
        const marks = plot?.querySelector('.marks');
        if (!plot || !marks) throw new Error('there is no chart');
        plot.style.width = '300px';
        const { left, width, top } = marks.getBoundingClientRect();
        plot.dispatchEvent(new PointerEvent('pointermove', { clientX: left + width / 2, clientY: top + 9 }));
        plot.style.width = '';
        return Number(plot.closest('.slider')?.getAttribute('aria-valuenow'));
      });
      expect(Math.abs(read - 249.5)).toBeLessThan(1);
    });

    it('have a table of every frame, and features on demand in the large chart', async () => {
      await page.getByText('All frames as a table').click();
      await page.getByLabel('Go to frame').fill('200');
      await page.getByLabel('Go to frame').press('Enter');
      const row = page.locator('.data tbody tr').first();
      await says(row.locator('th')).toBe('200');
      await says(row).toContain((high.frames[200]?.metrics.vmaf ?? 0).toFixed(4));
      await page.locator('.inner > summary').click();
      await page.getByTitle('Show integer_adm2 in the large chart').click();
      await expect.poll(() => slider(page).getAttribute('aria-label')).toBe('integer_adm2 of every frame');
      await page.getByLabel('Metric').selectOption('vmaf');
      await expect.poll(() => slider(page).getAttribute('aria-label')).toBe('VMAF of every frame');
    });

    it('stay on show when a broken file is opened, with a message where it breaks', async () => {
      await page.setInputFiles(
        '#pick-reports',
        write('broken.json', formatReport(low, 'json').slice(0, 5000)),
      );
      const alert = page.getByRole('alert');
      await alert.filter({ hasText: 'broken.json, line' }).waitFor();
      await says(page.locator('#result-heading')).toBe('high.mp4');
      await page.setInputFiles('#pick-reports', write('letter.txt', 'Dear reader'));
      await alert.filter({ hasText: 'letter.txt, line 1, column 1: expected a report' }).waitFor();
    });
  });

  /** Moves the chart away from under a resting pointer, and back. @returns whether the browser fired `pointerleave` */
  const pushAway = (page: Page) =>
    page.evaluate(() => {
      const plot = document.querySelector('.plot.large');
      const card = plot?.closest('section');
      if (!plot || !card) throw new Error('there is no chart');
      return new Promise<boolean>((resolve) => {
        let moves = 0;
        // Repeated, as a busy browser misses some changes.
        const moving = setInterval(() => {
          card.style.marginTop = `${900 + moves++}px`;
          if (moves > 200) end(false);
        }, 100);
        const end = (is: boolean) => {
          clearInterval(moving);
          card.style.marginTop = '';
          resolve(is);
        };
        plot.addEventListener('pointerleave', () => end(true), { once: true });
      });
    });

  it('keeps the frame chosen by keys while the page moves under a resting pointer', async () => {
    const page = await opened([high]);
    const { x, y } = await middle(page);
    await page.mouse.move(x, y);
    await expect.poll(() => readOut(page)).toMatch(/^frame (249|250) /);
    await slider(page).focus();
    await page.keyboard.press('Home');
    await expect(pushAway(page)).resolves.toBe(true);
    expect(await readOut(page)).toMatch(/^frame 0 /);
    await page.mouse.move(x + 1, y);
    await expect.poll(() => readOut(page)).toMatch(/^frame 2[45]\d /);
    // Likewise if the pointer rested there before there was a chart.
    const fresh = await site.open();
    await fresh.mouse.move(x, y);
    await fresh.setInputFiles('#pick-reports', fileOf(high));
    await settled(fresh);
    await slider(fresh).focus();
    await fresh.keyboard.press('Home');
    await expect(pushAway(fresh)).resolves.toBe(true);
    expect(await readOut(fresh)).toMatch(/^frame 0 /);
  });

  describe('of two encodes', () => {
    let page: Page;
    beforeAll(async () => {
      page = await opened([high, low], { stays: true });
    });

    it('are saved byte for byte as opened, and as an HTML report', async () => {
      for (const format of ['json', 'csv', 'xml', 'sub', 'ndjson'] as const) {
        const file = await saved(page, `Download ${format.toUpperCase()}`);
        expect(file).toEqual({ name: `high.vmaf.${format}`, text: formatReport(high, format) });
      }
      const html = await saved(page, 'HTML report');
      expect(html.name).toBe('comparison.vmaf.html');
      expect(html.text).toContain('2 encodes of master.mov');
    });

    it('are read out, moved and zoomed by keys in the chart', async () => {
      await slider(page).focus();
      await page.keyboard.press('Home');
      const value = (report: Report, frame: number) => (report.frames[frame]?.metrics.vmaf ?? 0).toFixed(2);
      await expect
        .poll(() => readOut(page))
        .toBe(`frame 0 · 0:00.00, high.mp4 ${value(high, 0)}, low.mp4 ${value(low, 0)}`);
      await page.keyboard.press('Shift+ArrowRight');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowDown');
      await expect
        .poll(() => readOut(page))
        .toBe(`frame 9 · 0:00.36, low.mp4 ${value(low, 9)}, high.mp4 ${value(high, 9)}`);
      await page.keyboard.press('End');
      await expect.poll(() => slider(page).getAttribute('aria-valuenow')).toBe('499');
      await expect.poll(() => all(page).isDisabled()).toBe(true);
      await page.keyboard.press('+');
      await expect.poll(() => all(page).isDisabled()).toBe(false);
      await page.keyboard.press('0');
      await expect.poll(() => all(page).isDisabled()).toBe(true);
    });

    it('move with their window on the map, and then show the statistics of the visible span', async () => {
      await slider(page).focus();
      await page.keyboard.press('Home');
      for (let i = 0; i < 3; i++) await page.keyboard.press('+');
      const map = page.locator('.plot.map');
      const spans = new Set<string>();
      for (const right of [0, 900, 400]) {
        await chart(page).hover();
        await page.mouse.wheel(right, 0);
        // An eighth of all.
        const shares = () =>
          map.locator('.window').evaluate((window) => {
            const { left, width } = window.getBoundingClientRect();
            const all = window.parentElement?.getBoundingClientRect() ?? new DOMRect();
            return [(left - all.left) / all.width, width / all.width];
          });
        await expect.poll(async () => ((await shares())[1] ?? 0) * 8).toBeCloseTo(1, 1);
        const table = page.locator('.span-statistics');
        const isRight = async () => {
          const [from = 0] = await shares();
          const heading = (await table.locator('h3').textContent()) ?? '';
          const [first = -9, last = -9] = [...heading.matchAll(/frame (\d+)/g)].map(([, frame]) =>
            Number(frame),
          );
          const near = Math.abs(first - 499 * from) < 2 && Math.abs(last - 499 * (from + 1 / 8)) < 2;
          const lowest = [high, low].map(({ frames }) =>
            Math.min(...frames.slice(first, last + 1).map(({ metrics }) => metrics.vmaf ?? 0)).toFixed(2),
          );
          const column = await table.locator('tbody td[data-label]:nth-of-type(4)').allTextContents();
          spans.add(heading);
          return near && column.join() === lowest.join();
        };
        await expect.poll(isRight).toBe(true);
      }
      expect(spans.size).toBeGreaterThan(2);
      await page.keyboard.press('0');
      await expect.poll(() => page.locator('.span-statistics').isVisible()).toBe(false);
    });

    it('have the worst 5 % of a span at the high end if less is better', async () => {
      const banded = buildReport({
        ...high,
        models: [],
        frameNumbers: high.frames.map(({ frameNum }) => frameNum),
        series: [{ name: 'cambi', values: Float64Array.from(high.frames, (_, i) => i / 10) }],
      });
      const page = await opened([banded]);
      await slider(page).focus();
      await page.keyboard.press('Home');
      for (let i = 0; i < 3; i++) await page.keyboard.press('+');
      const table = page.locator('.span-statistics');
      const off = async () => {
        const heading = (await table.locator('h3').textContent()) ?? '';
        const [from = 0, to = 0] = [...heading.matchAll(/frame (\d+)/g)].map(([, frame]) => Number(frame));
        const found = await table.locator('td[data-label="worst 5 %"]').textContent();
        return Math.abs(Number(found) - (from + 0.95 * (to - from)) / 10);
      };
      await expect.poll(off).toBeLessThan(0.01);
    });

    it('mark the best of each column, and can hide lines', async () => {
      await says(page.locator('#result-heading')).toBe('2 encodes of master.mov');
      const best = page.locator('.encodes td.best');
      await expect.poll(() => best.count()).toBe(2);
      await says(best.first()).toContain(meanOf(high).toFixed(2));
      const legend = page.locator('.legend button');
      const pressed = () =>
        legend.evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-pressed')));
      await legend.first().click({ modifiers: ['Shift'] });
      await expect.poll(pressed).toEqual(['false', 'true']);
      // The last line stays.
      await legend.last().click({ modifiers: ['Shift'] });
      await expect.poll(pressed).toEqual(['false', 'true']);
      // A click shows one alone, a second click all of them.
      await legend.first().click();
      await expect.poll(pressed).toEqual(['true', 'false']);
      await legend.first().click();
      await expect.poll(pressed).toEqual(['true', 'true']);
    });
  });

  it('opens the result of a ladder as curves, rungs and points', async () => {
    const path = write('ladder.json', await formatEncodingResult(LADDER, 'json'));
    const page = await site.open({ width: 1280, height: 720 });
    await page.setInputFiles('#pick-reports', path);
    const shown = page.locator('#curves');
    await says(shown.locator('h1')).toBe('1 rung for a.mkv with libx264');
    expect(await shown.locator('.plot .ring').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    write('ladder.json', JSON.stringify({ ...LADDER, hull: 5 }));
    await page.setInputFiles('#pick-reports', path);
    await says(page.getByRole('alert').first()).toContain('hull is not a list');
    await shown.getByRole('button', { name: 'Close' }).click();
    await shown.waitFor({ state: 'hidden' });
  });

  describe('opened in turn', () => {
    let page: Page;
    beforeAll(async () => {
      page = await site.open({ stays: true });
    });
    const open = (reports: readonly Report[]) => replaceReports(page, reports.map(fileOf));

    it('draws quality over bit rate, reads out points, and has a table', async () => {
      const reports = [
        sized('a.mp4', 90, 4000),
        sized('b.mp4', 60, 500),
        of500('c.mp4', 80),
        sized('d.mp4', 80, 2000),
      ];
      await open(reports);
      const rates = page.locator('.plot.rates');
      await page.getByRole('heading', { name: 'VMAF over bit rate' }).waitFor();
      await expect.poll(() => rates.locator('.dot').count()).toBe(3);
      await rates.locator('.marks').hover();
      const first = await rates.locator('.dot').first().boundingBox();
      await page.mouse.move((first?.x ?? 0) + 10, (first?.y ?? 0) + 4);
      await says(rates.locator('.tip')).toBe(`b.mp4VMAF${meanOf(reports[1]).toFixed(2)}bit rate500 kb/s`);
      await page.getByText('Quality and bit rate as a table').click();
      const rows = page.getByRole('table', { name: 'VMAF and bit rate' }).locator('tbody tr');
      const written = ['500 kb/s', '2.00 Mb/s', '4.00 Mb/s'];
      await expect
        .poll(() => rows.allTextContents())
        .toEqual(
          [reports[1], reports[3], reports[0]].map(
            (report, i) => `${report?.distorted.name}${written[i]}${meanOf(report).toFixed(2)}`,
          ),
        );
    });

    it('saves every chart as standalone SVG, PNG and CSV, in light colours', async () => {
      const reports = [sized('a.mp4', 90, 4000), sized('b.mp4', 60, 1000)];
      await page.emulateMedia({ colorScheme: 'dark' });
      await open(reports);
      const save = async (card: string, format: string) => {
        const menu = page.locator(`section[aria-labelledby=${card}-heading] .chart-menu`).first();
        const { name, bytes } = await download(page, async () => {
          await menu.selectOption(format);
        });
        expect(name).toMatch(new RegExp(`^[a-z0-9-]+\\.${format}$`));
        return bytes;
      };
      const csv = async (card: string) =>
        String(await save(card, 'csv'))
          .trimEnd()
          .split('\n')
          .map((line) => line.split(','));
      const [head, ...rows] = await csv('chart');
      expect(head).toEqual(['frame', 'seconds', 'a.mp4', 'b.mp4']);
      expect(rows.map(([frame, , ...values]) => [frame, ...values].map(Number))).toEqual(
        Array.from(scores(90, 500), (value, i) => [i, value, scores(60, 500)[i] ?? 0]),
      );
      const rated = await csv('rates');
      expect(rated.slice(1).map(([name, , rate]) => [name, Number(rate)])).toEqual([
        ['b.mp4', 1e6],
        ['a.mp4', 4e6],
      ]);
      const shares = (await csv('distribution')).slice(1);
      expect(shares.reduce((sum, [, , share]) => sum + Number(share), 0)).toBeCloseTo(1, 9);
      for (const card of ['chart', 'rates', 'distribution']) {
        const drawing = String(await save(card, 'svg'));
        expect(drawing).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+"/);
        expect(drawing).not.toMatch(/var\(|class=|style=|NaN|undefined|<(?:image|foreignObject|script)/);
        expect(drawing).toContain('fill="#fff');
        // Made like the third chart.
        if (card === 'rates') continue;
        const { data, width, height, channels } = decodePng(await save(card, 'png'));
        expect(width).toBe(2 * Number(/ width="(\d+)"/.exec(drawing)?.[1]));
        expect([...data.slice(0, 3)]).toEqual([255, 255, 255]);
        // Both encodes have their own colours.
        for (const n of [0, 1]) {
          const colour = await page.evaluate((of) => {
            const probe = document.body.appendChild(document.createElement('i'));
            document.documentElement.dataset.theme = 'light';
            probe.style.color = `var(--e${of}, var(--s${of}))`;
            const { color } = getComputedStyle(probe);
            document.documentElement.dataset.theme = 'dark';
            probe.remove();
            return (color.match(/\d+/g) ?? []).map(Number);
          }, n);
          let count = 0;
          const [red = 0, green = 0, blue = 0] = colour;
          for (let i = 0; i < width * height * channels; i += channels) {
            const [r = 0, g = 0, b = 0] = [data[i], data[i + 1], data[i + 2]];
            if (Math.abs(r - red) + Math.abs(g - green) + Math.abs(b - blue) < 12) count++;
          }
          expect(count, `${card} ${colour}`).toBeGreaterThan(60);
        }
      }
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
      await page.emulateMedia({ colorScheme: 'light' });
    });

    it('numbers frames of the reference if encodes begin on different ones, else pairs', async () => {
      await open([high, late(12)]);
      // Both dip at reference frame 200, 8 s from its start.
      const firsts = page.locator('.moments ol li:first-child .when');
      const skipped = page.locator('.encodes .skipped');
      await expect
        .poll(() => firsts.allTextContents())
        .toEqual(['0:08.00reference frame 200', '0:08.00reference frame 200']);
      await slider(page).focus();
      await page.keyboard.press('Home');
      for (let step = 0; step < 20; step++) await page.keyboard.press('Shift+ArrowRight');
      const dip = (high.frames[200]?.metrics.vmaf ?? 0).toFixed(2);
      await expect
        .poll(() => readOut(page))
        .toBe(`reference frame 200 · 0:08.00, high.mp4 ${dip}, late.mp4 ${dip}`);
      // Both dots are at the same point.
      const dots = await chart(page)
        .locator('.marks .dot')
        .evaluateAll((list: HTMLElement[]) => list.map(({ style }) => [style.left, style.top]));
      expect(dots).toHaveLength(2);
      expect(dots[0]).toEqual(dots[1]);
      expect(await skipped.allTextContents()).toEqual([
        'skipped at the start: none',
        'skipped at the start: 12 of reference',
      ]);
      const together = [late(12), { ...late(12), distorted: low.distorted }];
      await open(together);
      await expect.poll(() => firsts.allTextContents()).toEqual(['0:08.00frame 188', '0:08.00frame 188']);
      expect(await skipped.count()).toBe(0);
    });

    it('marks an untrusted score, names the cause, and never marks it as best', async () => {
      const offset = { code: 'offset', severity: 'warning', message: 'Other moments.' } as const;
      const levels = { code: 'levels', severity: 'warning', message: 'Levels differ.' } as const;
      const wrong = of500('wrong.mp4', 95, { preflight: [levels, offset] });
      const several = [wrong, of500('fine.mp4', 80, { preflight: [] }), low];
      await open(several);
      const rows = page.locator('table.encodes tbody tr');
      await says(rows.nth(0).locator('.flaw')).toBe('×');
      await says(rows.nth(2).locator('.flaw')).toBe('!');
      expect(await rows.nth(1).locator('.flaw').count()).toBe(0);
      expect(await rows.nth(0).locator('td.main.best').count()).toBe(0);
      await expect.poll(() => rows.nth(1).locator('td.main.best').count()).toBe(1);
      expect(await page.locator('.flaw-note').allTextContents()).toEqual([
        'wrong.mp4: Do not trust this score: [offset] Other moments.',
        'low.mp4: Read the warnings before you believe this score: [levels] Levels differ.',
      ]);
    });

    it('opens libvmaf’s CSV and states what it lacks', async () => {
      await replaceReports(page, [write('log.csv', formatReport(high, 'csv'))]);
      await says(page.locator('.score')).toContain(meanOf(high).toFixed(2));
      const origin = page.locator('.origin');
      await says(origin).toContain('computed here from the values of its frames');
      await says(origin).toContain('The file does not say: which videos were compared, the models');
      expect(await page.locator('.answer .pill').count()).toBe(0);
      await expect.poll(() => page.getByRole('button', { name: 'Download JSON' }).isDisabled()).toBe(true);
    });

    it('prints everything in colours for paper, and restores the screen', async () => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await open([sized('high.mp4', 90, 4000), sized('low.mp4', 60, 900)]);
      await chart(page).scrollIntoViewIfNeeded();
      await expect.poll(() => chart(page).getAttribute('data-last')).toBe('499');
      const width = () =>
        chart(page)
          .locator('canvas')
          .evaluate((canvas) => canvas.clientWidth);
      const onScreen = await width();
      await page.evaluate(() => {
        // Runs after the page's own listener, which was added earlier.
        addEventListener('beforeprint', () => {
          const charts = [...document.querySelectorAll('.plot')].map((plot) => {
            const canvas = plot.querySelector('canvas');
            const room = plot.clientWidth;
            // Bit rates are drawn as SVG.
            if (!canvas)
              return { drawn: plot.querySelector('svg path') !== null, room, wide: plot.scrollWidth };
            const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
            return { drawn: pixels?.some((value) => value > 0) ?? false, room, wide: canvas.clientWidth };
          });
          const { theme } = document.documentElement.dataset;
          document.body.dataset.printed = JSON.stringify({ charts, theme });
        });
      });
      await page.pdf({ format: 'A4' });
      const printed: { charts: { drawn: boolean; room: number; wide?: number }[]; theme: string } =
        JSON.parse((await page.locator('body').getAttribute('data-printed')) ?? '');
      expect(printed.theme).toBe('light');
      // Bit rates, the large chart and its map, two features.
      expect(printed.charts.map(({ drawn }) => drawn)).toEqual([true, true, true, true, true]);
      for (const { room, wide } of printed.charts) {
        expect(room).toBeLessThanOrEqual(700);
        expect(wide).toBe(room);
      }
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
      await expect.poll(width).toBe(onScreen);

      await page.setViewportSize({ width: 718, height: 1000 });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print' });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      expect(await page.getByRole('button', { name: 'Open a saved report' }).isVisible()).toBe(false);
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      await page.setViewportSize({ width: 1280, height: 860 });
    });
    it('stops drawing a moving chart when others replace it', async () => {
      await open([high]);
      await middle(page);
      await page.evaluate(() => {
        const { prototype } = CanvasRenderingContext2D;
        const plain = prototype.clearRect;
        prototype.clearRect = function (...area) {
          if (!this.canvas.isConnected) document.body.dataset.late = 'drawn';
          plain.apply(this, area);
        };
        const moved = document.querySelector('.slider');
        // Faster than keys repeat, so that a drawing is always due.
        const moving = setInterval(() => {
          const key = Math.random() < 0.5 ? '+' : '-';
          if (moved?.isConnected) moved.dispatchEvent(new KeyboardEvent('keydown', { key }));
          else clearInterval(moving);
        }, 4);
      });
      await open([low]);
      await says(page.locator('#result-heading')).toBe('low.mp4');
      await middle(page);
      // Longer than charts take to come to rest.
      await page.waitForTimeout(1000);
      expect(await page.evaluate(() => document.body.dataset.late)).toBeUndefined();
    });

    it('draws many curves in full width once they rest, not as hairlines', async () => {
      await page.evaluate(() => {
        const { prototype } = CanvasRenderingContext2D;
        const { stroke, clearRect } = prototype;
        prototype.clearRect = function (...area) {
          this.canvas.dataset.wide = '0';
          clearRect.apply(this, area);
        };
        prototype.stroke = function () {
          const wide = Math.abs(this.lineWidth - 1.6) < 0.01;
          if (wide) this.canvas.dataset.wide = String(Number(this.canvas.dataset.wide) + 1);
          stroke.apply(this);
        };
      });
      const levels = [95, 90, 85, 80, 75, 70];
      await open(levels.map((level) => of500(`level${level}.mp4`, level)));
      await middle(page);
      const canvas = chart(page).locator('canvas');
      const wide = () => canvas.getAttribute('data-wide');
      await expect.poll(wide).toBe('6');
      await slider(page).focus();
      for (const key of ['+', '+', '0']) {
        await canvas.evaluate((drawn) => drawn.setAttribute('data-wide', 'before'));
        await page.keyboard.press(key);
        await expect.poll(wide).toBe('6');
      }
      // A few curves are drawn so at once.
      await page.locator('.legend button').first().click();
      await expect.poll(wide).toBe('1');
    });
  });
});

describe.skipIf(noChromium)(`a link with videos${noChromium}`, () => {
  const site = pages({ elsewhere: true });
  const requests: { readonly path: string; readonly host: string; readonly cookie: string }[] = [];
  let server: Server;
  let origin = '';

  /** Frames that get brighter. @param by contrast of their stripes */
  const video = (by: number, frames = 8) => {
    const frame = (n: number) =>
      Buffer.concat([
        Buffer.from('FRAME\n'),
        Buffer.from(Array.from({ length: 64 * 64 }, (_, i) => 60 + n * 4 + ((i >> 3) % 2) * by)),
        Buffer.alloc(32 * 64, 128),
      ]);
    return Buffer.concat([
      Buffer.from('YUV4MPEG2 W64 H64 F25:1 Ip A1:1 C420\n'),
      ...Array.from({ length: frames }, (_, n) => frame(n % 40)),
    ]);
  };

  beforeAll(async () => {
    server = createServer(({ url = '', headers }, response) => {
      requests.push({ path: url, host: headers.host ?? '', cookie: headers.cookie ?? '' });
      const body = {
        '/ref%20a.y4m': video(40),
        '/dis.y4m': video(20),
        '/other.y4m': video(30),
        '/closed.y4m': video(20),
      }[url];
      if (url === '/moved.y4m') response.writeHead(302, { location: '/dis.y4m' });
      else
        response.writeHead(body ? 200 : 404, {
          ...(url !== '/closed.y4m' && { 'access-control-allow-origin': '*' }),
        });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  const link = (name: string) => `subsample=2&ref=${origin}/ref%2520a.y4m&dis=${origin}/${name}&frame=4`;
  const offer = (page: Page) => page.locator('.offer');

  it('sends no request before a click, then scores, opens the frame, and copies the same link', async () => {
    const page = await site.open({ hash: link('dis.y4m') });
    await says(offer(page)).toContain(
      `This link names 2 videos. To load them, this browser asks ${new URL(origin).host},`,
    );
    expect(requests).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Load and score' }).click();
    await page.locator('dialog[data-frame="4"]:not([data-busy])').waitFor();
    expect(requests.map(({ path, cookie }) => [path, cookie])).toEqual([
      ['/ref%20a.y4m', ''],
      ['/dis.y4m', ''],
    ]);
    await page.getByLabel('Frame number').fill('6');
    await page.getByLabel('Frame number').press('Enter');
    await page.locator('dialog[data-frame="6"]:not([data-busy])').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Copy link to settings' }).click();
    const copied = new URLSearchParams(new URL(page.url()).hash.slice(1));
    expect(Object.fromEntries(copied)).toEqual({
      subsample: '2',
      ref: `${origin}/ref%20a.y4m`,
      dis: `${origin}/dis.y4m`,
      frame: '6',
    });
  });

  it('copies no frame of an encode that was removed', async () => {
    const page = await site.open({ hash: `${link('dis.y4m')}&dis=${origin}/other.y4m` });
    await page.getByRole('button', { name: 'Load and score' }).click();
    await page.locator('dialog[data-frame="4"]:not([data-busy])').waitFor();
    await leave(page);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('button', { name: 'Remove dis.y4m' }).click();
    await says(page.locator('#result-heading')).toBe('other.y4m');
    await page.getByRole('button', { name: 'Copy link to settings' }).click();
    const copied = new URLSearchParams(new URL(page.url()).hash.slice(1));
    expect([copied.getAll('dis'), copied.get('frame')]).toEqual([[`${origin}/other.y4m`], null]);
  });

  it('waits for a run that is under way, then scores its own videos', async () => {
    const page = await site.open({ hash: SLOW });
    await choose(page, write('own-ref.y4m', video(40, 400)), write('own-dis.y4m', video(20, 400)));
    await startPaused(page);
    await follow(page, link('dis.y4m'));
    await page.getByRole('button', { name: 'Load and score' }).click();
    await says(offer(page).getByRole('status')).toContain('once the current run has ended');
    await says(page.locator('.setup-line')).toContain('own-ref.y4m → own-dis.y4m');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('dialog[data-frame="4"]:not([data-busy])').waitFor();
    await leave(page);
    await says(page.locator('#result-heading')).toBe('dis.y4m');
  });

  it('explains why a video cannot be loaded, and sends no request if the user refuses', async () => {
    const page = await site.open({ hash: link('closed.y4m'), provokes: /CORS|Failed to load|ERR_/ });
    const load = page.getByRole('button', { name: 'Load and score' });
    for (const [name, why] of [
      ['closed.y4m', /closed\.y4m could not be loaded: localhost:\d+ cannot be reached, redirects/],
      ['moved.y4m', /moved\.y4m could not be loaded: localhost:\d+ cannot be reached, redirects/],
      ['none.y4m', /none\.y4m could not be loaded: localhost:\d+ answered 404\. Check the link\./],
    ] as const) {
      await follow(page, link(name));
      await says(offer(page).locator('li').last()).toContain(name);
      await load.click();
      await says(offer(page).getByRole('status')).toMatch(why);
    }
    const before = requests.length;
    await page.getByRole('button', { name: 'Do not load' }).click();
    expect(await offer(page).isVisible()).toBe(false);
    await follow(page, 'dis=javascript:alert(1)');
    await says(page.locator('.notice')).toMatch(/dis is “javascript:alert\(1\)”/);
    expect([await offer(page).isVisible(), requests.length]).toEqual([false, before]);
  });

  it('takes typed URLs, and explains invalid ones', async () => {
    const page = await site.open();
    await page.getByRole('button', { name: 'Videos from URLs' }).click();
    const next = page.getByRole('button', { name: 'Continue' });
    const [ref, dis] = [page.getByLabel('URL of the reference'), page.getByLabel('URLs of the encodes')];
    const wrong = offer(page).getByRole('alert');
    await next.click();
    await says(wrong).toContain('The URL of the reference is missing');
    await ref.fill(`${origin}/ref%20a.y4m`);
    await next.click();
    await says(wrong).toContain('The URL of an encode is missing');
    await dis.fill('\nhttps://me:secret@a.example/b.y4m');
    await next.click();
    await says(wrong).toContain('Line 2 of the encodes is “https://me:secret@a.example/b.y4m”, but must be');
    expect(await violations(page)).toEqual([]);
    await dis.fill(`${origin}/dis.y4m`);
    const before = requests.length;
    await next.click();
    await says(offer(page)).toContain(`To load them, this browser asks ${new URL(origin).host},`);
    expect(requests.length).toBe(before);
    await page.getByRole('button', { name: 'Load and score' }).click();
    await expect
      .poll(() => requests.slice(before).map(({ path }) => path))
      .toEqual(['/ref%20a.y4m', '/dis.y4m']);
    await allShown(page);
    await openWorst(page);
    const frame = await page.locator('dialog[open]').getAttribute('data-frame');
    await leave(page);
    await page.getByRole('button', { name: 'Copy link to settings' }).click();
    const copied = new URLSearchParams(new URL(page.url()).hash.slice(1));
    expect([copied.get('dis'), copied.get('frame')]).toEqual([`${origin}/dis.y4m`, frame]);
  });
});

describe.skipIf(noChromium)(`the HTML report that the page saves${noChromium}`, () => {
  const site = pages();
  const format = { width: 960, height: 272, bitDepth: 8, chroma: '420' } as const;
  /** At 2 fps, so that worst moments are only two frames apart. */
  const film = (name: string, side: 'reference' | 'distorted', blur = 1) => {
    const distortion = { blur, quantiser: 10 };
    const clip = makeSample(format, { seed: 5, distortion });
    const frames = [0, 1, 2, 3].map((index) => y4mFrame(clip, side, index));
    return write(name, Buffer.concat([Buffer.from(y4mHeader(format, '2:1')), ...frames]));
  };
  let page: Page;
  let second = '';

  const size = () => page.getByLabel('at most MB');
  const said = () => page.locator('.take [role=status]');
  const types = (html: string) =>
    [...html.matchAll(/<img alt="" [^>]*src="data:(image\/\w+);base64,/g)].map(([, type]) => type);

  /** Opens a report without scripts. @returns widths of its pictures */
  async function withoutScripts(html: string): Promise<number[]> {
    const context = await site.served.newContext({ offline: true, javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(pathToFileURL(write('sent.html', html)).href);
    expect(await plain.locator('.worst img').first().isVisible()).toBe(true);
    const widths = await plain
      .locator('.worst img')
      .evaluateAll((all: HTMLImageElement[]) =>
        Promise.all(all.map((image) => image.decode().then(() => image.naturalWidth))),
      );
    await context.close();
    return widths;
  }

  beforeAll(async () => {
    second = film('sent-b.y4m', 'distorted', 3);
    page = await site.open({ stays: true });
    await choose(page, film('sent.y4m', 'reference'), film('sent-a.y4m', 'distorted'), second);
    await score(page);
  });

  it('has pictures of 960 pixels within 3 MB, visible without scripts', async () => {
    expect(await size().inputValue()).toBe('3');
    const { name, text } = await saved(page, 'HTML report');
    expect(name).toBe('comparison.vmaf.html');
    expect(text.length).toBeLessThan(3e6);
    await says(said()).toMatch(
      /^comparison\.vmaf\.html was saved\. \d\S* [kM]B, with pictures of 4 moments\.$/,
    );
    expect(await withoutScripts(text)).toEqual(Array(12).fill(960));
    expect(types(text)).toHaveLength(12);
  });

  it('keeps to the size set by the user, and states what that leaves out', async () => {
    await size().fill('0.2');
    const { text } = await saved(page, 'HTML report');
    expect(text.length).toBeLessThan(2e5);
    const why = /Some pictures are at most (\d+) pixels wide, to keep the page below 0\.2 MB;/;
    await says(said()).toMatch(why);
    const widths = await withoutScripts(text);
    expect(Math.min(...widths)).toBe(Number(why.exec(text)?.[1]));
    expect(types(text)).toEqual(widths.map(() => 'image/webp'));
    const before = await said().textContent();
    await size().fill('0');
    await page.getByRole('button', { name: 'HTML report', exact: true }).click();
    expect(await size().evaluate((input: HTMLInputElement) => input.validity.rangeUnderflow)).toBe(true);
    expect(await said().textContent()).toBe(before);
    await size().fill('3');
  });

  it('has the encodes and their pictures as of the click', async () => {
    const boxes = 'table.encodes tbody input[type=checkbox]';
    const press = async () => {
      await page.evaluate((boxes) => {
        document.querySelector<HTMLButtonElement>('.take .strong')?.click();
        document.querySelector<HTMLInputElement>(boxes)?.click();
      }, boxes);
    };
    const { bytes } = await download(page, press);
    expect(types(bytes.toString())).toHaveLength(12);
    await page.locator(boxes).first().check();
  });

  it('can be cancelled', async () => {
    const downloads: string[] = [];
    page.on('download', (file) => downloads.push(file.suggestedFilename()));
    await page.getByRole('button', { name: 'HTML report', exact: true }).click();
    await page.locator('.take').getByRole('button', { name: 'Cancel' }).click();
    await says(said()).toBe('The HTML report was not saved.');
    expect(downloads).toEqual([]);
    expect(await page.locator('.take progress').isVisible()).toBe(false);
  });

  it('names the encode whose video can no longer be read, and has pictures of the others', async () => {
    rmSync(second);
    const { text } = await saved(page, 'HTML report');
    const why = /No pictures of sent-b\.y4m: reading sent-b\.y4m failed: [^.]+\.(?!\.)/;
    await says(said()).toMatch(why);
    expect(text).toMatch(why);
    expect(types(text)).toHaveLength(6);
  });
});
