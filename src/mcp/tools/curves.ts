/**
 * @module mcp/tools/curves
 * `run_compare`: compares encoders or presets on one source; `run_ladder`: builds a bitrate ladder.
 */
import * as z from 'zod/v4';
import { usageError } from '../../core/errors.js';
import { parseSize } from '../../core/size.js';
import { version } from '../../core/version.js';
import type {
  ComparedEncoder,
  ComparisonResult,
  LadderPoint,
  LadderResult,
  PictureSize,
} from '../../index.js';
import { choice, each, flag, numbers, rows, text, textOrNull, texts, value, whole } from '../schemas.js';
import { codesOf, encodingResults, type Head, headKeys, headOf, joinSentences } from '../scoring/answers.js';
import { ENCODES_OF_SEARCH, publishResult, sourceCall } from '../scoring/encoding.js';
import { encoderOptions, encodingLimits, encodingSource, model } from '../scoring/parameters.js';
import { defineTool, type InputOf, type ToolContext } from '../tool.js';

const compareInput = z.object({
  src: encodingSource.src,
  target_vmaf: z.number().describe('One target quality.').optional(),
  target_vmafs: numbers
    .max(8)
    .describe('Several. Default without target_vmaf: 94, 96, 97, 98. []: fixed parameter values.')
    .optional(),
  encoders: z
    .array(text(400))
    .min(1)
    .max(8)
    .default(['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9'])
    .describe('ffmpeg names, optionally with options: libx264:preset=slow. The first is the anchor.'),
  width: encodingSource.width,
  height: encodingSource.height,
  pix_fmt: encodingSource.pix_fmt,
  framerate: encodingSource.framerate,
  no_parallel: flag('No effect: encoders always run one at a time.'),
  model,
  ...encodingLimits,
});
type CompareInput = InputOf<typeof compareInput>;

export const runCompareTool = defineTool({
  name: 'run_compare',
  title: 'Compare encoders',
  description:
    'Compares encoders or presets of the installed ffmpeg on samples of a source: BD-rate against the first, encoding ' +
    'speed on this machine, and the setting and bit rate for each target quality. Writes no encode. Takes minutes.',
  inputSchema: compareInput,
  outputSchema: z.object({
    ...headKeys,
    src: z.string().describe('As given.'),
    tool_version: z.string(),
    wall_time_ms: z.number(),
    schema_version: z.int().optional().describe('2 with target_vmafs.'),
    target_vmaf: z.number().optional().describe('If it is the only target; rows are then sorted by rate.'),
    target_vmafs: numbers.optional(),
    rows: rows({
      codec: z.string().describe('As given.'),
      adapter: z.string().describe('ffmpeg encoder name.'),
      ...each(z.string(), 'runtime_variant', 'ffmpeg_bin', 'encoder_version'),
      best_crf: z.number().describe("Value of the encoder's parameter."),
      bitrate_kbps: z.number(),
      encode_time_ms: value,
      ...each(z.number(), 'vmaf_score', 'target_vmaf'),
      ok: z.boolean().describe('Whether it reaches the target.'),
      error: z.string(),
    }).describe('Setting and rate of each encoder for each target.'),
    summary: z.string(),
    notes: texts,
    metric: z.string(),
    ties: texts.describe('Encoders within measurement error of the one with the lowest rate.'),
    encoders: rows({
      ...each(z.string(), 'name', 'encoder', 'parameter'),
      frames_per_second: value.describe('Encoding speed on this machine.'),
      at_targets: rows({
        ...each(z.number(), 'target_vmaf', 'value', 'kbps', 'vmaf'),
        reached: z.boolean(),
        kbps_at_target: value.describe('Interpolated on the curve; null outside it.'),
      }),
      points: rows({ value: z.number(), vmaf: z.number(), kbps: z.number() }),
      not_monotone: numbers.describe('Parameter values that score higher than a finer one.'),
    }),
    deltas: rows({
      ...each(z.string(), 'anchor', 'test'),
      bd_rate_percent: value.describe('Mean rate difference at equal quality; negative: a lower rate.'),
      interval_95: numbers
        .nullable()
        .describe('Of bd_rate_percent; a tie if it contains 0. null: too few parts of the video.'),
      bd_vmaf: value.describe('Mean quality difference at equal rate.'),
      overlap: value.describe('Fraction of the shorter curve that was compared.'),
      refused: textOrNull.describe('Why there is no BD-rate.'),
    }),
    encodes: z.int(),
    results: encodingResults('the curves'),
  }),
  handler: runCompare,
});

const rung = z.object({
  ...each(z.int(), 'width', 'height'),
  value: z.number().describe("Value of the encoder's parameter."),
  kbps: z.number(),
  vmaf: z.number().describe("Scored at the source's size."),
});

const ladderInput = z.object({
  src: encodingSource.src,
  resolutions: z
    .array(z.string())
    .min(1)
    .max(12)
    .describe('Sizes such as 1920x1080, or heights such as 720; none larger than the source.'),
  encoder: z.string().max(64).default('libx264').describe('ffmpeg encoder name.'),
  encoder_options: encoderOptions,
  target_vmafs: numbers.max(12).default([]).describe('Target qualities. Default: fixed parameter values.'),
  quality_tiers: whole(1, 32).default(5).describe('Number of rungs.'),
  format: choice(['json', 'hls', 'dash'], 'Manifest: a JSON object, an HLS playlist or a DASH MPD.'),
  spacing: choice(
    ['log_bitrate', 'vmaf', 'uniform'],
    'Scale on which rungs are evenly spaced; uniform: same as vmaf.',
  ),
  framerate: encodingSource.framerate,
  width: encodingSource.width,
  height: encodingSource.height,
  pix_fmt: encodingSource.pix_fmt,
  model,
  ...encodingLimits,
});
type LadderInput = InputOf<typeof ladderInput>;

export const runLadderTool = defineTool({
  name: 'run_ladder',
  title: 'Build a bitrate ladder',
  description:
    'Encodes samples of a source at several sizes and picks rungs on the convex hull of quality over rate. Returns the ' +
    'rungs, the rate from which each size is best, and the ffmpeg command for DASH and HLS. Writes no encode. Takes minutes.',
  inputSchema: ladderInput,
  outputSchema: z.object({
    ...headKeys,
    manifest: z
      .union([
        z.string(),
        z.object({
          rungs: rows({
            ...each(z.int(), 'width', 'height'),
            bitrate_kbps: z.number(),
            bandwidth_bps: z.number().describe('Average.'),
            vmaf: z.number(),
            crf: z.number().describe("Value of the encoder's parameter."),
          }),
        }),
      ])
      .describe('The rungs; for hls and dash, text that names the files created by command.'),
    format: z.enum(['json', 'hls', 'dash']),
    summary: z.string(),
    notes: texts,
    ...each(z.string(), 'encoder', 'parameter', 'metric'),
    rungs: z.array(rung).describe('Sorted by rate; each was measured.'),
    hull: z.array(rung).describe('Points on the convex hull.'),
    takeovers: rows({ width: z.int(), height: z.int(), kbps: z.number(), vmaf: z.number() }).describe(
      'Rate from which each size is best.',
    ),
    encodes: z.int(),
    command: texts.describe("Encodes all rungs; 'anyvmaf ladder --master' then measures bandwidths."),
    warnings: texts,
    results: encodingResults('the hull'),
  }),
  handler: runLadder,
});

const USUAL_TARGETS = [94, 96, 97, 98];

/** @throws {AnyvmafError} those of the public `compareEncoders`; `resource` at the limits of the call */
async function runCompare(input: CompareInput, context: ToolContext) {
  const { target_vmaf: target, target_vmafs: several } = input;
  const targets = [...new Set([target ?? [], several ?? []].flat())];
  if (target === undefined && several === undefined) targets.push(...USUAL_TARGETS);
  const { parseEncoder } = await import('../../index.js');
  const encoders = input.encoders.map((name) => ({ name, ...parseEncoder(name) }));
  const began = performance.now();
  const most = () => encoders.length * encodesOf(targets);
  const done = await sourceCall(input, context, most, async (source, options, api) => ({
    ...(await api.compareEncoders(source.path, { ...options, full: input.full, encoders, targets })),
    source: source.name,
  }));
  if ('fits' in done) return done;
  const { result, notes } = done;
  const { uris, content } = await publishResult(result, context);
  const isSingle = several === undefined && target !== undefined;
  const rows = rowsOf(result);
  const { target: found, encoder } = leading(result, targets);
  return {
    document: {
      ...headOfComparison(result, parseEncoder(encoder), found, context),
      src: input.src.named,
      ...(isSingle ? { target_vmaf: target } : { schema_version: 2, target_vmafs: targets }),
      tool_version: version,
      wall_time_ms: Math.round(performance.now() - began),
      rows: isSingle
        ? rows.toSorted((a, b) => Number(b.ok) - Number(a.ok) || a.bitrate_kbps - b.bitrate_kbps)
        : rows,
      ...comparisonDocument(result),
      notes,
      results: uris,
    },
    content,
    whole: 'results',
    spare: [
      ...['encoders.[].points', 'encoders.[].at_targets.[].value', 'encoders.[].at_targets.[].vmaf'],
      ...['rows', 'deltas'],
    ],
  };
}

/** The first target that is reached, `null` if none is, and the encoder that needs the lowest rate for it. */
function leading({ curves, least }: ComparisonResult, targets: readonly number[]) {
  for (const target of targets) {
    const found = curves.flatMap(({ name, atTargets }) =>
      atTargets.flatMap((at) => (at.target === target && at.reached ? { name, kbps: at.kbps } : [])),
    );
    const [smallest] = found.toSorted((a, b) => a.kbps - b.kbps);
    const best = found.find(({ name }) => name === least) ?? smallest;
    if (best) return { target, encoder: best.name };
  }
  return { target: targets.length > 0 ? null : 95, encoder: least ?? curves[0]?.name ?? 'libx264' };
}

/**
 * The verdict on the lowest rate and its ties; the next call searches for the setting.
 * @param target for the next call; `null` if no encoder reaches one
 */
function headOfComparison(
  result: ComparisonResult,
  { encoder, encoderOptions }: Pick<ComparedEncoder, 'encoder' | 'encoderOptions'>,
  target: number | null,
  context: ToolContext,
): Head {
  const { curves, deltas, samples, least, ties = [] } = result;
  const used = deltas.flatMap(({ test, rate }) => (rate && least === test ? [rate] : []));
  const isSmall = used.some(({ overlap }) => overlap < SMALL_OVERLAP);
  const setting = { encoder, encoder_options: encoderOptions };
  const { src: source, pix_fmt: pixel_format } = context.args;
  const isMissed = target === null;
  const ranked = ties.length > 0 ? 'tied' : least === undefined ? undefined : 'decided';
  return headOf({
    outcome: isMissed ? 'missed' : ranked,
    sure: isSmall || least === undefined ? 'low' : samples ? 'medium' : 'high',
    reasons: codesOf({
      'least-rate': least !== undefined,
      'measured-on-samples': samples,
      'no-common-range': deltas.some(({ refused }) => refused !== null),
      'no-interval': hasNoInterval(result),
      'small-overlap': isSmall,
      'not-monotone': curves.some(({ notMonotone }) => notMonotone.length > 0),
      'shortfall:target': isMissed,
    }),
    // find_quality takes no raw video. The comparison judged the mean of the whole.
    next: isMissed
      ? null
      : context.args.width === undefined
        ? context.instead('find_quality', { ...setting, source, pixel_format, targets: [String(target)] })
        : context.instead('run_tune_per_shot', { ...setting, target_vmaf: target, goal: 'whole' }),
  });
}

/** Curves with a smaller common range are barely comparable. */
const SMALL_OVERLAP = 0.5;

function hasNoInterval({ deltas }: ComparisonResult): boolean {
  return deltas.some(({ rate, rate95 }) => rate && !rate95);
}

const millisecondsOf = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : seconds * 1000;

function rowsOf({ curves }: ComparisonResult) {
  return curves.flatMap(({ name, encoder, version: encoder_version, points, atTargets }) =>
    atTargets.map(({ target, value, kbps, quality, reached }) => ({
      codec: name,
      adapter: encoder,
      runtime_variant: '',
      ffmpeg_bin: 'ffmpeg',
      encoder_version,
      best_crf: value,
      bitrate_kbps: kbps,
      encode_time_ms: millisecondsOf(points.find((point) => point.value === value)?.encodeSeconds),
      vmaf_score: quality,
      target_vmaf: target,
      ok: reached,
      error: reached ? '' : `no value reaches ${target}; this is the nearest`,
    })),
  );
}

/** @throws {AnyvmafError} those of the public `buildLadder`; `resource` at the limits of the call */
async function runLadder(input: LadderInput, context: ToolContext) {
  const sizes = input.resolutions.map(sizeOf);
  const most = () => sizes.length * encodesOf(input.target_vmafs) + input.quality_tiers;
  const done = await sourceCall(input, context, most, async (source, options, api) => {
    const built = await api.buildLadder(source.path, {
      ...{ ...options, full: input.full, encoder: input.encoder, encoderOptions: input.encoder_options },
      ...{ sizes, targets: input.target_vmafs, rungs: input.quality_tiers },
      spacing: input.spacing === 'log_bitrate' ? 'rate' : 'quality',
    });
    return { ...built, source: source.name, command: source.command(built.command) };
  });
  if ('fits' in done) return done;
  const { result, notes } = done;
  const { uris, content } = await publishResult(result, context);
  const { format } = input;
  return {
    document: {
      ...headOf({
        sure: result.samples ? 'medium' : 'high',
        reasons: codesOf({ 'measured-on-samples': result.samples, warnings: result.warnings.length > 0 }),
        next: context.instead('run_tune_per_shot', {
          // Not above what was measured.
          target_vmaf: Math.floor(result.rungs.at(-1)?.quality ?? 95),
          format: undefined,
        }),
      }),
      manifest: manifestOf(result.rungs, format),
      format,
      ...ladderDocument(result),
      notes,
      results: uris,
    },
    content,
    whole: 'results',
    spare: ['hull', 'takeovers', ...(format === 'json' ? ['manifest'] : []), 'command'],
  };
}

const encodesOf = (targets: readonly number[]): number => ENCODES_OF_SEARCH * Math.max(1, targets.length);

/** Parses `1280x720`, `720` or `720p`. */
function sizeOf(text: string): PictureSize | number {
  const size = parseSize(text);
  if (size) return size;
  if (/^\d{1,5}p?$/.test(text)) return Number.parseInt(text, 10);
  throw usageError(
    `resolutions has ${JSON.stringify(text)}, but it must have sizes such as 1280x720, or heights such as 720.`,
  );
}

const NO_INTERVAL =
  'No confidence interval: too few parts of the video share a range of quality; at least four are needed.';

function comparisonDocument(result: ComparisonResult) {
  const { curves, deltas, encodes, metric, least, ties = [] } = result;
  const sentences = deltas.map(({ test, anchor, rate }) =>
    rate
      ? `${test} needs ${Math.abs(rate.value).toFixed(1)} % ${rate.value < 0 ? 'less' : 'more'} than ${anchor} for equal ${metric}`
      : `${test} and ${anchor} have no common range of ${metric}`,
  );
  const [only] = curves;
  if (sentences.length === 0 && only) sentences.push(`${only.name} at ${only.points.length} values`);
  const missed = (only?.atTargets ?? []).flatMap(({ target }, i) =>
    curves.some(({ atTargets }) => atTargets[i]?.reached) ? [] : target,
  );
  return {
    summary: joinSentences(
      missed.length > 0 && `No encoder reaches ${metric} ${missed.join(' or ')}.`,
      `${sentences.join('; ')}.`,
      ties.length > 0 &&
        `The difference between ${ties.join(', ')} and ${least} is within measurement error.`,
      hasNoInterval(result) && NO_INTERVAL,
    ),
    metric,
    ties,
    encoders: curves.map(({ name, encoder, parameter, framesPerSecond, atTargets, points, notMonotone }) => ({
      name,
      encoder,
      parameter,
      frames_per_second: framesPerSecond,
      at_targets: atTargets.map(({ target, value, kbps, quality, reached, kbpsAt }) => {
        return { target_vmaf: target, value, kbps, vmaf: quality, reached, kbps_at_target: kbpsAt };
      }),
      points: points.map(({ value, quality, kbps }) => ({ value, vmaf: quality, kbps })),
      not_monotone: notMonotone,
    })),
    deltas: deltas.map(({ anchor, test, rate, rate95, quality, refused }) => ({
      anchor,
      test,
      bd_rate_percent: rate?.value ?? null,
      interval_95: rate95 ?? null,
      bd_vmaf: quality?.value ?? null,
      overlap: rate?.overlap ?? null,
      refused,
    })),
    encodes,
  };
}

function ladderDocument(result: LadderResult) {
  const { rungs, takeovers, hull, encoder, parameter, metric, encodes, command } = result;
  const [low, high] = [rungs[0] as LadderPoint, rungs.at(-1) as LadderPoint];
  return {
    summary:
      `${rungs.length} rungs with ${encoder} from ${low.width}x${low.height} at ${Math.round(low.kbps)} kb/s (${metric} ` +
      `${low.quality.toFixed(1)}) to ${high.width}x${high.height} at ${Math.round(high.kbps)} kb/s (${high.quality.toFixed(1)}); ${encodes} encodes.`,
    ...{ encoder, parameter, metric, encodes, command, warnings: result.warnings },
    rungs: rungs.map(rungDocument),
    hull: hull.map(rungDocument),
    takeovers: takeovers.map(({ width, height, kbps, quality }) => ({ width, height, kbps, vmaf: quality })),
  };
}

function rungDocument({ width, height, value, kbps, quality: vmaf }: LadderPoint) {
  return { width, height, value, kbps, vmaf };
}

const ABOUT =
  'Rates are averages over the measured encodes; the final encodes are not made yet, so peak rates are unknown.';

function manifestOf(points: readonly LadderPoint[], format: LadderInput['format']) {
  if (format === 'hls') return hlsText(points);
  if (format === 'dash') return dashText(points);
  const rungs = points.map(({ width, height, kbps, quality: vmaf, value: crf }) => {
    return { width, height, bitrate_kbps: kbps, bandwidth_bps: bandwidthOf(kbps), vmaf, crf };
  });
  return { rungs };
}

const bandwidthOf = (kbps: number): number => Math.round(kbps * 1000);

function hlsText(rungs: readonly LadderPoint[]): string {
  const lines = rungs.flatMap(({ width, height, kbps }, i) => {
    const rate = bandwidthOf(kbps);
    return [
      `#EXT-X-STREAM-INF:BANDWIDTH=${rate},AVERAGE-BANDWIDTH=${rate},RESOLUTION=${width}x${height}`,
      `media_${i}.m3u8`,
    ];
  });
  return `${['#EXTM3U', '#EXT-X-VERSION:6', `# ${ABOUT}`, ...lines].join('\n')}\n`;
}

function dashText(rungs: readonly LadderPoint[]): string {
  const lines = rungs.map(
    ({ width, height, kbps }, i) =>
      `      <Representation id="${i}" bandwidth="${bandwidthOf(kbps)}" width="${width}" height="${height}" mimeType="video/mp4">\n` +
      `        <BaseURL>rung-${i}-${width}x${height}.mp4</BaseURL>\n      </Representation>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${ABOUT} -->
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" minBufferTime="PT4S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
  <Period>
    <AdaptationSet contentType="video" segmentAlignment="true">
${lines.join('\n')}
    </AdaptationSet>
  </Period>
</MPD>
`;
}
