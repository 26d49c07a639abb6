/**
 * @module mcp/scoring/attribution
 * What each feature costs a score: the loss against a perfect copy, shared out among the features by Shapley values.
 *
 * A perfect copy has ADM and VIF 1 at every scale and the motion of the reference. The model's score for these is the
 * ceiling of a frame. Setting some features to 1 and leaving the others as measured gives a score for every subset; a
 * feature's share is its average gain over all orders in which features can be repaired one by one. It is the only
 * division that is symmetric, gives nothing to a feature that changes nothing, and adds up: ceiling minus score, in
 * points, to rounding. It explains the model, not the eye.
 */
import { quoted } from '../../core/printable.js';
import { AnyvmafError, type FeatureModel } from '../../index.js';

/** Shares of one frame. */
export interface FrameAttribution {
  readonly score: number;
  /** The score of a perfect copy with the same motion. */
  readonly ceiling: number;
  /** Points that each feature costs, in the order of {@link Attribution.features}; negative where it helps. */
  readonly points: readonly number[];
}

/** More features than this would take too many scores: they double with each. */
const MAX_FEATURES = 10;

/** Internal names of features that are 1 in a perfect copy. */
const ONE_WHEN_PERFECT = /(^|_)(adm|adm2|adm3|adm_scale[0-3]|vif|vif_scale[0-3])(_score)?$/;

/** Shares out the loss of frames for one model. */
export class Attribution {
  /** Log names of the features that are repaired. */
  readonly features: readonly string[];
  /** Log names of those that describe the reference rather than the damage, and stay as measured. */
  readonly kept: readonly string[];
  readonly #model: FeatureModel;
  /** Weight of a feature's gain, by the number of features repaired before it. */
  readonly #weights: readonly number[];

  /** @throws {AnyvmafError} `model` when the model reads nothing that has a value for a perfect copy, or too much */
  constructor(model: FeatureModel) {
    const repaired = model.inputs.filter(({ feature }) => ONE_WHEN_PERFECT.test(feature));
    this.#model = model;
    this.features = [...new Set(repaired.map(({ logName }) => logName))];
    this.kept = model.inputs.map(({ logName }) => logName).filter((name) => !this.features.includes(name));
    const count = this.features.length;
    if (count === 0 || count > MAX_FEATURES) {
      throw new AnyvmafError(
        'model',
        `The model ${quoted(model.source)} reads ${count} features with a known value for a perfect copy, but a score can be ` +
          `explained by 1 to ${MAX_FEATURES} of them; explain it with vmaf_v0.6.1.`,
      );
    }
    // k! (n - 1 - k)! / n!
    const weights: number[] = [1 / count];
    for (let k = 1; k < count; k++) weights.push(((weights[k - 1] ?? 0) * k) / (count - k));
    this.#weights = weights;
  }

  /** @param metrics one frame's values by log name */
  explain(metrics: Readonly<Record<string, number>>): FrameAttribution {
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
