/**
 * @module mcp/scoring/documents
 * What scoring tools answer: libvmaf's log without its frames, and what an agent wants to know first.
 */
import * as z from 'zod/v4';
import type { Finding, PooledMetric, ReportInput, Trust } from '../../index.js';

/** The keys of a part of a report as JSON has them; a document with another key is not compiled. */
type KeysOf<T> = Partial<Record<SnakeCase<keyof T & string>, z.ZodType>>;
type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;

/** A measured value; null stands for one that is not finite. */
const value = z.number().nullable();

const pooled = z.object({ min: value, max: value, mean: value, harmonic_mean: value } satisfies Required<
  KeysOf<PooledMetric>
>);

/** One frame as libvmaf's log has it. */
const frameDocument = z.object({
  frameNum: z.int(),
  metrics: z.record(z.string(), value),
});

/** One finding of preflight. */
export const findingDocument = z.looseObject({
  code: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  fix: z.string().optional().describe('What resolves it: an option of anyvmaf, or an ffmpeg filter.'),
} satisfies KeysOf<Finding>);

/** Whether a score can be believed. */
export const trustDocument = z
  .object({
    verdict: z.enum(['fine', 'doubtful', 'untrusted']),
    codes: z.array(z.string()).describe('Codes of the findings behind it, the root cause first.'),
    cause: z.string().optional(),
    fix: z.string().optional().describe('What resolves the root cause.'),
  } satisfies Required<KeysOf<Trust>>)
  .describe(
    'Whether the score can be believed. untrusted: frames were compared that do not belong together, so that the ' +
      'number says nothing about the encode; resolve the cause first. doubtful: a warning applies to it.',
  );

/** The lowest frames of a run. */
export const worstDocument = z.object({
  metric: z.string().describe('What frames are ranked by.'),
  worse: z.enum(['low', 'high']),
  frames: z
    .array(z.object({ frame: z.int(), value, seconds: z.number().optional() }))
    .describe('Worst first, at least a second apart where the frame rate is known, else ten frames.'),
});

/** A file that holds what was too long to say. */
const resourceDocument = z.object({
  uri: z.string().describe('For resources/read.'),
  path: z.string().describe('The same as a file, for as long as the server lives.'),
});

/** One of the two videos. */
const inputDocument = z.looseObject({
  name: z.string(),
  container: z.string(),
  width: z.int(),
  height: z.int(),
  bit_depth: z.int(),
  chroma: z.string(),
  frame_rate: z.string().optional(),
  frame_count: z.int().nullable(),
  skipped: z.int(),
} satisfies KeysOf<ReportInput>);

/** Which backend was asked for and which ran: part of every scoring result. */
export const backendKeys = {
  backend_requested: z.string().describe('As it was asked for.'),
  backend_used: z.string().describe('What ran: cpu is the built-in core.'),
  mismatched_model_warning: z
    .string()
    .optional()
    .describe('There when a model is meant for pictures of another size than these.'),
};

/** The report as vmaf_score gives it. */
export const scoreDocument = z.looseObject({
  ...backendKeys,
  summary: z.string().optional().describe('The result in a few sentences.'),
  version: z.string().optional(),
  fps: z.number().nullable().optional(),
  pooled_metrics: z.record(z.string(), pooled.partial()).optional(),
  aggregate_metrics: z.record(z.string(), value).optional(),
  frames: z.array(frameDocument).optional().describe('With detail frames.'),
  distribution: z
    .record(z.string(), z.object({ percentiles: z.record(z.string(), value), stddev: value }))
    .optional()
    .describe('Percentiles 1 to 99 and deviation: of the scores, or with detail frames of every metric.'),
  trust: trustDocument.optional(),
  worst_frames: worstDocument.optional(),
  preflight: z.array(findingDocument).optional(),
  reference: inputDocument.optional(),
  distorted: inputDocument.optional(),
  models: z.array(z.looseObject({ name: z.string(), source: z.string() })).optional(),
  tiny: z
    .array(z.looseObject({ name: z.string(), source: z.string(), device: z.string().nullable() }))
    .optional()
    .describe('Tiny models as they ran: device, runtime, digest.'),
  no_reference: z.boolean().optional().describe('The distorted video was scored by itself.'),
  frame_count: z.int().optional().describe('Pairs measured.'),
  warnings: z.array(z.string()).optional(),
  full_report: resourceDocument.optional().describe('The report with every frame, as JSON.'),
  format: z.enum(['xml', 'csv', 'sub']).optional().describe('Where another format than JSON was asked for.'),
  output: z.string().optional().describe('The report in that format.'),
});

export type ScoreDocument = z.input<typeof scoreDocument>;
export type WorstDocument = z.input<typeof worstDocument>;
