/**
 * @module search/points
 * Points of a search as they are measured and kept: every frame's values, so that another target needs no other encode.
 */
import { pool } from '../report/pool.js';
import type { PooledMetric } from '../report/types.js';
import type { SampleValues } from './estimate.js';
import type { PointStore } from './host.js';

/** What encoding with a value gave. */
export interface Measured {
  readonly value: number;
  /** Bytes of the scored frames. */
  readonly bytes: number;
  /** By metric: values of the scored frames of each sample. */
  readonly metrics: Readonly<Record<string, SampleValues>>;
  /** Seconds that encoding took; absent in points of earlier versions. */
  readonly seconds?: number;
}

/** A point, and whether it was known from an earlier search. */
export type KnownPoint = Measured & { readonly cached: boolean };

/** Points by value, read from a store and added to it. */
export class KnownPoints {
  readonly #store: PointStore | undefined;
  readonly #key: string;
  readonly #points = new Map<number, KnownPoint>();

  private constructor(store: PointStore | undefined, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /**
   * Points that an earlier search left.
   * @param frames of each sample: a line that has others is passed over
   * @param metrics that are needed
   */
  static async open(
    store: PointStore | undefined,
    key: string,
    frames: readonly number[],
    metrics: readonly string[],
  ): Promise<KnownPoints> {
    const points = new KnownPoints(store, key);
    for (const line of (await store?.read(key)) ?? []) {
      const point = parsePoint(line, frames);
      if (point && metrics.every((name) => name in point.metrics))
        points.#points.set(point.value, { ...point, cached: true });
    }
    return points;
  }

  all(): readonly KnownPoint[] {
    return [...this.#points.values()];
  }

  get(value: number): KnownPoint | undefined {
    return this.#points.get(value);
  }

  async add(point: Measured): Promise<KnownPoint> {
    const known = { ...point, cached: false };
    this.#points.set(point.value, known);
    await this.#store?.add(this.#key, JSON.stringify(point));
    return known;
  }
}

/** A key of a store: a digest of what its lines are about. */
export async function keyOf(parts: readonly unknown[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The pooled values of every metric over all samples. */
export function pooledOf(metrics: Measured['metrics']): Record<string, PooledMetric> {
  return Object.fromEntries(
    Object.entries(metrics).flatMap(([name, samples]) => {
      const pooled = pool(samples.flat());
      return pooled ? [[name, pooled]] : [];
    }),
  );
}

/** A line as {@link KnownPoints.add} writes it; `undefined` for any other, such as one that a kill cut short. */
function parsePoint(line: string, frames: readonly number[]): Measured | undefined {
  let data: unknown;
  try {
    data = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(data) || !isRecord(data.metrics)) return undefined;
  const { value, bytes, metrics, seconds } = data;
  if (typeof value !== 'number' || typeof bytes !== 'number') return undefined;
  const ok = Object.values(metrics).every(
    (samples) =>
      Array.isArray(samples) &&
      samples.length === frames.length &&
      samples.every((values, i) => isNumbers(values) && values.length === frames[i]),
  );
  if (!ok) return undefined;
  const point = { value, bytes, metrics: metrics as Measured['metrics'] };
  return typeof seconds === 'number' && seconds > 0 ? { ...point, seconds } : point;
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function isNumbers(data: unknown): data is number[] {
  return Array.isArray(data) && data.every((one) => typeof one === 'number' && Number.isFinite(one));
}
