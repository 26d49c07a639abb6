/**
 * @module mcp/live/tools
 * The tools of the live server, and the check of their arguments. Tools that read answer at once, except
 * `vmaf.watch`, which waits less than a host's timeout; tools that steer take effect at a frame boundary;
 * `compute_vmaf` scores a pair of files beside the measurement.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { TimeLimitError, unlessAborted, withinSeconds } from '../../core/abort.js';
import { isObject } from '../../core/arguments.js';
import { AnyvmafError, usageError } from '../../core/errors.js';
import { quoted, showValue } from '../../core/printable.js';
import type { ChromaFormat, RawVideoFormat } from '../../index.js';
import { type Alarm, parseAlarm } from '../../live/alarms.js';
import type { History } from '../../live/history.js';
import type { NextAction, ToolAnnotations, ToolContext } from '../tool.js';
import type { Hub } from './hub.js';

/** A parameter in JSON Schema. */
export interface Parameter {
  readonly type: 'string' | 'integer' | 'number';
  readonly description: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

type Parameters = Readonly<Record<string, Parameter>>;

type Arguments<Own extends Parameters = Parameters> = {
  readonly [Name in keyof Own]?: ValueOf<Own[Name]['type']>;
};
type ValueOf<Type> = Type extends 'string' ? string : number;

export const READS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** Like a tool of the file server, but without zod: the thread must stay small beside a measurement. */
export interface LiveTool<Own extends Parameters = Parameters> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: Own;
  readonly required?: readonly string[];
  /** Default: {@link READS}. */
  readonly annotations?: ToolAnnotations;
  /** @throws {AnyvmafError} with a message for the client */
  call(args: Arguments<Own>, hub: Hub, context: LiveContext): object | Promise<object>;
}

/** Infers the types of arguments from the parameters. */
const liveTool = <const Own extends Parameters>(tool: LiveTool<Own>): LiveTool => tool;

export type LiveContext = Pick<ToolContext, 'signal' | 'progress'>;

/** @throws {AnyvmafError} `usage`, with the argument, its value and what was expected */
export function checkArguments(tool: LiveTool, given: unknown): Arguments {
  const wrong = (problem: string) => usageError(`${tool.name}: ${problem}`);
  const sent = given ?? {};
  if (!isObject(sent)) throw wrong('the arguments must be an object.');
  const args: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(sent)) {
    const parameter = Object.hasOwn(tool.parameters, name) ? tool.parameters[name] : undefined;
    const known = Object.keys(tool.parameters).join(', ') || 'none';
    if (!parameter) throw wrong(`unknown argument ${quoted(name.slice(0, 100))}; it takes ${known}.`);
    const problem = mismatch(value, parameter);
    if (problem) throw wrong(`${name} is ${showValue(value)}, but it must be ${problem}.`);
    args[name] = value as string | number;
  }
  const missing = tool.required?.find((name) => args[name] === undefined);
  if (missing !== undefined)
    throw wrong(`${missing} is missing: ${tool.parameters[missing]?.description ?? ''}`);
  return args;
}

/** The expectation that a value fails; `undefined` if it fits. */
function mismatch(value: unknown, parameter: Parameter): string | undefined {
  const { type, minimum, maximum, maxLength = 1024 } = parameter;
  if (parameter.enum && !parameter.enum.some((choice) => choice === value))
    return `one of ${parameter.enum.join(', ')}`;
  if (type === 'string') {
    const fits = typeof value === 'string' && value.length <= maxLength;
    return fits ? undefined : `a string of at most ${maxLength} characters`;
  }
  const whole = type === 'integer' ? 'a whole number' : 'a number';
  const bounds =
    (minimum === undefined ? '' : ` from ${minimum}`) + (maximum === undefined ? '' : ` to ${maximum}`);
  const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  const number = Number(value);
  const fits = isNumber && number >= (minimum ?? number) && number <= (maximum ?? number);
  return fits ? undefined : `${whole}${bounds}`;
}

const MEASUREMENT = {
  measurement: { type: 'string', description: 'Name of the measurement. Default: the first.', maxLength: 64 },
} as const;

const LIST_FEATURES = liveTool({
  name: 'list_features',
  title: 'List feature extractors',
  description: 'Lists the feature extractors, by the names used in feature strings.',
  parameters: {},
  async call() {
    // Loaded on demand, so that the thread starts quickly.
    const { listExtractors } = await import('../../index.js');
    const features = [...new Set(listExtractors().map(({ name }) => name))];
    return { features, count: features.length };
  },
});

const STATUS = liveTool({
  name: 'vmaf.status',
  title: 'Show status',
  description:
    'Shows the status of the measurement: frames measured and queued, rate, queue pressure, model, the backend of each ' +
    'extractor, and the time left.',
  parameters: MEASUREMENT,
  call({ measurement: name }, hub) {
    const measurement = hub.measurement(name);
    return hub.recent(measurement, () => statusOf(measurement, hub));
  },
});

export function statusOf(measurement: History, hub: Hub): object {
  const { name, state, facts, measured, taken, swaps, alarms, error } = measurement;
  const rate = measurement.rate();
  const { toScore } = measurement;
  const left = toScore === null || rate.average === 0 ? null : Math.max(0, toScore - measured) / rate.average;
  const waiting = hub.waiting(measurement);
  const { queueDepth } = hub.settings;
  return {
    measurement: name,
    measurements: hub.measurements.map((each) => each.name),
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

const SCORE = liveTool({
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
    worst: { type: 'integer', description: 'Number of worst moments to return.', minimum: 1, maximum: 32 },
  },
  call({ measurement: name, frame, worst, metric, ...asked }, hub) {
    const measurement = hub.measurement(name);
    const base = { measurement: measurement.name, state: measurement.state, frames: measurement.measured };
    if (frame !== undefined) return { ...base, frame: frameOf(measurement, frame) };
    return {
      ...base,
      ...pooledOf(measurement, metric, spanOf(measurement, asked)),
      ...(worst !== undefined && { worst: measurement.worst(worst) }),
    };
  },
});

function frameOf(measurement: History, number: number): object {
  const metrics = measurement.frame(number);
  if (metrics) return { number, metrics };
  const { kept } = measurement;
  const available = kept ? `frames ${kept[0]} to ${kept[1]}` : 'none yet';
  throw usageError(`Frame ${number} is not measured yet or no longer kept; available: ${available}.`);
}

function pooledOf(measurement: History, metric: string | undefined, asked: Span | undefined): object {
  const span = asked && keptOf(measurement, asked);
  const pooled = metricsOf(measurement, metric).map((name) => [
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
type Span = Readonly<Record<'first' | 'last', number>>;
type SpanArguments = Partial<Span & Readonly<Record<'last_frames' | 'last_seconds', number>>>;

/** The requested frames; `undefined` for all. */
function spanOf(
  { last: end, framesPerSecond, facts }: History,
  { first, last, last_frames, last_seconds: seconds }: SpanArguments,
): Span | undefined {
  const frames = last_frames ?? (seconds && Math.max(1, Math.round(seconds * framesPerSecond)));
  const step = facts?.subsample ?? 1;
  if (frames) return { first: Math.max(0, end + 1 - frames * step), last: Math.max(0, end) };
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && first > last)
    throw usageError(`first is ${first} and last is ${last}, but first must not come after last.`);
  return { first: first ?? 0, last: last ?? Math.max(0, end) };
}

/** The kept part of a range, or the range itself if none is kept. */
function keptOf({ kept }: History, { first, last }: Span): Span {
  const [from, to] = [Math.max(first, kept?.[0] ?? 0), Math.min(last, kept?.[1] ?? last)];
  return from <= to ? { first: from, last: to } : { first, last };
}

/** Most seconds that a call waits; many hosts time out after 60. */
const LONGEST = 45;
/** Seconds of video before an alarm that its next action shows. */
const BEFORE = 5;

const RULE = {
  type: 'string',
  description:
    'A pooled value (mean, min, p5, psnr_y.min), < or >, a limit, and optionally "for 3s" (seconds) or "for 50f" (frames).',
  maxLength: 200,
} as const;

const WATCH = liveTool({
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
  async call({ rule: text = '', measurement: name, wait = LONGEST, after }, hub, { signal, progress }) {
    const rule = parseAlarm(text);
    const measurement = hub.measurement(name);
    let since = after;
    const look = (): Alarm | 'over' | undefined => {
      const { facts, last, measured, toScore } = measurement;
      if (facts) {
        progress({ done: measured, total: toScore });
        const alarms = measurement.watch(rule);
        const latest = alarms.at(-1);
        since ??= latest?.raised ? latest.frame - 1 : last;
        const from = since;
        const found = alarms.find(({ raised, frame }) => raised && frame > from);
        if (found) return found;
      }
      return measurement.isOver ? 'over' : undefined;
    };
    const found = await hub.until(look, 1000 * wait, signal);
    return documentOf(measurement, rule.text, found === 'over' ? undefined : found);
  },
});

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

const SWAP = liveTool({
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
  call: ({ measurement, model = '', replace }, hub) =>
    hub.command(hub.measurement(measurement), { kind: 'swap', model, replace }),
});

const SET_ALARM = liveTool({
  name: 'vmaf.set_alarm',
  title: 'Set an alarm',
  description:
    'Watches a rule from the next frame on, as --alarm does: all clients and the program are notified when its alarm is ' +
    'raised and when it is cleared. vmaf.watch waits for a rule without notifying others.',
  parameters: { ...MEASUREMENT, rule: RULE },
  required: ['rule'],
  annotations: STEERS,
  call: ({ measurement, rule = '' }, hub) =>
    hub.command(hub.measurement(measurement), { kind: 'alarm', rule: parseAlarm(rule) }),
});

const steering = (kind: 'pause' | 'resume' | 'stop', title: string, description: string) =>
  liveTool({
    ...{ name: `vmaf.${kind}`, title, description, parameters: MEASUREMENT },
    annotations: { ...STEERS, destructiveHint: kind === 'stop' },
    call: ({ measurement }, hub) => hub.command(hub.measurement(measurement), { kind }),
  });

const PAUSED = 'Pauses the measurement at a frame boundary; frames in progress are finished.';
const STOPPED = 'Stops the measurement after the frames taken so far; its program gets a report of these.';
const LAYOUTS: readonly ChromaFormat[] = ['420', '422', '444', '400'];
const DEFAULT_MODEL = 'vmaf_v0.6.1';
const MAX_SECONDS = 600;
const HOW_TO_OPEN = 'start the server with --allow DIR, or the option folders of the API, to allow one';

/** Hubs that are scoring a pair, one at a time: the measurement comes first. */
const scoring = new WeakSet<Hub>();

const SIDE = { type: 'integer', minimum: 1, maximum: 16384 } as const;

const PAIR = {
  reference_path: { type: 'string', description: 'Path of the reference.', maxLength: 4096 },
  distorted_path: { type: 'string', description: 'Path of the distorted video.', maxLength: 4096 },
  width: { ...SIDE, description: 'Width of raw YUV; omit for other files.' },
  height: { ...SIDE, description: 'Height of raw YUV; omit for other files.' },
  bitdepth: {
    type: 'integer',
    description: 'Bits per sample of raw YUV. Default 8.',
    enum: [8, 9, 10, 11, 12, 13, 14, 15, 16],
  },
  pixel_format: { type: 'string', description: 'Chroma subsampling of raw YUV. Default 420.', enum: LAYOUTS },
  model_version: { type: 'string', description: `Model. Default ${DEFAULT_MODEL}.` },
} as const;

export const COMPUTE_VMAF = liveTool({
  name: 'compute_vmaf',
  title: 'Score a pair of files',
  description:
    'Scores a pair of video files beside the running measurement: raw YUV with its geometry, Y4M, or any file that a ' +
    'decoder on this machine reads. Files must be in an allowed folder.',
  parameters: PAIR,
  required: ['reference_path', 'distorted_path'],
  async call(args, hub, context) {
    const raw = rawFormat(args);
    const { folders } = hub.settings;
    if (folders.length === 0) throw usageError(`compute_vmaf: no folder is allowed; ${HOW_TO_OPEN}.`);
    if (scoring.has(hub))
      throw new AnyvmafError('resource', 'busy: another pair is being scored; try again later.');
    scoring.add(hub);
    try {
      // A closing server does not wait for the pair.
      return await unlessAborted(context.signal, compute(args, raw, hub.settings, context));
    } catch (error) {
      if (!(error instanceof AnyvmafError)) throw error;
      throw new AnyvmafError(error.code, `compute_vmaf: ${error.message}`);
    } finally {
      scoring.delete(hub);
    }
  },
});

async function compute(
  { reference_path = '', distorted_path = '', model_version: model = DEFAULT_MODEL }: Arguments<typeof PAIR>,
  raw: RawVideoFormat | undefined,
  settings: Hub['settings'],
  { signal, progress }: LiveContext,
) {
  // Loaded on demand: other tools need none of it.
  const [{ AllowedPaths }, { checkFile, checkModelString }, { score }] = await Promise.all([
    import('../../files/allowed-paths.js'),
    import('../paths.js'),
    import('../checked-api.js'),
  ]);
  const folders = await Promise.all(settings.folders.map(realName));
  const files = new AllowedPaths(folders, process.cwd(), HOW_TO_OPEN);
  const reference = await checkFile(reference_path, files);
  const distorted = await checkFile(distorted_path, files);
  const { text } = await checkModelString(/^[\w.-]+$/.test(model) ? `version=${model}` : model, files);
  const { maxSeconds = MAX_SECONDS } = settings;
  const late = new TimeLimitError(
    `the pair took longer than ${maxSeconds} s and was stopped; score it with the command line`,
  );
  const report = await withinSeconds(maxSeconds, late, signal, (limited) =>
    score(
      { reference: reference.path, distorted: distorted.path, ...(raw && { raw }) },
      {
        ...{ models: [text], threads: 1, origin: files.origin, signal: limited },
        onProgress: ({ framesDone, framesTotal, fps }) =>
          progress({ done: framesDone, total: framesTotal, fps }),
      },
    ),
  );
  const name = report.models[0]?.name ?? '';
  return {
    score: report.pooled_metrics[name]?.mean ?? null,
    frames_scored: report.frames.length,
    model_version: model,
    bitdepth: report.distorted.bitDepth,
    ...{ reference_path, distorted_path, pool_method: 'mean' },
  };
}

/** Follows links: files are compared with the real paths of folders. */
async function realName(path: string): Promise<string> {
  const absolute = resolve(path);
  return realpath(absolute).catch(() => absolute);
}

/** @throws {AnyvmafError} `usage` if only one of width and height is given */
function rawFormat(args: Arguments<typeof PAIR>): RawVideoFormat | undefined {
  const { width, height, bitdepth: bitDepth = 8, pixel_format: chroma = '420' } = args;
  if (width === undefined && height === undefined) return undefined;
  if (width === undefined || height === undefined)
    throw usageError('compute_vmaf: raw YUV needs both width and height.');
  return { width, height, chroma: chroma as ChromaFormat, bitDepth };
}

/** In the order in which clients list them. */
export const TOOLS: readonly LiveTool[] = [
  ...[LIST_FEATURES, COMPUTE_VMAF, STATUS, SCORE, WATCH, SWAP, SET_ALARM],
  steering('pause', 'Pause a measurement', PAUSED),
  steering('resume', 'Resume a measurement', 'Resumes a paused measurement.'),
  steering('stop', 'Stop a measurement', STOPPED),
];
