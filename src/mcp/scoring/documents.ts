/**
 * @module mcp/scoring/documents
 * Schemas of the answers of scoring tools, with keys from the schema of reports.
 */
import * as z from 'zod/v4';
import {
  type Fields,
  type Kind,
  keyOf,
  type ObjectKind,
  type Optional,
  type SnakeCase,
  type ValueOf,
} from '../../report/kinds.js';
import { finding, input, model, pooled, tinyModel, trust } from '../../report/schema.js';
import type { Given } from '../tool.js';
import { headKeys } from '../verdict.js';

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
  measured: () => z.number().nullable(),
  flag: () => z.boolean(),
  choice: ({ values = [] }) => z.enum(values),
  list: ({ item }) => z.array(item ? typeOf(item) : z.unknown()),
};

/** Zod types for the keys of an object in a report. @param words descriptions of some keys */
function documentKeys<T, F extends Fields>(
  { fields }: ObjectKind<T, F>,
  words: Readonly<Record<string, string>> = {},
): Keys<F> {
  // The keys are built from the same fields.
  return keysOf(fields, words) as Keys<F>;
}

function keysOf(fields: Fields, words: Readonly<Record<string, string>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => {
      const key = keyOf(name, kind);
      const type = kind.optional ? typeOf(kind).optional() : typeOf(kind);
      return [key, words[key] === undefined ? type : type.describe(words[key])];
    }),
  );
}

function typeOf(kind: Kind<unknown>): z.ZodType {
  const type = TYPES[kind.type]?.(kind) ?? z.unknown();
  return kind.nullable ? type.nullable() : type;
}

/** `null` stands for a number that is not finite. */
const value = z.number().nullable();

const frameDocument = z.object({
  frameNum: z.int(),
  metrics: z.record(z.string(), value),
});

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
  frames: z
    .array(z.object({ frame: z.int(), value, seconds: z.number().optional() }))
    .describe('Worst first, at least a second apart, or ten frames if the frame rate is unknown.'),
});

/** A file with data that is too long for the answer. */
export const resourceDocument = z.object({
  uri: z.string().describe('For resources/read.'),
  path: z.string().describe('The same as a file, until the server ends.'),
});

/** Resources with the whole result of a tool that encodes. @param drawn contents of the page */
export const encodingResults = (drawn: string) =>
  z.object({
    json: z.string().describe('URI of all points.'),
    html: z.string().describe(`URI of a page with ${drawn}.`),
  });

const inputDocument = z.looseObject({ ...documentKeys(input), chroma: z.string() }).omit({ file_size: true });

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
    .enum(['reached', 'missed', 'untrusted'])
    .describe('untrusted: the pair is wrong, so its values do not count.'),
  checks: z.array(
    z.object({
      value_of: z.string().describe('Metric and statistic: vmaf.p5.'),
      must_be: z.string().describe('Bound: >=80.'),
      found: value,
      reached: z.boolean(),
      note: z.string().optional().describe('Why there is no value.'),
    }),
  ),
});

export type TargetDocument = Given<z.input<typeof targetDocument>>;

export const scoreDocument = z.looseObject({
  ...z.object(headKeys).partial().shape,
  ...backendKeys,
  summary: z.string().optional().describe('The result in a few sentences.'),
  target: targetDocument.optional().describe('With target: the verdict on it.'),
  version: z.string().optional(),
  fps: z.number().nullable().optional(),
  pooled_metrics: z.record(z.string(), z.object(documentKeys(pooled)).partial()).optional(),
  aggregate_metrics: z.record(z.string(), value).optional(),
  frames: z.array(frameDocument).optional().describe('With detail frames.'),
  distribution: z
    .record(z.string(), z.object({ percentiles: z.record(z.string(), value), stddev: value }))
    .optional()
    .describe(
      'Percentiles 1 to 99 and standard deviation of the scores; with detail frames, of every metric.',
    ),
  trust: trustDocument.optional(),
  worst_frames: worstDocument.optional(),
  preflight: z.array(findingDocument).optional(),
  reference: inputDocument.optional(),
  distorted: inputDocument.optional(),
  models: z.array(z.looseObject(documentKeys(model)).pick({ name: true, source: true })).optional(),
  tiny: z
    .array(z.looseObject(documentKeys(tinyModel)).pick({ name: true, source: true, device: true }))
    .optional()
    .describe('Tiny models that ran, with device, runtime and digest.'),
  no_reference: z.boolean().optional().describe('The distorted video was scored without a reference.'),
  frame_count: z.int().optional().describe('Frame pairs measured.'),
  without_grain: z.array(z.object({ metric: z.string(), value })).optional(),
  warnings: z.array(z.string()).optional(),
  full_report: resourceDocument.optional().describe('The report with every frame, as JSON.'),
  format: z.enum(['xml', 'csv', 'sub']).optional().describe('If a format other than JSON was requested.'),
  output: z.string().optional().describe('The report in that format.'),
});

export type ScoreDocument = Given<z.input<typeof scoreDocument>>;
export type WorstDocument = Given<z.input<typeof worstDocument>>;
