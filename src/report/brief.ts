/**
 * @module report/brief
 * A short report for a terminal; report/summary writes the full one.
 */
import { printable } from '../core/printable.js';
import { baseName, comparedText, frameTime, referenceOf } from './facts.js';
import { remarks } from './findings.js';
import { doubtLines, flawsOf } from './flaws.js';
import { askedOf, mainOf, runValue, valueMeaning, valuesWithoutGrain } from './quality-metrics.js';
import { cell, metricsShown, modelScores, type SummaryOptions, tinyScores, viewOf } from './summary.js';
import { clock, cut, wrap } from './terminal.js';
import type { Report } from './types.js';
import { ranking, worstFrames } from './worst.js';

const BRIEF_MEANS = 6;

/** Lines at most besides the scores; the caller adds one that points to the full report. */
const MOST = 7;

/** Scores, then at most seven lines: what was compared, the gravest doubt with its remedy, the worst moment. */
export function brief(report: Report, options: Omit<SummaryOptions, 'worst'> = {}): string {
  const view = viewOf(options);
  const { width, style } = view;
  const rank = ranking(report);
  const { distorted, models, tiny = [] } = report;
  const scored = [...modelScores(report, view).lines, ...tinyScores(report, view)];
  const scores = new Set([...models.map(({ name }) => name), ...tiny.flatMap(({ metrics }) => metrics)]);
  const shown = metricsShown(report);
  const asked = scored.length > 0 ? askedOf(shown, [report]).filter((name) => !scores.has(name)) : shown;
  const meanOf = (name: string) => {
    const value = runValue(report, name);
    return `${printable(name)} ${value === undefined ? 'incomplete' : cell(value)}`;
  };
  const means = mainOf(asked, [report]).slice(0, BRIEF_MEANS).map(meanOf);
  const bare = valuesWithoutGrain(report)
    .slice(0, BRIEF_MEANS)
    .map(({ metric, value }) => `${printable(metric)}\u00a0${cell(value)}`);
  const without = bare.length > 0 ? [`Without film grain: ${bare.join(', ')}`] : [];
  const meaning = (scored.length === 0 && rank && valueMeaning(rank.metric)) || '';
  // A non-breaking space keeps a name and its value on one line.
  const more = scored.length > 0 ? means.map((mean) => mean.replace(' ', '\u00a0')).join(', ') : meaning;
  const names = [distorted, referenceOf(report)].flatMap((side) =>
    side ? [printable(baseName(side.name))] : [],
  );
  const [worst] = rank ? worstFrames(report, rank, 1) : [];
  const above = [
    style.dim(`  ${cut(names.join(' against '), width - 2, 'both')}`),
    style.dim(`  ${comparedText(report) ?? 'No frame was compared.'}`),
    ...[more, ...without].flatMap((text) =>
      text === ''
        ? []
        : wrap(text, width - 2).map((line) => style.dim(`  ${line.replaceAll('\u00a0', ' ')}`)),
    ),
  ];
  const below =
    rank && worst
      ? [`  Worst: ${momentText(report, worst.frameNum)}, ${printable(rank.metric)} ${cell(worst.value)}`]
      : [];
  const lines = [
    ...(scored.length > 0 ? scored : means.map((mean) => `  ${mean}`)),
    ...above,
    ...doubtLines([report], [''], view, MOST - above.length - below.length),
    ...below,
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Number of remarks that {@link brief} leaves out. */
export function unsaid(reports: readonly Report[]): number {
  const causes = new Set(flawsOf(reports).map(({ trust }) => trust.cause));
  return remarks(reports).filter(({ message }) => !causes.has(message)).length;
}

function momentText(report: Report, frame: number): string {
  const time = frameTime(report, frame);
  return time === undefined ? `frame ${frame}` : `${clock(time, 2)}, frame ${frame}`;
}
