/**
 * @module cli/commands/tiny
 * `anyvmaf tiny eval|compare MODEL... FEATURES.parquet`: what tiny models are worth on a table of features.
 */
import { SPLITS, TINY_DEVICE_CHOICES, TINY_PRECISIONS } from '../../core/choices.js';
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import type { EvaluateOptions } from '../../index.js';
import { agreeToParts } from '../../parts/consent.js';
import { type Command, type HelpPage, helpWidth } from '../command.js';
import { EXIT } from '../exit.js';
import {
  choiceValue,
  grouped,
  numberValue,
  type OptionReaders,
  type OptionSpec,
  parseArguments,
  takeOption,
  unsignedValue,
} from '../options.js';
import { YES_OPTION } from '../parts-door.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { LISTINGS, tinyListing } from './tiny-list.js';

const NAME = 'anyvmaf tiny';
const WHAT = 'What to evaluate on';
const MODEL = 'Model';
const OUTPUT = 'Output';

const TINY_OPTIONS = [
  ...grouped(WHAT, [
    {
      name: 'split',
      argument: 'NAME',
      help: 'rows by the SHA-256 of their key: test (default), val, train, or all',
    },
    { name: 'target', argument: 'COLUMN', help: 'the column to predict (default: mos)' },
  ]),
  ...grouped(MODEL, [
    {
      name: 'input-name',
      argument: 'NAME',
      help: "the graph's input that takes the features (default: the sidecar's, features, or the first)",
    },
    { name: 'codec', argument: 'NAME', help: 'encoder of all rows (default: column codec or encoder)' },
    { name: 'preset', argument: 'NAME', help: 'preset of all rows (default: column preset)' },
    { name: 'crf', argument: 'N', help: 'rate factor of all rows (default: column crf)' },
    { name: 'device', argument: 'NAME', help: 'what runs the model, as --tiny-device (default: auto)' },
    { name: 'threads', argument: 'N', help: 'threads of the runtime (default: its own choice)' },
    { name: 'fp16', help: 'half precision where the device computes in it' },
    {
      name: 'precision',
      argument: 'NAME',
      help: 'of a model with an 8-bit sibling fp32 or int8, as --tiny-precision (default: auto)',
    },
    { name: 'verify', help: "load only what the registry's Sigstore bundle signs" },
    YES_OPTION,
  ]),
  ...grouped(OUTPUT, [
    {
      name: 'resamples',
      argument: 'N',
      help: 'draws for the intervals; 0 leaves them out (default: 1000, less for many rows)',
    },
    { name: 'seed', argument: 'N', help: 'seed of the draws (default: 1)' },
    { name: 'json', help: 'the result as JSON, with the figures of every key' },
    { name: 'help', help: 'show this help', last: true },
  ]),
] as const satisfies readonly OptionSpec[];

const USAGE = {
  eval: `${NAME} eval [options] MODEL FEATURES`,
  compare: `${NAME} compare [options] MODEL... FEATURES`,
} as const;

const page: HelpPage = {
  usage: [USAGE.eval, USAGE.compare, ...LISTINGS.map((action) => `${NAME} ${action} --help`)],
  about:
    'Says how well tiny ONNX models predict opinion scores: PLCC, SROCC, KROCC (Kendall) and RMSE with 95 % intervals, of ' +
    'rows, of clips and of keys. MODEL is an id or the path of an ONNX file; FEATURES is a Parquet file with a row per ' +
    "frame, as 'anyvmaf features --parquet' writes it. compare ranks models by PLCC. list, describe and devices say what " +
    'models there are, what one is made of, and what can run it.',
  options: TINY_OPTIONS,
};

const ACTIONS = ['eval', 'compare'] as const;

/** Evaluation of tiny models. */
export const tiny: Command = {
  page,
  run: async (args, terminal) => {
    if (LISTINGS.includes(args[0] ?? '')) return tinyListing.run(args, terminal);
    const { options: uses, positionals } = parseArguments(args, TINY_OPTIONS, NAME);
    if (uses.at(-1)?.name === 'help') return page;
    const [action, ...files] = positionals;
    if (action !== 'eval' && action !== 'compare') throw unknownAction(action);
    const features = files.pop();
    const [model, surplus] = files;
    if (features === undefined || model === undefined) {
      throw usageError(
        `${NAME} ${action} needs ${action === 'eval' ? 'a model' : 'models'} and a table: ${USAGE[action]}`,
      );
    }
    if (action === 'eval' && surplus !== undefined) {
      throw usageError(
        `eval takes one model, but ${files.length} are given; '${NAME} compare' ranks several`,
      );
    }
    const json = uses.some(({ name }) => name === 'json');
    if (uses.some(({ name }) => name === 'yes')) agreeToParts();
    return interruptible(async (stop) => {
      const options: EvaluateOptions = { signal: stop.signal };
      for (const use of uses) takeOption(READERS, use, options);
      return action === 'eval'
        ? await evaluateOne(model, features, options, json, terminal)
        : await compareAll(files, features, options, json, terminal);
    });
  },
};

async function evaluateOne(
  model: string,
  features: string,
  options: EvaluateOptions,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const [{ evaluateModel }, view] = await Promise.all([
    import('../../index.js'),
    import('../evaluation-text.js'),
  ]);
  const evaluation = await evaluateModel(model, features, options);
  await terminal.print(
    json ? asJson(evaluation) : view.evaluationText(evaluation, helpWidth(terminal.columns)),
  );
  return EXIT.ok;
}

/** @returns failure only when no model could be evaluated */
async function compareAll(
  models: readonly string[],
  features: string,
  options: EvaluateOptions,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const [{ compareModels }, view] = await Promise.all([
    import('../../index.js'),
    import('../evaluation-text.js'),
  ]);
  const comparison = await compareModels(models, features, options);
  for (const { model, error } of comparison.errors) terminal.complain(`${model}: ${error}`);
  if (json) await terminal.print(asJson(comparison));
  else if (comparison.ranked.length > 0) {
    await terminal.print(view.comparisonText(comparison, helpWidth(terminal.columns)));
  }
  return comparison.ranked.length > 0 ? EXIT.ok : EXIT.failed;
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function unknownAction(action: string | undefined): AnyvmafError {
  const near = action === undefined ? undefined : nearest(action, [...ACTIONS, ...LISTINGS]);
  return usageError(
    `${action === undefined ? `${NAME} needs to know what to do` : `${NAME} has no ${quoted(action)}`}; ` +
      (near === undefined
        ? `it has list, describe, manifest, devices, eval and compare, see '${NAME} --help'`
        : `did you mean ${near}?`),
  );
}

/** What options add; the engine checks values that only it knows. */
const READERS: OptionReaders<
  Exclude<(typeof TINY_OPTIONS)[number]['name'], 'json' | 'help' | 'yes'>,
  EvaluateOptions
> = {
  split: (use) => ({ split: choiceValue(use, SPLITS) }),
  target: ({ value }) => ({ target: value }),
  'input-name': ({ value }) => ({ inputName: value }),
  codec: ({ value }) => ({ codec: value }),
  preset: ({ value }) => ({ preset: value }),
  crf: (use) => ({ crf: numberValue(use) }),
  device: (use) => ({ device: choiceValue(use, TINY_DEVICE_CHOICES) }),
  threads: (use) => ({ threads: unsignedValue(use, 1000) }),
  fp16: () => ({ fp16: true }),
  precision: (use) => ({ precision: choiceValue(use, TINY_PRECISIONS) }),
  verify: () => ({ verify: true }),
  resamples: (use) => ({ resamples: unsignedValue(use, 1000) }),
  seed: (use) => ({ seed: unsignedValue(use, 1000) }),
};
