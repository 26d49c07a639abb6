/**
 * @module cli/score-options
 * The options of the scoring command: every option of the `vmaf` tool and ours, and reading a command line
 * of them. Pure: opens nothing.
 */
import { REPORT_FORMATS } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { aomCtc, nflxCtc, type Preset } from '../core/presets.js';
import { quoted } from '../core/printable.js';
import type { RawVideoFormat, ScoreOptions, ShardChoice } from '../index.js';
import { parseAlarm } from '../live/alarms.js';
import { extractorsFor } from '../report/limits.js';
import { LIVE_OPTIONS, LiveArguments, type LiveSettings } from './live.js';
import { grouped, type OptionSpec, type OptionUse, parseArguments, refusedValue } from './options.js';
import { OUTPUT_OPTIONS, OutputArguments, type OutputSettings } from './output-options.js';
import {
  checkPairingOptions,
  hostsOf,
  type OptionsDraft,
  optionsUnder,
  PAIRING_OPTIONS,
  takeTableOption,
} from './table-options.js';
import { TINY_OPTIONS, TinyArguments } from './tiny-options.js';
import { VIDEO_OPTIONS, VideoArguments, type Videos } from './video-options.js';

/** The `vmaf` tool takes this many models, and as many features. */
const MAX_MODELS = 32;
/** Each has a decoder of its own, and all run at the same time. */
const MAX_DISTORTED = 64;
/** More parts than this are a mistake. */
const MAX_SHARDS = 100_000;

/** Names of standard output, which people put after a format although it takes no value. */
const STANDARD_OUTPUT: ReadonlySet<string> = new Set(['-', '/dev/stdout', '/dev/fd/1']);

const RUNNING = 'Running';

/** The options in the order in which help lists them. */
export const SCORE_OPTIONS = [
  ...VIDEO_OPTIONS,
  ...optionsUnder('Input'),
  ...PAIRING_OPTIONS,
  ...optionsUnder('Models and features'),
  ...TINY_OPTIONS,
  ...optionsUnder('Tiny models'),
  ...OUTPUT_OPTIONS,
  ...optionsUnder(RUNNING),
  ...grouped(RUNNING, [
    { name: 'quiet', short: 'q', help: 'no progress bar; plain scores instead of the summary' },
    {
      name: 'shard',
      argument: 'I/N',
      ours: true,
      help: "measure only part I of N, on any machine, and write its record; 'anyvmaf merge' makes the report of all parts",
    },
  ]),
  ...LIVE_OPTIONS,
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: 'ignored, as in the vmaf tool' },
  ...grouped(RUNNING, [
    { name: 'help', ours: true, last: true, help: 'show this help' },
    { name: 'version', short: 'v', last: true, help: 'show the version' },
  ]),
] as const satisfies readonly OptionSpec[];

/** What a command line asks for. */
export interface ScoreSettings extends OutputSettings {
  /** Absent with --no-reference. */
  readonly reference?: string;
  /** One, or several encodes to compare. */
  readonly distorted: readonly [string, ...string[]];
  readonly raw?: RawVideoFormat;
  readonly options: ScoreOptions;
  /** The hosts from which videos may be read, and to which results may be put. */
  readonly hosts?: readonly string[];
  /** Part of the pair to measure. */
  readonly shard?: ShardChoice;
  /** How the run is watched while it goes on; absent if it is not. */
  readonly live?: LiveSettings;
  /** Options without effect, as sentences for the report's warnings. */
  readonly ignored: readonly string[];
}

/**
 * Reads the command line of the scoring command.
 * @returns `help` or `version` if the last option is one of them
 * @throws {AnyvmafError} `usage`
 */
export function scoreSettings(args: readonly string[]): ScoreSettings | 'help' | 'version' {
  const parsed = parseArguments(args, SCORE_OPTIONS);
  const final = parsed.options.at(-1)?.name;
  if (final === 'help' || final === 'version') return final;
  const options: OptionsDraft = {};
  const draft = new SettingsDraft(options);
  const videos = new VideoArguments();
  const tiny = new TinyArguments();
  const live = new LiveArguments();
  for (const use of parsed.options) {
    if (live.take(use) || videos.take(use) || tiny.take(use) || takeTableOption(use, options)) continue;
    draft.take(use);
  }
  refuseStreamAsFormat(args, parsed.positionals);
  const alone = options.noReference === true;
  tiny.finish(options, alone ? '--no-reference' : undefined);
  const {
    unread,
    ...chosen
  }: Omit<Videos, 'reference'> & { readonly reference?: string; readonly unread?: string } = alone
    ? videos.finishOne(parsed.positionals)
    : videos.finish(parsed.positionals, MAX_DISTORTED);
  draft.ignoreReference(unread);
  checkPairingOptions(options);
  draft.ignored.push(...ignoredMasks(options));
  const { live: watched, options: ofLive } = live.finish(chosen.distorted.length);
  Object.assign(options, ofLive);
  const settings: ScoreSettings = {
    ...chosen,
    ...draft.finish(watched?.alarms),
    ...(watched && { live: watched }),
  };
  refuseContradictions(settings);
  const { reference, distorted, output, html } = settings;
  const hosts = hostsOf(options, [reference, unread, ...distorted, output, html]);
  return { ...settings, ...(hosts && { hosts }) };
}

/** Leaves out masks where no native backend is asked for; those that would have an effect there, as sentences. */
function ignoredMasks(options: OptionsDraft): string[] {
  const { backend = 'wasm' } = options;
  if (!['wasm', 'cpu', 'webgpu', 'hybrid'].includes(backend)) return [];
  return (['cpumask', 'gpumask'] as const).flatMap((name) => {
    const mask = options[name] ?? 0;
    delete options[name];
    return mask === 0 ? [] : [`--${name} has no effect: the same arithmetic runs on every machine.`];
  });
}

/** Settings in the making, option by option. */
class SettingsDraft {
  /** Options without effect, as sentences. */
  readonly ignored: string[] = [];
  readonly #options: OptionsDraft;
  readonly #outputs = new OutputArguments();
  #shard: ShardChoice | undefined;
  readonly #models: string[] = [];
  readonly #features: string[] = [];

  constructor(options: OptionsDraft) {
    this.#options = options;
  }

  /** Takes an option that is neither about videos nor tiny models, and more than a value of the table. */
  take(use: OptionUse): void {
    const { name, value } = use;
    if (this.#outputs.take(use)) return;
    if (name === 'model') append(this.#models, value, use, 'models');
    else if (name === 'feature') append(this.#features, value, use, 'features');
    else if (name === 'shard') this.#shard = shardValue(use);
    else if (name === 'aom_ctc') this.#addPreset(aomCtc(value), use);
    else if (name === 'nflx_ctc') this.#addPreset(nflxCtc(value), use);
  }

  /** As in the `vmaf` tool, a preset stands for its models and features at its place on the command line. */
  #addPreset(preset: Preset, use: OptionUse): void {
    const features = this.#features;
    for (const model of preset.models) append(this.#models, model, use, 'models');
    for (const feature of preset.features) {
      const name = extractorOf(feature);
      const earlier = preset.replaces?.includes(name)
        ? features.findIndex((one) => extractorOf(one) === name)
        : -1;
      if (earlier < 0) {
        append(features, feature, use, 'features');
        continue;
      }
      this.ignored.push(
        `--feature ${features[earlier]} has no effect: as in the vmaf tool, ${use.label} ${use.value} behind it puts its own ` +
          `${feature} in its place; measure it in a run without the preset.`,
      );
      features[earlier] = feature;
    }
    if (preset.commonBitDepth) this.#options.commonBitDepth = true;
  }

  /** With --no-reference, neither a reference nor VMAF models are used. */
  ignoreReference(reference: string | undefined): void {
    const models = this.#models;
    if (reference !== undefined)
      this.ignored.push(`The reference ${reference} was not read: --no-reference scores without one.`);
    if (!this.#options.noReference || models.length === 0) return;
    this.ignored.push(
      `--model has no effect with --no-reference: ${models.join(', ')} compare with a reference.`,
    );
    models.length = 0;
  }

  /** Measures what limits and alarms name and models do not bring along. */
  #addJudged({ limits = [], drops = [] }: OutputSettings, alarms: readonly string[]): void {
    const names = [...limits, ...drops, ...alarms.map(parseAlarm)].flatMap(({ metric }) => metric ?? []);
    for (const feature of extractorsFor(names, this.#features))
      if (this.#features.length < MAX_MODELS) this.#features.push(feature);
  }

  /** @param alarms rules that watch the run */
  finish(alarms: readonly string[] = []): Omit<ScoreSettings, 'reference' | 'distorted' | 'raw'> {
    if (this.#models.length > 0) this.#options.models = this.#models;
    const outputs = this.#outputs.finish();
    this.#addJudged(outputs, alarms);
    if (this.#features.length > 0) this.#options.features = this.#features;
    if (this.#shard) this.#outputs.refuseBeside('--shard');
    return {
      options: this.#options,
      ...outputs,
      ...(this.#shard && { shard: this.#shard }),
      ignored: this.ignored,
    };
  }
}

/** @throws {AnyvmafError} `usage` where options exclude each other */
function refuseContradictions(settings: ScoreSettings): void {
  const { options, distorted, format, failUnder, limits = [], drops = [], shard } = settings;
  const ofModels =
    failUnder !== undefined || [...limits, ...drops].some(({ metric }) => metric === undefined);
  if (ofModels && options.noPrediction) {
    const option = failUnder !== undefined || limits.length > 0 ? '--fail-under' : '--max-drop';
    throw usageError(`${option} judges scores, but -n/--no_prediction makes none; leave out one`);
  }
  if (distorted.length > 1 && (format === 'xml' || format === 'sub')) {
    throw usageError(
      `${format.toUpperCase()} holds one report, but ${distorted.length} distorted videos are given; use --json, --csv or --ndjson, ` +
        'or score them one at a time',
    );
  }
  if (options.samples !== undefined) {
    const other =
      (shard && '--shard') ||
      ((settings.live || options.keep) && 'an option of watching') ||
      (format === 'ndjson' && '--ndjson') ||
      ((options.subsample ?? 1) > 1 && '--subsample') ||
      (options.tiny && options.tiny.length > 0 && '--tiny-model');
    if (other) {
      throw usageError(`--samples scores runs of the video, which does not go with ${other}; leave out one`);
    }
  }
  if (distorted.length > 1 && shard) {
    throw usageError(
      `--shard measures a part of one pair, but ${distorted.length} distorted videos are given; measure them one at a time`,
    );
  }
  if (shard && (settings.live || options.keep)) {
    throw usageError(
      '--shard measures a part, which is not watched and keeps all its frames; leave out the options of watching',
    );
  }
}

/**
 * Refuses `REFERENCE DISTORTED --json -` and `--json /dev/stdout`, which would read a further video from there.
 * @throws {AnyvmafError} `usage`
 */
function refuseStreamAsFormat(args: readonly string[], positionals: readonly string[]): void {
  if (positionals.length < 3) return;
  const flag = REPORT_FORMATS.find((format) =>
    args.some((arg, i) => arg === `--${format}` && STANDARD_OUTPUT.has(args[i + 1] ?? '')),
  );
  if (flag === undefined) return;
  throw usageError(
    `--${flag} takes no value, and what follows it would be a further video; leave it out: without -o the report goes to ` +
      'standard output',
  );
}

/** The extractor that a feature string names. */
function extractorOf(feature: string): string {
  return feature.split('=', 1)[0] ?? '';
}

function append(list: string[], value: string, use: OptionUse, what: string): void {
  if (list.length === MAX_MODELS) {
    throw usageError(
      `${use.label} ${quoted(use.value)} is one too many: a run takes at most ${MAX_MODELS} ${what}`,
    );
  }
  list.push(value);
}

/** `2/7`: the second of seven parts. */
function shardValue(use: OptionUse): ShardChoice {
  const [, number, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(use.value) ?? [];
  const shard = { number: Number(number), count: Number(count) };
  if (shard.number <= shard.count && shard.count <= MAX_SHARDS) return shard;
  throw refusedValue(use, `a part and the number of parts, such as 2/7, of at most ${MAX_SHARDS} parts`);
}
