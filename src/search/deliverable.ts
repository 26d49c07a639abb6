/**
 * @module search/deliverable
 * What a whole encode is made with, and what of the source it does not have.
 */
import { usageError } from '../core/errors.js';
import { shown } from '../core/printable.js';
import { everyFrame } from '../media/every-frame.js';
import type { OtherTrack, SourceFacts, WholeEncode } from './host.js';
import { isHevc } from './ladder-commands.js';
import { pictureArguments } from './setting.js';

const MUXERS: Readonly<Record<string, string>> = {
  '.mp4': 'mp4',
  '.m4v': 'mp4',
  '.mov': 'mov',
  '.mkv': 'matroska',
  '.webm': 'webm',
};

/**
 * ffmpeg's name of the container that a file's name asks for.
 * @throws {AnyvmafError} `usage` for a name whose ending says no container of video
 */
export function muxerOf(output: string): string {
  const ending = /\.[^./\\]+$/.exec(output)?.[0].toLowerCase() ?? '';
  if (Object.hasOwn(MUXERS, ending)) return MUXERS[ending] as string;
  throw usageError(
    `the encode is to be written to ${shown(output)}, but its name must end in ${Object.keys(MUXERS).join(', ')}.`,
  );
}

/** Arguments of ffmpeg between the source and the output's name: all frames encoded, all other tracks that fit copied. */
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
    // Players of Apple's take no other name of HEVC.
    ...(tagged ? ['-tag:v', 'hvc1'] : []),
    // By the name alone ffmpeg takes it for a bare stream.
    ...(/\.m4v$/i.test(output) ? ['-f', muxer] : []),
  ];
}

/** The version of ffmpeg from which on it hands HDR metadata to these encoders. */
const HDR_VERSION = 701;
const HDR_ENCODERS: readonly string[] = ['libx264', 'libx265', 'libsvtav1'];

/** What of the source the video of an encode does not have, and what few players decode; a sentence each. */
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
      `The encode is 4:${plane[1]}:${plane[2]} (${pixelFormat}), which few players decode; for these set the pixel format ${name}.`,
    );
  }
  if (track.fieldOrder === 'top-first' || track.fieldOrder === 'bottom-first') {
    found.push(
      'The source is interlaced, and its fields are encoded as frames, which costs bytes and shows combs; deinterlace it first, for ' +
        'instance with ffmpeg -i SOURCE -vf bwdif -c:v ffv1 -c:a copy NEW.mkv.',
    );
  }
  const [, major = '', minor = ''] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  const hands = HDR_ENCODERS.includes(encoder) && Number(major) * 100 + Number(minor) >= HDR_VERSION;
  const told = args.some((arg) => /master(?:ing)?-display/.test(arg));
  const lost = hdr.filter((kind) => !(hands || told) || !/Mastering|Content light/.test(kind));
  if (lost.length > 0) {
    found.push(
      `The encode does not have what the source says for HDR displays: ${lost.join(', ')}. Options of the encoder can say it, such ` +
        'as master-display and max-cll of libx265.',
    );
  }
  return found;
}

/**
 * The tracks that {@link wholeArguments} does not copy, in a sentence.
 * @param output where to write, where that is known
 */
export function lostTracks(
  { others = [] }: Pick<SourceFacts, 'others'>,
  output = 'encode.mkv',
): readonly string[] {
  const muxer = muxerOf(output);
  const gone = others.filter((track) => !isKept(track, muxer));
  const kept = gone.some((track) => isKept(track, 'matroska'));
  return notCopied(gone).map((text) =>
    kept ? text.replace(/\.$/, '; a name that ends in .mkv keeps attachments.') : text,
  );
}

/** Tracks in a sentence; none for none. */
export function notCopied(tracks: readonly OtherTrack[]): readonly string[] {
  const names = tracks.map(({ kind, codec }) => (codec === '' ? kind : `${kind} (${codec})`));
  return names.length === 0 ? [] : [`Tracks of the source that are not copied: ${names.join(', ')}.`];
}

function isKept({ kind, codec }: OtherTrack, muxer: string): boolean {
  if (kind === 'audio' || kind === 'subtitle') return true;
  return kind === 'attachment' && muxer === 'matroska' && !isCover(codec);
}

/** A picture that stands for the file is a track of video to ffmpeg. */
function isCover(codec: string): boolean {
  return /^(?:mjpeg|png|bmp|gif|webp|jpeg)/.test(codec);
}
