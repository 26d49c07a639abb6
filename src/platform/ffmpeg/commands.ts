/**
 * @module platform/ffmpeg/commands
 * Command lines for ffmpeg and ffprobe, and what they may open for an input: formats and protocols, by who named it.
 * ffmpeg goes by the content of a file, whatever its name, and playlists make it open all that they name.
 */

import type { Origin } from '../../core/origin.js';
import type { DecodeRequest, TrackFacts } from '../../media/decoder.js';
import { type Delivery, everyFrame } from '../../media/delivery.js';

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

export interface Access {
  /** Demuxers by their short names; ffmpeg ignores unknown ones. */
  readonly formats: readonly string[];
  /** For the input itself and whatever it names. */
  readonly protocols: readonly string[];
}

/** An input for a tool, always with what it may open. */
export interface ToolSource {
  readonly url: string;
  readonly options?: readonly string[];
  readonly access: Access;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Containers, streams and pictures whose whole video is in one file. */
const SINGLE_FILES = words(`
  mov mp4 m4a 3gp 3g2 mj2 matroska webm mpegts mpeg avi mxf ivf yuv4mpegpipe flv ogg asf asf_o nut gxf dv rm wtv
  h261 h263 h264 hevc vvc evc av1 obu mpegvideo m4v mjpeg vc1 vc1test dirac dnxhd cavsvideo avs2 avs3
  gif apng bmp_pipe dpx_pipe exr_pipe j2k_pipe jpeg_pipe jpegls_pipe jpegxl_pipe jpegxl_anim pam_pipe pbm_pipe pfm_pipe
  pgm_pipe pgmyuv_pipe png_pipe ppm_pipe qoi_pipe sgi_pipe tiff_pipe webp_pipe`);

/** Audio, so that a message can say that it is no video, and because playlists name it beside video. */
const SOUND = words('aac ac3 eac3 flac mp3 wav');

/** Single files of games, recorders and old software, and scripts that the user runs. */
const RARE = words(`
  4xm alias_pix amv anm argo_brp argo_cvg avisynth avs bethsoftvid bfi bink bmv brender_pix c93 cdg cdxl cine cri_pipe
  dds_pipe derf dfa dhav dsicin dxa ea film_cpk filmstrip fits flic frm gdv gem_pipe hnm ico idcin iff ifv ingenient
  ipmovie ipu iv8 jv kux live_flv lmlm4 luodat lvf lxf mgsts mjpeg_2000 mm moflex mpegtsraw mpjpeg msnwctcp mtv mv mvi nc
  nsv nuv paf pcx_pipe pgx_pipe phm_pipe photocd_pipe pictor_pipe pmp psd_pipe psxstr pva qdraw_pipe r3d rl2 roq rpl sdr2
  ser sga siff simbiosis_imx smjpeg smk smush sunrast_pipe svs swf thp tiertexseq tmv txd ty vapoursynth vbn_pipe vividas
  vivo vmd wc3movie webm_dash_manifest wsvqa xbm_pipe xmv xpm_pipe xwd_pipe yop`);

/** Formats that consist of other files. */
const PLAYLISTS = words('hls applehttp dash concat imf image2 webvtt');

/** Formats that make ffmpeg open something else; used only to explain a refusal. */
const NAMES_OTHERS = new Set(
  words(`${PLAYLISTS.join(' ')} image2pipe sdp rtsp rtp sap mlv vobsub lavfi realtext vapoursynth avisynth`),
);

/** Text that ffmpeg renders as a picture. */
const TEXTS = new Set(words('tty bin xbin idf adf'));

const LOCAL = words('file crypto data');
const NETWORK = words('http https httpproxy tls tcp');

/** Only the input, nothing that it names. */
const INPUT_ONLY: Access = { formats: [...SINGLE_FILES, ...SOUND], protocols: ['file'] };

/** A file served by this process. */
export const HANDED: Access = { ...INPUT_ONLY, protocols: ['http', 'tcp'] };

/**
 * Such a file comes in pieces, so that ffmpeg fetches no more than it reads; it takes the end of a piece for a broken
 * connection, and asks for the rest at once.
 */
export const HANDED_OPTIONS = ['-reconnect', '1', '-reconnect_delay_max', '0'] as const;

const PIECE_END = /^\[https? @ [^\]]*\] (?:\[\w+\] )?(?:Stream ends prematurely at|Will reconnect at) /;

/** True if a line of a log only reports the end of a piece. */
export function isPieceEnd(line: string): boolean {
  return PIECE_END.test(line);
}

/** For a file system with only the input in it; ffmpeg recognizes some pictures there by name. */
export const CONTAINED: Access = {
  formats: [...SINGLE_FILES, ...SOUND, ...RARE, 'image2'],
  protocols: ['file'],
};

/**
 * What an input may open: if the user did not name it, only itself; a local file of the user, other local files, and
 * the network if that is allowed; a URL of the user, only the network.
 * @param remote it is fetched
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

/** For standard input, which may name nothing else. */
export function pipedArgs(): string[] {
  return ['-protocol_whitelist', 'pipe', '-format_whitelist', INPUT_ONLY.formats.join(','), '-i', 'pipe:0'];
}

/** Why a tool did not open an input, from its log. */
export type Denial =
  | { readonly kind: 'playlist' | 'text' | 'format'; readonly format: string }
  | { readonly kind: 'protocol'; readonly protocol: string };

/** @returns `undefined` if the lists did not refuse it */
export function findDenial(log: string): Denial | undefined {
  // The innermost comes first: what a playlist names, then the playlist.
  const protocol = /Protocol '([^']*)' not on whitelist/.exec(log)?.[1];
  if (protocol !== undefined) return { kind: 'protocol', protocol };
  const names = /^\[([^\]]*?) @ [^\]]*\] (?:\[\w+\] )?Format not on whitelist/m.exec(log)?.[1];
  if (names === undefined) return undefined;
  const [format = ''] = names.split(',');
  if (TEXTS.has(format)) return { kind: 'text', format };
  return { kind: NAMES_OTHERS.has(format) ? 'playlist' : 'format', format };
}
