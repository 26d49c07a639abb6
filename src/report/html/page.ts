/**
 * @module report/html/page
 * The frame of the page: head, order of the sections, styles, data and script.
 */
import { axisOrigin, baseName, beginApart, frameRate, scoreText } from '../facts.js';
import { pooledMetric } from '../pool.js';
import { TRUST_SIGNS, trustOf } from '../trust.js';
import type { FailedEncode, Report } from '../types.js';
import { ranking } from '../worst.js';
import { chartSection, featureSection } from './charts.js';
import { distributionSection } from './distribution.js';
import { headline } from './headline.js';
import { html, type Markup, raw, scriptJson } from './markup.js';
import { packFrames, packMetric } from './pack.js';
import { failureSection, pooledSection, preflightSection, runSection, worstSection } from './sections.js';
import { STYLES } from './styles.js';
import { type ViewerRun, viewer } from './viewer.js';

/** What a page is about: reports of one reference, and what is common to them. */
export interface Page {
  readonly reports: readonly [Report, ...Report[]];
  /** What the page calls each encode: as much of its name as tells it apart. */
  readonly names: readonly string[];
  /** The metric that the page is mainly about; `undefined` where no report has one with a direction. */
  readonly metric: string | undefined;
  /** Whether its low or its high values are bad. */
  readonly worse: 'low' | 'high';
  /** Whether encodes begin on different frames of the reference; the frame axis then counts frames of the reference. */
  readonly apart: boolean;
  /** The reference frame that is 0 on the frame axis of all. */
  readonly origin: number;
  /** Features and further scores, in the order of the log. */
  readonly others: readonly string[];
  /** The command line that made it. */
  readonly command: string | undefined;
  /** When it was made, in words. */
  readonly written: string | undefined;
  /** Encodes that are not on it, and why. */
  readonly failed: readonly Pick<FailedEncode, 'distorted' | 'message'>[];
}

/** What is common to reports of one reference. */
export function pageOf(
  reports: readonly [Report, ...Report[]],
  options: { readonly [key in 'command' | 'written']?: string | undefined } & {
    readonly failed?: Page['failed'] | undefined;
  },
): Page {
  const rank = reports.map(ranking).find((found) => found !== undefined);
  const metrics = [...new Set(reports.flatMap((report) => report.metrics))];
  return {
    reports,
    names: distinctNames(reports.map(({ distorted }) => distorted.name)),
    metric: rank?.metric,
    worse: rank?.worse ?? 'low',
    apart: beginApart(reports),
    origin: axisOrigin(reports),
    others: metrics.filter((name) => name !== rank?.metric && !isMember(name, reports)),
    command: options.command,
    written: options.written,
    failed: options.failed ?? [],
  };
}

/** Where the first pair of an encode stands on the frame axis: what to add to its frame numbers. */
export function shiftOf({ origin }: Pick<Page, 'origin'>, { reference }: Pick<Report, 'reference'>): number {
  return reference.skipped - origin;
}

/** Single members of a bootstrap collection: twenty curves that nobody reads. */
function isMember(metric: string, reports: readonly Report[]): boolean {
  return reports.some(({ models }) =>
    models.some(
      ({ name, collection }) =>
        collection !== undefined &&
        metric.startsWith(`${name}_`) &&
        /^_[0-9]{4}$/.test(metric.slice(name.length)),
    ),
  );
}

/** Base names where they differ, else whole names, else numbered ones. */
function distinctNames(names: readonly string[]): string[] {
  const short = names.map(baseName);
  if (new Set(short).size === names.length) return short;
  if (new Set(names).size === names.length) return [...names];
  return short.map((name, i) => `${i + 1}: ${name}`);
}

/** The page in pieces: the data of each metric is one. */
export function* renderPage(page: Page): Generator<string, void, undefined> {
  const { reports, names, metric } = page;
  const [first] = reports;
  const score = metric === undefined ? undefined : pooledMetric(first, metric)?.mean;
  const flaw = TRUST_SIGNS[trustOf(first).verdict];
  const value =
    reports.length > 1 || score === undefined ? '' : `${metric} ${scoreText(score)}${flaw && ` ${flaw}`} · `;
  const against = `${names.join(', ')} against ${baseName(first.reference.name)}`;
  const opening = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="generator" content="anyvmaf ${first.version}">
<meta name="color-scheme" content="light dark">
<title>${value}${against}</title>
<style>${raw(STYLES)}</style>
</head>
<body>
<main>
<header><span class="mark">any<i>vmaf</i></span><span class="kind">video quality report</span><button class="tool needs-script" data-theme aria-label="Switch between light and dark">◐</button></header>
${headline(page)}
${failureSection(page)}
${preflightSection(page)}
`;
  yield opening.text;
  const body: (Markup | undefined)[] = [
    chartSection(page),
    html`<div class="two">${distributionSection(page)}${worstSection(page)}</div>`,
    featureSection(page),
    pooledSection(page),
    runSection(page),
  ];
  for (const section of body) if (section) yield `${section.text}\n`;
  yield `<footer>${html`anyvmaf ${first.version}${page.written && ` · ${page.written}`}`.text} · nothing on this page was loaded from elsewhere</footer>\n</main>\n`;
  yield* data(page);
  yield `<script>(${viewer.toString()})();</script>\n</body>\n</html>\n`;
}

/** The values of every frame, for the script; written metric by metric. */
function* data(page: Page): Generator<string, void, undefined> {
  const { reports, names, metric, others, apart, origin } = page;
  const [{ reference }] = reports;
  const rate = frameRate(reference) ?? null;
  yield `<script type="application/json" id="data">{"rate":${rate},"skipped":${origin},"apart":${apart},"runs":[`;
  const wanted = metric === undefined ? others : [metric, ...others];
  for (const [i, report] of reports.entries()) {
    const head: Omit<ViewerRun, 'metrics'> = {
      name: names[i] ?? '',
      frames: packFrames(report.frames, shiftOf(page, report)),
    };
    yield `${i > 0 ? ',' : ''}${scriptJson(head).text.slice(0, -1)},"metrics":{`;
    const present = wanted.filter((name) => report.metrics.includes(name));
    for (const [k, name] of present.entries()) {
      yield `${k > 0 ? ',' : ''}${scriptJson(name).text}:${scriptJson(packMetric(report.frames, name)).text}`;
    }
    yield '}}';
  }
  yield ']}</script>\n';
}
