/**
 * @module engine/live/steerable
 * The interface of steerable measurements: scorers, and runs before their start. Always loaded, unlike `steering`.
 */
import { holds, wrongType } from '../../core/arguments.js';
import type { Steering } from './steering.js';

/** Key of the method that hands over control, hidden from public types. */
export const STEERED = Symbol('anyvmaf.steered');

export interface Steerable {
  /** Hands over control. @throws {AnyvmafError} `usage` if it is already steered, or no longer can be */
  [STEERED](steering: Steering): void;
}

/** @throws {AnyvmafError} `usage` if the value is not a measurement of this package */
export function requireSteerable(value: unknown): Steerable {
  if (holds(() => STEERED in Object(value))) return value as Steerable;
  throw wrongType('The measurement', value, 'a scorer of createScorer or a run of prepareRun');
}
