/**
 * @module search/session
 * The interface of the machine that encodes (implemented in `platform/node`), and a search's source and folder on it.
 */
import { wrongType } from '../core/arguments.js';
import { AnyvmafError, backendError } from '../core/errors.js';
import { quotientOf, USUAL_RATE } from '../core/numbers.js';
import { BY_USER, type Origin } from '../core/origin.js';
import type { PictureSize } from '../core/size.js';
import type { Platform } from '../engine/contract/platform.js';
import { Scope } from '../engine/contract/scope.js';
import type { ScoreOptions } from '../engine/contract/types.js';
import type { TrackFacts } from '../media/decoder.js';
import type { FrameSource, VideoInput } from '../media/types.js';
import { modelFileDigests } from '../models/load.js';
import { baseName } from '../report/facts.js';
import { extractorsFor } from '../report/limits.js';
import type { Report } from '../report/schema.js';
import type { EncoderFacts } from './encoders.js';
import type { PointStore, QualityTarget } from './targets.js';
import type { EncodingOptions } from './types.js';

export interface SearchPlatform extends Platform {
  ofOrigin?(origin: Origin): SearchPlatform;
  /** Absent if encoders cannot run here. */
  encoding?(): Promise<EncodingHost>;
}

export interface SourceFacts {
  readonly track: TrackFacts;
  /** Presentation times in seconds from the first frame, ascending. */
  readonly times: Float64Array;
  /** Bytes of each frame in presentation order. */
  readonly sizes: Float64Array;
  /** Changes when the content does. */
  readonly identity: string;
  /** Tracks other than the video. Default: none. */
  readonly others?: readonly OtherTrack[];
  /** Seconds from the start of the file to the first frame, if sound or subtitles begin before it. Default: 0. */
  readonly lead?: number;
  /** ffmpeg's arguments that open a sequence of pictures, which its name alone does not. */
  readonly opening?: readonly string[];
  /** HDR metadata of the first frame, as ffmpeg names it. Default: none. */
  readonly hdr?: readonly string[];
}

/** Luma and chroma in limited or full range, luma only in limited range, RGB, or RGB by a palette. */
export type SourceSamples = 'limited' | 'full' | 'grey' | 'rgb' | 'palette';

export interface OtherTrack {
  readonly kind: 'audio' | 'subtitle' | 'attachment' | 'data' | 'video';
  /** ffmpeg's name: `aac`, `subrip`, `ttf`; empty if it has none. */
  readonly codec: string;
}

export interface FrameRun {
  readonly first: number;
  readonly count: number;
}

export interface Segment {
  readonly name: string;
  readonly frames: FrameRun;
}

export interface JoinRequest {
  /** In order, together all frames of the source. */
  readonly segments: readonly Segment[];
  readonly source: VideoInput;
  readonly facts: SourceFacts;
  /** Codec tag to write: four characters. */
  readonly tag?: string;
  readonly output: string;
  /** Checks the file before it is renamed to `output`; if it throws, no file remains. */
  check(path: string): Promise<void>;
  readonly signal?: AbortSignal;
}

export interface EncodeResult {
  /** Bytes of each frame in presentation order. */
  readonly sizes: Float64Array;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

export interface WholeEncode {
  readonly encoder: string;
  /** ffmpeg's, as at the beginning of {@link EncoderFacts.version}: `5.1.9`. */
  readonly version: string;
  /** Arguments of the encoder, including the parameter's. */
  readonly args: readonly string[];
  readonly pixelFormat: string;
  /** If it differs from the input's. */
  readonly size?: PictureSize;
  /** Of the input. Default: `limited`. */
  readonly samples?: SourceSamples;
}

export interface EncodeRequest extends WholeEncode {
  /** The source, or a file of this folder. */
  readonly input: VideoInput;
  /** True for the user's source, which has other tracks and its own access rights. */
  readonly isSource: boolean;
  /** Frames of the input to encode. Default: all. */
  readonly frames?: FrameRun;
  /** Their times from the first one, in microseconds. Default: the input's. */
  readonly times?: readonly number[];
  /** Frames that must be key frames. */
  readonly keys?: readonly number[];
  /** Colour of the source, if the input does not carry it. */
  readonly colour?: Pick<TrackFacts, 'colorRange' | 'primaries' | 'transfer' | 'matrix' | 'sampleAspect'>;
  /** Copy audio and subtitles too. */
  readonly whole?: boolean;
  /** A name in the folder, or with {@link whole} a path of the user's. */
  readonly output: string;
  /** Checks a {@link whole} encode at its temporary path; if it returns false or throws, no file remains. */
  check?(path: string, result: EncodeResult): Promise<boolean>;
  /** Called several times a second with the frames encoded so far. */
  readonly onFrames?: (done: number) => void;
  readonly signal?: AbortSignal;
}

/** Temporary folder of one search, removed by {@link close}. */
export interface EncodingFolder {
  /** Real path. */
  readonly root: string;
  path(name: string): string;
  /** Writes Y4M. @throws {AnyvmafError} `io` over the limit or on a full disk; `media` if a frame is missing */
  cut(
    source: VideoInput,
    facts: SourceFacts,
    runs: readonly FrameRun[],
    name: string,
    signal?: AbortSignal,
  ): Promise<void>;
  /** @throws {AnyvmafError} `media` with the encoder's message if it fails; `io` if the disk is full */
  encode(request: EncodeRequest): Promise<EncodeResult>;
  /**
   * Throws in advance what writing an encode would throw.
   * @param encode tried briefly, with all other tracks
   * @throws {AnyvmafError} `usage` for the source's own file, an unknown extension, and a container that cannot hold
   * the source's tracks or the encode
   */
  checkOutput(source: VideoInput, output: string, encode?: WholeEncode): Promise<void>;
  /**
   * Joins without encoding again; frames keep the source's times.
   * @throws {AnyvmafError} `media` unless all frames are there in order; `usage` for an unsuitable container; `io`
   */
  join(request: JoinRequest): Promise<EncodeResult>;
  /** Frames to read in order. */
  frames(name: string, signal?: AbortSignal): Promise<FrameSource>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Prefix of keys of source activity, which is stored with points but is not a search. */
export const ACTIVITY_KEY = 'source-';

export interface EncodeScores extends Pick<Report, 'frames' | 'preflight'> {
  readonly models: readonly { readonly name: string }[];
}

export interface EncodingHost {
  /** @throws {AnyvmafError} `usage` for an encoder that ffmpeg does not have, listing those of its kind */
  encoder(name: string, signal?: AbortSignal): Promise<EncoderFacts>;
  /** @throws {AnyvmafError} `media`, `io` */
  source(input: VideoInput, signal?: AbortSignal): Promise<SourceFacts>;
  /**
   * Decodes every frame at a reduced size.
   * @param onFrame gets 8-bit luma, valid until it returns
   * @returns the number of frames
   */
  thumbnails(
    input: VideoInput,
    track: TrackFacts,
    size: PictureSize,
    onFrame: (luma: Uint8Array, index: number) => void,
    signal?: AbortSignal,
  ): Promise<number>;
  /** @param limit in bytes */
  openFolder(limit: number): Promise<EncodingFolder>;
  /** @param folder default: the user's cache */
  points(folder?: string): PointStore;
  /** Scores encodes of this host, with a value per frame of the reference. If absent, the engine scores them. */
  score?(reference: VideoInput, distorted: VideoInput, options: ScoreOptions): Promise<EncodeScores>;
}

/** In bytes. */
export const DEFAULT_SCRATCH = 8e9;

export interface Session {
  /** Opens the source with its origin's rights, and the session's own files. */
  readonly platform: SearchPlatform;
  readonly host: EncodingHost;
  readonly source: string | URL;
  readonly facts: SourceFacts;
  /** Average frames per second of the source. */
  readonly perSecond: number;
  readonly folder: EncodingFolder;
  readonly store: PointStore | undefined;
  /** Problems that did not stop the work, a sentence each. */
  readonly notes: readonly string[];
  readonly options: EncodingOptions;
  /** Of the model files that the options name. */
  readonly modelDigests: readonly string[];
  readonly signal: AbortSignal;
}

/** Metrics of targets, which the models may not include. */
interface Aims {
  readonly metric?: string;
  readonly targets?: readonly (number | QualityTarget)[];
}

function withFeatures(options: EncodingOptions & Aims): EncodingOptions {
  const { metric, targets = [], features = [] } = options;
  const ofTargets = targets.map((target) => (typeof target === 'number' ? undefined : target.metric));
  const metrics = [metric, ...ofTargets].filter((name) => name !== undefined);
  const more = extractorsFor(metrics, features);
  return more.length > 0 ? { ...options, features: [...features, ...more] } : options;
}

/**
 * Opens a source for encoding, runs `work`, and closes everything.
 * @throws {AnyvmafError} `usage` unless the source is a file name or URL; `backend` if programs cannot run here; errors
 * of `work`; the signal's reason if aborted
 */
export async function inSession<T>(
  platform: SearchPlatform,
  source: VideoInput,
  options: EncodingOptions & Aims,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (!isFileName(source)) throw wrongType('source', source, 'the path of a file, or its URL');
  if (!platform.encoding) throw backendError('Encoders are programs, which cannot run here; use Node.js.');
  const scope = new Scope(options.signal);
  const { signal } = scope;
  try {
    const bound = platform.ofOrigin?.(options.origin ?? BY_USER) ?? platform;
    const host = await (bound.encoding ?? platform.encoding)();
    options.onStage?.({ kind: 'reading' });
    const facts = await host.source(source, signal);
    const modelDigests = await modelFileDigests(options.models ?? [], bound.models);
    const folder = scope.own(await host.openFolder(options.scratchBytes ?? DEFAULT_SCRATCH));
    const notes: string[] = [];
    return await work({
      platform: scoringPlatform(platform, options.origin, folder),
      host,
      source,
      facts,
      perSecond: framesPerSecond(facts),
      folder,
      store: options.cache === false ? undefined : lenientStore(host.points(options.cache), notes),
      notes,
      options: withFeatures(options),
      modelDigests,
      signal,
    });
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error;
  } finally {
    await scope.close();
  }
}

/** Turns I/O errors of a store into notes, since it only saves time. */
function lenientStore(store: PointStore, notes: string[]): PointStore {
  return {
    ...store,
    async add(key, line) {
      try {
        await store.add(key, line);
      } catch (error) {
        if (!(error instanceof AnyvmafError) || error.code !== 'io') throw error;
        if (!notes.includes(error.message)) notes.push(error.message);
      }
    },
  };
}

function scoringPlatform(platform: SearchPlatform, origin: Origin | undefined, folder: EncodingFolder) {
  if (origin?.by !== 'foreign') return platform;
  const { folders } = origin;
  return (
    platform.ofOrigin?.({ by: 'foreign', ...(folders && { folders: [...folders, folder.root] }) }) ?? platform
  );
}

function isFileName(source: VideoInput): source is string | URL {
  try {
    return typeof source === 'string' || source instanceof URL;
  } catch {
    // A proxy may throw.
    return false;
  }
}

export function sourceName({ track }: SourceFacts): string {
  return baseName(track.name);
}

function framesPerSecond({ track, times }: SourceFacts): number {
  const last = times.at(-1) ?? 0;
  if (last > 0) return (times.length - 1) / last;
  return quotientOf(track.frameRate) ?? USUAL_RATE;
}
