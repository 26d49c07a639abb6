/**
 * @module report/brief
 * Short texts for a terminal: one report, several encodes as a table (also as CSV), and the root causes of doubt with
 * their remedies; report/summary writes a report in full.
 */
import { counted, printable } from '../core/printable.js';
import type { Finding } from '../media/preflight/findings.js';
import {
  baseName,
  beginApart,
  bitrateOf,
  bitrateText,
  commonReference,
  comparedText,
  fileSizeOf,
  frameTime,
  joined,
  keptOf,
  referenceOf,
  sizeText,
  skippedText,
  terminalFacts,
  valueTextOf,
} from './facts.js';
import { isWorseHigh } from './limits.js';
import { pooledMetric } from './pool.js';
import { askedOf, mainOf, runValue, valueMeaning, valuesWithoutGrain, wholeOf } from './quality-metrics.js';
import { ranking, worstFrames } from './ranking.js';
import type { FailedEncode, Report, ReportInput } from './schema.js';
import {
  clock,
  columns,
  cut,
  type Layout,
  type Line,
  layoutOf,
  lineTexts,
  sectionsText,
  type TerminalOptions,
  wrap,
} from './sections.js';
import { cell, metricsShown, modelScores, type SummaryOptions, tinyScores, viewOf } from './summary.js';
import {
  flawOf,
  type Judged,
  type Judgement,
  remarkLines,
  remarks,
  remedyText,
  TRUST_SIGNS,
  TRUST_WORDS,
  type Trust,
  trustOf,
} from './trust.js';
import { type Precision, textNumber } from './write.js';

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
  const requested = scored.length > 0 ? askedOf(shown, [report]).filter((name) => !scores.has(name)) : shown;
  const meanOf = (name: string) => {
    const value = runValue(report, name);
    return `${printable(name)} ${value === undefined ? 'incomplete' : cell(value)}`;
  };
  const means = mainOf(requested, [report]).slice(0, BRIEF_MEANS).map(meanOf);
  const bare = valuesWithoutGrain(report)
    .slice(0, BRIEF_MEANS)
    .map(({ metric, value }) => `${printable(metric)}\u00a0${cell(value)}`);
  const without = bare.length > 0 ? [`Without film grain: ${bare.join(', ')}`] : [];
  const meaning = (scored.length === 0 && rank && valueMeaning(rank.metric)) || '';
  // A non-breaking space keeps a name and its value on one line.
  const more = scored.length > 0 ? means.map((mean) => mean.replace(' ', '\u00a0')).join(', ') : meaning;
  const inputs = [distorted, referenceOf(report)].filter((input) => input !== undefined);
  const names = inputs.map(({ name }) => printable(baseName(name)));
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
  const kept = keptOf(report, report.frames.length);
  const among = kept === undefined ? '' : ` of the last ${counted(kept, 'frame')}`;
  const below =
    rank && worst
      ? [
          `  Worst${among}: ${momentText(report, worst.frameNum)}, ${printable(rank.metric)} ${cell(worst.value)}`,
        ]
      : [];
  const lines = [
    ...(scored.length > 0 ? scored : means.map((mean) => `  ${mean}`)),
    ...above,
    ...doubts([report], [''], view, MOST - above.length - below.length),
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

export interface TableOptions extends TerminalOptions {
  /** Precision of the scores. Default `legacy`. */
  readonly precision?: Precision;
  /**
   * Notes below the table. `all` (default): findings and warnings. `causes`: root cause and remedy of each
   * marked encode, in a few lines. `none`: what the marks mean.
   */
  readonly notes?: 'all' | 'causes' | 'none';
  /** Names of encodes that could not be scored: rows without values, after the others. */
  readonly failed?: readonly string[];
}

const MOST_CAUSES = 5;

/** Metrics of the heading: scores of models, or else the feature that ranks frames. */
function tableMetrics(reports: readonly Report[]): string[] {
  const scores = reports.flatMap(({ models, tiny = [] }) => [
    ...models.map(({ name }) => name),
    ...tiny.flatMap(({ metrics }) => metrics),
  ]);
  if (scores.length > 0) return [...new Set(scores)];
  const rank = reports.map(ranking).find((found) => found !== undefined);
  const metric = rank?.metric ?? reports[0]?.metrics[0];
  return metric === undefined ? [] : [wholeOf(metric, reports)];
}

/** Metrics of the CSV: those of the heading, then others that were requested. */
function comparedMetrics(reports: readonly Report[]): string[] {
  const all = reports.flatMap(({ metrics }) => metrics);
  const requested = askedOf(all, reports);
  return [...new Set([...tableMetrics(reports), ...requested, ...mainOf(requested, reports)])];
}

/** @throws {AnyvmafError} `usage` if the precision is invalid */
export function encodesTable(reports: readonly Report[], options: TableOptions = {}): string {
  const layout = layoutOf(options);
  const number = textNumber(options.precision ?? 'legacy');
  const [first, ...others] = reports;
  if (!first) return '';
  const { notes = 'all', failed = [] } = options;
  const metrics = tableMetrics(reports);
  const trusts = reports.map(trustOf);
  const names = distinct([...reports.map(({ distorted }) => distorted.name), ...failed].map(printable));
  const best = names.length > 1 ? bestEncode(reports, trusts, metrics[0] ?? '') : undefined;
  return sectionsText(
    [
      { lines: reference(commonReference([first, ...others]), layout) },
      {
        table: {
          names: 'end',
          ...cellsOf(reports, names, trusts, metrics, number),
          tones: names.map((_, i) => {
            if ((trusts[i]?.verdict ?? 'untrusted') === 'untrusted') return 'warn';
            return i === best ? 'bold' : undefined;
          }),
        },
      },
      { lines: notes === 'causes' ? doubts(reports, names, layout, MOST_CAUSES) : legend(trusts, names) },
      { lines: [layout.style.dim(run(reports))] },
      ...(notes === 'all'
        ? [{ title: 'Preflight', lines: remarkLines(remarks(reports), names.map(baseName)) }]
        : []),
    ],
    { ...layout, indent: 0 },
  );
}

/** One row per name: the reports, then failed encodes. Pads scores if any has the sign of a flaw, so that digits align. */
function cellsOf(
  reports: readonly Report[],
  names: readonly string[],
  trusts: readonly Trust[],
  metrics: readonly string[],
  number: (value: number) => string,
) {
  const signs = trusts.map(({ verdict }) => TRUST_SIGNS[verdict]);
  const marked = signs.some((sign) => sign !== '');
  const flaw = (sign: string) => (marked ? ` ${sign || ' '}` : '');
  const apart = beginApart(reports);
  const [first = ''] = metrics;
  return {
    heads: [
      'distorted',
      ...metrics.map((metric) => metric + flaw('')),
      'worst 1 %',
      'bit rate',
      'size',
      apart ? 'skipped' : '',
    ],
    rows: names.map((name, i) => {
      const report = reports[i];
      if (!report) return [name, ...metrics.map(() => `-${flaw('')}`), '-', '-', '-', apart ? '-' : ''];
      const means = metrics.map((metric) => runValue(report, metric));
      const percentiles = report.distribution[first]?.percentiles;
      const worst = isWorseHigh(report, first) ? percentiles?.p99 : percentiles?.p1;
      return [
        name,
        ...means.map((mean) => (mean === undefined ? '-' : number(mean)) + flaw(signs[i] ?? '')),
        worst === undefined ? '-' : valueTextOf(report, first, worst),
        bitrateText(bitrateOf(report)) ?? '-',
        sizeText(fileSizeOf(report)) ?? '-',
        apart ? skippedText(report) : '',
      ];
    }),
  };
}

function distinct(names: readonly string[]): string[] {
  const short = names.map(baseName);
  return new Set(short).size === names.length ? short : [...names];
}

function legend(trusts: readonly Trust[], names: readonly string[]): Line[] {
  return trusts.flatMap(({ verdict, codes }, i): Line[] => {
    if (verdict === 'fine') return [];
    const text = `${names[i]}: ${TRUST_WORDS[verdict]}${codes.length > 0 ? ` [${codes.join(', ')}]` : ''}`;
    return [{ lead: `${TRUST_SIGNS[verdict]} `, text, tone: 'warn' }];
  });
}

/** Index of the best mean among the encodes that can be trusted; -1 if there is none. */
function bestEncode(reports: readonly Report[], trusts: readonly Trust[], metric: string): number {
  const means = reports.map((report, i) =>
    trusts[i]?.verdict === 'untrusted' ? Number.NaN : (runValue(report, metric) ?? Number.NaN),
  );
  const known = means.filter((mean) => !Number.isNaN(mean));
  const [first] = reports;
  return means.indexOf(first && isWorseHigh(first, metric) ? Math.min(...known) : Math.max(...known));
}

function reference(input: ReportInput, { width, style: { dim } }: Layout): string[] {
  const facts = terminalFacts(input).join('  ');
  const name = printable(input.name);
  if (columns(`reference  ${name}  ${facts}`) <= width)
    return [`${dim('reference')}  ${name}  ${dim(facts)}`];
  return [`${dim('reference')}  ${cut(name, width - 11, 'end')}`, `${' '.repeat(11)}${dim(facts)}`];
}

function run(reports: readonly Report[]): string {
  const counts = reports.map(({ frames }) => frames.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const frames = least === most ? counted(most, 'frame') : `${least} to ${counted(most, 'frame')}`;
  const sources = new Set(reports.flatMap(({ models }) => models.map(({ source }) => source)));
  return [`${frames} each`, ...[...sources].map(printable)].join('  ');
}

/** Columns of the CSV table that are not metrics. */
const FACTS = ['codec', 'kbps', 'offset', 'frames', 'bitrate', 'size', 'trust', 'trust_codes'] as const;

/**
 * The table as CSV (RFC 4180), line by line: per encode its name; mean, harmonic mean, minimum, 1st and 5th
 * percentile of every score and requested metric; codec, kbit/s, frames by which it begins later than the
 * reference, frames, bit/s, bytes, the verdict of {@link trustOf} and its codes, separated by spaces; if any
 * encode failed, the reason. Unknown values are empty.
 * @throws {AnyvmafError} `usage` if the precision is invalid
 */
export function* writeTableCsv(
  results: readonly (Report | FailedEncode)[],
  precision: Precision = 'legacy',
): Generator<string, void, undefined> {
  const number = textNumber(precision);
  const reports = results.filter((result) => 'frames' in result);
  const failing = reports.length < results.length;
  const metrics = comparedMetrics(reports);
  const statistics = ['mean', 'harmonic_mean', 'min', 'p1', 'p5'] as const;
  const head = metrics.flatMap((metric) => statistics.map((name) => `${metric}_${name}`));
  yield csvLine(['reference', 'distorted', ...head, ...FACTS, ...(failing ? ['error'] : [])]);
  for (const report of results) {
    if (!('frames' in report)) {
      const empty = [...head, ...FACTS].map(() => '');
      yield csvLine([report.reference, report.distorted, ...empty, report.message]);
      continue;
    }
    const values = metrics.flatMap((metric) => {
      const pooled = pooledMetric(report, metric);
      const percentiles = report.distribution[metric]?.percentiles;
      return [runValue(report, metric), pooled?.harmonic_mean, pooled?.min, percentiles?.p1, percentiles?.p5];
    });
    const { verdict, codes } = trustOf(report);
    const bitrate = bitrateOf(report);
    const { pairing } = report;
    yield csvLine([
      report.reference.name,
      report.distorted.name,
      ...values.map((value) => (value === undefined || Number.isNaN(value) ? '' : number(value))),
      pairing?.distorted.codec ?? '',
      bitrate === undefined ? '' : String(bitrate / 1000),
      String(pairing?.frames.offset ?? ''),
      String(report.frames.length),
      String(bitrate ?? ''),
      String(fileSizeOf(report) ?? ''),
      verdict,
      codes.join(' '),
      ...(failing ? [''] : []),
    ]);
  }
}

export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(',')}\n`;
}

export interface Flaw extends Judgement {
  /** Indices of the reports. */
  readonly of: number[];
}

/** Distinct flaws, in the order of the reports. */
export function flawsOf(reports: readonly Judged[]): Flaw[] {
  const flaws = new Map<string, Flaw>();
  for (const [i, report] of reports.entries()) {
    const judgement = flawOf(report);
    if (judgement.trust.verdict === 'fine') continue;
    const key = JSON.stringify(judgement.trust);
    const flaw = flaws.get(key) ?? { ...judgement, of: [] };
    flaw.of.push(i);
    flaws.set(key, flaw);
  }
  return [...flaws.values()];
}

/** Values of both sides in words; empty if the finding has none or both are unknown. */
export function findingValues(finding: Finding | undefined): string {
  const { reference, distorted } = finding ?? {};
  if (reference === undefined || distorted === undefined) return '';
  if (reference === null && distorted === null) return '';
  return `reference ${reference ?? 'unknown'}, distorted ${distorted ?? 'unknown'}`;
}

/** Verdicts printed with their cause alone, without a pointer to further warnings. */
const WORDS = { ...TRUST_WORDS, doubtful: 'doubtful' } as const;

/** One doubt as a paragraph, several in a line or two each, in at most `most` lines. Empty `names` are not printed. */
function doubts(
  reports: readonly Report[],
  names: readonly string[],
  layout: Layout,
  most: number,
): string[] {
  const rank = ({ trust }: Flaw) => (trust.verdict === 'untrusted' ? 0 : 1);
  const flaws = flawsOf(reports).sort((a, b) => rank(a) - rank(b));
  const named = ({ of }: Flaw) => joined(of.map((i) => names[i]));
  const [only] = flaws;
  if (!only) return [];
  if (flaws.length === 1) return paragraph(only, named(only), layout, most);
  const all = flaws.map((flaw) => entry(flaw, named(flaw), layout));
  let count = 0;
  let lines = 0;
  // Reserve one line for the count of the others.
  while (count < all.length && lines + (all[count]?.length ?? 0) <= most - (count + 1 < all.length ? 1 : 0))
    lines += all[count++]?.length ?? 0;
  const rest = flaws.slice(count).flatMap(({ of }) => of).length;
  const others = rest > 0 ? [`  and ${rest} more, marked above`] : [];
  return [...all.slice(0, count).flat(), ...others.map(layout.style.warn)];
}

/** The sentence, truncated to fit, and its remedy in full on its own line. */
function paragraph({ trust, root }: Flaw, names: string, layout: Layout, most: number): string[] {
  const remedy = remedyText(root);
  const text = `${names === '' ? '' : `${names}: `}${WORDS[trust.verdict]}: ${trust.cause ?? ''}`;
  const fix = remedy === '' ? [] : [layout.style.warn(`    ${printable(remedy)}`)];
  const lead = `  ${TRUST_SIGNS[trust.verdict]} `;
  return [...lineTexts({ lead, text, tone: 'warn', most: most - fix.length }, layout), ...fix];
}

function entry({ trust, root }: Flaw, names: string, layout: Layout): string[] {
  const remedy = remedyText(root);
  const [code] = trust.codes;
  const verdict = `${WORDS[trust.verdict]}${code === undefined ? '' : ` [${code}]`}${remedy === '' ? '' : `; ${remedy}`}`;
  const text = `${cut(printable(names), layout.width - 30, 'both')}: ${verdict}`;
  const lead = `  ${TRUST_SIGNS[trust.verdict]} `;
  return lineTexts({ lead, text, tone: 'warn', most: Number.POSITIVE_INFINITY }, layout);
}
