/**
 * @module engine/score-live
 * A run that has not started, so that it can be handed to a server first.
 */
import { usageError } from '../core/errors.js';
import type { Report } from '../report/types.js';
import { checkOptions, checkRequest } from './contract/options.js';
import type { Platform } from './contract/platform.js';
import type { ScoreOptions, ScoreRequest, ScoreRun } from './contract/types.js';
import { STEERED, type Steerable } from './live/steerable.js';
import type { Steering } from './live/steering.js';
import { scorePair } from './score.js';

/**
 * Prepares a run; opens nothing.
 * @throws {AnyvmafError} `usage` as the public `score`
 */
export function prepareRun(platform: Platform, request: ScoreRequest, options: ScoreOptions): ScoreRun {
  checkRequest(request, checkOptions(options, 'score').single);
  return new PreparedRun((steering) => scorePair(platform, request, options, steering ? { steering } : {}));
}

class PreparedRun implements ScoreRun, Steerable {
  readonly #score: (steering: Steering | undefined) => Promise<Report>;
  #steering: Steering | undefined;
  #started = false;

  constructor(score: (steering: Steering | undefined) => Promise<Report>) {
    this.#score = score;
  }

  async start(): Promise<Report> {
    if (this.#started) throw usageError('The run has started already; prepare another one.');
    this.#started = true;
    try {
      const report = await this.#score(this.#steering);
      this.#steering?.ended();
      return report;
    } catch (error) {
      this.#steering?.ended(error);
      throw error;
    }
  }

  /** Hands itself over to who steers it. */
  [STEERED](steering: Steering): void {
    if (this.#started) throw usageError('The run has started; create its server before.');
    if (this.#steering && !this.#steering.released)
      throw usageError('The run has a server already; it can have one.');
    this.#steering = steering;
  }
}
