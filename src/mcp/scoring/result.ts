/**
 * @module mcp/scoring/result
 * Turns a report into the answer of a scoring tool: short unless every frame is asked for, with a link to the whole.
 */
import { counted } from '../../core/printable.js';
import { isSize, screenSize } from '../../core/size.js';
import {
  AnyvmafError,
  formatReport,
  frameGap,
  type Precision,
  type Report,
  ranking,
  type Trust,
  trustOf,
  worstFrames,
} from '../../index.js';
import { frameTime } from '../../report/facts.js';
import { holdAgainst } from '../../report/held.js';
import { type Limit, pooledText } from '../../report/limits.js';
import { askedOf } from '../../report/quality-metrics.js';
import type { CheckedRequest } from '../checked-api.js';
import type { Pictured, ToolContext, ToolResources } from '../context.js';
import type { ToolOutcome } from '../tool.js';
import { type Confidence, type Head, headOf, leastOf, nextForPair, nextWithFix, sureOf } from '../verdict.js';
import { type ScoreDocument, scoreDocument, type TargetDocument, type WorstDocument } from './documents.js';
import type { ScoringCall } from './options.js';
import { runScore } from './run.js';

const WORST = 5;

/** @throws {AnyvmafError} those of {@link runScore} */
export async function scorePair(
  request: CheckedRequest,
  call: ScoringCall,
  context: ToolContext,
): Promise<ToolOutcome<ScoreDocument>> {
  const report = await runScore(request, call, context);
  const pictured = { request, options: call.options, origin: context.files.origin };
  return scoreOutcome(report, call, context, pictured);
}

/** A summary publishes the full report and links to it. */
async function scoreOutcome(
  report: Report,
  options: ScoringCall,
  context: ToolContext,
  pictured: Pictured,
): Promise<ToolOutcome<ScoreDocument>> {
  const { precision, format, detail } = options;
  const target = options.target && targetAnswer(report, options.target, rounder(precision));
  const head = headOfScore(report, options.target, target, context);
  const backends = {
    backend_requested: options.backendRequested,
    backend_used: backendUsed(report),
    mismatched_model_warning: mismatchedModelWarning(report),
    target,
  };
  if (format !== 'json') {
    const output = formatReport(report, format, { precision });
    return {
      document: { ...head, format, output, trust: trustOf(report), ...backends },
      long: true,
    };
  }
  if (detail === 'frames') {
    const full = scoreDocument.parse(JSON.parse(formatReport(report, 'json', { precision })));
    return {
      document: { ...head, ...withVerdict(headline(report, full, precision), target), ...full, ...backends },
      long: true,
    };
  }
  const { uri, path, link } = await publishReport(report, precision, context.resources, pictured);
  return {
    document: {
      ...head,
      ...withVerdict(reportDocument(report, precision), target),
      ...backends,
      full_report: { uri, path },
    },
    content: [link],
    whole: 'full_report',
    spare: [
      { of: 'pooled_metrics', names: innerOf(report) },
      ...['reference', 'distorted', 'tiny', 'models', 'preflight'],
      ...['pooled_metrics.*.harmonic_mean', 'pooled_metrics.*.max'],
    ],
  };
}

/** Metrics from which scores are computed. */
function innerOf(report: Report): readonly string[] {
  const asked = new Set(askedOf(report.metrics, [report]));
  return report.metrics.filter((name) => !asked.has(name));
}

/** The verdict on a score and its target; the next call shows where it is lowest, or why it misses the target. */
function headOfScore(
  report: Report,
  limits: readonly Limit[] = [],
  target: TargetDocument | undefined,
  context: ToolContext,
): Head {
  const trust = trustOf(report);
  const missed = target?.checks.filter(({ reached }) => !reached) ?? [];
  const [model] = report.models;
  const isAuto = /^auto(:|$)/.test(String(context.args.model ?? ''));
  const isExplained = model !== undefined && !model.collection && !isAuto;
  const next =
    nextWithFix(context, trust.fix) ??
    (missed.length > 0 && isExplained ? nextForPair(context, 'explain_score') : undefined) ??
    nextForPair(context, 'describe_worst_frames', { n: 3 });
  return headOf({
    trust,
    outcome: target && (missed.length > 0 ? 'missed' : 'reached'),
    sure: leastOf(limits.flatMap((limit) => sureOfLimit(report, limit))),
    reasons: missed.map(({ value_of }) => `below-target:${value_of}`),
    next,
  });
}

/** How surely the mean of a collection of models lies on its side of the bound, by its intervals. */
function sureOfLimit(report: Report, { metric, statistic = 'mean', bound }: Limit): Confidence[] {
  const collection = report.models.find(({ name }) => name === (metric ?? name))?.collection;
  if (!collection || statistic !== 'mean') return [];
  const [low, high] = [collection.ciLow, collection.ciHigh].map((name) => report.pooled_metrics[name]?.mean);
  return low === undefined || high === undefined ? [] : [sureOf(bound, [[low, high]])];
}

/** The verdict on a target; values of an untrusted pair do not count. */
export function targetAnswer(
  report: Report,
  limits: readonly Limit[],
  digits: (value: number) => number,
): TargetDocument {
  const checks = limits.flatMap((limit) =>
    checksOf(report, limit).map((one) => (one.found === null ? one : { ...one, found: digits(one.found) })),
  );
  const untrusted = trustOf(report).verdict === 'untrusted';
  const reached = checks.every(({ reached }) => reached);
  return { verdict: untrusted ? 'untrusted' : reached ? 'reached' : 'missed', checks };
}

function checksOf(report: Report, limit: Limit): TargetDocument['checks'] {
  const { relation, bound } = limit;
  try {
    return holdAgainst(report, limit).map(({ name, value, passed }) => ({
      value_of: name,
      must_be: `${relation}${bound}`,
      found: value ?? null,
      reached: passed,
    }));
  } catch (error) {
    // A missing metric must not cost the caller the scores.
    if (!(error instanceof AnyvmafError)) throw error;
    const note = error.message;
    return [
      { value_of: pooledText(limit), must_be: `${relation}${bound}`, found: null, reached: false, note },
    ];
  }
}

/** Puts the verdict, which was asked for, first in the summary. */
function withVerdict<Part extends Pick<ScoreDocument, 'summary'>>(
  part: Part,
  target: TargetDocument | undefined,
): Part {
  if (!target) return part;
  const said = target.checks.map(
    ({ value_of, must_be, found, reached }) =>
      `${value_of}${must_be} ${reached ? 'reached' : 'missed'} (${found === null ? 'no value' : short(found)})`,
  );
  return { ...part, summary: `Target ${target.verdict}: ${said.join(', ')}. ${part.summary ?? ''}` };
}

export function publishReport(
  report: Report,
  precision: Precision,
  resources: ToolResources,
  pictured?: Pictured,
): ReturnType<ToolResources['publish']> {
  return resources.publish({
    name: 'report.json',
    mimeType: 'application/json',
    description: `The full report: every metric of ${counted(report.frames.length, 'frame')}.`,
    data: formatReport(report, 'json', { precision }),
    pictured,
  });
}

function scoresOf({ models, tiny = [] }: Report): readonly string[] {
  return [...models.map(({ name }) => name), ...tiny.flatMap(({ metrics }) => metrics)];
}

/** The report without frames, with percentiles of scores only. */
function reportDocument(report: Report, precision: Precision): ScoreDocument {
  const bagged = report.models.flatMap(({ collection }) => collection?.bagging ?? []);
  const named = new Set([...scoresOf(report), ...bagged]);
  const spreads = Object.entries(report.distribution);
  const kept = named.size === 0 ? spreads : spreads.filter(([metric]) => named.has(metric));
  const lean: Report = { ...report, frames: [], distribution: Object.fromEntries(kept) };
  const { frames: _, ...document } = scoreDocument.parse(
    JSON.parse(formatReport(lean, 'json', { precision })),
  );
  return { ...headline(report, document, precision), ...document };
}

/** The used backend by its name in the reference MCP server. */
export function backendUsed({ backend_used: used }: Report): string {
  return used === 'wasm' ? 'cpu' : used;
}

function headline(
  report: Report,
  { pooled_metrics: pooled = {} }: ScoreDocument,
  precision: Precision,
): Pick<ScoreDocument, 'summary' | 'worst_frames'> {
  const worst = worstDocumentOf(report, precision);
  const named = scoresOf(report);
  const said = named.length > 0 ? named : worst ? [worst.metric] : [];
  const scores = said.flatMap((name) => {
    const { mean, min } = pooled[name] ?? {};
    return typeof mean === 'number'
      ? [`${name} ${short(mean)} on average, ${short(min ?? mean)} at its lowest`]
      : [];
  });
  const bare = (report.withoutGrain ?? []).flatMap(({ metric, value }) =>
    said.includes(metric) ? [`${metric} ${short(value)}`] : [],
  );
  const findings = report.preflight?.filter(({ severity }) => severity !== 'info') ?? [];
  const trust = trustOf(report);
  const [lowest] = worst?.frames ?? [];
  // Findings that change what was scored come first.
  const grave = findings.filter(({ severity, code }) => severity === 'error' || code === 'offset-unclear');
  const summary = [
    ...(trust.verdict === 'untrusted' ? [trustSentence(trust)] : grave.map(({ message }) => message)),
    `${scores.join('; ') || 'No score'}, over ${counted(report.frames.length, 'frame')}.`,
    ...(bare.length > 0 ? [`Without film grain: ${bare.join('; ')} on average.`] : []),
    ...(lowest ? [`The worst moment is frame ${lowest.frame}${at(lowest.seconds)}.`] : []),
    ...(trust.verdict === 'doubtful' && grave.length === 0 ? [trustSentence(trust)] : []),
    ...(findings.length > 0
      ? [`Preflight found ${counted(findings.length, 'problem')}; see preflight.`]
      : []),
  ];
  return { summary: summary.join(' '), worst_frames: worst };
}

/** The verdict on a score as a sentence. @param score subject of the sentence */
export function trustSentence({ verdict, codes, cause = '', fix }: Trust, score = 'this score'): string {
  const named = codes.length > 0 ? ` (${codes.join(', ')})` : '';
  const advice = fix === undefined ? '' : ` Fix: ${fix}.`;
  return verdict === 'untrusted'
    ? `Do not trust ${score}${named}: ${cause}${advice}`
    : `The score is doubtful${named}: ${cause}${advice}`;
}

/** The worst frames, at a distance from each other; `undefined` if no metric has a direction. */
export function worstDocumentOf(
  report: Report,
  precision: Precision,
  count = WORST,
): WorstDocument | undefined {
  const by = ranking(report);
  if (!by) return undefined;
  const digits = rounder(precision);
  const frames = worstFrames(report, by, count, frameGap(report)).map(({ frameNum, value }) => {
    const seconds = frameTime(report, frameNum);
    return { frame: frameNum, value: digits(value), seconds: seconds && Number(seconds.toFixed(3)) };
  });
  return { ...by, frames };
}

export function rounder(precision: Precision): (value: number) => number {
  if (precision === 'max') return (value) => value;
  return precision === 'legacy'
    ? (value) => Number(value.toFixed(6))
    : (value) => Number(value.toPrecision(precision));
}

function at(seconds: number | undefined): string {
  return seconds === undefined ? '' : `, at ${seconds} s`;
}

function short(value: number): string {
  return value.toFixed(2);
}

/** Class of pictures that a model is meant for; the first part that its name contains counts. */
const PRESETS = [
  ['vmaf_float_4k', '4k'],
  ['vmaf_float_', 'hd'],
  ['vmaf_v1.0.16_1d5h_2160', '4k'],
  ['vmaf_v1.0.16_3d0h_2160', '4k'],
  ['vmaf_v1.0.16_hfr_1d5h_2160', '4k'],
  ['vmaf_v1.0.16_hfr_3d0h_2160', '4k'],
  ['vmaf_v1.0.16', 'hd'],
  ['vmaf_4k', '4k'],
  ['vmaf_v0.6.1neg', 'hd'],
  ['vmaf_v0.6.1', 'hd'],
  ['vmaf_b_v0.6.3', 'hd'],
] as const;

/** Advises to score small pictures at screen size, as preflight does, which knows the sample aspect ratio. */
function scaledUp({ reference, distorted, preflight = [] }: Report): string {
  const raw = [reference, distorted].some(({ container }) => container === 'yuv');
  const advised = preflight.flatMap(({ hint }) =>
    hint?.option === 'scaleTo' && isSize(hint.value) ? hint.value : [],
  )[0];
  const { width, height } = advised ?? screenSize(reference.width / reference.height);
  return (
    `score them at the size at which they are watched, with scale_to: "${width}x${height}" of vmaf_score_encoded` +
    (raw ? ', which takes no raw video: convert it to Y4M with ffmpeg first' : '')
  );
}

/** Warns of models meant for pictures of another class than those scored. @param models versions or paths */
export function mismatchedModelWarning(
  report: Report,
  models: readonly string[] = report.models.map(({ source }) => source),
): string | undefined {
  const { width, height } = report.pairing ?? report.reference;
  const edge = Math.max(width, height);
  const source = edge >= 3840 ? '4k' : edge >= 1280 ? 'hd' : 'sd';
  const sentences = models.flatMap((name) => {
    const [, preset] = PRESETS.find(([part]) => name.includes(part)) ?? [];
    if (preset === undefined || preset === source) return [];
    const advice =
      source === '4k'
        ? 'use version=vmaf_4k_v0.6.1'
        : source === 'hd'
          ? 'use version=vmaf_v0.6.1'
          : scaledUp(report);
    return [
      `Model ${name} is meant for ${preset} pictures, but these are ${width}x${height} (${source}), so its scores are not ` +
        `valid for them; ${advice}.`,
    ];
  });
  return sentences.length === 0 ? undefined : sentences.join(' ');
}
