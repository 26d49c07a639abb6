/**
 * @module cli/evaluation-text
 * Evaluations of tiny models as text for a terminal or a log.
 */
import { counted, printable } from '../core/printable.js';
import type { Agreement, Comparison, Evaluation, Interval, Intervals, KeyAgreement } from '../index.js';
import { grid, wrap } from '../report/terminal.js';

/** Keys shown, worst first; JSON has all. */
const SHOWN_KEYS = 10;

const FIGURES = [
  ['plcc', 'PLCC'],
  ['srocc', 'SROCC'],
  ['krocc', 'KROCC'],
  ['rmse', 'RMSE'],
] as const;

export function evaluationText(evaluation: Evaluation, width: number): string {
  const { model, features, clips, intervals, per_key: keys } = evaluation;
  const head = ['', 'rows', '', ...(clips ? ['clips', ''] : [])];
  const rows = FIGURES.map(([name, label]) => [
    label,
    figure(evaluation[name]),
    interval(intervals, name),
    ...(clips ? [figure(clips[name]), interval(clips.intervals, name)] : []),
  ]);
  const counts = ['n', String(evaluation.n), '', ...(clips ? [String(clips.n), ''] : [])];
  return [
    `${printable(`${model} on ${features}`)}\n`,
    `${scope(evaluation)}\n\n`,
    lines(grid([head, ...rows, counts], 'right')),
    ...(keys && keys.length > 1 ? [`\n${keyTable(keys)}`] : []),
    ...noteLines(evaluation.notes, width),
  ].join('');
}

export function comparisonText({ ranked }: Comparison, width: number): string {
  const [first] = ranked;
  if (!first) return '';
  const rows = ranked.map((one, i) => [
    String(i + 1),
    ...FIGURES.map(([name]) => figure(one[name])),
    interval(one.intervals, 'plcc'),
    String(one.n),
    printable(one.model),
  ]);
  const head = ['#', ...FIGURES.map(([, label]) => label), 'of PLCC', 'n', 'model'];
  const common = first.notes.filter((note) => ranked.every(({ notes }) => notes.includes(note)));
  const own = ranked.flatMap(({ model, notes }) =>
    notes.filter((note) => !common.includes(note)).map((note) => `${model}: ${note}`),
  );
  return [
    `${printable(first.features)}\n`,
    `${scope(first)}\n\n`,
    lines(grid([head, ...rows], 'right')),
    ...noteLines([...common, ...own], width),
  ].join('');
}

function scope({ split, target, n, per_key: keys, bootstrap }: Evaluation): string {
  const of = keys ? ` of ${counted(keys.length, 'key')}` : '';
  const drawn = bootstrap
    ? `; ${bootstrap.level * 100} % intervals from ${bootstrap.resamples} draws of ${bootstrap.unit}s`
    : '';
  return printable(`split ${split}: ${counted(n, 'row')}${of}, against ${target}${drawn}`);
}

function keyTable(keys: readonly KeyAgreement[]): string {
  const worst = [...keys].sort((a, b) => b.rmse - a.rmse).slice(0, SHOWN_KEYS);
  const rows = worst.map((one) => [
    ...FIGURES.map(([name]) => figure(one[name])),
    figure(one.mean_prediction),
    figure(one.mean_target),
    String(one.n),
    printable(one.key),
  ]);
  const head = [...FIGURES.map(([, label]) => label), 'predicted', 'target', 'n', 'key'];
  const title =
    keys.length > SHOWN_KEYS
      ? `The ${SHOWN_KEYS} keys of the largest error, of ${keys.length}`
      : 'Keys by error';
  return `${title}\n${lines(grid([head, ...rows], 'right'))}`;
}

function figure(value: Agreement['plcc']): string {
  return value === null ? '-' : value.toFixed(4);
}

function interval(intervals: Intervals | null, name: keyof Intervals): string {
  const ends: Interval | null = intervals?.[name] ?? null;
  return ends === null ? '' : `[${ends[0].toFixed(4)}, ${ends[1].toFixed(4)}]`;
}

function noteLines(notes: readonly string[], width: number): string[] {
  return notes.map((note) => `\n${lines(wrap(printable(note), width))}`);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
