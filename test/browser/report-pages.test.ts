/**
 * @module test/browser/report-pages
 * The library's pages in Chromium: the HTML report is drawn, interactive, loads nothing and never runs file names as script; the
 * dashboard of a live measurement follows the stream, also for screen readers.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decode as decodePng, encode as encodePng } from 'fast-png';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createScorer } from '../../src/index.js';
import type { ReportParts } from '../../src/report/build.js';
import { writeHtml } from '../../src/report/html/document.js';
import type { HtmlOptions } from '../../src/report/html/index.js';
import { worstFrames } from '../../src/report/ranking.js';
import type { Report } from '../../src/report/schema.js';
import { noChromium, notesErrors, PATIENCE, PATIENT, sharedChromium } from '../support/chromium.js';
import { testFolder } from '../support/folders.js';
import { lookAround, violations } from '../support/looks.js';
import { callTool, pairOf, served, TINY } from '../support/mcp-live.js';
import { built, paired, report, vmafModel } from '../support/report.js';
import { exhaustive } from '../support/tier.js';

vi.setConfig(PATIENT);

const HOSTILE = `"><script>window.hacked=1</script><img src=x onerror="window.hacked=1">.mp4`;

/** 500 frames at 90 with a dip to 20 in frame 300, and another of one frame in 444. */
const scores = Float64Array.from({ length: 500 }, (_, i) =>
  i === 444 ? 40 : 90 - 70 * Math.exp(-((i - 300) ** 2) / 40),
);

/** A report at 25 fps. */
function timed(name: string, series: Record<string, Float64Array>, parts: Partial<ReportParts> = {}): Report {
  const { reference, distorted } = report();
  const frameRate = { num: 25, den: 1 };
  return built(series, {
    reference: { ...reference, frameRate },
    distorted: { ...distorted, name, frameRate },
    models: [vmafModel],
    ...parts,
  });
}

function run(name: string, values = scores): Report {
  return timed(name, { integer_adm2: values.map((value) => value / 100), vmaf: values });
}

/** A report without the first 12 frames, scored with an offset. */
function late(name: string): Report {
  const whole = run(name, scores.slice(12));
  return { ...whole, reference: { ...whole.reference, skipped: 12 } };
}

/** Pages and contexts to close after a test, and errors of its pages. */
const opened: { close(): Promise<void> }[] = [];
const complaints: string[] = [];

/** Opens a page in a profile that is closed after the test. */
async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (await sharedChromium()).newContext(options);
  opened.push(context);
  context.setDefaultTimeout(PATIENCE);
  return notesErrors(await context.newPage(), complaints);
}

function closesPages(): void {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((closable) => closable.close()));
    expect(complaints.splice(0)).toEqual([]);
  });
}

describe.skipIf(noChromium)(`the HTML report in Chromium${noChromium}`, () => {
  const folder = testFolder('html');
  /** Pages share a process, which compiles their scripts once; it ends with its last page. */
  let profile: BrowserContext;
  beforeAll(async () => {
    profile = await (await sharedChromium()).newContext();
    profile.setDefaultTimeout(PATIENCE);
    const keeper = join(folder, 'keeper.html');
    writeFileSync(keeper, '');
    await (await profile.newPage()).goto(pathToFileURL(keeper).href);
  });
  closesPages();
  afterAll(() => profile.close());

  interface View {
    readonly width?: number;
    /** Without JavaScript. */
    readonly still?: boolean;
  }

  async function ownPage({ width = 1100 }: View): Promise<Page> {
    const page = notesErrors(await profile.newPage(), complaints);
    opened.push(page);
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    return page;
  }

  /** Opens an HTML report, which must not request anything. */
  async function open(reports: Report | Report[], view: View = {}, shown: HtmlOptions = {}): Promise<Page> {
    const file = join(folder, 'report.html');
    writeFileSync(file, [...writeHtml(reports, { command: HOSTILE, ...shown })].join(''));
    const page = await (view.still ? newPage({ javaScriptEnabled: false }) : ownPage(view));
    const { href } = pathToFileURL(file);
    page.on('request', (request) => {
      if (request.url() !== href) complaints.push(`requested ${request.url()}`);
    });
    await page.goto(href);
    return page;
  }

  /** Number of pixels of a chart that are not transparent. */
  const inked = (page: Page, selector: string) =>
    page
      .locator(`${selector} canvas`)
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
        let count = 0;
        for (let i = 3; i < pixels.length; i += 4) if (pixels[i] !== 0) count++;
        return count;
      });

  it('draws every chart and loads nothing, whatever the file names', async () => {
    const page = await open([run(HOSTILE), run('b.mp4')]);
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    // Features behind the score are folded.
    expect(await page.locator('.chart.tiny').first().isVisible()).toBe(false);
    await page.getByText('All features').click();
    await expect.poll(() => inked(page, '.chart.tiny')).toBeGreaterThan(200);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.locator('.legend button').first().textContent()).toBe(HOSTILE.replace(/^.*\//, ''));
  });

  it('aligns encodes that begin on different reference frames', async () => {
    const page = await open([run('whole.mp4'), late('late.mp4')]);
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    // Both dip at reference frame 300, 12 s from its start.
    for (const list of await page.locator('.worst').all()) {
      await list.locator('button').first().click();
      await expect
        .poll(() => page.locator('.tip').textContent())
        .toContain('reference frame 300  ·  0:12.00');
      const values = await page.locator('.tip b').allTextContents();
      expect(values).toEqual(['20.00', '20.00']);
    }
  });

  it('reads out values under the pointer, and zooms by dragging and by a worst frame', async () => {
    const page = await open(run('a.mp4'));
    const all = page.getByRole('button', { name: 'All' });
    await expect.poll(() => inked(page, '.chart.big')).toBeGreaterThan(1000);
    expect(await all.isDisabled()).toBe(true);
    const box = await page.locator('.chart.big').boundingBox();
    if (!box) throw new Error('no chart');
    const tip = () => page.locator('.tip').textContent();
    // The plot begins 40 px from the left and ends 4 px from the right.
    await page.mouse.move(box.x + 40 + ((box.width - 44) * 300) / 499, box.y + 100);
    const readOut = await tip();
    expect(readOut).toContain('frame 300');
    expect(readOut).toContain('0:12.00');
    expect(readOut).toContain('20.00');
    expect(await page.locator('.feature .now').first().textContent()).toBe('0.2000');

    await page.mouse.move(box.x + 200, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 100, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => all.isDisabled()).toBe(false);
    await page.locator('.chart.big').dblclick();
    await expect.poll(() => all.isDisabled()).toBe(true);
    await page.locator('.worst button').first().click();
    await expect.poll(tip).toContain('frame 300');
    await all.click();
    await expect.poll(() => all.isDisabled()).toBe(true);
  });

  it('is not wider than the screen, light and dark', async () => {
    const rated = (name: string, bitrate: number) => ({
      ...run(name),
      pairing: paired({ codec: 'h264', bitrate, encoderSettings: name }),
    });
    const page = await open([rated('a.mp4', 1e6), rated(`${'long'.repeat(60)}.mp4`, 2e6)]);
    for (const [colorScheme, width] of [
      ['light', 360],
      ['dark', 360],
      ['light', 1400],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(background).toBe(colorScheme === 'dark' ? 'rgb(17, 19, 24)' : 'rgb(245, 245, 242)');
    }
  });

  /** A report with all metrics of the default model, in a codec at a bit rate. */
  function whole(
    name: string,
    codec: string,
    bitrate: number,
    level: number,
    preflight: Report['preflight'] = [],
  ) {
    const vmaf = scores.map((value) => Math.max(0, value - 90 + level));
    const scales = ['adm_scale', 'vif_scale'].flatMap((metric) => [0, 1, 2, 3].map((i) => metric + i));
    const names = ['adm2', 'aim', 'adm3', ...scales, 'motion2', 'motion3', 'feature_motion_sad'];
    const features = names.map(
      (metric, i) => [`integer_${metric}`, vmaf.map((value) => value / (100 + 20 * i))] as const,
    );
    return timed(
      name,
      { ...Object.fromEntries(features), vmaf },
      { pairing: paired({ codec, bitrate, fileSize: bitrate * 2.5 }), preflight },
    );
  }

  /** A report with as many further metrics as have columns. */
  function measured(name: string, bitrate: number) {
    const names = ['vmaf', 'psnr_y', 'float_ssim', 'float_ms_ssim', 'cambi', 'ciede2000', 'psnr_hvs'];
    const series = Object.fromEntries(names.map((metric) => [metric, scores]));
    return timed(name, series, { pairing: paired({ codec: 'h264', bitrate }), preflight: [] });
  }

  /** Small pictures of all listed moments. */
  function pictured(report: Report, encodes = 1): HtmlOptions {
    const picture = encodePng({
      width: 192,
      height: 108,
      channels: 3,
      data: Uint8Array.from({ length: 192 * 108 * 3 }, (_, i) => (i >> 5) & 255),
    });
    const files = { reference: picture, distorted: picture, map: picture };
    const moments = worstFrames(report, { metric: 'vmaf', worse: 'low' }, 9);
    return {
      pictures: Array.from({ length: encodes }, (_, report) =>
        moments.map(({ frameNum }) => ({ report, frame: frameNum, ...files })),
      ).flat(),
    };
  }

  const eleven = Array.from({ length: 11 }, (_, i) =>
    whole(`encode-${i}.mp4`, i < 6 ? 'h264' : 'vp9', 400_000 * 1.6 ** (i % 6), 60 + 6 * (i % 6)),
  );
  const offset = { code: 'offset', severity: 'error', message: 'Other moments are compared.' } as const;
  const levels = { code: 'levels', severity: 'warning', message: 'Levels differ.' } as const;
  const lone = whole('a.mp4', 'h264', 2e6, 90);
  const bad = { distorted: '/b/bad.mp4', message: '/b/bad.mp4 is no video.' };

  const wrongPair = whole('w.mp4', 'h264', 2e6, 20, [levels, offset]);
  const LOOKS: [name: string, reports: Report[], shown: HtmlOptions, screens?: number][] = [
    ['one encode', [lone], pictured(lone), 2],
    ['eleven encodes', eleven, pictured(lone, 11), 4],
    ['a wrong pair and a failed file', [wrongPair, ...eleven.slice(0, 1)], { failed: [bad] }],
  ];
  if (exhaustive)
    LOOKS.push(
      ['two encodes with many metrics', [1, 2].map((i) => measured(`${i}.mp4`, 1e6 * i)), {}, 3],
      ['a wrong pair', [wrongPair], {}, 2],
    );

  it.each(LOOKS)('is accessible by axe and fits: %s', async (name, reports, shown, screens) => {
    const page = await open(reports, {}, shown);
    // Folded parts are those of one encode, eleven times.
    const unfolds = exhaustive || name !== 'eleven encodes';
    expect(await lookAround(page, { unfolds, screens })).toEqual({});
  });

  it('shows a moment split, blinking and as a difference', async () => {
    const { pictures } = pictured(lone);
    const light = encodePng({
      width: 192,
      height: 108,
      channels: 3,
      data: new Uint8Array(192 * 108 * 3).fill(20),
    });
    const dark = encodePng({ width: 192, height: 108, channels: 3, data: new Uint8Array(192 * 108 * 3) });
    const page = await open(
      lone,
      {},
      { pictures: pictures?.map((picture) => ({ ...picture, reference: light, distorted: dark })) },
    );
    const middle = async () => {
      const shot = decodePng(await page.locator('.split .pictures').screenshot());
      const at = (shot.width * Math.round(shot.height / 2) + Math.round(shot.width * 0.75)) * shot.channels;
      return shot.data[at];
    };
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    expect(await middle()).toBe(20);
    await press('Difference');
    expect(await middle()).toBe(80);
    await press('Blink');
    expect(await middle()).toBe(20);
    // With reduced motion, each press switches once.
    await press('Blink');
    expect(await middle()).toBe(0);
    await press('Split');
    await page.locator('.split input').fill('90');
    expect(await middle()).toBe(0);
  });

  it('prints whole tables and charts on A4, and restores the screen', async () => {
    const page = await open(eleven, {}, pictured(lone, 11));
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    // 210 by 297 mm in points.
    expect(pdf).toMatch(/\/MediaBox \[0 0 59[45][\d.]* 84[12]/);
    expect([...pdf.matchAll(/\/Type\s*\/Page\b/g)].length).toBeLessThanOrEqual(11);
    expect(await page.evaluate(() => document.documentElement.className)).toBe('');
    await page.setViewportSize({ width: 703, height: 1000 });
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll('main *')]
        .filter((node) => {
          const { right, width, height } = node.getBoundingClientRect();
          // A word with each letter on a line of its own.
          const isTorn =
            node.matches('th, td') && (node.textContent ?? '').length > 3 && width < 24 && height > 60;
          return node.checkVisibility() && (right > innerWidth + 1 || isTorn);
        })
        .map((node) => node.outerHTML.slice(0, 80)),
    );
    expect(cut).toEqual([]);
    expect(await page.locator('.split').isVisible()).toBe(false);
  });

  it('has room for names beside many metrics', async () => {
    const page = await open([1, 2].map((i) => measured(`encode-${i}.mp4`, 1e6 * i)));
    const names = page.locator('.encode .name span:last-child');
    for (const width of [820, 1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const name of await names.all())
        expect(
          await name.evaluate((node) => [node.scrollWidth <= node.clientWidth, node.clientWidth > 60]),
          `${width} px`,
        ).toEqual([true, true]);
    }
    expect(await names.count()).toBe(2);
  });

  it('keeps pictures and numbers of a moment within its column', async () => {
    const dips = Float64Array.from({ length: 500 }, (_, i) => (i % 100 === 50 ? 20 + i / 100 : 90));
    const single = run('a.mp4', dips);
    for (const [reports, width] of [
      ...(exhaustive ? ([[[single], 1440]] as const) : []),
      [Array.from({ length: 6 }, (_, i) => run(`${i}.mp4`, dips)), 1440],
      [[single], 820],
    ] as const) {
      const page = await open([...reports], { width }, pictured(single, 6));
      const rows = page.locator('.worst button');
      const boxes = await rows.evaluateAll((buttons) =>
        buttons.map((button) => {
          const parts = [...button.querySelectorAll('img, b, .soft')].map((part) =>
            part.getBoundingClientRect(),
          );
          const [left, right] = [
            Math.min(...parts.map((part) => part.left)),
            Math.max(...parts.map((part) => part.right)),
          ];
          const card = button.closest('section')?.getBoundingClientRect();
          return { left, right, top: button.getBoundingClientRect().top, within: (card?.right ?? 0) - 20 };
        }),
      );
      expect(boxes.length).toBeGreaterThanOrEqual(5);
      for (const box of boxes) expect(box.right).toBeLessThanOrEqual(box.within);
      const beside = boxes.flatMap((a, i) => {
        const b = boxes[i + 1];
        return b && b.top === a.top ? [b.left - a.right] : [];
      });
      expect(beside.length).toBeGreaterThan(0);
      expect(Math.min(...beside)).toBeGreaterThanOrEqual(20);
    }
  });

  it('shows a static chart, the tables and no buttons without JavaScript', async () => {
    const page = await open(run('a.mp4'), { still: true });
    expect(await page.locator('.still svg path').isVisible()).toBe(true);
    expect(await page.locator('.chart.big').isVisible()).toBe(false);
    expect(await page.locator('.tool').first().isVisible()).toBe(false);
    expect(await page.locator('table').last().isVisible()).toBe(true);
  });

  if (exhaustive)
    it('of 200,000 frames is ready within two seconds', async () => {
      const values = Float64Array.from({ length: 200_000 }, (_, i) => 50 + 40 * Math.sin(i / 999));
      const page = await open(run('long.mp4', values));
      const started = performance.now();
      await expect.poll(() => inked(page, '.chart.big'), { interval: 20 }).toBeGreaterThan(1000);
      expect(performance.now() - started).toBeLessThan(2000);
    });
});

describe.skipIf(noChromium)(`the dashboard in Chromium${noChromium}`, () => {
  closesPages();

  it('follows the measurement, also for screen readers', async () => {
    const { scorer, server, push } = await served({ alarms: ['max<97 for 25f'] });
    const { address } = await server.listen({ transport: 'sse', port: 0, dashboard: true });
    const page = await newPage();
    await push(30);
    await page.goto(new URL('/', address).href);
    const shown = (id: string) => page.locator(`#${id}`).textContent();
    await expect.poll(() => shown('line')).toBe('connected');
    await expect.poll(() => shown('frames')).toBe('29');
    expect(await shown('state')).toBe('running');
    expect(await shown('metric')).toBe('Mean of VMAF so far');
    await callTool(address, 'vmaf.request_model_swap', { model: 'vmaf_v0.6.1:disable_clip:name=other' });
    await push(80);
    await expect.poll(() => shown('metric')).toBe('Mean of other so far');
    await expect.poll(() => page.locator('#worst tr').count()).toBeGreaterThan(0);
    await expect
      .poll(() => page.locator('#events').textContent())
      .toMatch(/model changed from VMAF to other/);
    expect(await page.locator('#events').textContent()).toMatch(/alarm raised: max<97 for 25f/);
    expect(await shown('notice')).toMatch(/^Alarm since 0:\d\d\.\d: max<97 for 25f$/);
    const label = await page.getByRole('img').getAttribute('aria-label');
    expect(label).toMatch(/^Score of each second: \d+ seconds, the last with mean \d/);
    expect(await violations(page)).toEqual([]);
    await page.locator('#chart').focus();
    await page.keyboard.press('Home');
    expect(await shown('second')).toMatch(/^0:00 to 0:01: mean \d+\.\d\d, lowest \d/);
    // Change the model and set an alarm; invalid alarms are explained.
    await page.getByLabel('Alarm', { exact: true }).fill('nothing<5');
    await page.getByRole('button', { name: 'Set' }).click();
    await expect.poll(() => shown('notice')).toMatch(/The alarm "nothing<5" is about "nothing"/);
    await page.getByLabel('Alarm', { exact: true }).fill('min<101 for 2f');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByLabel('Alarm', { exact: true }).inputValue()).toBe('');
    await page.getByLabel('Model', { exact: true }).fill('vmaf_v0.6.1');
    await page.getByRole('button', { name: 'Change' }).click();
    await expect.poll(() => page.getByLabel('Model', { exact: true }).inputValue()).toBe('');
    await push(86);
    await expect.poll(() => shown('events')).toMatch(/alarm raised: min<101 for 2f/);
    await expect.poll(() => shown('events')).toMatch(/model changed from other to VMAF/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => shown('state')).toBe('paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => shown('state')).toBe('running');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => shown('state')).toBe('stopping');
    await scorer.finish();
    await expect.poll(() => shown('notice')).toBe('The measurement has ended.');
    expect(await shown('line')).toBe('ended');
    expect(await shown('metric')).toBe('Mean of VMAF');
    expect(await page.getByRole('button', { name: 'Pause' }).isVisible()).toBe(false);
  });

  it('shows an alarm raised before it was opened, and each of several measurements to its end', async () => {
    const { scorer, server, push } = await served({ name: 'one', alarms: ['max<101 for 25f'] });
    const other = await createScorer(TINY, { threads: 0 });
    server.add(other, 'two');
    const { address } = await server.listen({ transport: 'sse', port: 0, dashboard: true });
    await push(30);
    const page = await newPage();
    await page.goto(new URL('/', address).href);
    const shown = (id: string) => page.locator(`#${id}`).textContent();
    await expect.poll(() => shown('notice')).toBe('Alarm since 0:01.0: max<101 for 25f');
    await scorer.finish();
    await expect.poll(() => shown('notice')).toBe('The measurement has ended.');
    expect(await shown('line')).toBe('connected');
    await page.getByLabel('Measurement').selectOption('two');
    expect(await shown('state')).toBe('running');
    for (let i = 0; i < 10; i++) await other.push(...(await pairOf(i)));
    await expect.poll(() => shown('frames')).toBe('9');
    await other.close();
    await expect
      .poll(() => shown('notice'))
      .toBe('The measurement failed: The scorer was closed before its end.');
    expect(await shown('line')).toBe('ended');
  });

  it('is served on request only', async () => {
    const { server } = await served();
    const { address } = await server.listen({ transport: 'sse', port: 0 });
    const answer = await fetch(new URL('/', address), { headers: { accept: 'text/html' } });
    expect(await answer.json()).toMatchObject({ dashboard: false });
    expect((await fetch(new URL('/history', address))).status).toBe(404);
  });
});
