/**
 * @module tiny/types
 * Tiny ONNX models: what their registry and sidecars say, what a caller may ask of them, and what runs them.
 */
import type { TINY_DEVICE_CHOICES, TINY_DEVICES, TINY_PRECISIONS, TINY_RESIZES } from '../core/choices.js';

/** What a model looks at: both videos, the distorted one alone, or neither: a filter makes pictures. */
export type TinyKind = 'fr' | 'nr' | 'filter';

/** How a model's weights were quantised; all but `fp32` are 8 bit. */
export type TinyQuantisation = 'fp32' | 'static' | 'dynamic' | 'qat';

/** Devices by name, `auto` aside: those of onnxruntime's execution providers and of OpenVINO. */
export type TinyDevice = (typeof TINY_DEVICES)[number];

/** What may be asked for. */
export type TinyDeviceChoice = (typeof TINY_DEVICE_CHOICES)[number];

/** Which of a model and its 8-bit sibling runs. */
export type TinyPrecision = (typeof TINY_PRECISIONS)[number];

/** Filters that bring luma to a model's size. */
export type TinyResize = (typeof TINY_RESIZES)[number];

/** One tiny model of a run and how to run it. */
export interface TinyModelOptions {
  /** Id in the registry, or path (URL in browsers) of an ONNX file; with `files` the name of one of them. */
  readonly model: string;
  /** The model with its sidecar and weights by their names, as a page picks them. Nothing else is read then. */
  readonly files?: Readonly<Record<string, Blob>>;
  /** Key of its score in the report. Default: the sidecar's name, else `vmaf_tiny_model`. */
  readonly name?: string;
  /** Default `auto`: the first that works; the report says which. Any other is taken or refused. */
  readonly device?: TinyDeviceChoice;
  /** Threads of one session on the CPU; 0 leaves it to the runtime. Default: one in each worker. */
  readonly threads?: number;
  /** Half precision where the device computes in it (OpenVINO, TensorRT). Default false. */
  readonly fp16?: boolean;
  /**
   * `fp32` takes the model itself, `int8` its 8-bit sibling or nothing; `auto`, the default, the sibling where the registry
   * or the sidecar says that the model is quantised. The report says which ran.
   */
  readonly precision?: TinyPrecision;
  /** Load only what the Sigstore bundle of the registry signs. Default false. */
  readonly verify?: boolean;
  /** Codec-aware models: the encoder that made the distorted video, `libx264` or an alias such as `h264`. */
  readonly codec?: string;
  /** Codec-aware models: the encoder's preset. Default: the middle of the scale. */
  readonly preset?: string;
  /** Codec-aware models: constant rate factor, 0..63. */
  readonly crf?: number;
  /** How luma is brought to the size of a model that has a fixed one. Default `disabled`: another size is refused. */
  readonly resize?: TinyResize;
}

/** A model as a registry lists it. */
export interface TinyRegistryEntry {
  readonly id: string;
  readonly kind: TinyKind;
  /** The ONNX file, relative to the registry. */
  readonly file: string;
  /** Of the ONNX file: 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  readonly opset?: number;
  readonly description?: string;
  readonly notes?: string;
  /** The model's card, relative to the registry. */
  readonly card?: string;
  /** SPDX expression. */
  readonly licence?: string;
  readonly licenceUrl?: string;
  /** Made to be loaded, not to be believed. */
  readonly smoke: boolean;
  /** Set where values are not to be relied upon: what they are good for, words that follow a colon. */
  readonly experimental?: string;
  readonly quantisation: TinyQuantisation;
  /** Of the manifest: graph, weights in other files and sidecar together. Without it the row vouches for the graph alone. */
  readonly manifestSha256?: string;
  /** Of the sibling `STEM.int8.onnx`. */
  readonly int8Sha256?: string;
  /** Of the manifest of the sibling. */
  readonly int8ManifestSha256?: string;
  /** Sigstore bundle, relative to the registry. */
  readonly sigstoreBundle?: string;
  /** Who must have signed; without it no signature counts. */
  readonly signer?: TinySigner;
}

/** Who signs a model. */
export interface TinySigner {
  /** OpenID issuer of the certificate. */
  readonly issuer: string;
  /** The certificate's identity: a URI, or an e-mail address. */
  readonly identity: string;
}

/** How a codec block is made of an encoder, a preset and a rate factor. */
export interface CodecBlockSpec {
  /** Slots of the one-hot part. */
  readonly vocabulary: readonly string[];
  readonly presetNorm: { readonly kind: 'ordinal' } | { readonly kind: 'constant'; readonly value: number };
  readonly crfNorm:
    | { readonly kind: 'div63' }
    | { readonly kind: 'minmax'; readonly min: number; readonly max: number };
}

/** What a sidecar says; what it leaves out is absent. */
export interface TinySidecar {
  readonly kind?: TinyKind;
  readonly name?: string;
  readonly inputName?: string;
  readonly referenceInput?: string;
  readonly distortedInput?: string;
  readonly codecInput?: string;
  /** `output_names`, else `output_name` alone. */
  readonly outputNames?: readonly string[];
  readonly opset?: number;
  readonly quantisation?: TinyQuantisation;
  /** Columns of the feature input as the sidecar names them. */
  readonly features?: readonly string[];
  /** Extractor options of each column, as texts; parallel to {@link features}. */
  readonly featureOptions?: readonly Readonly<Record<string, string>>[];
  /** To be applied before the graph: absent when the graph holds the scaler, or there is none. */
  readonly scaler?: TinyScaler;
  /** What the graph does by itself, or the same as {@link scaler}: for descriptions. */
  readonly statedScaler?: TinyScaler;
  readonly graphHasScaler: boolean;
  /** Set where a scaler is stated, but not whether the graph holds it. */
  readonly scalerUnplaced?: true;
  readonly normMean?: readonly number[];
  readonly normStd?: readonly number[];
  /** Width and height that pictures must have at least. */
  readonly minSize?: readonly [width: number, height: number];
  /** Pictures that are flat or noise are to be counted: the model has no answer for them. */
  readonly needsScene?: true;
  readonly outputReduce?: 'mean';
  readonly outputRange?: readonly [number, number];
  readonly codec?: CodecBlockSpec;
  /** Which values are the good ones. */
  readonly better?: 'higher' | 'lower';
}

/** Column by column `(x - mean) / std`. */
export interface TinyScaler {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

/** An input or output of a graph. */
export interface TinyPort {
  readonly name: string;
  /** Numbers of ONNX's TensorProto.DataType: 1 float32, 7 int64, 10 float16, 11 float64. */
  readonly type: number;
  /** `null` where the size is symbolic or not said; absent when the graph does not say the rank. */
  readonly dims?: readonly (number | null)[];
}

/** What the protobuf reader found in a model that keeps the contract. */
export interface TinyGraph {
  readonly irVersion: number;
  /** Of the default operator domain. */
  readonly opset: number;
  readonly producer: string;
  /** Inputs that must be fed: those that are initialised are not among them. */
  readonly inputs: readonly TinyPort[];
  readonly outputs: readonly TinyPort[];
  /** How often each operator stands in the graph and its subgraphs. */
  readonly operators: Readonly<Record<string, number>>;
  /** Elements of all initialised tensors. */
  readonly parameters: number;
  /** Names of files with weights, relative to the model's folder. */
  readonly external: readonly string[];
  /** By input, the constant that is subtracted from it first, where there is a small one: a scaler's mean. */
  readonly centres?: Readonly<Record<string, readonly number[]>>;
}

/** The bytes that a runtime is given. They were checked: nothing is read from disk after that. */
export interface TinyProgram {
  readonly bytes: Uint8Array;
  /** Files with weights, by the name under which the graph asks for them. */
  readonly external: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}

/** A file that a model is made of. */
export interface TinyPart {
  /** Relative to the folder of the graph. */
  readonly name: string;
  readonly role: 'graph' | 'weights' | 'sidecar';
  /** Its size. */
  readonly bytes: number;
  readonly sha256: string;
}

/** A model that was read and keeps the contract. */
export interface TinyModel {
  /** Id or path, as it was asked for. */
  readonly source: string;
  /** The file that was read, an 8-bit sibling perhaps. */
  readonly file: string;
  /** Of the bytes that were read. */
  readonly sha256: string;
  /** All files that it is made of. */
  readonly parts: readonly TinyPart[];
  /** Lists the parts; a registry states its digest, and a signature is one of it. */
  readonly manifest: string;
  /** Of the manifest. */
  readonly manifestSha256: string;
  /** Its row in the registry; absent for files that no registry lists. */
  readonly entry?: TinyRegistryEntry;
  /** Whether a registry vouches for every part that scores depend on. */
  readonly registered: boolean;
  readonly sidecar: TinySidecar;
  readonly graph: TinyGraph;
  readonly program: TinyProgram;
  readonly kind: TinyKind;
  /** Of the bytes that were read. */
  readonly quantisation: TinyQuantisation;
  /** Full sentences, for example that an 8-bit sibling is missing. */
  readonly warnings: readonly string[];
}

/** Numbers and their shape, as sessions take and give them. */
export interface TinyTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Libraries that run models. */
export type TinyRuntimeName = 'onnxruntime-node' | 'onnxruntime-web' | 'openvino-node';

/** How a session is to run. */
export interface TinySessionOptions {
  readonly device: TinyDeviceChoice;
  /** 0 leaves it to the runtime. */
  readonly threads: number;
  readonly fp16: boolean;
  /** What `auto` may take; default all. */
  readonly only?: 'cpu';
}

/** A model on a device. Calls may overlap; they are carried out one after another. */
export interface TinySession {
  readonly runtime: TinyRuntimeName;
  /** What it took. */
  readonly device: TinyDevice;
  /** The GPU as its driver calls it, where the platform says. */
  readonly adapter?: string;
  /** Why `auto` did not take what stands before it in its order: full sentences. */
  readonly notes: readonly string[];
  /**
   * Runs the graph. float16, float64 and int64 inputs are converted from the float32 given.
   * @param inputs by the graph's names
   * @returns outputs by the graph's names
   * @throws {AnyvmafError} `model` when the runtime refuses, with its reason
   */
  run(inputs: Readonly<Record<string, TinyTensor>>): Promise<Readonly<Record<string, TinyTensor>>>;
  /** Frees the model. */
  close(): Promise<void>;
}

/** Whether a device can be asked for here. */
export interface TinyDeviceStatus {
  readonly device: TinyDevice;
  /** It was tried, and works. */
  readonly available: boolean;
  /** What runs models on it, or would. */
  readonly runtime: TinyRuntimeName | null;
  /** The GPU as its driver calls it, where the platform says. */
  readonly adapter?: string;
  /** The adapter computes on the processor: `auto` does not take it. */
  readonly software?: true;
  /** Where it is not there: why, and how to get it, full sentences. */
  readonly how?: string;
}

/** What runs models. */
export interface TinyRuntimes {
  /** All devices of this platform, in the order in which `auto` looks at them. */
  devices(): Promise<readonly TinyDeviceStatus[]>;
  /**
   * Starts a session.
   * @throws {AnyvmafError} `backend` when the device is not here or does not start: there is no other instead
   */
  open(
    model: Pick<TinyModel, 'source' | 'program' | 'graph'>,
    options: TinySessionOptions,
  ): Promise<TinySession>;
}

/** A folder with models. */
export interface TinyFolder {
  /** What messages call it. */
  readonly name: string;
  /**
   * Bytes of a file in it or below it.
   * @param file relative, with `/` between parts
   * @param limit bytes that it may have
   * @returns `null` when there is none
   * @throws {AnyvmafError} `model` when it lies outside the folder, symbolic links followed, or is larger than the
   * limit; `io` when it cannot be read
   */
  read(file: string, limit: number): Promise<Uint8Array | null>;
}

/** Where models come from. */
export interface TinyFiles {
  /** The models that ship with the package. */
  readonly builtIn: TinyFolder;
  /**
   * The folder and the name of the file that a path means.
   * @throws {AnyvmafError} `io` when there is none; `usage` where it lies outside the folder that paths are confined to
   */
  locate(path: string): Promise<TinyPlace & { readonly target?: TinyPlace }>;
}

/** A file and where it lies; as `target` the file that a symbolic link leads to. */
export interface TinyPlace {
  readonly folder: TinyFolder;
  readonly file: string;
}

/** The signature of a file, checked. */
export interface TinySignatures {
  /**
   * @param bundle the text of a Sigstore bundle
   * @throws {AnyvmafError} `model` when the bundle does not sign the bytes in the signer's name, or nothing here can tell
   */
  verify(bytes: Uint8Array, bundle: string, what: string, signer: TinySigner): Promise<void>;
}

/** All that tiny models need of a platform. */
export interface TinyPlatform {
  readonly files: TinyFiles;
  readonly runtimes: TinyRuntimes;
  readonly signatures: TinySignatures;
}
