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
      help: 'encoder of the installed ffmpeg, with options: libx264:preset=slow. Twice or more; all are compared with the first',
      read: ({ value }, { encoders = [] }) => ({ encoders: [...encoders, parseEncoder(value)] }),
    },
    PIX_FMT_OPTION,
  ]),
  ...grouped<CompareSettings>('Curves', [
    ...CURVE_OPTIONS,
    betweenOption("qualities that BD-rates go over. Default: 60..97 of a model's score"),
    ...SCORING_OPTIONS,
    FULL_OPTION,
    ...WORK_OPTIONS,
  ]),
  ...grouped<CompareSettings>('Result', [...RESULT_OPTIONS, ...ENDING_OPTIONS]),
];

const page: HelpText = {
  usage: [`${NAME} SOURCE -e NAME -e NAME`],
  about:
    'Measures the curve of quality over rate of several encoders, or of one with several presets, on a source, and ' +
    'says by BD-rate how much less each needs for equal quality, how fast it is here, and what each needs for a quality that is wanted.',
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
