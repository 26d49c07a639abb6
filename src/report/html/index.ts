/**
 * @module report/html/index
 * Reports as one page that needs nothing else: charts, tables, findings, in a single HTML file.
 */
import type { Report } from '../types.js';
import type { HtmlOptions } from './page.js';

export type { HtmlOptions, HtmlPictures } from './page.js';

/**
 * Reports as one page that needs nothing else: charts of every frame, pooled values, distribution, worst frames, findings
 * and how it was run. The code for the page is loaded with the first call, not at the start of an application.
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
