/**
 * @module models/single
 * Predicts with a single model from feature values, without a video.
 */
import { requireText } from '../core/arguments.js';
import { AnyvmafError } from '../core/errors.js';
import { quoted } from '../core/printable.js';
import { loadModels } from './load.js';
import { Predictor } from './predict.js';
import type { FeatureModel, LoadedModel, ModelInput, ModelStore } from './types.js';

/** Loads a model from a string in libvmaf's grammar. Throws as {@link loadModels}. */
export async function openModel(text: string, store: ModelStore): Promise<FeatureModel> {
  requireText('model', text, 'a model string such as version=vmaf_v0.6.1');
  const [model] = await loadModels([text], store);
  const [main] = model?.members ?? [];
  if (!model || !main) throw new AnyvmafError('internal', `The model ${quoted(text)} holds no model.`);
  const inputs = main.inputs.map(({ instance, feature, logName }, i) => ({
    feature: feature.name,
    logName,
    extractor: instance.spec.name,
    options: main.definition.inputs[i]?.options ?? {},
  }));
  return {
    name: model.name,
    source: model.source,
    kind: model.kind,
    type: main.definition.type,
    inputs,
    clip: main.definition.clip ?? null,
    transform: main.definition.transform ?? null,
    features: [...new Set(main.inputs.map(featureString))],
    predict: scorer(model, inputs),
  };
}

/** Predicts with the main model; ignores a collection's other members. */
function scorer(model: LoadedModel, inputs: FeatureModel['inputs']): FeatureModel['predict'] {
  const names = inputs.map(({ logName }) => logName);
  const { collectionKeys: _, members, ...main } = model;
  const predictor = new Predictor([{ ...main, members: members.slice(0, 1) }], names);
  const values = new Float64Array(names.length);
  const scores = new Float64Array(predictor.names.length);
  return (features) => {
    names.forEach((name, i) => {
      const value = features[name];
      if (typeof value !== 'number') {
        throw new AnyvmafError(
          'feature',
          `The model ${quoted(model.source)} reads ${names.join(', ')}, but there is no value for ${name}.`,
        );
      }
      values[i] = value;
    });
    predictor.predict(values, scores);
    return scores[0] ?? Number.NaN;
  };
}

/** The feature string of an input: its extractor with all non-default options. */
function featureString({ instance: { spec, options } }: ModelInput): string {
  const set = spec.options.filter(({ name, default: byDefault }) => options[name] !== byDefault);
  const texts = set.map(({ name }) => `${name}=${options[name]}`);
  return texts.length === 0 ? spec.name : `${spec.name}=${texts.join(':')}`;
}
