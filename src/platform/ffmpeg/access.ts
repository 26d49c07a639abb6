/**
 * @module platform/ffmpeg/access
 * What ffmpeg and ffprobe may open because of an input: containers and protocols, by who named it. ffmpeg goes by what a
 * file holds, whatever its name is, and playlists make it open all that they name.
 */
import type { Origin } from '../../core/origin.js';

/** Lists that go with an input to ffmpeg. */
export interface Access {
  /** Demuxers by their short names; those that a version of ffmpeg does not have are passed over. */
  readonly formats: readonly string[];
  /** For the input itself and whatever it names. */
  readonly protocols: readonly string[];
}

/** An input as a tool gets it: never without what it may open. */
export interface ToolSource {
  readonly url: string;
  /** Options that say how it is opened. */
  readonly options?: readonly string[];
  readonly access: Access;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Containers, streams and pictures that hold their whole video in one file. */
const SINGLE_FILES = words(`
  mov mp4 m4a 3gp 3g2 mj2 matroska webm mpegts mpeg avi mxf ivf yuv4mpegpipe flv ogg asf asf_o nut gxf dv rm wtv
  h261 h263 h264 hevc vvc evc av1 obu mpegvideo m4v mjpeg vc1 vc1test dirac dnxhd cavsvideo avs2 avs3
  gif apng bmp_pipe dpx_pipe exr_pipe j2k_pipe jpeg_pipe jpegls_pipe jpegxl_pipe jpegxl_anim pam_pipe pbm_pipe pfm_pipe
  pgm_pipe pgmyuv_pipe png_pipe ppm_pipe qoi_pipe sgi_pipe tiff_pipe webp_pipe`);

/** Sound, of which a message can say that it is no video, and which playlists name beside video. */
const SOUND = words('aac ac3 eac3 flac mp3 wav');

/** Single files of games, recorders and days gone by, and scripts that the user has run. */
const RARE = words(`
  4xm alias_pix amv anm argo_brp argo_cvg avisynth avs bethsoftvid bfi bink bmv brender_pix c93 cdg cdxl cine cri_pipe
  dds_pipe derf dfa dhav dsicin dxa ea film_cpk filmstrip fits flic frm gdv gem_pipe hnm ico idcin iff ifv ingenient
  ipmovie ipu iv8 jv kux live_flv lmlm4 luodat lvf lxf mgsts mjpeg_2000 mm moflex mpegtsraw mpjpeg msnwctcp mtv mv mvi nc
  nsv nuv paf pcx_pipe pgx_pipe phm_pipe photocd_pipe pictor_pipe pmp psd_pipe psxstr pva qdraw_pipe r3d rl2 roq rpl sdr2
  ser sga siff simbiosis_imx smjpeg smk smush sunrast_pipe svs swf thp tiertexseq tmv txd ty vapoursynth vbn_pipe vividas
  vivo vmd wc3movie webm_dash_manifest wsvqa xbm_pipe xmv xpm_pipe xwd_pipe yop`);

/** What names other files, of which it is made up. */
const PLAYLISTS = words('hls applehttp dash concat imf image2 webvtt');

/** Formats that make ffmpeg open something else; only to say why one was refused. */
const NAMES_OTHERS = new Set(
  words(`${PLAYLISTS.join(' ')} image2pipe sdp rtsp rtp sap mlv vobsub lavfi realtext vapoursynth avisynth`),
);

/** Formats of text that ffmpeg shows as a picture. */
const TEXTS = new Set(words('tty bin xbin idf adf'));

const LOCAL = words('file crypto data');
const NETWORK = words('http https httpproxy tls tcp');

/** Only the input, nothing that it names. */
const INPUT_ONLY: Access = { formats: [...SINGLE_FILES, ...SOUND], protocols: ['file'] };

/** A file that this process hands over, from a server of its own. */
export const HANDED: Access = { ...INPUT_ONLY, protocols: ['http', 'tcp'] };

/**
 * How such a file is read: it comes in pieces, so that no more is fetched than ffmpeg wants; ffmpeg takes the end of a piece
 * for a connection that broke, and asks for what follows at once.
 */
export const HANDED_OPTIONS = ['-reconnect', '1', '-reconnect_delay_max', '0'] as const;

/** What ffmpeg says of the end of a piece. */
const PIECE_END = /^\[https? @ [^\]]*\] (?:\[\w+\] )?(?:Stream ends prematurely at|Will reconnect at) /;

/** Whether a line of a log is about the end of a piece only. */
export function isPieceEnd(line: string): boolean {
  return PIECE_END.test(line);
}

/** In a file system that holds the input and nothing else, where pictures are known by their names. */
export const CONTAINED: Access = {
  formats: [...SINGLE_FILES, ...SOUND, ...RARE, 'image2'],
  protocols: ['file'],
};

/**
 * What an input may open: what somebody else named, only itself; a local file that the user named, other local files,
 * and the network where that is allowed; a URL, only the network.
 * @param remote it is fetched
 */
export function accessOf({ by }: Origin, remote: boolean, urls: boolean): Access {
  if (by === 'foreign') return remote ? { ...INPUT_ONLY, protocols: [...NETWORK, 'crypto'] } : INPUT_ONLY;
  const formats = [...SINGLE_FILES, ...SOUND, ...RARE, ...PLAYLISTS];
  if (remote) return { formats, protocols: [...NETWORK, 'crypto'] };
  return { formats, protocols: urls ? [...LOCAL, ...NETWORK] : LOCAL };
}

/** The arguments that open an input. */
export function inputArgs({ url, options = [], access: { formats, protocols } }: ToolSource): string[] {
  const lists = ['-protocol_whitelist', protocols.join(','), '-format_whitelist', formats.join(',')];
  return [...lists, ...options, '-i', url];
}

/** The arguments that read standard input, which names nothing else. */
export function pipedArgs(): string[] {
  return ['-protocol_whitelist', 'pipe', '-format_whitelist', INPUT_ONLY.formats.join(','), '-i', 'pipe:0'];
}

/** Why a tool would not open an input, in its log. */
export type Denial =
  | { readonly kind: 'playlist' | 'text' | 'format'; readonly format: string }
  | { readonly kind: 'protocol'; readonly protocol: string };

/** @returns `undefined` where the lists did not stand in the way */
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
