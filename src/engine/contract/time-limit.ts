/**
 * @module engine/contract/time-limit
 * The limit of time of a run.
 */
import { TimeLimitError, withinSeconds } from '../../core/abort.js';
import type { ScoreOptions } from './types.js';

/**
 * Does work within {@link ScoreOptions.maxSeconds}, if that is set; the work gets the options without it.
 * @throws {TimeLimitError} at the limit; otherwise what `work` throws
 */
export function withinLimit<Options extends Pick<ScoreOptions, 'maxSeconds' | 'signal'>, T>(
  options: Options,
  work: (options: Options) => Promise<T>,
): Promise<T> {
  const { maxSeconds, signal } = options;
  if (maxSeconds === undefined) return work(options);
  const late = new TimeLimitError(
    `is ${maxSeconds}, but scoring took longer and was stopped; allow more, or score less, such as a range.`,
    { about: 'maxSeconds' },
  );
  return withinSeconds(maxSeconds, late, signal, (limited) =>
    work({ ...options, maxSeconds: undefined, signal: limited }),
  );
}
