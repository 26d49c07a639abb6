/**
 * @module cli/commands/tiny
 * `anyvmaf tiny`: lists and describes tiny models and devices, and evaluates models on a table of features.
 */
import { SPLITS, TINY_DEVICE_CHOICES, TINY_PRECISIONS } from '../../core/choices.js';
import { type AnyvmafError, usageError } from '../../core/errors.js';
import { nearest } from '../../core/nearest.js';
import { counted, printable, quoted } from '../../core/printable.js';
import type {
  Agreement,
  Comparison,
  EvaluateOptions,
  Evaluation,
  Interval,
  Intervals,
  KeyAgreement,
  TinyDeviceStatus,
  TinyModelDescription,
  TinyPort,
  TinyRegistryEntry,
} from '../../index.js';
import { grid, wrap } from '../../report/sections.js';
import { asJson, type Command, command, type HelpText, helpWidth, twoColumns } from '../command.js';
import { EXIT, interruptible } from '../exit.js';
import { choiceValue, HELP_OPTION, numberValue, optionTable, unsignedValue } from '../options.js';
import { YES_OPTION } from '../terminal.js';

const NAME = 'anyvmaf tiny';

const LISTING_OPTIONS = optionTable({
  Output: {
    '--json': ['the answer as JSON', () => ({ json: true })],
    ...HELP_OPTION,
  },
});

const listingPage: HelpText = {
  usage: [
    `${NAME} list [--json]`,
    `${NAME} describe MODEL [--json]`,
    `${NAME} manifest MODEL`,
    `${NAME} devices [--json]`,
  ],
  about:
    'Lists the tiny ONNX models that ship with the package, describes one of them or an ONNX file (which is read ' +
    'and checked, not run), prints the manifest of its files for registries and signatures, and lists the ' +
    'devices for --tiny-device.',
};

const LISTINGS: readonly string[] = ['list', 'describe', 'manifest', 'devices'];

const tinyListing = command(
  NAME,
  LISTING_OPTIONS,
  listingPage,
  async ({ settings, positionals, terminal }) => {
    const width = helpWidth(terminal.columns);
    const [action, model, surplus] = positionals;
    const api = await import('../../index.js');
    const excess = action === 'describe' || action === 'manifest' ? surplus : model;
    if (excess !== undefined)
      throw usageError(`${quoted(excess)} is one argument too many: ${listingPage.usage.join(', or ')}`);
    const print = async <T>(data: T, text: (data: T) => string): Promise<number> => {
      await terminal.print(settings.json ? asJson(data) : text(data));
      return EXIT.ok;
    };
    if (action === 'list') return print(await api.listTinyModels(), (list) => listing(list, width));
    if (action === 'devices') return print(await api.listTinyDevices(), (list) => devices(list, width));
    if (model === undefined) throw usageError(`${NAME} ${action} needs a model: ${NAME} ${action} MODEL`);
    const found = await api.describeTinyModel(model);
    if (action === 'describe') return print(found, (description) => describe(description, width));
    // Exactly the bytes that are signed.
    await terminal.print(found.manifest);
    return EXIT.ok;
  },
);

function listing(list: readonly TinyRegistryEntry[], width: number): string {
  if (list.length === 0)
    return 'No tiny model ships with this package; --tiny-model takes the path of an ONNX file.\n';
  const rows = list.map(({ id, kind, description, notes, smoke, experimental }): [string, string] => {
    const uses = `${smoke ? ', for load tests only' : ''}${experimental === undefined ? '' : ', experimental'}`;
    const values = experimental === undefined ? '' : ` Values are ${experimental}.`;
    return [id, printable(`${kind}${uses}: ${description ?? notes ?? ''}${values}`)];
  });
  return `Tiny models, for --tiny-model ID; see '${NAME} describe ID':\n\n${twoColumns(rows, width)}\n`;
}

export function deviceText({ available, runtime, adapter, software, how }: TinyDeviceStatus): string {
  if (!available) return printable(`not available. ${how ?? ''}`);
  const on = adapter === undefined ? '' : ` on ${adapter}${software ? ', which is software' : ''}`;
  return printable(`here (${runtime}${on})`);
}

function devices(list: readonly TinyDeviceStatus[], width: number): string {
  const rows = list.map((status): [string, string] => [status.device, deviceText(status)]);
  return `Devices, for --tiny-device NAME:\n\n${twoColumns(rows, width)}\n`;
}

function describe(model: TinyModelDescription, width: number): string {
  const { registry, scaler, features, codecs } = model;
  const facts: readonly (readonly [name: string, value: string | null | undefined])[] = [
    ['kind', model.kind],
    ['experimental', registry?.experimental],
    ['score', model.name ?? 'vmaf_tiny_model (no sidecar names it)'],
    ['file', `${model.file}, ${model.bytes} bytes`],
    ['sha256', `${model.sha256}${registry ? ' (as registered)' : ' (no registry lists it)'}`],
    [
      'manifest',
      `${model.manifestSha256} of ${model.parts.map(({ name }) => name).join(', ')}${model.registered ? ' (as registered)' : ''}`,
    ],
    ['inputs', model.inputs.map(portText).join('; ')],
    ['outputs', model.outputs.map(portText).join('; ')],
    ['features', features?.join(', ')],
    ['scaler', scaler && (scaler.inGraph ? 'in the graph' : 'in the sidecar')],
    ['encoders', codecs?.join(', ')],
    ['weights', `${model.parameters}, ${model.quantisation}`],
    [
      'operators',
      Object.entries(model.operators)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    ],
    ['opset', `${model.opset}${model.producer === '' ? '' : `, by ${model.producer}`}`],
    ['licence', registry?.licence],
    ['card', registry?.card && `model/tiny/${registry.card}`],
  ];
  const rows = facts.flatMap(([name, value]): [string, string][] =>
    value ? [[name, printable(value)]] : [],
  );
  const about = registry?.description ?? registry?.notes;
  return [
    `${printable(model.source)}\n`,
    ...(about === undefined ? [] : [`${wrap(printable(about), width).join('\n')}\n`]),
    `${twoColumns(rows, width)}\n`,
    ...model.warnings.map((warning) => `${wrap(printable(warning), width).join('\n')}\n`),
  ].join('\n');
}

const TYPES: Readonly<Record<number, string>> = { 1: 'float32', 7: 'int64', 10: 'float16', 11: 'float64' };

function portText({ name, type, dims }: TinyPort): string {
  const shape = dims ? `[${dims.map((size) => size ?? '?').join(', ')}]` : 'of any shape';
  return `${name} ${TYPES[type] ?? `type ${type}`} ${shape}`;
}

const TINY_OPTIONS = optionTable({
  Data: {
    '--split NAME': [
      'rows by the SHA-256 of their key: test (default), val, train, or all',
      (use) => ({ split: choiceValue(use, SPLITS) }),
    ],
    '--target COLUMN': ['the column to predict (default: mos)', ({ value }) => ({ target: value })],
  },
  Model: {
    '--input-name NAME': [
      "the graph's input that takes the features (default: the sidecar's, features, or the first)",
      ({ value }) => ({ inputName: value }),
    ],
    '--codec NAME': [
      'encoder of all rows (default: column codec or encoder)',
      ({ value }) => ({ codec: value }),
    ],
    '--preset NAME': ['preset of all rows (default: column preset)', ({ value }) => ({ preset: value })],
    '--crf N': ['rate factor of all rows (default: column crf)', (use) => ({ crf: numberValue(use) })],
    '--device NAME': [
      'device that runs the model, as --tiny-device (default: auto)',
      (use) => ({ device: choiceValue(use, TINY_DEVICE_CHOICES) }),
    ],
    '--threads N': [
      'threads of the runtime (default: chosen by the runtime)',
      (use) => ({ threads: unsignedValue(use, 1000) }),
    ],
    '--fp16': ['half precision, if the device supports it', () => ({ fp16: true })],
    '--precision NAME': [
      'precision of a model that has an 8-bit version: fp32 or int8, as --tiny-precision (default: auto)',
      (use) => ({ precision: choiceValue(use, TINY_PRECISIONS) }),
    ],
    '--verify': ["load only models that the registry's Sigstore bundle signs", () => ({ verify: true })],
    ...YES_OPTION,
  },
  Output: {
    '--resamples N': [
      'draws for the intervals; 0 leaves them out (default: 1000, less for many rows)',
      (use) => ({ resamples: unsignedValue(use, 1000) }),
    ],
    '--seed N': ['seed of the draws (default: 1)', (use) => ({ seed: unsignedValue(use, 1000) })],
    '--json': ['the result as JSON, with the values of every key', () => ({ json: true })],
    ...HELP_OPTION,
  },
});

const USAGE = {
  eval: `${NAME} eval [options] MODEL FEATURES`,
  compare: `${NAME} compare [options] MODEL... FEATURES`,
} as const;

const page: HelpText = {
  usage: [USAGE.eval, USAGE.compare, ...LISTINGS.map((action) => `${NAME} ${action} --help`)],
  about:
    'Evaluates how well tiny ONNX models predict opinion scores: PLCC, SROCC, KROCC (Kendall) and RMSE with ' +
    '95 % intervals, over rows, clips and keys. MODEL is an id or the path of an ONNX file; FEATURES is a ' +
    "Parquet file with a row per frame, as 'anyvmaf features --parquet' writes it. compare ranks models by " +
    'PLCC. list, describe and devices show the models, what one consists of, and what can run it.',
};

const evaluation = command(NAME, TINY_OPTIONS, page, async ({ settings, positionals, terminal }) => {
  const [action, ...files] = positionals;
  if (action !== 'eval' && action !== 'compare') throw unknownAction(action);
  const features = files.pop();
  const [model, surplus] = files;
  if (features === undefined || model === undefined)
    throw usageError(
      `${NAME} ${action} needs ${action === 'eval' ? 'a model' : 'models'} and a table: ${USAGE[action]}`,
    );
  if (action === 'eval' && surplus !== undefined)
    throw usageError(`eval takes one model, but ${files.length} are given; '${NAME} compare' ranks several`);
  const { json = false, ...rest } = settings;
  const width = helpWidth(terminal.columns);
  const { compareModels, evaluateModel } = await import('../../index.js');
  return interruptible(async ({ signal }) => {
    const options: EvaluateOptions = { ...rest, signal };
    if (action === 'eval') {
      const found = await evaluateModel(model, features, options);
      await terminal.print(json ? asJson(found) : evaluationText(found, width));
      return EXIT.ok;
    }
    const comparison = await compareModels(files, features, options);
    for (const { model, error } of comparison.errors) terminal.complain(`${model}: ${error}`);
    await terminal.print(json ? asJson(comparison) : comparisonText(comparison, width));
    return comparison.errors.length > 0 ? EXIT.failed : EXIT.ok;
  });
});

export const tiny: Command = {
  page: evaluation.page,
  run: (args, terminal) => (LISTINGS.includes(args[0] ?? '') ? tinyListing : evaluation).run(args, terminal),
};

function unknownAction(action: string | undefined): AnyvmafError {
  const near = action === undefined ? undefined : nearest(action, ['eval', 'compare', ...LISTINGS]);
  const problem = action === undefined ? 'needs an action' : `has no action ${quoted(action)}`;
  const all = `it has list, describe, manifest, devices, eval and compare, see '${NAME} --help'`;
  return usageError(`${NAME} ${problem}; ${near === undefined ? all : `did you mean ${near}?`}`);
}

/** Keys shown, worst first; JSON has all. */
const SHOWN_KEYS = 10;

const FIGURES = [
  ['plcc', 'PLCC'],
  ['srocc', 'SROCC'],
  ['krocc', 'KROCC'],
  ['rmse', 'RMSE'],
] as const;

export function evaluationText(evaluation: Evaluation, width: number): string {
  const { model, features, clips, intervals, per_key: keys } = evaluation;
  const head = ['', 'rows', '', ...(clips ? ['clips', ''] : [])];
  const rows = FIGURES.map(([name, label]) => [
    label,
    figure(evaluation[name]),
    interval(intervals, name),
    ...(clips ? [figure(clips[name]), interval(clips.intervals, name)] : []),
  ]);
  const counts = ['n', String(evaluation.n), '', ...(clips ? [String(clips.n), ''] : [])];
  return [
    `${printable(`${model} on ${features}`)}\n`,
    `${scope(evaluation)}\n\n`,
    linesOf(grid([head, ...rows, counts], 'right')),
    ...(keys && keys.length > 1 ? [`\n${keyTable(keys)}`] : []),
    ...noteLines(evaluation.notes, width),
  ].join('');
}

export function comparisonText({ ranked }: Comparison, width: number): string {
  const [first] = ranked;
  if (!first) return '';
  const rows = ranked.map((model, i) => [
    String(i + 1),
    ...FIGURES.map(([name]) => figure(model[name])),
    interval(model.intervals, 'plcc'),
    String(model.n),
    printable(model.model),
  ]);
  const head = ['#', ...FIGURES.map(([, label]) => label), 'of PLCC', 'n', 'model'];
  const common = first.notes.filter((note) => ranked.every(({ notes }) => notes.includes(note)));
  const own = ranked.flatMap(({ model, notes }) =>
    notes.filter((note) => !common.includes(note)).map((note) => `${model}: ${note}`),
  );
  return [
    `${printable(first.features)}\n`,
    `${scope(first)}\n\n`,
    linesOf(grid([head, ...rows], 'right')),
    ...noteLines([...common, ...own], width),
  ].join('');
}

function scope({ split, target, n, per_key: keys, bootstrap }: Evaluation): string {
  const of = keys ? ` of ${counted(keys.length, 'key')}` : '';
  const drawn = bootstrap
    ? `; ${bootstrap.level * 100} % intervals from ${bootstrap.resamples} draws of ${bootstrap.unit}s`
    : '';
  return printable(`split ${split}: ${counted(n, 'row')}${of}, against ${target}${drawn}`);
}

function keyTable(keys: readonly KeyAgreement[]): string {
  const worst = [...keys].sort((a, b) => b.rmse - a.rmse).slice(0, SHOWN_KEYS);
  const rows = worst.map((agreement) => [
    ...FIGURES.map(([name]) => figure(agreement[name])),
    figure(agreement.mean_prediction),
    figure(agreement.mean_target),
    String(agreement.n),
    printable(agreement.key),
  ]);
  const head = [...FIGURES.map(([, label]) => label), 'predicted', 'target', 'n', 'key'];
  const largest = `The ${SHOWN_KEYS} keys of the largest error, of ${keys.length}`;
  const title = keys.length > SHOWN_KEYS ? largest : 'Keys by error';
  return `${title}\n${linesOf(grid([head, ...rows], 'right'))}`;
}

function figure(value: Agreement['plcc']): string {
  return value === null ? '-' : value.toFixed(4);
}

function interval(intervals: Intervals | null, name: keyof Intervals): string {
  const ends: Interval | null = intervals?.[name] ?? null;
  return ends === null ? '' : `[${ends[0].toFixed(4)}, ${ends[1].toFixed(4)}]`;
}

function noteLines(notes: readonly string[], width: number): string[] {
  return notes.map((note) => `\n${linesOf(wrap(printable(note), width))}`);
}

function linesOf(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
