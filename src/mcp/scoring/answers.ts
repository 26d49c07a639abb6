/**
 * @module mcp/scoring/answers
 * Shared parts of scoring tools' answers, with schemas: the head (verdict, confidence, reasons, next call),
 * trust, target, worst frames, and keys from the schema of reports.
 */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/v4';
import { AnyvmafError } from '../../core/errors.js';
import { counted } from '../../core/printable.js';
import { isSize, screenSize } from '../../core/size.js';
import type { Precision, Report } from '../../index.js';
import { frameTime } from '../../report/facts.js';
import {
  type Fields,
  type Kind,
  keyOf,
  type ObjectKind,
  type Optional,
  type SnakeCase,
  type ValueOf,
} from '../../report/kinds.js';
import { type Limit, metricIn, pooledText } from '../../report/limits.js';
import { frameGap, ranking, worstFrames } from '../../report/ranking.js';
import { finding, type Trust, trust } from '../../report/schema.js';
import { trustOf } from '../../report/trust.js';
import { holdAgainst } from '../../report/verdict.js';
import { formatReport } from '../../report/write.js';
import { rows, texts, value } from '../schemas.js';
import {
  type Given,
  type NextAction,
  nextAction,
  type Pictured,
  type ToolContext,
  type ToolResources,
} from '../tool.js';
import { joined } from '../wording.js';
import { targetLimits } from './run.js';

/** Ascending. */
const CONFIDENCE = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof CONFIDENCE)[number];

const VERDICTS = [
  // About the figures, a target, and several encodes or encoders.
  ...['fine', 'doubtful', 'untrusted'],
  ...['reached', 'missed', 'unfinished'],
  ...['decided', 'tied'],
  'planned',
] as const;

export const headKeys = {
  verdict: z
    .enum(VERDICTS)
    .describe(
      'reached, missed, unfinished: the target. decided, tied: which is best. Else whether the figures can be trusted; untrusted overrides all others.',
    ),
  confidence: z
    .enum(CONFIDENCE)
    .describe(
      'Reliability of the figures. low: untrusted, or the 95 % interval contains the bound; medium: doubtful, or only the 99 % interval does.',
    ),
  reasons: texts.describe('Codes: preflight findings, root cause first, then grounds of the verdict.'),
  next_action: nextAction
    .nullable()
    .optional()
    .describe(
      'A call to send unchanged. null: nothing is left to do on this server; the last reason says why.',
    ),
};

export type Head = Given<z.input<z.ZodObject<typeof headKeys>>>;

export interface Grounds {
  /** Of the pair, or the worst of several. */
  readonly trust?: Pick<Trust, 'verdict' | 'codes'>;
  /** Verdict on the request. Default: the trust. */
  readonly outcome?: Exclude<Head['verdict'], Trust['verdict']>;
  /** Confidence from intervals. Default: high. */
  readonly sure?: Confidence;
  /** Codes beside those of findings. */
  readonly reasons?: readonly string[];
  /** `null` if nothing is left to do, as the last reason says. */
  readonly next?: NextAction | null | undefined;
}

const TRUSTED: Readonly<Record<Trust['verdict'], Confidence>> = {
  fine: 'high',
  doubtful: 'medium',
  untrusted: 'low',
};

export function headOf({ trust, outcome, sure = 'high', reasons = [], next }: Grounds): Head {
  const { verdict = 'fine', codes = [] } = trust ?? {};
  const unnamed = verdict === 'doubtful' && codes.length === 0 ? ['warning'] : [];
  return {
    verdict: verdict === 'untrusted' ? verdict : (outcome ?? verdict),
    confidence: leastOf([sure, TRUSTED[verdict]]),
    reasons: [...new Set([...codes, ...unnamed, ...reasons])],
    next_action: next,
  };
}

/** The codes that apply. */
export function codesOf(conditions: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(conditions).filter((code) => conditions[code]);
}

/** Joins the sentences that apply. */
export function joinSentences(...sentences: readonly (string | false | undefined)[]): string {
  return sentences.filter((sentence) => sentence).join(' ');
}

export function leastOf(all: readonly Confidence[]): Confidence {
  return CONFIDENCE.find((level) => all.includes(level)) ?? 'high';
}

/** Confidence that a value lies on its side of a bound. @param intervals of 95 and 99 per cent */
export function sureOf(
  bound: number,
  intervals: readonly (readonly [low: number, high: number])[],
): Confidence {
  const [in95 = false, in99 = false] = intervals.map(([low, high]) => low < bound && bound < high);
  return in95 ? 'low' : in99 ? 'medium' : 'high';
}

/** The least trusted verdict of several, with the codes of all. */
export function worstTrust(
  all: readonly Pick<Trust, 'verdict' | 'codes'>[],
): Pick<Trust, 'verdict' | 'codes'> {
  const has = (verdict: Trust['verdict']) => all.some((trust) => trust.verdict === verdict);
  const verdict = has('untrusted') ? 'untrusted' : has('doubtful') ? 'doubtful' : 'fine';
  return { verdict, codes: all.flatMap(({ codes }) => codes) };
}

/** Parameter names of the two videos. */
const PAIRS = [
  ['reference_encoded', 'distorted_encoded'],
  ['reference', 'distorted'],
  ['ref', 'dis'],
] as const;

function pairOf(
  args: ToolContext['args'],
): { readonly reference: string; readonly distorted: string } | undefined {
  if (args.no_reference === true) return undefined;
  for (const [first, second] of PAIRS) {
    const [reference, distorted] = [args[first], args[second]];
    if (typeof reference === 'string' && typeof distorted === 'string') return { reference, distorted };
  }
  return undefined;
}

/** Tools for a pair, with the index of their parameter names in {@link PAIRS}. */
const PAIR_TOOLS = {
  vmaf_score: 2,
  vmaf_score_encoded: 0,
  explain_score: 1,
  find_alignment: 1,
  describe_worst_frames: 2,
} as const;

/** Arguments without which a call would compare other pictures. */
const COMPARED = 'range offset frame_rate_policy pair_by scale scale_to filters allow_damaged'.split(' ');

/** A call of another tool for this pair, with the arguments that it takes; `undefined` if it cannot compare the same. */
export function nextForPair(
  context: ToolContext,
  tool: keyof typeof PAIR_TOOLS,
  changes: Readonly<Record<string, unknown>> = {},
  pair = pairOf(context.args),
): NextAction | undefined {
  const { args } = context;
  const { model } = { ...args, ...changes };
  // explain_score refuses both.
  const isRefused = tool === 'explain_score' && /^auto(:|$)|vmaf_v1\./.test(String(model));
  if (!pair || isRefused) return undefined;
  const compared =
    tool === 'find_alignment' ? [] : COMPARED.filter((name) => (args[name] ?? false) !== false);
  const kept = Object.fromEntries(compared.map((name) => [name, args[name]]));
  const [first, second] = PAIRS[PAIR_TOOLS[tool]];
  return context.instead(tool, { ...kept, ...changes, [first]: pair.reference, [second]: pair.distorted });
}

/**
 * A call that applies a finding's fix; `undefined` if the fix is no call, or applied already.
 * @param fix arguments as JSON, perhaps with the tool that takes them
 */
export function nextWithFix(
  context: ToolContext,
  fix: string | undefined,
  tool?: keyof typeof PAIR_TOOLS,
  given = pairOf(context.args),
): NextAction | undefined {
  const [, json, named] = /^(\{.*\})(?: to (vmaf_score_encoded|find_alignment))?$/s.exec(fix ?? '') ?? [];
  if (json === undefined) return undefined;
  const { args } = context;
  const { reference, distorted, ...values }: Record<string, unknown> = JSON.parse(json);
  const changes = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, joined(args[name], value)]),
  );
  if (changes.model !== undefined) {
    const replaced = replacedModels(args, String(changes.model));
    if (!replaced) return undefined;
    Object.assign(changes, replaced);
  }
  const isSwapped = reference !== undefined && distorted !== undefined;
  const pair = given && isSwapped ? { reference: given.distorted, distorted: given.reference } : given;
  const other = (named as keyof typeof PAIR_TOOLS | undefined) ?? tool;
  if (other) return nextForPair(context, other, changes, pair);
  const names = PAIRS.find(([one]) => args[one] !== undefined);
  if (pair && isSwapped && names)
    Object.assign(changes, { [names[0]]: pair.reference, [names[1]]: pair.distorted });
  const isNew = Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(args[name], value));
  return isNew ? context.again(changes) : undefined;
}

/** One model for those of a call, under the name of the first; `undefined` if its target names another. */
function replacedModels({ models, model, target }: ToolContext['args'], by: string) {
  const [name, ...others] = [models ?? model].flat().map((text) => /:name=([^:]+)/.exec(String(text))?.[1]);
  const limits = typeof target === 'string' ? targetLimits(target) : [];
  if (limits?.some(({ metric }) => metric !== undefined && others.includes(metric))) return undefined;
  return {
    model: name === undefined ? by : `${by}:name=${name}`,
    ...(models !== undefined && { models: undefined }),
  };
}

/** A value in JSON; `null` stands for a number that is not finite. */
type InJson<T> = T extends number
  ? number | null
  : T extends readonly (infer Item)[]
    ? InJson<Item>[]
    : T extends { readonly num: number }
      ? string
      : T;
type InZod<T> = z.ZodType<InJson<T>, InJson<T>>;
type Keys<F> = {
  -readonly [K in keyof F & string as SnakeCase<K>]: F[K] extends Optional
    ? z.ZodOptional<InZod<ValueOf<F[K]>>>
    : InZod<ValueOf<F[K]>>;
};

const TYPES: Readonly<Record<string, (kind: Kind<unknown>) => z.ZodType>> = {
  text: () => z.string(),
  fraction: () => z.string(),
  number: () => z.number(),
  integer: () => z.int(),
  measured: () => value,
  flag: () => z.boolean(),
  choice: ({ values = [] }) => z.enum(values),
  list: ({ item }) => z.array(item ? typeOf(item) : z.unknown()),
};

/** Zod types for the keys of a report's object. @param words descriptions of some keys */
export function documentKeys<T, F extends Fields>(
  { fields }: ObjectKind<T, F>,
  words: Readonly<Record<string, string>> = {},
): Keys<F> {
  const keys = Object.entries(fields).map(([name, kind]) => {
    const key = keyOf(name, kind);
    const type = kind.optional ? typeOf(kind).optional() : typeOf(kind);
    return [key, words[key] === undefined ? type : type.describe(words[key])];
  });
  return Object.fromEntries(keys) as Keys<F>;
}

function typeOf(kind: Kind<unknown>): z.ZodType {
  const type = TYPES[kind.type]?.(kind) ?? z.unknown();
  return kind.nullable ? type.nullable() : type;
}

export const findingDocument = z
  .looseObject(documentKeys(finding, { fix: 'How to resolve it: arguments as JSON, or an ffmpeg command.' }))
  .pick({ code: true, severity: true, message: true, fix: true });

export const trustDocument = z
  .object(
    documentKeys(trust, {
      codes: 'Codes of the findings behind it, root cause first.',
      fix: 'How to resolve the root cause.',
    }),
  )
  .describe(
    'Whether the score can be trusted. untrusted: the compared frames do not correspond; resolve the cause first. doubtful: a ' +
      'warning applies.',
  );

export const worstDocument = z.object({
  metric: z.string().describe('Metric that ranks the frames.'),
  worse: z.enum(['low', 'high']),
  frames: rows({ frame: z.int(), value, seconds: z.number().optional() }).describe(
    'Worst first, at least a second apart, or ten frames if the frame rate is unknown.',
  ),
});

/** A file whose data is too long for the answer. */
export const resourceDocument = z.object({
  uri: z.string().describe('For resources/read.'),
  path: z.string().describe('The same as a file, until the server ends.'),
});

/** Resources with a tool's whole result. @param drawn contents of the page */
export const encodingResults = (drawn: string) =>
  z.object({
    json: z.string().describe('URI of all points.'),
    html: z.string().describe(`URI of a page with ${drawn}.`),
  });

export const backendKeys = {
  backend_requested: z.string().describe('As requested.'),
  backend_used: z.string().describe('What ran; cpu: the built-in core.'),
  mismatched_model_warning: z
    .string()
    .optional()
    .describe('Present if a model is meant for pictures of another size.'),
};

export const targetDocument = z.object({
  verdict: z
    .enum(['reached', 'missed', 'unfinished', 'untrusted'])
    .describe('unfinished: a bound has no value. untrusted: the pair is wrong, so its values do not count.'),
  checks: rows({
    value_of: z.string().describe('Metric and statistic: vmaf.p5.'),
    must_be: z.string().describe('Bound: >=80.'),
    found: value,
    reached: z.boolean(),
    note: z.string().optional().describe('Why there is no value.'),
  }),
});

export type TargetDocument = Given<z.input<typeof targetDocument>>;
export type WorstDocument = Given<z.input<typeof worstDocument>>;

/** The verdict on a target; values of an untrusted pair do not count. */
export function targetAnswer(
  report: Report,
  limits: readonly Limit[],
  digits: (value: number) => number,
): TargetDocument {
  const checks = limits.flatMap((limit) => checksOf(report, limit, digits));
  const untrusted = trustOf(report).verdict === 'untrusted';
  const open = checks.filter(({ reached }) => !reached);
  const judged = open.length === 0 ? 'reached' : open.some(isMissed) ? 'missed' : 'unfinished';
  return { verdict: untrusted ? 'untrusted' : judged, checks };
}

type TargetCheck = TargetDocument['checks'][number];

/** False without a value: the bound is open. */
export const isMissed = ({ reached, note }: TargetCheck): boolean => !reached && note === undefined;

/** The code of a miss. */
export const missCode = ({ must_be }: TargetCheck): string =>
  must_be.startsWith('<') ? 'above-target' : 'below-target';

/** Fewest frames that can stand for the others. */
const FEWEST_FRAMES = 8;

/** Confidence in a score and its target, from the intervals of a collection of models and of subsampled frames. */
export function sureOfTarget(report: Report, limits: readonly Limit[] = []): Confidence {
  const bounds = limits.flatMap((limit) => sureOfLimit(report, limit));
  if (report.subsample === 1) return leastOf(bounds);
  if (report.frames.length < FEWEST_FRAMES) return 'low';
  const known = limits.filter(({ metric }) => !metric || metricIn(report, metric) !== undefined);
  return leastOf(['medium', ...bounds, ...known.flatMap((limit) => sureOfFrames(report, limit))]);
}

/** Confidence in the mean of a collection of models, from its intervals. */
function sureOfLimit(report: Report, { metric, statistic = 'mean', bound }: Limit): Confidence[] {
  const collection = report.models.find(({ name }) => name === (metric ?? name))?.collection;
  if (!collection || statistic !== 'mean') return [];
  const [low, high] = [collection.ciLow, collection.ciHigh].map((name) => report.pooled_metrics[name]?.mean);
  return low === undefined || high === undefined ? [] : [sureOf(bound, [[low, high]])];
}

/** Confidence from the variation of the scored frames: of their mean, else of one frame. */
function sureOfFrames(report: Report, limit: Limit): Confidence[] {
  const { statistic = 'mean', bound } = limit;
  return holdAgainst(report, limit).map(({ metric, value = Number.NaN }) => {
    const { stddev = 0 } = report.distribution[metric] ?? {};
    const error = statistic === 'mean' ? stddev / Math.sqrt(report.frames.length) : stddev;
    // 95 and 99 % of a normal distribution.
    return sureOf(
      bound,
      [1.96, 2.576].map((z) => [value - z * error, value + z * error] as const),
    );
  });
}

function checksOf(report: Report, limit: Limit, digits: (value: number) => number): TargetDocument['checks'] {
  const must_be = `${limit.relation}${limit.bound}`;
  try {
    return holdAgainst(report, limit).map(({ name, value, passed }) => {
      // JSON has no infinity.
      const found = value !== undefined && Number.isFinite(value) ? digits(value) : null;
      const note = value === undefined ? { note: 'Not every frame has a finite value.' } : {};
      return { value_of: name, must_be, found, reached: passed, ...note };
    });
  } catch (error) {
    // A missing metric must not cost the caller the scores.
    if (!(error instanceof AnyvmafError)) throw error;
    return [{ value_of: pooledText(limit), must_be, found: null, reached: false, note: error.message }];
  }
}

export function publishReport(
  report: Report,
  precision: Precision,
  resources: ToolResources,
  pictured?: Pictured,
): ReturnType<ToolResources['publish']> {
  return resources.publish({
    name: 'report.json',
    mimeType: 'application/json',
    description: `The full report: every metric of ${counted(report.frames.length, 'frame')}.`,
    data: formatReport(report, 'json', { precision }),
    pictured,
  });
}

/** The backend's name in the reference MCP server. */
export const backendUsed = ({ backend_used: used }: Report): string => (used === 'wasm' ? 'cpu' : used);

/** The verdict on a score as a sentence. @param score subject of the sentence */
export function trustSentence({ verdict, codes, cause = '', fix }: Trust, score = 'this score'): string {
  const named = codes.length > 0 ? ` (${codes.join(', ')})` : '';
  const advice = fix === undefined ? '' : ` Fix: ${fix}.`;
  const judged = verdict === 'untrusted' ? `Do not trust ${score}` : 'The score is doubtful';
  return `${judged}${named}: ${cause}${advice}`;
}

/** The worst frames, apart from each other; `undefined` if no metric has a direction. */
export function worstDocumentOf(report: Report, precision: Precision, count = 5): WorstDocument | undefined {
  const by = ranking(report);
  if (!by) return undefined;
  const digits = rounder(precision);
  const frames = worstFrames(report, by, count, frameGap(report)).map(({ frameNum, value }) => {
    const seconds = frameTime(report, frameNum);
    return { frame: frameNum, value: digits(value), seconds: seconds && Number(seconds.toFixed(3)) };
  });
  return { ...by, frames };
}

export function rounder(precision: Precision): (value: number) => number {
  if (precision === 'max') return (value) => value;
  return precision === 'legacy'
    ? (value) => Number(value.toFixed(6))
    : (value) => Number(value.toPrecision(precision));
}

/** Warns of models meant for pictures of another size. @param models versions or paths */
export function mismatchedModelWarning(
  report: Report,
  models: readonly string[] = report.models.map(({ source }) => source),
): string | undefined {
  const { width, height } = report.pairing ?? report.reference;
  const edge = Math.max(width, height);
  const source = edge >= 3840 ? '4k' : edge >= 1280 ? 'hd' : 'sd';
  const advised = { '4k': 'use version=vmaf_4k_v0.6.1', hd: 'use version=vmaf_v0.6.1' };
  const sentences = models.flatMap((name) => {
    const preset = presetOf(name);
    if (preset === undefined || preset === source) return [];
    const advice = source === 'sd' ? scaledUp(report) : advised[source];
    return [
      `Model ${name} is meant for ${preset} pictures, but these are ${width}x${height} (${source}), so its scores are not ` +
        `valid for them; ${advice}.`,
    ];
  });
  return sentences.join(' ') || undefined;
}

/** Class of pictures that a model is meant for; `undefined` if unknown. */
function presetOf(model: string): '4k' | 'hd' | undefined {
  if (/vmaf_float_4k|vmaf_4k|vmaf_v1\.0\.16_(hfr_)?(1d5h|3d0h)_2160/.test(model)) return '4k';
  return /vmaf_float_|vmaf_v1\.0\.16|vmaf_v0\.6\.1|vmaf_b_v0\.6\.3/.test(model) ? 'hd' : undefined;
}

/** Advises to score small pictures at screen size; prefers preflight's, which knows the sample aspect ratio. */
function scaledUp({ reference, distorted, preflight = [] }: Report): string {
  const raw = [reference, distorted].some(({ container }) => container === 'yuv');
  const advised = preflight.flatMap(({ hint }) =>
    hint?.option === 'scaleTo' && isSize(hint.value) ? hint.value : [],
  )[0];
  const { width, height } = advised ?? screenSize(reference.width / reference.height);
  return (
    `score them at the size at which they are watched, with scale_to: "${width}x${height}" of vmaf_score_encoded` +
    (raw ? ', which takes no raw video: convert it to Y4M with ffmpeg first' : '')
  );
}
