/**
 * @module cli/commands/shots
 * `anyvmaf shots SOURCE`: finds the shots of a video, and with an encoder a setting for each.
 */
import { extname } from 'node:path';
import { usageError } from '../../core/errors.js';
import { counted, shown } from '../../core/printable.js';
import {
  type DetectedShots,
  SHOT_FORMATS,
  type Shot,
  type ShotFormat,
  type ShotGoal,
  type ShotStage,
  type TunedShot,
  type TuneShotsResult,
} from '../../index.js';
import { targetText } from '../../report/limits.js';
import { clock } from '../../report/sections.js';
import { asJson, command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { choiceValue, numberValue, optionTable, orList, secondsValue } from '../options.js';
import {
  bar,
  checkEncode,
  ENCODER_OPTIONS,
  ENDING_OPTIONS,
  encodeOptions,
  encodingRun,
  endLines,
  frameText,
  megabytes,
  oneSource,
  POINT,
  parameterOption,
  pointsHead,
  reachedText,
  row,
  SCORING_OPTIONS,
  TARGET_OPTION,
  valuesOption,
  valueText,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf shots';
const GOALS = ['each', 'whole'] as const satisfies readonly ShotGoal[];

const formatted = (format: ShotFormat) => () => ({ format });

const SHOTS_OPTIONS = optionTable({
  Shots: {
    '--threshold CHANGE': [
      'threshold of a cut, from 0 to 1. Default: 0.3',
      (use) => ({ threshold: numberValue(use) }),
    ],
    '--min-length SECONDS': ['shortest shot. Default: 0.5', (use) => ({ minSeconds: secondsValue(use) })],
    '--max-length SECONDS': [
      'longest shot; longer ones are split. Default: 10',
      (use) => ({ maxSeconds: secondsValue(use) }),
    ],
  },
  Encoding: {
    ...ENCODER_OPTIONS,
    '-e, --encoder NAME': [
      'encoder of the installed ffmpeg; without one, shots are only detected',
      ({ value }) => ({ encoder: value }),
    ],
    ...encodeOptions('join the encoded shots, copy audio and subtitles, and score the whole'),
  },
  Quality: {
    ...TARGET_OPTION,
    '--goal GOAL': [
      'each: every shot reaches the target; whole: the whole video does, with the fewest bytes. Default: each',
      (use) => ({ goal: choiceValue(use, GOALS) }),
    ],
    ...SCORING_OPTIONS,
  },
  Search: {
    ...parameterOption('set'),
    ...valuesOption('LOW..HIGH', 'values to choose from'),
    ...WORK_OPTIONS,
  },
  Result: {
    '-o, --output FILE': [
      'write the result to FILE, in the format of its extension: .json, .csv or .sh',
      ({ value }) => ({ file: value }),
    ],
    '--format FORMAT': [
      `${orList(SHOT_FORMATS)} instead of a table; shell is a script that makes the encode with ffmpeg`,
      (use) => ({ format: choiceValue(use, SHOT_FORMATS) }),
    ],
    '--json': ['as --format json', formatted('json')],
    '--csv': ['as --format csv', formatted('csv')],
    ...ENDING_OPTIONS,
  },
});

const FORMATS: Readonly<Record<string, ShotFormat>> = { '.json': 'json', '.csv': 'csv', '.sh': 'shell' };

const page: HelpText = {
  usage: [`${NAME} [options] SOURCE`, `${NAME} [options] SOURCE --encoder NAME`],
  about:
    'Detects the shots of a video. With an encoder of the installed ffmpeg it finds a setting for each shot, so ' +
    'that every shot, or the whole video, reaches a quality with the fewest bytes, and joins the encodes on ' +
    'request. Exits with 3 if the quality cannot be reached.',
  sections: {
    Examples: [
      [`${NAME} a.mov`, 'only detect the shots'],
      [`${NAME} a.mov --encoder libx264 --target 93`, 'a CRF for each shot'],
      [`${NAME} a.mov --encoder libx264 --goal whole`, 'fewest bytes for a mean of 95'],
      [`${NAME} a.mov --encoder libx265 --encode b.mp4`, 'also write the file'],
      [`${NAME} a.mov --encoder libx264 -o make.sh`, 'a script that makes it'],
    ],
  },
};

export const shots = command(NAME, SHOTS_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { file: path, format: asked, quiet = false, encoder, ...rest } = settings;
  const source = oneSource(NAME, positionals, `type ${NAME} SOURCE`);
  const { threshold, minSeconds, maxSeconds, ...others } = rest;
  const limits = { threshold, minSeconds, maxSeconds };
  const written = FORMATS[extname(path ?? '').toLowerCase()] ?? asked ?? 'json';
  const scripted = asked === 'shell' || (path !== undefined && written === 'shell');
  if (encoder === undefined && (Object.keys(others).length > 0 || scripted))
    throw usageError(`${NAME} needs an encoder for these options, for instance --encoder libx264`);
  checkEncode(rest);
  return encodingRun({ source, quiet }, [path, rest.output], terminal, async (tools) => {
    const { files, signal, say, clear } = tools;
    const [file] = files;
    const { detectShots, formatShots, tuneShots } = await import('../../index.js');
    const deliver = async (text: string, data: (format: ShotFormat) => string | Promise<string>) => {
      clear();
      await file?.write([await data(written)], signal);
      await terminal.print(asked === undefined ? text : await data(asked));
    };
    if (encoder === undefined) {
      const onProgress = (frames: number, total: number) => say?.(`reading frame ${frames} of ${total}`);
      const found = await detectShots(source, { ...limits, onProgress, signal });
      await deliver(foundText(found), (format) => (format === 'csv' ? foundCsv(found) : asJson(found)));
      return EXIT.ok;
    }
    const onStage = (stage: ShotStage) => say?.(shotStageText(stage, rest.parameter ?? 'crf'));
    const result = await tuneShots(source, { ...rest, encoder, onStage, signal });
    await deliver(tunedText(result), (format) => formatShots(result, format));
    return result.reached && result.final?.reached !== false ? EXIT.ok : EXIT.below;
  });
});

/** Columns of number, first frame, frame count and start of a shot. */
const PLACE = [5, 8, 7, 10] as const;
const PLACE_HEAD = row(PLACE, ['shot', 'first', 'frames', 'time']);

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
  return `${[PLACE_HEAD, ...lines, total].join('\n')}\n`;
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
  const lines = shots.map((shot) => lineOf(shot, result, metric, most));
  const head = `${PLACE_HEAD} ${pointsHead(parameter, metric)}`;
  return `${[head, ...lines, ...tunedLines(result, metric)].join('\n')}\n`;
}

function lineOf(shot: TunedShot, { parameter, goal }: TuneShotsResult, metric: string, most: number): string {
  const mean = shot.pooled[metric]?.mean ?? Number.NaN;
  const point = row(POINT, [valueText(parameter, shot.value), mean.toFixed(2), Math.round(shot.kbps)]);
  const missed = goal === 'each' && shot.margin < 0 ? `  missed by ${(-shot.margin).toFixed(2)}` : '';
  return `${placeText(shot, shot.number)} ${point}  ${bar(shot.kbps / most)}${missed}`;
}

function tunedLines(result: TuneShotsResult, metric: string): string[] {
  const { goal, targets, reached, margin, pooled, bytes, kbps, final } = result;
  const aims = targets.map(targetText).join(' and ');
  const success = goal === 'each' ? 'Every shot reaches' : 'All shots together reach';
  const failure = goal === 'each' ? 'Not every shot reaches' : 'The shots together do not reach';
  const mean = pooled[metric]?.mean ?? Number.NaN;
  const lines = [
    reached ? `${success} ${aims}.` : `${failure} ${aims}; the worst is ${(-margin).toFixed(2)} below.`,
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

export function shotStageText(stage: ShotStage, parameter: string): string {
  if (stage.kind === 'finding') return `looking for cuts, frame ${stage.frames} of ${stage.total}`;
  if (stage.kind === 'joining') return `joining ${stage.shots} shots and scoring the result`;
  const place = stage.shot === undefined ? '' : `shot ${stage.shot} of ${stage.shots}: `;
  if (stage.kind === 'reading') return 'reading the source';
  if (stage.kind === 'cutting') return `${place}cutting ${stage.frames} frames`;
  return `${place}${stage.kind} at ${parameter} ${stage.value}${frameText(stage)}`;
}
