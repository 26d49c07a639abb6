/**
 * @module cli/encoding-text
 * Terminal text of searches, ladders, comparisons and shots: points, answers and stages.
 */
import { counted, printable, shown } from '../core/printable.js';
import { quotedWord } from '../core/shell.js';
import type {
  DetectedShots,
  EncodedPoint,
  SearchPoint,
  SearchResult,
  SearchStage,
  Shot,
  ShotStage,
  TunedShot,
  TuneShotsResult,
} from '../index.js';
import { targetText } from '../report/limits.js';
import { clock, cut } from '../report/terminal.js';

/** Columns of a bar, of one beside a name, and of that name, which loses its middle if longer. */
const BAR = 24;
const SHORT_BAR = 16;
const NAME = 24;
/** Columns of value, quality and rate; of number, first frame, frame count and start of a shot. */
const POINT = [10, 9, 9] as const;
const PLACE = [5, 8, 7, 10] as const;

/** Right-aligns texts in columns of fixed widths, for lines printed as they come. */
function row(widths: readonly number[], texts: readonly (string | number)[]): string {
  return texts.map((text, i) => String(text).padStart(widths[i] ?? 0)).join(' ');
}

function bar(share: number, width = BAR): string {
  return '#'.repeat(Math.round(Math.max(0, Math.min(1, share)) * width)).padEnd(width, '.');
}

/** `23`; bit rates as `3150 kb/s`. */
function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1)} MB`;
}

// --- points ---

export function pointsHead(parameter: string, metric: string): string {
  return row(POINT, [parameter, metric, 'kb/s']);
}

/** Value, quality, rate, and the distance from the target. */
export function pointLine({ value, quality, kbps, margin, cached }: SearchPoint, parameter: string): string {
  const verdict = margin >= 0 ? 'reached' : `missed by ${(-margin).toFixed(2)}`;
  const point = row(POINT, [valueText(parameter, value), quality.toFixed(2), Math.round(kbps)]);
  return `${point}  ${bar(quality / 100)}  ${verdict}${cached ? ' (cached)' : ''}`;
}

export function curveHead(curve: string, parameter: string, quality: string): string {
  return `${curve.padEnd(NAME)} ${pointsHead(parameter, quality)}`;
}

/** At most 80 columns. */
export function curveLine(
  curve: string,
  { value, quality, kbps, cached }: EncodedPoint & { readonly quality: number },
): string {
  const point = row(POINT, [value, quality.toFixed(2), Math.round(kbps)]);
  const name = cut(printable(curve), NAME, 'both').padEnd(NAME);
  return `${name} ${point}  ${bar(quality / 100, SHORT_BAR)}${cached ? ' cached' : ''}`;
}

// --- answers ---

export function answerText(result: SearchResult): string {
  const { encoder, parameter, value, targets, shortfall, predicted, samples, final } = result;
  const found = `${encoder} ${parameter} ${valueText(parameter, value)}`;
  const aims = targets.map(targetText).join(' and ');
  const lines = result.unfinished
    ? unfinishedLines(result, found, aims)
    : [shortfall ? `No setting reaches ${aims}${shortfallText(result, found)}` : `${found} reaches ${aims}.`];
  const [low, high] = predicted.interval99;
  const spread =
    samples && samples.length > 1 ? ` (99 % confidence: ${low.toFixed(2)} to ${high.toFixed(2)})` : '';
  lines.push(`Predicted: ${predicted.value.toFixed(2)}${spread}, about ${megabytes(result.predictedBytes)}.`);
  if (result.notMonotone.length > 0) {
    const places = result.notMonotone.map((one) => valueText(parameter, one)).join(', ');
    const verb = result.notMonotone.length === 1 ? 'scores' : 'score';
    lines.push(`The curve is not monotone: ${places} ${verb} better than the next finer value.`);
  }
  if (final) {
    const values = targets.map(
      ({ metric, statistic }, i) =>
        `${metric} ${statistic.replace('_', ' ')} ${final.qualities[i]?.toFixed(2)}`,
    );
    const where = final.file === null ? 'The whole source, encoded with this setting' : shown(final.file);
    lines.push(
      `${where}: ${values.join(', ')}, ${reachedText(final)}; ${megabytes(final.bytes)}, ${Math.round(final.kbps)} kb/s.`,
    );
  }
  lines.push(...endLines(result), result.command.map(quotedWord).join(' '));
  return `${lines.join('\n')}\n`;
}

/** What is known so far, and how to resume. */
function unfinishedLines(
  { shortfall, parameter, unfinished }: SearchResult,
  found: string,
  aims: string,
): string[] {
  const so =
    shortfall?.reason === 'target'
      ? `nothing reaches ${aims} yet; the closest, ${found}, is ${shortfall.by.toFixed(2)} below`
      : `${found} reaches ${aims}, and a smaller file may, too`;
  const [min, max] = [unfinished?.min ?? 0, unfinished?.max ?? 0].map((value) => valueText(parameter, value));
  return [
    `Unfinished: ${so}.`,
    `The answer lies between ${min} and ${max}: run the same command to resume from the cached points; without a cache, add ` +
      `--values ${unfinished?.min}..${unfinished?.max}.`,
  ];
}

function shortfallText({ shortfall }: SearchResult, nearest: string): string {
  if (shortfall?.reason === 'target')
    return `: the closest, ${nearest}, is ${shortfall.by.toFixed(2)} below.`;
  if (shortfall?.reason === 'size')
    return ` within the size limit: ${nearest} takes ${(shortfall.share * 100).toFixed(1)} % of the source's size.`;
  return ` without exceeding the upper bound: ${nearest} is ${shortfall?.by.toFixed(2)} above it.`;
}

function reachedText({ reached }: { readonly reached: boolean }): string {
  return reached ? 'which reaches the target' : 'which misses the target';
}

/** An unwritten file and how to get it, warnings, and the number of encodes. */
function endLines({
  unwritten,
  unfinished = null,
  warnings,
  encodes,
  cached,
}: Pick<SearchResult, 'unwritten' | 'warnings' | 'encodes' | 'cached'> &
  Partial<Pick<SearchResult, 'unfinished'>>): string[] {
  const missed = unfinished ? '' : ' because it misses a target or bound; --encode-missed writes it anyway';
  return [
    ...(unwritten === null ? [] : [`${shown(unwritten)} was not written${missed}.`]),
    ...warnings.map((text) => `Note: ${text}`),
    `${counted(encodes, 'encode')}, ${counted(cached, 'cached point')}.`,
  ];
}

// --- shots ---

const placeHead = row(PLACE, ['shot', 'first', 'frames', 'time']);

function placeText({ first, count, start }: Shot, number: number): string {
  return row(PLACE, [number, first, count, clock(start, 2)]);
}

/** Bars show the lengths of the shots. */
export function foundText({ shots, frames, frameRate }: DetectedShots): string {
  const longest = Math.max(...shots.map(({ count }) => count));
  const lines = shots.map(
    (shot, i) => `${placeText(shot, i + 1)}  ${bar(shot.count / longest)}  ${beginText(shot)}`,
  );
  const rate = Number(frameRate.toFixed(3));
  const total = `${counted(shots.length, 'shot')}, ${frames} frames at ${rate} per second.`;
  return `${[placeHead, ...lines, total].join('\n')}\n`;
}

export function foundCsv({ shots }: DetectedShots): string {
  const lines = shots.map(({ first, count, start, seconds, begins, change }, i) =>
    [i + 1, first, count, start.toFixed(6), seconds.toFixed(6), begins, change.toFixed(4)].join(','),
  );
  return `shot,first_frame,frames,start,seconds,begins,change\n${lines.map((line) => `${line}\n`).join('')}`;
}

function beginText({ begins, change }: Shot): string {
  if (begins === 'start') return 'start';
  return begins === 'cut' ? `cut (${change.toFixed(2)})` : 'split: longer than allowed';
}

/** Bars show the bit rates of the shots. */
export function tunedText(result: TuneShotsResult): string {
  const { shots, parameter, targets } = result;
  const metric = targets[0]?.metric ?? 'vmaf';
  const most = Math.max(...shots.map(({ kbps }) => kbps));
  const lines = shots.map((shot) => shotLine(shot, result, metric, most));
  return `${[`${placeHead} ${pointsHead(parameter, metric)}`, ...lines, ...tunedLines(result, metric)].join('\n')}\n`;
}

function shotLine(
  shot: TunedShot,
  { parameter, goal }: TuneShotsResult,
  metric: string,
  most: number,
): string {
  const mean = shot.pooled[metric]?.mean ?? Number.NaN;
  const point = row(POINT, [valueText(parameter, shot.value), mean.toFixed(2), Math.round(shot.kbps)]);
  const missed = goal === 'each' && shot.margin < 0 ? `  missed by ${(-shot.margin).toFixed(2)}` : '';
  return `${placeText(shot, shot.number)} ${point}  ${bar(shot.kbps / most)}${missed}`;
}

function tunedLines(result: TuneShotsResult, metric: string): string[] {
  const { goal, targets, reached, margin, pooled, bytes, kbps, final } = result;
  const aims = targets.map(targetText).join(' and ');
  const who = goal === 'each' ? 'Every shot reaches' : 'All shots together reach';
  const not = goal === 'each' ? 'Not every shot reaches' : 'The shots together do not reach';
  const mean = pooled[metric]?.mean ?? Number.NaN;
  const lines = [
    `${reached ? who : not} ${aims}${reached ? '.' : `; the worst is ${(-margin).toFixed(2)} below.`}`,
    `All: ${metric} ${mean.toFixed(2)}, ${megabytes(bytes)}, ${Math.round(kbps)} kb/s.`,
    savingText(result),
  ];
  if (final) {
    const got = final.pooled[metric]?.mean ?? Number.NaN;
    const off = Math.max(final.difference.within, final.difference.edges);
    lines.push(
      `${shown(final.file)}: mean ${got.toFixed(2)}, ${reachedText(final)}; ${megabytes(final.bytes)}, all frames in order, ` +
        `${off < 1e-9 ? 'each scored as in its shot' : `scores within ${off.toFixed(4)} of those in the shots`}.`,
    );
  }
  return [...lines, ...endLines(result)];
}

/** Compares with one value for all shots. */
function savingText({ single, saving, parameter }: TuneShotsResult): string {
  const name = `${parameter} ${valueText(parameter, single.value)}`;
  if (!single.reached) return `No single ${parameter} reaches the same.`;
  const share = `${(Math.abs(saving) * 100).toFixed(1)} %`;
  const verb = saving >= 0 ? `saves ${share}` : `takes ${share} more`;
  return `One setting for all shots, ${name}, reaches the same with ${megabytes(single.bytes)}: a setting per shot ${verb}.`;
}

// --- what is being done ---

export function stageText(stage: SearchStage): string {
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'cutting') return `cutting ${stage.samples} samples, ${stage.frames} frames`;
  const { kind, encoder, size, value, whole } = stage;
  const what = whole ? 'the whole source' : 'samples';
  return `${kind} ${what}${size ? ` in ${size.width}x${size.height}` : ''} with ${encoder} at ${value}${frameText(stage)}`;
}

export function shotStageText(stage: ShotStage, parameter: string): string {
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'joining') return `joining ${stage.shots} shots and scoring the result`;
  const place = stage.shot === undefined ? '' : `shot ${stage.shot} of ${stage.shots}: `;
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'cutting') return `${place}cutting ${stage.frames} frames`;
  return `${place}${stage.kind} at ${parameter} ${stage.value}${frameText(stage)}`;
}

function frameText({ frames, total }: { readonly frames?: number; readonly total?: number }): string {
  return frames === undefined ? '' : `, frame ${frames} of ${total}`;
}
