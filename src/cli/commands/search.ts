/**
 * @module cli/commands/search
 * `anyvmaf search SOURCE --encoder NAME --target 95`: finds the setting with which an encoder reaches a quality.
 */
import { usageError } from '../../core/errors.js';
import {
  parseTarget,
  type QualityTarget,
  type SearchOptions,
  type SearchPoint,
  type SearchStage,
} from '../../index.js';
import { command, type HelpText } from '../command.js';
import { answerText, pointLine, pointsHead, stageText } from '../encoding-text.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  grouped,
  type OptionReaders,
  type OptionSpec,
  type OptionUse,
  orList,
  type ParsedArguments,
  refusedValue,
  takeOption,
} from '../options.js';
import type { Terminal } from '../terminal.js';
import {
  ENCODE_MISSED_OPTION,
  ENCODER_ARG_OPTION,
  ENCODER_OPTION,
  ENDING_OPTIONS,
  encodingRun,
  FULL_OPTION,
  oneSource,
  PARAMETERS,
  PIX_FMT_OPTION,
  rangeValue,
  SCORING_OPTIONS,
  type SharedName,
  sharedReaders,
  TARGET_OPTION,
  WORK_OPTIONS,
  withEncoderOption,
} from './encoding.js';

export const NAME = 'anyvmaf search';

export const SEARCH_OPTIONS = [
  ...grouped('Encoding', [
    ENCODER_OPTION,
    ENCODER_ARG_OPTION,
    PIX_FMT_OPTION,
    {
      name: 'encode',
      argument: 'FILE',
      help: 'encode the whole source with the value found, sound and subtitles copied, and score it',
    },
    ENCODE_MISSED_OPTION,
  ]),
  ...grouped('Quality', [
    TARGET_OPTION,
    { name: 'between', argument: 'LOW..HIGH', help: 'a mean from LOW to HIGH' },
    { name: 'max-size', argument: 'SHARE', help: "largest size, as a share of the source's: 60%" },
    ...SCORING_OPTIONS,
  ]),
  ...grouped('Search', [
    {
      name: 'parameter',
      argument: 'NAME',
      help: `what to search: ${orList(PARAMETERS)}. Default: the encoder's scale of constant quality`,
    },
    { name: 'values', argument: 'LOW..HIGH', help: 'values to search' },
    { name: 'all', argument: 'LOW..HIGH:STEP', help: 'encode every value of a grid instead of searching' },
    FULL_OPTION,
    { name: 'verify', help: 'encode the whole source with the value found, and score it' },
    ...WORK_OPTIONS,
    { name: 'forget', help: 'remove the points of all earlier searches, and nothing else' },
  ]),
  ...grouped('Result', [
    { name: 'output', short: 'o', argument: 'FILE', help: 'write the result as JSON to FILE' },
    { name: 'json', help: 'print the result as JSON' },
    ...ENDING_OPTIONS,
  ]),
] as const satisfies readonly OptionSpec[];

/** A command line of `anyvmaf search`. */
export interface SearchSettings {
  readonly source: string;
  readonly options: SearchOptions;
  readonly output: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What the options say, as far as they have been read. */
type Draft = { -readonly [Key in keyof SearchOptions]?: SearchOptions[Key] } & {
  file?: string;
  json?: boolean;
  quiet?: boolean;
  forget?: boolean;
};

type Name = (typeof SEARCH_OPTIONS)[number]['name'];

/** Options that may be repeated add to what is there. */
const readersOf = (draft: Draft): OptionReaders<Exclude<Name, SharedName>, Draft> => ({
  encoder: ({ value }) => ({ encoder: value }),
  'encoder-arg': (use) => ({ encoderOptions: withEncoderOption(draft.encoderOptions, use) }),
  encode: ({ value }) => ({ output: value }),
  'encode-missed': () => ({ keepMissed: true }),
  target: ({ value }) => ({ targets: [...(draft.targets ?? []), parseTarget(value)] }),
  between: (use) => {
    const { min, max } = rangeValue(use);
    const target: QualityTarget = { atLeast: min };
    return { targets: [target, ...(draft.targets ?? [])], atMost: max };
  },
  'max-size': (use) => ({ maxSize: shareValue(use) }),
  parameter: (use) => ({ parameter: choiceValue(use, PARAMETERS) }),
  values: (use) => ({ range: rangeValue(use) }),
  all: (use) => ({ range: rangeValue(use), all: true }),
  verify: () => ({ verify: true }),
  forget: () => ({ forget: true }),
  output: ({ value }) => ({ file: value }),
  json: () => ({ json: true }),
});

/**
 * Reads a command line.
 * @returns `forget` with the folder to forget, or what to search
 * @throws {AnyvmafError} `usage`
 */
export function searchSettings({
  options: uses,
  positionals,
}: ParsedArguments<Name>): SearchSettings | { readonly forget: string | undefined } {
  const draft: Draft = {};
  const readers = { ...sharedReaders(draft), ...readersOf(draft) };
  for (const use of uses) takeOption(readers, use, draft);
  const { file: output, json = false, quiet = false, forget, encoder, ...options } = draft;
  if (forget) return { forget: typeof options.cache === 'string' ? options.cache : undefined };
  const source = oneSource(NAME, positionals, `type ${NAME} SOURCE --encoder libx264`);
  if (encoder === undefined) throw usageError(`${NAME} needs an encoder, for instance --encoder libx264`);
  return { source, options: { ...options, encoder }, output, json, quiet };
}

function shareValue(use: OptionUse): number {
  const [, text, percent] = /^(\d{1,6}(?:\.\d{1,6})?)(%?)$/.exec(use.value) ?? [];
  const share = Number(text) / (percent === '%' ? 100 : 1);
  if (share > 0) return share;
  throw refusedValue(use, 'a share such as 60%');
}

const page: HelpText = {
  usage: [`${NAME} [options] SOURCE --encoder NAME`, `${NAME} --forget`],
  about:
    'Finds the setting with which an encoder of the installed ffmpeg makes the smallest file that reaches a quality: it ' +
    'encodes and scores short samples of the source, usually five times, and says how sure it is. Exits with 3 when no ' +
    'setting reaches it.',
  sections: [
    {
      title: 'Examples',
      rows: [
        [`${NAME} a.mov --encoder libx264`, 'the CRF for a mean VMAF of 95'],
        [`${NAME} a.mov --encoder libx265 --target p5>=90`, 'for the worst frames'],
        [`${NAME} a.mov --encoder libx264 --between 94..96`, 'and no better than needed'],
        [`${NAME} a.mov --encoder libx264 --encode b.mp4`, 'and make the file'],
        [`${NAME} a.mov --encoder libx264 --all 18..40:2`, 'the whole curve'],
      ],
    },
  ],
};

/** The search for a setting. */
export const search = command(NAME, SEARCH_OPTIONS, page, async (parsed, terminal) => {
  const settings = searchSettings(parsed);
  if ('forget' in settings) {
    const { forgetSearches } = await import('../../index.js');
    const count = await forgetSearches(settings.forget);
    await terminal.print(`forgot the points of ${count} ${count === 1 ? 'search' : 'searches'}\n`);
    return EXIT.ok;
  }
  return find(settings, terminal);
});

async function find(settings: SearchSettings, terminal: Terminal): Promise<number> {
  const { source, options, output, json } = settings;
  const parameter = options.parameter ?? 'crf';
  return encodingRun(settings, [output, options.output], terminal, async (tools) => {
    const { files, signal, say, line, clear } = tools;
    const { searchQuality } = await import('../../index.js');
    let metric: string | undefined;
    const onPoint = (point: SearchPoint) => {
      clear();
      if (json) return;
      if (metric === undefined) {
        metric = options.targets?.[0]?.metric ?? Object.keys(point.pooled)[0] ?? 'vmaf';
        line(pointsHead(parameter, metric));
      }
      line(pointLine(point, parameter));
    };
    // Ctrl-C ends it with what is known.
    const result = await searchQuality(source, {
      ...options,
      ...(say && { onStage: (stage: SearchStage) => say(stageText(stage)) }),
      onPoint,
      finish: signal,
    });
    clear();
    const text = `${JSON.stringify(result, null, 2)}\n`;
    await files[0]?.write([text]);
    await terminal.print(json ? text : answerText(result));
    signal.throwIfAborted();
    return result.shortfall || result.final?.reached === false ? EXIT.below : EXIT.ok;
  });
}
