/**
 * @module platform/node/encoding/join
 * Joins encoded segments into one file without re-encoding, with the source's times, sound and subtitles.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { type AnyvmafError, ioError, mediaError } from '../../../core/errors.js';
import { counted, shown } from '../../../core/printable.js';
import { type Clock, clockOf, lookup, segmentStamps } from '../../../search/commands.js';
import type { EncodeResult, JoinRequest, Segment } from '../../../search/session.js';
import { inputArgs, type ToolSource } from '../../ffmpeg/commands.js';
import type { FfmpegInput } from '../ffmpeg/input.js';
import { runOn } from '../ffmpeg/tool.js';
import { ownInput, packetsOf, readPackets } from './source.js';

interface JoinPlace {
  readonly folder: string;
  readonly input: FfmpegInput;
  /** ffmpeg's name of the output's container. */
  readonly muxer: string;
  readonly written: string;
}

export const QUIET = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error', '-y'];
const LIST = 'segments.ffconcat';

/** @throws {AnyvmafError} `media` if frames are missing, too many or out of order; the signal's reason */
export async function joinSegments(request: JoinRequest, place: JoinPlace): Promise<EncodeResult> {
  const { segments, facts, signal } = request;
  const began = performance.now();
  const clock = clockOf(facts);
  const ranks = new Map<Segment, readonly number[]>();
  for (const segment of segments) ranks.set(segment, await ranksOf(segment, place.folder, signal));
  // One delay for all, so that decoding times increase across segments.
  const delay = Math.max(...[...ranks.values()].flatMap((all) => all.map((rank, n) => n - rank)));
  const parts: { readonly name: string; readonly seconds: number }[] = [];
  for (const [segment, order] of ranks) {
    const name = `${segment.name}.${place.muxer === 'mov' ? 'mov' : 'mp4'}`;
    await restamp(segment, order, delay, clock, name, place, signal);
    const { first, count } = segment.frames;
    parts.push({ name, seconds: (clock.tick(first + count) - clock.tick(first)) / clock.perSecond });
  }
  await writeFile(joinPath(place.folder, LIST), listText(parts), { mode: 0o600 });
  await concatenate(request, place);
  for (const { name } of parts) await rm(joinPath(place.folder, name), { force: true });
  const { times, sizes } = await readPackets(await ownInput(place.written), {}, signal);
  checkTimes(times, facts.times);
  return { sizes, seconds: (performance.now() - began) / 1000 };
}

/** The presentation rank of each packet. @throws {AnyvmafError} `media` for a segment with other frames */
async function ranksOf({ name, frames }: Segment, folder: string, signal?: AbortSignal) {
  const packets = await packetsOf(await ownInput(joinPath(folder, name)), signal);
  const times = packets.map(({ time }) => time);
  const sorted = times.toSorted((a, b) => a - b);
  if (times.length !== frames.count || new Set(times).size !== times.length || times.some(Number.isNaN)) {
    throw mediaError(
      `The segment of ${counted(frames.count, 'frame')} from frame ${frames.first} has ${counted(times.length, 'packet')}, ` +
        'or packets of equal time, and cannot be joined. Use another encoder.',
    );
  }
  const rank = new Map(sorted.map((time, i) => [time, i]));
  return times.map((time) => rank.get(time) as number);
}

/** Rewrites a segment with the source's times into a container that stores them exactly. */
async function restamp(
  { name, frames }: Segment,
  ranks: readonly number[],
  delay: number,
  clock: Clock,
  output: string,
  { folder }: JoinPlace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { pts, dts } = segmentStamps(clock, frames, ranks, delay);
  const last = frames.first + frames.count;
  const length = clock.tick(last) - clock.tick(last - 1);
  const stamps = `pts=${lookup(pts)}:dts=${lookup(dts)}:duration=${length}:time_base=1/${clock.perSecond}`;
  const file = await ownInput(joinPath(folder, name));
  const args = (source: ToolSource) => [
    ...[...QUIET, ...inputArgs(source), ...'-map 0:V:0 -c copy -map_metadata -1 -bsf:v'.split(' ')],
    ...[`setts=${stamps.replaceAll(',', '\\,')}`, '-video_track_timescale', String(clock.perSecond)],
    ...['-f', output.endsWith('.mov') ? 'mov' : 'mp4', `file:${joinPath(folder, output)}`],
  ];
  const { code, stderr } = await runOn('ffmpeg', file, args, { signal, cwd: folder });
  throwWriteFailure(stderr, undefined);
  if (code !== 0) throw joinError(stderr);
}

function listText(parts: readonly { readonly name: string; readonly seconds: number }[]): string {
  const lines = parts.map(({ name, seconds }) => `file ${name}\nduration ${seconds.toFixed(6)}\n`);
  return `ffconcat version 1.0\n${lines.join('')}`;
}

/** Joins the segments, and adds the source's sound and subtitles. */
async function concatenate(
  { facts: { lead = 0 }, tag, output: user, signal }: JoinRequest,
  { folder, input, muxer, written }: JoinPlace,
): Promise<void> {
  // Delay the video relative to sound and subtitles as in the source.
  const late = lead > 0 ? ['-itsoffset', lead.toFixed(6)] : [];
  const args = (source: ToolSource) => [
    ...QUIET,
    ...inputArgs(source),
    ...late,
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'concat,mov,mp4', '-f', 'concat', '-safe', '1'],
    ...['-i', `file:${joinPath(folder, LIST)}`],
    ...`-map 1:v:0 -map 0:a? -map 0:s? ${muxer === 'matroska' ? '-map 0:t? ' : ''}-map_metadata 0 -map_chapters 0`.split(
      ' ',
    ),
    ...['-c', 'copy', ...(tag === undefined ? [] : ['-tag:v', tag]), '-f', muxer, `file:${written}`],
  ];
  const { code, stderr } = await runOn('ffmpeg', input, args, { signal, cwd: folder });
  throwWriteFailure(stderr, user);
  if (code !== 0) throw joinError(stderr);
}

function checkTimes(found: Float64Array, wanted: Float64Array): void {
  if (found.length !== wanted.length) {
    throw mediaError(
      `The joined file has ${counted(found.length, 'frame')}, but the source has ${wanted.length}; it was removed.`,
    );
  }
  const off = found.findIndex((time, i) => Math.abs(time - (wanted[i] as number)) > TIME_TOLERANCE);
  if (off < 0) return;
  throw mediaError(
    `Frame ${off} of the joined file is shown at ${found[off]} s, but at ${wanted[off]} s in the source; the file was removed.`,
  );
}

/** Seconds of rounding: Matroska stores milliseconds, in the source and in the joined file. */
const TIME_TOLERANCE = 0.0021;

/** Lines of a log without the names of components. */
export function linesOf(stderr: string): readonly string[] {
  const lines = stderr.split('\n').map((line) => line.replace(/^(?:\[[^\]]*\] )+/, '').trim());
  return lines.filter((line) => line !== '');
}

function joinError(stderr: string): AnyvmafError {
  if (/time_base|Unknown bitstream filter/i.test(stderr))
    return ioError('Joining shots needs ffmpeg 5.1 or later; install a newer one.');
  return mediaError(
    `ffmpeg could not join the shots: ${shown(linesOf(stderr).slice(0, 2).join('; ') || 'it did not say why')}; write to another ` +
      'container, such as .mkv.',
  );
}

/** ffmpeg's messages about failed writes. */
const WRITE_FAILURE =
  /No space left on device|Disk quota exceeded|File too large|Read-only file system|Input\/output error/i;

/** Checks ffmpeg's log, since it may exit with 0 after a failed write. @throws {AnyvmafError} `io` */
export function throwWriteFailure(stderr: string, output: string | undefined): void {
  const [found] = WRITE_FAILURE.exec(stderr) ?? [];
  // An unreadable source is not a failed write.
  if (found === undefined || (/^Input/i.test(found) && !/writ|trailer|closing/i.test(stderr))) return;
  const why = /^No space/i.test(found) ? 'the disk is full' : found.toLowerCase();
  throw ioError(
    output === undefined
      ? `Temporary files cannot be written: ${why}; free some of it, or name another folder with TMPDIR.`
      : `${shown(output)} cannot be written: ${why}; free some of it, or write to another disk. No file was left.`,
  );
}
