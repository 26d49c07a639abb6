/**
 * @module search/session
 * Opens the source of a search, and resolves the settings of its encodes.
 */
import { wrongType } from '../core/arguments.js';
import { encoderName } from '../core/encoder-names.js';
import { AnyvmafError, usageError } from '../core/errors.js';
import { BY_USER, type Origin } from '../core/origin.js';
import { shown } from '../core/printable.js';
import { quotientOf, USUAL_RATE } from '../core/rational.js';
import type { PictureSize } from '../core/size.js';
import { Scope } from '../engine/contract/scope.js';
import type { TrackFacts } from '../media/decoder.js';
import { fromRgbBy, isRgb, pixelFormatName } from '../media/delivery.js';
import type { VideoInput } from '../media/types.js';
import { baseName } from '../report/facts.js';
import { extractorsFor } from '../report/limits.js';
import { encoderArguments, type Parameter, parameterOf } from './encoders.js';
import type {
  EncoderFacts,
  EncodingFolder,
  EncodingHost,
  PointStore,
  SearchPlatform,
  SourceFacts,
  SourceSamples,
  WholeEncode,
} from './host.js';
import type { QualityTarget } from './targets.js';
import type { EncoderChoice, EncodingOptions } from './types.js';

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
  readonly signal: AbortSignal;
}

/** Metrics aimed at, which the models may not include. */
interface Aims {
  readonly metric?: string;
  readonly targets?: readonly (number | QualityTarget)[];
}

function withFeatures(options: EncodingOptions & Aims): EncodingOptions {
  const { metric, targets = [], features = [] } = options;
  const named = [metric, ...targets.map((one) => (typeof one === 'number' ? undefined : one.metric))];
  const more = extractorsFor(
    named.filter((one) => one !== undefined),
    features,
  );
  return more.length > 0 ? { ...options, features: [...features, ...more] } : options;
}

/**
 * Opens a source for encoding, runs `work`, and closes everything.
 * @throws {AnyvmafError} `usage` unless the source is a file name or URL; `backend` if programs cannot run here; what
 * `work` throws; the signal's reason if aborted
 */
export async function inSession<T>(
  platform: SearchPlatform,
  source: VideoInput,
  options: EncodingOptions & Aims,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (!isFileName(source)) throw wrongType('source', source, 'the path of a file, or its URL');
  if (!platform.encoding) {
    throw new AnyvmafError('backend', 'Encoders are programs, which cannot run here; use Node.js.');
  }
  const scope = new Scope(options.signal);
  const { signal } = scope;
  try {
    const bound = platform.ofOrigin?.(options.origin ?? BY_USER) ?? platform;
    const host = await (bound.encoding ?? platform.encoding)();
    options.onStage?.({ kind: 'reading' });
    const facts = await host.source(source, signal);
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
      signal,
    });
  } catch (error) {
    throw options.signal?.aborted ? options.signal.reason : error;
  } finally {
    await scope.close();
  }
}

/** Turns I/O errors of a store into notes: it only saves time. */
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

function scoringPlatform(
  platform: SearchPlatform,
  origin: Origin | undefined,
  folder: EncodingFolder,
): SearchPlatform {
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

/** Matrix for decoding and encoding RGB. */
const RGB_MATRIX = 'bt709';

/** All of an encode but the parameter's value. */
export interface Setting {
  readonly encoder: EncoderFacts;
  readonly parameter: Parameter;
  readonly args: readonly string[];
  readonly pixelFormat: string;
  /** If it differs from the source's. */
  readonly size?: PictureSize;
  /** Of the source. Full range stays full; RGB is encoded as BT.709 in limited range. */
  readonly samples: SourceSamples;
}

/** @throws {AnyvmafError} `usage` for an unknown encoder, option, parameter, range or pixel format */
export async function settingOf(session: Session, choice: EncoderChoice): Promise<Setting> {
  const encoder = await session.host.encoder(encoderName(choice.encoder), session.signal);
  return {
    encoder,
    parameter: parameterOf(encoder, choice.parameter, choice.range),
    args: encoderArguments(encoder, choice.encoderOptions ?? {}),
    pixelFormat: pixelFormatOf(session.options.pixelFormat, encoder, session.facts),
    samples: samplesOf(session.facts),
  };
}

export function wholeEncode({ encoder, parameter, args, ...rest }: Setting, value: number): WholeEncode {
  const version = encoder.version.replace(/^ffmpeg /, '');
  return { ...rest, encoder: encoder.name, version, args: [...parameter.args(value), ...args] };
}

export function encodeArguments(
  { encoder, parameter, args, pixelFormat, size, samples }: Setting,
  value: number,
) {
  const settings = ['-c:v', encoder.name, ...parameter.args(value), ...args, '-pix_fmt', pixelFormat];
  return [...pictureArguments(size, samples), ...settings];
}

/**
 * Sets the size and keeps range and matrix: ffmpeg alone makes full range limited or untagged, and RGB untagged
 * BT.601.
 * @param size if it differs from the source's
 * @param before filters to run first
 */
export function pictureArguments(
  size: PictureSize | undefined,
  samples: SourceSamples = 'limited',
  before: readonly string[] = [],
): readonly string[] {
  const filters = [...before, ...(size || samples !== 'limited' ? [scaleFilter(size, samples)] : [])];
  return [...(filters.length > 0 ? ['-vf', filters.join(',')] : []), ...LABELS[samples]];
}

/** Tags that ffmpeg would not write by itself. */
export const LABELS: Readonly<Record<SourceSamples, readonly string[]>> = {
  limited: [],
  full: ['-color_range', 'pc'],
  rgb: ['-colorspace', RGB_MATRIX, '-color_range', 'tv'],
};

/** ffmpeg's filter for a size, and for the range of the encode. */
export function scaleFilter(size: PictureSize | undefined, samples: SourceSamples = 'limited'): string {
  const across = size ? [`${size.width}:${size.height}`] : [];
  if (samples === 'rgb') return fromRgbBy(RGB_MATRIX, across);
  const range = samples === 'full' ? ['out_range=full'] : [];
  return `scale=${[...across, ...(size ? ['flags=bicubic'] : []), ...range].join(':')}`;
}

/** Pixel formats of frames in device memory. */
const SURFACES: readonly string[] = [
  'vaapi',
  'vulkan',
  'qsv',
  'cuda',
  'd3d11',
  'd3d12',
  'dxva2_vld',
  'videotoolbox_vld',
  'drm_prime',
  'opencl',
];

/** ffmpeg's older names of full-range formats: `yuvj420p` is `yuv420p`. */
const FULL_RANGE = /^yuvj/;

export function samplesOf({ track }: SourceFacts): SourceSamples {
  if (isRgb(track.pixelFormat)) return 'rgb';
  return track.colorRange === 'full' || FULL_RANGE.test(track.pixelFormat) ? 'full' : 'limited';
}

/** The colour of decoded samples: RGB is decoded with the matrix of the encode. */
export function decodedColour(facts: SourceFacts): TrackFacts {
  const { track } = facts;
  return samplesOf(facts) === 'rgb' ? { ...track, matrix: RGB_MATRIX, colorRange: 'limited' } : track;
}

/** @throws {AnyvmafError} `usage` for a format that the encoder does not take */
function pixelFormatOf(wanted: string | undefined, encoder: EncoderFacts, { track }: SourceFacts): string {
  const { pixelFormats, name } = encoder;
  const stored = isRgb(track.pixelFormat) ? pixelFormatName(track) : track.pixelFormat;
  const plain = stored.replace(FULL_RANGE, 'yuv');
  const format = wanted ?? (pixelFormats.includes(plain) ? plain : stored);
  if (pixelFormats.length === 0 || pixelFormats.includes(format)) return format;
  const surfaces = pixelFormats.filter((one) => !SURFACES.includes(one));
  if (surfaces.length === 0) {
    throw usageError(
      `${name} takes frames only from device memory (${pixelFormats.join(', ')}), to which they are not uploaded here; use a software ` +
        'encoder, or one that takes frames from system memory, such as those of NVENC, AMF, QSV and VideoToolbox.',
    );
  }
  const near = wanted === undefined ? nearestFormat(track.bitDepth, pixelFormats) : undefined;
  if (near !== undefined) return near;
  throw usageError(
    `${name} does not take the pixel format ${shown(format)}; it takes ${pixelFormats.join(', ')}.`,
  );
}

/** Closest 4:2:0 format, for an encoder that does not take the source's own. */
function nearestFormat(bitDepth: number, formats: readonly string[]): string | undefined {
  const wanted = bitDepth > 10 ? ['yuv420p12le'] : [];
  const names = [...wanted, ...(bitDepth > 8 ? ['yuv420p10le', 'p010le'] : []), 'yuv420p', 'nv12'];
  return names.find((name) => formats.includes(name));
}
