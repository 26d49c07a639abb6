/**
 * @module cli/score-options
 * The options of the scoring command (of the `vmaf` tool, of tiny models and ours) and their parsing into a request. Pure.
 */
import { REPORT_FORMATS, TINY_DEVICE_CHOICES, TINY_PRECISIONS, TINY_RESIZES } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { isOnnxPath, modelPath } from '../core/names.js';
import { aomCtc, nflxCtc, type Preset } from '../core/presets.js';
import { quoted } from '../core/printable.js';
import type { BatchJob, RawVideoFormat, ScoreOptions, ShardChoice, TinyModelOptions } from '../index.js';
import { parseAlarm } from '../live/alarms.js';
import { extractorsFor } from '../report/limits.js';
import { LIVE_OPTIONS, type LiveSettings, liveOf, readWindow, type WatchSettings } from './live.js';
import {
  choiceValue,
  type Option,
  type OptionUse,
  optionTable,
  parseArguments,
  refusedValue,
  settingsOf,
  unsignedValue,
  within,
} from './options.js';
import { OUTPUT_OPTIONS, type OutputSettings, outputsOf, refuseOutputs } from './output-options.js';
import {
  checkPairingOptions,
  hostsOf,
  type OptionsDraft,
  optionsUnder,
  PAIRING_OPTIONS,
  type TableSettings,
  tableReader,
} from './table-options.js';
import {
  type SingleVideo,
  singleVideoOf,
  VIDEO_OPTIONS,
  type VideoSettings,
  type Videos,
  videosOf,
} from './video-options.js';

/** The `vmaf` tool's limit of models, and of features. */
const MAX_MODELS = 32;
/** Each has its own decoder, and all run at the same time. */
const MAX_DISTORTED = 64;
const MAX_SHARDS = 100_000;
const MAX_THREADS = 1024;
/** As in the reference, higher rate factors count as this one. */
const MAX_CRF = 63;

/** Names of standard output that users put after a format option, although it takes no value. */
const STANDARD_OUTPUT: ReadonlySet<string> = new Set(['-', '/dev/stdout', '/dev/fd/1']);

type Model = Partial<TinyModelOptions> & { readonly model: string };

export interface TinySettings {
  readonly tiny: {
    /** From options before the first model, which apply to all models. */
    readonly shared: Partial<Model>;
    readonly models: readonly Model[];
    /** Label of the first option about a model. */
    readonly used?: string;
  };
}

const NO_TINY: TinySettings['tiny'] = { shared: {}, models: [] };

/** Makes an option apply to the model before it. */
const ofModel =
  (read: (use: OptionUse, model: Partial<Model>) => Partial<Model>) =>
  (
    use: OptionUse,
    { tiny: { shared, models, used = use.label } = NO_TINY }: Partial<TinySettings>,
  ): TinySettings => {
    const last = models.at(-1);
    if (last) return { tiny: { shared, models: models.with(-1, { ...last, ...read(use, last) }), used } };
    return { tiny: { shared: { ...shared, ...read(use, shared) }, models, used } };
  };

const deviceReader = ofModel((use, { device: before }) => {
  const device = choiceValue(use, TINY_DEVICE_CHOICES);
  if (before === undefined || before === device) return { device };
  throw usageError(
    `--tiny-device and --dnn-ep are two names of one option, but say ${before} and ${device}; give one`,
  );
});

const TINY_OPTIONS = optionTable(
  {
    'Tiny models': {
      '--tiny-model MODEL': [
        "also score with this ONNX model: an id that 'anyvmaf tiny list' shows, or a file. May be repeated; each " +
          'option below applies to the model before it',
        (use: OptionUse, { tiny = NO_TINY }: Partial<TinySettings>): TinySettings => ({
          tiny: { ...tiny, models: [...tiny.models, { model: text(use) }] },
        }),
      ],
      '--tiny-device NAME': [
        "device that runs it: auto (default) or one of 'anyvmaf tiny devices'; one that is not available is " +
          'an error',
        deviceReader,
      ],
      '--dnn-ep NAME': ['alias of --tiny-device', deviceReader],
      '--tiny-threads N': [
        'threads of one session on the CPU (0: runtime default; default: one per worker)',
        ofModel((use) => ({ threads: unsignedValue(use, 0, MAX_THREADS) })),
      ],
      '--tiny-fp16': [
        'compute in half precision if the device supports it (OpenVINO, TensorRT)',
        ofModel(() => ({ fp16: true })),
      ],
      '--tiny-precision NAME': [
        'precision of a model that has an 8-bit version: fp32 or int8 (default: auto, as its registry says)',
        ofModel((use) => ({ precision: choiceValue(use, TINY_PRECISIONS) })),
      ],
      '--tiny-model-verify': [
        "load only models that the registry's Sigstore bundle signs",
        ofModel(() => ({ verify: true })),
      ],
      '--tiny-codec NAME': [
        'codec-aware models: the encoder, libx264, h264 and so on',
        ofModel((use) => ({ codec: text(use) })),
      ],
      '--tiny-preset NAME': [
        "codec-aware models: the encoder's preset",
        ofModel((use) => ({ preset: text(use) })),
      ],
      '--tiny-crf N': [
        'codec-aware models: rate factor, 0 to 63',
        ofModel((use) => ({ crf: Math.min(MAX_CRF, unsignedValue(use, 28)) })),
      ],
      '--tiny-resize FILTER': [
        'resize luma to the size of the model: bilinear, nearest, bicubic or disabled (default: another size ' +
          'is an error)',
        ofModel((use) => ({ resize: choiceValue(use, TINY_RESIZES) })),
      ],
    },
  },
  { ours: true },
);

const RUNNING = 'Running';

/** Options before their combination is checked. */
interface AskedSettings extends TableSettings, TinySettings {
  readonly videos: Partial<VideoSettings>;
  readonly outputs: Partial<OutputSettings>;
  readonly watching: Partial<WatchSettings>;
  readonly models: readonly string[];
  readonly features: readonly string[];
  readonly ignored: readonly string[];
  readonly shard: ShardChoice;
}

/** An offset window; with a unit, the frames that a watched run keeps. */
const windowReader: Option<AskedSettings>['read'] = (use, before) => {
  const keep = readWindow(use);
  return keep ? { watching: { ...before.watching, ...keep } } : (tableReader('window')?.(use, before) ?? {});
};

/** Readers of the table options that set more than their value. */
const READERS: Readonly<Record<string, Option<AskedSettings>['read']>> = {
  model: (use, { models = [] }) => ({ models: appended(models, use.value, use, 'models') }),
  feature: (use, { features = [] }) => ({ features: appended(features, use.value, use, 'features') }),
  aom_ctc: (use, before) => withPreset(aomCtc(use.value), use, before),
  nflx_ctc: (use, before) => withPreset(nflxCtc(use.value), use, before),
};

export const SCORE_OPTIONS: readonly Option<AskedSettings>[] = [
  ...within('videos', VIDEO_OPTIONS),
  ...optionsUnder('Input'),
  ...PAIRING_OPTIONS.map(
    (option): Option<AskedSettings> =>
      option.name === 'window' ? { ...option, read: windowReader } : option,
  ),
  ...optionsUnder('Models and features').map(
    (option): Option<AskedSettings> => ({ ...option, read: READERS[option.name] ?? option.read }),
  ),
  ...TINY_OPTIONS,
  ...optionsUnder('Tiny models'),
  ...within('outputs', OUTPUT_OPTIONS),
  ...optionsUnder(RUNNING),
  ...optionTable({
    [RUNNING]: {
      '-q, --quiet': [
        'no progress bar; plain scores instead of the summary',
        (_use: OptionUse, { outputs }: Partial<AskedSettings>): Partial<AskedSettings> => ({
          outputs: { ...outputs, quiet: true },
        }),
      ],
      '--shard I/N': [
        "measure only part I of N, on any machine, and write its record; 'anyvmaf merge' joins the parts into " +
          'the report',
        (use) => ({ shard: shardValue(use) }),
        { ours: true },
      ],
    },
  }),
  ...within('watching', LIVE_OPTIONS),
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: 'ignored, as in the vmaf tool' },
  ...optionTable({
    [RUNNING]: {
      '--help': ['show this help', undefined, { ours: true, last: true }],
      '-v, --version': ['show the version', undefined, { last: true }],
    },
  }),
];

export interface ScoreSettings extends OutputSettings {
  /** Absent with --no-reference. */
  readonly reference?: string;
  /** One, or several encodes to compare. */
  readonly distorted: readonly [string, ...string[]];
  readonly raw?: RawVideoFormat;
  readonly options: ScoreOptions;
  /** Hosts that videos may be read from, and results put to. */
  readonly hosts?: readonly string[];
  readonly shard?: ShardChoice;
  /** Absent if the run is not watched. */
  readonly live?: LiveSettings;
  /** Sentences about options without effect, for the report's warnings. */
  readonly ignored: readonly string[];
}

/**
 * Parses the command line of scoring.
 * @returns `help` or `version` if the last option is one of them
 * @throws {AnyvmafError} `usage`
 */
export function scoreSettings(args: readonly string[]): ScoreSettings | 'help' | 'version' {
  const { options: uses, positionals } = parseArguments(args, SCORE_OPTIONS);
  const final = uses.at(-1)?.name;
  if (final === 'help' || final === 'version') return final;
  const given = settingsOf(uses, SCORE_OPTIONS);
  const { videos: named = {}, outputs: reported = {}, watching = {}, shard } = given;
  const options: OptionsDraft = { ...given.options };
  refuseStreamAsFormat(args, positionals);
  const alone = options.noReference === true;
  const tiny = tinyOf(given, alone);
  if (tiny) options.tiny = tiny;
  const { unread, ...videos }: SingleVideo & Partial<Videos> = alone
    ? singleVideoOf(named, positionals)
    : videosOf(named, positionals, MAX_DISTORTED);
  const { models = [], features = [] } = given;
  const ignored = [
    ...(given.ignored ?? []),
    ...(unread === undefined
      ? []
      : [`The reference ${unread} was not read: --no-reference scores without one.`]),
    ...(alone && models.length > 0
      ? [`--model has no effect with --no-reference: ${models.join(', ')} compare with a reference.`]
      : []),
  ];
  checkPairingOptions(options);
  ignored.push(...ignoredMasks(options));
  const watched = liveOf(watching, videos.distorted.length);
  Object.assign(options, watched.options);
  if (models.length > 0 && !alone) options.models = models;
  const outputs = outputsOf(reported);
  const measured = withJudged(features, outputs, watched.live?.alarms);
  if (measured.length > 0) options.features = measured;
  if (shard) refuseOutputs({ ...outputs, format: reported.format }, '--shard');
  const settings: ScoreSettings = {
    ...videos,
    options,
    ...outputs,
    ...(shard && { shard }),
    ignored,
    ...(watched.live && { live: watched.live }),
  };
  refuseContradictions(settings);
  const { reference, distorted, output, html } = settings;
  const hosts = hostsOf(options, [reference, unread, ...distorted, output, html]);
  return { ...settings, ...(hosts && { hosts }) };
}

export function videosIn({ reference, distorted }: Pick<ScoreSettings, 'reference' | 'distorted'>) {
  return [...(reference === undefined ? [] : [reference]), ...distorted];
}

/** What a tiny model may consist of: the graph, its 8-bit sibling and their sidecars. */
function tinyFiles(model: string): readonly string[] {
  const stem = model.replace(/(?:\.int8)?\.onnx$/i, '');
  return [...new Set([model, `${stem}.int8.onnx`]), `${stem}.int8.json`, `${stem}.json`];
}

/** Files of models, missing ones too, without weights of tiny ones; shipped and pulled models are not files. */
export function modelFilesIn({ options: { models = [], tiny = [] } }: Pick<ScoreSettings, 'options'>) {
  const vmaf = models.flatMap((model) =>
    model.split(':').flatMap((item, place) => modelPath(item, place) ?? []),
  );
  return [...vmaf, ...tiny.flatMap(({ model }) => (isOnnxPath(model) ? tinyFiles(model) : []))];
}

export function pairRequest({ reference, distorted, raw }: ScoreSettings) {
  return {
    ...(reference !== undefined && { reference }),
    distorted: distorted[0],
    ...(raw && { raw }),
  };
}

/** A pair and its options, without those that the batch sets. */
export function requestOf(settings: ScoreSettings): BatchJob {
  const {
    gate: _,
    onProgress: __,
    onStart: ___,
    onFrame: ____,
    signal: _____,
    origin: ______,
    ...own
  } = settings.options;
  return { ...pairRequest(settings), options: own };
}

/** Removes masks unless a native backend is requested; returns a sentence for each mask that was set. */
function ignoredMasks(options: OptionsDraft): string[] {
  const { backend = 'wasm' } = options;
  if (!['wasm', 'cpu', 'webgpu', 'hybrid'].includes(backend)) return [];
  return (['cpumask', 'gpumask'] as const).flatMap((name) => {
    const mask = options[name] ?? 0;
    delete options[name];
    return mask === 0 ? [] : [`--${name} has no effect: the same arithmetic runs on every machine.`];
  });
}

/** As in the `vmaf` tool, a preset adds its models and features at its place on the command line. */
function withPreset(
  preset: Preset,
  use: OptionUse,
  { models = [], features = [], ignored = [], options }: Partial<AskedSettings>,
): Partial<AskedSettings> {
  let [allModels, allFeatures, allIgnored] = [models, features, ignored];
  for (const model of preset.models) allModels = appended(allModels, model, use, 'models');
  for (const feature of preset.features) {
    const name = extractorOf(feature);
    const earlier = preset.replaces?.includes(name)
      ? allFeatures.findIndex((other) => extractorOf(other) === name)
      : -1;
    if (earlier < 0) {
      allFeatures = appended(allFeatures, feature, use, 'features');
      continue;
    }
    allIgnored = [
      ...allIgnored,
      `--feature ${allFeatures[earlier]} has no effect: as in the vmaf tool, the later ${use.label} ${use.value} ` +
        `replaces it with its own ${feature}; measure it in a run without the preset.`,
    ];
    allFeatures = allFeatures.with(earlier, feature);
  }
  return {
    models: allModels,
    features: allFeatures,
    ignored: allIgnored,
    ...(preset.commonBitDepth && { options: { ...options, commonBitDepth: true } }),
  };
}

/** Adds the features that limits and alarms name and models do not include. */
function withJudged(
  features: readonly string[],
  { limits = [], drops = [] }: OutputSettings,
  alarms: readonly string[] = [],
): readonly string[] {
  const names = [...limits, ...drops, ...alarms.map(parseAlarm)].flatMap(({ metric }) => metric ?? []);
  const more = extractorsFor(names, features);
  return [...features, ...more.slice(0, Math.max(0, MAX_MODELS - features.length))];
}

function text(use: OptionUse): string {
  if (use.value !== '') return use.value;
  throw usageError(`${use.label} is empty, but it needs a value`);
}

/**
 * @param alone `--no-reference` needs a model
 * @throws {AnyvmafError} `usage` for options of a model if there is none
 */
function tinyOf(
  { tiny: { shared, models, used } = NO_TINY }: Partial<TinySettings>,
  alone: boolean,
): ScoreOptions['tiny'] {
  if (models.length > 0) return models.map((model) => ({ ...shared, ...model }));
  if (used === undefined && !alone) return undefined;
  throw usageError(`${used ?? '--no-reference'} requires a tiny model; add --tiny-model`);
}

function refuseContradictions(settings: ScoreSettings): void {
  const { options, distorted, format, failUnder, limits = [], drops = [], shard } = settings;
  const scored = failUnder !== undefined || [...limits, ...drops].some(({ metric }) => metric === undefined);
  if (scored && options.noPrediction) {
    const option = failUnder !== undefined || limits.length > 0 ? '--fail-under' : '--max-drop';
    throw usageError(`${option} judges scores, but -n/--no_prediction makes none; leave out one`);
  }
  if (distorted.length > 1 && (format === 'xml' || format === 'sub'))
    throw usageError(
      `${format.toUpperCase()} holds one report, but ${distorted.length} distorted videos are given; use --json, --csv or --ndjson, ` +
        'or score them one at a time',
    );
  if (options.samples !== undefined) {
    const other =
      (shard && '--shard') ||
      ((settings.live || options.keep) && 'an option of live runs') ||
      (format === 'ndjson' && '--ndjson') ||
      ((options.subsample ?? 1) > 1 && '--subsample') ||
      (options.tiny && options.tiny.length > 0 && '--tiny-model');
    if (other) throw usageError(`--samples cannot be used with ${other}; leave out one`);
  }
  if (distorted.length > 1 && shard)
    throw usageError(
      `--shard measures a part of one pair, but ${distorted.length} distorted videos are given; measure them one at a time`,
    );
  if (shard && (settings.live || options.keep))
    throw usageError('--shard cannot be used with options of live runs; leave them out');
}

/** Refuses `REFERENCE DISTORTED --json -` and `--json /dev/stdout`, which would name a further video. */
function refuseStreamAsFormat(args: readonly string[], positionals: readonly string[]): void {
  if (positionals.length < 3) return;
  const flag = REPORT_FORMATS.find((format) =>
    args.some((arg, i) => arg === `--${format}` && STANDARD_OUTPUT.has(args[i + 1] ?? '')),
  );
  if (flag === undefined) return;
  throw usageError(
    `--${flag} takes no value, and the argument after it counts as a video; leave that out: without -o the report ` +
      'goes to standard output',
  );
}

function extractorOf(feature: string): string {
  return feature.split('=', 1)[0] ?? '';
}

function appended(list: readonly string[], value: string, use: OptionUse, what: string): readonly string[] {
  if (list.length < MAX_MODELS) return [...list, value];
  throw usageError(
    `${use.label} ${quoted(use.value)} is one too many: a run takes at most ${MAX_MODELS} ${what}`,
  );
}

/** `2/7`: the second of seven parts. */
function shardValue(use: OptionUse): ShardChoice {
  const [, number, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(use.value) ?? [];
  const shard = { number: Number(number), count: Number(count) };
  if (shard.number <= shard.count && shard.count <= MAX_SHARDS) return shard;
  throw refusedValue(use, `a part and the number of parts, such as 2/7, of at most ${MAX_SHARDS} parts`);
}
