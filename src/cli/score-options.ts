/**
 * @module cli/score-options
 * The options of the scoring command: every option of the `vmaf` tool and ours, and reading a command line
 * of them. Pure: opens nothing.
 */
import { COMPATS, REPORT_FORMATS, V1_SETTINGS } from '../core/choices.js';
import { usageError } from '../core/errors.js';
import { aomCtc, nflxCtc, type Preset } from '../core/presets.js';
import { quoted } from '../core/printable.js';
import type { RawVideoFormat, Samples, ScoreOptions, ShardChoice } from '../index.js';
import { parseAlarm } from '../live/alarms.js';
import { extractorsFor } from '../report/limits.js';
import type { LiveSettings } from './live.js';
import { LIVE_OPTIONS, LiveArguments } from './live-options.js';
import { NATIVE_OPTIONS, NativeArguments } from './native-options.js';
import {
  type Draft,
  grouped,
  type OptionSpec,
  type OptionUse,
  type ParsedArguments,
  parseArguments,
} from './options.js';
import { OUTPUT_OPTIONS, OutputArguments, type OutputSettings } from './output-options.js';
import {
  checkPairingOptions,
  PAIRING_OPTIONS,
  refuseUnusedHosts,
  takePairingOption,
} from './pairing-options.js';
import { TINY_OPTIONS, TinyArguments } from './tiny-options.js';
import { choiceValue, refusedValue, secondsValue, unsignedValue } from './values.js';
import { VIDEO_OPTIONS, VideoArguments, type Videos } from './video-options.js';

/** The `vmaf` tool takes this many models, and as many features. */
const MAX_MODELS = 32;

/** Most workers that a run takes. */
const MAX_THREADS = 1024;
/** Each has a decoder of its own, and all run at the same time. */
const MAX_DISTORTED = 64;
/** More parts than this are a mistake. */
const MAX_SHARDS = 100_000;

/** Names of standard output, which people put after a format although it takes no value. */
const STANDARD_OUTPUT: ReadonlySet<string> = new Set(['-', '/dev/stdout', '/dev/fd/1']);

const INPUT = 'Input';
const WHAT = 'Models and features';
const RUNNING = 'Running';

/** The options in the order in which help lists them. */
export const SCORE_OPTIONS = [
  ...VIDEO_OPTIONS,
  ...grouped(INPUT, [
    { name: 'frame_cnt', argument: 'N', help: 'score at most N frames (0: all)' },
    { name: 'frame_skip_ref', argument: 'N', help: 'leave out the first N frames of the reference' },
    { name: 'frame_skip_dist', argument: 'N', help: 'leave out the first N frames of the distorted video' },
    { name: 'subsample', argument: 'N', help: 'score only every Nth frame' },
    {
      name: 'samples',
      argument: 'NxSs',
      ours: true,
      help: 'score N runs of S seconds spread over the video, such as 8x4s, or auto; values are estimates with an interval',
    },
  ]),
  ...PAIRING_OPTIONS,
  ...grouped(WHAT, [
    {
      name: 'model',
      short: 'm',
      argument: 'SPEC',
      help:
        'NAME or version=NAME for a built-in model, in short hd, 4k, neg, 4k-neg or phone; path=FILE for a model file; or ' +
        'auto for HD or 4K by size; then, after ' +
        'colons: name=NAME, disable_clip, enable_transform, EXTRACTOR.OPTION=VALUE. May be repeated. Default: ' +
        "version=vmaf_v0.6.1. 'anyvmaf models' lists the built-in ones",
    },
    {
      name: 'feature',
      argument: 'SPEC',
      help: "also report this feature, such as ssimulacra2, butteraugli, cvvdp, xpsnr or psnr: NAME or NAME=OPTION=VALUE:OPTION=VALUE. May be repeated. 'anyvmaf features' lists them",
    },
    { name: 'no_prediction', short: 'n', help: 'features only, no scores' },
    {
      name: 'compat',
      argument: 'VERSION',
      ours: true,
      help: 'whose numbers to reproduce: libvmaf-3.2 (default) or libvmaf-3.0 for motion as in libvmaf 2.x to 3.0',
    },
    {
      name: 'v1-settings',
      argument: 'WHICH',
      ours: true,
      help: 'what VMAF v1 knows of a scaled encode: encode (default), its size and depth, or plain, nothing, as a bare vmaf',
    },
    {
      name: 'aom_ctc',
      argument: 'VERSION',
      help: 'models and features of the AOM common test conditions, v1.0 to v7.0',
    },
    {
      name: 'nflx_ctc',
      argument: 'VERSION',
      help: 'models and features of the Netflix common test conditions, v1.0',
    },
  ]),
  ...TINY_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...grouped(RUNNING, [
    { name: 'threads', argument: 'N', help: 'workers (default: one per core; 0: no worker)' },
    {
      name: 'max-seconds',
      argument: 'N',
      ours: true,
      help: 'stop a pair that takes longer, as one that failed',
    },
    { name: 'quiet', short: 'q', help: 'no progress bar; plain scores instead of the summary' },
    {
      name: 'shard',
      argument: 'I/N',
      ours: true,
      help: "measure only part I of N, on any machine, and write its record; 'anyvmaf merge' makes the report of all parts",
    },
  ]),
  ...LIVE_OPTIONS,
  ...NATIVE_OPTIONS,
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: 'ignored, as in the vmaf tool' },
  ...grouped(RUNNING, [
    { name: 'help', ours: true, last: true, help: 'show this help' },
    { name: 'version', short: 'v', last: true, help: 'show the version' },
  ]),
] as const satisfies readonly OptionSpec[];

type Name = (typeof SCORE_OPTIONS)[number]['name'];

/** What a command line asks for. */
export interface ScoreSettings extends OutputSettings {
  /** Absent with --no-reference. */
  readonly reference?: string;
  /** One, or several encodes to compare. */
  readonly distorted: readonly [string, ...string[]];
  readonly raw?: RawVideoFormat;
  readonly options: ScoreOptions;
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
  const parsed: ParsedArguments<Name> = parseArguments<Name>(args, SCORE_OPTIONS);
  const final = parsed.options.at(-1)?.name;
  if (final === 'help' || final === 'version') return final;
  const options: Draft<ScoreOptions> = {};
  const draft = new SettingsDraft(options);
  const videos = new VideoArguments();
  const native = new NativeArguments();
  const tiny = new TinyArguments();
  const live = new LiveArguments();
  for (const use of parsed.options) {
    if (live.take(use) || videos.take(use) || takePairingOption(use, options)) continue;
    if (native.take(use, options) || tiny.take(use, options)) continue;
    draft.take(use);
  }
  refuseStreamAsFormat(args, parsed.positionals);
  tiny.finish(options);
  const {
    unread,
    ...chosen
  }: Omit<Videos, 'reference'> & { readonly reference?: string; readonly unread?: string } =
    options.noReference
      ? videos.finishOne(parsed.positionals)
      : videos.finish(parsed.positionals, MAX_DISTORTED);
  draft.ignoreReference(unread);
  checkPairingOptions(options);
  draft.ignored.push(...native.finish(options));
  const { live: watched, options: ofLive } = live.finish(chosen.distorted.length);
  Object.assign(options, ofLive);
  const settings = { ...chosen, ...draft.finish(watched?.alarms), ...(watched && { live: watched }) };
  refuseContradictions(settings);
  refuseUnusedHosts(options, [
    settings.reference,
    unread,
    ...settings.distorted,
    settings.output,
    settings.html,
  ]);
  return settings;
}

/** Options that take a count: the option of the API, an example, and the maximum. */
const COUNTS = {
  threads: ['threads', 4, MAX_THREADS],
  subsample: ['subsample', 5],
  frame_cnt: ['frameCount', 100],
  frame_skip_ref: ['skipReference', 10],
  frame_skip_dist: ['skipDistorted', 10],
} as const;

/** `auto`, `8x4s`. */
function samplesValue(use: OptionUse): Samples {
  if (use.value === 'auto') return 'auto';
  const [, runs, seconds] = /^(\d{1,4})x(\d{1,4}(?:\.\d{1,3})?)s$/i.exec(use.value) ?? [];
  if (runs !== undefined && seconds !== undefined) return { runs: Number(runs), seconds: Number(seconds) };
  throw refusedValue(use, 'auto, or a number of runs and their seconds such as 8x4s');
}

/** Settings in the making, option by option. */
class SettingsDraft {
  /** Options without effect, as sentences. */
  readonly ignored: string[] = [];
  readonly #options: Draft<ScoreOptions>;
  readonly #outputs = new OutputArguments();
  #shard: ShardChoice | undefined;
  readonly #models: string[] = [];
  readonly #features: string[] = [];

  constructor(options: Draft<ScoreOptions>) {
    this.#options = options;
  }

  /** Takes an option that is neither about videos, pairing, native programs nor tiny models. */
  take(use: OptionUse<Name>): void {
    const { name, value } = use;
    if (this.#outputs.take(use)) return;
    switch (name) {
      case 'model':
        append(this.#models, value, use, 'models');
        break;
      case 'feature':
        append(this.#features, value, use, 'features');
        break;
      case 'threads':
      case 'subsample':
      case 'frame_cnt':
      case 'frame_skip_ref':
      case 'frame_skip_dist': {
        const [key, example, most] = COUNTS[name];
        this.#options[key] = unsignedValue(use, example, most);
        break;
      }
      case 'samples':
        this.#options.samples = samplesValue(use);
        break;
      case 'max-seconds':
        this.#options.maxSeconds = secondsValue(use);
        break;
      case 'no_prediction':
        this.#options.noPrediction = true;
        break;
      case 'compat':
        this.#options.compat = choiceValue(use, COMPATS);
        break;
      case 'v1-settings':
        this.#options.v1Settings = choiceValue(use, V1_SETTINGS);
        break;
      case 'shard':
        this.#shard = shardValue(use);
        break;
      case 'aom_ctc':
        this.#addPreset(aomCtc(value), use);
        break;
      case 'nflx_ctc':
        this.#addPreset(nflxCtc(value), use);
    }
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
