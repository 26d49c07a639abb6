/**
 * @module models/types
 * What a VMAF model is once read: inputs, normalisation, support vectors, transform and clip.
 */

import type { Origin } from '../core/origin.js';
import type { FeatureSpec } from '../metrics/extractors.js';
import type { ExtractorInstance, OptionTexts } from '../metrics/options.js';

/** Where model files come from; platforms implement it. */
export interface ModelStore {
  /**
   * Text of a file in this package's `model` folder.
   * @param fileName for example `vmaf_v0.6.1.json`
   */
  readBuiltIn(fileName: string): Promise<string>;
  /**
   * Text of a model file that the user named.
   * @throws {AnyvmafError} `io` when it cannot be read
   */
  readFile(path: string): Promise<string>;
  /** Where models that do not ship with the package are kept once fetched. */
  readonly keep?: ModelCache;
}

/** A place of the user's for fetched model files; platforms implement it. */
export interface ModelCache {
  /**
   * Text of a kept file, `undefined` where there is none.
   * @throws {AnyvmafError} `io` when there is one that cannot be read
   */
  read(fileName: string): Promise<string | undefined>;
  /**
   * Keeps a file, whole or not at all.
   * @throws {AnyvmafError} `io` when it cannot
   */
  write(fileName: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Where the file is or would be, for messages. */
  placeOf(fileName: string): string;
  /** Where the user wants files to be fetched from, if anywhere in particular. */
  mirror?(): string | undefined;
}

/** How to fetch models. */
export interface PullOptions {
  /**
   * A server that has the files under `OWNER/REPOSITORY/TAG/FOLDER/FILE`. Default: what `ANYVMAF_MODELS_FROM` says (Node),
   * else GitHub's for files as they are.
   */
  readonly from?: string;
  /** Stops fetching: the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A model that is there now. */
export interface PulledModel {
  readonly name: string;
  /** False: it was there already. */
  readonly fetched: boolean;
  /** The file, or in browsers the address under which it is stored. */
  readonly place: string;
}

/** A support vector machine for regression with a radial basis kernel, as libsvm writes it. */
export interface SupportVectors {
  readonly gamma: number;
  readonly rho: number;
  /** Number of support vectors. */
  readonly count: number;
  /** Values per support vector. */
  readonly dimensions: number;
  /** `count` coefficients. */
  readonly coefficients: Float64Array;
  /** `count` rows of `dimensions` values; an index that the text leaves out is 0. */
  readonly vectors: Float64Array;
}

/** What is done to a score after the regression. */
export interface ScoreTransform {
  readonly enabled: boolean;
  readonly p0?: number;
  readonly p1?: number;
  readonly p2?: number;
  /** Points of a piecewise linear curve. */
  readonly knots?: readonly (readonly [number, number])[];
  /** The result is at most the input. */
  readonly outLteIn: boolean;
  /** The result is at least the input. */
  readonly outGteIn: boolean;
}

/** `y = slope * x + intercept` of each input and of the score. */
export interface Normalisation {
  readonly score: { readonly slope: number; readonly intercept: number };
  readonly inputs: readonly { readonly slope: number; readonly intercept: number }[];
}

/** One regression model as its file describes it. */
export interface ModelDefinition {
  readonly type: 'LIBSVMNUSVR' | 'BOOTSTRAP_LIBSVMNUSVR' | 'RESIDUEBOOTSTRAP_LIBSVMNUSVR';
  /** Internal feature names with the extractor options each asks for, in the order of the support vectors' indices. */
  readonly inputs: readonly { readonly feature: string; readonly options: OptionTexts }[];
  /** Absent when the model works on features as they are (`norm_type` none). */
  readonly normalisation?: Normalisation;
  readonly clip?: readonly [number, number];
  readonly transform?: ScoreTransform;
  /** The parameter of the v1 models' chroma correction. */
  readonly chromaCorrection?: number;
  readonly svm: SupportVectors;
}

/** What a model file holds: one model, or several of which the first is the main one. */
export interface ModelFile {
  readonly kind: 'single' | 'collection';
  /** One for a single model; a collection's main model first. */
  readonly members: readonly ModelDefinition[];
}

/** A model string taken apart (spec 5.7). */
export interface ModelRequest {
  /** The string itself, for messages. */
  readonly text: string;
  readonly source:
    | { readonly kind: 'version'; readonly version: string }
    | { readonly kind: 'path'; readonly path: string };
  /** Key of the score. */
  readonly name: string;
  readonly disableClip: boolean;
  readonly enableTransform: boolean;
  /** Options for all features of the model that an extractor provides. */
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
  /** The name under which its values stand in the report. */
  readonly logName: string;
}

/** A model of a run with overloads and flags applied. */
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
  /** Distinct extractors in order of registration; a run must have them all. */
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

/** What there is to know about a built-in model without running it. */
export interface ModelSummary {
  /** The version to name in a model string. */
  readonly name: string;
  readonly kind: 'single' | 'collection';
  /** `built-in`: ships with the package; `pulled`: was fetched; `to be pulled`: has to be before it can score. */
  readonly availability: 'built-in' | 'pulled' | 'to be pulled';
  readonly intendedUse: string;
  /** File in the model folder or among the pulled ones; float models share that of the model they are made of. */
  readonly file: string;
  /** Of that file. */
  readonly bytes: number;
  /** Internal names of the features it reads. */
  readonly features: readonly string[];
}

/** A feature that a model reads, in words. */
export interface ModelInputDescription {
  /** Internal name. */
  readonly feature: string;
  /** Name in reports, options included. */
  readonly logName: string;
  readonly extractor: string;
  /** What the model's file asks the extractor for. */
  readonly options: OptionTexts;
}

/** How to open a model. */
export interface OpenModelOptions {
  /** Who named its file, in Node. Default `{ by: 'user' }`. */
  readonly origin?: Origin;
}

/** A model by itself: what it reads, and its score for any values of that. */
export interface FeatureModel {
  /** Key of its score in reports. */
  readonly name: string;
  /** Built-in version or path. */
  readonly source: string;
  readonly kind: 'single' | 'collection';
  /** The kind of regression, as model files call it. */
  readonly type: ModelDefinition['type'];
  readonly inputs: readonly ModelInputDescription[];
  /** Range to which scores are clipped, `null` when they are not. */
  readonly clip: readonly [number, number] | null;
  /** `null` when the model has none; otherwise whether it applies without being asked for. */
  readonly transform: ScoreTransform | null;
  /** Feature strings that make a run measure every input, and nothing else. */
  readonly features: readonly string[];
  /**
   * The score of one frame, transformed and clipped as in a run: the same double for the same values. Of a collection it
   * is the main model's.
   * @param values by log name; more than the inputs may be there
   * @throws {AnyvmafError} `feature` when an input has no value
   */
  predict(values: Readonly<Record<string, number>>): number;
}

/** What a built-in model is made of. */
export interface ModelDescription extends ModelSummary {
  /** The kind of regression, as model files call it. */
  readonly type: ModelDefinition['type'];
  readonly inputs: readonly ModelInputDescription[];
  /** Range to which scores are clipped, `null` when they are not. */
  readonly clip: readonly [number, number] | null;
  /** `null` when the model has none; otherwise whether it applies without being asked for. */
  readonly transform: ScoreTransform | null;
  /** Support vectors of each member. */
  readonly supportVectors: readonly number[];
  readonly licence: string;
  readonly sha256: string;
}
