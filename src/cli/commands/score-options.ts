/**
 * @module cli/commands/score-options
 * The options of the scoring command: every option of the `vmaf` tool and ours, and what a command line made of them
 * asks for. Pure: nothing is opened here.
 */
import { AnyvmafError } from '../../errors.js';
import type { RawVideoFormat } from '../../media/types.js';
import { type Precision, parsePrecision } from '../../report/format.js';
import type { Compat } from '../../report/types.js';
import type { ReportFormat } from '../../report/write.js';
import type { ScoreOptions } from '../../score/types.js';
import { COMMANDS } from '../command.js';
import { nearest } from '../nearest.js';
import { type OptionSpec, type OptionUse, orList, type ParsedArguments, parseArguments } from '../options.js';
import { choiceValue, maskValue, numberValue, unsigned, unsignedValue } from '../values.js';

const PIXEL_FORMATS = ['420', '422', '444', '400'] as const;
const BIT_DEPTHS = [8, 10, 12, 16];
const COMPATS: readonly Compat[] = ['libvmaf-3.2', 'libvmaf-3.0'];

/** The `vmaf` tool takes this many models, and as many features. */
const MAX_MODELS = 32;

/** Most workers that a run takes. */
const MAX_THREADS = 1024;

const INPUT = 'Input';
const WHAT = 'Models and features';
const OUTPUT = 'Output';
const RUNNING = 'Running';

/** The options in the order in which help lists them. */
export const SCORE_OPTIONS = [
  {
    name: 'reference',
    short: 'r',
    argument: 'FILE',
    group: INPUT,
    help: 'the original video; - is standard input',
  },
  { name: 'distorted', short: 'd', argument: 'FILE', group: INPUT, help: 'the video to judge against it' },
  {
    name: 'width',
    short: 'w',
    argument: 'N',
    group: INPUT,
    help: 'raw YUV: width in samples; both files are raw then',
  },
  {
    name: 'height',
    short: 'h',
    argument: 'N',
    group: INPUT,
    help: 'raw YUV: height in lines (-h is not help)',
  },
  {
    name: 'pixel_format',
    short: 'p',
    argument: 'FMT',
    group: INPUT,
    help: 'raw YUV: 420, 422, 444, or 400 for luma only',
  },
  {
    name: 'bitdepth',
    short: 'b',
    argument: 'N',
    group: INPUT,
    help: 'raw YUV: 8, 10, 12 or 16 bits a sample',
  },
  { name: 'frame_cnt', argument: 'N', group: INPUT, help: 'score at most N frames (0: all)' },
  {
    name: 'frame_skip_ref',
    argument: 'N',
    group: INPUT,
    help: 'leave out the first N frames of the reference',
  },
  {
    name: 'frame_skip_dist',
    argument: 'N',
    group: INPUT,
    help: 'leave out the first N frames of the distorted video',
  },
  { name: 'subsample', argument: 'N', group: INPUT, help: 'score only every Nth frame' },
  {
    name: 'model',
    short: 'm',
    argument: 'SPEC',
    group: WHAT,
    help:
      'version=NAME for a built-in model or path=FILE for a model file, then, after colons: name=NAME, disable_clip, ' +
      'enable_transform, EXTRACTOR.OPTION=VALUE. May be repeated. Default: version=vmaf_v0.6.1. ' +
      "'anyvmaf models' lists the built-in ones",
  },
  {
    name: 'feature',
    argument: 'SPEC',
    group: WHAT,
    help: "also report this feature: NAME or NAME=OPTION=VALUE:OPTION=VALUE. May be repeated. 'anyvmaf features' lists them",
  },
  { name: 'no_prediction', short: 'n', group: WHAT, help: 'features only, no scores' },
  {
    name: 'compat',
    argument: 'VERSION',
    group: WHAT,
    ours: true,
    help: 'whose numbers to reproduce: libvmaf-3.2 (default) or libvmaf-3.0 for motion as in libvmaf 2.x to 3.0',
  },
  { name: 'aom_ctc', argument: 'VERSION', help: 'preset of the AOM common test conditions' },
  { name: 'nflx_ctc', argument: 'VERSION', help: 'preset of the Netflix common test conditions' },
  {
    name: 'output',
    short: 'o',
    argument: 'FILE',
    group: OUTPUT,
    help: 'write the report to FILE; - is standard output',
  },
  { name: 'xml', group: OUTPUT, help: 'report as XML (default with -o)' },
  { name: 'json', group: OUTPUT, help: 'report as JSON' },
  { name: 'csv', group: OUTPUT, help: 'report as CSV, one row per frame' },
  { name: 'sub', group: OUTPUT, help: 'report as subtitles, one per frame' },
  { name: 'ndjson', group: OUTPUT, ours: true, help: 'report as JSON lines, one per frame' },
  {
    name: 'precision',
    argument: 'P',
    group: OUTPUT,
    ours: true,
    help: 'digits of all numbers: legacy (six decimals, default), 1 to 17 significant ones, max or full (17)',
  },
  {
    name: 'fail-under',
    argument: 'SCORE',
    group: OUTPUT,
    ours: true,
    help: 'exit with status 3 when the mean of a model is below SCORE',
  },
  { name: 'threads', argument: 'N', group: RUNNING, help: 'workers (default: one per core; 0: no worker)' },
  { name: 'quiet', short: 'q', group: RUNNING, help: 'no progress bar; plain scores instead of the summary' },
  {
    name: 'cpumask',
    argument: 'MASK',
    group: RUNNING,
    help: "accepted for the vmaf tool's sake, without effect",
  },
  { name: 'gpumask', argument: 'MASK', group: RUNNING, help: 'accepted and ignored likewise' },
  { name: 'c', short: 'c', argument: 'ARG', shortOnly: true, help: 'ignored, as in the vmaf tool' },
  { name: 'help', group: RUNNING, ours: true, last: true, help: 'show this help' },
  { name: 'version', short: 'v', group: RUNNING, last: true, help: 'show the version' },
] as const satisfies readonly OptionSpec[];

type Name = (typeof SCORE_OPTIONS)[number]['name'];

/** What a command line asks for. */
export interface ScoreSettings {
  readonly reference: string;
  readonly distorted: string;
  readonly raw?: RawVideoFormat;
  readonly options: ScoreOptions;
  /** File for the report, `-` for standard output. */
  readonly output?: string;
  /** Format that was asked for by name. */
  readonly format?: ReportFormat;
  readonly precision: Precision;
  readonly failUnder?: number;
  readonly quiet: boolean;
  /** What was asked for and has no effect: full sentences for the report's warnings. */
  readonly ignored: readonly string[];
}

/**
 * Reads the command line of the scoring command.
 * @returns `help` or `version` when that is what was asked for
 * @throws {AnyvmafError} `usage`
 */
export function scoreSettings(args: readonly string[]): ScoreSettings | 'help' | 'version' {
  const parsed: ParsedArguments<Name> = parseArguments<Name>(args, SCORE_OPTIONS);
  const final = parsed.options.at(-1)?.name;
  if (final === 'help' || final === 'version') return final;

  const models: string[] = [];
  const features: string[] = [];
  const ignored: string[] = [];
  const files: { reference?: string; distorted?: string; output?: string } = {};
  const raw: { width?: number; height?: number; chroma?: RawVideoFormat['chroma']; bitDepth?: number } = {};
  const options: { -readonly [Key in keyof ScoreOptions]: ScoreOptions[Key] } = {};
  let format: ReportFormat | undefined;
  let precision: Precision = 'legacy';
  let failUnder: number | undefined;
  let quiet = false;

  for (const use of parsed.options) {
    switch (use.name) {
      case 'reference':
      case 'distorted':
      case 'output':
        files[use.name] = fileName(use);
        break;
      case 'width':
      case 'height':
        raw[use.name] = unsignedValue(use, use.name === 'width' ? 1920 : 1080);
        break;
      case 'pixel_format':
        raw.chroma = choiceValue(use, PIXEL_FORMATS);
        break;
      case 'bitdepth':
        raw.bitDepth = bitDepthValue(use);
        break;
      case 'model':
        append(models, use, 'models');
        break;
      case 'feature':
        append(features, use, 'features');
        break;
      case 'xml':
      case 'json':
      case 'csv':
      case 'sub':
      case 'ndjson':
        format = use.name;
        break;
      case 'threads':
        options.threads = unsignedValue(use, 4, MAX_THREADS);
        break;
      case 'subsample':
        options.subsample = unsignedValue(use, 5);
        break;
      case 'frame_cnt':
        options.frameCount = unsignedValue(use, 100);
        break;
      case 'frame_skip_ref':
        options.skipReference = unsignedValue(use, 10);
        break;
      case 'frame_skip_dist':
        options.skipDistorted = unsignedValue(use, 10);
        break;
      case 'no_prediction':
        options.noPrediction = true;
        break;
      case 'compat':
        options.compat = choiceValue(use, COMPATS);
        break;
      case 'precision':
        precision = precisionValue(use);
        break;
      case 'fail-under':
        failUnder = numberValue(use);
        break;
      case 'quiet':
        quiet = true;
        break;
      case 'cpumask':
      case 'gpumask':
        if (maskValue(use) !== 0) {
          ignored.push(`${use.label} has no effect: the same arithmetic runs on every machine.`);
        }
        break;
      case 'aom_ctc':
      case 'nflx_ctc':
        throw new AnyvmafError(
          'usage',
          `${use.label} "${use.value}" needs extractors that this version does not have (ciede, float_ssim, cambi, ...); ` +
            "'anyvmaf features' lists those it has, and --model and --feature select them one by one",
        );
      case 'c':
        break;
    }
  }

  const { reference, distorted } = pairOf(parsed.positionals, files.reference, files.distorted);
  if (failUnder !== undefined && options.noPrediction) {
    throw new AnyvmafError(
      'usage',
      '--fail-under judges scores, but -n/--no_prediction makes none; leave out one',
    );
  }
  if (models.length > 0) options.models = models;
  if (features.length > 0) options.features = features;
  const rawFormat = rawFormatOf(raw);
  return {
    reference,
    distorted,
    ...(rawFormat && { raw: rawFormat }),
    options,
    ...(files.output !== undefined && { output: files.output }),
    ...(format && { format }),
    precision,
    ...(failUnder !== undefined && { failUnder }),
    quiet,
    ignored,
  };
}

function fileName(use: OptionUse): string {
  if (use.value === '') throw new AnyvmafError('usage', `${use.label} is empty, but it must name a file`);
  return use.value;
}

function append(list: string[], use: OptionUse, what: string): void {
  if (list.length === MAX_MODELS) {
    throw new AnyvmafError(
      'usage',
      `${use.label} "${use.value}" is one too many: a run takes at most ${MAX_MODELS} ${what}`,
    );
  }
  list.push(use.value);
}

function bitDepthValue(use: OptionUse): number {
  const depth = unsigned(use.value);
  if (depth !== undefined && BIT_DEPTHS.includes(depth)) return depth;
  throw new AnyvmafError(
    'usage',
    `${use.label} is "${use.value}", but it must be ${orList(BIT_DEPTHS.map(String))}`,
  );
}

function precisionValue(use: OptionUse): Precision {
  try {
    return parsePrecision(use.value);
  } catch {
    throw new AnyvmafError(
      'usage',
      `${use.label} is "${use.value}", but it must be legacy, max, full or a whole number from 1 to 17`,
    );
  }
}

/** The pair from -r, -d and positional arguments, which fill what -r and -d leave open, reference first. */
function pairOf(
  positionals: readonly string[],
  reference: string | undefined,
  distorted: string | undefined,
): { reference: string; distorted: string } {
  const open = [...positionals];
  const ref = reference ?? open.shift();
  const dis = distorted ?? open.shift();
  if (ref === undefined && dis === undefined) {
    throw new AnyvmafError(
      'usage',
      "no videos given; try 'anyvmaf reference.y4m distorted.y4m' or 'anyvmaf --help'",
    );
  }
  if (ref === undefined) {
    throw new AnyvmafError(
      'usage',
      'the reference video is missing; give it with -r FILE or before the distorted one',
    );
  }
  if (dis === undefined) {
    const command = nearest(
      ref,
      COMMANDS.map((entry) => entry.name),
    );
    const hint = command === undefined ? '' : `; or did you mean the command ${command}?`;
    throw new AnyvmafError(
      'usage',
      `only one video given, "${ref}"; the other is missing: anyvmaf REFERENCE DISTORTED${hint}`,
    );
  }
  if (open.length > 0) {
    throw new AnyvmafError(
      'usage',
      `"${open[0]}" is one argument too many; one reference and one distorted video are compared`,
    );
  }
  if (ref === '' || dis === '') throw new AnyvmafError('usage', 'the name of a video is empty');
  if (ref === '-' && dis === '-') {
    throw new AnyvmafError(
      'usage',
      'only one of the two videos can come from standard input (-); name a file for the other',
    );
  }
  return { reference: ref, distorted: dis };
}

/** Geometry for raw video; any of its four options makes the others necessary (spec A.1, A.5). */
function rawFormatOf(raw: {
  width?: number;
  height?: number;
  chroma?: RawVideoFormat['chroma'];
  bitDepth?: number;
}): RawVideoFormat | undefined {
  if (Object.keys(raw).length === 0) return undefined;
  const { width, height, chroma, bitDepth } = raw;
  if (width && height && chroma && bitDepth) return { width, height, chroma, bitDepth };
  const missing = [
    width ? '' : '-w/--width',
    height ? '' : '-h/--height',
    chroma ? '' : '-p/--pixel_format',
    bitDepth ? '' : '-b/--bitdepth',
  ].filter((label) => label !== '');
  const zero = width === 0 || height === 0 ? 'missing or zero' : 'missing';
  throw new AnyvmafError(
    'usage',
    `raw YUV needs its geometry, and of it ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} ${zero}; ` +
      'an example: -w 1920 -h 1080 -p 420 -b 8 (for Y4M files leave all four out)',
  );
}
