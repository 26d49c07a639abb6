/**
 * @module engine/live/steerable
 * What can be steered: scorers, and runs that have not started.
 */
import type { Steering } from './steering.js';

/** Key of the function that hands a measurement over; no part of the public types. */
export const STEERED = Symbol('anyvmaf.steered');

/** A measurement that can be steered. */
export interface Steerable {
  /**
   * Hands itself over.
   * @throws {AnyvmafError} `usage` if it is steered already, or over
   */
  [STEERED](steering: Steering): void;
}

/** Whether a value is a measurement of this package. */
export function isSteerable(value: unknown): value is Steerable {
  return typeof value === 'object' && value !== null && STEERED in value;
}
