/**
 * @module cli/search-text
 * A search in words: its points as a table with a curve beside it, and the answer.
 */

import { printable, shown } from '../core/printable.js';
import { quotedWord } from '../core/shell.js';
import type { EncodedPoint, SearchPoint, SearchResult } from '../index.js';
import { targetText } from '../report/limits.js';
import { cut } from '../report/terminal.js';

/** Columns of the curve. */
const CURVE = 24;

/** The same beside a name. */
const SHORT_CURVE = 16;

/** `95.31` or, of bit rates, `3150 kb/s`. */
function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

/** The head of the table of points. */
export function pointsHead(parameter: string, metric: string): string {
  return `${parameter.padStart(10)} ${metric.padStart(9)} ${'kb/s'.padStart(9)}`;
}

/** A point in a line: what was set, what came of it, and how far that is from the target. */
export function pointLine(point: SearchPoint, parameter: string): string {
  const { value, quality, kbps, margin, cached } = point;
  const verdict = margin >= 0 ? 'holds' : `misses by ${(-margin).toFixed(2)}`;
  const columns = [
    valueText(parameter, value).padStart(10),
    quality.toFixed(2).padStart(9),
    Math.round(kbps).toString().padStart(9),
  ];
  return `${columns.join(' ')}  ${curveBar(quality)}  ${verdict}${cached ? ' (known)' : ''}`;
}

/** Columns of a curve's name: a longer one loses its middle. */
const NAME = 24;

/** The head of a table of points of several curves. */
export function curveHead(curve: string, parameter: string, quality: string): string {
  return `${curve.padEnd(NAME)} ${parameter.padStart(10)} ${quality.padStart(9)} ${'kb/s'.padStart(9)}`;
}

/** A point of one of several curves in a line of 80 columns at most. */
export function curveLine(curve: string, point: EncodedPoint & { readonly quality: number }): string {
  const { value, quality, kbps, cached } = point;
  const columns = [
    cut(printable(curve), NAME, 'both').padEnd(NAME),
    String(value).padStart(10),
    quality.toFixed(2).padStart(9),
    Math.round(kbps).toString().padStart(9),
  ];
  return `${columns.join(' ')}  ${curveBar(quality, SHORT_CURVE)}${cached ? ' known' : ''}`;
}

/** A quality as a bar of 0 to 100. */
function curveBar(quality: number, width = CURVE): string {
  const filled = Math.round((Math.max(0, Math.min(100, quality)) / 100) * width);
  return '#'.repeat(filled).padEnd(width, '.');
}

/** The answer, and what to do with it. */
export function answerText(result: SearchResult): string {
  const { encoder, parameter, value, targets, shortfall, predicted, samples, encodes, cached, final } =
    result;
  const found = `${encoder} ${parameter} ${valueText(parameter, value)}`;
  const aims = targets.map(targetText).join(' and ');
  const { unfinished } = result;
  const lines = unfinished
    ? unfinishedLines(result, found, aims)
    : [shortfall ? `No setting gives ${aims}${shortfallText(result)}` : `${found} gives ${aims}.`];
  const [low, high] = predicted.interval99;
  const spread =
    samples && samples.length > 1 ? ` (99 % sure from ${low.toFixed(2)} to ${high.toFixed(2)})` : '';
  lines.push(`Predicted: ${predicted.value.toFixed(2)}${spread}, about ${megabytes(result.predictedBytes)}.`);
  if (result.notMonotone.length > 0) {
    const places = result.notMonotone.map((one) => valueText(parameter, one)).join(', ');
    lines.push(`The curve is not monotone: ${places} is better than the point before it.`);
  }
  if (final) {
    const values = targets.map(
      ({ metric, statistic }, i) =>
        `${metric} ${statistic.replace('_', ' ')} ${final.qualities[i]?.toFixed(2)}`,
    );
    const reached = final.reached ? 'which reaches the target' : 'which misses the target';
    const where = final.file === null ? 'The whole source' : shown(final.file);
    lines.push(
      `${where} encoded so: ${values.join(', ')}, ${reached}; ${megabytes(final.bytes)}, ${Math.round(final.kbps)} kb/s.`,
    );
  }
  lines.push(...unwrittenLines(result), ...result.warnings.map((text) => `Note: ${text}`));
  const counts = `${encodes} ${encodes === 1 ? 'encode' : 'encodes'}, ${cached} known from before`;
  lines.push(`${counts}.`, result.command.map(quotedWord).join(' '));
  return `${lines.join('\n')}\n`;
}

/** What is known so far, and how to go on. */
function unfinishedLines(result: SearchResult, found: string, aims: string): string[] {
  const { shortfall, parameter, unfinished } = result;
  const so =
    shortfall?.reason === 'target'
      ? `nothing gives ${aims} yet; the nearest, ${found}, stays ${shortfall.by.toFixed(2)} below`
      : `${found} gives ${aims}, and a smaller file may`;
  const [min, max] = [unfinished?.min ?? 0, unfinished?.max ?? 0].map((value) => valueText(parameter, value));
  return [
    `Unfinished: ${so}.`,
    `The answer lies from ${min} to ${max}: the same command goes on from the points that are kept; without a cache add --values ` +
      `${unfinished?.min}..${unfinished?.max}.`,
  ];
}

/** That a file was not written, and how to have it all the same. */
export function unwrittenLines({
  unwritten,
  unfinished = null,
}: Pick<SearchResult, 'unwritten'> & Partial<Pick<SearchResult, 'unfinished'>>): readonly string[] {
  if (unwritten === null) return [];
  if (unfinished) return [`${shown(unwritten)} was not written.`];
  return [
    `${shown(unwritten)} was not written, since it misses what was asked; --encode-missed writes it all the same.`,
  ];
}

function shortfallText({ shortfall, encoder, parameter, value }: SearchResult): string {
  const nearest = `${encoder} ${parameter} ${valueText(parameter, value)}`;
  if (shortfall?.reason === 'target')
    return `: the nearest, ${nearest}, stays ${shortfall.by.toFixed(2)} below.`;
  if (shortfall?.reason === 'size')
    return ` within the size: ${nearest} takes ${(shortfall.share * 100).toFixed(1)} % of the source's.`;
  return ` and no more: ${nearest} is ${shortfall?.by.toFixed(2)} above the upper bound.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1)} MB`;
}
