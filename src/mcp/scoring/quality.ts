/**
 * @module mcp/scoring/quality
 * Searches for an encoder's setting within one call: on the pool, with progress and limits.
 */
import { counted } from '../../core/printable.js';
import { parseTarget, type SearchPoint, type SearchResult } from '../../index.js';
import { targetText } from '../../report/limits.js';
import type { Measuring } from '../call-threads.js';
import type { ToolContext } from '../context.js';
import type { InputFile, InputModel } from '../paths.js';
import { type Head, headOf, sureOf } from '../verdict.js';
import {
  dryRun,
  ENCODES_OF_SEARCH,
  type EncodingCall,
  type EncodingLimits,
  finishingCall,
  publishResult,
} from './encoding.js';
import { MOST_SECONDS } from './parameters.js';

export interface QualityInput extends EncodingLimits {
  readonly source: InputFile;
  readonly encoder: string;
  readonly encoder_options: Readonly<Record<string, string>>;
  readonly targets: readonly string[];
  readonly at_most?: number;
  readonly max_size?: number;
  readonly range?: { readonly min: number; readonly max: number } | undefined;
  readonly pixel_format?: string;
  readonly full: boolean;
  readonly verify: boolean;
  readonly model: InputModel;
}

/** @throws {AnyvmafError} those of `searchQuality`; `resource` at the limits of the call, without a result */
export async function findQuality(input: QualityInput, context: ToolContext) {
  const targets = input.targets.map(parseTarget);
  const task = { source: input.source.path, limits: input };
  const work = (call: EncodingCall, api: Measuring) => {
    const { onBest, ...told } = call;
    let best: SearchPoint | undefined;
    return api.searchQuality(input.source.path, {
      ...told,
      onPoint(point) {
        if (best && !isBetter(point, best)) return;
        best = point;
        const { value, quality, kbps } = point;
        onBest?.(`${value} with ${quality.toFixed(2)} at ${Math.round(kbps)} kb/s`);
      },
      encoder: input.encoder,
      encoderOptions: input.encoder_options,
      targets,
      atMost: input.at_most,
      maxSize: input.max_size,
      range: input.range,
      pixelFormat: input.pixel_format,
      models: [input.model.text],
      full: input.full,
      verify: input.verify,
      origin: context.files.origin,
    });
  };
  if (input.dry_run) return dryRun(task, context, () => ENCODES_OF_SEARCH + (input.verify ? 1 : 0), work);
  const result = await finishingCall(task, context, work);
  const { uris, content } = await publishResult(result, context);
  const document = { ...headOfSearch(result, input, context), ...documentOf(result), results: uris };
  return { document, content, whole: 'results', spare: ['not_monotone', 'points', 'command'] };
}

function headOfSearch(result: SearchResult, input: QualityInput, context: ToolContext): Head {
  const { unfinished, shortfall, final, samples, predicted, targets, warnings } = result;
  const [{ atLeast, atMost } = {}] = targets;
  const bound = atLeast ?? atMost ?? Number.NaN;
  const missed = shortfall !== null || final?.reached === false;
  const next = unfinished ? goOn(result, input, context) : nextAfter(result, input, context);
  return headOf({
    outcome: unfinished ? 'unfinished' : missed ? 'missed' : 'reached',
    sure: final ? 'high' : sureOf(bound, [predicted.interval95, predicted.interval99]),
    reasons: [
      ...(shortfall ? [`shortfall:${shortfall.reason}`] : []),
      ...(samples && !final ? ['predicted-from-samples'] : []),
      ...(result.notMonotone.length > 0 ? ['not-monotone'] : []),
      ...(warnings.length > 0 ? ['warnings'] : []),
      // No further call helps.
      ...(next === null ? [missed ? 'no-value-does' : 'run-command'] : []),
    ],
    next,
  });
}

/** Resumes a search that ended at its limits; with more time if that was too short for one encode. */
function goOn({ unfinished, encodes }: SearchResult, input: QualityInput, context: ToolContext) {
  const more = encodes <= 1 && { max_seconds: Math.min(MOST_SECONDS, 2 * input.max_seconds) };
  return context.again({ range: { ...unfinished }, ...more });
}

/**
 * Verify the value on the whole source; if that misses, search the whole; if no value does, search all values, then
 * compare encoders. `null` if nothing is left to try, or the result's command makes the encode.
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
  return context.instead('run_compare', { src: context.args.source, target_vmaf: atLeast });
}

/** Prefers the smaller file among points that reach the targets, else the nearest to them. */
function isBetter(one: SearchPoint, other: SearchPoint): boolean {
  if (one.margin >= 0 && other.margin >= 0) return one.kbps < other.kbps;
  return one.margin > other.margin;
}

function documentOf(result: SearchResult) {
  const { encoder, parameter, value, shortfall, predicted, points, samples, final, targets } = result;
  const [{ metric } = { metric: 'vmaf' }] = targets;
  const mean = (pooled: SearchResult['points'][number]['pooled']) => pooled[metric]?.mean ?? Number.NaN;
  const reached = targets.map(targetText).join(' and ');
  const [low, high] = predicted.interval99;
  const range = samples ? `, 99 % interval ${low.toFixed(2)} to ${high.toFixed(2)}` : '';
  const { unfinished } = result;
  const so = unfinished
    ? `Stopped at max_seconds or max_encodes; the value is between ${unfinished.min} and ${unfinished.max}: call again with that range. So far `
    : '';
  return {
    summary:
      `${so}${encoder} ${parameter} ${value} ${shortfall ? 'is nearest to' : 'reaches'} ${reached}: predicted ` +
      `${predicted.value.toFixed(2)}${range}, ${counted(result.encodes, 'encode')}.`,
    encoder,
    parameter,
    value,
    shortfall,
    unfinished,
    predicted: predicted.value,
    interval_95: predicted.interval95,
    interval_99: predicted.interval99,
    predicted_bytes: Math.round(result.predictedBytes),
    points: points.map(({ value: at, pooled, kbps, margin }) => ({
      ...{ value: at, mean: mean(pooled), kbps, margin },
    })),
    not_monotone: result.notMonotone,
    sampled_frames: samples ? samples.reduce((sum, { count }) => sum + count, 0) : null,
    encodes: result.encodes,
    final: final && {
      mean: mean(final.pooled),
      qualities: final.qualities,
      bytes: final.bytes,
      reached: final.reached,
    },
    warnings: result.warnings,
    command: result.command,
  };
}
