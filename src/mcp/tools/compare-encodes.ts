/**
 * @module mcp/tools/compare-encodes
 * `compare_encodes`: compares many encodes of one reference by score and size, and decides which to ship.
 */
import * as z from 'zod/v4';
import { mediaError } from '../../core/errors.js';
import { counted } from '../../core/printable.js';
import type { DecidedEncode, EncodeDecision, Report, Trust } from '../../index.js';
import { dominates } from '../../report/bd-rate.js';
import type { Limit } from '../../report/limits.js';
import { trustOf } from '../../report/trust.js';
import { inputPaths } from '../paths.js';
import { each, rows, textOrNull, texts, value, wholeOrNull } from '../schemas.js';
import {
  type Confidence,
  codesOf,
  headKeys,
  headOf,
  joinSentences,
  leastOf,
  mismatchedModelWarning,
  nextForPair,
  nextWithFix,
  resourceDocument,
  rounder,
  sureOfTarget,
  type TargetDocument,
  targetAnswer,
  targetDocument,
  trustDocument,
  trustSentence,
  worstDocumentOf,
} from '../scoring/answers.js';
import {
  anyPair,
  model,
  optionalGeometry,
  pairingParameters,
  precision,
  rawFormat,
  subsample,
  target,
} from '../scoring/parameters.js';
import { pairOptions, readPrecision, runScoreMany, targetLimits } from '../scoring/run.js';
import { defineTool, type InputOf, type NextAction, type ToolContext } from '../tool.js';
import { sentenceOf } from '../wording.js';

const comparisonInput = z.object({
  reference: anyPair.reference,
  distorted: inputPaths('The encodes.', 32),
  ...optionalGeometry,
  model,
  subsample,
  precision,
  target,
  ...pairingParameters,
});
type ComparisonInput = InputOf<typeof comparisonInput>;

export const compareEncodesTool = defineTool({
  name: 'compare_encodes',
  title: 'Compare encodes of one source',
  description:
    'Scores several encodes against one reference and decides which to ship: Pareto front of size and quality, ties ' +
    'within measurement error, and score, bit rate, size and worst moments of each encode, best first. Pass target if ' +
    'there is one.',
  inputSchema: comparisonInput,
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    decision: z.object({
      ship: textOrNull.describe('The encode to ship; null if no score can be trusted.'),
      reason: z
        .enum([
          ...(['smallest-that-reaches', 'none-reaches', 'best-and-smallest'] as const),
          ...(['smallest-as-good', 'best', 'none-trusted'] as const),
        ])
        .describe(
          'smallest-as-good: the smallest of those that the measurement, or a viewer, cannot tell from the best.',
        ),
      pareto_front: z.array(z.int()).describe('Ranks of encodes that no other dominates, smallest first.'),
      ties: z
        .array(z.array(z.int()))
        .describe(
          'Ranks of encodes within measurement error of each other: the 95 % interval of the difference contains 0.',
        ),
      smaller: z
        .object({ rank: z.int(), saves_percent: z.number(), loses_points: z.number() })
        .nullable()
        .describe('The next smaller encode on the front.'),
    }),
    model: z.string(),
    metric: z.string().describe('Key of the score in reports.'),
    encodes: rows({
      distorted: z.string().describe('As given.'),
      rank: z.int(),
      ...each(value, 'mean', 'harmonic_mean', 'min'),
      p1: value.describe('1 % of the frames score below this.'),
      p5: value,
      bitrate: value.describe('Bits per second of the video.'),
      size_bytes: wholeOrNull,
      dominated_by: textOrNull.describe(
        'An encode that is no larger and scores no lower, and is better in one of the two.',
      ),
      ...each(z.int(), 'width', 'height', 'frames'),
      codec: textOrNull,
      worst_frame: wholeOrNull,
      bits_per_pixel: value,
      points_per_doubling: value.describe(
        'On the Pareto front: points gained per doubling of the size, from the next smaller encode.',
      ),
      worst_moments: rows({ frame: z.int(), seconds: z.number().optional(), value: z.number() }).describe(
        'Worst first, at least a second apart.',
      ),
      trust: trustDocument,
      preflight: texts.describe('Errors and warnings, as sentences.'),
      mismatched_model_warning: z.string().optional(),
      target: targetDocument.optional().describe('With target: the verdict on it.'),
    }).describe('Best first, by mean; untrusted ones last.'),
    errors: rows({ distorted: z.string(), error: z.string() }).describe(
      'Encodes that could not be scored, in input order.',
    ),
    page: resourceDocument.optional().describe('The result as an HTML page with charts, for people.'),
  }),
  handler: compareEncodes,
});

interface FailedRow {
  readonly distorted: string;
  readonly error: string;
}

/** @throws {AnyvmafError} those of `scoreMany`, if no encode can be scored */
export async function compareEncodes(input: ComparisonInput, context: ToolContext) {
  const target = targetLimits(input.target);
  const { reports, errors } = await scoreAll(input, target, context);
  const { decideEncodes } = await import('../../index.js');
  const decision = await decideEncodes(reports, { targets: input.target?.split(',') ?? [] });
  const rows = reports.map((report, i) => ({
    ...encodeRow(report, input.precision, target),
    ...figuresOf(decision.encodes[i]),
  }));
  const { encodes, ranks } = rank(rows);
  const document = decisionDocument(decision, reports, ranks);
  const used = reports[0]?.models[0];
  const sure = leastOf(reports.map((report) => sureOfTarget(report, target)));
  const page = await publishPage(reports, errors, context);
  return {
    document: {
      ...verdictOn(decision, encodes, document.ship, errors, sure, context),
      decision: document,
      model: used?.source ?? '',
      metric: used?.name ?? '',
      encodes,
      errors,
      page: page && { uri: page.uri, path: page.path },
    },
    content: page && [page.link],
    spare: SPARE,
  };
}

export type Comparison = Awaited<ReturnType<typeof compareEncodes>>['document'];

/** Reports under the caller's names. @throws those of {@link compareEncodes} */
async function scoreAll(input: ComparisonInput, target: readonly Limit[] | undefined, context: ToolContext) {
  const { distorted } = input;
  const paths = distorted.flatMap((item) => ('path' in item ? item.path : []));
  const options = { ...pairOptions(input), raw: rawFormat(input) };
  const outcomes = [...(await runScoreMany(input.reference.path, paths, options, target, context))];
  const reports: Report[] = [];
  const failed: FailedPair[] = [];
  for (const item of distorted) {
    const { named } = item;
    const outcome = 'refusal' in item ? item.refusal : outcomes.shift();
    if (outcome && 'frames' in outcome)
      reports.push({ ...outcome, distorted: { ...outcome.distorted, name: named } });
    else failed.push({ named, cause: outcome });
  }
  if (!reports[0]?.models[0]) throw noneScored('encode', failed);
  const errors = failed.map(({ named, cause }) => ({ distorted: named, error: sentenceOf(cause) }));
  return { reports, errors };
}

/** Members to drop from a long answer, least important first. */
const SPARE = [
  ...['preflight', 'trust.cause', 'trust.fix', 'dominated_by', 'harmonic_mean', 'frames', 'codec'],
  ...['mismatched_model_warning', 'width', 'height', 'worst_frame', 'p5', 'min', 'target.checks'],
  ...['worst_moments.2', 'worst_moments.1', 'bits_per_pixel', 'trust.codes', 'points_per_doubling'],
  ...['bitrate', 'p1', 'trust'],
].map((key) => `encodes.[].${key}`);

/** Most frames on a page, which takes about 40 bytes for each and is built in memory. */
const MOST_FRAMES = 200_000;

/** Publishes a page with charts of all encodes; `undefined` above {@link MOST_FRAMES}. */
async function publishPage(
  reports: readonly Report[],
  errors: readonly FailedRow[],
  { resources }: ToolContext,
) {
  if (reports.reduce((sum, { frames }) => sum + frames.length, 0) > MOST_FRAMES) return undefined;
  const { formatHtml } = await import('../../index.js');
  const failed = errors.map(({ distorted, error: message }) => ({ distorted, message }));
  const picturesLacking = ['describe_worst_frames shows pictures of the worst frames of each.'];
  return resources.publish({
    name: 'report.html',
    mimeType: 'text/html',
    description:
      'The encodes as a page for people: charts of all frames, quality over bit rate, worst frames.',
    data: await formatHtml(reports, { failed, picturesLacking }),
  });
}

function figuresOf(encode: DecidedEncode | undefined) {
  return {
    bits_per_pixel: encode?.bitsPerPixel == null ? null : Number(encode.bitsPerPixel.toPrecision(3)),
    points_per_doubling: encode?.perDoubling == null ? null : Number(encode.perDoubling.toFixed(2)),
    worst_moments: (encode?.moments ?? []).map(({ frame, time, value }) => ({
      frame,
      seconds: time && Number(time.toFixed(2)),
      value: Number(value.toFixed(2)),
    })),
  };
}

function decisionDocument(
  { ship, reason, front, ties, smaller }: EncodeDecision,
  reports: readonly Report[],
  ranks: readonly number[],
) {
  const rankOf = (index: number) => ranks[index] ?? 0;
  return {
    ship: ship === null ? null : (reports[ship]?.distorted.name ?? null),
    reason,
    pareto_front: front.map(rankOf),
    ties: ties.map((group) => group.map(rankOf)),
    smaller: smaller && {
      rank: rankOf(smaller.encode),
      saves_percent: Number((smaller.saves * 100).toFixed(1)),
      loses_points: Number(smaller.loses.toFixed(3)),
    },
  };
}

/** The verdict on the recommended encode; the next call is for its worst frames. */
function verdictOn(
  { ship, reason, rivals, smaller, explanation }: EncodeDecision,
  encodes: readonly EncodeRow[],
  shipped: string | null,
  errors: readonly FailedRow[],
  sure: Confidence,
  context: ToolContext,
) {
  const [best] = encodes;
  const row = encodes.find(({ distorted }) => distorted === shipped) ?? best;
  const wrong = encodes.filter(({ trust }) => trust.verdict === 'untrusted');
  const doubted = encodes.filter((encode) => !wrong.includes(encode) && encode.preflight.length > 0);
  const hasTarget = /reaches$/.test(reason);
  const open = encodes.filter(({ target }) => target?.verdict === 'unfinished');
  const isDoubtful = wrong.length + open.length + errors.length > 0;
  const onMiss = isDoubtful ? 'unfinished' : 'missed';
  const onTarget = reason === 'none-reaches' ? onMiss : 'reached';
  const outcome = hasTarget ? onTarget : rivals.length > 0 ? 'tied' : 'decided';
  const pair = { reference: String(context.args.reference), distorted: row?.distorted ?? '' };
  const isTradeOff = smaller !== null && !hasTarget;
  const [other] = wrong.filter((encode) => encode !== row);
  const count = counted(encodes.length, 'encode');
  return {
    ...headOf({
      trust: row?.trust,
      outcome: ship === null ? undefined : outcome,
      // Whether a quality is worth its bytes cannot be measured.
      sure: leastOf([sure, isTradeOff || isDoubtful ? 'medium' : 'high']),
      reasons: codesOf({
        [reason]: true,
        'trade-off': isTradeOff,
        'measured-on-samples': Number(context.args.subsample) > 1,
        'others-untrusted': other,
        'no-value': open.length > 0,
        'some-failed': errors.length > 0,
      }),
      next:
        (ship === null ? nextWithFix(context, row?.trust.fix) : nextForWrong(context, other)) ??
        nextForPair(context, 'describe_worst_frames', { n: 3 }, pair),
    }),
    summary: joinSentences(
      ship === null ? `${count}; no score can be trusted.` : explanation,
      reason !== 'none-reaches' && targetSentence([...encodes, ...errors]),
      ship !== null && `${count}; the best is ${best?.distorted} with ${scoreOf(best)}.`,
      ...wrong
        .slice(0, MOST_NAMES)
        .map(({ distorted, trust }) => trustSentence(trust, `the score of ${distorted}`)),
      errors.length > 0 && `${namesOf(errors)} could not be scored; see errors.`,
      doubted.length > 0 && `Preflight found problems with ${namesOf(doubted)}; see preflight.`,
    ),
  };
}

/** Scores an untrusted encode with the fix of its root cause. */
export function nextForWrong(
  context: ToolContext,
  row: (Pick<ScoredRow, 'distorted'> & { readonly trust?: Pick<Trust, 'fix'> }) | undefined,
  reference = String(context.args.reference),
): NextAction | undefined {
  // vmaf_score_encoded takes no raw video.
  const tool = context.args.width === undefined ? 'vmaf_score_encoded' : 'explain_score';
  return row && nextWithFix(context, row.trust?.fix, tool, { reference, distorted: row.distorted });
}

interface FailedPair {
  readonly named: string;
  readonly cause: unknown;
}

/** The error that all share, or one that lists them. @param what `encode` */
export function noneScored(what: string, failed: readonly FailedPair[]): unknown {
  const sentences = failed.map(({ cause }) => sentenceOf(cause));
  if (new Set(sentences).size === 1) return failed[0]?.cause;
  const reasons = failed.map(({ named }, i) => `${named}: ${sentences[i]}`).join(' ');
  return mediaError(`None of the ${counted(failed.length, what)} can be scored. ${reasons}`);
}

type ScoredRow = ReturnType<typeof encodeRow>;
type EncodeRow = ReturnType<typeof rank<ScoredRow>>['encodes'][number];
type Unranked = Pick<ScoredRow, 'distorted' | 'mean' | 'size_bytes' | 'trust'>;

export function encodeRow(report: Report, precision: string, target?: readonly Limit[]) {
  const digits = readPrecision(precision);
  const round = rounder(digits);
  const figure = (value: number | undefined) =>
    value === undefined || !Number.isFinite(value) ? null : round(value);
  const metric = report.models[0]?.name ?? '';
  const pooled = report.pooled_metrics[metric];
  const spread = report.distribution[metric]?.percentiles;
  const video = report.pairing?.distorted;
  return {
    distorted: report.distorted.name,
    mean: figure(pooled?.mean),
    harmonic_mean: figure(pooled?.harmonic_mean),
    min: figure(pooled?.min),
    p1: figure(spread?.p1),
    p5: figure(spread?.p5),
    bitrate: video?.bitrate ?? null,
    size_bytes: video?.fileSize ?? report.distorted.fileSize ?? null,
    width: video?.width ?? report.distorted.width,
    height: video?.height ?? report.distorted.height,
    frames: report.frameCount,
    codec: video?.codec ?? null,
    worst_frame: worstDocumentOf(report, digits, 1)?.frames[0]?.frame ?? null,
    trust: trustOf(report),
    preflight: (report.preflight ?? [])
      .filter(({ severity }) => severity !== 'info')
      .map(({ message }) => message),
    mismatched_model_warning: mismatchedModelWarning(report),
    target: target && targetAnswer(report, target, round),
  };
}

export function targetSentence(
  rows: readonly { readonly distorted: string; readonly target?: TargetDocument }[],
): string | undefined {
  if (!rows.some(({ target }) => target)) return undefined;
  const reached = rows.filter(({ target }) => target?.verdict === 'reached');
  const isMissed = rows.every(({ target }) => target?.verdict === 'missed');
  if (reached.length === 0) return `None ${isMissed ? 'reaches' : 'is certain to reach'} the target.`;
  if (reached.length > 1 && reached.length === rows.length) return 'All reach the target.';
  return `${namesOf(reached)} ${reached.length === 1 ? 'reaches' : 'reach'} the target.`;
}

/**
 * Sorts by score, then size, then the caller's order. Untrusted encodes come last and dominate none.
 * @returns the sorted rows, and the rank of each given row
 */
export function rank<Row extends Unranked>(rows: readonly Row[]) {
  const trusted = ({ trust }: Unranked) => trust.verdict !== 'untrusted';
  const score = ({ mean }: Unranked) => mean ?? Number.NEGATIVE_INFINITY;
  const size = ({ size_bytes: bytes }: Unranked) => bytes ?? Number.POSITIVE_INFINITY;
  const weighed = (row: Unranked) => ({ good: score(row), bytes: size(row) });
  const better = (a: Unranked, b: Unranked) => trusted(a) && trusted(b) && dominates(weighed(a), weighed(b));
  const order = [...rows].sort(
    (a, b) =>
      Number(trusted(b)) - Number(trusted(a)) ||
      (score(a) === score(b) ? size(a) - size(b) || 0 : score(b) - score(a)),
  );
  const encodes = order.map((row, i) => ({
    ...row,
    rank: i + 1,
    dominated_by: order.find((other) => better(other, row))?.distorted ?? null,
  }));
  return { encodes, ranks: rows.map((row) => order.indexOf(row) + 1) };
}

export const scoreOf = (row?: { readonly mean?: number | null }) => row?.mean?.toFixed(2) ?? 'no score';

const MOST_NAMES = 3;

export function namesOf(rows: readonly { readonly distorted: string }[]): string {
  const named = rows.slice(0, rows.length > MOST_NAMES ? 1 : MOST_NAMES).map(({ distorted }) => distorted);
  const more = rows.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
