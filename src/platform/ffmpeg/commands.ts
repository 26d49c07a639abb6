/**
 * @module platform/ffmpeg/commands
 * Command lines for ffmpeg and ffprobe.
 */

import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { type Delivery, everyFrame } from '../../media/delivery.js';
import { inputArgs, type ToolSource } from './access.js';

/** Stream specifier of a video track; cover pictures are excluded. */
const video = (track = 0): string => `V:${track}`;

/** The level that log.ts parses: every line with its level, repeated ones too. */
export const LOG_LEVEL = 'repeat+level+info';

/** Most seconds decoded after a part's end; more than the coarsest time base rounds by. */
const PAST_END = 1;

/** A part of the track. Seconds are on the file's own clock. */
export interface Part {
  /** Where to start reading, some way before the first frame wanted. Default: the start of the file. */
  readonly seek?: number;
  /** Earliest time of a wanted frame. */
  readonly fromTime?: number;
  /** Decoded frames to skip, an alternative to {@link fromTime}. */
  readonly fromFrame?: number;
  /** Time from which no frame is wanted. */
  readonly untilTime?: number;
  /** Most frames wanted. */
  readonly count?: number;
}

const ask = (words: string, source: ToolSource): string[] => [
  ...`-v error ${words}`.split(' '),
  ...inputArgs(source),
];

/**
 * Asks for all that container and codec declare and, unless `withFrame` is false, for the first frame.
 * @param track default: all videos, of which one shows its first frame
 */
export function probeArgs(source: ToolSource, track?: number, withFrame = true): string[] {
  const first = withFrame ? '-show_frames -read_intervals %+#1 ' : '';
  return ask(
    `-select_streams ${track === undefined ? 'V' : video(track)} -show_format -show_streams ${first}-of json`,
    source,
  );
}

export function tracksArgs(source: ToolSource): string[] {
  return ask('-show_entries stream=codec_type,codec_name,codec_tag_string -of json', source);
}

export function firstPacketArgs(source: ToolSource, track?: number): string[] {
  return ask(`-select_streams ${video(track)} -show_packets -read_intervals %+#1 -of json`, source);
}

/** For times, of stream and container: `stream|codec_name=h264|has_b_frames=2|time_base=1/12800`, `format|...`. */
const STREAM_ENTRIES =
  'stream=codec_name,has_b_frames,time_base,field_order,avg_frame_rate:format=format_name';

/** For times, of packets: `packet|pts=512|dts=0|size=790|flags=K_`. */
const TIME_ENTRIES = `packet=pts,dts,size,flags:${STREAM_ENTRIES}`;

/** Decodes until a chain of filters outputs its first frame, which showinfo describes. */
export function filteredArgs(source: ToolSource, chain: string, track?: number): string[] {
  const args = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', LOG_LEVEL];
  args.push(...inputArgs(source), '-map', `0:${video(track)}`, '-vf', `${chain},showinfo=checksum=0`);
  return [...args, '-frames:v', '1', '-f', 'null', '-'];
}

export function packetsArgs(source: ToolSource, track?: number, entries: string = TIME_ENTRIES): string[] {
  return ask(`-select_streams ${video(track)} -show_entries ${entries} -of compact`, source);
}

/** Prints a line per decoded frame: `frame|pts=40|pkt_dts=40`. */
export function framesArgs(source: ToolSource, track?: number): string[] {
  return packetsArgs(source, track, `frame=pts,pkt_dts:${STREAM_ENTRIES}`);
}

/**
 * Decodes to raw planes on standard output; showinfo announces each frame on standard error.
 * @param version of ffmpeg, as it prints it
 */
export function decodeArgs(
  source: ToolSource,
  facts: TrackFacts,
  planes: Delivery,
  request: Pick<DecodeRequest, 'size' | 'damage'> & { readonly chain?: string },
  part: Part,
  version: string,
): string[] {
  const args = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', LOG_LEVEL, '-copyts'];
  // Check checksums, but only log errors: `explode` and -xerror refuse recordings that start between key frames.
  args.push('-err_detect', 'crccheck');
  // The decoder then exports the grain's parameters and adds no grain.
  if (facts.filmGrain === 'left out') args.push('-export_side_data', 'film_grain');
  // Frame threads run ahead of the output: with them, where damage ends the video would depend on timing.
  if (request.damage === 'accept') args.push('-thread_type', 'slice');
  const chain = filters(facts, planes, request, part);
  if (planes.note !== undefined && request.chain === undefined) args.push('-noautorotate');
  if (part.seek !== undefined) {
    args.push('-seek_timestamp', '1', '-noaccurate_seek', '-ss', seconds(part.seek));
  }
  args.push(...inputArgs(source), '-map', `0:${video(facts.track?.index)}`);
  args.push('-vf', chain.join(','), ...everyFrame(version));
  args.push('-enc_time_base', '1:1000000');
  if (part.count !== undefined) args.push('-frames:v', String(part.count));
  args.push('-c:v', 'rawvideo', '-pix_fmt', planes.pixelFormat, '-f', 'rawvideo', 'pipe:1');
  return args;
}

function filters(
  facts: TrackFacts,
  planes: Delivery,
  { size, chain: first }: Pick<DecodeRequest, 'size'> & { readonly chain?: string },
  part: Part,
): string[] {
  const chain: string[] = first === undefined ? [] : [first];
  if (planes.note !== undefined) {
    // The nearest neighbour repeats samples and changes nothing else.
    chain.push('scale=flags=neighbor', `format=${planes.pixelFormat}`);
    if (facts.rotation === 90) chain.push('transpose=clock');
    if (facts.rotation === 180) chain.push('hflip', 'vflip');
    if (facts.rotation === 270) chain.push('transpose=cclock');
  } else if (planes.fromRgb !== undefined) {
    chain.push(planes.fromRgb);
  } else if (facts.pixelFormat !== planes.pixelFormat) {
    chain.push(planes.unpacked ?? `format=${planes.pixelFormat}`);
  }
  // Before scaling, which would hide a change of size within the video.
  chain.push('showinfo=checksum=0');
  // Without it, ffmpeg would decode to the end of the file if this process were gone.
  if (part.untilTime !== undefined) chain.push(`trim=end=${seconds(part.untilTime + PAST_END)}`);
  const wanted: string[] = [];
  if (part.fromTime !== undefined) wanted.push(`gte(t\\,${seconds(part.fromTime)})`);
  if (part.fromFrame !== undefined) wanted.push(`gte(n\\,${part.fromFrame})`);
  if (part.untilTime !== undefined) wanted.push(`lt(t\\,${seconds(part.untilTime)})`);
  if (wanted.length > 0) chain.push(`select='${wanted.join('*')}'`);
  if (size && (size.width !== facts.width || size.height !== facts.height)) {
    chain.push(`scale=${size.width}:${size.height}:flags=${size.filter}`);
  }
  // Missing, repeated or backward times would be logged like damage; showinfo has printed them already.
  chain.push('settb=1/1000000', 'setpts=N');
  return chain;
}

/** For the report: `ffmpeg 5.1.9 (h264, turned by 90 degrees)`. */
export function decodedBy(tool: string, { codec, rotation }: TrackFacts, { note }: Delivery): string {
  const turned = rotation === 0 || note?.startsWith('turned') ? '' : `, turned by ${rotation} degrees`;
  return `${tool} (${codec}${turned}${note === undefined ? '' : `, ${note}`})`;
}

/** Rounded to microseconds, as the filters of {@link decodeArgs} compare. */
export function seconds(value: number): string {
  return value.toFixed(6);
}
