/**
 * @module platform/node/encoding/source
 * Reads a file for an encoding host: facts of its tracks, packets, and pictures at a reduced size.
 */
import { mediaError } from '../../../core/errors.js';
import { allocateFrame, samplesOf } from '../../../core/frame.js';
import { quotedWord } from '../../../core/names.js';
import { BY_USER, type Origin } from '../../../core/origin.js';
import { shown } from '../../../core/printable.js';
import type { PictureSize } from '../../../core/size.js';
import type { Decoder, TrackFacts } from '../../../media/decoder.js';
import { delivery } from '../../../media/delivery.js';
import type { VideoInput } from '../../../media/types.js';
import type { OtherTrack, SourceFacts } from '../../../search/session.js';
import { inputArgs, packetsArgs, type ToolSource } from '../../ffmpeg/commands.js';
import { compactFields } from '../../ffmpeg/times.js';
import { type FfmpegInput, ffmpegInput } from '../ffmpeg/input.js';
import { runOn } from '../ffmpeg/tool.js';

/** @throws {AnyvmafError} `media` for a source that cannot be encoded */
export async function sourceFacts(
  decoder: Decoder,
  input: VideoInput,
  origin: Origin,
  signal?: AbortSignal,
): Promise<SourceFacts> {
  const file = await ffmpegInput(input, { urls: 'never', origin });
  const track = await decoder.probe(input, signal);
  const index = track.track?.index ?? 0;
  if (index > 0) {
    throw mediaError(`the video selected in ${shown(file.name)} is not its first video track`, {
      hints: [
        `copy it into a file of its own first: ffmpeg -i ${quotedWord(file.name)} -map 0:V:${index} -c copy SOURCE.mkv`,
      ],
      file: file.name,
    });
  }
  // Throws unless the pictures are luma and chroma, or convertible.
  delivery(track.pixelFormat, 0, file.name, {});
  const packets = await readPackets(file, track, signal);
  if (packets.times.length === 0) throw mediaError(`${shown(file.name)} has no frames to encode.`);
  return {
    track,
    ...packets,
    others: await otherTracks(file, signal),
    ...(file.options && { opening: [...file.options, '-i', file.url] }),
    lead: await leadOf(file, signal),
    ...(await hdrFacts(file, track, signal)),
    identity: `${track.name}\n${file.version ?? ''}`,
  };
}

const KINDS: readonly string[] = ['audio', 'subtitle', 'attachment', 'data', 'video'];

/** Tracks other than the first video track (cover pictures are not video). */
async function otherTracks(file: FfmpegInput, signal?: AbortSignal): Promise<readonly OtherTrack[]> {
  const entries = 'stream=codec_type,codec_name:stream_disposition=attached_pic';
  const { stdout } = await runOn(
    'ffprobe',
    file,
    (source) => ['-v', 'error', '-show_entries', entries, '-of', 'compact', ...inputArgs(source)],
    { signal },
  );
  const tracks = stdout
    .split('\n')
    .filter((line) => line.startsWith('stream|'))
    .map(compactFields);
  const kindOf = (fields: ReadonlyMap<string, string>) =>
    fields.get('disposition:attached_pic') === '1' ? 'attachment' : (fields.get('codec_type') ?? '');
  const first = tracks.findIndex((fields) => kindOf(fields) === 'video');
  return tracks.flatMap((fields, i) => {
    const kind = kindOf(fields);
    if (i === first || !KINDS.includes(kind)) return [];
    return [{ kind: kind as OtherTrack['kind'], codec: fields.get('codec_name') ?? '' }];
  });
}

/** Seconds from the start of a file to its first frame. */
async function leadOf(input: FfmpegInput, signal: AbortSignal | undefined): Promise<number> {
  const query = '-v error -select_streams V:0 -show_entries stream=start_time:format=start_time -of compact';
  const args = (source: ToolSource) => [...query.split(' '), ...inputArgs(source)];
  const { stdout } = await runOn('ffprobe', input, args, { signal });
  const start = (kind: string) => {
    const line = stdout.split('\n').find((text) => text.startsWith(`${kind}|`));
    return Number((line && compactFields(line).get('start_time')) ?? Number.NaN);
  };
  const lead = start('stream') - start('format');
  return Number.isNaN(lead) ? 0 : Math.max(lead, 0);
}

/** HDR metadata of the first frame of a source with an HDR transfer. */
async function hdrFacts(file: FfmpegInput, { transfer }: TrackFacts, signal?: AbortSignal) {
  if (transfer !== 'smpte2084' && transfer !== 'arib-std-b67') return {};
  const entries =
    '-v error -select_streams V:0 -read_intervals %+#1 -show_streams -show_frames -of compact'.split(' ');
  const { stdout } = await runOn('ffprobe', file, (source) => [...entries, ...inputArgs(source)], { signal });
  const kinds = [...stdout.matchAll(/side_data_type=([^|\n]{1,80})/g)].map(([, kind = '']) => kind);
  return { hdr: [...new Set(kinds.filter((kind) => /Mastering|Content light|Dolby|DOVI|HDR/i.test(kind)))] };
}

/** Frames in presentation order. */
export interface PacketTable {
  /** Seconds from the first frame. */
  readonly times: Float64Array;
  /** Bytes. */
  readonly sizes: Float64Array;
}

interface Packet {
  readonly time: number;
  readonly size: number;
}

export function ownInput(path: string): Promise<FfmpegInput> {
  return ffmpegInput(path, { urls: false, origin: BY_USER });
}

/** @throws {AnyvmafError} `io`; the signal's reason */
export async function readPackets(
  file: FfmpegInput,
  track: Pick<TrackFacts, 'frameRate'>,
  signal?: AbortSignal,
): Promise<PacketTable> {
  return tableOf(await packetsOf(file, signal), track);
}

/** Packets of the video track, in decoding order. @throws as {@link readPackets} */
export async function packetsOf(file: FfmpegInput, signal?: AbortSignal): Promise<readonly Packet[]> {
  const packets: Packet[] = [];
  const take = (line: string) => {
    const fields = compactFields(line);
    // An edit list cuts it: decoded, never shown.
    if (!line.startsWith('packet|') || fields.get('flags')?.includes('D')) return;
    packets.push({
      time: Number(fields.get('pts_time') ?? Number.NaN),
      size: Number(fields.get('size') ?? Number.NaN),
    });
  };
  const args = (source: ToolSource) => packetsArgs(source, 0, 'packet=pts_time,size,flags');
  await runOn('ffprobe', file, args, { signal, onLine: take });
  return packets;
}

function tableOf(packets: readonly Packet[], { frameRate }: Pick<TrackFacts, 'frameRate'>): PacketTable {
  // Streams without times play in decoding order at the declared rate.
  const timed = !packets.some(({ time }) => Number.isNaN(time));
  const period = frameRate ? frameRate.den / frameRate.num : 1 / 25;
  const shown = timed
    ? packets.toSorted((a, b) => a.time - b.time)
    : packets.map((packet, i) => ({ ...packet, time: i * period }));
  const start = shown[0]?.time ?? 0;
  return {
    times: Float64Array.from(shown, ({ time }) => time - start),
    sizes: Float64Array.from(shown, ({ size }) => size),
  };
}

/**
 * Decodes all frames at a reduced size, as 8-bit luma.
 * @param onFrame receives luma, valid until it returns
 * @returns the number of frames
 * @throws {AnyvmafError} `media`, `io`; the signal's reason
 */
export async function decodeThumbnails(
  decoder: Decoder,
  input: VideoInput,
  track: TrackFacts,
  size: PictureSize,
  onFrame: (luma: Uint8Array, index: number) => void,
  signal?: AbortSignal,
): Promise<number> {
  const decoded = await decoder.open(input, track, { size: { ...size, filter: 'bilinear' }, signal });
  try {
    const { bitDepth } = decoded.info;
    const planes = allocateFrame({ ...decoded.info, ...size });
    const samples = samplesOf(planes.y, bitDepth);
    const luma = new Uint8Array(samples.length);
    let index = 0;
    for (; await decoded.readFrame(index, planes); index++) {
      for (let i = 0; i < luma.length; i++) luma[i] = (samples[i] as number) >> (bitDepth - 8);
      onFrame(luma, index);
    }
    return index;
  } finally {
    await decoded.close();
  }
}
