/**
 * @module mcp/scoring/curves
 * Ladders of sizes and comparisons of encoders within one call.
 */
import {
  AnyvmafError,
  type AtTarget,
  type ComparedEncoder,
  type ComparisonResult,
  type LadderPoint,
  type LadderResult,
  type PictureSize,
  parseEncoder,
} from '../../index.js';
import { buildLadder, compareEncoders } from '../checked-api.js';
import type { ToolContext } from '../context.js';
import type { InputFile, InputModel } from '../paths.js';
import { type EncodingLimits, encodingCall, publishResult } from './encoding.js';

interface CurveInput extends EncodingLimits {
  readonly src: InputFile;
  readonly model: InputModel;
  readonly pix_fmt?: string | undefined;
  readonly full: boolean;
}

/** What to compare. */
export interface CompareInput extends CurveInput {
  readonly encoders: readonly string[];
  readonly target_vmafs: readonly number[];
}

/** @throws {AnyvmafError} as the public `compareEncoders`; `resource` when it takes longer than it may */
export async function runCompare(input: CompareInput, context: ToolContext) {
  const encoders = input.encoders.map(encoderOf);
  const result = await encodingCall('run_compare', input, context, (call) =>
    compareEncoders(input.src.path, {
      ...optionsOf(input, context),
      ...call,
      encoders,
      targets: input.target_vmafs,
    }),
  );
  const { uris, content } = await publishResult(result, context);
  return { document: { ...comparisonDocument(result), results: uris }, content };
}

/** What to build. */
export interface LadderInput extends CurveInput {
  readonly encoder: string;
  readonly encoder_options: Readonly<Record<string, string>>;
  readonly resolutions: readonly string[];
  readonly target_vmafs: readonly number[];
  readonly quality_tiers: number;
  readonly spacing: 'log_bitrate' | 'vmaf';
}

/** @throws {AnyvmafError} as the public `buildLadder`; `resource` when it takes longer than it may */
export async function runLadder(input: LadderInput, context: ToolContext) {
  const sizes = input.resolutions.map(sizeOf);
  const result = await encodingCall('run_ladder', input, context, (call) =>
    buildLadder(input.src.path, {
      ...optionsOf(input, context),
      ...call,
      encoder: input.encoder,
      encoderOptions: input.encoder_options,
      sizes,
      targets: input.target_vmafs,
      rungs: input.quality_tiers,
      spacing: input.spacing === 'vmaf' ? 'quality' : 'rate',
    }),
  );
  const { uris, content } = await publishResult(result, context);
  return { document: { ...ladderDocument(result), results: uris }, content };
}

function optionsOf({ model, pix_fmt, full }: CurveInput, { files }: ToolContext) {
  return {
    models: [model.text],
    full,
    origin: files.origin,
    ...(pix_fmt !== undefined && { pixelFormat: pix_fmt }),
  };
}

/** With the name that the caller knows it by. */
function encoderOf(text: string): ComparedEncoder {
  return { name: text, ...parseEncoder(text) };
}

/** `1280x720`, `720` or `720p`. */
function sizeOf(text: string): PictureSize | number {
  const [, width, height, only] = /^(?:(\d{1,5})x(\d{1,5})|(\d{1,5})p?)$/.exec(text) ?? [];
  if (only !== undefined) return Number(only);
  if (width !== undefined) return { width: Number(width), height: Number(height) };
  throw new AnyvmafError(
    'usage',
    `resolutions has ${JSON.stringify(text)}, but it takes sizes such as 1280x720, or heights such as 720.`,
  );
}

function comparisonDocument({ curves, deltas, encodes, metric }: ComparisonResult) {
  const texts = deltas.map(({ test, anchor, rate }) =>
    rate
      ? `${test} needs ${Math.abs(rate.value).toFixed(1)} % ${rate.value < 0 ? 'less' : 'more'} than ${anchor} for equal ${metric}`
      : `${test} shares no range of ${metric} with ${anchor}`,
  );
  return {
    summary: `${texts.join('; ')}.`,
    metric,
    encoders: curves.map(({ name, encoder, parameter, framesPerSecond, atTargets, points, notMonotone }) => ({
      name,
      encoder,
      parameter,
      frames_per_second: framesPerSecond,
      at_targets: atTargets.map(atTarget),
      points: points.map(({ value, quality, kbps }) => ({ value, vmaf: quality, kbps })),
      not_monotone: [...notMonotone],
    })),
    deltas: deltas.map(({ anchor, test, rate, quality, refused }) => ({
      anchor,
      test,
      bd_rate_percent: rate?.value ?? null,
      bd_vmaf: quality?.value ?? null,
      overlap: rate?.overlap ?? null,
      refused,
    })),
    encodes,
  };
}

function atTarget({ target, value, kbps, quality, reached, kbpsAt }: AtTarget) {
  return { target_vmaf: target, value, kbps, vmaf: quality, reached, kbps_at_target: kbpsAt };
}

function ladderDocument(result: LadderResult) {
  const { rungs, takeovers, hull, encoder, parameter, metric, encodes, command } = result;
  const [low, high] = [rungs[0] as LadderPoint, rungs.at(-1) as LadderPoint];
  return {
    summary:
      `${rungs.length} rungs with ${encoder} from ${low.width}x${low.height} at ${Math.round(low.kbps)} kb/s (${metric} ` +
      `${low.quality.toFixed(1)}) to ${high.width}x${high.height} at ${Math.round(high.kbps)} kb/s (${high.quality.toFixed(1)}); ${encodes} encodes.`,
    encoder,
    parameter,
    metric,
    rungs: rungs.map(rungDocument),
    hull: hull.map(rungDocument),
    takeovers: takeovers.map(({ width, height, kbps, quality }) => ({ width, height, kbps, vmaf: quality })),
    encodes,
    command: [...command],
    warnings: [...result.warnings],
  };
}

function rungDocument({ width, height, value, kbps, quality }: LadderPoint) {
  return { width, height, value, kbps, vmaf: quality };
}
