/**
 * @module report/html/index
 * Renders reports as one self-contained HTML file.
 */
import type { Report } from '../schema.js';
import type { HtmlOptions } from './page.js';

export type { HtmlOptions, HtmlPictures } from './page.js';

/**
 * Renders reports as one self-contained page: charts of every frame, pooled values, distribution, worst frames,
 * findings and how it was run. The code for the page is loaded with the first call.
 * @param reports of one reference: one, or several encodes to compare
 * @throws {AnyvmafError} `usage` without a report
 */
export async function formatHtml(
  reports: Report | readonly Report[],
  options: HtmlOptions = {},
): Promise<string> {
  const { writeHtml } = await import('./document.js');
  return [...writeHtml(reports, options)].join('');
}
