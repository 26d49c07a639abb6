/**
 * @module engine/live/steerable
 * The interface of steerable measurements: scorers, and runs before they start. Unlike `steering`, always loaded.
 */
import { holds, wrongType } from '../../core/arguments.js';
import type { Steering } from './steering.js';

/** Key of the method that hands over control; not part of the public types. */
export const STEERED = Symbol('anyvmaf.steered');

export interface Steerable {
  /** Hands over control. @throws {AnyvmafError} `usage` if it is steered already, or no longer can be */
  [STEERED](steering: Steering): void;
}

/** @throws {AnyvmafError} `usage` if the value is no measurement of this package */
export function requireSteerable(value: unknown): Steerable {
  if (holds(() => STEERED in Object(value))) return value as Steerable;
  throw wrongType('The measurement', value, 'a scorer of createScorer or a run of prepareRun');
}
