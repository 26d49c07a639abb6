/**
 * @module models/types
 * Types of parsed VMAF models: inputs, normalisation, support vectors, transform and clip.
 */
import type { Origin } from '../core/origin.js';
import type { FeatureSpec } from '../metrics/extractors.js';
import type { ExtractorInstance, OptionTexts } from '../metrics/options.js';

/** Where model files come from; platforms implement it. */
export interface ModelStore {
  /** Text of a file in this package's `model` folder, such as `vmaf_v0.6.1.json`. */
  readBuiltIn(fileName: string): Promise<string>;
  /** @throws {AnyvmafError} `io` if the file cannot be read */
  readFile(path: string): Promise<string>;
  readonly keep?: ModelCache;
}

/** The user's cache of pulled model files; platforms implement it. */
export interface ModelCache {
  /** Text of a cached file; `undefined` if it is not cached. Throws `io` if it cannot be read. */
  read(fileName: string): Promise<string | undefined>;
  /** Stores a file atomically. Throws `io` if that fails. */
  write(fileName: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Location of the file in the cache, for messages. */
  placeOf(fileName: string): string;
  /** The user's configured server, if any. */
  mirror?(): string | undefined;
}

/** Options of pulling models. */
export interface PullOptions {
  /**
   * A server with the files at `OWNER/REPOSITORY/TAG/FOLDER/FILE`. Default: `ANYVMAF_MODELS_FROM` (Node), else GitHub's
   * server of raw files.
   */
  readonly from?: string;
  /** Aborts the download; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A pulled model. */
export interface PulledModel {
  readonly name: string;
  /** False if it was already cached. */
  readonly fetched: boolean;
  /** The file, or in browsers the URL under which it is stored. */
  readonly place: string;
}

/** A support vector machine for regression with a radial basis kernel, as in libsvm's files. */
export interface SupportVectors {
  readonly gamma: number;
  readonly rho: number;
  readonly count: number;
  /** Values per support vector. */
  readonly dimensions: number;
  /** `count` coefficients. */
  readonly coefficients: Float64Array;
  /** `count` rows of `dimensions` values; those that the text omits are 0. */
  readonly vectors: Float64Array;
}

/** Post-processing of the regression's score. */
export interface ScoreTransform {
  readonly enabled: boolean;
  readonly p0?: number;
  readonly p1?: number;
  readonly p2?: number;
  /** Points of a piecewise linear curve. */
  readonly knots?: readonly (readonly [number, number])[];
  /** True if the result is at most the input. */
  readonly outLteIn: boolean;
  /** True if the result is at least the input. */
  readonly outGteIn: boolean;
}

/** `y = slope * x + intercept` for each input and for the score. */
export interface Normalisation {
  readonly score: { readonly slope: number; readonly intercept: number };
  readonly inputs: readonly { readonly slope: number; readonly intercept: number }[];
}

/** One regression model of a file. */
export interface ModelDefinition {
  readonly type: 'LIBSVMNUSVR' | 'BOOTSTRAP_LIBSVMNUSVR' | 'RESIDUEBOOTSTRAP_LIBSVMNUSVR';
  /** Internal feature names with their extractor options, in the order of the support vectors' indices. */
  readonly inputs: readonly { readonly feature: string; readonly options: OptionTexts }[];
  /** Absent if features are not normalised (`norm_type` none). */
  readonly normalisation?: Normalisation;
  readonly clip?: readonly [number, number];
  readonly transform?: ScoreTransform;
  /** The parameter of the v1 models' chroma correction. */
  readonly chromaCorrection?: number;
  readonly svm: SupportVectors;
}

/** Contents of a model file: one model, or a collection whose first model is the main one. */
export interface ModelFile {
  readonly kind: 'single' | 'collection';
  /** One for a single model; a collection's main model first. */
  readonly members: readonly ModelDefinition[];
}

/** A parsed model string (spec 5.7). */
export interface ModelRequest {
  /** The unparsed string, for messages. */
  readonly text: string;
  readonly source:
    | { readonly kind: 'version'; readonly version: string }
    | { readonly kind: 'path'; readonly path: string };
  /** Key of the score. */
  readonly name: string;
  readonly disableClip: boolean;
  readonly enableTransform: boolean;
  /** Options for all features that an extractor provides to the model. */
  readonly overloads: readonly {
    readonly extractor: string;
    readonly option: string;
    readonly value: string;
  }[];
}

/** A feature that a model reads, bound to the extractor that provides it. */
export interface ModelInput {
  readonly instance: ExtractorInstance;
  readonly feature: FeatureSpec;
  /** Name of its values in the report. */
  readonly logName: string;
}

export interface LoadedMember {
  readonly definition: ModelDefinition;
  readonly inputs: readonly ModelInput[];
}

/** A model, or collection of models, ready to run. */
export interface LoadedModel {
  /** Key of its score in the report. */
  readonly name: string;
  /** Built-in version or path. */
  readonly source: string;
  readonly kind: 'single' | 'collection';
  readonly disableClip: boolean;
  readonly enableTransform: boolean;
  /** The main model, then a collection's others. */
  readonly members: readonly LoadedMember[];
  /** Distinct extractors in order of registration, all of which a run needs. */
  readonly extractors: readonly ExtractorInstance[];
  /** Keys of the statistics over a collection's members. */
  readonly collectionKeys?: {
    readonly members: readonly string[];
    readonly bagging: string;
    readonly stddev: string;
    readonly ciLow: string;
    readonly ciHigh: string;
  };
}

/** Description of a built-in model. */
export interface ModelSummary {
  /** The version to name in a model string. */
  readonly name: string;
  readonly kind: 'single' | 'collection';
  /** `built-in`: ships with the package; `pulled`: cached; `to be pulled`: must be pulled before it can score. */
  readonly availability: 'built-in' | 'pulled' | 'to be pulled';
  readonly intendedUse: string;
  /** File in the model folder or the cache; float variants share the file of their model. */
  readonly file: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Internal names of the features it reads. */
  readonly features: readonly string[];
}

/** Description of a feature that a model reads. */
export interface ModelInputDescription {
  /** Internal name. */
  readonly feature: string;
  /** Name in reports, options included. */
  readonly logName: string;
  readonly extractor: string;
  /** Extractor options in the model's file. */
  readonly options: OptionTexts;
}

/** How to open a model. */
export interface OpenModelOptions {
  /** Node: who named its file. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
}

/** A model without a video: its inputs, and its score for any values of them. */
export interface FeatureModel extends Pick<ModelDescription, 'type' | 'inputs' | 'clip' | 'transform'> {
  /** Key of its score in reports. */
  readonly name: string;
  /** Built-in version or path. */
  readonly source: string;
  readonly kind: 'single' | 'collection';
  /** Feature strings with which a run measures exactly the inputs. */
  readonly features: readonly string[];
  /**
   * The score of one frame, transformed and clipped as in a run, bit-exactly; for a collection, that of its main model.
   * @param values by log name; ignores values that are not inputs
   * @throws {AnyvmafError} `feature` if an input has no value
   */
  predict(values: Readonly<Record<string, number>>): number;
}

/** A built-in model in detail. */
export interface ModelDescription extends ModelSummary {
  /** The kind of regression, as model files call it. */
  readonly type: ModelDefinition['type'];
  readonly inputs: readonly ModelInputDescription[];
  /** Range that scores are clipped to, `null` without clipping. */
  readonly clip: readonly [number, number] | null;
  /** `null` if the model has none; otherwise whether it applies by default. */
  readonly transform: ScoreTransform | null;
  /** Support vectors of each member. */
  readonly supportVectors: readonly number[];
  readonly licence: string;
  readonly sha256: string;
}
