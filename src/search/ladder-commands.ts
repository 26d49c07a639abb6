/**
 * @module search/ladder-commands
 * A ladder as files for players: the command that encodes its rungs in segments, with manifests for DASH and HLS.
 */
import type { SourceFacts } from './host.js';
import type { LadderPoint } from './ladder-types.js';
import { LABELS, type Setting, scaleFilter } from './setting.js';

/** Seconds of a segment. */
const SEGMENT = 4;

/** Frames of a segment, each of which begins with a key frame. @param perSecond frames of the source */
export function segmentFrames(perSecond: number): number {
  return Math.max(1, Math.round(perSecond * SEGMENT));
}

/** Arguments of ffmpeg that let every segment stand by itself: no pictures refer across its first one. */
export function segmentArguments(perSecond: number): readonly string[] {
  return ['-g', String(segmentFrames(perSecond)), '-flags', '+cgop'];
}

/** Begins a segment where the last one is long enough. */
export const SEGMENT_STARTS = ['-force_key_frames', `expr:gte(t,n_forced*${SEGMENT})`] as const;

/**
 * The command that encodes rungs in segments beside each other, the first sound track as AAC once for all, with a manifest for DASH and
 * a master playlist for HLS.
 * @param setting as the rungs were measured, with {@link segmentArguments}
 * @returns ffmpeg and its arguments
 */
export function streamingCommand(
  source: string,
  { encoder, parameter, args, pixelFormat, samples }: Setting,
  rungs: readonly LadderPoint[],
  { others = [] }: Pick<SourceFacts, 'others'>,
): readonly string[] {
  const pads = rungs.map((_, i) => `[s${i}]`).join('');
  const scales = rungs.map((rung, i) => `[s${i}]${scaleFilter(rung, samples)}[v${i}]`).join(';');
  const sound = others.some(({ kind }) => kind === 'audio');
  const starts = args.includes(SEGMENT_STARTS[0]) ? [] : SEGMENT_STARTS;
  return [
    ...['ffmpeg', '-i', source],
    ...['-filter_complex', `[0:V:0]split=${rungs.length}${pads};${scales}`],
    ...rungs.flatMap((_, i) => ['-map', `[v${i}]`]),
    ...(sound ? ['-map', '0:a:0'] : []),
    ...['-c:v', encoder.name],
    ...rungs.flatMap(({ value }, i) => ofStream(parameter.args(value), i)),
    ...args,
    ...['-pix_fmt', pixelFormat, ...LABELS[samples], ...starts],
    // Players of Apple's take no other name of HEVC.
    ...(isHevc(encoder.name) ? ['-tag:v', 'hvc1'] : []),
    ...(sound ? ['-c:a', 'aac', '-b:a', '128k'] : []),
    ...['-f', 'dash', '-dash_segment_type', 'mp4', '-seg_duration', String(SEGMENT)],
    ...['-adaptation_sets', sound ? 'id=0,streams=v id=1,streams=a' : 'id=0,streams=v'],
    ...['-hls_playlist', '1', 'ladder.mpd'],
  ];
}

/** Whether an encoder of ffmpeg makes HEVC. */
export function isHevc(encoder: string): boolean {
  return /^(?:libx265|hevc_|libkvazaar)/.test(encoder);
}

/** Arguments with the video stream that they are for. */
function ofStream(args: readonly string[], stream: number): readonly string[] {
  return args.map((arg, i) => (i % 2 === 0 ? `${arg.replace(/:v$/, '')}:v:${stream}` : arg));
}
