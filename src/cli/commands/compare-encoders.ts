/**
 * @module cli/commands/compare-encoders
 * `anyvmaf compare-encoders SOURCE --encoder A --encoder B`: which encoder, or which preset, needs less for equal quality.
 */
import { usageError } from '../../core/errors.js';
import { type ComparedEncoder, type ComparedPoint, type CompareOptions, parseEncoder } from '../../index.js';
import { command, type HelpText } from '../command.js';
import { curveHead, curveLine } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import {
  grouped,
  type OptionReaders,
  type OptionSpec,
  type ParsedArguments,
  takeOption,
} from '../options.js';
import type { Terminal } from '../terminal.js';
import {
  CURVE_OPTIONS,
  type CurveDraft,
  type CurveName,
  curveReaders,
  curvesRun,
  ENDING_OPTIONS,
  FULL_OPTION,
  PIX_FMT_OPTION,
  RESULT_OPTIONS,
  type ResultSettings,
  rangeValue,
  resultOf,
  SCORING_OPTIONS,
  type SharedName,
  WORK_OPTIONS,
} from './encoding.js';

const NAME = 'anyvmaf compare-encoders';

const OPTIONS = [
  ...grouped('Encoding', [
    {
      name: 'encoder',
      short: 'e',
      argument: 'NAME[:OPTION=VALUE...]',
      help: 'encoder of the installed ffmpeg, with options: libx264:preset=slow. Twice or more; all are compared with the first',
    },
    PIX_FMT_OPTION,
  ]),
  ...grouped('Curves', [
    ...CURVE_OPTIONS,
    {
      name: 'between',
      argument: 'LOW..HIGH',
      help: "qualities that BD-rates go over. Default: 60..97 of a model's score",
    },
    ...SCORING_OPTIONS,
    FULL_OPTION,
    ...WORK_OPTIONS,
  ]),
  ...grouped('Result', [...RESULT_OPTIONS, ...ENDING_OPTIONS]),
] as const satisfies readonly OptionSpec[];

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

/** The comparison of encoders. */
export const compareEncodersCommand = command(NAME, OPTIONS, page, async (parsed, terminal) =>
  compare(settingsOf(parsed), terminal),
);

interface CompareSettings {
  readonly result: ResultSettings;
  readonly options: CompareOptions;
}

async function compare({ result: settings, options }: CompareSettings, terminal: Terminal): Promise<number> {
  const { compareEncoders } = await import('../../index.js');
  await curvesRun(settings, terminal, ({ line, ...listeners }) => {
    let first = true;
    const onPoint = (point: ComparedPoint) => {
      if (first) line(curveHead('encoder', 'value', options.metric ?? 'quality'));
      first = false;
      line(curveLine(point.name, point));
    };
    return compareEncoders(settings.source, { ...options, ...listeners, onPoint });
  });
  return EXIT.ok;
}

type Draft = CurveDraft & { encoders?: readonly ComparedEncoder[]; between?: CompareOptions['between'] };
type Name = (typeof OPTIONS)[number]['name'];

const readersOf = (draft: Draft): OptionReaders<Exclude<Name, SharedName | CurveName>, Draft> => ({
  encoder: ({ value }) => ({ encoders: [...(draft.encoders ?? []), parseEncoder(value)] }),
  between: (use) => {
    const { min, max } = rangeValue(use);
    return { between: { min, max } };
  },
});

/** @throws {AnyvmafError} `usage` */
function settingsOf({ options: uses, positionals }: ParsedArguments<Name>): CompareSettings {
  const draft: Draft = {};
  const readers = { ...curveReaders(draft), ...readersOf(draft) };
  for (const use of uses) takeOption(readers, use, draft);
  const { result, options } = resultOf(NAME, positionals, draft);
  const { encoders = [], between } = draft;
  if (encoders.length < 2) {
    throw usageError(`${NAME} needs two encoders or more, for instance --encoder libx264 --encoder libx265`);
  }
  return { result, options: { ...options, encoders, ...(between && { between }) } };
}
