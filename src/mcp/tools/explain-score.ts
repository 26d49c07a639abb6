/**
 * @module mcp/tools/explain-score
 * `explain_score`: divides the loss against a perfect copy among features (Shapley values), scales and moments.
 *
 * A perfect copy has ADM and VIF of 1 at every scale and the reference's motion; its score is a frame's ceiling.
 * Setting some features to 1 gives a score for every subset; a feature's share is its average gain over all orders
 * in which features can be repaired one by one. No other division is symmetric, gives nothing to a feature without
 * effect, and adds up to ceiling minus score (up to rounding). It explains the model, not the eye.
 */
import * as z from 'zod/v4';
import { modelError, usageError } from '../../core/errors.js';
import { counted, quoted } from '../../core/printable.js';
import type { FeatureModel, FrameMetrics, Report } from '../../index.js';
import { frameTime } from '../../report/facts.js';
import { frameGap } from '../../report/ranking.js';
import { trustOf } from '../../report/trust.js';
import { modelString } from '../paths.js';
import { each, rows, texts, value, whole } from '../schemas.js';
import {
  findingDocument,
  headKeys,
  headOf,
  mismatchedModelWarning,
  nextForPair,
  nextWithFix,
  trustDocument,
} from '../scoring/answers.js';
import {
  anyPair,
  anyRequest,
  DEFAULT_MODEL,
  optionalGeometry,
  pairingParameters,
  scoringParameters,
  tableOptions,
} from '../scoring/parameters.js';
import { runScore } from '../scoring/run.js';
import { defineTool, type InputOf, type ToolContext } from '../tool.js';

const { frame_cnt, frame_skip_ref, frame_skip_dist, subsample } = scoringParameters;

const points = z.number().describe('Score points lost, averaged over the frames; negative: gained.');

const USUAL_SEGMENTS = 5;

const explanationInput = z.object({
  ...anyPair,
  ...optionalGeometry,
  model: modelString('One model: version=NAME or path=FILE.', DEFAULT_MODEL),
  frame_cnt,
  frame_skip_ref,
  frame_skip_dist,
  subsample,
  ...pairingParameters,
  segments: whole(1, 50)
    .default(USUAL_SEGMENTS)
    .describe('Maximum segments and frames to list, costliest first.'),
});
type ExplanationInput = InputOf<typeof explanationInput>;

export const explainScoreTool = defineTool({
  name: 'explain_score',
  title: 'Explain a score',
  description:
    'Explains a VMAF score, in points below a perfect copy: by feature (adding up to the loss), by scale (finest first), ' +
    'and over time (costliest first). adm2 stands for lost detail (blur, denoising, scaling), vif at scales 2 and 3 for ' +
    'altered structures (coarse quantisation, blocks). Next: describe_worst_frames.',
  inputSchema: explanationInput,
  outputSchema: z.object({
    ...headKeys,
    explanation: texts.describe('The result in sentences.'),
    model: z.string(),
    score: z.number().describe('Mean over the explained frames.'),
    ceiling: z.number().describe('Mean score of a perfect copy with the same motion.'),
    loss: z.number().describe('ceiling minus score; the sum of the points of all features.'),
    frames: z.int().describe('Frames scored.'),
    frames_explained: z.int().describe('All up to 2000 frames, else 2000 evenly spread ones.'),
    features: rows({
      ...each(z.string(), 'feature', 'meaning'),
      points,
      share: value.describe('Fraction of the loss; null if nothing is lost.'),
      mean_value: z
        .number()
        .describe('In a perfect copy 1, to about a millionth: features are computed in fixed point.'),
      lowest_value: z.number(),
    }).describe('Costliest first.'),
    scales: rows({
      scale: z.int(),
      meaning: z.string(),
      points,
      adm_points: points,
      vif_points: points,
    }).describe(
      'The same points by scale; those of adm2 are split by the shortfall of its sums at each scale.',
    ),
    not_blamed: rows({ feature: z.string(), mean_value: z.number() }).describe(
      'Features that describe the reference, not the damage (mainly motion); kept as measured.',
    ),
    segments: rows({
      ...each(z.int(), 'first_frame', 'last_frame'),
      start_seconds: value,
      ...each(z.number(), 'score', 'loss'),
      share_of_loss: value,
      main_feature: z.string().describe('The costliest feature in it.'),
    }),
    worst_frames: rows({
      frame: z.int(),
      ...each(z.number(), 'score', 'ceiling'),
      points: z.record(z.string(), z.number()),
    }),
    trust: trustDocument,
    preflight: z.array(findingDocument),
    mismatched_model_warning: z.string().optional(),
  }),
  async handler(input, context) {
    return {
      document: await explainScore(input, context),
      spare: ['worst_frames', 'features.[].lowest_value', 'scales.[].meaning', 'mismatched_model_warning'],
      long: input.segments > USUAL_SEGMENTS,
    };
  },
});

/** Most frames to explain, each with dozens of predictions; of longer videos, evenly spread ones. */
const MOST_FRAMES = 2000;
/** Milliseconds of prediction between turns of other calls. */
const SLICE = 15;
/** Loss that counts as none: in fixed point, features of a perfect copy are 1 only to about a millionth. */
const NOTHING = 0.005;

const SCALES = [
  'finest detail: single samples, grain, sharp edges',
  'fine detail: about two samples wide',
  'medium structures: about four samples wide',
  'coarse structures: about eight samples wide',
] as const;

interface ExplainedFrame extends ReturnType<Attribution['explain']> {
  readonly frameNum: number;
  /** Fractions of ADM's loss by scale. */
  readonly admScales: readonly number[];
}

/** @throws {AnyvmafError} those of `score`; `usage` for model auto; `model` as {@link Attribution} */
export async function explainScore(input: ExplanationInput, context: ToolContext) {
  if (/^auto(:|$)/.test(input.model.named))
    throw usageError(
      'model is auto, but an explanation needs one model; pass version=vmaf_v0.6.1, or version=vmaf_4k_v0.6.1 for 4K.',
    );
  const { openModel } = await import('../checked-api.js');
  const model = await openModel(input.model.text, { origin: context.files.origin });
  const attribution = new Attribution(model);
  // The model predicts below; ADM's debug features are its sums by scale.
  const options = { ...tableOptions(input), models: [], features: model.features.map(withSums) };
  const report = await runScore(anyRequest(input), { options, weight: null }, context);
  const frames = await explainFrames(report, attribution, context);
  const trust = trustOf(report);
  const next = nextWithFix(context, trust.fix) ?? nextForPair(context, 'describe_worst_frames', { n: 3 });
  return {
    ...headOf({ trust, next }),
    ...describe(frames, attribution, report, input.segments, model.name),
    model: model.source,
    ...{ frames: report.frames.length, trust, preflight: report.preflight ?? [] },
    mismatched_model_warning: mismatchedModelWarning(report, [model.source]),
  };
}

function withSums(feature: string): string {
  if (!/^(float_)?adm(=|$)/.test(feature)) return feature;
  return `${feature}${feature.includes('=') ? ':' : '='}debug=true`;
}

async function explainFrames(
  report: Report,
  attribution: Attribution,
  { signal }: ToolContext,
): Promise<readonly ExplainedFrame[]> {
  const { frames } = report;
  const step = Math.max(1, frames.length / MOST_FRAMES);
  const explained: ExplainedFrame[] = [];
  let rested = performance.now();
  for (let at = 0; Math.floor(at) < frames.length; at += step) {
    const frame = frames[Math.floor(at)];
    if (!frame) break;
    const { frameNum, metrics } = frame;
    explained.push({ frameNum, ...attribution.explain(metrics), admScales: admScales(frame, attribution) });
    if (performance.now() - rested < SLICE) continue;
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    rested = performance.now();
  }
  return explained;
}

/** Fractions of ADM's loss by scale: ADM is a quotient of sums over scales, so its distance from 1 is such a sum. */
function admScales({ metrics }: FrameMetrics, { features }: Attribution): readonly number[] {
  const [, integer = '', suffix = ''] = features.map((name) => ADM.exec(name)).find((found) => found) ?? [];
  const lacking = SCALES.map((_, scale) => {
    const num = metrics[`${integer}adm_num_scale${scale}${suffix}`] ?? 0;
    const den = metrics[`${integer}adm_den_scale${scale}${suffix}`] ?? 0;
    return Math.abs(den - num);
  });
  const total = sum(lacking);
  return lacking.map((loss) => (total > 0 ? loss / total : 1 / lacking.length));
}

/** ADM over all scales: whether in fixed point, and the options in its name. */
const ADM = /^(integer_)?adm[23]?((?!_scale)_.*)?$/;

function describe(
  frames: readonly ExplainedFrame[],
  attribution: Attribution,
  report: Report,
  listed: number,
  name: string,
) {
  const { features, kept } = attribution;
  const score = average(frames.map((frame) => frame.score));
  const ceiling = average(frames.map((frame) => frame.ceiling));
  const loss = ceiling - score;
  const rows = featureRows(frames, features, report, loss);
  const scales = scaleRows(frames, features);
  const segments = segmentsOf(frames, report, features, loss * frames.length);
  const worst = [...frames].sort((a, b) => b.ceiling - b.score - (a.ceiling - a.score));
  const [main] = rows;
  const [costliest] = segments;
  const heaviest = scales.reduce((most, scale) => (scale.points > most.points ? scale : most));
  return {
    explanation:
      loss > NOTHING && main && costliest
        ? [
            `${name} is ${short(score)} on average; a perfect copy with the same motion would have ${short(ceiling)}, so ` +
              `${short(loss)} points are lost.`,
            `${short(main.points)} of them come from ${main.feature}: ${main.meaning}.`,
            `Scale ${heaviest.scale} costs the most, ${short(heaviest.points)} points: ${heaviest.meaning}.`,
            `Frames ${costliest.first_frame} to ${costliest.last_frame} cost the most: ${short(costliest.loss)} points below ` +
              'a perfect copy.',
            ...(report.frames.length > frames.length
              ? [`Based on ${frames.length} of ${counted(report.frames.length, 'frame')}, evenly spread.`]
              : []),
          ]
        : [`${name} is ${short(score)} on average, like a perfect copy of this video: nothing is lost.`],
    score: round(score),
    ceiling: round(ceiling),
    loss: round(loss),
    frames_explained: frames.length,
    features: rows,
    scales,
    not_blamed: kept.map((feature) => ({ feature, mean_value: round(average(valuesOf(report, feature))) })),
    segments: segments.slice(0, listed),
    worst_frames: worst.slice(0, listed).map((frame) => ({
      frame: frame.frameNum,
      score: round(frame.score),
      ceiling: round(frame.ceiling),
      points: Object.fromEntries(features.map((feature, i) => [feature, round(frame.points[i] ?? 0)])),
    })),
  };
}

function valuesOf({ frames }: Report, metric: string): number[] {
  return frames.map(({ metrics }) => metrics[metric] ?? Number.NaN);
}

function featureRows(
  frames: readonly ExplainedFrame[],
  features: readonly string[],
  report: Report,
  loss: number,
) {
  return features
    .map((feature, i) => {
      const points = average(frames.map((frame) => frame.points[i] ?? 0));
      const values = valuesOf(report, feature);
      return {
        feature,
        meaning: meaningOf(feature),
        points: round(points),
        share: loss > NOTHING ? round(points / loss) : null,
        mean_value: round(average(values)),
        lowest_value: round(values.reduce((low, value) => Math.min(low, value))),
      };
    })
    .sort((a, b) => b.points - a.points);
}

function scaleRows(frames: readonly ExplainedFrame[], features: readonly string[]) {
  return SCALES.map((meaning, scale) => {
    const weighted = (weight: (feature: string, parts: readonly number[]) => number) =>
      average(
        frames.map(({ points, admScales }) =>
          sum(points.map((value, i) => weight(features[i] ?? '', admScales) * value)),
        ),
      );
    const adm = weighted((feature, parts) => admPart(feature, scale, parts));
    const vif = weighted((feature) => (feature.includes(`vif_scale${scale}`) ? 1 : 0));
    return { scale, meaning, points: round(adm + vif), adm_points: round(adm), vif_points: round(vif) };
  });
}

/** Seconds of video, or ten frames if the rate is unknown; costliest first. */
function segmentsOf(
  frames: readonly ExplainedFrame[],
  report: Report,
  features: readonly string[],
  totalLoss: number,
) {
  const length = frameGap(report);
  const groups = new Map<number, ExplainedFrame[]>();
  for (const frame of frames) {
    const key = Math.floor(frame.frameNum / length);
    groups.set(key, [...(groups.get(key) ?? []), frame]);
  }
  const segments = [...groups.values()].map((group) => {
    const first = group[0]?.frameNum ?? 0;
    const start = frameTime(report, first);
    const lost = sum(group.map(({ score, ceiling }) => ceiling - score));
    const costs = features.map((_, i) => sum(group.map(({ points }) => points[i] ?? 0)));
    return {
      first_frame: first,
      last_frame: group.at(-1)?.frameNum ?? first,
      start_seconds: start === undefined ? null : round(start),
      score: round(average(group.map(({ score }) => score))),
      loss: round(lost / group.length),
      share_of_loss: totalLoss > NOTHING * frames.length ? round(lost / totalLoss) : null,
      main_feature: features[costs.indexOf(Math.max(...costs))] ?? '',
    };
  });
  return segments.sort((a, b) => b.loss - a.loss || a.first_frame - b.first_frame);
}

/** Fraction of an ADM feature's points at a scale; 0 for other features. */
function admPart(feature: string, scale: number, parts: readonly number[]): number {
  const ownScale = /adm_scale([0-3])/.exec(feature)?.[1];
  if (ownScale !== undefined) return Number(ownScale) === scale ? 1 : 0;
  return /adm/.test(feature) ? (parts[scale] ?? 0) : 0;
}

function meaningOf(feature: string): string {
  const scale = /vif_scale([0-3])/.exec(feature)?.[1];
  if (scale !== undefined) return `structures altered at scale ${scale}, ${SCALES[Number(scale)]}`;
  if (feature.includes('adm'))
    return 'detail of the reference lost, as by blur, denoising or scaling, over all scales';
  return 'structures altered, over all scales';
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const average = (values: readonly number[]): number => sum(values) / values.length;
const round = (value: number): number => Number(value.toFixed(6));
const short = (value: number): string => value.toFixed(2);

/** The number of scores doubles with each feature. */
const MAX_FEATURES = 10;
/** Internal names of features that are 1 in a perfect copy. */
const ONE_WHEN_PERFECT = /(^|_)(adm|adm2|adm3|adm_scale[0-3]|vif|vif_scale[0-3])(_score)?$/;

/** Internal names of features that a perfect copy shares with the reference. */
const AS_IN_REFERENCE = /(^|_)motion[23]?(_score)?$/;

/** Divides the loss of frames of one model. */
export class Attribution {
  /** Log names of the repaired features. */
  readonly features: readonly string[];
  /** Log names of features that describe the reference and stay as measured. */
  readonly kept: readonly string[];
  readonly #model: FeatureModel;
  /** Weights of a gain, by the number of features repaired before. */
  readonly #weights: readonly number[];

  /** @throws {AnyvmafError} `model` if a feature of the damage, none or too many have a known value for a perfect copy */
  constructor(model: FeatureModel) {
    const unknown = model.inputs.find(
      ({ feature }) => !ONE_WHEN_PERFECT.test(feature) && !AS_IN_REFERENCE.test(feature),
    );
    if (unknown)
      throw modelError(
        `The model ${quoted(model.source)} reads ${unknown.logName}, whose value for a perfect copy is not known, so its ` +
          'loss cannot be divided; use vmaf_v0.6.1.',
      );
    const repaired = model.inputs.filter(({ feature }) => ONE_WHEN_PERFECT.test(feature));
    this.#model = model;
    this.features = [...new Set(repaired.map(({ logName }) => logName))];
    this.kept = model.inputs.map(({ logName }) => logName).filter((name) => !this.features.includes(name));
    const count = this.features.length;
    if (count === 0 || count > MAX_FEATURES)
      throw modelError(
        `The model ${quoted(model.source)} reads ${count} features with a known value for a perfect copy, but a score can be ` +
          `explained by 1 to ${MAX_FEATURES} of them; use vmaf_v0.6.1.`,
      );
    // k! (n - 1 - k)! / n!
    const weights: number[] = [1 / count];
    for (let k = 1; k < count; k++) weights.push(((weights[k - 1] ?? 0) * k) / (count - k));
    this.#weights = weights;
  }

  /**
   * @param metrics one frame's values by log name
   * @returns its score, that of a perfect copy with the same motion, and the points that each of {@link features} costs;
   * negative if it helps
   */
  explain(metrics: Readonly<Record<string, number>>) {
    const count = this.features.length;
    const scores = new Float64Array(2 ** count);
    for (let subset = 0; subset < scores.length; subset++) {
      const values: Record<string, number> = { ...metrics };
      this.features.forEach((name, i) => {
        if (subset & (1 << i)) values[name] = 1;
      });
      scores[subset] = this.#model.predict(values);
    }
    const points = this.features.map((_, i) => {
      const bit = 1 << i;
      let sum = 0;
      for (let subset = 0; subset < scores.length; subset++) {
        if (subset & bit) continue;
        const gain = (scores[subset | bit] ?? Number.NaN) - (scores[subset] ?? Number.NaN);
        sum += (this.#weights[bits(subset)] ?? 0) * gain;
      }
      return sum;
    });
    return { score: scores[0] ?? Number.NaN, ceiling: scores.at(-1) ?? Number.NaN, points };
  }
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}
