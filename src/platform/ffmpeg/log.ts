/**
 * @module platform/ffmpeg/log
 * Reads ffmpeg's log: each frame as the showinfo filter announces it, and what tells of damage.
 */
import type { Fraction } from '../../core/rational.js';
import { parseSize } from '../../core/size.js';

/** What every decoded frame must look like before it is scaled. */
export interface ExpectedFrame {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: string;
}

/** A line that matters. */
export type LogEvent =
  | {
      readonly kind: 'frame';
      /** In the filter's time base; `undefined` when the frame has no time. */
      readonly pts: number | undefined;
      readonly width: number;
      readonly height: number;
      readonly pixelFormat: string;
    }
  | { readonly kind: 'timebase'; readonly num: number; readonly den: number }
  /** Streams are opened and packets begin to be decoded; complaints before this are about looking into the file. */
  | { readonly kind: 'decoding' }
  /** A packet with or before which others are missing, such as where a recording was cut; its picture may be whole. */
  | { readonly kind: 'gap' }
  /** `atEnd`: the file is cut off, and every frame that was read before is whole. */
  | { readonly kind: 'damage'; readonly text: string; readonly atEnd: boolean };

/** The log level that {@link parseLogLine} needs: every line with its level and none merged. */
export const LOG_LEVEL = 'repeat+level+info';

const LINE = /^(?:\[[^\]]* @ [^\]]*\] )*\[(\w+)\] (.*)$/;
const FRAME = /^n: *\d+ pts: *(-?\d+|NOPTS) .*?fmt: *(\S+) .*?\bs:(\S+) /;
const TIME_BASE = /^config in time_base: (\d+)\/(\d+)/;
const CUT_OFF = /File ended prematurely|partial file/;
/** Said as warnings, though they mean that samples are wrong. */
const CORRUPT = /corrupt decoded frame/;
/** Said where a counter of packets jumps; what the decoder cannot make up for, it says itself. */
const GAP = /corrupt input packet/;
/** Said as errors, though they tell only of pictures that were not there to begin with, as when a recording starts. */
const HARMLESS = /^(?:mmco: unref short failure|co located POCs unavailable)/;

/** What one line of ffmpeg's standard error says; `undefined` for the many that say nothing of interest. */
export function parseLogLine(line: string): LogEvent | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, level, text = ''] = match;
  if (level === 'info') {
    if (text === 'Stream mapping:') return { kind: 'decoding' };
    return line.includes('showinfo') ? parseShowinfo(text) : undefined;
  }
  if (GAP.test(text)) return { kind: 'gap' };
  const corrupt = CORRUPT.exec(text)?.[0];
  if (corrupt !== undefined) return { kind: 'damage', text: corrupt, atEnd: false };
  if (!/^(?:error|fatal|panic)$/.test(level ?? '') || HARMLESS.test(text)) return undefined;
  return { kind: 'damage', text: text.trim().replace(/\.$/, ''), atEnd: CUT_OFF.test(text) };
}

function parseShowinfo(text: string): LogEvent | undefined {
  const [, pts, pixelFormat = '', sides = ''] = FRAME.exec(text) ?? [];
  const size = parseSize(sides);
  if (size) return { kind: 'frame', pts: pts === 'NOPTS' ? undefined : Number(pts), ...size, pixelFormat };
  const timeBase = TIME_BASE.exec(text);
  return timeBase ? { kind: 'timebase', num: Number(timeBase[1]), den: Number(timeBase[2]) } : undefined;
}

/** What showinfo says of the frames that a chain of filters gives. */
export interface FilteredFrames {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: string;
  readonly frameRate?: Fraction;
  readonly sampleAspect?: Fraction;
  readonly range?: string;
  readonly matrix?: string;
  readonly primaries?: string;
  readonly transfer?: string;
}

/** @returns `undefined` if the log tells of no frame */
export function parseFiltered(log: string): FilteredFrames | undefined {
  const frame = /\] n: *\d+ pts:.*? fmt: *(\S+) .*?\bs:(\S+) /.exec(log);
  const [, pixelFormat = '', sides = ''] = frame ?? [];
  const size = parseSize(sides);
  if (!size) return undefined;
  const fraction = (pattern: RegExp) => {
    const [, num, den] = pattern.exec(log) ?? [];
    return Number(num) > 0 && Number(den) > 0 ? { num: Number(num), den: Number(den) } : undefined;
  };
  const color = (name: string) => {
    const found = new RegExp(`\\bcolor_${name}:(\\w[\\w-]*)`).exec(log)?.[1];
    return found === undefined || /^(?:unknown|reserved)$/.test(found) ? undefined : found;
  };
  const frameRate = fraction(/config in time_base: \d+\/\d+, frame_rate: (\d+)\/(\d+)/);
  const sampleAspect = fraction(/\bsar:(\d+)\/(\d+)/);
  const [range, matrix, primaries, transfer] = ['range', 'space', 'primaries', 'trc'].map(color);
  return {
    ...size,
    pixelFormat,
    ...(frameRate && { frameRate }),
    ...(sampleAspect && { sampleAspect }),
    ...(range && { range }),
    ...(matrix && { matrix }),
    ...(primaries && { primaries }),
    ...(transfer && { transfer }),
  };
}
