/**
 * @module search/decision
 * Decides which of several encodes of one source to ship, and why; finds where each breaks, and which ones tie.
 */
import { requireArray, requireObject, requireTexts } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { mean, percentile, quotientOf } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import { intervalsOf } from '../core/sampling.js';
import { dominates } from '../report/bd-rate.js';
import { bitrateOf, fileSizeOf, isMember } from '../report/facts.js';
import { type Limit, metricIn, parseLimit } from '../report/limits.js';
import { frameGap, type Ranking, ranking } from '../report/ranking.js';
import { type Report, requireParts, WHOLE } from '../report/schema.js';
import { trustOf } from '../report/trust.js';
import { doubtOf, holdAgainst, worstMoments } from '../report/verdict.js';
import { FEWEST_PARTS, partLength, WATCHED } from './targets.js';

/** Options of `decideEncodes`. */
export interface DecisionOptions {
  /** Bounds that an encode must reach, in the grammar of gates: `93`, `vmaf.p5>=80`. */
  readonly targets?: readonly string[];
}

/** Why an encode was chosen. */
export type DecisionReason =
  /** The smallest of those that reach the targets. */
  | 'smallest-that-reaches'
  /** None reaches the targets; the best one. */
  | 'none-reaches'
  /** No other is better or smaller. */
  | 'best-and-smallest'
  /** The smallest of those that the measurement, or a viewer, cannot tell from the best one. */
  | 'smallest-as-good'
  /** The best; smaller ones are worse. */
  | 'best'
  /** No score can be trusted. */
  | 'none-trusted';

/** One encode, in the order of the reports. */
export interface DecidedEncode {
  /** Mean of {@link EncodeDecision.metric}; `null` without one. */
  readonly quality: number | null;
  readonly bytes: number | null;
  readonly kbps: number | null;
  /** Bits per pixel. */
  readonly bitsPerPixel: number | null;
  /** On the Pareto front: no other trusted encode is as small and better, or as good and smaller. */
  readonly onFront: boolean;
  /** Quality gained per doubling of bytes over the next smaller one on the front; `null` for its first and off it. */
  readonly perDoubling: number | null;
  /** Worst moments, the worst first, at least a second apart. */
  readonly moments: readonly { readonly frame: number; readonly time?: number; readonly value: number }[];
}

/** The decision. Encodes are indices into the reports. */
export interface EncodeDecision {
  readonly metric: string;
  /** The encode to ship; `null` if no score can be trusted. */
  readonly ship: number | null;
  readonly reason: DecisionReason;
  /** Others that are as small, and as good within the measurement error. */
  readonly rivals: readonly number[];
  /** The next smaller encode on the front, the fraction of bytes it saves and the quality it loses. */
  readonly smaller: { readonly encode: number; readonly saves: number; readonly loses: number } | null;
  /** The decision in sentences. */
  readonly explanation: string;
  readonly encodes: readonly DecidedEncode[];
  /** The Pareto front, the smallest first. */
  readonly front: readonly number[];
  /** Groups that the measurement cannot tell apart, the best first: 95 % intervals of differences contain 0. */
  readonly ties: readonly (readonly number[])[];
}

/** Relative difference of sizes that count as equal. */
const SAME_SIZE = 0.01;
const MOMENTS = 3;
const MOST_PARTS = 600;

interface Candidate {
  readonly index: number;
  readonly report: Report;
  /** Higher is better; NaN if unknown. */
  readonly good: number;
  readonly bytes: number;
  readonly isTrusted: boolean;
}

/** @throws {AnyvmafError} `usage` without reports, if the first has no metric of quality, and for malformed bounds */
export function decideEncodes(reports: readonly Report[], options: DecisionOptions = {}): EncodeDecision {
  requireArray('reports', reports, 'an array of reports');
  requireObject('options', options);
  const { targets = [] } = options;
  requireTexts('options.targets', targets);
  for (const report of reports) requireParts('report', report, WHOLE);
  const [first] = reports;
  if (!first) throw usageError('reports is empty; give the report of at least one encode.');
  const by = ranking(first);
  if (!by)
    throw usageError(
      `The report of ${shown(first.distorted.name)}, which comes first, has no metric of quality to decide by; score it with a ` +
        'VMAF model, or with another metric that has a direction.',
    );
  const limits = targets.map((text) => parseLimit(text));
  const all = reports.map((report, index) => candidateOf(report, index, by));
  const trusted = all.filter(({ isTrusted, good }) => isTrusted && Number.isFinite(good)).sort(byGood);
  const tied = tiesIn(by);
  const front = frontOf(trusted);
  const reaching = limits.length === 0 ? undefined : trusted.filter(({ report }) => reaches(report, limits));
  const { chosen, reason } = choice(trusted, reaching, isPlenty(reports, by), tied);
  const rivals = trusted.filter(
    (rival) =>
      chosen &&
      rival !== chosen &&
      tied(rival, chosen) &&
      !(Math.abs(rival.bytes / chosen.bytes - 1) > SAME_SIZE),
  );
  const next = chosen && front[front.indexOf(chosen) - 1];
  const smaller =
    chosen && next
      ? { encode: next.index, saves: 1 - next.bytes / chosen.bytes, loses: chosen.good - next.good }
      : null;
  const decided = {
    metric: by.metric,
    ship: chosen?.index ?? null,
    reason,
    rivals: rivals.map(({ index }) => index),
    smaller,
    encodes: all.map((candidate) => decidedEncode(candidate, front, by)),
    front: front.map(({ index }) => index),
    ties: groupsOf(trusted, tied),
  };
  return { ...decided, explanation: explain(decided, reports) };
}

function candidateOf(report: Report, index: number, { metric, worse }: Ranking): Candidate {
  const score = report.pooled_metrics[metric]?.mean ?? Number.NaN;
  const bytes = fileSizeOf(report) ?? Number.NaN;
  const isTrusted = trustOf(report).verdict !== 'untrusted';
  return { index, report, good: worse === 'low' ? score : -score, bytes, isTrusted };
}

function byGood(a: Candidate, b: Candidate): number {
  return b.good - a.good || smallestFirst(a, b);
}

/** Unknown sizes come last. */
function smallestFirst(a: Candidate, b: Candidate): number {
  const size = ({ bytes }: Candidate) => (Number.isNaN(bytes) ? Number.MAX_VALUE : bytes);
  return size(a) - size(b) || b.good - a.good;
}

/** False without the metric of a bound, and where samples leave a bound undecided. */
function reaches(report: Report, limits: readonly Limit[]): boolean {
  return limits.every(
    (limit) =>
      (limit.metric === undefined || metricIn(report, limit.metric) !== undefined) &&
      holdAgainst(report, limit).every((held) => held.passed && doubtOf(report, held) === undefined),
  );
}

/** True for VMAF scores so high that viewers cannot tell them from better ones. */
function isPlenty([report]: readonly Report[], { metric }: Ranking): (candidate: Candidate) => boolean {
  const isVmaf = report?.models.some(({ name, source }) => name === metric && /vmaf/.test(source)) ?? false;
  return ({ good }) => isVmaf && good >= WATCHED.max;
}

type Tied = (a: Candidate, b: Candidate) => boolean;

/** @param trusted best first */
function choice(
  trusted: readonly Candidate[],
  reaching: readonly Candidate[] | undefined,
  plenty: (candidate: Candidate) => boolean,
  tied: Tied,
): { readonly chosen: Candidate | undefined; readonly reason: DecisionReason } {
  const [best] = trusted;
  if (!best) return { chosen: undefined, reason: 'none-trusted' };
  if (reaching) {
    const [chosen] = reaching.toSorted(smallestFirst);
    return chosen ? { chosen, reason: 'smallest-that-reaches' } : { chosen: best, reason: 'none-reaches' };
  }
  const asGood = trusted.filter((other) => other === best || plenty(other) || tied(other, best));
  const [chosen = best] = asGood.toSorted(smallestFirst);
  if (chosen !== best) return { chosen, reason: 'smallest-as-good' };
  const isSmallest = trusted.every(({ bytes }) => best.bytes <= bytes);
  return { chosen, reason: isSmallest ? 'best-and-smallest' : 'best' };
}

/** The Pareto front, smallest first. */
function frontOf(trusted: readonly Candidate[]): readonly Candidate[] {
  const known = trusted.filter(({ bytes }) => Number.isFinite(bytes)).sort(smallestFirst);
  return known.filter((candidate) => !known.some((other) => dominates(other, candidate)));
}

/** Groups of two or more: the best remaining candidate with all that tie with it. */
function groupsOf(trusted: readonly Candidate[], tied: Tied): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let left = trusted;
  for (let [best] = left; best; [best] = left) {
    const head = best;
    const group = left.filter((other) => other === head || tied(other, head));
    if (group.length > 1) groups.push(group.map(({ index }) => index));
    left = left.filter((other) => !group.includes(other));
  }
  return groups;
}

/** True if the measurement cannot tell two candidates apart; memoised. */
function tiesIn(by: Ranking): Tied {
  const known = new Map<string, boolean>();
  return (a, b) => {
    const key = [Math.min(a.index, b.index), Math.max(a.index, b.index)].join();
    const found = known.get(key) ?? isTied(a, b, by);
    known.set(key, found);
    return found;
  };
}

function isTied(a: Candidate, b: Candidate, by: Ranking): boolean {
  if (a.good === b.good) return true;
  const interval = differenceOf(a.report, b.report, by.metric);
  return interval !== undefined && interval.low <= 0 && interval.high >= 0;
}

/**
 * 95 % confidence interval of the mean difference of two encodes, from the members of a bootstrap collection, else
 * from sampled runs or seconds of the video; `undefined` if too little is known.
 */
export function differenceOf(
  a: Report,
  b: Report,
  metric: string,
): { readonly low: number; readonly high: number } | undefined {
  const ofMembers = memberDifferences(a, b, metric);
  if (ofMembers) return { low: percentile(ofMembers, 2.5), high: percentile(ofMembers, 97.5) };
  const differences = frameDifferences(a, b, metric);
  const { sampling } = a;
  const length = sampling?.run_frames ?? partLength(differences.length, frameGap(a), MOST_PARTS);
  const parts: number[] = [];
  for (let first = 0; first + length <= differences.length; first += length)
    parts.push(mean(differences.slice(first, first + length)));
  if (parts.length % 2 === 1) parts.pop();
  if (parts.length < FEWEST_PARTS) return undefined;
  const share = sampling ? sampling.frames / sampling.total : 0;
  const runs = parts.map((part) => Float64Array.of(part));
  return intervalsOf(runs, share, 1).find(({ statistic }) => statistic === 'mean');
}

/** Mean differences by each collection member, ascending; `undefined` for a single model. */
function memberDifferences(a: Report, b: Report, metric: string): Float64Array | undefined {
  const collection = a.models.find(({ name }) => name === metric)?.collection;
  const members = collection ? a.metrics.filter((name) => isMember([metric], name)) : [];
  const found = members.flatMap((name) => {
    const [first, second] = [a, b].map(({ pooled_metrics: pooled }) => pooled[name]?.mean);
    return first === undefined || second === undefined ? [] : [first - second];
  });
  return found.length < 2 ? undefined : Float64Array.from(found).sort();
}

/** Differences of frames that show the same frame of the reference. */
function frameDifferences(a: Report, b: Report, metric: string): readonly number[] {
  const shift = b.reference.skipped - a.reference.skipped;
  const others = new Map(b.frames.map(({ frameNum, metrics }) => [frameNum + shift, metrics[metric]]));
  return a.frames.flatMap(({ frameNum, metrics }) => {
    const [own, other] = [metrics[metric], others.get(frameNum)];
    return own === undefined || other === undefined ? [] : [own - other];
  });
}

function decidedEncode(candidate: Candidate, front: readonly Candidate[], by: Ranking): DecidedEncode {
  const { report, bytes, good } = candidate;
  const bitrate = bitrateOf(report);
  const { width, height } = report.pairing?.distorted ?? report.distorted;
  const rate = quotientOf(report.distorted.frameRate ?? report.reference.frameRate);
  const before = front[front.indexOf(candidate) - 1];
  const score = report.pooled_metrics[by.metric]?.mean;
  return {
    quality: score === undefined || !Number.isFinite(score) ? null : score,
    bytes: Number.isNaN(bytes) ? null : bytes,
    kbps: bitrate === undefined ? null : bitrate / 1000,
    bitsPerPixel: bitrate === undefined || rate === undefined ? null : bitrate / (width * height * rate),
    onFront: front.includes(candidate),
    perDoubling: before ? (good - before.good) / Math.log2(bytes / before.bytes) : null,
    moments: worstMoments(report, MOMENTS).map(({ metric: _, ...moment }) => moment),
  };
}

function explain(
  { metric, ship, reason, rivals, smaller, encodes, ties }: Omit<EncodeDecision, 'explanation'>,
  reports: readonly Report[],
): string {
  const nameOf = (index: number) => reports[index]?.distorted.name ?? '';
  if (ship === null) return 'No encode has a score that can be trusted.';
  const { quality, kbps } = encodes[ship] ?? {};
  const chosen = `${nameOf(ship)} (${metric} ${quality?.toFixed(2)}${typeof kbps === 'number' ? `, ${Math.round(kbps)} kb/s` : ''})`;
  const group = ties.find((tied) => tied.includes(ship)) ?? [];
  const others = group.filter((index) => index !== ship);
  const isOpen = reports.some((report) => report.sampling || trustOf(report).verdict === 'untrusted');
  const listed = (all: readonly number[]) => {
    const names = all.map(nameOf);
    return names.length > 3 ? `${names[0]} and ${names.length - 1} more` : names.join(', ');
  };
  return [
    reason === 'none-reaches'
      ? `No scored encode ${isOpen ? 'is certain to reach' : 'reaches'} the target; the best is ${chosen}.`
      : `Ship ${chosen}: ${WHY[reason]}.`,
    ...(others.length > 0
      ? [`Its difference from ${listed(others)} is within the error of the measurement.`]
      : []),
    ...(rivals.length > 0 ? [`Neither quality nor size favours it over ${listed(rivals)}.`] : []),
    ...(smaller
      ? [
          `${nameOf(smaller.encode)} would save ${(smaller.saves * 100).toFixed(0)} % of the bytes and lose ${smaller.loses.toFixed(2)}.`,
        ]
      : []),
  ].join(' ');
}

const WHY: Readonly<Record<DecisionReason, string>> = {
  'none-trusted': 'no score can be trusted',
  'none-reaches': 'none reaches the target',
  'smallest-that-reaches': 'the smallest that reaches the target',
  'best-and-smallest': 'no other is better or smaller',
  'smallest-as-good': 'the smallest of those that cannot be told apart from the best',
  best: 'the best; each smaller one is worse',
};
