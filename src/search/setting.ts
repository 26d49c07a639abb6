/**
 * @module search/setting
 * An encoder as it is set for a source: its parameter, its other arguments, the pixel format and the size of its pictures.
 */

import { encoderName } from '../core/encoder-names.js';
import { usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { TrackFacts } from '../media/decoder.js';
import { fromRgbBy, isRgb } from '../media/delivery.js';
import { pixelFormatName } from '../media/pixel-format.js';
import { encoderArguments } from './encoder-options.js';
import { type Parameter, parameterOf } from './encoders.js';
import type { EncoderFacts, SourceFacts, SourceSamples, WholeEncode } from './host.js';
import type { Session } from './session.js';
import type { EncoderChoice } from './types.js';

/** The matrix by which RGB is encoded, as it is decoded. */
const RGB_MATRIX = 'bt709';

/** All of an encode but the parameter's value. */
export interface Setting {
  readonly encoder: EncoderFacts;
  readonly parameter: Parameter;
  /** Arguments beside the parameter's. */
  readonly args: readonly string[];
  readonly pixelFormat: string;
  /** Where it is not the source's. */
  readonly size?: PictureSize;
  /** Of the source; the encode shall have full range where it has, and BT.709 in limited range of its RGB. */
  readonly samples: SourceSamples;
}

/**
 * The setting that a choice means for the session's source.
 * @throws {AnyvmafError} `usage` for an encoder, an option, a parameter, a range or a pixel format that there is not
 */
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

/** What a whole encode is made with for a value of the parameter. */
export function wholeEncode({ encoder, parameter, args, ...rest }: Setting, value: number): WholeEncode {
  const version = encoder.version.replace(/^ffmpeg /, '');
  return { ...rest, encoder: encoder.name, version, args: [...parameter.args(value), ...args] };
}

/** Arguments of ffmpeg between its input and its output for a value of the parameter. */
export function encodeArguments(
  { encoder, parameter, args, pixelFormat, size, samples }: Setting,
  value: number,
) {
  const settings = ['-c:v', encoder.name, ...parameter.args(value), ...args, '-pix_fmt', pixelFormat];
  return [...pictureArguments(size, samples), ...settings];
}

/**
 * Arguments of ffmpeg for pictures of a size and of the source's samples: without them it makes limited range of full, or says
 * nothing of it, and makes BT.601 without a label of RGB.
 * @param size where it is not the source's
 * @param before filters ahead of that
 */
export function pictureArguments(
  size: PictureSize | undefined,
  samples: SourceSamples = 'limited',
  before: readonly string[] = [],
): readonly string[] {
  const filters = [...before, ...(size || samples !== 'limited' ? [scaleFilter(size, samples)] : [])];
  return [...(filters.length > 0 ? ['-vf', filters.join(',')] : []), ...LABELS[samples]];
}

/** What encodes state where ffmpeg would not do so by itself. */
export const LABELS: Readonly<Record<SourceSamples, readonly string[]>> = {
  limited: [],
  full: ['-color_range', 'pc'],
  rgb: ['-colorspace', RGB_MATRIX, '-color_range', 'tv'],
};

/** ffmpeg's filter that makes pictures of a size, and in the range of the encode. */
export function scaleFilter(size: PictureSize | undefined, samples: SourceSamples = 'limited'): string {
  const across = size ? [`${size.width}:${size.height}`] : [];
  if (samples === 'rgb') return fromRgbBy(RGB_MATRIX, across);
  const range = samples === 'full' ? ['out_range=full'] : [];
  return `scale=${[...across, ...(size ? ['flags=bicubic'] : []), ...range].join(':')}`;
}

/** Pixel formats that stand for frames in the memory of a device. */
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

/** ffmpeg's older names of full range: `yuvj420p` is `yuv420p`. */
const FULL_RANGE = /^yuvj/;

/** What a source's samples are. */
export function samplesOf({ track }: SourceFacts): SourceSamples {
  if (isRgb(track.pixelFormat)) return 'rgb';
  return track.colorRange === 'full' || FULL_RANGE.test(track.pixelFormat) ? 'full' : 'limited';
}

/** A source's facts with the colours of the frames that a search takes of it: RGB is decoded by the matrix of the encode. */
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
      `${name} takes frames from the memory of a device only (${pixelFormats.join(', ')}), where nothing is put here; take a software ` +
        'encoder, or one that takes frames from ordinary memory, as those of NVENC, AMF, QSV and VideoToolbox do.',
    );
  }
  const near = wanted === undefined ? nearestFormat(track.bitDepth, pixelFormats) : undefined;
  if (near !== undefined) return near;
  throw usageError(
    `${name} does not take the pixel format ${shown(format)}; it takes ${pixelFormats.join(', ')}.`,
  );
}

/** The format that keeps most of 4:2:0 at a depth, where an encoder does not take the source's own. */
function nearestFormat(bitDepth: number, formats: readonly string[]): string | undefined {
  const wanted = bitDepth > 10 ? ['yuv420p12le'] : [];
  const names = [...wanted, ...(bitDepth > 8 ? ['yuv420p10le', 'p010le'] : []), 'yuv420p', 'nv12'];
  return names.find((name) => formats.includes(name));
}
