/**
 * @module engine/plan/plan
 * Plans a run: models, features, extractors, and the backend's measurements.
 */
import type { Compat } from '../../core/choices.js';
import type { ScoredFormat } from '../../core/colour.js';
import { AnyvmafError } from '../../core/errors.js';
import type { CoreModules } from '../../core/module.js';
import { quoted } from '../../core/printable.js';
import { type ExtractorInstance, parseFeature } from '../../metrics/options.js';
import { DEFAULT_MODEL, loadModels } from '../../models/load.js';
import { Predictor } from '../../models/predict.js';
import type { LoadedModel } from '../../models/types.js';
import type { ReportModel } from '../../report/types.js';
import { type FeaturePlan, planFeatures } from '../backends/features.js';
import type { TinyPlan, TinyRequest } from '../backends/tiny.js';
import type { ModelOptions } from '../contract/options.js';
import type { Platform } from '../contract/platform.js';
import {
  chooseModel,
  encodeSettings,
  isOpen,
  isOpenToEncode,
  type ScoredSize,
  settle,
  withEncode,
} from './model-texts.js';

/** Models and extractors of a run, before any video is known. */
export interface Requested {
  /** Models that predict. */
  readonly models: readonly LoadedModel[];
  /** Reasons for the models that `auto` chose, by score name. */
  readonly chosen: ReadonlyMap<string, string>;
  /** Extractors in libvmaf's order of registration: those of the models, then those requested by name. */
  readonly extractors: readonly ExtractorInstance[];
  readonly tiny?: TinyRequest;
}

/** The part that preflight needs; installed programs name no extractors. */
export type RequestedModels = Pick<Requested, 'models'> & Partial<Pick<Requested, 'extractors'>>;

export interface RunPlan {
  readonly features: FeaturePlan;
  readonly models: readonly LoadedModel[];
  readonly chosen: Requested['chosen'];
  readonly predictor: Predictor;
  readonly tiny?: TinyPlan;
  /** Names of all metrics in libvmaf's order: features, then scores, then those of tiny models on features. */
  readonly metrics: readonly string[];
  /** Notes on the request, full sentences. */
  readonly warnings: readonly string[];
}

const NOTHING = 'No model or feature was requested, so pairs were only counted; name one.';

/**
 * @param size returns the scored size; called only if a model depends on it
 * @throws {AnyvmafError} `model`, `feature` or `io` for a model or feature that cannot be loaded
 */
export async function loadRequested(
  options: ModelOptions,
  platform: Pick<Platform, 'models' | 'tiny'>,
  size: () => Promise<ScoredSize> | ScoredSize,
): Promise<Requested> {
  const { predicts } = options;
  const named = options.features.map((text) => parseFeature(text));
  const texts = options.single ? [] : (options.models ?? (predicts ? [DEFAULT_MODEL] : []));
  const choice = [...texts, ...options.alsoModels].some(isOpen) ? chooseModel(await size()) : undefined;
  const settledText = (text: string) => (choice ? settle(text, choice) : text);
  const settled = texts.map(settledText);
  const also = await loadModels(options.alsoModels.map(settledText), platform.models);
  const plain = await loadModels(settled, platform.models);
  const told = await textsForEncode(settled, plain, options, size);
  const models = told === settled ? plain : await loadModels(told, platform.models);
  const tiny = options.tiny.length > 0 ? await attach(options, platform) : undefined;
  const open = choice ? models.filter((_, i) => isOpen(texts[i] ?? '')) : [];
  return {
    chosen: new Map(open.map(({ name }) => [name, choice?.reason ?? ''])),
    models: predicts ? models : [],
    extractors: [
      ...[...models, ...also].flatMap((model) => model.extractors),
      ...named,
      ...(tiny?.extractors ?? []),
    ],
    ...(tiny && { tiny }),
  };
}

/** Adds the encode, if it is scaled up, to VMAF v1 models' strings; returns the same array if nothing changes. */
export async function textsForEncode(
  texts: readonly string[],
  models: readonly LoadedModel[],
  { v1Settings }: Pick<ModelOptions, 'v1Settings'>,
  size: () => Promise<ScoredSize> | ScoredSize,
): Promise<readonly string[]> {
  if (v1Settings === 'plain' || !models.some(isOpenToEncode)) return texts;
  const { encode } = await size();
  if (!encode) return texts;
  return texts.map((text, i) => {
    const model = models[i];
    return model && isOpenToEncode(model) ? withEncode(text, model, encode) : text;
  });
}

/** Imports the code of tiny models only if there are any. */
async function attach(
  { tiny, single }: ModelOptions,
  platform: Pick<Platform, 'tiny'>,
): Promise<TinyRequest> {
  const { attachTiny } = await import('../backends/tiny.js');
  return attachTiny(tiny, platform.tiny, single);
}

/** @throws {AnyvmafError} `feature` for an unsupported format, `model` if two metrics have one name */
export function planRun(requested: Requested, format: ScoredFormat, compat: Compat): RunPlan {
  const tiny = requested.tiny?.plan(format);
  const features = planFeatures(
    requested.extractors,
    format,
    compat,
    tiny && { names: tiny.pictureMetrics, chroma: tiny.chroma },
  );
  const predictor = new Predictor(requested.models, features.names);
  const metrics = [...features.names, ...predictor.names, ...(tiny?.featureMetrics ?? [])];
  const twice = metrics.find((name, i) => metrics.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new AnyvmafError(
      'model',
      `Two metrics would be called ${quoted(twice)}; give the model another name with name=, or a tiny model another name.`,
    );
  }
  const warnings = metrics.length > 0 ? features.warnings : [...features.warnings, NOTHING];
  const { models, chosen } = requested;
  return { features, models, chosen, predictor, ...(tiny && { tiny }), metrics, warnings };
}

export function reportModel(model: LoadedModel, chosen?: RunPlan['chosen']): ReportModel {
  const reason = chosen?.get(model.name);
  const { name, source, disableClip, enableTransform, collectionKeys } = model;
  const inputs = model.members.flatMap((member) => member.inputs.map((input) => input.logName));
  const clip = model.members[0]?.definition.clip;
  const settings = encodeSettings(model);
  return {
    name,
    source,
    ...(reason !== undefined && { chosen: reason }),
    ...(settings !== undefined && { settings }),
    features: [...new Set(inputs)],
    options: { disableClip, enableTransform },
    ...(clip && (clip[0] !== 0 || clip[1] !== 100) && { scoreRange: clip }),
    ...(collectionKeys && {
      collection: {
        members: collectionKeys.members.length,
        bagging: collectionKeys.bagging,
        stddev: collectionKeys.stddev,
        ciLow: collectionKeys.ciLow,
        ciHigh: collectionKeys.ciHigh,
      },
    }),
  };
}

export function reportModels({ models, chosen }: Pick<RunPlan, 'models' | 'chosen'>): ReportModel[] {
  return models.map((model) => reportModel(model, chosen));
}

/** @throws {AnyvmafError} as `loading`; `io` or `internal` if a module cannot be loaded */
export async function loadModules(
  platform: Pick<Platform, 'loadCore'>,
  loading: Promise<Requested>,
): Promise<readonly [Requested, CoreModules]> {
  const [requested, core] = await Promise.all([loading, platform.loadCore()]);
  const colour = requested.extractors.some(({ spec }) => spec.module === 'perceptual');
  return [requested, { core, ...(colour && { perceptual: await platform.loadCore('perceptual') }) }];
}
