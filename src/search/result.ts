/**
 * @module search/result
 * Results of searches, ladders and comparisons as texts, and read back: tables for a terminal, JSON that holds everything, CSV
 * of the points, an HTML page. What writes and reads them is loaded when it is asked for.
 */
import { isObject, oneOf, requireText, wrongType } from '../core/arguments.js';
import type { CurveResult } from './curve-view.js';

/** What a result can be written as. */
export const RESULT_FORMATS = ['text', 'json', 'csv', 'html'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

/**
 * A result of `searchQuality`, `buildLadder` or `compareEncoders` as a text.
 * @throws {AnyvmafError} `usage` for a format that there is not
 */
export async function formatEncodingResult(result: CurveResult, format: ResultFormat): Promise<string> {
  if (!isResult(result))
    throw wrongType('result', result, 'the result of a search, a ladder or a comparison');
  const how = oneOf('format', format, RESULT_FORMATS);
  if (how === 'json') return `${JSON.stringify(result, null, 2)}\n`;
  if (how === 'html') return (await import('./page.js')).resultPage(result);
  const { csvOf, textOf } = await import('./result-texts.js');
  return how === 'csv' ? csvOf(result) : textOf(result);
}

/**
 * Reads a result that {@link formatEncodingResult} wrote as JSON.
 * @throws {AnyvmafError} `usage` for a text that is no such result, naming the first place that is wrong
 */
export async function readEncodingResult(text: string): Promise<CurveResult> {
  requireText('text', text, 'the JSON of a result');
  return (await import('./result-checks.js')).parseResult(text);
}

/** Whether a value claims to be a result. */
function isResult(data: unknown): boolean {
  try {
    return isObject(data) && ['search', 'ladder', 'comparison'].includes(String(data.kind));
  } catch {
    // A proxy that answers nothing.
    return false;
  }
}
