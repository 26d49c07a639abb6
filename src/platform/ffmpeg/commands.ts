/**
 * @module platform/ffmpeg/commands
 * Command lines for ffmpeg and ffprobe, and the formats and protocols that they may open for an input, by its origin. ffmpeg
 * detects formats by content, whatever the name, and opens everything that a playlist names.
 */
import type { Origin } from '../../core/origin.js';
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { type Delivery, everyFrame, keptRange, repeating } from '../../media/delivery.js';
import type { DecoderFilters } from '../../media/types.js';

/** Stream specifier of a video track, excluding cover pictures. */
const video = (track = 0): string => `V:${track}`;

/** The log format that log.ts parses: a level in every line, also in repeated ones. */
export const LOG_LEVEL = 'repeat+level+info';

/** Seconds to decode after a part's end; more than the rounding of the coarsest time base. */
const PAST_END = 1;

/** A part of the track. Seconds are on the file's clock. */
export interface Part {
  /** Where to start reading, some time before the first wanted frame. Default: the start of the file. */
  readonly seek?: number;
  /** Earliest time of a wanted frame. */
  readonly fromTime?: number;
  /** Decoded frames to skip; an alternative to {@link fromTime}. */
  readonly fromFrame?: number;
  /** End of the part, exclusive. */
  readonly untilTime?: number;
  /** Most wanted frames. */
  readonly count?: number;
}

const ask = (words: string, source: ToolSource): string[] => [
  ...`-v error ${words}`.split(' '),
  ...inputArgs(source),
];

/** Requests container, codec and, unless `withFrame` is false, the first frame. @param track default: all videos */
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

/** Fields of stream and container: `stream|codec_name=h264|has_b_frames=2|time_base=1/12800`, `format|...`. */
const STREAM_ENTRIES =
  'stream=codec_name,has_b_frames,time_base,field_order,avg_frame_rate:format=format_name';

/** Also fields of packets: `packet|pts=512|dts=0|size=790|flags=K_`. */
const TIME_ENTRIES = `packet=pts,dts,size,flags:${STREAM_ENTRIES}`;

/** Decodes until a filter chain outputs its first frame, which showinfo describes. */
export function filteredArgs(
  source: ToolSource,
  { chain, rotates }: Pick<DecoderFilters, 'chain' | 'rotates'>,
  track?: number,
): string[] {
  const args = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', LOG_LEVEL];
  if (rotates) args.push('-noautorotate');
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

/** Decodes to raw planes on standard output; showinfo announces frames on standard error. @param version ffmpeg's */
export function decodeArgs(
  source: ToolSource,
  facts: TrackFacts,
  planes: Delivery,
  request: Pick<DecodeRequest, 'size' | 'damage'> & Partial<Pick<DecoderFilters, 'chain' | 'rotates'>>,
  part: Part,
  version: string,
): string[] {
  const args = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', LOG_LEVEL, '-copyts'];
  // Verify checksums, but only log errors: `explode` and -xerror refuse recordings that start between key frames.
  args.push('-err_detect', 'crccheck');
  // Makes the decoder export the grain's parameters instead of adding grain.
  if (facts.filmGrain === 'left out') args.push('-export_side_data', 'film_grain');
  // Not frame threads: they run ahead of the output, so the end of a damaged video would depend on timing.
  if (request.damage === 'accept') args.push('-thread_type', 'slice');
  const chain = filters(facts, planes, request, part);
  if (request.chain === undefined ? planes.note !== undefined : request.rotates) args.push('-noautorotate');
  if (part.seek !== undefined)
    args.push('-seek_timestamp', '1', '-noaccurate_seek', '-ss', seconds(part.seek));
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
  const range = keptRange(facts, planes);
  if (planes.note !== undefined) {
    chain.push(...repeating(planes, facts));
  } else if (planes.fromRgb !== undefined) {
    chain.push(planes.fromRgb);
  } else if (facts.pixelFormat !== planes.pixelFormat) {
    if (range.length > 0) chain.push(`scale=${range.join(':')}`);
    chain.push(planes.unpacked ?? `format=${planes.pixelFormat}`);
  }
  // Before scaling, which hides size changes within the video.
  chain.push('showinfo=checksum=0');
  // Makes ffmpeg stop even if this process dies.
  if (part.untilTime !== undefined) chain.push(`trim=end=${seconds(part.untilTime + PAST_END)}`);
  const wanted: string[] = [];
  if (part.fromTime !== undefined) wanted.push(`gte(t\\,${seconds(part.fromTime)})`);
  if (part.fromFrame !== undefined) wanted.push(`gte(n\\,${part.fromFrame})`);
  if (part.untilTime !== undefined) wanted.push(`lt(t\\,${seconds(part.untilTime)})`);
  if (wanted.length > 0) chain.push(`select='${wanted.join('*')}'`);
  if (size && (size.width !== facts.width || size.height !== facts.height))
    chain.push(`scale=${[size.width, size.height, `flags=${size.filter}`, ...range].join(':')}`);
  // Avoids log messages about missing, repeated or backward times, which showinfo has printed already.
  chain.push('settb=1/1000000', 'setpts=N');
  return chain;
}

/** As in the report: `ffmpeg 5.1.9 (h264, turned by 90 degrees)`. */
export function decodedBy(tool: string, { codec, rotation }: TrackFacts, { note }: Delivery): string {
  const turned = rotation === 0 ? '' : `, turned by ${rotation} degrees`;
  return `${tool} (${codec}${turned}${note === undefined ? '' : `, ${note}`})`;
}

/** Rounded to microseconds, as the filters of {@link decodeArgs} compare. */
export function seconds(value: number): string {
  return value.toFixed(6);
}

export interface Access {
  /** Short names of demuxers; ffmpeg ignores unknown ones. */
  readonly formats: readonly string[];
  /** For the input and everything that it names. */
  readonly protocols: readonly string[];
}

/** An input for a tool, with its permissions. */
export interface ToolSource {
  /** The argument after `-i`. */
  readonly url: string;
  readonly options?: readonly string[];
  readonly access: Access;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Containers, streams and pictures of a single file. */
const SINGLE_FILES = words(`
  mov mp4 m4a 3gp 3g2 mj2 matroska webm mpegts mpeg avi mxf ivf yuv4mpegpipe flv ogg asf asf_o nut gxf dv rm wtv
  h261 h263 h264 hevc vvc evc av1 obu mpegvideo m4v mjpeg vc1 vc1test dirac dnxhd cavsvideo avs2 avs3
  gif apng bmp_pipe dpx_pipe exr_pipe j2k_pipe jpeg_pipe jpegls_pipe jpegxl_pipe jpegxl_anim pam_pipe pbm_pipe pfm_pipe
  pgm_pipe pgmyuv_pipe png_pipe ppm_pipe qoi_pipe sgi_pipe tiff_pipe webp_pipe`);

/** Audio, for messages that it is not video, and for playlists that name audio tracks. */
const SOUND = words('aac ac3 eac3 flac mp3 wav');

/** Single-file formats of games, recorders and old software, and scripts that the user runs. */
const RARE = words(`
  4xm alias_pix amv anm argo_brp argo_cvg avisynth avs bethsoftvid bfi bink bmv brender_pix c93 cdg cdxl cine cri_pipe
  dds_pipe derf dfa dhav dsicin dxa ea film_cpk filmstrip fits flic frm gdv gem_pipe hnm ico idcin iff ifv ingenient
  ipmovie ipu iv8 jv kux live_flv lmlm4 luodat lvf lxf mgsts mjpeg_2000 mm moflex mpegtsraw mpjpeg msnwctcp mtv mv mvi nc
  nsv nuv paf pcx_pipe pgx_pipe phm_pipe photocd_pipe pictor_pipe pmp psd_pipe psxstr pva qdraw_pipe r3d rl2 roq rpl sdr2
  ser sga siff simbiosis_imx smjpeg smk smush sunrast_pipe svs swf thp tiertexseq tmv txd ty vapoursynth vbn_pipe vividas
  vivo vmd wc3movie webm_dash_manifest wsvqa xbm_pipe xmv xpm_pipe xwd_pipe yop`);

/** Formats that consist of other files. */
const PLAYLISTS = words('hls applehttp dash concat imf image2 webvtt');

/** Formats that make ffmpeg open other files; only explain a refusal. */
const NAMES_OTHERS = new Set(
  words(`${PLAYLISTS.join(' ')} image2pipe sdp rtsp rtp sap mlv vobsub lavfi realtext vapoursynth avisynth`),
);

/** Text that ffmpeg renders as a picture. */
const TEXTS = new Set(words('tty bin xbin idf adf'));

const LOCAL = words('file crypto data');
const NETWORK = words('http https httpproxy tls tcp');

/** Only the input itself. */
const INPUT_ONLY: Access = { formats: [...SINGLE_FILES, ...SOUND], protocols: ['file'] };

/** A file that this process serves. */
export const HANDED: Access = { ...INPUT_ONLY, protocols: ['http', 'tcp'] };

/**
 * This process serves a file in pieces, so that ffmpeg fetches little more than it reads. ffmpeg takes the end of a piece for
 * a broken connection, and requests the rest at once.
 */
export const HANDED_OPTIONS = ['-reconnect', '1', '-reconnect_delay_max', '0'] as const;

const PIECE_END = /^\[https? @ [^\]]*\] (?:\[\w+\] )?(?:Stream ends prematurely at|Will reconnect at) /;

/** Whether a log line only reports the end of a piece. */
export function isPieceEnd(line: string): boolean {
  return PIECE_END.test(line);
}

/** For a file system that contains only the input; ffmpeg recognises some pictures there by name. */
export const CONTAINED: Access = {
  formats: [...SINGLE_FILES, ...SOUND, ...RARE, 'image2'],
  protocols: ['file'],
};

/**
 * Permissions of an input. A foreign input opens only itself; the user's local file, other local files and, if allowed, the
 * network; the user's URL, only the network.
 * @param remote whether it is fetched
 */
export function accessOf({ by }: Origin, remote: boolean, urls: boolean): Access {
  if (by === 'foreign') return remote ? { ...INPUT_ONLY, protocols: [...NETWORK, 'crypto'] } : INPUT_ONLY;
  const formats = [...SINGLE_FILES, ...SOUND, ...RARE, ...PLAYLISTS];
  if (remote) return { formats, protocols: [...NETWORK, 'crypto'] };
  return { formats, protocols: urls ? [...LOCAL, ...NETWORK] : LOCAL };
}

export function inputArgs({ url, options = [], access: { formats, protocols } }: ToolSource): string[] {
  const lists = ['-protocol_whitelist', protocols.join(','), '-format_whitelist', formats.join(',')];
  return [...lists, ...options, '-i', url];
}

/** For standard input, which may open nothing else. */
export function pipedArgs(): string[] {
  return ['-protocol_whitelist', 'pipe', '-format_whitelist', INPUT_ONLY.formats.join(','), '-i', 'pipe:0'];
}

/** Why a tool refused to open an input, from its log. */
export type Denial =
  | { readonly kind: 'playlist' | 'text' | 'format'; readonly format: string }
  | { readonly kind: 'protocol'; readonly protocol: string };

/** @returns `undefined` if the lists are not the reason */
export function findDenial(log: string): Denial | undefined {
  // The innermost comes first: an entry of a playlist, then the playlist.
  const protocol = /Protocol '([^']*)' not on whitelist/.exec(log)?.[1];
  if (protocol !== undefined) return { kind: 'protocol', protocol };
  const names = /^\[([^\]]*?) @ [^\]]*\] (?:\[\w+\] )?Format not on whitelist/m.exec(log)?.[1];
  if (names === undefined) return undefined;
  const [format = ''] = names.split(',');
  if (TEXTS.has(format)) return { kind: 'text', format };
  return { kind: NAMES_OTHERS.has(format) ? 'playlist' : 'format', format };
}
