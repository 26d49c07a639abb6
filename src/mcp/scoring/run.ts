/**
 * @module mcp/scoring/run
 * Runs the engine inside a call: its share of the machine, its signal, its progress.
 */
import {
  type Report,
  type ScoreManyOptions,
  type ScoreRequest,
  score,
  scoreMany,
  type VideoInput,
} from '../../index.js';
import type { ToolContext } from '../context.js';
import type { ScoringCall } from './options.js';
import { refuseWriting } from './refusals.js';
import { findingInParameters, worded } from './wording.js';

/**
 * Scores a pair when the call's turn comes.
 * @param label the tool, as progress messages name it
 * @throws {AnyvmafError} as `score`; `usage` where files would be written; the signal's reason when the call is cancelled
 */
export async function runScore(
  label: string,
  request: ScoreRequest,
  { options, weight }: Pick<ScoringCall, 'options' | 'weight'>,
  context: ToolContext,
): Promise<Report> {
  refuseWriting(options);
  const { signal } = context;
  return context.pool.run(label, weight, async ({ threads }) => {
    const scoring = score(request, {
      ...options,
      // A clip that is over in a moment needs no worker at all.
      maxThreads: threads,
      signal,
      onProgress: ({ framesDone, framesTotal, fps }) =>
        context.progress({ done: framesDone, total: framesTotal, fps }),
    });
    return reworded(await worded(scoring));
  });
}

/**
 * Scores several videos against one reference when the call's turn comes: as many at a time as there are threads for.
 * @throws {AnyvmafError} as `scoreMany`, for the first that fails
 */
export async function runScoreMany(
  label: string,
  reference: VideoInput,
  distorted: readonly VideoInput[],
  options: ScoreManyOptions,
  context: ToolContext,
): Promise<Report[]> {
  refuseWriting(options);
  const { signal } = context;
  const states = distorted.map(() => ({ done: 0, total: null as number | null, fps: 0 }));
  const tell = () => {
    const totals = states.map(({ total }) => total);
    const known = totals.filter((total) => total !== null);
    context.progress({
      done: states.reduce((sum, { done }) => sum + done, 0),
      total: known.length === totals.length ? known.reduce((sum, total) => sum + total, 0) : null,
      fps: states.reduce((sum, { fps }) => sum + fps, 0),
    });
  };
  return context.pool.run(label, null, async ({ threads }) => {
    const reports: Report[] = [];
    // All videos of a batch are decoded at once, and each has a worker.
    for (let first = 0; first < distorted.length; first += threads) {
      const batch = distorted.slice(first, first + threads);
      const scoring = scoreMany(reference, batch, {
        ...options,
        maxThreads: threads,
        signal,
        onProgress: ({ framesDone, framesTotal, fps }, index) => {
          states[first + index] = { done: framesDone, total: framesTotal, fps };
          tell();
        },
      });
      for (const [index, report] of (await worded(scoring)).entries()) {
        // What is over takes no part in the speed any more.
        states[first + index] = { done: report.frameCount, total: report.frameCount, fps: 0 };
        reports.push(reworded(report));
      }
    }
    return reports;
  });
}

function reworded(report: Report): Report {
  return report.preflight ? { ...report, preflight: report.preflight.map(findingInParameters) } : report;
}
