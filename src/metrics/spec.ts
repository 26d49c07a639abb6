/**
 * @module metrics/spec
 * Specs of extractors: options, features, and helpers to define them.
 */

/** A value of an extractor's option. */
export type OptionValue = boolean | number | string;

/** One option of an extractor. */
export interface OptionSpec {
  readonly name: string;
  /** Short name of the option in feature names; if absent, its own name. */
  readonly alias?: string;
  /** `folder`: a path to write into, empty for none. */
  readonly type: 'bool' | 'int' | 'double' | 'choice' | 'folder';
  readonly default: OptionValue;
  /** Smallest valid value, inclusive. */
  readonly min?: number;
  /** Largest valid value, inclusive. */
  readonly max?: number;
  /** Valid texts of a choice. */
  readonly choices?: readonly string[];
  /** Valid numbers, within 0.001. */
  readonly near?: readonly number[];
  /** True if values other than the default become part of the names of all the extractor's features. */
  readonly inName: boolean;
  readonly description: string;
}

/** One number that an extractor emits per frame, or once per sequence. */
export interface FeatureSpec {
  /** libvmaf's internal name, as in model files. */
  readonly name: string;
  /** Name in reports. */
  readonly alias: string;
  /** Boolean options that must all be true for the feature to be emitted. */
  readonly when: readonly string[];
  /**
   * `frame`: known once its frame is measured. `next`: known with the next frame, so libvmaf stores its first value
   * after those of the first frame. `flush`: stored at the end of the run. `sequence`: one value for the whole run (an
   * aggregate).
   */
  readonly emitted: 'frame' | 'next' | 'flush' | 'sequence';
  /** Boolean option that makes a `next` or `flush` feature known with its frame. */
  readonly atOnceWith?: string;
  /** True if emitted only for pictures without a frame rate. */
  readonly stills?: boolean;
  /** True if emitted only for videos with chroma. */
  readonly chroma?: boolean;
  /** True if its name never ends in options. */
  readonly plainName?: boolean;
  /** Which values are worse; absent if they say nothing about quality. */
  readonly worse?: 'low' | 'high';
}

/** A feature extractor, in libvmaf's terms. */
export interface ExtractorSpec {
  readonly name: string;
  /** An alternative name, which libvmaf does not accept. */
  readonly otherName?: string;
  /** Set if libvmaf has no such extractor. */
  readonly beyondLibvmaf?: true;
  /** Set for colour metrics, which perceptual.wasm measures. */
  readonly module?: 'perceptual';
  /** File that implements it, in the source tree of this package. */
  readonly source: string;
  /** What it measures, in one sentence. */
  readonly description: string;
  readonly options: readonly OptionSpec[];
  /** In order of emission. */
  readonly features: readonly FeatureSpec[];
  /** Features that libvmaf 2.x to 3.0 emitted instead, in its order. */
  readonly featuresUpTo30?: readonly FeatureSpec[];
  /** Boolean options that were on by default in libvmaf 2.x to 3.0. */
  readonly onUpTo30?: readonly string[];
  /** True if frames must be measured in order and subsampling must not skip any. */
  readonly temporal: boolean;
  /** True if it needs earlier reference pictures; subsampling then skips no frames either. */
  readonly previousReference: boolean;
}

type OptionExtras = Pick<OptionSpec, 'description'> & Partial<Pick<OptionSpec, 'alias' | 'inName' | 'near'>>;

/** Fills in defaults: frames are independent of each other. */
export function extractor(
  spec: Omit<ExtractorSpec, 'temporal' | 'previousReference'> & Partial<ExtractorSpec>,
): ExtractorSpec {
  return { temporal: false, previousReference: false, ...spec };
}

/** A boolean option; not part of names by default. */
export function flag(name: string, byDefault: boolean, extras: OptionExtras): OptionSpec {
  return { name, type: 'bool', default: byDefault, inName: false, ...extras };
}

const ranged =
  (type: 'double' | 'int') =>
  (name: string, byDefault: number, min: number, max: number, extras: OptionExtras): OptionSpec => {
    return { name, type, default: byDefault, min, max, inName: true, ...extras };
  };

export const real = ranged('double');
export const integer = ranged('int');

/** One of several texts, by default the first; part of names by default. */
export function choice(name: string, choices: readonly string[], extras: OptionExtras): OptionSpec {
  return { name, type: 'choice', default: choices[0] ?? '', choices, inName: true, ...extras };
}

/** A folder to write into, by default none; not part of names. */
export function folder(name: string, extras: OptionExtras): OptionSpec {
  return { name, type: 'folder', default: '', inName: false, ...extras };
}

/** A feature of every frame, by default with its own name in reports. */
export function feature(name: string, alias = name, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return { name, alias, when: [], emitted: 'frame', ...extras };
}

export function ranked(worse: 'low' | 'high', features: readonly FeatureSpec[]): FeatureSpec[] {
  return features.map((spec) => ({ ...spec, worse }));
}

/** A feature with the internal name `VMAF_integer_feature_X_score` and the report name `integer_X`. */
export function integerFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_integer_feature_${x}_score`, `integer_${x}`, extras);
}

/** Features that `debug` adds to vif and adm: `integer_X` and its {@link quotientParts}. */
export function integerParts(x: string): FeatureSpec[] {
  const name = `integer_${x}`;
  return [...ranked('low', [feature(name, name, DEBUG)]), ...quotientParts(name)];
}

/** A feature with the internal name `VMAF_feature_X_score` and the report name `X`. */
export function floatFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_feature_${x}_score`, x, extras);
}

/** Features that `debug` adds: numerator and denominator, in total and per scale. */
export function quotientParts(x: string): FeatureSpec[] {
  return ['', ...SCALES.map((s) => `_scale${s}`)].flatMap((scale) =>
    [`${x}_num${scale}`, `${x}_den${scale}`].map((name) => feature(name, name, DEBUG)),
  );
}

export const SCALES = [0, 1, 2, 3] as const;
/** For features that `debug` adds. */
export const DEBUG = { when: ['debug'] } as const;
