/**
 * @module web/results/format
 * How results are written: scores, values, times, sizes. The rules are those of the library's own views.
 */
import type { Report } from 'anyvmaf';

/** What is not known. */
export const NONE = '–';

/** A score: two decimals, never rounded up to a round 100. */
export function scoreText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  const text = value.toFixed(2);
  return text === '100.00' && value < 100 ? '99.99' : text;
}

/** A feature's value: as many decimals as its size lets matter. */
export function shortText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e6) return value.toPrecision(5);
  return value.toFixed(size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

/** A value in a table of statistics. */
export function cellText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  return Math.abs(value) < 1e6 ? value.toFixed(4) : value.toPrecision(7);
}

/** `0:04.92`, `1:02:03.40`. */
export function timeText(seconds: number, decimals = 2): string {
  const unit = 10 ** decimals;
  const all = Math.round(seconds * unit) / unit;
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
  const rest = (all % 60).toFixed(decimals).padStart(decimals > 0 ? 3 + decimals : 2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** `812 kb/s`, `4.21 Mb/s`. */
export function bitrateText(bitsPerSecond: number | undefined): string | undefined {
  if (bitsPerSecond === undefined || !(bitsPerSecond > 0)) return undefined;
  return bitsPerSecond < 999_500
    ? `${three(bitsPerSecond / 1e3)} kb/s`
    : `${three(bitsPerSecond / 1e6)} Mb/s`;
}

/** `812 kB`, `4.21 MB`, `1.30 GB`. */
export function sizeText(bytes: number | undefined): string | undefined {
  if (bytes === undefined || !(bytes >= 0)) return undefined;
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${three(bytes / 1e3)} kB`;
  return bytes < 999_500_000 ? `${three(bytes / 1e6)} MB` : `${three(bytes / 1e9)} GB`;
}

function three(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** What distinguishes a video: size, samples, rate, frames. */
export function inputFacts(input: Report['reference']): string[] {
  const { width, height, chroma, bitDepth, frameCount, frameRate: rate } = input;
  const fps = rate && rate.num > 0 && rate.den > 0 ? `${Number((rate.num / rate.den).toFixed(3))} fps` : '';
  const frames = frameCount === null ? '' : `${whole(frameCount)} frame${frameCount === 1 ? '' : 's'}`;
  return [
    `${width}×${height}`,
    chroma === '400' ? 'luma only' : [...chroma].join(':'),
    `${bitDepth} bit`,
    fps,
    frames,
  ].filter((fact) => fact !== '');
}

export function whole(value: number): string {
  return value.toLocaleString('en');
}

/** The last part of a path: what tells files of a folder apart. */
export function baseName(path: string): string {
  let end = path.length;
  while (isSlash(path[end - 1])) end--;
  let start = end;
  while (start > 0 && !isSlash(path[start - 1])) start--;
  return path.slice(start, end) || path;
}

function isSlash(character: string | undefined): boolean {
  return character === '/' || character === '\\';
}

/** A share of a range in per cent, kept within it. */
export function percentOf(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.round(Math.min(1, Math.max(0, share)) * 1e4) / 100;
}

/** A step of 1, 2 or 5 times a power of ten that cuts a span into at most so many parts. */
export function roundStep(span: number, parts: number): number {
  const rough = span / Math.max(1, parts);
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9);
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
}

/** Round values within a range. */
export function ticks(low: number, high: number, parts: number): number[] {
  const step = roundStep(high - low || 1, parts);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** What to call a metric: the default model's score by its name. */
export function labelOf(metric: string): string {
  return metric === 'vmaf' ? 'VMAF' : metric;
}

/** A name of at most so many characters, its middle left out: encodes often differ at their ends. */
export function shortName(name: string, most: number): string {
  const head = Math.max(3, Math.floor(most / 3));
  return name.length <= most ? name : `${name.slice(0, head)}…${name.slice(name.length - (most - head - 1))}`;
}
