/**
 * @module report/html/headline
 * The top of the page: the score and what it means, or the table of several encodes with quality over bit rate.
 */
import {
  baseName,
  bitrateOf,
  bitrateText,
  commonReference,
  fileSizeOf,
  frameRate,
  inputFacts,
  rangeOf,
  scoreText,
  sizeText,
  skippedText,
} from '../facts.js';
import { viewerOpinion } from '../opinion.js';
import { pooledMetric } from '../pool.js';
import { clock } from '../terminal.js';
import { causeText, TRUST_SIGNS, TRUST_WORDS, type Trust, trustOf } from '../trust.js';
import type { Report, ReportModel } from '../types.js';
import { type Content, html, type Markup, raw } from './markup.js';
import type { Page } from './page.js';
import { rateCurve } from './rates.js';
import { colourOf, percentOf, shortText } from './series.js';
import { extentOf, ticks } from './shapes.js';

/** The first section. */
export function headline(page: Page): Markup {
  return page.reports.length === 1 ? single(page, page.reports[0]) : several(page);
}

// --- one encode ---

function single(page: Page, report: Report): Markup {
  const { metric } = page;
  const pooled = metric === undefined ? undefined : pooledMetric(report, metric);
  const model = report.models.find(({ name }) => name === metric);
  const trust = trustOf(report);
  // What viewers would say of a wrong pair is not known.
  const opinion = model && trust.verdict !== 'untrusted' ? viewerOpinion(report, model) : undefined;
  const tone =
    opinion && { bad: 'bad', poor: 'bad', fair: 'warn', good: 'good', excellent: 'good' }[opinion.word];
  return html`<section>
<h1>${baseName(report.distorted.name)}</h1>
<p class="files">${report.noReference ? 'by itself' : `against ${baseName(report.reference.name)}`} · ${inputFacts(report.reference).join(' · ')}</p>
${
  pooled &&
  html`<div class="head">
<div><div class="score">${valueText(page, pooled.mean)}${flawSign(trust)}<sup>${metricLabel(page)}</sup></div>
${opinion && html`<span class="word" style="--tone:var(--${raw(tone ?? 'note')})">${opinion.word}</span>`}</div>
<div>${model && scale(report, model, opinion?.word)}<p class="soft small">${meaning(report, page)}</p></div>
</div>`
}
${flawNote(trust)}
${tiles(report, page)}
</section>`;
}

/** The tone of a verdict that is not fine. */
const TONES = { fine: 'note', doubtful: 'warn', untrusted: 'bad' } as const;

/** What stands beside a score that has a flaw. */
function flawSign({ verdict }: Trust): Markup | undefined {
  if (verdict === 'fine') return undefined;
  return html`<span class="flaw" style="--tone:var(--${raw(TONES[verdict])})" role="img" aria-label="${verdict}" title="${verdict}">${TRUST_SIGNS[verdict]}</span>`;
}

/** Why a score has a flaw, below it. */
function flawNote(trust: Trust, name?: string): Markup | undefined {
  const { verdict } = trust;
  if (verdict === 'fine') return undefined;
  return html`<p class="flaw-note" style="--tone:var(--${raw(TONES[verdict])})">${name !== undefined && html`${name}: `}<b>${TRUST_WORDS[verdict]}:</b> ${causeText(trust)}</p>`;
}

/** What the page calls its metric. */
export function metricLabel({ metric, reports: [report] }: Page): string {
  const model = report.models.find(({ name }) => name === metric);
  return model ? (model.name === 'vmaf' ? 'VMAF' : model.name) : (metric ?? '');
}

/** A value of the page's metric: a score has two decimals, a feature as many as its size lets matter. */
export function valueText({ metric, reports: [report] }: Page, value: number): string {
  return report.models.some(({ name }) => name === metric) ? scoreText(value) : shortText(value);
}

/** What the number says, in a sentence or two. */
function meaning(report: Report, { metric, worse }: Page): string {
  const model = report.models.find(({ name }) => name === metric);
  if (!model) {
    const unit = isDecibels(report, metric ?? '') ? ' in dB' : '';
    return `Mean of ${metric}${unit} over ${count(report.frames.length, 'frame')}; ${worse === 'low' ? 'higher' : 'lower'} is better.`;
  }
  const range = rangeOf(model);
  const within = range ? `from ${range[0]} to ${range[1]}` : 'not clipped to a range';
  const mean = `Mean over ${count(report.frames.length, 'frame')} by ${model.source}, ${within}.`;
  if (trustOf(report).verdict === 'untrusted') return mean;
  const opinion = viewerOpinion(report, model);
  return opinion
    ? `${mean} ${opinion.means}`
    : `${mean} Made for another screen or for comparisons, so that no viewer's word stands for it: compare it with ` +
        'scores of the same model at the same size.';
}

/** SSIM is in decibels when asked for so, which its name does not show, but a value beyond 1 does. */
function isDecibels(report: Report, metric: string): boolean {
  if (/^(psnr|float_psnr|float_anp?snr)/.test(metric)) return true;
  return /^float_(ms_)?ssim$/.test(metric) && (pooledMetric(report, metric)?.max ?? 0) > 1;
}

/** The words of viewers, each for the scores nearest to its place on the scale, and how wide that is (report/opinion). */
const WORDS = [
  ['bad', 30],
  ['poor', 20],
  ['fair', 20],
  ['good', 20],
  ['excellent', 10],
] as const;

/** Where the score lies from bad to excellent, with the range of 98 % of the frames. */
function scale(report: Report, model: ReportModel, word: string | undefined): Markup | undefined {
  const pooled = pooledMetric(report, model.name);
  const spread = report.distribution[model.name]?.percentiles;
  if (!pooled) return undefined;
  const [least, greatest] = rangeOf(model) ?? [Math.min(0, pooled.min), Math.max(100, pooled.max)];
  const marks = ticks({ low: least, high: greatest }, 6);
  const at = (value: number) => percentOf(value, least, greatest);
  const [low, high] = spread ? [at(spread.p1), at(spread.p99)] : [0, 0];
  const label = `Mean ${scoreText(pooled.mean)}${spread ? `; 98 % of the frames from ${scoreText(spread.p1)} to ${scoreText(spread.p99)}` : ''}`;
  return html`<div class="scale${word !== undefined && ' worded'}" style="${raw(colourOf(0))}" role="img" aria-label="${label}" title="${label}">
<div class="bands">${(word === undefined ? marks.map((mark, i) => (marks[i + 1] ?? greatest) - mark).filter((wide) => wide > 0) : WORDS.map(([, wide]) => wide)).map((wide) => html`<i style="flex:${wide}"></i>`)}</div>
${spread && html`<span class="range" style="left:${low}%;width:${Math.max(0.4, high - low).toFixed(2)}%"></span>`}
<span class="dot" style="left:${at(pooled.mean)}%"></span>
${
  word === undefined
    ? marks.map(
        (value) =>
          html`<span class="tick${value === greatest && ' last'}" style="left:${at(value)}%">${value}</span>`,
      )
    : html`<div class="words">${WORDS.map(([name, wide]) => html`<span style="flex:${wide}">${name === word ? html`<b>${name}</b>` : name}</span>`)}</div>`
}
</div>`;
}

function tiles(report: Report, page: Page): Markup | undefined {
  const { metric, worse } = page;
  const pooled = metric === undefined ? undefined : pooledMetric(report, metric);
  const spread = metric === undefined ? undefined : report.distribution[metric];
  const rate = frameRate(report.reference);
  const worst = worse === 'low' ? pooled?.min : pooled?.max;
  const entries: [Content, string | undefined][] = [
    [
      'worst 1 %',
      spread && valueText(page, worse === 'low' ? spread.percentiles.p1 : spread.percentiles.p99),
    ],
    ['worst frame', worst === undefined ? undefined : valueText(page, worst)],
    ['harmonic mean', pooled && valueText(page, pooled.harmonic_mean)],
    ['deviation', spread && valueText(page, spread.stddev)],
    [html`frames${report.subsample > 1 && ` of ${report.frameCount}`}`, String(report.frames.length)],
    ['length', rate === undefined ? undefined : clock(report.frameCount / rate, 1)],
    ['bit rate', bitrateText(bitrateOf(report))],
    ['file size', sizeText(fileSizeOf(report))],
  ];
  const known = entries.filter(([, value]) => value !== undefined);
  return html`<div class="tiles">${known.map(([name, value]) => html`<div class="tile"><b>${value}</b><span>${name}</span></div>`)}</div>`;
}

// --- several encodes ---

function several(page: Page): Markup {
  const { reports, names, metric, worse, apart } = page;
  const [first] = reports;
  const trusts = reports.map(trustOf);
  const model = first.models.find(({ name }) => name === metric);
  const means = reports.map((report) =>
    metric === undefined ? undefined : pooledMetric(report, metric)?.mean,
  );
  const tails = reports.map((report) => {
    const percentiles = metric === undefined ? undefined : report.distribution[metric]?.percentiles;
    return worse === 'low' ? percentiles?.p1 : percentiles?.p99;
  });
  const tops = reports.map((report) =>
    metric === undefined ? undefined : report.distribution[metric]?.percentiles.p99,
  );
  const known = [...means, ...tails, ...tops].filter((value) => value !== undefined);
  const range = model && rangeOf(model);
  const extent = range ? { low: range[0], high: range[1] } : (extentOf([known]) ?? { low: 0, high: 1 });
  const at = (value: number) => percentOf(value, extent.low, extent.high);
  const rows = reports.map((report, i) => {
    const [mean, tail, top] = [means[i], tails[i], tops[i]];
    const [left, right] =
      tail === undefined || top === undefined ? [0, 0] : [at(Math.min(tail, top)), at(Math.max(tail, top))];
    return html`<div class="encode" style="${raw(colourOf(i))}">
<div class="name"><span class="swatch"></span><span title="${report.distorted.name}">${names[i]}</span></div>
<b>${mean === undefined ? '–' : valueText(page, mean)}${trusts[i] && flawSign(trusts[i])}</b>
<div class="track">${mean !== undefined && html`<span class="range" style="left:${left}%;width:${(right - left).toFixed(2)}%"></span><span class="dot" style="left:${at(mean)}%"></span>`}</div>
<div class="num" data-label="worst 1 %">${tail === undefined ? '–' : valueText(page, tail)}</div>
<div class="num" data-label="bit rate">${bitrateText(bitrateOf(report)) ?? '–'}</div>
<div class="num" data-label="size">${sizeText(fileSizeOf(report)) ?? '–'}</div>
${apart && html`<div class="skipped soft small">skipped at the start: ${skippedText(report)}</div>`}
</div>`;
  });
  return html`<section>
<h1>${reports.length} encodes of ${baseName(first.reference.name)}</h1>
<p class="files">${inputFacts(commonReference(reports)).join(' · ')}${model && ` · ${model.source}`}</p>
<div class="encodes"><div class="encode headings"><span>encode</span><span>${metricLabel(page)}</span><span>${range && `${range[0]} to ${range[1]}, `}the bar holds 98 % of the frames</span><span class="num">worst 1 %</span><span class="num">bit rate</span><span class="num">size</span></div>
${rows}</div>
${trusts.map((trust, i) => flawNote(trust, names[i]))}
${rateCurve(page, metricLabel(page), means, (value) => valueText(page, value))}
</section>`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
