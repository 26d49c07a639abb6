/**
 * @module search/setting
 * An encoder as it is set for a source: its parameter, its other arguments, the pixel format and the size of its pictures.
 */
import { encoderName } from '../core/encoder-names.js';
import { usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { encoderArguments } from './encoder-options.js';
import { type Parameter, parameterOf } from './encoders.js';
import type { EncoderFacts, PictureSize, SourceFacts, WholeEncode } from './host.js';
import type { Session } from './session.js';
import type { EncoderChoice } from './types.js';

/** All of an encode but the parameter's value. */
export interface Setting {
  readonly encoder: EncoderFacts;
  readonly parameter: Parameter;
  /** Arguments beside the parameter's. */
  readonly args: readonly string[];
  readonly pixelFormat: string;
  /** Where it is not the source's. */
  readonly size?: PictureSize | undefined;
  /** The source's samples use their full range, as the encode's shall. */
  readonly fullRange: boolean;
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
    fullRange: hasFullRange(session.facts),
  };
}

/** What a whole encode is made with for a value of the parameter. */
export function wholeEncode({ encoder, parameter, args, ...rest }: Setting, value: number): WholeEncode {
  const version = encoder.version.replace(/^ffmpeg /, '');
  return { ...rest, encoder: encoder.name, version, args: [...parameter.args(value), ...args] };
}

/** Arguments of ffmpeg between its input and its output for a value of the parameter. */
export function encodeArguments(
  { encoder, parameter, args, pixelFormat, size, fullRange }: Setting,
  value: number,
) {
  const settings = ['-c:v', encoder.name, ...parameter.args(value), ...args, '-pix_fmt', pixelFormat];
  return [...pictureArguments(size, fullRange), ...settings];
}

/**
 * Arguments of ffmpeg for pictures of a size and a range: without them it makes limited range of full, or says nothing of it.
 * @param size where it is not the source's
 * @param before filters ahead of that
 */
export function pictureArguments(
  size: PictureSize | undefined,
  fullRange: boolean,
  before: readonly string[] = [],
): readonly string[] {
  const range = `${size ? `${scaleFilter(size)}:` : 'scale='}out_range=full`;
  const scale = fullRange ? [range] : size ? [scaleFilter(size)] : [];
  const filters = [...before, ...scale];
  return [
    ...(filters.length > 0 ? ['-vf', filters.join(',')] : []),
    ...(fullRange ? ['-color_range', 'pc'] : []),
  ];
}

/** ffmpeg's filter that makes pictures of a size. */
export function scaleFilter({ width, height }: PictureSize): string {
  return `scale=${width}:${height}:flags=bicubic`;
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

/** Whether a source's samples use their full range. */
export function hasFullRange({ track }: SourceFacts): boolean {
  return track.colorRange === 'full' || FULL_RANGE.test(track.pixelFormat);
}

/** @throws {AnyvmafError} `usage` for a format that the encoder does not take */
function pixelFormatOf(wanted: string | undefined, encoder: EncoderFacts, { track }: SourceFacts): string {
  const { pixelFormats, name } = encoder;
  const plain = track.pixelFormat.replace(FULL_RANGE, 'yuv');
  const format = wanted ?? (pixelFormats.includes(plain) ? plain : track.pixelFormat);
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
