/**
 * @module mcp/scoring/run
 * Runs the engine for a call, with its share of the machine, its signal and its progress. Refuses strings that would
 * write files.
 */
import { usageError } from '../../core/errors.js';
import type { AnyvmafError, Precision, Report, ScoreManyOptions, ScoreOptions } from '../../index.js';
import { extractorsFor, type Limit, parseLimit } from '../../report/limits.js';
import { requireMeasured } from '../../report/verdict.js';
import type { CheckedOptions, CheckedRequest } from '../checked-api.js';
import type { CheckedPath, InputModel } from '../paths.js';
import type { ToolContext } from '../tool.js';
import { findingInParameters, worded } from '../wording.js';
import { tableOptions } from './parameters.js';

interface Run {
  readonly options: CheckedOptions<ScoreOptions>;
  readonly weight: number | null;
  readonly target?: readonly Limit[];
}

/** @throws {AnyvmafError} those of `score`; `usage` for files to write or a target not measured; the signal's reason */
export async function runScore(
  request: CheckedRequest,
  { options, weight, target = [] }: Run,
  context: ToolContext,
): Promise<Report> {
  await refuseWriting(options);
  const { signal, files } = context;
  // Only vmaf_score sets decoder none: it compares frames as stored.
  const isStored = options.decoder === 'none';
  return context.pool.run(weight, async ({ threads, api }) => {
    const scoring = api.score(request, {
      ...options,
      origin: files.origin,
      // A limit: a short clip needs no worker.
      maxThreads: threads,
      signal,
      // A mistyped target must not cost the time of a whole run.
      onStart: (head) => requireMeasured(head, target),
      onProgress: ({ framesDone, framesTotal, fps }) =>
        context.progress({ done: framesDone, total: framesTotal, fps }),
    });
    const place = isStored ? (request.raw ? 'raw' : 'stored') : 'encoded';
    return reworded(await worded(scoring, place), isStored);
  });
}

/** Least number of videos that share one decoding of the reference. */
const TOGETHER = 8;

/** One failed video does not stop the others. @throws as {@link runScore} */
export async function runScoreMany(
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: CheckedOptions<ScoreManyOptions>,
  target: readonly Limit[] = [],
  context: ToolContext,
): Promise<readonly (Report | AnyvmafError)[]> {
  await refuseWriting(options);
  const { signal, files } = context;
  const states = distorted.map(() => ({ done: 0, total: null as number | null, fps: 0 }));
  const report = () => {
    const totals = states.map(({ total }) => total);
    const known = totals.filter((total) => total !== null);
    context.progress({
      done: states.reduce((sum, { done }) => sum + done, 0),
      total: known.length === totals.length ? known.reduce((sum, total) => sum + total, 0) : null,
      fps: states.reduce((sum, { fps }) => sum + fps, 0),
    });
  };
  return context.pool.run(null, async ({ threads, api }) => {
    const outcome = new Array<Report | AnyvmafError>(distorted.length);
    const end = (index: number, frames: number, result: Report | AnyvmafError) => {
      // A finished video no longer counts towards the speed.
      states[index] = { done: frames, total: frames, fps: 0 };
      outcome[index] = result;
    };
    // A batch is decoded at once, with a worker for each video.
    const size = Math.max(threads, TOGETHER);
    for (let first = 0; first < distorted.length; first += size) {
      const batch = distorted.slice(first, first + size);
      await api.scoreMany(reference, batch, {
        ...{ ...options, origin: files.origin, maxThreads: threads, signal },
        onStart: (head) => requireMeasured(head, target),
        onProgress: ({ framesDone, framesTotal, fps }, index) => {
          states[first + index] = { done: framesDone, total: framesTotal, fps };
          report();
        },
        onReport: (report, index) => end(first + index, report.frameCount, reworded(report)),
        onFailure: (error, index) => end(first + index, 0, error),
      });
    }
    return outcome;
  });
}

/** Puts parameter names into a report's findings. @param isStored use those of vmaf_score */
export function reworded(report: Report, isStored = false): Report {
  const { preflight, reference, distorted } = report;
  const isRaw = reference.container === 'yuv' || distorted.container === 'yuv';
  const place = isStored ? (isRaw ? 'raw' : 'stored') : 'encoded';
  const skipped = { reference: reference.skipped, distorted: distorted.skipped };
  return { ...report, preflight: preflight?.map((finding) => findingInParameters(finding, place, skipped)) };
}

export function pairOptions(input: { readonly model: InputModel; readonly target?: string }) {
  const features = featuresOf(targetLimits(input.target));
  return { ...tableOptions(input), models: [input.model.text], features };
}

/** Parses the bounds of a target. @throws {AnyvmafError} `usage` */
export function targetLimits(text: string | undefined): readonly Limit[] | undefined {
  return text?.split(',').map((part) => parseLimit(part));
}

/** Extractors for the bounds of a target, beside the requested ones. */
export function featuresOf(target: readonly Limit[] = [], asked: readonly string[] = []): readonly string[] {
  return extractorsFor(
    target.flatMap(({ metric }) => metric ?? []),
    asked,
  );
}

/** Parses a precision as the reference MCP server spells it. */
export function readPrecision(text: string): Precision {
  if (text === 'legacy' || text === 'max') return text;
  return text === 'full' ? 'max' : Number(text);
}

/** Refuses feature and model strings that write files on the server's machine. @throws {AnyvmafError} `usage` */
export async function refuseWriting({
  features = [],
  models = [],
}: Pick<ScoreOptions, 'features' | 'models'>): Promise<void> {
  const { listExtractors } = await import('../../index.js');
  const texts = [...features, ...models];
  for (const { options } of listExtractors()) {
    for (const { name, type } of options) {
      if (type !== 'folder' || !texts.some((text) => new RegExp(`[=:.]${name}=`).test(text))) continue;
      throw usageError(
        `${name} would write files on the machine of this server, which its tools never do; leave it out, or use it with ` +
          'anyvmaf on the command line.',
      );
    }
  }
}
