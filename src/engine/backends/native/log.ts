/**
 * @module engine/backends/native/log
 * Reads libvmaf's JSON log.
 */
import { AnyvmafError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';

/** Printed statistics of a metric; `null` becomes NaN. */
export type LoggedStatistics = Readonly<Record<'min' | 'max' | 'mean' | 'harmonic_mean', number>>;

/** A parsed log. */
export interface NativeLog {
  /** libvmaf's version, as it calls itself; `null` where the log has none. */
  readonly version: string | null;
  /** What ran, where the build says so. */
  readonly backendUsed: string | null;
  /** Frames in the log, ascending. */
  readonly frameNumbers: readonly number[];
  /** Metrics in the order of their first value, with one value per frame; `present` is 0 where there is none. */
  readonly series: readonly {
    readonly name: string;
    readonly values: Float64Array;
    readonly present: Uint8Array;
  }[];
  /** Metrics whose four statistics the log has. */
  readonly pooled: ReadonlyMap<string, LoggedStatistics>;
  readonly aggregates: Readonly<Record<string, number>>;
}

/**
 * Reads a log. Values are the doubles nearest to what was printed; `null`, and `nan` and `inf` of older versions, which
 * are no JSON, become NaN.
 * @param program how to call whoever wrote it, for messages
 * @throws {AnyvmafError} `backend` when it is not libvmaf's log
 */
export function parseLog(text: string, program: string): NativeLog {
  const bad = (what: string) =>
    new AnyvmafError('backend', `${program} wrote a log that ${what}; install a sound build of libvmaf.`);
  const root = parse(text);
  if (!isRecord(root)) throw bad('is not JSON');
  const { frames } = root;
  if (!Array.isArray(frames)) throw bad('has no frames');
  const columns = new Map<string, { values: Float64Array; present: Uint8Array }>();
  const frameNumbers: number[] = [];
  for (const [row, frame] of frames.entries()) {
    const number: unknown = isRecord(frame) ? frame.frameNum : undefined;
    const metrics: unknown = isRecord(frame) ? frame.metrics : undefined;
    const last = frameNumbers.at(-1) ?? -1;
    if (typeof number !== 'number' || !Number.isInteger(number) || number <= last || !isRecord(metrics)) {
      throw bad(`has no sound frame ${row}`);
    }
    frameNumbers.push(number);
    for (const [name, value] of Object.entries(metrics)) {
      if (typeof value !== 'number' && value !== null) throw bad(`has no number as ${quoted(name)}`);
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
      Object.entries(isRecord(root.aggregate_metrics) ? root.aggregate_metrics : {}).map(([name, value]) => [
        name,
        typeof value === 'number' ? value : Number.NaN,
      ]),
    ),
  };
}

function statistics(pooled: unknown): ReadonlyMap<string, LoggedStatistics> {
  const all = new Map<string, LoggedStatistics>();
  for (const [name, found] of Object.entries(isRecord(pooled) ? pooled : {})) {
    if (!isRecord(found)) continue;
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

function number(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(/(:\s*)-?(?:nan|inf)\b/gi, '$1null'));
    } catch {
      return undefined;
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
