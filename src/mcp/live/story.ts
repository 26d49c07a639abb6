/**
 * @module mcp/live/story
 * A measurement in the event stream: its progress, and everything so far, with which the dashboard begins.
 */
import { USUAL_RATE } from '../../core/rational.js';
import type { Alarm } from '../../live/alarms.js';
import type { History, SecondPoint, WorstMoment } from '../../live/history.js';
import type { RunState } from '../../live/messages.js';

/** Worst moments in a progress notification. */
const WORST = 5;

export interface Progress {
  readonly measurement: string;
  /** Names of the videos; `null` before the run is planned. */
  readonly reference: string | null;
  readonly distorted: string | null;
  readonly state: RunState;
  /** Frames scored so far. */
  readonly frames: number;
  /** Frames read or pushed that are still to be scored. */
  readonly queued: number;
  /** Frames that the run will score; `null` while unknown. */
  readonly total: number | null;
  /** Frames per second of wall time. */
  readonly rate: { readonly now: number; readonly average: number };
  /** Frames per second of video; 25 if the videos do not say. */
  readonly fps: number;
  /** Key of the current main score; `null` without a model. */
  readonly metric: string | null;
  /** Mean of that score over all frames. */
  readonly mean: number | null;
  readonly worst: readonly WorstMoment[];
}

export interface Story extends Progress {
  readonly error: string | null;
  readonly seconds: readonly SecondPoint[];
  readonly swaps: Readonly<History['swaps']>;
  readonly alarms: readonly Alarm[];
}

export function progressOf(measurement: History): Progress {
  const { name, state, measured, queued, toScore, facts, main } = measurement;
  return {
    measurement: name,
    reference: facts?.reference ?? null,
    distorted: facts?.distorted ?? null,
    state,
    frames: measured,
    queued,
    total: toScore,
    rate: measurement.rate(),
    fps: facts?.rate ?? USUAL_RATE,
    metric: main ?? null,
    mean: (main === undefined ? undefined : measurement.mean(main)) ?? null,
    worst: measurement.worst(WORST),
  };
}

export function storyOf(measurement: History): Story {
  const { error, seconds, swaps, alarms } = measurement;
  return {
    ...progressOf(measurement),
    error: error ?? null,
    seconds,
    swaps,
    alarms,
  };
}
