/**
 * @module tiny/types
 * Types of tiny ONNX models: registry, sidecar, options, and the runtimes that run them.
 */
import type { TINY_DEVICE_CHOICES, TINY_DEVICES, TINY_PRECISIONS, TINY_RESIZES } from '../core/choices.js';
import type { TinyGraph } from './onnx/check.js';

export type { TinyGraph, TinyPort } from './onnx/check.js';

/** Full-reference (both videos), no-reference (only the distorted video), or a filter, which outputs pictures. */
export type TinyKind = 'fr' | 'nr' | 'filter';

/** Quantisation of weights; all but `fp32` are 8 bit. */
export type TinyQuantisation = 'fp32' | 'static' | 'dynamic' | 'qat';

/** Devices of onnxruntime's execution providers and of OpenVINO, without `auto`. */
export type TinyDevice = (typeof TINY_DEVICES)[number];

/** A device or `auto`. */
export type TinyDeviceChoice = (typeof TINY_DEVICE_CHOICES)[number];

/** Run the model (`fp32`) or its 8-bit sibling. */
export type TinyPrecision = (typeof TINY_PRECISIONS)[number];

/** Filters that resize pictures to a model's size. */
export type TinyResize = (typeof TINY_RESIZES)[number];

/** One tiny model of a run and how to run it. */
export interface TinyModelOptions {
  /** Id in the registry, or path (URL in browsers) of an ONNX file; with `files`, a name among them. */
  readonly model: string;
  /** The model, its sidecar and weights by file name, for example from a file picker. Nothing else is read. */
  readonly files?: Readonly<Record<string, Blob>>;
  /** Key of its score in the report. Default: the sidecar's name, else `vmaf_tiny_model`. */
  readonly name?: string;
  /** Default `auto`: the first device that works, named in the report. Any other device is used or refused. */
  readonly device?: TinyDeviceChoice;
  /** Threads of one session on the CPU; with 0 the runtime decides. Default: one in each worker. */
  readonly threads?: number;
  /** Use half precision if the device supports it (OpenVINO, TensorRT). Default false. */
  readonly fp16?: boolean;
  /**
   * `fp32` runs the model itself, `int8` only its 8-bit sibling. Default `auto`: the sibling if the registry or the
   * sidecar says that the model is quantised. The report says which one ran.
   */
  readonly precision?: TinyPrecision;
  /** Refuse models that the registry's Sigstore bundle does not sign. Default false. */
  readonly verify?: boolean;
  /** Codec-aware models: the encoder that made the distorted video, `libx264` or an alias such as `h264`. */
  readonly codec?: string;
  /** Codec-aware models: the encoder's preset. Default: the middle of the scale. */
  readonly preset?: string;
  /** Codec-aware models: constant rate factor, 0..63. */
  readonly crf?: number;
  /** Resizing filter for models of a fixed size. Default `disabled`: other sizes are refused. */
  readonly resize?: TinyResize;
}

/** A model as a registry lists it. */
export interface TinyRegistryEntry {
  readonly id: string;
  readonly kind: TinyKind;
  /** The ONNX file, relative to the registry. */
  readonly file: string;
  /** Digest of the ONNX file: 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  readonly opset?: number;
  readonly description?: string;
  readonly notes?: string;
  /** The model's card, relative to the registry. */
  readonly card?: string;
  /** SPDX expression. */
  readonly licence?: string;
  readonly licenceUrl?: string;
  /** For tests of loading only; scores have no meaning. */
  readonly smoke: boolean;
  /** Set if scores are unreliable: what they are good for, as words after a colon. */
  readonly experimental?: string;
  readonly quantisation: TinyQuantisation;
  /** Digest of the manifest: graph, external weights and sidecar. Without it, the entry covers only the graph. */
  readonly manifestSha256?: string;
  /** Digest of the sibling `STEM.int8.onnx`. */
  readonly int8Sha256?: string;
  /** Digest of the sibling's manifest. */
  readonly int8ManifestSha256?: string;
  /** Sigstore bundle, relative to the registry. */
  readonly sigstoreBundle?: string;
  /** The required signer; without one, no signature is accepted. */
  readonly signer?: TinySigner;
}

/** The signer of a model. */
export interface TinySigner {
  /** OpenID issuer of the certificate. */
  readonly issuer: string;
  /** The certificate's identity: a URI, or an e-mail address. */
  readonly identity: string;
}

export interface CodecBlockSpec {
  readonly vocabulary: readonly string[];
  readonly presetNorm: { readonly kind: 'ordinal' } | { readonly kind: 'constant'; readonly value: number };
  readonly crfNorm:
    | { readonly kind: 'div63' }
    | { readonly kind: 'minmax'; readonly min: number; readonly max: number };
}

export interface TinySidecar {
  readonly kind?: TinyKind;
  readonly name?: string;
  readonly inputName?: string;
  readonly referenceInput?: string;
  readonly distortedInput?: string;
  readonly codecInput?: string;
  /** `output_names`, else `[output_name]`. */
  readonly outputNames?: readonly string[];
  readonly opset?: number;
  readonly quantisation?: TinyQuantisation;
  readonly features?: readonly string[];
  /** Extractor options of each column as texts, parallel to {@link features}. */
  readonly featureOptions?: readonly Readonly<Record<string, string>>[];
  /** `inGraph` is absent if the sidecar does not state whether the graph contains it. */
  readonly scaler?: TinyScaler & { readonly inGraph?: boolean };
  readonly normMean?: readonly number[];
  readonly normStd?: readonly number[];
  /** Smallest width and height of pictures. */
  readonly minSize?: readonly [width: number, height: number];
  /** Set to count flat and noise pictures, which the model cannot score. */
  readonly needsScene?: true;
  readonly outputReduce?: 'mean';
  readonly outputRange?: readonly [number, number];
  readonly codec?: CodecBlockSpec;
  /** The direction of better scores. */
  readonly better?: 'higher' | 'lower';
}

/** For each column: `(x - mean) / std`. */
export interface TinyScaler {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

/** A file of a model. */
export interface TinyPart {
  /** Relative to the folder of the graph. */
  readonly name: string;
  readonly role: 'graph' | 'weights' | 'sidecar';
  readonly bytes: number;
  readonly sha256: string;
}

export interface TinyModel {
  readonly source: string;
  /** The loaded file, possibly the 8-bit sibling. */
  readonly file: string;
  readonly sha256: string;
  readonly parts: readonly TinyPart[];
  /** A list of the parts, whose digest registries state and which signatures sign. */
  readonly manifest: string;
  readonly manifestSha256: string;
  /** Absent for unlisted files. */
  readonly entry?: TinyRegistryEntry;
  /** True if a registry covers every file that affects scores. */
  readonly registered: boolean;
  readonly sidecar: TinySidecar;
  readonly graph: TinyGraph;
  readonly program: TinyProgram;
  readonly kind: TinyKind;
  readonly quantisation: TinyQuantisation;
  /** Full sentences, for example about a missing 8-bit sibling. */
  readonly warnings: readonly string[];
}

export interface TinyTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Libraries that run models. */
export type TinyRuntimeName = 'onnxruntime-node' | 'onnxruntime-web' | 'openvino-node';

export interface TinySessionOptions {
  readonly device: TinyDeviceChoice;
  /** With 0 the runtime decides. */
  readonly threads: number;
  readonly fp16: boolean;
  /** Restricts `auto`. */
  readonly only?: 'cpu';
}

/** A model on a device. Calls may overlap; the session runs them one at a time. */
export interface TinySession {
  readonly runtime: TinyRuntimeName;
  readonly device: TinyDevice;
  /** The GPU's name from its driver, if known. */
  readonly adapter?: string;
  /** Threads of this session on the processor, if known. */
  readonly threads?: number;
  /** Why `auto` skipped other devices, in full sentences. */
  readonly notes: readonly string[];
  /**
   * Runs the graph; converts float32 values to the types of its inputs.
   * @throws {AnyvmafError} `model` with the reason if the runtime fails
   */
  run(inputs: Readonly<Record<string, TinyTensor>>): Promise<Readonly<Record<string, TinyTensor>>>;
  close(): Promise<void>;
}

/** Availability of a device. */
export interface TinyDeviceStatus {
  readonly device: TinyDevice;
  /** True if a trial run succeeded. */
  readonly available: boolean;
  /** The runtime that offers it. */
  readonly runtime: TinyRuntimeName | null;
  /** The GPU's name from its driver, if known. */
  readonly adapter?: string;
  /** True if the adapter is a software renderer, which `auto` skips. */
  readonly software?: true;
  /** If not available: the reason and how to get it, in full sentences. */
  readonly how?: string;
}

export interface TinyRuntimes {
  /** All devices, in the order of `auto`. */
  devices(): Promise<readonly TinyDeviceStatus[]>;
  /**
   * Fetches a runtime for a device if there is none and the user agrees. Absent if nothing can be fetched.
   * @throws {AnyvmafError} with a remedy, if the user declines or fetching fails; the signal's reason
   */
  obtain?(device: TinyDeviceChoice, signal?: AbortSignal): Promise<void>;
  /** @throws {AnyvmafError} `backend` if the device is not available or does not start; there is no fallback */
  open(
    model: Pick<TinyModel, 'source' | 'program' | 'graph'>,
    options: TinySessionOptions,
  ): Promise<TinySession>;
}

export interface TinyFolder {
  readonly name: string;
  /**
   * @param file relative path with `/`, inside the folder
   * @param limit largest allowed size in bytes
   * @returns `null` if the file does not exist
   * @throws {AnyvmafError} `model` if the file is outside the folder (after following symbolic links) or too large;
   * `io` if it cannot be read
   */
  read(file: string, limit: number): Promise<Uint8Array | null>;
}

export interface TinyFiles {
  readonly builtIn: TinyFolder;
  /** @throws {AnyvmafError} `io` if the file does not exist; `usage` if it is outside the allowed folder */
  locate(path: string): Promise<TinyPlace & { readonly target?: TinyPlace }>;
}

/** A file in a folder; as `target`, the file that a symbolic link points to. */
export interface TinyPlace {
  readonly folder: TinyFolder;
  readonly file: string;
}

export interface TinySignatures {
  /**
   * @param bundle the text of a Sigstore bundle
   * @throws {AnyvmafError} `model` if the bundle is not the signer's signature of the bytes, or cannot be checked here
   */
  verify(bytes: Uint8Array, bundle: string, what: string, signer: TinySigner): Promise<void>;
}

export interface TinyPlatform {
  readonly files: TinyFiles;
  readonly runtimes: TinyRuntimes;
  readonly signatures: TinySignatures;
}

/** The checked bytes of a model for a runtime, which reads nothing from disk. */
export interface TinyProgram {
  readonly bytes: Uint8Array;
  /** Files with weights, by the graph's names for them. */
  readonly external: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}
