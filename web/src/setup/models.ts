/**
 * @module web/setup/models
 * The models on offer, their combinations, and summaries of settings.
 */
import { formatRange } from 'anyvmaf/core/frame';
import { DEFAULT_PAIRING, PAIRING_SETTINGS, type PairingSetting, type Settings } from '../session.js';
import { text } from '../text.js';
import { valueText } from './fixes.js';

/** libvmaf's model strings, with distinct names so that they can be combined. */
export const MODELS = {
  auto: 'auto',
  hd: 'version=vmaf_v0.6.1',
  uhd: 'version=vmaf_4k_v0.6.1:name=vmaf_4k',
  phone: 'version=vmaf_v0.6.1:enable_transform=true:name=vmaf_phone',
  neg: 'version=vmaf_v0.6.1neg:name=vmaf_neg',
  uhdNeg: 'version=vmaf_4k_v0.6.1neg:name=vmaf_4k_neg',
  bootstrap: 'version=vmaf_b_v0.6.3:name=vmaf_b',
  v1: 'version=vmaf_v1.0.16_3d0h:name=vmaf_v1',
  v1Phone: 'version=vmaf_v1.0.16_5d0h:name=vmaf_v1_phone',
  v1Uhd: 'version=vmaf_v1.0.16_1d5h_2160:name=vmaf_v1_4k',
  v1UhdFar: 'version=vmaf_v1.0.16_3d0h_2160:name=vmaf_v1_4k_far',
  v1Hfr: 'version=vmaf_v1.0.16_hfr_3d0h:name=vmaf_v1_hfr',
  v1HfrPhone: 'version=vmaf_v1.0.16_hfr_5d0h:name=vmaf_v1_hfr_phone',
  v1HfrUhd: 'version=vmaf_v1.0.16_hfr_1d5h_2160:name=vmaf_v1_hfr_4k',
  v1HfrUhdFar: 'version=vmaf_v1.0.16_hfr_3d0h_2160:name=vmaf_v1_hfr_4k_far',
} as const;

/** Metrics with a checkbox, by extractor. */
export type MetricKey = keyof typeof text.settings.metrics;
export const METRIC_KEYS = Object.keys(text.settings.metrics) as MetricKey[];

/** Ticks or unticks a metric; those with a checkbox come first, then typed ones. */
export function withMetric(features: readonly string[], key: MetricKey, on: boolean): readonly string[] {
  const ticked = METRIC_KEYS.filter((metric) => (metric === key ? on : features.includes(metric)));
  return [...ticked, ...typedMetrics(features)];
}

export function typedMetrics(features: readonly string[]): readonly string[] {
  return features.filter((feature) => !METRIC_KEYS.some((key) => key === feature));
}

export type ModelKey = keyof typeof MODELS;
export const MODEL_KEYS = Object.keys(MODELS) as ModelKey[];
/** Folded unless one is chosen. */
export const FURTHER_KEYS: readonly ModelKey[] = [
  'v1UhdFar',
  'v1Hfr',
  'v1HfrPhone',
  'v1HfrUhd',
  'v1HfrUhdFar',
];
/** Built in; needs no reference. */
export const TINY_NO_REFERENCE = 'nr_vmaf_v0.6.1';
/** Both are named `vmaf`, so only one can be chosen. */
const EITHER: readonly ModelKey[] = ['auto', 'hd'];

/** Ticks or unticks a model; unlisted models stay. */
export function withModel(models: readonly string[], key: ModelKey, on: boolean): readonly string[] {
  const model = MODELS[key];
  const out = EITHER.includes(key) ? EITHER.map((other): string => MODELS[other]) : [model as string];
  const rest = models.filter((name) => !(on ? out : [model as string]).includes(name));
  const known = MODEL_KEYS.map((listed): string => MODELS[listed]);
  const all = on ? [...rest, model] : rest;
  return [...known.filter((name) => all.includes(name)), ...all.filter((name) => !known.includes(name))];
}

function modelName(model: string): string {
  const key = MODEL_KEYS.find((key) => MODELS[key] === model);
  return key ? (text.settings.model[key][0] ?? model) : model.replace(/^version=/, '');
}

/** Changes of settings in words, a phrase each. */
export function changeWords(change: Partial<Settings>): readonly string[] {
  const changed = PAIRING_SETTINGS.filter((name) => name in change);
  return [
    ...(change.models?.map(modelName) ?? []),
    ...changed.flatMap((name) => {
      const unset: Readonly<Partial<Record<PairingSetting, string>>> = text.settings.unset;
      if ((change[name] ?? null) === null || change[name] === false) return unset[name] ?? [];
      const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = text.settings.choices;
      const summaries: Readonly<Record<string, (value: string) => string>> = text.settings.summaries;
      const value = valueText(change[name] ?? null);
      const words = choices[name]?.[value] ?? value;
      return summaries[name]?.(words) ?? (name in choices ? words : []);
    }),
  ];
}

/** Per encode, its pairing settings that not all encodes share; empty if it has the defaults. */
export function differingWords(all: readonly (Settings | undefined)[]): readonly string[] {
  const textOf = (settings: Settings | undefined, name: PairingSetting) =>
    JSON.stringify(settings?.[name] ?? null);
  const differ = PAIRING_SETTINGS.filter((name) => new Set(all.map((own) => textOf(own, name))).size > 1);
  return all.map((settings) => {
    const set = settings ? differ.filter((name) => settings[name] !== DEFAULT_PAIRING[name]) : [];
    return changeWords(Object.fromEntries(set.map((name) => [name, settings?.[name]]))).join(', ');
  });
}

/** Pairing settings that the summary lists if set. */
const PICTURES = [
  'crop',
  'cropReference',
  'cropDistorted',
  'colorRange',
  'pixelFormat',
  'trackReference',
  'trackDistorted',
] as const satisfies readonly PairingSetting[];

export function summary(settings: Settings): readonly string[] {
  const { models, features, offset, range, subsample, threads } = settings;
  const names = models.map(modelName);
  const metrics = features.map((feature) => {
    const key = METRIC_KEYS.find((key) => key === feature);
    return key
      ? (text.settings.metrics[key][0] ?? key)
      : (feature.split('=', 1)[0]?.toUpperCase() ?? feature);
  });
  return [
    [...names, ...metrics].join(' + ') || text.settings.noModel,
    range ? text.settings.summaries.range(formatRange(range)) : text.settings.summaryAll,
    text.settings.summaries.offset(String(offset)),
    ...changeWords(
      Object.fromEntries(
        PICTURES.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])),
      ),
    ),
    ...(subsample > 1 ? [text.settings.summarySubsample(subsample)] : []),
    ...(threads === null ? [] : [text.settings.summaryThreads(threads)]),
  ];
}
