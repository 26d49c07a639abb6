/**
 * @module mcp/live/measurement
 * Tools for a running measurement. Those that read answer without waiting for it, except `vmaf.watch`, which waits
 * less than a host's timeout; those that steer take effect at a frame boundary.
 */
import { usageError } from '../../core/errors.js';
import { quoted } from '../../core/printable.js';
import { type Alarm, parseAlarm } from '../../live/alarms.js';
import type { History } from '../../live/history.js';
import type { NextAction } from '../context.js';
import type { Hub } from './hub.js';
import { type Arguments, type LiveTool, numberOf, type Parameter, READS, textOf } from './tool.js';

const MEASUREMENT: Readonly<Record<string, Parameter>> = {
  measurement: {
    type: 'string',
    description: 'Name of the measurement. Default: the first.',
    maxLength: 64,
  },
};

export const LIST_FEATURES: LiveTool = {
  name: 'list_features',
  title: 'List feature extractors',
  description: 'Lists the feature extractors, by the names used in feature strings.',
  parameters: {},
  async call() {
    // Loaded with the first call, so that the thread starts quickly beside a measurement.
    const { listExtractors } = await import('../../index.js');
    const features = [...new Set(listExtractors().map(({ name }) => name))];
    return { features, count: features.length };
  },
};

export const STATUS: LiveTool = {
  name: 'vmaf.status',
  title: 'Show status',
  description:
    'Shows the status of the measurement: frames measured and queued, rate, queue pressure, model, the backend of each ' +
    'extractor, and the time left.',
  parameters: MEASUREMENT,
  call(args, hub) {
    const measurement = hub.measurement(textOf(args, 'measurement'));
    return hub.recent(measurement, () => statusOf(measurement, hub));
  },
};

export function statusOf(measurement: History, hub: Hub): object {
  const { name, state, facts, measured, taken, swaps, alarms, error } = measurement;
  const rate = measurement.rate();
  const { toScore } = measurement;
  const left = toScore === null || rate.average === 0 ? null : Math.max(0, toScore - measured) / rate.average;
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
    frames: { measured, queued: measurement.queued, taken, total: facts?.total ?? null },
    rate,
    seconds_left: measurement.isOver ? 0 : left,
    pressure: { commands: waiting, depth: queueDepth, share: waiting / queueDepth },
    metrics: measurement.metrics,
    swaps,
    alarms: alarms.slice(-10),
  };
}

export const SCORE: LiveTool = {
  name: 'vmaf.score',
  title: 'Show scores',
  description:
    'Shows the scores so far: pooled over all frames, over the last seconds or frames, or over a range; the values of ' +
    'one frame; or the worst moments.',
  parameters: {
    ...MEASUREMENT,
    metric: {
      type: 'string',
      description: 'Metric name. Default: the scores of all models.',
      maxLength: 256,
    },
    frame: { type: 'integer', description: 'Return all values of this frame.', minimum: 0 },
    last_frames: { type: 'integer', description: 'Pool only this number of latest frames.', minimum: 1 },
    last_seconds: {
      type: 'number',
      description: 'Pool only this number of latest seconds of video.',
      minimum: 0.001,
      maximum: 86400,
    },
    first: { type: 'integer', description: 'First frame to pool.', minimum: 0 },
    last: { type: 'integer', description: 'Last frame to pool.', minimum: 0 },
    worst: {
      type: 'integer',
      description: 'Number of worst moments to return.',
      minimum: 1,
      maximum: 32,
    },
  },
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
  const available = kept ? `frames ${kept[0]} to ${kept[1]}` : 'none yet';
  throw usageError(`Frame ${number} is not measured yet or no longer kept; available: ${available}.`);
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
  throw usageError(`Unknown metric ${quoted(metric)}; available: ${known}.`);
}

/** First and last frame, inclusive. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/** The requested frames; `undefined` for all. */
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

/** The kept part of a range, or the range itself if none of it is kept. */
function keptOf({ kept }: History, { first, last }: Span): Span {
  const [from, to] = [Math.max(first, kept?.[0] ?? 0), Math.min(last, kept?.[1] ?? last)];
  return from <= to ? { first: from, last: to } : { first, last };
}

/** Most seconds that a call waits; many hosts time out after 60. */
const LONGEST = 45;

/** Seconds of video before an alarm in its next action. */
const BEFORE = 5;

const RULE = {
  type: 'string',
  description:
    'A pooled value (mean, min, p5, psnr_y.min), < or >, a limit, and optionally "for 3s" (seconds) or "for 50f" (frames).',
  maxLength: 200,
} as const;

export const WATCH: LiveTool = {
  name: 'vmaf.watch',
  title: 'Wait for an alarm',
  description:
    "Waits until a rule such as 'p5<80 for 3s' or 'psnr_y.min<30 for 50f' raises an alarm; returns at once if one is raised " +
    `now, and after ${LONGEST} s at most. next_action keeps waiting, without a gap.`,
  parameters: {
    ...MEASUREMENT,
    rule: RULE,
    after: {
      type: 'integer',
      description: 'Only alarms raised after this frame, even if cleared since.',
      minimum: 0,
    },
    wait: {
      type: 'number',
      description: `Seconds to wait. Default ${LONGEST}.`,
      minimum: 0,
      maximum: LONGEST,
    },
  },
  required: ['rule'],
  async call(args, hub, { signal, progress }) {
    const rule = parseAlarm(textOf(args, 'rule') ?? '');
    const measurement = hub.measurement(textOf(args, 'measurement'));
    const milliseconds = 1000 * (numberOf(args, 'wait') ?? LONGEST);
    let after = numberOf(args, 'after');
    const look = (): Alarm | 'over' | undefined => {
      const { facts, last, measured, toScore } = measurement;
      if (facts) {
        progress({ done: measured, total: toScore });
        const told = measurement.watch(rule);
        const latest = told.at(-1);
        after ??= latest?.raised ? latest.frame - 1 : last;
        const since = after;
        const found = told.find(({ raised, frame }) => raised && frame > since);
        if (found) return found;
      }
      return measurement.isOver ? 'over' : undefined;
    };
    const found = await hub.until(look, milliseconds, signal);
    return documentOf(measurement, rule.text, found === 'over' ? undefined : found);
  },
};

function documentOf(measurement: History, rule: string, alarm: Alarm | undefined): object {
  const { name, state, measured, isOver } = measurement;
  const { metric, frame, value } = alarm ?? {};
  const summary = alarm
    ? `Alarm raised at frame ${frame}: ${metric} is ${value}. To wait for the next one, pass after: ${frame}.`
    : isOver
      ? 'The measurement has ended; the rule raised no new alarm.'
      : 'No alarm yet; next_action keeps waiting.';
  return {
    summary,
    ...{ measurement: name, state, frames: measured, rule, raised: alarm !== undefined },
    ...(alarm && { alarm: { metric, frame, value } }),
    next_action: nextOf(measurement, rule, alarm),
  };
}

function nextOf(measurement: History, rule: string, alarm: Alarm | undefined): NextAction {
  const { name, last, isOver, framesPerSecond, facts } = measurement;
  const named = { measurement: name };
  if (alarm) {
    const span = Math.round(BEFORE * framesPerSecond * (facts?.subsample ?? 1));
    const frames = { first: Math.max(0, alarm.frame - span + 1), last: alarm.frame };
    return { tool: 'vmaf.score', arguments: { ...named, ...frames } };
  }
  if (isOver) return { tool: 'vmaf.score', arguments: named };
  return { tool: 'vmaf.watch', arguments: { ...named, rule, ...(last >= 0 && { after: last }) } };
}

const STEERS = { ...READS, readOnlyHint: false, destructiveHint: false };

export const SWAP: LiveTool = {
  name: 'vmaf.request_model_swap',
  title: 'Change the model',
  description:
    'Changes the model at a frame boundary; the answer has the first frame that the new model scores. Fails if the model ' +
    'needs features that the run does not measure.',
  parameters: {
    ...MEASUREMENT,
    model: { type: 'string', description: 'Model string, such as vmaf_v0.6.1neg.', maxLength: 1024 },
    replace: {
      type: 'string',
      description: 'Key of the score to replace. Default: the only one.',
      maxLength: 256,
    },
  },
  required: ['model'],
  annotations: STEERS,
  call(args, hub) {
    const model = textOf(args, 'model') ?? '';
    const replace = textOf(args, 'replace');
    const measurement = hub.measurement(textOf(args, 'measurement'));
    return hub.command(measurement, { kind: 'swap', model, replace });
  },
};

export const SET_ALARM: LiveTool = {
  name: 'vmaf.set_alarm',
  title: 'Set an alarm',
  description:
    'Watches a rule from the next frame on, as --alarm does: all clients and the program are notified when its alarm is ' +
    'raised and when it is cleared. vmaf.watch waits for a rule without notifying others.',
  parameters: { ...MEASUREMENT, rule: RULE },
  required: ['rule'],
  annotations: STEERS,
  call(args, hub) {
    const rule = parseAlarm(textOf(args, 'rule') ?? '');
    return hub.command(hub.measurement(textOf(args, 'measurement')), { kind: 'alarm', rule });
  },
};

const EFFECTS = {
  pause: [
    'Pause a measurement',
    'Pauses the measurement at a frame boundary; frames in progress are finished.',
  ],
  resume: ['Resume a measurement', 'Resumes a paused measurement.'],
  stop: [
    'Stop a measurement',
    'Stops the measurement after the frames taken so far; its program gets a report of these.',
  ],
} as const;

export const STEERING: readonly LiveTool[] = (['pause', 'resume', 'stop'] as const).map((kind) => ({
  name: `vmaf.${kind}`,
  title: EFFECTS[kind][0],
  description: EFFECTS[kind][1],
  parameters: MEASUREMENT,
  annotations: { ...STEERS, destructiveHint: kind === 'stop' },
  call: (args, hub) => hub.command(hub.measurement(textOf(args, 'measurement')), { kind }),
}));
