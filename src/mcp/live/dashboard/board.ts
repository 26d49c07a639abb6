/**
 * @module mcp/live/dashboard/board
 * The dashboard's state of all measurements, from its event stream.
 */
import { USUAL_RATE } from '../../../core/numbers.js';
import type { Alarm } from '../../../live/alarms.js';
import { KEPT_ALARMS, KEPT_SECONDS, type SecondPoint } from '../../../live/history.js';
import { labelOf, scoreText, timeText } from '../../../report/view/numbers.js';
import type { Progress, Story } from '../hub.js';

/** Events of the stream by name; each names its measurement. */
export interface BoardEvents {
  readonly progress: Progress & { readonly fresh: readonly SecondPoint[] };
  readonly state: Pick<Story, 'measurement' | 'state'>;
  readonly swap: Story['swaps'][number] & { readonly measurement: string };
  readonly alarm: Alarm & { readonly measurement: string };
  readonly end: Pick<Story, 'measurement' | 'state'> & { readonly error?: string };
}

export interface Incident {
  readonly frame: number;
  readonly text: string;
}

const UNKNOWN: Omit<Story, 'measurement'> = {
  state: 'waiting',
  frames: 0,
  queued: 0,
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

export class Board {
  #stories: ReadonlyMap<string, Story> = new Map();
  /** Events that wait for the history; absent if none is awaited. */
  #held: (() => void)[] | undefined;
  /** Name of the measurement to show; absent for the first. */
  chosen: string | undefined;

  get names(): readonly string[] {
    return [...this.#stories.keys()];
  }

  get shown(): Story | undefined {
    return this.#stories.get(this.chosen ?? this.names[0] ?? '');
  }

  /** True once every measurement has ended, and there is one. */
  get isOver(): boolean {
    const all = [...this.#stories.values()];
    return all.length > 0 && all.every(({ state }) => state === 'finished' || state === 'failed');
  }

  /**
   * Takes the history before the stream began; its measurements come first. Events that arrive meanwhile are applied
   * after it, since it may be older.
   */
  async restore(history: Promise<readonly Story[]>): Promise<void> {
    const held: (() => void)[] = [];
    this.#held = held;
    try {
      this.#replace(await history);
    } finally {
      if (this.#held === held) this.#held = undefined;
      for (const apply of held) apply();
    }
  }

  #replace(stories: readonly Story[]): void {
    const known = new Set(stories.map(({ measurement }) => measurement));
    const others = [...this.#stories].filter(([name]) => !known.has(name));
    this.#stories = new Map([...stories.map((story) => [story.measurement, story] as const), ...others]);
  }

  /** Applies an event. Events repeated after a lost connection change nothing. */
  take<K extends keyof BoardEvents>(kind: K, data: BoardEvents[K]): void {
    this.#held?.push(() => this.#apply(kind, data));
    if (!this.#held) this.#apply(kind, data);
  }

  #apply<K extends keyof BoardEvents>(kind: K, data: BoardEvents[K]): void {
    const { measurement } = data;
    const story = this.#stories.get(measurement) ?? { ...UNKNOWN, measurement };
    this.#stories = new Map(this.#stories).set(measurement, { ...story, ...CHANGES[kind](story, data) });
  }
}

/** The changes of a story by each kind of event. */
const CHANGES: {
  readonly [Kind in keyof BoardEvents]: (story: Story, data: BoardEvents[Kind]) => Partial<Story>;
} = {
  progress(story, { fresh, ...progress }) {
    const isOlder = progress.frames < story.frames;
    const known = story.seconds.at(-1)?.second ?? 0;
    const seconds = [...story.seconds, ...fresh.filter(({ second }) => second > known)];
    return { ...(isOlder ? {} : progress), seconds: seconds.slice(-KEPT_SECONDS) };
  },
  state: (_, { state }) => ({ state }),
  end: (_, { state, error = null }) => ({ state, error }),
  swap({ swaps }, { measurement: _, ...swap }) {
    const isKnown = swaps.some(({ frame, to }) => frame === swap.frame && to === swap.to);
    return isKnown ? {} : { swaps: [...swaps, swap] };
  },
  alarm({ alarms }, { measurement: _, ...alarm }) {
    const isKnown = alarms.some(
      ({ frame, rule, raised }) => frame === alarm.frame && rule === alarm.rule && raised === alarm.raised,
    );
    return isKnown ? {} : { alarms: [...alarms, alarm].slice(-KEPT_ALARMS) };
  },
};

export const timeOf = ({ fps }: Story, frame: number): string => timeText(frame / fps, 1);

/** Seconds with the worst moments, matched by their lowest score. */
export function worstSeconds({ seconds, worst }: Story): readonly SecondPoint[] {
  const lowest = new Map(seconds.map((point) => [point.min, point]));
  return worst.flatMap(({ value }) => lowest.get(value) ?? []);
}

export function alarmsOn({ alarms }: Story): readonly Alarm[] {
  const latest = new Map(alarms.map((alarm) => [alarm.rule, alarm]));
  return [...latest.values()].filter(({ raised }) => raised);
}

/** Alarms and model swaps, latest first. */
export function incidentsOf({ alarms, swaps }: Story): readonly Incident[] {
  return [
    ...swaps.map(({ frame, from, to }) => ({
      frame,
      text: `model changed from ${labelOf(from)} to ${labelOf(to)}`,
    })),
    ...alarms.map(({ frame, rule, raised, value }) => ({
      frame,
      text: `alarm ${raised ? 'raised' : 'cleared'}: ${rule} (${scoreText(value)})`,
    })),
  ].sort((a, b) => b.frame - a.frame);
}

export function secondsLeft({ state, frames, total, rate }: Story): number | undefined {
  return state === 'running' && total !== null && rate.now > 0
    ? Math.max(0, total - frames) / rate.now
    : undefined;
}
