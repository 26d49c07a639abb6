/**
 * @module mcp/live/tools/read
 * `vmaf.status` and `vmaf.score`: what is known of a running measurement, without waiting for it.
 */
import { usageError } from '../../../core/errors.js';
import { quoted } from '../../../core/printable.js';
import type { History } from '../../../live/history.js';
import type { Hub } from '../hub.js';
import { type Arguments, type LiveTool, numberOf, type Parameter, READS, textOf } from '../tool.js';

/** The parameter that chooses among measurements. */
export const MEASUREMENT: Readonly<Record<string, Parameter>> = {
  measurement: {
    type: 'string',
    description: 'Name of the measurement. Default: the first.',
    maxLength: 64,
  },
};

/** Where a measurement stands. */
export const STATUS: LiveTool = {
  name: 'vmaf.status',
  title: 'Say where a measurement stands',
  description:
    'Says where the measurement stands: frames measured and queued, rate, pressure of queues, model, what measures each ' +
    'metric, and the time left.',
  parameters: MEASUREMENT,
  required: [],
  annotations: READS,
  call(args, hub) {
    const measurement = hub.measurement(textOf(args, 'measurement'));
    return hub.recent(measurement, () => statusOf(measurement, hub));
  },
};

/** Everything about a measurement that is no score. */
export function statusOf(measurement: History, hub: Hub): object {
  const { name, state, facts, measured, taken, swaps, alarms, error } = measurement;
  const rate = measurement.rate();
  const total = facts?.total ?? null;
  const scored = facts && total !== null ? Math.ceil(total / facts.subsample) : null;
  const left = scored === null || rate.average === 0 ? null : Math.max(0, scored - measured) / rate.average;
  const waiting = hub.waiting(measurement);
  const { queueDepth } = hub.settings;
  return {
    measurement: name,
    measurements: hub.measurements.map((one) => one.name),
    state,
    ...(error !== undefined && { error }),
    ...(facts && {
      reference: facts.reference,
      distorted: facts.distorted,
      format: facts.format,
      threads: facts.threads,
      backends: Object.fromEntries(facts.extractors.map((extractor) => [extractor, facts.backend])),
    }),
    model: measurement.main ?? null,
    frames: {
      measured,
      queued: Math.max(0, Math.ceil(taken / (facts?.subsample ?? 1)) - measured),
      taken,
      total,
    },
    rate,
    seconds_left: measurement.isOver ? 0 : left,
    pressure: { commands: waiting, depth: queueDepth, share: waiting / queueDepth },
    metrics: measurement.metrics,
    swaps,
    alarms: alarms.slice(-10),
  };
}

/** Scores so far. */
export const SCORE: LiveTool = {
  name: 'vmaf.score',
  title: 'Give the scores so far',
  description:
    'Scores so far: pooled over all frames, over the last seconds or frames, or over a range; the values of one frame; or ' +
    'the worst moments.',
  parameters: {
    ...MEASUREMENT,
    metric: { type: 'string', description: 'Name of a metric. Default: the models.', maxLength: 256 },
    frame: { type: 'integer', description: 'Gives all values of this frame.', minimum: 0 },
    last_frames: { type: 'integer', description: 'Pools only so many of the latest frames.', minimum: 1 },
    last_seconds: {
      type: 'number',
      description: 'Pools only so many of the latest seconds of video.',
      minimum: 0.001,
      maximum: 86400,
    },
    first: { type: 'integer', description: 'Pools only frames from this one on.', minimum: 0 },
    last: { type: 'integer', description: 'Pools only frames up to this one.', minimum: 0 },
    worst: {
      type: 'integer',
      description: 'Gives so many of the worst moments.',
      minimum: 1,
      maximum: 32,
    },
  },
  required: [],
  annotations: READS,
  call(args, hub) {
    const measurement = hub.measurement(textOf(args, 'measurement'));
    const base = { measurement: measurement.name, state: measurement.state, frames: measurement.measured };
    const [frame, worst] = [numberOf(args, 'frame'), numberOf(args, 'worst')];
    if (frame !== undefined) return { ...base, frame: frameOf(measurement, frame) };
    return {
      ...base,
      ...pooledOf(measurement, args),
      ...(worst !== undefined && { worst: measurement.worst(worst) }),
    };
  },
};

function frameOf(measurement: History, number: number): object {
  const metrics = measurement.frame(number);
  if (metrics) return { number, metrics };
  const { kept } = measurement;
  const there = kept ? `frames ${kept[0]} to ${kept[1]} are` : 'no frame is';
  throw usageError(`There is no frame ${number} yet, or no more: ${there} here.`);
}

function pooledOf(measurement: History, args: Arguments): object {
  const names = metricsOf(measurement, textOf(args, 'metric'));
  const asked = spanOf(measurement, args);
  const span = asked && keptOf(measurement, asked);
  const pooled = names.map((name) => [
    name,
    (span ? measurement.range(name, span.first, span.last) : measurement.pooled(name)) ?? null,
  ]);
  return { ...(span && { range: span }), pooled: Object.fromEntries(pooled) };
}

function metricsOf(measurement: History, metric: string | undefined): readonly string[] {
  if (metric === undefined) {
    const scores = measurement.facts?.models.map(({ name }) => name) ?? [];
    return [...new Set([...scores, ...measurement.swaps.map(({ to }) => to)])];
  }
  if (measurement.metrics.includes(metric)) return [metric];
  const known = measurement.metrics.join(', ') || 'none yet';
  throw usageError(`There is no metric ${quoted(metric)}; there are ${known}.`);
}

/** Numbers of frames. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/** The frames that a question is about; `undefined` for all. */
function spanOf(measurement: History, args: Arguments): Span | undefined {
  const { last: end, framesPerSecond } = measurement;
  const step = measurement.facts?.subsample ?? 1;
  const seconds = numberOf(args, 'last_seconds');
  const frames =
    numberOf(args, 'last_frames') ?? (seconds && Math.max(1, Math.round(seconds * framesPerSecond)));
  if (frames) return { first: Math.max(0, end + 1 - frames * step), last: Math.max(0, end) };
  const [first, last] = [numberOf(args, 'first'), numberOf(args, 'last')];
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && first > last)
    throw usageError(`first is ${first} and last is ${last}, but first must not come after last.`);
  return { first: first ?? 0, last: last ?? Math.max(0, end) };
}

/** The part of a range that is kept, if any of it is. */
function keptOf({ kept }: History, { first, last }: Span): Span {
  const [from, to] = [Math.max(first, kept?.[0] ?? 0), Math.min(last, kept?.[1] ?? last)];
  return from <= to ? { first: from, last: to } : { first, last };
}
