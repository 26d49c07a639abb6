/**
 * @module mcp/tools/find-quality
 * `find_quality`: finds the setting with which an encoder reaches a quality.
 */
import * as z from 'zod/v4';
import { counted } from '../../core/printable.js';
import type { SearchPoint, SearchResult } from '../../index.js';
import { targetText } from '../../report/limits.js';
import { inputPath } from '../paths.js';
import { each, flag, numbers, rows, texts, value, wholeOrNull } from '../schemas.js';
import {
  codesOf,
  encodingResults,
  type Head,
  headKeys,
  headOf,
  leastOf,
  sureOf,
} from '../scoring/answers.js';
import { ENCODES_OF_SEARCH, type EncodingTask, encodingCall, publishResult } from '../scoring/encoding.js';
import {
  encoderName,
  encoderOptions,
  encodingLimits,
  MOST_SECONDS,
  model,
  searchRange,
} from '../scoring/parameters.js';
import { defineTool, type InputOf, type ToolContext } from '../tool.js';

const interval = z.array(value).length(2).describe('Low end, high end.');

const qualityInput = z.object({
  source: inputPath('Video to encode, in any format that ffmpeg reads.'),
  encoder: encoderName,
  encoder_options: encoderOptions,
  targets: z
    .array(z.string().max(64))
    .min(1)
    .max(8)
    .default(['95'])
    .describe(
      'Targets, all to be reached: 95 (the mean), p5>=90, worst_second>=85, psnr_y.mean>=40, cambi.max<=5.',
    ),
  at_most: z.number().optional().describe('Maximum mean; above it, bits are wasted.'),
  max_size: z
    .number()
    .positive()
    .optional()
    .describe("Maximum size as a fraction of the source's, such as 0.6."),
  range: searchRange('Parameter values to search.'),
  pixel_format: z.string().max(32).optional().describe("Pixel format of the encode. Default: the source's."),
  verify: flag('Also encode and score the whole source at the value found.'),
  model,
  ...encodingLimits,
});
type QualityInput = InputOf<typeof qualityInput>;

export const findQualityTool = defineTool({
  name: 'find_quality',
  title: 'Find the encoder setting for a target quality',
  description:
    'Finds the setting (usually a CRF) with which an encoder of the installed ffmpeg makes the smallest file that ' +
    'reaches a target quality, by encoding samples of the source. Returns the setting, its predicted score with an ' +
    'interval, the curve, and the ffmpeg command. Writes no encode. Takes seconds to minutes.',
  inputSchema: qualityInput,
  outputSchema: z.object({
    ...headKeys,
    ...each(z.string(), 'summary', 'encoder', 'parameter'),
    value: z.number().describe('Parameter value to encode with; with a shortfall, the nearest one.'),
    shortfall: z
      .object({
        reason: z.enum(['target', 'size', 'above']),
        by: z.number().optional().describe('Points below the target, or above at_most.'),
        share: z.number().optional().describe("Its size as a fraction of the source's."),
      })
      .nullable(),
    unfinished: z
      .object({ min: z.number(), max: z.number() })
      .nullable()
      .describe('Stopped at max_seconds or max_encodes: range to resume.'),
    predicted: value.describe("Predicted value of the first target's statistic over the whole video."),
    interval_95: interval,
    interval_99: interval,
    predicted_bytes: z.number(),
    points: rows({
      ...each(z.number(), 'value', 'kbps'),
      mean: value,
      margin: value.describe('Above the hardest target; negative: missed.'),
    }),
    not_monotone: numbers.describe('Values that score better than the next finer one.'),
    sampled_frames: wholeOrNull.describe('Frames scored; null: all.'),
    encodes: z.int(),
    final: z
      .object({
        mean: value,
        qualities: z.array(value).describe('One per target.'),
        bytes: z.number(),
        reached: z.boolean(),
      })
      .nullable(),
    warnings: texts.describe('What the encode loses of the source.'),
    command: texts.describe('Command that makes the encode: program and arguments.'),
    results: encodingResults('the curve'),
  }),
  handler: findQuality,
});

/** @throws {AnyvmafError} those of `searchQuality`; `resource` at the limits of the call, without a result */
async function findQuality(input: QualityInput, context: ToolContext) {
  const { parseTarget } = await import('../../index.js');
  const targets = input.targets.map(parseTarget);
  const work: EncodingTask<SearchResult>['work'] = (call, api, onBest) => {
    let best: SearchPoint | undefined;
    return api.searchQuality(input.source.path, {
      ...call,
      onPoint(point) {
        if (best && !isBetter(point, best)) return;
        best = point;
        const { value, quality, kbps } = point;
        onBest(`${value} with ${quality.toFixed(2)} at ${Math.round(kbps)} kb/s`);
      },
      ...{ encoder: input.encoder, encoderOptions: input.encoder_options, range: input.range },
      ...{ targets, atMost: input.at_most, maxSize: input.max_size },
      ...{ pixelFormat: input.pixel_format, full: input.full, verify: input.verify },
      ...{ models: [input.model.text], origin: context.files.origin },
    });
  };
  const most = () => ENCODES_OF_SEARCH + (input.verify ? 1 : 0);
  const task = { source: input.source.path, limits: input, finishes: true, most, work };
  const result = await encodingCall(task, context);
  if ('fits' in result) return result;
  const { uris, content } = await publishResult(result, context);
  const document = { ...headOfSearch(result, input, context), ...documentOf(result), results: uris };
  return { document, content, whole: 'results', spare: ['not_monotone', 'points', 'command'] };
}

function headOfSearch(result: SearchResult, input: QualityInput, context: ToolContext): Head {
  const { unfinished, shortfall, final, samples, warnings } = result;
  const missed = shortfall !== null || final?.reached === false;
  // A search that was too short for one encode gets more time.
  const isSlow = result.encodes <= 1 && result.encodes < (input.max_encodes ?? Number.POSITIVE_INFINITY);
  const more = isSlow && { max_seconds: Math.min(MOST_SECONDS, 2 * input.max_seconds) };
  const next = unfinished
    ? context.again({ range: { ...unfinished }, ...more })
    : nextAfter(result, input, context);
  return headOf({
    outcome: unfinished ? 'unfinished' : missed ? 'missed' : 'reached',
    sure: final ? 'high' : sureOfSamples(result, input),
    reasons: codesOf({
      [`shortfall:${shortfall?.reason}`]: shortfall,
      'predicted-from-samples': samples && !final,
      'not-monotone': result.notMonotone.length > 0,
      warnings: warnings.length > 0,
      // No other call helps.
      [missed ? 'no-value-does' : 'run-command']: next === null,
    }),
    next,
  });
}

/** The least sure of all bounds counts. */
function sureOfSamples(
  { predicted, predictions = [], targets }: SearchResult,
  { at_most: most }: QualityInput,
) {
  const bounds = targets.map(({ atLeast, atMost }, i) => {
    const { interval95, interval99 } = predictions[i] ?? predicted;
    return sureOf(atLeast ?? atMost ?? Number.NaN, [interval95, interval99]);
  });
  const { interval95, interval99 } = predicted;
  return leastOf([...bounds, ...(most === undefined ? [] : [sureOf(most, [interval95, interval99])])]);
}

/**
 * Verifies the value on the whole source; if that misses, searches the whole; if no value does, searches all
 * values, then compares encoders. `null` if nothing is left to try, or the result's command makes the encode.
 */
function nextAfter(
  { value, shortfall, final, targets }: SearchResult,
  { full, range }: QualityInput,
  context: ToolContext,
) {
  if (!shortfall && !final) return context.again({ range: { min: value, max: value }, verify: true });
  if (!shortfall && final?.reached) return null;
  if (!shortfall) return full ? null : context.again({ range: undefined, full: true });
  if (range) return context.again({ range: undefined });
  const [{ metric, statistic, atLeast } = { metric: '', statistic: '', atLeast: undefined }] = targets;
  if (shortfall.reason === 'above' || statistic !== 'mean' || !/^vmaf/.test(metric)) return null;
  const { source: src, pixel_format: pix_fmt } = context.args;
  return context.instead('run_compare', { src, pix_fmt, target_vmaf: atLeast });
}

/** Prefers the smaller file among points that reach the targets, else the point nearest to them. */
function isBetter(point: SearchPoint, other: SearchPoint): boolean {
  return point.margin >= 0 && other.margin >= 0 ? point.kbps < other.kbps : point.margin > other.margin;
}

function documentOf(result: SearchResult) {
  const { encoder, parameter, value, shortfall, unfinished, predicted, samples, final, targets } = result;
  const [{ metric } = { metric: 'vmaf' }] = targets;
  const mean = (pooled: SearchPoint['pooled']) => pooled[metric]?.mean ?? Number.NaN;
  const reached = targets.map(targetText).join(' and ');
  const [low, high] = predicted.interval99;
  const range = samples ? `, 99 % interval ${low.toFixed(2)} to ${high.toFixed(2)}` : '';
  const soFar = unfinished
    ? `Stopped at max_seconds or max_encodes; the value is between ${unfinished.min} and ${unfinished.max}: call again with that range. So far `
    : '';
  return {
    summary:
      `${soFar}${encoder} ${parameter} ${value} ${shortfall ? 'is nearest to' : 'reaches'} ${reached}: predicted ` +
      `${predicted.value.toFixed(2)}${range}, ${counted(result.encodes, 'encode')}.`,
    ...{ encoder, parameter, value, shortfall, unfinished, predicted: predicted.value },
    ...{ interval_95: predicted.interval95, interval_99: predicted.interval99 },
    predicted_bytes: Math.round(result.predictedBytes),
    points: result.points.map(({ value, pooled, kbps, margin }) => ({
      value,
      mean: mean(pooled),
      kbps,
      margin,
    })),
    not_monotone: result.notMonotone,
    sampled_frames: samples ? samples.reduce((sum, { count }) => sum + count, 0) : null,
    final: final && {
      ...{ mean: mean(final.pooled), qualities: final.qualities },
      ...{ bytes: final.bytes, reached: final.reached },
    },
    ...{ encodes: result.encodes, warnings: result.warnings, command: result.command },
  };
}
