/**
 * @module search/ladder-commands
 * A ladder as files for players: the command that encodes its rungs in segments, with manifests for DASH and HLS.
 */
import type { LadderPoint } from './ladder-types.js';
import { type Setting, scaleFilter } from './setting.js';

/** Seconds of a segment. */
const SEGMENT = 4;

/**
 * The command that encodes rungs in segments beside each other, sound as AAC once for all, with a manifest for DASH and a master
 * playlist for HLS.
 * @param frameRate of the source
 * @returns ffmpeg and its arguments
 */
export function streamingCommand(
  source: string,
  setting: Setting,
  rungs: readonly LadderPoint[],
  frameRate: number,
): readonly string[] {
  const pads = rungs.map((_, i) => `[s${i}]`).join('');
  const scales = rungs.map((rung, i) => `[s${i}]${scaleFilter(rung)}[v${i}]`).join(';');
  const { encoder, parameter, args, pixelFormat } = setting;
  const gop = Math.max(1, Math.round(frameRate * SEGMENT));
  return [
    ...['ffmpeg', '-i', source],
    ...['-filter_complex', `[0:V:0]split=${rungs.length}${pads};${scales}`],
    ...rungs.flatMap((_, i) => ['-map', `[v${i}]`]),
    ...['-map', '0:a:0?', '-c:v', encoder.name],
    ...rungs.flatMap(({ value }, i) => ofStream(parameter.args(value), i)),
    ...args,
    ...['-pix_fmt', pixelFormat, '-g', String(gop), '-force_key_frames', `expr:gte(t,n_forced*${SEGMENT})`],
    ...['-c:a', 'aac', '-b:a', '128k'],
    ...['-f', 'dash', '-dash_segment_type', 'mp4', '-seg_duration', String(SEGMENT)],
    ...['-adaptation_sets', 'id=0,streams=v id=1,streams=a', '-hls_playlist', '1', 'ladder.mpd'],
  ];
}

/** Arguments with the video stream that they are for. */
function ofStream(args: readonly string[], stream: number): readonly string[] {
  return args.map((arg, i) => (i % 2 === 0 ? `${arg.replace(/:v$/, '')}:v:${stream}` : arg));
}
