/**
 * @module live/watch
 * Watches a measurement without a server: alarms, and statistics of each second.
 */
import type { ScoreRun, Scorer } from '../engine/contract/types.js';
import { requireSteerable, STEERED } from '../engine/live/steering.js';
import type { AlarmRule } from './alarms.js';
import { Link, type LinkOptions } from './link.js';

/** What to watch for. */
export type WatchOptions = Pick<LinkOptions, 'onAlarm' | 'onSecond'> & {
  readonly alarms: readonly AlarmRule[];
};

/** @throws {AnyvmafError} `usage` for a measurement that is watched already, or over */
export function watchMeasurement(
  measurement: Scorer | ScoreRun,
  options: WatchOptions,
): { readonly alarmsRaised: number } {
  const link = new Link({ id: 0, name: 'main', maxDrainPerFrame: 1, folders: [], ...options });
  requireSteerable(measurement)[STEERED](link.steering);
  return link;
}
