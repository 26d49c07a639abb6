/**
 * @module report/html
 * Reports as one page that needs nothing else: charts, tables, findings, in a single HTML file.
 */
import { isArray, requireObject } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { renderPage } from './html/document.js';
import { type HtmlOptions, Page } from './html/page.js';
import type { Report } from './types.js';
import { requireParts, WHOLE } from './whole.js';

export type { HtmlPictures } from './html/pictures.js';
export type { HtmlOptions };

/**
 * The page in pieces, to be written one after the other as UTF-8. It loads nothing from anywhere, works without its
 * script (charts are then still), and takes about 40 bytes per frame and encode.
 * @param reports of one reference: one, or several encodes to compare
 * @throws {AnyvmafError} `usage` without a report
 */
export function* writeHtml(
  reports: Report | readonly Report[],
  options: HtmlOptions = {},
): Generator<string, void, undefined> {
  requireObject('options', options);
  // What isArray says of a readonly array no type says.
  const list = isArray(reports) ? (reports as readonly Report[]) : [reports as Report];
  for (const report of list) requireParts('report', report, WHOLE);
  const [first, ...others] = list;
  if (first === undefined) throw usageError('An HTML report needs at least one report to show.');
  yield* renderPage(new Page([first, ...others], options));
}
