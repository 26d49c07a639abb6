/**
 * @module mcp/frame-pages
 * Pages of a report's frames for models, such as `anyvmaf://results/ID/frames?metric=vmaf&from=100&to=199&step=2`.
 */
import { isObject } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { quoted, showValue } from '../core/printable.js';

/** Default frames of a page, and most values of a page. */
const USUAL_FRAMES = 100;
const MOST_VALUES = 4000;

/** URI template (RFC 6570). */
export const PAGES_TEMPLATE = 'anyvmaf://results/{id}/frames{?metric,from,to,step,format}';

/** Frames as JSON or CSV, or seconds as JSON, each with mean, minimum and maximum. */
const FORMATS = ['json', 'csv', 'seconds'] as const;

export interface PageRequest {
  readonly id: string;
  /** Absent for all. */
  readonly metrics?: readonly string[];
  /** First and last frame number; default: the report's. */
  readonly from?: number;
  readonly to?: number;
  /** Every `step`-th frame, or second. */
  readonly step: number;
  readonly format?: (typeof FORMATS)[number];
}

const PARAMETERS: readonly string[] = ['metric', 'from', 'to', 'step', 'format'];
const ADDRESS = /^anyvmaf:\/\/results\/([\w-]{1,64})\/frames(?:\?([^#]{0,2000}))?$/;

/**
 * @returns `undefined` for another URI
 * @throws {AnyvmafError} `usage` for an invalid query
 */
export function readPageAddress(uri: string): PageRequest | undefined {
  const [, id, query = ''] = ADDRESS.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw usageError(`unknown query parameter ${quoted(unknown)}; available: ${PARAMETERS.join(', ')}.`);
  const whole = (name: string, least: number) => {
    const text = given.get(name);
    if (text === null) return undefined;
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    throw usageError(`${name} is ${showValue(text)}, but it must be a whole number from ${least}.`);
  };
  const [from, to] = [whole('from', 0), whole('to', 0)];
  if (from !== undefined && to !== undefined && from > to)
    throw usageError(`from is ${from} and to is ${to}, but from must not come after to.`);
  const named = given.get('format') ?? undefined;
  const format = FORMATS.find((known) => known === named);
  if (named !== undefined && !format)
    throw usageError(`format is ${showValue(named)}, but it must be one of ${FORMATS.join(', ')}.`);
  const metrics = given
    .getAll('metric')
    .flatMap((names) => names.split(','))
    .filter((name) => name !== '');
  const step = whole('step', 1) ?? 1;
  return { id, step, from, to, format, metrics: metrics.length > 0 ? metrics : undefined };
}

export function pageAddress({ id, metrics = [], from, to, step, format }: PageRequest): string {
  const parts = {
    metric: metrics.join(',') || undefined,
    from,
    to,
    step: step === 1 ? undefined : step,
    format,
  };
  const stated = Object.entries(parts).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(stated.map(([name, value]) => [name, String(value)]));
  return `anyvmaf://results/${id}/frames${query.size > 0 ? `?${query}` : ''}`;
}

interface Frame {
  readonly frameNum: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

type Framed = NonNullable<ReturnType<typeof framesOf>>;

/** Frames, pairs per second, if known, and pairs before the report's first, as in report/facts. */
export function framesOf(text: string) {
  const report: unknown = JSON.parse(text);
  if (!isObject(report)) return undefined;
  const { frames, reference, distorted, pairing, no_reference: alone } = report;
  const fits = (frame: unknown) =>
    isObject(frame) && typeof frame.frameNum === 'number' && isObject(frame.metrics);
  if (!Array.isArray(frames) || !frames.every(fits)) return undefined;
  const { by, policy } = Object(Object(pairing).frames) as Record<string, unknown>;
  const own = rateOf(reference);
  const rate = alone === true || (by === 'distorted' && policy !== 'number') ? rateOf(distorted) : own;
  const before = Number(Object(reference).skipped ?? 0);
  const skipped = rate !== undefined && own !== undefined ? (before * rate) / own : before;
  return { frames: frames as readonly Frame[], rate, skipped };
}

function rateOf(side: unknown): number | undefined {
  const [num = Number.NaN, den = 1] = String(Object(side).frame_rate).split('/').map(Number);
  return num / den > 0 ? num / den : undefined;
}

/**
 * A row for each frame (number, then values in the order of `columns`) or second, then the URI of the next page.
 * @throws {AnyvmafError} `usage` for an unknown metric, or for seconds if the frame rate is unknown
 */
export function pageOf(report: Framed, asked: PageRequest): string {
  const { frames } = report;
  const known = [...new Set(frames.flatMap(({ metrics }) => Object.keys(metrics)))];
  const { metrics = known, step, format } = asked;
  const unknown = metrics.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(`unknown metric ${quoted(unknown)}; this report has ${known.join(', ')}.`);
  const [first, last] = [frames[0]?.frameNum ?? 0, frames.at(-1)?.frameNum ?? 0];
  const from = asked.from ?? first;
  const within = frames.filter(({ frameNum: at }) => at >= from && at <= (asked.to ?? last));
  // The first frame of each step, because a subsampled report may lack the very frame.
  const stepOf = (frame: Frame | undefined) => frame && Math.floor((frame.frameNum - from) / step);
  const bySecond = format === 'seconds';
  const columns = bySecond
    ? ['second', 'frame', ...metrics.flatMap((name) => [name, `${name}_min`, `${name}_max`])]
    : ['frame', ...metrics];
  const wanted = bySecond
    ? secondsOf(within, metrics, report).filter((_, i) => i % step === 0)
    : within
        .filter((frame, i) => stepOf(frame) !== stepOf(within[i - 1]))
        .map(({ frameNum: at, metrics: all }) => ({
          at,
          cells: [at, ...metrics.map((name) => all[name] ?? null)],
        }));
  const room = Math.max(1, Math.floor(MOST_VALUES / columns.length));
  const shown = wanted.slice(0, asked.to === undefined ? Math.min(USUAL_FRAMES, room) : room);
  const after = wanted[shown.length];
  const next = after ? pageAddress({ ...asked, from: after.at }) : null;
  const rows = shown.map(({ cells }) => cells);
  if (format === 'csv')
    return `${[columns, ...rows].map((row) => row.join(',')).join('\n')}\n${next === null ? '' : `# next: ${next}\n`}`;
  return JSON.stringify({ frames: frames.length, first, last, columns, rows, next });
}

/** Mean, minimum and maximum of each metric, by seconds of the scored video, at the first frame of each. */
function secondsOf(frames: readonly Frame[], metrics: readonly string[], { rate, skipped }: Framed) {
  if (rate === undefined)
    throw usageError('format is seconds, but the frame rate of this report is unknown; use step.');
  const seconds = new Map<number, Frame[]>();
  for (const frame of frames) {
    const second = Math.floor((frame.frameNum + skipped) / rate + 1e-9);
    seconds.set(second, [...(seconds.get(second) ?? []), frame]);
  }
  return [...seconds].map(([second, group]) => {
    const at = group[0]?.frameNum ?? 0;
    const figures = metrics.flatMap((name) => {
      const values = group.flatMap(({ metrics: all }) => all[name] ?? []);
      if (values.length === 0) return [null, null, null];
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return [mean, Math.min(...values), Math.max(...values)].map((value) => Number(value.toFixed(6)));
    });
    return { at, cells: [second, at, ...figures] };
  });
}
