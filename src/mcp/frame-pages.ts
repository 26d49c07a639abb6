/**
 * @module mcp/frame-pages
 * Frames of a report in pages that a model can read: `anyvmaf://results/ID/frames?metric=vmaf&from=100&to=199&step=2`.
 */
import { isObject } from '../core/arguments.js';
import { usageError } from '../core/errors.js';
import { quoted, showValue } from '../core/printable.js';

/** Frames of a page where nothing else is asked for, and at most. */
const USUAL_FRAMES = 100;
const MOST_VALUES = 4000;

/** The template of the addresses, as RFC 6570 has it. */
export const PAGES_TEMPLATE = 'anyvmaf://results/{id}/frames{?metric,from,to,step}';

/** A page that was asked for. */
export interface PageRequest {
  /** Of the result. */
  readonly id: string;
  /** Metrics; absent for all. */
  readonly metrics?: readonly string[];
  /** Numbers of the first and the last frame; absent ones are the report's. */
  readonly from?: number;
  readonly to?: number;
  /** Every so many frames. */
  readonly step: number;
}

const ADDRESS = /^anyvmaf:\/\/results\/([\w-]{1,64})\/frames(?:\?([^#]{0,2000}))?$/;

/**
 * Reads an address.
 * @returns `undefined` for one of something else
 * @throws {AnyvmafError} `usage` for what a page cannot be asked for with
 */
export function readPageAddress(uri: string): PageRequest | undefined {
  const [, id, query = ''] = ADDRESS.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const asked = new URLSearchParams(query);
  for (const name of asked.keys())
    if (!['metric', 'from', 'to', 'step'].includes(name))
      throw usageError(`pages of frames have no ${quoted(name)}; there are metric, from, to and step.`);
  const whole = (name: string, least: number) => {
    const text = asked.get(name);
    if (text === null) return undefined;
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    throw usageError(`${name} is ${showValue(text)}, but it must be a whole number from ${least}.`);
  };
  const [from, to] = [whole('from', 0), whole('to', 0)];
  if (from !== undefined && to !== undefined && from > to)
    throw usageError(`from is ${from} and to is ${to}, but from must not come after to.`);
  const metrics = asked
    .getAll('metric')
    .flatMap((names) => names.split(','))
    .filter((name) => name !== '');
  return {
    id,
    step: whole('step', 1) ?? 1,
    ...(metrics.length > 0 && { metrics }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** The address of a page. */
export function pageAddress({ id, metrics = [], from, to, step }: PageRequest): string {
  const query = new URLSearchParams([
    ...(metrics.length > 0 ? [['metric', metrics.join(',')]] : []),
    ...(from === undefined ? [] : [['from', String(from)]]),
    ...(to === undefined ? [] : [['to', String(to)]]),
    ...(step === 1 ? [] : [['step', String(step)]]),
  ]);
  return `anyvmaf://results/${id}/frames${query.size > 0 ? `?${query}` : ''}`;
}

interface Frame {
  readonly frameNum: number;
  readonly metrics: Readonly<Record<string, number | null>>;
}

/** The frames of a report; `undefined` for what has none. */
export function framesOf(text: string): readonly Frame[] | undefined {
  const report: unknown = JSON.parse(text);
  const frames = isObject(report) ? report.frames : undefined;
  const fits = (one: unknown) => isObject(one) && typeof one.frameNum === 'number' && isObject(one.metrics);
  return Array.isArray(frames) && frames.every(fits) ? frames : undefined;
}

/**
 * A page as JSON: a row for each frame, its number first, then its values in the order of `columns`; and the address of the next.
 * @throws {AnyvmafError} `usage` for a metric that there is not
 */
export function pageOf(frames: readonly Frame[], asked: PageRequest): string {
  const known = [...new Set(frames.flatMap(({ metrics }) => Object.keys(metrics)))];
  const { metrics = known, step } = asked;
  const unknown = metrics.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(`there is no metric ${quoted(unknown)} in this report; there are ${known.join(', ')}.`);
  const [first, last] = [frames[0]?.frameNum ?? 0, frames.at(-1)?.frameNum ?? 0];
  const from = asked.from ?? first;
  const wanted = frames.filter(
    ({ frameNum: at }) => at >= from && at <= (asked.to ?? last) && (at - from) % step === 0,
  );
  const room = Math.max(1, Math.floor(MOST_VALUES / (metrics.length + 1)));
  const shown = wanted.slice(0, asked.to === undefined ? Math.min(USUAL_FRAMES, room) : room);
  const next = wanted[shown.length];
  return JSON.stringify({
    frames: frames.length,
    first,
    last,
    columns: ['frame', ...metrics],
    rows: shown.map(({ frameNum, metrics: values }) => [
      frameNum,
      ...metrics.map((name) => values[name] ?? null),
    ]),
    next: next ? pageAddress({ ...asked, from: next.frameNum }) : null,
  });
}
