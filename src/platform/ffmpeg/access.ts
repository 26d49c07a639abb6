/**
 * @module platform/ffmpeg/access
 * What ffmpeg and ffprobe may open for an input: formats and protocols, by who named it. ffmpeg goes by the content of
 * a file, whatever its name, and playlists make it open all that they name.
 */
import type { Origin } from '../../core/origin.js';

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
