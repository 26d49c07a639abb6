/**
 * @module cli/commands/tiny
 * `anyvmaf tiny eval|compare MODEL... FEATURES.parquet`: what tiny models are worth on a table of features.
 */
import { SPLITS, TINY_DEVICE_CHOICES, TINY_PRECISIONS } from '../../core/choices.js';
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { quoted } from '../../core/printable.js';
import type { EvaluateOptions } from '../../index.js';
import { type Command, command, type HelpText, helpWidth } from '../command.js';
import { EXIT } from '../exit.js';
import { choiceValue, grouped, HELP_OPTION, numberValue, type Option, unsignedValue } from '../options.js';
import { YES_OPTION } from '../parts-door.js';
import { interruptible } from '../signals.js';
import type { Terminal } from '../terminal.js';
import { LISTINGS, tinyListing } from './tiny-list.js';

const NAME = 'anyvmaf tiny';
const WHAT = 'What to evaluate on';
const MODEL = 'Model';
const OUTPUT = 'Output';

interface TinySettings extends EvaluateOptions {
  readonly json: boolean;
}

const TINY_OPTIONS: readonly Option<TinySettings>[] = [
  ...grouped<TinySettings>(WHAT, [
    {
      name: 'split',
      argument: 'NAME',
      help: 'rows by the SHA-256 of their key: test (default), val, train, or all',
      read: (use) => ({ split: choiceValue(use, SPLITS) }),
    },
    {
      name: 'target',
      argument: 'COLUMN',
      help: 'the column to predict (default: mos)',
      read: ({ value }) => ({ target: value }),
    },
  ]),
  ...grouped<TinySettings>(MODEL, [
    {
      name: 'input-name',
      argument: 'NAME',
      help: "the graph's input that takes the features (default: the sidecar's, features, or the first)",
      read: ({ value }) => ({ inputName: value }),
    },
    {
      name: 'codec',
      argument: 'NAME',
      help: 'encoder of all rows (default: column codec or encoder)',
      read: ({ value }) => ({ codec: value }),
    },
    {
      name: 'preset',
      argument: 'NAME',
      help: 'preset of all rows (default: column preset)',
      read: ({ value }) => ({ preset: value }),
    },
    {
      name: 'crf',
      argument: 'N',
      help: 'rate factor of all rows (default: column crf)',
      read: (use) => ({ crf: numberValue(use) }),
    },
    {
      name: 'device',
      argument: 'NAME',
      help: 'what runs the model, as --tiny-device (default: auto)',
      read: (use) => ({ device: choiceValue(use, TINY_DEVICE_CHOICES) }),
    },
    {
      name: 'threads',
      argument: 'N',
      help: 'threads of the runtime (default: its own choice)',
      read: (use) => ({ threads: unsignedValue(use, 1000) }),
    },
    {
      name: 'fp16',
      help: 'half precision where the device computes in it',
      read: () => ({ fp16: true }),
    },
    {
      name: 'precision',
      argument: 'NAME',
      help: 'of a model with an 8-bit sibling fp32 or int8, as --tiny-precision (default: auto)',
      read: (use) => ({ precision: choiceValue(use, TINY_PRECISIONS) }),
    },
    {
      name: 'verify',
      help: "load only what the registry's Sigstore bundle signs",
      read: () => ({ verify: true }),
    },
    YES_OPTION,
  ]),
  ...grouped<TinySettings>(OUTPUT, [
    {
      name: 'resamples',
      argument: 'N',
      help: 'draws for the intervals; 0 leaves them out (default: 1000, less for many rows)',
      read: (use) => ({ resamples: unsignedValue(use, 1000) }),
    },
    {
      name: 'seed',
      argument: 'N',
      help: 'seed of the draws (default: 1)',
      read: (use) => ({ seed: unsignedValue(use, 1000) }),
    },
    { name: 'json', help: 'the result as JSON, with the figures of every key', read: () => ({ json: true }) },
    HELP_OPTION,
  ]),
];

const USAGE = {
  eval: `${NAME} eval [options] MODEL FEATURES`,
  compare: `${NAME} compare [options] MODEL... FEATURES`,
} as const;

const page: HelpText = {
  usage: [USAGE.eval, USAGE.compare, ...LISTINGS.map((action) => `${NAME} ${action} --help`)],
  about:
    'Says how well tiny ONNX models predict opinion scores: PLCC, SROCC, KROCC (Kendall) and RMSE with 95 % intervals, of ' +
    'rows, of clips and of keys. MODEL is an id or the path of an ONNX file; FEATURES is a Parquet file with a row per ' +
    "frame, as 'anyvmaf features --parquet' writes it. compare ranks models by PLCC. list, describe and devices say what " +
    'models there are, what one is made of, and what can run it.',
};

const ACTIONS = ['eval', 'compare'] as const;

const evaluation = command(NAME, TINY_OPTIONS, page, async ({ settings, positionals, terminal }) => {
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
    throw usageError(`eval takes one model, but ${files.length} are given; '${NAME} compare' ranks several`);
  }
  const { json = false, ...asked } = settings;
  return interruptible(async ({ signal }) => {
    const options: EvaluateOptions = { ...asked, signal };
    return action === 'eval'
      ? await evaluateOne(model, features, options, json, terminal)
      : await compareAll(files, features, options, json, terminal);
  });
});

/** Evaluation of tiny models. */
export const tiny: Command = {
  page: evaluation.page,
  run: (args, terminal) => (LISTINGS.includes(args[0] ?? '') ? tinyListing : evaluation).run(args, terminal),
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
