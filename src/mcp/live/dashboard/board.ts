/**
 * @module mcp/live/dashboard/board
 * The dashboard's state of all measurements, from its event stream. It runs in the page, and draws nothing.
 */
import { USUAL_RATE } from '../../../core/rational.js';
import type { Alarm } from '../../../live/alarms.js';
import { KEPT_ALARMS, KEPT_SECONDS, type SecondPoint } from '../../../live/history.js';
import { labelOf, scoreText, timeText } from '../../../report/view/numbers.js';
import type { Progress, Story } from '../story.js';

/** The events of the stream, by name; each names its measurement. */
export interface BoardEvents {
  readonly progress: Progress & { readonly fresh: readonly SecondPoint[] };
  readonly state: { readonly measurement: string; readonly state: Story['state'] };
  readonly swap: Story['swaps'][number] & { readonly measurement: string };
  readonly alarm: Alarm & { readonly measurement: string };
  readonly end: {
    readonly measurement: string;
    readonly state: Story['state'];
    readonly error?: string;
  };
}

/** Something that happened at a frame. */
export interface Incident {
  readonly frame: number;
  readonly text: string;
}

const UNKNOWN: Omit<Story, 'measurement'> = {
  state: 'waiting',
  frames: 0,
  taken: 0,
  total: null,
  rate: { now: 0, average: 0 },
  fps: USUAL_RATE,
  metric: null,
  mean: null,
  worst: [],
  reference: null,
  distorted: null,
  error: null,
  seconds: [],
  swaps: [],
  alarms: [],
};

/** All measurements. */
export class Board {
  #stories: ReadonlyMap<string, Story> = new Map();
  /** Name of the measurement on show; the first one until another is chosen. */
  chosen: string | undefined;

  get names(): readonly string[] {
    return [...this.#stories.keys()];
  }

  /** The measurement on show. */
  get shown(): Story | undefined {
    return this.#stories.get(this.chosen ?? this.names[0] ?? '');
  }

  /** Whether there is a measurement, and each has ended. */
  get isOver(): boolean {
    const all = [...this.#stories.values()];
    return all.length > 0 && all.every(({ state }) => state === 'finished' || state === 'failed');
  }

  /** Takes all that happened before the stream began. Its order is that of the measurements, whatever events came meanwhile. */
  restore(stories: readonly Story[]): void {
    const told = [...this.#stories].filter(([name]) =>
      stories.every(({ measurement }) => measurement !== name),
    );
    this.#stories = new Map([...stories.map((story) => [story.measurement, story] as const), ...told]);
  }

  /** Takes an event. A repeated one, as after a lost connection, changes nothing. */
  take<K extends keyof BoardEvents>(kind: K, data: BoardEvents[K]): void {
    const { measurement } = data;
    const story = this.#stories.get(measurement) ?? { ...UNKNOWN, measurement };
    this.#stories = new Map(this.#stories).set(measurement, { ...story, ...changeOf(story, kind, data) });
  }
}

/** What an event changes in a measurement. */
function changeOf<K extends keyof BoardEvents>(story: Story, kind: K, data: BoardEvents[K]): Partial<Story> {
  // A union of pairs, so that each kind is read with its own data.
  const event = { kind, data } as {
    [N in keyof BoardEvents]: { kind: N; data: BoardEvents[N] };
  }[keyof BoardEvents];
  switch (event.kind) {
    case 'progress': {
      const { fresh, ...progress } = event.data;
      const known = story.seconds.at(-1)?.second ?? 0;
      const seconds = [...story.seconds, ...fresh.filter(({ second }) => second > known)];
      return { ...progress, seconds: seconds.slice(-KEPT_SECONDS) };
    }
    case 'state':
      return { state: event.data.state };
    case 'end':
      return { state: event.data.state, error: event.data.error ?? null };
    case 'swap': {
      const { measurement: _, ...swap } = event.data;
      const known = story.swaps.some(({ frame, to }) => frame === swap.frame && to === swap.to);
      return known ? {} : { swaps: [...story.swaps, swap] };
    }
    case 'alarm': {
      const { measurement: _, ...alarm } = event.data;
      const known = story.alarms.some(
        ({ frame, rule, raised }) => frame === alarm.frame && rule === alarm.rule && raised === alarm.raised,
      );
      return known ? {} : { alarms: [...story.alarms, alarm].slice(-KEPT_ALARMS) };
    }
  }
}

/** The time of a frame in its video. */
export function timeOf({ fps }: Story, frame: number): string {
  return timeText(frame / fps, 1);
}

/** The seconds of video whose lowest scores are the worst moments. */
export function worstSeconds({ seconds, worst }: Story): readonly SecondPoint[] {
  const lowest = new Map(seconds.map((point) => [point.min, point]));
  return worst.flatMap(({ value }) => lowest.get(value) ?? []);
}

/** Alarms that are on. */
export function alarmsOn({ alarms }: Story): readonly Alarm[] {
  const latest = new Map(alarms.map((alarm) => [alarm.rule, alarm]));
  return [...latest.values()].filter(({ raised }) => raised);
}

/** Alarms and changes of models, the latest first. */
export function incidentsOf({ alarms, swaps }: Story): readonly Incident[] {
  return [
    ...swaps.map(({ frame, from, to }) => ({
      frame,
      text: `${labelOf(to)} scores instead of ${labelOf(from)}`,
    })),
    ...alarms.map(({ frame, rule, raised, value }) => ({
      frame,
      text: `${raised ? 'alarm' : 'over'}: ${rule} (${scoreText(value)})`,
    })),
  ].sort((a, b) => b.frame - a.frame);
}

/** Seconds until a measurement of known length ends, at its present rate. */
export function secondsLeft({ state, frames, total, rate }: Story): number | undefined {
  return state === 'running' && total !== null && rate.now > 0
    ? Math.max(0, total - frames) / rate.now
    : undefined;
}
