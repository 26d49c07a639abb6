/**
 * @module report/alignment
 * The temporal relation of two videos as a person reads it in a terminal: a sentence, a drawing, what to do.
 */

import { counted, printable } from '../core/printable.js';
import type { AlignResult } from '../media/align/types.js';
import { aligned, type Paint, paint, wrap } from './terminal.js';

export interface AlignmentOptions {
  /** Columns of the terminal, at least 60 are taken. Default 80. */
  readonly width?: number;
  /** ANSI colours. Default false. */
  readonly color?: boolean;
  /** Frames per second of the reference, for times. */
  readonly rate?: number;
  /** The last line: what to do with the result, in the words of the caller. */
  readonly advice?: string;
}

/** Most candidates that are listed. */
const CANDIDATES = 6;

/** Columns of the drawing's longer bar. */
const BAR = 48;

/** The view for a terminal. */
export function alignmentText(result: AlignResult, options: AlignmentOptions = {}): string {
  const { advice } = options;
  const width = Math.max(60, options.width ?? 80);
  const style = paint(options.color ?? false);
  const { offset, confidence, ambiguous, reason, explanation, compared, candidates } = result;
  const time = options.rate === undefined || offset === 0 ? '' : ` (${seconds(offset / options.rate)})`;
  const sure = `confidence ${confidence.toFixed(2)}`;
  const value = `offset ${counted(offset, 'frame')}${time}`;
  const heading = ambiguous
    ? `${style.warn(value)}  ${style.warn('not certain')}  ${style.dim(`${sure}, ${reason}`)}`
    : `${style.bold(style.good(value))}  ${style.dim(sure)}`;
  const sentences = wrap(printable(explanation), width);
  const sections = [
    [heading, ...sentences],
    reason === 'unrelated' ? [] : drawing(offset, compared, style),
    ambiguous && candidates.length > 1 ? candidateTable(result, style) : [],
    advice === undefined ? [] : [style.dim(advice)],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map((line) => line.trimEnd()).join('\n')}\n`)
    .join('\n');
}

/** Two bars on one time line. */
function drawing(offset: number, compared: number, style: Paint): string[] {
  const lead = Math.abs(offset);
  const total = lead + Math.max(1, compared);
  const before = lead === 0 ? 0 : Math.max(1, Math.round((lead / total) * BAR));
  const common = '█'.repeat(Math.max(1, BAR - before));
  const early = '░'.repeat(before);
  const late = ' '.repeat(before);
  return [
    `${style.dim('reference')}  ${offset > 0 ? style.dim(early) : late}${common}`,
    `${style.dim('distorted')}  ${offset < 0 ? style.dim(early) : late}${style.good(common)}`,
  ];
}

function candidateTable({ candidates }: AlignResult, style: Paint): string[] {
  const shown = candidates.slice(0, CANDIDATES);
  const offsets = aligned(['offset', ...shown.map(({ offset }) => String(offset))], 'right');
  const values = aligned(['similarity', ...shown.map(({ similarity }) => similarity.toFixed(4))], 'right');
  const [head = '', ...rows] = offsets.map((offset, i) => `  ${offset}  ${values[i]}`);
  const rest = candidates.length - shown.length;
  return [
    style.bold('Offsets that fit equally well'),
    style.dim(head),
    ...rows,
    ...(rest > 0 ? [style.dim(`  and ${rest} more`)] : []),
  ];
}

function seconds(value: number): string {
  return `${value < 0 ? '-' : ''}${Math.abs(value).toFixed(3)} s`;
}

const DATA = [
  'offset',
  'confidence',
  'ambiguous',
  'reason',
  'explanation',
  'similarity',
  'compared',
  'candidates',
  'levels',
  'repeated',
] as const satisfies readonly (keyof AlignResult)[];

/** The same as data. */
export function alignmentData(result: AlignResult): unknown {
  return Object.fromEntries(DATA.map((key) => [key, result[key]]));
}
