/**
 * @module test/browser/web-many
 * Many encodes in the page, in headless Chromium: colours, sorting, what stands out, BD-rate and files of the comparison; the
 * metrics that were asked for, from their boxes to their columns; the sample pair; and what measured.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { formatEncodingResult, score, scoreMany } from '../../src/index.js';
import { bdRate } from '../../src/report/bd-rate.js';
import { buildReport } from '../../src/report/build.js';
import { writeTableCsv } from '../../src/report/table.js';
import type { Report } from '../../src/report/types.js';
import { formatReport } from '../../src/report/write.js';
import { y4mFile } from '../../src/sample/files.js';
import { makeSample } from '../../src/sample/generator.js';
import { noChromium, PATIENT } from '../support/chromium.js';
import { encodeFolder } from '../support/encode.js';
import { LADDER } from '../support/encoding-results.js';
import { openPage, type ServedPage, screenshot, servePage, settled, type View } from '../support/page.js';
import { paired, report as plain, vmafModel } from '../support/report.js';

vi.setConfig(PATIENT);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** An encode of ten seconds at 25 frames a second. */
function made(name: string, codec: string, bitrate: number, level: number): Report {
  const { frames, pooled_metrics, aggregate_metrics, metrics, distribution, ...facts } = plain();
  const values = Float64Array.from({ length: 250 }, (_, i) => level + Math.sin(i / 7) - (i === 100 ? 9 : 0));
  const input = {
    ...facts.reference,
    width: 1920,
    height: 1080,
    frameCount: 250,
    frameRate: { num: 25, den: 1 },
  };
  return buildReport({
    ...facts,
    reference: { ...input, name: 'master.mov' },
    distorted: { ...input, name },
    models: [vmafModel],
    pairing: paired({ codec, bitrate, fileSize: Math.round(bitrate * 1.25) }),
    frameNumbers: Array.from(values, (_, i) => i),
    series: [
      { name: 'integer_adm2', values: values.map((value) => value / 100) },
      { name: 'psnr_y', values: values.map((value) => value / 3) },
      { name: 'vmaf', values },
    ],
    frameCount: 250,
  });
}

/** Four encodes of h264, four of vp9 at 0.6 of the rate, and three of av1, less good than either. */
const ELEVEN = [
  ...[60, 75, 86, 94].map((level, i) => made(`h264-${i}.mp4`, 'h264', 400_000 * 2 ** i, level)),
  ...[60, 75, 86, 94].map((level, i) => made(`vp9-${i}.webm`, 'vp9', 240_000 * 2 ** i, level)),
  ...[20, 30, 40].map((level, i) => made(`av1-${i}.mp4`, 'av1', 100_000 * 2 ** i, level)),
];

describe.skipIf(noChromium)(`many encodes in the page${noChromium}`, () => {
  let served: ServedPage;

  beforeAll(async () => {
    served = await servePage();
  });

  afterAll(() => served?.close());

  async function open(view: View = {}) {
    const opened = await openPage(served, view);
    return { ...opened, [Symbol.asyncDispose]: () => opened.page.context().close() };
  }

  async function opened(reports: readonly Report[], view: View = {}) {
    const files = reports.map((report) => {
      const path = join(encodeFolder(), `many-${report.distorted.name}.json`);
      writeFileSync(path, formatReport(report, 'json', { precision: 'max' }));
      return path;
    });
    const page = await open(view);
    await page.page.setInputFiles('#pick-reports', files);
    await settled(page.page);
    return page;
  }

  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(AXE);
    const found = await page.evaluate(() => window.axe.run());
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }

  const names = (page: Page) => page.locator('table.encodes tbody .open').allTextContents();

  it('opens the result of a ladder as curves, rungs and points', async () => {
    const path = join(encodeFolder(), 'ladder.json');
    writeFileSync(path, await formatEncodingResult(LADDER, 'json'));
    await using view = await open({ width: 1280, height: 720 });
    const { page, complaints } = view;
    await page.setInputFiles('#pick-reports', [path]);
    const shown = page.locator('#curves');
    await expect.poll(() => shown.locator('h1').textContent()).toBe('1 rung for a.mkv with libx264');
    expect(await shown.locator('.plot .ring').count()).toBe(1);
    await screenshot(page, 'page-ladder');
    expect(await violations(page)).toEqual([]);
    writeFileSync(path, JSON.stringify({ ...LADDER, hull: 5 }));
    await page.setInputFiles('#pick-reports', [path]);
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain('hull is not a list');
    await shown.getByRole('button', { name: 'Close' }).click();
    expect(await shown.isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('sorts the table by any column, and says so', async () => {
    await using view = await opened(ELEVEN.slice(2, 6));
    const { page, complaints } = view;
    const own = ['h264-2.mp4', 'h264-3.mp4', 'vp9-0.webm', 'vp9-1.webm'];
    await expect.poll(() => names(page)).toEqual(own);
    const head = page.getByRole('columnheader', { name: 'VMAF' });
    await head.getByRole('button').click();
    await expect.poll(() => names(page)).toEqual(['h264-3.mp4', 'h264-2.mp4', 'vp9-1.webm', 'vp9-0.webm']);
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    await head.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => names(page)).toEqual(['vp9-0.webm', 'vp9-1.webm', 'h264-2.mp4', 'h264-3.mp4']);
    await page.keyboard.press('Enter');
    await expect.poll(() => names(page)).toEqual(own);
    await page.getByRole('columnheader', { name: 'bit rate' }).getByRole('button').click();
    await expect.poll(() => names(page)).toEqual(['vp9-0.webm', 'vp9-1.webm', 'h264-2.mp4', 'h264-3.mp4']);
    // A metric that was asked for has a column; what the score is made of has none.
    const heads = await page.locator('table.encodes thead th:not(.track-cell)').allTextContents();
    expect(heads.map((text) => text.replace(/[▲▼]/, ''))).toEqual([
      'encode',
      'VMAF',
      'worst 1 %',
      'PSNR',
      'bit rate',
      'size',
    ]);
    expect(complaints).toEqual([]);
  });

  it('colours by codec, shades by rate, and has one encode stand out while a pointer is on it', async () => {
    await using view = await opened(ELEVEN);
    const { page, complaints } = view;
    await expect.poll(() => page.locator('.legend button').count()).toBe(11);
    const colours = await page
      .locator('.legend .swatch')
      .evaluateAll((list) => list.map((swatch) => getComputedStyle(swatch).backgroundColor));
    expect(new Set(colours).size).toBe(11);
    const large = page.locator('.plot.large');
    await large.locator('canvas').scrollIntoViewIfNeeded();
    await expect.poll(() => large.getAttribute('data-last')).toBe('249');
    /** How much colour there is on the chart: faded lines are nearly the ground's. */
    const ink = () =>
      large.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
          data: [],
        };
        let sum = 0;
        for (let i = 3; i < data.length; i += 4) sum += data[i] ?? 0;
        return sum;
      });
    const before = await ink();
    await page.locator('.legend button').nth(1).hover();
    await expect.poll(ink).toBeLessThan(0.6 * before);
    await page.mouse.move(2, 2);
    await expect.poll(ink).toBe(before);
    // By keyboard too.
    await page.locator('.legend button').nth(2).focus();
    await expect.poll(ink).toBeLessThan(0.6 * before);
    expect(await page.getByRole('button', { name: 'Cumulative' }).getAttribute('aria-pressed')).toBe('true');
    expect(complaints).toEqual([]);
  });

  it('has eleven encodes on four screens, and the worst moments of the encode that is picked', async () => {
    await using view = await opened(ELEVEN, { width: 1440, height: 900 });
    const { page, complaints } = view;
    await page.locator('.bd table').waitFor();
    await page.locator('.features.asked canvas').first().waitFor({ state: 'attached' });
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(4 * 900);
    const lists = page.locator('.moments ol:visible');
    const label = () => lists.evaluateAll((all) => all.map((list) => list.getAttribute('aria-label')));
    expect(await label()).toEqual(['h264-0.mp4']);
    const chip = page
      .getByRole('group', { name: 'Worst moments of' })
      .getByRole('button', { name: 'av1-2.mp4' });
    await chip.focus();
    await page.keyboard.press('Enter');
    await expect.poll(label).toEqual(['av1-2.mp4']);
    expect(await chip.getAttribute('aria-pressed')).toBe('true');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('av1-2.mp4');
    expect(await lists.locator('b').first().textContent()).toBe((40 + Math.sin(100 / 7) - 9).toFixed(2));
    await screenshot(page, 'web-many-eleven');
    expect(complaints).toEqual([]);
  });

  it('states BD-rate between codecs as the public function does, and where there is none', async () => {
    await using view = await opened(ELEVEN);
    const { page } = view;
    const table = page.getByRole('table', { name: 'BD-rate between codecs' });
    await table.waitFor();
    const curve = (codec: string) =>
      ELEVEN.filter(({ pairing }) => pairing?.distorted.codec === codec).map(
        ({ pairing, pooled_metrics }) => ({
          kbps: (pairing?.distorted.bitrate ?? 0) / 1000,
          quality: pooled_metrics.vmaf?.mean ?? 0,
        }),
      );
    const expected = bdRate(curve('h264'), curve('vp9')).value;
    expect(expected).toBeCloseTo(-40, 6);
    const row = table.locator('tbody tr').filter({ hasText: 'vp9' });
    const heads = await table.locator('thead th').allTextContents();
    const column = heads.indexOf('against h264') - 1;
    expect(await row.locator('td').nth(column).textContent()).toBe('−40.0 %');
    expect(
      await table.locator('tbody tr').filter({ hasText: 'av1' }).locator('td').nth(column).textContent(),
    ).toBe('none');
    await page.getByText('their encodes do not overlap').first().waitFor();
    // No name lies on another, or on a point.
    const boxes = await page
      .locator('.plot.rates .marks .tag')
      .evaluateAll((tags) => tags.map((tag) => tag.getBoundingClientRect().toJSON()));
    expect(boxes.length).toBeGreaterThan(3);
    // Nor on a number of the axis.
    const left = await page
      .locator('.plot.rates .marks')
      .evaluate((area) => area.getBoundingClientRect().left);
    for (const box of boxes) expect(box.left).toBeGreaterThanOrEqual(left);
    for (const [i, a] of boxes.entries())
      for (const b of boxes.slice(i + 1))
        expect(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top).toBe(true);
  });

  it('saves the comparison as the command line writes it, with every digit if asked to', async () => {
    const three = ELEVEN.slice(0, 3);
    await using view = await opened(three);
    const { page } = view;
    const save = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
    };
    expect(await save('Download Comparison CSV')).toEqual({
      name: 'comparison.vmaf.csv',
      text: [...writeTableCsv(three)].join(''),
    });
    await page.getByLabel('Full precision').check();
    expect((await save('Download Comparison CSV')).text).toBe([...writeTableCsv(three, 'max')].join(''));
    const json = await save('Download Comparison JSON');
    expect(json.name).toBe('comparison.vmaf.json');
    const means = (JSON.parse(json.text) as Report[]).map(({ pooled_metrics }) => pooled_metrics.vmaf?.mean);
    expect(means).toEqual(three.map(({ pooled_metrics }) => pooled_metrics.vmaf?.mean));
    expect((await save('Download JSON')).text).toBe(
      formatReport(three[0] as Report, 'json', { precision: 'max' }),
    );
  });

  it('scores twenty pairs with the numbers of Node, which it saves with every digit', async () => {
    const format = { width: 96, height: 80, bitDepth: 8, chroma: '420' } as const;
    const write = (name: string, bytes: Uint8Array) => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, bytes);
      return path;
    };
    const reference = write('twenty.y4m', y4mFile(makeSample(format, { seed: 20 }), 'reference', 4));
    const encodes = Array.from({ length: 20 }, (_, i) => {
      const clip = makeSample(format, { seed: 20, distortion: { blur: i % 4, quantiser: 4 + 3 * i } });
      return write(`twenty-${i}.y4m`, y4mFile(clip, 'distorted', 4));
    });
    await using view = await open();
    const { page } = view;
    await page.setInputFiles('#pick-reference', reference);
    await page.setInputFiles('#pick-distorted', encodes);
    await page.locator('#findings:not(:has(.waiting)) .findings-body > *').first().waitFor();
    await page.locator('button.primary').click();
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    await page.getByLabel('Full precision').check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download Comparison JSON', exact: true }).click(),
    ]);
    const there = await scoreMany(reference, encodes, { threads: 0 });
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8')) as Report[];
    expect(saved).toHaveLength(20);
    for (const [i, report] of there.entries()) {
      // As the command line writes it with --precision max.
      const written = JSON.parse(formatReport(report, 'json', { precision: 'max' }));
      expect(saved[i]?.frames).toEqual(written.frames);
      expect(saved[i]?.pooled_metrics).toEqual(written.pooled_metrics);
      expect(saved[i]?.distribution).toEqual(written.distribution);
    }
    expect(new Set(saved.map(({ pooled_metrics }) => pooled_metrics.vmaf?.mean)).size).toBeGreaterThan(10);
  });

  it('scores metrics with a box, and shows each as a column, a curve and in the choice of the chart', async () => {
    const clip = makeSample({ width: 256, height: 224, bitDepth: 8, chroma: '420' }, { seed: 4 });
    const other = makeSample(
      { width: 256, height: 224, bitDepth: 8, chroma: '420' },
      { seed: 4, distortion: { blur: 3, quantiser: 30 } },
    );
    const write = (name: string, bytes: Uint8Array) => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, bytes);
      return path;
    };
    const reference = write('boxes-ref.y4m', y4mFile(clip, 'reference', 6));
    const encodes = [
      write('boxes-a.y4m', y4mFile(clip, 'distorted', 6)),
      write('boxes-b.y4m', y4mFile(other, 'distorted', 6)),
    ] as const;
    await using view = await open();
    const { page, complaints } = view;
    await page.setInputFiles('#pick-reference', reference);
    await page.setInputFiles('#pick-distorted', [...encodes]);
    await page.waitForSelector('#findings .fine, #findings .finding');
    await page.getByText('Settings', { exact: true }).click();
    // The model last: what is found about it moves the boxes.
    for (const name of ['PSNR luma', 'SSIM structure', 'MS-SSIM', 'CAMBI', 'CIEDE2000', 'VMAF NEG'])
      await page.getByLabel(name, { exact: false }).first().check();
    expect(await violations(page)).toEqual([]);
    await page.locator('button.primary').click();
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    const there = await score(
      { reference, distorted: encodes[1] },
      {
        threads: 0,
        models: ['version=vmaf_v0.6.1', 'version=vmaf_v0.6.1neg:name=vmaf_neg'],
        features: ['psnr', 'float_ssim', 'float_ms_ssim', 'cambi', 'ciede'],
      },
    );
    const cells = page.locator('table.encodes tbody tr').nth(1).locator('td[data-label]');
    const shown = Object.fromEntries(
      await cells.evaluateAll((all) =>
        all.map((cell) => [cell.getAttribute('data-label'), cell.textContent]),
      ),
    );
    const mean = (metric: string) => there.pooled_metrics[metric]?.mean ?? Number.NaN;
    expect(shown['VMAF NEG']).toBe(mean('vmaf_neg').toFixed(2));
    expect(Number(shown.PSNR)).toBeCloseTo(mean('psnr_y'), 2);
    expect(Number(shown.SSIM)).toBeCloseTo(mean('float_ssim'), 4);
    expect(Number(shown['MS-SSIM'])).toBeCloseTo(mean('float_ms_ssim'), 4);
    expect(Number(shown.CIEDE2000)).toBeCloseTo(mean('ciede2000'), 2);
    expect(shown.CAMBI).toBeDefined();
    // Curves of these are there at once, those of inner features on demand, in words.
    await page.locator('.features.asked canvas').first().waitFor();
    const asked = await page.locator('.features.asked .label > span:first-child').allTextContents();
    expect(asked).toEqual(
      expect.arrayContaining(['VMAF NEG', 'PSNR', 'SSIM', 'MS-SSIM', 'CAMBI', 'CIEDE2000']),
    );
    expect(await page.getByTitle('Show integer_adm2 in the large chart').isVisible()).toBe(false);
    await page.locator('.inner > summary').click();
    await page.getByTitle('Show integer_adm2 in the large chart').waitFor();
    expect(await page.locator('.inner .meaning').allTextContents()).toContain(
      'contrast of edges and texture that is left',
    );
    await page.getByLabel('Metric').selectOption('ciede2000');
    await page.getByRole('slider', { name: 'CIEDE2000 of every frame' }).waitFor();
    // A row opens its encode's worst frame in the viewer.
    await page.getByRole('button', { name: 'boxes-b.y4m', exact: true }).first().click();
    await page.locator('dialog[open]').waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps a settings box under the pointer while pairs are checked again', async () => {
    const clip = makeSample({ width: 256, height: 224, bitDepth: 8, chroma: '420' }, { seed: 4 });
    const write = (name: string, side: 'reference' | 'distorted') => {
      const path = join(encodeFolder(), name);
      writeFileSync(path, y4mFile(clip, side, 6));
      return path;
    };
    await using view = await open({ width: 1280, height: 720 });
    const { page, complaints } = view;
    await page.setInputFiles('#pick-reference', write('still-ref.y4m', 'reference'));
    await page.setInputFiles(
      '#pick-distorted',
      ['a', 'b'].map((n) => write(`still-${n}.y4m`, 'distorted')),
    );
    const checked = page.locator('#findings:not(:has(.waiting)) .findings-body > *').first();
    await checked.waitFor();
    await page.getByText('Settings', { exact: true }).click();
    const box = page.getByLabel('VMAF NEG', { exact: false }).first();
    await box.hover();
    const place = await box.boundingBox();
    // Every height that the findings take, and every place of the box, frame by frame.
    await page.evaluate(() => {
      const seen = { tops: new Set<number>(), texts: new Set<string>() };
      const look = () => {
        const input = document.querySelector('[id$="model-neg"], [id*="model-"][id*="neg"]');
        seen.tops.add(Math.round(input?.getBoundingClientRect().top ?? 0));
        seen.texts.add(document.querySelector('.findings-body')?.textContent ?? '');
        document.body.dataset.seen = JSON.stringify([[...seen.tops], [...seen.texts]]);
        requestAnimationFrame(look);
      };
      look();
    });
    // Another model: both pairs are checked again.
    await page.mouse.click((place?.x ?? 0) + 8, (place?.y ?? 0) + 8);
    await page.locator('#findings .waiting').waitFor();
    await checked.waitFor();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    const [tops, texts] = JSON.parse((await page.locator('body').getAttribute('data-seen')) ?? '[]') as [
      number[],
      string[],
    ];
    expect(texts.length).toBeGreaterThan(1);
    // Scrolling is by whole pixels, once for each change.
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(2);
    expect(await box.isChecked()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('makes and scores a sample at one click, and says what measured', async () => {
    await using view = await open();
    const { page, complaints } = view;
    await page.getByRole('button', { name: 'Try it with a sample' }).click();
    await page.getByText(/^Done in/).waitFor();
    await settled(page);
    expect(await page.locator('#result-heading').textContent()).toContain('sample-encode.y4m');
    const value = Number.parseFloat((await page.locator('.score').textContent()) ?? '');
    expect(value).toBeGreaterThan(30);
    expect(value).toBeLessThan(95);
    expect(await page.locator('.flaw, .flaw-note').count()).toBe(0);
    // The second that is worse than the rest is found.
    const first = await page.locator('.moments .when').first().textContent();
    const frame = Number(/frame (\d+)/.exec(first ?? '')?.[1]);
    expect(frame).toBeGreaterThanOrEqual(34);
    expect(frame).toBeLessThan(46);
    expect(await page.getByRole('button', { name: 'Try it with a sample' }).isVisible()).toBe(false);
    await page.locator('#results .details > summary').click();
    const run = page.locator('#results .details .run > div').filter({ hasText: 'What measured' });
    expect(await run.textContent()).toContain('the processor, WebAssembly (simd128)');
    expect(await run.locator('dt').allTextContents()).toEqual(['metrics', 'threads']);
    expect(complaints).toEqual([]);
    await page.locator('#results .details > summary').click();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.moments .shot canvas').nth(3).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(2 * 900);
    await screenshot(page, 'page-sample');
  });

  it.each([
    ['wide', 11, { width: 1920, height: 1080, dark: true }],
    ['tablet', 6, { width: 820, height: 1180 }],
    ['phone', 6, { width: 390, height: 844 }],
  ] as const)(
    'axe finds nothing, and nothing is wider than the window: %s, %d encodes',
    async (name, count, how) => {
      await using view = await opened(ELEVEN.slice(0, count), how);
      const { page } = view;
      await page.locator('.bd table').waitFor();
      for (const summary of await page.locator('#results .card > details > summary').all())
        await summary.click();
      expect(await violations(page)).toEqual([]);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      await screenshot(page, `web-many-${name}`);
    },
  );
});
