/**
 * @module search/shots-text
 * Formats tuned shots as a table, and as a script that makes the encode with ffmpeg alone.
 */
import { oneOf, requireArray, requireObject } from '../core/arguments.js';
import { quotedWord } from '../core/shell.js';
import { SHOT_FORMATS, type ShotFormat, type TunedShot, type TuneShotsResult } from './types.js';

/** @throws {AnyvmafError} `usage` for anything but a result, and for an unknown format */
export function shotsText(result: TuneShotsResult, format: ShotFormat): string {
  requireObject('result', result, 'the result of tuneShots');
  requireArray('result.shots', result.shots);
  switch (oneOf('format', format, SHOT_FORMATS)) {
    case 'csv':
      return csvText(result);
    case 'shell':
      return scriptText(result);
    default:
      return `${JSON.stringify(result, null, 2)}\n`;
  }
}

function csvText({ shots, parameter, targets }: TuneShotsResult): string {
  const [{ metric } = { metric: 'vmaf' }] = targets;
  const head = `shot,first_frame,frames,start,seconds,begins,${parameter},bytes,kbps,${metric}_mean,${metric}_min,margin`;
  const lines = shots.map((shot) => {
    const pooled = shot.pooled[metric];
    return [
      ...[
        shot.number,
        shot.first,
        shot.count,
        shot.start.toFixed(6),
        shot.seconds.toFixed(6),
        shot.begins,
        shot.value,
      ],
      ...[shot.bytes, shot.kbps.toFixed(3), pooled?.mean, pooled?.min, shot.margin],
    ].join(',');
  });
  return `${[head, ...lines].join('\n')}\n`;
}

/** Encodes each shot from the source, then joins them with the source's sound and subtitles. */
function scriptText(result: TuneShotsResult): string {
  const { source, shots, args, encoder, parameter } = result;
  const steps = shots.map((shot, i) => {
    const words = [
      ...['ffmpeg', '-v', 'error', '-nostdin', ...seekArgs(result, i), '-i', 'SOURCE', '-map', '0:V:0'],
      ...[
        '-frames:v',
        String(shot.count),
        ...stamped(args[i] ?? []),
        '-fps_mode',
        'passthrough',
        '-an',
        '-sn',
      ],
    ];
    const command = words.map((word) => (word === 'SOURCE' ? '"$source"' : quotedWord(word))).join(' ');
    const file = segmentName(shot);
    return `${command} "$folder/${file}"\nprintf 'file %s\\nduration %s\\n' ${file} ${shot.seconds.toFixed(6)} >> "$folder/list.txt"`;
  });
  return `#!/bin/sh
# ${encoder}, one ${parameter} per shot of ${shots.length}. Usage: sh SCRIPT [OUTPUT]; ffmpeg 5.1 or later.
set -e
source=${quotedWord(source.startsWith('-') ? `./${source}` : source)}
output=\${1:-encode.mkv}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
${steps.join('\n')}
ffmpeg -v error -nostdin -i "$source" -f concat -safe 1 -i "$folder/list.txt" -map 1:v -map '0:a?' -map '0:s?' \\
  -map_metadata 0 -c copy "$output"
`;
}

/** Seeks half a frame before the shot, on the file's clock, so that rounding cannot hit a neighbouring frame. */
function seekArgs({ shots, startTime }: TuneShotsResult, index: number): readonly string[] {
  const shot = shots[index] as TunedShot;
  const before = shots[index - 1];
  if (!before) return [];
  const time = startTime + shot.start - before.seconds / before.count / 2;
  return ['-seek_timestamp', '1', '-ss', time.toFixed(6)];
}

/** Makes times begin at 0. */
function stamped(args: readonly string[]): readonly string[] {
  const at = args.indexOf('-vf');
  if (at < 0) return ['-vf', 'setpts=PTS-STARTPTS', ...args];
  return args.with(at + 1, `${args[at + 1]},setpts=PTS-STARTPTS`);
}

function segmentName({ number }: TunedShot): string {
  return `shot-${String(number).padStart(5, '0')}.mkv`;
}
