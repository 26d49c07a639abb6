/**
 * @module engine/score
 * Scores one pair of videos, all of it or samples.
 */
import { unlessAborted } from '../core/abort.js';
import { usageError } from '../core/errors.js';
import type { Report } from '../report/types.js';
import { checkOptions, checkRequest } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import { withinLimit } from './contract/time-limit.js';
import type { ScoreOptions, ScoreRequest } from './contract/types.js';
import { type RunVariant, scoreWhole } from './score-whole.js';

/**
 * Scores a pair. When the promise settles, all threads, processes, open files and timers of the run are gone.
 * @throws {AnyvmafError} as the public `score`; the signal's reason when aborted
 */
export async function scorePair(
  platform: Platform,
  request: ScoreRequest,
  options: ScoreOptions,
  variant: RunVariant = {},
): Promise<Report> {
  const checked = checkOptions(options, 'score');
  checkRequest(request, checked.single);
  if (options.samples === undefined) return scoreWhole({ platform, request, options, checked, variant });
  if (variant.steering) {
    throw usageError(
      'samples and a run that is watched or steered exclude each other; leave one of them out.',
    );
  }
  const { scoreSampled } = await import('./score-samples.js');
  return withinLimit(options, (limited) =>
    unlessAborted(limited.signal, scoreSampled(platform, request, limited)),
  );
}
