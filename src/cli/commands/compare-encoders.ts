/**
 * @module cli/commands/compare-encoders
 * `anyvmaf compare-encoders SOURCE --encoder A --encoder B`: compares encoders or presets at equal quality.
 */
import { usageError } from '../../core/errors.js';
import { type ComparedPoint, type CompareOptions, parseEncoder } from '../../index.js';
import { command, type HelpText } from '../command.js';
import { curveHead, curveLine } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import { grouped, type Option } from '../options.js';
import {
  betweenOption,
  CURVE_OPTIONS,
  type CurveSettings,
  curvesRun,
  ENDING_OPTIONS,
  FULL_OPTION,
  PIX_FMT_OPTION,
  RESULT_OPTIONS,
  resultOf,
  SCORING_OPTIONS,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf compare-encoders';

interface CompareSettings extends CurveSettings, Pick<CompareOptions, 'encoders' | 'between'> {}

const OPTIONS: readonly Option<CompareSettings>[] = [
  ...grouped<CompareSettings>('Encoding', [
    {
      name: 'encoder',
      short: 'e',
      argument: 'NAME[:OPTION=VALUE...]',
      help:
        'encoder of the installed ffmpeg, with options: libx264:preset=slow. Give two or more; all are ' +
        'compared with the first',
      read: ({ value }, { encoders = [] }) => ({ encoders: [...encoders, parseEncoder(value)] }),
    },
    PIX_FMT_OPTION,
  ]),
  ...grouped<CompareSettings>('Curves', [
    ...CURVE_OPTIONS,
    betweenOption("quality range of the BD-rates. Default: 60..97 of a model's score"),
    ...SCORING_OPTIONS,
    FULL_OPTION,
    ...WORK_OPTIONS,
  ]),
  ...grouped<CompareSettings>('Result', [...RESULT_OPTIONS, ...ENDING_OPTIONS]),
];

const page: HelpText = {
  usage: [`${NAME} SOURCE -e NAME -e NAME`],
  about:
    'Measures the rate-quality curves of several encoders, or of one with several presets, on a source. Reports ' +
    'how much less each needs for equal quality (BD-rate), how fast it is here, and the rate that it needs ' +
    'for a target quality.',
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov -e libx264 -e libx265`, 'two codecs'],
        [`${NAME} a.mov -e libx265 -e libsvtav1`, 'and others'],
      ],
    },
  ],
};

export const compareEncodersCommand = command(NAME, OPTIONS, page, async (line) => {
  const { result, options } = resultOf(NAME, line.positionals, line.settings);
  const { encoders = [], ...others } = options;
  if (encoders.length < 2) {
    throw usageError(`${NAME} needs two encoders or more, for instance --encoder libx264 --encoder libx265`);
  }
  const { compareEncoders } = await import('../../index.js');
  await curvesRun(result, line.terminal, ({ line: print, ...listeners }) => {
    let first = true;
    const onPoint = (point: ComparedPoint) => {
      if (first) print(curveHead('encoder', 'value', options.metric ?? 'quality'));
      first = false;
      print(curveLine(point.name, point));
    };
    return compareEncoders(result.source, { ...others, encoders, ...listeners, onPoint });
  });
  return EXIT.ok;
});
