/**
 * @module engine/plan/features
 * From the extractors that models and users ask for to what the backend must measure, and where each finds it.
 */

import type { Compat } from '../../core/choices.js';
import { AnyvmafError } from '../../core/errors.js';
import type { VideoFormat } from '../../core/frame.js';
import type { MetricVariant } from '../../core/kernel.js';
import { admCsf } from '../../metrics/adm-csf.js';
import type { FeatureSpec } from '../../metrics/extractors.js';
import { FURTHER } from '../../metrics/finishers/further.js';
import { logName } from '../../metrics/names.js';
import { type ExtractorInstance, flagOption, numberOption } from '../../metrics/options.js';
import {
  ADM_FIELDS,
  type AdmVariant,
  type ExtractionPlan,
  type MotionVariant,
  type RecordLayout,
  recordLayout,
  VIF_FIELDS,
  type VifVariant,
} from '../backends/types.js';

/** An extractor instance and where its measurements stand in a frame's record. */
export interface BoundExtractor {
  readonly instance: ExtractorInstance;
  /** Index of its first double within a record; -1 when it needs none. */
  readonly column: number;
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
  const demand = new Demand(format, compat);
  const places = distinct.map((instance) => addTo(demand, instance));
  const extraction = {
    ...demand.plan(),
    ...(pictures.names.length > 0 && {
      pictures: { fields: pictures.names.length, chroma: pictures.chroma },
    }),
  };
  const layout = recordLayout(extraction);
  const extractors = distinct.map((instance, i) => ({
    instance,
    column: places[i]?.(layout) ?? -1,
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
    warnings: distinct.some(overflows) ? [...warnings, OVERFLOW] : warnings,
  };
}

/** Adds an extractor; when it cannot work and nobody named it, the refusal says who did. */
function addTo(demand: Demand, instance: ExtractorInstance): Place {
  try {
    return demand.add(instance);
  } catch (error) {
    if (!(error instanceof AnyvmafError) || !instance.where.startsWith('model')) throw error;
    throw new AnyvmafError(error.code, `${error.message} The ${instance.where} asks for it.`);
  }
}

/** Whether an extractor's factors do not fit the fixed point it works in: Barten's sensitivities are above 1. */
function overflows(instance: ExtractorInstance): boolean {
  return instance.spec.name === 'adm' && numberOption(instance, 'adm_csf_mode') === 1;
}

const OVERFLOW =
  'The adm extractor overflows with adm_csf_mode=1, in libvmaf too, so its values mean nothing; float_adm takes this mode.';

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
    if (option === 'enable_chroma' && format.chroma === '400') return false;
    if (upTo30 && !given.has(option) && spec.onUpTo30?.includes(option)) return true;
    return flagOption(instance, option);
  };
  const features = (upTo30 && spec.featuresUpTo30) || spec.features;
  return features.filter((feature) => feature.when.every(isOn));
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

/** Finds an instance's first column once the layout is known. */
type Place = (layout: RecordLayout) => number;

const NOWHERE: Place = () => -1;

/** Collects distinct variants. A variant that two instances share is measured in full when one of them needs it so. */
class Demand {
  readonly #format: VideoFormat;
  readonly #compat: Compat;
  readonly #vif: VifVariant[] = [];
  readonly #adm: AdmVariant[] = [];
  readonly #motion: MotionVariant[] = [];
  #psnrPlanes: 0 | 1 | 3 = 0;
  readonly #metrics: MetricVariant[] = [];

  constructor(format: VideoFormat, compat: Compat) {
    this.#format = format;
    this.#compat = compat;
  }

  plan(): ExtractionPlan {
    return {
      format: this.#format,
      vif: this.#vif,
      adm: this.#adm,
      motion: this.#motion,
      psnrPlanes: this.#psnrPlanes,
      metrics: this.#metrics,
    };
  }

  add(instance: ExtractorInstance): Place {
    switch (instance.spec.name) {
      case 'vif':
        return this.#addVif(instance);
      case 'adm':
        return this.#addAdm(instance);
      case 'motion':
        return this.#addMotion(instance);
      case 'psnr':
        return this.#addPsnr(instance);
      default:
        return this.#addMetric(instance);
    }
  }

  #addVif(instance: ExtractorInstance): Place {
    const index = share(
      this.#vif,
      {
        enhnGainLimit: numberOption(instance, 'vif_enhn_gain_limit'),
        skipScale0: flagOption(instance, 'vif_skip_scale0'),
      },
      ['skipScale0'],
    );
    return (layout) => layout.vif + index * VIF_FIELDS;
  }

  #addAdm(instance: ExtractorInstance): Place {
    const csfMode = numberOption(instance, 'adm_csf_mode');
    const variant: AdmVariant = {
      enhnGainLimit: numberOption(instance, 'adm_enhn_gain_limit'),
      noiseWeight: numberOption(instance, 'adm_noise_weight'),
      normViewDist: numberOption(instance, 'adm_norm_view_dist'),
      refDisplayHeight: numberOption(instance, 'adm_ref_display_height'),
      csfMode,
      // The other modes do not look at these two: as if they had their defaults.
      csfScale: csfMode === 1 ? numberOption(instance, 'adm_csf_scale') : 1,
      csfDiagScale: csfMode === 1 ? numberOption(instance, 'adm_csf_diag_scale') : 1,
      skipAim: flagOption(instance, 'adm_skip_aim'),
      skipScale0: flagOption(instance, 'adm_skip_scale0'),
    };
    // Refuses settings without factors now, not at the first frame.
    admCsf(variant);
    const index = share(this.#adm, variant, ['skipAim', 'skipScale0']);
    return (layout) => layout.adm + index * ADM_FIELDS;
  }

  #addMotion(instance: ExtractorInstance): Place {
    if (flagOption(instance, 'motion_force_zero')) return NOWHERE;
    const index = share(
      this.#motion,
      {
        window: flagOption(instance, 'motion_five_frame_window') ? 2 : 1,
        legacy: this.#compat === 'libvmaf-3.0',
      },
      [],
    );
    return (layout) => layout.motion + index;
  }

  #addPsnr(instance: ExtractorInstance): Place {
    const chroma = flagOption(instance, 'enable_chroma') && this.#format.chroma !== '400';
    if (chroma) this.#psnrPlanes = 3;
    else if (this.#psnrPlanes === 0) this.#psnrPlanes = 1;
    return (layout) => layout.psnr;
  }

  #addMetric(instance: ExtractorInstance): Place {
    const { name } = instance.spec;
    const extractor = FURTHER[name];
    if (!extractor) throw new AnyvmafError('internal', `Nothing measures the ${name} extractor.`);
    const wanted = extractor.measure(instance, this.#format);
    if (wanted === null) return NOWHERE;
    let index = this.#metrics.findIndex((have) => sameMetric(have, wanted));
    if (index < 0) index = this.#metrics.push(wanted) - 1;
    return (layout) => layout.metrics[index] ?? -1;
  }
}

/** Whether two variants measure the same; one that also fills files is for itself. */
function sameMetric(a: MetricVariant, b: MetricVariant): boolean {
  if (a.heatmaps || b.heatmaps) return false;
  return a.metric === b.metric && a.options.every((value, i) => value === b.options[i]);
}

/**
 * Finds or adds a variant and returns its index. `skips` are the flags that only leave something out: variants that
 * differ in nothing else share one measurement, which leaves out only what both do without.
 */
function share<Variant extends object>(
  variants: Variant[],
  wanted: Variant,
  skips: readonly (keyof Variant)[],
): number {
  const keys = Object.keys(wanted) as (keyof Variant)[];
  const index = variants.findIndex((have) =>
    keys.every((key) => skips.includes(key) || have[key] === wanted[key]),
  );
  const have = variants[index];
  if (!have) return variants.push(wanted) - 1;
  const merged = { ...have };
  for (const skip of skips) if (!wanted[skip]) merged[skip] = wanted[skip];
  variants[index] = merged;
  return index;
}
