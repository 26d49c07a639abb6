/**
 * @module engine/live/steerable
 * What can be steered: scorers, and runs that have not started. All of them load this; `steering` only those that are.
 */
import { usageError } from '../../core/errors.js';
import { showValue } from '../../core/printable.js';
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

/** @throws {AnyvmafError} `usage` for what is no measurement of this package */
export function requireSteerable(value: unknown): Steerable {
  try {
    if (typeof value === 'object' && value !== null && STEERED in value) return value as Steerable;
  } catch {
    // A proxy that answers nothing.
  }
  throw usageError(
    `The measurement is ${showValue(value)}, but it must be a scorer of createScorer or a run of prepareRun.`,
  );
}
