/**
 * @module engine/plan/features
 * From the extractors that models and users ask for to what the backend must measure, and where each finds it.
 */

import type { Compat } from '../../core/choices.js';
import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { CoreCall } from '../../core/kernel.js';
import type { FeatureSpec } from '../../metrics/extractors.js';
import { metricOf } from '../../metrics/index.js';
import {
  coreCalls,
  type ExtractorInstance,
  flagOption,
  type Metric,
  type Variant,
} from '../../metrics/metric.js';
import { logName } from '../../metrics/names.js';
import { type ExtractionPlan, type RecordLayout, recordLayout } from '../backends/types.js';

/** An extractor instance and where its measurements stand in a frame's record. */
export interface BoundExtractor {
  readonly instance: ExtractorInstance;
  /** Index of its first double within a record; -1 when it needs none. */
  readonly column: number;
  /** Doubles of it, from there on. */
  readonly fields: number;
  /** What it emits in this run, in order of emission. */
  readonly features: readonly FeatureSpec[];
}

/** Everything that is to be measured and finished. */
export interface FeaturePlan {
  /** What the backend measures; what several instances need is there once. */
  readonly extraction: ExtractionPlan;
  /** Layout of the records that the backend makes of it. */
  readonly layout: RecordLayout;
  readonly compat: Compat;
  /** Distinct instances in order of registration. */
  readonly extractors: readonly BoundExtractor[];
  /** Log names of the per-frame features in libvmaf's order: those of each frame, those known with the next, those known at the end. */
  readonly names: readonly string[];
  /** The same in libvmaf's order for a single frame: what the next one would tell is known at the end, with the rest. */
  readonly namesOfOne: readonly string[];
  /** Names of what picture models give, which stand in the records as they are; they come last of {@link names}. */
  readonly pictureNames: readonly string[];
  /** Log names of the values for the whole sequence. */
  readonly aggregateNames: readonly string[];
  /** What a user should know about the requests: full sentences. */
  readonly warnings: readonly string[];
}

/**
 * Plans a run.
 * @param instances extractors in order of registration: those of the models, then those asked for by name
 * @param pictures names of what picture models give, and whether they look at chroma
 * @throws {AnyvmafError} `feature` when an extractor cannot work with its options
 */
export function planFeatures(
  instances: readonly ExtractorInstance[],
  format: VideoFormat,
  compat: Compat,
  pictures: { readonly names: readonly string[]; readonly chroma: boolean } = { names: [], chroma: false },
): FeaturePlan {
  const { distinct, warnings } = registerOnce(instances);
  const demand = new Demand();
  const places = distinct.map((instance) => demand.add(instance, measured(instance, format, compat)));
  const { calls, placeOf } = demand.plan(format);
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
    ...placeOf(places[i]),
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

/** What to measure for an instance; when it cannot work and nobody named it, the refusal says who did. */
function measured(instance: ExtractorInstance, format: VideoFormat, compat: Compat): Variant | null {
  try {
    return metricOf(instance).measure(instance, format, compat);
  } catch (error) {
    if (!(error instanceof AnyvmafError) || !instance.where.startsWith('model')) throw error;
    throw new AnyvmafError(error.code, `${error.message} The ${instance.where} asks for it.`);
  }
}

/** When a feature of an instance is known. */
function emissionOf(
  { emitted, atOnceWith }: FeatureSpec,
  instance: ExtractorInstance,
): FeatureSpec['emitted'] {
  return atOnceWith !== undefined && flagOption(instance, atOnceWith) ? 'frame' : emitted;
}

/** The features that an extractor emits with its options on videos of a format, in order. */
function emittedFeatures(
  instance: ExtractorInstance,
  compat: Compat,
  format: VideoFormat,
): readonly FeatureSpec[] {
  const { spec, given } = instance;
  const upTo30 = compat === 'libvmaf-3.0';
  const isOn = (option: string): boolean => {
    if (upTo30 && !given.has(option) && spec.onUpTo30?.includes(option)) return true;
    return flagOption(instance, option);
  };
  const features = (upTo30 && spec.featuresUpTo30) || spec.features;
  return features.filter(({ when, chroma }) => when.every(isOn) && !(chroma && format.chroma === '400'));
}

/** As libvmaf registers extractors: one whose key is already there is dropped, whatever else its options say. */
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
        `The ${instance.spec.name} extractor is asked for twice with different ${ignored.join(', ')}, which its ` +
          'feature names do not show; the first request counts, as in libvmaf.',
      );
    }
  }
  return { distinct: [...registered.values()], warnings: [...warnings] };
}

/** A variant among those of its metric. */
interface Place {
  readonly metric: Metric;
  readonly index: number;
}

/** Collects the distinct variants of each metric. */
class Demand {
  readonly #variants = new Map<Metric, Variant[]>();

  /** Finds or adds a variant; `undefined` where nothing is to be measured. */
  add(instance: ExtractorInstance, wanted: Variant | null): Place | undefined {
    if (wanted === null) return undefined;
    const metric = metricOf(instance);
    const variants = this.#variants.get(metric) ?? [];
    this.#variants.set(metric, variants);
    const index = variants.findIndex((have) => sameVariant(have, wanted));
    const have = variants[index];
    if (!have) return { metric, index: variants.push(wanted) - 1 };
    const extent = have.extent.map((part, i) => Math.max(part, wanted.extent[i] ?? part));
    variants[index] = { ...have, extent };
    return { metric, index };
  }

  /** The calls for all of them, and where in a record each place has its doubles. */
  plan(format: VideoFormat): {
    readonly calls: readonly CoreCall[];
    placeOf(place: Place | undefined): Pick<BoundExtractor, 'column' | 'fields'>;
  } {
    let length = 0;
    const columns = new Map<Metric, Pick<BoundExtractor, 'column' | 'fields'>>();
    const calls = [...this.#variants].flatMap(([metric, variants]) => {
      const own = coreCalls(metric, variants, format);
      const fields = own.reduce((sum, call) => sum + call.fields, 0);
      columns.set(metric, { column: length, fields: fields / variants.length });
      length += fields;
      return own;
    });
    return {
      calls,
      placeOf(place) {
        const first = place && columns.get(place.metric);
        if (!first) return { column: -1, fields: 0 };
        return { ...first, column: first.column + place.index * first.fields };
      },
    };
  }
}

/** Whether one measurement serves both; one that also fills files is for itself. */
function sameVariant(a: Variant, b: Variant): boolean {
  if (a.heatmaps || b.heatmaps) return false;
  return a.options.every((value, i) => value === b.options[i]);
}
