/**
 * @module cli/commands/search
 * `anyvmaf search SOURCE --encoder NAME --target 95`: finds the encoder setting that reaches a quality.
 */
import { usageError } from '../../core/errors.js';
import { quotedWord } from '../../core/names.js';
import { shown } from '../../core/printable.js';
import type { SearchOptions, SearchPoint, SearchResult, SearchStage } from '../../index.js';
import { targetText } from '../../report/limits.js';
import { asJson, command, type HelpText } from '../command.js';
import { EXIT } from '../exit.js';
import { type OptionUse, optionTable, refusedValue } from '../options.js';
import type { Terminal } from '../terminal.js';
import {
  bar,
  checkEncode,
  ENCODER_OPTIONS,
  ENDING_OPTIONS,
  encodeOptions,
  encodingRun,
  endLines,
  FULL_OPTION,
  megabytes,
  oneSource,
  POINT,
  parameterOption,
  pointsHead,
  rangeValue,
  reachedText,
  row,
  SCORING_OPTIONS,
  stageText,
  TARGET_OPTION,
  valuesOption,
  valueText,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf search';

export const SEARCH_OPTIONS = optionTable({
  Encoding: {
    ...ENCODER_OPTIONS,
    ...encodeOptions('encode the whole source with the value found, copy audio and subtitles, and score it'),
  },
  Quality: {
    ...TARGET_OPTION,
    '--between LOW..HIGH': [
      'mean between LOW and HIGH',
      (use: OptionUse, { targets = [], atMost }: Pick<SearchOptions, 'targets' | 'atMost'>) => {
        const { min, max } = rangeValue(use);
        // The first target is that of an earlier --between, of which the last counts.
        const others = atMost === undefined ? targets : targets.slice(1);
        return { targets: [{ atLeast: min }, ...others], atMost: max };
      },
    ],
    '--max-size SHARE': [
      'size limit, as a share of the source: 60%',
      (use) => ({ maxSize: shareValue(use) }),
    ],
    ...SCORING_OPTIONS,
  },
  Search: {
    ...parameterOption('search'),
    ...valuesOption('LOW..HIGH', 'values to search'),
    '--all LOW..HIGH:STEP': [
      'encode every value of a grid instead of searching',
      (use) => ({ all: rangeValue(use) }),
    ],
    ...FULL_OPTION,
    '--verify': ['encode the whole source with the value found, and score it', () => ({ verify: true })],
    ...WORK_OPTIONS,
    '--forget': ['delete the cached points of all earlier searches, and exit', () => ({ forget: true })],
  },
  Result: {
    '-o, --output FILE': ['write the result as JSON to FILE', ({ value }) => ({ file: value })],
    '--json': ['print the result as JSON', () => ({ json: true })],
    ...ENDING_OPTIONS,
  },
});

function shareValue(use: OptionUse): number {
  const [, text, percent] = /^(\d{1,6}(?:\.\d{1,6})?)(%?)$/.exec(use.value) ?? [];
  const share = Number(text) / (percent === '%' ? 100 : 1);
  // A bare 60 is meant as 60 %, not as 60 times the source.
  if (share > 0 && (percent === '%' || share <= 1)) return share;
  throw refusedValue(use, 'a share such as 60% or 0.6');
}

const page: HelpText = {
  usage: [`${NAME} [options] SOURCE --encoder NAME`, `${NAME} --forget`],
  about:
    'Finds the setting at which an encoder of the installed ffmpeg makes the smallest file that reaches a ' +
    'quality: it encodes and scores short samples of the source, usually five times, and reports how ' +
    'certain the result is. Exits with 3 if no setting reaches the quality.',
  sections: {
    Examples: [
      [`${NAME} a.mov --encoder libx264`, 'the CRF for a mean VMAF of 95'],
      [`${NAME} a.mov -e libx265 --target 'p5>=90'`, 'for the worst frames'],
      [`${NAME} a.mov --encoder libx264 --between 94..96`, 'no better than needed'],
      [`${NAME} a.mov --encoder libx264 --encode b.mp4`, 'also write the file'],
      [`${NAME} a.mov --encoder libx264 --all 18..40:2`, 'the whole curve'],
    ],
  },
};

export const search = command(NAME, SEARCH_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const { file, json = false, quiet = false, forget, encoder, all, ...others } = settings;
  if (forget) {
    if (positionals.length > 0 || others.cache === false)
      throw usageError(
        `--forget deletes the points of all searches in a cache; leave ${positionals.length > 0 ? 'the source' : '--cache none'} out`,
      );
    return forgetAll(others.cache, terminal);
  }
  const source = oneSource(NAME, positionals, `type ${NAME} SOURCE --encoder libx264`);
  if (encoder === undefined) throw usageError(`${NAME} needs an encoder, for instance --encoder libx264`);
  if (all && 'range' in others)
    throw usageError('--all encodes every value of its own range; leave --values or --all out');
  const options: SearchOptions = { ...others, encoder, ...(all && { range: all, all: true }) };
  checkEncode(options);
  return encodingRun({ source, quiet }, [file, options.output], terminal, async (tools) => {
    const { files, signal, say, line, clear } = tools;
    const { searchQuality } = await import('../../index.js');
    let metric: string | undefined;
    const onPoint: SearchOptions['onPoint'] = (point, parameter) => {
      clear();
      if (json) return;
      if (metric === undefined) {
        metric = options.targets?.[0]?.metric ?? Object.keys(point.pooled)[0] ?? 'vmaf';
        line(pointsHead(parameter, metric));
      }
      line(pointLine(point, parameter));
    };
    // Ctrl-C ends the search with the result so far.
    const result = await searchQuality(source, {
      ...options,
      ...(say && { onStage: (stage: SearchStage) => say(stageText(stage)) }),
      onPoint,
      finish: signal,
    });
    clear();
    const text = asJson(result);
    await files[0]?.write([text]);
    await terminal.print(json ? text : answerText(result));
    signal.throwIfAborted();
    return result.shortfall || result.final?.reached === false ? EXIT.below : EXIT.ok;
  });
});

async function forgetAll(cache: string | undefined, terminal: Terminal): Promise<number> {
  const { forgetSearches } = await import('../../index.js');
  const count = await forgetSearches(cache);
  await terminal.print(`deleted the points of ${count} ${count === 1 ? 'search' : 'searches'}\n`);
  return EXIT.ok;
}

/** Value, quality, rate, and the distance from the target. */
export function pointLine({ value, quality, kbps, margin, cached }: SearchPoint, parameter: string): string {
  const verdict = margin >= 0 ? 'reached' : `missed by ${(-margin).toFixed(2)}`;
  const point = row(POINT, [valueText(parameter, value), quality.toFixed(2), Math.round(kbps)]);
  return `${point}  ${bar(quality / 100)}  ${verdict}${cached ? ' (cached)' : ''}`;
}

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
    const places = result.notMonotone.map((place) => valueText(parameter, place)).join(', ');
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
function unfinishedLines(result: SearchResult, found: string, aims: string): string[] {
  const { shortfall, parameter, unfinished } = result;
  const state =
    shortfall?.reason === 'target'
      ? `nothing reaches ${aims} yet; the closest, ${found}, is ${shortfall.by.toFixed(2)} below`
      : `${found} reaches ${aims}, and a smaller file may, too`;
  const [min, max] = [unfinished?.min ?? 0, unfinished?.max ?? 0].map((value) => valueText(parameter, value));
  return [
    `Unfinished: ${state}.`,
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
