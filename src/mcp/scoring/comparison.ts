/**
 * @module mcp/scoring/comparison
 * Encodes of one source side by side: score, cost, and which of them are dominated.
 */
import { counted } from '../../core/printable.js';
import { AnyvmafError, formatHtml, type Report, trustOf } from '../../index.js';
import type { Limit } from '../../report/limits.js';
import type { ToolContext } from '../context.js';
import type { InputFile, InputModel, RefusedItem } from '../paths.js';
import { sentenceOf } from '../results.js';
import type { ToolOutcome } from '../tool.js';
import type { TargetDocument } from './documents.js';
import { mismatchedModelWarning } from './models.js';
import { featuresOf, readPrecision, tableOptions, targetLimits } from './options.js';
import type { PairingInput } from './parameters.js';
import { type OptionalGeometry, rawFormat } from './request.js';
import { rounder, targetAnswer, trustAnswer, worstDocumentOf } from './result.js';
import { runScoreMany } from './run.js';

/** What to compare. */
export interface ComparisonInput extends PairingInput, OptionalGeometry {
  readonly reference: InputFile;
  readonly distorted: readonly (InputFile | RefusedItem)[];
  readonly model: InputModel;
  readonly subsample: number;
  readonly precision: string;
  readonly target?: string;
}

/** One encode of the table. */
export interface EncodeRow {
  readonly distorted: string;
  readonly rank: number;
  readonly mean: number | null;
  readonly harmonic_mean: number | null;
  readonly min: number | null;
  readonly p1: number | null;
  readonly p5: number | null;
  readonly bitrate: number | null;
  readonly size_bytes: number | null;
  readonly dominated_by: string | null;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly codec: string | null;
  readonly worst_frame: number | null;
  readonly trust: ReturnType<typeof trustAnswer>;
  readonly preflight: string[];
  readonly mismatched_model_warning?: string;
  readonly target?: TargetDocument;
}

/** An encode that is not in the table. */
export interface FailedRow {
  readonly distorted: string;
  /** A full sentence. */
  readonly error: string;
}

/** The table and what it says. */
export interface Comparison {
  readonly summary: string;
  readonly model: string;
  readonly metric: string;
  readonly encodes: EncodeRow[];
  /** In the order in which they were named. */
  readonly errors: FailedRow[];
  /** Where the page is. */
  readonly page?: { readonly uri: string; readonly path: string };
}

/**
 * Scores all encodes that can be scored, and ranks them.
 * @throws {AnyvmafError} as `scoreMany`, when none can be scored
 */
export async function compareEncodes(
  input: ComparisonInput,
  context: ToolContext,
): Promise<ToolOutcome<Comparison>> {
  const raw = rawFormat(input);
  const target = targetLimits(input.target);
  const features = featuresOf(target);
  const found: (InputFile & { readonly place: number })[] = [];
  const failed: (FailedRow & { readonly place: number; readonly cause: unknown })[] = [];
  const fail = (place: number, distorted: string, cause: unknown) =>
    failed.push({ distorted, error: sentenceOf(cause), place, cause });
  for (const [place, item] of input.distorted.entries()) {
    if ('path' in item) found.push({ ...item, place });
    else fail(place, item.named, item.refusal);
  }
  const outcome = await runScoreMany(
    'compare_encodes',
    input.reference.path,
    found.map(({ path }) => path),
    {
      ...tableOptions(input),
      models: [input.model.text],
      ...(features.length > 0 && { features }),
      ...(raw && { raw }),
    },
    context,
  );
  const rows: Unranked[] = [];
  const reports: Report[] = [];
  let used: Report['models'][number] | undefined;
  for (const [i, { named, place }] of found.entries()) {
    const report = outcome[i];
    if (report && 'frames' in report) {
      used ??= report.models[0];
      reports.push(report);
      rows.push(encodeRow(report, named, input.precision, target));
    } else fail(place, named, report);
  }
  failed.sort((a, b) => a.place - b.place);
  if (!used) throw noneScored(failed);
  const errors = failed.map(({ distorted, error }) => ({ distorted, error }));
  const encodes = rank(rows);
  const page = await publishPage(reports, errors, context);
  return {
    document: {
      ...{ summary: summary(encodes, errors), model: used.source, metric: used.name, encodes, errors },
      ...(page && { page: { uri: page.uri, path: page.path } }),
    },
    ...(page && { content: [page.link] }),
  };
}

/** Frames of all encodes that a page shows, at most: it takes about 40 bytes for each, and is made at once. */
const MOST_FRAMES = 200_000;

/** Charts of all encodes over each other, for people; nothing where there is too much to draw. */
async function publishPage(
  reports: readonly Report[],
  errors: readonly FailedRow[],
  { resources }: ToolContext,
) {
  if (reports.reduce((sum, { frames }) => sum + frames.length, 0) > MOST_FRAMES) return undefined;
  const failed = errors.map(({ distorted, error: message }) => ({ distorted, message }));
  const picturesLacking = ['describe_worst_frames shows pictures of the worst frames of each.'];
  return resources.publish({
    name: 'report.html',
    mimeType: 'text/html',
    description:
      'The encodes as a page for people: charts of every frame, quality over bit rate, worst frames.',
    data: await formatHtml(reports, { failed, picturesLacking }),
  });
}

/** The error of all: the one that they share, or each one's own. */
function noneScored(failed: readonly (FailedRow & { readonly cause: unknown })[]): unknown {
  const [first] = failed;
  if (failed.every(({ error }) => error === first?.error)) return first?.cause;
  const reasons = failed.map(({ distorted, error }) => `${distorted}: ${error}`).join(' ');
  return new AnyvmafError(
    'media',
    `None of the ${counted(failed.length, 'encode')} can be scored. ${reasons}`,
  );
}

type Unranked = Omit<EncodeRow, 'rank' | 'dominated_by'>;

/** The row of a report, not ranked. */
export function encodeRow(
  report: Report,
  distorted: string,
  precision: string,
  target?: readonly Limit[],
): Unranked {
  const digits = readPrecision(precision);
  const round = rounder(digits);
  const said = (value: number | undefined) =>
    value === undefined || !Number.isFinite(value) ? null : round(value);
  const metric = report.models[0]?.name ?? '';
  const pooled = report.pooled_metrics[metric];
  const spread = report.distribution[metric]?.percentiles;
  const video = report.pairing?.distorted;
  const warning = mismatchedModelWarning(report);
  return {
    distorted,
    mean: said(pooled?.mean),
    harmonic_mean: said(pooled?.harmonic_mean),
    min: said(pooled?.min),
    p1: said(spread?.p1),
    p5: said(spread?.p5),
    bitrate: video?.bitrate ?? null,
    size_bytes: video?.fileSize ?? report.distorted.fileSize ?? null,
    width: video?.width ?? report.distorted.width,
    height: video?.height ?? report.distorted.height,
    frames: report.frameCount,
    codec: video?.codec ?? null,
    worst_frame: worstDocumentOf(report, digits, 1)?.frames[0]?.frame ?? null,
    trust: trustAnswer(trustOf(report)),
    preflight: (report.preflight ?? [])
      .filter(({ severity }) => severity !== 'info')
      .map(({ message }) => message),
    ...(warning !== undefined && { mismatched_model_warning: warning }),
    ...(target && { target: targetAnswer(report, target, round) }),
  };
}

/** What reached the target; nothing where there is none. */
export function targetSentence(rows: readonly Pick<EncodeRow, 'distorted' | 'target'>[]): readonly string[] {
  if (!rows.some(({ target }) => target)) return [];
  const reached = rows.filter(({ target }) => target?.verdict === 'reached');
  if (reached.length === 0) return ['None reaches the target.'];
  if (reached.length > 1 && reached.length === rows.length) return ['All reach the target.'];
  const named = reached.map(({ distorted }) => distorted).join(', ');
  return [`${named} ${reached.length === 1 ? 'reaches' : 'reach'} the target.`];
}

/** The smallest encode that reaches the target, where several do. */
function smallestSentence(rows: readonly EncodeRow[]): readonly string[] {
  const [smallest, other] = rows
    .filter(({ target, size_bytes: bytes }) => target?.verdict === 'reached' && bytes !== null)
    .sort((a, b) => Number(a.size_bytes) - Number(b.size_bytes));
  return smallest && other ? [`The smallest that does is ${smallest.distorted}.`] : [];
}

/**
 * Best first; of equal scores the smaller one, then the caller's order. Encodes whose score cannot be
 * trusted come last and dominate no other.
 */
export function rank(rows: readonly Unranked[]): EncodeRow[] {
  const trusted = ({ trust }: Unranked) => trust.verdict !== 'untrusted';
  const score = ({ mean }: Unranked) => mean ?? Number.NEGATIVE_INFINITY;
  const size = ({ size_bytes: bytes }: Unranked) => bytes ?? Number.POSITIVE_INFINITY;
  const better = (a: Unranked, b: Unranked) =>
    trusted(a) &&
    trusted(b) &&
    score(a) >= score(b) &&
    size(a) <= size(b) &&
    (score(a) > score(b) || size(a) < size(b));
  const order = [...rows].sort(
    (a, b) =>
      Number(trusted(b)) - Number(trusted(a)) ||
      (score(a) === score(b) ? size(a) - size(b) || 0 : score(b) - score(a)),
  );
  return order.map((one, i) => ({
    ...one,
    rank: i + 1,
    dominated_by: order.find((other) => better(other, one))?.distorted ?? null,
  }));
}

function summary(rows: readonly EncodeRow[], errors: readonly FailedRow[]): string {
  const [best] = rows;
  const spare = rows.filter(({ dominated_by: other }) => other !== null);
  const wrong = rows.filter(({ trust }) => trust.verdict === 'untrusted');
  const doubted = rows.filter(
    ({ trust, preflight }) => trust.verdict !== 'untrusted' && preflight.length > 0,
  );
  return [
    ...targetSentence(rows),
    ...smallestSentence(rows),
    wrong.length === rows.length
      ? `${counted(rows.length, 'encode')}, and none has a score that can be trusted.`
      : `${counted(rows.length, 'encode')}; the best is ${best?.distorted} with ${best?.mean?.toFixed(2) ?? 'no score'}.`,
    ...wrong.map(
      ({ distorted, trust: { codes, cause = '', fix } }) =>
        `Do not trust the score of ${distorted} (${codes.join(', ')}): ${cause}${fix === undefined ? '' : ` Fix: ${fix}.`}`,
    ),
    ...(errors.length > 0
      ? [`${errors.map(({ distorted }) => distorted).join(', ')} could not be scored; see errors.`]
      : []),
    ...(spare.length > 0
      ? [
          `Nobody needs ${spare.map(({ distorted }) => distorted).join(', ')}: another is no larger and scores no lower.`,
        ]
      : []),
    ...(doubted.length > 0
      ? [
          `Preflight objects to ${doubted.map(({ distorted }) => distorted).join(', ')}; read its preflight first.`,
        ]
      : []),
  ].join(' ');
}
