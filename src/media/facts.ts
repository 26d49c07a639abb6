/**
 * @module media/facts
 * Parses ffprobe's JSON into facts about the video track.
 */
import { defined } from '../core/arguments.js';
import { type AnyvmafError, mediaError } from '../core/errors.js';
import { formatProblem } from '../core/frame.js';
import { type Fraction, quotientOf } from '../core/numbers.js';
import { shown } from '../core/printable.js';
import type { TrackChoice, TrackFacts, VideoTrack } from './decoder.js';
import { delivery } from './delivery.js';
import { declaredRate, isUntimed } from './evidence/rate.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Parses `ffprobe -of json -show_format -show_streams -show_frames`; sizes are after cropping and rotation.
 * @param json with the track first in `streams` and, if decodable, its first frame in `frames`
 * @param converts true if the decoder converts RGB to luma and chroma, which the facts then describe
 * @throws {AnyvmafError} `media` for an encrypted track, an unknown codec, or samples that cannot be scored
 */
export function parseProbe(json: unknown, name: string, converts = false, track?: TrackChoice) {
  const stream = object(list(object(json)?.streams)[0]);
  if (!stream) throw mediaError(`${shown(name)} has no video track.`);
  const format = object(object(json)?.format) ?? {};
  const frame = object(list(object(json)?.frames)[0]) ?? {};

  const sideDataIn = (of: Json, type: string) =>
    list(of.side_data_list)
      .map((entry) => object(entry) ?? {})
      .find((entry) => entry.side_data_type === type);
  const sideDataOf = (type: string) => sideDataIn(stream, type);
  const codec = requireCodec(stream, sideDataOf('Encryption initialization data') !== undefined, name);
  const pixelFormat = word(frame.pix_fmt) ?? word(stream.pix_fmt);
  if (pixelFormat === undefined) throw undecodable(codec, name);

  // As in ffmpeg, the frame's own counts first: only it has the orientation in EXIF data or in the bitstream.
  const matrix = sideDataIn(frame, '3x3 displaymatrix') ?? sideDataOf('Display Matrix');
  const rotation = quarterTurns(matrix?.rotation);
  const turned = rotation === 90 || rotation === 270;
  const deliveredAs = delivery(pixelFormat, rotation, name, converts ? {} : undefined);
  const converted = deliveredAs.fromRgb !== undefined;
  const crop = cropping(sideDataOf('Frame Cropping'));
  // ffprobe shows the whole picture, which ffmpeg then crops by a filter.
  const stored = {
    width: (number(frame.width) ?? number(stream.width) ?? 0) - (crop ? crop.left + crop.right : 0),
    height: (number(frame.height) ?? number(stream.height) ?? 0) - (crop ? crop.top + crop.bottom : 0),
  };
  const { bitDepth, chroma } = deliveredAs;
  const size = turned ? { width: stored.height, height: stored.width } : stored;
  const problem = formatProblem({ ...size, bitDepth, chroma });
  if (problem) throw mediaError(`the video of ${shown(name)} cannot be scored: ${problem}.`);

  const container = word(format.format_name) ?? 'unknown';
  const aspect = fraction(stream.sample_aspect_ratio, ':') ?? fraction(frame.sample_aspect_ratio, ':');
  const facts: TrackFacts = defined({
    name,
    container,
    track,
    codec,
    profile: word(stream.profile),
    pixelFormat,
    ...size,
    bitDepth,
    chroma,
    ...extent(stream, format, container),
    sampleAspect: aspect && turned ? { num: aspect.den, den: aspect.num } : aspect,
    rotation,
    mirrored: mirrors(matrix?.displaymatrix),
    crop,
    colorRange: converted ? 'limited' : range(frame.color_range ?? stream.color_range, pixelFormat),
    primaries: word(stream.color_primaries) ?? word(frame.color_primaries),
    transfer: word(stream.color_transfer) ?? word(frame.color_transfer),
    matrix: converted ? 'bt709' : (word(stream.color_space) ?? word(frame.color_space)),
    chromaLocation: word(stream.chroma_location) ?? word(frame.chroma_location),
    dolbyVision: number(sideDataOf('DOVI configuration record')?.dv_profile),
    filmGrain: codec === 'av1' && number(stream.film_grain) === 1 ? 'added' : undefined,
    fieldOrder: fieldOrder(stream, frame),
  });
  return { facts, delivery: deliveredAs };
}

function extent(stream: Json, format: Json, container: string) {
  const frameRate = isUntimed(container)
    ? undefined
    : declaredRate(fraction(stream.avg_frame_rate, '/'), fraction(stream.r_frame_rate, '/'));
  const startTime = number(stream.start_time) ?? number(format.start_time) ?? null;
  const tag = clock(tagged(stream, 'DURATION'));
  const declared = number(stream.duration) ?? tag ?? number(format.duration) ?? null;
  // Matroska states when the video ends, but mkvmerge's tag how long it is.
  const isEnd = container.startsWith('matroska') && !(tag && tagged(stream, '_STATISTICS_WRITING_APP'));
  const duration =
    declared !== null && isEnd ? Number((declared - Math.max(0, startTime ?? 0)).toFixed(6)) : declared;
  const stated = number(stream.nb_frames) ?? number(tagged(stream, 'NUMBER_OF_FRAMES'));
  const frameCount = declaredFrames(stated, duration, quotientOf(frameRate));
  return {
    frameRate,
    frameCount,
    duration,
    startTime,
    bitrate: declaredBitrate({
      indexed: frameCount === null ? undefined : number(stream.bit_rate),
      tag: number(tagged(stream, 'BPS')),
      file: number(format.bit_rate),
    }),
    fileSize: number(format.size) ?? null,
  };
}

/** The video tracks in the output of `ffprobe -of json -show_streams`. */
export function videoTracks(json: unknown): VideoTrack[] {
  return list(object(json)?.streams).map((entry) => {
    const stream = object(entry) ?? {};
    return {
      width: number(stream.width) ?? 0,
      height: number(stream.height) ?? 0,
      isDefault: object(stream.disposition)?.default === 1,
    };
  });
}

/** @throws {AnyvmafError} `media` for encrypted tracks and unknown codecs */
function requireCodec(stream: Json, encrypted: boolean, name: string): string {
  const codec = word(stream.codec_name);
  const tag = word(stream.codec_tag_string) ?? '';
  if (/^(encv|drmi)$/i.test(tag) || encrypted)
    throw mediaError(
      `${shown(name)} is encrypted (${codec ?? tag}), so its frames cannot be decoded; score the video before ` +
        'encryption.',
    );
  if (codec !== undefined) return codec;
  throw mediaError(
    `${shown(name)} has a video codec that ffprobe does not know (${tag === '' ? 'no tag' : shown(tag)}).`,
  );
}

function undecodable(codec: string, name: string): AnyvmafError {
  const causes = /^https?:/i.test(name)
    ? 'the server may not support byte ranges, the file may be damaged or encrypted, or this ffmpeg may have no decoder ' +
      `for ${codec}; download the video and pass its path`
    : `the file is damaged or encrypted, or this ffmpeg has no decoder for ${codec}`;
  return mediaError(`no frame of ${shown(name)} can be decoded as ${codec}; ${causes}.`);
}

/** Degrees clockwise; ffmpeg counts the matrix's angle counter-clockwise. */
function quarterTurns(angle: unknown): 0 | 90 | 180 | 270 {
  const turns = ((Math.round(-(number(angle) ?? 0) / 90) % 4) + 4) % 4;
  return ([0, 90, 180, 270] as const)[turns] ?? 0;
}

/** By the determinant of a display matrix in ffprobe's notation. */
function mirrors(matrix: unknown): true | undefined {
  const rows = typeof matrix === 'string' ? [...matrix.matchAll(/: +(-?\d+) +(-?\d+)/g)] : [];
  const [[, a = 0, b = 0] = [], [, c = 0, d = 0] = []] = rows.map((row) => row.map(Number));
  return a * d - b * c < 0 || undefined;
}

function cropping(sideData: Json | undefined): TrackFacts['crop'] {
  const edge = (name: string) => number(sideData?.[`crop_${name}`]) ?? 0;
  const crop = { left: edge('left'), top: edge('top'), right: edge('right'), bottom: edge('bottom') };
  return Object.values(crop).some((samples) => samples !== 0) ? crop : undefined;
}

function range(named: unknown, pixelFormat: string): 'limited' | 'full' | undefined {
  if (named === 'pc' || named === 'jpeg' || pixelFormat.startsWith('yuvj')) return 'full';
  return named === 'tv' || named === 'mpeg' ? 'limited' : undefined;
}

/** By ffmpeg's names. As in RFC 9559 and in what ffmpeg writes, `tb` and `bt` are woven frames of the first letter's order. */
const FIELD_ORDERS = new Map<unknown, TrackFacts['fieldOrder']>([
  ['progressive', 'progressive'],
  ['tt', 'top-first'],
  ['tb', 'top-first'],
  ['bb', 'bottom-first'],
  ['bt', 'bottom-first'],
]);

function fieldOrder(stream: Json, frame: Json): TrackFacts['fieldOrder'] {
  const stated = FIELD_ORDERS.get(stream.field_order);
  if (stated) return stated;
  const interlaced = number(frame.interlaced_frame);
  if (interlaced === 1) return number(frame.top_field_first) === 1 ? 'top-first' : 'bottom-first';
  return interlaced === 0 ? 'progressive' : 'unknown';
}

/** A stream tag by name; Matroska may append a language. */
function tagged(stream: Json, name: string): unknown {
  const tags = object(stream.tags) ?? {};
  const key = Object.keys(tags).find((key) => key === name || key.startsWith(`${name}-`));
  return key === undefined ? undefined : tags[key];
}

function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Non-empty text other than placeholders for unknown values. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' && !['', 'unknown', 'N/A', 'reserved'].includes(value) ? value : undefined;
}

function number(value: unknown): number | undefined {
  const parsed = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined;
}

/** Seconds from `00:01:05.250000000`. */
function clock(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(value) : null;
  return match ? Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]) : undefined;
}

/** `undefined` for unknown fractions such as `0/0` and `0:1`. */
function fraction(value: unknown, separator: string): Fraction | undefined {
  const [num, den] = typeof value === 'string' ? value.split(separator).map(Number) : [];
  return num && den && num > 0 && den > 0 ? { num, den } : undefined;
}

/** Largest relative difference of a declared frame count from the duration. */
const STALE = 0.1;

/**
 * The declared frames if they fit the duration in seconds. The index of a fragmented file may count only the first
 * fragment; tags survive cutting and re-encoding.
 */
export function declaredFrames(
  declared: number | undefined,
  duration: number | null,
  rate: number | undefined,
): number | null {
  if (declared === undefined) return null;
  if (duration === null || rate === undefined) return declared;
  const fitting = duration * rate;
  return Math.abs(declared - fitting) <= Math.max(2, STALE * fitting) ? declared : null;
}

/** Largest credible relative excess of a track's bit rate over its file's. */
const EXCESS = 0.1;

/** In bits per second. */
interface DeclaredBitrates {
  /** From an index that counts all frames. */
  readonly indexed?: number;
  /** From a tag, possibly of another encode. */
  readonly tag?: number;
  readonly file?: number;
}

/** The most credible declared bit rate, or `null`. */
export function declaredBitrate({ indexed, tag, file }: DeclaredBitrates): number | null {
  const own = indexed ?? tag;
  return (own === undefined || (file !== undefined && own > (1 + EXCESS) * file) ? file : own) ?? own ?? null;
}

/**
 * Bits per second; `undefined` for fewer than two frames.
 * @param times of all frames in seconds, ascending
 */
export function packetBitrate(bytes: number, times: Float64Array): number | undefined {
  const between = (times.at(-1) ?? 0) - (times[0] ?? 0);
  if (!(between > 0)) return undefined;
  // Give the last frame the average duration.
  const seconds = (between * times.length) / (times.length - 1);
  return Math.round((8 * bytes) / seconds);
}
