/**
 * @module platform/mediabunny/track
 * Opens a file's video track with mediabunny, and describes it in ffmpeg's names.
 */
import type { EncodedPacket, Input, InputTrack, InputVideoTrack, VideoSample } from 'mediabunny';
import { AnyvmafError, mediaError, messageOf, type Remedy } from '../../core/errors.js';
import { formatProblem } from '../../core/frame.js';
import { shown } from '../../core/printable.js';
import { chooseTrack, type TrackChoice, type TrackFacts, type VideoTrack } from '../../media/decoder.js';
import { delivery } from '../../media/delivery.js';
import { addsGrain, hidesFrames, showsFrame, turnsPicture } from '../../media/evidence/packets.js';
import { rateOf } from '../../media/evidence/rate.js';
import { goesOnInFragments, joinsParts } from '../../media/mp4-times.js';
import type { ByteReader } from '../../media/types.js';
import type { LentVideo } from './remote.js';

export type Mediabunny = typeof import('mediabunny');

/** A parser thread with WebCodecs in a browser, or with the decoders of `@mediabunny/server` in Node. */
export interface MediabunnyHost {
  /** The decoder's name, for the report: `WebCodecs`, `libavcodec`. */
  readonly engine: string;
  readonly library: Mediabunny;
  /** @throws {AnyvmafError} `io` if it cannot be read */
  openInput(video: LentVideo): Promise<ByteReader> | ByteReader;
  /** Called for each packet or picture. */
  progress(): void;
  /** Whether a sample holds guesses instead of coded samples; absent if the decoder does not report it. */
  isPatched?(sample: VideoSample): boolean;
  /** Why decoding failed at this sample, which has no picture; absent if the decoder throws instead. */
  failureAt?(sample: VideoSample): unknown;
  /** Alternatives for a video that cannot be decoded here: `install ffmpeg`. */
  readonly remedies: readonly Remedy[];
}

/** ffmpeg's short names of mediabunny's containers. */
const CONTAINERS: Readonly<Record<string, string>> = {
  MP4: 'mov,mp4,m4a,3gp,3g2,mj2',
  'QuickTime File Format': 'mov,mp4,m4a,3gp,3g2,mj2',
  Matroska: 'matroska,webm',
  WebM: 'matroska,webm',
  Ogg: 'ogg',
  'MPEG Transport Stream': 'mpegts',
};

/** ffmpeg's names where they differ from WebCodecs'. */
const CODECS: Readonly<Record<string, string>> = { avc: 'h264' };
const TRANSFERS: Readonly<Record<string, string>> = { pq: 'smpte2084', hlg: 'arib-std-b67' };
const MATRICES: Readonly<Record<string, string>> = { 'bt2020-ncl': 'bt2020nc', rgb: 'gbr' };

/** Packets to estimate the frame rate of containers without an index. */
const RATE_PACKETS = 250;

/** Seconds within which times are equal. */
export const SAME = 1e-6;

export interface OpenedTrack {
  readonly name: string;
  readonly size: number;
  readonly input: Input;
  readonly track: InputVideoTrack;
  readonly choice: TrackChoice | undefined;
  readonly library: Mediabunny;
  readonly container: string;
  /** ffmpeg's name. */
  readonly codec: string;
  /** Idempotent. */
  close(): void;
}

/**
 * Opens a file and its requested or default video track.
 * @throws {AnyvmafError} `media` if mediabunny does not know the container or codec; `usage` if there is no such track
 */
export async function openTrack(
  host: MediabunnyHost,
  { name, track: requested }: Pick<LentVideo, 'name' | 'track'>,
  reader: ByteReader,
): Promise<OpenedTrack> {
  const { library } = host;
  const { ALL_FORMATS, CustomSource, HLS, Input, UnsupportedInputFormatError } = library;
  const source = new CustomSource({
    getSize: () => reader.size,
    async read(start, end) {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, reader.size) - start));
      const got = await reader.read(start, [bytes]);
      return got === bytes.length ? bytes : bytes.subarray(0, got);
    },
    prefetchProfile: 'fileSystem',
    // The next read throws it.
    handleUnhandledError() {},
  });
  // No playlists: only the input itself is read.
  const formats = ALL_FORMATS.filter((format) => format !== HLS);
  const input = new Input({ formats, source });
  const close = (): void => {
    input.dispose();
    reader.close();
  };
  try {
    const format = await input.getFormat();
    const tracks = await input.getVideoTracks();
    const choice = chooseTrack(await Promise.all(tracks.map(declaredTrack)), requested, name);
    const track = tracks[choice?.index ?? 0];
    if (!track) throw await withoutVideo(host, name, format.name, await input.getTracks());
    const codec = await track.getCodec();
    if (codec === null) {
      const id = await track.getInternalCodecId();
      const what = `the video of ${shown(name)} has a codec that mediabunny does not know (${shown(String(id))})`;
      throw beyond(host, name, what);
    }
    if (codec === 'prores') {
      const what = `the video of ${shown(name)} is prores, whose samples from mediabunny's own decoder differ`;
      throw beyond(host, name, `${what} from ffmpeg's`);
    }
    const ffmpegCodec = CODECS[codec] ?? codec;
    const container = CONTAINERS[format.name] ?? format.name;
    if (container.startsWith('mov')) await refuseParts(host, name, reader);
    return { name, size: reader.size, input, track, choice, library, container, codec: ffmpegCodec, close };
  } catch (error) {
    close();
    if (error instanceof UnsupportedInputFormatError) {
      const what = 'is not in a container that mediabunny reads (MP4, MOV, Matroska, WebM, MPEG-TS, Ogg)';
      throw beyond(host, name, `${shown(name)} ${what}`);
    }
    if (error instanceof AnyvmafError) throw error;
    throw beyond(host, name, `${shown(name)} is not a video that mediabunny can read`, error);
  }
}

/** @throws {AnyvmafError} `media` for MP4 of which mediabunny would read only the first part */
async function refuseParts(host: MediabunnyHost, name: string, reader: ByteReader): Promise<void> {
  if (await goesOnInFragments(reader)) {
    const what = `${shown(name)} continues in fragments after its index, and mediabunny reads only the index`;
    throw beyond(host, name, what);
  }
  if (await joinsParts(reader)) {
    const what = `${shown(name)} joins several parts by its edit list, of which mediabunny reads only the first`;
    throw beyond(host, name, what);
  }
}

async function declaredTrack(track: InputVideoTrack): Promise<VideoTrack> {
  const [width, height] = [await track.getCodedWidth(), await track.getCodedHeight()];
  return { width, height, isDefault: (await track.getDisposition()).default };
}

/** The error for a limit of mediabunny, which other decoders may not have. */
export function beyond({ remedies }: MediabunnyHost, file: string, what: string, cause?: unknown) {
  return mediaError(what, { hints: remedies, file, cause });
}

async function withoutVideo(
  host: MediabunnyHost,
  name: string,
  format: string,
  tracks: readonly InputTrack[],
): Promise<AnyvmafError> {
  // Here mediabunny lists no tracks of unknown codecs.
  if (format === 'Ogg' || format === 'MPEG Transport Stream')
    return beyond(host, name, `${shown(name)} has no video track, or none of a codec that mediabunny knows`);
  const kinds = await Promise.all(
    tracks.map(async (track) => `${track.type} (${(await track.getCodec()) ?? 'unknown'})`),
  );
  const others = kinds.length === 0 ? 'nor any other' : `only ${kinds.join(', ')}`;
  return mediaError(`${shown(name)} has no video track, ${others}.`, { file: name });
}

/** Decodes the first displayed frame. The caller closes it. */
async function firstSample(host: MediabunnyHost, opened: OpenedTrack): Promise<VideoSample> {
  const { track, library, name, codec } = opened;
  if (!(await track.canDecode())) {
    const parameters = await track.getCodecParameterString();
    const called = `${codec}${parameters === null ? '' : ` (${parameters})`}`;
    const what = `the video of ${shown(name)} is ${called}, which ${host.engine} cannot decode here`;
    throw beyond(host, name, what);
  }
  const sink = new library.VideoSampleSink(track, DECODING);
  for await (const sample of sink.samples()) {
    host.progress();
    if (sample.timestamp >= -SAME) return sample;
    sample.close();
  }
  throw beyond(host, name, `mediabunny finds no complete frame in ${shown(name)}`);
}

/** Hardware decoders output fewer layouts, or unnamed ones. */
export const DECODING = { hardwareAcceleration: 'prefer-software' } as const;

export async function orientation(track: InputVideoTrack): Promise<Orientation> {
  return { rotation: await track.getRotation(), flip: await track.getFlip() };
}

/** Describes the track; decodes its first frame. @throws {AnyvmafError} `media` unless that is luma and chroma */
export async function trackFacts(host: MediabunnyHost, opened: OpenedTrack): Promise<TrackFacts> {
  const { track, choice, name, container, codec, size } = opened;
  let sample: VideoSample;
  try {
    sample = await firstSample(host, opened);
  } catch (error) {
    throw decodingError(name, error);
  }
  try {
    if (await firstIsTurned(host, opened)) {
      const what = `the pictures of ${shown(name)} are turned by their bitstream, which mediabunny does not read`;
      throw beyond(host, name, what);
    }
    const { turned, ...format } = await uprightFormat(host, opened, sample);
    const stats = container.startsWith('mov') ? await indexStats(host, opened) : undefined;
    const startTime = await track.getFirstTimestamp();
    const end = await track.getDurationFromMetadata();
    const times = Float64Array.from(stats?.times ?? (await firstTimes(host, opened))).sort();
    const frameRate = rateOf({ timestamps: times });
    const aspect = await track.getPixelAspectRatio();
    // Declarations of the container or the bitstream; a decoded sample also has guesses of the decoder.
    const { primaries, transfer, matrix, fullRange } = await track.getColorSpace();
    // mediabunny takes H.264 without any label for limited range.
    const statesRange = codec !== 'h264' || fullRange || primaries || transfer || matrix;
    return {
      name,
      container,
      ...(choice && { track: choice }),
      codec,
      ...format,
      ...(frameRate && { frameRate }),
      frameCount: stats && stats.packetCount > 0 ? stats.packetCount : null,
      duration: end === null ? null : Number((end - Math.max(0, startTime)).toFixed(6)),
      startTime,
      bitrate: stats ? Math.round(stats.averageBitrate) : await track.getAverageBitrate(),
      fileSize: size,
      sampleAspect: turned ? { num: aspect.den, den: aspect.num } : { num: aspect.num, den: aspect.den },
      ...(typeof fullRange === 'boolean' &&
        statesRange && {
          colorRange: fullRange ? ('full' as const) : ('limited' as const),
        }),
      ...(primaries && { primaries }),
      ...(transfer && { transfer: TRANSFERS[transfer] ?? transfer }),
      ...(matrix && { matrix: MATRICES[matrix] ?? matrix }),
      ...((await firstAddsGrain(host, opened)) && { filmGrain: 'added' as const }),
      fieldOrder: 'unknown',
    };
  } finally {
    sample.close();
  }
}

/** Yields packets, by default without data. @throws {AnyvmafError} `media` if there are more packets than bytes */
export async function* packetsOf(
  host: MediabunnyHost,
  { name, size, track, library }: OpenedTrack,
  metadataOnly = true,
): AsyncGenerator<EncodedPacket, void> {
  let count = 0;
  const sink = new library.EncodedPacketSink(track);
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly })) {
    host.progress();
    if (++count > size)
      throw mediaError(`${shown(name)} lists more frames than its ${size} bytes can hold; it is damaged.`);
    yield packet;
  }
}

/** Times of displayed frames in seconds, for a codec that also stores hidden ones. @param most frames to read */
export async function shownTimes(
  host: MediabunnyHost,
  opened: OpenedTrack,
  most = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const times: number[] = [];
  for await (const { timestamp, data } of packetsOf(host, opened, false)) {
    if (timestamp >= -SAME && showsFrame(opened.codec, data)) times.push(timestamp);
    if (times.length >= most) break;
  }
  return times;
}

/** Times of the first displayed frames, in decoding order. */
async function firstTimes(host: MediabunnyHost, opened: OpenedTrack): Promise<readonly number[]> {
  if (hidesFrames(opened.codec)) return shownTimes(host, opened, RATE_PACKETS);
  const times: number[] = [];
  for await (const { timestamp } of packetsOf(host, opened)) {
    times.push(timestamp);
    if (times.length >= RATE_PACKETS) break;
  }
  return times;
}

/** Packets after the first shown one that may be shown before it: more than any codec reorders. */
const REORDERED = 32;

/** Time of the first frame that is shown: an edit list may cut off earlier ones. */
export async function firstShown(host: MediabunnyHost, opened: OpenedTrack): Promise<number> {
  let [first, after] = [Number.POSITIVE_INFINITY, 0];
  for await (const { timestamp } of packetsOf(host, opened)) {
    if (timestamp >= -SAME) first = Math.min(first, timestamp);
    if (Number.isFinite(first) && ++after > REORDERED) break;
  }
  return Number.isFinite(first) ? first : 0;
}

/** Whether AV1 decoders add film grain, by the data before the first frame. */
async function firstAddsGrain(host: MediabunnyHost, opened: OpenedTrack): Promise<boolean> {
  if (opened.codec !== 'av1') return false;
  const data = await firstData(host, opened);
  return data !== undefined && addsGrain(data);
}

async function firstIsTurned(host: MediabunnyHost, opened: OpenedTrack): Promise<boolean> {
  const { codec, container } = opened;
  if (codec !== 'h264' && codec !== 'hevc') return false;
  const data = await firstData(host, opened);
  return data !== undefined && turnsPicture(codec, data, container !== 'mpegts');
}

async function firstData(host: MediabunnyHost, opened: OpenedTrack): Promise<Uint8Array | undefined> {
  for await (const { data } of packetsOf(host, opened, false)) return data;
  return undefined;
}

/** As the library's `computePacketStats`, but with reports of progress. */
async function indexStats(host: MediabunnyHost, opened: OpenedTrack) {
  const times: number[] = [];
  let [bytes, start, end] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for await (const { timestamp, duration, byteLength } of packetsOf(host, opened)) {
    times.push(timestamp);
    bytes += byteLength;
    start = Math.min(start, timestamp);
    end = Math.max(end, timestamp + duration);
  }
  const packetCount = times.length;
  return { times, packetCount, averageBitrate: packetCount > 0 ? (8 * bytes) / (end - start) : 0 };
}

async function uprightFormat(host: MediabunnyHost, opened: OpenedTrack, sample: VideoSample) {
  const { track, name, codec } = opened;
  const pixelFormat = samplePixelFormat(sample.format);
  if (pixelFormat === undefined) {
    const found = sample.format === null ? 'in an unnamed layout' : `as ${sample.format}`;
    const what = `${host.engine} outputs the frames of ${shown(name)} (${codec}) ${found}`;
    throw beyond(host, name, `${what}, not as the coded luma and chroma`);
  }
  const { rotation } = await orientation(track);
  const { bitDepth, chroma, note } = delivery(pixelFormat, rotation, name);
  if (note !== undefined) {
    const what = 'are 4:2:2 and stored sideways, and mediabunny does not rotate them';
    throw beyond(host, name, `the pictures of ${shown(name)} ${what}`);
  }
  const turned = rotation === 90 || rotation === 270;
  const stored = { width: sample.visibleRect.width, height: sample.visibleRect.height };
  const upright = turned ? { width: stored.height, height: stored.width } : stored;
  const problem = formatProblem({ ...upright, bitDepth, chroma });
  if (problem) throw mediaError(`the video of ${shown(name)} cannot be scored: ${problem}.`);
  return { pixelFormat, ...upright, bitDepth, chroma, rotation, turned };
}

export function decodingError(name: string, error: unknown): unknown {
  if (error instanceof AnyvmafError) return error;
  const why = messageOf(error);
  return mediaError(`${shown(name)} cannot be decoded: ${shown(why.replace(/\.$/, ''))}.`, { cause: error });
}

/** ffmpeg's names of WebCodecs' YUV layouts; RGB and unnamed layouts are not scored. */
const PIXEL_FORMATS: Readonly<Record<string, string>> = {
  NV12: 'nv12',
  ...Object.fromEntries(
    ['420', '422', '444'].flatMap((chroma) =>
      ['', 'P10', 'P12'].flatMap((depth) => {
        const ending = depth === '' ? 'p' : `p${depth.slice(1)}le`;
        return [
          [`I${chroma}${depth}`, `yuv${chroma}${ending}`],
          [`I${chroma}A${depth}`, `yuva${chroma}${ending}`],
        ];
      }),
    ),
  ),
};

/** ffmpeg's name of a sample's layout; `undefined` for RGB and unnamed layouts. */
export function samplePixelFormat(format: string | null): string | undefined {
  return format === null ? undefined : PIXEL_FORMATS[format];
}

/** Turns a picture upright: rotated clockwise, then flipped left to right. */
export interface Orientation {
  readonly rotation: 0 | 90 | 180 | 270;
  readonly flip: boolean;
}
