/**
 * @module models/predict
 * Predicts a frame's scores from its features for all models of a run, with transforms and clips (spec 5.3 to 5.6).
 */
import { modelError } from '../core/errors.js';
import { percentile } from '../core/numbers.js';
import { quoted } from '../core/printable.js';
import { evaluate } from './libsvm.js';
import type { LoadedMember, LoadedModel, ModelDefinition, ScoreTransform } from './types.js';

/** Half the step of the numerical slope by which transform and clip scale a collection's deviation. */
const DELTA = 0.01;

export class Predictor {
  /** Keys of the scores in libvmaf's order: each model's, then the members and statistics of each collection. */
  readonly names: readonly string[];
  readonly #models: readonly MemberPredictor[];
  readonly #collections: readonly (readonly MemberPredictor[])[];

  /**
   * @param featureNames log names of the values for {@link predict}, in order
   * @throws {AnyvmafError} `model` if a model reads a feature that is not among them
   */
  constructor(models: readonly LoadedModel[], featureNames: readonly string[]) {
    const bound = models.map((model) =>
      model.members.map((member) => new MemberPredictor(model, member, featureNames)),
    );
    this.#models = bound.flatMap((members) => members.slice(0, 1));
    this.#collections = bound.map((members) => members.slice(1)).filter((members) => members.length > 0);
    this.names = [
      ...models.map(({ name }) => name),
      ...models.flatMap(({ collectionKeys: keys }) =>
        keys ? [...keys.members, keys.bagging, keys.stddev, keys.ciLow, keys.ciHigh] : [],
      ),
    ];
  }

  /**
   * @param features one frame's values, parallel to `featureNames`
   * @param scores receives `names.length` values
   */
  predict(features: Float64Array, scores: Float64Array): void {
    let at = 0;
    for (const model of this.#models) scores[at++] = model.finish(model.raw(features));
    for (const members of this.#collections) {
      const raw = members.map((member) => member.raw(features));
      members.forEach((member, i) => {
        scores[at++] = member.finish(raw[i] ?? Number.NaN);
      });
      for (const statistic of statistics(raw, members[0])) scores[at++] = statistic;
    }
  }
}

/** Mean, deviation and confidence limits of a collection's raw scores, finished by its first model. */
function statistics(raw: readonly number[], first: MemberPredictor | undefined): readonly number[] {
  const finish = (score: number): number => first?.finish(score) ?? score;
  const count = raw.length;
  const mean = raw.reduce((sum, score) => sum + score, 0) / count;
  const variance = raw.reduce((sum, score) => sum + (score - mean) * (score - mean), 0) / count;
  const slope = (finish(mean + DELTA) - finish(mean - DELTA)) / (2 * DELTA);
  const sorted = [...raw].sort((a, b) => a - b);
  const [low, high] = [percentile(sorted, 2.5), percentile(sorted, 97.5)];
  return [finish(mean), Math.sqrt(variance) * slope, finish(low), finish(high)];
}

/** One regression, with the indices of its inputs. */
class MemberPredictor {
  readonly #definition: ModelDefinition;
  readonly #disableClip: boolean;
  readonly #transforms: boolean;
  readonly #places: readonly number[];
  readonly #inputs: Float64Array;

  constructor(model: LoadedModel, { definition, inputs }: LoadedMember, featureNames: readonly string[]) {
    this.#definition = definition;
    this.#disableClip = model.disableClip;
    this.#transforms = model.enableTransform || definition.transform?.enabled === true;
    this.#inputs = new Float64Array(inputs.length);
    this.#places = inputs.map(({ logName, instance }) => {
      const place = featureNames.indexOf(logName);
      if (place >= 0) return place;
      throw modelError(
        `Model ${quoted(model.source)} reads the feature ${logName}, which the ${instance.spec.name} extractor does not ` +
          'provide in this run: its options exclude it, or libvmaf 3.0 lacks it.',
      );
    });
  }

  /** The denormalised score of the regression, before transform and clip. */
  raw(features: Float64Array): number {
    const { normalisation, svm } = this.#definition;
    const inputs = this.#inputs;
    for (let i = 0; i < inputs.length; i++) {
      const feature = features[this.#places[i] ?? -1] ?? Number.NaN;
      const scale = normalisation?.inputs[i];
      inputs[i] = scale ? scale.slope * feature + scale.intercept : feature;
    }
    this.#correctChroma();
    const prediction = evaluate(svm, inputs);
    return normalisation
      ? (prediction - normalisation.score.intercept) / normalisation.score.slope
      : prediction;
  }

  /** Applies transform and clip if the model has them and the request does not disable them. */
  finish(raw: number): number {
    const { transform, clip: range } = this.#definition;
    const score = transform && this.#transforms ? applyTransform(transform, raw) : raw;
    return range && !this.#disableClip ? clip(range, score) : score;
  }

  /** The v1 models treat a chroma distortion of exactly 0 as missing, and estimate it from adm3. */
  #correctChroma(): void {
    const { chromaCorrection: parameter, inputs, normalisation } = this.#definition;
    if (parameter === undefined) return;
    const find = (part: string) => {
      const index = inputs.findIndex(({ feature }) => feature.includes(part));
      const { slope, intercept } = normalisation?.inputs[index] ?? { slope: 1, intercept: 0 };
      return { index, slope, intercept, value: ((this.#inputs[index] ?? Number.NaN) - intercept) / slope };
    };
    const chroma = find('speed_chroma');
    if (chroma.value !== 0) return;
    this.#inputs[chroma.index] =
      chroma.slope * (-parameter * find('adm3').value + parameter) + chroma.intercept;
  }
}

/** Applies a model's polynomial, piecewise linear curve and bounds to `y`; the caller checks that it is enabled. */
export function applyTransform(transform: ScoreTransform, y: number): number {
  const { p0, p1, p2, knots, outLteIn, outGteIn } = transform;
  let out = y;
  if (p0 !== undefined || p1 !== undefined || p2 !== undefined) {
    out = 0;
    if (p0 !== undefined) out += p0;
    if (p1 !== undefined) out += p1 * y;
    if (p2 !== undefined) out += p2 * y * y;
  }
  if (knots && knots.length > 1) out = piecewise(knots, out);
  if (outLteIn && out > y) out = y;
  if (outGteIn && out < y) out = y;
  return out;
}

/**
 * The piecewise linear curve through the knots, extrapolated at both ends. As in libvmaf, a segment that does not rise
 * ends the curve, a knot belongs to the segment on its right, and the value outside the curve is 0.
 */
function piecewise(knots: readonly (readonly [number, number])[], x: number): number {
  let result = 0;
  const last = knots.length - 2;
  for (let k = 0; k <= last; k++) {
    const [x0, y0] = knots[k] ?? [0, 0];
    const [x1, y1] = knots[k + 1] ?? [0, 0];
    if (!(x0 < x1 && y0 <= y1)) return result;
    const hit = (x0 <= x && x <= x1) || (k === 0 && x < x0) || (k === last && x > x1);
    if (!hit) continue;
    if (y0 === y1) {
      result = y0;
    } else {
      const slope = x0 === 0 ? (y1 - y0) / x1 : (y1 - y0) / (x1 - x0);
      const base = x0 === 0 ? y0 : y0 - x0 * slope;
      result = slope * x + base;
    }
  }
  return result;
}

export function clip([low, high]: readonly [number, number], y: number): number {
  const raised = y < low ? low : y;
  return raised > high ? high : raised;
}
