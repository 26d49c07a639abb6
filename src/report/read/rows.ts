/**
 * @module report/read/rows
 * Reads logs of one line per frame: CSV, and MicroDVD subtitles. Both have frames and nothing else.
 */

import { wholeNumber } from '../../core/numbers.js';
import { shown } from '../../core/printable.js';
import type { FrameMetrics } from '../types.js';
import { faultAt, measuredText, notReport, type SavedParts, type SavedText } from './saved.js';

/**
 * A row with fewer values than there are metrics is left out: writers skip a missing value without a trace, so that
 * nobody can tell which it was.
 * @throws {AnyvmafError} `io`
 */
export function readCsv(saved: SavedText): SavedParts {
  const lines = linesOf(saved.text);
  const [head] = lines;
  if (!head) throw notReport(saved, 'it is empty');
  const closed = head.content.endsWith(',');
  const [, ...metrics] = cells(head.content);
  const frames: FrameMetrics[] = [];
  const notes: string[] = [];
  for (const { content, number, offset, ended } of lines.slice(1)) {
    if (content.trim() === '') continue;
    const [first = '', ...values] = cells(content);
    const frameNum = wholeNumber(first);
    if (frameNum === undefined) throw faultAt(saved, offset, 'expected a frame number');
    if (!ended && closed && !content.endsWith(',')) {
      notes.push(`Line ${number} is cut off and was left out.`);
      continue;
    }
    if (values.length > metrics.length)
      throw faultAt(saved, offset, `expected ${metrics.length} values, not ${values.length}`);
    if (values.length < metrics.length) {
      notes.push(
        `Line ${number} has ${values.length} values for ${metrics.length} metrics and was left out: which ones are ` +
          'missing cannot be told.',
      );
      continue;
    }
    let at = offset + first.length + 1;
    frames.push({
      frameNum,
      metrics: Object.fromEntries(
        metrics.map((name, i): [string, number] => {
          const text = values[i] ?? '';
          const value = measuredText(text);
          if (value === undefined) throw faultAt(saved, at, `expected a number for ${shown(name)}`);
          at += text.length + 1;
          return [name, value];
        }),
      ),
    });
  }
  return { frames, metrics, notes: summarized(notes) };
}

/** @throws {AnyvmafError} `io` */
export function readSub(saved: SavedText): SavedParts {
  const frames: FrameMetrics[] = [];
  const notes: string[] = [];
  for (const { content, number, offset, ended } of linesOf(saved.text)) {
    if (content.trim() === '') continue;
    const [opening, first = ''] = /^\{(\d+)\}\{\d+\}frame: \d+\|/.exec(content) ?? [];
    const frameNum = wholeNumber(first);
    if (opening === undefined || frameNum === undefined)
      throw faultAt(saved, offset, 'expected {N}{N+1}frame: N|');
    if (!ended && !content.endsWith('|')) {
      notes.push(`Line ${number} is cut off and was left out.`);
      continue;
    }
    const metrics: [string, number][] = [];
    for (const { 0: part, index } of content.slice(opening.length).matchAll(/[^|]+/g)) {
      const [, name = '', text = ''] = /^(.*): (\S+)$/.exec(part) ?? [];
      const value = measuredText(text);
      if (value === undefined)
        throw faultAt(saved, offset + opening.length + index, 'expected a metric and its number');
      metrics.push([name, value]);
    }
    frames.push({ frameNum, metrics: Object.fromEntries(metrics) });
  }
  return { frames, notes };
}

interface Line {
  readonly content: string;
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  /** Whether a line end follows. */
  readonly ended: boolean;
}

function linesOf(text: string): Line[] {
  let offset = 0;
  const parts = text.split('\n');
  return parts.map((part, i) => {
    const line = {
      content: part.replace(/\r$/, ''),
      number: i + 1,
      offset,
      ended: i < parts.length - 1,
    };
    offset += part.length + 1;
    return line;
  });
}

/** libvmaf ends every row with a comma. */
function cells(line: string): string[] {
  return line
    .replace(/,\s*$/, '')
    .split(',')
    .map((cell) => cell.trim());
}

/** The first few, and how many more there are. */
function summarized(notes: readonly string[]): string[] {
  const shown = notes.slice(0, 3);
  return notes.length > 3 ? [...shown, `${notes.length - 3} more lines were left out.`] : shown;
}
