/**
 * @module metrics/spec
 * What an extractor is to the rest of the library: options, features, and short ways to write them down.
 */

/** A value an option can take. */
export type OptionValue = boolean | number | string;

/** One option of an extractor. */
export interface OptionSpec {
  readonly name: string;
  /** Short name that stands for the option in feature names; the option's own name where there is none. */
  readonly alias?: string;
  /** A `folder` is one to write into, empty for none. */
  readonly type: 'bool' | 'int' | 'double' | 'choice' | 'folder';
  readonly default: OptionValue;
  /** Smallest value accepted, inclusive. */
  readonly min?: number;
  /** Largest value accepted, inclusive. */
  readonly max?: number;
  /** Of a choice: the texts accepted. */
  readonly choices?: readonly string[];
  /** Only numbers within 0.001 of one of these are accepted. */
  readonly near?: readonly number[];
  /** True: a value other than the default becomes part of the names of all the extractor's features. */
  readonly inName: boolean;
  readonly description: string;
}

/** One number an extractor emits per frame, or once per sequence. */
export interface FeatureSpec {
  /** libvmaf's internal name: what model files call it. */
  readonly name: string;
  /** What reports call it. */
  readonly alias: string;
  /** Boolean options that must all be true for the feature to be emitted. */
  readonly when: readonly string[];
  /**
   * `frame`: known as soon as its frame is measured. `next`: known with the next frame, so libvmaf stores its first value
   * after those of the first frame. `flush`: stored at the end of the run. `sequence`: one value for the whole run (an
   * aggregate).
   */
  readonly emitted: 'frame' | 'next' | 'flush' | 'sequence';
  /** A boolean option that, when true, makes a `next` or `flush` feature known with its frame. */
  readonly atOnceWith?: string;
  /** True: emitted only for pictures without a frame rate. */
  readonly stills?: boolean;
  /** True: emitted only for videos with chroma. */
  readonly chroma?: boolean;
  /** True: its name never ends in options. */
  readonly plainName?: boolean;
  /** Which of its values are the worse ones; absent if its size says nothing about quality. */
  readonly worse?: 'low' | 'high';
}

/** What an extractor is, in libvmaf's words. */
export interface ExtractorSpec {
  readonly name: string;
  /** What else people call it; libvmaf has it under one name only. */
  readonly otherName?: string;
  /** Set if libvmaf has no such extractor. */
  readonly beyondLibvmaf?: true;
  /** Set if perceptual.wasm measures it: a metric of colour. */
  readonly module?: 'perceptual';
  /** Where its arithmetic is written, in the source tree of this package. */
  readonly source: string;
  /** What it measures, one sentence. */
  readonly description: string;
  readonly options: readonly OptionSpec[];
  /** In order of emission. */
  readonly features: readonly FeatureSpec[];
  /** The features libvmaf 2.x to 3.0 emitted instead, in its order. */
  readonly featuresUpTo30?: readonly FeatureSpec[];
  /** Boolean options that libvmaf 2.x to 3.0 had switched on by default. */
  readonly onUpTo30?: readonly string[];
  /** Frames must be measured in order and subsampling does not skip any. */
  readonly temporal: boolean;
  /** Needs earlier reference pictures; subsampling does not skip frames for it either. */
  readonly previousReference: boolean;
}

type OptionExtras = Pick<OptionSpec, 'description'> & Partial<Pick<OptionSpec, 'alias' | 'inName' | 'near'>>;

/** An extractor; frames are independent of each other unless told otherwise. */
export function extractor(
  spec: Omit<ExtractorSpec, 'temporal' | 'previousReference'> & Partial<ExtractorSpec>,
): ExtractorSpec {
  return { temporal: false, previousReference: false, ...spec };
}

/** A boolean option; not part of names unless told so. */
export function flag(name: string, byDefault: boolean, extras: OptionExtras): OptionSpec {
  return { name, type: 'bool', default: byDefault, inName: false, ...extras };
}

/** An option that is a number; part of names unless told otherwise. */
export function real(
  name: string,
  byDefault: number,
  min: number,
  max: number,
  extras: OptionExtras,
): OptionSpec {
  return { name, type: 'double', default: byDefault, min, max, inName: true, ...extras };
}

/** An option that is a whole number; part of names unless told otherwise. */
export function integer(
  name: string,
  byDefault: number,
  min: number,
  max: number,
  extras: OptionExtras,
): OptionSpec {
  return { name, type: 'int', default: byDefault, min, max, inName: true, ...extras };
}

/** An option that is one of some texts, the first by default; part of names unless told otherwise. */
export function choice(name: string, choices: readonly string[], extras: OptionExtras): OptionSpec {
  return { name, type: 'choice', default: choices[0] ?? '', choices, inName: true, ...extras };
}

/** An option that is a folder to write into, none by default; not part of names. */
export function folder(name: string, extras: OptionExtras): OptionSpec {
  return { name, type: 'folder', default: '', inName: false, ...extras };
}

/** A feature of every frame, by default under its own name. */
export function feature(name: string, alias = name, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return { name, alias, when: [], emitted: 'frame', ...extras };
}

/** Features by which frames can be ranked. */
export function ranked(worse: 'low' | 'high', features: readonly FeatureSpec[]): FeatureSpec[] {
  return features.map((spec) => ({ ...spec, worse }));
}

/** A feature whose internal name is `VMAF_integer_feature_X_score` and whose log name is `integer_X`. */
export function integerFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_integer_feature_${x}_score`, `integer_${x}`, extras);
}

/** `integer_X`, and its {@link quotientParts}: what `debug` adds to vif and adm. */
export function integerParts(x: string): FeatureSpec[] {
  const name = `integer_${x}`;
  return [...ranked('low', [feature(name, name, DEBUG)]), ...quotientParts(name)];
}

/** A feature whose internal name is `VMAF_feature_X_score` and whose log name is `X`. */
export function floatFeature(x: string, extras: Partial<FeatureSpec> = {}): FeatureSpec {
  return feature(`VMAF_feature_${x}_score`, x, extras);
}

/** Numerator and denominator in total and per scale, which `debug` adds. */
export function quotientParts(x: string): FeatureSpec[] {
  return ['', ...SCALES.map((s) => `_scale${s}`)].flatMap((scale) =>
    [`${x}_num${scale}`, `${x}_den${scale}`].map((name) => feature(name, name, DEBUG)),
  );
}

/** The four scales of VIF and ADM. */
export const SCALES = [0, 1, 2, 3] as const;
/** Of a feature that the option `debug` adds. */
export const DEBUG = { when: ['debug'] } as const;
