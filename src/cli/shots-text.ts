/**
 * @module cli/shots-text
 * Shots in words: a table with a line for each and a picture beside it, and what came of all.
 */
import { shown } from '../core/printable.js';
import type { DetectedShots, Shot, TunedShot, TuneShotsResult } from '../index.js';
import { targetText } from '../report/limits.js';
import { unwrittenLines } from './search-text.js';

/** Columns of the picture. */
const PICTURE = 24;

/** The table of shots that were only found. Bars show how long they are. */
export function foundText({ shots, frames, frameRate }: DetectedShots): string {
  const longest = Math.max(...shots.map(({ count }) => count));
  const lines = shots.map(
    (shot, i) => `${placeText(shot, i + 1)}  ${bar(shot.count / longest)}  ${beginText(shot)}`,
  );
  const total = `${shots.length} ${shots.length === 1 ? 'shot' : 'shots'}, ${frames} frames at ${rounded(frameRate)} per second.`;
  return `${[placeHead, ...lines, total].join('\n')}\n`;
}

export function foundCsv({ shots }: DetectedShots): string {
  const lines = shots.map(({ first, count, start, seconds, begins, change }, i) =>
    [i + 1, first, count, start.toFixed(6), seconds.toFixed(6), begins, change.toFixed(4)].join(','),
  );
  return `shot,first_frame,frames,start,seconds,begins,change\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** The table of tuned shots, bars of their bit rates, and the answer. */
export function tunedText(result: TuneShotsResult): string {
  const { shots, parameter, targets } = result;
  const metric = targets[0]?.metric ?? 'vmaf';
  const most = Math.max(...shots.map(({ kbps }) => kbps));
  const head = `${placeHead} ${parameter.padStart(10)} ${metric.padStart(9)} ${'kb/s'.padStart(9)}`;
  const lines = shots.map((shot) => shotLine(shot, result, metric, most));
  return `${[head, ...lines, ...answerLines(result, metric)].join('\n')}\n`;
}

const placeHead = `${'shot'.padStart(5)} ${'first'.padStart(8)} ${'frames'.padStart(7)} ${'time'.padStart(10)}`;

function placeText({ first, count, start }: Shot, number: number): string {
  const columns = [
    String(number).padStart(5),
    String(first).padStart(8),
    String(count).padStart(7),
    timeText(start).padStart(10),
  ];
  return columns.join(' ');
}

function shotLine(
  shot: TunedShot,
  { parameter, goal }: TuneShotsResult,
  metric: string,
  most: number,
): string {
  const mean = shot.pooled[metric]?.mean ?? Number.NaN;
  const columns = [
    placeText(shot, shot.number),
    valueText(parameter, shot.value).padStart(10),
    mean.toFixed(2).padStart(9),
    Math.round(shot.kbps).toString().padStart(9),
  ];
  const missed = goal === 'each' && shot.margin < 0 ? `  misses by ${(-shot.margin).toFixed(2)}` : '';
  return `${columns.join(' ')}  ${bar(shot.kbps / most)}${missed}`;
}

function answerLines(result: TuneShotsResult, metric: string): string[] {
  const { goal, targets, reached, margin, pooled, bytes, kbps, encodes, cached, final } = result;
  const aims = targets.map(targetText).join(' and ');
  const who = goal === 'each' ? 'Every shot reaches' : 'All shots together reach';
  const not = goal === 'each' ? 'Not every shot reaches' : 'The shots together do not reach';
  const mean = pooled[metric]?.mean ?? Number.NaN;
  const lines = [
    `${reached ? who : not} ${aims}${reached ? '.' : `; the worst stays ${(-margin).toFixed(2)} below.`}`,
    `All: ${metric} ${mean.toFixed(2)}, ${megabytes(bytes)}, ${Math.round(kbps)} kb/s.`,
    savingText(result),
  ];
  if (final) {
    const got = final.pooled[metric]?.mean ?? Number.NaN;
    const { within, edges } = final.difference;
    const off = Math.max(within, edges);
    lines.push(
      `${shown(final.file)}: mean ${got.toFixed(2)}, ${final.reached ? 'which reaches the target' : 'which misses the target'}; ` +
        `${megabytes(final.bytes)}, all frames in their order, ` +
        `${off < 1e-9 ? 'each with the score that its shot gave' : `scores within ${off.toFixed(4)} of what the shots gave`}.`,
    );
  }
  lines.push(...unwrittenLines(result), ...result.warnings.map((text) => `Note: ${text}`));
  return [...lines, `${encodes} ${encodes === 1 ? 'encode' : 'encodes'}, ${cached} known from before.`];
}

/** What one value for all shots would take. */
function savingText({ single, saving, parameter }: TuneShotsResult): string {
  const name = `${parameter} ${valueText(parameter, single.value)}`;
  if (!single.reached) return `No single ${parameter} reaches the same.`;
  const share = `${(Math.abs(saving) * 100).toFixed(1)} %`;
  const verb = saving >= 0 ? `saves ${share}` : `takes ${share} more`;
  return `One setting for all that reaches the same, ${name}, takes ${megabytes(single.bytes)}: a setting a shot ${verb}.`;
}

function bar(share: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * PICTURE);
  return '#'.repeat(filled).padEnd(PICTURE, '.');
}

function beginText({ begins, change }: Shot): string {
  if (begins === 'start') return 'start';
  return begins === 'cut' ? `cut (${change.toFixed(2)})` : 'split: longer than allowed';
}

/** `1:02:03.40` */
function timeText(seconds: number): string {
  const hundredths = Math.round(seconds * 100);
  const whole = Math.floor(hundredths / 100);
  const two = (value: number) => String(value).padStart(2, '0');
  const tail = `${two(whole % 60)}.${two(hundredths % 100)}`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}:${tail}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${tail}`;
}

function valueText(parameter: string, value: number): string {
  return parameter === 'bitrate' ? `${Math.round(value / 1000)} kb/s` : String(value);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1)} MB`;
}

function rounded(value: number): string {
  return String(Number(value.toFixed(3)));
}
