/**
 * @module mcp/verdict
 * The head of an answer: what to conclude, how reliable its figures are, why, and the next call.
 */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/v4';
import { isObject } from '../core/arguments.js';
import type { Trust } from '../report/schema.js';
import { type NextAction, nextAction, type ToolContext } from './context.js';
import type { Given } from './tool.js';

/** Ascending. */
const CONFIDENCE = ['low', 'medium', 'high'] as const;
export type Confidence = (typeof CONFIDENCE)[number];

const VERDICTS = [
  // Trust in the figures, if nothing was to be reached.
  ...['fine', 'doubtful', 'untrusted'],
  // A target.
  ...['reached', 'missed', 'unfinished'],
  // Several encodes or encoders.
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
  reasons: z
    .array(z.string())
    .describe('Codes: preflight findings, root cause first, then grounds of the verdict.'),
  next_action: nextAction
    .nullable()
    .optional()
    .describe(
      'A call to send unchanged. null: nothing is left to do on this server; the last reason says why.',
    ),
};

const head = z.object(headKeys);
export type Head = Given<z.input<typeof head>>;

export interface Grounds {
  /** Of the pair; of several pairs the worst. */
  readonly trust?: Pick<Trust, 'verdict' | 'codes'>;
  /** Verdict on the request; default: whether figures can be trusted. */
  readonly outcome?: Exclude<Head['verdict'], Trust['verdict']>;
  /** Confidence from intervals. Default: high. */
  readonly sure?: Confidence;
  /** Codes beside those of findings. */
  readonly reasons?: readonly string[];
  /** `null` if nothing is left to do; the last reason then says why. */
  readonly next?: NextAction | null | undefined;
}

const TRUSTED: Readonly<Record<Trust['verdict'], Confidence>> = {
  fine: 'high',
  doubtful: 'medium',
  untrusted: 'low',
};

export function headOf({ trust, outcome, sure = 'high', reasons = [], next }: Grounds): Head {
  const believed = trust?.verdict ?? 'fine';
  const codes = [
    ...(trust?.codes ?? []),
    ...(believed === 'doubtful' && trust?.codes.length === 0 ? ['warning'] : []),
  ];
  return {
    verdict: believed === 'untrusted' ? believed : (outcome ?? believed),
    confidence: leastOf([sure, TRUSTED[believed]]),
    reasons: [...new Set([...codes, ...reasons])],
    next_action: next,
  };
}

export function leastOf(all: readonly Confidence[]): Confidence {
  return CONFIDENCE.find((one) => all.includes(one)) ?? 'high';
}

/** Confidence about the side of a bound on which a value lies. @param intervals of 95 and 99 per cent */
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
  const verdict = (['untrusted', 'doubtful'] as const).find((word) =>
    all.some((one) => one.verdict === word),
  );
  return { verdict: verdict ?? 'fine', codes: all.flatMap(({ codes }) => codes) };
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
  for (const [one, other] of PAIRS) {
    const [reference, distorted] = [args[one], args[other]];
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

/** Another tool for the pair of this call, with those of its arguments that the tool takes. */
export function nextForPair(
  context: ToolContext,
  tool: keyof typeof PAIR_TOOLS,
  changes: Readonly<Record<string, unknown>> = {},
  pair = pairOf(context.args),
): NextAction | undefined {
  const [one, other] = PAIRS[PAIR_TOOLS[tool]];
  return pair && context.instead(tool, { ...changes, [one]: pair.reference, [other]: pair.distorted });
}

/**
 * A call that applies a finding's fix; `undefined` if the fix is not a call, or this call has it already.
 * @param fix arguments as JSON, perhaps with the tool that takes them
 */
export function nextWithFix(
  context: ToolContext,
  fix: string | undefined,
  tool?: keyof typeof PAIR_TOOLS,
): NextAction | undefined {
  const [, json, named] = /^(\{.*\})(?: to (vmaf_score_encoded|find_alignment))?$/s.exec(fix ?? '') ?? [];
  if (json === undefined) return undefined;
  const { args } = context;
  const { reference, distorted, ...values }: Record<string, unknown> = JSON.parse(json);
  const changes = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, joined(args[name], value)]),
  );
  const given = pairOf(args);
  const isSwapped = reference !== undefined && distorted !== undefined;
  const pair = given && isSwapped ? { reference: given.distorted, distorted: given.reference } : given;
  const other = named === undefined ? tool : (named as keyof typeof PAIR_TOOLS);
  if (other) return nextForPair(context, other, changes, pair);
  const names = PAIRS.find(([one]) => args[one] !== undefined);
  if (pair && isSwapped && names)
    Object.assign(changes, { [names[0]]: pair.reference, [names[1]]: pair.distorted });
  const isNew = Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(args[name], value));
  return isNew ? context.again(changes) : undefined;
}

/** Merges into the filters and lists of a call instead of replacing them. */
function joined(given: unknown, value: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(value)) return [...new Set([...given, ...value])];
  return isObject(given) && isObject(value) ? { ...given, ...value } : value;
}
