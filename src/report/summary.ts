/**
 * @module report/summary
 * Renders a report for a terminal: scores, pooled values, percentiles, worst frames, what ran.
 */
import { requireObject } from '../core/arguments.js';
import { formatFixed } from '../core/numbers.js';
import { counted, printable } from '../core/printable.js';
import {
  cellText,
  colourText,
  frameRate,
  frameTime,
  isMember,
  keptOf,
  pairRate,
  pooledCount,
  terminalFacts,
} from './facts.js';
import { pooledMetric } from './pool.js';
import { frameGap, type Ranking, ranking, viewerOpinion, worstFrames } from './ranking.js';
import { runGroups } from './run.js';
import { type Report, type ReportInput, type ReportModel, requireParts, WHOLE } from './schema.js';
import {
  aligned,
  clock,
  columns,
  cut,
  grid,
  type Layout,
  type Line,
  layoutOf,
  pad,
  type Section,
  sectionsText,
  type TerminalOptions,
  widest,
  wrap,
} from './sections.js';
import { causeText, flawOf, remarkLines, remarks, TRUST_SIGNS, TRUST_WORDS, trustOf } from './trust.js';
import { type Precision, textNumber } from './write.js';

export interface SummaryOptions extends TerminalOptions {
  /** Precision of the scores at the top; tables have four decimals. Default `legacy`. */
  readonly precision?: Precision;
  /** Number of worst frames to list. Default 5; 0 omits the section. */
  readonly worst?: number;
}

/**
 * Returns a summary of several lines, each ended by a line feed.
 * @throws {AnyvmafError} `usage` if the precision is invalid
 */
export function summarize(report: Report, options: SummaryOptions = {}): string {
  requireParts('report', report, WHOLE);
  requireObject('options', options);
  const view = viewOf(options);
  const rank = ranking(report);
  return sectionsText(
    [
      { lines: inputs(report, view) },
      { title: 'Score', lines: scores(report, view) },
      pooledTable(report),
      percentileTable(report, rank),
      worstTable(report, rank, options.worst ?? 5),
      { title: 'Whole run', lines: aggregates(report, view) },
      grainTable(report),
      { title: 'What ran', lines: run(report, view) },
      preflight(report),
    ],
    view,
  );
}

export interface View extends Layout {
  readonly number: (value: number) => string;
}

export function viewOf({ precision = 'legacy', ...terminal }: SummaryOptions): View {
  return { ...layoutOf(terminal), number: textNumber(precision) };
}

function inputs(report: Report, { width, style }: View): string[] {
  const videos = [report.reference, report.distorted];
  const names = videos.map(({ name }) => printable(name));
  const facts = grid(videos.map(columnsOf), 'left');
  const roles = ['reference  ', 'distorted  '];
  const room = width - columns('reference  ');
  // Names go beside the facts if both fit there, else above them.
  const beside = names.every((name, i) => columns(`${facts[i]}  ${name}`) <= room);
  return names.flatMap((name, i) => {
    const [role = '', fact = ''] = [roles[i], facts[i]];
    if (beside) return [`${style.dim(role + fact)}  ${name}`];
    return [style.dim(role) + cut(name, room, 'end'), ' '.repeat(columns(role)) + style.dim(fact.trimEnd())];
  });
}

/** One phrase per column: the rate has its own, frames share one with those skipped. */
function columnsOf(input: ReportInput): string[] {
  const [size = '', planes = '', depth = '', ...rest] = terminalFacts(input);
  const timed = frameRate(input) !== undefined;
  return [size, planes, depth, timed ? (rest[0] ?? '') : '', rest.slice(timed ? 1 : 0).join(', ')];
}

function scores(report: Report, view: View): (string | Line)[] {
  const flaws = trustLines(report);
  const tiny = tinyScores(report, view);
  if (report.models.length === 0) return [...tiny, ...flaws];
  const { lines, notes } = modelScores(report, view);
  const means = [...notes].map((text): Line => ({ lead: '  ', text, tone: 'dim' }));
  return [...lines, ...flaws, ...means, ...tiny];
}

function trustLines(report: Report): Line[] {
  const flaw = flawOf(report);
  const { verdict } = flaw.trust;
  if (verdict === 'fine') return [];
  const text = `${TRUST_WORDS[verdict]}: ${causeText(flaw)}`;
  return [{ lead: `  ${TRUST_SIGNS[verdict]} `, text, tone: 'warn' }];
}

function mark(report: Report): string {
  const sign = TRUST_SIGNS[trustOf(report).verdict];
  return sign === '' ? '' : ` ${sign}`;
}

/** Means of tiny models, which share no scale. */
export function tinyScores(report: Report, { style, number, width }: View): string[] {
  const flaw = mark(report);
  const means = (report.tiny ?? []).flatMap(({ metrics, source }) =>
    metrics.map((metric) => ({ metric, source, pooled: pooledMetric(report, metric) })),
  );
  const names = aligned(means.map(({ metric }) => printable(metric)));
  return means.map(({ source, pooled }, i) => {
    const value = pooled ? number(pooled.mean) : 'not predicted';
    const lead = `  ${names[i] ?? ''}  ${value}${flaw}  `;
    return `  ${names[i] ?? ''}  ${style.bold(value)}${style.warn(flaw)}  ${style.dim(cut(printable(source), width - columns(lead), 'end'))}`;
  });
}

/** A line per model, and notes on its word. */
export function modelScores(report: Report, { style, number, width }: View) {
  const { models } = report;
  const flaw = mark(report);
  const pooled = models.map(({ name }) => pooledMetric(report, name));
  // Viewers' opinion of a wrong pair is unknown.
  const { verdict } = trustOf(report);
  const opinions = models.map((model) =>
    verdict === 'untrusted' ? undefined : viewerOpinion(report, model),
  );
  const names = aligned(models.map(({ name }) => printable(name)));
  const values = aligned(
    pooled.map((metric) => (metric ? number(metric.mean) : 'not predicted')),
    'right',
  );
  const words = aligned(opinions.map((opinion) => opinion?.word ?? ''));
  const lines = models.flatMap((model, i) => {
    const [name = '', value = '', word = ''] = [names[i], values[i], words[i]];
    const gap = word === '' ? '  ' : `  ${word}  `;
    const source = cut(printable(model.source), width - columns(`  ${name}  ${value}${flaw}${gap}`), 'end');
    return [
      `  ${name}  ${style.bold(value)}${style.warn(flaw)}${gap}${style.dim(source)}`,
      ...confidence(report, model, number).map((line) => `    ${line}`),
    ];
  });
  return { lines, notes: new Set(opinions.flatMap((opinion) => (opinion ? [opinion.means] : []))) };
}

function confidence(report: Report, { collection }: ReportModel, number: View['number']): string[] {
  if (!collection) return [];
  const { bagging, ciLow, ciHigh, stddev, members } = collection;
  const [mean, low, high, deviation] = [bagging, ciLow, ciHigh, stddev].map((key) => {
    const pooled = pooledMetric(report, key);
    return pooled && number(pooled.mean);
  });
  if (mean === undefined) return [];
  return [
    `bagging ${mean}, ci.p95: [${low}, ${high}], stddev: ${deviation}`,
    `(${counted(members, 'bootstrap model')}; their own scores are not listed)`,
  ];
}

function pooledTable(report: Report): Section {
  const whole = keptOf(report, report.frames.length) === undefined;
  const rows = metricsShown(report).map((name) => {
    const pooled = pooledMetric(report, name);
    if (!pooled) return [name, 'incomplete', '', '', '', ''];
    const { min, mean, harmonic_mean, max } = pooled;
    const spread = whole ? report.distribution[name]?.stddev : undefined;
    const harmonic = Number.isNaN(harmonic_mean) && !Number.isNaN(mean) ? '-' : cell(harmonic_mean);
    return [name, cell(min), cell(mean), harmonic, cell(max), spread === undefined ? '' : cell(spread)];
  });
  const title = `Pooled over ${counted(pooledCount(report, report.frames.length), 'frame')}`;
  return named(title, ['min', 'mean', 'harmonic', 'max', whole ? 'stddev' : ''], rows);
}

function percentileTable(report: Report, rank: Ranking | undefined): Section {
  const scored = report.models.flatMap(({ name, collection }) =>
    collection ? [name, collection.bagging] : [name],
  );
  const names = (
    scored.some((name) => pooledMetric(report, name)) ? scored : rank ? [rank.metric] : []
  ).filter((name) => pooledMetric(report, name) && report.distribution[name]);
  const rows = names.map((name) => {
    const { p1, p5, p10, p50 } = report.distribution[name]?.percentiles ?? {};
    return [name, ...[p1, p5, p10, p50].flatMap((value) => (value === undefined ? [] : cell(value)))];
  });
  const kept = keptOf(report, report.frames.length);
  const title = kept === undefined ? 'Percentiles' : `Percentiles of the last ${counted(kept, 'frame')}`;
  return named(title, ['1 %', '5 %', '10 %', 'median'], rows);
}

function worstTable(report: Report, rank: Ranking | undefined, count: number): Section {
  const worst = rank && count >= 1 ? worstFrames(report, rank, count) : [];
  if (!rank || worst.length === 0) return {};
  const known = pairRate(report) !== undefined;
  const gap = counted(frameGap(report), 'frame');
  const kept = keptOf(report, report.frames.length);
  const among = kept === undefined ? 'frames' : `of the last ${counted(kept, 'frame')}`;
  const title = `Worst ${among} by ${printable(rank.metric)}, at least ${known ? `${gap} (1 s)` : gap} apart`;
  const rows = worst.map(({ frameNum, value }) => {
    const time = frameTime(report, frameNum);
    return [String(frameNum), time === undefined ? '' : clock(time, 2), cell(value)];
  });
  return { title, table: { heads: ['frame', known ? 'time' : '', 'value'], rows } };
}

function aggregates(report: Report, { number }: View): string[] {
  const entries = Object.entries(report.aggregate_metrics);
  const names = aligned(entries.map(([name]) => printable(name)));
  const values = aligned(
    entries.map(([, value]) => number(value)),
    'right',
  );
  return names.map((name, i) => `  ${name}  ${values[i]}`);
}

function grainTable(report: Report): Section {
  const rows = (report.withoutGrain ?? []).map(({ metric, value }) => {
    const whole = report.aggregate_metrics[metric] ?? pooledMetric(report, metric)?.mean ?? Number.NaN;
    return [metric, cell(whole), cell(value)];
  });
  return named('Film grain', ['with', 'without'], rows);
}

/** Rows of a video that the summary shows elsewhere or not at all. */
const OMITTED: readonly string[] = ['file', 'video', 'encoder', 'colour'];

function run(report: Report, { style, width }: View): string[] {
  const [reference, distorted, ...others] = runGroups([report]);
  const sides = [reference, distorted].flatMap((group): [string, string][] => {
    const known = group?.[1].filter(([name]) => !OMITTED.includes(name)) ?? [];
    return known.length === 0
      ? []
      : [[group?.[0].toLowerCase() ?? '', known.map((row) => row.join(' ')).join(', ')]];
  });
  const rows = [...sides, ...colourRows(report), ...others.flatMap(([, group]) => group)];
  const label = widest(rows.map(([name]) => name.length));
  return rows.flatMap(([name, value]) =>
    wrap(printable(value), width - label - 4).map(
      (line, i) => `  ${style.dim(pad(i === 0 ? name : '', label))}  ${line}`,
    ),
  );
}

/** Conversion to linear light; one row if it is the same for both videos. */
function colourRows({ reference, distorted }: Report): [string, string][] {
  const [ref, dis] = [reference, distorted].map(colourText);
  if (ref === undefined || dis === undefined) return [];
  if (ref === dis) return [['colour', ref]];
  return [
    ['colour', `reference: ${ref}`],
    ['', `distorted: ${dis}`],
  ];
}

function preflight(report: Report): Section {
  const list = remarks([report]);
  const only = list.length === 1 ? 'Warning' : 'Warnings';
  return { title: report.preflight === undefined ? only : 'Preflight', lines: remarkLines(list) };
}

/** Metrics worth a row: scores first, then features, without single members of a collection. */
export function metricsShown(report: Report): string[] {
  const scored = report.models.flatMap(({ name, collection }) =>
    collection ? [name, collection.bagging, collection.stddev, collection.ciLow, collection.ciHigh] : [name],
  );
  const collections = report.models.filter((model) => model.collection).map(({ name }) => name);
  scored.push(...(report.tiny ?? []).flatMap(({ metrics }) => metrics));
  const present = new Set(report.metrics);
  const first = new Set(scored.filter((name) => present.has(name)));
  return [...first, ...report.metrics.filter((name) => !first.has(name) && !isMember(collections, name))];
}

function named(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): Section {
  return rows.length === 0 ? {} : { title, table: { names: 'both', heads: ['', ...heads], rows } };
}

/** As {@link cellText}, but non-finite values as printf writes them. */
export function cell(value: number): string {
  if (Number.isFinite(value)) return cellText(value);
  return Number.isNaN(value) ? 'nan' : formatFixed(value, 4);
}
