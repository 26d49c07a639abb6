/**
 * @module test/support/saved-reports
 * Saved reports for the page, made from series of scores.
 */
import type { Locator, Page } from 'playwright-core';
import type { ReportParts } from '../../src/report/build.js';
import type { Report } from '../../src/report/schema.js';
import { formatReport } from '../../src/report/write.js';
import { type Pages, settled, type View, write } from './page.js';
import { built, report as plain, vmafModel } from './report.js';

/** Scores around a level, with a dip to a tenth of it at 40 % and a smaller one of one frame at 80 %. */
export function scores(level: number, length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    const dip = 0.9 * level * Math.exp(-((i - Math.round(length * 0.4)) ** 2) / 60);
    return level + 2 * Math.sin(i / 9) - (i === Math.round(length * 0.8) ? level / 3 : dip);
  });
}

/** A saved report of 1080p at 25 fps. */
export function made(name: string, values: Float64Array, parts: Partial<ReportParts> = {}): Report {
  const frameRate = { num: 25, den: 1 };
  const { reference } = plain();
  const input = { ...reference, width: 1920, height: 1080, frameCount: values.length, frameRate };
  const features = {
    integer_adm2: values.map((value) => value / 100),
    integer_vif_scale0: values.map((value) => value / 120),
  };
  return built(
    { ...features, vmaf: values },
    {
      reference: { ...input, name: 'master.mov' },
      distorted: { ...input, name },
      models: [vmafModel],
      preflight: [
        { code: 'levels', severity: 'warning', message: 'Levels differ.', reference: 16, distorted: 0 },
      ],
      ...parts,
    },
  );
}

export const meanOf = (report: Report | undefined, metric = 'vmaf'): number =>
  report?.pooled_metrics[metric]?.mean ?? Number.NaN;

/** Writes the file of a report at full precision. @returns the path */
export const fileOf = (report: Report): string =>
  write(`${report.distorted.name}.json`, formatReport(report, 'json', { precision: 'max' }));

/** Opens a page with saved reports. */
export async function openReports(site: Pages, reports: readonly Report[], view: View = {}): Promise<Page> {
  const page = await site.open(view);
  await replaceReports(page, reports.map(fileOf));
  return page;
}

/** Opens saved reports in place of those on a page. */
export async function replaceReports(page: Page, paths: readonly string[]): Promise<void> {
  await page.evaluate(() => document.querySelector('#results > *')?.setAttribute('data-before', ''));
  await page.setInputFiles('#pick-reports', paths);
  await page.locator('#results:not([hidden]):not(:has(> [data-before]))').waitFor();
  await settled(page);
}

/** The chart of all frames. */
export const chart = (page: Page): Locator => page.locator('.plot.large');

/** The element that takes the keys of that chart. */
export const slider = (page: Page): Locator => page.getByRole('slider', { name: /of every frame/ });

/** Waits until the chart shows all frames, and hovers its middle. */
export async function middle(page: Page): Promise<{ x: number; y: number; width: number }> {
  await page.locator('.plot.large[data-last]:not([data-last="0"])').waitFor();
  const marks = chart(page).locator('.marks');
  await marks.hover();
  const box = await marks.boundingBox();
  if (!box) throw new Error('is not to be seen');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width };
}
