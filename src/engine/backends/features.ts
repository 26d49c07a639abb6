/**
 * @module engine/backends/features
 * Maps requested extractors to the backend's measurements and their places in its records.
 */
import type { Compat } from '../../core/choices.js';
import type { ScoredFormat } from '../../core/colour.js';
import { AnyvmafError } from '../../core/errors.js';
import type { FeatureSpec } from '../../metrics/extractors.js';
import { metricOf } from '../../metrics/index.js';
import type { ExtractorInstance, Metric, Variant } from '../../metrics/metric.js';
import { coreCalls, flagOption } from '../../metrics/metric.js';
import { logName } from '../../metrics/options.js';
import { type ExtractionPlan, type RecordLayout, recordLayout } from './measurer.js';

export interface BoundExtractor {
  readonly instance: ExtractorInstance;
  /** Index of its first double within a record; -1 if it needs no measurements. */
  readonly column: number;
  readonly fields: number;
  readonly features: readonly FeatureSpec[];
}

export interface FeaturePlan {
  readonly extraction: ExtractionPlan;
  readonly layout: RecordLayout;
  readonly compat: Compat;
  /** Distinct instances in order of registration. */
  readonly extractors: readonly BoundExtractor[];
  /** Log names of per-frame features in libvmaf's order: known with the frame, with the next, or at the end. */
  readonly names: readonly string[];
  /** As {@link names} for a single frame: features that need the next frame are then known at the end. */
  readonly namesOfOne: readonly string[];
  /** Scores of picture models, which records hold unchanged; the last of {@link names}. */
  readonly pictureNames: readonly string[];
  /** Log names of whole-sequence values. */
  readonly aggregateNames: readonly string[];
  /** Full sentences for the user. */
  readonly warnings: readonly string[];
}

/**
 * @param instances in order of registration: extractors of the models, then those requested by name
 * @param pictures names of picture models' scores, and whether these models read chroma
 * @throws {AnyvmafError} `feature` if an extractor does not support its options
 */
export function planFeatures(
  instances: readonly ExtractorInstance[],
  format: ScoredFormat,
  compat: Compat,
  pictures: { readonly names: readonly string[]; readonly chroma: boolean } = { names: [], chroma: false },
): FeaturePlan {
  const { distinct, warnings } = registerOnce(instances);
  const variants = new Map<Metric, Variant[]>();
  const places = distinct.map((instance) =>
    addVariant(variants, metricOf(instance), measured(instance, format, compat)),
  );
  const { calls, columns } = layOut(variants, format);
  const extraction = {
    format,
    calls,
    ...(pictures.names.length > 0 && {
      pictures: { fields: pictures.names.length, chroma: pictures.chroma },
    }),
  };
  const layout = recordLayout(extraction);
  const extractors = distinct.map((instance, i) => ({
    instance,
    ...placeOf(columns.get(metricOf(instance)), places[i]),
    features: emittedFeatures(instance, compat, format),
  }));
  const namesOf = (...emitted: readonly FeatureSpec['emitted'][]): string[] =>
    extractors.flatMap(({ instance, features }) =>
      features
        .filter((feature) => emitted.includes(emissionOf(feature, instance)))
        .map((feature) => logName(feature, instance.suffix)),
    );
  return {
    extraction,
    layout,
    compat,
    extractors,
    names: [...namesOf('frame'), ...namesOf('next'), ...namesOf('flush'), ...pictures.names],
    namesOfOne: [...namesOf('frame'), ...namesOf('next', 'flush'), ...pictures.names],
    pictureNames: pictures.names,
    aggregateNames: namesOf('sequence'),
    warnings: [
      ...new Set([...warnings, ...distinct.flatMap((each) => metricOf(each).warning?.(each) ?? [])]),
    ],
  };
}

/** If a model requires an unsupported extractor, the error names the model. */
function measured(instance: ExtractorInstance, format: ScoredFormat, compat: Compat): Variant | null {
  try {
    return metricOf(instance).measure(instance, format, compat);
  } catch (error) {
    if (!(error instanceof AnyvmafError) || !instance.where.startsWith('model')) throw error;
    throw new AnyvmafError(error.code, `${error.message} The ${instance.where} needs it.`);
  }
}

function emissionOf({ emitted, atOnceWith }: FeatureSpec, instance: ExtractorInstance) {
  return atOnceWith !== undefined && flagOption(instance, atOnceWith) ? 'frame' : emitted;
}

function emittedFeatures(instance: ExtractorInstance, compat: Compat, format: ScoredFormat) {
  const { spec, given } = instance;
  const upTo30 = compat === 'libvmaf-3.0';
  const isOn = (option: string): boolean => {
    if (upTo30 && !given.has(option) && spec.onUpTo30?.includes(option)) return true;
    return flagOption(instance, option);
  };
  const features = (upTo30 && spec.featuresUpTo30) || spec.features;
  const timed = format.frameRate !== undefined || Boolean(instance.options.fps);
  return features.filter(
    ({ when, chroma, stills }) =>
      when.every(isOn) && !(chroma && format.chroma === '400') && !(stills && timed),
  );
}

/** Like libvmaf, drops extractors whose key is already registered, regardless of other options. */
function registerOnce(instances: readonly ExtractorInstance[]): {
  distinct: readonly ExtractorInstance[];
  warnings: readonly string[];
} {
  const registered = new Map<string, ExtractorInstance>();
  const warnings = new Set<string>();
  for (const instance of instances) {
    const earlier = registered.get(instance.key);
    if (!earlier) {
      registered.set(instance.key, instance);
      continue;
    }
    const ignored = instance.spec.options
      .map(({ name }) => name)
      .filter((name) => earlier.options[name] !== instance.options[name]);
    if (ignored.length > 0) {
      warnings.add(
        `The ${instance.spec.name} extractor is requested twice with different ${ignored.join(', ')}, which its ` +
          'feature names do not show; the first is used, as in libvmaf.',
      );
    }
  }
  return { distinct: [...registered.values()], warnings: [...warnings] };
}

type Columns = Pick<BoundExtractor, 'column' | 'fields'>;

/** Finds or adds a variant of a metric. @returns its number; `undefined` if there is nothing to measure */
function addVariant(all: Map<Metric, Variant[]>, metric: Metric, wanted: Variant | null): number | undefined {
  if (wanted === null) return undefined;
  const variants = all.get(metric) ?? [];
  all.set(metric, variants);
  const index = variants.findIndex((have) => sameVariant(have, wanted));
  const have = variants[index];
  if (!have) return variants.push(wanted) - 1;
  const extent = have.extent.map((part, i) => Math.max(part, wanted.extent[i] ?? part));
  variants[index] = { ...have, extent };
  return index;
}

/** The calls for all variants, and the doubles of each metric's first variant in a record. */
function layOut(all: ReadonlyMap<Metric, readonly Variant[]>, format: ScoredFormat) {
  let length = 0;
  const columns = new Map<Metric, Columns>();
  const calls = [...all].flatMap(([metric, variants]) => {
    const own = coreCalls(metric, variants, format);
    const fields = own.reduce((sum, call) => sum + call.fields, 0);
    columns.set(metric, { column: length, fields: fields / variants.length });
    length += fields;
    return own;
  });
  return { calls, columns };
}

function placeOf(first: Columns | undefined, variant: number | undefined): Columns {
  if (!first || variant === undefined) return { column: -1, fields: 0 };
  return { ...first, column: first.column + variant * first.fields };
}

/** Whether both can share a measurement; those that write files never can. */
function sameVariant(a: Variant, b: Variant): boolean {
  if (a.heatmaps || b.heatmaps) return false;
  return a.options.every((value, i) => value === b.options[i]);
}
