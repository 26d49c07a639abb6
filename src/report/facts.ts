/**
 * @module report/facts
 * Facts of a report in words: files (size, bit rate, codec), frames, models, colour conversion.
 */
import type { Colour } from '../core/colour.js';
import type { ChromaFormat } from '../core/frame.js';
import { type Fraction, formatFixed, formatGeneral, quotientOf } from '../core/numbers.js';
import { counted, grouped } from '../core/printable.js';
import type { FramePairing, InputPairing } from '../media/pairing/types.js';
import type { Report, ReportInput, ReportMeasurer, ReportModel } from './schema.js';

export type Facts = Partial<Omit<Report, 'frames'>>;

export type Sides = Partial<Pick<Report, 'reference' | 'distorted' | 'pairing' | 'noReference'>>;

/** Joins the phrases that are not empty. */
export function joined(parts: readonly (string | false | null | undefined)[], separator = ', '): string {
  return parts.filter((part) => part).join(separator);
}

/** `adm, motion, vif of 300 pairs on the GPU Acme Anvil`. */
export function measurerText({ extractors, frames, adapter }: ReportMeasurer): string {
  const where = adapter ? `on the GPU ${adapterName(adapter)}` : 'with the built-in core';
  return `${extractors.join(', ')} of ${counted(frames, 'pair')} ${where}`;
}

export function adapterName({
  vendor,
  architecture,
  device,
  description,
  software,
}: NonNullable<ReportMeasurer['adapter']>): string {
  // Dawn puts the driver into `description` and the GPU's name into `device`; software is named by its driver.
  const name = (software ? '' : device) || description || `${vendor} ${device || architecture}`.trim();
  return `${name || 'unnamed'}${software ? ' (software)' : ''}`;
}

export const NONE = '–';

/** A value in a table of statistics: four decimals, or seven digits if it is large. */
export function cellText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  return Math.abs(value) < 1e6 ? formatFixed(value, 4) : formatGeneral(value, 7);
}

/** A score as all views print it: two decimals, never rounded up to 100. */
export function scoreText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  const text = value.toFixed(2);
  return text === '100.00' && value < 100 ? '99.99' : text;
}

/** A feature's value, with as many decimals as its magnitude needs. */
export function shortText(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e6) return value.toPrecision(5);
  return value.toFixed(size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

/** Scores in logs that name no models: libvmaf calls them `vmaf` or `vmaf_...`. */
export const SCORE = /^vmaf(_(?!bagging|stddev|ci_)|$)/;

export function isScoreOf({ models }: Facts, metric = ''): boolean {
  return models ? models.some(({ name }) => name === metric) : SCORE.test(metric);
}

/** Scores have two decimals, features as many as their magnitude needs. */
export function valueTextOf(facts: Facts, metric: string, value: number | undefined): string {
  return isScoreOf(facts, metric) ? scoreText(value) : shortText(value);
}

/** `Compared at 1920×1080, reference frames 100 to 189, offset 12`; `undefined` if unknown. */
export function comparedText(report: Facts): string | undefined {
  const { reference, pairing, sampling, subsample = 1 } = report;
  const [video, count] = [scoredVideo(report), pairCount(report)];
  if (!reference || !video || !count) return undefined;
  const { width, height } = pairing ?? reference;
  const offset = pairing?.frames.offset ?? 0;
  const parts = [
    `Compared at ${width}×${height}`,
    `${video === reference ? 'reference' : 'distorted'} frames ${grouped(video.skipped)} to ${grouped(video.skipped + count - 1)}`,
    subsample > 1 && `one in ${subsample}`,
    sampling && `${grouped(sampling.frames)} of them sampled`,
    offset !== 0 && `offset ${offset}`,
  ];
  return `${joined(parts)}.`;
}

/** Pairs of the whole, of which a sample or every nth is scored; `undefined` if unknown. */
export function pairCount({ frameCount, sampling }: Facts): number | undefined {
  return sampling?.total ?? frameCount;
}

/** Frames that means and extremes cover: also those that a run with a window dropped. */
export function pooledCount({ frameCount = 0, subsample = 1 }: Facts, kept: number): number {
  return Math.max(kept, Math.ceil(frameCount / subsample));
}

/** Frames that a window kept, which percentiles, deviations and worst frames cover; `undefined` if it dropped none. */
export function keptOf(facts: Facts, kept: number): number | undefined {
  return !facts.sampling && kept > 0 && pooledCount(facts, kept) > kept ? kept : undefined;
}

/** The video whose frames are scored, which sets the rate of the pairs. */
function scoredVideo({ reference, distorted, pairing, noReference }: Sides): ReportInput | undefined {
  const { by, policy } = pairing?.frames ?? {};
  return noReference || (by === 'distorted' && policy !== 'number') ? distorted : reference;
}

/** Pairs per second; `undefined` if unknown. */
export function pairRate(report: Sides): number | undefined {
  const video = scoredVideo(report);
  return video && frameRate(video);
}

/** Reference frames before the first pair, in pairs of the same duration; without a reference, frames of the video. */
export function skippedPairs(report: Sides): number {
  const { reference, distorted, noReference } = report;
  if (noReference) return distorted?.skipped ?? 0;
  const [rate, own] = [pairRate(report), reference && frameRate(reference)];
  return (reference?.skipped ?? 0) * (rate !== undefined && own !== undefined ? rate / own : 1);
}

/** Range that a model's scores are clipped to; `undefined` if they are not clipped. */
export function rangeOf({ options, scoreRange }: ReportModel): readonly [number, number] | undefined {
  return options.disableClip ? undefined : (scoreRange ?? [0, 100]);
}

/** `812 kb/s`, `4.21 Mb/s`; `undefined` if unknown. */
export function bitrateText(bitsPerSecond: number | undefined): string | undefined {
  if (bitsPerSecond === undefined || !(bitsPerSecond > 0)) return undefined;
  return bitsPerSecond < 999_500
    ? `${round(bitsPerSecond / 1e3)} kb/s`
    : `${round(bitsPerSecond / 1e6)} Mb/s`;
}

/** `812 kB`, `4.21 MB`, `1.30 GB`; `undefined` if unknown. */
export function sizeText(bytes: number | undefined): string | undefined {
  if (bytes === undefined || !(bytes >= 0)) return undefined;
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${round(bytes / 1e3)} kB`;
  return bytes < 999_500_000 ? `${round(bytes / 1e6)} MB` : `${round(bytes / 1e9)} GB`;
}

/** Three significant digits. */
function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

interface Timed {
  readonly frameRate?: Fraction;
  readonly frameCount: number | null;
}

/** Frames per second; `undefined` if unknown. */
export function frameRate({ frameRate: rate }: Pick<Timed, 'frameRate'>): number | undefined {
  return quotientOf(rate);
}

/** Time of a pair in its reference, in seconds; `undefined` if the frame rate is unknown. */
export function frameTime(report: Sides, frame: number): number | undefined {
  const rate = scoredVideo(report)?.frameRate;
  if (!rate || quotientOf(rate) === undefined) return undefined;
  return ((frame + skippedPairs(report)) * rate.den) / rate.num;
}

/** Track that was read, `1 of 2`, counted from 0; `undefined` for files with one track. */
export function trackOf(pairing: Pick<InputPairing, 'track' | 'tracks'> | undefined): string | undefined {
  return pairing?.tracks === undefined ? undefined : `${pairing.track} of ${pairing.tracks}`;
}

/** `4:2:0`, or `luma only`. */
export function chromaText(chroma: ChromaFormat): string {
  return chroma === '400' ? 'luma only' : [...chroma].join(':');
}

/** `29.97 fps`; `undefined` if unknown. */
export function rateText(input: Pick<Timed, 'frameRate'>): string | undefined {
  const rate = frameRate(input);
  return rate === undefined ? undefined : `${Number(rate.toFixed(3))} fps`;
}

export function formatFacts(
  { width, height, chroma, bitDepth }: Pick<ReportInput, 'width' | 'height' | 'chroma' | 'bitDepth'>,
  times = '×',
): string[] {
  return [`${width}${times}${height}`, chromaText(chroma), `${bitDepth} bit`];
}

/** `1 frame`, `1,500 frames`. */
export function framesText(count: number): string {
  return `${grouped(count)} frame${count === 1 ? '' : 's'}`;
}

/** Size, samples, rate and frames of a video, one phrase each. */
export function inputFacts(input: ReportInput): string[] {
  const frames = input.frameCount === null ? undefined : framesText(input.frameCount);
  return joinedFacts(input, formatFacts(input), frames);
}

/** As {@link inputFacts}, for terminals and Markdown. */
export function terminalFacts(input: ReportInput): string[] {
  const frames = input.frameCount === null ? 'frame count unknown' : counted(input.frameCount, 'frame');
  return joinedFacts(input, formatFacts(input, 'x'), frames);
}

function joinedFacts(input: ReportInput, format: readonly string[], frames: string | undefined): string[] {
  const skipped = input.skipped > 0 ? `${input.skipped} skipped` : undefined;
  return [...format, rateText(input), frames, skipped].filter((fact) => fact !== undefined);
}

export function modelFlags({ disableClip, enableTransform }: ReportModel['options']): string[] {
  return [...(disableClip ? ['disable_clip'] : []), ...(enableTransform ? ['enable_transform'] : [])];
}

/** Counts of missing, repeated and dropped frames: `3 missing`, one phrase each. */
export function unpairedFacts(frames: FramePairing): string[] {
  return (['missing', 'repeated', 'dropped'] as const).flatMap((kind) =>
    frames[kind].count > 0 ? [`${frames[kind].count} ${kind}`] : [],
  );
}

/** True for the score of one member of a bootstrap collection: `vmaf_0001`. */
export function isMember(collections: readonly string[], metric: string): boolean {
  return /_\d{4}$/.test(metric) && collections.includes(metric.slice(0, -5));
}

/** The reference of several encodes; `skipped` is 0 if they begin on different frames. */
export function commonReference(reports: readonly [Report, ...Report[]]): ReportInput {
  const [{ reference }] = reports;
  return beginApart(reports) ? { ...reference, skipped: 0 } : reference;
}

interface Start {
  readonly reference: Pick<ReportInput, 'skipped'>;
}

/** True if encodes begin on different frames of their reference. */
export function beginApart(reports: readonly Start[]): boolean {
  return new Set(reports.map(({ reference }) => reference.skipped)).size > 1;
}

/** Frame at 0 of the axis, from the first frame of each encode. With a common start, frame numbers are those of the logs. */
export function axisOrigin([first = 0, ...others]: readonly number[]): number {
  return others.some((start) => start !== first) ? 0 : first;
}

/** Frames skipped at the start: `12 of reference`, `3 of its own`, or both. */
export function skippedText({ reference, distorted }: Sides): string {
  const parts = [
    reference && reference.skipped > 0 && `${reference.skipped} of reference`,
    distorted && distorted.skipped > 0 && `${distorted.skipped} of its own`,
  ];
  return joined(parts) || 'none';
}

/** Bits per second of the distorted video: from its container, or its size over its duration. */
export function bitrateOf(report: Sides, bytes = fileSizeOf(report)): number | undefined {
  const { pairing, distorted } = report;
  return pairing?.distorted.bitrate ?? (distorted && averageBitrate(distorted, bytes));
}

/** Bits per second; `undefined` if the duration is unknown. */
export function averageBitrate(video: Timed, bytes: number | undefined): number | undefined {
  const rate = frameRate(video);
  if (bytes === undefined || rate === undefined || !video.frameCount) return undefined;
  return Math.round((8 * bytes * rate) / video.frameCount);
}

/** Bytes of the distorted file. */
export function fileSizeOf({ pairing, distorted }: Sides): number | undefined {
  return pairing?.distorted.fileSize ?? distorted?.fileSize;
}

export function baseName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}

/** Outcome of the offset search in words; `found` for reports of older versions, which lack it. */
export function offsetStateText({ offsetState }: Pick<FramePairing, 'offsetState'>): string {
  if (offsetState === 'ambiguous') return 'ambiguous, a guess';
  return offsetState === 'none' ? 'not found, a guess' : 'found';
}

/** Note for scores with and without film grain if no decoder adds grain. */
export const NO_GRAIN = 'no decoder adds film grain; both scores are equal';

const MATRIX_WORDS: Readonly<Record<Colour['matrix'], string>> = {
  gbr: 'RGB',
  bt709: 'BT.709',
  bt601: 'BT.601',
  bt2020: 'BT.2020',
  smpte240m: 'SMPTE 240M',
  fcc: 'FCC',
  ycgco: 'YCgCo',
  bt2020c: 'BT.2020 with constant luminance',
  ictcp: 'ICtCp',
};
const PRIMARIES_WORDS: Readonly<Record<NonNullable<Colour['primaries']>, string>> = {
  bt709: 'BT.709',
  bt2020: 'BT.2020',
  p3: 'P3',
  'dci-p3': 'DCI-P3',
  bt470m: 'BT.470 M',
  bt470bg: 'BT.470 BG',
  smpte170m: 'SMPTE 170M',
};
const TRANSFER_WORDS: Readonly<Record<Colour['transfer'], string>> = {
  srgb: 'sRGB transfer',
  bt1886: 'BT.1886 transfer',
  gamma22: 'gamma 2.2',
  gamma28: 'gamma 2.8',
  linear: 'linear light',
  bt709: 'inverse BT.709 transfer',
  pq: 'PQ transfer',
  hlg: 'HLG transfer',
};
const SITING_WORDS: Readonly<Record<Colour['siting'], string>> = {
  left: 'left',
  center: 'center',
  topleft: 'top-left',
};

/** @param chroma without subsampled chroma, no upsampling is mentioned */
export function describeColour(
  { matrix, range, transfer, siting, upsampling, primaries }: Colour,
  chroma: ChromaFormat = '420',
): string {
  const parts = [MATRIX_WORDS[matrix], `${range} range`, TRANSFER_WORDS[transfer]];
  if (matrix !== 'gbr' && (chroma === '420' || chroma === '422'))
    parts.push(`${SITING_WORDS[siting]} chroma by ${upsampling}`);
  if (primaries) parts.push(`${PRIMARIES_WORDS[primaries]} primaries`);
  return parts.join(', ');
}

/** A video's colour, and what of it is guessed; `undefined` if no colour metric ran. */
export function colourText({ colour, chroma }: Pick<ReportInput, 'colour' | 'chroma'>): string | undefined {
  if (!colour) return undefined;
  const { guessed, alpha, as } = colour;
  const words = describeColour(colour, chroma) + (alpha ? ', alpha on two backgrounds' : '');
  if (as) return `${words} (as ${as})`;
  return words + (guessed.length > 0 ? ` (${guessed.join(', ')} guessed)` : '');
}

/** `undefined` for a no-reference score. */
export function referenceOf({ noReference, reference }: Sides): ReportInput | undefined {
  return noReference ? undefined : reference;
}
