/**
 * @module report/brief
 * A report in a few lines for a terminal; report/summary has all of it.
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

/** Means that are listed where no model was asked for. */
const BRIEF_MEANS = 6;

/** Lines beside the scores; whoever prints them adds one that says where the rest is. */
const MOST = 7;

/**
 * The scores, and seven lines at most: what was compared, the gravest doubt with what resolves it, the worst moment.
 * @throws {AnyvmafError} `usage` when the precision is not one
 */
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
  // No line ends between a name and its value.
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

/** How many remarks the lines above leave out. */
export function unsaid(reports: readonly Report[]): number {
  const causes = new Set(flawsOf(reports).map(({ trust }) => trust.cause));
  return remarks(reports).filter(({ message }) => !causes.has(message)).length;
}

/** A frame and its time in the reference. */
function momentText(report: Report, frame: number): string {
  const time = frameTime(report, frame);
  return time === undefined ? `frame ${frame}` : `${clock(time, 2)}, frame ${frame}`;
}
