/**
 * @module mcp/scoring/run
 * Runs the engine inside a call: its share of the machine, its signal, its progress.
 */
import type { AnyvmafError, Report, ScoreManyOptions } from '../../index.js';
import type { CheckedOptions, CheckedRequest } from '../checked-api.js';
import type { ToolContext } from '../context.js';
import type { CheckedPath } from '../paths.js';
import { errorInParameters, findingInParameters, worded } from '../wording.js';
import type { ScoringCall } from './options.js';
import { refuseWriting } from './refusals.js';

/**
 * Scores a pair when the call's turn comes.
 * @param label the tool, as progress messages name it
 * @throws {AnyvmafError} as `score`; `usage` where files would be written; the signal's reason when the call is cancelled
 */
export async function runScore(
  label: string,
  request: CheckedRequest,
  { options, weight }: Pick<ScoringCall, 'options' | 'weight'>,
  context: ToolContext,
): Promise<Report> {
  refuseWriting(options);
  const { signal, files } = context;
  return context.pool.run(label, weight, async ({ threads, api }) => {
    const scoring = api.score(request, {
      ...options,
      origin: files.origin,
      // A short clip needs no worker.
      maxThreads: threads,
      signal,
      onProgress: ({ framesDone, framesTotal, fps }) =>
        context.progress({ done: framesDone, total: framesTotal, fps }),
    });
    const place = label === 'vmaf_score' ? (request.raw ? 'raw' : 'stored') : 'encoded';
    return reworded(await worded(scoring, place), label);
  });
}

/** Videos that are scored together at least, and so share one decoding of the reference. */
const TOGETHER = 8;

/** The outcome for each video: its report, or the error. */
export type ManyOutcome = readonly (Report | AnyvmafError)[];

/**
 * Scores several videos against one reference when the call's turn comes. One that fails does not stop the others.
 * @throws {AnyvmafError} as `scoreMany`, for what is wrong with all; the signal's reason when the call is cancelled
 */
export async function runScoreMany(
  label: string,
  reference: CheckedPath,
  distorted: readonly CheckedPath[],
  options: CheckedOptions<ScoreManyOptions>,
  context: ToolContext,
): Promise<ManyOutcome> {
  refuseWriting(options);
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
  return context.pool.run(label, null, async ({ threads, api }) => {
    const outcome = new Array<Report | AnyvmafError>(distorted.length);
    const over = (index: number, frames: number) => {
      // A finished video does not count for the speed.
      states[index] = { done: frames, total: frames, fps: 0 };
    };
    // All videos of a batch are decoded at once, and each has a worker.
    const size = Math.max(threads, TOGETHER);
    for (let first = 0; first < distorted.length; first += size) {
      const batch = distorted.slice(first, first + size);
      const scoring = api.scoreMany(reference, batch, {
        ...options,
        origin: files.origin,
        maxThreads: threads,
        signal,
        onProgress: ({ framesDone, framesTotal, fps }, index) => {
          states[first + index] = { done: framesDone, total: framesTotal, fps };
          report();
        },
        onReport(report, index) {
          over(first + index, report.frameCount);
          outcome[first + index] = reworded(report, label);
        },
        onFailure(error, index) {
          over(first + index, 0);
          outcome[first + index] = errorInParameters(error);
        },
      });
      await worded(scoring);
    }
    return outcome;
  });
}

function reworded(report: Report, tool: string): Report {
  const { preflight, reference, distorted } = report;
  if (!preflight) return report;
  const raw = reference.container === 'yuv' || distorted.container === 'yuv';
  const place = tool === 'vmaf_score' ? (raw ? 'raw' : 'stored') : 'encoded';
  return { ...report, preflight: preflight.map((finding) => findingInParameters(finding, place)) };
}
