/**
 * @module search/commands
 * Settings of encodes, and the ffmpeg arguments and timestamps that make them: whole encodes, DASH and HLS ladders,
 * joined segments.
 */
import { encoderName } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { fileWord } from '../core/names.js';
import { quotientOf } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import type { PictureSize } from '../core/size.js';
import type { TrackFacts } from '../media/decoder.js';
import { everyFrame, fromRgbBy, isPalette, isRgb, pixelFormatName } from '../media/delivery.js';
import { type EncoderFacts, encoderArguments, type Parameter, parameterOf } from './encoders.js';
import type { FrameRun, OtherTrack, Session, SourceFacts, SourceSamples, WholeEncode } from './session.js';
import type { EncoderChoice, LadderPoint } from './types.js';

/** Matrix for decoding and encoding RGB. */
const RGB_MATRIX = 'bt709';

/** Everything about an encode but the parameter's value. */
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
    args: [...encoderArguments(encoder, choice.encoderOptions ?? {}), ...timeBase(encoder, session.facts)],
    pixelFormat: pixelFormatOf(session.options.pixelFormat, encoder, session.facts),
    samples: samplesOf(session.facts),
  };
}

/** A setting's facts in results. */
export function settingFacts({ encoder, parameter }: Setting) {
  return { encoder: encoder.name, version: encoder.version, parameter: parameter.name };
}

export function wholeEncode({ encoder, parameter, args, ...rest }: Setting, value: number): WholeEncode {
  const version = ffmpegVersion(encoder);
  return { ...rest, encoder: encoder.name, version, args: [...parameter.args(value), ...args] };
}

function ffmpegVersion({ version }: EncoderFacts): string {
  return version.replace(/^ffmpeg /, '');
}

export function encodeArguments(
  { encoder, parameter, args, pixelFormat, size, samples }: Setting,
  value: number,
) {
  const settings = ['-c:v', encoder.name, ...parameter.args(value), ...args, '-pix_fmt', pixelFormat];
  return [...pictureArguments(size, samples), ...settings];
}

/**
 * Sets the size, and keeps range and matrix: by itself, ffmpeg makes full range limited or untagged, and RGB untagged
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

/** Tags that ffmpeg would not write. */
const LABELS: Readonly<Record<SourceSamples, readonly string[]>> = {
  limited: [],
  full: ['-color_range', 'pc'],
  grey: [],
  rgb: ['-colorspace', RGB_MATRIX, '-color_range', 'tv'],
  palette: ['-colorspace', RGB_MATRIX, '-color_range', 'tv'],
};

/** ffmpeg's filter for the encode's size and range. */
function scaleFilter(size: PictureSize | undefined, samples: SourceSamples = 'limited'): string {
  const across = size ? [`${size.width}:${size.height}`] : [];
  if (areRgb(samples)) return fromRgbBy(RGB_MATRIX, samples === 'palette', across);
  // By itself, ffmpeg takes unlabelled grey for full range.
  const grey = samples === 'grey' ? ['in_range=limited', 'out_range=limited'] : [];
  const range = samples === 'full' ? ['out_range=full'] : grey;
  return `scale=${[...across, ...(size ? ['flags=bicubic'] : []), ...range].join(':')}`;
}

/** Pixel formats of frames in device memory. */
const SURFACES = /^(?:vaapi|vulkan|qsv|cuda|d3d11|d3d12|dxva2_vld|videotoolbox_vld|drm_prime|opencl)$/;

/** Older names of full-range formats: `yuvj420p` is `yuv420p`. */
const FULL_RANGE = /^yuvj/;

export function samplesOf({ track }: SourceFacts): SourceSamples {
  if (isRgb(track.pixelFormat)) return isPalette(track.pixelFormat) ? 'palette' : 'rgb';
  if (track.colorRange === 'full' || FULL_RANGE.test(track.pixelFormat)) return 'full';
  return track.chroma === '400' ? 'grey' : 'limited';
}

export function areRgb(samples: SourceSamples): boolean {
  return samples === 'rgb' || samples === 'palette';
}

/** The colour of decoded samples: RGB is decoded with the encode's matrix. */
export function decodedColour(facts: SourceFacts): TrackFacts {
  const { track } = facts;
  return areRgb(samplesOf(facts)) ? { ...track, matrix: RGB_MATRIX, colorRange: 'limited' } : track;
}

/** @throws {AnyvmafError} `usage` for a format that the encoder does not take */
function pixelFormatOf(wanted: string | undefined, encoder: EncoderFacts, { track }: SourceFacts): string {
  const { pixelFormats, name } = encoder;
  const stored = isRgb(track.pixelFormat) ? pixelFormatName(track) : track.pixelFormat;
  const plain = stored.replace(FULL_RANGE, 'yuv');
  const format = wanted ?? (pixelFormats.includes(plain) ? plain : stored);
  if (pixelFormats.length === 0 || pixelFormats.includes(format)) return format;
  const surfaces = pixelFormats.filter((format) => !SURFACES.test(format));
  if (surfaces.length === 0)
    throw usageError(
      `${name} takes frames only from device memory (${pixelFormats.join(', ')}), to which they are not uploaded here; use a software ` +
        'encoder, or one that takes frames from system memory, such as those of NVENC, AMF, QSV and VideoToolbox.',
    );
  const near = wanted === undefined ? nearestFormat(track.bitDepth, pixelFormats) : undefined;
  if (near !== undefined) return near;
  throw usageError(
    `${name} does not take the pixel format ${shown(format)}; it takes ${pixelFormats.join(', ')}.`,
  );
}

/** Closest 4:2:0 format for an encoder that does not take the source's own. */
function nearestFormat(bitDepth: number, formats: readonly string[]): string | undefined {
  const deep = bitDepth > 10 ? ['yuv420p12le'] : [];
  const names = [...deep, ...(bitDepth > 8 ? ['yuv420p10le', 'p010le'] : []), 'yuv420p', 'nv12'];
  return names.find((name) => formats.includes(name));
}

const MUXERS: Readonly<Record<string, string>> = {
  '.mp4': 'mp4',
  '.m4v': 'mp4',
  '.mov': 'mov',
  '.mkv': 'matroska',
  '.webm': 'webm',
};

/** ffmpeg's muxer for an output name. @throws {AnyvmafError} `usage` for an unknown extension */
export function muxerOf(output: string): string {
  const ending = /\.[^./\\]+$/.exec(output)?.[0].toLowerCase() ?? '';
  if (Object.hasOwn(MUXERS, ending)) return MUXERS[ending] as string;
  throw usageError(
    `the output is ${shown(output)}, but its name must end in ${Object.keys(MUXERS).join(', ')}.`,
  );
}

/** ffmpeg's arguments that open a source, in a command for the user. */
export function openingOf(
  source: string | URL,
  { opening }: Pick<SourceFacts, 'opening'>,
): readonly string[] {
  return opening ?? ['-i', fileWord(String(source))];
}

/** ffmpeg's arguments between input and output: encodes all frames, copies all other tracks that fit. */
export function wholeArguments(
  { encoder, version, args, pixelFormat, size, samples }: WholeEncode,
  output: string,
): readonly string[] {
  const muxer = muxerOf(output);
  const tagged = isHevc(encoder) && (muxer === 'mp4' || muxer === 'mov') && !args.includes('-tag:v');
  return [
    ...['-map', '0:V:0', ...pictureArguments(size, samples)],
    ...['-map', '0:a?', '-map', '0:s?', ...(muxer === 'matroska' ? ['-map', '0:t?', '-c:t', 'copy'] : [])],
    ...['-c:a', 'copy', '-c:s', 'copy', '-map_metadata', '0'],
    ...['-c:v', encoder, ...args, '-pix_fmt', pixelFormat, ...everyFrame(version)],
    // Apple players accept HEVC only as hvc1.
    ...(tagged ? ['-tag:v', 'hvc1'] : []),
    // By the extension alone, ffmpeg writes a raw stream.
    ...(/\.m4v$/i.test(output) ? ['-f', muxer] : []),
  ];
}

/** First version of ffmpeg (major * 100 + minor) that passes HDR metadata to these encoders. */
const HDR_VERSION = 701;
const HDR_ENCODERS: readonly string[] = ['libx264', 'libx265', 'libsvtav1'];

/** Warnings in sentences: source properties that the encode loses, and formats that few players decode. */
export function lossesOf(
  { track, hdr = [] }: Pick<SourceFacts, 'track' | 'hdr'>,
  { encoder, version, args, pixelFormat }: WholeEncode,
): readonly string[] {
  const found: string[] = [];
  const plane = /4(?:22|44)/.exec(pixelFormat)?.[0];
  if (plane !== undefined) {
    const depth = /(?:10|12)/.exec(pixelFormat.replace(/4(?:22|44)/, ''))?.[0];
    const name = depth === undefined ? 'yuv420p' : 'yuv420p10le';
    found.push(
      `The encode is 4:${plane[1]}:${plane[2]} (${pixelFormat}), which few players decode; set the pixel format ${name} for the others.`,
    );
  }
  if (track.fieldOrder === 'top-first' || track.fieldOrder === 'bottom-first')
    found.push(
      'The source is interlaced, and its fields are encoded as frames, which costs bytes and shows combing; deinterlace it first, ' +
        'such as with ffmpeg -i SOURCE -vf bwdif -c:v ffv1 -c:a copy NEW.mkv.',
    );
  const [, major = '', minor = ''] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  const passed = HDR_ENCODERS.includes(encoder) && Number(major) * 100 + Number(minor) >= HDR_VERSION;
  const stated = args.some((arg) => /master(?:ing)?-display/.test(arg));
  const lost = hdr.filter((kind) => !(passed || stated) || !/Mastering|Content light/.test(kind));
  if (lost.length > 0)
    found.push(
      `The encode loses HDR metadata of the source: ${lost.join(', ')}. Options of the encoder can write it, such as ` +
        'master-display and max-cll of libx265.',
    );
  return found;
}

/** A sentence about tracks that {@link wholeArguments} does not copy. @param output default: a Matroska file */
export function lostTracks(
  { others = [] }: Pick<SourceFacts, 'others'>,
  output = 'encode.mkv',
): readonly string[] {
  const muxer = muxerOf(output);
  const lost = others.filter((track) => !isCopied(track, muxer));
  const fits = lost.some((track) => isCopied(track, 'matroska'));
  return notCopied(lost, fits ? '; an output that ends in .mkv keeps attachments' : '');
}

export function notCopied(tracks: readonly OtherTrack[], advice = ''): readonly string[] {
  const names = tracks.map(({ kind, codec }) => (codec === '' ? kind : `${kind} (${codec})`));
  return names.length === 0
    ? []
    : [`Tracks of the source that are not copied: ${names.join(', ')}${advice}.`];
}

function isCopied({ kind, codec }: OtherTrack, muxer: string): boolean {
  if (kind === 'audio' || kind === 'subtitle') return true;
  // ffmpeg treats a cover picture as a video track.
  const isCover = /^(?:mjpeg|png|bmp|gif|webp|jpeg)/.test(codec);
  return kind === 'attachment' && muxer === 'matroska' && !isCover;
}

/** Length of a segment in seconds. */
const SEGMENT = 4;

export function segmentFrames(perSecond: number): number {
  return Math.max(1, Math.round(perSecond * SEGMENT));
}

/** Makes ffmpeg write independent segments: a key frame for each, and closed GOPs. */
export function segmentArguments(perSecond: number): readonly string[] {
  return ['-g', String(segmentFrames(perSecond)), '-flags', '+cgop'];
}

export const SEGMENT_STARTS = ['-force_key_frames', `expr:gte(t,n_forced*${SEGMENT})`] as const;

/**
 * Encodes rungs as aligned segments, with the first audio track as AAC, a DASH manifest and an HLS master playlist.
 * @param setting as the rungs were measured, with {@link segmentArguments}
 */
export function streamingCommand(
  source: string,
  { encoder, parameter, args, pixelFormat, samples }: Setting,
  rungs: readonly LadderPoint[],
  facts: Pick<SourceFacts, 'others' | 'opening'>,
): readonly string[] {
  const { others = [] } = facts;
  const pads = rungs.map((_, i) => `[s${i}]`).join('');
  const scales = rungs.map((rung, i) => `[s${i}]${scaleFilter(rung, samples)}[v${i}]`).join(';');
  const sound = others.some(({ kind }) => kind === 'audio');
  const starts = args.includes(SEGMENT_STARTS[0]) ? [] : SEGMENT_STARTS;
  return [
    ...['ffmpeg', ...openingOf(source, facts)],
    ...['-filter_complex', `[0:V:0]split=${rungs.length}${pads};${scales}`],
    ...rungs.flatMap((_, i) => ['-map', `[v${i}]`]),
    ...(sound ? ['-map', '0:a:0'] : []),
    ...['-c:v', encoder.name],
    ...rungs.flatMap(({ value }, i) => ofStream(parameter.args(value), i)),
    ...args,
    ...['-pix_fmt', pixelFormat, ...LABELS[samples], ...starts],
    // By itself, ffmpeg repeats and drops frames of uneven times for DASH.
    ...everyFrame(ffmpegVersion(encoder)),
    // Apple players accept HEVC only as hvc1.
    ...(isHevc(encoder.name) ? ['-tag:v', 'hvc1'] : []),
    ...(sound ? ['-c:a', 'aac', '-b:a', '128k'] : []),
    ...['-f', 'dash', '-dash_segment_type', 'mp4', '-seg_duration', String(SEGMENT)],
    ...['-adaptation_sets', sound ? 'id=0,streams=v id=1,streams=a' : 'id=0,streams=v'],
    ...['-hls_playlist', '1', 'ladder.mpd'],
  ];
}

export function isHevc(encoder: string): boolean {
  return /^(?:libx265|hevc_|libkvazaar)/.test(encoder);
}

function ofStream(args: readonly string[], stream: number): readonly string[] {
  return args.map((arg, i) => (i % 2 === 0 ? `${arg.replace(/:v$/, '')}:v:${stream}` : arg));
}

/** Tolerance for times at a constant rate, in seconds: containers round to milliseconds. */
const ROUNDING = 0.0011;
/** Ticks per second for irregular times, which are read with this precision. */
const MICROSECONDS = 1_000_000;

/** Divisible by usual frame rates, and within the 16 bits of MPEG-4. */
const FINE = ['-enc_time_base:v', '1:60000'] as const;

/** By itself, ffmpeg rounds times to whole frames, and may give two frames one time. MPEG-1 and MPEG-2 have only these. */
function timeBase({ name }: EncoderFacts, { track, times }: SourceFacts): readonly string[] {
  const period = 1 / (quotientOf(track.frameRate) ?? Number.NaN);
  const isUneven = times.some((time) => Math.abs(time - Math.round(time / period) * period) > ROUNDING);
  return isUneven && !/^mpeg[12]video$/.test(name) ? FINE : [];
}

/** Presentation times in whole ticks. */
export interface Clock {
  /** Ticks per second. */
  readonly perSecond: number;
  /** Ticks from the first frame to frame `index`, which may be outside the video. */
  tick(index: number): number;
}

/** Counts by the source's frame rate if that is constant, else by frame times. */
export function clockOf({ track, times }: Pick<SourceFacts, 'track' | 'times'>): Clock {
  const rate = track.frameRate;
  if (rate && rate.num > 0 && rate.num <= MICROSECONDS) {
    const even = times.every((time, i) => Math.abs(time - (i * rate.den) / rate.num) <= ROUNDING);
    const finer = rate.num < 1000 ? 1000 : 1;
    if (even) return { perSecond: rate.num * finer, tick: (index) => index * rate.den * finer };
  }
  const ticks: number[] = [];
  for (const time of times) {
    // Equal times would leave no order.
    ticks.push(Math.max(Math.round(time * MICROSECONDS), (ticks.at(-1) ?? -1) + 1));
  }
  const last = ticks.at(-1) ?? 0;
  const period = Math.max(1, Math.round(ticks.length > 1 ? last / (ticks.length - 1) : MICROSECONDS / 25));
  return {
    perSecond: MICROSECONDS,
    tick(index) {
      if (index < 0) return index * period;
      return ticks[index] ?? last + (index - ticks.length + 1) * period;
    },
  };
}

/** Least distance of times that stay apart in milliseconds, in microseconds. */
const DISTINCT = 2000;
/** Most times that fit into one argument: Linux limits it to 128 KiB. */
const MOST_TIMES = 4000;

/** Times of a run of frames from its first, in microseconds; `undefined` if even, too many, or too close for Matroska. */
export function unevenTimes(facts: Pick<SourceFacts, 'track' | 'times'>, { first, count }: FrameRun) {
  const clock = clockOf(facts);
  if (clock.perSecond !== MICROSECONDS || count > MOST_TIMES) return undefined;
  const times = Array.from({ length: count }, (_, i) => clock.tick(first + i) - clock.tick(first));
  return times.every((time, i) => i === 0 || time - (times[i - 1] as number) >= DISTINCT) ? times : undefined;
}

/**
 * Times of a segment's packets from its first frame, in ticks and decoding order.
 * @param ranks place of each packet in presentation order
 * @param delay packets by which decoding runs ahead, at least as many as any segment needs
 */
export function segmentStamps(
  clock: Clock,
  { first }: FrameRun,
  ranks: readonly number[],
  delay: number,
): { readonly pts: readonly number[]; readonly dts: readonly number[] } {
  const start = clock.tick(first);
  return {
    pts: ranks.map((rank) => clock.tick(first + rank) - start),
    dts: ranks.map((_, n) => clock.tick(first + n - delay) - start),
  };
}

/** An ffmpeg expression whose value at packet `N` is the N-th of `values`, found by binary search. */
export function lookup(values: readonly number[], from = 0, to: number = values.length): string {
  if (to - from <= 1) return String(values[from] ?? 0);
  const middle = (from + to) >> 1;
  return `if(lt(N,${middle}),${lookup(values, from, middle)},${lookup(values, middle, to)})`;
}
