/**
 * @module engine/backends/native/log
 * Reads libvmaf's JSON log.
 */
import { isObject, jsonOf } from '../../../core/arguments.js';
import { AnyvmafError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import type { MetricSeries } from '../../../report/build.js';
import type { PooledMetric } from '../../../report/types.js';

export interface NativeLog {
  /** libvmaf's version string; `null` if the log has none. */
  readonly version: string | null;
  /** Backend that ran, if the build reports it. */
  readonly backendUsed: string | null;
  /** Frames in the log, ascending. */
  readonly frameNumbers: readonly number[];
  /** Metrics in the order of their first value, with one value per frame; `present` is 0 where a frame has none. */
  readonly series: readonly Required<MetricSeries>[];
  /** Metrics with all four statistics; `null` becomes NaN. */
  readonly pooled: ReadonlyMap<string, PooledMetric>;
  readonly aggregates: Readonly<Record<string, number>>;
}

/**
 * Reads a log. Values are the doubles nearest to what was printed; `null`, and `nan` and `inf` of older versions, which
 * are not JSON, become NaN.
 * @param program its name in messages
 * @throws {AnyvmafError} `backend` if the text is not libvmaf's log
 */
export function parseLog(text: string, program: string): NativeLog {
  const bad = (what: string) =>
    new AnyvmafError('backend', `${program} wrote a log that ${what}; install a working build of libvmaf.`);
  const root = jsonOf(text) ?? jsonOf(text.replace(/(:\s*)-?(?:nan|inf)\b/gi, '$1null'));
  if (!isObject(root)) throw bad('is not JSON');
  const { frames } = root;
  if (!Array.isArray(frames)) throw bad('has no frames');
  const columns = new Map<string, { values: Float64Array; present: Uint8Array }>();
  const frameNumbers: number[] = [];
  for (const [row, frame] of frames.entries()) {
    const number: unknown = isObject(frame) ? frame.frameNum : undefined;
    const metrics: unknown = isObject(frame) ? frame.metrics : undefined;
    const last = frameNumbers.at(-1) ?? -1;
    if (typeof number !== 'number' || !Number.isInteger(number) || number <= last || !isObject(metrics)) {
      throw bad(`has an invalid frame ${row}`);
    }
    frameNumbers.push(number);
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value !== 'number' && value !== null) throw bad(`has no number for ${quoted(name)}`);
      let column = columns.get(name);
      if (!column) {
        column = { values: new Float64Array(frames.length), present: new Uint8Array(frames.length) };
        column.values.fill(Number.NaN);
        columns.set(name, column);
      }
      column.values[row] = value ?? Number.NaN;
      column.present[row] = 1;
    }
  }
  return {
    version: typeof root.version === 'string' ? root.version : null,
    backendUsed: typeof root.backend_used === 'string' ? root.backend_used : null,
    frameNumbers,
    series: [...columns].map(([name, column]) => ({ name, ...column })),
    pooled: statistics(root.pooled_metrics),
    aggregates: Object.fromEntries(
      membersOf(root.aggregate_metrics).map(([name, value]) => [name, number(value)]),
    ),
  };
}

function statistics(pooled: unknown): ReadonlyMap<string, PooledMetric> {
  const all = new Map<string, PooledMetric>();
  for (const [name, found] of membersOf(pooled)) {
    if (!isObject(found)) continue;
    const { min, max, mean, harmonic_mean } = found;
    if ([min, max, mean, harmonic_mean].some((value) => value === undefined)) continue;
    all.set(name, {
      min: number(min),
      max: number(max),
      mean: number(mean),
      harmonic_mean: number(harmonic_mean),
    });
  }
  return all;
}

function membersOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}
