/**
 * @module mcp/tools/score-batch
 * `score_batch`: scores many pairs into one table, which is also a resource.
 */
import * as z from 'zod/v4';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { counted } from '../../core/printable.js';
import { version } from '../../core/version.js';
import type { Report, Trust } from '../../index.js';
import type { Limit } from '../../report/limits.js';
import type { FailedEncode } from '../../report/schema.js';
import { requireMeasured } from '../../report/verdict.js';
import { inputPaths } from '../paths.js';
import { each, rows, value } from '../schemas.js';
import {
  codesOf,
  headKeys,
  headOf,
  isMissed,
  joinSentences,
  missCode,
  nextForPair,
  type TargetDocument,
  targetDocument,
  trustDocument,
  worstTrust,
} from '../scoring/answers.js';
import { model, pairingParameters, precision, target } from '../scoring/parameters.js';
import { pairOptions, readPrecision, refuseWriting, reworded, targetLimits } from '../scoring/run.js';
import { defineTool, type InputOf, type ToolContext } from '../tool.js';
import { errorInParameters, sentenceOf } from '../wording.js';
import { encodeRow, namesOf, nextForWrong, noneScored, scoreOf, targetSentence } from './compare-encodes.js';

const { scale, offset, decoder, filters } = pairingParameters;

const batchInput = z.object({
  references: inputPaths('One per encode, in the same order, or one for all.', 64),
  distorted: inputPaths('The encodes.', 64),
  model,
  precision,
  target,
  scale,
  offset,
  decoder,
  filters,
});
type BatchInput = InputOf<typeof batchInput>;

export const scoreBatchTool = defineTool({
  name: 'score_batch',
  title: 'Score a table of pairs',
  description:
    'Scores many pairs, each with its own reference. Returns one row per pair, in input order, and the whole table as a ' +
    'CSV resource. For encodes of one source, use compare_encodes, which ranks them.',
  inputSchema: batchInput,
  outputSchema: z.object({
    ...headKeys,
    summary: z.string(),
    pairs: rows({
      reference: z.string().describe('As given.'),
      distorted: z.string(),
      mean: value.optional().describe('Mean score of the model; absent with error.'),
      ...each(value.optional(), 'harmonic_mean', 'min'),
      p1: value.optional().describe('1 % of the frames score below this.'),
      frames: z.int().optional(),
      trust: trustDocument.optional(),
      preflight: z.array(z.string()).optional().describe('Errors and warnings, as sentences.'),
      target: targetDocument.optional().describe('With target: the verdict on it.'),
      error: z.string().optional().describe('Why the pair has no score.'),
    }).describe('In input order.'),
    failed: z.int().describe('Pairs without a score.'),
    table: z.string().describe('URI of the CSV table, for resources/read.'),
  }),
  handler: scoreTable,
});

/** @throws {AnyvmafError} those of `scoreBatch`; `usage` for a wrong number of references; `media` without any score */
async function scoreTable(input: BatchInput, context: ToolContext) {
  const pairs = pairsOf(input);
  const limits = targetLimits(input.target);
  const outcome = await runPairs(pairs, input, limits, context);
  const failed = outcome.flatMap((cause, i) =>
    cause instanceof AnyvmafError ? [{ named: pairs[i]?.distorted.named ?? '', cause }] : [],
  );
  if (failed.length === outcome.length) throw noneScored('pair', failed);
  const rows = pairs.map(({ reference, distorted }, i) => {
    const names = { reference: reference.named, distorted: distorted.named };
    const result = outcome[i];
    if (!result || result instanceof AnyvmafError) return { ...names, error: sentenceOf(result) };
    const row = encodeRow(result, input.precision, limits);
    const { mean, harmonic_mean, min, p1, frames, trust, preflight, target } = row;
    return { ...names, mean, harmonic_mean, min, p1, frames, trust, preflight, target };
  });
  const { writeTableCsv } = await import('../../report/brief.js');
  const results = outcome.map((result, i): Report | FailedEncode => {
    if (!(result instanceof AnyvmafError)) return result;
    const { code, message } = result;
    const { reference, distorted } = pairs[i] ?? {};
    return { version, reference: reference?.named ?? '', distorted: distorted?.named ?? '', code, message };
  });
  const { uri, link } = await context.resources.publish({
    name: 'batch.csv',
    mimeType: 'text/csv',
    description: 'A row per pair: scores, percentiles, size and trust, or its error.',
    data: [...writeTableCsv(results, readPrecision(input.precision))].join(''),
  });
  return {
    document: {
      ...verdictOn(rows, pairs, context),
      pairs: rows,
      failed: failed.length,
      table: uri,
    },
    content: [link],
    spare: [
      ...['preflight', 'harmonic_mean', 'trust.cause', 'trust.fix', 'p1', 'frames', 'target.checks', 'min'],
      ...(input.references.length === 1 ? ['reference'] : []),
      'trust',
    ].map((key) => `pairs.[].${key}`),
  };
}

/** The verdict on all pairs; the next call is for an untrusted pair, one that misses the target, or the lowest. */
function verdictOn(rows: readonly Row[], pairs: readonly Pair[], context: ToolContext) {
  const scored = rows.filter(({ error }) => error === undefined);
  const failed = rows.filter(({ error }) => error !== undefined);
  const missed = scored.filter(({ target }) => target?.verdict === 'missed');
  const open = scored.filter(({ target }) => target?.verdict === 'unfinished');
  const wrong = scored.filter(({ trust }) => trust?.verdict === 'untrusted');
  const meanOf = ({ mean }: Row) => mean ?? Number.POSITIVE_INFINITY;
  const [lowest] = scored.filter((row) => !wrong.includes(row)).sort((a, b) => meanOf(a) - meanOf(b));
  const row = wrong[0] ?? missed[0] ?? lowest;
  const pair = row && pairs[rows.indexOf(row)];
  const names = pair && { reference: pair.reference.named, distorted: pair.distorted.named };
  const isWrong = wrong.length > 0;
  // Whether a pair without a score reaches the target is open.
  const unlessMissed = failed.length + open.length > 0 ? 'unfinished' : 'reached';
  return {
    ...headOf({
      trust: worstTrust(scored.flatMap(({ trust }) => trust ?? [])),
      outcome: missed.length > 0 ? 'missed' : scored.some(({ target }) => target) ? unlessMissed : undefined,
      sure: open.length > 0 ? 'low' : failed.length > 0 ? 'medium' : 'high',
      reasons: [
        ...missed.flatMap(({ target }) => target?.checks.filter(isMissed).map(missCode) ?? []),
        ...codesOf({ 'no-value': open.length > 0, 'some-failed': failed.length > 0 }),
      ],
      next: isWrong
        ? (nextForWrong(context, wrong[0], names?.reference) ??
          nextForPair(context, 'vmaf_score_encoded', {}, names))
        : nextForPair(context, 'describe_worst_frames', { n: 3 }, names),
    }),
    summary: joinSentences(
      targetSentence(rows),
      `${counted(scored.length, 'pair')} scored.`,
      lowest && `The lowest is ${lowest.distorted} with ${scoreOf(lowest)}.`,
      isWrong && `Do not trust ${namesOf(wrong)}; see trust for the cause.`,
      failed.length > 0 && `${namesOf(failed)} could not be scored; see error.`,
    ),
  };
}

type Pair = ReturnType<typeof pairsOf>[number];

function pairsOf({ references, distorted }: BatchInput) {
  if (references.length !== 1 && references.length !== distorted.length)
    throw usageError(
      `references has ${counted(references.length, 'file')} and distorted ${distorted.length}; pass one reference for all, or one for each.`,
    );
  return distorted.flatMap((encode, i) => {
    const reference = references[references.length === 1 ? 0 : i];
    return reference ? [{ reference, distorted: encode }] : [];
  });
}

async function runPairs(
  pairs: readonly Pair[],
  input: BatchInput,
  limits: readonly Limit[] = [],
  context: ToolContext,
): Promise<(Report | AnyvmafError)[]> {
  const options = pairOptions(input);
  await refuseWriting(options);
  const outcome: (Report | AnyvmafError)[] = [];
  const open = pairs.flatMap(({ reference, distorted }, place) => {
    if ('path' in reference && 'path' in distorted)
      return [{ place, job: { reference: reference.path, distorted: distorted.path } }];
    const refused = [reference, distorted].find((item) => 'refusal' in item);
    if (refused) outcome[place] = refused.refusal;
    return [];
  });
  if (open.length === 0) return outcome;
  const { signal, files } = context;
  const jobs = open.map(({ job }) => job);
  await context.pool.run(null, ({ threads, api }) =>
    api.scoreBatch(jobs, {
      ...{ ...options, origin: files.origin, maxThreads: threads, signal },
      onProgress({ fraction, jobsDone, jobsTotal }) {
        const message = `${jobsDone} of ${jobsTotal} pairs`;
        context.progress({ done: Math.floor(fraction * 1000), total: 1000, message, isSteps: true });
      },
      onResult(result, index) {
        if (!(result instanceof AnyvmafError)) requireMeasured(result, limits);
        outcome[open[index]?.place ?? 0] =
          result instanceof AnyvmafError ? errorInParameters(result) : reworded(result);
      },
    }),
  );
  return outcome;
}

type Row = { readonly distorted: string; readonly mean?: number | null; readonly error?: string } & {
  readonly trust?: Pick<Trust, 'verdict' | 'codes' | 'fix'>;
  readonly target?: TargetDocument;
};
